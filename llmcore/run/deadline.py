"""Waits that end at a run's deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from llmcore.adapters.base import IMPORTING
from llmcore.support.code.threads import Raised, ThreadCall
from llmcore.tools.execution.abandonment import Timer, nothing_uncounted
from llmcore.types import CallerError, Timeout

__all__ = ["GRACE", "needed_loop", "thread_within", "within"]

T = TypeVar("T")
GRACE = 0.5
"""Seconds for tidying up and closing. A run may exceed its deadline by this much."""


def needed_loop() -> asyncio.AbstractEventLoop:
    """The running event loop. Raises `CallerError` if none runs: under trio, or in a coroutine that is driven by hand."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise CallerError(
            "a run needs an asyncio event loop, and none runs here: call it within `asyncio.run(...)`, or use run_sync, "
            "execute_sync or stream_sync, which start their own"
        ) from None


async def within(seconds: float | None, awaitable: Awaitable[T], uncounted: Callable[[], float] = nothing_uncounted) -> T:
    """Await something for at most `seconds`. Raises `Timeout` if the run's deadline passes meanwhile. The awaited code is
    cancelled then, has half a second to tidy up, and is cancelled again.

    Raises `CancelledError` if the task was cancelled meanwhile, even if the awaited code suppressed it. Up to Python 3.11,
    `asyncio.wait_for` does so if its result arrives at the same moment, and LiteLLM reads bodies of errors with it.

    `uncounted`: the seconds by which the deadline is put off, see `Timer`.

    Put it around each wait, never across a `yield`: between two events the time is the consumer's.
    """
    task = asyncio.current_task()
    timed = awaitable if seconds is None else _timed(seconds, awaitable, uncounted)
    if task is None:
        return await timed
    before = task.cancelling()
    try:
        value = await timed
    except Exception:
        await _heed(task, before)
        raise
    await _heed(task, before)
    return value


async def _heed(task: asyncio.Task[object], before: int) -> None:
    """Raises `CancelledError` if the task was cancelled more often than `before`."""
    if task.cancelling() > before:
        await asyncio.sleep(0)  # raises it now if the event loop has not yet, else the loop would raise it again later
        raise asyncio.CancelledError


async def _timed(seconds: float, awaitable: Awaitable[T], uncounted: Callable[[], float]) -> T:
    limit, last = asyncio.timeout(None), asyncio.timeout(None)
    timer = Timer(max(seconds, 0), partial(_end, limit, last), uncounted)
    try:
        async with last, limit:
            return await awaitable
    except TimeoutError as error:
        if limit.expired():
            why = f"; {IMPORTING}" if error.__cause__ is not None and IMPORTING in error.__cause__.args else ""
            raise Timeout(f"the run's deadline has passed{why}", status=None) from error
        raise
    finally:
        timer.cancel()


def _end(limit: asyncio.Timeout, last: asyncio.Timeout) -> None:
    now = asyncio.get_running_loop().time()
    limit.reschedule(now)
    last.reschedule(now + GRACE)


async def thread_within(
    seconds: float | None, function: Callable[[], T], uncounted: Callable[[], float] = nothing_uncounted
) -> T:
    """Call the function in a new thread, so that it may block, and return its result. Raises what it raises, and `Timeout`
    if the deadline, `seconds` from now, passes first (see `Timer`). The thread then runs on, and its result is dropped."""
    try:
        call = ThreadCall(function)
    except RuntimeError:  # the system cannot start another thread
        return function()
    try:
        value: T = await within(seconds, call.result(), uncounted)
    except Raised as raised:
        raise raised.error from raised.error.__cause__
    return value
