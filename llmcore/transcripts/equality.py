"""Equality of JSON values: strict about types where JSON is, and only there.

1 equals 1.0, since JSON has one kind of number; True does not equal 1; NaN equals itself, so that a recorded one can
be expected; the order of keys is free, that of items is not.
"""

from __future__ import annotations

from typing import Any, cast

__all__ = ["json_equal"]


def json_equal(one: Any, other: Any) -> bool:
    """Are two values the same JSON?"""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other or (one != one and other != other)  # only NaN differs from itself
    if isinstance(one, dict) and isinstance(other, dict):
        left, right = cast("dict[str, Any]", one), cast("dict[str, Any]", other)
        return left.keys() == right.keys() and all(json_equal(value, right[key]) for key, value in left.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        items, others = cast("list[Any]", one), cast("list[Any]", other)
        return len(items) == len(others) and all(map(json_equal, items, others))
    return bool(one == other)
