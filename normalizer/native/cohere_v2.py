"""Cohere v2 chat: whole bodies and stream events. The reader of OpenAI messages reads its messages, which have the same
fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llmcore.normalizer.native.openai_chat import MessageReader
from llmcore.normalizer.native.shape import as_dict, text_or_empty
from llmcore.normalizer.native.wire_pieces import CallArguments, CallEnd, CallStart, FinishWord, Opaque, Piece

__all__ = ["CohereReader", "is_cohere_v2_body", "is_cohere_v2_event"]

_EVENT_FAMILIES = ("message-", "content-", "tool-plan-", "tool-call-", "citation-")


def is_cohere_v2_body(body: dict[str, Any]) -> bool:
    """Whether it is a whole body: finish reasons in capitals tell it from an OpenAI choice."""
    message = body.get("message")
    return isinstance(message, dict) and (text_or_empty(body.get("finish_reason")).isupper() or "tool_plan" in message)


def is_cohere_v2_event(body: dict[str, Any]) -> bool:
    """Whether it is a stream event."""
    return text_or_empty(body.get("type")).startswith(_EVENT_FAMILIES)


class CohereReader:
    """Reads Cohere's bodies and streams."""

    def __init__(self) -> None:
        self._message = MessageReader(closes_thinking=True)
        self._started = 0
        self._open: dict[object, int] = {}

    def read(self, body: dict[str, Any]) -> Iterator[Piece]:
        kind = text_or_empty(body.get("type"))
        if not is_cohere_v2_event(body):
            yield from self._message.read(as_dict(body.get("message")))
            yield from _finish_word(body)
            return
        delta = as_dict(body.get("delta"))
        message = as_dict(delta.get("message"))
        if kind.startswith("tool-call-"):
            yield from self._call(kind, body.get("index"), as_dict(message.get("tool_calls")))
        elif kind == "citation-start":
            yield Opaque({"citations": [message.get("citations")]})
        else:
            fields: dict[str, Any] = {key: message[key] for key in ("content", "tool_plan") if message.get(key)}
            if part := as_dict(fields.get("content")):  # an event has one part, and later ones omit its kind
                fields["content"] = [{"type": "thinking" if "thinking" in part else "text", **part}]
            yield from self._message.read(fields, whole=False)
        yield from _finish_word(delta)

    def finish(self) -> Iterator[Piece]:
        return self._message.finish()

    def _call(self, kind: str, index: object, call: dict[str, Any]) -> Iterator[Piece]:
        place = index if isinstance(index, (int, str)) else None
        function = as_dict(call.get("function"))
        if kind == "tool-call-start":
            if place not in self._open:
                self._started += 1
                self._open[place] = self._started
            yield CallStart(self._open[place], text_or_empty(call.get("id")), text_or_empty(function.get("name")), begins=True)
        key = self._open.get(place, self._started)
        if function.get("arguments") is not None:
            yield CallArguments(key, function["arguments"])
        if kind == "tool-call-end":
            self._open.pop(place, None)
            yield CallEnd(key)


def _finish_word(holder: dict[str, Any]) -> Iterator[Piece]:
    if word := text_or_empty(holder.get("finish_reason")):
        yield FinishWord(word)
