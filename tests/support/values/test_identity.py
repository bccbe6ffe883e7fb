"""Comparing what compares as it likes."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.support.values.identity import Same, alike


class Elements:
    """Compares as an array does."""

    def __init__(self, *items: Any) -> None:
        self.items = items

    def __eq__(self, other: object) -> Any:
        return Elements(*(item == other for item in self.items))

    def __bool__(self) -> bool:
        raise ValueError("the truth value of an array is ambiguous")


ONE = Elements(1, 2)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (1, 1, True),
        ("a", "b", False),
        (1, True, False),
        ([1], [1], True),
        (None, None, True),
        (ONE, ONE, True),
        (ONE, Elements(1, 2), False),
        ([ONE], [Elements(1, 2)], False),
        (ONE, "text", False),
        ("text", ONE, False),
    ],
)
def test_what_is_not_equal_beyond_doubt_is_not_alike(one: Any, other: Any, expected: bool) -> None:
    assert alike(one, other) is expected


def test_a_key_is_that_of_one_object() -> None:
    assert {Same(ONE): 1}[Same(ONE)] == 1
    assert Same(ONE) != Same(Elements(1, 2))
