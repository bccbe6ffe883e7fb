"""Server-sent events: bytes into events that keep their bytes, and events into bytes.

A stream that passes through must not change where nothing is rewritten, so each event keeps its bytes: comments, ids, line ends.
The work is linear in the bytes, however they are split. Memory is bounded by one event.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from llmcore.support.values.json_data import as_json

__all__ = ["DONE", "ServerEvent", "ServerEventSplitter", "event_bytes", "json_bytes"]

DONE = b"[DONE]"
"""The data of the last event of OpenAI's chat API."""
_END = re.compile(rb"(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r)")
"""The end of a line, and the end of an empty line."""
_SIMPLE = re.compile(rb"(?:event: ([^\r\n]*)\n)?data: ([^\r\n]*)\n\n")
"""One event as most servers send it."""
_LINE_END = re.compile(rb"\r\n|\n|\r")
_LOOK_BACK = 3
"""An end of two line ends may begin this many bytes before new bytes."""
_BOM = b"\xef\xbb\xbf"


class ServerEvent(NamedTuple):
    """One event: its bytes as they came, its joined `data:` lines, and its `event:` name."""

    raw: bytes
    data: bytes
    name: bytes = b""


class ServerEventSplitter:
    """Splits the bytes of a stream into events. `rest` are the bytes of the event that has not ended."""

    __slots__ = ("_buffer", "_searched")

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._searched = 0

    def __len__(self) -> int:
        """How many bytes wait for the end of their event."""
        return len(self._buffer)

    @property
    def rest(self) -> bytes:
        return bytes(self._buffer)

    def feed(self, data: bytes) -> list[ServerEvent]:
        """The events that end in these bytes. An event ends with an empty line."""
        buffer = self._buffer
        if not buffer and (simple := _SIMPLE.fullmatch(data)):
            return [ServerEvent(data, simple[2], simple[1] or b"")]
        events: list[ServerEvent] = []
        buffer += data
        at, start = 0, max(0, self._searched - _LOOK_BACK)
        whole = len(buffer) - 1 if buffer.endswith(b"\r") else len(buffer)  # a line feed may follow
        while found := _END.search(buffer, start, whole):
            end = found.end()
            if buffer.startswith(b"\r\n", end - 1):
                end += 1
            events.append(_event(bytes(buffer[at:end])))
            at = start = end
        del buffer[:at]
        self._searched = len(buffer)
        return events

    def finish(self) -> list[ServerEvent]:
        """The last event, if no empty line follows it."""
        rest, self._buffer = bytes(self._buffer), bytearray()
        return [_event(rest)] if rest else []


def _event(raw: bytes) -> ServerEvent:
    if simple := _SIMPLE.fullmatch(raw):
        return ServerEvent(raw, simple[2], simple[1] or b"")
    data: list[bytes] = []
    name = b""
    for line in _LINE_END.split(raw.removeprefix(_BOM)):
        field, _, value = line.partition(b":")
        if field == b"data":
            data.append(value.removeprefix(b" "))
        elif field == b"event":
            name = value.strip()
    return ServerEvent(raw, b"\n".join(data), name)


def event_bytes(data: Mapping[str, Any], name: str = "") -> bytes:
    """The event as bytes. `name`: its `event:` line, which Anthropic's and OpenAI's Responses streams have; "" for none."""
    head = f"event: {name}\n" if name else ""
    return b"".join((head.encode(), b"data: ", json_bytes(data), b"\n\n"))


def json_bytes(data: object) -> bytes:
    """JSON data as bytes. Text that UTF-8 cannot encode is escaped."""
    try:
        return as_json(data).encode()
    except UnicodeEncodeError:
        return as_json(data, ascii_only=True).encode()
