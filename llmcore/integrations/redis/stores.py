"""Cooldowns, saved runs and rates of requests that all processes of a namespace share, by the server's clock."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from llmcore.adapters.capabilities.breaker import BackendLost
from llmcore.adapters.capabilities.redis_client import decoded_answer
from llmcore.fallback.cooldown import Place
from llmcore.integrations.redis.connection import RedisConnection
from llmcore.run.resume.claims import RunStore
from llmcore.types.shared.rates import LocalRateLimit

__all__ = ["RedisCooldowns", "RedisRateLimit", "RedisRuns"]

_MINUTE = 60_000_000
"""In microseconds, the unit of the script."""


class _Store:
    """What a `RedisState` hands out."""

    def __init__(self, connection: RedisConnection) -> None:
        self._connection = connection

    def __repr__(self) -> str:
        return repr(self._connection)


class RedisCooldowns(_Store):
    """`SharedCooldowns`: one sorted set. `RedisState.cooldowns` is one."""

    async def load(self) -> Mapping[Place, float]:
        """Raises `BackendLost`."""
        found = await self._connection.run("cooling", [self._connection.key("cooldowns")])
        pairs = zip(found[::2], found[1::2], strict=True)
        return {place: int(left) / 1000 for text, left in pairs if (place := _place(decoded_answer(text))) is not None}

    async def save(self, cooldowns: Mapping[Place, float]) -> None:
        """Raises `BackendLost`."""
        given = ((json.dumps(place), math.ceil(left * 1000)) for place, left in cooldowns.items())
        await self._connection.run("cool", [self._connection.key("cooldowns")], *(part for pair in given for part in pair))


def _place(text: str) -> Place | None:
    """A member of the set, None if it is of another version."""
    try:
        model, deployment = json.loads(text)
    except (ValueError, TypeError):
        return None
    return str(model), str(deployment)


class RedisRuns(_Store, RunStore):
    """A `RunStore`. `RedisState.runs` is one. Each operation raises `BackendLost` if the Redis is lost, which ends the run: a
    claim that cannot be checked is none."""

    async def add(self, key: str, text: str) -> bool:
        return bool(await self._set(key, text, nx=True))

    async def get(self, key: str) -> str | None:
        found = await self._connection.exchange(partial(self._connection.client.get, self._connection.key("runs", key)))
        return None if found is None else decoded_answer(found)

    async def replace(self, key: str, text: str) -> None:
        await self._set(key, text, xx=True)

    async def _set(self, key: str, text: str, **condition: bool) -> Any:
        place = self._connection.key("runs", key)
        return await self._connection.exchange(partial(self._connection.client.set, place, text, **condition))


class RedisRateLimit(_Store):
    """A `RateLimit`. `RedisState.rate_limit` makes it. While the Redis is lost, each process counts alone."""

    def __init__(self, connection: RedisConnection, per_minute: int) -> None:
        super().__init__(connection)
        self.per_minute = per_minute
        self._local = LocalRateLimit(per_minute)

    async def wait(self, key: str) -> float:
        """Seconds until the key may ask. 0 means now, and then its request is counted."""
        try:
            wait = await self._connection.run("rate", [self._connection.key("rate", key)], _MINUTE // self.per_minute, _MINUTE)
        except BackendLost:
            return await self._local.wait(key)
        return int(wait) / 1_000_000
