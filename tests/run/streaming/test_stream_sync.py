"""`stream_sync`: the events of a run in code without an event loop."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import Any

import pytest

from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.types import AuthenticationFailed, CallerError, ConfigError, Finished, TextDelta, ToolResult
from tests.run.support import add


def test_it_gives_the_events_of_stream() -> None:
    async def streamed() -> list[Any]:
        fake = FakeModel().tool_call("add", {"a": 1, "b": 2}).text("It is 3.")
        return [event async for event in Orchestrator(fake, [add]).stream("go")]

    fake = FakeModel().tool_call("add", {"a": 1, "b": 2}).text("It is 3.")
    events = list(Orchestrator(fake, [add]).stream_sync("go"))
    assert [type(event) for event in events] == [type(event) for event in asyncio.run(streamed())]
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "It is 3."
    assert any(isinstance(event, ToolResult) for event in events)
    assert isinstance(events[-1], Finished)
    assert events[-1].result.content == "It is 3."


def test_a_typed_value_stands_in_the_last_event() -> None:
    *_, last = Orchestrator(FakeModel("[1, 2]")).stream_sync("go", list[int])
    assert isinstance(last, Finished)
    assert last.result.value == [1, 2]


def test_events_come_while_the_run_goes_on() -> None:
    """The first text is there before the tool that follows it has ended."""
    may_end = threading.Event()

    def wait() -> str:
        return "ended" if may_end.wait(20) else "nobody read"

    fake = FakeModel('I wait.\n<tool_call>{"name": "wait", "arguments": {}}</tool_call>', "Done.")
    seen: list[Any] = []
    for event in Orchestrator(fake, [wait]).stream_sync("go"):
        seen.append(event)
        if isinstance(event, TextDelta):
            may_end.set()
    assert [event.content for event in seen if isinstance(event, ToolResult)] == ["ended"]


def test_leaving_early_cancels_the_run() -> None:
    begun, cancelled = threading.Event(), threading.Event()

    async def sleep() -> str:
        begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return "slept"

    events = Orchestrator(FakeModel().tool_call("sleep"), [sleep]).stream_sync("go")
    next(events)
    assert begun.wait(20)
    events.close()
    assert cancelled.wait(20)


def test_errors_are_those_of_stream_with_the_partial_result() -> None:
    with pytest.raises(AuthenticationFailed) as caught:
        list(Orchestrator(FakeModel(AuthenticationFailed("no key"))).stream_sync("go"))
    assert caught.value.partial is not None


def test_what_is_wrong_beforehand_is_raised_at_once() -> None:
    orchestrator = Orchestrator(FakeModel("ok"))
    wrong: dict[str, Any] = {"temprature": 1}
    with pytest.raises(ConfigError, match="temperature"):
        orchestrator.stream_sync("go", **wrong)

    async def inside() -> None:
        orchestrator.stream_sync("go")

    with pytest.raises(CallerError, match="async for"):
        asyncio.run(inside())


def test_one_that_is_never_read_asks_nothing() -> None:
    fake = FakeModel("ok")
    events = Orchestrator(fake).stream_sync("go")
    del events
    gc.collect()
    assert fake.requests == []
