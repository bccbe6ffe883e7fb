"""Yielding to the event loop during long work, so that other tasks run in between, deadlines above all."""

from __future__ import annotations

import asyncio
import time

__all__ = ["Pace"]

_MAX_SECONDS = 0.02
"""How long a task works before it yields."""


class Pace:
    """Await `rest()` between the steps of work that may never wait otherwise, such as reading data that has already arrived."""

    __slots__ = ("_started",)

    def __init__(self) -> None:
        self._started = time.monotonic()

    async def rest(self) -> None:
        """Yield to the event loop if this task has worked for 20 ms. An expired timeout cancels the task here."""
        if time.monotonic() - self._started > _MAX_SECONDS:
            await asyncio.sleep(0)
            self._started = time.monotonic()
