"""Equality of JSON values, with the types of JSON.

1 equals 1.0, since JSON has one number type. True does not equal 1. NaN equals itself, so that you can expect a
recorded one. The order of items counts, the order of keys does not.
"""

from __future__ import annotations

from typing import Any

from llmcore.support.values.narrowing import is_list, is_object

__all__ = ["json_equal"]


def json_equal(one: Any, other: Any) -> bool:
    """Are two values the same JSON?"""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other or (one != one and other != other)  # only NaN differs from itself
    if is_object(one) and is_object(other):
        return one.keys() == other.keys() and all(json_equal(value, other[key]) for key, value in one.items())
    if is_list(one) and is_list(other):
        return len(one) == len(other) and all(map(json_equal, one, other))
    return bool(one == other)
