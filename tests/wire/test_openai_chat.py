"""Chat completions: several choices, native calls, and what must stay."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore import Envelope, ReasoningDelta, TextDelta, normalize
from llmcore.types import CallerError
from llmcore.wire import Offered, offered, openai_chat
from tests.wire.support import CALL, TOOLS, WIRES, Read, pieces, settings

Json = dict[str, Any]
CHAT: Any = WIRES[0]
NATIVE = {"id": "call_server1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city":"Rome"}'}}


def body(message: Json, finish: str = "tool_calls") -> Json:
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": finish}
    return {"id": "x", "choices": [choice], "usage": {"total_tokens": 3}, "system_fingerprint": "fp"}


def chunk(delta: Json, finish: str | None = None, index: int = 0, **more: Any) -> Json:
    return {"id": "x", "model": "m", "choices": [{"index": index, "delta": delta, "finish_reason": finish}], **more}


def call_delta(index: int, arguments: str, call_id: str | None = None, name: str | None = None) -> Json:
    head = {"id": call_id, "type": "function"} if call_id else {}
    function = {"name": name} if name else {}
    return {"tool_calls": [{"index": index, **head, "function": {**function, "arguments": arguments}}]}


def streamed(*chunks: Json, done: bool = True) -> tuple[list[Json], openai_chat.StreamRewriter]:
    rewriter = openai_chat.StreamRewriter(settings())
    sent = [each for one in chunks for each in rewriter.feed(one)]
    return [*sent, *rewriter.finish(done=done)], rewriter


def with_call(call: Json) -> Json:
    return body({"tool_calls": [call]})


def test_sound_native_calls_stay_the_same_object() -> None:
    given = body(
        {"tool_calls": [NATIVE, {**NATIVE, "id": "call_server2", "extra_content": {"google": {"thought_signature": "s"}}}]}
    )
    assert openai_chat.rewrite(given, settings()).body is given


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"city": "Rome",}', '{"city": "Rome"}'),
        ('"{\\"city\\": \\"Rome\\"}"', '{"city": "Rome"}'),
        ({"city": "Rome"}, '{"city": "Rome"}'),
    ],
)
def test_native_arguments_are_repaired_without_loss(arguments: Any, expected: str) -> None:
    given = with_call({**NATIVE, "function": {"name": "get_weather", "arguments": arguments}})
    (call,) = openai_chat.rewrite(given, settings()).body["choices"][0]["message"]["tool_calls"]
    assert call == {**NATIVE, "function": {"name": "get_weather", "arguments": expected}}


@pytest.mark.parametrize(
    ("name", "arguments"), [("open_door", "{}"), ("get_weather", "no json"), ("get_weather", '{"city" "Rome"}')]
)
def test_a_native_call_that_is_withheld_stays_as_its_server_sent_it(name: str, arguments: str) -> None:
    given = with_call({**NATIVE, "function": {"name": name, "arguments": arguments}})
    result = openai_chat.rewrite(given, settings())
    assert result.body is given
    assert len(result.reports[0].withheld) == 1


def test_a_call_that_the_limit_cut_is_dropped() -> None:
    given = body({"tool_calls": [{**NATIVE, "function": {"name": "get_weather", "arguments": '{"city": "Ro'}}]}, "length")
    choice = openai_chat.rewrite(given, settings()).body["choices"][0]
    assert "tool_calls" not in choice["message"]
    assert choice["finish_reason"] == "length"


def test_calls_without_an_id_and_with_one_id_get_unique_ones() -> None:
    for ids in ((None, None), ("call_0", "call_0"), ("", "a")):
        given = body({"tool_calls": [{**NATIVE, "id": each} for each in ids]})
        calls = openai_chat.rewrite(given, settings()).body["choices"][0]["message"]["tool_calls"]
        assert len({call["id"] for call in calls}) == 2
        assert all(call["id"] for call in calls)


def test_a_call_in_the_text_joins_the_native_ones() -> None:
    result = openai_chat.rewrite(body({"content": CALL, "tool_calls": [NATIVE]}), settings())
    native, in_text = result.body["choices"][0]["message"]["tool_calls"]
    assert native is NATIVE
    assert in_text["function"]["arguments"] == '{"city": "Paris", "days": 3}'


def test_calls_of_every_choice_are_found() -> None:
    given = body({"content": CALL}, "stop")
    given["choices"] += [
        {**given["choices"][0], "index": 1},
        {"index": 2, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"},
    ]
    choices = openai_chat.rewrite(given, settings()).body["choices"]
    assert [bool(choice["message"].get("tool_calls")) for choice in choices] == [True, True, False]
    assert [choice["finish_reason"] for choice in choices] == ["tool_calls", "tool_calls", "stop"]
    assert choices[2] is given["choices"][2]


def test_streamed_choices_are_read_each_by_itself() -> None:
    texts = CALL, "Just text, and more of it."
    chunks = [chunk({"role": "assistant", "content": ""}, index=0), chunk({"role": "assistant", "content": ""}, index=1)]
    for one, other in zip(pieces(texts[0], 3), pieces(texts[1].ljust(len(texts[0])), 3), strict=True):
        chunks += [chunk({"content": one}, index=0), chunk({"content": other}, index=1)]
    both: Json = {"id": "x", "choices": [{"index": n, "delta": {}, "finish_reason": "stop"} for n in (0, 1)]}
    sent, rewriter = streamed(*chunks, both, {"id": "x", "choices": [], "usage": {"total_tokens": 9}})
    first, second = (CHAT.read_choice(sent, n) for n in (0, 1))
    assert (first.text, len(first.calls), first.end) == ("", 1, "tool_calls")
    assert (second.text.strip(), second.calls, second.end) == (texts[1], [], "stop")
    assert sent[-1]["usage"] == {"total_tokens": 9}
    assert [len(report.calls) for report in rewriter.reports] == [1, 0]


def test_chunks_with_several_choices_are_read() -> None:
    def of(*texts: str) -> Json:
        return {
            "id": "x",
            "choices": [{"index": n, "delta": {"content": text}, "finish_reason": None} for n, text in enumerate(texts)],
        }

    sent, _ = streamed(*(of(one, "ab ") for one in pieces(CALL, 8)), chunk({}, "stop"), chunk({}, "stop", 1))
    assert len(CHAT.read_choice(sent, 0).calls) == 1
    assert CHAT.read_choice(sent, 1).text == "ab " * len(pieces(CALL, 8))


def test_sound_native_calls_of_a_stream_pass_as_they_came_at_the_end() -> None:
    calls = [chunk(call_delta(0, "", "call_s", "get_weather")), chunk(call_delta(0, '{"city":')), chunk(call_delta(0, '"Rome"}'))]
    end: list[Json] = [chunk({"content": ""}, "tool_calls"), {"id": "x", "choices": [], "usage": {"total_tokens": 9}}]
    sent, _ = streamed(chunk({"role": "assistant", "content": None}), chunk({"content": "I look."}), *calls, *end)
    assert [one["choices"][0]["delta"] for one in sent[2:5]] == [one["choices"][0]["delta"] for one in calls]
    read = CHAT.read_events(sent)
    assert read == Read("I look.", "", [("get_weather", {"city": "Rome"})], ["call_s"], "tool_calls", {"total_tokens": 9})


def test_native_calls_under_one_index_become_two() -> None:
    one, two = (chunk(call_delta(0, json.dumps({"city": city}), f"call_{city}", "get_weather")) for city in ("Rome", "Bonn"))
    read = CHAT.read_events(streamed(one, two, chunk({}, "tool_calls"))[0])
    assert read.calls == [("get_weather", {"city": "Rome"}), ("get_weather", {"city": "Bonn"})]
    assert read.ids == ["call_Rome", "call_Bonn"]


def test_native_calls_of_a_cut_stream_are_dropped() -> None:
    sent, rewriter = streamed(chunk(call_delta(0, '{"city":"Rome"}', "call_s", "get_weather")), done=False)
    assert CHAT.read_events(sent).calls == []
    assert rewriter.reports[0].withheld[0].reason == "broken_reply"


def test_an_end_mark_without_a_finish_reason_ends_the_reply() -> None:
    sent, _ = streamed(*(chunk({"content": text}) for text in pieces(CALL, 9)))
    read = CHAT.read_events(sent)
    assert (len(read.calls), read.end) == (1, "tool_calls")


def test_reasoning_fields_log_probabilities_and_usage_stay() -> None:
    logprobs = {"content": [{"token": "Hi", "logprob": -0.1}]}
    given = [
        chunk({"role": "assistant", "content": "", "reasoning_content": "Hm."}),
        {
            "id": "x",
            "choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": None, "logprobs": logprobs}],
            "usage": {"a": 1},
        },
        chunk({"refusal": "No."}),
        chunk({}, "stop"),
        chunk({}, usage={"total_tokens": 2}),
    ]
    sent, _ = streamed(*given)
    assert sent == given
    assert sent[0] is given[0]


def test_usage_beside_text_that_is_withheld_is_sent_at_once() -> None:
    rewriter = openai_chat.StreamRewriter(settings())
    (sent,) = rewriter.feed(chunk({"content": "<tool"}, usage={"total_tokens": 2}))
    assert (sent["usage"], sent["choices"][0]["delta"]) == ({"total_tokens": 2}, {"content": ""})
    assert rewriter.feed(chunk({"content": "_call>"})) == []


def test_text_is_live() -> None:
    rewriter = openai_chat.StreamRewriter(settings())
    for text in ("The", " sun", " is", " out."):
        one = chunk({"content": text})
        assert rewriter.feed(one)[0] is one


def test_a_free_text_tool_is_called_as_one() -> None:
    from llmcore.wire import decode_tools

    tools = decode_tools([{"type": "custom", "custom": {"name": "apply_patch"}}], free_text="function")
    text = '<tool_call>{"name": "apply_patch", "arguments": {"input": "*** Begin"}}</tool_call>'
    options = settings()
    options = type(options)(tools.tools, free_text=tools.free_text)
    (call,) = openai_chat.rewrite(body({"content": text}, "stop"), options).body["choices"][0]["message"]["tool_calls"]
    assert (call["type"], call["custom"]) == ("custom", {"name": "apply_patch", "input": "*** Begin"})
    native = {"id": "call_s", "type": "custom", "custom": {"name": "apply_patch", "input": "x"}}
    given = body({"tool_calls": [native]})
    assert openai_chat.rewrite(given, options).body is given


def test_an_envelope_is_encoded_with_what_is_offered() -> None:
    envelope = normalize("<think>Hm</think>I look. " + CALL, TOOLS, finish_reason="stop")
    made = openai_chat.encode([envelope, normalize("Hi", TOOLS, finish_reason="length")], TOOLS, model="m", id="a", created=1)
    first, second = made["choices"]
    assert first["message"]["reasoning_content"] == "Hm"
    assert first["message"]["content"] == "I look."
    assert (first["finish_reason"], second["finish_reason"]) == ("tool_calls", "length")
    assert made["object"] == "chat.completion"
    again = normalize(made, TOOLS)
    assert [(call.name, call.arguments) for call in again.tool_calls] == [("get_weather", {"city": "Paris", "days": 3})]


def test_events_are_encoded_for_each_choice() -> None:
    encoder = openai_chat.StreamEncoder(model="m", id="a", created=1)
    sent = [*encoder.feed([ReasoningDelta("Hm"), TextDelta("a"), TextDelta("b")]), *encoder.feed([TextDelta("c")], 1)]
    sent += encoder.finish(offered(normalize(CALL, TOOLS), TOOLS), "tool_calls")
    sent += encoder.finish(Offered(), "length", 1)
    first, second = (CHAT.read_choice(sent, n) for n in (0, 1))
    assert (first.reasoning, first.text, len(first.calls), first.end) == ("Hm", "ab", 1, "tool_calls")
    assert (second.text, second.end) == ("c", "length")
    assert encoder.end() == []
    assert [one["choices"][0]["delta"].get("role") for one in sent[:3]] == ["assistant", None, "assistant"]


def test_an_envelope_without_anything_is_an_empty_answer() -> None:
    (choice,) = openai_chat.encode(Envelope(), model="m")["choices"]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("", "stop")


def test_messages_of_a_request_are_decoded() -> None:
    given = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "tool_calls": [NATIVE]},
        {"role": "tool", "tool_call_id": "call_server1", "content": "22"},
    ]
    messages = openai_chat.decode_messages({"messages": given})
    assert [message.role for message in messages] == ["user", "assistant", "tool"]
    assert messages[1].tool_uses[0].input == {"city": "Rome"}
    with pytest.raises(CallerError, match="no `messages`"):
        openai_chat.decode_messages({})


def test_a_call_of_a_free_text_tool_is_decoded_as_it_was_encoded() -> None:
    envelope = normalize('<tool_call>{"name": "patch", "arguments": {"input": "*** Begin"}}</tool_call>', [{"name": "patch"}])
    message = openai_chat.encode(envelope, model="m", free_text=["patch"])["choices"][0]["message"]
    assert message["tool_calls"][0]["custom"] == {"name": "patch", "input": "*** Begin"}
    answer = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "Done"}
    decoded, _ = openai_chat.decode_messages({"messages": [message, answer]})
    assert [(use.name, use.input) for use in decoded.tool_uses] == [("patch", {"input": "*** Begin"})]
    with pytest.raises(CallerError, match="message 0"):
        openai_chat.decode_messages({"messages": [{"role": "assistant", "tool_calls": [3, {"custom": {}}]}]})
