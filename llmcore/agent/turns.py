"""One after the other, in the order in which they came, also those of several event loops and threads.

An `asyncio.Lock` belongs to the first loop that waits for it, and a waiter of another one is an error, or never woken.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

from llmcore.types.locks import ForkSafeLock

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


class Turns:
    """`async with turns`: nobody else is within. A copy is another one's: nobody is within it."""

    def __init__(self) -> None:
        self._lock = ForkSafeLock()
        self._is_taken = False
        self._waiting: deque[_Waiting] = deque()

    def __reduce__(self) -> Any:
        return Turns, ()

    async def __aenter__(self) -> None:
        with self._lock:
            if not self._is_taken:
                self._is_taken = True
                return
            waiting = _Waiting()
            self._waiting.append(waiting)
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
