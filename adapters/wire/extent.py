"""How many values a body, or an event of a stream, holds: eight megabytes may be millions, and each costs us and LiteLLM time in
which the event loop stands still. What holds more than a reply can is refused before anything walks over it.

Linear in the bytes at the speed of `bytes.count`, then in the values, up to the limit."""

from __future__ import annotations

from typing import Any

from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import Limits

__all__ = ["too_many_values", "too_many_values_in"]

_PER_VALUE = 16
"""So many commas a value: they stand in texts and in log probabilities, which are not counted, as well."""
_NOT_COUNTED = "logprobs"
"""How the keys begin under which log probabilities stand: a hundred values a token, where they were asked for."""


def too_many_values_in(data: bytes, limits: Limits) -> str:
    """Why the JSON text is not to be read, in words: it holds several times more values than may be; else ""."""
    return _words(limits) if data.count(b",") > _PER_VALUE * limits.values else ""


def too_many_values(value: Any, limits: Limits) -> str:
    """Why the JSON value is not to be looked at: it holds more values than may be; else ""."""
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
