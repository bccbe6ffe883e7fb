"""Where LiteLLM's HTTP clients are watched: the two transports that all of them, the OpenAI SDK's included, send through.

Imported with LiteLLM, never before: it needs httpx. `install` wraps the transports once for the process; a request that no
`Watch` asked for passes through untouched; by whose transport it went is kept in mind (`evicted`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx

from llmcore.adapters.litellm.evicted import of_others
from llmcore.adapters.litellm.rehearsal import answer_to, goes_on
from llmcore.adapters.request.twin_calls import unmarked_body
from llmcore.adapters.wire.inflating import ACCEPTED
from llmcore.adapters.wire.watching import Exchange, Watch, current_watch

__all__ = ["install", "is_watched", "same_server"]

_Send = Callable[[Any, httpx.Request], Awaitable[httpx.Response]]
_SIGNED = "AWS4-"
"""How the authorization begins that holds for one body only."""
_MARK = "llmcore_watches"
_PORTS = {"http": 80, "https": 443}
_REDIRECT = 307
"""The status of every redirect that is not followed; LiteLLM takes some others for a bad request."""
_FETCHES = "GET"
"""The method of what is sent on the way to the request itself: an image is fetched, by a client of its own."""
_LENGTHS = (b"content-length", b"transfer-encoding")


class _WatchedStream(httpx.AsyncByteStream):
    """A response's bytes, as the exchange lets them through."""

    def __init__(self, inner: httpx.AsyncByteStream, exchange: Exchange) -> None:
        self._inner = inner
        self._exchange = exchange

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._exchange.passed_on()

    async def aclose(self) -> None:
        await self._inner.aclose()


def install(*transports: type[httpx.AsyncBaseTransport]) -> None:
    """Let these classes of transports be watched."""
    for transport in transports:
        send: _Send = transport.handle_async_request
        if not hasattr(send, _MARK):
            watched = _watched(send)
            setattr(watched, _MARK, True)
            transport.handle_async_request = watched  # type: ignore[method-assign, assignment]  # a method, wrapped


def is_watched(*transports: type[httpx.AsyncBaseTransport]) -> bool:
    """Do all of them still send through what `install` set? A test's double of a server may have taken its place."""
    return all(hasattr(transport.handle_async_request, _MARK) for transport in transports)


def _rehearsed(request: httpx.Request, body: bytes) -> httpx.Response:
    status, kind, content = answer_to(str(request.url), body)
    return httpx.Response(status, headers={"content-type": kind}, stream=_Bytes(content), request=request)


class _Bytes(httpx.AsyncByteStream):
    def __init__(self, content: bytes) -> None:
        self._content = content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._content


async def _as_asked(request: httpx.Request, watch: Watch) -> httpx.Request:
    """The request with what was asked for (`Outgoing`), and with the numbers that LiteLLM was only shown by a mark."""
    body = await request.aread()
    signed = request.headers.get("authorization", "").startswith(_SIGNED)
    asked = watch.leaving(request.method, str(request.url), body, signed=signed)
    written, sent = unmarked_body(asked), watch.headers(request.headers.raw)
    if written == body and sent == request.headers.raw:
        return request
    headers = [(name, value) for name, value in sent if name.lower() not in _LENGTHS]
    return httpx.Request(request.method, request.url, headers=headers, content=written, extensions=request.extensions)


async def _at_home(request: httpx.Request, response: httpx.Response) -> httpx.Response:
    """The response; for one that sends the request on to another server an error in words. The clients would follow it, with
    the prompt and with every key that is not called `Authorization`."""
    if not response.has_redirect_location:
        return response
    try:
        target = request.url.join(response.headers["location"])
    except httpx.InvalidURL:
        return response  # the client says so
    if same_server(request.url, target):
        return response
    await response.aclose()
    where = target.copy_with(username=None, password=None, path="/", query=None, fragment=None)
    message = (
        f"the server redirects to {where}, which is another one, so nothing was sent there: if it is right, make it the base_url"
    )
    return httpx.Response(_REDIRECT, json={"error": {"message": message}}, request=request)


def same_server(url: httpx.URL, other: httpx.URL) -> bool:
    """Scheme, host and port alike, or http become https."""
    before, after = ((one.scheme, one.port or _PORTS.get(one.scheme)) for one in (url, other))
    return url.host == other.host and (before == after or (before, after) == tuple(_PORTS.items()))


def _watched(send: _Send) -> _Send:
    async def handle_async_request(self: Any, request: httpx.Request) -> httpx.Response:
        watch = current_watch()
        if watch is None:
            of_others.add(self)
            return await send(self, request)
        if request.method != _FETCHES:
            watch.carriers.append(self)
        request = await _as_asked(request, watch)
        request.headers["accept-encoding"] = ACCEPTED
        answer = _rehearsed(request, await request.aread()) if goes_on() else await send(self, request)
        response = await _at_home(request, answer)
        stream = response.stream
        if not isinstance(stream, httpx.AsyncByteStream):
            return response
        shown = str(request.url.copy_with(username=None, password=None, query=None, fragment=None))
        exchange = watch.begin(shown, response.status_code, response.headers, stream)
        if exchange is not None:
            response.headers.pop("content-encoding", None)  # what goes on is unpacked
            response.stream = _WatchedStream(stream, exchange)
        return response

    return handle_async_request
