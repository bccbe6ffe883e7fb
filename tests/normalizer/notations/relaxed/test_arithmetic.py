"""Arithmetic in the place of a number: its value, by Python's precedence."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.normalizer.notations.relaxed.arithmetic import computed
from llmcore.types.limits import DEFAULT_LIMITS


def value(token: str) -> Any:
    return computed(token, DEFAULT_LIMITS.digits)


@pytest.mark.parametrize(
    ("token", "written"),
    [
        ("60 * 60", "3600"),
        ("7 - 2 * 3 + 1", "2"),
        ("10 - 2 - 3", "5"),
        ("2 * -3", "-6"),
        ("2*3/4", "1.5"),
        ("10/5", "2.0"),
        ("1/3", "0.3333333333333333"),
        ("0.1*3", "0.3"),
        ("19.99 * 3", "59.97"),
        ("1e3 * 2", "2000.0"),
    ],
)
def test_it_is_computed(token: str, written: str) -> None:
    assert str(value(token)) == written


@pytest.mark.parametrize(
    "token",
    [
        *["1", "2026-11-15", "12/25/2024", "1/0", "2**10", "1e308*10", "1*1e999", "x*2", "2+3", "*", "2*", "01*2", "1_0*2"],
        *["", "7 // 2", "7 % 2", "1 - x", "1*" * 200 + "1"],
    ],
)
def test_text_that_is_no_sum_or_has_no_value(token: str) -> None:
    assert value(token) is None


def test_a_product_of_too_many_digits_is_none() -> None:
    assert computed("999 * 999", digits=5) is None
    assert computed("999 * 999", digits=6) == 998_001
