"""Watches the HTTP traffic of one call below LiteLLM: status, body, and whether the reply is complete.

LiteLLM keeps no raw body of a stream, invents a missing end, and reads bodies of any size. A `WireExchange` stands between
the socket and LiteLLM: it decompresses, counts, bounds and records the bytes. If a limit is exceeded, it stops reading.
Memory is bounded by `Limits`; the work is linear in the bytes.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import zlib
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Coroutine,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing, contextmanager, suppress
from contextvars import ContextVar
from typing import Any, Protocol

from llmcore.adapters.request.replies import holds_litellm_tool
from llmcore.adapters.wire.counts import with_sound_counts
from llmcore.adapters.wire.error_events import ErrorEvent
from llmcore.adapters.wire.extent import too_many_values, too_many_values_in
from llmcore.adapters.wire.inflating import ErrorInflater, Inflater, UnknownEncoding, inflater_of
from llmcore.adapters.wire.streaming import EventStream, ReadChunk
from llmcore.adapters.wire.terminators import StreamEnd, is_whole_reply, may_be_stream_line, parse_json
from llmcore.support.code.cooperative_work import Pace
from llmcore.support.values.json_data import as_json
from llmcore.support.values.narrowing import is_object
from llmcore.types import Limits

__all__ = ["TrafficWatch", "WireExchange", "current_watch"]

_CLOSE_TIMEOUT = 0.05
"""Seconds to wait for the connection's end after the reply's end. A connection that ended can be reused."""
_BINARY = "vnd.amazon.eventstream"
_HTML = (b"<!doctype", b"<html", b"<head", b"<body", b"<?xml")
_HEAD = 1024
_MAX_FACT_LENGTH = 4096
_OUTLINE = ("id", "object", "created", "model", "service_tier", "usage")
_GEMINIS = ("responseId", "modelVersion")
_BLANK = b"\xef\xbb\xbf \t\r\n"
_SLICE = 2048
"""Bytes that are processed before other tasks may run. LiteLLM needs a third of a millisecond for each of some hundred tiny
events."""
_JSON_STARTS = (b"{", b"[")
"""How a JSON body or JSON lines begin, if a server sends them instead of server-sent events. Such a body is stored."""

Header = tuple[bytes, bytes]

_current: ContextVar[TrafficWatch | None] = ContextVar("llmcore_watching", default=None)


def current_watch() -> TrafficWatch | None:
    """Return the watch of the current call, None outside of one."""
    return _current.get()


class _Broken(Exception):
    """The server's data exceeds a limit or cannot be read. LiteLLM may wrap this error; `WireExchange.failure` keeps the
    reason."""


class OutgoingBodies(Protocol):
    """Rewrites the requests of one call before they are sent."""

    @property
    def digest(self) -> str: ...

    def outgoing_body(self, url: str, body: bytes, *, signed: bool) -> bytes: ...

    def headers(self, headers: Sequence[Header]) -> list[Header]: ...

    def check_fetch(self, url: str) -> None: ...


class TrafficWatch:
    """Watches the HTTP requests of one call.

    `streamed`: the reply was requested as a stream. `known`: the wire format is known. `outgoing` rewrites the requests.

    `exchange` is the last response inside an `active` block. It is None if none could be seen, as with the user's own client.
    """

    def __init__(self, limits: Limits, *, streamed: bool, known: bool, outgoing: OutgoingBodies | None = None) -> None:
        self.limits = limits
        self._outgoing = outgoing
        self.forces_litellm_tool = False
        """Whether LiteLLM forces a tool of its own for the answer. Then only LiteLLM can read the answer from the reply."""
        self.fault: Exception | None = None
        """Why a request was refused. LiteLLM raises it with another message."""
        self.streamed = streamed
        self.known = known
        self.exchange: WireExchange | None = None
        self.carriers: list[object] = []
        """The transports that have sent the call since LiteLLM was last called."""
        self._task: asyncio.Task[Any] | None = None
        self._coroutine: Coroutine[Any, Any, Any] | None = None
        self._is_cancelled = False

    @contextmanager
    def active(self) -> Generator[None, None, None]:
        """Watch requests made inside the block. Use it around each await, since several tasks may consume a stream."""
        self._task = asyncio.current_task()
        token = _current.set(self)
        try:
            yield
        except asyncio.CancelledError:
            self._is_cancelled = True
            self._close_unawaited()
            raise
        finally:
            _current.reset(token)

    @property
    def digest(self) -> str:
        """A digest of the last request sent. Empty without one."""
        return self._outgoing.digest if self._outgoing is not None else ""

    def headers(self, headers: Sequence[Header]) -> list[Header]:
        """The headers to send instead of these."""
        return [*headers] if self._outgoing is None or not self._is_ours() else self._outgoing.headers(headers)

    def outgoing_body(self, method: str, url: str, body: bytes, *, signed: bool) -> bytes:
        """The body to send instead of this one. Raises if the request must not be sent."""
        if self._outgoing is None or not self._is_ours():
            return body
        try:
            if method != "GET":
                self.forces_litellm_tool = holds_litellm_tool(body)
                return self._outgoing.outgoing_body(url, body, signed=signed)
            self._outgoing.check_fetch(url)
        except Exception as error:
            self.fault = error
            raise
        return body

    def _is_ours(self) -> bool:
        """Whether the current task makes the call. LiteLLM runs its users' callbacks in other tasks, which may send requests
        too."""
        return self.exchange is None or asyncio.current_task() is self._task

    def note_coroutine(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        """Record a coroutine that LiteLLM made in a thread to await on the event loop.

        If the call is cancelled before that, the coroutine is never awaited, and Python would warn. So it is closed.
        """
        self._coroutine = coroutine
        if self._is_cancelled:
            self._close_unawaited()

    def _close_unawaited(self) -> None:
        if self._coroutine is not None and inspect.getcoroutinestate(self._coroutine) == inspect.CORO_CREATED:
            self._coroutine.close()

    def begin(self, url: str, status: int, headers: Mapping[str, str], source: AsyncIterable[bytes]) -> WireExchange | None:
        """Record a response. None if it does not belong to this call."""
        if not self._is_ours():
            return None
        self.exchange = WireExchange(self, url, status, headers, source)
        return self.exchange


class WireExchange:
    """One HTTP response. Its bytes are read once: by LiteLLM (`litellm_body`), or by llmcore (`events`).

    `is_read`: reading has begun. `is_exhausted`: it has ended. `received`: decompressed bytes. `is_json_body`: they begin as
    JSON. `end`: what a stream's events say of its end. `connection_error`: what broke the connection before the reply's end.
    `failure`: why reading stopped: which limit was exceeded, or that an event is invalid. `error`: the server's error event.
    """

    def __init__(
        self, watch: TrafficWatch, url: str, status: int, headers: Mapping[str, str], source: AsyncIterable[bytes]
    ) -> None:
        self.url = url
        self.status = status
        self.kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        self.is_read = self.is_exhausted = False
        self.received = 0
        self.is_json_body = False
        self.connection_error: Exception | None = None
        self.failure = ""
        self.error: ErrorEvent | None = None
        self._source = source
        self._encoding = headers.get("content-encoding")
        self._limits = watch.limits
        self._known = watch.known
        self._streamed = watch.streamed and self.ok
        self._most = watch.limits.stream if self._streamed else watch.limits.body
        self._stream = EventStream(watch.limits, binary=_BINARY in self.kind, known=watch.known)
        self._parsed: list[dict[str, Any]] | None = None
        """Events that `events` will return; None if only their end matters."""
        self._body = bytearray()
        self._parsed_body: tuple[int, Any] = (0, None)  # the body's length then, and its value
        self._last = b""  # what the end of the bytes added
        self._whole = True  # whether `_body` is complete, not only its beginning

    @property
    def ok(self) -> bool:
        return self.status < 300

    @property
    def body(self) -> bytes:
        """The decompressed bytes; of server-sent events, only the first kilobyte."""
        return bytes(self._body)

    @property
    def document(self) -> Any:
        """The body as JSON, None if it is no JSON or cut. Parsed once for each length."""
        if self._parsed_body[0] != len(self._body):
            self._parsed_body = len(self._body), self._read_document() if self._whole else None
        return self._parsed_body[1]

    def _read_document(self) -> Any:
        body = self.body
        if why := too_many_values_in(body, self._limits):
            self.failure = self.failure or why
            return None
        document = parse_json(body)
        if why := too_many_values(document, self._limits):
            self.failure = self.failure or why
            return None
        return document

    @property
    def is_web_page(self) -> bool:
        return self.body[:_HEAD].lstrip().lower().startswith(_HTML)

    @property
    def end(self) -> StreamEnd:
        return self._stream.end

    @property
    def is_whole(self) -> bool:
        """Whether a streamed reply is complete, by a finish reason, an end mark, or one JSON body instead of a stream."""
        whole = is_whole_reply(self.document) and not (self._streamed and may_be_stream_line(self.document))
        return self.end.seen or whole

    @property
    def _has_own_end(self) -> bool:
        """Whether a stream's events said that it ended. Then errors of the connection do not matter. A body ends with the
        connection."""
        return self._streamed and self.end.seen and not is_whole_reply(self.document)

    def events_in_body(self) -> list[dict[str, Any]]:
        """The events of a stream that arrived instead of a whole body; empty if it is incomplete.

        `failure` and `error` then say what is wrong with it.
        """
        if self.failure:
            return []
        stream = EventStream(self._limits, binary=False, known=True)
        events = [*stream.feed(self.body).events, *stream.finish().events]
        if stream.end.events:  # otherwise it was no stream
            self.failure, self.error = stream.failure, stream.error
        return events if stream.end.seen and not stream.is_broken else []

    # Reading

    async def litellm_body(self) -> AsyncGenerator[bytes, None]:
        """The bytes that LiteLLM reads: a stream as it arrives, only the beginning of an invalid body, and an outline of a
        large reply.

        LiteLLM puts a body that it refuses into an error and searches it, which blocks the event loop for four seconds a
        megabyte. llmcore reads the reply from the body itself, so LiteLLM only counts the usage.
        """
        async with aclosing(self.chunks()) as chunks:
            async for piece in chunks:
                if self._streamed or not self.ok:
                    yield piece
        if not self._streamed and self.ok:
            fit = is_whole_reply(self.document) if self._known else self.document is not None
            large = self._known and len(self._body) > self._limits.error_body
            yield _outline(self.body, self.document, large=large) if fit else self.body[: self._limits.error_body]

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The checked, decompressed bytes: a stream's valid events, and an error's body up to the limit.

        Raises the connection's error, and an error of its own if a limit is exceeded or an event is invalid.

        If the connection breaks after a stream's own end, that is no error. After the last event, the connection's end is not
        awaited. A JSON body has no end of its own, only that of HTTP and of its compression.
        """
        self.is_read = True
        source: AsyncIterator[bytes] = aiter(self._source)
        pace = Pace()
        try:
            inflater = self._inflater()
            while not self.end.is_final and (data := await self._next(source)) is not None:
                for piece in _slices((data,) if inflater is None else self._unpacked(inflater, data)):
                    await pace.rest()
                    head = piece if self.ok else piece[: self._limits.error_body - self.received]
                    if sound := self._accept(head):
                        yield sound
                    self._raise_if_broken()
                    if len(head) < len(piece):
                        return
            if self.end.is_final:
                await _drain(source)
            if last := self._finish():
                yield last
            if inflater is not None and inflater.fault and self.ok and not self._has_own_end:
                raise self._failure(f"the reply cannot be unpacked ({inflater.fault})")
            self._raise_if_broken()
        finally:
            close = getattr(source, "aclose", None)
            if close is not None:
                with suppress(Exception):
                    await close()

    async def events(self) -> AsyncGenerator[dict[str, Any], None]:
        """The parsed events of a stream in OpenAI's format, or the JSON body that arrived instead. Raises the same errors as
        `chunks`."""
        self._parsed, failure = [], None
        async with aclosing(self.chunks()) as chunks:
            try:
                async for _ in chunks:
                    for event in self._take_events():
                        yield event
            except Exception as error:
                failure = error
            for event in self._take_events():  # from the last bytes, or from before the connection broke
                yield event
        if failure is not None:
            raise failure

    def _take_events(self) -> list[dict[str, Any]]:
        parsed, self._parsed = self._parsed or [], []
        return parsed

    async def aclose(self) -> None:
        """Close the connection unless its end was reached, even if nothing was read."""
        close = getattr(self._source, "aclose", None)
        if close is not None:
            with suppress(Exception):  # may already be closed
                await close()

    async def _next(self, source: AsyncIterator[bytes]) -> bytes | None:
        try:
            return await anext(source, None)
        except Exception as error:
            self._finish()
            if self._has_own_end:
                return None
            self.connection_error = error
            raise

    def _inflater(self) -> Inflater | None:
        if not self.ok and self._encoding:
            return ErrorInflater(self._encoding, self._limits.members)
        try:
            return inflater_of(self._encoding, self._limits.members)
        except UnknownEncoding as error:
            raise self._failure(f"the reply is packed as {str(error)[:40]!r}, which was not asked for") from None

    def _unpacked(self, inflater: Inflater, data: bytes) -> Iterator[bytes]:
        try:
            yield from inflater.feed(data)
        except (ValueError, zlib.error) as error:
            raise self._failure(f"the reply cannot be unpacked ({error})") from None

    def _accept(self, piece: bytes) -> bytes:
        """Record the next bytes, and return those that may be passed on."""
        self.received += len(piece)
        if self.received > self._most:
            self.failure = f"the reply is longer than {self._most:,} bytes"
            return b""
        self._store(piece)
        if not self._streamed:
            return piece
        chunk = self._stream.feed(piece)
        self._enter(chunk)
        return bytes(chunk.written)

    def _enter(self, chunk: ReadChunk) -> None:
        if self._parsed is not None:
            self._parsed += chunk.events
        self.failure = self.failure or self._stream.failure
        self.error = self._stream.error

    def _store(self, piece: bytes) -> None:
        if not self._whole:
            return
        self._body += piece
        self.is_json_body = self.is_json_body or self._body[:_HEAD].lstrip(_BLANK).startswith(_JSON_STARTS)
        most = self._limits.body if self.is_json_body or not self._streamed else _HEAD
        if len(self._body) <= most:
            return
        if self._stream.in_document:
            self.failure = f"the reply is longer than {most:,} bytes"
        del self._body[_HEAD:]
        self._whole = False

    def _finish(self) -> bytes:
        """Record the end of the bytes: a last line without a line break, or a body instead of a stream."""
        if self.is_exhausted or not self._streamed:
            self.is_exhausted = True
            return self._last
        self.is_exhausted = True
        chunk = self._stream.finish()
        if self._stream.in_document and is_object(document := self.document):
            self.end.add(document)
            chunk.events.append(document)
        self._enter(chunk)
        self._last = bytes(chunk.written)
        return self._last

    def _raise_if_broken(self) -> None:
        if self.failure or self.error is not None:
            raise _Broken(self.failure or "the server sent an error")

    def _failure(self, why: str) -> _Broken:
        self.failure = why
        return _Broken(why)


def _outline(body: bytes, document: Any, *, large: bool) -> bytes:
    """A body with valid counts. A large one in OpenAI's format loses its text, unless only LiteLLM can read the answer from
    it."""
    if not is_object(document):
        return body
    original = document
    with suppress(RecursionError):
        document = _with_short_facts(with_sound_counts(document))
    if not large or "choices" not in document or holds_litellm_tool(body):
        return body if document is original else as_json(document, ascii_only=True).encode()
    message = {"role": "assistant", "content": ""}
    facts = {key: document[key] for key in _OUTLINE if key in document}
    return json.dumps({**facts, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()


def _with_short_facts(document: dict[str, Any]) -> dict[str, Any]:
    """The document without ids and names that are too long: LiteLLM searches a model's name for five seconds a megabyte."""
    long = {key for key in (*_OUTLINE, *_GEMINIS) if isinstance(text := document.get(key), str) and len(text) > _MAX_FACT_LENGTH}
    return {key: value for key, value in document.items() if key not in long} if long else document


def _slices(pieces: Iterable[bytes]) -> Iterator[bytes]:
    return (data[at : at + _SLICE] for data in pieces for at in range(0, len(data), _SLICE))


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    with suppress(Exception):
        async with asyncio.timeout(_CLOSE_TIMEOUT):
            async for _ in chunks:
                pass
