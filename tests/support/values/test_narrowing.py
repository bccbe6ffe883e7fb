"""Looks through JSON data."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.support.values.narrowing import texts_in


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("a", ["a"]),
        (7, []),
        ([], []),
        ({"a": "b", "c": ["d", {"e": "f"}], "g": "h"}, ["b", "h", "d", "f"]),
        ([["a"], "b", [["c"]]], ["b", "a", "c"]),
    ],
)
def test_texts_are_found_at_any_depth(value: Any, texts: list[str]) -> None:
    assert texts_in(value) == texts


def test_a_value_may_be_deep_and_hold_itself() -> None:
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    assert texts_in(deep) == ["x"]
    itself: dict[str, Any] = {"a": "b"}
    itself["itself"] = itself
    assert texts_in(itself) == ["b"]
