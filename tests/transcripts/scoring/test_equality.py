"""JSON equality: strict about types where JSON is."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.transcripts.formats.decoding import load_json
from llmcore.transcripts.scoring.equality import json_equal


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (0.0, -0.0),
        (float("nan"), float("nan")),
        ({"a": [1, {"b": None}]}, {"a": [1.0, {"b": None}]}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ("x", "x"),
        (True, True),
    ],
)
def test_equal(one: Any, other: Any) -> None:
    assert json_equal(one, other)
    assert json_equal(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (0, False),
        (0, None),
        ("1", 1),
        ("", None),
        ([], {}),
        ([1, 2], [2, 1]),
        ([1], [1, 1]),
        ({"a": 1}, {"a": 1, "b": None}),
        ({"a": [True]}, {"a": [1]}),
        (float("nan"), 1.0),
    ],
)
def test_not_equal(one: Any, other: Any) -> None:
    assert not json_equal(one, other)
    assert not json_equal(other, one)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("12345678901234567890.12", "12345678901234567890.12", True),
        ("12345678901234567890.12", "12345678901234567890.13", False),
        ("0.1", "0.1000000000000000000001", False),
        ("1.10", "1.1", True),
        ("1e2", "100", True),
    ],
)
def test_numbers_are_compared_as_they_were_written(one: str, other: str, equal: bool) -> None:
    for form in ("{}", '{"a": [{}]}'):
        assert json_equal(load_json(form.replace("{}", one)), load_json(form.replace("{}", other))) is equal
