"""Amazon Bedrock Converse: whole bodies, a message, a list of content blocks, or stream events.

Blocks have no type; their key is their kind. The provider runs calls with `type: "server_tool_use"`. They and their results
are opaque.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llmcore.normalizer.native.shape import as_dict, dicts, parsed_json, text_or_empty
from llmcore.normalizer.native.wire_pieces import (
    CallArguments,
    CallEnd,
    CallStart,
    FinishWord,
    Opaque,
    Piece,
    Reasoning,
    Redacted,
    Text,
)

__all__ = ["BedrockConverseReader", "is_bedrock_converse_body", "is_bedrock_converse_event", "is_bedrock_converse_part"]

_EVENT_KEYS = ("contentBlockDelta", "contentBlockStart", "contentBlockStop", "messageStart", "messageStop")
_OWN_KEYS = ("toolUse", "reasoningContent", "toolResult")


def is_bedrock_converse_body(body: dict[str, Any]) -> bool:
    """Whether it is a whole body."""
    return isinstance(as_dict(body.get("output")).get("message"), dict)


def is_bedrock_converse_event(body: dict[str, Any]) -> bool:
    """Whether it is a stream event."""
    if any(key in body for key in _EVENT_KEYS):
        return True
    metadata = as_dict(body.get("metadata"))
    return len(body) == 1 and ("usage" in metadata or "metrics" in metadata)


def is_bedrock_converse_part(body: dict[str, Any]) -> bool:
    """Whether it is a message or only blocks: objects without a type, keyed by their kind."""
    blocks = [*dicts(as_dict(body.get("message")).get("content") or body.get("content"))]
    return bool(blocks) and all("type" not in block for block in blocks) and any(_is_block(block) for block in blocks)


def _is_block(block: dict[str, Any]) -> bool:
    return any(key in block for key in _OWN_KEYS) or [*block] == ["text"]


class BedrockConverseReader:
    """Reads Bedrock's bodies and streams."""

    def __init__(self) -> None:
        self._opaque: dict[int | str, tuple[dict[str, Any], list[str]]] = {}
        self._calls: set[int | str] = set()

    def read(self, body: dict[str, Any]) -> Iterator[Piece]:
        message = as_dict(as_dict(body.get("output")).get("message")) or as_dict(body.get("message")) or body
        for index, block in enumerate(dicts(message.get("content"))):
            yield from self._block(f"whole {index}", block)
        if start := as_dict(body.get("contentBlockStart")):
            yield from self._start(_index(start), as_dict(start.get("start")))
        if delta := as_dict(body.get("contentBlockDelta")):
            yield from self._delta(_index(delta), as_dict(delta.get("delta")))
        if stop := as_dict(body.get("contentBlockStop")):
            yield from self._stop(_index(stop))
        for holder in (body, as_dict(body.get("messageStop"))):
            if word := text_or_empty(holder.get("stopReason")):
                yield FinishWord(word)

    def finish(self) -> Iterator[Piece]:
        for index in list(self._opaque):
            yield from self._stop(index)

    def _block(self, key: int | str, block: dict[str, Any]) -> Iterator[Piece]:
        if call := as_dict(block.get("toolUse")):
            yield from self._start(key, block)
            if key in self._calls:
                if (given := call.get("input")) is not None:
                    yield CallArguments(key, given)
                yield from self._stop(key)
            else:
                self._opaque.pop(key, None)
                yield Opaque(block)
        elif "text" in block or "reasoningContent" in block:
            yield from self._delta(key, block)
        elif block:
            yield Opaque(block)

    def _start(self, key: int | str, start: dict[str, Any]) -> Iterator[Piece]:
        call = as_dict(start.get("toolUse"))
        is_call = bool(call) and call.get("type") != "server_tool_use"
        if key not in self._calls:
            yield from self._stop(key)
        elif not is_call:  # the index begins anew before its call ended
            self._calls.discard(key)
            yield CallEnd(key, cut=True)
        if is_call:
            self._calls.add(key)
            yield CallStart(key, text_or_empty(call.get("toolUseId")), text_or_empty(call.get("name")), begins=True)
        elif start:
            self._opaque[key] = (start, [])

    def _delta(self, key: int | str, delta: dict[str, Any]) -> Iterator[Piece]:
        if text := text_or_empty(delta.get("text")):
            yield Text(text)
        if piece := text_or_empty(as_dict(delta.get("toolUse")).get("input")):
            if key in self._opaque:
                self._opaque[key][1].append(piece)
            else:
                yield CallArguments(key, piece)
        if reasoning := as_dict(delta.get("reasoningContent")):
            yield from _reasoning(key, reasoning)
        if citation := as_dict(delta.get("citation")):
            yield Opaque({"citation": citation})

    def _stop(self, key: int | str) -> Iterator[Piece]:
        if key in self._calls:
            self._calls.discard(key)
            yield CallEnd(key)
        elif key in self._opaque:
            block, pieces = self._opaque.pop(key)
            if text := "".join(pieces):
                block = {**block, "toolUse": {**as_dict(block.get("toolUse")), "input": parsed_json(text)}}
            yield Opaque(block)


def _index(event: dict[str, Any]) -> int | str:
    index = event.get("contentBlockIndex")
    return index if isinstance(index, (int, str)) else "no index"


def _reasoning(key: int | str, content: dict[str, Any]) -> Iterator[Piece]:
    """The pieces of reasoning. Whole blocks have the text under `reasoningText`; deltas have it directly."""
    holder = as_dict(content.get("reasoningText")) or content
    text, signature = text_or_empty(holder.get("text")), text_or_empty(holder.get("signature"))
    if text or signature:
        yield Reasoning(text, signature, key)
    if redacted := content.get("redactedContent"):
        if isinstance(redacted, str):
            yield Redacted(redacted)
        else:  # bytes, from the SDK
            yield Opaque({"reasoningContent": {"redactedContent": redacted}})
