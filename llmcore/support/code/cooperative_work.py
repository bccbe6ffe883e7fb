"""Long work on an event loop in small steps, so that others run in between, deadlines first of all."""

from __future__ import annotations

import asyncio
import time

__all__ = ["Pace"]

_LONGEST = 0.02
"""Seconds that one task works before it lets others run."""


class Pace:
    """`rest()` between two steps of work that may never wait by itself: data that is there already needs no waiting for."""

    __slots__ = ("_since",)

    def __init__(self) -> None:
        self._since = time.monotonic()

    async def rest(self) -> None:
        """Let others run, when this task has worked for long enough. A timeout that has passed ends the task here."""
        if time.monotonic() - self._since > _LONGEST:
            await asyncio.sleep(0)
            self._since = time.monotonic()
