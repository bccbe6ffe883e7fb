"""Which object one is, for those that compare or hash as they like: classes with metaclasses, arrays, what users wrote."""

from __future__ import annotations

__all__ = ["Same"]


class Same:
    """Equal to itself alone: a key for an object that need not be hashable. Holds the object, so that its id stays its own."""

    __slots__ = ("held",)

    def __init__(self, held: object) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.held is self.held

    def __hash__(self) -> int:
        return id(self.held)
