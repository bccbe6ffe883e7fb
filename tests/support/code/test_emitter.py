"""Work that tells, read by who listens, or by nobody."""

from __future__ import annotations

import asyncio
import contextvars
import gc

import pytest

from llmcore.support.code.emitter import Emit, event_stream, silently

pytestmark = pytest.mark.anyio


async def counting(tell: Emit[int], *, to: int = 3) -> str:
    for number in range(to):
        await asyncio.sleep(0)
        await tell(number)
    return "done"


async def test_events_come_in_order_from_however_deep() -> None:
    async def work(tell: Emit[int]) -> None:
        await tell(-1)
        await counting(tell)
        await tell(99)

    assert [event async for event in event_stream(work)] == [-1, 0, 1, 2, 99]


async def test_where_nobody_listens_the_work_goes_on_alone() -> None:
    assert await counting(silently) == "done"


async def test_work_that_tells_nothing_is_carried_out() -> None:
    done: list[str] = []

    async def work(_: Emit[int]) -> None:
        await asyncio.sleep(0)
        done.append("it")

    assert [event async for event in event_stream(work)] == []
    assert done == ["it"]


async def test_the_work_stands_still_between_two_events() -> None:
    steps: list[int] = []

    async def work(tell: Emit[int]) -> None:
        for number in range(3):
            steps.append(number)
            await tell(number)

    events = event_stream(work)
    assert await anext(events) == 0
    await asyncio.sleep(0.01)
    assert steps == [0]
    await events.aclose()
    assert steps == [0]


async def test_leaving_early_lets_the_work_tidy_up_and_wait_for_it() -> None:
    seen: list[str] = []

    async def work(tell: Emit[int]) -> None:
        try:
            await counting(tell)
        except GeneratorExit:
            seen.append("left")
            raise
        finally:
            await asyncio.sleep(0)
            seen.append("tidied up")

    events = event_stream(work)
    await anext(events)
    await events.aclose()
    assert seen == ["left", "tidied up"]


async def test_what_the_work_raises_reaches_who_listens() -> None:
    async def work(tell: Emit[int]) -> None:
        await tell(1)
        raise LookupError("gone")

    events = event_stream(work)
    assert await anext(events) == 1
    with pytest.raises(LookupError, match="gone"):
        await anext(events)
    with pytest.raises(StopAsyncIteration):
        await anext(events)


async def test_what_is_thrown_in_is_raised_where_the_work_stands() -> None:
    async def work(tell: Emit[int]) -> None:
        try:
            await tell(1)
        except LookupError:
            await tell(2)

    events = event_stream(work)
    assert await anext(events) == 1
    assert await events.athrow(LookupError()) == 2
    assert [event async for event in events] == []


async def test_a_cancellation_ends_what_the_work_waits_for() -> None:
    ended: list[str] = []

    async def work(tell: Emit[int]) -> None:
        await tell(1)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("wait")
            raise

    events = event_stream(work)
    assert await anext(events) == 1
    task = asyncio.ensure_future(anext(events))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["wait"]


async def test_a_timeout_within_the_work_is_its_own() -> None:
    async def work(tell: Emit[str]) -> None:
        await tell("before")
        try:
            async with asyncio.timeout(0.01):
                await asyncio.sleep(60)
        except TimeoutError:
            await tell("late")

    assert [event async for event in event_stream(work)] == ["before", "late"]


async def test_events_that_are_dropped_unread_leave_nothing_behind() -> None:
    events = event_stream(counting)
    await anext(events)
    del events
    gc.collect()
    await asyncio.sleep(0)
    unread = event_stream(counting)
    await unread.aclose()  # never begun: no coroutine was made that nobody awaits


async def test_who_reads_may_change_from_task_to_task() -> None:
    variable = contextvars.ContextVar("variable", default=0)
    seen: list[int] = []

    async def work(tell: Emit[int]) -> None:
        for number in range(2):
            await tell(number)
            seen.append(variable.get())

    async def read(value: int) -> int | None:
        variable.set(value)
        return await anext(events, None)

    events = event_stream(work)
    assert [await asyncio.create_task(read(value)) for value in (1, 2, 3)] == [0, 1, None]
    assert seen == [2, 3]
