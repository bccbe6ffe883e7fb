"""Save points: the caller is given the run as far as it has come, each time before something is done that cannot be undone.

One at a time, so that what is saved last is what came last. What the caller's function raises ends the run. A run that carries
out a call of an outer one is saved with that one, too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from llmcore.run.caller_functions import CallersFunction
from llmcore.run.deadline import within
from llmcore.run.results.result import RunResult
from llmcore.run.resume.claims import Journal
from llmcore.tools import RunContext

__all__ = ["SavePoints", "checkpoint_of"]


def checkpoint_of(given: object) -> CallersFunction | None:
    """The option as a function of a `RunResult`. Raises `ConfigError`."""
    return None if given is None else CallersFunction("checkpoint", given, 1)


class SavePoints:
    """Of one run. `function` is its own, `above` saves the outer run with this one, `journal` is the run's place in a store: some
    of them are None. `saved_as` is told under which key of the store the next snapshot will be."""

    def __init__(
        self,
        function: CallersFunction | None,
        snapshot: Callable[[], RunResult[Any]],
        above: Callable[[RunResult[Any]], Awaitable[object]] | None,
        journal: Journal | None,
        saved_as: Callable[[str], object],
    ) -> None:
        self._function = function
        self._snapshot = snapshot
        self._above = above
        self._journal = journal
        self._saved_as = saved_as
        self._turn = asyncio.Lock()

    async def save(
        self,
        seconds: float | None,
        context: Callable[[], RunContext[Any]],
        change: Callable[[], object] | None = None,
    ) -> None:
        """Make the `change` (None: there is none), which nothing that is saved before it tells, and save. Raises what the
        functions raise."""
        async with self._turn:
            if change is not None:
                change()
            await self._enter(seconds)
            if self._function is not None:
                await self._function(seconds, context(), self._snapshot())
            if self._above is not None:
                await self._above(self._snapshot())

    async def claim(self, seconds: float | None, saved: RunResult[Any]) -> bool:
        """Claim in the store the state that this run resumes; False where there is no store. Raises `CallerError` where another
        run has claimed it."""
        if self._journal is None:
            return False
        async with self._turn:
            await self._enter(seconds)  # first, so that a claim is never without a checkpoint behind it
            await within(seconds, self._journal.claim(saved))
        return True

    async def _enter(self, seconds: float | None) -> None:
        if self._journal is not None:
            self._saved_as(self._journal.next)
            await within(seconds, self._journal.enter(self._snapshot()))
