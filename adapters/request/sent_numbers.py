"""Numbers of a call's arguments that reach the provider as they were written, through LiteLLM, which would round them.

On wires where arguments are objects LiteLLM parses the text that we give it, and writes what it read: with it
12345678901234567890.12 becomes 12345678901234567000. So there each such number goes to LiteLLM as a string with a mark that
nobody can know, and the transport writes the number in its place in the request's bytes. The events of a stream that LiteLLM
reads are marked likewise, and its chunks unmarked.

So it is with a call that is made twice in one turn, which LiteLLM sends to Gemini once: the name of the second goes to LiteLLM
with a mark.
"""

from __future__ import annotations

import json
import re
import secrets
from typing import Any

from llmcore.types.narrowing import is_list, is_object
from llmcore.types.numbers import exact_json

__all__ = ["OBJECT_WIRES", "marked_arguments", "marked_json", "marked_twins", "unmarked", "unmarked_body"]

OBJECT_WIRES = frozenset({"anthropic", "gemini", "ollama"})
"""Wires on which arguments are JSON objects, in requests that are not signed before they are sent."""

_ARGUMENTS = ("args", "arguments")
"""Where Gemini's and Ollama's events have the arguments of a call."""
_MARK = f"llmcore-number-{secrets.token_hex(12)}:"
_PATTERN = rf'\\*"{_MARK}([-+.0-9eE]+)\\*"'
_IN_TEXT, _IN_BYTES = re.compile(_PATTERN), re.compile(_PATTERN.encode())
_TWIN = f"llmcore-twin-{secrets.token_hex(12)}-"
_TWIN_IN_TEXT, _TWIN_IN_BYTES = re.compile(rf"{_TWIN}\d+:"), re.compile(rf"{_TWIN}\d+:".encode())


def marked_json(value: Any) -> str:
    """JSON data as text, each `ExactFloat` as a marked string."""
    return exact_json(value, quoted=_MARK)


def marked_arguments(value: Any) -> Any:
    """An event for LiteLLM to read, each `ExactFloat` in a call's arguments as a marked string. Elsewhere a number stays one."""
    if is_list(value):
        return [marked_arguments(item) for item in value]
    if not is_object(value):
        return value
    return {
        key: json.loads(marked_json(item)) if key in _ARGUMENTS and is_object(item) else marked_arguments(item)
        for key, item in value.items()
    }


def marked_twins(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The calls of one message as they go to LiteLLM, each that equals an earlier one with a mark before its name."""
    seen: set[tuple[str, str]] = set()
    marked: list[dict[str, Any]] = []
    for at, call in enumerate(calls):
        function = call["function"]
        made = (function["name"], function["arguments"])
        marked.append({**call, "function": {**function, "name": f"{_TWIN}{at}:{made[0]}"}} if made in seen else call)
        seen.add(made)
    return marked


def unmarked_body(body: bytes) -> bytes:
    """A request's body with the numbers in the places of the marked strings, and names without marks."""
    if _MARK.encode() in body:
        body = _IN_BYTES.sub(rb"\1", body)
    return _TWIN_IN_BYTES.sub(b"", body) if _TWIN.encode() in body else body


def unmarked(value: Any) -> Any:
    """JSON data, for showing what is sent: numbers in the places of the marked strings, and names without marks."""
    if isinstance(value, str):
        text = _IN_TEXT.sub(r"\1", value) if _MARK in value else value
        return _TWIN_IN_TEXT.sub("", text) if _TWIN in text else text
    if is_object(value):
        return {key: unmarked(item) for key, item in value.items()}
    return [unmarked(item) for item in value] if is_list(value) else value
