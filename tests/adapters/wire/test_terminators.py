"""What ends a reply, on each wire, and what only looks so."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

import pytest

from llmcore.adapters.wire.framing import EventLines, Frames, Sent, TooLong
from llmcore.adapters.wire.terminators import StreamEnd, ends_reply, is_whole_reply, may_be_stream_event, says_incomplete
from tests.helpers.wires import WIRES, Turn, frames

ENDS: list[dict[str, Any]] = [
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    {"choices": [{"finish_reason": None}, {"finish_reason": "tool_calls"}]},
    {"type": "response.completed", "response": {}},
    {"type": "response.incomplete"},
    {"type": "response.failed"},
    {"type": "message_stop"},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    {"candidates": [{"finishReason": "MAX_TOKENS"}]},
    {"promptFeedback": {"blockReason": "SAFETY"}},
    {"model": "m", "done": True},
    {"model": "m", "done": True, "done_reason": "length"},
    {"messageStop": {"stopReason": "tool_use"}},
    {"stopReason": "end_turn"},
    {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}},
    {"event_type": "stream-end", "is_finished": True},
    {"candidates": [{"finishReason": "A_NEW_REASON"}]},
    {"messageStop": {"stopReason": "a_new_reason"}},
    {"model": "m", "done": True, "done_reason": "a_new_reason"},
    {"type": "message-end", "delta": {"finish_reason": "A_NEW_REASON"}},
]
NO_ENDS: list[dict[str, Any]] = [
    {"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": None}]},
    {"choices": [{"index": 0, "delta": {"content": '"finish_reason": "stop"'}, "finish_reason": ""}]},
    {"choices": [{"index": 0, "delta": {"content": "[DONE]"}, "finish_reason": "null"}]},
    {"choices": [{"index": 1, "delta": {}, "finish_reason": "stop"}]},
    {"candidates": [{"index": 1, "finishReason": "STOP"}]},
    {"choices": [], "usage": {"prompt_tokens": 1}},
    {"type": "message_start", "message": {"stop_reason": None, "type": "message"}},
    {"type": "content_block_delta", "delta": {"text": "message_stop"}},
    {"type": "error", "error": {"type": "overloaded_error"}},
    {"type": "response.output_text.delta", "delta": "response.completed"},
    {"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": {"finishReason": "STOP"}}}]}}]},
    {"candidates": [{"finishReason": "FINISH_REASON_UNSPECIFIED"}]},
    {"message": {"tool_calls": [{"function": {"name": "f", "arguments": {"done": True}}}]}, "done": False},
    {"messageStart": {"role": "assistant"}},
    {"type": "response.completed", "response": {"status": "in_progress"}},
    {"type": "response.completed", "response": {"status": "queued"}},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "a_new_reason"}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "in_progress"}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "Unknown"}]},
    {"type": "message_delta", "delta": {"stop_reason": "a_new_reason"}},
    {"candidates": [{"finishReason": "IN_PROGRESS"}]},
    {"results": [{"generated_text": "x", "stop_reason": "not_finished"}]},
]


def judged(*events: dict[str, Any]) -> StreamEnd:
    end = StreamEnd()
    for event in events:
        end.add(event)
    return end


@pytest.mark.parametrize("event", ENDS)
def test_these_end_a_reply(event: dict[str, Any]) -> None:
    assert ends_reply(event)
    assert judged(event).seen
    assert judged(*NO_ENDS, event).seen


@pytest.mark.parametrize("event", NO_ENDS)
def test_these_do_not(event: dict[str, Any]) -> None:
    assert not ends_reply(event)
    assert not judged(event).seen


@pytest.mark.parametrize("event", [None, [], "stop", 3, {"choices": "stop"}, {"choices": [["stop"]]}, {"type": ["message_stop"]}])
def test_nonsense_ends_nothing(event: object) -> None:
    assert not ends_reply(event)
    is_whole_reply(event)  # never raises


def test_a_stream_of_an_unknown_form_is_not_judged() -> None:
    assert not judged({"token": {"text": "a"}}).known
    assert judged({"choices": []}).known
    assert judged({"type": "message_start"}).known


@pytest.mark.parametrize("name", WIRES)
def test_whole_bodies_are_told_from_events_and_errors(name: str) -> None:
    wire, turn = WIRES[name], Turn("Hi", calls=[("f", {"done": True})])
    assert is_whole_reply(wire.body(turn))
    assert not any(is_whole_reply(event) for event in list(wire.events(turn))[:-1] if name != "gemini")
    assert not is_whole_reply({"error": {"message": "no"}})
    assert not is_whole_reply({"type": "error", "error": {"message": "no"}})
    assert not is_whole_reply({"message": "Not Found"})


@pytest.mark.parametrize("name", WIRES)
def test_the_data_of_events_does_not_depend_on_how_the_bytes_are_cut(name: str) -> None:
    wire, turn = WIRES[name], Turn("Größer\u2028und schöner", calls=[("f", {"a": "ü"})])
    written = list(wire.events(turn)) + ([b"[DONE]"] if wire.framing == "sse" else [])
    for framing in (b"\n", b"\r\n", b"\r"):
        whole = b"".join(frames(wire, turn)).replace(b"\n", framing)
        for seed in range(20):
            cutting, lines = random.Random(seed), EventLines(100_000)
            found: list[Sent] = []
            at = 0
            while at < len(whole):
                size = cutting.choice((1, 2, 7, 400))
                found += lines.feed(whole[at : at + size])
                at += size
            found += lines.finish()
            assert [data if data == b"[DONE]" else json.loads(data) for data, *_ in found] == written


def test_a_line_or_an_event_that_is_too_long_is_refused_before_it_is_whole() -> None:
    for part in (b"x" * 40, b"data: {\n", b"data: [\n"):
        lines = EventLines(1000)
        with pytest.raises(TooLong):  # noqa: PT012  (where it stops is its own business)
            for _ in range(1000):
                list(lines.feed(part))
    lines = EventLines(1000)
    assert len([event for _ in range(1000) for event in lines.feed(b'data: {"a": 1}\n')]) == 1000


def _frame(payload: bytes, headers: bytes = b"h" * 9) -> bytes:
    length = 12 + len(headers) + len(payload) + 4
    return length.to_bytes(4) + len(headers).to_bytes(4) + b"crc1" + headers + payload + b"crc2"


def test_binary_frames_are_taken_apart() -> None:
    inner = json.dumps({"type": "message_stop"}).encode()
    wrapped = json.dumps({"bytes": base64.b64encode(inner).decode()}).encode()
    whole = _frame(b'{"role": "assistant"}') + _frame(wrapped) + _frame(b'{"stopReason": "end_turn"}')
    for size in (1, 5, len(whole)):
        reader = Frames(1000)
        found = [sent.data for at in range(0, len(whole), size) for sent in reader.feed(whole[at : at + size])]
        assert found == [b'{"role": "assistant"}', inner, b'{"stopReason": "end_turn"}']
    with pytest.raises(TooLong):
        list(Frames(1000).feed((5000).to_bytes(4) + bytes(12)))
    with pytest.raises(TooLong):
        list(Frames(1000).feed(bytes(16)))  # a frame is never shorter than its own head


CALLING: dict[str, Any] = {"message": {"content": "", "tool_calls": [{"function": {"name": "f", "arguments": {"done": True}}}]}}


@pytest.mark.parametrize(
    "body",
    [
        {**CALLING, "done": False},
        {"status": "in_progress", "output": [CALLING]},
        {"status": "queued", "output": [CALLING]},
        {"choices": [{"message": {"content": "x"}, "finish_reason": "in_progress"}]},
    ],
)
def test_a_body_may_say_that_it_is_not_over(body: dict[str, Any]) -> None:
    assert says_incomplete(body)
    assert not is_whole_reply(body)


@pytest.mark.parametrize(
    "body",
    [
        CALLING,
        {**CALLING, "done": None},
        {**CALLING, "done": True},
        {"status": "completed", "output": [CALLING]},
        {"status": "incomplete", "output": [CALLING], "incomplete_details": {"reason": "max_output_tokens"}},
        {"output": [CALLING]},
        {"choices": [{"message": {"content": "x"}, "finish_reason": None}], "status": "in_progress"},
        {"choices": [{"message": {"content": "x"}, "finish_reason": "unknown"}]},
        {"type": "message", "content": [{"type": "text", "text": "x"}], "stop_reason": None},
    ],
)
def test_a_body_that_says_nothing_of_its_end_is_whole(body: dict[str, Any]) -> None:
    assert not says_incomplete(body)
    assert is_whole_reply(body)


@pytest.mark.parametrize("content", [{"foo": 1}, [], [1, 2], [{"foo": 1}], {}])
def test_data_is_a_models_where_the_body_says_that_a_model_speaks(content: Any) -> None:
    assert not is_whole_reply({"content": content})
    assert is_whole_reply({"content": content, "role": "assistant"})
    assert is_whole_reply({"content": content, "stop_reason": "end_turn"})


@pytest.mark.parametrize("content", [[{"type": "text", "text": "x"}], [{"text": "x"}], {"parts": [{"text": "x"}]}])
def test_blocks_are_a_models_by_themselves(content: Any) -> None:
    assert is_whole_reply({"content": content})


@pytest.mark.parametrize(
    ("event", "may"),
    [
        ({"candidates": [{"content": {"parts": [{"text": "x"}]}}]}, True),
        ({"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}]}, False),
        ({"model": "m", "message": {"content": "x"}}, True),
        ({"model": "m", "message": {"content": "x"}, "done": True}, False),
        ({"choices": [{"message": {"content": "x"}}]}, False),
    ],
)
def test_some_wires_have_events_in_the_shape_of_bodies(event: Any, may: bool) -> None:
    assert may_be_stream_event(event) is may


@pytest.mark.parametrize("kind", ["response.completed", "response.incomplete", "response.failed"])
@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_the_status_of_a_response_is_its_end_whatever_the_event_is_called(kind: str, status: str) -> None:
    end = judged({"type": kind, "response": {"status": status}})
    assert (end.finished, end.word) == (True, status)


def test_an_unknown_reason_is_told_when_the_end_mark_comes_behind_it() -> None:
    end = judged({"type": "message_delta", "delta": {"stop_reason": "a_new_reason"}}, {"type": "message_stop"})
    assert (end.finished, end.word) == (True, "a_new_reason")
