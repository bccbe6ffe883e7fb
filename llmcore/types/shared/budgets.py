"""A budget of cost that several runs share: each request reserves the most it may cost, and settles what it did cost.

Amounts are whole micro-dollars, so that sums are exact. `LocalBudget` counts within one process. Another implementation may
count for many processes.
"""

from __future__ import annotations

import math
from os import urandom
from typing import Protocol, runtime_checkable

from llmcore.support.code.fork_safe_lock import ForkSafeLock
from llmcore.support.code.suggestions import describe_value, dollars
from llmcore.support.values.bounds import is_amount
from llmcore.types.errors import ConfigError, LimitExceeded

__all__ = ["LocalBudget", "SharedBudget", "microdollars", "new_hold", "spent_error"]

_MICRO = 1_000_000
_MOST = 1_000_000_000
"""The largest shared budget, in US dollars. Its micro-dollars are exact even where a store counts in doubles."""


@runtime_checkable
class SharedBudget(Protocol):
    """A budget of cost that several runs share (`shared_budget=`). Amounts are whole micro-dollars."""

    async def reserve(self, amount: int) -> str:
        """Reserve an amount, in one atomic step, and return the id of the hold. Raises `LimitExceeded` if the settled and the
        reserved amounts would exceed the limit."""
        ...

    async def settle(self, hold: str, amount: int) -> None:
        """Replace a hold by the amount that was spent. A second call for the same hold changes nothing."""
        ...


class LocalBudget:
    """A shared budget of `limit` US dollars within this process. Thread-safe. Raises `ConfigError` for an unusable limit."""

    def __init__(self, limit: float) -> None:
        self._limit = microdollars(limit)
        self._lock = ForkSafeLock()
        self._holds: dict[str, int] = {}
        self._spent = 0

    def __repr__(self) -> str:
        return f"LocalBudget({dollars(self._limit / _MICRO)})"

    @property
    def has_holds(self) -> bool:
        """Whether an amount is reserved and not settled."""
        return bool(self._holds)

    async def reserve(self, amount: int) -> str:
        with self._lock:
            reserved = sum(self._holds.values())
            if self._spent + reserved + amount > self._limit:
                raise spent_error(repr(self), self._limit, self._spent, reserved)
            hold = new_hold()
            self._holds[hold] = amount
        return hold

    async def settle(self, hold: str, amount: int) -> None:
        with self._lock:
            if self._holds.pop(hold, None) is not None:
                self._spent += amount


def microdollars(amount: object) -> int:
    """US dollars in whole micro-dollars, rounded up. Raises `ConfigError` for anything but 0 to a billion dollars."""
    if not is_amount(amount) or amount > _MOST:
        raise ConfigError(
            f"an amount of a shared budget is a number of US dollars from 0 to {_MOST}, not {describe_value(amount)}"
        )
    return math.ceil(round(amount * _MICRO, 3))


def new_hold() -> str:
    """An id that no other hold has."""
    return urandom(8).hex()


def spent_error(name: str, limit: int, spent: int, reserved: int) -> LimitExceeded:
    """The error of a refused reservation. Amounts are micro-dollars."""
    shown = [dollars(amount / _MICRO) for amount in (limit, spent, reserved)]
    return LimitExceeded(
        f"the shared budget {name} does not allow another request: of {shown[0]}, {shown[1]} are spent and {shown[2]} reserved"
    )
