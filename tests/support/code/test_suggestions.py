"""How numbers are told."""

from __future__ import annotations

import pytest

from llmcore import RunResult
from llmcore.support.code.suggestions import dollars
from llmcore.types import Usage


@pytest.mark.parametrize(
    ("amount", "told"),
    [
        (0, "$0"),
        (3, "$3"),
        (0.59, "$0.59"),
        (0.00000123456, "$0.000001235"),
        (99.999, "$100"),
        (12345.678, "$12345.68"),
        (9.007199254740992e17, "$900719925474099200.00"),
    ],
)
def test_dollars_are_never_powers_of_ten(amount: float, told: str) -> None:
    assert dollars(amount) == told


def test_a_result_tells_what_it_cost() -> None:
    result: RunResult = RunResult(usage=Usage(input_tokens=9_007_199_254_740_993, cost=12345.678))
    assert "9007199254740993+0 tokens $12345.68" in str(result)
