"""Narrow looks at JSON whose shape nobody promised.

A provider's body may hold anything anywhere, and SDKs hand over objects instead of dicts. Each function here returns
the shape asked for, empty when something else stands there; none raises."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, cast

from pydantic import BaseModel

from llmcore.types.numbers import exact_json, exact_loads, holds_exact_floats

__all__ = ["as_dict", "as_list", "as_text", "dicts", "dumped", "is_data", "json_text", "parsed", "says_something"]


_PART_KEYS = frozenset({"type", "text", "thinking", "refusal"})


def as_dict(value: object) -> dict[str, Any]:
    """The dict, or what an SDK's object dumps to, or {}."""
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    return dumped(value) or {}


def as_list(value: object) -> list[Any]:
    """The list (or tuple), or []."""
    return [*cast("Sequence[Any]", value)] if isinstance(value, (list, tuple)) else []


def as_text(value: object) -> str:
    """The string, or ""."""
    return value if isinstance(value, str) else ""


def dicts(value: object) -> Iterator[dict[str, Any]]:
    """The dicts in a list."""
    for item in as_list(value):
        if found := as_dict(item):
            yield found


def is_data(content: object) -> bool:
    """Is it JSON data where text or parts of content belong: a number, a truth value, an object or a list that holds no parts?"""
    if isinstance(content, dict):
        found = cast("dict[str, Any]", content)
        return bool(found) and _PART_KEYS.isdisjoint(found)
    return isinstance(content, (int, float)) or any(isinstance(item, (int, float)) for item in as_list(content))


def dumped(value: object) -> dict[str, Any] | None:
    """What an object with `model_dump()` dumps to; None when it has none or does not dump to a dict."""
    dump = getattr(value, "model_dump", None)
    if dump is None or isinstance(value, type):
        return None
    try:
        # SDK models hold what their annotations do not say; pydantic's warnings about it concern nobody here.
        found = dump(warnings=False) if isinstance(value, BaseModel) else dump()
    except Exception:  # whatever foreign code raises: it is then no provider's reply
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def json_text(value: object) -> str:
    """The value as JSON text; what JSON cannot say as its `str()`. "" when there is no text for it at all."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str, skipkeys=True)  # refuses what holds itself
        return exact_json(value) if holds_exact_floats(value) else text
    except (ValueError, TypeError, RecursionError):
        pass
    try:
        return str(value)
    except (ValueError, RecursionError):
        return ""


def parsed(text: str) -> object:
    """The JSON value of the text; the text itself when it is no JSON."""
    try:
        return exact_loads(text, json.loads)
    except (ValueError, RecursionError):
        return text


def says_something(value: object) -> bool:
    """Is there anything in it but null, "", 0, false and empty containers? Looks one level deep."""
    if isinstance(value, dict):
        return any(cast("dict[str, Any]", value).values())
    return bool(value)
