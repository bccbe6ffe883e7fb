"""The tool loop: turns until a final answer, and the one place where a run ends, well or badly.

A turn is one accepted reply (layer 4 sees to it) and the calls it makes. `run` and `stream` are this one coroutine,
listened to or not, so they cannot differ. Whatever ends a run, its history is valid and its partial result rides on
the error.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from os import urandom
from typing import Literal, cast

from llmcore.adapters.secrets.known_secrets import hide_in_error
from llmcore.fallback import FallbackContext, Plan, best_deployment, cooldown_left, first_available_model
from llmcore.run.deadline import needed_loop
from llmcore.run.endpoints.choices import RunModels
from llmcore.run.endpoints.first_choice import Chosen, chosen_again
from llmcore.run.endpoints.runtime import Runtime
from llmcore.run.observing.events import ObservedRun
from llmcore.run.output.validation import with_types_code
from llmcore.run.results.open_calls import OpenCall
from llmcore.run.results.result import RunResult
from llmcore.run.resume.claims import Journal, claim_object
from llmcore.run.resume.saving import SavePoints
from llmcore.run.setup.settings import Toolbox, check_choice, check_tool_names
from llmcore.run.setup.tool_source import ToolSource
from llmcore.run.streaming.steps import Step
from llmcore.run.turn.attempt import TurnAttempt
from llmcore.run.turn.calls import TurnCalls
from llmcore.run.turn.deferred_answer import accept_deferred, deferred_answer
from llmcore.run.turn.learning import SPARE_REQUESTS
from llmcore.run.turn.reply_checks import always_raises, failure_cause
from llmcore.run.turn.resumed_calls import aborted, resumed_calls
from llmcore.run.turn.state import GO_ON, RunState
from llmcore.run.turn.strategy_request import TurnRequest
from llmcore.support.code.emitter import Tell, emit_after, event_stream
from llmcore.support.values.copies import copied
from llmcore.support.values.identity import alike
from llmcore.tools.outcome import unfinished
from llmcore.types import (
    AttemptReason,
    Event,
    FallbackExhausted,
    Finished,
    LLMCoreError,
    MaxToolTurns,
    OutputMode,
    PartialOutput,
    TerminateLoop,
    Timeout,
    ToolCall,
    Waiting,
)
from llmcore.types.errors import with_partial
from llmcore.types.logs import current_run, logger

__all__ = ["Run"]

_log = logger("run")
STOPPED = "The run ended before this call was answered."


class Run:
    """One run. Made when everything is checked; `out()` carries it out, once, and so does reading `events()`."""

    def __init__(self, chosen: Chosen, machinery: Runtime, source: ToolSource, *, listening: bool) -> None:
        self._chosen = chosen
        self._source = source
        self._search, self._spare_search = chosen.search, chosen.spare_search
        self._model, self._tools, settings = chosen.model, chosen.tools, chosen.settings
        request, place = settings.request, settings.place
        self._machinery = machinery
        listening = listening or (place is not None and place.hears)
        self._listening = listening
        self.is_told = listening
        """Are events told, though nothing is streamed?"""
        self.copy_of: RunResult | None = None
        """The result that the one which this goes on with is a copy of, until it is claimed."""
        self.is_stepped = False
        """Are the run's steps told among its events?"""
        self._mode: OutputMode | None = None
        self._place = ""
        self._without: frozenset[str] = frozenset()
        self._doubted: OutputMode | None = None
        self._looked_again = False
        self._shown: PartialOutput | None = None
        self._attempts_fixed = "attempts" in settings.budget.model_fields_set
        self._toolbox: Toolbox = settings.toolbox
        run = ObservedRun(urandom(16).hex(), self._model.alias, machinery.name, current_run.get(), request, self._model)
        recordings = [*machinery.recordings, *machinery.open_recordings()]
        self.state = RunState(settings, machinery.observers.watch(run, recordings), recordings)
        self._models = RunModels(machinery.catalog, chosen.needs, priced_only=self.state.ledger.bounds_cost)
        self._hooks = machinery.hooks.under(self._seconds_left, self._seconds_uncounted)
        above = place.save if place is not None and place.saves else None
        store = None if place is not None and place.is_the_calls else settings.run_store  # the outer run has it then
        journal = None if store is None else Journal(store, run.id)
        saves = settings.checkpoint is not None or above is not None or journal is not None
        points = (settings.checkpoint, self.state.snapshot, above, journal, self.state.is_saved_as)
        self._save_points = SavePoints(*points) if saves else None
        if self._save_points is not None:
            self.state.inner.save_by(self._save)

    async def _keep_up(self) -> None:
        """Take over what other processes learnt, which may tell that the model does not take this request."""
        await self._machinery.catalog.store.refresh_if_stale(self._seconds_left())
        self._model = chosen_again(self._machinery.catalog, self._chosen)
        self._check_price()

    def events(self) -> AsyncGenerator[Event, None]:
        """Everything that happens, ending with `Finished(RunResult)`. Errors carry the partial result."""
        return event_stream(self.out)

    async def out(self, tell: Tell[Event]) -> RunResult:
        """Carry it out. Errors carry the partial result."""
        needed_loop()
        place = self.state.settings.place
        if place is None:
            return await self._carried_out(tell)
        with place.stopping():
            return await self._carried_out(tell)

    async def _carried_out(self, tell: Tell[Event]) -> RunResult:
        state, place = self.state, self.state.settings.place
        if place is not None and place.hears:
            tell = emit_after(place.hear, tell)
        scope = state.watch.begins("run_started")
        try:
            with scope:
                with state.ledger.uncounted():
                    await self._machinery.ready()
                for record in state.settings.repairs:  # of the history that was given
                    state.watch.tell("repaired", record)
                await self._keep_up()
                await self._turns(scope.emitting(self._noting_values(tell)))
            state.ledger.check_deadline()
            await self._save_end()
        except BaseException as error:
            state.close_open_calls(STOPPED, waiting=isinstance(error, TerminateLoop))
            await self._end_after(error)
        if self._listening and state.has_output and not await self._is_shown():
            await tell(PartialOutput(state.output))
        result = self._result()
        state.watch.tell("run_ended", result, None)
        await tell(Finished(result))
        return result

    async def _end_after(self, ended: BaseException) -> None:
        """What was raised ended the turns: let the run have a result nevertheless, or raise that with the partial result."""
        state = self.state
        try:
            if isinstance(ended, TerminateLoop):
                await state.end_by(ended)
                state.ledger.check_deadline()
            else:
                self._degrade(ended)
            await self._save_end()
        except BaseException as error:
            self._attach_partial(error)
            raise

    def _degrade(self, ended: BaseException) -> None:
        """Where nothing is left to try, the best text may be the answer. Raises what ended the run where it may not."""
        if not isinstance(ended, FallbackExhausted):
            raise ended
        failure, settings = failure_cause(ended), self.state.settings
        judged = settings.output is not None or settings.output_validators
        if judged or always_raises(failure) or not self.state.degrade():
            raise failure from failure.__cause__

    def _noting_values(self, tell: Tell[Event]) -> Tell[Event]:
        """Keeps in mind which partial value was told last."""
        if not self._listening or self.state.settings.output is None:
            return tell
        return emit_after(self._note_value, tell)

    def _note_value(self, event: Event) -> None:
        if isinstance(event, PartialOutput):
            self._shown = event

    async def _is_shown(self) -> bool:
        """Was the run's value told already, as the last partial one?"""
        value, last = self.state.output, self._shown
        if last is None:
            return False
        try:
            return await with_types_code(self.state.settings.output, self._seconds_left(), partial(alike, last.value, value))
        except Exception:  # the deadline: then it is told again
            return False

    async def _save(self, change: Callable[[], object] | None = None) -> None:
        """Let the caller save the run as it stands after the change."""
        if self._save_points is not None:
            await self._save_points.save(self._seconds_left(), self.state.context, change)
        elif change is not None:
            change()

    async def _claim(self) -> None:
        """Claim the state that this run resumes, so that no other one does. Raises `CallerError` where another one has."""
        state, place, points = self.state, self.state.settings.place, self._save_points
        saved = None if state.settings.resumed is None else state.settings.resumed.saved
        if saved is None or (place is not None and place.is_the_calls):  # then the outer run has claimed it
            return
        if points is None or not await points.claim(self._seconds_left(), saved):
            claim_object(saved if self.copy_of is None else self.copy_of, state.watch.run.id)
        self.copy_of = None

    async def _save_end(self) -> None:
        self.state.ended = True
        await self._save()

    async def _turns(self, tell: Tell[Event]) -> None:
        state, store = self.state, self._machinery.catalog.store
        if await self._resumed(tell) or state.pending:
            return
        reason: AttemptReason = "first"
        goes_on = False
        for turn in count(1):
            if not goes_on:
                await state.take_interjections()
            attempt = TurnAttempt(
                state,
                self._machinery.catalog,
                self._hooks,
                await self._tools_now(),
                self._models,
                listening=self._listening,
                enforce_limits=self._machinery.enforce_limits,
                reason=reason,
                with_search=self._with_search if self._spare_search is not None else None,
            )
            context, failure = self._begin_turn(attempt), None
            try:
                await self._machinery.fallback.run(context, attempt.carry_out, self._watched(tell))
            except LLMCoreError as error:
                failure = error
            await store.publish_if_needed(self._seconds_left())  # what failed may have taught most
            if failure is not None:
                raise failure
            # Later turns stay with what worked.
            self._model, self._mode = self._machinery.catalog.registry.get(context.plan.model), context.plan.mode
            self._place, self._without = context.plan.deployment, context.plan.without
            self._doubted = self._first_mode_again(context) if attempt.leaves_doubt else None
            accepted = attempt.accepted
            assert accepted is not None  # the manager returns only after a success
            calls = state.add_reply(accepted.envelope, accepted.calls, accepted.final, accepted.came, accepted.dropped)
            if calls or not accepted.is_final:  # else the run is over, and saved as that
                await self._save()
            if self.is_stepped:
                await tell(self._step("reply", turn, "assistant"))
            if calls:
                self._may_run_tools(calls)
                await self._calls(attempt.toolbox).carry_out(calls, tell)
                if self.is_stepped:
                    await tell(self._step("results", turn, "tool"))
            if state.pending:  # a final result beside them waits as well
                return
            if accepted.is_final and (state.final is not None or not calls):  # else a call beside it failed
                goes_on = False
                if state.tool_turns < self._tools.max_turns:
                    goes_on = await state.goes_on_by_interjections()
                if not goes_on:
                    state.take_output(accepted.value)
                    return
                self._may_run_tools()
                await self._save()
                reason = "turn"
                continue
            goes_on = False
            state.tell_left_out()
            if not calls:  # the model says that it is not done
                self._may_run_tools()
                state.add_user(GO_ON)
            reason = "turn"

    def _watched(self, tell: Tell[Event]) -> Tell[Event]:
        """Observers are told of waits as listeners are."""
        return emit_after(self._tell_wait, tell) if self.state.watch.has("waiting") else tell

    def _tell_wait(self, event: Event) -> None:
        if isinstance(event, Waiting):
            self.state.watch.tell("waiting", event)

    async def _resumed(self, tell: Tell[Event]) -> bool:
        """The turn that the given history left open, to its end; what was said behind it enters then. Is the run over by a final
        result that stands in that turn? Raises `CallerError` for an answer that cannot be taken."""
        state, resumed = self.state, self.state.settings.resumed
        if resumed is None:
            return False
        if resumed.calls or resumed.carried:
            toolbox = await self._tools_now()
            final = deferred_answer(resumed, state, toolbox)
            if final is not None:
                resumed = replace(resumed, calls=[call for call in resumed.calls if call is not final])
            taken = resumed_calls(resumed, toolbox, state.settings.strictness, self._tools)
            state.enter_resumed(taken)
            is_settling = not all(isinstance(taken.fates.get(call.id), OpenCall) for call in taken.calls)
            if is_settling:
                self._may_run_tools()
            claim = self._claim if is_settling or not taken.calls else None
            await self._calls(toolbox).carry_out(taken.calls, tell, fates=taken.fates, claim=claim)
            for outcome in resumed.carried:
                if outcome.error is not None and aborted(outcome, self._tools):
                    raise outcome.error
            if self.is_stepped:
                await tell(self._step("results", 0, "tool"))
            if not state.pending:
                if final is not None and await accept_deferred(final, state):
                    return True
                state.tell_left_out()
        else:
            await self._claim()
        state.go_on()
        return False

    async def _tools_now(self) -> Toolbox:
        """The tools of the turn that begins."""
        if not self._source.is_open:
            self._toolbox = self._toolbox.now()
            return self._toolbox
        state, request = self.state, self.state.settings.request
        toolbox = (await self._source.now(state.context(), state.ledger.seconds_left)).extended(request.tools, more=True)
        if self._search is not None and toolbox.get(self._search.name) is None:
            toolbox = toolbox.extended([self._search])
        check_tool_names(toolbox, typed=state.settings.output is not None)
        if not state.has_used_tools:
            check_choice(request, toolbox, self._tools)
        return toolbox.limited(self._tools)

    def _calls(self, toolbox: Toolbox) -> TurnCalls:
        return TurnCalls(self.state, self._hooks, self._tools, toolbox, self._save, is_told=self.is_told)

    def _check_price(self) -> None:
        """Raises `ConfigError` under a cost budget where the model, or one that it escalates to, has no price."""
        if self.state.ledger.bounds_cost:
            self._machinery.catalog.check_prices(self._model)

    def _seconds_left(self) -> float | None:
        return self.state.ledger.seconds_left

    def _seconds_uncounted(self) -> float:
        return self.state.ledger.seconds_uncounted

    def so_far(self) -> RunResult:
        return self.state.result()

    def _result(self) -> RunResult:
        """What it ends with, which a run around it has among its own."""
        result, place = self.state.result(), self.state.settings.place
        if unpriced := result.unpriced:
            _log.warning("the cost of the run is unknown: %s answered and has no `prices` in the registry", ", ".join(unpriced))
        if place is not None:
            place.keep(result)
        return result

    def leave(self) -> None:
        """The run is not carried on: let its history be valid."""
        self.state.close_open_calls(STOPPED)
        self.state.ended = True

    def _attach_partial(self, error: BaseException) -> None:
        """Let what was done so far ride on the error; also on cancellation and on what hooks raise."""
        self.state.ended = True
        result = self._result()
        if isinstance(error, Timeout) and not result.attempts:
            error.with_words(f"{error}; nothing was sent")
        if isinstance(error, LLMCoreError):
            hide_in_error(error)
        with_partial(error, result, result.attempts)
        self.state.watch.tell("run_ended", result, error)

    # The plan of a turn

    def _begin_turn(self, attempt: TurnAttempt) -> FallbackContext:
        """What layer 4 is told, which sees to one accepted reply, by whatever attempts it takes."""
        mode_matters = attempt.mode_matters
        self.state.ledger.start_turn(None if self._attempts_fixed else self._models.attempts)
        plan, asked = self._first_plan(mode_matters), TurnRequest(self.state, attempt)
        return FallbackContext(self._models, self.state.ledger, plan, mode_matters, turn_request=asked)

    def _first_plan(self, mode_matters: bool) -> Plan:
        """The turn's model, or another one that it may escalate to while it is to be left aside."""
        models, wanted = self._models, self._model.alias
        model = wanted if models.all_well else first_available_model(models, wanted)
        places = models.deployments(model)
        place = self._place if model == wanted and self._place in places else places[0]
        if len(places) > 1 and (place != self._place or models.cooldown_left(model, place)):
            place = best_deployment(models, model)
        mode = self._first_mode(models.modes(model, place), mode_matters, stays=model == wanted and place == self._place)
        if model == wanted:
            without = self._without if place == self._place and mode == self._mode else frozenset[str]()
            return Plan(model, mode, detail=self._why_mode(mode, place), deployment=place, without=without)
        detail = f"{wanted} failed before and is left aside for {cooldown_left(models, wanted):.1f} s more"
        _log.info("%s; %s is asked", detail, model)
        return Plan(model, mode, "model", detail, deployment=place)

    def _first_mode(self, modes: Sequence[OutputMode], mode_matters: bool, *, stays: bool) -> OutputMode:
        """What worked, where later turns stay (at another place nothing did yet). But an endpoint that was seen to write its
        calls as text is asked for text from the next request on: in native mode its server may drop calls and results from the
        history."""
        writes_text = self._mode == "native_tools" and modes[0] == "text"
        if stays and self._doubted == modes[0]:
            self._looked_again = True
            return modes[0]
        if stays and self._mode is not None and self._mode in modes and not writes_text:
            return self._mode
        plain: OutputMode = "native_tools" if "native_tools" in modes else "text"
        return modes[0] if mode_matters else plain

    def _why_mode(self, mode: OutputMode, place: str) -> str:
        """Why a later turn is asked for in another mode than the one before; "" where it is not."""
        last, models, model = self._mode, self._models, self._model.alias
        if last is None or mode == last:
            return ""
        if self._looked_again and mode == self._doubted:
            return f"{mode} is tried again: what refused it may have been a passing thing"
        if last not in models.modes(model, place):
            return f"{last} is not asked for any more: {models.why_not(model, place, last)}"
        if place == self._place and not models.can(models.config(model, place)).emits_text_calls:
            return f"{mode} is the model's first mode and is tried again"
        if mode == "text" and last == "native_tools":
            return f"{last} gives way to text: the endpoint writes its calls as text"
        return f"{last} worked at another place; {mode} is this one's first mode"

    def _first_mode_again(self, context: FallbackContext) -> OutputMode | None:
        """The first mode, where the turn was answered in another one since words that nobody knows refused it: it may have been a
        passing thing. The next turn's request tells, once in a run, if as many attempts as this turn made are allowed."""
        ledger, now = self.state.ledger, context.plan
        first = context.tried[0] if context.tried else now
        if self._looked_again or first.mode == now.mode or (first.model, first.deployment) != (now.model, now.deployment):
            return None
        spare = ledger.requests_left
        if ledger.attempts_allowed(now.model) <= len(context.tried) or (spare is not None and spare <= SPARE_REQUESTS):
            return None
        return first.mode

    # Its tools

    def _with_search(self, toolbox: Toolbox) -> Toolbox:
        """The tools, and the one that searches the web in the provider's stead."""
        search = self._spare_search
        return toolbox if search is None or toolbox.get(search.name) else toolbox.extended([search]).limited(self._tools)

    def _may_run_tools(self, calls: Sequence[ToolCall] = ()) -> None:
        """Count a turn. Raises `MaxToolTurns` when it is one too many: then its calls are told as not run."""
        if self.state.tool_turns >= self._tools.max_turns:
            self.state.note_outcomes(list(map(unfinished, calls)))
            raise MaxToolTurns(
                f"no final answer after {self._tools.max_turns} tool turns; raise max_tool_turns or look at the partial result"
            )
        self.state.tool_turns += 1

    def _step(self, kind: Literal["reply", "results"], turn: int, role: str) -> Event:
        """The step just made, with the last message of the role: the one it entered. It goes the way of the events, though it is
        none: only `Steps` asks for it."""
        last = next((one for one in reversed(self.state.messages[-2:]) if one.role == role), None)
        return cast("Event", Step(kind, turn, copied(last)))
