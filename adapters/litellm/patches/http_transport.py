"""Fault: LiteLLM keeps nothing of what the server sent, and its clients follow a redirect to another server with prompt and keys.

All of LiteLLM's HTTP clients, the OpenAI SDK's included, send through two classes of transports. This patch watches both: the
call's `Watch` sees what leaves and what comes. A request without a `Watch` passes unchanged, and `client_cache` learns of
its transport. Seen on LiteLLM 1.105.3 and 1.110.2.

It needs httpx, so it is imported with LiteLLM and never before.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from functools import wraps
from typing import Any

import httpx

from llmcore.adapters.litellm.patches.client_cache import foreign_transports
from llmcore.adapters.litellm.patches.patch import Patch
from llmcore.adapters.litellm.warm_up import canned_answer, is_warm_up
from llmcore.adapters.request.conversation.twin_calls import unmarked_body
from llmcore.adapters.wire.inflating import ACCEPTED
from llmcore.adapters.wire.traffic_watch import TrafficWatch, WireExchange, current_watch

__all__ = ["PATCHES", "same_server", "watched"]

_Send = Callable[[Any, httpx.Request], Awaitable[httpx.Response]]
_SIGNED = "AWS4-"
"""How the authorization begins that holds for one body only."""
_PORTS = {"http": 80, "https": 443}
_REDIRECT = 307
"""The status of every redirect that is not followed; LiteLLM takes some others for a bad request."""
_FETCH = "GET"
"""The method of what is sent on the way to the request itself: an image is fetched, by a client of its own."""
_LENGTHS = (b"content-length", b"transfer-encoding")


class _WatchedStream(httpx.AsyncByteStream):
    """A response's bytes, as the exchange lets them through."""

    def __init__(self, inner: httpx.AsyncByteStream, exchange: WireExchange) -> None:
        self._inner = inner
        self._exchange = exchange

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._exchange.litellm_body()

    async def aclose(self) -> None:
        await self._inner.aclose()


def _canned(request: httpx.Request, body: bytes) -> httpx.Response:
    status, kind, content = canned_answer(str(request.url), body)
    return httpx.Response(status, headers={"content-type": kind}, stream=_Bytes(content), request=request)


class _Bytes(httpx.AsyncByteStream):
    def __init__(self, content: bytes) -> None:
        self._content = content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._content


async def _rewritten(request: httpx.Request, watch: TrafficWatch) -> httpx.Request:
    """The request with what was asked for (`Outgoing`), and with the numbers that LiteLLM was only shown by a mark."""
    body = await request.aread()
    signed = request.headers.get("authorization", "").startswith(_SIGNED)
    asked = watch.outgoing_body(request.method, str(request.url), body, signed=signed)
    written, sent = unmarked_body(asked), watch.headers(request.headers.raw)
    if written == body and sent == request.headers.raw:
        return request
    headers = [(name, value) for name, value in sent if name.lower() not in _LENGTHS]
    return httpx.Request(request.method, request.url, headers=headers, content=written, extensions=request.extensions)


async def _refused_redirect(request: httpx.Request, response: httpx.Response) -> httpx.Response:
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


def watched(send: _Send) -> _Send:
    """`send`, a transport's own, with what it carries shown to the call's `Watch`."""

    @wraps(send)
    async def handle_async_request(self: Any, request: httpx.Request) -> httpx.Response:
        watch = current_watch()
        if watch is None:
            foreign_transports.add(self)
            return await send(self, request)
        if request.method != _FETCH:
            watch.carriers.append(self)
        request = await _rewritten(request, watch)
        request.headers["accept-encoding"] = ACCEPTED
        answer = _canned(request, await request.aread()) if is_warm_up() else await send(self, request)
        response = await _refused_redirect(request, answer)
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


PATCHES = (
    Patch("litellm.llms.custom_httpx.aiohttp_transport", "LiteLLMAiohttpTransport", "handle_async_request", watched),
    Patch("httpx", "AsyncHTTPTransport", "handle_async_request", watched),
)
