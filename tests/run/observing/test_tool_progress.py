"""Tools that report progress, notice their cancellation, or run alone; events of child runs."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import Any

import pytest

import llmcore
from llmcore import (
    Agent,
    FakeModel,
    Finished,
    NestedEvent,
    ObservedRun,
    Observer,
    Orchestrator,
    RunContext,
    TerminateLoop,
    TextDelta,
    Timeout,
    ToolProgress,
    ToolResult,
    ToolStarted,
    event_json,
    tool,
)

pytestmark = pytest.mark.anyio
SECONDS = 10.0
"""For a thread to end that was told to."""


class Heard(Observer):
    def __init__(self) -> None:
        self.values: list[Any] = []

    def tool_progress(self, run: ObservedRun, progress: ToolProgress) -> None:
        self.values.append((progress.name, progress.value))


def survey(pages: int, context: RunContext[Any]) -> str:
    """Read pages, in a thread."""
    for page in range(pages):
        context.emit({"page": page})
    return "read"


async def survey_later(pages: int, context: RunContext[Any]) -> str:
    """Read pages, here and in threads."""
    for page in range(pages):
        context.emit({"page": page})
        await asyncio.to_thread(context.emit, {"checked": page})
    return "read"


def pages_of(book: str) -> Generator[str, None, str]:
    """A generator."""
    yield f"{book} 1"
    yield f"{book} 2"
    return f"{book} has 2 pages"  # the result of the tool


async def pages_later(book: str) -> AsyncIterator[str]:
    """An async generator."""
    yield f"{book} 1"
    await asyncio.sleep(0)
    yield f"{book} has 1 page"


class Shelf:
    @tool
    def scan(self, row: int) -> Generator[int, None, int]:
        """A generator that is a method."""
        yield row
        return row + 1

    def __call__(self, row: int) -> Generator[int, None, int]:
        yield row
        return row + 2


def noted(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call


CASES: list[tuple[Any, dict[str, Any], list[Any], Any]] = [
    (survey, {"pages": 2}, [{"page": 0}, {"page": 1}], "read"),
    (survey_later, {"pages": 2}, [{"page": 0}, {"checked": 0}, {"page": 1}, {"checked": 1}], "read"),
    (pages_of, {"book": "Emma"}, ["Emma 1", "Emma 2"], "Emma has 2 pages"),
    (pages_later, {"book": "Emma"}, ["Emma 1", "Emma has 1 page"], "Emma has 1 page"),
    (Shelf().scan, {"row": 3}, [3], 4),
    (tool(Shelf(), name="shelf"), {"row": 3}, [3], 5),
    (tool(functools.partial(pages_of, "Emma"), name="partly"), {}, ["Emma 1", "Emma 2"], "Emma has 2 pages"),
    (noted(pages_of), {"book": "Emma"}, ["Emma 1", "Emma 2"], "Emma has 2 pages"),
    (noted(pages_later), {"book": "Emma"}, ["Emma 1", "Emma has 1 page"], "Emma has 1 page"),
]


@pytest.mark.parametrize(("function", "arguments", "progress", "value"), CASES)
async def test_progress_is_reported_in_order_between_the_start_and_the_result(
    function: Any, arguments: dict[str, Any], progress: list[Any], value: Any
) -> None:
    name = tool(function).name
    heard = Heard()
    orchestrator = Orchestrator(FakeModel().tool_call(name, arguments).text("ok"), [function], observers=heard)
    async with orchestrator.stream("Go.") as stream:
        events = [event async for event in stream if isinstance(event, ToolStarted | ToolProgress | ToolResult)]
    assert [type(event) for event in events] == [ToolStarted, *[ToolProgress] * len(progress), ToolResult]
    told = [event for event in events if isinstance(event, ToolProgress)]
    assert [event.value for event in told] == progress
    assert heard.values == [(name, one) for one in progress]
    (record,) = stream.result.tool_results
    assert (record.value, record.error) == (value, None)
    assert event_json(told[0]) == {
        "type": "tool_progress",
        "tool_use_id": record.id,
        "name": name,
        "value": progress[0],
        "turn": 1,
    }


@pytest.mark.parametrize(("function", "arguments", "progress", "value"), CASES)
async def test_observers_are_notified_where_nothing_is_streamed(
    function: Any, arguments: dict[str, Any], progress: list[Any], value: Any
) -> None:
    name, heard = tool(function).name, Heard()
    model = FakeModel().tool_calls((name, arguments)).text("ok")
    result = await Orchestrator(model, [function], observers=heard).run("Go.")
    assert heard.values == [(name, one) for one in progress]
    assert result.tool_results[0].value == value
    assert model.requests[1].messages[-1].tool_results[0].text == str(value)  # the model is told the result alone


async def test_progress_keeps_what_it_was_and_ends_with_its_call() -> None:
    contexts: list[RunContext[Any]] = []

    def grow(context: RunContext[Any]) -> str:
        seen = [1]
        context.emit(seen)
        seen.append(2)
        context.emit(seen)
        contexts.append(context)
        return "grown"

    heard = Heard()
    await Orchestrator(FakeModel().tool_call("grow").text("ok"), [grow], observers=heard).run("Go.")
    contexts[0].emit("too late")
    RunContext(None).emit("by hand")
    await asyncio.sleep(0)
    assert [value for _, value in heard.values] == [[1], [1, 2]]
    assert not contexts[0].cancelled


async def test_a_generator_may_end_the_run_or_fail() -> None:
    def ends() -> Iterator[int]:
        yield 1
        raise TerminateLoop("over")

    def fails() -> Iterator[int]:
        yield 1
        raise ValueError("no page 2")

    result = await Orchestrator(FakeModel().tool_call("ends"), [ends]).run("Go.")
    assert result.output == "over"
    result = await Orchestrator(FakeModel().tool_call("fails").text("ok"), [fails]).run("Go.")
    assert "no page 2" in result.tool_results[0].content


class Patient:
    """A tool that cannot be stopped, and that polls."""

    def __init__(self) -> None:
        self.started, self.ended = threading.Event(), threading.Event()

    def wait_on(self, context: RunContext[Any]) -> str:
        """Wait until nobody waits for it."""
        self.started.set()
        pause = threading.Event()
        while not context.cancelled:
            pause.wait(0.005)
        self.ended.set()
        return "late"

    async def was_told(self) -> bool:
        return await asyncio.to_thread(self.ended.wait, SECONDS)


def polling(patient: Patient, **options: Any) -> Orchestrator:
    return Orchestrator(FakeModel().tool_call("wait_on").text("ok"), [patient.wait_on], **options)


async def test_a_sync_tool_learns_that_its_time_is_over() -> None:
    patient = Patient()
    result = await polling(patient, tool_timeout=0.05).run("Go.")
    assert "did not answer" in result.tool_results[0].content
    assert await patient.was_told()


async def test_a_sync_tool_learns_that_the_deadline_has_passed() -> None:
    patient = Patient()
    with pytest.raises(Timeout):
        await polling(patient).run("Go.", deadline=0.3)
    assert await patient.was_told()


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_sync_tool_learns_that_the_run_was_cancelled(streamed: bool) -> None:
    patient = Patient()

    async def run() -> None:
        if not streamed:
            await polling(patient).run("Go.")
            return
        async for _ in polling(patient).stream("Go."):
            pass

    task = asyncio.create_task(run())
    await asyncio.to_thread(patient.started.wait, SECONDS)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await patient.was_told()


async def test_a_sync_tool_learns_that_the_stream_was_closed() -> None:
    patient = Patient()
    async with polling(patient).stream("Go.") as stream:
        async for event in stream:
            if isinstance(event, ToolStarted):
                await asyncio.to_thread(patient.started.wait, SECONDS)
                break
    assert await patient.was_told()


async def test_a_sync_tool_learns_that_another_call_has_ended_the_run() -> None:
    patient = Patient()

    async def stop() -> str:
        await asyncio.to_thread(patient.started.wait, SECONDS)
        raise TerminateLoop("stopped")

    model = FakeModel().tool_calls(("wait_on", {}), ("stop", {}))
    result = await Orchestrator(model, [patient.wait_on, stop]).run("Go.")
    assert result.output == "stopped"
    assert await patient.was_told()


async def test_an_async_tool_sees_it_while_it_is_cancelled() -> None:
    seen: list[bool] = []

    async def wait_on(context: RunContext[Any]) -> str:
        seen.append(context.cancelled)
        try:
            await asyncio.sleep(60)
        finally:
            seen.append(context.cancelled)
        return ""

    await Orchestrator(FakeModel().tool_call("wait_on").text("ok"), [wait_on], tool_timeout=0.05).run("Go.")
    assert seen == [False, True]


async def test_a_generator_in_a_thread_ends_at_its_next_yield() -> None:
    go, closed = threading.Event(), threading.Event()

    def endless() -> Iterator[int]:
        try:
            yield 0
            go.wait(SECONDS)
            while True:
                yield 1
        finally:
            closed.set()

    heard = Heard()
    orchestrator = Orchestrator(FakeModel().tool_call("endless").text("ok"), [endless], tool_timeout=0.1, observers=heard)
    await orchestrator.run("Go.")
    go.set()
    assert await asyncio.to_thread(closed.wait, SECONDS)
    assert heard.values == [("endless", 0)]  # what comes late is dropped


class Log:
    """Tools that say when they begin and end."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    async def read(self, page: int) -> str:
        """Read a page."""
        self.lines.append(f"read {page}")
        for _ in range(20):
            await asyncio.sleep(0)
        self.lines.append(f"had read {page}")
        return "read"

    @tool(sequential=True)
    async def write(self, page: int) -> str:
        """Write a page."""
        self.lines.append(f"write {page}")
        for _ in range(20):
            await asyncio.sleep(0)
        self.lines.append(f"had written {page}")
        return "written"


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_sequential_tool_runs_alone_in_its_place(streamed: bool) -> None:
    log = Log()
    names = ["read", "read", "write", "write", "read"]
    model = FakeModel().tool_calls(*((name, {"page": page}) for page, name in enumerate(names))).text("ok")
    orchestrator = Orchestrator(model, [log.read, log.write])
    if streamed:
        async with orchestrator.stream("Go.") as stream:
            async for _ in stream:
                pass
        result = stream.result
    else:
        result = await orchestrator.run("Go.")
    assert log.lines == [
        *("read 0", "read 1", "had read 0", "had read 1"),
        *("write 2", "had written 2", "write 3", "had written 3", "read 4", "had read 4"),
    ]
    assert [record.name for record in result.tool_results] == names


async def test_behind_a_sequential_call_that_ends_the_run_nothing_begins() -> None:
    log = Log()

    @tool(sequential=True)
    def stop() -> str:
        raise TerminateLoop("over")

    model = FakeModel().tool_calls(("read", {"page": 0}), ("stop", {}), ("read", {"page": 1}))
    result = await Orchestrator(model, [log.read, stop]).run("Go.")
    assert log.lines == ["read 0", "had read 0"]
    assert [record.ran for record in result.tool_results] == [True, True, False]


class Digger(Agent):
    """Digs."""

    @tool
    def dig(self, context: RunContext[Any]) -> str:
        context.emit("deeper")
        return "a bone"


def camp() -> Orchestrator:
    digger = Digger(FakeModel().tool_call("dig").text("A bone."))
    guide = Agent(FakeModel().tool_call("digger", {"message": "Dig."}).text("There is one."), name="guide", tools=[digger])
    return Orchestrator(FakeModel().tool_call("guide", {"message": "Is there a bone?"}).text("Yes."), [guide])


async def test_events_of_agents_within_reach_the_stream_with_their_calls() -> None:
    async with camp().stream("Go.", nested_events=True) as stream:
        events = [event async for event in stream]
    nested = [event for event in events if isinstance(event, NestedEvent)]
    outer = stream.result.tool_results[0].id
    inner = stream.result.runs[0].tool_results[0].id
    texts = [(event.tool_use_id, event.name, event.event.text) for event in nested if isinstance(event.event, TextDelta)]
    assert texts == [(f"{outer}/{inner}", "digger", "A bone."), (outer, "guide", "There is one.")]
    (progress,) = [event for event in nested if isinstance(event.event, ToolProgress)]
    told = event_json(progress)
    assert (told["type"], told["tool_use_id"], told["name"]) == ("nested_event", f"{outer}/{inner}", "digger")
    assert told["event"]["type"] == "tool_progress"
    assert told["event"]["value"] == "deeper"
    starts = [at for at, event in enumerate(events) if isinstance(event, ToolStarted | ToolResult)]
    assert all(starts[0] < at < starts[1] for at, event in enumerate(events) if isinstance(event, NestedEvent))
    assert isinstance(events[-1], Finished)
    assert stream.text == "Yes."


async def test_events_of_runs_within_are_reported_only_where_they_are_asked_for() -> None:
    async with camp().stream("Go.") as stream:
        assert not [event async for event in stream if isinstance(event, NestedEvent)]
    told: list[dict[str, Any]] = []
    digger = Digger(FakeModel().tool_call("dig").text("A bone."))
    model = FakeModel().tool_call("digger", {"message": "Dig."}).text("Yes.")
    await Agent(model, tools=[digger], socket_emit=told.append, nested_events=True).chat("Go.")
    assert "deeper" in [event["event"].get("value") for event in told if event["type"] == "nested_event"]


def test_an_option_of_another_kind_is_refused() -> None:
    with pytest.raises(llmcore.ConfigError, match="nested_events"):
        Orchestrator(FakeModel("x")).stream("Go.", nested_events="yes")  # type: ignore[call-overload]  # the point
    with pytest.raises(llmcore.ToolDefinitionError, match="sequential"):
        tool(survey, sequential="yes")  # type: ignore[call-overload]  # the point
