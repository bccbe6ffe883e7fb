"""Rewrites replies of OpenAI's Responses API: whole responses and streams.

Everything that need not change stays: ids, usage, reasoning items, the provider's own calls, native calls. Calls come behind all
other items, so the items of a stream may get another `output_index`, and its events another `sequence_number`.
"""

from __future__ import annotations

from typing import Any

from llmcore.support.values.narrowing import is_list, object_in, objects_in
from llmcore.types import Envelope, ToolCall
from llmcore.wire.offering import Offered
from llmcore.wire.openai_responses.encoding import ItemWriter, encoded_call, reasoning_item
from llmcore.wire.rewriting import (
    HandedOut,
    ReplyReport,
    RewriteSettings,
    Rewritten,
    arguments_text,
    clipped_text,
    free_text_of,
    hand_out,
    is_same_text,
    judged,
    text_ranges,
    text_with_withheld,
)

__all__ = ["StreamRewriter", "rewrite"]

Json = dict[str, Any]
_CALLS = frozenset({"function_call", "custom_tool_call"})
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


def rewrite(body: Json, settings: RewriteSettings) -> Rewritten:
    """Rewrite a whole response. A body of another API, and an error, stay as they are. Never raises on a reply."""
    output = body.get("output")
    if not is_list(output):
        return Rewritten(body, [])
    envelope, result = judged(settings, body)
    given = [item for item in objects_in(output) if item.get("type") in _CALLS]
    handed = hand_out(envelope, result, settings, lambda native: _are_sound(given, native))
    written: list[Any] = output
    if text_with_withheld(envelope, result) != envelope.source:
        written = _with_new_text(output, envelope, result)
    if handed.changes_calls:
        native = given if handed.keeps_native else [encoded_call(call) for call in handed.native]
        others = [item for item in written if object_in(item).get("type") not in _CALLS]
        written = [*others, *native, *(encoded_call(call, settings.free_text) for call in handed.in_text)]
    report = ReplyReport(handed.calls, result.withheld)
    return Rewritten(body if written is output else {**body, "output": written}, [report])


def _text_of(part: Any) -> str:
    text = object_in(part).get("text") if object_in(part).get("type") in ("output_text", "text") else ""
    return text if isinstance(text, str) else ""


def _with_new_text(output: list[Any], envelope: Envelope, result: Offered) -> list[Any]:
    """The items with what is content in their texts. Reasoning in the texts becomes an item before the first text."""
    source = envelope.source
    texts = [text for item in filter(_is_message, output) for part in objects_in(item.get("content")) if (text := _text_of(part))]
    if "".join(texts) != source:  # the calls stand in the reasoning
        return output
    ranges = text_ranges(envelope, result)
    thoughts = "".join([source[start:end] for start, end, kind in envelope.segments if kind == "reasoning"])
    written: list[Any] = []
    at = 0
    for item in output:
        parts: list[Any] = []
        begin = at
        for part in objects_in(object_in(item).get("content")) if _is_message(item) else ():
            length = len(_text_of(part))
            if length and len(texts) == 1:
                text = text_with_withheld(envelope, result)
            else:
                text = clipped_text(source, ranges, at, at + length)
            parts += [{**part, "text": text}] if text else [] if length else [part]
            at += length
        if at and not begin and thoughts:
            written.append(reasoning_item(thoughts))
        if at == begin:
            written.append(item)
        elif parts:
            written.append({**item, "content": parts})
    return written


def _is_message(item: object) -> bool:
    return object_in(item).get("type") == "message"


def _are_sound(given: list[Json], calls: list[ToolCall]) -> bool:
    """Whether the native calls are as a client would read them, so that they can stay."""
    if len(given) != len(calls) or len({str(item.get("call_id")) for item in given}) < len(given):
        return False
    return all(_is_sound(item, call) for item, call in zip(given, calls, strict=True))


def _is_sound(item: Json, call: ToolCall) -> bool:
    is_text = item.get("type") == "custom_tool_call"
    same = item.get("input") == free_text_of(call) if is_text else _same_arguments(item.get("arguments"), call)
    return same and bool(call.id) and item.get("call_id") == call.id and item.get("name") == call.name


def _same_arguments(text: object, call: ToolCall) -> bool:
    return isinstance(text, str) and bool(text.strip()) and text == arguments_text(call)


class StreamRewriter:
    """Rewrites the events of a stream. Text and reasoning are live. Calls come whole, at the end.

    `feed` returns the events to send for one event, which is the given object if it need not change. `finish` returns the last
    ones, if no event ended the response: then the reply was cut. Its text is sent, and none of its calls.
    """

    def __init__(self, settings: RewriteSettings) -> None:
        self._settings = settings
        self._stream = settings.stream()
        self._items = ItemWriter()
        self._messages: dict[Any, Json] = {}
        """The message items by their `output_index`, until they are written."""
        self._parts: dict[Any, Json] = {}
        """The first text of each message, as it began."""
        self._indexes: dict[Any, int] = {}
        """The index of each item that passes, by the one it came with."""
        self._calls: dict[Any, list[Json]] = {}
        """The events of the native calls, by index."""
        self._read = set[Any]()
        """The indexes of the messages of which text came as deltas."""
        self._unread = set[Any]()
        """Those of the messages with parts that are no text. They pass as they are."""
        self._begins = False
        """Whether the next text belongs to a new item."""
        self._number: int | None = None
        """The least `sequence_number` of the next event; None if the server sends none. An event keeps its own if it may."""
        self._has_items = self._finished = False
        self.reports: list[ReplyReport] = []

    def feed(self, event: Json) -> list[Json]:
        """The events to send for this one."""
        number = event.get("sequence_number")
        if self._number is None and isinstance(number, int):
            self._number = number
        return [event] if self._finished else self._numbered(self._fed(event))

    def finish(self, *, done: bool = False) -> list[Json]:
        """The last events. A second call returns none."""
        if self._finished:
            return []
        self._finished = True
        written = self._items.write(self._stream.finish(cut=True))
        self._hand_out(cut=True)
        return self._numbered(written)

    def _numbered(self, events: list[Json]) -> list[Json]:
        if self._number is None:
            return events
        numbered: list[Json] = []
        for event in events:
            own = event.get("sequence_number")
            if not isinstance(own, int) or own < self._number:
                own, event = self._number, {**event, "sequence_number": self._number}
            numbered.append(event)
            self._number = own + 1
        return numbered

    def _fed(self, event: Json) -> list[Json]:
        kind, index = str(event.get("type")), event.get("output_index")
        if index in self._messages:
            return self._of_message(event, kind, index)
        if kind in _ENDS:
            return self._end(event, kind)
        if kind == "response.output_item.added":
            return self._added(event, index)
        if index in self._calls:
            self._calls[index].append(event)
            self._defer(event, kind, index)
            return []
        if index not in self._indexes:
            return [event]
        if index not in self._unread:
            self._defer(event, kind, index)
        moved = self._moved(event, self._indexes[index])
        if kind == "response.output_item.done":
            self._items.output.append(event["item"])
        return [moved]

    def _defer(self, event: Json, kind: str, index: Any) -> None:
        """Read an event of a call or of reasoning, which is not sent by its events."""
        text = event.get("delta")
        if isinstance(text, str):
            self._stream.defer((kind, index), text, lambda text: {**event, "delta": text})
        else:
            self._stream.feed(event)

    def _added(self, event: Json, index: Any) -> list[Json]:
        self._has_items = True
        item = object_in(event.get("item"))
        if item.get("type") == "message":
            self._messages[index] = item
            self._begins = True
            return []
        self._stream.feed(event)
        if item.get("type") in _CALLS:
            self._calls[index] = [event]
            return []
        return self._passing(event, index)

    def _passing(self, event: Json, index: Any) -> list[Json]:
        """The start of an item that passes as it is."""
        closed = self._items.close()
        self._indexes[index] = self._items.index
        self._items.index += 1
        return [*closed, self._moved(event, self._indexes[index])]

    def _of_message(self, event: Json, kind: str, index: Any) -> list[Json]:
        """The events of a message item. It begins with its first text and ends when nothing can follow."""
        if kind == "response.output_text.delta":
            return self._text(event, index, event.get("delta"))
        part = object_in(event.get("part"))
        if kind == "response.content_part.added" and part.get("type") in ("output_text", "text"):
            self._parts[index] = part
            return []
        if kind == "response.content_part.added":
            item = self._messages.pop(index)
            self._unread.add(index)
            return [
                *self._passing({"type": "response.output_item.added", "output_index": index, "item": item}, index),
                *self._fed(event),
            ]
        if kind == "response.output_item.done" and index not in self._read:
            return self._text({}, index, "".join(map(_text_of, objects_in(object_in(event.get("item")).get("content")))))
        if self._items.open_type != "message" or self._begins:
            return []
        if kind == "response.output_text.annotation.added":
            return [{**event, **self._items.place}]
        if kind == "response.content_part.done":
            self._items.note_part(part)
        return []

    def _text(self, event: Json, index: Any, text: object) -> list[Json]:
        self._read.add(index)
        if not isinstance(text, str) or not text:
            return []
        events = self._stream.feed(text)
        if not self._begins and is_same_text(events, text) and self._items.passes(event):
            self._items.note_text(text)
            return [event]
        closed = self._items.close() if events and self._begins else []
        self._begins = self._begins and not events
        written = [*closed, *self._items.write(events, self._messages[index], self._parts.get(index))]
        if written and self._is_same(written[-1], event):
            written[-1] = event
        return written

    def _is_same(self, written: Json, event: Json) -> bool:
        return all(event.get(key) == value for key, value in written.items() if key != "logprobs")

    def _moved(self, event: Json, index: int) -> Json:
        return event if event.get("output_index") == index else {**event, "output_index": index}

    def _hand_out(self, *, cut: bool) -> HandedOut:
        result = self._stream.offered
        given = [self._done_item(events) for events in self._calls.values()]
        envelope = self._stream.envelope
        handed = hand_out(envelope, result, self._settings, lambda native: _are_sound(given, native), cut=cut)
        self.reports = [ReplyReport(handed.calls, result.withheld, self._stream.reclassified_reasoning, cut)]
        return handed

    def _end(self, event: Json, kind: str) -> list[Json]:
        """The rest of the text, the calls, and the whole response."""
        self._finished = True
        response = object_in(event.get("response"))
        if not self._has_items:  # the server sends no events of items
            rewritten = self._settings_rewrite(response)
            return [event if rewritten is response else {**event, "response": rewritten}]
        self._stream.feed({**event, "response": {**response, "output": list[Any]()}})
        cut = kind == "response.failed"
        written = [*self._items.write(self._stream.finish(cut=cut)), *self._items.close()]
        handed = self._hand_out(cut=cut)
        for events in self._calls.values() if handed.keeps_native else ():
            written += [self._moved(each, self._items.index) for each in events]
            self._items.index += 1
            self._items.output.append(self._done_item(events))
        for call in () if handed.keeps_native else handed.native:
            written += self._items.call(encoded_call(call))
        for call in handed.in_text:
            written += self._items.call(encoded_call(call, self._settings.free_text))
        if "output" in response and response["output"] != self._items.output:
            event = {**event, "response": {**response, "output": self._items.output}}
        return [*written, event]

    def _settings_rewrite(self, response: Json) -> Json:
        rewritten = rewrite(response, self._settings)
        self.reports = rewritten.reports
        return rewritten.body

    def _done_item(self, events: list[Json]) -> Json:
        """The whole item of a native call; {} if its end did not come."""
        last = events[-1]
        return object_in(last.get("item")) if last.get("type") == "response.output_item.done" else {}
