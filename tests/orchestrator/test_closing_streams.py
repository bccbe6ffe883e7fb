"""A run that is left from outside: by another task, another event loop, another thread, by several, at any moment."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Coroutine, Iterator
from typing import Any

import pytest

from llmcore.orchestrator import Orchestrator
from llmcore.run import leavable
from llmcore.run.leavable import Leavable
from llmcore.testing import FakeModel
from llmcore.types import ToolStarted
from tests.orchestrator.support import assert_valid

MOMENT = 0.2


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
    """A tool that does not end by itself. It may block its event loop for a moment when it begins, and tidy up for another one."""

    def __init__(self, *, blocks: float = 0, tidies_for: float = 0) -> None:
        self.begun, self.stopped = threading.Event(), threading.Event()
        self.blocks, self.tidies_for = blocks, tidies_for

    async def hang(self) -> str:
        self.begun.set()
        time.sleep(self.blocks)
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
def test_another_thread_may_close_it_just_when_a_tool_begins(elsewhere: Elsewhere, stepped: bool) -> None:
    hanging = Hanging(blocks=MOMENT)  # what is asked of the loop meanwhile comes when the reader waits for another item
    stream = hanging.started(stepped=stepped)
    reading = elsewhere.begin(to_its_end(stream))
    assert hanging.begun.wait(10)
    asyncio.run(stream.aclose())
    assert hanging.stopped.is_set()
    assert reading.result(10) == "ended"
    check_left(stream)


def test_another_thread_may_close_it_at_any_moment(elsewhere: Elsewhere) -> None:
    for pause in range(20):
        hanging = Hanging()
        stream = hanging.started()
        reading = elsewhere.begin(to_its_end(stream))
        time.sleep(pause / 5000)
        asyncio.run(stream.aclose())
        assert reading.result(10) == "ended"
        assert hanging.stopped.is_set() == hanging.begun.is_set()
        assert_valid(stream.result.messages)


def test_another_thread_stops_a_tool_while_the_reader_is_between_two_items(elsewhere: Elsewhere) -> None:
    """A task that is cancelled from another thread would hear of it only when something else wakes its loop."""
    hanging = Hanging()
    stream = hanging.started()

    async def read() -> str:
        await up_to_the_tool(stream)
        await asyncio.to_thread(closed.wait, 10)
        return await to_its_end(stream)

    closed = threading.Event()
    reading = elsewhere.begin(read())
    assert hanging.begun.wait(10)
    time.sleep(MOMENT)
    asyncio.run(stream.aclose())
    assert hanging.stopped.is_set()
    check_left(stream)
    closed.set()
    assert reading.result(10) == "ended"


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


def test_several_threads_may_close_it(elsewhere: Elsewhere) -> None:
    for _ in range(5):
        hanging = Hanging()
        stream = hanging.started()
        reading = elsewhere.begin(to_its_end(stream))
        assert hanging.begun.wait(10)
        failures: list[BaseException] = []
        threads = [threading.Thread(target=close_noting, args=(stream, failures), daemon=True) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
        assert not failures
        assert reading.result(10) == "ended"
        assert hanging.stopped.is_set()
        check_left(stream)


def close_noting(stream: Any, failures: list[BaseException]) -> None:
    try:
        asyncio.run(stream.aclose())
    except BaseException as error:
        failures.append(error)


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


async def untidy(ended: list[str]) -> AsyncGenerator[int, None]:
    try:
        yield 1
        yield 2
    finally:
        await asyncio.sleep(0)
        ended.append(threading.current_thread().name)
        raise LookupError("untidy")


def test_what_closing_raises_in_the_loop_of_the_reader_reaches_who_closes(elsewhere: Elsewhere) -> None:
    ended: list[str] = []
    items = Leavable(untidy(ended))
    assert elsewhere.begin(anext(items)).result(10) == 1
    with pytest.raises(LookupError, match="untidy"):
        asyncio.run(items.aclose())
    assert ended == [elsewhere.thread.name]
    asyncio.run(items.aclose())


def test_a_loop_that_is_blocked_is_not_waited_for(elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leavable, "_TAKEN_UP_IN", 0.05)
    ended: list[str] = []
    items, is_read, is_closed = Leavable(untidy(ended)), threading.Event(), threading.Event()

    async def read() -> str:
        await anext(items)
        is_read.set()
        assert is_closed.wait(10)  # blocks its loop until another thread has closed what it reads
        return await to_its_end(items)

    reading = elsewhere.begin(read())
    assert is_read.wait(10)
    with pytest.raises(LookupError, match="untidy"):
        asyncio.run(items.aclose())
    assert ended == [threading.current_thread().name]
    is_closed.set()
    assert reading.result(10) == "ended"


@pytest.mark.parametrize("ends", [False, True])
def test_a_loop_that_runs_no_more_is_not_waited_for(ends: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leavable, "_TAKEN_UP_IN", 60)
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
