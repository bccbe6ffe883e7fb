"""Runs the calls of one turn, each to its outcome.

A call passes the hooks before and after it, the approval that its tool may need, the run's budget of calls, and two save
points.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from llmcore.hooks import HookChain, Veto
from llmcore.run.hooks.approval import approval_due
from llmcore.run.hooks.hook_results import encodable_outcome, hooked_call, hooked_outcome, hooked_results, invalid_call_outcome
from llmcore.run.observing.dispatch import Scope
from llmcore.run.observing.events import ToolRetry
from llmcore.run.observing.progress import Progress
from llmcore.run.results.open_calls import OpenCall
from llmcore.run.setup.settings import Toolbox
from llmcore.run.turn.state import RunState
from llmcore.run.turn.unknown_calls import not_found
from llmcore.support.code.emitter import Emit, silently
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
"""Makes the change, if there is one, then saves the run."""


class TurnCalls:
    """Runs the calls of one turn of one run."""

    def __init__(
        self, state: RunState, hooks: HookChain, tools: ToolConfig, toolbox: Toolbox, save: Save, *, emits_events: bool
    ) -> None:
        """`emits_events`: the run's events have a listener."""
        self._state = state
        self._hooks = hooks
        self._tools = tools
        self._toolbox = toolbox
        self._save = save
        self._emits_events = emits_events
        self._interrupted_outcomes: dict[str, Callable[[], Outcome]] = {}
        self._running: ParallelCalls | None = None
        self._is_over = False

    def _seconds_left(self) -> float | None:
        return self._state.ledger.seconds_left

    async def carry_out(
        self,
        calls: Sequence[ToolCall],
        emit: Emit[Event],
        *,
        fates: Mapping[str, Outcome | OpenCall] = MappingProxyType({}),
        claim: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Run the calls and enter their results. Calls that wait for the caller become pending, and so does a final result beside
        them.

        `fates`: the outcomes or open stages of calls of an earlier run that are not to run. `claim` is awaited before the
        first call runs.

        A listener gets each result as it comes. If `on_tool_response` hooks exist, it gets the results when the hooks have
        seen them.
        """
        state, after_hooks = self._state, self._hooks.has("on_tool_response")
        context = state.context()
        runnable = [call for call in calls if call.id not in fates and self._toolbox.can_run(call.name)]
        running = self._running = ParallelCalls(
            runnable,
            partial(self._run_call, context),
            self._tools,
            self._interrupted_outcomes,
            listening=self._emits_events,
            sequential=[call.id for call in runnable if self._runs_alone(call)],
            finish_unfinished=self._with_child_work,
        )
        progress = self._progress(running)
        if progress is not None:
            context.emitting_to(progress)
        refused: list[Outcome] = []
        turn, at_once = state.tool_turns, self._emits_events and not after_hooks
        try:
            for call in calls if len(runnable) < len(calls) else ():
                outcome = await self._settle_without_running(call, context, fates)
                if outcome is not None:
                    refused.append(outcome)
                    if at_once:
                        await emit(outcome.event(turn))
            if claim is not None:
                await claim()
            if self._emits_events:
                await _run_and_emit(running, turn if at_once else None, emit)
            else:
                await running.run(silently)  # each tool and hook observes the deadline itself
        finally:
            if progress is not None:
                progress.end()
            self._running, self._is_over = None, True  # breaks a reference cycle, so that the run is freed at once
            outcomes = state.outcomes([*refused, *running.outcomes])
            state.note_outcomes(outcomes)
            if outcomes:
                state.add_results([outcome.block() for outcome in outcomes])
        if state.final is not None and not state.pending and not state.close_final_call(state.final):
            state.final = None
        if after_hooks:
            outcomes = await self._hooked_outcomes(outcomes, turn, emit)
        ending = next((outcome.ended for outcome in outcomes if outcome.ended), None)
        if ending is not None:
            raise ending
        state.ledger.check_tool_calls()

    async def _hooked_outcomes(self, outcomes: list[Outcome], turn: int, emit: Emit[Event]) -> list[Outcome]:
        """The outcomes as `on_tool_response` hooks leave them. A listener gets them now."""
        if (fresh := self._state.fresh_results()) is None:
            return outcomes
        message = await hooked_results(self._hooks, fresh)
        outcomes = self._state.replace_results(message, outcomes, self._tools.max_result_chars)
        for outcome in outcomes if self._emits_events else ():
            await emit(outcome.event(turn))
        return outcomes

    def _progress(self, running: ParallelCalls) -> Progress | None:
        """The receiver of what the calls emit; None if nobody listens."""
        state = self._state
        if not self._emits_events and not state.watch.has("tool_progress"):
            return None
        listener = running.emit if self._emits_events else None
        wants_nested_events = self._emits_events and state.settings.nested_events
        return Progress(state.watch, state.tool_turns, listener, wants_nested_events=wants_nested_events)

    def _runs_alone(self, call: ToolCall) -> bool:
        tool = self._toolbox.get(call.name)
        return tool is not None and tool.options.sequential

    async def _settle_without_running(
        self, call: ToolCall, context: RunContext[Any], fates: Mapping[str, Outcome | OpenCall]
    ) -> Outcome | None:
        """The outcome of a call that a hook refused, that names an unknown tool, or whose fate is known; None for any other call.

        If the tool has no function, the call waits for the caller.
        """
        fate = fates.get(call.id)
        if isinstance(fate, OpenCall):
            return None  # it waits already
        if fate is not None:
            return await self._apply_result_hooks(call, fate)
        if self._toolbox.get(call.name) is None:
            return await self._apply_result_hooks(call, not_found(call, self._toolbox, self._tools.max_result_chars))
        if self._toolbox.can_run(call.name):
            return None
        decided = await self._apply_call_hooks(call, context.for_call(call.id, call.name, 0))
        if isinstance(decided, Outcome):
            return await self._apply_result_hooks(decided.call, decided)
        tool = self._toolbox.get(decided.name)
        summary = "" if tool is None else tool.summary_of(decided.arguments)
        self._state.wait_for_caller(decided, OpenCall.of(decided, "elsewhere", summary=summary))
        return None

    async def _run_call(self, context: RunContext[Any], call: ToolCall) -> Outcome:
        """Run one call to its outcome, between the hooks and between two save points."""
        state, context = self._state, context.for_call(call.id, call.name, 0)
        decided = await self._apply_call_hooks(call, context)
        if isinstance(decided, Outcome):
            return await self._apply_result_hooks(decided.call, decided)
        tool = self._toolbox.get(decided.name)
        assert tool is not None  # otherwise it may not run
        if call.id not in state.approved:
            waiting = await approval_due(tool, decided, context, state.ledger.seconds_left)
            if waiting is not None:
                state.wait_for_caller(decided, waiting)
                return Outcome(decided, [], suspended=True)
        if not state.ledger.take_tool_call():
            return await self._apply_result_hooks(decided, synthetic(decided, _NO_CALL_LEFT))
        await self._save(partial(self._begin, decided))
        note_interrupted = partial(self._interrupted_outcomes.__setitem__, call.id)  # used if the run ends first
        scope = self._notify_started(decided, tool)
        try:
            with scope:
                outcome = await run_call(
                    decided, tool, context, self._tools, self._seconds_left, note_interrupted, self._notify_retry
                )
            if outcome.suspended:
                note_interrupted(lambda: outcome)
                state.wait_for_child_run(decided)
                self._notify_ended(lambda: outcome)
            else:
                if outcome.ran:  # holds until the hooks after the call return
                    note_interrupted(partial(_ran_without_result, decided, outcome.duration, outcome.retries))
                self._state.child_runs.check()
                if outcome.error is not None:
                    outcome = self._with_child_work(outcome)
                outcome = await self._apply_result_hooks(decided, outcome)
        except BaseException:
            current = self._interrupted_outcomes.get(call.id, partial(unfinished, decided))
            self._notify_ended(lambda: self._with_child_work(current()))
            raise
        await self._save(None)
        if outcome.suspended and outcome.raised is not None:  # the caller's answers did not fit, so it waits again
            raise outcome.raised
        return outcome

    def _with_child_work(self, outcome: Outcome) -> Outcome:
        return self._state.child_runs.with_child_work(outcome, self._tools.max_result_chars)

    def _begin(self, call: ToolCall) -> None:
        """Record that the call starts. Raises `NotStarted` if another call ended the turn: a call saved as started would
        otherwise look as if it had run."""
        if self._is_over or (self._running is not None and self._running.is_ending):
            raise NotStarted
        self._state.start_call(call)

    def _notify_started(self, call: ToolCall, tool: Tool) -> Scope:
        """Notify observers and the listener that the call starts."""
        watch = self._state.watch
        if not self._emits_events and not watch.has("tool_started"):
            return watch.begin("tool_started")
        summary = tool.summary_of(call.arguments) if tool.options.summary is not None else ""
        started = ToolStarted(call.id, call.name, copied(call.arguments), self._state.tool_turns, summary)
        if self._emits_events and self._running is not None:
            self._running.emit(started)
        return watch.begin("tool_started", started)

    def _notify_retry(self, tried: Outcome, n: int, wait: float) -> None:
        watch = self._state.watch
        record = self._state.record(tried) if watch.has("tool_retried") else None
        if record is not None and record.error is not None:
            retry = ToolRetry(record.id, record.name, record.turn, n, record.error, tried.duration, wait)
            watch.notify("tool_retried", retry, tried.raised)

    def _notify_ended(self, current: Callable[[], Outcome]) -> None:
        watch = self._state.watch
        if watch.has("tool_ended"):
            outcome = current()
            watch.notify("tool_ended", self._state.record(outcome), outcome.raised)

    async def _apply_call_hooks(self, call: ToolCall, context: RunContext[Any]) -> ToolCall | Outcome:
        """The call as it may run, or its outcome if it may not."""
        if not self._hooks.has("before_tool_run"):
            return call
        decided = await hooked_call(self._hooks, call, context, self._toolbox, self._state.settings.strictness)
        if isinstance(decided, Veto):
            return synthetic(call, decided.reason)
        if decided.changed:
            self._state.replace_call(decided.call)
        return invalid_call_outcome(decided) if decided.problems or self._toolbox.get(decided.call.name) is None else decided.call

    async def _apply_result_hooks(self, call: ToolCall, outcome: Outcome) -> Outcome:
        """The outcome as the hooks return it. It is final from here on, whatever ends the run."""
        limit = self._tools.max_result_chars
        outcome = encodable_outcome(await hooked_outcome(self._hooks, call, outcome, limit), limit)
        self._state.done[call.id] = outcome
        self._interrupted_outcomes[call.id] = itself = lambda: outcome
        self._notify_ended(itself)
        return outcome


async def _run_and_emit(running: ParallelCalls, turn: int | None, emit: Emit[Event]) -> None:
    """Run the calls and emit each start, news and outcome. If `turn` is None, no outcome is emitted.

    If a call ends the run, the outcomes of the calls that it cut short are emitted before its error is raised.
    """
    emitted = set[str]()

    async def on_news(one: Outcome | CallEvent) -> None:
        if not isinstance(one, Outcome):
            await emit(one)
        elif turn is not None and not one.suspended:
            emitted.add(one.call.id)
            await emit(one.event(turn))

    failure: Exception | None = None
    try:
        await running.run(on_news)
    except Exception as error:
        failure = error
    for outcome in running.outcomes if turn is not None else ():
        if outcome.call.id not in emitted and not outcome.suspended:
            await emit(outcome.event(turn or 0))
    if failure is not None:
        raise failure


def _ran_without_result(call: ToolCall, duration: float, retries: int) -> Outcome:
    """The outcome of a call whose tool ran and whose hooks did not return."""
    return replace(synthetic(call, _RAN), ran=True, duration=duration, retries=retries)
