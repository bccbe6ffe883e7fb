"""Transports of httpx and httpx2 that rewrite replies. Both libraries have the same classes under other names.

A JSON body is read whole before the response is returned, so that its headers can stay if nothing changes. A stream stays a
stream: each piece is rewritten as it comes. Errors of the connection are the inner transport's. If an error ends a stream, the
withheld text comes before the error.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from functools import cache
from typing import Any, Self

from llmcore.wire.exchange import ExchangeOptions, HttpExchange, StreamedReply

__all__ = ["AsyncTransport", "SyncTransport"]

_JSON, _EVENTS = "application/json", "text/event-stream"
_OF_ENCODED_BODY = (b"content-encoding", b"content-length", b"transfer-encoding")


class _Wrapper:
    """What both kinds share. Anything else that is asked of it is the inner transport's."""

    def __init__(self, inner: Any, options: ExchangeOptions) -> None:
        self.inner = inner
        self._options = options

    def __getattr__(self, name: str) -> Any:
        if name == "inner":  # a copy that is not set up yet
            raise AttributeError(name)
        return getattr(self.inner, name)

    def _exchange(self, request: Any) -> HttpExchange | None:
        if request.method != "POST":
            return None
        try:
            body: bytes = request.content
        except Exception:  # a streamed upload, which no SDK sends to these paths; each library has its own error for it
            return None
        return HttpExchange.of(request.url.path, body, self._options, request.url.host)


class SyncTransport(_Wrapper):
    """A transport of a sync client."""

    def handle_request(self, request: Any) -> Any:
        """As of the inner transport."""
        exchange = self._exchange(request)
        response = self.inner.handle_request(request)
        kind = _kind_of(response) if exchange is not None else ""
        if exchange is None or not kind:
            return response
        if kind == _EVENTS:
            return _with_stream(response, request, _sync_stream, exchange)
        try:
            raw = response.content if response.is_closed else b"".join(response.stream)
        finally:
            response.stream.close()
        return _with_body(response, request, raw, exchange)

    def close(self) -> None:
        self.inner.close()

    def __enter__(self) -> Self:
        self.inner.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.inner.__exit__(*error)


class AsyncTransport(_Wrapper):
    """A transport of an async client."""

    async def handle_async_request(self, request: Any) -> Any:
        """As of the inner transport."""
        exchange = self._exchange(request)
        response = await self.inner.handle_async_request(request)
        kind = _kind_of(response) if exchange is not None else ""
        if exchange is None or not kind:
            return response
        if kind == _EVENTS:
            return _with_stream(response, request, _async_stream, exchange)
        try:
            raw = response.content if response.is_closed else b"".join([piece async for piece in response.stream])
        finally:
            await response.stream.aclose()
        return _with_body(response, request, raw, exchange)

    async def aclose(self) -> None:
        """Close the inner transport."""
        await self.inner.aclose()

    async def __aenter__(self) -> Self:
        await self.inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.inner.__aexit__(*error)


def _kind_of(response: Any) -> str:
    """The media type of a response that can be rewritten, else ""."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind if response.status_code == 200 and kind in (_JSON, _EVENTS) else ""


def _library(response: Any) -> Any:
    """The module of the response's library, `httpx` or `httpx2`."""
    return sys.modules[type(response).__module__.partition(".")[0]]


def _with_body(response: Any, request: Any, raw: bytes, exchange: HttpExchange) -> Any:
    """The response with its body rewritten. If nothing changes, its bytes and headers are as they came.

    A response that is closed was made in memory, by a test: then `raw` is its content, already decompressed.
    """
    library = _library(response)
    if response.is_closed:
        decoded = raw
    else:
        response.stream = library.ByteStream(raw)
        try:
            decoded = library.Response(200, headers=response.headers, content=raw, request=request).content
        except library.DecodingError:  # the client will say so
            return response
    written = exchange.body(decoded)
    if written is decoded:
        return response
    kept = _kept(response)
    kept["headers"].append((b"Content-Length", str(len(written)).encode()))
    # With `content=`, the response would be read already: the client would not close it, and would not set `elapsed`.
    return library.Response(200, **kept, stream=library.ByteStream(written))


def _with_stream(response: Any, request: Any, stream_type: Any, exchange: HttpExchange) -> Any:
    """The response with its stream rewritten, decompressed."""
    library = _library(response)
    decoded = response
    if not response.is_closed:
        decoded = library.Response(200, headers=response.headers, stream=response.stream, request=request)
    return library.Response(200, **_kept(response), stream=stream_type(library)(decoded, exchange.stream()))


def _kept(response: Any) -> dict[str, Any]:
    """What a rewritten response keeps: the headers, except those of the encoded body."""
    headers = [(name, value) for name, value in response.headers.raw if name.lower() not in _OF_ENCODED_BODY]
    return {"headers": headers, "extensions": response.extensions}


class _Stream:
    """The rewritten bytes of a response."""

    def __init__(self, response: Any, reply: StreamedReply) -> None:
        self._response, self._reply = response, reply


class _SyncStream(_Stream):
    def __iter__(self) -> Iterator[bytes]:
        try:
            for piece in self._response.iter_bytes():
                if written := self._reply.feed(piece):
                    yield written
        except Exception:
            if written := self._reply.finish():
                yield written
            raise
        if written := self._reply.finish():
            yield written

    def close(self) -> None:
        self._response.close()


class _AsyncStream(_Stream):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._response.aiter_bytes():
                if written := self._reply.feed(piece):
                    yield written
        except Exception:
            if written := self._reply.finish():
                yield written
            raise
        if written := self._reply.finish():
            yield written

    async def aclose(self) -> None:
        await self._response.aclose()


@cache
def _sync_stream(library: Any) -> type[Any]:
    """The class of the library's streams that has these bytes: its client checks for it."""
    return type("RewrittenStream", (_SyncStream, library.SyncByteStream), {})


@cache
def _async_stream(library: Any) -> type[Any]:
    return type("RewrittenAsyncStream", (_AsyncStream, library.AsyncByteStream), {})
