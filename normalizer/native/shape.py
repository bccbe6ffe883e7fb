"""Read JSON whose shape is not guaranteed.

A provider's body may hold anything anywhere, and SDKs pass objects instead of dicts. Each function here returns the shape that
its name says, empty if the value has another shape. None of them raises.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, cast

from pydantic import BaseModel

from llmcore.support.values.narrowing import text_of

__all__ = ["as_dict", "as_list", "dicts", "dumped", "is_data", "json_text", "parsed_json", "says_something", "text_or_empty"]


_WORDS_OF = {"text": "text", "output_text": "text", "input_text": "text", "thinking": "thinking", "refusal": "refusal"}
"""The kinds of parts that hold text, and the key of the text."""
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
"""Kinds of parts in messages of OpenAI's shape, from any sender."""


def as_dict(value: object) -> dict[str, Any]:
    """The dict, or the dump of an SDK's object, or {}."""
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    return dumped(value) or {}


def as_list(value: object) -> list[Any]:
    """The list (or tuple) as a list, or []."""
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
    """Whether it is JSON data in the place of text or of a list of content parts.

    A list has content parts if each item is a sound part and at least one has a known kind; so objects with a key `type` alone
    are data. `any_kind`: any kind is known, for a wire with many new kinds. An empty list is neither; its reader decides.
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
    """Whether it has a kind, and the text of its kind at its key, so that reading it loses nothing."""
    kind = text_or_empty(part.get("type"))
    field = _WORDS_OF.get(kind)
    words = part.get(field) if field is not None else ""
    if words is None:
        return part.keys() <= {"type", field}
    return bool(kind) and (isinstance(words, str) or (kind == "thinking" and isinstance(words, list)))


def dumped(value: object) -> dict[str, Any] | None:
    """The dump of an object with `model_dump()`. None if it has no such method, or does not dump to a dict."""
    dump = getattr(value, "model_dump", None)
    if dump is None or isinstance(value, type):
        return None
    try:
        # SDK models hold values that their annotations exclude; pydantic's warnings about it are noise here.
        found = dump(warnings=False) if isinstance(value, BaseModel) else dump()
    except Exception:  # foreign code may raise anything; it is then no provider's reply
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def json_text(value: object) -> str:
    """The value as JSON text, with `str()` for what JSON cannot express. "" if there is no text for it at all."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str, skipkeys=True)  # raises for a value that holds itself
    except (ValueError, TypeError, RecursionError):
        pass
    try:
        return str(value)
    except (ValueError, RecursionError):
        return ""


def parsed_json(text: str) -> object:
    """The JSON value of the text. The text itself if it is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def says_something(value: object) -> bool:
    """Whether it has anything but null, "", 0, false and empty containers, one level deep."""
    if isinstance(value, dict):
        return any(cast("dict[str, Any]", value).values())
    return bool(value)
