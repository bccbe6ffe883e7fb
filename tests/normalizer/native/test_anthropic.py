"""W3: blocks that are no calls, placeholders, and what a stream leaves open."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.normalizer import Normalizer, normalize
from llmcore.types import Envelope, ProviderBlock, RedactedThinkingBlock, TextBlock, ThinkingBlock, ToolUseBlock

Json = dict[str, Any]


def message(*content: Json, stop: str | None = "end_turn") -> Json:
    return {"type": "message", "role": "assistant", "content": [*content], "stop_reason": stop}


def fed(*events: Json) -> Envelope:
    normalizer = Normalizer()
    for event in events:
        normalizer.feed(event)
    normalizer.finish()
    return normalizer.envelope


def start(block: Json, index: int = 0) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(kind: str, index: int = 0, **more: Any) -> Json:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **more}}


def stop(index: int = 0) -> Json:
    return {"type": "content_block_stop", "index": index}


def ended(word: str) -> Json:
    return {"type": "message_delta", "delta": {"stop_reason": word}}


CALL: Json = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}


def test_thinking_may_be_empty_with_a_signature() -> None:
    envelope = normalize(message({"type": "thinking", "thinking": "", "signature": "s"}, {"type": "text", "text": "A"}))
    assert envelope.blocks == [ThinkingBlock(thinking="", signature="s"), TextBlock(text="A")]


def test_blocks_of_thinking_stay_apart() -> None:
    one, two = ({"type": "thinking", "thinking": text, "signature": text} for text in ("One.", "Two."))
    envelope = normalize(message(one, {"type": "redacted_thinking", "data": "enc"}, two))
    assert envelope.reasoning == "One.Two."
    assert envelope.blocks == [
        ThinkingBlock(thinking="One.", signature="One."),
        RedactedThinkingBlock(data="enc"),
        ThinkingBlock(thinking="Two.", signature="Two."),
    ]


@pytest.mark.parametrize("kind", ["server_tool_use", "mcp_tool_use", "web_search_tool_result", "mcp_tool_result", "compaction"])
def test_server_side_blocks_are_no_calls_but_are_kept(kind: str) -> None:
    block: Json = {"type": kind, "id": "s1", "name": "web_search", "input": {"query": "x"}}
    envelope = normalize(message(block, {"type": "text", "text": "A"}))
    assert not envelope.tool_calls
    assert envelope.blocks == [ProviderBlock(provider="anthropic", data=block), TextBlock(text="A")]


def test_a_streamed_server_call_is_put_together() -> None:
    block: Json = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    pieces = [delta("input_json_delta", partial_json=piece) for piece in ('{"que', 'ry": "x"}')]
    expected = ProviderBlock(provider="anthropic", data={**block, "input": {"query": "x"}})
    assert fed(start(block), *pieces, stop()).blocks == [expected]
    assert fed(start(block), *pieces).blocks == [expected], "a stream that breaks off keeps it too"


def test_citations_stay_with_their_text() -> None:
    citation = {"type": "page_location", "cited_text": "x"}
    whole = normalize(message({"type": "text", "text": "A", "citations": [citation]}, {"type": "text", "text": "B"}))
    streamed = fed(
        start({"type": "text", "text": ""}),
        delta("text_delta", text="A"),
        delta("citations_delta", citation=citation),
        stop(),
        start({"type": "text", "text": ""}, 1),
        delta("text_delta", 1, text="B"),
        stop(1),
    )
    expected = [
        TextBlock(text="A"),
        ProviderBlock(provider="anthropic", data={"citations": [citation]}),
        TextBlock(text="B"),
    ]
    assert whole.blocks == streamed.blocks == expected
    assert whole.content == "AB"


def test_no_arguments_are_an_empty_object() -> None:
    envelope = fed(start(CALL), delta("input_json_delta", partial_json=""), stop(), ended("tool_use"))
    assert [(call.arguments, call.complete) for call in envelope.tool_calls] == [({}, True)]


def test_a_call_that_only_began_is_not_complete() -> None:
    call = fed(start(CALL)).tool_calls[0]
    assert (call.complete, call.arguments) == (False, None)


def test_input_given_at_the_start_is_taken() -> None:
    assert fed(start({**CALL, "input": {"a": 1}}), stop()).tool_calls[0].arguments == {"a": 1}


def test_input_cut_by_the_token_limit_is_not_complete() -> None:
    envelope = fed(start(CALL), delta("input_json_delta", partial_json='{"a": "x'), stop(), ended("max_tokens"))
    assert envelope.finish_reason == "length"
    assert envelope.truncated
    assert not envelope.tool_calls[0].complete
    whole = normalize(message(CALL, stop="max_tokens"))
    assert not whole.tool_calls[0].complete, "an empty input may be all that the limit left"


def test_an_index_used_again_after_its_block_stopped_is_another_call() -> None:
    second = {**CALL, "id": "t2"}
    envelope = fed(start(CALL), stop(), start(second), delta("input_json_delta", partial_json='{"a": 1}'), stop())
    assert [(call.id, call.arguments) for call in envelope.tool_calls] == [("t1", {}), ("t2", {"a": 1})]


def test_an_error_in_the_stream_is_the_reason_it_ended() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    envelope = fed(start({"type": "text", "text": "Hel"}), error)
    assert (envelope.content, envelope.finish_reason, envelope.finish_word) == ("Hel", "error", "overloaded_error")


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("pause_turn", "stop"),
        ("max_tokens", "length"),
        ("refusal", "content_filter"),
    ],
)
def test_why_it_ended(word: str, reason: str) -> None:
    assert normalize(message({"type": "text", "text": "A"}, stop=word)).finish_reason == reason


def test_blocks_alone_are_read() -> None:
    blocks = [{"type": "text", "text": "A"}, {**CALL, "input": {"a": 1}}]
    for part in (blocks, {"role": "assistant", "content": blocks}):
        envelope = normalize(part)
        assert envelope.content == "A"
        assert envelope.blocks[-1] == ToolUseBlock(id="t1", name="f", input={"a": 1}, raw_input='{"a": 1}')
