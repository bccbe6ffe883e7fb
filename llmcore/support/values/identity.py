"""Comparing and hashing objects with any `__eq__` and `__hash__`: arrays, data frames, classes with metaclasses, user classes."""

from __future__ import annotations

__all__ = ["Same", "alike"]


class Same:
    """A dict key for any object, hashable or not, compared by identity. It references the object, so its id is not reused."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def alike(left: object, right: object) -> bool:
    """Whether two values are certainly equal. Arrays and data frames compare by element, and `bool` of that raises."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    try:
        return bool(left == right)
    except Exception:  # from the caller's `__eq__`
        return False
