"""`stream`: the same run with a listener."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest
from pydantic import BaseModel

from llmcore.adapters.base import Capabilities, ModelCall
from llmcore.hooks import Hooks, StreamedSoFar
from llmcore.orchestrator import Orchestrator
from llmcore.run.results.result import RunResult
from llmcore.testing import FakeModel
from llmcore.testing.replies import tool_call_body
from llmcore.types import (
    ArgumentsDelta,
    AttemptStarted,
    CallerError,
    ConfigError,
    Event,
    FallbackExhausted,
    Finished,
    Overloaded,
    PartialOutput,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    ToolResult,
    ToolStarted,
)
from tests.run.support import FAST, add, assert_valid, called, get_weather

pytestmark = pytest.mark.anyio


class City(BaseModel):
    name: str
    sights: list[str]


async def events_of(orchestrator: Orchestrator, *args: Any, **options: Any) -> list[Event]:
    return [event async for event in orchestrator.stream(*args, **options)]


def result_of(events: list[Event]) -> RunResult:
    assert isinstance(events[-1], Finished)
    assert not any(isinstance(event, Finished) for event in events[:-1])
    result: RunResult = events[-1].result
    return result


def comparable(result: RunResult) -> Any:
    dumped = result.model_dump(
        exclude={"id": True, "started_at": True, "duration": True, "attempts": True, "tool_results": {"__all__": {"duration"}}}
    )
    return dumped, [(a.n, a.model, a.mode, a.reason, a.detail, str(a.failure)) for a in result.attempts]


SCRIPTS: dict[str, Any] = {
    "text": lambda: FakeModel("Hello there, how are you?"),
    "native": lambda: FakeModel().tool_call("add", {"a": 1, "b": 2}, text="Adding.").text("3"),
    "dialect": lambda: FakeModel('<tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}}</tool_call>', "3"),
    "reasked": lambda: FakeModel().tool_call("add", {"a": 1}).tool_call("add", {"a": 1, "b": 2}).text("3"),
    "fallen back": lambda: FakeModel(Overloaded("busy")).tool_call("nope", {}).text("words").text("3"),
    "degraded": lambda: FakeModel(default=called("nope", {"x": 1}, text="So?")),
}


@pytest.mark.parametrize("chunk_size", [None, 1, 5])
@pytest.mark.parametrize("script", list(SCRIPTS))
async def test_a_stream_ends_as_the_run_does(script: str, chunk_size: int | None) -> None:
    plain = await Orchestrator(SCRIPTS[script](), [add], strategies=FAST).run("go")
    fake = SCRIPTS[script]()
    fake._chunk_size = chunk_size
    events = await events_of(Orchestrator(fake, [add], strategies=FAST), "go")
    assert comparable(result_of(events)) == comparable(plain)
    assert_valid(plain.messages)


async def test_the_events_come_in_order() -> None:
    fake = FakeModel(chunk_size=4).tool_call("get_weather", {"city": "Paris"}, text="Let me look.").text("It is sunny.")
    events = await events_of(Orchestrator(fake, [get_weather]), "weather?")
    kinds = [type(event) for index, event in enumerate(events) if index == 0 or type(event) is not type(events[index - 1])]
    assert kinds == [
        AttemptStarted,
        TextDelta,
        ToolCallStarted,
        ArgumentsDelta,
        ToolCallFinished,
        ToolStarted,
        ToolResult,
        AttemptStarted,
        TextDelta,
        Finished,
    ]
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "Let me look.It is sunny."
    assert "".join(event.json for event in events if isinstance(event, ArgumentsDelta)) == '{"city": "Paris"}'
    ran = next(event for event in events if isinstance(event, ToolResult))
    assert (ran.name, ran.content, ran.error, ran.retries) == ("get_weather", "Paris: sunny for 1 days", None, 0)


async def test_an_endpoint_that_cannot_stream_gives_the_same_events() -> None:
    fake = FakeModel("Hello", capabilities=Capabilities(streaming=False))
    events = await events_of(Orchestrator(fake), "hi")
    assert [type(event) for event in events] == [AttemptStarted, TextDelta, Finished]


@pytest.mark.parametrize("by_tool", [False, True])
async def test_partial_values_grow_to_the_whole(by_tool: bool) -> None:
    value = City(name="Paris", sights=[f"sight number {n}" for n in range(20)])
    fake = FakeModel(chunk_size=3, capabilities=Capabilities(json_schema=not by_tool))
    fake = fake.tool_call("final_result", value.model_dump()) if by_tool else fake.text(value.model_dump_json())
    events = await events_of(Orchestrator(fake), "which?", City)
    partial = [event.value for event in events if isinstance(event, PartialOutput)]
    assert result_of(events).output == value
    assert len(partial) > 5
    lengths = [len(found.sights) for found in partial if getattr(found, "sights", None)]
    assert lengths == sorted(lengths)
    assert 15 < lengths[-1] <= 20
    assert all(found.sights[:-1] == value.sights[: len(found.sights) - 1] for found in partial if found.sights)


async def test_a_stream_that_breaks_is_tried_again_and_its_text_kept_in_the_partial_result() -> None:
    fake = FakeModel(["Hel", Overloaded("gone")], "Hello again.")
    events = await events_of(Orchestrator(fake, strategies=FAST), "hi")
    assert result_of(events).content == "Hello again."
    assert [event.reason for event in events if isinstance(event, AttemptStarted)] == ["first", "retry"]
    broken = FakeModel(default=["Hel", Overloaded("gone")])
    with pytest.raises(FallbackExhausted) as caught:  # half an answer is none
        await events_of(Orchestrator(broken, strategies=()), "hi")
    partial: RunResult = caught.value.partial
    assert (partial.content, partial.envelope.truncated) == ("Hel", True)


async def test_errors_come_out_of_the_stream_and_callers_errors_before_it() -> None:
    with pytest.raises(FallbackExhausted):
        await events_of(Orchestrator(FakeModel(default=Overloaded("down")), strategies=()), "hi")
    with pytest.raises(ConfigError):
        Orchestrator(FakeModel("x")).stream("hi", temprature=1)  # type: ignore[call-overload]  # what is tested
    with pytest.raises(CallerError):
        Orchestrator(FakeModel("x")).stream("hi", memoryview)


async def test_leaving_early_closes_the_providers_stream() -> None:
    closed: list[bool] = []

    class Endless(FakeModel):
        async def stream(self, call: ModelCall) -> AsyncIterator[dict[str, Any] | str]:
            try:
                while True:
                    yield "word "
            finally:
                closed.append(True)

    async with aclosing(Orchestrator(Endless()).stream("hi")) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
    assert closed == [True]


async def test_the_streaming_hook_sees_the_text_accumulate() -> None:
    seen: list[tuple[str, bool]] = []

    def watch(so_far: StreamedSoFar) -> None:
        seen.append((so_far.content, so_far.done))

    fake = FakeModel("Hello you", chunk_size=3)
    await events_of(Orchestrator(fake, hooks=Hooks(on_streaming_response=watch)), "hi")
    assert seen[0][0] == "Hello you"[: len(seen[0][0])]
    assert seen[-1] == ("Hello you", True)
    assert [done for _, done in seen].count(True) == 1


async def test_the_streaming_hook_sees_the_calls_that_came_whole() -> None:
    seen: list[list[str]] = []

    def watch(so_far: StreamedSoFar) -> None:
        seen.append([call.name for call in so_far.calls])
        so_far.calls[:0] = []

    body = tool_call_body([("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4})], "Let me see.", 0)
    fake = FakeModel(body, "10", chunk_size=5)
    await events_of(Orchestrator(fake, [add], hooks=Hooks(on_streaming_response=watch)), "go")
    assert [names for at, names in enumerate(seen) if not at or names != seen[at - 1]] == [[], ["add"], ["add", "add"], []]
    written = 'I call <tool_call>\n{"name": "add", "arguments": {"a": 1, "b": 2}}\n</tool_call>'
    seen.clear()
    await events_of(Orchestrator(FakeModel(written, "3"), [add], hooks=Hooks(on_streaming_response=watch)), "go")
    assert ["add"] in seen
    seen.clear()
    typed = FakeModel(called("final_result", {"result": 3}), capabilities=Capabilities(json_schema=False), chunk_size=7)
    await events_of(Orchestrator(typed, hooks=Hooks(on_streaming_response=watch)), "go", int)
    assert seen
    assert not any(seen)


@pytest.mark.parametrize("beside", [[], [add]], ids=["alone", "beside a tool"])
async def test_the_call_by_which_a_value_comes_is_no_event(beside: list[Any]) -> None:
    """The tool that a typed answer is asked by is nobody's; its arguments come as partial values."""
    whole: dict[str, Any] = {"name": "Oslo", "sights": ["the opera house", "the fortress", "the ski jump"]}
    fake = FakeModel(called("final_result", whole), capabilities=Capabilities(json_schema=False), chunk_size=7)
    events = await events_of(Orchestrator(fake, beside), "go", City)
    assert result_of(events).output == City(**whole)
    assert any(isinstance(event, PartialOutput) for event in events)
    assert not any(isinstance(event, ToolCallStarted | ArgumentsDelta | ToolCallFinished) for event in events)


async def test_an_attempt_shows_what_made_it_necessary() -> None:
    events = await events_of(Orchestrator(FakeModel("no number", "12")), "go", int)
    first, second = [event for event in events if isinstance(event, AttemptStarted)]
    assert (first.reason, first.detail) == ("first", "")
    assert second.reason == "reask"
    assert "integer" in second.detail
