"""A budget of cost that all processes of a namespace share.

A reservation that is not settled ends after `_HOLD_SECONDS`: its process has ended. While the Redis is lost, the process may
spend its local share, or nothing if there is none. What it spends in that time is kept, and settled when the Redis answers.
"""

from __future__ import annotations

from llmcore.adapters.capabilities.breaker import BackendLost
from llmcore.integrations.redis.connection import RedisConnection
from llmcore.support.code.suggestions import dollars
from llmcore.types.errors import LimitExceeded
from llmcore.types.shared.budgets import LocalBudget, microdollars, new_hold, spent_error

__all__ = ["RedisBudget"]

_HOLD_SECONDS = 900


class RedisBudget:
    """A `SharedBudget`. `RedisState.budget` makes it."""

    def __init__(self, connection: RedisConnection, name: str, limit: float, local_share: float) -> None:
        self._connection = connection
        self._name = name
        self._limit = microdollars(limit)
        self._share = local_share
        self._local = LocalBudget(local_share)
        self._unsettled: dict[str, int] = {}
        self._keys = [connection.key("budget", name, part) for part in ("totals", "ends", "amounts", "settled")]

    def __repr__(self) -> str:
        return f"{self._name!r} ({dollars(self._limit / 1_000_000)})"

    async def reserve(self, amount: int) -> str:
        hold = new_hold()
        await self._settle_kept()
        try:
            granted, spent, reserved = await self._connection.run(
                "reserve", self._keys, hold, amount, self._limit, _HOLD_SECONDS * 1000
            )
        except BackendLost as lost:
            if not self._share:
                raise LimitExceeded(f"the shared budget {self!r} cannot be checked, so nothing is sent: {lost}") from None
            try:
                return await self._local.reserve(amount)
            except LimitExceeded:
                share = dollars(self._share)
                raise LimitExceeded(
                    f"the shared budget {self!r} cannot be checked, and this process's share of {share} is spent: {lost}"
                ) from None
        if not granted:
            raise spent_error(repr(self), self._limit, int(spent), int(reserved))
        return hold

    async def settle(self, hold: str, amount: int) -> None:
        await self._local.settle(hold, amount)
        self._unsettled[hold] = amount
        await self._settle_kept()

    async def spent(self) -> tuple[float, float]:
        """The US dollars that are settled and reserved now. Raises `BackendLost`."""
        found = await self._connection.exchange(lambda: self._connection.client.hmget(self._keys[0], "spent", "reserved"))
        settled, reserved = (int(amount or 0) / 1_000_000 for amount in found)
        return settled, reserved

    async def _settle_kept(self) -> None:
        """Settle what could not be settled before. If the Redis is lost, it stays for the next time."""
        while self._unsettled:
            hold, amount = self._unsettled.popitem()
            try:
                await self._connection.run("settle", self._keys, hold, amount, _HOLD_SECONDS * 1000)
            except BaseException as error:
                self._unsettled[hold] = amount
                if not isinstance(error, BackendLost):
                    raise
                return
        if not self._local.has_holds:  # the Redis counts the share, so the next loss begins with a whole one
            self._local = LocalBudget(self._share)
