"""What a float rounds, and which integer a number is."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from llmcore.support.values.numbers import is_rounded, may_be_rounded, rounded, whole


@pytest.mark.parametrize(
    ("literal", "is_another"),
    [
        ("0.1", False),
        ("1.10", False),
        ("1e5", False),
        ("0.30000000000000004", False),
        ("1.5000000000000000000", False),
        ("10000000000000000.0", False),
        ("12345678901234567890.12", True),
        ("0.1234567890123456789", True),
        ("9007199254740993.0", True),
        ("1_000_000_000_000_000.000_000_1", True),
        ("1e-400", True),
        ("1e-99999999999999999999", True),
    ],
)
def test_a_number_is_rounded_where_its_float_is_another_one(literal: str, is_another: bool) -> None:
    assert is_rounded(literal, float(literal)) is is_another


_NO_INTEGER = r"-?(?:0|[1-9][0-9]{0,18})(?:\.[0-9]{1,18}(?:[eE][+-]?[0-9]{1,3})?|[eE][+-]?[0-9]{1,3})"


@given(st.from_regex(_NO_INTEGER, fullmatch=True), st.sampled_from(["", " ", "\n  "]))
@example("9007199254740993e0", "")
@example("1e-400", "")
@example("4.9e-324", "")
def test_a_look_at_json_text_overlooks_no_rounded_number(literal: str, space: str) -> None:
    text = f'{{"a":{space}{literal}}}'
    value = json.loads(text)["a"]
    if value not in (float("inf"), float("-inf")) and Decimal(literal) != Decimal(repr(value)):
        assert may_be_rounded(text, 0, len(text))
        assert is_rounded(literal, value)


def test_a_look_at_json_text_passes_over_other_floats() -> None:
    text = '{"bar": 3.2, "low": -0.25, "pi": 3.1415926, "said": "see e2 and E45"}'
    assert not may_be_rounded(text, 0, len(text))


@pytest.mark.parametrize(
    ("number", "integer", "nearest"),
    [(5, 5, 5), (5.0, 5, 5), (2.5, None, 3), (-2.5, None, -3), (2.0**53, 2**53, 2**53), (1e30, None, None)],
)
def test_no_integer_is_made_of_a_float_that_may_have_lost_digits(number: float, integer: int | None, nearest: int | None) -> None:
    assert whole(number) == integer
    assert rounded(number) == nearest
