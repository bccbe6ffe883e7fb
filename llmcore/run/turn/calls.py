"""The calls of one turn, each to its outcome: between the hooks before and after it, between two save points, approved where it
must be, within the run's budget."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from llmcore.hooks import HookChain, Veto
from llmcore.run.hooks.approval import approval_due
from llmcore.run.hooks.hook_results import fit_outcome, hooked_call, hooked_outcome, hooked_results, wrong_call
from llmcore.run.observing.dispatch import Scope
from llmcore.run.observing.events import ToolRetry
from llmcore.run.observing.progress import Progress
from llmcore.run.results.open_calls import OpenCall
from llmcore.run.setup.settings import Toolbox
from llmcore.run.turn.state import RunState
from llmcore.run.turn.unknown_calls import not_found
from llmcore.support.code.emitter import Tell, silently
from llmcore.support.values.copies import copied
from llmcore.tools import RunContext, Tool, ToolConfig
from llmcore.tools.execution.call import run_call
from llmcore.tools.execution.parallel_calls import CallEvent, NotStarted, ParallelCalls
from llmcore.tools.results.outcome import Outcome, synthetic, unfinished
from llmcore.types import Event, ToolCall, ToolStarted

__all__ = ["TurnCalls"]

_NO_CALL_LEFT = "It did not run: the run's budget of tool calls is spent."
_RAN = "The tool ran, and the run ended before its result was taken."

Save = Callable[[Callable[[], object] | None], Awaitable[None]]
"""Make the change, if there is one, and save the run as it stands then."""


class TurnCalls:
    """Of one turn of one run."""

    def __init__(
        self, state: RunState, hooks: HookChain, tools: ToolConfig, toolbox: Toolbox, save: Save, *, is_told: bool
    ) -> None:
        """`is_told`: the run's events are told to somebody."""
        self._state = state
        self._hooks = hooks
        self._tools = tools
        self._toolbox = toolbox
        self._save = save
        self._is_told = is_told
        self._withheld: dict[str, Callable[[], Outcome]] = {}
        self._running: ParallelCalls | None = None
        self._is_over = False

    def _seconds_left(self) -> float | None:
        return self._state.ledger.seconds_left

    async def carry_out(
        self,
        calls: Sequence[ToolCall],
        tell: Tell[Event],
        *,
        fates: Mapping[str, Outcome | OpenCall] = MappingProxyType({}),
        claim: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Run the calls and enter their results. Calls that wait for the caller become pending, and so does a final result
        that stands beside them. `fates`: of calls that an earlier run left open, and that are not to run. `claim` is asked
        before the first one runs.

        A listener is told of each result as it comes; where a hook may still change it, when it has passed the hook.
        """
        state, told_late = self._state, self._hooks.has("on_tool_response")
        context = state.context()
        runnable = [call for call in calls if call.id not in fates and self._toolbox.can_run(call.name)]
        alone = [call.id for call in runnable if self._runs_alone(call)]
        running = self._running = ParallelCalls(
            runnable,
            partial(self._run_call, context),
            self._tools,
            self._withheld,
            listening=self._is_told,
            sequential=alone,
            finish_unfinished=self._with_what_it_ran,
        )
        progress = self._progress(running)
        if progress is not None:
            context.emitting_to(progress)
        refused: list[Outcome] = []
        turn, told_now = state.tool_turns, self._is_told and not told_late
        try:
            for call in calls if len(runnable) < len(calls) else ():
                outcome = await self._not_to_run(call, context, fates)
                if outcome is not None:
                    refused.append(outcome)
                    if told_now:
                        await tell(outcome.event(turn))
            if claim is not None:
                await claim()
            if self._is_told:
                await _run_and_emit(running, turn if told_now else None, tell)
            else:
                await running.run(silently)  # each tool and hook stands under the deadline itself
        finally:
            if progress is not None:
                progress.end()
            self._running, self._is_over = None, True  # the two hold each other: only the garbage collector would free a run
            outcomes = state.outcomes([*refused, *running.outcomes])
            state.note_outcomes(outcomes)
            if outcomes:
                state.add_results([outcome.block() for outcome in outcomes])
        if state.final is not None and not state.pending and not state.close_final(state.final):
            state.final = None
        if told_late and (fresh := state.fresh_results()) is not None:
            message = await hooked_results(self._hooks, fresh)
            outcomes = state.replace_results(message, outcomes, self._tools.max_result_chars)
            for outcome in outcomes if self._is_told else ():
                await tell(outcome.event(turn))
        ending = next((outcome.ended for outcome in outcomes if outcome.ended), None)
        if ending is not None:
            raise ending
        state.ledger.check_tool_calls()

    def _progress(self, running: ParallelCalls) -> Progress | None:
        """Who is told what the calls emit; None where nobody would hear it."""
        state = self._state
        if not self._is_told and not state.watch.has("tool_progress"):
            return None
        hear = running.emit if self._is_told else None
        wants_nested_events = self._is_told and state.settings.nested_events
        return Progress(state.watch, state.tool_turns, hear, wants_nested_events=wants_nested_events)

    def _runs_alone(self, call: ToolCall) -> bool:
        tool = self._toolbox.get(call.name)
        return tool is not None and tool.options.sequential

    async def _not_to_run(
        self, call: ToolCall, context: RunContext[Any], fates: Mapping[str, Outcome | OpenCall]
    ) -> Outcome | None:
        """Let the call of a tool without a function wait for the caller. The outcome of one that a hook refuses, of an unknown
        tool, and of a call whose fate is known; None of any other."""
        fate = fates.get(call.id)
        if isinstance(fate, OpenCall):
            return None  # it waits already
        if fate is not None:
            return await self._passed(call, fate)
        if self._toolbox.get(call.name) is None:
            return await self._passed(call, not_found(call, self._toolbox, self._tools.max_result_chars))
        if self._toolbox.can_run(call.name):
            return None
        decided = await self._decided(call, context.for_call(call.id, call.name, 0))
        if isinstance(decided, Outcome):
            return await self._passed(decided.call, decided)
        tool = self._toolbox.get(decided.name)
        summary = "" if tool is None else tool.summary_of(decided.arguments)
        self._state.hold(decided, OpenCall.of(decided, "elsewhere", summary=summary))
        return None

    async def _run_call(self, context: RunContext[Any], call: ToolCall) -> Outcome:
        """One call to its outcome, between the hooks before and after it, and between two save points."""
        state, context = self._state, context.for_call(call.id, call.name, 0)
        decided = await self._decided(call, context)
        if isinstance(decided, Outcome):
            return await self._passed(decided.call, decided)
        tool = self._toolbox.get(decided.name)
        assert tool is not None  # only then it may run
        if call.id not in state.approved:
            waiting = await approval_due(tool, decided, context, state.ledger.seconds_left)
            if waiting is not None:
                state.hold(decided, waiting)
                return Outcome(decided, [], suspended=True)
        if not state.ledger.take_tool_call():
            return await self._passed(decided, synthetic(decided, _NO_CALL_LEFT))
        await self._save(partial(self._begin, decided))
        withheld = partial(self._withheld.__setitem__, call.id)  # should the run end before the outcome is there
        scope = self._starts(decided, tool)
        try:
            with scope:
                outcome = await run_call(decided, tool, context, self._tools, self._seconds_left, withheld, self._tell_retry)
            if outcome.suspended:
                withheld(lambda: outcome)
                state.hold_within(decided)
                self._tell_ended(lambda: outcome)
            else:
                if outcome.ran:  # until the hooks after it have let the outcome pass
                    withheld(partial(_only_ran, decided, outcome.duration, outcome.retries))
                self._state.inner.check()
                if outcome.error is not None:
                    outcome = self._with_what_it_ran(outcome)
                outcome = await self._passed(decided, outcome)
        except BaseException:
            became = self._withheld.get(call.id, partial(unfinished, decided))
            self._tell_ended(lambda: self._with_what_it_ran(became()))
            raise
        await self._save(None)
        if outcome.suspended and outcome.raised is not None:  # the caller's answers do not fit: saved, as it waits again
            raise outcome.raised
        return outcome

    def _with_what_it_ran(self, outcome: Outcome) -> Outcome:
        return self._state.inner.with_child_work(outcome, self._tools.max_result_chars)

    def _begin(self, call: ToolCall) -> None:
        """The call is about to start, and is saved as that: but not where another one's end keeps it from that, for nobody would
        know that it never began."""
        if self._is_over or (self._running is not None and self._running.is_ending):
            raise NotStarted
        self._state.begin(call)

    def _starts(self, call: ToolCall, tool: Tool) -> Scope:
        """Tell that the call is carried out."""
        watch = self._state.watch
        if not self._is_told and not watch.has("tool_started"):
            return watch.begins("tool_started")
        summary = tool.summary_of(call.arguments) if tool.options.summary is not None else ""
        started = ToolStarted(call.id, call.name, copied(call.arguments), self._state.tool_turns, summary)
        if self._is_told and self._running is not None:
            self._running.emit(started)
        return watch.begins("tool_started", started)

    def _tell_retry(self, tried: Outcome, n: int, wait: float) -> None:
        watch = self._state.watch
        record = self._state.record(tried) if watch.has("tool_retried") else None
        if record is not None and record.error is not None:
            retry = ToolRetry(record.id, record.name, record.turn, n, record.error, tried.duration, wait)
            watch.tell("tool_retried", retry, tried.raised)

    def _tell_ended(self, became: Callable[[], Outcome]) -> None:
        watch = self._state.watch
        if watch.has("tool_ended"):
            outcome = became()
            watch.tell("tool_ended", self._state.record(outcome), outcome.raised)

    async def _decided(self, call: ToolCall, context: RunContext[Any]) -> ToolCall | Outcome:
        """The call as it may run, or its outcome when it may not."""
        if not self._hooks.has("before_tool_run"):
            return call
        decided = await hooked_call(self._hooks, call, context, self._toolbox, self._state.settings.strictness)
        if isinstance(decided, Veto):
            return synthetic(call, decided.reason)
        if decided.changed:
            self._state.replace_call(decided.call)
        return wrong_call(decided) if decided.problems or self._toolbox.get(decided.call.name) is None else decided.call

    async def _passed(self, call: ToolCall, outcome: Outcome) -> Outcome:
        """The outcome as the hooks after the call leave it: it holds from here on, whatever ends the run."""
        limit = self._tools.max_result_chars
        outcome = fit_outcome(await hooked_outcome(self._hooks, call, outcome, limit), limit)
        self._state.done[call.id] = outcome
        self._withheld[call.id] = itself = lambda: outcome
        self._tell_ended(itself)
        return outcome


async def _run_and_emit(running: ParallelCalls, turn: int | None, tell: Tell[Event]) -> None:
    """Carry the calls out, and tell of each when it starts, and what became of it (`turn` None: nothing), also of those that the
    end of one cut short, before its error is raised."""
    told = set[str]()

    async def coming(one: Outcome | CallEvent) -> None:
        if not isinstance(one, Outcome):
            await tell(one)
        elif turn is not None and not one.suspended:
            told.add(one.call.id)
            await tell(one.event(turn))

    failure: Exception | None = None
    try:
        await running.run(coming)
    except Exception as error:
        failure = error
    for outcome in running.outcomes if turn is not None else ():
        if outcome.call.id not in told and not outcome.suspended:
            await tell(outcome.event(turn or 0))
    if failure is not None:
        raise failure


def _only_ran(call: ToolCall, duration: float, retries: int) -> Outcome:
    """The outcome of a call that ended, and whose outcome the hooks after it did not let pass."""
    return replace(synthetic(call, _RAN), ran=True, duration=duration, retries=retries)
