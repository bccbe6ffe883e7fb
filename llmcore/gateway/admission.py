"""Who may ask, and how much: keys of clients, requests in flight, and the rate of each key. No I/O.

All counters belong to one worker process.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager

from llmcore.gateway.settings import GatewaySettings
from llmcore.gateway.wires import GatewayError

__all__ = ["ANONYMOUS", "Admission", "retry_after_text"]

ANONYMOUS = "anonymous"
"""The name of all clients of a gateway without keys."""
_BUSY_SECONDS = 1.0
"""`retry-after` when too many requests are in flight. When one ends is not known."""


class Admission:
    """Checks keys, and counts. `clock`: seconds that only grow."""

    def __init__(self, settings: GatewaySettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._digests = {name: _digest(key.get_secret_value()) for name, key in settings.keys.items()}
        self._limits = settings.limits
        self._clock = clock
        self._full_at: dict[str, float] = {}
        """By client: when its allowance is whole again (the generic cell rate algorithm)."""
        self.in_flight = 0

    def client(self, headers: Mapping[str, str]) -> str:
        """The name of the client. Raises `GatewayError` (401)."""
        if not self._digests:
            return ANONYMOUS
        scheme, _, token = headers.get("authorization", "").partition(" ")
        given = token.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")
        if not given:
            raise GatewayError(401, "the request has no key: send `Authorization: Bearer KEY` or `x-api-key: KEY`")
        digest, found = _digest(given), ""
        for name, known in self._digests.items():  # all of them, so that the time does not tell which one is near
            if hmac.compare_digest(digest, known):
                found = name
        if not found:
            raise GatewayError(401, "the gateway does not know this key")
        return found

    @contextmanager
    def admitted(self, client: str) -> Generator[None]:
        """Count a request of the client while it is in flight. Raises `GatewayError` (429)."""
        if self.in_flight >= self._limits.in_flight:
            raise GatewayError(
                429, "too many requests are in flight; try again", retry_after=_BUSY_SECONDS, kind="too_many_in_flight"
            )
        if (wait := self._wait(client)) > 0:
            limit = self._limits.requests_per_minute
            raise GatewayError(429, f"the limit of this key is {limit} requests a minute; try again", retry_after=wait)
        self.in_flight += 1
        try:
            yield
        finally:
            self.in_flight -= 1

    def _wait(self, client: str) -> float:
        """Seconds until the client may ask; 0 if now, and then its request is counted."""
        limit = self._limits.requests_per_minute
        if limit is None:
            return 0.0
        now, interval = self._clock(), 60.0 / limit
        full_at = max(now, self._full_at.get(client, now))
        wait = full_at + interval - now - 60.0
        if wait > 1e-6:
            return wait
        self._full_at[client] = full_at + interval
        return 0.0


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()


def retry_after_text(seconds: float) -> str:
    """The header `retry-after`: whole seconds, at least 1."""
    return str(max(1, math.ceil(seconds)))
