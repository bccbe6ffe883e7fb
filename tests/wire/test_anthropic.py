"""Anthropic's messages: blocks that must stay, native calls, and what is encoded and decoded."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore import FileBlock, ProviderBlock, ReasoningDelta, TextDelta, normalize
from llmcore.types import CallerError
from llmcore.wire import anthropic, offered
from tests.wire.support import CALL, TOOLS, WIRES, pieces, settings

Json = dict[str, Any]
WIRE: Any = WIRES[1]
SETTINGS = settings(ids="anthropic")
THINKING = {"type": "thinking", "thinking": "Hm.", "signature": "sig"}
SEARCH = {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {"query": "x"}}
NATIVE = {"type": "tool_use", "id": "toolu_server", "name": "get_weather", "input": {"city": "Rome"}}
END: list[Json] = [
    {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 5}},
    {"type": "message_stop"},
]


def body(*content: Json, stop: str = "end_turn") -> Json:
    return {
        "id": "msg",
        "type": "message",
        "role": "assistant",
        "content": [*content],
        "stop_reason": stop,
        "usage": {"input_tokens": 1},
    }


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def block_events(index: int, block: Json, *deltas: Json) -> list[Json]:
    events = [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
    return [
        {"type": "content_block_start", "index": index, "content_block": block},
        *events,
        {"type": "content_block_stop", "index": index},
    ]


def text_events(index: int, words: str) -> list[Json]:
    return block_events(index, text(""), *({"type": "text_delta", "text": part} for part in pieces(words, 9)))


def call_events(index: int, *parts: str, call_id: str = "toolu_server", name: str = "get_weather") -> list[Json]:
    deltas = ({"type": "input_json_delta", "partial_json": part} for part in parts)
    return block_events(index, {**NATIVE, "id": call_id, "name": name, "input": {}}, *deltas)


def streamed(*events: Json) -> list[Json]:
    rewriter = anthropic.StreamRewriter(SETTINGS)
    return [*(each for event in events for each in rewriter.feed(event)), *rewriter.finish()]


def test_a_sound_message_stays_the_same_object() -> None:
    for given in (
        body(THINKING, text("Hi"), NATIVE, stop="tool_use"),
        body(text("Hi"), SEARCH, text("there")),
        body(stop="refusal"),
    ):
        assert anthropic.rewrite(given, SETTINGS).body is given


def test_only_the_text_of_the_call_changes() -> None:
    given = body(THINKING, text("First. "), SEARCH, text("Then.\n" + CALL))
    made = anthropic.rewrite(given, SETTINGS).body
    assert made["content"][:3] == given["content"][:3]
    assert made["content"][3] == text("Then.")
    assert made["content"][4]["input"] == {"city": "Paris", "days": 3}
    assert made["stop_reason"] == "tool_use"


def test_a_native_call_without_an_id_gets_one_and_a_withheld_one_stays() -> None:
    (made,) = anthropic.rewrite(body({**NATIVE, "id": ""}, stop="tool_use"), SETTINGS).body["content"]
    assert made["id"].startswith("toolu_")
    given = body({**NATIVE, "name": "open_door"}, stop="tool_use")
    assert anthropic.rewrite(given, SETTINGS).body is given


def test_blocks_of_a_stream_keep_their_order_and_calls_come_last() -> None:
    thinking = block_events(
        0,
        {**THINKING, "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "Hm."},
        {"type": "signature_delta", "signature": "sig"},
    )
    search = block_events(2, SEARCH, {"type": "input_json_delta", "partial_json": "{}"})
    events = [*thinking, *call_events(1, '{"city"', ':"Rome"}'), *search, *text_events(3, "Then.\n" + CALL), *END]
    sent = streamed(*events)
    read = WIRE.read_events(sent)
    assert read.calls == [("get_weather", {"city": "Rome"}), ("get_weather", {"city": "Paris", "days": 3})]
    assert read.ids[0] == "toolu_server"
    assert (read.text, read.reasoning, read.end) == ("Then.", "Hm.", "tool_use")
    starts = [event["content_block"]["type"] for event in sent if event["type"] == "content_block_start"]
    assert starts == ["thinking", "server_tool_use", "text", "tool_use", "tool_use"]
    assert sent[0] is events[0]


def test_white_space_at_the_end_of_a_text_opens_no_block_of_its_own() -> None:
    sent = streamed(*text_events(0, "Hello there.\n\n"), *call_events(1, '{"city":"Rome"}'), *END)
    assert [event["content_block"]["type"] for event in sent if event["type"] == "content_block_start"] == ["text", "tool_use"]


def test_two_texts_stay_two_blocks_with_their_citations() -> None:
    cited = {"type": "content_block_delta", "index": 1, "delta": {"type": "citations_delta", "citation": {"url": "u"}}}
    second = text_events(1, "And two.")
    sent = streamed(*text_events(0, "One."), *second[:-1], cited, second[-1], *END)
    starts = [event["index"] for event in sent if event["type"] == "content_block_start"]
    assert starts == [0, 1]
    assert cited in sent


def test_native_arguments_of_a_stream_are_repaired() -> None:
    read = WIRE.read_events(streamed(*call_events(0, '{"city": "Rome"', ",}"), *END))
    assert read.calls == [("get_weather", {"city": "Rome"})]
    assert read.ids == ["toolu_server"]


def test_a_call_without_arguments_stays() -> None:
    read = WIRE.read_events(streamed(*call_events(0, name="get_time"), *END))
    assert read.calls == [("get_time", {})]


def test_a_native_call_of_a_cut_stream_is_dropped() -> None:
    assert WIRE.read_events(streamed(*call_events(0, '{"city":"Rome"}'))).calls == []


def test_other_events_pass() -> None:
    error: Json = {"type": "error", "error": {"type": "overloaded_error"}}
    start: Json = {"type": "message_start", "message": {}}
    for event in ({"type": "ping"}, error, start):
        assert anthropic.StreamRewriter(SETTINGS).feed(event)[0] is event


def test_a_paused_turn_stays_paused() -> None:
    given = body(text(CALL), stop="pause_turn")
    assert anthropic.rewrite(given, SETTINGS).body["stop_reason"] == "pause_turn"


def test_an_envelope_is_encoded() -> None:
    envelope = normalize({**body(THINKING, text("I look. " + CALL))}, TOOLS)
    made = anthropic.encode(envelope, TOOLS, model="m")
    assert made["content"][0] == THINKING
    assert made["content"][1] == text("I look.")
    assert made["content"][2]["type"] == "tool_use"
    assert (made["stop_reason"], made["usage"]["input_tokens"]) == ("tool_use", 0)
    assert anthropic.encode(normalize("", TOOLS, finish_reason="length"), model="m")["stop_reason"] == "max_tokens"


def test_events_are_encoded() -> None:
    encoder = anthropic.StreamEncoder(model="m")
    sent = [
        *encoder.start(),
        *encoder.feed([ReasoningDelta("Hm"), TextDelta("Hi")]),
        *encoder.finish(offered(normalize(CALL, TOOLS)), "stop"),
    ]
    read = WIRE.read_events(sent)
    assert (read.reasoning, read.text, len(read.calls), read.end) == ("Hm", "Hi", 1, "tool_use")
    assert [sent[0]["type"], sent[-1]["type"]] == ["message_start", "message_stop"]


def test_messages_of_a_request_are_decoded() -> None:
    document = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Notes."}}
    pdf = {"type": "document", "title": "a", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}}
    given = {
        "system": "Be brief.",
        "messages": [{"role": "user", "content": [document, pdf, text("Hi")]}, {"role": "assistant", "content": [NATIVE]}],
    }
    system, user, assistant = anthropic.decode_messages(given)
    assert (system.role, system.text) == ("system", "Be brief.")
    assert user.content[0] == ProviderBlock(provider="anthropic", data=document)
    assert user.content[1] == FileBlock(data="JVBERi0=", media_type="application/pdf", name="a")
    assert assistant.tool_uses[0].id == "toolu_server"
    with pytest.raises(CallerError, match="no `messages`"):
        anthropic.decode_messages({"messages": "Hi"})
