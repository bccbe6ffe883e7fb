"""What an agent emits while a chat runs: JSON to a callback, lines to a log. A listener breaks nothing."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from contextlib import suppress
from typing import Any

import pytest

from llmcore import Agent, Budget, FakeModel, tool
from llmcore.agent import chat_emitter
from llmcore.types import RateLimited, Timeout

pytestmark = pytest.mark.anyio
SECRET = "sk-proj-" + "Ab12Cd34Ef56Gh78" * 2


class Adder(Agent):
    @tool
    def add(self, a: int, b: int) -> int:
        """Add."""
        if a < 0:
            raise ValueError(SECRET)
        return a + b


def adding(**arguments: int) -> FakeModel:
    return (
        FakeModel()
        .tool_call("add", arguments or {"a": 1, "b": 2})
        .text(
            "It is 3.",
        )
    )


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_chat_is_reported_as_json(is_async: bool) -> None:
    told: list[dict[str, Any]] = []

    async def later(event: dict[str, Any]) -> None:
        await asyncio.sleep(0)
        told.append(event)

    await Adder(adding(), "any", later if is_async else told.append).chat("Add.")
    assert [event["type"] for event in told] == [
        "attempt_started",
        "tool_started",
        "tool_result",
        "attempt_started",
        "ai_response",
    ]
    assert (told[2]["name"], told[2]["value"]) == ("add", 3)
    assert told[-1] == {"type": "ai_response", "message": "It is 3."}
    assert json.loads(json.dumps(told)) == told


async def test_a_stream_emits_the_deltas_too() -> None:
    told: list[dict[str, Any]] = []
    agent = Adder(FakeModel("one two", chunk_size=3), socket_emit=told.append)
    events = [event async for event in agent.stream("Go")]
    assert "".join(event["text"] for event in told if event["type"] == "text_delta") == "one two"
    assert len(told) == len(events)
    assert json.dumps(told)


async def test_a_typed_answer_is_reported_as_data() -> None:
    told: list[dict[str, Any]] = []
    await Agent(FakeModel("[1, 2]"), socket_emit=told.append).chat("Go", tuple[int, int])
    assert told[-1] == {"type": "ai_response", "message": [1, 2]}


async def test_a_failure_is_reported_with_its_class() -> None:
    told: list[dict[str, Any]] = []
    agent = Agent(FakeModel(RateLimited(f"slow {SECRET}", retry_after=0.0)), strategies=[], socket_emit=told.append)
    with pytest.raises(RateLimited):
        await agent.chat("Go")
    assert (told[-1]["type"], told[-1]["error"]["type"]) == ("error", "FallbackExhausted")
    assert "RateLimited: slow" in told[-1]["error"]["message"]
    assert SECRET not in str(told)


async def _fail_later(event: Any) -> None:
    raise RuntimeError(SECRET)


def _fail(event: Any) -> None:
    raise RuntimeError(SECRET)


async def _hang(event: Any) -> None:
    await asyncio.sleep(60)


RELEASED = threading.Event()


def _block(event: Any) -> None:
    RELEASED.wait(60)


async def _refuse_to_stop(event: Any) -> None:
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        while not RELEASED.is_set():
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("emit", [_block, _hang, _refuse_to_stop])
async def test_a_callback_that_takes_its_time_holds_neither_the_loop_nor_the_deadline(
    emit: Any, caplog: pytest.LogCaptureFixture
) -> None:
    RELEASED.clear()
    started = time.monotonic()
    with suppress(Timeout):
        await Adder(adding(), None, emit, budget=Budget(deadline=0.1)).chat("Add.")
    RELEASED.set()
    assert time.monotonic() - started < 30
    assert caplog.text.count("was left behind") == 1


@pytest.mark.parametrize("emit", [_hang, _refuse_to_stop])
@pytest.mark.parametrize("options", [{"deadline": 1}, {"budget": Budget(deadline=1)}], ids=str)
async def test_a_callback_that_hangs_leaves_the_chat_its_time(emit: Any, options: dict[str, Any]) -> None:
    RELEASED.clear()
    agent = Adder(adding(), None, emit)
    assert await agent.chat("Add.", **options) == "It is 3."
    RELEASED.set()


async def test_the_end_of_a_chat_whose_deadline_has_passed_is_reported() -> None:
    told: list[str] = []

    def slowly(event: dict[str, Any]) -> None:
        time.sleep(0.1 if event["type"] == "error" else 0)
        told.append(event["type"])

    with pytest.raises(Timeout):
        await Agent(FakeModel("x").delay(5), socket_emit=slowly).chat("Hi", deadline=0.1)
    assert told[-1] == "error"


async def test_a_callback_that_was_left_behind_gets_nothing_more_of_the_chat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_emitter, "_MAX_SECONDS", 0.02)
    told: list[str] = []

    async def hang(event: dict[str, Any]) -> None:
        told.append(event["type"])
        await asyncio.sleep(60)

    agent = Adder(adding(), None, hang)
    assert await agent.chat("Add.") == "It is 3."
    assert told == ["attempt_started"]


async def test_the_answer_is_reported_without_keys() -> None:
    told: list[dict[str, Any]] = []
    agent = Agent(FakeModel(f"it is {SECRET}"), socket_emit=told.append)
    assert SECRET in await agent.chat("Go")
    assert SECRET not in str(told)


@pytest.mark.parametrize("emit", [_fail, _fail_later, _hang])
async def test_a_callback_that_fails_or_hangs_breaks_nothing(
    emit: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    if emit is _hang:  # a busy machine may take that long for the others
        monkeypatch.setattr(chat_emitter, "_MAX_SECONDS", 0.02)
    assert await Adder(adding(), None, emit).chat("Add.") == "It is 3."
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert {record.name for record in warnings} == {"llmcore.agent"}
    assert "socket_emit of agent Adder" in warnings[0].getMessage()
    assert emit is _hang or "RuntimeError at " in warnings[0].getMessage()
    assert SECRET not in caplog.text


async def test_the_log_takes_lines_that_hold_nothing_anybody_wrote(caplog: pytest.LogCaptureFixture) -> None:
    lines: list[str] = []
    caplog.set_level(logging.DEBUG, "llmcore.agent")
    await Adder(adding(a=-1, b=2), name="adder", log=lines.append).chat(f"My key is {SECRET}")
    assert [line.partition(" in ")[0].partition(",")[0] for line in lines] == [
        "adder: request 1 to fake (native_tools",
        "adder: add failed",
        "adder: request 2 to fake (native_tools",
        "adder: answered after 2 requests",
    ]
    assert SECRET not in str(lines)
    assert "llmcore.agent" not in {record.name for record in caplog.records}
    await Adder(adding(), name="adder").chat("Go")
    assert "adder: answered after 2 requests" in caplog.text
    assert await Adder(adding(), log=_fail).chat("Go") == "It is 3."
    assert "the log function of agent Adder failed" in caplog.text
