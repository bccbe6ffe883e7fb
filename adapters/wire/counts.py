"""Counts of tokens that are none, taken out of what LiteLLM reads.

LiteLLM takes `true` for 1 and `"7"` for 7, and breaks off a sound stream whose usage holds a list. A count that is no whole
number a request may have becomes 0, which is read as not told. What it is given is not changed: a copy is made where needed.
"""

from __future__ import annotations

from typing import Any

from llmcore.support.values.bounds import is_amount
from llmcore.support.values.narrowing import is_list, is_object

__all__ = ["MOST_TOKENS", "count_of", "with_sound_counts"]

MOST_TOKENS = 100_000_000
"""Of one request: ten times the largest context window there is."""
_USAGES = ("usage", "usageMetadata")
_PLACES = ("message", "response", "x_groq", "choices", "delta")
"""Where beside the event itself its usage stands."""
_COUNTS = ("tokens", "Tokens", "TokenCount", "tokenCount", "eval_count")
_DETAILS = ("details", "Details", "cache_creation")


def count_of(value: object) -> int:
    """A count of tokens; 0 for what is none."""
    return int(value) if is_amount(value) and value <= MOST_TOKENS and value == int(value) else 0


def with_sound_counts(event: dict[str, Any]) -> dict[str, Any]:
    """A body or an event whose counts are whole numbers; the same object when they are already."""
    changed: dict[str, Any] = {}
    for key, value in event.items():
        if key in _USAGES:
            new: Any = _sound(value) if is_object(value) else None
        elif key.endswith("eval_count"):
            new = count_of(value)
        elif key in _PLACES:
            new = _in_place(value)
        else:
            continue
        if new is not value and not (type(new) is type(value) and new == value):
            changed[key] = new
    return {**event, **changed} if changed else event


def _in_place(value: Any) -> Any:
    if is_object(value):
        return with_sound_counts(value)
    return [with_sound_counts(item) if is_object(item) else item for item in value] if is_list(value) else value


def _sound(usage: dict[str, Any]) -> dict[str, Any]:
    sound = {key: _sound_value(key, value) for key, value in usage.items()}
    same = all(sound[key] is value or (type(sound[key]) is type(value) and sound[key] == value) for key, value in usage.items())
    return usage if same else sound


def _sound_value(key: str, value: Any) -> Any:
    if key.endswith(_COUNTS):
        return count_of(value)
    if key.endswith(_DETAILS):
        if is_list(value):
            return [_sound(item) for item in value if is_object(item)]
        return _sound(value) if is_object(value) else None
    return _sound(value) if is_object(value) else value
