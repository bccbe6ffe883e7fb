"""What goes over the wire: what was asked for, and nothing else; each provider's history in its own order."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.types import Request
from tests.adapters.conftest import PROVIDERS, call_of, endpoint_at
from tests.support.wire_server import WireServer

_PLAIN = {"model", "messages"}
_SENT: dict[str, set[str]] = {
    "anthropic": {"model", "messages", "max_tokens"},  # the wire requires it
    "gemini": {"contents"},
    "ollama": {"model", "messages", "options", "stream"},
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
