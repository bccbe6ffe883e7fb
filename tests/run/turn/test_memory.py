"""What a run keeps in memory, and when it is freed."""

from __future__ import annotations

import gc
import weakref

import pytest

from llmcore import FakeModel, Message, Observer, Orchestrator
from llmcore.run.observing.events import ObservedRun

pytestmark = pytest.mark.anyio


class Watching(Observer):
    def __init__(self) -> None:
        self.runs: list[weakref.ref[ObservedRun]] = []

    def run_started(self, run: ObservedRun, /) -> None:
        self.runs.append(weakref.ref(run))


async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def test_a_run_that_is_over_is_freed_without_the_garbage_collector() -> None:
    watching = Watching()
    fake = FakeModel().tool_call("add", {"a": 2, "b": 3}).text("5")
    orchestrator = Orchestrator(fake, [add], observers=watching)
    gc.collect()
    gc.disable()
    try:
        await orchestrator.run("What is 2 and 3?")
        assert [run() for run in watching.runs] == [None]
    finally:
        gc.enable()


async def test_what_requests_hold_of_the_history_does_not_grow_with_their_number() -> None:
    fake = FakeModel()
    for number in range(5):
        fake.tool_call("add", {"a": number, "b": 1})
    result = await Orchestrator(fake.text("done"), [add]).run("Count")
    held = {id(message) for request in fake.requests for message in request.messages}
    assert len(held) == len(fake.requests[-1].messages) == len(result.messages) - 1
    assert held.isdisjoint(map(id, result.messages))


async def test_messages_of_a_request_that_were_added_are_of_that_request_alone() -> None:
    fake = FakeModel().tool_call("add", {"a": 1, "b": 1}).text("done")
    await Orchestrator(fake, [add]).run("Count")
    fake.requests[0].messages.append(Message(role="user", content="more"))
    assert [message.role for message in fake.requests[1].messages] == ["user", "assistant", "tool"]
