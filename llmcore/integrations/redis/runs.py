"""Saved runs in a Redis, where all processes of a namespace claim them."""

from __future__ import annotations

from functools import partial
from typing import Any

from llmcore.adapters.capabilities.redis_client import decoded_answer
from llmcore.integrations.redis.connection import RedisConnection
from llmcore.run.resume.claims import RunStore

__all__ = ["RedisRuns"]


class RedisRuns(RunStore):
    """A `RunStore`. `RedisState.runs` is one. Each operation raises `BackendLost` if the Redis is lost, which ends the run: a
    claim that cannot be checked is none."""

    def __init__(self, connection: RedisConnection) -> None:
        self._connection = connection

    def __repr__(self) -> str:
        return repr(self._connection)

    async def add(self, key: str, text: str) -> bool:
        return bool(await self._set(key, text, nx=True))

    async def get(self, key: str) -> str | None:
        found = await self._connection.exchange(partial(self._connection.client.get, self._key(key)))
        return None if found is None else decoded_answer(found)

    async def replace(self, key: str, text: str) -> None:
        await self._set(key, text, xx=True)

    async def _set(self, key: str, text: str, **condition: bool) -> Any:
        return await self._connection.exchange(partial(self._connection.client.set, self._key(key), text, **condition))

    def _key(self, key: str) -> str:
        return self._connection.key("runs", key)
