"""Rates of requests by key that all processes of a namespace share, by the server's clock."""

from __future__ import annotations

from llmcore.adapters.capabilities.breaker import BackendLost
from llmcore.integrations.redis.connection import RedisConnection
from llmcore.types.shared.rates import LocalRateLimit

__all__ = ["RedisRateLimit"]

_MINUTE = 60_000_000
"""In microseconds, the unit of the script."""


class RedisRateLimit:
    """A `RateLimit`. `RedisState.rate_limit` makes it. While the Redis is lost, each process counts alone."""

    def __init__(self, connection: RedisConnection, per_minute: int) -> None:
        self.per_minute = per_minute
        self._connection = connection
        self._local = LocalRateLimit(per_minute)

    def __repr__(self) -> str:
        return repr(self._connection)

    async def wait(self, key: str) -> float:
        """Seconds until the key may ask. 0 means now, and then its request is counted."""
        try:
            wait = await self._connection.run("rate", [self._connection.key("rate", key)], _MINUTE // self.per_minute, _MINUTE)
        except BackendLost:
            return await self._local.wait(key)
        return int(wait) / 1_000_000
