"""The Responses API: items that must stay, native calls, and what is encoded and decoded."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore import ProviderBlock, ReasoningDelta, TextDelta, normalize
from llmcore.types import CallerError
from llmcore.wire import RewriteSettings, decode_tools, offered, openai_responses
from tests.wire.support import CALL, TOOLS, WIRES, pieces, settings

Json = dict[str, Any]
WIRE: Any = WIRES[2]
REASONING: Json = {"type": "reasoning", "id": "rs_server", "summary": [], "encrypted_content": "x"}
SEARCH = {"type": "web_search_call", "id": "ws_server", "status": "completed"}
NATIVE = {
    "type": "function_call",
    "id": "fc_server",
    "call_id": "call_server",
    "name": "get_weather",
    "arguments": '{"city":"Rome"}',
    "status": "completed",
}


def message(words: str, item_id: str = "msg_server") -> Json:
    part = {"type": "output_text", "text": words, "annotations": [{"url": "u"}]}
    return {"type": "message", "id": item_id, "role": "assistant", "status": "completed", "content": [part]}


def response(*output: Json, status: str = "completed") -> Json:
    return {"id": "resp", "object": "response", "status": status, "output": [*output], "usage": {"total_tokens": 3}}


def item_events(index: int, item: Json) -> list[Json]:
    """The events of an item, as a server sends them."""
    place = {"output_index": index, "item_id": item["id"]}
    added, inner = {**item, "status": "in_progress"}, list[Json]()
    if item["type"] == "message":
        for number, part in enumerate(item["content"]):
            where = {**place, "content_index": number}
            field = "refusal" if part["type"] == "refusal" else "text"
            kind, logprobs = f"response.{part['type']}", {} if field == "refusal" else {"logprobs": list[Json]()}
            inner += [{"type": "response.content_part.added", **where, "part": {**part, field: ""}}]
            inner += [{"type": f"{kind}.delta", **where, "delta": piece, **logprobs} for piece in pieces(part[field], 9)]
            inner += [
                {"type": f"{kind}.done", **where, field: part[field], **logprobs},
                {"type": "response.content_part.done", **where, "part": part},
            ]
        added["content"] = []
    elif item["type"] == "function_call":
        arguments = item["arguments"]
        inner = [{"type": "response.function_call_arguments.delta", **place, "delta": piece} for piece in pieces(arguments, 5)]
        inner.append({"type": "response.function_call_arguments.done", **place, "arguments": arguments})
        added["arguments"] = ""
    return [
        {"type": "response.output_item.added", "output_index": index, "item": added},
        *inner,
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def events_of(*items: Json, end: str = "completed") -> list[Json]:
    events = [{"type": "response.created", "response": response(status="in_progress")}]
    events += [event for index, item in enumerate(items) for event in item_events(index, item)]
    events.append({"type": f"response.{end}", "response": response(*items, status=end)})
    return [{**event, "sequence_number": n} for n, event in enumerate(events)]


def streamed(events: list[Json]) -> list[Json]:
    rewriter = openai_responses.StreamRewriter(settings())
    return [*(each for event in events for each in rewriter.feed(event)), *rewriter.finish()]


def test_a_sound_response_stays_the_same_object() -> None:
    for given in (response(REASONING, message("Hi"), NATIVE), response(SEARCH, message("Hi")), response(status="queued")):
        assert openai_responses.rewrite(given, settings()).body is given


def test_only_the_text_of_the_call_changes() -> None:
    given = response(REASONING, message("First. "), SEARCH, message("Then.\n" + CALL, "msg_2"))
    made = openai_responses.rewrite(given, settings()).body
    assert made["output"][:3] == given["output"][:3]
    assert made["output"][3]["content"][0] == {"type": "output_text", "text": "Then.", "annotations": [{"url": "u"}]}
    assert made["output"][4]["arguments"] == '{"city": "Paris", "days": 3}'


def test_items_of_a_stream_keep_their_order_and_calls_come_last() -> None:
    events = events_of(REASONING, NATIVE, SEARCH, message("Then.\n" + CALL))
    sent = streamed(events)
    read = WIRE.read_events(sent)
    assert read.calls == [("get_weather", {"city": "Rome"}), ("get_weather", {"city": "Paris", "days": 3})]
    assert (read.ids[0], read.text) == ("call_server", "Then.")
    output = sent[-1]["response"]["output"]
    assert [item["type"] for item in output] == ["reasoning", "web_search_call", "message", "function_call", "function_call"]
    assert output[0] == REASONING
    assert output[2]["content"][0]["annotations"] == [{"url": "u"}]
    assert sent[0] is events[0]


def test_a_stream_without_calls_ends_with_the_same_response() -> None:
    events = events_of(REASONING, message("Hello there, all is well."))
    sent = streamed(events)
    assert sent[-1]["response"]["output"] == events[-1]["response"]["output"]
    assert len(sent) == len(events)


def test_a_message_that_comes_whole_is_read() -> None:
    item = message("Then.\n" + CALL)
    place: Json = {"output_index": 0}
    events: list[Json] = [
        {"type": "response.output_item.added", **place, "item": {**item, "content": []}},
        {"type": "response.output_item.done", **place, "item": item},
    ]
    end = {"type": "response.completed", "response": response(item)}
    assert len(WIRE.read_events([{**event, "sequence_number": n} for n, event in enumerate(streamed([*events, end]))]).calls) == 1
    (alone,) = streamed([end])
    assert [each["type"] for each in alone["response"]["output"]] == ["message", "function_call"]


def _parts(*words: str) -> list[Json]:
    """Parts of a message. "No." is a refusal."""
    return [{"type": "refusal", "refusal": each} if each == "No." else message(each)["content"][0] for each in words]


@pytest.mark.parametrize("words", [["No."], ["Hi", "No."], ["No.", "Hi"], ["Hi there, ", "No.", "bye"], ["No.", "No."]])
@pytest.mark.parametrize("status", ["completed", "incomplete"])
def test_a_message_with_a_refusal_stays(words: list[str], status: str) -> None:
    events = events_of({**message(""), "content": _parts(*words), "status": status}, end=status)
    assert streamed(events) == events


@pytest.mark.parametrize(
    ("given", "left"),
    [(["I look. " + CALL, "No."], ["I look.", "No."]), ([CALL, "No."], ["No."]), (["No.", CALL, "Hi"], ["No.", "Hi"])],
)
def test_a_call_beside_a_refusal_is_handed_out(given: list[str], left: list[str]) -> None:
    item = {**message(""), "content": _parts(*given)}
    sent = streamed(events_of(item, message("After", "msg_2")))
    first, second, call = sent[-1]["response"]["output"]
    assert (first["id"], first["content"]) == ("msg_server", _parts(*left))
    assert (second["content"], call["name"]) == (_parts("After"), "get_weather")
    added = [event for event in sent if event["type"] == "response.content_part.added"]
    assert [event["content_index"] for event in added] == [*range(len(left)), 0]


def test_native_arguments_of_a_stream_are_repaired() -> None:
    read = WIRE.read_events(streamed(events_of({**NATIVE, "arguments": '{"city": "Rome",}'})))
    assert (read.calls, read.ids) == ([("get_weather", {"city": "Rome"})], ["call_server"])


def test_a_failed_response_hands_out_no_call() -> None:
    sent = streamed(events_of(message(CALL), NATIVE, end="failed"))
    assert not any("function_call" in event["type"] for event in sent)
    assert sent[-1]["type"] == "response.failed"
    assert [item["type"] for item in sent[-1]["response"]["output"]] == ["message"]


def test_a_free_text_tool_is_called_as_one() -> None:
    tools = decode_tools([{"type": "custom", "name": "apply_patch"}], free_text="function")
    text = '<tool_call>{"name": "apply_patch", "arguments": {"input": "*** Begin"}}</tool_call>'
    options = RewriteSettings(tools.tools, free_text=tools.free_text)
    (call,) = openai_responses.rewrite(response(message(text)), options).body["output"]
    assert (call["type"], call["name"], call["input"]) == ("custom_tool_call", "apply_patch", "*** Begin")
    native = {"type": "custom_tool_call", "id": "ctc", "call_id": "call_s", "name": "apply_patch", "input": "x"}
    given = response(native)
    assert openai_responses.rewrite(given, options).body is given


def test_an_envelope_is_encoded() -> None:
    envelope = normalize("<think>Hm</think>I look. " + CALL, TOOLS)
    made = openai_responses.encode(envelope, TOOLS, model="m", created=1)
    assert [item["type"] for item in made["output"]] == ["reasoning", "message", "function_call"]
    assert (made["status"], made["usage"]) == ("completed", None)
    cut = openai_responses.encode(normalize("Hi", TOOLS, finish_reason="length"), model="m")
    assert (cut["status"], cut["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})


def test_events_are_encoded() -> None:
    encoder = openai_responses.StreamEncoder(model="m")
    sent = encoder.start()
    sent += encoder.feed([ReasoningDelta("Hm"), TextDelta("Hi")])
    sent += encoder.finish(offered(normalize(CALL, TOOLS)), "stop")
    read = WIRE.read_events(sent)
    assert (read.reasoning, read.text, len(read.calls), read.end) == ("Hm", "Hi", 1, "completed")


def test_messages_of_a_request_are_decoded() -> None:
    items: list[Json] = [
        {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
        REASONING,
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look.", "annotations": []}]},
        {**NATIVE},
        {**NATIVE, "call_id": "call_2", "arguments": "no json"},
        {"type": "function_call_output", "call_id": "call_server", "output": "22 degrees"},
        {"type": "custom_tool_call", "call_id": "call_3", "name": "apply_patch", "input": "***"},
        {"type": "custom_tool_call_output", "call_id": "call_3", "output": [{"type": "input_text", "text": "done"}]},
    ]
    messages = openai_responses.decode_messages({"instructions": "Be brief.", "input": items})
    assert [each.role for each in messages] == ["system", "user", "assistant", "tool", "assistant", "tool"]
    turn = messages[2]
    assert turn.content[0] == ProviderBlock(provider="openai-responses", data=REASONING)
    assert (turn.text, [use.input for use in turn.tool_uses]) == ("I look.", [{"city": "Rome"}, None])
    assert turn.tool_uses[1].raw_input == "no json"
    assert messages[4].tool_uses[0].input == {"input": "***"}
    assert messages[5].tool_results[0].text == "done"
    assert openai_responses.decode_messages({"input": "Hi"})[0].text == "Hi"


@pytest.mark.parametrize(("given", "words"), [({}, "no `input`"), ({"input": ["Hi"]}, "item 0")])
def test_what_is_no_request_raises(given: Json, words: str) -> None:
    with pytest.raises(CallerError, match=words):
        openai_responses.decode_messages(given)
