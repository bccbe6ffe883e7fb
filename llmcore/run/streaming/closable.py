"""An async generator that may be closed while another task reads it.

Python refuses to close a generator that somebody is in ("asynchronous generator is already running"), be it one who waits for
the next item or one who closes it. Here nobody enters while another task is within: a task that reads is stopped, as by a
cancellation, and hears that there is no further item; one that closes is waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import partial
from types import TracebackType
from typing import Any, TypeVar, cast

from llmcore.run.deadline import needed_loop
from llmcore.types import CallerError

__all__ = ["READ_TWICE", "ClosableStream"]

READ_TWICE = "another {0} reads this already, and an event is told once: let one {0} read and pass them on"
_OTHER_LOOP = "another event loop reads this, and only that one can close it: await `aclose()` there"

E = TypeVar("E")


class _Stay:
    """Of one task within the generator."""

    __slots__ = ("is_last", "over", "task")

    def __init__(self, *, is_last: bool = False) -> None:
        self.task = cast("asyncio.Task[Any]", asyncio.current_task(needed_loop()))
        self.is_last = is_last
        """Is the generator closed when it ends? Of who closes it, and of a reader that was stopped."""
        self.over = asyncio.Event()

    def stop(self) -> None:
        if not self.is_last:
            self.is_last = True
            self.task.cancel()


class ClosableStream(AsyncGenerator[E, None]):
    """The items of a generator. One task reads at a time; another one that tries is told so by a `CallerError`."""

    def __init__(self, items: AsyncGenerator[E, None]) -> None:
        self._items = items
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
        if self._is_left:
            await self._close()  # who has left it may not have come to that yet
            raise StopAsyncIteration
        if self._within is not None:
            raise CallerError(READ_TWICE.format("task"))
        reading, self._loop = _Stay(), needed_loop()
        self._within = reading
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
        """Raises `CallerError` where another event loop reads."""
        loop = self._loop
        is_here = loop is not None and loop is needed_loop()
        if loop is not None and not is_here and loop.is_running():
            raise CallerError(_OTHER_LOOP)
        self._is_left = True
        await (self._close() if is_here else self._items.aclose())  # elsewhere nobody is within, and nobody will be

    async def _close(self) -> None:
        stay = _Stay(is_last=True)
        while self._within is not None:
            within = self._within
            within.stop()
            if within.task is stay.task:  # from within: it ends where it waits next
                return
            await within.over.wait()
        self._within = stay
        try:
            await self._items.aclose()
        finally:
            self._exit(stay)

    def _exit(self, stay: _Stay) -> None:
        self._within = None
        stay.over.set()
