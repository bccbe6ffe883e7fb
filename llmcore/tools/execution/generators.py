"""Tools that are generators: what they yield is progress, and what they return is the result.

An async generator cannot return a value, so each of its yields is progress, and the last one is the result as well.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Generator
from typing import Any, cast

from llmcore.tools.context import RunContext
from llmcore.tools.execution.abandonment import LeftBehind

__all__ = ["carried_through"]


def carried_through(made: Any, context: RunContext[Any]) -> Any:
    """The result of what the function gave: its value, or an awaitable of it. Anything but a generator is the result itself."""
    if inspect.isasyncgen(made):
        return _of_async(cast("AsyncGenerator[Any, None]", made), context)
    return _of_sync(cast("Generator[Any, None, Any]", made), context) if inspect.isgenerator(made) else made


def _of_sync(steps: Generator[Any, None, Any], context: RunContext[Any]) -> Any:
    """Runs in the tool's thread. It ends at the next `yield` when nobody waits any more. Raises `LeftBehind` then."""
    while True:
        try:
            value = next(steps)
        except StopIteration as ended:
            return ended.value
        context.emit(value)
        if context.cancelled:
            steps.close()
            raise LeftBehind


async def _of_async(steps: AsyncGenerator[Any, None], context: RunContext[Any]) -> Any:
    value = None
    async for value in steps:
        context.emit(value)
        if context.cancelled:
            await steps.aclose()
            raise LeftBehind
    return value
