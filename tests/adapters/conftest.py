"""What the tests of layer 1 share: one litellm for all, clients closed before each event loop ends."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from llmcore.adapters.base import Endpoint, ModelCall
from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.types import Request, ToolDefinition
from tests.helpers.wire_server import WireServer

WEATHER = ToolDefinition(
    name="get_weather",
    description="The weather in a city.",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
)
KEY = "sk-test-0123456789abcdef"
TIMEOUT = 30.0
"""Seconds a call may take: no test waits for it."""

PROVIDERS = {
    "openai": "gpt-4o",
    "openai_compatible": "local-model",
    "groq": "llama-3.3-70b-versatile",
    "openrouter": "some/model",
    "mistral": "mistral-large-latest",
    "deepseek": "deepseek-chat",
    "anthropic": "claude-sonnet-4-5",
    "gemini": "gemini-2.5-pro",
    "ollama": "llama3.1",
}
"""A model of each provider that the wire server speaks for."""
EVERY_MODEL = {
    **PROVIDERS,
    "azure": "a-deployment",
    "bedrock": "anthropic.claude-sonnet-4-5-20250929-v1:0",
    "vertex_ai": "gemini-2.5-pro",
    "xai": "grok-4",
    "together": "meta-llama/Llama-3.3-70B-Instruct-Turbo",
    **dict.fromkeys(("vllm", "sglang", "llama_cpp", "lm_studio"), "local-model"),
}
"""A model of every row of the table."""


def endpoint_at(server: WireServer, provider: str, model: str | None = None) -> Endpoint:
    """An endpoint of `provider` that lives on the wire server."""
    return Endpoint.model_validate(
        {
            "provider": provider,
            "model": model or PROVIDERS[provider],
            "base_url": server.base_url(provider),
            "api_key": KEY,
        }
    )


def call_of(endpoint: Endpoint, request: Request | str = "What is the weather in Paris?", **fields: object) -> ModelCall:
    """A call with the weather tool, unless `fields` say otherwise."""
    asked = request if isinstance(request, Request) else Request.model_validate({"messages": request})
    given: dict[str, object] = {"tools": (WEATHER,), "timeout": TIMEOUT} | fields
    return ModelCall.model_validate({"endpoint": endpoint, "request": asked} | given)


@pytest.fixture
async def adapter() -> AsyncIterator[LiteLLMAdapter]:
    """An adapter whose clients are closed with the test's event loop."""
    adapter = LiteLLMAdapter()
    yield adapter
    await adapter.close()
