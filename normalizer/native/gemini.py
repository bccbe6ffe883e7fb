"""Gemini generateContent (and Vertex): whole bodies, a candidate, a content, or the objects of a stream.

Keys are in camelCase, or in snake_case if an SDK dumped them. A function call arrives complete; if it has no `args`, they are
`{}`. Or it arrives in parts: each part but the last has `willContinue`, and `partialArgs` have the arguments. A
`thoughtSignature` is kept with its part. Only candidate 0 is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from llmcore.normalizer.native.partial_arguments import PartialArguments, twin
from llmcore.normalizer.native.shape import as_dict, as_list, dicts, dumped, text_or_empty
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
from llmcore.support.values.narrowing import is_object

__all__ = ["GeminiReader", "is_gemini_body", "is_gemini_part"]

_NOT_PAYLOAD = frozenset({"thought", "thoughtSignature", "thought_signature"})


def is_gemini_body(body: dict[str, Any]) -> bool:
    """Whether it is a whole body or an object of a stream. The last one may hold only usage."""
    if isinstance(body.get("candidates"), (list, tuple)):
        return True
    return any(isinstance(twin(body, *keys), dict) for keys in (("promptFeedback", "prompt_feedback"), _USAGE))


def is_gemini_part(body: dict[str, Any]) -> bool:
    """Whether it is a candidate, a content, or a part with a call."""
    call = _function_call(body)
    if call is not None and (isinstance(call.get("args"), dict) or _goes_on(call) or _parts_of(call)):
        return True
    return any(isinstance(holder.get("parts"), (list, tuple)) for holder in (body, as_dict(body.get("content"))))


_USAGE = ("usageMetadata", "usage_metadata")
_SOURCES = (
    ("groundingMetadata", "grounding_metadata"),
    ("citationMetadata", "citation_metadata"),
    ("urlContextMetadata", "url_context_metadata"),
)
"""Keys under which a candidate reports its sources."""


def _function_call(part: dict[str, Any]) -> dict[str, Any] | None:
    """The call in the part, which may be empty. None if there is none."""
    found = twin(part, "functionCall", "function_call")
    return found if is_object(found) else dumped(found)


def _goes_on(call: dict[str, Any]) -> bool:
    return twin(call, "willContinue", "will_continue") is True


def _parts_of(call: dict[str, Any]) -> list[dict[str, Any]]:
    return [*dicts(twin(call, "partialArgs", "partial_args"))]


class GeminiReader:
    """Reads Gemini's bodies and streams."""

    def __init__(self) -> None:
        self._calls = 0
        self._open: _Open | None = None  # the call that more parts continue

    def read(self, body: dict[str, Any]) -> Iterator[Piece]:
        candidate = _first_candidate(body) if "candidates" in body else body
        content = as_dict(candidate.get("content")) or candidate
        parts = as_list(content.get("parts"))
        if not parts and _function_call(content) is not None:
            parts = [content]
        for part in dicts(parts):
            yield from self._part(part)
        for camel, snake in _SOURCES:
            if sources := as_dict(twin(candidate, camel, snake)):
                yield Opaque({camel: sources})
        yield from _finish(body, candidate)

    def finish(self) -> Iterator[Piece]:
        if self._open is not None:
            yield CallArguments(self._open.key, self._open.arguments.value)

    def _part(self, part: dict[Any, Any]) -> Iterator[Piece]:
        signature = twin(part, "thoughtSignature", "thought_signature")
        if part.get("thought") is True:
            yield Reasoning(text_or_empty(part.get("text")), text_or_empty(signature))
            return
        if (call := _function_call(part)) is not None:
            yield from self._call(call)
        elif text := text_or_empty(part.get("text")):
            yield Text(text)
        elif any(value for key, value in part.items() if key not in _NOT_PAYLOAD):
            yield Opaque(part)
            return
        if signature:
            yield Opaque({"thoughtSignature": signature})

    def _call(self, call: dict[str, Any]) -> Iterator[Piece]:
        id, name, given = text_or_empty(call.get("id")), text_or_empty(call.get("name")), call.get("args")
        parts, goes_on = _parts_of(call), _goes_on(call)
        begun = self._open
        if begun is not None and not begun.is_continued_by(id, name, begins=given is not None or (goes_on and not parts)):
            yield CallArguments(begun.key, begun.arguments.value)
            yield CallEnd(begun.key, cut=True)
            begun = None
        if begun is None:
            if not (id or name or given is not None or parts or goes_on):
                return
            self._calls += 1
            yield CallStart(self._calls, id, name, begins=True)
            if not (parts or goes_on):
                yield CallArguments(self._calls, {} if given is None else given)
                yield CallEnd(self._calls)
                return
            begun = self._open = _Open(self._calls, id, name, PartialArguments(as_dict(given)))
        for part in parts:
            begun.arguments.add(part)
        if not goes_on:
            self._open = None
            cut = begun.arguments.goes_on
            yield CallArguments(begun.key, begun.arguments.value)
            yield CallEnd(begun.key, cut=cut)


@dataclass(slots=True)
class _Open:
    """A call that more parts continue."""

    key: int
    id: str
    name: str
    arguments: PartialArguments

    def is_continued_by(self, id: str, name: str, *, begins: bool) -> bool:
        """Whether a function call continues this one. `begins`: it looks like a first part. A server may repeat the name."""
        if id and self.id:
            return id == self.id
        return not name or (name == self.name and not begins)


_SERVERS_WORDS = "Malformed function call:"
"""Gemini's servers put this before the model's text."""


def _first_candidate(body: dict[str, Any]) -> dict[str, Any]:
    for candidate in dicts(body["candidates"]):
        if candidate.get("index") in (0, None):
            return candidate
    return {}


def _finish(body: dict[str, Any], candidate: dict[str, Any]) -> Iterator[Piece]:
    feedback = as_dict(twin(body, "promptFeedback", "prompt_feedback"))
    if blocked := twin(feedback, "blockReason", "block_reason"):
        yield FinishWord(_word(blocked), "content_filter")
    word = _word(twin(candidate, "finishReason", "finish_reason"))
    message = text_or_empty(twin(candidate, "finishMessage", "finish_message"))
    if word == "MALFORMED_FUNCTION_CALL" and message:
        yield FailedGeneration(message.removeprefix(_SERVERS_WORDS).lstrip())
    if word:
        yield FinishWord(word)


def _word(value: object) -> str:
    """The finish reason: a word, an SDK's enum, or its number."""
    if isinstance(value, str):
        return str(getattr(value, "value", value))
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""
