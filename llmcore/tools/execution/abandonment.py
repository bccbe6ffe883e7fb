"""Waiting for code that may not stop when it is told to: it is waited for only so long, then cancelled and left behind.

`asyncio.timeout` and `task.cancel()` only ask; code that catches its cancellation goes on, and so would whoever waits
for it. Here foreign code runs in a task of its own. Whatever it raises is carried as a value, so that three things
hold: its `SystemExit` does not end the event loop, its own `CancelledError` is not taken for a cancellation of the
caller, and a real cancellation of the caller is never mistaken for an error of the code.

What is left behind is kept referenced until it ends; its late value or error is dropped without a word.

Foreign code may make runs, in which foreign code is waited for in its turn, and one deadline or cancellation stops all of
them at once. So who waits grants a moment more than whoever waits below needs (`Level`), and does not stop waiting because it is
cancelled once more: else what ends as it is told would be left, and be told of as if it had refused to.
"""

from __future__ import annotations

import asyncio
import contextvars
import opcode
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, Generic, TypeVar

__all__ = [
    "Errand",
    "LeftBehind",
    "Level",
    "Raised",
    "Timer",
    "close_awaitable",
    "is_ctrl_c",
    "nothing_uncounted",
    "within_seconds",
]

T = TypeVar("T")

MOMENT = 0.1
"""Seconds that cancelled code has to clean up before it is left behind."""
_TICKS = 10
"""In a moment. Ticks are counted, not the clock read: whatever blocks the event loop takes one of them, however long."""

_LEAST_PUT_OFF = 0.001

_level: contextvars.ContextVar[Level | None] = contextvars.ContextVar("llmcore_level", default=None)
_left: set[asyncio.Future[Any]] = set()


class LeftBehind(TimeoutError):
    """The time is over; the code was cancelled and is no longer waited for."""


class Raised(Exception):
    """Carries what foreign code raised, as a value or through coroutines (which would change a `StopIteration`)."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(type(error).__name__)
        self.error = error


def nothing_uncounted() -> float:
    """Every second counts."""
    return 0.0


class Timer:
    """Calls `ring` after so many seconds, and as many more as `uncounted` grows by until then: what is done meanwhile may be
    found to count in no deadline."""

    __slots__ = ("_ends_at", "_handle", "_loop", "_ring", "_uncounted")

    def __init__(self, seconds: float, ring: Callable[[], object], uncounted: Callable[[], float] = nothing_uncounted) -> None:
        self._loop = asyncio.get_running_loop()
        self._ring, self._uncounted = ring, uncounted
        self._ends_at = self._loop.time() + seconds - uncounted()
        self._handle = self._loop.call_later(seconds, self._check)

    def _check(self) -> None:
        left = self._ends_at + self._uncounted() - self._loop.time()
        if left > _LEAST_PUT_OFF:
            self._handle = self._loop.call_later(left, self._check)
        else:
            self._ring()

    def cancel(self) -> None:
        self._handle.cancel()


class Level:
    """What code runs in that is waited for, within that of another wait or none. It holds no task, for contexts outlive them."""

    __slots__ = ("_above", "_ending")

    def __init__(self) -> None:
        self._above = _level.get()
        self._ending: set[Level] = set()
        """Those right below whose code was told to stop and is waited for just now."""

    def enter(self) -> None:
        """The task that runs stands in this level from here on, and so do those that it makes."""
        _level.set(self)

    async def leave(self, *tasks: asyncio.Future[Any]) -> None:
        """Cancel the tasks of this level, give them a moment to end, and as many more as there are levels below where others are
        granted one. Those that do not end are left behind. A cancellation that comes meanwhile is raised afterwards."""
        for task in tasks:
            _leave_behind(task)
        if not tasks:
            return
        above = self._above
        if above is not None:
            above._ending.add(self)
        try:
            await _whole(self._ended(tasks))
        finally:
            if above is not None:
                above._ending.discard(self)

    async def _ended(self, tasks: tuple[asyncio.Future[Any], ...]) -> None:
        """Waits for as long as they are granted. That depends on how deep it goes below and not on what is done there meanwhile,
        so code that makes run after run in place of ending is left all the same."""
        ticks, granted, running = 0, 1, set(tasks)
        while running and ticks < granted * _TICKS:
            _, running = await asyncio.wait(running, timeout=MOMENT / _TICKS)
            ticks, granted = ticks + 1, max(granted, self._moments())

    def _moments(self) -> int:
        return 1 + max((one._moments() for one in tuple(self._ending)), default=0)  # a copy: a thread may have levels below


class Errand(Generic[T]):
    """An awaitable in a task of its own, started at once.

    The task itself wakes who waits for it, as the last thing it does: a callback of its end would take a turn of the event loop
    more. One that was cancelled before it began says nothing, so until then a callback stands in.
    """

    __slots__ = ("_awaitable", "_left", "_level", "_task", "_waiter")

    def __init__(self, awaitable: Awaitable[T], left: Callable[[], object] | None = None) -> None:
        """`left` is called when who waits gives up, before the task is cancelled."""
        loop = asyncio.get_running_loop()
        self._awaitable = awaitable
        self._left = left
        self._level = Level()
        self._waiter: asyncio.Future[None] = loop.create_future()
        self._task: asyncio.Task[T | Raised] = loop.create_task(self._carried())
        self._task.add_done_callback(self._wake)

    @property
    def is_running(self) -> bool:
        return not self._task.done()

    async def wait(self, seconds: float | None, uncounted: Callable[[], float] = nothing_uncounted) -> T | Raised:
        """What it gave or raised. Raises `LeftBehind` after so many seconds (see `Timer`), and `CancelledError` only when
        the waiting task is cancelled."""
        task = self._task
        timer = None if seconds is None else Timer(seconds, self._wake, uncounted)
        try:
            await self._waiter
            if not task.done():
                raise LeftBehind
        except BaseException as error:
            if self._left is not None:
                self._left()
            task.add_done_callback(self._close)  # before anything is awaited: a second cancellation may come meanwhile
            if not isinstance(error, GeneratorExit):
                await self._level.leave(task)
            elif not task.get_loop().is_closed():  # who waits is closed half-way, and cannot wait for anything any more
                _leave_behind(task)
            raise
        finally:
            self._left = None  # it may hold who holds this
            if timer is not None:
                timer.cancel()
        if task.cancelled():  # by other code, before it began: nothing could be caught
            self._close(task)
            return Raised(asyncio.CancelledError())
        return task.result()

    async def _carried(self) -> T | Raised:
        try:
            self._level.enter()
            task = asyncio.current_task()
            if task is not None:  # not `self._task`: an eager one runs before anybody has it
                task.remove_done_callback(self._wake)
            return await self._awaitable
        except Raised as carried:
            return carried
        except BaseException as error:
            if is_ctrl_c(error):
                raise
            return Raised(error)
        finally:
            self._wake()

    def _wake(self, _: object = None) -> None:
        if not self._waiter.done() and not self._waiter.get_loop().is_closed():
            self._waiter.set_result(None)

    def _close(self, _: asyncio.Future[Any]) -> None:
        """Its task was cancelled, perhaps before it began: a coroutine would be told of as never awaited."""
        if asyncio.iscoroutine(self._awaitable):
            self._awaitable.close()


async def within_seconds(
    awaitable: Awaitable[T], seconds: float | None, what: str = "it", uncounted: Callable[[], float] = nothing_uncounted
) -> T:
    """Await it, for at most so many seconds (None: as long as it takes; see `Timer`). Raises what it raises, and `LeftBehind`.

    A cancellation that is the awaitable's own doing is a `RuntimeError` that names `what`. Context variables that it
    sets hold for the caller, as if no task were between.
    """
    context = contextvars.copy_context()

    async def noting_the_context() -> T:
        nonlocal context
        try:
            return await awaitable
        finally:
            context = contextvars.copy_context()

    settled = await Errand(noting_the_context()).wait(seconds, uncounted)
    for variable, value in context.items():
        if variable is not _level and variable.get(None) is not value:
            variable.set(value)
    if not isinstance(settled, Raised):
        return settled
    if isinstance(settled.error, asyncio.CancelledError):
        raise RuntimeError(f"{what} was cancelled by its own code") from settled.error
    raise settled.error


async def close_awaitable(stream: object, seconds: float) -> None:
    """Close an async iterator that can be closed; wait for at most so many seconds. One that still runs is let be."""
    aclose = getattr(stream, "aclose", None)
    if aclose is not None:
        with suppress(TimeoutError, RuntimeError):
            async with asyncio.timeout(seconds):
                await aclose()


async def _whole(waiting: Coroutine[Any, Any, None]) -> None:
    """Wait to its end, in a task of its own, which nobody cancels. A cancellation that comes meanwhile is raised afterwards."""
    task, told = asyncio.create_task(waiting), None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            told = error.args
    if told is not None:
        raise asyncio.CancelledError(*told)


def _leave_behind(task: asyncio.Future[Any]) -> None:
    _left.add(task)
    task.add_done_callback(_forget)
    task.cancel()


def _forget(task: asyncio.Future[Any]) -> None:
    _left.discard(task)
    if not task.cancelled():
        task.exception()  # asked for, else asyncio logs it as never retrieved


def is_ctrl_c(error: BaseException) -> bool:
    """Did a signal raise it, and no `raise` statement? Only the main thread gets signals."""
    trace = error.__traceback__
    if not isinstance(error, KeyboardInterrupt) or trace is None or threading.current_thread() is not threading.main_thread():
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] != opcode.opmap["RAISE_VARARGS"]
