"""Elements under a union of types: the schema's array or object alternative decides what they are.

Under `anyOf: [array, null]`, an empty element is an empty array. Under `anyOf: [string, array]`, children are items only if
they look like items, because a string may hold markup.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

__all__ = ["are_children", "container_of", "empty_container"]


def empty_container(types: tuple[str, ...]) -> Any:
    """The value of an empty element: `{}` or `[]`, None if the types allow neither."""
    return {} if "object" in types else [] if "array" in types else None


def container_of(types: tuple[str, ...], tags: Collection[str], known: Collection[str]) -> str:
    """ "array" or "object": what an element with these children is. `known`: the properties of the object alternative."""
    if "array" not in types or "object" not in types:
        return "array" if "array" in types else "object"
    several = len(set(tags)) > 1 and not all(tag.isdigit() for tag in tags)
    return "object" if several or any(tag in known for tag in tags) else "array"


def are_children(types: tuple[str, ...], key: str, tags: Collection[str], known: Collection[str]) -> bool:
    """Whether these are children of a container, if the schema may allow a string as well.

    An object's children have its property names. An array's children share one name. A lone child must be called `item`, or by
    a name made from the array's.
    """
    if "string" not in types:
        return True
    if "object" in types and known and all(tag in known for tag in tags):
        return True
    names = set(tags)
    single = len(names) == 1 and (len(tags) > 1 or names <= {"item", key.removesuffix("s"), f"{key}_item"})
    return "array" in types and single
