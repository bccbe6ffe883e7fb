"""Whole replies that lack what LiteLLM wants, asked for whole or as a stream: read from the raw body, and nothing is made up."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.wire.body_facts import BodyFacts
from llmcore.normalizer import Normalizer, normalize
from tests.adapters.conftest import call_of, endpoint_at
from tests.helpers.wire_server import Raw, Turn, WireServer

pytestmark = pytest.mark.anyio

_CHOICE = {"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}
_USAGE = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
BODIES: dict[str, tuple[str, dict[str, Any], str, bool]] = {
    "groq without service_tier": ("groq", {"id": "x", "model": "m", "choices": [_CHOICE], "usage": _USAGE}, "x", False),
    "choices alone": ("openai_compatible", {"choices": [_CHOICE]}, "", True),
    "a bare message": ("openai_compatible", {"choices": [{"message": {"content": "Hi"}}], "usage": _USAGE}, "", False),
    "openrouter": ("openrouter", {"choices": [_CHOICE], "usage": _USAGE}, "", False),
    "mistral": ("mistral", {"choices": [_CHOICE]}, "", True),
    "anthropic": ("anthropic", {"id": "m", "content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn"}, "m", True),
    "gemini": ("gemini", {"candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP"}]}, "", True),
    "ollama": ("ollama", {"model": "l", "message": {"role": "assistant", "content": "Hi"}, "done": True}, "", True),
}
"""By what lacks: the provider, the body, its id, and whether the tokens must be guessed."""


@pytest.mark.parametrize(("provider", "body", "its_id", "guessed"), BODIES.values(), ids=list(BODIES))
async def test_a_lean_body_is_read(
    adapter: LiteLLMAdapter, provider: str, body: dict[str, Any], its_id: str, guessed: bool
) -> None:
    with WireServer([Raw([json.dumps(body).encode()])]) as server:
        call = call_of(endpoint_at(server, provider), tools=())
        reply = await adapter.complete(call)
        *events, last = [event async for event in adapter.stream(call)]
    assert normalize(reply).content == "Hi"
    assert (reply.id, reply.usage.estimated) == (its_id, guessed)
    normalizer = Normalizer()
    for event in events:
        normalizer.feed(event)
    normalizer.finish()
    assert normalizer.envelope.content == "Hi"
    assert isinstance(last, dict)
    assert (last["llmcore"]["id"], last["llmcore"]["usage"]["estimated"]) == (its_id, guessed)


@pytest.mark.parametrize("provider", ["openai", "groq", "anthropic"])
async def test_a_stream_tells_the_providers_own_id(adapter: LiteLLMAdapter, provider: str) -> None:
    with WireServer([Turn("Hi")]) as server:
        call = call_of(endpoint_at(server, provider), tools=())
        reply = await adapter.complete(call)
        *_, last = [event async for event in adapter.stream(call)]
    assert isinstance(last, dict)
    assert last["llmcore"]["id"] == reply.id != ""
    assert not last["llmcore"]["usage"]["estimated"]


TOLD: list[tuple[Any, tuple[str, str, bool]]] = [
    ({"id": "a", "model": "m", "usage": {"prompt_tokens": 1}}, ("a", "m", True)),
    ([{"type": "message_start", "message": {"id": "a", "model": "m", "usage": {}}}, {"type": "ping"}], ("a", "m", True)),
    ([{"responseId": "a", "modelVersion": "m"}, {"usageMetadata": {}}], ("a", "m", True)),
    ([{"type": "response.created", "response": {"id": "a", "model": "m", "usage": None}}], ("a", "m", False)),
    ([{"model": "m", "done": False}, {"done": True, "eval_count": 3}], ("", "m", True)),
    ([{"choices": [{"usage": {"prompt_tokens": 1}}]}], ("", "", True)),
    ({"id": 7, "model": None, "usage": None, "choices": 3}, ("", "", False)),
    (None, ("", "", False)),
]


@pytest.mark.parametrize(("bodies", "expected"), TOLD)
def test_what_is_told(bodies: Any, expected: tuple[str, str, bool]) -> None:
    told = BodyFacts.of(bodies)
    assert (told.id, told.model, told.counted) == expected
