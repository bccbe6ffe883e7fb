"""What goes over the wire: what was asked for, and nothing else; each provider's history in its own order."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.adapters.capabilities import CapabilityStore
from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.types import Request
from tests.adapters.conftest import PROVIDERS, call_of, endpoint_at
from tests.helpers.wire_server import WireServer

_IMAGE = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4DwABBAEAX+XDSwAAAABJRU5ErkJggg=="
_PLAIN = {"model", "messages"}
_SENT: dict[str, set[str]] = {
    "anthropic": {"model", "messages", "max_tokens"},  # the wire requires it
    "gemini": {"contents"},
    "ollama": {"model", "messages", "stream"},
    "openrouter": {"model", "messages", "usage"},  # what the request cost
}


@pytest.mark.anyio
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_nothing_is_sent_that_was_not_asked_for(provider: str, adapter: LiteLLMAdapter) -> None:
    with WireServer(["Hello."]) as server:
        reply = await adapter.complete(call_of(endpoint_at(server, provider), "Hi", tools=()))
    (seen,) = server.requests
    assert seen.body.keys() == _SENT.get(provider, _PLAIN)
    assert seen.body.get("options", {}) == {}
    assert reply.dropped == ()


@pytest.mark.anyio
async def test_what_is_left_out_is_told_whole_and_streamed(adapter: LiteLLMAdapter) -> None:
    request = Request.model_validate({"messages": "Hi", "allow_web_search": True})
    with WireServer(["Hello."]) as server:
        call = call_of(endpoint_at(server, "groq"), request, tools=())
        reply = await adapter.complete(call)
        events: list[Any] = [event async for event in adapter.stream(call)]
    assert reply.dropped == ("web search",)
    assert events[-1]["llmcore"]["dropped"] == ["web search"]


_HISTORY: list[dict[str, Any]] = [
    {"role": "user", "content": [{"type": "text", "text": "Weather?"}, {"type": "image_url", "image_url": {"url": _IMAGE}}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "call_a", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}},
            {"id": "call_b", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}},
        ],
    },
    {"role": "tool", "tool_call_id": "call_b", "content": "cold"},
    {"role": "tool", "tool_call_id": "call_a", "content": "warm"},
    {"role": "user", "content": "And?"},
]


def _results(provider: str, body: dict[str, Any]) -> list[str]:
    """The results in the order in which the wire has them."""
    if provider == "anthropic":
        parts = [part for message in body["messages"] for part in message["content"]]
        return [str(part["content"]) for part in parts if part["type"] == "tool_result"]
    if provider == "gemini":
        parts = [part for message in body["contents"] for part in message["parts"]]
        return [str(part["function_response"]["response"]) for part in parts if "function_response" in part]
    return [str(message["content"]) for message in body["messages"] if message["role"] == "tool"]


@pytest.mark.anyio
@pytest.mark.parametrize("provider", [provider for provider in PROVIDERS if provider != "deepseek"])  # it takes no images
async def test_a_history_of_openais_goes_out_in_each_wires_own_order(provider: str, adapter: LiteLLMAdapter) -> None:
    with WireServer(["Fine."]) as server:
        call = call_of(endpoint_at(server, provider), Request.model_validate({"messages": _HISTORY}))
        reply = await adapter.complete(call)
    (seen,) = server.requests
    found = _results(provider, seen.body)
    assert ["warm" in text for text in found] == [True, False]  # in the order of the calls
    assert ["cold" in text for text in found] == [False, True]
    assert _IMAGE.partition(",")[2].encode() in seen.sent
    assert reply.dropped == ()


@pytest.mark.anyio
@pytest.mark.parametrize("refused", [False, True])
async def test_usage_of_a_stream_is_asked_for_unless_it_is_refused(refused: bool) -> None:
    store = CapabilityStore()
    adapter = LiteLLMAdapter(store)
    with WireServer(["Hello."]) as server:
        endpoint = endpoint_at(server, "openai_compatible")
        if refused:
            store.record_failure(endpoint, "stream_options")
        async for _ in adapter.stream(call_of(endpoint, tools=())):
            pass
    await adapter.close()
    assert ("stream_options" in server.requests[0].body) is not refused
