"""What a server's bytes tell of one call, seen beneath LiteLLM: status, body, and whether the reply came to its end.

LiteLLM keeps no raw body of a stream, invents an end where there was none, and reads bodies of any size. An `WireExchange` stands
between the socket and LiteLLM: it unpacks, counts, bounds and remembers. What breaks a bound is read no further. Memory is
bounded by `Limits`; work is linear in the bytes.
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
"""Seconds given to a connection, after the reply's own end, to come to its end as well: then it can be used again."""
_BINARY = "vnd.amazon.eventstream"
_HTML = (b"<!doctype", b"<html", b"<head", b"<body", b"<?xml")
_HEAD = 1024
_MAX_FACT_LENGTH = 4096
_OUTLINE = ("id", "object", "created", "model", "service_tier", "usage")
_GEMINIS = ("responseId", "modelVersion")
_BLANK = b"\xef\xbb\xbf \t\r\n"
_SLICE = 2048
"""Bytes that are looked at before others may run: few, for each of some hundred tiny events costs LiteLLM a third of a
millisecond."""
_JSON_STARTS = (b"{", b"[")
"""How a JSON body (or JSON lines) begins that comes in place of server-sent events: it is kept."""

Header = tuple[bytes, bytes]

_current: ContextVar[TrafficWatch | None] = ContextVar("llmcore_watching", default=None)


def current_watch() -> TrafficWatch | None:
    """What watches requests made here, if anything."""
    return _current.get()


class _Broken(Exception):
    """What the server sends is more than it may send, or cannot be read. LiteLLM may wrap it: `Exchange.failure` stays."""


class OutgoingBodies(Protocol):
    """Looks at the requests of one call before they leave."""

    @property
    def digest(self) -> str: ...

    def outgoing_body(self, url: str, body: bytes, *, signed: bool) -> bytes: ...

    def headers(self, headers: Sequence[Header]) -> list[Header]: ...

    def check_fetch(self, url: str) -> None: ...


class TrafficWatch:
    """Watches the HTTP requests of one call. `streamed`: the reply was asked for as a stream; `known`: its wire is one whose
    bodies are known; `outgoing` sees what is about to leave.

    `exchange` is the last one made inside a `watching` block; None when there was none that could be seen (a client of the
    user's own).
    """

    def __init__(self, limits: Limits, *, streamed: bool, known: bool, outgoing: OutgoingBodies | None = None) -> None:
        self.limits = limits
        self._outgoing = outgoing
        self.forces_litellm_tool = False
        """LiteLLM asks for a tool of its own in which the answer is to come; only its reading of the reply tells the answer."""
        self.fault: Exception | None = None
        """Why a request was not let through; LiteLLM tells it in words of its own."""
        self.streamed = streamed
        self.known = known
        self.exchange: WireExchange | None = None
        self.carriers: list[object] = []
        """The transports through which the call was sent since it was last asked of LiteLLM."""
        self._task: asyncio.Task[Any] | None = None
        self._coroutine: Coroutine[Any, Any, Any] | None = None
        self._is_cancelled = False

    @contextmanager
    def active(self) -> Generator[None, None, None]:
        """Requests made inside the block are watched. Set around each wait: a stream may be consumed by several tasks."""
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
        """A digest of what left last; "" where nothing did."""
        return self._outgoing.digest if self._outgoing is not None else ""

    def headers(self, headers: Sequence[Header]) -> list[Header]:
        """The headers that leave in place of these."""
        return [*headers] if self._outgoing is None or not self._is_ours() else self._outgoing.headers(headers)

    def outgoing_body(self, method: str, url: str, body: bytes, *, signed: bool) -> bytes:
        """The body that leaves in place of this one. Raises what a request that may not leave is."""
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
        """LiteLLM runs its users' callbacks in tasks of their own, and these may send as well."""
        return self.exchange is None or asyncio.current_task() is self._task

    def note_coroutine(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        """LiteLLM made this, in a thread, to await it on the loop. Cancelled in between, it never does, and Python would
        warn of that: so it is closed."""
        self._coroutine = coroutine
        if self._is_cancelled:
            self._close_unawaited()

    def _close_unawaited(self) -> None:
        if self._coroutine is not None and inspect.getcoroutinestate(self._coroutine) == inspect.CORO_CREATED:
            self._coroutine.close()

    def begin(self, url: str, status: int, headers: Mapping[str, str], source: AsyncIterable[bytes]) -> WireExchange | None:
        """A response has come. None when it is not this call's."""
        if not self._is_ours():
            return None
        self.exchange = WireExchange(self, url, status, headers, source)
        return self.exchange


class WireExchange:
    """One HTTP response. Its bytes are read once: by LiteLLM (`litellm_body`), or by us (`events`).

    `chunk`: somebody has begun to read; `over`: to the end. `received`: bytes, unpacked. `in_place`: they begin as JSON does.
    `end`: what the events of a stream told. `broken`: what broke the connection before the reply's end. `failure`: why it was
    read no further, in words: which bound was broken, or that an event was; `error`: an event was the server's error.
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
        """Events that wait for `events`; None while only their end is watched."""
        self._body = bytearray()
        self._parsed_body: tuple[int, Any] = (0, None)  # at which length, and what
        self._last = b""  # what the end of the bytes told
        self._whole = True  # `_body` is all that came, not a head of it

    @property
    def ok(self) -> bool:
        return self.status < 300

    @property
    def body(self) -> bytes:
        """What came, unpacked; of server-sent events the first kilobyte."""
        return bytes(self._body)

    @property
    def document(self) -> Any:
        """The body as JSON; None when it is none, or is cut. Parsed once, while nothing more comes."""
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
        """Did a streamed reply say that it is whole, by a finish reason, an end mark, or one JSON body in place of a stream?"""
        whole = is_whole_reply(self.document) and not (self._streamed and may_be_stream_line(self.document))
        return self.end.seen or whole

    @property
    def _has_own_end(self) -> bool:
        """Did a stream tell its end? Then what befalls the connection is no matter; a body ends with the connection."""
        return self._streamed and self.end.seen and not is_whole_reply(self.document)

    def events_in_body(self) -> list[dict[str, Any]]:
        """The events of a stream that came where a whole body was asked for; none when it did not come to its end. What broke it
        is left in `failure` and `error`."""
        if self.failure:
            return []
        stream = EventStream(self._limits, binary=False, known=True)
        events = [*stream.feed(self.body).events, *stream.finish().events]
        if stream.end.events:  # else it was no stream, and its lines are no events
            self.failure, self.error = stream.failure, stream.error
        return events if stream.end.seen and not stream.is_broken else []

    # Reading

    async def litellm_body(self) -> AsyncGenerator[bytes, None]:
        """What LiteLLM is to read: a stream as it comes, of a body that is no reply only a head, of a large reply an outline.

        LiteLLM puts a body that it refuses into an error and searches that, four seconds a megabyte, in which the event loop
        stands still. What the model said is read from the body itself; LiteLLM only counts the usage.
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
        """The bytes that may be read, unpacked: of a stream its sound events, of an error's body no more than the limit.

        Raises what the connection raises, and an error of its own when a bound or an event is broken. A connection that breaks
        after a stream's own end has only ended, and one that stays open behind the last event is not waited for; one JSON body
        has no such end but that which HTTP and its packing give it.
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
        """The parsed events of a stream of OpenAI's form, or the one JSON body that came in its place. Raises as `chunks`."""
        self._parsed, failure = [], None
        async with aclosing(self.chunks()) as chunks:
            try:
                async for _ in chunks:
                    for event in self._take_events():
                        yield event
            except Exception as error:
                failure = error
            for event in self._take_events():  # what came with the end, or before the connection broke
                yield event
        if failure is not None:
            raise failure

    def _take_events(self) -> list[dict[str, Any]]:
        parsed, self._parsed = self._parsed or [], []
        return parsed

    async def aclose(self) -> None:
        """Close the connection, unless its end was reached; also one that nobody has begun to read."""
        close = getattr(self._source, "aclose", None)
        if close is not None:
            with suppress(Exception):  # it may be closed already
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
        """Take the next bytes; what of them may be read."""
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
        """The bytes are at their end: a last line without its line break, a body in place of a stream."""
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
    """A body with counts that are counts. A large one of OpenAI's form without what the model said, unless only LiteLLM's reading
    explains it."""
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
    """The document without ids and names that are none: LiteLLM searches a model's name five seconds a megabyte."""
    long = {key for key in (*_OUTLINE, *_GEMINIS) if isinstance(text := document.get(key), str) and len(text) > _MAX_FACT_LENGTH}
    return {key: value for key, value in document.items() if key not in long} if long else document


def _slices(pieces: Iterable[bytes]) -> Iterator[bytes]:
    return (data[at : at + _SLICE] for data in pieces for at in range(0, len(data), _SLICE))


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    with suppress(Exception):
        async with asyncio.timeout(_CLOSE_TIMEOUT):
            async for _ in chunks:
                pass
