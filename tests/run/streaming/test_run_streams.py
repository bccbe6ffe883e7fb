"""What a stream's events add up to, and leaving it early, with and without an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import aclosing, closing
from typing import Any

import pytest

from llmcore.orchestrator import Orchestrator
from llmcore.run import RunResult, RunStream
from llmcore.run.streaming.run_stream import SyncRunStream
from llmcore.testing import FakeModel
from llmcore.types import (
    CallerError,
    Envelope,
    Event,
    FallbackExhausted,
    Finished,
    Overloaded,
    ReasoningDelta,
    Reclassified,
    TextDelta,
    ToolCall,
    ToolCallFinished,
    ToolResult,
)
from tests.run.support import FAST, add, assert_valid

ADDING = [("add", {"a": 1, "b": 2})]


def adding(**options: Any) -> FakeModel:
    return FakeModel(**options).tool_call("add", {"a": 1, "b": 2}, text="Let me see.").text("<think>So it is.</think>It is 3.")


def views(stream: Any) -> tuple[Any, ...]:
    return (stream.text, stream.reasoning, len(stream.calls), len(stream.results), stream.partial)


def test_the_view_grows_and_ends_as_the_result() -> None:
    async def read() -> list[tuple[Any, ...]]:
        async with Orchestrator(adding(chunk_size=4), [add]).stream("go") as stream:
            assert isinstance(stream, RunStream)
            with pytest.raises(CallerError, match="no result yet"):
                _ = stream.result
            seen = [views(stream) async for _ in stream]
            assert isinstance(stream, RunStream)
        assert stream.result.content == stream.text == "It is 3."
        assert stream.reasoning == "So it is."
        assert [call.name for call in stream.calls] == ["add"]
        assert stream.results[0].value == 3
        return seen

    seen = asyncio.run(read())
    assert ("Let me see.", "", 0, 0, None) in seen
    assert ("Let me see.", "", 1, 1, None) in seen
    assert ("", "So it", 1, 1, None) in [(text, said[:5], *rest) for text, said, *rest in seen]
    with Orchestrator(adding(chunk_size=4), [add]).stream_sync("go") as stream:
        assert isinstance(stream, SyncRunStream)
        assert [views(stream) for _ in stream] == seen
    assert stream.result.content == "It is 3."


def test_typed_partial_values_and_the_result() -> None:
    with Orchestrator(FakeModel('["one text", "another text", "more"]', chunk_size=5)).stream_sync("go", list[str]) as stream:
        lengths = [len(stream.partial) for _ in stream if stream.partial is not None]
    assert lengths == sorted(lengths)
    assert lengths[0] < 3
    assert stream.partial == stream.result.value == ["one text", "another text", "more"]


def test_what_a_failed_attempt_emitted_is_void() -> None:
    fake = FakeModel(["Hel", Overloaded("gone")], "Good bye.")
    with Orchestrator(fake, strategies=FAST).stream_sync("go") as stream:
        texts = [stream.text for _ in stream]
    assert "Hel" in texts
    assert stream.text == "Good bye."
    told = [text for text in texts if text]
    assert not any(text.startswith("HelG") for text in told)


def test_left_early_the_history_is_valid() -> None:
    async def slow() -> str:
        await asyncio.sleep(60)
        return "never"

    def orchestrator() -> Orchestrator:
        return Orchestrator(FakeModel(chunk_size=3).tool_call("add", ADDING[0][1]).tool_call("slow").text("x"), [add, slow])

    async def leave() -> Any:
        async with orchestrator().stream("go") as stream:
            async for event in stream:
                if isinstance(event, ToolResult):
                    break
            task = asyncio.ensure_future(anext(stream))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        return stream.result

    result = asyncio.run(leave())
    assert_valid(result.messages)
    assert result.tool_results[0].value == 3
    with orchestrator().stream_sync("go") as stream:
        for event in stream:
            if isinstance(event, ToolCallFinished) and event.call.name == "slow":
                break
    assert_valid(stream.result.messages)
    assert not isinstance(stream.result, Finished)
    stream.close()


def test_an_error_comes_out_and_the_result_is_what_was_done() -> None:
    fake = FakeModel().tool_call("add", ADDING[0][1]).error(Overloaded("down"))
    with Orchestrator(fake, [add], strategies=()).stream_sync("go") as stream, pytest.raises(FallbackExhausted):
        list(stream)
    assert stream.result.tool_results[0].value == 3


def test_a_plain_loop_and_closing_go_on_to_work() -> None:
    async def read() -> list[Any]:
        plain = [type(event) async for event in Orchestrator(FakeModel("x")).stream("go")]
        async with aclosing(Orchestrator(FakeModel("x")).stream("go")) as events:
            assert [type(event) async for event in events] == plain
        unread = Orchestrator(FakeModel("x")).stream("go")
        await unread.aclose()
        assert unread.result.content == ""
        with pytest.raises(StopAsyncIteration):
            await anext(unread)
        return plain

    kinds = asyncio.run(read())
    with closing(Orchestrator(FakeModel("x")).stream_sync("go")) as events:
        assert [type(event) for event in events] == kinds


def test_what_is_reclassified_is_withdrawn() -> None:
    call = ToolCall(id="1", name="f", arguments={}, raw_arguments="{}", dialect="d", span=(5, 9), complete=True, known=True)

    class Told:
        async def events(self) -> AsyncGenerator[Event, None]:
            for event in (TextDelta("I th"), ToolCallFinished(0, call), Reclassified(0, 12, "reasoning"), ReasoningDelta("ink")):
                yield event

        def abandon(self) -> None:
            pass

        def partial_result(self) -> Any:
            return Envelope()

    async def read() -> Any:
        stream: RunStream[Any] = RunStream(Told())
        async for _ in stream:
            pass
        return stream

    stream = asyncio.run(read())
    assert (stream.text, stream.reasoning, stream.calls) == ("", "I think", [])


class Hanging:
    """A tool that does not end, and tells how it ended."""

    def __init__(self) -> None:
        self.begun, self.ended = threading.Event(), ""

    async def hang(self) -> str:
        self.begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            self.ended = "cancelled"
            raise
        return "late"

    def orchestrator(self) -> Orchestrator:
        return Orchestrator(FakeModel().tool_call("hang").text("never"), [self.hang])

    def check(self, result: RunResult[Any]) -> None:
        assert self.ended == "cancelled"
        assert [(record.name, record.ran) for record in result.tool_results] == [("hang", True)]
        assert_valid(result.messages)


@pytest.mark.parametrize("stepped", [False, True])
def test_it_may_be_closed_while_another_task_reads(stepped: bool) -> None:
    hanging = Hanging()

    async def closed_meanwhile() -> RunResult[Any]:
        orchestrator = hanging.orchestrator()
        stream: Any = orchestrator.iterate("go") if stepped else orchestrator.stream("go")

        async def read() -> str:
            async for _ in stream:
                pass
            return "ended"

        reading = asyncio.create_task(read())
        await asyncio.to_thread(hanging.begun.wait, 10)
        if not stepped:
            with pytest.raises(CallerError, match="another task reads this already"):
                await anext(stream)
        with pytest.raises(CallerError, match="another event loop reads this"):
            await asyncio.to_thread(asyncio.run, stream.aclose())
        await asyncio.wait_for(stream.aclose(), 10)
        assert await asyncio.wait_for(reading, 10) == "ended"
        assert reading.cancelling() == 0
        left: RunResult[Any] = stream.result
        return left

    hanging.check(asyncio.run(closed_meanwhile()))


def test_without_a_loop_it_may_be_closed_while_another_thread_reads() -> None:
    hanging = Hanging()
    stream = hanging.orchestrator().stream_sync("go")
    reading = threading.Thread(target=lambda: list(stream), daemon=True)
    reading.start()
    assert hanging.begun.wait(10)
    stream.close()
    reading.join(10)
    assert not reading.is_alive()
    hanging.check(stream.result)


def test_without_a_loop_one_thread_reads() -> None:
    streams: list[SyncRunStream[Any]] = []

    def look() -> str:
        with pytest.raises(CallerError, match="another thread reads this already"):
            next(streams[0])
        return "seen"

    stream = Orchestrator(FakeModel().tool_call("look").text("Done."), [look]).stream_sync("Go.")
    streams.append(stream)
    assert type([*stream][-1]).__name__ == "Finished"
    assert stream.result.tool_results[0].content == "seen"


def test_a_task_that_is_cancelled_while_its_stream_is_closed_stays_cancelled() -> None:
    async def both() -> None:
        hanging = Hanging()
        stream = hanging.orchestrator().stream("go")

        async def read() -> None:
            async for _ in stream:
                pass

        reading = asyncio.create_task(read())
        await asyncio.to_thread(hanging.begun.wait, 10)
        closing_it = asyncio.create_task(stream.aclose())
        await asyncio.sleep(0)
        reading.cancel()
        await closing_it
        with pytest.raises(asyncio.CancelledError):
            await reading

    asyncio.run(both())
