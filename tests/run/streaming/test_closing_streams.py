"""A stream is closed by another task of its event loop, by several tasks, or by another thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from typing import Any

import pytest

from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.types import CallerError, ToolStarted
from tests.run.support import assert_valid


class Elsewhere:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def begin(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop)

    def end(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    made = Elsewhere()
    yield made
    made.end()


class Hanging:
    """A tool that does not end by itself. It may tidy up for a moment when it is stopped."""

    def __init__(self, *, tidies_for: float = 0) -> None:
        self.begun, self.stopped = threading.Event(), threading.Event()
        self.tidies_for = tidies_for

    async def hang(self) -> str:
        self.begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            self.stopped.set()
            await asyncio.sleep(self.tidies_for)
            raise
        return "late"

    def started(self, *, stepped: bool = False) -> Any:
        orchestrator = self.orchestrator()
        return orchestrator.iterate("go") if stepped else orchestrator.stream("go")

    def orchestrator(self) -> Orchestrator:
        return Orchestrator(FakeModel().tool_call("hang").text("never"), [self.hang])


async def to_its_end(stream: Any) -> str:
    async for _ in stream:
        pass
    return "ended"


async def up_to_the_tool(stream: Any) -> str:
    async for event in stream:
        if isinstance(event, ToolStarted):
            return "begun"
    return "ended"


def check_left(stream: Any) -> None:
    assert [message.role for message in stream.result.messages] == ["user", "assistant", "tool"]
    assert_valid(stream.result.messages)


@pytest.mark.parametrize("stepped", [False, True])
def test_another_event_loop_cannot_close_it(elsewhere: Elsewhere, stepped: bool) -> None:
    hanging = Hanging()
    stream = hanging.started(stepped=stepped)
    reading = elsewhere.begin(to_its_end(stream))
    assert hanging.begun.wait(10)
    with pytest.raises(CallerError, match="only that one can close it"):
        asyncio.run(stream.aclose())
    assert not hanging.stopped.is_set()
    elsewhere.begin(stream.aclose()).result(10)
    assert reading.result(10) == "ended"
    assert hanging.stopped.is_set()
    check_left(stream)


@pytest.mark.parametrize("stepped", [False, True])
@pytest.mark.parametrize("is_read", [False, True])
def test_several_tasks_may_close_it(is_read: bool, stepped: bool) -> None:
    hanging = Hanging()

    async def left() -> None:
        stream = hanging.started(stepped=stepped)
        if is_read or stepped:  # a step is over only when the tool is
            reading = asyncio.create_task(to_its_end(stream))
            await asyncio.to_thread(hanging.begun.wait, 10)
        else:
            reading = asyncio.create_task(up_to_the_tool(stream))
            await reading
        await asyncio.gather(stream.aclose(), stream.aclose(), stream.aclose())
        await stream.aclose()
        await asyncio.wait_for(reading, 10)
        assert hanging.stopped.is_set() == hanging.begun.is_set()
        check_left(stream)

    asyncio.run(left())


def test_one_who_gives_up_closing_leaves_it_to_the_others() -> None:
    hanging = Hanging()

    async def left() -> None:
        stream = hanging.started()
        reading = asyncio.create_task(to_its_end(stream))
        await asyncio.to_thread(hanging.begun.wait, 10)
        closing = [asyncio.create_task(stream.aclose()) for _ in range(2)]
        await asyncio.sleep(0)
        closing[0].cancel()
        await closing[1]
        assert await asyncio.wait_for(reading, 10) == "ended"
        with pytest.raises(asyncio.CancelledError):
            await closing[0]
        assert hanging.stopped.is_set()
        check_left(stream)

    asyncio.run(left())


@pytest.mark.parametrize("ends", [False, True])
def test_what_a_loop_read_that_runs_no_more_is_closed_anywhere(ends: bool) -> None:
    stream = Orchestrator(FakeModel("Hello", chunk_size=1)).stream("go")
    loop = asyncio.new_event_loop()
    loop.run_until_complete(anext(stream))
    if ends:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
    asyncio.run(asyncio.wait_for(stream.aclose(), 10))
    assert_valid(stream.result.messages)
    loop.close()


def test_without_a_loop_one_that_was_never_read_is_closed() -> None:
    closing = Orchestrator(FakeModel("Hello")).stream("go").aclose()
    with pytest.raises(StopIteration):
        closing.send(None)


def test_without_a_loop_who_reads_on_while_it_is_closed_hears_that_it_is_over() -> None:
    hanging = Hanging(tidies_for=0.08)
    stream = hanging.orchestrator().stream_sync("go")
    ends: list[str] = []

    def read() -> None:
        for event in stream:
            if isinstance(event, ToolStarted):
                assert hanging.begun.wait(10)
                is_between.set()
                assert hanging.stopped.wait(10)  # so it is being closed
        check_left(stream)
        ends.append("ended")

    is_between = threading.Event()
    reading = threading.Thread(target=read, daemon=True)
    reading.start()
    assert is_between.wait(10)
    stream.close()
    reading.join(10)
    assert ends == ["ended"]
    check_left(stream)
