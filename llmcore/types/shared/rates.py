"""Rates of requests by key: the generic cell rate algorithm, which needs one time for each key."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol, runtime_checkable

__all__ = ["LocalRateLimit", "RateLimit"]

_MINUTE = 60.0
_ROUNDING = 1e-6


@runtime_checkable
class RateLimit(Protocol):
    """How many requests a minute each key may make. All of a minute may come at once."""

    @property
    def per_minute(self) -> int:
        """Requests a minute of one key."""
        ...

    async def wait(self, key: str) -> float:
        """Seconds until the key may ask. 0 means now, and then its request is counted."""
        ...


class LocalRateLimit:
    """The rates of this process. `clock`: seconds that only grow."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_minute = per_minute
        self._clock = clock
        self._full_at: dict[str, float] = {}
        """By key: when its allowance is whole again."""

    async def wait(self, key: str) -> float:
        now, interval = self._clock(), _MINUTE / self.per_minute
        full_at = max(now, self._full_at.get(key, now)) + interval
        wait = full_at - now - _MINUTE
        if wait > _ROUNDING:
            return wait
        self._full_at[key] = full_at
        return 0.0
