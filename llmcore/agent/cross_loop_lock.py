"""A fair lock for tasks of several event loops and threads.

An `asyncio.Lock` belongs to the first loop that waits for it. A waiter of another loop raises an error, or is never woken.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextvars import ContextVar
from typing import Any

from llmcore.support.code.fork_safe_lock import ForkSafeLock
from llmcore.types import CallerError

__all__ = ["CrossLoopLock"]


class _Waiter:
    """A task that waits in its own loop. `is_next`: the lock was handed to it, although its loop may not have woken it yet."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.woken: asyncio.Future[None] = self.loop.create_future()
        self.is_next = False

    def wake(self) -> None:
        if not self.woken.done():
            self.woken.set_result(None)


_stays_within: ContextVar[tuple[object, ...]] = ContextVar("llmcore_turns", default=())
"""The stays that the running code is within, outer ones first."""


class CrossLoopLock:
    """`async with lock`: nobody else is within. Waiters enter in order. A copy is a new lock."""

    def __init__(self) -> None:
        self._lock = ForkSafeLock()
        self._is_held = False
        self._stay: object = None
        """Identifies the current stay. Each stay has a new one, because code started within may outlive it."""
        self._waiting: deque[_Waiter] = deque()

    def __reduce__(self) -> Any:
        return CrossLoopLock, ()

    async def __aenter__(self) -> None:
        """Raises `CallerError` if the task holds the lock already, and would wait for itself."""
        stays, waiting = _stays_within.get(), None
        with self._lock:
            if not self._is_held:
                self._is_held = True
            elif self._stay in stays:
                raise CallerError(
                    "the conversation is asked within itself, and would wait for its own end: leave `keep_history` out there"
                )
            else:
                waiting = _Waiter()
                self._waiting.append(waiting)
        if waiting is not None:
            await self._wait(waiting)
        self._stay = object()
        _stays_within.set((*stays, self._stay))

    async def _wait(self, waiting: _Waiter) -> None:
        try:
            await waiting.woken
        except BaseException:
            with self._lock:
                is_next = waiting.is_next
                if not is_next:
                    self._waiting.remove(waiting)
            if is_next:
                self._hand_over()
            raise

    async def __aexit__(self, *_: object) -> None:
        _stays_within.set(tuple(turn for turn in _stays_within.get() if turn is not self._stay))
        self._stay = None
        self._hand_over()

    def _hand_over(self) -> None:
        with self._lock:
            while self._waiting:
                waiter = self._waiting.popleft()
                waiter.is_next = True
                try:
                    waiter.loop.call_soon_threadsafe(waiter.wake)
                except RuntimeError:  # its loop is closed, so nobody waits
                    continue
                return
            self._is_held = False
