"""Marks a call that occurs twice in one turn, since LiteLLM would send it to Gemini only once.

The name of the second call gets an unpredictable mark for LiteLLM. The transport removes the mark from the request's bytes.
"""

from __future__ import annotations

import re
import secrets
from typing import Any

from llmcore.support.values.narrowing import is_list, is_object

__all__ = ["marked_twins", "unmarked", "unmarked_body"]

_TWIN = f"llmcore-twin-{secrets.token_hex(12)}-"
_TWIN_IN_TEXT, _TWIN_IN_BYTES = re.compile(rf"{_TWIN}\d+:"), re.compile(rf"{_TWIN}\d+:".encode())


def marked_twins(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the calls of one message for LiteLLM. Each call that equals an earlier one has a mark before its name."""
    seen: set[tuple[str, str]] = set()
    marked: list[dict[str, Any]] = []
    for at, call in enumerate(calls):
        function = call["function"]
        key = (function["name"], function["arguments"])
        marked.append({**call, "function": {**function, "name": f"{_TWIN}{at}:{key[0]}"}} if key in seen else call)
        seen.add(key)
    return marked


def unmarked_body(body: bytes) -> bytes:
    """Return a request's body without marks."""
    return _TWIN_IN_BYTES.sub(b"", body) if _TWIN.encode() in body else body


def unmarked(value: Any) -> Any:
    """Return JSON data without marks, for recordings."""
    if isinstance(value, str):
        return _TWIN_IN_TEXT.sub("", value) if _TWIN in value else value
    if is_object(value):
        return {key: unmarked(item) for key, item in value.items()}
    return [unmarked(item) for item in value] if is_list(value) else value
