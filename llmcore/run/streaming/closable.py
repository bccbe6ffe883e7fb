"""Bases of streams: objects for `async for` alone, and an async generator that one task may close while another task reads it.

Python refuses to close a generator that is executing ("asynchronous generator is already running"). Here, closing first stops
the task within: a reader is cancelled, and its iteration ends. If another task is closing already, the second one waits for
it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from llmcore.run.deadline import needed_loop
from llmcore.types import CallerError

__all__ = ["READ_TWICE", "AsyncOnly", "ClosableStream"]

READ_TWICE = "another {0} reads this already, and each event is emitted once: let one {0} read and pass them on"
_OTHER_LOOP = "another event loop reads this, and only that one can close it: await `aclose()` there"

E = TypeVar("E")


class _Visit:
    """One task's stay within the generator."""

    __slots__ = ("is_last", "over", "task")

    def __init__(self, *, is_last: bool = False) -> None:
        self.task = cast("asyncio.Task[Any]", asyncio.current_task(needed_loop()))
        self.is_last = is_last
        """Whether the generator is closed when this visit ends: for the task that closes it, and a reader that was stopped."""
        self.over = asyncio.Event()

    def stop(self) -> None:
        if not self.is_last:
            self.is_last = True
            self.task.cancel()


class ClosableStream(AsyncGenerator[E, None]):
    """The items of a generator. One task reads at a time. If another one reads, it gets a `CallerError`."""

    def __init__(self, items: AsyncGenerator[E, None]) -> None:
        self._items = items
        self._within: _Visit | None = None
        self._is_abandoned = False
        self._loop: asyncio.AbstractEventLoop | None = None
        """The event loop of the last reader."""

    async def asend(self, value: None = None) -> E:
        return await self._read(partial(self._items.asend, value))

    async def athrow(self, typ: Any, val: Any = None, tb: TracebackType | None = None) -> E:
        return await self._read(partial(self._items.athrow, typ if val is None else val))

    async def _read(self, step: Callable[[], Awaitable[E]]) -> E:
        """`step` is called only if nobody reads. From Python 3.13 on, an unawaited one would prevent closing."""
        if self._is_abandoned:
            await self._close()  # the task that abandoned it may not have closed it yet
            raise StopAsyncIteration
        if self._within is not None:
            raise CallerError(READ_TWICE.format("task"))
        reading, self._loop = _Visit(), needed_loop()
        self._within = reading
        item: object = None
        try:
            item = await step()
            if reading.is_last:  # the stopped step had an item nevertheless
                await self._items.aclose()
        except BaseException as error:
            if reading.is_last and not isinstance(error, asyncio.CancelledError):
                reading.task.uncancel()
            if not reading.is_last or not isinstance(error, asyncio.CancelledError):
                raise
        finally:
            self._leave(reading)
        if not reading.is_last:
            return cast("E", item)
        if reading.task.uncancel() > 0:  # another cancellation is pending
            raise asyncio.CancelledError
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Raises `CallerError` if another event loop reads."""
        loop = self._loop
        is_here = loop is not None and loop is needed_loop()
        if loop is not None and not is_here and loop.is_running():
            raise CallerError(_OTHER_LOOP)
        self._is_abandoned = True
        await (self._close() if is_here else self._items.aclose())  # no task of another loop is within, or will be

    async def _close(self) -> None:
        visit = _Visit(is_last=True)
        while self._within is not None:
            within = self._within
            within.stop()
            if within.task is visit.task:  # called from within: it ends at its next wait
                return
            await within.over.wait()
        self._within = visit
        try:
            await self._items.aclose()
        finally:
            self._leave(visit)

    def _leave(self, visit: _Visit) -> None:
        self._within = None
        visit.over.set()


class AsyncOnly:
    """`_what_is`: the beginning of each error message, such as `a RunStream is`."""

    _what_is = ""

    if not TYPE_CHECKING:  # type checkers reject these uses anyway

        def __iter__(self) -> Any:
            raise CallerError(f"{self._what_is} read by `async for`; without an event loop call stream_sync")

        def __enter__(self) -> Any:
            raise CallerError(f"{self._what_is} entered by `async with`; without an event loop call stream_sync")

        def __exit__(self, *_: object) -> None:
            """Only asked for beside `__enter__`."""

        def __await__(self) -> Any:
            raise CallerError(f"{self._what_is} read by `async for`, and not awaited; `await run(...)` gives the result at once")
