"""Streams taken apart into what was sent: server-sent events, JSON lines, and AWS's binary frames.

Memory is bounded by one event; work is linear in the bytes, however they are cut.
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
"""The header of a frame that tells an error."""
_KIND_OF_EXCEPTION = re.compile(rb":exception-type\x07\x00[\x01-\x80]([A-Za-z]{1,128})")
"""The same with its value, a text (7) and how long it is: what the error is called."""
_KIND_OF_EVENT = re.compile(rb":event-type\x07\x00[\x01-\x80]([A-Za-z]{1,128})")
_FIELD = re.compile(rb"[A-Za-z][\w.-]*\Z")
"""What the name of a server-sent event's field looks like; a field that nobody knows is ignored, as the standard says."""
_IGNORED = frozenset({b"id", b"retry"})


class TooLong(ValueError):
    """A line or frame of a stream is longer than it may be."""


class Sent(NamedTuple):
    """One event as it was sent: its data, the `event:` that named it, and whether it stood in a `data:` line."""

    data: bytes
    name: bytes = b""
    is_framed: bool = True

    def serialized(self) -> bytes:
        """The event anew, in the plainest framing of its kind: in one line, without comments or fields that nobody reads."""
        data = self.data.replace(b"\r", b" ").replace(b"\n", b" ")
        if not self.is_framed:
            return data + b"\n"
        return (b"event: " + self.name + b"\n" if self.name else b"") + b"data: " + data + b"\n\n"


class EventLines:
    """Server-sent events and JSON lines out of bytes.

    A `data:` line that is a JSON object or `[DONE]` is an event by itself, since some servers leave out the blank line; other
    ones are joined until it comes. An `error:` field is an event of that name, and a line that is none of a stream's at all is
    handed on as it is. `longest`: bytes an event may have; `feed` raises `TooLong` beyond. `in_document`: the bytes are no stream
    but one JSON text over several lines, of which nothing is body.
    """

    def __init__(self, longest: int) -> None:
        self.in_document = False
        self._longest = longest
        self._line: list[bytes] = []
        self._data: list[bytes] = []
        self._name = b""
        self._length = self._buffer = 0  # bytes that wait; those of them that stand in `_data`
        self._begun = False
        self._in_lines: bool | None = None  # JSON lines, which have no fields; None until the first event

    def feed(self, data: bytes) -> Iterator[Sent]:
        """The events that end in these bytes."""
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
        """The stream is over; a last event without its line break still counts."""
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
    """AWS's event stream: what its frames hold. Same use as `EventLines`."""

    in_document = False

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Sent]:
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
        """Half a frame holds nothing."""
        yield from ()


def _exception_event(payload: bytes, headers: bytes) -> bytes:
    """The object of an exception with what it is called, which its headers alone tell."""
    found, body = _KIND_OF_EXCEPTION.search(headers), parse_json(payload)
    if found is None or not is_object(body) or "type" in body:
        return payload
    return json.dumps({"type": found[1].decode(), **body}).encode()


def _named_event(payload: bytes, headers: bytes) -> bytes:
    """The object of an event under what it is called, which its headers alone tell. A model's own event stands in the frame in
    base64, where the request was made in the model's own format."""
    if not payload.startswith(b'{"bytes"') or (inner := object_in(parse_json(payload)).get("bytes")) is None:
        found = _KIND_OF_EVENT.search(headers)
        return payload if found is None else b'{"' + found[1] + b'": ' + payload + b"}"
    try:
        return base64.b64decode(str(inner))
    except (ValueError, binascii.Error):
        return payload
