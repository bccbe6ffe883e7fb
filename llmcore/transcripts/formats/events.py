"""Splits recorded streams into event objects. The beginning of the text shows whether it is server-sent events, JSON
lines or a JSON array.

Rules: only LF, CRLF or CR end a line (U+2028 occurs raw inside JSON strings). Comments, `event:`, `id:` and `retry:`
fields have no data. Several `data:` lines of one event are joined. `[DONE]` is not an event. At the end of a recording,
an event without its closing blank line counts. What is not a JSON object is counted in `unreadable`, and never raises.
Work is linear in the length of the text for any chunks. Only a JSON array waits for its end. A stream over
`RECORDING_LIMITS` raises `OverLimit`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from llmcore.support.values.narrowing import is_list, is_object
from llmcore.transcripts.errors import OverLimit
from llmcore.transcripts.formats.decoding import check_values, load_json
from llmcore.types.limits import RECORDING_LIMITS

__all__ = ["EventSplitter", "looks_like_events", "split_events"]

StreamEvent = dict[str, Any]

_LINE_END = re.compile(r"\r\n|\n|\r")
_SSE_FIELD = re.compile(r"(?:data|event|id|retry)?:")
_BETWEEN_ITEMS = re.compile(r"[\s,\[\]]*")
_CLOSERS = ("}", "]")  # any other ending is not an event; this check is cheaper than parsing
_DONE = "[DONE]"
_LINES_PER_EVENT = 4


def looks_like_events(text: str) -> bool:
    """Does the text begin like server-sent events (a `data:`, `event:`, `id:`, `retry:` or comment line)?"""
    return _SSE_FIELD.match(text.lstrip("\ufeff\r\n")[:8]) is not None


def split_events(text: str) -> tuple[list[StreamEvent], int]:
    """The events of a whole recorded stream, and the number of its unreadable pieces."""
    splitter = EventSplitter()
    events = list(splitter.whole(text))
    return events, splitter.unreadable


class EventSplitter:
    """Splits a stream incrementally: `feed` chunks of text, then `finish`; both yield the events that are now whole.

    `unreadable` counts pieces with data that are not JSON objects.
    """

    def __init__(self) -> None:
        self.unreadable = 0
        self._line: list[str] = []  # pieces of the line that has not ended
        self._pending_return = False  # a CR ended the last chunk: an LF may belong to it
        self._data: list[str] = []  # data lines of the event that has not ended
        self._array: list[str] | None = None  # the whole text, if it began with a bracket
        self._begun = False
        self._characters = self._line_count = self._event_count = 0

    def whole(self, text: str) -> Iterator[StreamEvent]:
        """The events of a whole stream, one at a time, instead of `feed` and `finish`.

        One JSON object over several lines is one event: servers send it instead of a stream when they fail.
        """
        if text.lstrip("\ufeff \t\r\n").startswith("{"):
            try:
                value = load_json(text)
            except ValueError:
                value = None
            if value is not None:
                yield value
                return
        yield from self.feed(text)
        yield from self.finish()

    def feed(self, chunk: str) -> Iterator[StreamEvent]:
        self._characters += len(chunk)
        if self._characters > RECORDING_LIMITS.size:
            raise OverLimit(f"a stream of more than {RECORDING_LIMITS.size} characters")
        if not self._begun:
            chunk = self._begin(chunk)
        if self._array is not None:
            self._array.append(chunk)
            return
        for line in self._lines(chunk):
            yield from self._take(line)

    def finish(self) -> Iterator[StreamEvent]:
        if self._array is not None:
            yield from self._items("".join(self._array))
            self._array = []
            return
        rest = "".join(self._line)
        self._line = []
        yield from self._take(rest)
        yield from self._dispatch()

    def _begin(self, chunk: str) -> str:
        chunk = chunk.lstrip("\ufeff \t\r\n")
        if chunk:
            self._begun = True
            self._array = [] if chunk.startswith("[") else None
        return chunk

    def _lines(self, chunk: str) -> Iterator[str]:
        """The lines that end inside this chunk. The rest waits for the next chunk."""
        if self._pending_return and chunk:
            self._pending_return = False
            chunk = chunk.removeprefix("\n")
        self._pending_return = chunk.endswith("\r")
        position = 0
        for end in _LINE_END.finditer(chunk):  # one at a time: a list of empty lines needs far more memory than their text
            self._line_count += 1
            if self._line_count > RECORDING_LIMITS.events * _LINES_PER_EVENT:
                raise OverLimit(f"a stream of more than {RECORDING_LIMITS.events * _LINES_PER_EVENT} lines")
            self._line.append(chunk[position : end.start()])
            position = end.end()
            yield "".join(self._line)
            self._line = []
        if position < len(chunk):
            self._line.append(chunk[position:])

    def _take(self, line: str) -> Iterator[StreamEvent]:
        if line.startswith("data:"):
            self._data.append(line[5:].removeprefix(" "))
        elif not line.strip():
            yield from self._dispatch()
        elif line.lstrip().startswith("{"):
            yield from self._dispatch()
            yield from self._read(line)
        elif not _SSE_FIELD.match(line):
            self.unreadable += 1

    def _dispatch(self) -> Iterator[StreamEvent]:
        data, self._data = "\n".join(self._data), []
        if data.strip() and data.strip() != _DONE:
            yield from self._read(data)

    def _read(self, text: str) -> Iterator[StreamEvent]:
        try:
            value = load_json(text) if text.rstrip().endswith(_CLOSERS) else None
        except ValueError:
            value = None
        for item in value if is_list(value) else [value]:
            yield from self._event(item)

    def _event(self, item: Any) -> Iterator[StreamEvent]:
        if not is_object(item):
            self.unreadable += 1
            return
        self._event_count += 1
        if self._event_count > RECORDING_LIMITS.events:
            raise OverLimit(f"a stream of more than {RECORDING_LIMITS.events} events")
        yield item

    def _items(self, text: str) -> Iterator[StreamEvent]:
        """The objects of a JSON array that may be cut off. Each is read once; the first unreadable one ends it."""
        check_values(text)
        decoder = json.JSONDecoder()
        position = _next_item(text, 0)
        while position < len(text):
            try:
                item, position = decoder.raw_decode(text, position)
            except (ValueError, RecursionError):
                self.unreadable += 1
                return
            yield from self._event(item)
            position = _next_item(text, position)


def _next_item(text: str, position: int) -> int:
    found = _BETWEEN_ITEMS.match(text, position)
    return found.end() if found else position
