"""One after the other, in the order in which they came, also those of several event loops and threads.

An `asyncio.Lock` belongs to the first loop that waits for it, and a waiter of another one is an error, or never woken.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextvars import ContextVar
from typing import Any

from llmcore.support.code.fork_safe_lock import ForkSafeLock
from llmcore.types import CallerError

__all__ = ["Turns"]


class _Waiting:
    """One who waits, in a loop of its own. `is_next`: it was handed the turn, though its loop may not have told it yet."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.told: asyncio.Future[None] = self.loop.create_future()
        self.is_next = False

    def tell(self) -> None:
        if not self.told.done():
            self.told.set_result(None)


_around: ContextVar[tuple[object, ...]] = ContextVar("llmcore_turns", default=())
"""The turns that whoever runs here has, outer ones first."""


class Turns:
    """`async with turns`: nobody else is within. A copy is another one's: nobody is within it."""

    def __init__(self) -> None:
        self._lock = ForkSafeLock()
        self._is_taken = False
        self._turn: object = None
        """Of the one who is within; another one each time, for what was begun there may go on when that is over."""
        self._waiting: deque[_Waiting] = deque()

    def __reduce__(self) -> Any:
        return Turns, ()

    async def __aenter__(self) -> None:
        """Raises `CallerError` where its own end would be waited for."""
        around, waiting = _around.get(), None
        with self._lock:
            if not self._is_taken:
                self._is_taken = True
            elif self._turn in around:
                raise CallerError(
                    "the conversation is asked within itself, and would wait for its own end: leave `keep_history` out there"
                )
            else:
                waiting = _Waiting()
                self._waiting.append(waiting)
        if waiting is not None:
            await self._come(waiting)
        self._turn = object()
        _around.set((*around, self._turn))

    async def _come(self, waiting: _Waiting) -> None:
        try:
            await waiting.told
        except BaseException:
            with self._lock:
                is_next = waiting.is_next
                if not is_next:
                    self._waiting.remove(waiting)
            if is_next:
                self._pass_on()
            raise

    async def __aexit__(self, *_: object) -> None:
        _around.set(tuple(turn for turn in _around.get() if turn is not self._turn))
        self._turn = None
        self._pass_on()

    def _pass_on(self) -> None:
        with self._lock:
            while self._waiting:
                following = self._waiting.popleft()
                following.is_next = True
                try:
                    following.loop.call_soon_threadsafe(following.tell)
                except RuntimeError:  # its loop was closed, and nobody waits any more
                    continue
                return
            self._is_taken = False
