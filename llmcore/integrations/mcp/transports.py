"""Transports to a server. They tell when a connection has ended, and which requests were not carried out.

A request over HTTP was not carried out if no connection could be made, or if a restarted server does not know the session (404).
For both, the SDK gets an error response with a code of its own. Without it, the SDK would end all calls in flight for the first,
and report the second like any invalid request.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from subprocess import DEVNULL
from typing import Any, Self

from llmcore.integrations.mcp.config import McpServer
from llmcore.integrations.mcp.sdk import sdk

__all__ = ["SESSION_LOST", "UNREACHABLE", "transport_to"]

SESSION_LOST, UNREACHABLE, _REFUSED = -32090, -32091, -32092
"""Codes of requests that were not carried out, among those that JSON-RPC leaves to implementations.

The server does not know the session any more; no connection could be made; the access control refused the request.
"""
_UNAUTHORIZED = (401, 403)


@asynccontextmanager
async def transport_to(server: McpServer, on_end: Callable[[], object]) -> AsyncGenerator[tuple[Any, Any], None]:
    """The streams to a server and back, as a transport of the SDK. `on_end` is called when the server sends nothing any more."""
    async with AsyncExitStack() as stack:
        if server.url is None:
            parameters = sdk().StdioServerParameters(
                command=server.command, args=server.args, env=server.environment(), cwd=server.cwd
            )
            log = sys.__stderr__  # `sys.stderr` may have no file descriptor
            made = sdk("mcp.client.stdio").stdio_client(parameters, errlog=DEVNULL if log is None else log)
        else:
            client = await stack.enter_async_context(_http_client(server))
            made = sdk("mcp.client.streamable_http").streamable_http_client(server.url, http_client=client)
        read, write = await stack.enter_async_context(made)
        yield _WatchedStream(read, on_end), write


def _http_client(server: McpServer) -> Any:
    """A client of this server alone, with its headers. The run's time limits end its calls, so reading has none."""
    httpx2 = sdk("httpx2")
    timeout = httpx2.Timeout(server.connect_timeout, read=None)
    client = httpx2.AsyncClient(headers=server.headers, auth=server.auth, timeout=timeout)

    def wrapped(transport: Any) -> _HttpTransport:
        return _HttpTransport(transport, httpx2, has_auth=server.auth is not None)

    client._transport = wrapped(client._transport)
    for pattern, transport in client._mounts.items():  # of the proxies that the environment names
        if transport is not None:
            client._mounts[pattern] = wrapped(transport)
    return client


class _HttpTransport:
    """A transport of httpx2 that answers for requests that were not carried out."""

    def __init__(self, inner: Any, httpx2: Any, *, has_auth: bool) -> None:
        self._inner = inner
        self._httpx2 = httpx2
        self._has_auth = has_auth
        self._unsent = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)

    async def handle_async_request(self, request: Any) -> Any:
        if request.method != "POST":
            return await self._inner.handle_async_request(request)
        try:
            response = await self._inner.handle_async_request(request)
        except self._unsent as error:
            return self._refusal(503, UNREACHABLE, f"no connection could be made ({type(error).__name__})")
        status = response.status_code
        if status == 404 and "mcp-session-id" in request.headers:
            await response.stream.aclose()
            return self._refusal(status, SESSION_LOST, "the server does not know the session any more")
        if status in _UNAUTHORIZED and not self._has_auth:  # an `auth` answers such a response itself
            await response.stream.aclose()
            return self._refusal(status, _REFUSED, f"the server answered with status {status}: check its `headers`")
        return response

    def _refusal(self, status: int, code: int, message: str) -> Any:
        error = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
        return self._httpx2.Response(status, json=error)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._inner.__aexit__(*error)


class _WatchedStream:
    """A read stream of the SDK that tells when it has ended. Anything else that is asked of it is the inner stream's."""

    def __init__(self, inner: Any, on_end: Callable[[], object]) -> None:
        self._inner = inner
        self._on_end = on_end

    def __getattr__(self, name: str) -> Any:
        if name == "_inner":  # a copy that is not set up yet
            raise AttributeError(name)
        return getattr(self._inner, name)

    async def receive(self) -> Any:
        try:
            return await self._inner.receive()
        except Exception:  # anyio's errors for an ended, closed or broken stream
            self._on_end()
            raise

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._inner.__anext__()
        except Exception:
            self._on_end()
            raise

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._inner.__aexit__(*error)
