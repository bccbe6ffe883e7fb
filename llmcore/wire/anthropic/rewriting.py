"""Rewrites replies of Anthropic's messages API, as servers of open-weight models speak it: whole messages and streams.

Everything that need not change stays: ids, usage, signed thinking, the provider's own blocks, native calls. Calls come behind all
other blocks, so the blocks of a stream may get other indexes.
"""

from __future__ import annotations

from typing import Any

from llmcore.support.values.narrowing import is_list, object_in, objects_in
from llmcore.types import ToolCall
from llmcore.wire.anthropic.encoding import BlockWriter, call_events, encoded_anthropic_call
from llmcore.wire.item_stream import ItemStream, Placed, by_item
from llmcore.wire.rewriting import (
    ReplyReport,
    RewriteSettings,
    Rewritten,
    arguments_text,
    hand_out,
    is_error_event,
    is_same_text,
    judged,
    line_ends,
    new_texts,
    reasoning_in_text,
)

__all__ = ["AnthropicStreamRewriter", "rewrite_anthropic"]

Json = dict[str, Any]
_ENDS = frozenset({"end_turn", "stop_sequence", "stop"})
"""The stop reasons that become `tool_use` if there are calls. A paused turn stays paused."""


def rewrite_anthropic(body: Json, settings: RewriteSettings) -> Rewritten:
    """Rewrite a whole message. A body of another wire, and an error, stay as they are. Never raises on a reply."""
    content = body.get("content")
    if not is_list(content) or body.get("type") == "error":
        return Rewritten(body, [])
    texts = [_text_of(block) for block in content]
    ends = line_ends(texts)
    ended = [{**block, "text": text + end} if end else block for block, text, end in zip(content, texts, ends, strict=True)]
    envelope, result = judged(settings, {**body, "content": ended})
    given = [block for block in objects_in(content) if block.get("type") == "tool_use"]
    handed = hand_out(envelope, result, settings, lambda native: _are_sound(given, native))
    report = ReplyReport(handed.calls, result.withheld)
    written: list[Any] = content
    if (new := new_texts(envelope, result, texts, ends)) is not None:
        written = _with_new_texts(content, texts, new, reasoning_in_text(envelope))
    if handed.changes_calls:
        native = given if handed.keeps_native else [*map(encoded_anthropic_call, handed.native)]
        others = [block for block in written if object_in(block).get("type") != "tool_use"]
        written = [*others, *native, *map(encoded_anthropic_call, handed.in_text)]
    word = _stop_reason(body.get("stop_reason"), bool(handed.calls))
    if written is content and word == body.get("stop_reason"):
        return Rewritten(body, [report])
    return Rewritten({**body, "content": written, "stop_reason": word}, [report])


def _text_of(block: Any) -> str:
    text = object_in(block).get("text") if object_in(block).get("type") == "text" else ""
    return text if isinstance(text, str) else ""


def _with_new_texts(content: list[Any], texts: list[str], new: list[str], thoughts: str) -> list[Any]:
    """The blocks with their new texts. `thoughts`: reasoning in the texts, which becomes a block before the first text."""
    written: list[Any] = []
    for block, before, text in zip(content, texts, new, strict=True):
        if before and thoughts:
            written.append({"type": "thinking", "thinking": thoughts, "signature": ""})
            thoughts = ""
        if text or not before:
            written.append(block if text == before else {**block, "text": text})
    return written


def _are_sound(given: list[Json], calls: list[ToolCall]) -> bool:
    """Whether the native calls are as a client would read them, so that they can stay."""
    if len(given) != len(calls) or len({str(block.get("id")) for block in given}) < len(given):
        return False
    return all(
        block.get("id") == call.id and block.get("name") == call.name and block.get("input") == call.arguments
        for block, call in zip(given, calls, strict=True)
    )


def _stop_reason(word: object, has_calls: bool) -> Any:
    if has_calls:
        return "tool_use" if word in _ENDS else word
    return "end_turn" if word == "tool_use" else word


class AnthropicStreamRewriter:
    """Rewrites the events of a stream. Text and thinking are live. Calls come whole, at the end.

    `feed` returns the events to send for one event, which is the given object if it need not change. `finish` returns the last
    ones, if neither `message_stop` nor a stop reason came: then the reply was cut. Its text is sent, and none of its calls.
    """

    def __init__(self, settings: RewriteSettings) -> None:
        self._settings = settings
        self._items = ItemStream(settings.stream())
        self._blocks = BlockWriter()
        self._open: Any = None
        """The index with which the block came that is open, as text or as thinking in it."""
        self._kinds: dict[Any, str] = {}
        """The type of each block, by its index."""
        self._starts: dict[Any, Json] = {}
        """The start of each text block."""
        self._indexes: dict[Any, int] = {}
        """The index of each block that passes, by the one it came with."""
        self._calls: dict[Any, list[Json]] = {}
        """The events of the native calls, by index."""
        self._last: list[Json] = []
        """The events with the stop reason."""
        self._finished = False
        self.reports: list[ReplyReport] = []

    def feed(self, event: Json) -> list[Json]:
        """The events to send for this one."""
        if self._finished:
            return [event]
        if is_error_event(event):
            return [*self.finish(), event]
        handler = _HANDLERS.get(str(event.get("type")))
        return [event] if handler is None else handler(self, event)

    def finish(self, *, done: bool = False) -> list[Json]:
        """The last events. A second call returns none."""
        return [] if self._finished else self._end(cut=not done and not self._last)

    # Blocks

    def on_start(self, event: Json) -> list[Json]:
        """A block begins."""
        index, block = event.get("index"), object_in(event.get("content_block"))
        kind = self._kinds[index] = str(block.get("type"))
        if kind == "text":
            self._starts[index] = {key: value for key, value in block.items() if key != "text"}
            text = block.get("text")
            begun = self._items.begin(index)
            return [*self._sent(begun), *(self._text(event, text) if isinstance(text, str) and text else ())]
        read = self._items.native(event)
        if kind == "tool_use":
            self._calls[index] = [event]
            return self._sent(read)
        return self._sent([*read, *self._items.begin(index), *self._items.passing(index, event)])

    def on_delta(self, event: Json) -> list[Json]:
        """More of a block."""
        index, delta = event.get("index"), object_in(event.get("delta"))
        kind = self._kinds.get(index)
        if kind == "text" or (kind is None and delta.get("type") == "text_delta"):
            text = delta.get("text")
            if delta.get("type") == "text_delta":
                return self._text(event, text) if isinstance(text, str) and text else []
            return self._sent(self._items.passing(index, event))
        read = self._defer(event, index, delta)
        if kind == "tool_use":
            self._calls[index].append(event)
            return self._sent(read)
        return self._sent([*read, *self._items.passing(index, event)])

    def _defer(self, event: Json, index: Any, delta: Json) -> list[Placed]:
        """Read the delta of a call or of thinking, which is not sent by its events."""
        field = "thinking" if "thinking" in delta else "partial_json"
        text = delta.get(field)
        if not isinstance(text, str) or len(delta) != 2:
            return self._items.native(event)
        self._items.text_stream.defer((field, index), text, lambda text: {**event, "delta": {**delta, field: text}})
        return []

    def on_stop(self, event: Json) -> list[Json]:
        """A block ends."""
        index = event.get("index")
        kind = self._kinds.pop(index, None)
        if kind == "text":  # white space at its end may still be withheld
            return []
        read = self._items.native(event)
        if kind == "tool_use":
            self._calls[index].append(event)
            return self._sent(read)
        return self._sent([*read, *self._items.passing(index, event)])

    def _text(self, event: Json, text: str) -> list[Json]:
        placed = self._items.text(text)
        is_open = self._blocks.open_kind == "text" and self._open == event.get("index")
        if is_open and is_same_text([part for _, part in placed], text):
            return [event if event["index"] == self._blocks.index - 1 else {**event, "index": self._blocks.index - 1}]
        return self._as_given(event, self._sent(placed))

    def _sent(self, placed: list[Placed]) -> list[Json]:
        """The events of text and of what passes, each at the place of its block."""
        written: list[Json] = []
        for index, passes, parts in by_item(placed):
            if self._open != index:
                written += self._blocks.close()
                self._open = index
            start = self._starts.get(index)
            if not passes:
                written += self._blocks.write(parts, start)
            elif start is not None:  # a citation, or another delta of a block of text
                opened = [] if self._blocks.open_kind == "text" else self._blocks.begin("text", start)
                written += [*opened, *({**event, "index": self._blocks.index - 1} for event in parts)]
            else:
                written += map(self._moved, parts)
        return written

    def _as_given(self, event: Json, written: list[Json]) -> list[Json]:
        """The events, with the given object in the place of an equal one."""
        if written and written[-1] == event:
            written[-1] = event
        return written

    def _moved(self, event: Json) -> Json:
        """An event of a block that passes, with the index that the block gets."""
        given = event.get("index")
        if event.get("type") == "content_block_start":
            self._indexes[given] = self._blocks.index
            self._blocks.index += 1
        index = self._indexes.get(given, given)
        return event if index == given else {**event, "index": index}

    # The end

    def on_message_delta(self, event: Json) -> list[Json]:
        """The stop reason and the usage."""
        if not object_in(event.get("delta")).get("stop_reason") and not self._last:
            return [event]
        read = self._items.native(event)
        self._last.append(event)
        return self._sent(read)

    def on_message_stop(self, event: Json) -> list[Json]:
        return self._as_given(event, [*self._end(cut=False), event])

    def _end(self, *, cut: bool) -> list[Json]:
        """The rest of the text, the calls, and the stop reason."""
        self._finished = True
        written = self._sent(self._items.finish(None if cut or self._last else "stop", cut=cut))
        written += self._blocks.close()
        stream = self._items.text_stream
        handed = hand_out(stream.envelope, stream.offered, self._settings, self._native_is_sound, cut=cut)
        self.reports = [ReplyReport(handed.calls, stream.offered.withheld, stream.reclassified_reasoning, cut)]
        for events in self._calls.values() if handed.keeps_native else ():
            written += [{**event, "index": self._blocks.index} for event in events]
            self._blocks.index += 1
        for call in handed.in_text if handed.keeps_native else handed.calls:
            written += call_events(encoded_anthropic_call(call), self._blocks.index)
            self._blocks.index += 1
        for event in self._last:
            delta = object_in(event.get("delta"))
            word = _stop_reason(delta.get("stop_reason"), bool(handed.calls))
            written.append(event if word == delta.get("stop_reason") else {**event, "delta": {**delta, "stop_reason": word}})
        return written

    def _native_is_sound(self, calls: list[ToolCall]) -> bool:
        """Whether the events of the native calls are what a client would read as these calls."""
        if len(calls) != len(self._calls) or len({call.id for call in calls}) < len(calls):
            return False
        for call, events in zip(calls, self._calls.values(), strict=True):
            block = object_in(events[0].get("content_block"))
            text = "".join([str(object_in(event.get("delta")).get("partial_json") or "") for event in events[1:]])
            is_whole = events[-1].get("type") == "content_block_stop"
            same = text == arguments_text(call) or (not text and block.get("input") == call.arguments)
            if not (is_whole and same and block.get("id") == call.id and block.get("name") == call.name):
                return False
        return True


_HANDLERS = {
    "content_block_start": AnthropicStreamRewriter.on_start,
    "content_block_delta": AnthropicStreamRewriter.on_delta,
    "content_block_stop": AnthropicStreamRewriter.on_stop,
    "message_delta": AnthropicStreamRewriter.on_message_delta,
    "message_stop": AnthropicStreamRewriter.on_message_stop,
}
