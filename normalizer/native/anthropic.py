"""Anthropic messages: whole bodies, a list of content blocks, or stream events.

Calls that the provider runs (`server_tool_use`, `mcp_tool_use` and the `*_tool_result`s) are opaque blocks, and no calls. The
`input: {}` of a `content_block_start` is a placeholder: `input_json_delta`s have the input.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llmcore.normalizer.native.shape import as_dict, as_list, dicts, is_data, parsed_json, text_or_empty
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
    Text,
)

__all__ = ["AnthropicReader", "is_anthropic_body", "is_anthropic_event", "is_anthropic_part"]

_EVENTS = frozenset(
    {
        "content_block_delta",
        "content_block_start",
        "content_block_stop",
        "message_delta",
        "message_start",
        "message_stop",
        "ping",
    }
)
_OWN_BLOCKS = frozenset({"tool_use", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use", "text"})


def is_anthropic_body(body: dict[str, Any]) -> bool:
    """Whether it is a whole message."""
    if not isinstance(body.get("content"), (list, tuple)):
        return False
    return "stop_reason" in body or (body.get("type") == "message" and not _is_responses_item(body))


def is_anthropic_event(body: dict[str, Any]) -> bool:
    """Whether it is a stream event."""
    kind = body.get("type")
    return isinstance(kind, str) and kind in _EVENTS


def is_anthropic_part(body: dict[str, Any]) -> bool:
    """Whether it is a message or only blocks, with a block type that only this wire has."""
    kinds = [text_or_empty(block.get("type")) for block in dicts(body.get("content"))]
    return any((kind in _OWN_BLOCKS and kind != "text") or kind.endswith("_tool_result") for kind in kinds)


def _is_responses_item(body: dict[str, Any]) -> bool:
    """Whether it is an item of OpenAI Responses, which may have the type `message`, too."""
    return any(block.get("type") in ("output_text", "refusal") for block in dicts(body["content"]))


class AnthropicReader:
    """Reads Anthropic's bodies and streams."""

    def __init__(self) -> None:
        self._opaque: dict[int | str, tuple[dict[str, Any], list[str]]] = {}
        self._calls: set[int | str] = set()
        self._begun: set[int | str] = set()  # text blocks that are still empty
        self._citations: dict[int | str, list[Any]] = {}

    def read(self, body: dict[str, Any]) -> Iterator[Piece]:
        kind = text_or_empty(body.get("type"))
        if kind == "content_block_delta":
            yield from self._delta(_index(body), as_dict(body.get("delta")))
        elif kind == "content_block_start":
            yield from self._start(_index(body), as_dict(body.get("content_block")))
        elif kind == "content_block_stop":
            yield from self._stop(_index(body))
        elif kind == "message_start":
            yield from self._whole(as_dict(body.get("message")))
        elif kind == "message_delta":
            yield from _finish_word(as_dict(body.get("delta")))
        else:
            yield from self._whole(body)

    def finish(self) -> Iterator[Piece]:
        for index in [*self._opaque, *self._citations]:
            yield from self._stop(index)

    def _whole(self, message: dict[str, Any]) -> Iterator[Piece]:
        content = message.get("content")
        if isinstance(content, str) and content:
            yield Text(content)
        elif is_data(content, any_kind=True):
            yield Data(content)
            content = None
        for index, block in enumerate(dicts(content)):
            yield from self._start(f"whole {index}", block, whole=True)
            yield from self._stop(f"whole {index}")
        yield from _finish_word(message)

    def _start(self, index: int | str, block: dict[str, Any], whole: bool = False) -> Iterator[Piece]:
        kind = text_or_empty(block.get("type"))
        yield from self._left(index, kind)
        if kind == "text":
            self._begun.add(index)
            yield from self._text(index, text_or_empty(block.get("text")))
            if citations := as_list(block.get("citations")):
                self._citations[index] = [*citations]
        elif kind == "tool_use":
            yield from self._call(index, block, whole)
        elif kind == "thinking":
            yield Reasoning(text_or_empty(block.get("thinking")), text_or_empty(block.get("signature")), index)
        elif kind == "redacted_thinking":
            yield Redacted(text_or_empty(block.get("data")))
        elif block:
            self._opaque[index] = (dict(block), [])

    def _left(self, index: int | str, kind: str) -> Iterator[Piece]:
        """End the block at an index that begins anew. A call is cut; a provider's own block is kept."""
        if index not in self._calls:
            yield from self._stop(index)
        elif kind != "tool_use":
            self._calls.discard(index)
            yield CallEnd(index, cut=True)

    def _call(self, index: int | str, block: dict[str, Any], whole: bool) -> Iterator[Piece]:
        self._calls.add(index)
        yield CallStart(index, text_or_empty(block.get("id")), text_or_empty(block.get("name")), begins=True)
        given = block.get("input")
        if given or (whole and given is not None):
            yield CallArguments(index, given)

    def _delta(self, index: int | str, delta: dict[str, Any]) -> Iterator[Piece]:
        kind = text_or_empty(delta.get("type"))
        if kind == "text_delta":
            yield from self._text(index, text_or_empty(delta.get("text")))
        elif kind == "input_json_delta":
            piece = text_or_empty(delta.get("partial_json"))
            if index in self._opaque:
                self._opaque[index][1].append(piece)
            else:
                yield CallArguments(index, piece)
        elif kind == "thinking_delta":
            yield Reasoning(text_or_empty(delta.get("thinking")), "", index)
        elif kind == "signature_delta":
            yield Reasoning("", text_or_empty(delta.get("signature")), index)
        elif kind == "citations_delta":
            self._citations.setdefault(index, []).append(delta.get("citation"))

    def _text(self, index: int | str, text: str) -> Iterator[Piece]:
        if text:
            yield Text(text, begins=index in self._begun)
            self._begun.discard(index)

    def _stop(self, index: int | str) -> Iterator[Piece]:
        if citations := self._citations.pop(index, None):
            yield Opaque({"citations": citations})
        if index in self._calls:
            self._calls.discard(index)
            yield CallEnd(index)
        elif index in self._opaque:
            block, pieces = self._opaque.pop(index)
            if text := "".join(pieces):
                block["input"] = parsed_json(text)
            yield Opaque(block)


def _index(event: dict[str, Any]) -> int | str:
    index = event.get("index")
    return index if isinstance(index, (int, str)) else "no index"


def _finish_word(holder: dict[str, Any]) -> Iterator[Piece]:
    if word := text_or_empty(holder.get("stop_reason")):
        yield FinishWord(word)
