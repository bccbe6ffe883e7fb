"""OpenAI chat completions and compatible APIs: Mistral, Groq, OpenRouter, vLLM, SGLang, LiteLLM's `ModelResponse`.

It reads whole bodies, stream chunks, a choice or a message. Only choice 0 is read; the raw reply has the others. Hosts put
reasoning into different fields, and several may hold the same text: the first one with text is read for the whole reply.
Cohere and Ollama use the message reader, too, because their messages have the same fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from llmcore.normalizer.native.identity import CallIdentity
from llmcore.normalizer.native.shape import as_dict, as_list, dicts, is_data, parsed_json, says_something, text_or_empty
from llmcore.normalizer.native.wire_pieces import (
    CallArguments,
    CallEnd,
    CallStart,
    Data,
    FinishWord,
    Opaque,
    Piece,
    Reasoning,
    Redacted,
    RefusalPiece,
    Text,
)
from llmcore.normalizer.scanning.words import ARGUMENT_KEYS
from llmcore.support.values.narrowing import is_list, is_object, kind_of

__all__ = ["SOURCE_FIELDS", "MessageReader", "OpenAIChatReader", "is_openai_chat_body", "is_openai_chat_part"]

_REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking", "tool_plan")
_ALL_REASONING = frozenset({*_REASONING_FIELDS, "reasoning_details", "thinking_blocks"})
_OPAQUE_FIELDS = frozenset({"annotations", "audio", "citations", "images", "provider_specific_fields"})
_GEMINIS = {
    "vertex_ai_grounding_metadata": "groundingMetadata",
    "vertex_ai_url_context_metadata": "urlContextMetadata",
    "vertex_ai_citation_metadata": "citationMetadata",
}
"""LiteLLM's names for the sources of Gemini's streams (a list with one entry), and Gemini's names."""
SOURCE_FIELDS: Final = frozenset({"citations", "search_results", *_GEMINIS})
"""Keys beside the choices under which hosts report their searches: Perplexity, xAI, LiteLLM for Gemini."""
_CALL_ANNOTATIONS = ("extra_content", "provider_specific_fields")
_TEXT_PARTS = frozenset({"text", "output_text", "input_text"})
_LEGACY = "function_call"
_REASONING = "reasoning"
_ANSWERS = (Text, Data, RefusalPiece, CallStart)


def is_openai_chat_body(body: dict[str, Any]) -> bool:
    """Whether it is a whole body or a stream chunk."""
    return isinstance(body.get("choices"), (list, tuple))


def is_openai_chat_part(body: dict[str, Any]) -> bool:
    """Whether it is a choice, or a message with `role`, `content` or calls.

    This library's own envelope as JSON is text, and no message.
    """
    if any(isinstance(body.get(key), dict) for key in ("message", "delta")):
        return True
    if "needsMoreWork" in body or "needs_more_work" in body or "toolCalls" in body:
        return False
    if body.get("role") in ("assistant", "model"):
        return True
    content = body.get("content", 0)
    return content is None or isinstance(content, (str, list)) or bool(body.get("tool_calls") or body.get(_LEGACY))


class OpenAIChatReader:
    """Reads bodies and streams of chat completions."""

    def __init__(self) -> None:
        self._message = MessageReader()
        self._streamed = False
        self._sources: dict[str, Any] = {}

    def read(self, body: dict[str, Any]) -> Iterator[Piece]:
        if not SOURCE_FIELDS.isdisjoint(body):  # each chunk of a stream may have them
            self._sources |= {field: body[field] for field in sorted(SOURCE_FIELDS) if says_something(body.get(field))}
        choice = _first_choice(as_list(body["choices"])) if "choices" in body else body
        delta, message = as_dict(choice.get("delta")), as_dict(choice.get("message"))
        if delta or ("delta" in choice and not message):
            self._streamed = True
            yield from self._message.read(delta, whole=False)
        elif message and not self._streamed:  # after deltas, some servers repeat the whole message
            yield from self._message.read(message)
        elif choice is body and "choices" not in body:
            yield from self._message.read(body)
        if text := text_or_empty(choice.get("text")):  # the older completions endpoint
            yield Text(text)
        if word := text_or_empty(choice.get("finish_reason")):
            yield FinishWord(word)

    def finish(self) -> Iterator[Piece]:
        yield from self._message.finish()
        for field, sources in self._sources.items():
            if field in _GEMINIS:
                yield from (Opaque({_GEMINIS[field]: each}) for each in dicts(sources))
            else:
                yield Opaque({field: sources})


def _first_choice(choices: list[Any]) -> dict[str, Any]:
    found = [as_dict(choice) for choice in choices]
    for choice in found:
        if choice.get("index") in (0, None):
            return choice
    return found[0] if found and "delta" not in found[0] else {}


def _entries(calls: object) -> list[Any]:
    """The calls in the place of the list of calls, which may be JSON text or one call. Anything else is data, to lose nothing."""
    found = parsed_json(calls) if isinstance(calls, str) else calls
    if isinstance(calls, str) and not (is_list(found) or is_object(found)):
        found = calls
    return [entry for entry in as_list(found) if entry] if kind_of(found) in (list, tuple) else [found]


class MessageReader:
    """Reads the messages of one reply, whole or in deltas. `closes_thinking`: the wire closes each part with thinking."""

    def __init__(self, *, closes_thinking: bool = False) -> None:
        self._closes_thinking = closes_thinking
        self._identity = CallIdentity()
        self._legacy_identity = CallIdentity()
        self._reasoning_field = ""
        self._details: list[_Detail] = []
        self._empty: object = None  # an empty list or object instead of content
        self._answered = False

    def read(self, message: dict[str, Any], *, whole: bool = True) -> Iterator[Piece]:
        for piece in self._pieces(message, whole):
            self._answered = self._answered or isinstance(piece, _ANSWERS)
            yield piece

    def _pieces(self, message: dict[Any, Any], whole: bool) -> Iterator[Piece]:
        if not _ALL_REASONING.isdisjoint(message):
            yield from self._reasoning(message, whole)
        content = message.get("content")
        if content in ([], {}):
            self._empty = content
        elif isinstance(content, str):
            if content:
                yield Text(content)
        elif is_data(content):
            yield Data(content)
        elif isinstance(content, bytes):
            yield Text(content.decode(errors="replace"))
        elif content:
            yield from self._parts(content)
        if refusal := text_or_empty(message.get("refusal")):
            yield RefusalPiece(refusal)
        if calls := message.get("tool_calls"):
            for entry in _entries(calls):
                yield from self._call(found, whole) if (found := as_dict(entry)) else (Data(entry),)
        if legacy := as_dict(message.get(_LEGACY)):
            yield from self._legacy(legacy, whole)
        if not _OPAQUE_FIELDS.isdisjoint(message):
            for field, value in message.items():
                if field in _OPAQUE_FIELDS and says_something(value):
                    yield Opaque({field: value})

    def finish(self) -> Iterator[Piece]:
        """OpenRouter needs its reasoning details back unchanged. An empty list or object is the answer only if there is no
        other."""
        if self._empty is not None and not self._answered:
            yield Data(self._empty)
        if self._details:
            yield Opaque({"reasoning_details": [detail.whole() for detail in self._details]}, key=_REASONING)

    # Reasoning

    def _reasoning(self, message: dict[str, Any], whole: bool) -> Iterator[Piece]:
        details = [*dicts(message.get("reasoning_details"))]
        blocks = [*dicts(message.get("thinking_blocks"))]
        key = _REASONING if details else None
        fields = [field for field in _REASONING_FIELDS if text_or_empty(message.get(field))]
        in_blocks = any(text_or_empty(block.get("thinking")) for block in blocks)
        # LiteLLM's whole blocks hold the text of `reasoning_content`. In a stream, the signed one repeats all of it.
        if not (in_blocks and (whole or not fields) and self._takes("thinking_blocks")):
            in_blocks = False
            for field in fields:
                if self._takes(field):
                    yield Reasoning(message[field], key=key)
                    break
        yield from _thinking_blocks(blocks, in_blocks)
        yield from self._reasoning_details(details)

    def _takes(self, field: str) -> bool:
        """Whether this is the field whose text is read."""
        self._reasoning_field = self._reasoning_field or field
        return self._reasoning_field == field

    def _reasoning_details(self, details: list[dict[str, Any]]) -> Iterator[Piece]:
        for detail in details:
            self._keep(detail)
            text = text_or_empty(detail.get("text")) or text_or_empty(detail.get("summary"))
            text = text if text and self._takes("reasoning_details") else ""
            is_signed = bool(text_or_empty(detail.get("signature")) or text_or_empty(detail.get("data")))
            if text or is_signed:
                yield Reasoning(text, key=_REASONING, closed=is_signed)

    def _keep(self, detail: dict[str, Any]) -> None:
        """Collect the details. A streamed detail arrives in pieces with the same index."""
        last = self._details[-1] if self._details else None
        if last is None or any(last.fields.get(key) != detail.get(key) for key in ("type", "index")):
            self._details.append(last := _Detail())
        last.add(detail)

    # Content

    def _parts(self, content: object) -> Iterator[Piece]:
        for part in as_list(content):
            if isinstance(part, str):
                yield Text(part)
            elif found := as_dict(part):
                yield from self._part(found)

    def _part(self, part: dict[str, Any]) -> Iterator[Piece]:
        kind = text_or_empty(part.get("type"))
        if kind in _TEXT_PARTS:
            yield Text(text_or_empty(part.get("text")))
        elif kind == "thinking":
            text, closed = _joined(part.get("thinking")), part.get("closed") is True
            text = text if text and self._takes("content") else ""
            if text or closed:
                yield Reasoning(text, text_or_empty(part.get("signature")), closed=closed or self._closes_thinking)
        elif kind == "refusal":
            yield RefusalPiece(text_or_empty(part.get("refusal")))
        else:
            yield Opaque(part)

    # Calls

    def _call(self, entry: dict[str, Any], whole: bool) -> Iterator[Piece]:
        name, arguments, free_text = _call_fields(entry)
        if entry.get("type") not in (None, "", "function", "custom") and not name and arguments is None:
            yield Opaque(entry)
            return
        id = text_or_empty(entry.get("id"))
        identity = self._identity
        key = identity.fresh() if whole else identity.key(entry.get("index"), id, name, arguments)
        if not whole and identity.cut is not None:
            yield CallEnd(identity.cut, cut=True)
        yield CallStart(key, id, name, free_text)
        if arguments is not None:
            yield CallArguments(key, arguments)
        if whole:
            yield CallEnd(key)
        for field in _CALL_ANNOTATIONS:
            if says_something(entry.get(field)):
                yield Opaque({field: entry[field]})

    def _legacy(self, call: dict[str, Any], whole: bool) -> Iterator[Piece]:
        """The single call of older models. An empty one is ignored when calls are finished."""
        name, arguments, identity = text_or_empty(call.get("name")), call.get("arguments"), self._legacy_identity
        key = (_LEGACY, identity.key(_LEGACY, "", name, arguments))
        if identity.cut is not None:
            yield CallEnd((_LEGACY, identity.cut), cut=True)
        yield CallStart(key, "", name)
        if arguments is not None:
            yield CallArguments(key, arguments)
        if whole:
            yield CallEnd(key)


class _Detail:
    """One entry of `reasoning_details`, assembled from its streamed pieces."""

    __slots__ = ("fields", "texts")

    def __init__(self) -> None:
        self.fields: dict[Any, Any] = {}
        self.texts: dict[str, list[str]] = {}

    def add(self, piece: dict[Any, Any]) -> None:
        for key, value in piece.items():
            if key in ("text", "summary", "data") and isinstance(value, str):
                self.texts.setdefault(key, []).append(value)
            if value is not None or key not in self.fields:
                self.fields[key] = value

    def whole(self) -> dict[str, Any]:
        return {**self.fields, **{key: "".join(texts) for key, texts in self.texts.items()}}


def _thinking_blocks(blocks: list[dict[str, Any]], read: bool) -> Iterator[Piece]:
    """The pieces of LiteLLM's blocks. If their text is not to be read, only their signatures."""
    for block in blocks:
        text, signature = text_or_empty(block.get("thinking")) if read else "", text_or_empty(block.get("signature"))
        if data := text_or_empty(block.get("data")):
            yield Redacted(data)
        elif text or signature:
            yield Reasoning(text, signature)


def _joined(value: object) -> str:
    """The value of a thinking part: a string or a list of text parts."""
    if isinstance(value, str):
        return value
    return "".join(text_or_empty(part.get("text")) for part in dicts(value))


def _call_fields(entry: dict[str, Any]) -> tuple[str, object, bool]:
    """(name, arguments or None, whether these are free text). A custom stub may stand beside a function."""
    function, custom = as_dict(entry.get("function")), as_dict(entry.get("custom"))
    if custom and (entry.get("type") == "custom" or not function):
        return text_or_empty(custom.get("name")), custom.get("input"), True
    if not function:
        name = text_or_empty(entry.get("name")) or text_or_empty(entry.get("function"))
        return name, _given(entry), False
    given = _given(function)
    return text_or_empty(function.get("name")), _given(entry) if given is None else given, False


def _given(holder: dict[str, Any]) -> object:
    """The arguments, under any key that servers and proxies use; None if absent."""
    return next((holder[key] for key in ARGUMENT_KEYS if holder.get(key) is not None), None)
