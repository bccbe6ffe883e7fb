"""The tool loop: turns until a final answer, and the one place where a run ends, well or badly.

A turn is one accepted reply (layer 4 sees to it) and the calls it makes. `run` and `stream` are this one coroutine,
listened to or not, so they cannot differ. Whatever ends a run, its history is valid and its partial result rides on
the error.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from os import urandom
from typing import Literal, cast

from llmcore.adapters.secrets.known_secrets import hide_in_error
from llmcore.fallback import FallbackContext, FallbackManager, Plan, best_place, first_well, resting
from llmcore.hooks import HookChain
from llmcore.run.attempt import TurnAttempt
from llmcore.run.catalog import Catalog, unknown_price
from llmcore.run.choices import RunModels
from llmcore.run.choosing import choose, chosen_again
from llmcore.run.entering import end_by, take_interjections
from llmcore.run.held_answer import held_answer, take_held
from llmcore.run.learning import SPARE_REQUESTS
from llmcore.run.observing import ObservedRun, Observers
from llmcore.run.open_calls import OpenCall
from llmcore.run.result import RunResult
from llmcore.run.saving import SavePoints
from llmcore.run.settings import RunSettings, Toolbox, check_allowed, check_choice, check_names
from llmcore.run.settling import aborted, settled
from llmcore.run.state import GO_ON, RunState
from llmcore.run.stepping import Step
from llmcore.run.tool_source import ToolSource
from llmcore.run.turn_calls import TurnCalls
from llmcore.run.validating import with_types_code
from llmcore.run.verdict import cause_of, is_told_as_error
from llmcore.run.within import needed_loop
from llmcore.tools import Tool, ToolConfig
from llmcore.tools.execution import unfinished
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
from llmcore.types.copies import copied, updated
from llmcore.types.identity import alike
from llmcore.types.logs import current_run, logger
from llmcore.types.telling import Tell, told_by

__all__ = ["Machinery", "Run"]

_log = logger("run")
_STOPPED = "The run ended before this call was answered."


@dataclass(frozen=True, slots=True)
class Machinery:
    """What an orchestrator lends to its runs."""

    catalog: Catalog
    hooks: HookChain
    fallback: FallbackManager
    tool_config: ToolConfig
    enforce_limits: bool
    web_search: Tool | None = None
    observers: Observers = field(default_factory=Observers)
    name: str = ""


class Run:
    """One run. Made with everything checked; `out()` carries it out, once, and so does reading `events()`."""

    def __init__(self, settings: RunSettings, machinery: Machinery, source: ToolSource, *, listening: bool) -> None:
        self._chosen = chosen = choose(machinery.catalog, settings, machinery.web_search, source.is_open)
        self._source = source
        self._search, self._spare_search = chosen.search, chosen.spare_search
        self._model, settings = chosen.model, chosen.settings
        request = settings.request
        self._machinery = machinery
        self._listening = listening
        self.is_told = listening
        """Are events told, though nothing is streamed?"""
        self.is_stepped = False
        """Are the run's steps told among its events?"""
        self._mode: OutputMode | None = None
        self._place = ""
        self._without: frozenset[str] = frozenset()
        self._doubted: OutputMode | None = None
        self._looked_again = False
        self._shown: PartialOutput | None = None
        self._attempts_fixed = "attempts" in settings.budget.model_fields_set
        self._tools = machinery.tool_config.overlaid(self._model.tools).overlaid(settings.tool_overrides)
        if self._tools.tool_choice is not None and "tool_choice" not in request.model_fields_set:
            request = updated(request, {"tool_choice": self._tools.tool_choice})
        check_names(settings.toolbox, settings.output)
        if not source.is_open:
            check_allowed(self._tools, settings.toolbox)
            check_choice(request, settings.toolbox, self._tools)
        self._toolbox: Toolbox = settings.toolbox.limited(self._tools)
        if self._search is not None and self._toolbox.get(self._search.name) is None:  # then it is told that nobody searches
            request = updated(request, {"allow_web_search": True})
        if request is not settings.request or self._toolbox is not settings.toolbox:
            settings = replace(settings, request=request, toolbox=self._toolbox)
        run = ObservedRun(urandom(16).hex(), self._model.alias, machinery.name, current_run.get(), request, self._model)
        self.state = RunState(settings, machinery.observers.watch(run))
        bounds_cost = self.state.ledger.bounds_cost
        self._check_price()
        self._models = RunModels(machinery.catalog, chosen.needs, priced_only=bounds_cost)
        self._hooks = machinery.hooks.under(self._seconds_left)
        place = settings.place
        above = place.save if place is not None and place.saves else None
        saves = settings.checkpoint is not None or above is not None
        self._save_points = SavePoints(settings.checkpoint, self.state.snapshot, above) if saves else None
        if saves:
            self.state.inner.save_by(self._save)

    def _check_price(self) -> None:
        """Raises `ConfigError` for a model without a price under a cost budget."""
        if self.state.ledger.bounds_cost and not self._machinery.catalog.is_priced(self._model):
            raise unknown_price(self._model)

    async def _keep_up(self) -> None:
        """Take over what other processes learnt, which may tell that the model does not take this request."""
        await self._machinery.catalog.store.keep_up(self._seconds_left())
        self._model = chosen_again(self._machinery.catalog, self._chosen)
        self._check_price()

    def _seconds_left(self) -> float | None:
        return self.state.ledger.seconds_left

    def events(self) -> AsyncGenerator[Event, None]:
        """Everything that happens, ending with `Finished(RunResult)`. Errors carry the partial result."""
        return told_by(self.out)

    async def out(self, tell: Tell[Event]) -> RunResult:
        """Carry it out. Errors carry the partial result."""
        needed_loop()
        state = self.state
        scope = state.watch.begins("run_started")
        try:
            with scope:
                for record in state.settings.repairs:  # of the history that was given
                    state.watch.tell("repaired", record)
                await self._keep_up()
                await self._turns(scope.telling(self._noting_values(tell)))
            state.ledger.check_deadline()
            await self._save_end()
        except TerminateLoop as ended:
            state.close_open_calls(_STOPPED, waiting=True)
            try:
                await end_by(state, ended)
                state.ledger.check_deadline()
                await self._save_end()
            except BaseException as error:
                self._attach_partial(error)
                raise
        except FallbackExhausted as error:
            state.close_open_calls(_STOPPED)
            failure = cause_of(error)
            settings = state.settings
            judged = settings.output is not None or settings.output_validators
            if judged or is_told_as_error(failure) or not state.degrade():
                self._attach_partial(failure)
                raise failure from failure.__cause__
            await self._save_end()
        except BaseException as error:
            state.close_open_calls(_STOPPED)
            self._attach_partial(error)
            raise
        if self._listening and state.has_output and not await self._is_shown():
            await tell(PartialOutput(state.output))
        result = self._result()
        state.watch.tell("run_ended", result, None)
        await tell(Finished(result))
        return result

    def _noting_values(self, tell: Tell[Event]) -> Tell[Event]:
        """Keeps in mind which partial value was told last."""
        if not self._listening or self.state.settings.output is None:
            return tell

        async def told(event: Event) -> None:
            if isinstance(event, PartialOutput):
                self._shown = event
            await tell(event)

        return told

    def _result(self) -> RunResult:
        """What it ends with, which a run around it has among its own."""
        result, place = self.state.result(), self.state.settings.place
        if place is not None:
            place.keep(result)
        return result

    async def _is_shown(self) -> bool:
        """Was the run's value told already, as the last partial one?"""
        value, last = self.state.output, self._shown
        if last is None:
            return False
        try:
            return await with_types_code(self.state.settings.output, self._seconds_left(), lambda: alike(last.value, value))
        except Exception:  # the deadline: then it is told again
            return False

    def leave(self) -> None:
        """The run is not carried on: let its history be valid."""
        self.state.close_open_calls(_STOPPED)
        self.state.ended = True

    def so_far(self) -> RunResult:
        return self.state.result()

    def _attach_partial(self, error: BaseException) -> None:
        """Let what was done so far ride on the error; also on cancellation and on what hooks raise."""
        self.state.ended = True
        result = self._result()
        if isinstance(error, Timeout) and not result.attempts:
            error.args = (f"{error}; nothing was sent",)
        if isinstance(error, LLMCoreError):
            hide_in_error(error)
            error.with_partial(result, result.attempts)
        else:
            error.__dict__.update(partial=result, attempts=result.attempts)
        self.state.watch.tell("run_ended", result, error)

    async def _save(self, change: Callable[[], object] = lambda: None) -> None:
        """Let the caller save the run as it stands after the change."""
        if self._save_points is None:
            change()
            return
        await self._save_points.save(self._seconds_left(), self.state.context, change)

    async def _save_end(self) -> None:
        self.state.ended = True
        await self._save()

    async def _turns(self, tell: Tell[Event]) -> None:
        state, store = self.state, self._machinery.catalog.store
        if await self._resumed(tell) or state.pending:
            return
        reason: AttemptReason = "first"
        for turn in count(1):
            await take_interjections(state)
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
            context = self._begin_turn(attempt)
            try:
                await self._machinery.fallback.run(context, attempt, self._watched(tell))
            except LLMCoreError:
                await store.tell(self._seconds_left())  # what failed may have taught most
                raise
            await store.tell(self._seconds_left())
            # Later turns stay with what worked.
            self._model, self._mode = self._machinery.catalog.registry.get(context.plan.model), context.plan.mode
            self._place, self._without = context.plan.deployment, context.plan.without
            self._doubted = self._to_look_at(context) if attempt.leaves_doubt else None
            accepted = attempt.accepted
            assert accepted is not None  # the manager returns only after a success
            calls = state.add_reply(accepted.envelope, accepted.calls, accepted.final, accepted.came)
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
            if accepted.is_final:
                state.take_output(accepted.value)
                return
            state.tell_left_out()
            if not calls:  # the model says that it is not done
                self._may_run_tools()
                state.add_user(GO_ON)
            reason = "turn"

    def _watched(self, tell: Tell[Event]) -> Tell[Event]:
        """Observers are told of waits as listeners are."""
        watch = self.state.watch
        if not watch.has("waiting"):
            return tell

        async def told(event: Event) -> None:
            if isinstance(event, Waiting):
                watch.tell("waiting", event)
            await tell(event)

        return told

    async def _resumed(self, tell: Tell[Event]) -> bool:
        """The turn that the given history left open, to its end; what was said behind it enters then. Is the run over by a final
        result that stands in that turn? Raises `CallerError` for an answer that cannot be taken."""
        state, resumed = self.state, self.state.settings.resumed
        if resumed is None:
            return False
        if resumed.calls or resumed.carried:
            toolbox = await self._tools_now()
            final = held_answer(resumed, state, toolbox)
            if final is not None:
                resumed = replace(resumed, calls=[call for call in resumed.calls if call is not final])
            taken = settled(resumed, toolbox, state.settings.strictness, self._tools)
            state.settle(taken)
            if not all(isinstance(taken.fates.get(call.id), OpenCall) for call in taken.calls):
                self._may_run_tools()
            await self._calls(toolbox).carry_out(taken.calls, tell, fates=taken.fates)
            for outcome in resumed.carried:
                if outcome.error is not None and aborted(outcome, self._tools):
                    raise outcome.error
            if self.is_stepped:
                await tell(self._step("results", 0, "tool"))
            if not state.pending:
                if final is not None and await take_held(final, state):
                    return True
                state.tell_left_out()
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
        check_names(toolbox, state.settings.output)
        if not state.has_used_tools:
            check_choice(request, toolbox, self._tools)
        return toolbox.limited(self._tools)

    def _with_search(self, toolbox: Toolbox) -> Toolbox:
        """The tools, and the one that searches the web in the provider's stead."""
        search = self._spare_search
        return toolbox if search is None or toolbox.get(search.name) else toolbox.extended([search]).limited(self._tools)

    def _step(self, kind: Literal["reply", "results"], turn: int, role: str) -> Event:
        """The step just made, with the last message of the role: the one it entered. It goes the way of the events, though it is
        none: only `Steps` asks for it."""
        last = next((one for one in reversed(self.state.messages[-2:]) if one.role == role), None)
        return cast("Event", Step(kind, turn, copied(last)))

    def _begin_turn(self, attempt: TurnAttempt) -> FallbackContext:
        """What layer 4 is told, which sees to one accepted reply, by whatever attempts it takes."""
        mode_matters = attempt.mode_matters
        self.state.ledger.start_turn(None if self._attempts_fixed else self._models.attempts)
        return FallbackContext(self._models, self.state.ledger, self._first_plan(mode_matters), mode_matters)

    def _first_plan(self, mode_matters: bool) -> Plan:
        """The turn's model, or another one that it may escalate to while it is to be left aside."""
        models, wanted = self._models, self._model.alias
        model = wanted if models.all_well else first_well(models, wanted)
        places = models.deployments(model)
        place = self._place if model == wanted and self._place in places else places[0]
        if len(places) > 1 and (place != self._place or models.resting(model, place)):
            place = best_place(models, model)
        mode = self._first_mode(models.modes(model, place), mode_matters, stays=model == wanted and place == self._place)
        if model == wanted:
            without = self._without if place == self._place and mode == self._mode else frozenset[str]()
            return Plan(model, mode, deployment=place, without=without)
        detail = f"{wanted} failed before and is left aside for {resting(models, wanted):.1f} s more"
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

    def _to_look_at(self, context: FallbackContext) -> OutputMode | None:
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

    def _may_run_tools(self, calls: Sequence[ToolCall] = ()) -> None:
        """Count a turn. Raises `MaxToolTurns` when it is one too many: then its calls are told as not run."""
        if self.state.tool_turns >= self._tools.max_turns:
            self.state.note_outcomes(list(map(unfinished, calls)))
            raise MaxToolTurns(
                f"no final answer after {self._tools.max_turns} tool turns; raise max_tool_turns or look at the partial result"
            )
        self.state.tool_turns += 1

    def _calls(self, toolbox: Toolbox) -> TurnCalls:
        return TurnCalls(self.state, self._hooks, self._tools, toolbox, self._save, is_told=self.is_told)
