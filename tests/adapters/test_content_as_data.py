"""A body whose content is JSON data, not text: it is read as its JSON, with a note, and is no empty reply."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.normalizer import normalize
from llmcore.types.numbers import exact_loads
from tests.adapters.conftest import call_of, endpoint_at
from tests.support.wire_server import Raw, WireServer

pytestmark = pytest.mark.anyio

DATA = ["5", "0", "true", "false", "1.10", '{"a": 1.10}', "[1, 2]", '{"a": {"text": "hi"}}']
OTHER: list[tuple[Any, str]] = [
    (None, ""),
    ({}, ""),
    ([], ""),
    ({"type": "text", "text": "Hi"}, "Hi"),
    ([{"type": "text", "text": "Hi"}], "Hi"),
    ("5", "5"),
]
PROVIDERS = ["openai", "openai_compatible", "ollama", "anthropic"]


def _body(provider: str, content: str) -> bytes:
    message = f'{{"role": "assistant", "content": {content}}}'
    if provider == "ollama":
        return f'{{"model": "m", "message": {message}, "done": true, "done_reason": "stop"}}'.encode()
    if provider == "anthropic":
        return f'{{"type": "message", "role": "assistant", "content": {content}, "stop_reason": "end_turn"}}'.encode()
    choice = f'{{"index": 0, "message": {message}, "finish_reason": "stop"}}'
    return f'{{"id": "c", "object": "chat.completion", "model": "m", "choices": [{choice}]}}'.encode()


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("content", DATA)
async def test_it_is_the_text(adapter: LiteLLMAdapter, provider: str, content: str) -> None:
    with WireServer([Raw([_body(provider, content)])]) as server:
        envelope = normalize(await adapter.complete(call_of(endpoint_at(server, provider))))
    assert envelope.content == content
    assert [(repair.kind, repair.after) for repair in envelope.repairs] == [("content_as_text", content)]


@pytest.mark.parametrize("wire", ["openai-chat", "ollama-chat", "anthropic-messages"])
@pytest.mark.parametrize(("content", "expected"), OTHER)
def test_text_parts_and_nothing_stay_what_they_are(wire: str, content: Any, expected: str) -> None:
    provider = {"openai-chat": "openai", "ollama-chat": "ollama", "anthropic-messages": "anthropic"}[wire]
    envelope = normalize(exact_loads(_body(provider, json.dumps(content))))
    assert (envelope.content, envelope.repairs) == (expected, [])


def test_an_envelope_as_an_object_is_read_as_one() -> None:
    content = '{"content": "Hi", "toolCalls": [{"name": "f", "arguments": {"x": 1}}], "needsMoreWork": true}'
    envelope = normalize(json.loads(_body("openai", content)))
    assert [call.name for call in envelope.tool_calls] == ["f"]
