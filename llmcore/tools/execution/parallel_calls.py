"""The calls of one turn, at the same time within a limit, each carried out by a runner: their outcomes as they come, and those
of calls that did not get to one."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from llmcore.support.code.emitter import Tell
from llmcore.tools.config import ToolConfig
from llmcore.tools.execution.abandonment import Level
from llmcore.tools.results.outcome import Outcome, unfinished
from llmcore.types import NestedEvent, ToolCall, ToolProgress, ToolStarted

__all__ = ["News", "NotBegun", "ToolRun", "aborts"]

News = ToolStarted | ToolProgress | NestedEvent
"""What is told of a call before its outcome."""


class NotBegun(Exception):
    """A runner raises it for a call that the end of another one kept from beginning."""


class ToolRun:
    """The calls of one turn. `run` tells the outcomes as they come; `outcomes` has them all, in call order, at any end.

    `listening`: `run` also tells what the runner tells meanwhile (`tell`), at once and in order. `alone`: the ids of calls that
    begin when those before them have ended, and that end before those behind them begin.

    `cut_short`: by id, what tells the outcomes of calls that are begun, should they not get to another (see `run_call`).
    `runner(call)` gives a call's outcome; it is asked once per call. With `abort` the first error is raised after the
    others were stopped (arguments the model can correct are no such error); a `TerminateLoop` stops them too and is
    found in its outcome.
    """

    def __init__(
        self,
        calls: Sequence[ToolCall],
        runner: Callable[[ToolCall], Awaitable[Outcome]],
        config: ToolConfig,
        cut_short: Mapping[str, Callable[[], Outcome]],
        *,
        listening: bool = False,
        alone: Collection[str] = (),
        stopped: Callable[[Outcome], Outcome] = lambda outcome: outcome,
    ) -> None:
        """`stopped`: the outcome of a call that did not finish, as it is to be told."""
        self._listening = listening
        self._stopped = stopped
        self._alone = frozenset(alone)
        self._news: deque[News] = deque()
        self._woken: asyncio.Future[None] | None = None
        self._calls = list(calls)
        self._cut_short = cut_short
        self._runner = runner
        self._config = config
        self._done: dict[int, Outcome] = {}
        self.is_ending = False
        """Did one of them end the run? Then no further one begins."""

    @property
    def outcomes(self) -> list[Outcome]:
        """One for each call, in call order; synthetic for those that did not finish."""
        done, cut = self._done, self._cut_short
        became = self._stopped
        return [done.get(at) or became(cut.get(call.id, partial(unfinished, call))()) for at, call in enumerate(self._calls)]

    def tell(self, news: News) -> None:
        self._news.append(news)
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)

    async def run(self, tell: Tell[Outcome | News]) -> None:
        """Run them, once."""
        if len(self._calls) == 1 and not self._listening:  # no task: 10 us less
            await tell(self._keep(0, await self._runner(self._calls[0])))
            return
        for batch in self._batches() if self._calls else ():
            if not self.is_ending:
                await self._in_parallel(batch, tell)

    def _batches(self) -> list[range]:
        """The places of the calls that may run at the same time, in call order."""
        count = len(self._calls)
        ends = {at + behind for at, call in enumerate(self._calls) if call.id in self._alone for behind in (0, 1)} | {0, count}
        return [range(first, last) for first, last in pairwise(sorted(ends))]

    async def _in_parallel(self, batch: range, tell: Tell[Outcome | News]) -> None:
        room = asyncio.Semaphore(self._config.max_parallel)
        level = Level()
        tasks = {asyncio.create_task(self._in_its_turn(level, room, self._calls[index])): index for index in batch}
        try:
            while tasks:
                await self._something(tasks)
                while self._news:
                    await tell(self._news.popleft())
                for task in [task for task in tasks if task.done()]:
                    outcome = self._keep(tasks.pop(task), task.result())
                    await tell(outcome)
                    if outcome.ended:
                        return
        finally:
            await self._stop(level, tasks)

    async def _in_its_turn(self, level: Level, room: asyncio.Semaphore, call: ToolCall) -> Outcome:
        """Carry it out when there is room."""
        level.enter()
        async with room:
            if self.is_ending:
                return unfinished(call)
            try:
                outcome = await self._runner(call)
            except NotBegun:
                return unfinished(call)
            except BaseException:
                self.is_ending = True
                raise
            self.is_ending = self.is_ending or outcome.ended is not None or aborts(outcome, self._config)
            return outcome

    async def _something(self, tasks: Iterable[asyncio.Task[Outcome]]) -> None:
        """Wait until a task has ended, or told something."""
        if not self._listening:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            return
        self._woken = asyncio.get_running_loop().create_future()
        if not self._news:
            waited: list[asyncio.Future[Any]] = [*tasks, self._woken]
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)

    async def _stop(self, level: Level, tasks: dict[asyncio.Task[Outcome], int]) -> None:
        """Cancel what still runs; keep the outcome of what had ended unseen."""
        await level.leave(*tasks)
        for task, index in tasks.items():
            if task.done() and not task.cancelled() and task.exception() is None:
                self._done[index] = task.result()

    def _keep(self, index: int, outcome: Outcome) -> Outcome:
        self._done[index] = outcome
        if outcome.error is not None and aborts(outcome, self._config):
            raise outcome.error
        return outcome


def aborts(outcome: Outcome, config: ToolConfig) -> bool:
    """Does its error end the run? That of a tool does, not that of a call which was refused before the tool began."""
    error = outcome.error
    if error is None or config.errors != "abort" or error.type == "validation":
        return False
    return outcome.ran or error.type == "timeout"
