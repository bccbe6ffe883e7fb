"""Bytes of whole replies and of streams, cut anywhere and framed in any way."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import pytest

from llmcore.wire import ExchangeOptions, HttpExchange, ReplyReport
from llmcore.wire.sse import ServerEventSplitter, event_bytes, json_bytes
from tests.wire.support import CALL, TOOLS, WIRES, Read, Wire, pieces

Json = dict[str, Any]
PATHS = {"openai-chat": "/v1/chat/completions", "anthropic": "/v1/messages", "openai-responses": "/v1/responses"}
END_OF_REPLY = {
    "openai-chat": b'"finish_reason": "stop"',
    "anthropic": b'"type": "message_delta"',
    "openai-responses": b'"type": "response.completed"',
}
"""What stands in the event that ends the reply."""
TEXT = f"<think>Hm</think>Let me see, ünd then 日本.\n\n{CALL}{CALL.replace('Paris', 'Rome')}"
wires = pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)


def tool(wire: Wire, name: str) -> Json:
    definition = next(each for each in TOOLS if each.name == name)
    if wire.name == "anthropic":
        return {"name": name, "input_schema": definition.parameters}
    function = {"name": name, "parameters": definition.parameters}
    return {"type": "function", "function": function} if wire.name == "openai-chat" else {"type": "function", **function}


def request(wire: Wire, **fields: Any) -> bytes:
    return json.dumps({"model": "m", "tools": [tool(wire, "get_weather"), tool(wire, "get_time")], **fields}).encode()


def exchange(wire: Wire, **options: Any) -> HttpExchange:
    found = HttpExchange.of(PATHS[wire.name], request(wire), ExchangeOptions(**options))
    assert found is not None
    return found


def stream_bytes(wire: Wire, text: str, *, end: str = "\n", comments: bool = False, size: int = 9) -> bytes:
    named = wire.name != "openai-chat"
    parts = [event_bytes(event, event["type"] if named else "") for event in wire.events(pieces(text, size))]
    if comments:
        parts = [b": keep-alive\n\n" + part.replace(b"data:", b"id: 7\ndata:") for part in parts]
    if not named:
        parts.append(b"data: [DONE]\n\n")
    return b"".join(parts).replace(b"\n", end.encode())


def sent(wire: Wire, data: bytes, cuts: list[int]) -> bytes:
    reply = exchange(wire).stream()
    bounds = [0, *cuts, len(data)]
    return b"".join([*(reply.feed(data[a:b]) for a, b in itertools.pairwise(bounds)), reply.finish()])


def read(wire: Wire, data: bytes) -> Read:
    splitter = ServerEventSplitter()
    events = [*splitter.feed(data), *splitter.finish()]
    found = wire.read_events(json.loads(event.data) for event in events if event.data.startswith(b"{"))
    found.ids.clear()  # new ones each time
    return found


@wires
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("comments", [False, True])
def test_a_stream_means_the_same_however_it_is_cut(wire: Wire, end: str, comments: bool) -> None:
    data = stream_bytes(wire, TEXT, end=end, comments=comments)
    whole = read(wire, sent(wire, data, []))
    assert (whole.reasoning, len(whole.calls), whole.end) == ("Hm", 2, wire.ends[0])
    assert whole.text == "Let me see, ünd then 日本."
    draw = random.Random(end)  # reproducible cuts, no secret
    for cuts in ([*range(1, len(data))], *(sorted(draw.sample(range(1, len(data)), 40)) for _ in range(5))):
        assert read(wire, sent(wire, data, cuts)) == whole


@wires
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_events_that_do_not_change_keep_their_bytes(wire: Wire, end: str) -> None:
    data = stream_bytes(wire, "Hello there, all is well.", end=end, comments=True)
    out = sent(wire, data, [])
    assert read(wire, out) == read(wire, data)
    marked = data.split(b": keep-alive")
    kept = [part for part in marked if part in out]
    assert len(kept) >= len(marked) - 8
    assert out.endswith(data[-12:])


@wires
def test_a_stream_cut_anywhere_hands_out_no_call(wire: Wire) -> None:
    whole = stream_bytes(wire, f"I look. {CALL}")
    data = whole[: whole.index(END_OF_REPLY[wire.name])]
    for at in range(0, len(data), 37):
        out = sent(wire, data[:at], [at // 2])
        complete = out[: out.rfind(b"\n\n") + 2] if b"\n\n" in out else b""
        assert read(wire, complete).calls == []


@wires
def test_a_whole_body_is_rewritten_and_reported(wire: Wire) -> None:
    reports: list[ReplyReport] = []
    raw = json_bytes(wire.body(TEXT))
    made = exchange(wire, on_reply=reports.append).body(raw)
    found = wire.read_body(json.loads(made))
    assert (len(found.calls), found.reasoning) == (2, "Hm")
    assert [len(report.calls) for report in reports] == [2]


@wires
def test_a_stream_is_reported_once(wire: Wire) -> None:
    reports: list[ReplyReport] = []
    reply = exchange(wire, on_reply=reports.append).stream()
    reply.feed(stream_bytes(wire, CALL))
    reply.finish()
    assert [(len(report.calls), report.cut) for report in reports] == [(1, False)]


@wires
@pytest.mark.parametrize(
    "raw", [b"", b"not json", b'{"cut": ', b"[1]", b'"text"', b"\xff\xfe", b'{"error": {"message": "no"}}', b"null"]
)
def test_what_is_no_reply_keeps_its_bytes(wire: Wire, raw: bytes) -> None:
    assert exchange(wire).body(raw) is raw
    for data in (raw, b"data: " + raw + b"\n\n", b"retry: 3\n\n" + raw):
        assert sent(wire, data, [*range(1, len(data))]) == data


ERRORS = {
    "openai-chat": b'data: {"error": {"message": "overloaded"}}\n\n',
    "anthropic": b'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error"}}\n\n',
    "openai-responses": b'event: error\ndata: {"type": "error", "message": "overloaded", "sequence_number": 9}\n\n',
}
"""The event with which a server says that the reply failed."""


@wires
@pytest.mark.parametrize("error", [None, b"event: error\ndata: overloaded\n\n"], ids=["event", "words"])
@pytest.mark.parametrize("text", ["I look. <tool_call>", f"I look. {CALL}", "I look. ```json\n{"])
def test_an_error_event_comes_after_all_text(wire: Wire, error: bytes | None, text: str) -> None:
    whole = stream_bytes(wire, text)
    last = json_bytes(pieces(text, 9)[-1]).strip(b'"')
    head = whole[: whole.index(b"\n\n", whole.index(last)) + 2]
    error = error or ERRORS[wire.name]
    reports: list[ReplyReport] = []
    reply = exchange(wire, on_reply=reports.append).stream()
    out = reply.feed(head + error)
    assert out.endswith(error)
    found = read(wire, out.removesuffix(error))
    assert (found.text, found.calls) == (text, [])
    assert [report.cut for report in reports] == [True]  # the client may stop here
    assert reply.finish() == b""
    assert len(reports) == 1


@wires
def test_numbers_and_text_survive(wire: Wire) -> None:
    body = {**wire.body(CALL), "x": [1e-12, 12345678901234567890123, -0.0, "\ud800", "日本", None, True]}
    made = json.loads(exchange(wire).body(json_bytes(body)))
    assert made["x"] == body["x"]


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n"])
def test_a_last_event_without_an_end_stays_apart_from_the_text_that_follows(end: str) -> None:
    whole = stream_bytes(WIRES[0], f"I look. {CALL}")
    cut = whole[: whole.rindex(b"data:", 0, whole.index(END_OF_REPLY["openai-chat"]))]
    found = read(WIRES[0], sent(WIRES[0], cut + b'data: {"choices": [], "usage": {"prompt_tokens": 3}}' + end.encode(), []))
    assert (found.calls, found.text) == ([], f"I look. {CALL}")


def test_a_giant_event_passes_as_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    from llmcore.types import Limits
    from llmcore.wire import exchange as module

    monkeypatch.setattr(module, "DEFAULT_LIMITS", Limits(line=2000))
    wire = WIRES[0]
    head = stream_bytes(wire, f"I look. {CALL}")
    head = head[: head.rindex(b"data:", 0, head.index(END_OF_REPLY[wire.name]))]
    giant = b'data: {"choices": [{"index": 0, "delta": {"content": "' + b"x" * 5000
    out = sent(wire, head + giant, [len(head), len(head) + 1000, len(head) + 3000])
    assert out.endswith(giant)
    assert b"I look." in out
    assert b'"tool_calls"' not in out


def test_a_long_event_is_read_in_linear_time() -> None:
    text = "word " * 200_000
    data = stream_bytes(WIRES[0], text, size=len(text))
    assert read(WIRES[0], sent(WIRES[0], data, [*range(1000, len(data), 1000)])).text.strip() == text.strip()


REQUESTS: list[tuple[str, Json, bool]] = [
    ("/v1/chat/completions", {}, True),
    ("/openai/deployments/d/chat/completions", {}, True),
    ("/v1/chat/completions/", {}, True),
    ("/v1/chat/completions", {"tools": []}, False),
    ("/v1/chat/completions", {"tools": None}, False),
    ("/v1/chat/completions", {"tools": [{"type": "web_search"}]}, False),
    ("/v1/chat/completions", {"tools": [{"type": "function", "function": {}}]}, False),
    ("/v1/chat/completions", {"tools": "x"}, False),
    ("/v1/chat/completions", {"tool_choice": "none"}, False),
    ("/v1/messages", {"tool_choice": {"type": "none"}}, False),
    ("/v1/messages/count_tokens", {}, False),
    ("/v1/embeddings", {}, False),
    ("/v1/responses", {}, True),
]


@pytest.mark.parametrize(("path", "fields", "expected"), REQUESTS)
def test_which_requests_are_read(path: str, fields: Json, expected: bool) -> None:
    found = HttpExchange.of(path, request(WIRES[0], **fields), ExchangeOptions())
    assert (found is not None) is expected


def test_a_request_that_is_no_json_is_not_read() -> None:
    for body in (b"", b'{"tools": ', b'["tools"]', b'\xff"tools"'):
        assert HttpExchange.of("/v1/chat/completions", body, ExchangeOptions()) is None


def test_a_forced_tool_reads_bare_arguments() -> None:
    choice = {"type": "function", "function": {"name": "get_weather"}}
    found = HttpExchange.of(PATHS["openai-chat"], request(WIRES[0], tool_choice=choice), ExchangeOptions())
    assert found is not None
    made = json.loads(found.body(json_bytes(WIRES[0].body('{"city": "Paris"}'))))
    assert WIRES[0].read_body(made).calls == [("get_weather", {"city": "Paris"})]


def test_mistrals_own_api_gets_ids_of_its_form() -> None:
    found = HttpExchange.of(PATHS["openai-chat"], request(WIRES[0]), ExchangeOptions(), "api.mistral.ai")
    assert found is not None
    made = WIRES[0].read_body(json.loads(found.body(json_bytes(WIRES[0].body(CALL)))))
    assert len(made.ids[0]) == 9


def test_text_calls_can_be_off() -> None:
    raw = json_bytes(WIRES[0].body(CALL))
    assert exchange(WIRES[0], text_calls="off").body(raw) is raw
