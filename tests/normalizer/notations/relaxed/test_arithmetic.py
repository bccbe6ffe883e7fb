"""Arithmetic in the place of a number: its exact value, by Python's precedence."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmcore.normalizer.notations.relaxed.arithmetic import computed
from llmcore.normalizer.notations.relaxed.lexemes import json_number
from llmcore.types.limits import DEFAULT_LIMITS


def value(token: str) -> Any:
    digits = DEFAULT_LIMITS.digits
    return computed(token, lambda part: json_number(part, digits), digits)


@pytest.mark.parametrize(
    ("token", "written"),
    [
        ("2**3**2", "512"),
        ("-2**2", "-4"),
        ("2 * -3**2", "-18"),
        ("2**-1", "0.5"),
        ("7 - 2 * 3 + 1", "2"),
        ("10 - 2 - 3", "5"),
        ("2*3/4", "1.5"),
        ("10/5", "2.0"),
        ("1/3", "0.3333333333333333"),
        ("0.1*3", "0.3"),
        ("19.99 * 3", "59.97"),
        ("9007199254740993 / 1", "9007199254740993.0"),
        ("12345678901234567890.12 + 1", "12345678901234567891.12"),
    ],
)
def test_it_is_exact(token: str, written: str) -> None:
    assert str(value(token)) == written


@pytest.mark.parametrize(
    "token",
    ["1", "2026-11-15", "12/25/2024", "1/0", "9**9**9", "2**0.5", "1e308*10", "x*2", "2+3", "", "*", "2*", "1*" * 200 + "1"],
)
def test_what_is_no_sum_or_has_no_value(token: str) -> None:
    assert value(token) is None


@given(
    st.lists(st.tuples(st.sampled_from([" + ", " - ", "*", "**"]), st.integers(0, 9)), min_size=1, max_size=6), st.integers(0, 9)
)
def test_whole_numbers_are_what_python_makes_of_them(steps: list[tuple[str, int]], first: int) -> None:
    token = str(first) + "".join(f"{operator}{number}" for operator, number in steps)
    made = value(token)
    if made is not None:
        assert Fraction(made) == _python(first, steps)


def _python(first: int, steps: list[tuple[str, int]]) -> Fraction:
    """By a reading of its own: from the loosest operator down."""
    for operators in ((" + ", " - "), ("*",)):
        for at in range(len(steps) - 1, -1, -1):
            if steps[at][0] in operators:
                left, right = _python(first, steps[:at]), _python(steps[at][1], steps[at + 1 :])
                return left * right if steps[at][0] == "*" else left + right if steps[at][0] == " + " else left - right
    return Fraction(first) if not steps else Fraction(first) ** int(_python(steps[0][1], steps[1:]))
