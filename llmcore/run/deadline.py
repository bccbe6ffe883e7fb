"""Waiting within a run's deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from llmcore.adapters.base import IMPORTING
from llmcore.tools.execution.abandonment import Raised, Timer, nothing_uncounted
from llmcore.tools.execution.threads import ThreadCall
from llmcore.types import CallerError, Timeout

__all__ = ["GRACE", "needed_loop", "thread_within", "within"]

T = TypeVar("T")
GRACE = 0.5
"""Seconds that tidying up and closing may take: a run may exceed its deadline by so much."""


def needed_loop() -> asyncio.AbstractEventLoop:
    """The event loop that runs. Raises `CallerError` where none does: under trio, or in a coroutine that is driven by hand."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise CallerError(
            "no asyncio event loop runs here, which a run needs: call it within `asyncio.run(...)`, or use run_sync, "
            "execute_sync or stream_sync, which bring their own"
        ) from None


async def within(seconds: float | None, awaitable: Awaitable[T], uncounted: Callable[[], float] = nothing_uncounted) -> T:
    """Await it, for at most so long. Raises `Timeout` when the run's deadline passes meanwhile; what is awaited may take
    half a second more to tidy up, then it is cancelled once more.

    Raises `CancelledError` when the task was cancelled meanwhile, also where what was awaited kept that to itself: up to Python
    3.11 `asyncio.wait_for` gives its result instead when that came at the same moment, and LiteLLM reads bodies of errors by it.

    `uncounted`: what puts the deadline off meanwhile, see `Timer`.

    Set around each wait and never across a `yield`: between two events the time belongs to whoever listens.
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
    """Raises `CancelledError` when the task was cancelled more often than `before`."""
    if task.cancelling() > before:
        await asyncio.sleep(0)  # raises it where the event loop had not done so yet: it would otherwise do so once more, later
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
    """What the function gives in a thread of its own, so that it may block. Raises what it raises, and `Timeout` when the
    deadline, `seconds` from now, passes meanwhile (see `Timer`): then it is left behind, and what it gives at last is dropped."""
    try:
        call = ThreadCall(function)
    except RuntimeError:  # the system gives no more threads
        return function()
    try:
        value: T = await within(seconds, call.result(), uncounted)
    except Raised as raised:
        raise raised.error from raised.error.__cause__
    return value
