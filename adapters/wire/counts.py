"""Removes invalid token counts before LiteLLM reads them.

LiteLLM accepts `true` as 1 and `"7"` as 7, and aborts a valid stream whose usage holds a list. A count that is not a
plausible whole number becomes 0, which means unknown. The input is not changed; the result is a copy if needed.
"""

from __future__ import annotations

from typing import Any

from llmcore.support.values.bounds import is_amount
from llmcore.support.values.narrowing import is_list, is_object

__all__ = ["MOST_TOKENS", "count_of", "with_sound_counts"]

MOST_TOKENS = 100_000_000
"""The most tokens of one request: ten times the largest context window."""
_USAGES = ("usage", "usageMetadata")
_PLACES = ("message", "response", "x_groq", "choices", "delta")
"""Fields of an event that may hold its usage."""
_COUNTS = ("tokens", "Tokens", "TokenCount", "tokenCount", "eval_count")
_DETAILS = ("details", "Details", "cache_creation")


def count_of(value: object) -> int:
    """Return a token count as an integer, 0 if it is invalid."""
    return int(value) if is_amount(value) and value <= MOST_TOKENS and value == int(value) else 0


def with_sound_counts(event: dict[str, Any]) -> dict[str, Any]:
    """Return a body or event whose counts are whole numbers. It is the same object if they already are."""
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
