"""What enters or leaves a run is a copy that can be encoded."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from llmcore.run.results.boundary_copies import MAX_DEPTH, checked_copy, damage_repairs, encodable_copy
from llmcore.support.values.json_data import LARGEST_INT, encodable
from llmcore.types import ConfigError, ProviderBlock


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("größer 😀", "größer 😀"),
        ("a\ud800b", "a�b"),
        ("\udc00\ud800", "��"),
        ("\ud83d\ude00", "😀"),
        ("\ud83d\ud83d\ude00", "�😀"),
    ],
)
def test_text_that_utf_8_cannot_encode_is_replaced_and_pairs_are_joined(text: str, expected: str) -> None:
    assert encodable(text) == expected


@pytest.mark.parametrize(
    ("value", "expected", "path"),
    [
        ({"a": {"b": ["\ud800"]}}, {"a": {"b": ["�"]}}, "a.b[0]"),
        (dict(zip(["x\ud800", "x\udfff", "x�"], [1, 2, 3], strict=True)), {"x�": 1, "x�_4": 2, "x�_5": 3}, ""),
        ([float("nan"), float("-inf"), 1.5], [None, None, 1.5], "[0]"),
        ({"a": {1, 2}}, {"a": "{1, 2}"}, "a"),
        ({1: "x"}, {"1": "x"}, ""),
        (("a", "\ud800"), ("a", "�"), "[1]"),
        (ProviderBlock(provider="p", data={"k": "\udead"}), ProviderBlock(provider="p", data={"k": "�"}), "data.k"),
    ],
)
def test_what_cannot_be_encoded_is_replaced_and_named(value: Any, expected: Any, path: str) -> None:
    made, found = encodable_copy(value)
    assert (made, found[0].path) == (expected, path)
    assert all(repair.model_dump_json() for repair in damage_repairs(found))
    with pytest.raises(ConfigError, match="cannot be sent"):
        checked_copy(value, ConfigError)


def test_what_can_be_encoded_is_equal_and_names_nothing() -> None:
    value = {"a": [1, 2.5, None, True, "größer"], "b": {"c": ()}}
    assert encodable_copy(value) == (value, [])
    assert checked_copy(value, ConfigError) == value


@pytest.mark.parametrize("number", [LARGEST_INT + 1, -(10**5000)], ids=["above", "below"])
def test_a_number_of_more_digits_than_any_reader_takes_does_not_cross(number: int) -> None:
    made, found = encodable_copy({"a": [LARGEST_INT, number]})
    assert made == {"a": [LARGEST_INT, None]}
    assert (found[0].path, found[0].what) == ("a[1]", "a number of too many digits")
    json.dumps(made)
    with pytest.raises(ConfigError, match="too many digits cannot be sent"):
        checked_copy(number, ConfigError)


def test_what_nests_without_end_is_cut() -> None:
    endless: list[Any] = []
    endless.append(endless)
    made, found = encodable_copy(endless)
    assert json.dumps(made).count("[") == MAX_DEPTH + 1
    assert "nested deeper" in found[0].what


def test_many_damaged_places_are_counted_not_kept() -> None:
    repairs = damage_repairs(encodable_copy(["\ud800"] * 1000)[1])
    assert (len(repairs), repairs[-1].after) == (21, "980 more places")


def test_keys_that_become_one_take_linear_time() -> None:
    def keys(count: int) -> dict[str, int]:
        clashing = {chr(0xD800 + n % 1024) + chr(0xD800 + n // 1024): n for n in range(count)}
        return clashing | {f"��_{2 * count + n}": n for n in range(count)}

    def seconds(count: int) -> float:
        given = keys(count)
        started = time.perf_counter()
        assert len(encodable_copy(given)[0]) == 2 * count
        return time.perf_counter() - started

    assert min(seconds(8000) for _ in range(3)) < 40 * min(seconds(800) for _ in range(3))
