"""Elements under a union of types: the schema's array or object alternative decides what they are.

`anyOf: [array, null]` with nothing in the element is an empty array; children under `anyOf: [string, array]` are its items, if
that is what they look like, for a string may hold markup of its own.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

__all__ = ["are_children", "container_of", "empty_container"]


def empty_container(types: tuple[str, ...]) -> Any:
    """What an element with nothing in it is under these types: `{}`, `[]`, or None when it is text (or nothing) to them."""
    return {} if "object" in types else [] if "array" in types else None


def container_of(types: tuple[str, ...], tags: Collection[str], known: Collection[str]) -> str:
    """Is an element with these children, in order, an array or an object? `known`: the properties of the object alternative."""
    if "array" not in types or "object" not in types:
        return "array" if "array" in types else "object"
    several = len(set(tags)) > 1 and not all(tag.isdigit() for tag in tags)
    return "object" if several or any(tag in known for tag in tags) else "array"


def are_children(types: tuple[str, ...], key: str, tags: Collection[str], known: Collection[str]) -> bool:
    """Are these the children of a container, where the schema allows a string as well? Those of an object have its names, those
    of an array one name, `item` or one made from the array's if there is but one."""
    if "string" not in types:
        return True
    if "object" in types and known and all(tag in known for tag in tags):
        return True
    names = set(tags)
    single = len(names) == 1 and (len(tags) > 1 or names <= {"item", key.removesuffix("s"), f"{key}_item"})
    return "array" in types and single
