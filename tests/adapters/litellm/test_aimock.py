"""The adapter against a mock that somebody else wrote. Skipped where it is not installed (tests/helpers/aimock.py)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from llmcore.adapters.base import Endpoint
from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.types import Message, RateLimited, Request, TextBlock, ToolResultBlock, ToolUseBlock
from tests.adapters.conftest import KEY, PROVIDERS, call_of
from tests.adapters.litellm.test_adapter import calls_in, collected, streamed_calls
from tests.helpers.aimock import Aimock, find

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.sweep,
    pytest.mark.skipif(find() is None, reason="aimock is not installed: python -m tests.helpers.aimock"),
]

PARIS = {"name": "get_weather", "arguments": '{"city": "Paris"}'}
ROME = {"name": "get_weather", "arguments": '{"city": "Rome"}'}
FIXTURES: list[dict[str, Any]] = [
    {"match": {"userMessage": "weather in Paris", "hasToolResult": False}, "response": {"toolCalls": [PARIS]}},
    {"match": {"userMessage": "weather in Paris", "hasToolResult": True}, "response": {"content": "Sunny."}},
    {"match": {"userMessage": "both cities"}, "response": {"toolCalls": [PARIS, ROME]}},
    {
        "match": {"userMessage": "429"},
        "response": {"error": {"message": "slow", "type": "rate_limit_error"}, "status": 429},
    },
]
PLAIN = [
    "openai",
    "openrouter",
    "mistral",
    "openai_compatible",
    "anthropic",
    "gemini",
    "ollama",
]  # groq: no service_tier
STREAMED = [*PLAIN, "groq"]


@pytest.fixture(scope="module")
def aimock() -> Iterator[Aimock]:
    with Aimock(FIXTURES) as running:
        yield running


def endpoint_on(aimock: Aimock, provider: str) -> Endpoint:
    given = {"provider": provider, "model": PROVIDERS[provider], "base_url": aimock.base_url(provider), "api_key": KEY}
    return Endpoint.model_validate(given)


@pytest.mark.parametrize("provider", PLAIN)
async def test_a_call(adapter: LiteLLMAdapter, aimock: Aimock, provider: str) -> None:
    reply = await adapter.complete(call_of(endpoint_on(aimock, provider), "What is the weather in Paris?"))
    assert calls_in(reply.raw) == [("get_weather", {"city": "Paris"})]


@pytest.mark.parametrize("provider", STREAMED)
async def test_parallel_calls_streamed(adapter: LiteLLMAdapter, aimock: Aimock, provider: str) -> None:
    chunks, _ = await collected(adapter, call_of(endpoint_on(aimock, provider), "Tell me of both cities."))
    assert streamed_calls(chunks) == [("get_weather", {"city": "Paris"}), ("get_weather", {"city": "Rome"})]


@pytest.mark.parametrize("provider", [name for name in PLAIN if name != "gemini"])  # it reads camelCase only
async def test_a_second_turn(adapter: LiteLLMAdapter, aimock: Aimock, provider: str) -> None:
    history = [
        Message(role="user", content=[TextBlock(text="What is the weather in Paris?")]),
        Message(role="assistant", content=[ToolUseBlock(id="call_1", name="get_weather", input={"city": "Paris"})]),
        Message(role="tool", content=[ToolResultBlock(tool_use_id="call_1", content=[TextBlock(text="sunny")])]),
    ]
    chunks, _ = await collected(adapter, call_of(endpoint_on(aimock, provider), Request(messages=history)))
    text = "".join(choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"])
    assert text == "Sunny."


@pytest.mark.parametrize("provider", STREAMED)
async def test_a_rate_limit(adapter: LiteLLMAdapter, aimock: Aimock, provider: str) -> None:
    with pytest.raises(RateLimited) as caught:
        await adapter.complete(call_of(endpoint_on(aimock, provider), "Please 429."))
    assert caught.value.retry_after == 1.0
