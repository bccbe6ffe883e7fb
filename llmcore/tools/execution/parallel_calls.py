"""Running the calls of one turn in parallel."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from llmcore.support.code.emitter import Emit
from llmcore.tools.config import ToolConfig
from llmcore.tools.execution.abandonment import WaitScope
from llmcore.tools.results.outcome import Outcome, unfinished
from llmcore.types import NestedEvent, ToolCall, ToolProgress, ToolStarted

__all__ = ["CallEvent", "NotStarted", "ParallelCalls", "aborts"]

CallEvent = ToolStarted | ToolProgress | NestedEvent
"""The events of a call before its outcome."""


class NotStarted(Exception):
    """Raised by a runner for a call that did not start because another call ended the run."""


class ParallelCalls:
    """The calls of one turn. `run` emits each outcome when the call ends.

    `outcomes` has all of them in call order, however `run` ends.

    `runner(call)` returns the outcome of a call. It is called at most once per call.
    `cut_short`: by call id, a function that returns the outcome of a started call if it does not finish (see `run_call`).
    `listening`: `run` also emits the events that the runner passes to `emit`, at once and in order.
    `sequential`: the ids of calls that start after the calls before them have ended, and end before the calls after them start.
    `finish_unfinished`: maps the outcome of an unfinished call to the one in `outcomes`.

    With `errors="abort"` the first error of a tool is raised after the other calls were stopped. An error of the arguments is
    returned to the model instead. A `TerminateLoop` stops the other calls too and is in its outcome.
    """

    def __init__(
        self,
        calls: Sequence[ToolCall],
        runner: Callable[[ToolCall], Awaitable[Outcome]],
        config: ToolConfig,
        cut_short: Mapping[str, Callable[[], Outcome]],
        *,
        listening: bool = False,
        sequential: Collection[str] = (),
        finish_unfinished: Callable[[Outcome], Outcome] = lambda outcome: outcome,
    ) -> None:
        self._listening = listening
        self._finish_unfinished = finish_unfinished
        self._sequential = frozenset(sequential)
        self._pending_events: deque[CallEvent] = deque()
        self._woken: asyncio.Future[None] | None = None
        self._calls = list(calls)
        self._cut_short = cut_short
        self._runner = runner
        self._config = config
        self._done: dict[int, Outcome] = {}
        self.is_ending = False
        """Whether one of the calls ended the run. Then no further call starts."""

    @property
    def outcomes(self) -> list[Outcome]:
        """One for each call, in call order; synthetic for calls that did not finish."""
        done, cut, finish = self._done, self._cut_short, self._finish_unfinished
        return [done.get(at) or finish(cut.get(call.id, partial(unfinished, call))()) for at, call in enumerate(self._calls)]

    def emit(self, event: CallEvent) -> None:
        self._pending_events.append(event)
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)

    async def run(self, emit_event: Emit[Outcome | CallEvent]) -> None:
        """Run the calls. May be awaited once."""
        if len(self._calls) == 1 and not self._listening:  # without a task, which saves 10 us
            await emit_event(self._record(0, await self._runner(self._calls[0])))
            return
        for batch in self._batches() if self._calls else ():
            if not self.is_ending:
                await self._in_parallel(batch, emit_event)

    def _batches(self) -> list[range]:
        """The ranges of calls that may run at the same time, in call order."""
        count = len(self._calls)
        alone = [index for index, call in enumerate(self._calls) if call.id in self._sequential]
        ends = {0, count, *alone, *(index + 1 for index in alone)}
        return [range(first, last) for first, last in pairwise(sorted(ends))]

    async def _in_parallel(self, batch: range, emit_event: Emit[Outcome | CallEvent]) -> None:
        slots = asyncio.Semaphore(self._config.max_parallel)
        scope = WaitScope()
        tasks = {asyncio.create_task(self._run_call(scope, slots, self._calls[index])): index for index in batch}
        try:
            while tasks:
                await self._next_change(tasks)
                while self._pending_events:
                    await emit_event(self._pending_events.popleft())
                for task in [task for task in tasks if task.done()]:
                    outcome = self._record(tasks.pop(task), task.result())
                    await emit_event(outcome)
                    if outcome.ended:
                        return
        finally:
            await self._stop(scope, tasks)

    async def _run_call(self, scope: WaitScope, slots: asyncio.Semaphore, call: ToolCall) -> Outcome:
        """Run the call when a slot is free."""
        scope.enter()
        async with slots:
            if self.is_ending:
                return unfinished(call)
            try:
                outcome = await self._runner(call)
            except NotStarted:
                return unfinished(call)
            except BaseException:
                self.is_ending = True
                raise
            self.is_ending = self.is_ending or outcome.ended is not None or aborts(outcome, self._config)
            return outcome

    async def _next_change(self, tasks: Iterable[asyncio.Task[Outcome]]) -> None:
        """Wait until a task has ended or emitted an event."""
        if not self._listening:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            return
        self._woken = asyncio.get_running_loop().create_future()
        if not self._pending_events:
            waited: list[asyncio.Future[Any]] = [*tasks, self._woken]
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)

    async def _stop(self, scope: WaitScope, tasks: dict[asyncio.Task[Outcome], int]) -> None:
        """Cancel the tasks that still run, and record the outcomes of those that have ended."""
        await scope.cancel(*tasks)
        for task, index in tasks.items():
            if task.done() and not task.cancelled() and task.exception() is None:
                self._done[index] = task.result()

    def _record(self, index: int, outcome: Outcome) -> Outcome:
        self._done[index] = outcome
        if outcome.error is not None and aborts(outcome, self._config):
            raise outcome.error
        return outcome


def aborts(outcome: Outcome, config: ToolConfig) -> bool:
    """Whether the outcome's error ends the run. The error of a call that was refused before the tool started does not."""
    error = outcome.error
    if error is None or config.errors != "abort" or error.type == "validation":
        return False
    return outcome.ran or error.type == "timeout"
