"""Records which places failed lately, so that a run prefers other places for a while.

A place is a model alias and one of its deployments. It cools down after several faults in a row (no connection, 5xx,
overload, timeout). After a rate limit, it cools down for as long as the server asked. A place whose cooldown is over is tried
again. If it then fails once more, it cools down again; one success clears its record.

Each orchestrator has its own records, in this process. They are thread-safe. With a backend, it shares cooldowns with other
processes; faults that have not led to a cooldown stay here. If the backend fails, each process has its own records.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from llmcore.adapters.capabilities.breaker import Breaker
from llmcore.fallback.remedies import PATIENCE, remedies
from llmcore.support.code.fork_safe_lock import ForkSafeLock
from llmcore.types import LLMCoreError, ModelError, Overloaded, RateLimited
from llmcore.types.logs import logger

__all__ = ["Cooldown", "Place", "SharedCooldowns"]

_log = logger("fallback")

Place = tuple[str, str]
"""A model alias and one of its deployments."""

_FAULTS_TO_COOL_DOWN = 3
"""After so many faults in a row a place cools down."""
_COOLDOWN = 30.0
"""Seconds of cooldown after faults."""
_MAX_COOLDOWN = 600.0
"""The longest cooldown in seconds, even if a server asks for more."""
_FRESH_FOR = 1.0
"""Seconds for which shared cooldowns are not read again."""
_PAUSE = 5.0
"""Seconds for which a backend that failed is not asked."""
_PATIENCE = 1.0
"""The most seconds for one exchange with the backend."""


@runtime_checkable
class SharedCooldowns(Protocol):
    """A backend through which processes share cooldowns: the seconds left, by place. Zero seconds end a cooldown.

    Both methods may raise any exception and take any time. The caller bounds the wait, warns once, and continues with what it
    knows.
    """

    async def load(self) -> Mapping[Place, float]:
        """Return all cooldowns that are not over."""
        ...

    async def save(self, cooldowns: Mapping[Place, float]) -> None:
        """Add these. Of two cooldowns of a place, the one that ends later stays."""
        ...


@dataclass(slots=True)
class _Health:
    faults: int = 0
    until: float = 0.0
    shared_until: float = 0.0
    """When the cooldown ends that another process recorded."""


class Cooldown:
    """The cooldowns of places. `shared`: shares them with other processes. `clock` returns seconds; only differences matter."""

    def __init__(self, *, shared: SharedCooldowns | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.shared = shared
        self._clock = clock
        self._lock = ForkSafeLock()
        self._health: dict[Place, _Health] = {}
        self._unshared: set[Place] = set()
        self._fresh_until = -math.inf
        self._breaker = Breaker(_PAUSE, _log, clock)

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
            if rest > 0:
                health.until = max(health.until, self._clock() + min(rest, _MAX_COOLDOWN))
                self._note_unshared((model, deployment))

    def worked(self, model: str, deployment: str) -> None:
        """Record that the place answered."""
        if self._health:
            with self._lock:
                health = self._health.pop((model, deployment), None)
                if health is not None and max(health.until, health.shared_until) > self._clock():
                    self._note_unshared((model, deployment))

    def _note_unshared(self, place: Place) -> None:
        if self.shared is not None:
            self._unshared.add(place)

    @property
    def is_idle(self) -> bool:
        """Whether no place has a recorded fault."""
        return not self._health

    def left(self, model: str, deployment: str) -> float:
        """Seconds of cooldown left. 0 means that the place is available."""
        health = self._health.get((model, deployment)) if self._health else None
        return 0.0 if health is None else max(0.0, health.until - self._clock(), health.shared_until - self._clock())

    # What is shared

    async def refresh_if_stale(self) -> None:
        """Read the cooldowns of other processes, unless that was done in the last second. Never raises because of the backend."""
        if self.shared is None or self._clock() < self._fresh_until or not self._breaker.admits():
            return
        self._fresh_until = self._clock() + _FRESH_FOR
        try:
            async with asyncio.timeout(_PATIENCE):
                found = {place: min(float(left), _MAX_COOLDOWN) for place, left in (await self.shared.load()).items()}
        except Exception as error:  # a backend may raise anything
            self._lost(error)
            return
        self._breaker.worked()
        with self._lock:
            now = self._clock()
            for place in found.keys() - self._unshared:
                self._health.setdefault(place, _Health()).shared_until = now + found[place]
            for place, health in [*self._health.items()]:
                if place not in found and health.shared_until:
                    health.shared_until = 0.0
                    if not health.faults and health.until <= now:
                        del self._health[place]

    async def publish(self) -> None:
        """Share the cooldowns that began or ended here. Never raises because of the backend. What it did not accept is sent with
        the next ones."""
        if self.shared is None or not self._unshared or not self._breaker.admits():
            return
        with self._lock:
            given, self._unshared = self._unshared, set()
            changed = {place: self._own_left(place) for place in given}
        try:
            async with asyncio.timeout(_PATIENCE):
                await self.shared.save(changed)
        except BaseException as error:
            with self._lock:
                self._unshared |= given
            if not isinstance(error, Exception):
                raise
            self._lost(error)
            return
        self._breaker.worked()

    def _own_left(self, place: Place) -> float:
        health = self._health.get(place)
        return 0.0 if health is None else max(0.0, health.until - self._clock())

    def _lost(self, error: Exception) -> None:
        self._breaker.failed(f"cooldowns are not shared, since {self.shared!r} failed", error)
