"""A provider's warm-up requests. They do LiteLLM's slow first-request work in a thread, so that it does not block an event
loop.

LiteLLM and the OpenAI SDK import several hundred modules within the first request, and build validators for its reply. That
takes 0.4 s of CPU. A warm-up request never leaves the process: `patches.http_transport` answers it with `canned_answer`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

from pydantic import SecretStr

from llmcore.adapters.base import Adapter, Endpoint, ModelCall
from llmcore.types import Request, ToolDefinition

__all__ = ["PROVIDERS_WITH_A_KEY", "canned_answer", "is_warm_up", "send_warm_up_requests"]

PROVIDERS_WITH_A_KEY = frozenset(
    {"openai", "anthropic", "gemini", "groq", "openrouter", "mistral", "deepseek", "xai", "together", "ollama"}
    | {"vllm", "sglang", "llama_cpp", "lm_studio", "openai_compatible"}
)
"""The providers that need only a key. The others request a cloud's credentials before they send anything."""

_KEY = "not-needed"
"""Not a secret, so it is not searched for in what is shown."""
_SERVER = "http://llmcore-warm-up.invalid"
_MODEL = "llmcore-warm-up"
_REFUSED = "llmcore-warm-up-refused"
_SECONDS = 30.0
_TOOL = ToolDefinition(
    name="look", description="Looks.", parameters={"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
)

_is_warm_up: ContextVar[bool] = ContextVar("llmcore_warm_up", default=False)


def is_warm_up() -> bool:
    """Return whether the current request is a warm-up request."""
    return _is_warm_up.get()


def send_warm_up_requests(adapter: Adapter, provider: str) -> None:
    """Send a whole, a streamed and a refused request of the provider, in this thread, where no event loop runs.

    Errors are ignored: the first real request then loads what is missing.
    """
    with suppress(Exception):
        asyncio.run(_requests(adapter, provider))


async def _requests(adapter: Adapter, provider: str) -> None:
    _is_warm_up.set(True)
    for model, streamed in ((_MODEL, False), (_MODEL, True), (_REFUSED, False)):
        call = ModelCall(
            endpoint=Endpoint(provider=provider, model=model, base_url=_SERVER, api_key=SecretStr(_KEY)),
            request=Request(messages="Look.", tools=[_TOOL]),
            mode="native_tools",
            tools=(_TOOL,),
            streamed=streamed,
            timeout=_SECONDS,
        )
        with suppress(Exception):
            if streamed:
                async for _ in adapter.stream(call):
                    pass
            else:
                await adapter.complete(call)


def canned_answer(url: str, body: bytes) -> tuple[int, str, bytes]:
    """Return status, content type and body of the answer to a warm-up request."""
    if _REFUSED.encode() in body or _REFUSED in url:
        return 400, "application/json", b'{"error": {"message": "the tools are not supported", "type": "invalid_request_error"}}'
    whole, events = next(wire for mark, wire in _WIRES.items() if mark in url)
    if b'"stream":true' not in body.replace(b" ", b"") and "stream" not in url:
        return 200, "application/json", json.dumps(whole).encode()
    if events == (_OLLAMA,):
        return 200, "application/x-ndjson", json.dumps(_OLLAMA).encode() + b"\n"
    return 200, "text/event-stream", b"".join(map(_frame, events)) + (b"data: [DONE]\n\n" if whole is _OPENAI else b"")


def _frame(event: Mapping[str, Any]) -> bytes:
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n".encode()


_CALLS = [{"index": 0, "id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at": "it"}'}}]
_OPENAI: dict[str, Any] = {
    **{"id": "1", "object": "chat.completion", "created": 1, "model": "m"},
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "Yes.", "tool_calls": _CALLS}, "finish_reason": "tool_calls"}
    ],
    "usage": {
        **{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        **{"prompt_tokens_details": {"cached_tokens": 0}, "completion_tokens_details": {"reasoning_tokens": 0}},
    },
}
_OPENAI_EVENTS = tuple(
    {
        **{"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"},
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    for delta, finish in (({"role": "assistant", "content": "Yes."}, None), ({"tool_calls": _CALLS}, None), ({}, "tool_calls"))
)
_SPENT = {"input_tokens": 1, "output_tokens": 1}
_ANTHROPIC: dict[str, Any] = {
    **{"id": "1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn", "stop_sequence": None},
    **{"content": [{"type": "text", "text": "Yes."}], "usage": _SPENT},
}
_ANTHROPIC_EVENTS: tuple[dict[str, Any], ...] = (
    {"type": "message_start", "message": {**_ANTHROPIC, "content": [], "stop_reason": None}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Yes."}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 1}},
    {"type": "message_stop"},
)
_GEMINI: dict[str, Any] = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": "Yes."}]}, "finishReason": "STOP", "index": 0}],
    "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
    "modelVersion": "m",
}
_OLLAMA: dict[str, Any] = {
    **{"model": "m", "created_at": "2026-01-01T00:00:00Z", "done": True, "done_reason": "stop"},
    **{"message": {"role": "assistant", "content": "Yes."}, "prompt_eval_count": 1, "eval_count": 1},
}
_WIRES: dict[str, tuple[dict[str, Any], tuple[dict[str, Any], ...]]] = {
    "/v1/messages": (_ANTHROPIC, _ANTHROPIC_EVENTS),
    "enerateContent": (_GEMINI, (_GEMINI,)),
    "/api/chat": (_OLLAMA, (_OLLAMA,)),
    "": (_OPENAI, _OPENAI_EVENTS),
}
"""By a part of the URL: the body of a reply, and the events of a streamed one."""
