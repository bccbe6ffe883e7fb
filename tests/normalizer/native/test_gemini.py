"""W4: parts, signatures, spellings of SDKs, and finish reasons as words and as numbers."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import pytest

from llmcore.normalizer import Normalizer, normalize
from llmcore.types import ProviderBlock, TextBlock, ThinkingBlock, ToolUseBlock

Json = dict[str, Any]


def body(*parts: Json, finish: object = "STOP", **more: Any) -> Json:
    return {"candidates": [{"content": {"role": "model", "parts": [*parts]}, "finishReason": finish, "index": 0, **more}]}


def test_a_signature_is_kept_with_its_part() -> None:
    call = {"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "sig"}
    envelope = normalize(body(call, {"functionCall": {"name": "g", "args": {}}}))
    assert envelope.blocks == [
        ToolUseBlock(id="call_0", name="f", input={"a": 1}, raw_input='{"a": 1}'),
        ProviderBlock(provider="gemini", data={"thoughtSignature": "sig"}),
        ToolUseBlock(id="call_1", name="g", input={}, raw_input="{}"),
    ]


def test_a_last_part_may_hold_nothing_but_a_signature() -> None:
    normalizer = Normalizer()
    normalizer.feed(body({"text": "A"}, finish=None))
    normalizer.feed(body({"text": "", "thoughtSignature": "sig"}))
    normalizer.finish()
    assert normalizer.envelope.blocks == [
        TextBlock(text="A"),
        ProviderBlock(provider="gemini", data={"thoughtSignature": "sig"}),
    ]


def test_thoughts_are_reasoning() -> None:
    envelope = normalize(body({"text": "Think.", "thought": True, "thoughtSignature": "s"}, {"text": "A"}))
    assert (envelope.reasoning, envelope.content) == ("Think.", "A")
    assert envelope.blocks == [ThinkingBlock(thinking="Think.", signature="s"), TextBlock(text="A")]


def test_snake_case_is_read() -> None:
    part = {"function_call": {"name": "f", "args": {"a": 1}, "id": None}, "thought_signature": b"sig", "text": None}
    envelope = normalize({"candidates": [{"content": {"parts": [part]}, "finish_reason": "STOP"}], "usage_metadata": {}})
    assert envelope.tool_calls[0].arguments == {"a": 1}
    assert envelope.finish_reason == "tool_calls"
    assert envelope.blocks[1] == ProviderBlock(provider="gemini", data={"thoughtSignature": b"sig"})


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("groundingMetadata", "groundingMetadata"),
        ("grounding_metadata", "groundingMetadata"),
        ("citationMetadata", "citationMetadata"),
        ("urlContextMetadata", "urlContextMetadata"),
    ],
)
def test_where_the_words_are_from_is_kept(given: str, kept: str) -> None:
    sources = {"groundingChunks": [{"web": {"uri": "https://example.org", "title": "Tides"}}]}
    whole = body({"text": "Noon."}, **{given: sources})
    normalizer = Normalizer()
    for piece in (body({"text": "No"}, finish=None), body({"text": "on."}, **{given: sources})):
        normalizer.feed(piece)
    normalizer.finish()
    for envelope in (normalize(whole), normalizer.envelope):
        assert envelope.blocks == [TextBlock(text="Noon."), ProviderBlock(provider="gemini", data={kept: sources})]


def test_args_may_be_absent() -> None:
    assert normalize(body({"functionCall": {"name": "f"}})).tool_calls[0].arguments == {}


def test_server_side_parts_are_kept() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "print(1)"}}
    result = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}
    envelope = normalize(body(code, result, {"text": "1"}))
    assert not envelope.tool_calls
    assert envelope.blocks == [
        ProviderBlock(provider="gemini", data=code),
        ProviderBlock(provider="gemini", data=result),
        TextBlock(text="1"),
    ]


class Finish(StrEnum):
    """As an SDK has it."""

    STOP = "STOP"


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("STOP", "stop"),
        (Finish.STOP, "stop"),
        (1, "stop"),
        ("MAX_TOKENS", "length"),
        (2, "length"),
        ("SAFETY", "content_filter"),
        (3, "content_filter"),
        ("MALFORMED_FUNCTION_CALL", "error"),
        ("UNEXPECTED_TOOL_CALL", "tool_calls"),
        (None, None),
    ],
)
def test_why_it_ended(word: object, reason: str | None) -> None:
    assert normalize(body({"text": "A"}, finish=word)).finish_reason == reason


def test_a_blocked_prompt_has_no_candidates() -> None:
    envelope = normalize({"promptFeedback": {"blockReason": "OTHER"}, "usageMetadata": {"totalTokenCount": 1}})
    assert (envelope.content, envelope.finish_reason, envelope.finish_word) == ("", "content_filter", "OTHER")


def test_the_text_of_a_malformed_call_is_not_lost() -> None:
    said = "Malformed function call: call get_weather"
    envelope = normalize(body(finish="MALFORMED_FUNCTION_CALL", finishMessage=said))
    assert (envelope.content, envelope.finish_reason) == ("call get_weather", "error")  # without the server's own words
    assert normalize(body(finishMessage="Model generated function call(s).")).content == ""


def test_a_json_array_of_stream_objects_is_one_reply() -> None:
    last: Json = {"usageMetadata": {}}
    envelope = normalize([body({"text": "Hel"}, finish=None), body({"text": "lo"}), last])
    assert (envelope.content, envelope.finish_reason) == ("Hello", "stop")


def test_parts_alone_are_read() -> None:
    parts = [{"text": "A"}, {"functionCall": {"name": "f", "args": {"a": 1}}}]
    for part in ({"parts": parts}, {"content": {"parts": parts}, "finishReason": "STOP"}, parts):
        envelope = normalize(part)
        assert envelope.content == "A"
        assert envelope.tool_calls[0].arguments == {"a": 1}


def test_only_candidate_0_is_read() -> None:
    other = {"content": {"parts": [{"text": "other"}]}, "index": 1}
    whole = body({"text": "A"})
    assert normalize({"candidates": [other, *whole["candidates"]]}).content == "A"
