"""Type guards for JSON data that both mypy and pyright understand, and access to parts of JSON data.

After `isinstance(value, dict)` pyright does not know the types of keys and values, and mypy calls a cast of them redundant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeGuard

__all__ = ["is_list", "is_object", "kind_of", "object_in", "objects_in", "text_of", "texts_in"]


kind_of: Final[Callable[[object], type[Any]]] = type
"""`type`, whose result pyright knows here. `value.__class__` takes up to twice as long."""


def is_object(value: object) -> TypeGuard[dict[Any, Any]]:
    """Whether it is a JSON object. The key type is `Any`, because compiled code raises `TypeError` for a key that is no str."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def text_of(value: str) -> str:
    """The text as a plain `str`, also of a subclass such as an enum."""
    return value if type(value) is str else str.__str__(value)


def object_in(value: object) -> dict[Any, Any]:
    """`value` if it is an object, else an empty one."""
    return value if is_object(value) else {}


def texts_in(value: Any) -> list[str]:
    """The texts in JSON data, the outermost first. Each container is read once, so circular data is no problem."""
    if not (is_object(value) or is_list(value)):
        return [value] if isinstance(value, str) else []
    found: list[str] = []
    pending, seen = [value], set[int]()
    for item in pending:  # grows during the loop
        if id(item) in seen:
            continue
        seen.add(id(item))
        for inner in item.values() if is_object(item) else item:
            if isinstance(inner, str):
                found.append(inner)
            elif is_object(inner) or is_list(inner):
                pending.append(inner)
    return found


def objects_in(value: object) -> list[dict[Any, Any]]:
    """The objects of an array; none of anything else."""
    return [item for item in value if is_object(item)] if is_list(value) else []
