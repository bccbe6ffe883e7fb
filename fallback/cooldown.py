"""Records which places failed lately, so that a run prefers other places for a while.

A place is a model alias and one of its deployments. It cools down after several faults in a row (no connection, 5xx,
overload, timeout). After a rate limit, it cools down for as long as the server asked. A place whose cooldown is over is tried
again. If it then fails once more, it cools down again; one success clears its record.

Each orchestrator has its own records, in this process. They are thread-safe.
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

_FAULTS_TO_COOL_DOWN = 3
"""After so many faults in a row a place cools down."""
_COOLDOWN = 30.0
"""Seconds of cooldown after faults."""
_MAX_COOLDOWN = 600.0
"""The longest cooldown in seconds, even if a server asks for more."""


@dataclass(slots=True)
class _Health:
    faults: int = 0
    until: float = 0.0


class Cooldown:
    """The cooldowns of places. `clock` returns seconds; only differences matter."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = ForkSafeLock()
        self._health: dict[tuple[str, str], _Health] = {}

    def failed(self, model: str, deployment: str, failure: LLMCoreError) -> None:
        """Record that a request to the place failed.

        Only failures that a retry may help against count as faults. A `ModelError` means that the place answered.
        """
        if isinstance(failure, ModelError):
            self.worked(model, deployment)
        if "retry" not in remedies(failure):
            return
        server_delay = failure.retry_after if isinstance(failure, RateLimited | Overloaded) else None
        with self._lock:
            health = self._health.setdefault((model, deployment), _Health())
            if server_delay is not None and 0 <= server_delay < math.inf:
                rest = server_delay
            else:
                rest = PATIENCE if isinstance(failure, RateLimited) else 0.0
            if not isinstance(failure, RateLimited):
                health.faults += 1
                rest = max(rest, _COOLDOWN if health.faults >= _FAULTS_TO_COOL_DOWN else 0.0)
            health.until = max(health.until, self._clock() + min(rest, _MAX_COOLDOWN))

    def worked(self, model: str, deployment: str) -> None:
        """Record that the place answered."""
        if self._health:
            with self._lock:
                self._health.pop((model, deployment), None)

    @property
    def is_idle(self) -> bool:
        """Whether no place has a recorded fault."""
        return not self._health

    def left(self, model: str, deployment: str) -> float:
        """Seconds of cooldown left. 0 means that the place is available."""
        health = self._health.get((model, deployment)) if self._health else None
        return 0.0 if health is None else max(0.0, health.until - self._clock())
