"""`wrap_client`: finds the httpx clients of an SDK's client and wraps their transports in place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, TypeVar

from llmcore.integrations.httpx.transports import AsyncTransport, SyncTransport
from llmcore.integrations.options import exchange_options
from llmcore.support.values.narrowing import is_object
from llmcore.types import ConfigError
from llmcore.types.requests import TextCalls
from llmcore.wire.exchange import ExchangeOptions
from llmcore.wire.rewriting import ReplyReport

__all__ = ["wrap_client"]

C = TypeVar("C")
_PLACES = (("_client",), ("sdk_configuration", "client"), ("sdk_configuration", "async_client"))
"""Where SDKs keep their httpx clients: openai, anthropic and groq; mistralai."""


def wrap_client(
    client: C,
    *,
    text_calls: TextCalls = "standard",
    dialects: Collection[str] | None = None,
    reasoning_open: bool = False,
    on_reply: Callable[[ReplyReport], object] | None = None,
) -> C:
    """Make calls that a model writes as text native calls, in all replies to this client. Changes the client and returns it.

    `client`: a client of openai, anthropic, groq or mistralai, sync or async, or an `httpx.Client` or `AsyncClient`, also of
    httpx2. Everything that shares its connections is wrapped with it, such as `client.with_options(...)`.

    Chat completions, responses and Anthropic's messages are rewritten, whole and streamed, if the request offers functions and
    the status is 200. All other traffic passes unchanged. Retries, timeouts and proxies stay the client's own.

    `text_calls`, `dialects`, `reasoning_open`: as in `llmcore.normalize`.
    `on_reply`: receives a `ReplyReport` of each such reply, with the calls that were handed out, and the others with the reason.
    If it raises, the request raises.

    If you wrap a client twice, the second options count. Raises `ConfigError` for a client that does not stand on httpx or
    httpx2, and for an option of a wrong type.
    """
    given = {"text_calls": text_calls, "dialects": dialects, "reasoning_open": reasoning_open, "on_reply": on_reply}
    options = exchange_options("wrap", given)
    found = list(_http_clients(client))
    if not found:
        raise ConfigError(
            f"wrap takes a client of openai, anthropic, groq or mistralai, or an httpx.Client, not {type(client).__name__}; "
            "a client of another HTTP library cannot be wrapped"
        )
    for http_client in found:
        _wrap_http_client(http_client, options)
    return client


def _http_clients(client: object) -> Iterator[Any]:
    """The httpx clients within."""
    if _is_http_client(client):
        yield client
        return
    for place in _PLACES:
        inner = client
        for name in place:
            inner = getattr(inner, name, None)
        if _is_http_client(inner):
            yield inner


def _is_http_client(client: object) -> bool:
    return hasattr(client, "_transport") and is_object(getattr(client, "_mounts", None))


def _wrap_http_client(client: Any, options: ExchangeOptions) -> None:
    """Wrap the transports. Those of proxies from the environment stand in `_mounts`, where None means no proxy."""
    wrapper = AsyncTransport if hasattr(client, "aclose") else SyncTransport

    def wrapped(transport: Any) -> Any:
        inner = transport.inner if isinstance(transport, wrapper) else transport
        return wrapper(inner, options)

    client._transport = wrapped(client._transport)
    for pattern, transport in client._mounts.items():
        if transport is not None:
            client._mounts[pattern] = wrapped(transport)
