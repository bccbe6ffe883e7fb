"""What a request reserves of the shared budgets, and what it settles at its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from llmcore.adapters.base import ModelCall
from llmcore.adapters.litellm.usage import most_cost_of
from llmcore.types import Attempt
from llmcore.types.shared.budgets import SharedBudget, microdollars

__all__ = ["Reservation", "reserved"]


@dataclass(slots=True)
class Reservation:
    """`attempt`: the entry of the request for which the amount is reserved; None until it is about to be sent."""

    attempt: Attempt | None = None

    def spent(self, most: int) -> int:
        """Micro-dollars that the request did cost. If its cost is not known, this is `most`."""
        if self.attempt is None:
            return 0
        cost = self.attempt.usage.cost
        return most if cost is None else microdollars(max(0.0, cost))


@asynccontextmanager
async def reserved(budgets: Sequence[SharedBudget], call: ModelCall) -> AsyncGenerator[Reservation]:
    """Reserve the most that a request is expected to cost in each budget. At the end, settle what its attempt did cost.

    Raises `LimitExceeded` if a budget does not allow the amount, and then nothing stays reserved.
    """
    reservation = Reservation()
    if not budgets:
        yield reservation
        return
    most = max(1, microdollars(most_cost_of(call) or 0.0))
    holds: list[tuple[SharedBudget, str]] = []
    try:
        for budget in budgets:
            holds.append((budget, await budget.reserve(most)))
        yield reservation
    finally:
        spent = reservation.spent(most)
        settling = asyncio.gather(*(budget.settle(hold, spent) for budget, hold in holds))
        await asyncio.shield(settling)  # a cancelled run has spent, too
