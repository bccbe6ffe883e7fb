"""Numbers with more digits than a float holds keep them, from the text to the value and back."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from llmcore.types.numbers import ExactFloat, exact_float, exact_json

LONG = "12345678901234567890.12"


@pytest.mark.parametrize("literal", ["0.1", "1.10", "-2.5e3", "1e30", "0.30000000000000004", "1234567.8901234", "5e-324"])
def test_a_literal_that_a_float_holds_stays_a_plain_float(literal: str) -> None:
    assert type(exact_float(literal)) is float


@pytest.mark.parametrize(
    ("literal", "written"),
    [
        (LONG, LONG),
        ("-0.1234567890123456789", "-0.1234567890123456789"),
        ("1234567890123456789e-10", "123456789.0123456789"),
        ("1e-400", "1E-400"),
        ("1_000_000_000_000_000.000_000_1", "1000000000000000.0000001"),
        (".12345678901234567890", "0.12345678901234567890"),
    ],
)
def test_a_literal_that_a_float_would_change_is_kept(literal: str, written: str) -> None:
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
    assert json.loads(exact_json(value, quoted=True))["a"][0] == LONG
    assert exact_json({"a": 1, "é": [True]}) == json.dumps({"a": 1, "é": [True]}, ensure_ascii=False)
