"""Save points: the caller is given the run as far as it has come, each time before something is done that cannot be undone.

One at a time, so that what is saved last is what came last. What the caller's function raises ends the run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from llmcore.run.callers_code import CallersFunction
from llmcore.run.result import RunResult
from llmcore.tools import RunContext

__all__ = ["SavePoints", "checkpoint_of"]


def checkpoint_of(given: object) -> CallersFunction | None:
    """The option as a function of a `RunResult`. Raises `ConfigError`."""
    return None if given is None else CallersFunction("checkpoint", given, 1)


class SavePoints:
    """Of one run."""

    def __init__(self, function: CallersFunction, snapshot: Callable[[], RunResult[Any]]) -> None:
        self._function = function
        self._snapshot = snapshot
        self._turn = asyncio.Lock()

    async def save(
        self,
        seconds: float | None,
        context: Callable[[], RunContext[Any]],
        change: Callable[[], object] = lambda: None,
    ) -> None:
        """Make the `change`, which nothing that is saved before it tells, and save. Raises what the function raises."""
        async with self._turn:
            change()
            await self._function(seconds, context(), self._snapshot())
