"""An async generator that may be closed while somebody reads it: from another task, another event loop, another thread.

Python refuses to close a generator that somebody is in ("asynchronous generator is already running"), be it one who waits for
the next item or one who closes it. Here nobody enters while another one is within: a task that reads is stopped, as by a
cancellation, and hears that there is no further item; one that closes is waited for. And it is closed in the event loop that
it was read in: what it waits for, and the tasks that it made, belong to that.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from concurrent.futures import Future
from functools import partial
from threading import Lock
from types import TracebackType
from typing import Any, TypeVar, cast

from llmcore.run.within import needed_loop
from llmcore.types import CallerError

__all__ = ["READ_TWICE", "Leavable"]

READ_TWICE = "another {0} reads this already, and an event is told once: let one {0} read and pass them on"

E = TypeVar("E")

_TAKEN_UP_IN = 1.0
"""Seconds that another event loop has to begin what it is given: one that is blocked, or ends just now, may never do so."""


class _Stay:
    """Of one task within the generator. What happens to it happens in its own loop."""

    __slots__ = ("is_last", "loop", "others", "task")

    def __init__(self, *, is_last: bool = False) -> None:
        self.loop = needed_loop()
        self.task = cast("asyncio.Task[Any]", asyncio.current_task())
        self.is_last = is_last
        """Is the generator closed when it ends? Of who closes it, and of a reader that was stopped."""
        self.others: list[Future[None]] = []
        """Who wait until it is over."""

    def stop(self) -> None:
        if not self.is_last:
            self.is_last = True
            self.task.cancel()


class Leavable(AsyncGenerator[E, None]):
    """The items of a generator. One task reads at a time; another one that tries is told so by a `CallerError`."""

    def __init__(self, items: AsyncGenerator[E, None]) -> None:
        self._items = items
        self._lock = Lock()  # of the three below, for a moment each time
        self._within: _Stay | None = None
        self._is_left = False
        self._loop: asyncio.AbstractEventLoop | None = None
        """The one that it was read in last."""

    async def asend(self, value: None = None) -> E:
        return await self._read(partial(self._items.asend, value))

    async def athrow(self, typ: Any, val: Any = None, tb: TracebackType | None = None) -> E:
        return await self._read(partial(self._items.athrow, typ if val is None else val))

    async def _read(self, step: Callable[[], Awaitable[E]]) -> E:
        """`step` is called only when nobody reads: from Python 3.13 on, one that is never awaited cannot be closed meanwhile."""
        reading = _Stay()
        if not self._enters_to_read(reading):
            await self._close()  # who has left it may not have come to that yet
            raise StopAsyncIteration
        item: object = None
        try:
            item = await step()
            if reading.is_last:  # what was stopped had an item all the same
                await self._items.aclose()
        except BaseException as error:
            if reading.is_last and not isinstance(error, asyncio.CancelledError):
                reading.task.uncancel()
            if not reading.is_last or not isinstance(error, asyncio.CancelledError):
                raise
        finally:
            self._exit(reading)
        if not reading.is_last:
            return cast("E", item)
        if reading.task.uncancel() > 0:  # by somebody else, too
            raise asyncio.CancelledError
        raise StopAsyncIteration

    async def aclose(self) -> None:
        with self._lock:
            self._is_left, loop = True, self._loop
        if loop is None:  # nobody was within, and nobody will be
            await self._items.aclose()
            return
        if loop is not needed_loop():
            await _Elsewhere(self._close).carried_out(loop)
        await self._close()  # does nothing when that loop has done it

    async def _close(self) -> None:
        stay = _Stay(is_last=True)
        while (within := self._entered(stay)) is not stay:
            if within.task is stay.task:
                within.stop()  # from within: it ends where it waits next
                return
            within.loop.call_soon_threadsafe(self._stop, within)
            await self._end_of(within)
        try:
            await self._items.aclose()
        finally:
            self._exit(stay)

    def _enters_to_read(self, reading: _Stay) -> bool:
        """False where it was left. Raises `CallerError` where another one reads."""
        with self._lock:
            if self._is_left:
                return False
            if self._within is not None:
                raise CallerError(READ_TWICE.format("task"))
            self._within, self._loop = reading, reading.loop
            return True

    def _entered(self, stay: _Stay) -> _Stay:
        """Who is within now."""
        with self._lock:
            self._within = self._within or stay
            return self._within

    def _exit(self, stay: _Stay) -> None:
        with self._lock:
            self._within = None
        for other in stay.others:
            if other.set_running_or_notify_cancel():  # else it waits no more
                other.set_result(None)

    def _stop(self, stay: _Stay) -> None:
        """In its loop, unless its task has left meanwhile, which may do other things now."""
        if self._within is stay:
            stay.stop()

    async def _end_of(self, stay: _Stay) -> None:
        over = Future[None]()
        with self._lock:
            if self._within is not stay:
                return
            stay.others.append(over)
        await asyncio.wrap_future(over)


class _Elsewhere:
    """A coroutine function that another event loop is to carry out."""

    def __init__(self, function: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._function = function
        self._over = Future[None]()
        self._task: asyncio.Task[None] | None = None

    async def carried_out(self, loop: asyncio.AbstractEventLoop) -> None:
        """It is over, or that loop has not begun it and never will. Raises what it raises."""
        if not loop.is_running():
            return
        try:
            loop.call_soon_threadsafe(self._begin)
        except RuntimeError:  # it is closed
            return
        over = asyncio.wrap_future(self._over)
        await asyncio.wait([over], timeout=_TAKEN_UP_IN)
        if not self._over.cancel():  # once begun, it cannot be called off
            await over

    def _begin(self) -> None:
        if self._over.set_running_or_notify_cancel():
            self._task = asyncio.get_running_loop().create_task(self._function())
            self._task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is None:
            self._over.set_result(None)
        else:
            self._over.set_exception(error)
