"""Rewrites streams of OpenAI's Responses API.

Everything that need not change stays, as in whole responses (`whole`). Calls come behind all other items, so the items of a
stream may get another `output_index`, and its events another `sequence_number`.
"""

from __future__ import annotations

from typing import Any, cast

from llmcore.support.values.narrowing import object_in, objects_in
from llmcore.wire.item_stream import ItemStream, Placed, by_item
from llmcore.wire.openai_responses.encoding import encoded_responses_call
from llmcore.wire.openai_responses.item_writer import ItemWriter
from llmcore.wire.openai_responses.whole import CALL_TYPES, are_sound, native_items, rewrite_responses, text_in
from llmcore.wire.rewriting import HandedOut, ReplyReport, RewriteSettings, hand_out, is_error_event, is_same_text

__all__ = ["ResponsesStreamRewriter"]

Json = dict[str, Any]
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


class ResponsesStreamRewriter:
    """Rewrites the events of a stream. Text and reasoning are live. Calls come whole, at the end.

    `feed` returns the events to send for one event, which is the given object if it need not change. `finish` returns the last
    ones, if no event ended the response: then the reply was cut. Its text is sent, and none of its calls.
    """

    def __init__(self, settings: RewriteSettings) -> None:
        self._settings = settings
        self._stream = ItemStream(settings.stream())
        self._items = ItemWriter()
        self._open: Any = None
        """The `output_index` with which the item came that is open, as a message or as reasoning in it."""
        self._messages: dict[Any, Json] = {}
        """The message items by their `output_index`."""
        self._parts: dict[Any, Json] = {}
        """The text of each message, as it began, with what the server added to it, by the key of the text."""
        self._text_keys: dict[Any, Any] = {}
        """The key of the last text of each message that has parts that are no text; else it is the message's index."""
        self._indexes: dict[Any, int] = {}
        """The index of each item that passes, by the one it came with."""
        self._calls: dict[Any, list[Json]] = {}
        """The events of the native calls, by index."""
        self._read = set[Any]()
        """The indexes of the messages of which text came as deltas."""
        self._other_parts = set[tuple[Any, Any]]()
        """The keys of the parts of messages that are no text: `output_index` and `content_index`. They pass as they are."""
        self._number: int | None = None
        """The least `sequence_number` of the next event; None if the server sends none. An event keeps its own if it may."""
        self._has_items = self._finished = False
        self.reports: list[ReplyReport] = []

    def feed(self, event: Json) -> list[Json]:
        """The events to send for this one."""
        number = event.get("sequence_number")
        if self._number is None and isinstance(number, int):
            self._number = number
        if self._finished:
            return [event]
        return [*self.finish(), *self._numbered([event])] if is_error_event(event) else self._numbered(self._fed(event))

    def finish(self, *, done: bool = False) -> list[Json]:
        """The last events. A second call returns none."""
        if self._finished:
            return []
        self._finished = True
        written = self._sent(self._stream.finish(cut=True))
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
            return self._sent(self._defer(event, kind, index))
        if index not in self._indexes:
            return [event]
        return self._sent([*self._defer(event, kind, index), *self._stream.passing(index, event)])

    def _defer(self, event: Json, kind: str, index: Any) -> list[Placed]:
        """Read an event of a call or of reasoning, which is not sent by its events."""
        text = event.get("delta")
        if not isinstance(text, str):
            return self._stream.native(event)
        self._stream.text_stream.defer((kind, index), text, lambda text: {**event, "delta": text})
        return []

    def _added(self, event: Json, index: Any) -> list[Json]:
        self._has_items = True
        item = object_in(event.get("item"))
        if item.get("type") == "message":
            self._messages[index] = item
            return self._sent(self._stream.begin(index))
        read = self._stream.native(event)
        if item.get("type") in CALL_TYPES:
            self._calls[index] = [event]
            return self._sent(read)
        self._indexes[index] = -1
        return self._sent([*read, *self._stream.begin(index), *self._stream.passing(index, event)])

    def _of_message(self, event: Json, kind: str, index: Any) -> list[Json]:
        """The events of a message item. It begins with its first text and ends when nothing can follow."""
        if kind == "response.output_text.delta":
            return self._text(event, index, event.get("delta"))
        part, key = object_in(event.get("part")), (index, event.get("content_index"))
        if kind == "response.content_part.added":
            return self._part_added(event, key, part)
        if key in self._other_parts:
            return self._sent(self._stream.passing(key, event))
        if kind == "response.output_item.done" and index not in self._read:
            text = "".join(map(text_in, objects_in(object_in(event.get("item")).get("content"))))
            if text:
                return self._text({}, index, text)
        if kind == "response.content_part.done":
            self._note_part(index, part)
        if self._items.open_type != "message" or self._open != index:
            return []
        if kind == "response.output_text.annotation.added":
            return [{**event, **self._items.place}]
        if kind == "response.content_part.done":
            self._items.note_part(part)
        if kind == "response.output_item.done":
            self._items.note_end(object_in(event.get("item")))
        return []

    def _part_added(self, event: Json, key: tuple[Any, Any], part: Json) -> list[Json]:
        index = key[0]
        if part.get("type") not in ("output_text", "text"):
            self._other_parts.add(key)
            self._text_keys[index] = None
            return self._sent([*self._stream.begin(key), *self._stream.passing(key, event)])
        begun: list[Placed] = []
        if self._text_keys.get(index, index) is None:  # a text behind another part
            self._text_keys[index] = key
            begun = self._stream.begin(key)
        self._note_part(index, part)
        return self._sent(begun)

    def _note_part(self, index: Any, part: Json) -> None:
        key = self._text_keys.get(index, index)
        self._parts[key] = {**self._parts.get(key, part), **{name: value for name, value in part.items() if value}}

    def _text(self, event: Json, index: Any, text: object) -> list[Json]:
        self._read.add(index)
        if not isinstance(text, str) or not text:
            return []
        placed = self._stream.text(text)
        if self._open == index and is_same_text([part for _, part in placed], text) and self._items.passes(event):
            self._items.note_text(text)
            return [event]
        written = self._sent(placed)
        if written and all(event.get(key) == value for key, value in written[-1].items() if key != "logprobs"):
            written[-1] = event
        return written

    def _sent(self, placed: list[Placed]) -> list[Json]:
        """The events of text and of what passes, each at the place of its item."""
        written: list[Json] = []
        for key, passes, parts in by_item(placed):
            index = cast("tuple[Any, Any]", key)[0] if isinstance(key, tuple) else key
            if self._open != index:
                written += self._items.close()
                self._open = index
            if passes and key in self._other_parts:
                written += [event for part in parts for event in self._items.pass_part(part, self._messages.get(index))]
            elif passes:
                written += [event for part in parts for event in self._passed(part)]
            else:
                written += self._items.write(parts, self._messages.get(index), self._parts.get(key))
        return written

    def _passed(self, event: Json) -> list[Json]:
        """An event of an item that passes, with the index that the item gets."""
        index, closed = event.get("output_index"), list[Json]()
        if event.get("type") == "response.output_item.added":
            closed = self._items.close()
            self._indexes[index] = self._items.index
            self._items.index += 1
        elif event.get("type") == "response.output_item.done":
            self._items.output.append(event["item"])
        return [*closed, self._moved(event, self._indexes[index])]

    def _moved(self, event: Json, index: int) -> Json:
        return event if event.get("output_index") == index else {**event, "output_index": index}

    def _hand_out(self, *, cut: bool) -> HandedOut:
        stream = self._stream.text_stream
        given = self._given_calls()
        handed = hand_out(stream.envelope, stream.offered, self._settings, lambda native: are_sound(given, native), cut=cut)
        self.reports = [ReplyReport(handed.calls, stream.offered.withheld, stream.reclassified_reasoning, cut)]
        return handed

    def _end(self, event: Json, kind: str) -> list[Json]:
        """The rest of the text, the calls, and the whole response."""
        self._finished = True
        response = object_in(event.get("response"))
        if not self._has_items:  # the server sends no events of items
            rewritten = self._settings_rewrite(response)
            return [event if rewritten is response else {**event, "response": rewritten}]
        read = self._stream.native({**event, "response": {**response, "output": list[Any]()}})
        cut = kind == "response.failed"
        written = [*self._sent([*read, *self._stream.finish(cut=cut)]), *self._items.close()]
        handed = self._hand_out(cut=cut)
        for events in self._calls.values() if handed.keeps_native else ():
            written += [self._moved(each, self._items.index) for each in events]
            self._items.index += 1
            self._items.output.append(self._done_item(events))
        for item in () if handed.keeps_native else native_items(handed.native, self._given_calls()):
            written += self._items.call(item)
        for call in handed.in_text:
            written += self._items.call(encoded_responses_call(call, self._settings.free_text))
        if "output" in response and response["output"] != self._items.output:
            event = {**event, "response": {**response, "output": self._items.output}}
        return [*written, event]

    def _settings_rewrite(self, response: Json) -> Json:
        rewritten = rewrite_responses(response, self._settings)
        self.reports = rewritten.reports
        return rewritten.body

    def _given_calls(self) -> list[Json]:
        return [self._done_item(events) for events in self._calls.values()]

    def _done_item(self, events: list[Json]) -> Json:
        """The whole item of a native call; {} if its end did not come."""
        last = events[-1]
        return object_in(last.get("item")) if last.get("type") == "response.output_item.done" else {}
