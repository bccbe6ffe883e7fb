"""Cooldowns of models and deployments that all processes of a namespace share: one sorted set, by the server's clock."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from llmcore.adapters.capabilities.redis_client import decoded_answer
from llmcore.fallback.cooldown import Place
from llmcore.integrations.redis.connection import RedisConnection

__all__ = ["RedisCooldowns"]


class RedisCooldowns:
    """`SharedCooldowns`. `RedisState.cooldowns` is one."""

    def __init__(self, connection: RedisConnection) -> None:
        self._connection = connection
        self._key = connection.key("cooldowns")

    def __repr__(self) -> str:
        return repr(self._connection)

    async def load(self) -> Mapping[Place, float]:
        """Raises `BackendLost`."""
        found = await self._connection.run("cooling", [self._key])
        pairs = zip(found[::2], found[1::2], strict=True)
        return {place: int(left) / 1000 for text, left in pairs if (place := _place(decoded_answer(text))) is not None}

    async def save(self, cooldowns: Mapping[Place, float]) -> None:
        """Raises `BackendLost`."""
        given = ((json.dumps(place), math.ceil(left * 1000)) for place, left in cooldowns.items())
        await self._connection.run("cool", [self._key], *(part for pair in given for part in pair))


def _place(text: str) -> Place | None:
    """A member of the set, None if it is of another version."""
    try:
        model, deployment = json.loads(text)
    except (ValueError, TypeError):
        return None
    return str(model), str(deployment)
