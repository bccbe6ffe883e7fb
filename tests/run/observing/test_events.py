"""The events of a run: their order in every mode, the start and end of each call, each failure, and their JSON form."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import Any

import pytest
from pydantic import BaseModel

from llmcore import event_json
from llmcore.adapters.secrets.known_secrets import remember
from llmcore.hooks import Hooks, Veto
from llmcore.orchestrator import Orchestrator
from llmcore.run.results.result import RunResult
from llmcore.testing import FakeModel
from llmcore.tools import tool
from llmcore.types import (
    ArgumentsDelta,
    AttemptFailed,
    AttemptStarted,
    AuthenticationFailed,
    Budget,
    ConfigError,
    Event,
    Finished,
    Overloaded,
    PartialOutput,
    RateLimited,
    ReasoningDelta,
    Reclassified,
    Repair,
    Repaired,
    TerminateLoop,
    TextDelta,
    Timeout,
    ToolCall,
    ToolCallFinished,
    ToolCallStarted,
    ToolError,
    ToolResult,
    ToolStarted,
    Waiting,
)
from tests.run.support import FAST, add, called, stack

pytestmark = pytest.mark.anyio

MODES = ("native_tools", "json_schema", "json_object", "text")


async def events_of(orchestrator: Orchestrator, *args: Any, **options: Any) -> list[Event]:
    return [event async for event in orchestrator.stream(*args, **options)]


def kinds(events: list[Event]) -> list[str]:
    """The events' names, repeats of one kind in a row told once."""
    names = [type(event).__name__ for event in events]
    return [name for index, name in enumerate(names) if index == 0 or name != names[index - 1]]


def call_in(mode: str) -> Any:
    if mode == "native_tools":
        return called("add", {"a": 1, "b": 2})
    if mode == "text":
        return '<tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}}</tool_call>'
    return '{"toolCalls": [{"name": "add", "arguments": {"a": 1, "b": 2}}], "content": "", "needsMoreWork": true}'


@pytest.mark.parametrize("chunk_size", [None, 3])
@pytest.mark.parametrize("mode", MODES)
async def test_the_order_is_the_same_in_every_mode(mode: str, chunk_size: int | None) -> None:
    answer = "3" if mode in ("native_tools", "text") else '{"toolCalls": [], "content": "3", "needsMoreWork": false}'
    fake = FakeModel(call_in(mode), answer, chunk_size=chunk_size)
    orchestrator = stack({"m": fake}, [add], settings={"m": {"preferred_modes": [mode]}})
    events = await events_of(orchestrator, "go")
    assert [kind for kind in kinds(events) if kind != "ArgumentsDelta"] == [
        "AttemptStarted",
        "ToolCallStarted",
        "ToolCallFinished",
        "ToolStarted",
        "ToolResult",
        "AttemptStarted",
        "TextDelta",
        "Finished",
    ]
    started = next(one for one in events if isinstance(one, ToolStarted))
    ended = next(one for one in events if isinstance(one, ToolResult))
    assert started == ToolStarted(started.tool_use_id, "add", {"a": 1, "b": 2}, 1)
    assert (ended.tool_use_id, ended.arguments, ended.turn, ended.ran) == (started.tool_use_id, {"a": 1, "b": 2}, 1, True)


async def test_a_call_is_reported_as_started_while_it_runs() -> None:
    told = asyncio.Event()

    async def waits() -> str:
        await told.wait()
        return "done"

    async with asyncio.timeout(10):
        async with aclosing(Orchestrator(FakeModel().tool_call("waits").text("ok"), [waits]).stream("go")) as events:
            async for event in events:
                if isinstance(event, ToolStarted):
                    told.set()  # else the tool would wait for ever
    assert told.is_set()


async def test_parallel_calls_each_start_before_they_end() -> None:
    gate = asyncio.Barrier(2)

    async def both(n: int) -> int:
        await gate.wait()
        return n

    fake = FakeModel().tool_calls(*(("both", {"n": n}) for n in range(4))).text("ok")
    events = await events_of(Orchestrator(fake, [both], max_parallel_tools=2), "go")
    order = [(type(event).__name__, event.tool_use_id) for event in events if isinstance(event, ToolStarted | ToolResult)]
    ids = dict.fromkeys(call_id for _, call_id in order)
    assert len(order) == 8
    for call_id in ids:
        assert order.index(("ToolStarted", call_id)) < order.index(("ToolResult", call_id))
    assert [name for name, _ in order[:2]] == ["ToolStarted", "ToolStarted"]


async def test_calls_that_are_not_carried_out_have_a_result_alone() -> None:
    guard = Hooks(before_tool_run=lambda call, _: Veto("no") if call.arguments == {"a": 9, "b": 9} else None)
    calls: list[tuple[str, Any]] = [("add", {"a": 9, "b": 9}), ("add", {"a": 1, "b": 2}), ("nope", {}), ("elsewhere", {})]
    fake = FakeModel().tool_calls(*calls)
    elsewhere: dict[str, Any] = {
        "name": "elsewhere",
        "description": "Done elsewhere.",
        "parameters": {"type": "object", "properties": {}},
    }
    events = await events_of(Orchestrator(fake, [add, elsewhere], hooks=guard), "go")
    told = [(type(event).__name__, event.name) for event in events if isinstance(event, ToolStarted | ToolResult)]
    assert sorted(told) == [("ToolResult", "add"), ("ToolResult", "add"), ("ToolResult", "nope"), ("ToolStarted", "add")]
    assert [event.ran for event in events if isinstance(event, ToolResult)].count(True) == 1


async def test_what_the_end_of_the_run_cut_short_is_reported_too() -> None:
    async def slow() -> None:
        await asyncio.sleep(30)

    async def ends() -> None:
        await asyncio.sleep(0.01)
        raise TerminateLoop("enough")

    fake = FakeModel().tool_calls(("slow", {}), ("ends", {}))
    events = await events_of(Orchestrator(fake, [slow, ends]), "go")
    started = sorted(event.name for event in events if isinstance(event, ToolStarted))
    ended = {event.name: (event.ran, event.error) for event in events if isinstance(event, ToolResult)}
    assert started == ["ends", "slow"]
    assert ended["slow"] == (True, "slow was stopped before it finished.")
    assert ended.keys() == {"slow", "ends"}


@pytest.mark.parametrize("by", ["abort", "deadline"])
async def test_before_the_error_of_a_run_each_call_has_its_result(by: str) -> None:
    async def slow() -> None:
        await asyncio.sleep(30)

    def broken() -> None:
        raise LookupError("no")

    fake = FakeModel().tool_calls(("slow", {}), ("broken" if by == "abort" else "slow", {}))
    orchestrator = Orchestrator(fake, [slow, broken], tool_errors="abort" if by == "abort" else "continue")
    events: list[Event] = []

    async def listen() -> None:
        async for event in orchestrator.stream("go", deadline=0.1 if by == "deadline" else None):
            events.append(event)

    with pytest.raises(ToolError if by == "abort" else Timeout) as raised:
        await listen()
    ended = {event.tool_use_id: event.error for event in events if isinstance(event, ToolResult)}
    assert ended.keys() == {event.tool_use_id for event in events if isinstance(event, ToolStarted)}
    assert ended == {record.id: record.error and record.error.message for record in raised.value.partial.tool_results}


async def test_a_failed_attempt_is_reported_before_the_next_one() -> None:
    fakes = {
        "small": FakeModel(RateLimited("slow down", retry_after=0.001), Overloaded("busy", status=503)),
        "large": FakeModel("ok"),
    }
    events = await events_of(stack(fakes), "go")
    assert kinds(events) == [
        "AttemptStarted",
        "AttemptFailed",
        "Waiting",
        "AttemptStarted",
        "AttemptFailed",
        "AttemptStarted",
        "TextDelta",
        "Finished",
    ]
    first, second = [event for event in events if isinstance(event, AttemptFailed)]
    assert (first.n, first.model, first.mode, first.kind, first.message) == (
        1,
        "small",
        "native_tools",
        "RateLimited",
        "slow down",
    )
    assert (second.n, second.kind, second.status) == (2, "Overloaded", 503)
    result: RunResult = events[-1].result if isinstance(events[-1], Finished) else RunResult()
    assert [first.duration, second.duration] == [attempt.duration for attempt in result.attempts[:2]]


async def test_a_reply_that_cannot_be_used_is_a_failed_attempt_and_a_re_asked_one_is_none() -> None:
    fake = FakeModel(*[called("add", {"a": 1})] * 3, *["words"] * 3, default="words")
    events = await events_of(Orchestrator(fake, [add], strategies=FAST, budget=Budget(attempts=2)), "go")
    told = [
        (event.reason if isinstance(event, AttemptStarted) else event.kind)
        for event in events
        if isinstance(event, AttemptStarted | AttemptFailed)
    ]
    assert told[:3] == ["first", "reask", "ModelError"]


async def test_a_stream_that_raises_tells_the_last_failure_first() -> None:
    events: list[Event] = []

    async def listen() -> None:
        async for event in Orchestrator(FakeModel(AuthenticationFailed("wrong key"))).stream("go"):
            events.append(event)

    with pytest.raises(AuthenticationFailed):
        await listen()
    assert kinds(events) == ["AttemptStarted", "AttemptFailed"]


# --- JSON -----------------------------------------------------------------------------------------------------------------


class Point(BaseModel):
    x: int


@pytest.mark.parametrize(
    ("event", "data"),
    [
        (TextDelta("Hel"), {"type": "text_delta", "text": "Hel"}),
        (ReasoningDelta("Let me think"), {"type": "reasoning_delta", "text": "Let me think"}),
        (ToolCallStarted(0, "call_0", "add"), {"type": "tool_call_started", "index": 0, "id": "call_0", "name": "add"}),
        (ArgumentsDelta(0, '{"a": 1'), {"type": "arguments_delta", "index": 0, "json": '{"a": 1'}),
        (Reclassified(3, 9, "reasoning"), {"type": "reclassified", "start": 3, "end": 9, "kind": "reasoning"}),
        (
            AttemptStarted(2, "m", "text", "mode", "", "CapabilityRefused: no tools"),
            {
                "type": "attempt_started",
                "n": 2,
                "model": "m",
                "mode": "text",
                "reason": "mode",
                "deployment": "",
                "detail": "CapabilityRefused: no tools",
            },
        ),
        (
            AttemptFailed(1, "m", "text", "RateLimited", "slow down", 429, 0.5),
            {
                "type": "attempt_failed",
                "n": 1,
                "model": "m",
                "mode": "text",
                "kind": "RateLimited",
                "message": "slow down",
                "status": 429,
                "duration": 0.5,
                "deployment": "",
            },
        ),
        (
            Waiting(2, "m", "text", "retry", "RateLimited: slow down", 1.5),
            {
                "type": "waiting",
                "n": 2,
                "model": "m",
                "mode": "text",
                "reason": "retry",
                "detail": "RateLimited: slow down",
                "seconds": 1.5,
                "deployment": "",
            },
        ),
        (
            Repaired(None, Repair(kind="trailing_comma", path="a", before=",", after="", safety="lossless")),
            {
                "type": "repaired",
                "index": None,
                "repair": {"kind": "trailing_comma", "path": "a", "before": ",", "after": "", "safety": "lossless"},
            },
        ),
        (
            ToolStarted("call_0", "add", {"a": 1, "when": Point(x=1)}, 1, "adds"),
            {
                "type": "tool_started",
                "tool_use_id": "call_0",
                "name": "add",
                "arguments": {"a": 1, "when": {"x": 1}},
                "turn": 1,
                "summary": "adds",
            },
        ),
        (
            ToolResult("call_0", "add", "inf", None, 0.25, 0, float("inf"), {"a": 1}, 1, True),
            {
                "type": "tool_result",
                "tool_use_id": "call_0",
                "name": "add",
                "content": "inf",
                "error": None,
                "duration": 0.25,
                "retries": 0,
                "value": "Infinity",
                "arguments": {"a": 1},
                "turn": 1,
                "ran": True,
                "summary": "",
            },
        ),
        (PartialOutput(Point(x=1)), {"type": "partial_output", "value": {"x": 1}}),
    ],
)
def test_the_json_of_each_event(event: Event, data: dict[str, Any]) -> None:
    made = event_json(event)
    assert made == data
    assert list(made) == list(data)
    assert json.loads(json.dumps(made)) == data


def test_a_calls_json_is_that_of_the_result() -> None:
    call = ToolCall(id="call_0", name="add", arguments={"a": 1})
    assert event_json(ToolCallFinished(0, call)) == {
        "type": "tool_call_finished",
        "index": 0,
        "call": call.model_dump(mode="json"),
    }


async def test_every_event_of_a_run_has_a_json_form() -> None:
    @tool(summary=lambda arguments: f"adds {arguments['a']}")
    def odd(a: int) -> object:
        """Give what is no JSON."""
        return {"it": object(), "n": float("nan")}

    fake = FakeModel().tool_call("odd", {"a": 1}, text="Hm.").text("done")
    events = await events_of(Orchestrator(fake, [odd]), "go")
    made = [event_json(event) for event in events]
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert next(one["summary"] for one in made if one["type"] == "tool_started") == "adds 1"
    assert made[-1]["result"]["content"] == "done"


async def test_the_json_of_the_end_is_the_answer_without_the_history() -> None:
    class Sum(BaseModel):
        total: int

    fake = FakeModel(default='{"total": 3}')
    (finished,) = [one async for one in Orchestrator(fake).stream("A long question. " * 500, Sum) if isinstance(one, Finished)]
    made = event_json(finished)
    assert set(made["result"]) == {"id", "usage", "pending", "degraded", "has_output", "output", "content"}
    assert made["result"]["output"] == {"total": 3}
    assert len(json.dumps(made)) < 1000


async def test_the_json_of_the_end_holds_the_calls_that_wait() -> None:
    @tool(requires_approval=True)
    def pay(amount: int) -> str:
        """Pay."""
        raise AssertionError

    events = await events_of(Orchestrator(FakeModel().tool_call("pay", {"amount": 2}), [pay]), "go")
    (call,) = event_json(events[-1])["result"]["pending"]
    assert (call["name"], call["arguments"]) == ("pay", {"amount": 2})
    assert "raw_arguments" in call


def test_no_secret_stands_in_it() -> None:
    remember(["s3cr3t-of-the-process-99"])
    told: list[Event] = [
        TextDelta("the key is s3cr3t-of-the-process-99"),
        ToolResult("call_0", "f", "s3cr3t-of-the-process-99", value={"password": "x", "k": ["s3cr3t-of-the-process-99"]}),
        ToolStarted("call_0", "f", {"api_key": "anything", "q": "sk-abcdef0123456789abcdef"}),
    ]
    text = json.dumps([event_json(event) for event in told])
    assert "s3cr3t" not in text
    assert "sk-abcdef" not in text
    assert '"password": "[secret]"' in text
    assert '"api_key": "[secret]"' in text


def test_an_error_that_ends_a_run_has_one_too() -> None:
    assert event_json(RateLimited("slow down", retry_after=2.0)) == {
        "type": "error",
        "error": {"type": "RateLimited", "message": "slow down", "status": 429, "retry_after": 2.0},
    }
    assert event_json(ValueError("of somebody else")) == {"type": "error", "error": {"type": "ValueError", "message": ""}}


def test_what_is_no_event_is_refused() -> None:
    with pytest.raises(ConfigError, match="event_json takes an event of a run or an error, not "):
        event_json("hello")  # type: ignore[arg-type]  # what the test is about
