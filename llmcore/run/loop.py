"""The tool loop: turns until a final answer, and the one place where a run ends, well or badly.

A turn is one accepted reply (layer 4 sees to it) and the calls it makes. `run` and `stream` are this one coroutine,
listened to or not, so they cannot differ. Whatever ends a run, its history is valid and its partial result rides on
the error.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from types import MappingProxyType
from typing import Any, Literal, cast
from uuid import uuid4

from llmcore.adapters.secrets.known_secrets import hide_in_error
from llmcore.fallback import FallbackContext, FallbackManager, Plan, best_place, first_well, resting
from llmcore.hooks import HookChain, Veto
from llmcore.run.approving import approval_due
from llmcore.run.attempt import TurnAttempt
from llmcore.run.catalog import Catalog, unknown_price
from llmcore.run.choices import RunModels
from llmcore.run.choosing import choose
from llmcore.run.hooked import fit_outcome, hooked_call, hooked_outcome, hooked_results, wrong_call
from llmcore.run.observing import ObservedRun, Observers, Scope
from llmcore.run.open_calls import OpenCall
from llmcore.run.result import RunResult
from llmcore.run.saving import SavePoints
from llmcore.run.settings import RunSettings, Toolbox, check_allowed, check_choice
from llmcore.run.settling import settled
from llmcore.run.state import GO_ON, RunState
from llmcore.run.stepping import Step
from llmcore.run.tool_source import ToolSource
from llmcore.run.unknown_calls import not_found
from llmcore.run.validating import with_types_code
from llmcore.run.verdict import cause_of, is_told_as_error
from llmcore.tools import RunContext, Tool, ToolConfig
from llmcore.tools.execution import Outcome, ToolRun, run_call, synthetic, unfinished
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
    ToolStarted,
    Waiting,
)
from llmcore.types.copies import copied, updated
from llmcore.types.logs import current_run, logger
from llmcore.types.telling import Tell, told_by

__all__ = ["Machinery", "Run"]

_log = logger("run")
_STOPPED = "The run ended before this call was answered."
_NO_CALL_LEFT = "It did not run: the run's budget of tool calls is spent."
_RAN = "The tool ran, and the run ended before its result was taken."


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
        chosen = choose(machinery.catalog, settings, machinery.web_search, source.is_open)
        self._source = source
        self._search = chosen.search
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
        self._shown: PartialOutput | None = None
        self._withheld: dict[str, Callable[[], Outcome]] = {}
        self._running: ToolRun | None = None
        self._attempts_fixed = "attempts" in settings.budget.model_fields_set
        self._tools = machinery.tool_config.overlaid(self._model.tools).overlaid(settings.tool_overrides)
        if self._tools.tool_choice is not None and "tool_choice" not in request.model_fields_set:
            request = updated(request, {"tool_choice": self._tools.tool_choice})
        if not source.is_open:
            check_allowed(self._tools, settings.toolbox)
            check_choice(request, settings.toolbox, self._tools)
        self._toolbox: Toolbox = settings.toolbox.limited(self._tools)
        if request is not settings.request or self._toolbox is not settings.toolbox:
            settings = replace(settings, request=request, toolbox=self._toolbox)
        run = ObservedRun(uuid4().hex, self._model.alias, machinery.name, current_run.get(), request, self._model)
        self.state = RunState(settings, machinery.observers.watch(run))
        bounds_cost = self.state.ledger.bounds_cost
        if bounds_cost and not machinery.catalog.is_priced(self._model):
            raise unknown_price(self._model)
        self._models = RunModels(machinery.catalog, chosen.needs, priced_only=bounds_cost)
        self._hooks = machinery.hooks.under(self._seconds_left)
        checkpoint = settings.checkpoint
        self._save_points = None if checkpoint is None else SavePoints(checkpoint, self.state.snapshot)

    def _seconds_left(self) -> float | None:
        return self.state.ledger.seconds_left

    def events(self) -> AsyncGenerator[Event, None]:
        """Everything that happens, ending with `Finished(RunResult)`. Errors carry the partial result."""
        return told_by(self.out)

    async def out(self, tell: Tell[Event]) -> RunResult:
        """Carry it out. Errors carry the partial result."""
        state = self.state
        scope = state.watch.begins("run_started")
        try:
            with scope:
                for record in state.settings.repairs:  # of the history that was given
                    state.watch.tell("repaired", record)
                await self._machinery.catalog.store.keep_up(self._seconds_left())
                await self._turns(scope.telling(self._noting_values(tell)))
            state.ledger.check_deadline()
            await self._save_end()
        except TerminateLoop as ended:
            state.close_open_calls(_STOPPED, waiting=True)
            try:
                await state.end(ended)
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
        if last is None or type(last.value) is not type(value):
            return False
        try:
            return await with_types_code(self.state.settings.output, self._seconds_left(), lambda: bool(last.value == value))
        except Exception:  # the type's own code, or the deadline: then it is told again
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
        await self._resumed(tell)
        if state.pending:
            return
        reason: AttemptReason = "first"
        for turn in count(1):
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
            self._place = context.plan.deployment
            accepted = attempt.accepted
            assert accepted is not None  # the manager returns only after a success
            calls = state.add_reply(accepted.envelope, accepted.calls, accepted.final)
            if calls or not accepted.is_final:  # else the run is over, and saved as that
                await self._save()
            if self.is_stepped:
                await tell(self._step("reply", turn, "assistant"))
            if calls:
                self._may_run_tools()
                await self._run_tools(calls, attempt.toolbox, tell, closes=accepted.final is not None)
                if self.is_stepped:
                    await tell(self._step("results", turn, "tool"))
            if accepted.is_final:
                state.take_output(accepted.value)
                return
            if state.pending:
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

    async def _resumed(self, tell: Tell[Event]) -> None:
        """The turn that the given history left open, to its end; what was said behind it enters then. Raises `CallerError` for an
        answer that cannot be taken."""
        state, resumed = self.state, self.state.settings.resumed
        if resumed is None:
            return
        if resumed.calls or resumed.carried:
            toolbox = await self._tools_now()
            taken = settled(resumed, toolbox, state.settings.strictness, self._tools.max_result_chars)
            state.settle(taken)
            if not all(isinstance(taken.fates.get(call.id), OpenCall) for call in taken.calls):
                self._may_run_tools()
            await self._run_tools(taken.calls, toolbox, tell, fates=taken.fates)
            if self.is_stepped:
                await tell(self._step("results", 0, "tool"))
            if not state.pending:
                state.tell_left_out()
        state.go_on()

    async def _tools_now(self) -> Toolbox:
        """The tools of the turn that begins."""
        if not self._source.is_open:
            self._toolbox = self._toolbox.now()
            return self._toolbox
        state, request = self.state, self.state.settings.request
        toolbox = (await self._source.now(state.context(), state.ledger.seconds_left)).extended(request.tools)
        if self._search is not None and toolbox.get(self._search.name) is None:
            toolbox = toolbox.extended([self._search])
        if not state.tool_turns:
            check_choice(request, toolbox, self._tools)
        return toolbox.limited(self._tools)

    def _step(self, kind: Literal["reply", "results"], turn: int, role: str) -> Event:
        """The step just made, with the last message of the role: the one it entered. It goes the way of the events, though it is
        none: only `Steps` asks for it."""
        last = next((one for one in reversed(self.state.messages[-2:]) if one.role == role), None)
        return cast("Event", Step(kind, turn, copied(last)))

    def _begin_turn(self, attempt: TurnAttempt) -> FallbackContext:
        """What layer 4 is told, which sees to one accepted reply, by whatever attempts it takes."""
        self.state.ledger.start_turn(None if self._attempts_fixed else self._models.attempts)
        return FallbackContext(
            models=self._models,
            ledger=self.state.ledger,
            plan=self._first_plan(attempt.mode_matters),
            mode_matters=attempt.mode_matters,
        )

    def _first_plan(self, mode_matters: bool) -> Plan:
        """The turn's model, or another one that it may escalate to while it is to be left aside."""
        models, wanted = self._models, self._model.alias
        model = first_well(models, wanted)
        place = self._place if self._place and model == wanted and self._place in models.deployments(model) else ""
        if not place or models.resting(model, place):
            place = best_place(models, model)
        mode = self._first_mode(models.modes(model, place), mode_matters)
        if model == wanted:
            return Plan(model, mode, deployment=place)
        detail = f"{wanted} failed before and is left aside for {resting(models, wanted):.1f} s more"
        _log.info("%s; %s is asked", detail, model)
        return Plan(model, mode, "model", detail, deployment=place)

    def _first_mode(self, modes: Sequence[OutputMode], mode_matters: bool) -> OutputMode:
        """What worked, where later turns stay. But an endpoint that was seen to write its calls as text is asked for text
        from the next request on: in native mode its server may drop calls and results from the history."""
        writes_text = self._mode == "native_tools" and modes[0] == "text"
        if self._mode is not None and self._mode in modes and not writes_text:
            return self._mode
        plain: OutputMode = "native_tools" if "native_tools" in modes else "text"
        return modes[0] if mode_matters else plain

    # Tools

    def _may_run_tools(self) -> None:
        """Count a turn. Raises `MaxToolTurns` when it is one too many."""
        if self.state.tool_turns >= self._tools.max_turns:
            raise MaxToolTurns(
                f"no final answer after {self._tools.max_turns} tool turns; raise max_tool_turns or look at the partial result"
            )
        self.state.tool_turns += 1

    async def _run_tools(
        self,
        calls: Sequence[ToolCall],
        toolbox: Toolbox,
        tell: Tell[Event],
        *,
        closes: bool = False,
        fates: Mapping[str, Outcome | OpenCall] = MappingProxyType({}),
    ) -> None:
        """Run the calls and enter their results. Calls that wait for the caller become pending. `closes`: a final result stands
        among them; `fates`: of calls that an earlier run left open, and that are not to run.

        A listener is told of each result as it comes; where a hook may still change it, when it has passed the hook.
        """
        state, told_late = self.state, self._hooks.has("on_tool_response")
        context = state.context()
        runnable = [call for call in calls if call.id not in fates and toolbox.can_run(call.name)]
        running = self._running = ToolRun(
            runnable,
            lambda call: self._run_call(call, toolbox, context),
            self._tools,
            self._withheld,
            listening=self.is_told,
        )
        refused: list[Outcome] = []
        turn, told_now = state.tool_turns, self.is_told and not told_late
        try:
            for call in calls if len(runnable) < len(calls) else ():
                outcome = await self._not_to_run(call, toolbox, context, fates)
                if outcome is not None:
                    refused.append(outcome)
                    if told_now:
                        await tell(outcome.event(turn))
            await _run_told(running, turn if told_now else None, tell)  # each tool and hook stands under the deadline itself
        finally:
            outcomes = state.outcomes([*refused, *running.outcomes])
            state.note_outcomes(outcomes)
            if outcomes:
                state.add_results([outcome.block() for outcome in outcomes])
        if closes:
            state.close_open_calls("The final result was taken.")
        if told_late and (fresh := state.fresh_results()) is not None:
            message = await hooked_results(self._hooks, fresh)
            outcomes = state.replace_results(message, outcomes, self._tools.max_result_chars)
            for outcome in outcomes if self.is_told else ():
                await tell(outcome.event(turn))
        ending = next((outcome.ended for outcome in outcomes if outcome.ended), None)
        if ending is not None:
            raise ending
        state.ledger.check_tool_calls()

    async def _not_to_run(
        self, call: ToolCall, toolbox: Toolbox, context: RunContext[Any], fates: Mapping[str, Outcome | OpenCall]
    ) -> Outcome | None:
        """Let the call of a tool without a function wait for the caller. The outcome of one that a hook refuses, of an unknown
        tool, and of a call whose fate is known; None of any other."""
        fate = fates.get(call.id)
        if isinstance(fate, OpenCall):
            return None  # it waits already
        if fate is not None:
            return await self._passed(call, fate)
        if toolbox.get(call.name) is None:
            return await self._passed(call, not_found(call, toolbox, self._tools.max_result_chars))
        if toolbox.can_run(call.name):
            return None
        decided = await self._decided(call, toolbox, context.for_call(call.id, call.name, 0))
        if isinstance(decided, Outcome):
            return await self._passed(decided.call, decided)
        tool = toolbox.get(decided.name)
        summary = "" if tool is None else tool.summary_of(decided.arguments)
        self.state.hold(decided, OpenCall.of(decided, "elsewhere", summary=summary))
        return None

    async def _run_call(self, call: ToolCall, toolbox: Toolbox, context: RunContext[Any]) -> Outcome:
        """One call to its outcome, between the hooks before and after it, and between two save points."""
        state, context = self.state, context.for_call(call.id, call.name, 0)
        decided = await self._decided(call, toolbox, context)
        if isinstance(decided, Outcome):
            return await self._passed(decided.call, decided)
        tool = toolbox.get(decided.name)
        assert tool is not None  # only then it may run
        if call.id not in state.approved:
            waiting = await approval_due(tool, decided, context, self._seconds_left())
            if waiting is not None:
                state.hold(decided, waiting)
                return Outcome(decided, [], held=True)
        if not state.ledger.take_tool_call():
            return await self._passed(decided, synthetic(decided, _NO_CALL_LEFT))
        await self._save(partial(state.begin, decided))
        withheld = partial(self._withheld.__setitem__, call.id)  # should the run end before the outcome is there
        scope = self._starts(decided, tool)
        try:
            with scope:
                outcome = await run_call(decided, tool, context, self._tools, self._seconds_left, withheld)
            if outcome.held:
                withheld(lambda: outcome)
                state.hold_within(decided)
                self._tell_ended(lambda: outcome)
            else:
                if outcome.ran:  # until the hooks after it have let the outcome pass
                    withheld(partial(_only_ran, decided, outcome.duration, outcome.retries))
                self.state.ledger.check_refused_below()
                outcome = await self._passed(decided, outcome)
        except BaseException:
            self._tell_ended(self._withheld.get(call.id, partial(unfinished, decided)))
            raise
        if outcome.held and outcome.raised is not None:  # the caller's answers do not fit
            raise outcome.raised
        await self._save()
        return outcome

    def _starts(self, call: ToolCall, tool: Tool) -> Scope:
        """Tell that the call is carried out."""
        watch = self.state.watch
        if not self.is_told and not watch.has("tool_started"):
            return watch.begins("tool_started")
        summary = tool.summary_of(call.arguments) if tool.options.summary is not None else ""
        started = ToolStarted(call.id, call.name, copied(call.arguments), self.state.tool_turns, summary)
        if self.is_told and self._running is not None:
            self._running.tell(started)
        return watch.begins("tool_started", started)

    def _tell_ended(self, became: Callable[[], Outcome]) -> None:
        watch = self.state.watch
        if watch.has("tool_ended"):
            outcome = became()
            watch.tell("tool_ended", self.state.record(outcome), outcome.raised)

    async def _decided(self, call: ToolCall, toolbox: Toolbox, context: RunContext[Any]) -> ToolCall | Outcome:
        """The call as it may run, or its outcome when it may not."""
        decided = await hooked_call(self._hooks, call, context, toolbox, self.state.settings.strictness)
        if isinstance(decided, Veto):
            return synthetic(call, decided.reason)
        if decided.changed:
            self.state.replace_call(decided.call)
        return wrong_call(decided) if decided.problems or toolbox.get(decided.call.name) is None else decided.call

    async def _passed(self, call: ToolCall, outcome: Outcome) -> Outcome:
        """The outcome as the hooks after the call leave it: it holds from here on, whatever ends the run."""
        limit = self._tools.max_result_chars
        outcome = fit_outcome(await hooked_outcome(self._hooks, call, outcome, limit), limit)
        self.state.done[call.id] = outcome
        self._withheld[call.id] = lambda: outcome
        self._tell_ended(lambda: outcome)
        return outcome


async def _run_told(running: ToolRun, turn: int | None, tell: Tell[Event]) -> None:
    """Carry the calls out, and tell of each when it starts, and what became of it (`turn` None: nothing), also of those that the
    end of one cut short, before its error is raised."""
    told = set[str]()

    async def coming(one: Outcome | ToolStarted) -> None:
        if isinstance(one, ToolStarted):
            await tell(one)
        elif turn is not None and not one.held:
            told.add(one.call.id)
            await tell(one.event(turn))

    failure: Exception | None = None
    try:
        await running.run(coming)
    except Exception as error:
        failure = error
    for outcome in running.outcomes if turn is not None else ():
        if outcome.call.id not in told and not outcome.held:
            await tell(outcome.event(turn or 0))
    if failure is not None:
        raise failure


def _only_ran(call: ToolCall, duration: float, retries: int) -> Outcome:
    """The outcome of a call that ended, and whose outcome the hooks after it did not let pass."""
    return replace(synthetic(call, _RAN), ran=True, duration=duration, retries=retries)
