"""Comparing and keeping objects that compare or hash as they like: arrays, tables, classes with metaclasses, what users wrote."""

from __future__ import annotations

__all__ = ["Same", "alike"]


class Same:
    """Equal to itself alone: a key for an object that need not be hashable. Holds the object, so that its id stays its own."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def alike(one: object, other: object) -> bool:
    """Are they equal beyond doubt? Arrays and tables compare element by element, and what they give then is no truth."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    try:
        return bool(one == other)
    except Exception:  # a value of the caller's
        return False
