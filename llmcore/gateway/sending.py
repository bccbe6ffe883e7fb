"""`Sender`: writes one answer to the client, by ASGI. It knows whether the answer has begun, which decides the form of errors."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from typing import Any

from llmcore.gateway.admission import retry_after_text
from llmcore.gateway.wires import ClientWire, GatewayError
from llmcore.wire.sse import json_bytes

__all__ = ["STREAM_HEADERS", "Sender"]

STREAM_HEADERS = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",  # else nginx holds the stream back
}
_NUMBER = re.compile(rb'"sequence_number": ?(\d+)')


class Sender:
    """One answer. `status`: what was sent; 0 before. `first_byte`: the `perf_counter` of its first bytes."""

    def __init__(self, send: Any, wire: ClientWire, request_id: str) -> None:
        self._send = send
        self.wire, self.request_id = wire, request_id
        self.status = 0
        self.size = 0
        self.first_byte: float | None = None
        self.has_ended = False
        self._last = b""
        """The last part of a stream."""

    async def start(self, status: int, headers: Iterable[tuple[str, str]]) -> None:
        """Send the head. The request's id is added to it."""
        pairs = list(headers)
        if not any(name == "x-request-id" for name, _ in pairs):
            pairs.append(("x-request-id", self.request_id))
        pairs.append(("x-llmcore-request-id", self.request_id))
        raw = [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in pairs]
        self.status = status
        await self._send({"type": "http.response.start", "status": status, "headers": raw})

    async def write(self, data: bytes) -> None:
        """Send a part of a stream."""
        if not data:
            return
        if self.first_byte is None:
            self.first_byte = time.perf_counter()
        self.size += len(data)
        self._last = data
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def end(self) -> None:
        """End a stream."""
        self.has_ended = True
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def body(self, status: int, data: bytes, headers: Iterable[tuple[str, str]] = ()) -> None:
        """Send a whole answer, of JSON unless the headers say otherwise."""
        pairs = list(headers)
        if not any(name == "content-type" for name, _ in pairs):
            pairs.append(("content-type", "application/json"))
        await self.start(status, [*pairs, ("content-length", str(len(data)))])
        self.first_byte, self.size, self.has_ended = time.perf_counter(), len(data), True
        await self._send({"type": "http.response.body", "body": data, "more_body": False})

    async def error(self, error: GatewayError) -> None:
        """Send an error in the wire's shape: as a body, or as the last event of a stream that has begun."""
        if self.has_ended:
            return
        if self.status:
            numbers = _NUMBER.findall(self._last)
            await self.write(self.wire.error_event(error, int(numbers[-1]) + 1 if numbers else 0))
            await self.end()
            return
        headers = {} if error.retry_after is None else {"retry-after": retry_after_text(error.retry_after)}
        if error.status == 401:
            headers["www-authenticate"] = "Bearer"
        await self.body(error.status, json_bytes(self.wire.error(error)), headers.items())
