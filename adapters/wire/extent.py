"""Bounds the number of JSON values in a body or event. Eight megabytes may hold millions, and reading them blocks the event
loop.

What holds more values than a reply can is refused before anything iterates over it. Linear: first `bytes.count`, then the
values, up to the limit.
"""

from __future__ import annotations

from typing import Any

from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import Limits

__all__ = ["too_many_values", "too_many_values_in"]

_PER_VALUE = 16
"""How many commas are allowed per value. Commas also stand in texts and in log probabilities, which do not count as values."""
_NOT_COUNTED = "logprobs"
"""The prefix of keys with log probabilities: about a hundred values a token, if they were requested."""


def too_many_values_in(data: bytes, limits: Limits) -> str:
    """Why the JSON text must not be parsed: it holds several times the allowed values. Empty if it may be."""
    return _words(limits) if data.count(b",") > _PER_VALUE * limits.values else ""


def too_many_values(value: Any, limits: Limits) -> str:
    """Why the JSON value must not be read: it holds more values than allowed. Empty if it may be."""
    waiting, count = [value], 0
    while waiting and count <= limits.values:
        one = waiting.pop()
        if is_object(one):
            count += len(one)
            waiting += [each for key, each in one.items() if not key.startswith(_NOT_COUNTED)]
        elif is_list(one):
            count += len(one)
            waiting += one
    return _words(limits) if count > limits.values else ""


def _words(limits: Limits) -> str:
    return f"the reply holds more than {limits.values:,} values"
