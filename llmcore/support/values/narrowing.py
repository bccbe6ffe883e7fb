"""Telling JSON's containers apart, in a way that both mypy and pyright understand, and looking through JSON data.

`isinstance(value, dict)` leaves pyright with unknown keys and values, and the cast that would tell it is redundant to mypy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeGuard

__all__ = ["is_list", "is_object", "kind_of", "object_in", "objects_in", "text_of", "texts_in"]


kind_of: Final[Callable[[object], type[Any]]] = type
"""The type of anything, which pyright takes for unknown if it is asked by `type`. `value.__class__` takes up to twice as long."""


def is_object(value: object) -> TypeGuard[dict[Any, Any]]:
    """Is it a JSON object? Its keys are texts, but for what was never JSON: compiled code raises `TypeError` where it is told
    that they are and meets another one."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Is it a JSON array?"""
    return isinstance(value, list)


def text_of(value: str) -> str:
    """The text, of the class `str`: one of a derived class, such as an enum's or a template's, is what it holds."""
    return value if type(value) is str else str.__str__(value)


def object_in(value: object) -> dict[Any, Any]:
    """`value` if it is an object, else an empty one."""
    return value if is_object(value) else {}


def texts_in(value: Any) -> list[str]:
    """The texts in a value of JSON, the outermost first; once each in what holds itself."""
    if not (is_object(value) or is_list(value)):
        return [value] if isinstance(value, str) else []
    found: list[str] = []
    waiting, seen = [value], set[int]()
    for item in waiting:  # grows while it is read
        if id(item) in seen:
            continue
        seen.add(id(item))
        for inner in item.values() if is_object(item) else item:
            if isinstance(inner, str):
                found.append(inner)
            elif is_object(inner) or is_list(inner):
                waiting.append(inner)
    return found


def objects_in(value: object) -> list[dict[Any, Any]]:
    """The objects of an array; none of anything else."""
    return [item for item in value if is_object(item)] if is_list(value) else []
