"""Reads AWS's event stream (`application/vnd.amazon.eventstream`) and returns its events as JSON objects.

A frame consists of its length and that of its headers (4 bytes each), a checksum of both, the headers, the payload, and a
checksum of all. Only the headers name an event, so `{"contentBlockDelta": {...}}` is made from header and payload. A payload
may hold a model's own event in base64, which is returned unchanged. Linear in the bytes.
"""

from __future__ import annotations

import base64
import binascii
import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from llmcore.support.values.narrowing import is_object

__all__ = ["AWS_STREAM", "AwsEvents", "aws_events"]

AWS_STREAM = "application/vnd.amazon.eventstream"
_PRELUDE, _CHECK = 12, 4
_TEXT, _BYTES = 7, 6
_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Header value types with a fixed size, and their sizes in bytes."""


@dataclass(slots=True)
class AwsEvents:
    """The events read. `error` is the exception that ended the stream. `fault` says why the bytes are not a whole stream."""

    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    error: dict[str, Any] | None = None
    fault: str = ""


def aws_events(data: bytes) -> AwsEvents:
    """Return the events of a stream, up to its end or to a damaged frame."""
    found = AwsEvents()
    try:
        for headers, payload in _frames(data):
            _add_event(found, headers, payload)
    except (ValueError, struct.error) as error:
        found.fault = str(error)
    return found


def _frames(data: bytes) -> Iterator[tuple[dict[str, str], bytes]]:
    at = 0
    while at < len(data):
        if len(data) - at < _PRELUDE:
            raise ValueError("the stream is cut within a frame")
        total, of_headers, check = struct.unpack_from(">III", data, at)
        if zlib.crc32(data[at : at + 8]) != check or total < _PRELUDE + of_headers + _CHECK:
            raise ValueError("a frame's head is damaged")
        if len(data) - at < total:
            raise ValueError("the stream is cut within a frame")
        end = at + total - _CHECK
        if zlib.crc32(data[at:end]) != int.from_bytes(data[end : end + _CHECK]):
            raise ValueError("a frame is damaged")
        payload = at + _PRELUDE + of_headers
        yield dict(_headers(data[at + _PRELUDE : payload])), data[payload:end]
        at += total


def _headers(data: bytes) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(data):
        name_end = at + 1 + data[at]
        name, kind = data[at + 1 : name_end].decode("utf-8", "replace"), data[name_end : name_end + 1]
        at = name_end + 1
        if kind and kind[0] in (_TEXT, _BYTES):
            size = int.from_bytes(data[at : at + 2])
            value, at = data[at + 2 : at + 2 + size], at + 2 + size
            if kind[0] == _TEXT:
                yield name, value.decode("utf-8", "replace")
        elif kind and kind[0] in _SIZES:
            at += _SIZES[kind[0]]
        else:
            raise ValueError("a frame's headers are damaged")


def _add_event(found: AwsEvents, headers: dict[str, str], payload: bytes) -> None:
    body = json.loads(payload or b"{}")
    if headers.get(":message-type") in ("exception", "error"):
        kind = headers.get(":exception-type") or headers.get(":error-code", "error")
        message = headers.get(":error-message", "")
        found.error = {"type": kind, **({"message": message} if message else {}), **(body if is_object(body) else {})}
        return
    if is_object(body) and isinstance(inner := body.get("bytes"), str):
        try:
            body = json.loads(base64.b64decode(inner))
        except binascii.Error:
            raise ValueError("an event is no base64") from None
        if is_object(body):
            found.events.append(body)
        return
    name = headers.get(":event-type", "")
    found.events.append({name: body} if name else body if is_object(body) else {"event": body})
