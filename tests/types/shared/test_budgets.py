"""`LocalBudget`: reserved and settled amounts together stay within the limit."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.types import ConfigError, LimitExceeded, LocalBudget, SharedBudget
from llmcore.types.shared.budgets import microdollars

pytestmark = pytest.mark.anyio


async def test_a_hold_counts_until_it_is_settled_once() -> None:
    budget = LocalBudget(0.000_1)
    assert isinstance(budget, SharedBudget)
    hold = await budget.reserve(60)
    with pytest.raises(LimitExceeded, match=r"of \$0\.0001, \$0 are spent and \$0\.00006 reserved"):
        await budget.reserve(41)
    for _ in range(2):
        await budget.settle(hold, 30)
    await budget.reserve(70)
    with pytest.raises(LimitExceeded):
        await budget.reserve(1)


@pytest.mark.parametrize(
    ("dollars", "expected"), [(0, 0), (0.1, 100_000), (0.3, 300_000), (1e-9, 1), (1.5e-6, 2), (1, 1_000_000)]
)
def test_dollars_are_whole_microdollars(dollars: float, expected: int) -> None:
    assert microdollars(dollars) == expected


@pytest.mark.parametrize("limit", [-1, float("nan"), float("inf"), True, "1", None, 1e10])
def test_a_limit_that_is_none(limit: Any) -> None:
    with pytest.raises(ConfigError, match="a number of US dollars"):
        LocalBudget(limit)
