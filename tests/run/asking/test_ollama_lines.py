"""Ollama's stream: `thinking` is reasoning, and only `done: true` ends the reply."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from llmcore.run.results.result import RunResult
from llmcore.types import FallbackExhausted, RemoteServerError, RequestRefused
from tests.helpers.wire_server import Raw, WireServer
from tests.run.asking.test_cut_streams import finished, orchestrator_at

pytestmark = pytest.mark.anyio

CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>'
END = {"done": True, "done_reason": "stop"}


def lines(*pieces: str, done: dict[str, Any] | None = None, end: bool = True) -> Raw:
    told = [{"model": "m", "message": {"role": "assistant", "content": piece}, **(done or {"done": False})} for piece in pieces]
    last = [{"model": "m", "message": {"role": "assistant", "content": ""}, **END}] if end else []
    return Raw([json.dumps(line).encode() + b"\n" for line in [*told, *last]], "application/x-ndjson")


async def asked(reply: Raw, ran: list[str]) -> RunResult:
    with WireServer([reply]) as server:
        orchestrator = orchestrator_at(server, "ollama", ran, strategies=())
        try:
            return await finished(orchestrator.stream("Weather?"))
        finally:
            await orchestrator.aclose()


@pytest.mark.parametrize(
    "pieces",
    [
        ("<think>", "I could:\n", CALL, "</think>", "No."),
        ("<think>I could:\n", f"{CALL}</think>", "No."),
        ("<thi", "nk>I could:\n", CALL, "</th", "ink>No."),
    ],
)
async def test_thoughts_in_several_pieces_are_no_answer_and_no_call(pieces: tuple[str, ...]) -> None:
    ran: list[str] = []
    result = await asked(lines(*pieces), ran)
    assert (result.content, result.envelope.reasoning, ran) == ("No.", f"I could:\n{CALL}", [])


async def test_pieces_of_an_answer_are_joined() -> None:
    result = await asked(lines("The answer", " is 12.", done={"done": False, "created_at": "now"}), [])
    assert result.content == "The answer is 12."


async def test_thoughts_without_an_opener_are_thoughts() -> None:
    result = await asked(lines("I count. </think> ", "Seven."), [])
    assert (result.content, result.envelope.reasoning) == ("Seven.", "I count. ")


async def test_a_line_that_leaves_out_done_is_not_the_last() -> None:
    told: list[dict[str, Any]] = [
        {"model": "m", "message": {"role": "assistant", "content": piece}} for piece in ("It is ", "sunny.")
    ]
    told.append({"model": "m", "message": {"role": "assistant", "content": ""}, **END})
    body = Raw([json.dumps(line).encode() + b"\n" for line in told], "application/x-ndjson")
    assert (await asked(body, [])).content == "It is sunny."


async def test_the_last_line_ends_the_reply_though_the_connection_stays_open() -> None:
    whole = lines("It is ", "sunny.")
    whole.hang = 60
    started = time.monotonic()
    assert (await asked(whole, [])).content == "It is sunny."
    assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    "done", [{"x": 1}, {"done": None}, {"done": 0}, {"done": "false"}, {"done": False, "done_reason": "load"}]
)
@pytest.mark.parametrize("text", ["half", CALL])
async def test_one_line_without_its_end_is_a_cut_stream(done: dict[str, Any], text: str) -> None:
    ran: list[str] = []
    with pytest.raises(FallbackExhausted) as caught:
        await asked(lines(text, done=done, end=False), ran)
    assert (type(caught.value.__cause__), ran) == (RemoteServerError, [])


@pytest.mark.parametrize(
    "line",
    ["oops", "null", "true", "event: error", "event: error\n", "error: gone", "5", '{"a": ', "Internal Server Error", "\0"],
)
@pytest.mark.parametrize("text", ["half", CALL])
@pytest.mark.parametrize("at", [0, 1])
async def test_a_line_that_is_no_object_ends_the_reply(line: str, text: str, at: int) -> None:
    ran: list[str] = []
    body = lines(text)
    body.frames.insert(at, line.encode() + b"\n")
    with pytest.raises(FallbackExhausted) as caught:
        await asked(body, ran)
    assert isinstance(caught.value.__cause__, RemoteServerError | RequestRefused)
    assert ran == []


@pytest.mark.parametrize("line", ["", ": ping", "ping", "id: 5", "event: message"])
async def test_a_line_that_says_nothing_is_passed_over(line: str) -> None:
    body = lines("It is ", "sunny.")
    body.frames.insert(1, line.encode() + b"\n")
    assert (await asked(body, [])).content == "It is sunny."


@pytest.mark.parametrize("left_out", ["model", "message", "done", "role"])
async def test_a_whole_stream_whose_lines_leave_something_out_is_an_answer(left_out: str) -> None:
    said: list[dict[str, Any]] = [
        {"model": "m", "message": {"role": "assistant", "content": "It is sunny."}, "done": False},
        {"model": "m", "message": {"role": "assistant", "content": ""}, **END},
    ]
    for line in said[1:] if left_out == "message" else said[:1] if left_out == "done" else said:
        line.pop(left_out, None)
        line.get("message", {}).pop(left_out, None)
    body = Raw([json.dumps(line).encode() + b"\n" for line in said], "application/x-ndjson")
    assert (await asked(body, [])).content == "It is sunny."


@pytest.mark.parametrize(
    ("provider", "body"),
    [
        ("ollama", {"model": "m", "created_at": "x", "done_reason": "load", "done": True}),
        ("ollama", {"model": "m", "message": None, "done": True}),
        ("ollama", {"done": True}),
        ("anthropic", {"type": "message", "stop_reason": "end_turn"}),
    ],
)
async def test_a_whole_body_without_a_message_is_no_answer(provider: str, body: dict[str, Any]) -> None:
    with WireServer([Raw([json.dumps(body).encode()])]) as server:
        orchestrator = orchestrator_at(server, provider, [], strategies=())
        with pytest.raises(FallbackExhausted) as caught:
            await orchestrator.run("Weather?")
        await orchestrator.aclose()
    assert type(caught.value.__cause__) is RemoteServerError
