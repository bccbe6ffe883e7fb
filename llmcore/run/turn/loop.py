"""The tool loop: turns until a final answer, and the one place where a run ends.

A turn is one accepted reply and the calls it makes. The fallback manager gets that reply, in as many attempts as it needs.
`run` and `stream` are this one coroutine, with or without a listener, so they cannot differ. Whatever ends a run, its history
is valid, and the error carries the partial result.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from os import urandom
from typing import Literal, cast

from pydantic import ValidationError

from llmcore.adapters.secrets.known_secrets import hide_in_error
from llmcore.fallback import FallbackContext, Plan, best_deployment, cooldown_left, first_available_model
from llmcore.run.deadline import needed_loop
from llmcore.run.endpoints.choices import RunModels
from llmcore.run.endpoints.first_choice import FirstChoice, revise_model
from llmcore.run.endpoints.runtime import Runtime
from llmcore.run.hooks.hook_results import invalid_change, revalidated
from llmcore.run.observing.events import ObservedRun
from llmcore.run.output.validators import run_types_code
from llmcore.run.results.open_calls import OpenCall
from llmcore.run.results.result import RunResult
from llmcore.run.resume.claims import Journal, claim_object
from llmcore.run.resume.saving import SavePoints
from llmcore.run.setup.settings import Toolbox, check_choice, check_tool_names, resolve_request
from llmcore.run.setup.tool_source import ToolSource
from llmcore.run.streaming.steps import Step
from llmcore.run.turn.attempt import Accepted, TurnAttempt
from llmcore.run.turn.calls import TurnCalls
from llmcore.run.turn.deferred_answer import close_deferred_final_call, deferred_final_call
from llmcore.run.turn.learning import SPARE_REQUESTS
from llmcore.run.turn.reply_checks import always_raises, failure_cause
from llmcore.run.turn.resumed_calls import ended_by_failure, resumed_calls
from llmcore.run.turn.state import GO_ON, RunState
from llmcore.support.code.emitter import Emit, emit_after, event_stream
from llmcore.support.values.copies import copied, updated
from llmcore.support.values.identity import alike
from llmcore.tools.results.outcome import unfinished
from llmcore.types import (
    AttemptReason,
    CallerError,
    ConfigError,
    Event,
    FallbackExhausted,
    Finished,
    LLMCoreError,
    MaxToolTurns,
    OutputMode,
    PartialOutput,
    Request,
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
    """One run. It is made when everything is checked. `carry_out()` or reading `events()` runs it, once."""

    def __init__(self, chosen: FirstChoice, runtime: Runtime, source: ToolSource, *, listening: bool) -> None:
        self._chosen = chosen
        self._source = source
        self._search, self._spare_search = chosen.search, chosen.spare_search
        self._model, self._tools, settings = chosen.model, chosen.tools, chosen.settings
        request, parent = settings.request, settings.place
        self._runtime = runtime
        listening = listening or (parent is not None and parent.emits_nested)
        self._listening = listening
        self.emits_events = listening
        """Whether events are emitted, even if nothing is streamed."""
        self.copied_from: RunResult | None = None
        """The original of the result that this run resumes, until it is claimed."""
        self.is_stepped = False
        """Whether the run emits its steps among the events."""
        self._mode: OutputMode | None = None
        self._deployment = ""
        self._without: frozenset[str] = frozenset()
        self._mode_to_retry: OutputMode | None = None
        self._has_retried_mode = False
        self._last_partial: PartialOutput | None = None
        self._attempts_fixed = "attempts" in settings.budget.model_fields_set
        self._toolbox: Toolbox = settings.toolbox
        run = ObservedRun(urandom(16).hex(), self._model.alias, runtime.name, current_run.get(), request, self._model)
        recordings = [*runtime.recordings, *runtime.open_recordings()]
        self.state = RunState(settings, runtime.observers.watchers(run, recordings), recordings)
        self._models = RunModels(runtime.catalog, chosen.needs, priced_only=self.state.ledger.bounds_cost)
        self._hooks = runtime.hooks.with_deadline(self._seconds_left, self._seconds_uncounted)
        save_parent = parent.save if parent is not None and parent.saves else None
        store = None if parent is not None and parent.is_of_call else settings.run_store  # the parent run has it
        journal = None if store is None else Journal(store, run.id)
        saves = settings.checkpoint is not None or save_parent is not None or journal is not None
        points = (settings.checkpoint, self.state.snapshot, save_parent, journal, self.state.set_saved_as)
        self._save_points = SavePoints(*points) if saves else None
        if self._save_points is not None:
            self.state.child_runs.save_by(self._save)

    async def _load_shared_facts(self) -> None:
        """Load what other processes learned. It may show that the chosen model does not take this request."""
        await self._runtime.catalog.store.refresh_if_stale(self._seconds_left())
        self._model = revise_model(self._runtime.catalog, self._chosen)
        self._check_price()

    def events(self) -> AsyncGenerator[Event, None]:
        """Every event of the run, ending with `Finished(RunResult)`. Errors carry the partial result."""
        return event_stream(self.carry_out)

    async def carry_out(self, emit: Emit[Event]) -> RunResult:
        """Run to the end. Errors carry the partial result."""
        needed_loop()
        parent = self.state.settings.place
        if parent is None:
            return await self._carry_out(emit)
        with parent.cancelled_with_call():
            return await self._carry_out(emit)

    async def _carry_out(self, emit: Emit[Event]) -> RunResult:
        state, parent = self.state, self.state.settings.place
        if parent is not None and parent.emits_nested:
            emit = emit_after(parent.emit_nested, emit)
        scope = state.watch.begin("run_started")
        try:
            with scope:
                with state.ledger.uncounted():
                    await self._runtime.ready()
                for record in state.settings.repairs:  # those of the given history
                    state.watch.notify("repaired", record)
                await self._load_shared_facts()
                await self._run_turns(scope.emitting(self._with_partials_remembered(emit)))
            state.ledger.check_deadline()
            await self._save_end()
        except BaseException as error:
            state.close_open_calls(STOPPED, waiting=isinstance(error, TerminateLoop))
            await self._end_after(error)
        if self._listening and state.has_output and not await self._is_output_emitted():
            await emit(PartialOutput(state.output))
        result = self._deliver_result()
        state.watch.notify("run_ended", result, None)
        await emit(Finished(result))
        return result

    async def _end_after(self, ended: BaseException) -> None:
        """End a run whose turns raised `ended`. If the run can have a result nevertheless, this returns. Otherwise it raises an
        error that carries the partial result."""
        state = self.state
        try:
            if isinstance(ended, TerminateLoop):
                await state.end_with(ended)
                state.ledger.check_deadline()
            else:
                self._degrade(ended)
            await self._save_end()
        except BaseException as error:
            self._attach_partial(error)
            raise

    def _degrade(self, ended: BaseException) -> None:
        """If no strategy is left to try, the best text may become the answer. Raises the failure if it may not."""
        if not isinstance(ended, FallbackExhausted):
            raise ended
        failure, settings = failure_cause(ended), self.state.settings
        judged = settings.output is not None or settings.output_validators
        if judged or always_raises(failure) or not self.state.degrade():
            raise failure from failure.__cause__

    def _with_partials_remembered(self, emit: Emit[Event]) -> Emit[Event]:
        """`emit`, which also remembers the last partial value."""
        if not self._listening or self.state.settings.output is None:
            return emit
        return emit_after(self._remember_partial, emit)

    def _remember_partial(self, event: Event) -> None:
        if isinstance(event, PartialOutput):
            self._last_partial = event

    async def _is_output_emitted(self) -> bool:
        """Whether the last partial value that was emitted is the run's output."""
        value, last = self.state.output, self._last_partial
        if last is None:
            return False
        try:
            return await run_types_code(self.state.settings.output, self._seconds_left(), partial(alike, last.value, value))
        except Exception:  # the deadline has passed: emit it again
            return False

    async def _save(self, change: Callable[[], object] | None = None) -> None:
        """Make the change, then let the caller save the run as it stands."""
        if self._save_points is not None:
            await self._save_points.save(self._seconds_left(), self.state.context, change)
        elif change is not None:
            change()

    async def _claim(self) -> None:
        """Claim the saved state that this run resumes. Raises `CallerError` if another run has claimed it."""
        state, parent, points = self.state, self.state.settings.place, self._save_points
        saved = None if state.settings.resumed is None else state.settings.resumed.saved
        if saved is None or (parent is not None and parent.is_of_call):  # the parent run has claimed it
            return
        if points is None or not await points.claim(self._seconds_left(), saved):
            claim_object(saved if self.copied_from is None else self.copied_from, state.watch.run.id)
        self.copied_from = None

    async def _save_end(self) -> None:
        self.state.ended = True
        await self._save()

    async def _run_turns(self, emit: Emit[Event]) -> None:
        state, store = self.state, self._runtime.catalog.store
        if await self._finish_open_turn(emit) or state.pending:
            return
        reason: AttemptReason = "first"
        goes_on = False
        for turn in count(1):
            if not goes_on:
                await state.take_interjections()
            attempt = TurnAttempt(
                state,
                self._runtime,
                self._hooks,
                await self._current_toolbox(),
                self._models,
                listening=self._listening,
                reason=reason,
                with_search=self._with_search if self._spare_search is not None else None,
            )
            await self._runtime.catalog.cooldown.refresh_if_stale()
            context, failure = self._begin_turn(attempt), None
            try:
                await self._runtime.fallback.run(context, attempt.carry_out, self._with_waits_observed(emit))
            except LLMCoreError as error:
                failure = error
            await store.publish_if_needed(self._seconds_left())  # a failed turn may teach most
            await self._runtime.catalog.cooldown.publish()
            if failure is not None:
                raise failure
            accepted = self._accepted(attempt, context)
            calls = state.add_reply(accepted.envelope, accepted.calls, accepted.final, accepted.encodable_calls, accepted.dropped)
            if calls or not accepted.is_final:  # otherwise the run is over, and is saved as such
                await self._save()
            if self.is_stepped:
                await emit(self._step("reply", turn, "assistant"))
            if calls:
                self._start_tool_turn(calls)
                await self._turn_calls(attempt.toolbox).carry_out(calls, emit)
                if self.is_stepped:
                    await emit(self._step("results", turn, "tool"))
            if state.pending:  # a final result beside them waits, too
                return
            if accepted.is_final and (state.final is not None or not calls):  # otherwise a call beside it failed
                goes_on = False
                if state.tool_turns < self._tools.max_turns:
                    goes_on = await state.continue_with_interjections()
                if not goes_on:
                    state.set_output(accepted.value)
                    return
                self._start_tool_turn()
                await self._save()
                reason = "turn"
                continue
            goes_on = False
            state.add_left_out_note()
            if not calls:  # the model says that it needs more turns
                self._start_tool_turn()
                state.add_user(GO_ON)
            reason = "turn"

    def _accepted(self, attempt: TurnAttempt, context: FallbackContext) -> Accepted:
        """The turn's reply. Later turns keep the plan that worked."""
        plan = context.plan
        self._model, self._mode = self._runtime.catalog.registry.get(plan.model), plan.mode
        self._deployment, self._without = plan.deployment, plan.without
        self._mode_to_retry = self._mode_worth_retrying(context) if attempt.leaves_doubt else None
        assert attempt.accepted is not None  # the manager returns only after a success
        return attempt.accepted

    def _with_waits_observed(self, emit: Emit[Event]) -> Emit[Event]:
        return emit_after(self._notify_wait, emit) if self.state.watch.has("waiting") else emit

    def _notify_wait(self, event: Event) -> None:
        if isinstance(event, Waiting):
            self.state.watch.notify("waiting", event)

    async def _finish_open_turn(self, emit: Emit[Event]) -> bool:
        """Finish the turn that the given history left open, then add the messages behind it. Returns whether a final result in
        that turn ends the run. Raises `CallerError` for an answer that does not fit its call."""
        state, resumed = self.state, self.state.settings.resumed
        if resumed is None:
            return False
        if resumed.calls or resumed.carried:
            toolbox = await self._current_toolbox()
            final = deferred_final_call(resumed, state, toolbox)
            if final is not None:
                resumed = replace(resumed, calls=[call for call in resumed.calls if call is not final])
            resolved = resumed_calls(resumed, toolbox, state.settings.strictness, self._tools)
            state.apply_resumed_calls(resolved)
            runs_any = not all(isinstance(resolved.fates.get(call.id), OpenCall) for call in resolved.calls)
            if runs_any:
                self._start_tool_turn()
            claim = self._claim if runs_any or not resolved.calls else None
            await self._turn_calls(toolbox).carry_out(resolved.calls, emit, fates=resolved.fates, claim=claim)
            for outcome in resumed.carried:
                if outcome.error is not None and ended_by_failure(outcome, self._tools):
                    raise outcome.error
            if self.is_stepped:
                await emit(self._step("results", 0, "tool"))
            if not state.pending:
                if final is not None and await close_deferred_final_call(final, state):
                    return True
                state.add_left_out_note()
        else:
            await self._claim()
        state.close_open_turn()
        return False

    async def _current_toolbox(self) -> Toolbox:
        """The tools of the turn that begins."""
        if not self._source.is_open:
            self._toolbox = self._toolbox.now()
            return self._toolbox
        state, request = self.state, self.state.settings.request
        toolbox = (await self._source.current_toolbox(state.context(), state.ledger.seconds_left)).extended(
            request.tools, more=True
        )
        if self._search is not None and toolbox.get(self._search.name) is None:
            toolbox = toolbox.extended([self._search])
        check_tool_names(toolbox, typed=state.settings.output is not None)
        if not state.has_used_tools:
            check_choice(request, toolbox, self._tools)
        return toolbox.limited(self._tools)

    def _turn_calls(self, toolbox: Toolbox) -> TurnCalls:
        return TurnCalls(self.state, self._hooks, self._tools, toolbox, self._save, emits_events=self.emits_events)

    def _check_price(self) -> None:
        """Under a cost budget, raises `ConfigError` if the model, or one that it escalates to, has no price."""
        if self.state.ledger.bounds_cost:
            self._runtime.catalog.check_prices(self._model)

    def _seconds_left(self) -> float | None:
        return self.state.ledger.seconds_left

    def _seconds_uncounted(self) -> float:
        return self.state.ledger.seconds_uncounted

    def partial_result(self) -> RunResult:
        return self.state.result()

    def _deliver_result(self) -> RunResult:
        """The result at the end of the run. Warns if its cost is unknown, and adds it to the parent run."""
        result, parent = self.state.result(), self.state.settings.place
        if unpriced := result.unpriced:
            _log.warning("the cost of the run is unknown: %s answered and has no `prices` in the registry", ", ".join(unpriced))
        if parent is not None:
            parent.add_result(result)
        return result

    def abandon(self) -> None:
        """Close the history of a run that nobody carries on, so that it is valid."""
        self.state.close_open_calls(STOPPED)
        self.state.ended = True

    def _attach_partial(self, error: BaseException) -> None:
        """Attach the partial result to the error. This includes cancellation and what hooks raise."""
        self.state.ended = True
        result = self._deliver_result()
        if isinstance(error, Timeout) and not result.attempts:
            error.set_message(f"{error}; nothing was sent")
        if isinstance(error, LLMCoreError):
            hide_in_error(error)
        with_partial(error, result, result.attempts)
        self.state.watch.notify("run_ended", result, error)

    # The plan of a turn

    def _begin_turn(self, attempt: TurnAttempt) -> FallbackContext:
        """The context in which the fallback manager gets one accepted reply for this turn."""
        mode_matters = attempt.mode_matters
        self.state.ledger.start_turn(None if self._attempts_fixed else self._models.attempts)
        plan, asked = self._first_plan(mode_matters), TurnRequest(self.state, attempt)
        return FallbackContext(self._models, self.state.ledger, plan, mode_matters, turn_request=asked)

    def _first_plan(self, mode_matters: bool) -> Plan:
        """The turn's model. If that model is resting, a model that it escalates to."""
        models, wanted = self._models, self._model.alias
        model = wanted if models.all_well else first_available_model(models, wanted)
        deployments = models.deployments(model)
        deployment = self._deployment if model == wanted and self._deployment in deployments else deployments[0]
        if len(deployments) > 1 and (deployment != self._deployment or models.cooldown_left(model, deployment)):
            deployment = best_deployment(models, model)
        mode = self._first_mode(
            models.modes(model, deployment), mode_matters, stays=model == wanted and deployment == self._deployment
        )
        if model == wanted:
            without = self._without if deployment == self._deployment and mode == self._mode else frozenset[str]()
            return Plan(model, mode, detail=self._mode_change_detail(mode, deployment), deployment=deployment, without=without)
        detail = f"{wanted} failed before and is left aside for {cooldown_left(models, wanted):.1f} s more"
        _log.info("%s; %s is asked", detail, model)
        return Plan(model, mode, "model", detail, deployment=deployment)

    def _first_mode(self, modes: Sequence[OutputMode], mode_matters: bool, *, stays: bool) -> OutputMode:
        """The mode of the turn's first request. Later turns stay with the mode that worked at the same deployment.

        If the endpoint wrote its calls as text, the next request uses `text`. In native mode, its server may drop calls and
        results from the history.
        """
        writes_text = self._mode == "native_tools" and modes[0] == "text"
        if stays and self._mode_to_retry == modes[0]:
            self._has_retried_mode = True
            return modes[0]
        if stays and self._mode is not None and self._mode in modes and not writes_text:
            return self._mode
        plain: OutputMode = "native_tools" if "native_tools" in modes else "text"
        return modes[0] if mode_matters else plain

    def _mode_change_detail(self, mode: OutputMode, deployment: str) -> str:
        """Why this turn uses another mode than the last one; "" if it uses the same."""
        last, models, model = self._mode, self._models, self._model.alias
        if last is None or mode == last:
            return ""
        if self._has_retried_mode and mode == self._mode_to_retry:
            return f"{mode} is tried again: its refusal may have been temporary"
        if last not in models.modes(model, deployment):
            return f"{last} is no longer used: {models.why_not(model, deployment, last)}"
        if deployment == self._deployment and not models.can(models.config(model, deployment)).emits_text_calls:
            return f"{mode} is the model's first mode and is tried again"
        if mode == "text" and last == "native_tools":
            return f"text replaces {last}: the endpoint writes its calls as text"
        return f"{last} worked at another deployment; {mode} is the first mode of this one"

    def _mode_worth_retrying(self, context: FallbackContext) -> OutputMode | None:
        """The turn's first mode, if an unexplained refusal moved the turn to another mode. The refusal may have been temporary.

        The next turn then retries this mode, once in a run. None if the limits do not allow as many attempts as this turn
        made.
        """
        ledger, now = self.state.ledger, context.plan
        first = context.tried[0] if context.tried else now
        if self._has_retried_mode or first.mode == now.mode or (first.model, first.deployment) != (now.model, now.deployment):
            return None
        spare = ledger.requests_left
        if ledger.attempts_allowed(now.model) <= len(context.tried) or (spare is not None and spare <= SPARE_REQUESTS):
            return None
        return first.mode

    # Its tools

    def _with_search(self, toolbox: Toolbox) -> Toolbox:
        """The tools with the one that searches the web in the provider's place."""
        search = self._spare_search
        return toolbox if search is None or toolbox.get(search.name) else toolbox.extended([search]).limited(self._tools)

    def _start_tool_turn(self, calls: Sequence[ToolCall] = ()) -> None:
        """Count a tool turn. If the run has no turn left, raises `MaxToolTurns` and records the calls as not run."""
        if self.state.tool_turns >= self._tools.max_turns:
            self.state.note_outcomes(list(map(unfinished, calls)))
            raise MaxToolTurns(
                f"no final answer after {self._tools.max_turns} tool turns; raise max_tool_turns or look at the partial result"
            )
        self.state.tool_turns += 1

    def _step(self, kind: Literal["reply", "results"], turn: int, role: str) -> Event:
        """The last step, with the last message of this role. It travels with the events although it is none: only `Steps` reads
        it."""
        last = next((one for one in reversed(self.state.messages[-2:]) if one.role == role), None)
        return cast("Event", Step(kind, turn, copied(last)))


class TurnRequest:
    """The request of one turn, as `FallbackContext.asked`."""

    def __init__(self, state: RunState, turn: TurnAttempt) -> None:
        self._state = state
        self._turn = turn

    def request(self) -> Request:
        return copied(self._state.request())

    def optional(self, *, last: bool) -> frozenset[str]:
        return self._turn.optional(last=last)

    def checked(self, request: Request) -> Request:
        """A copy, validated at every depth. Raises `ConfigError` if the request changes the tools or a field that is fixed when
        the run starts, or has a history that no provider takes."""
        now = self._state.request()
        if request.tools != now.tools:
            raise ConfigError("`tools` cannot be changed by a strategy; the hook `before_request` can")
        try:
            given = request.model_copy(update={"messages": revalidated(list(request.messages))})
            changed = resolve_request(given, {})
        except (CallerError, ValidationError) as error:
            raise ConfigError(str(error)) from None
        results = {result.tool_use_id for message in changed.messages for result in message.tool_results}
        unanswered = [use.id for message in changed.messages for use in message.tool_uses if use.id not in results]
        if unanswered:
            raise ConfigError(f"the call {unanswered[0]!r} has no result; leave both in its messages, or neither")
        if wrong := invalid_change(now, changed, self._turn.tool_names):
            raise ConfigError(wrong)
        return updated(changed, {"tools": now.tools})
