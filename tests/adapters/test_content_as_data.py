"""A body whose content is JSON data, not text: it is read as its JSON, with a note, and is no empty reply."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.normalizer import Normalizer, normalize
from llmcore.types import TextDelta, ToolDefinition, ToolSet
from tests.adapters.conftest import call_of, endpoint_at
from tests.helpers.wire_server import Raw, WireServer

pytestmark = pytest.mark.anyio

SCALARS = ["5", "0", "true", "false", "1.5"]
LISTS = [
    "[1, 2]",
    "[[1], [2]]",
    "[null]",
    '["a", "b"]',
    '[{"a": 1.5}]',
    '[{"text": "hi"}]',
    '[{"type": "text", "text": {"a": 1}}]',
    '[{"type": "text", "value": "hi"}]',
    '[{"type": "text", "text": "hi"}, {"a": 1}]',
    '[{"type": "refusal", "refusal": 5}]',
]
OBJECTS = ["{}", '{"a": 1.5}', '{"a": {"text": "hi"}}', '{"type": "text", "text": "hi"}', '{"text": "hi"}']
DATA = [*SCALARS, *LISTS, *OBJECTS]
OTHER: list[tuple[Any, str]] = [
    (None, ""),
    ("", ""),
    ([{"type": "text", "text": "Hi"}], "Hi"),
    ([{"type": "text", "text": None}], ""),
    ("5", "5"),
]
OF_OPENAI = ["[]", '[{"type": "circle", "radius": 1}]']
"""Data in messages of OpenAI's shape alone: the other wire answers with no blocks, and makes up kinds of blocks."""
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
    assert (envelope.source, envelope.content) == (content, normalize(content).content)
    assert [(repair.kind, repair.after) for repair in envelope.repairs] == [("content_as_text", content)]


@pytest.mark.parametrize("wire", ["openai-chat", "ollama-chat", "anthropic-messages"])
@pytest.mark.parametrize(("content", "expected"), OTHER)
def test_text_parts_and_nothing_stay_what_they_are(wire: str, content: Any, expected: str) -> None:
    provider = {"openai-chat": "openai", "ollama-chat": "ollama", "anthropic-messages": "anthropic"}[wire]
    envelope = normalize(json.loads(_body(provider, json.dumps(content))))
    assert (envelope.content, envelope.repairs) == (expected, [])


@pytest.mark.parametrize("content", [*DATA, *OF_OPENAI])
def test_a_stream_of_it_is_read_as_a_whole_body_is(content: str) -> None:
    whole = normalize(json.loads(_body("openai", content)))
    normalizer = Normalizer()
    told = [*normalizer.feed(json.loads(f'{{"choices": [{{"index": 0, "delta": {{"content": {content}}}}}]}}'))]
    end: dict[str, Any] = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    told += normalizer.feed(end)
    told += normalizer.finish()
    assert normalizer.envelope == whole
    assert "".join(event.text for event in told if isinstance(event, TextDelta)) == whole.content
    assert normalizer.envelope.source == content


@pytest.mark.parametrize("content", OF_OPENAI)
def test_what_is_a_reply_of_blocks_elsewhere_is_data_in_a_chat_completion(content: str) -> None:
    assert normalize(json.loads(_body("openai", content))).source == content
    assert normalize(json.loads(_body("anthropic", content))).source == ""


@pytest.mark.parametrize("empty", [[], {}])
@pytest.mark.parametrize(
    "beside", [{"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}, {"refusal": "No."}]
)
def test_an_empty_one_beside_an_answer_is_nothing(empty: Any, beside: dict[str, Any]) -> None:
    message = {"role": "assistant", "content": empty, **beside}
    assert normalize({"choices": [{"message": message}]}).repairs == []


def test_strings_among_parts_and_parts_without_words_stay_parts() -> None:
    content = ["Hi ", {"type": "text", "text": "you"}, None, {"type": "image_url", "image_url": {"url": "data:,"}}]
    envelope = normalize({"choices": [{"message": {"role": "assistant", "content": content}}]})
    assert (envelope.content, envelope.repairs) == ("Hi you", [])


@pytest.mark.parametrize("listed", [True, False])
def test_call_objects_are_read_as_their_text_would_be(listed: bool) -> None:
    made = {"name": "pay", "arguments": {"amount": 1}}
    content: Any = [made] if listed else made
    pay = ToolDefinition(name="pay", parameters={"type": "object", "properties": {"amount": {"type": "integer"}}})
    [call] = normalize({"choices": [{"message": {"role": "assistant", "content": content}}]}, ToolSet([pay])).tool_calls
    assert (call.name, call.arguments) == ("pay", {"amount": 1})


def test_an_envelope_as_an_object_is_read_as_one() -> None:
    content = '{"content": "Hi", "toolCalls": [{"name": "f", "arguments": {"x": 1}}], "needsMoreWork": true}'
    envelope = normalize(json.loads(_body("openai", content)))
    assert [call.name for call in envelope.tool_calls] == ["f"]
