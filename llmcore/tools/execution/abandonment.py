"""Awaiting foreign code with a time limit. Code that ignores its cancellation is abandoned: nobody awaits it any more.

`asyncio.timeout` and `task.cancel()` only request cancellation. If the code catches it, whoever awaits the code waits on. Here
foreign code runs in a task of its own, and what it raises is carried as a value (`Raised`). So its `SystemExit` does not end the
event loop, its own `CancelledError` is not taken for a cancellation of the caller, and a cancellation of the caller is not taken
for an error of the code.

An abandoned task is kept referenced until it ends. Its value or error is dropped.

Foreign code may start runs that await foreign code again, and one deadline or cancellation stops all of them at once. So an
outer wait grants one grace period more than the waits nested in it (`WaitScope`), and a second cancellation does not shorten it.
Without that, code that obeys its cancellation would be abandoned.
"""

from __future__ import annotations

import asyncio
import contextvars
import opcode
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, Generic, TypeVar

from llmcore.support.code.threads import Raised

__all__ = [
    "AbandonableTask",
    "Abandoned",
    "Timer",
    "WaitScope",
    "await_foreign",
    "close_awaitable",
    "is_keyboard_interrupt",
    "nothing_uncounted",
]

T = TypeVar("T")

GRACE_SECONDS = 0.1
"""Seconds that cancelled code has to clean up before it is abandoned."""
_TICKS_PER_GRACE = 10
"""Ticks are counted instead of seconds: code that blocks the event loop uses up one tick, however long it blocks."""

_MIN_EXTENSION = 0.001

_scope: contextvars.ContextVar[WaitScope | None] = contextvars.ContextVar("llmcore_level", default=None)
_abandoned: set[asyncio.Future[Any]] = set()


class Abandoned(TimeoutError):
    """The time limit has passed: the code was cancelled and is no longer awaited."""


def nothing_uncounted() -> float:
    return 0.0


class Timer:
    """Calls `callback` after `seconds`, extended by what `uncounted()` has grown by since: time that counts in no deadline."""

    __slots__ = ("_callback", "_ends_at", "_handle", "_loop", "_uncounted")

    def __init__(
        self, seconds: float, callback: Callable[[], object], uncounted: Callable[[], float] = nothing_uncounted
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._callback, self._uncounted = callback, uncounted
        self._ends_at = self._loop.time() + seconds - uncounted()
        self._handle = self._loop.call_later(seconds, self._check)

    def _check(self) -> None:
        left = self._ends_at + self._uncounted() - self._loop.time()
        if left > _MIN_EXTENSION:
            self._handle = self._loop.call_later(left, self._check)
        else:
            self._callback()

    def cancel(self) -> None:
        self._handle.cancel()


class WaitScope:
    """The scope of one wait for foreign code, nested in the scope of the wait around it.

    It references no task, because a context variable keeps it alive longer than the tasks.
    """

    __slots__ = ("_cancelling", "_parent")

    def __init__(self) -> None:
        self._parent = _scope.get()
        self._cancelling: set[WaitScope] = set()
        """The nested scopes whose tasks were cancelled and are awaited now."""

    def enter(self) -> None:
        """Make this the scope of the current task and of the tasks that it creates from now on."""
        _scope.set(self)

    async def cancel(self, *tasks: asyncio.Future[Any]) -> None:
        """Cancel the tasks and await their end for one grace period, and one more for each level of nested scopes that wait too.

        Tasks that do not end are abandoned. A cancellation during the wait is raised afterwards.
        """
        for task in tasks:
            _abandon(task)
        if not tasks:
            return
        above = self._parent
        if above is not None:
            above._cancelling.add(self)
        try:
            await _uncancelled(self._ended(tasks))
        finally:
            if above is not None:
                above._cancelling.discard(self)

    async def _ended(self, tasks: tuple[asyncio.Future[Any], ...]) -> None:
        """Wait for the granted time. It depends on the depth of nested scopes, not on their number.

        So code that starts run after run instead of ending is abandoned too.
        """
        ticks, granted, running = 0, 1, set(tasks)
        while running and ticks < granted * _TICKS_PER_GRACE:
            _, running = await asyncio.wait(running, timeout=GRACE_SECONDS / _TICKS_PER_GRACE)
            ticks, granted = ticks + 1, max(granted, self._graces())

    def _graces(self) -> int:
        return 1 + max((scope._graces() for scope in tuple(self._cancelling)), default=0)  # a copy: threads change the set


class AbandonableTask(Generic[T]):
    """An awaitable that runs in a task of its own, started at once.

    The task wakes its waiter as its last step, which saves the turn of the event loop that a done callback takes. A task that is
    cancelled before it starts cannot do that, so a done callback is registered until it has started.
    """

    __slots__ = ("_awaitable", "_on_abandoned", "_scope", "_task", "_waiter")

    def __init__(self, awaitable: Awaitable[T], on_abandoned: Callable[[], object] | None = None) -> None:
        """`on_abandoned` is called when the waiter gives up, before the task is cancelled."""
        loop = asyncio.get_running_loop()
        self._awaitable = awaitable
        self._on_abandoned = on_abandoned
        self._scope = WaitScope()
        self._waiter: asyncio.Future[None] = loop.create_future()
        self._task: asyncio.Task[T | Raised] = loop.create_task(self._guarded())
        self._task.add_done_callback(self._wake)

    @property
    def is_running(self) -> bool:
        return not self._task.done()

    async def wait(self, seconds: float | None, uncounted: Callable[[], float] = nothing_uncounted) -> T | Raised:
        """The value of the awaitable, or `Raised` with its exception.

        Raises `Abandoned` after `seconds` (None: never; see `Timer`), and `CancelledError` only if the waiting task is cancelled.
        """
        task = self._task
        timer = None if seconds is None else Timer(seconds, self._wake, uncounted)
        try:
            await self._waiter
            if not task.done():
                raise Abandoned
        except BaseException as error:
            if self._on_abandoned is not None:
                self._on_abandoned()
            task.add_done_callback(self._close)  # first, for a second cancellation may interrupt the `await`
            if not isinstance(error, GeneratorExit):
                await self._scope.cancel(task)
            elif not task.get_loop().is_closed():  # the waiting coroutine is closed and cannot await anything
                _abandon(task)
            raise
        finally:
            self._on_abandoned = None  # it may reference this object
            if timer is not None:
                timer.cancel()
        if task.cancelled():  # by other code before it started, so `_guarded` could not catch it
            self._close(task)
            return Raised(asyncio.CancelledError())
        return task.result()

    async def _guarded(self) -> T | Raised:
        try:
            self._scope.enter()
            task = asyncio.current_task()
            if task is not None:  # not `self._task`, which an eager task factory sets later
                task.remove_done_callback(self._wake)
            return await self._awaitable
        except Raised as carried:
            return carried
        except BaseException as error:
            if is_keyboard_interrupt(error):
                raise
            return Raised(error)
        finally:
            self._wake()

    def _wake(self, _: object = None) -> None:
        if not self._waiter.done() and not self._waiter.get_loop().is_closed():
            self._waiter.set_result(None)

    def _close(self, _: asyncio.Future[Any]) -> None:
        """Close a coroutine whose task was cancelled before it started. Python would warn that it was never awaited."""
        if asyncio.iscoroutine(self._awaitable):
            self._awaitable.close()


async def await_foreign(
    awaitable: Awaitable[T], seconds: float | None, what: str = "it", uncounted: Callable[[], float] = nothing_uncounted
) -> T:
    """Await an awaitable in a task of its own, for at most `seconds` (None: without limit; see `Timer`).

    Raises what the awaitable raises, and `Abandoned` after the time limit. If the awaitable cancels itself, raises `RuntimeError`
    naming `what`. Context variables that the awaitable sets are set for the caller too.
    """
    context = contextvars.copy_context()

    async def noting_the_context() -> T:
        nonlocal context
        try:
            return await awaitable
        finally:
            context = contextvars.copy_context()

    result = await AbandonableTask(noting_the_context()).wait(seconds, uncounted)
    for variable, value in context.items():
        if variable is not _scope and variable.get(None) is not value:
            variable.set(value)
    if not isinstance(result, Raised):
        return result
    if isinstance(result.error, asyncio.CancelledError):
        raise RuntimeError(f"{what} was cancelled by its own code") from result.error
    raise result.error


async def close_awaitable(stream: object, seconds: float) -> None:
    """Close an async iterator if it has `aclose`, within `seconds`. An iterator that is still running stays open."""
    aclose = getattr(stream, "aclose", None)
    if aclose is not None:
        with suppress(TimeoutError, RuntimeError):
            async with asyncio.timeout(seconds):
                await aclose()


async def _uncancelled(waiting: Coroutine[Any, Any, None]) -> None:
    """Await `waiting` to its end, in a task that is not cancelled. A cancellation during the wait is raised afterwards."""
    task, cancellation = asyncio.create_task(waiting), None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            cancellation = error.args
    if cancellation is not None:
        raise asyncio.CancelledError(*cancellation)


def _abandon(task: asyncio.Future[Any]) -> None:
    _abandoned.add(task)
    task.add_done_callback(_forget)
    task.cancel()


def _forget(task: asyncio.Future[Any]) -> None:
    _abandoned.discard(task)
    if not task.cancelled():
        task.exception()  # else asyncio logs that it was never retrieved


def is_keyboard_interrupt(error: BaseException) -> bool:
    """Whether a signal raised the error, not a `raise` statement. Only the main thread receives signals."""
    trace = error.__traceback__
    if not isinstance(error, KeyboardInterrupt) or trace is None or threading.current_thread() is not threading.main_thread():
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] != opcode.opmap["RAISE_VARARGS"]
