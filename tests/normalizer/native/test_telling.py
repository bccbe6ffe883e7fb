"""Which wire a body, a part of one or a stream event is of; and what fits none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore.normalizer import normalize
from llmcore.normalizer.native.wires import WIRES, bodies_of_list, wire_named, wire_of
from tests.normalizer.native.samples import SAMPLES, Sample

Json = dict[str, Any]


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.wire for sample in SAMPLES])
def test_bodies_and_every_event_that_says_something(sample: Sample) -> None:
    told = [wire_of(body) for body in [sample.whole, *sample.events]]
    assert {wire.name if wire else None for wire in told} == {sample.wire}


SHAPES: list[tuple[Json, str]] = [
    ({"choices": [], "usage": {}}, "openai-chat"),
    ({"choices": [{"index": 0, "message": {"content": "x"}, "stop_reason": None}]}, "openai-chat"),
    ({"message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}, "openai-chat"),
    ({"role": "assistant", "content": None}, "openai-chat"),
    ({"content": "x"}, "openai-chat"),
    ({"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}, "openai-chat"),
    ({"role": "assistant", "content": [{"type": "text", "text": "x"}]}, "openai-chat"),
    ({"object": "response", "status": "queued", "output": None}, "openai-responses"),
    ({"type": "response.output_text.delta", "delta": "x"}, "openai-responses"),
    ({"type": "message", "content": [{"type": "text", "text": "x"}]}, "anthropic"),
    ({"role": "assistant", "content": [{"type": "tool_use", "name": "f", "input": {}}]}, "anthropic"),
    ({"content": [{"type": "web_search_tool_result"}]}, "anthropic"),
    ({"type": "ping"}, "anthropic"),
    ({"promptFeedback": {"blockReason": "SAFETY"}}, "gemini"),
    ({"usageMetadata": {"totalTokenCount": 1}}, "gemini"),
    ({"content": {"role": "model", "parts": []}}, "gemini"),
    ({"role": "model", "parts": [{"text": "x"}]}, "gemini"),
    ({"functionCall": {"name": "f", "args": {}}}, "gemini"),
    ({"role": "assistant", "content": [{"text": "x"}]}, "bedrock-converse"),
    ({"content": [{"toolUse": {"name": "f", "input": {}}}]}, "bedrock-converse"),
    ({"metadata": {"usage": {"inputTokens": 1}}}, "bedrock-converse"),
    ({"message": {"content": "x"}, "done": False}, "ollama-chat"),
    ({"message": {"content": [], "tool_plan": "x"}}, "cohere-v2"),
    ({"message": {"content": []}, "finish_reason": "MAX_TOKENS"}, "cohere-v2"),
    ({"type": "content-delta", "delta": {}}, "cohere-v2"),
    ({"error": {"failed_generation": ""}}, "groq-tool-use-failed"),
]


@pytest.mark.parametrize(("body", "wire"), SHAPES)
def test_shapes(body: Json, wire: str) -> None:
    told = wire_of(body)
    assert told is not None
    assert told.name == wire


NOT_REPLIES: list[Any] = [
    None,
    True,
    0,
    1.5,
    [],
    {},
    [[]],
    [1, 2],
    ["a"],
    {"error": {"message": "bad key", "code": 401}},
    {"name": "tide gauge", "unit": "cm"},
    {"metadata": {"page": 1}},
    {"role": "admin", "rights": ["read"]},
    {"message": "text", "done": True},
    {"content": 5},
    {"type": "circle", "radius": 2},
    [{"name": "north pier"}, {"name": "south pier"}],
]


@pytest.mark.parametrize("body", NOT_REPLIES, ids=json.dumps)
def test_what_fits_no_wire_is_content(body: Any) -> None:
    envelope = normalize(body)
    assert envelope.content == json.dumps(body)
    assert not envelope.tool_calls
    assert envelope.finish_reason is None


def test_what_is_no_json_at_all_is_content_too() -> None:
    assert normalize({1, 2}).content == '"{1, 2}"'
    loop: list[Any] = []
    loop.append(loop)
    assert normalize(loop).content == "[[...]]"


def test_the_projects_own_envelope_as_a_dict_is_read_as_text() -> None:
    envelope = normalize({"toolCalls": [{"name": "f", "arguments": {"a": 1}}], "content": "Hi.", "needsMoreWork": True})
    assert [(call.name, call.arguments) for call in envelope.tool_calls] == [("f", {"a": 1})]
    assert (envelope.content, envelope.needs_more_work) == ("Hi.", True)


def test_lists() -> None:
    stream: list[Json] = [{"choices": [{"index": 0, "delta": {"content": "a"}}]}, {"choices": []}]
    assert bodies_of_list(stream) == stream
    items = [{"type": "reasoning"}, {"type": "web_search_call"}]
    assert bodies_of_list(items) == [{"output": items}]
    assert bodies_of_list([{"type": "text", "text": "a"}]) == [{"content": [{"type": "text", "text": "a"}]}]
    assert bodies_of_list([{"candidates": []}, {"usageMetadata": {}}]) == [{"candidates": []}, {"usageMetadata": {}}]
    assert bodies_of_list([{"a": 1}]) == []


def test_names_are_unique_and_found() -> None:
    names = list(dict.fromkeys(wire.name for wire in WIRES))
    assert len(names) == 9
    for name in names:
        found = wire_named(name)
        assert found is not None
        assert found.name == name
    assert wire_named("no such wire") is None
    assert wire_named(None) is None
