"""Anthropic's messages: envelopes and events as messages and stream events, and requests as messages.

Reasoning is a `thinking` block. One that llmcore read from text has an empty signature.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from llmcore.support.values.json_data import as_json, json_data
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import (
    CallerError,
    Envelope,
    FinishReason,
    Message,
    ProviderBlock,
    ReasoningDelta,
    RedactedThinkingBlock,
    Request,
    TextDelta,
    ThinkingBlock,
    ToolCall,
    ToolSet,
    Usage,
)
from llmcore.types.input.media_input import media_form
from llmcore.wire.ids import random_id, with_new_ids
from llmcore.wire.offering import Offered, offered
from llmcore.wire.rewriting import joined_texts, text_with_withheld

__all__ = [
    "AnthropicStreamEncoder",
    "BlockWriter",
    "call_events",
    "decode_anthropic_messages",
    "encode_anthropic",
    "encoded_anthropic_call",
]

Json = dict[str, Any]
_STOP_REASONS: dict[FinishReason | None, str] = {"length": "max_tokens", "content_filter": "refusal"}
_UNREADABLE = "INVALID_JSON"
"""The key for the text of arguments that are no object, which this wire requires."""
_OWN_PARTS = frozenset({"document", "search_result", "container_upload"})
"""Parts of messages that only Anthropic's models read."""


def encode_anthropic(
    envelope: Envelope,
    tools: ToolSet | Iterable[object] | None = None,
    *,
    model: str,
    usage: Usage | None = None,
    id: str | None = None,
) -> Json:
    """A whole message of one reply.

    The calls are those that `offered(envelope, tools)` offers, with unique ids. The text of the others is content. `id`: the
    message's; by default a new one. Clients show `usage`; without it, all counts are 0.
    """
    result = offered(envelope, tools)
    calls = with_new_ids(result.calls, "anthropic")
    text = text_with_withheld(envelope, result)
    content = [*_thinking(envelope), *([{"type": "text", "text": text}] if text else []), *map(encoded_anthropic_call, calls)]
    return {
        **_head(model, id),
        "content": content,
        "stop_reason": _stop_reason(envelope.finish_reason, bool(calls)),
        "usage": _encoded_usage(usage or Usage()),
    }


def _head(model: str, id: str | None) -> Json:
    head: Json = {"id": id or random_id("msg_"), "type": "message", "role": "assistant", "model": model}
    return {**head, "content": list[Any](), "stop_reason": None, "stop_sequence": None}


def _thinking(envelope: Envelope) -> list[Json]:
    blocks: list[Json] = []
    for block in envelope.blocks:
        if isinstance(block, ThinkingBlock):
            blocks.append({"type": "thinking", "thinking": block.thinking, "signature": block.signature or ""})
        elif isinstance(block, RedactedThinkingBlock):
            blocks.append({"type": "redacted_thinking", "data": block.data})
    return blocks


def encoded_anthropic_call(call: ToolCall) -> Json:
    """A `tool_use` block."""
    arguments = {_UNREADABLE: call.raw_arguments} if call.arguments is None else json_data(call.arguments)
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments}


def _encoded_usage(usage: Usage) -> Json:
    """The usage in the form of this API, whose input tokens exclude the cached ones."""
    cached = usage.cache_read_tokens + usage.cache_write_tokens
    return {
        "input_tokens": max(0, usage.input_tokens - cached),
        "output_tokens": usage.output_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
    }


def _stop_reason(reason: FinishReason | None, has_calls: bool) -> str:
    return _STOP_REASONS.get(reason) or ("tool_use" if has_calls else "end_turn")


def call_events(call: Mapping[str, Any], index: int) -> list[Json]:
    """The events of a `tool_use` block at `index`."""
    start: Json = {**call, "input": dict[str, Any]()}
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        {
            "type": "content_block_delta",
            "index": index,
            "delta": {"type": "input_json_delta", "partial_json": as_json(call["input"])},
        },
        {"type": "content_block_stop", "index": index},
    ]


class BlockWriter:
    """Writes text and thinking blocks, one after the other. `index` is the next block's."""

    __slots__ = ("_open", "index")

    def __init__(self) -> None:
        self.index = 0
        self._open = ""

    @property
    def open_kind(self) -> str:
        """The type of the open block, `text` or `thinking`; "" if none is open. Its index is `index - 1`."""
        return self._open

    def write(self, events: Iterable[Any], start: Mapping[str, Any] | None = None) -> list[Json]:
        """The stream events of text events. `start`: the fields of a text block that begins."""
        written: list[Json] = []
        for is_text, text in joined_texts(events):
            kind, field = ("text", "text") if is_text else ("thinking", "thinking")
            if self._open != kind:
                written += self.begin(kind, start if is_text else None)
            delta = {"type": f"{kind}_delta", field: text}
            written.append({"type": "content_block_delta", "index": self.index - 1, "delta": delta})
        return written

    def begin(self, kind: str, start: Mapping[str, Any] | None = None) -> list[Json]:
        """Close the open block, and begin one of text or thinking."""
        block = {"type": "text", "text": ""} if kind == "text" else {"type": "thinking", "thinking": "", "signature": ""}
        written = [
            *self.close(),
            {"type": "content_block_start", "index": self.index, "content_block": {**block, **(start or {})}},
        ]
        self._open = kind
        self.index += 1
        return written

    def close(self) -> list[Json]:
        """Close the open block."""
        if not self._open:
            return []
        self._open = ""
        return [{"type": "content_block_stop", "index": self.index - 1}]


class AnthropicStreamEncoder:
    """Encodes one streamed reply as events. `sse.event_bytes(event, event["type"])` turns each into bytes.

    encoder = StreamEncoder(model="m")
    send(*encoder.start(usage))
    for chunk in chunks: send(*encoder.feed(stream.feed(chunk)))          # an AppendOnlyStream
    send(*encoder.feed(stream.finish()), *encoder.finish(stream.offered, stream.envelope.finish_reason, usage))
    """

    def __init__(self, *, model: str, id: str | None = None) -> None:
        self._head = _head(model, id)
        self._blocks = BlockWriter()

    def start(self, usage: Usage | None = None) -> list[Json]:
        """The first event. Clients read the number of input tokens from it."""
        return [{"type": "message_start", "message": {**self._head, "usage": _encoded_usage(usage or Usage())}}]

    def feed(self, events: Iterable[object]) -> list[Json]:
        """The events of these ones. Events other than `TextDelta` and `ReasoningDelta` have none."""
        return self._blocks.write(event for event in events if isinstance(event, TextDelta | ReasoningDelta))

    def finish(self, result: Offered, finish_reason: FinishReason | None = None, usage: Usage | None = None) -> list[Json]:
        """The calls, whole, the stop reason with the usage, and the end."""
        calls = with_new_ids(result.calls, "anthropic")
        events = self._blocks.close()
        for call in calls:
            events += call_events(encoded_anthropic_call(call), self._blocks.index)
            self._blocks.index += 1
        delta = {"stop_reason": _stop_reason(finish_reason, bool(calls)), "stop_sequence": None}
        return [
            *events,
            {"type": "message_delta", "delta": delta, "usage": _encoded_usage(usage or Usage())},
            {"type": "message_stop"},
        ]


def decode_anthropic_messages(body: Json) -> list[Message]:
    """The messages of a request, with its `system` first. `decode_tools(body.get("tools"))` reads its tools.

    Search results, and documents that are no file, become `ProviderBlock`s.

    Raises `CallerError` for what is no message, and names its place.
    """
    messages = body.get("messages")
    if not is_list(messages):
        raise CallerError("the request has no `messages`: give the body of a request to Anthropic's messages")
    system = body.get("system")
    first = [{"role": "system", "content": system}] if system else []
    return Request(messages=[*first, *map(_message, messages)]).messages


def _message(message: Any) -> Any:
    """The message with the parts of Anthropic alone as provider blocks."""
    if not is_object(message) or not is_list(content := message.get("content")):
        return message
    return {**message, "content": [_part(part) for part in content]}


def _part(part: Any) -> Any:
    if is_object(part) and (kind := part.get("type")) in _OWN_PARTS and media_form(str(kind), part) is None:
        return ProviderBlock(provider="anthropic", data=part)
    return part
