"""Save points: the caller is given the run as far as it has come, each time before something is done that cannot be undone.

One at a time, so that what is saved last is what came last. What the caller's function raises ends the run. A run that carries
out a call of an outer one is saved with that one, too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from llmcore.run.callers_code import CallersFunction
from llmcore.run.result import RunResult
from llmcore.tools import RunContext

__all__ = ["SavePoints", "checkpoint_of"]


def checkpoint_of(given: object) -> CallersFunction | None:
    """The option as a function of a `RunResult`. Raises `ConfigError`."""
    return None if given is None else CallersFunction("checkpoint", given, 1)


class SavePoints:
    """Of one run. `function` is its own, `above` saves the outer run with this one: one of them may be None."""

    def __init__(
        self,
        function: CallersFunction | None,
        snapshot: Callable[[], RunResult[Any]],
        above: Callable[[RunResult[Any]], Awaitable[object]] | None,
    ) -> None:
        self._function = function
        self._snapshot = snapshot
        self._above = above
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
            if self._function is not None:
                await self._function(seconds, context(), self._snapshot())
            if self._above is not None:
                await self._above(self._snapshot())
