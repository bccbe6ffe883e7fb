"""Who may ask, and how much: keys of clients, requests in flight, and the rate of each key.

All counters belong to one worker process, unless a `RateLimit` is given that counts for several.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

from llmcore.gateway.settings import GatewaySettings
from llmcore.gateway.wires import GatewayError
from llmcore.types.shared.rates import LocalRateLimit, RateLimit

__all__ = ["ANONYMOUS", "Admission", "retry_after_text"]

ANONYMOUS = "anonymous"
"""The name of all clients of a gateway without keys."""
_BUSY_SECONDS = 1.0
"""`retry-after` when too many requests are in flight. When one ends is not known."""


class Admission:
    """Checks keys, and counts. `rate_limit`: counts the requests of each client; by default that of the settings."""

    def __init__(self, settings: GatewaySettings, rate_limit: RateLimit | None = None) -> None:
        self._digests = {name: _digest(key.get_secret_value()) for name, key in settings.keys.items()}
        self._limits = settings.limits
        limit = settings.limits.requests_per_minute
        self._rate_limit = rate_limit or (None if limit is None else LocalRateLimit(limit))
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

    @asynccontextmanager
    async def admitted(self, client: str) -> AsyncGenerator[None]:
        """Count a request of the client while it is in flight. Raises `GatewayError` (429)."""
        if self.in_flight >= self._limits.in_flight:
            raise GatewayError(
                429, "too many requests are in flight; try again", retry_after=_BUSY_SECONDS, kind="too_many_in_flight"
            )
        self.in_flight += 1
        try:
            limit = self._rate_limit
            if limit is not None and (wait := await limit.wait(client)) > 0:
                words = f"the limit of this key is {limit.per_minute} requests a minute; try again"
                raise GatewayError(429, words, retry_after=wait)
            yield
        finally:
            self.in_flight -= 1


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()


def retry_after_text(seconds: float) -> str:
    """The header `retry-after`: whole seconds, at least 1."""
    return str(max(1, math.ceil(seconds)))
