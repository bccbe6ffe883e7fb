"""Which places are sick at present: left aside for a while where another one is there.

A place is an alias and its deployment. It rests after several faults in a row (no connection, 5xx, overload, timeout),
and after a rate limit for as long as it was told to. When its rest is over it is asked again; one further fault sends it
back, one success makes it well. Kept per orchestrator, in this process; safe to use from several threads.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from llmcore.fallback.remedies import PATIENCE, remedies
from llmcore.support.code.fork_safe_lock import ForkSafeLock
from llmcore.types import LLMCoreError, ModelError, Overloaded, RateLimited

__all__ = ["Cooldown"]

_FAULTS = 3
"""So many in a row make a place sick."""
_REST = 30.0
"""Seconds for which it is left aside then."""
_LONGEST_REST = 600.0
"""However long a server asks for."""


@dataclass(slots=True)
class _Health:
    faults: int = 0
    until: float = 0.0


class Cooldown:
    """The health of places. `clock` is in seconds and only differences matter."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = ForkSafeLock()
        self._health: dict[tuple[str, str], _Health] = {}

    def failed(self, model: str, deployment: str, failure: LLMCoreError) -> None:
        """A request to the place failed. What a retry may help against makes it sick; a bad answer is an answer."""
        if isinstance(failure, ModelError):
            self.worked(model, deployment)
        if "retry" not in remedies(failure):
            return
        told = failure.retry_after if isinstance(failure, RateLimited | Overloaded) else None
        with self._lock:
            health = self._health.setdefault((model, deployment), _Health())
            rest = told if told is not None and 0 <= told < math.inf else PATIENCE if isinstance(failure, RateLimited) else 0.0
            if not isinstance(failure, RateLimited):
                health.faults += 1
                rest = max(rest, _REST if health.faults >= _FAULTS else 0.0)
            health.until = max(health.until, self._clock() + min(rest, _LONGEST_REST))

    def worked(self, model: str, deployment: str) -> None:
        """The place answered."""
        if self._health:
            with self._lock:
                self._health.pop((model, deployment), None)

    @property
    def is_idle(self) -> bool:
        """Is every place well, as far as is known?"""
        return not self._health

    def left(self, model: str, deployment: str) -> float:
        """Seconds for which the place is still to be left aside; 0 = it is well."""
        health = self._health.get((model, deployment)) if self._health else None
        return 0.0 if health is None else max(0.0, health.until - self._clock())
