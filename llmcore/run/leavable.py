"""An async generator that may be closed while somebody reads it: from another task, another event loop, another thread.

Python refuses to close a generator that waits for its next item ("asynchronous generator is already running"), and so whoever
waits would wait on. Here the one who waits is stopped, as by a cancellation, and hears that there is no further item.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import Future
from functools import partial
from types import TracebackType
from typing import Any, TypeVar, cast

from llmcore.run.within import needed_loop
from llmcore.types import CallerError

__all__ = ["READ_TWICE", "Leavable"]

READ_TWICE = "another {0} reads this already, and an event is told once: let one {0} read and pass them on"

E = TypeVar("E")


class _Reading:
    """One wait for an item. What happens to it happens in its own loop, so nothing needs a lock."""

    __slots__ = ("is_left", "loop", "others", "task")

    def __init__(self) -> None:
        self.loop = needed_loop()
        self.task = cast("asyncio.Task[Any]", asyncio.current_task())
        self.is_left = False
        self.others: list[Future[None]] = []
        """Who wait until it is over."""

    def stop(self) -> None:
        if not self.is_left:
            self.is_left = True
            self.task.cancel()


class Leavable(AsyncGenerator[E, None]):
    """The items of a generator. One task reads at a time; another one that tries is told so by a `CallerError`."""

    def __init__(self, items: AsyncGenerator[E, None]) -> None:
        self._items = items
        self._reading: _Reading | None = None

    async def asend(self, value: None = None) -> E:
        return await self._read(partial(self._items.asend, value))

    async def athrow(self, typ: Any, val: Any = None, tb: TracebackType | None = None) -> E:
        return await self._read(partial(self._items.athrow, typ if val is None else val))

    async def _read(self, step: Callable[[], Awaitable[E]]) -> E:
        """`step` is called only when nobody reads: from Python 3.13 on, one that is never awaited cannot be closed meanwhile."""
        if self._reading is not None:
            raise CallerError(READ_TWICE.format("task"))
        reading = self._reading = _Reading()
        item: object = None
        try:
            item = await step()
            if reading.is_left:  # what was stopped had an item all the same
                await self._items.aclose()
        except BaseException as error:
            if reading.is_left and not isinstance(error, asyncio.CancelledError):
                reading.task.uncancel()
            if not reading.is_left or not isinstance(error, asyncio.CancelledError):
                raise
        finally:
            self._reading = None
            for other in reading.others:
                other.set_result(None)
        if not reading.is_left:
            return cast("E", item)
        if reading.task.uncancel() > 0:  # by somebody else, too
            raise asyncio.CancelledError
        raise StopAsyncIteration

    async def aclose(self) -> None:
        reading = self._reading
        if reading is not None and reading.task is asyncio.current_task():
            reading.stop()  # from within: it ends where it waits next
            return
        if reading is not None:
            over = Future[None]()
            if reading.loop is asyncio.get_running_loop():
                self._leave(reading, over)
            else:
                reading.loop.call_soon_threadsafe(self._leave, reading, over)
            await asyncio.shield(asyncio.wrap_future(over))
        await self._items.aclose()

    def _leave(self, reading: _Reading, over: Future[None]) -> None:
        if self._reading is not reading:
            over.set_result(None)
            return
        reading.others.append(over)
        reading.stop()
