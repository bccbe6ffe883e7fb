"""Numbers with more digits than a float holds keep them, from the text to the value and back."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from llmcore.types.numbers import (
    ExactFloat,
    exact_float,
    exact_fraction,
    exact_json,
    exact_loads,
    may_hold_exact_floats,
    may_hold_exact_members,
    number_key,
)

LONG = "12345678901234567890.12"


@pytest.mark.parametrize("literal", ["0.1", "-2.5", "1e+30", "0.30000000000000004", "1234567.8901234", "5e-324", ".5"])
def test_a_literal_as_python_writes_it_stays_a_plain_float(literal: str) -> None:
    assert type(exact_float(literal)) is float


@pytest.mark.parametrize(
    ("literal", "written"),
    [
        (LONG, LONG),
        ("-0.1234567890123456789", "-0.1234567890123456789"),
        ("1234567890123456789e-10", "1234567890123456789e-10"),
        ("1e-400", "1e-400"),
        ("1.10", "1.10"),
        ("-2.5e3", "-2.5e3"),
        ("1E30", "1E30"),
        ("0.00001", "0.00001"),
        ("10000000000000000.0", "10000000000000000.0"),
        ("1_000_000_000_000_000.000_000_1", "1000000000000000.0000001"),
        (".12345678901234567890", "0.12345678901234567890"),
    ],
)
def test_a_literal_that_a_float_would_change_or_write_otherwise_is_kept(literal: str, written: str) -> None:
    value = exact_float(literal)
    assert isinstance(value, ExactFloat)
    assert str(value) == repr(value) == f"{value}" == exact_json(value) == written
    assert value == float(literal)
    assert hash(value) == hash(float(literal))
    maker, given = value.__reduce__()  # what pickle asks for
    copies: list[Any] = [copy.copy(value), copy.deepcopy(value), maker(*given)]
    assert [str(other) for other in copies] == [written] * 3


def test_a_number_that_is_no_whole_one_is_none_though_its_float_is() -> None:
    assert not exact_float("0.99999999999999999999").is_integer()
    assert not exact_float(LONG).is_integer()
    assert exact_float("12345678901234567890.00").is_integer()


def test_json_text_holds_all_digits() -> None:
    value = {"a": [ExactFloat(LONG), "é", None], "b": 0.1, "c": {"d": ExactFloat(LONG)}}
    assert exact_json(value) == f'{{"a": [{LONG}, "é", null], "b": 0.1, "c": {{"d": {LONG}}}}}'
    assert json.loads(exact_json(value, quoted=""))["a"][0] == LONG
    assert exact_json({"a": 1, "é": [True]}) == json.dumps({"a": 1, "é": [True]}, ensure_ascii=False)


NUMBERS = [
    "1.10",
    "1e5",
    "1E+2",
    "0.0000123",
    "-0.0",
    "5e-324",
    "10000000000000000.0",
    "123456789.123456789",
    "9007199254740993.0",
]


@pytest.mark.parametrize("literal", [*NUMBERS, LONG, "0.1", "7", "12345678901234567890"])
def test_json_is_written_as_it_was_read(literal: str) -> None:
    for text in (literal, f'{{"a": [{literal}, "1.10"]}}', f"[1, {literal}]"):
        assert exact_json(exact_loads(text)) == text
        assert exact_json(exact_loads(text.encode())) == text


def test_equal_keys_are_of_equal_numbers() -> None:
    assert number_key(exact_float("1.10")) == number_key(1.1) == number_key(exact_float("11e-1"))
    assert number_key(exact_float("1e5")) == number_key(100000)
    assert number_key(exact_float(LONG)) != number_key(float(LONG))
    assert hash(number_key(exact_float("1e5"))) == hash(100000)


def test_an_exponent_without_bounds_costs_nothing() -> None:
    assert exact_fraction(exact_float("1e-99999999")) == 0
    assert exact_fraction(exact_float("1.10")) == exact_fraction(1.1)


_NO_INTEGER = r"-?(?:0|[1-9][0-9]{0,18})(?:\.[0-9]{1,18}(?:[eE][+-]?[0-9]{1,2})?|[eE][+-]?[0-9]{1,2})"


@given(
    st.from_regex(_NO_INTEGER, fullmatch=True),
    st.sampled_from(["", " ", "\n  "]),
)
@example("1.10", "")
@example("0.00001", "")
@example("12345678.5", "")
@example("0.123456789", "")
@example("1e5", "")
@example("1.5E3", "")
def test_a_look_at_json_text_overlooks_no_exact_float(literal: str, space: str) -> None:
    member, item = f'{{"a":{space}{literal}}}', f"[{space}{literal}]"
    if isinstance(exact_float(literal), ExactFloat):
        assert may_hold_exact_floats(member)
        assert may_hold_exact_floats(item)
        assert may_hold_exact_members(member, 0, len(member))


def test_a_look_at_json_text_passes_over_plain_floats_and_words() -> None:
    text = '{"bar": 3.2, "low": -0.25, "zero": 10.0, "said": "1e5 bar, 1.10 at least", "note": "see e2"}'
    assert not may_hold_exact_members(text, 0, len(text))
