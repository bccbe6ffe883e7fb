"""OpenAI Responses: whole bodies, a list of output items, or stream events.

A stream sends each text several times: as deltas, in `.done`, in the whole item, and in the whole response. The first one is
read, and remembered by the item's position in the output. Calls that the provider runs are opaque. A reasoning item goes back
to the provider unchanged, so it replaces its text in the history.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from llmcore.normalizer.native.shape import as_dict, dicts, text_or_empty
from llmcore.normalizer.native.wire_pieces import (
    CallArguments,
    CallEnd,
    CallStart,
    FinishWord,
    Opaque,
    Piece,
    Reasoning,
    RefusalPiece,
    Text,
)
from llmcore.types.finish_reasons import INCOMPLETE, may_continue

__all__ = ["OpenAIResponsesReader", "is_item", "is_openai_responses_body", "is_openai_responses_event"]

_ITEMS = frozenset({"function_call", "message", "reasoning"})
_CALL_ITEMS = {"function_call": "arguments", "custom_tool_call": "input"}

_Make = Callable[[Any, str], Piece]


def _text(key: Any, text: str) -> Piece:
    return Text(text)


def _refusal(key: Any, text: str) -> Piece:
    return RefusalPiece(text)


def _reasoning(key: Any, text: str) -> Piece:
    return Reasoning(text, key=key)


_STREAMED: dict[str, tuple[str, _Make]] = {
    "response.output_text": ("text", _text),
    "response.refusal": ("refusal", _refusal),
    "response.reasoning_summary_text": ("text", _reasoning),
    "response.reasoning_text": ("text", _reasoning),
    "response.function_call_arguments": ("arguments", CallArguments),
    "response.custom_tool_call_input": ("input", CallArguments),
}
"""Events with `.delta` and `.done`: the key of the whole text, and the piece to make."""


def is_openai_responses_body(body: dict[str, Any]) -> bool:
    """Whether it is a whole body. One that is still queued has no output yet."""
    return isinstance(body.get("output"), (list, tuple)) or body.get("object") == "response"


def is_openai_responses_event(body: dict[str, Any]) -> bool:
    """Whether it is a stream event."""
    return text_or_empty(body.get("type")).startswith("response.")


def is_item(item: dict[str, Any]) -> bool:
    """Whether it is an output item that only this wire has."""
    return text_or_empty(item.get("type")) in _ITEMS


class OpenAIResponsesReader:
    """Reads bodies and streams of Responses."""

    def __init__(self) -> None:
        self._keys: dict[str, object] = {}
        self._read: set[object] = set()
        self._calls: dict[object, bool] = {}  # open calls, with whether all their arguments have arrived
        self._reasoning_from: dict[object, str] = {}
        self._cut = False  # an item is marked as incomplete

    def read(self, body: dict[str, Any]) -> Iterator[Piece]:
        kind = text_or_empty(body.get("type"))
        stem, _, phase = kind.rpartition(".")
        if stem in _STREAMED:
            yield from self._streamed(stem, phase, body)
        elif kind.startswith("response.output_item."):
            yield from self._streamed_item(phase, body)
        elif not kind.startswith("response."):
            yield from self._response(body)
        elif kind in ("response.completed", "response.incomplete", "response.failed"):
            yield from self._response(as_dict(body.get("response")))

    def finish(self) -> Iterator[Piece]:
        for key, is_whole in self._calls.items():
            if is_whole:
                yield CallEnd(key)

    def _response(self, body: dict[str, Any]) -> Iterator[Piece]:
        for position, item in enumerate(dicts(body.get("output"))):
            key = self._keys.get(text_or_empty(item.get("id")), position)
            if ("item", key) not in self._read:
                yield from self._item(key, item)
        why = as_dict(body.get("incomplete_details")).get("reason")
        if word := text_or_empty(why) or (INCOMPLETE if self._cut else text_or_empty(body.get("status"))):
            yield FinishWord(word)

    # Stream events

    def _key(self, event: dict[str, Any], item_id: object) -> object:
        """The item's position in the output. Its id if a server omits the position."""
        position = event.get("output_index")
        if isinstance(position, int):
            return position
        return self._keys.get(text_or_empty(item_id), text_or_empty(item_id))

    def _streamed(self, stem: str, phase: str, event: dict[str, Any]) -> Iterator[Piece]:
        key = self._key(event, event.get("item_id"))
        part = _part_key(key, event.get("content_index", event.get("summary_index")))
        field, make = _STREAMED[stem]
        if make is CallArguments:
            part = (key, "arguments")
        if make is _reasoning and self._reasoning_from.setdefault(key, stem) != stem:
            return
        text = text_or_empty(event.get("delta")) if phase == "delta" else ""
        if phase == "done" and part not in self._read:
            text = text_or_empty(event.get(field))
        if make is CallArguments and phase == "done" and key in self._calls:
            self._calls[key] = True
        if text:
            self._read.add(part)
            yield make(key, text)

    def _streamed_item(self, phase: str, event: dict[str, Any]) -> Iterator[Piece]:
        item = as_dict(event.get("item"))
        key = self._key(event, item.get("id"))
        if id := text_or_empty(item.get("id")):
            self._keys[id] = key
        if phase == "done":
            self._read.add(("item", key))
            yield from self._item(key, item)
            return
        is_call = text_or_empty(item.get("type")) in _CALL_ITEMS
        if self._calls.pop(key, None) is not None and not is_call:
            yield CallEnd(key, cut=True)
        self._read -= {("item", key), (key, "arguments"), (key, 0)}
        if is_call:
            self._calls[key] = False
            yield _call_start(key, item, begins=True)

    # Whole items

    def _item(self, key: object, item: dict[str, Any]) -> Iterator[Piece]:
        kind = text_or_empty(item.get("type"))
        if kind == "message":
            yield from self._message(key, item)
        elif kind in _CALL_ITEMS:
            yield from self._call(key, item, _CALL_ITEMS[kind])
        elif kind == "reasoning":
            yield from self._reasoning_item(key, item)
        else:
            yield Opaque(item)

    def _message(self, key: object, item: dict[str, Any]) -> Iterator[Piece]:
        for number, part in enumerate(dicts(item.get("content"))):
            kind = text_or_empty(part.get("type"))
            if kind not in ("output_text", "text", "refusal"):
                yield Opaque(part)
                continue
            text = text_or_empty(part.get("refusal" if kind == "refusal" else "text"))
            if text and _part_key(key, number) not in self._read:
                yield RefusalPiece(text) if kind == "refusal" else Text(text)
            if annotations := part.get("annotations"):
                yield Opaque({"annotations": annotations})

    def _call(self, key: object, item: dict[str, Any], field: str) -> Iterator[Piece]:
        self._cut = self._cut or item.get("status") == INCOMPLETE or may_continue(item.get("status"))
        self._calls.pop(key, None)
        yield _call_start(key, item)
        if item.get(field) is not None and (key, "arguments") not in self._read:
            yield CallArguments(key, item[field])
        yield CallEnd(key)
        if namespace := item.get("namespace"):
            yield Opaque({"namespace": namespace})

    def _reasoning_item(self, key: object, item: dict[str, Any]) -> Iterator[Piece]:
        if key not in self._reasoning_from:
            texts = [text_or_empty(part.get("text")) for part in dicts(item.get("summary"))]
            if not any(texts):
                texts = [text_or_empty(part.get("text")) for part in dicts(item.get("content"))]
            yield Reasoning("".join(texts), key=key)
        yield Opaque(item, key)


def _part_key(key: object, number: object) -> object:
    return (key, number if isinstance(number, int) else 0)


def _call_start(key: object, item: dict[str, Any], begins: bool = False) -> CallStart:
    free_text = item.get("type") == "custom_tool_call"
    id = text_or_empty(item.get("call_id")) or text_or_empty(item.get("id"))
    return CallStart(key, id, text_or_empty(item.get("name")), free_text, begins)
