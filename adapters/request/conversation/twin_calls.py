"""A call that is made twice in one turn, which LiteLLM would send to Gemini once: the name of the second goes to LiteLLM with a
mark that nobody can know, and the transport takes the mark out of the request's bytes."""

from __future__ import annotations

import re
import secrets
from typing import Any

from llmcore.support.values.narrowing import is_list, is_object

__all__ = ["marked_twins", "unmarked", "unmarked_body"]

_TWIN = f"llmcore-twin-{secrets.token_hex(12)}-"
_TWIN_IN_TEXT, _TWIN_IN_BYTES = re.compile(rf"{_TWIN}\d+:"), re.compile(rf"{_TWIN}\d+:".encode())


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
    """A request's body with names without marks."""
    return _TWIN_IN_BYTES.sub(b"", body) if _TWIN.encode() in body else body


def unmarked(value: Any) -> Any:
    """JSON data, for showing what is sent: names without marks."""
    if isinstance(value, str):
        return _TWIN_IN_TEXT.sub("", value) if _TWIN in value else value
    if is_object(value):
        return {key: unmarked(item) for key, item in value.items()}
    return [unmarked(item) for item in value] if is_list(value) else value
