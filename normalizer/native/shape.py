"""Narrow looks at JSON whose shape nobody promised.

A provider's body may hold anything anywhere, and SDKs hand over objects instead of dicts. Each function here returns
the shape asked for, empty when something else stands there; none raises."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, cast

from pydantic import BaseModel

from llmcore.support.values.narrowing import text_of

__all__ = ["as_dict", "as_json_text", "as_list", "dicts", "dumped", "is_data", "parsed_json", "says_something", "text_or_empty"]


_WORDS_OF = {"text": "text", "output_text": "text", "input_text": "text", "thinking": "thinking", "refusal": "refusal"}
"""The kinds of parts that hold words, and where."""
_KNOWN_PARTS = frozenset(
    {
        *_WORDS_OF,
        "audio",
        "document",
        "document_url",
        "file",
        "image",
        "image_url",
        "input_audio",
        "input_file",
        "input_image",
        "output_audio",
        "output_image",
        "reasoning",
        "redacted_thinking",
        "reference",
        "video",
        "video_url",
    }
)
"""Kinds of parts in messages of OpenAI's shape, whoever sends them."""


def as_dict(value: object) -> dict[str, Any]:
    """The dict, or what an SDK's object dumps to, or {}."""
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    return dumped(value) or {}


def as_list(value: object) -> list[Any]:
    """The list (or tuple), or []."""
    return [*cast("Sequence[Any]", value)] if isinstance(value, (list, tuple)) else []


def text_or_empty(value: object) -> str:
    """The string, or ""."""
    return text_of(value) if isinstance(value, str) else ""


def dicts(value: object) -> Iterator[dict[str, Any]]:
    """The dicts in a list."""
    for item in as_list(value):
        if found := as_dict(item):
            yield found


def is_data(content: object, *, any_kind: bool = False) -> bool:
    """Is it JSON data where text or a list of content parts belongs?

    A list is one of parts when each item is a sound part and one at least is of a kind that is known, so that objects
    which only have a key `type` are data. `any_kind`: of a wire that makes up kinds all the time, where any will do. An
    empty list is none of both: its reader knows what it means.
    """
    if content is None or isinstance(content, (str, bytes)):
        return False
    items = as_list(content)
    if not items:
        return isinstance(content, (int, float, dict)) or dumped(content) is not None
    parts = [as_dict(item) for item in items if item is not None and not isinstance(item, str)]
    known = any(any_kind or text_or_empty(part.get("type")) in _KNOWN_PARTS for part in parts)
    return not (known and all(map(_is_sound_part, parts)))


def _is_sound_part(part: dict[str, Any]) -> bool:
    """Has it a kind, and the words of its kind where they belong, so that nothing of it is lost when it is read?"""
    kind = text_or_empty(part.get("type"))
    field = _WORDS_OF.get(kind)
    words = part.get(field) if field is not None else ""
    if words is None:
        return part.keys() <= {"type", field}
    return bool(kind) and (isinstance(words, str) or (kind == "thinking" and isinstance(words, list)))


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


def as_json_text(value: object) -> str:
    """The value as JSON text; what JSON cannot say as its `str()`. "" when there is no text for it at all."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str, skipkeys=True)  # refuses what holds itself
    except (ValueError, TypeError, RecursionError):
        pass
    try:
        return str(value)
    except (ValueError, RecursionError):
        return ""


def parsed_json(text: str) -> object:
    """The JSON value of the text; the text itself when it is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def says_something(value: object) -> bool:
    """Is there anything in it but null, "", 0, false and empty containers? Looks one level deep."""
    if isinstance(value, dict):
        return any(cast("dict[str, Any]", value).values())
    return bool(value)
