"""Reading the fields of a dict that a caller gives: unknown names with a value are errors, because the value would be lost."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from llmcore.support.code.suggestions import nearest
from llmcore.types.errors import CallerError

__all__ = ["MAX_SHOWN", "PART_FIELDS", "Dict", "check_names", "has_value", "near_name", "shown_repr"]

MAX_SHOWN = 60
"""How many characters of a value an error shows."""
PART_FIELDS = frozenset({"type", "cache_control"})
"""The fields that every part of a message may have."""
Dict = Mapping[str, Any]


def has_value(value: object) -> bool:
    """Whether the value is neither null nor empty."""
    return value is not None and value not in ("", [], {}, ())


def near_name(name: str, known: Collection[str]) -> str:
    """The field that was probably meant, or the known fields."""
    names = sorted(known)
    near = nearest(name, names)
    return f"did you mean {near!r}?" if near else f"there are {', '.join(names)}"


def check_names(
    fields: Dict, known: Collection[str], thing: str, near: Callable[[str, Collection[str]], str] = near_name
) -> None:
    """Raises `CallerError` for an unknown field with a value."""
    for key, value in fields.items():
        if key not in known and has_value(value):
            raise CallerError(f"{thing} has no field {shown_repr(key)}; {near(str(key), known)}")


def shown_repr(value: object) -> str:
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."
