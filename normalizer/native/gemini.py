"""Gemini generateContent (and Vertex): whole bodies, a candidate, a content, or the objects of a stream.

Keys come in camelCase, and in snake_case where an SDK has dumped them. Function calls come whole, also in streams;
`args` may be absent and is then `{}`. A `thoughtSignature` is kept with its part. Only candidate 0 is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llmcore.normalizer.native.shape import as_dict, as_list, as_text, dicts
from llmcore.normalizer.native.wire_pieces import (
    CallArguments,
    CallEnd,
    CallStart,
    FailedGeneration,
    FinishWord,
    Opaque,
    Piece,
    Reasoning,
    Text,
)

__all__ = ["GeminiReader", "is_body", "is_part"]

_NOT_PAYLOAD = frozenset({"thought", "thoughtSignature", "thought_signature"})


def is_body(body: dict[str, Any]) -> bool:
    """A whole body or an object of a stream; a last one may hold nothing but usage."""
    if isinstance(body.get("candidates"), (list, tuple)):
        return True
    return any(isinstance(_twin(body, *keys), dict) for keys in (("promptFeedback", "prompt_feedback"), _USAGE))


def is_part(body: dict[str, Any]) -> bool:
    """A candidate, a content, or a part with a call."""
    if any(key in body for key in ("functionCall", "function_call")) and isinstance(_function_call(body).get("args"), dict):
        return True
    return any(isinstance(holder.get("parts"), (list, tuple)) for holder in (body, as_dict(body.get("content"))))


_USAGE = ("usageMetadata", "usage_metadata")
_SOURCES = (
    ("groundingMetadata", "grounding_metadata"),
    ("citationMetadata", "citation_metadata"),
    ("urlContextMetadata", "url_context_metadata"),
)
"""What a candidate tells of where it has its words from."""


def _twin(holder: dict[str, Any], camel: str, snake: str) -> Any:
    value = holder.get(camel)
    return holder.get(snake) if value is None else value


def _function_call(part: dict[str, Any]) -> dict[str, Any]:
    return as_dict(_twin(part, "functionCall", "function_call"))


class GeminiReader:
    """Reads Gemini's bodies and streams."""

    def __init__(self) -> None:
        self._calls = 0

    def read(self, body: dict[str, Any]) -> Iterator[Piece]:
        candidate = _first_candidate(body) if "candidates" in body else body
        content = as_dict(candidate.get("content")) or candidate
        parts = as_list(content.get("parts"))
        if not parts and _function_call(content):
            parts = [content]
        for part in dicts(parts):
            yield from self._part(part)
        for camel, snake in _SOURCES:
            if sources := as_dict(_twin(candidate, camel, snake)):
                yield Opaque({camel: sources})
        yield from _finish(body, candidate)

    def finish(self) -> Iterator[Piece]:
        return iter(())

    def _part(self, part: dict[Any, Any]) -> Iterator[Piece]:
        signature = _twin(part, "thoughtSignature", "thought_signature")
        if part.get("thought") is True:
            yield Reasoning(as_text(part.get("text")), as_text(signature))
            return
        if call := _function_call(part):
            yield from self._call(call)
        elif text := as_text(part.get("text")):
            yield Text(text)
        elif any(value for key, value in part.items() if key not in _NOT_PAYLOAD):
            yield Opaque(part)
            return
        if signature:
            yield Opaque({"thoughtSignature": signature})

    def _call(self, call: dict[str, Any]) -> Iterator[Piece]:
        self._calls += 1
        key = self._calls
        yield CallStart(key, as_text(call.get("id")), as_text(call.get("name")))
        arguments = call.get("args")
        yield CallArguments(key, {} if arguments is None else arguments)
        yield CallEnd(key)


_SERVERS_WORDS = "Malformed function call:"
"""Which Gemini's servers put before what the model wrote."""


def _first_candidate(body: dict[str, Any]) -> dict[str, Any]:
    for candidate in dicts(body["candidates"]):
        if candidate.get("index") in (0, None):
            return candidate
    return {}


def _finish(body: dict[str, Any], candidate: dict[str, Any]) -> Iterator[Piece]:
    feedback = as_dict(_twin(body, "promptFeedback", "prompt_feedback"))
    if blocked := _twin(feedback, "blockReason", "block_reason"):
        yield FinishWord(_word(blocked), "content_filter")
    word = _word(_twin(candidate, "finishReason", "finish_reason"))
    message = as_text(_twin(candidate, "finishMessage", "finish_message"))
    if word == "MALFORMED_FUNCTION_CALL" and message:
        yield FailedGeneration(message.removeprefix(_SERVERS_WORDS).lstrip())
    if word:
        yield FinishWord(word)


def _word(value: object) -> str:
    """The finish reason: a word, an SDK's enum, or its number."""
    if isinstance(value, str):
        return str(getattr(value, "value", value))
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""
