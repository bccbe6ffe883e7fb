"""JSON equality: strict about types where JSON is."""

from __future__ import annotations

from typing import Any

import pytest

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
