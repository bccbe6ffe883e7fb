"""Tools that are generators: their yields are progress, and their return value is the result.

An async generator cannot return a value, so its last yield is the result as well as progress.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Generator
from typing import Any, cast

from llmcore.tools.context import RunContext
from llmcore.tools.execution.abandonment import Abandoned

__all__ = ["run_generator"]


def run_generator(made: Any, context: RunContext[Any]) -> Any:
    """Run the generator that a tool returned. Returns its result, or an awaitable of it; anything else is returned unchanged."""
    if inspect.isasyncgen(made):
        return _run_async(cast("AsyncGenerator[Any, None]", made), context)
    return _run_sync(cast("Generator[Any, None, Any]", made), context) if inspect.isgenerator(made) else made


def _run_sync(steps: Generator[Any, None, Any], context: RunContext[Any]) -> Any:
    """Run it in the tool's thread. If the call is cancelled, raises `Abandoned` at the next `yield`."""
    while True:
        try:
            value = next(steps)
        except StopIteration as ended:
            return ended.value
        context.emit(value)
        if context.cancelled:
            steps.close()
            raise Abandoned


async def _run_async(steps: AsyncGenerator[Any, None], context: RunContext[Any]) -> Any:
    value = None
    async for value in steps:
        context.emit(value)
        if context.cancelled:
            await steps.aclose()
            raise Abandoned
    return value
