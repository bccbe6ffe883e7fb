"""`ProxyHandler`: a callback of LiteLLM's proxy, for the `callbacks` of its `config.yaml`.

The proxy passes the replies of three APIs to the same hooks. Chat completions are `ModelResponse`s and their chunks. Messages are
objects of JSON data and the bytes of a stream. Responses are pydantic models of LiteLLM.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection
from importlib import import_module
from typing import Any, Protocol

from llmcore.integrations.litellm.replies import rewritten_response
from llmcore.integrations.litellm.streams import ChunkRewriter, hidden_params, is_rewritten, note_invented_ends
from llmcore.integrations.options import exchange_options
from llmcore.support.values.narrowing import is_object
from llmcore.types.requests import TextCalls
from llmcore.wire.exchange import HttpExchange
from llmcore.wire.rewriting import ReplyReport

__all__ = ["ProxyHandler", "proxy_handler"]

_CustomLogger: Any = import_module("litellm.integrations.custom_logger").CustomLogger


class _Rewriter(Protocol):
    """Rewrites the parts of a stream, of one kind."""

    def feed(self, part: Any, /) -> list[Any]: ...
    def finish(self) -> list[Any]: ...


class ProxyHandler(_CustomLogger):  # type: ignore[misc]
    """Makes calls in text native calls in the replies of the proxy: chat completions, messages and responses.

        # config.yaml
        litellm_settings:
          callbacks: llmcore.integrations.litellm.proxy_handler

    For other options, put an instance in a module of your own, and name it there. The options are those of
    `llmcore.integrations.httpx.wrap`. Raises `ConfigError` for an option of a wrong type.
    """

    def __init__(
        self,
        *,
        text_calls: TextCalls = "standard",
        dialects: Collection[str] | None = None,
        reasoning_open: bool = False,
        on_reply: Callable[[ReplyReport], object] | None = None,
    ) -> None:
        super().__init__()  # pyright: ignore[reportUnknownMemberType]  # the class is Any
        given = {"text_calls": text_calls, "dialects": dialects, "reasoning_open": reasoning_open, "on_reply": on_reply}
        self._options = exchange_options("ProxyHandler", given)
        note_invented_ends()

    async def async_post_call_success_hook(self, data: dict[str, Any], user_api_key_dict: Any, response: Any) -> Any:
        """Called by the proxy with each whole reply. Returns the reply to send."""
        exchange = self._exchange(data, user_api_key_dict, response)
        if exchange is None:
            return response
        if is_object(response):
            return exchange.rewrite(response)
        if hasattr(response, "choices"):
            return rewritten_response(response, exchange)
        return _rewritten_model(response, exchange) if hasattr(response, "output") else response

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncIterator[Any]:
        """Called by the proxy with each stream. Gives the parts to send."""
        exchange = self._exchange(request_data, user_api_key_dict, response)
        rewriter: _Rewriter | None = None
        try:
            async for part in response:
                if exchange is None:
                    yield part
                    continue
                if rewriter is None:
                    rewriter = _rewriter_for(part, exchange)
                for each in rewriter.feed(part):
                    yield each
        except Exception:
            for each in rewriter.finish() if rewriter is not None else ():
                yield each
            raise
        for each in rewriter.finish() if rewriter is not None else ():
            yield each

    def _exchange(self, request: dict[str, Any], user: Any, response: Any) -> HttpExchange | None:
        """The exchange of a request to the proxy; None if its reply must pass unchanged."""
        if is_rewritten(response):
            return None
        route = getattr(user, "request_route", None) or ""
        return HttpExchange.of_request(route, request, self._options, _host(response))


def _host(response: Any) -> str:
    """The host that served the reply, as far as the form of ids depends on it."""
    hidden = hidden_params(response)
    model = str(hidden.get("litellm_model_name") or "")
    provider = getattr(response, "custom_llm_provider", None) or hidden.get("custom_llm_provider") or model.partition("/")[0]
    return "api.mistral.ai" if provider == "mistral" else ""


def _rewriter_for(part: Any, exchange: HttpExchange) -> _Rewriter:
    if isinstance(part, bytes | str):
        return _BytesRewriter(exchange)
    return ChunkRewriter(exchange) if hasattr(part, "choices") else _EventRewriter(exchange)


def _rewritten_model(response: Any, exchange: HttpExchange) -> Any:
    """A response of the Responses API rewritten. The given one if nothing had to change."""
    body = response.model_dump(mode="json")
    written = exchange.rewrite(body)
    if written is body:
        return response
    model = type(response)(**written)
    model._hidden_params = hidden_params(response)
    return model


class _EventRewriter:
    """Rewrites the events of the Responses API, which are models of LiteLLM."""

    def __init__(self, exchange: HttpExchange) -> None:
        self._exchange, self._rewriter = exchange, exchange.rewriter()
        self._events: Any = import_module("litellm").OpenAIResponsesAPIConfig()

    def feed(self, part: Any, /) -> list[Any]:
        event = part.model_dump(mode="json") if hasattr(part, "model_dump") else part
        if not is_object(event):
            return [part]
        return [part if each is event else self._event(each) for each in self._rewriter.feed(event)]

    def finish(self) -> list[Any]:
        written = self._rewriter.finish()
        self._exchange.report(self._rewriter.reports)
        return [*map(self._event, written)]

    def _event(self, written: dict[str, Any]) -> Any:
        return self._events.transform_streaming_response(model="", parsed_chunk=written, logging_obj=None)


class _BytesRewriter:
    """Rewrites the bytes of a stream of server-sent events. LiteLLM gives them as `bytes` or as `str`."""

    def __init__(self, exchange: HttpExchange) -> None:
        self._reply = exchange.stream()
        self._is_text = False

    def feed(self, part: Any, /) -> list[Any]:
        self._is_text = isinstance(part, str)
        return self._parts(self._reply.feed(part.encode() if self._is_text else part))

    def finish(self) -> list[Any]:
        return self._parts(self._reply.finish())

    def _parts(self, written: bytes) -> list[Any]:
        return [written.decode() if self._is_text else written] if written else []


proxy_handler = ProxyHandler()
"""A handler with the default options, for the name in `config.yaml`."""
