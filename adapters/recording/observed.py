"""Observes the traffic of any adapter, such as your own, in the way of `LiteLLMAdapter`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, cast

from llmcore.adapters.base import Adapter, Endpoint, ModelCall
from llmcore.adapters.providers import provider_of
from llmcore.adapters.recording.recorder import tool_dict
from llmcore.adapters.request.conversation.messages import render_messages
from llmcore.adapters.request.names import NameMap
from llmcore.support.values.copies import updated
from llmcore.support.values.narrowing import is_object, object_in
from llmcore.types import LLMCoreError, Reply

__all__ = ["Observe", "observed"]

Observe = Callable[[ModelCall, str, Any], None]
_STATUS = {"AuthenticationFailed": 401, "RateLimited": 429, "RemoteServerError": 500, "Overloaded": 503}
"""The status recorded for an error without one."""


def observed(adapter: Adapter, observe: Observe) -> Adapter:
    """Return the adapter with its traffic passed to `observe`. An adapter with a method `observed` does this itself."""
    own: Callable[[Observe], Adapter] | None = getattr(adapter, "observed", None)
    return cast("Adapter", _Observed(adapter, observe)) if own is None else own(observe)


class _Observed:
    """Another adapter, with all its attributes. Requests are recorded in the form of OpenAI's chat API."""

    def __init__(self, adapter: Adapter, observe: Observe) -> None:
        self._adapter = adapter
        self._observe = observe

    def __getattr__(self, name: str) -> Any:
        return getattr(self._adapter, name)

    async def complete(self, call: ModelCall) -> Reply:
        self._observe(call, "request", _request(call))
        try:
            reply = await self._adapter.complete(call)
        except LLMCoreError as error:
            self._observe(call, "error", _error_record(error))
            raise
        raw: object = reply.raw
        if isinstance(raw, tuple):
            for event in cast("tuple[object, ...]", raw):
                self._observe(call, "chunk", event)
            self._observe(call, "end", None)
        else:
            self._observe(call, "text" if isinstance(raw, str) else "response", raw)
        return reply

    async def stream(self, call: ModelCall) -> AsyncIterator[dict[str, Any] | str]:
        self._observe(call, "request", _request(call))
        try:
            async for chunk in self._adapter.stream(call):
                self._observe(call, "chunk", _without_times(chunk))
                yield chunk
        except LLMCoreError as error:
            self._observe(call, "error", _error_record(error))
            raise
        self._observe(call, "end", None)


def _request(call: ModelCall) -> dict[str, Any]:
    endpoint = Endpoint(provider="openai", model="gpt-4o", alias="openai")
    observed_call = updated(call, {"endpoint": endpoint})
    body = {
        "model": call.endpoint.model,
        "messages": render_messages(observed_call, provider_of(endpoint), NameMap((), None)),
        "tools": [tool_dict(tool) for tool in call.tools] if call.mode == "native_tools" else [],
        "stream": call.streamed,
    }
    return {name: value for name, value in body.items() if value}


def _error_record(error: LLMCoreError) -> dict[str, Any]:
    name = type(error).__name__
    status = getattr(error, "status", None) or _STATUS.get(name)
    fields = {"type": name, "status": status, "body": getattr(error, "body", None), "message": str(error)}
    return {key: value for key, value in fields.items() if value is not None}


def _without_times(chunk: Any) -> Any:
    if not is_object(chunk) or "llmcore" not in chunk:
        return chunk
    return {
        "llmcore": {key: value for key, value in object_in(chunk["llmcore"]).items() if key in ("usage", "ended", "id", "model")}
    }
