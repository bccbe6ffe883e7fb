"""Splits streams into events: server-sent events, JSON lines, and AWS's binary frames.

Memory is bounded by one event. The work is linear in the bytes, however they are split.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from llmcore.adapters.wire.terminators import DONE, is_of_a_wire, parse_json
from llmcore.support.values.narrowing import is_object, object_in

__all__ = ["EventLines", "Frames", "Sent", "TooLong"]

_BOM = b"\xef\xbb\xbf"
_FRAME_HEAD, _FRAME_CHECK = 12, 4
_EXCEPTION = b":exception-type"
"""The header of a frame with an error."""
_KIND_OF_EXCEPTION = re.compile(rb":exception-type\x07\x00[\x01-\x80]([A-Za-z]{1,128})")
"""The same header with its value, a string (type 7) and its length: the name of the error."""
_KIND_OF_EVENT = re.compile(rb":event-type\x07\x00[\x01-\x80]([A-Za-z]{1,128})")
_FIELD = re.compile(rb"[A-Za-z][\w.-]*\Z")
"""The name of a server-sent event's field. Unknown fields are ignored, as the standard demands."""
_IGNORED = frozenset({b"id", b"retry"})


class TooLong(ValueError):
    """A line or frame of a stream exceeds the limit."""


class Sent(NamedTuple):
    """One event: its data, the `event:` name, and whether it stood in a `data:` line."""

    data: bytes
    name: bytes = b""
    is_framed: bool = True

    def serialized(self) -> bytes:
        """The event in the simplest framing of its kind: one line, without comments and unused fields."""
        data = self.data.replace(b"\r", b" ").replace(b"\n", b" ")
        if not self.is_framed:
            return data + b"\n"
        return (b"event: " + self.name + b"\n" if self.name else b"") + b"data: " + data + b"\n\n"


class EventLines:
    """Splits bytes into server-sent events and JSON lines.

    A `data:` line with a JSON object or `[DONE]` is an event by itself, since some servers omit the blank line. Other `data:`
    lines are joined up to the blank line. An `error:` field is an event with that name. A line of no known form is returned
    as data.

    `longest` is the most bytes of an event; `feed` raises `TooLong` beyond it. `in_document`: the bytes are one JSON text
    over several lines, not a stream. Such a text yields no events.
    """

    def __init__(self, longest: int) -> None:
        self.in_document = False
        self._longest = longest
        self._line: list[bytes] = []
        self._data: list[bytes] = []
        self._name = b""
        self._length = self._buffer = 0  # bytes waiting in all; those in `_data`
        self._begun = False
        self._in_lines: bool | None = None  # whether these are JSON lines; None until the first event

    def feed(self, data: bytes) -> Iterator[Sent]:
        """The events that end in these bytes. Raises `TooLong`."""
        for line in data.splitlines(keepends=True):
            if self.in_document:
                return
            self._line.append(line)
            self._length += len(line)
            if self._length > self._longest:
                raise TooLong
            if line.endswith((b"\n", b"\r")):
                yield from self._handle_line(self._joined())

    def finish(self) -> Iterator[Sent]:
        """The last event, which counts even without its line break."""
        yield from self._handle_line(self._joined())
        yield from self._handle_line(b"")

    def _joined(self) -> bytes:
        line = b"".join(self._line).strip()
        self._line, self._length = [], self._buffer
        if not self._begun:
            line = line.removeprefix(_BOM).lstrip()
            self._begun = bool(line)
            self.in_document = line.startswith((b"{", b"[")) and line != DONE and not is_object(parse_json(line))
        return line

    def _handle_line(self, line: bytes) -> Iterator[Sent]:
        if self.in_document or line.startswith(b":"):
            return
        if line.startswith(b"data:"):
            self._in_lines = False
            yield from self._data_line(line[5:].strip())
        elif not line:
            yield from self._blank_line()
        elif line.startswith((b"{", b"[")):
            self._in_lines = self._in_lines is not False
            yield Sent(line, self._named(), is_framed=False)
        else:
            yield from self._other_line(line)

    def _data_line(self, data: bytes) -> Iterator[Sent]:
        if data and (self._data or not (data == DONE or (data.startswith(b"{") and data.endswith(b"}")))):
            self._data.append(data)
            self._buffer += len(data)
            self._length = self._buffer
        elif data:
            yield Sent(data, self._named())

    def _blank_line(self) -> Iterator[Sent]:
        name = self._named()
        if self._data:
            data, self._data, self._length, self._buffer = b"\n".join(self._data).strip(), [], 0, 0
            yield Sent(data, name)
        elif name == b"error":
            yield Sent(b"", name)

    def _other_line(self, line: bytes) -> Iterator[Sent]:
        field, _, value = line.partition(b":")
        if field == b"event":
            self._name = value.strip()
        elif field == b"error":
            yield Sent(value.strip(), b"error")
        elif field not in _IGNORED and (self._in_lines is not False or not _FIELD.match(field) or _is_event(value.strip())):
            yield Sent(line, is_framed=False)

    def _named(self) -> bytes:
        name, self._name = self._name, b""
        return name


def _is_event(value: bytes) -> bool:
    return value.startswith(b"{") and is_of_a_wire(parse_json(value))


class Frames:
    """Splits AWS's event stream. Used like `EventLines`."""

    in_document = False

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Sent]:
        """The events that end in these bytes. Raises `TooLong`."""
        self._buffer += data
        at = 0
        while len(self._buffer) - at >= _FRAME_HEAD:
            length = int.from_bytes(self._buffer[at : at + 4])
            headers = int.from_bytes(self._buffer[at + 4 : at + 8])
            if not _FRAME_HEAD + _FRAME_CHECK + headers <= length <= self._longest:
                raise TooLong
            if len(self._buffer) - at < length:
                break
            payload = at + _FRAME_HEAD + headers
            headers_read, data_read = bytes(self._buffer[at:payload]), bytes(self._buffer[payload : at + length - _FRAME_CHECK])
            if _EXCEPTION in headers_read:
                yield Sent(_exception_event(data_read, headers_read), b"error")
            else:
                yield Sent(_named_event(data_read, headers_read))
            at += length
        del self._buffer[:at]

    def finish(self) -> Iterator[Sent]:
        """Nothing: an incomplete frame holds no event."""
        yield from ()


def _exception_event(payload: bytes, headers: bytes) -> bytes:
    """An exception's object with its name as `type`, which only the headers hold."""
    found, body = _KIND_OF_EXCEPTION.search(headers), parse_json(payload)
    if found is None or not is_object(body) or "type" in body:
        return payload
    return json.dumps({"type": found[1].decode(), **body}).encode()


def _named_event(payload: bytes, headers: bytes) -> bytes:
    """An event's object under its name, which only the headers hold.

    If the request was in the model's own format, the frame holds the model's own event in base64.
    """
    if not payload.startswith(b'{"bytes"') or (inner := object_in(parse_json(payload)).get("bytes")) is None:
        found = _KIND_OF_EVENT.search(headers)
        return payload if found is None else b'{"' + found[1] + b'": ' + payload + b"}"
    try:
        return base64.b64decode(str(inner))
    except (ValueError, binascii.Error):
        return payload
