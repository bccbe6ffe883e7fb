"""Foreign code that is waited for only so long, and left behind when it ignores its cancellation."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import gc
import signal
import sys
import time
import warnings
from collections.abc import Awaitable
from typing import Any

import anyio
import pytest

from llmcore.support.code.threads import Raised
from llmcore.tools.execution.abandonment import AbandonableTask, Abandoned, WaitScope, await_foreign

pytestmark = pytest.mark.anyio
variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")


class Stubborn:
    """Ignores its cancellation until it is released; then it ends with `error`, or a late value."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.release = asyncio.Event()
        self.ended = asyncio.Event()
        self._error = error

    async def __call__(self) -> str:
        while not self.release.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await self.release.wait()
        self.ended.set()
        if self._error is not None:
            raise self._error
        return "late"


async def test_what_ends_in_time_gives_its_value_or_raises_its_error() -> None:
    async def good() -> str:
        return "value"

    async def bad() -> str:
        raise KeyError("bad")

    assert await await_foreign(good(), 10) == "value"
    assert await await_foreign(good(), None) == "value"
    with pytest.raises(KeyError):
        await await_foreign(bad(), 10)


async def test_awaitables_that_are_no_coroutines_are_awaited() -> None:
    future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(future.set_result, "from a future")
    assert await await_foreign(future, 10) == "from a future"


@pytest.mark.parametrize("error", [None, ValueError("late"), SystemExit(1)])
async def test_code_that_ignores_its_cancellation_is_left_behind_without_a_word(
    error: BaseException | None, caplog: pytest.LogCaptureFixture
) -> None:
    stubborn = Stubborn(error)
    errand = AbandonableTask(stubborn())
    started = time.perf_counter()
    with pytest.raises(Abandoned):
        await errand.wait(0.01)
    assert time.perf_counter() - started < 30
    assert errand.is_running
    stubborn.release.set()
    await stubborn.ended.wait()
    await asyncio.sleep(0)
    assert not errand.is_running
    assert not caplog.records


async def test_code_that_obeys_is_waited_for() -> None:
    cleaned: list[bool] = []

    async def obedient() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            cleaned.append(True)

    with pytest.raises(Abandoned):
        await await_foreign(obedient(), 0.01)
    assert cleaned == [True]


async def test_a_second_cancellation_leaves_it_the_moment_it_has() -> None:
    stopped, cleaned = asyncio.Event(), list[bool]()

    async def obedient() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            stopped.set()
            await asyncio.sleep(0.02)
            cleaned.append(True)

    caller = asyncio.create_task(await_foreign(obedient(), None))
    await asyncio.sleep(0.01)
    caller.cancel("first")
    await stopped.wait()
    caller.cancel("second")
    with pytest.raises(asyncio.CancelledError, match="second"):
        await caller
    assert cleaned == [True]


@pytest.mark.parametrize("seconds", [0.02, None])
async def test_who_waits_further_out_lets_those_within_end(seconds: float | None) -> None:
    """All of them are told at the same moment, by their time or by a cancellation, and the innermost code ignores it."""
    stubborn, ended = Stubborn(), list[int]()

    async def deep(depth: int) -> None:
        await await_foreign(asyncio.sleep(0), 10)  # what has ended before is none of those that are within
        try:
            await await_foreign(stubborn() if depth == 0 else deep(depth - 1), seconds)
        finally:
            await asyncio.sleep(0.03)
            ended.append(depth)

    started = time.perf_counter()
    caller = asyncio.create_task(await_foreign(deep(6), seconds))
    if seconds is None:
        await asyncio.sleep(0.02)
        caller.cancel()
    await asyncio.gather(caller, return_exceptions=True)
    so_far, took = [*ended], time.perf_counter() - started
    stubborn.release.set()
    await stubborn.ended.wait()
    assert so_far == [0, 1, 2, 3, 4, 5, 6]
    assert took < 30


async def test_code_that_waits_for_more_and_more_in_place_of_ending_is_left_behind() -> None:
    release = asyncio.Event()

    async def slow_to_end() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)

    async def restless() -> None:
        while not release.is_set():
            with contextlib.suppress(asyncio.CancelledError, Abandoned):
                await await_foreign(slow_to_end(), 0.01)

    asyncio.get_running_loop().call_later(30, release.set)
    errand = AbandonableTask(restless())
    with pytest.raises(Abandoned):
        await errand.wait(0.01)
    assert errand.is_running
    assert not release.is_set()
    release.set()
    while errand.is_running:
        await asyncio.sleep(0.01)


async def test_what_blocks_the_loop_takes_no_time_from_what_ends() -> None:
    cleaned: list[bool] = []

    async def obedient() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            for _ in range(4):
                await asyncio.sleep(0)
            cleaned.append(True)

    async def block() -> None:
        for _ in range(6):
            time.sleep(0.11)
            await asyncio.sleep(0)

    blocking = asyncio.create_task(block())
    with pytest.raises(Abandoned):
        await await_foreign(obedient(), 0.01)
    cleaned_in_time = [*cleaned]
    await blocking
    assert cleaned_in_time == [True]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="asyncio has no eager tasks")
async def test_an_eager_task_is_waited_for_like_any_other() -> None:
    async def good(wait: Awaitable[object] | None = None) -> str:
        if wait is not None:
            await wait
        return "value"

    loop = asyncio.get_running_loop()
    before, stubborn = loop.get_task_factory(), Stubborn()
    loop.set_task_factory(vars(asyncio)["eager_task_factory"])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert await await_foreign(good(), 10) == "value"
            assert await await_foreign(good(asyncio.sleep(0.01)), 10) == "value"
            with pytest.raises(Abandoned):
                await await_foreign(stubborn(), 0.01)
    finally:
        loop.set_task_factory(before)
    stubborn.release.set()
    await stubborn.ended.wait()


async def test_a_late_value_never_counts() -> None:
    async def late() -> str:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        return "late"

    with pytest.raises(Abandoned):
        await await_foreign(late(), 0.01)


@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt(), GeneratorExit(), asyncio.CancelledError()])
async def test_errors_that_would_end_the_loop_or_the_caller_are_values(error: BaseException) -> None:
    async def raising() -> None:
        raise error

    settled: Any = await AbandonableTask(raising()).wait(10)
    assert isinstance(settled, Raised)
    assert settled.error is error


async def test_a_cancellation_of_its_own_is_no_cancellation_of_the_caller() -> None:
    async def cancels_itself() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(60)

    with pytest.raises(RuntimeError, match="cancelled by its own code"):
        await await_foreign(cancels_itself(), 10)


async def test_a_cancellation_of_the_caller_passes_and_leaves_the_code_behind() -> None:
    stubborn = Stubborn()
    caller = asyncio.create_task(await_foreign(stubborn(), None))
    await asyncio.sleep(0.01)
    caller.cancel()
    started = time.perf_counter()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert time.perf_counter() - started < 30
    stubborn.release.set()
    await stubborn.ended.wait()


async def test_a_cancel_scope_that_cancels_over_and_over_is_obeyed() -> None:
    stubborn = Stubborn()
    started = time.perf_counter()
    with anyio.move_on_after(0.01) as scope:
        await await_foreign(stubborn(), None)
    assert scope.cancelled_caught
    assert time.perf_counter() - started < 30
    stubborn.release.set()
    await stubborn.ended.wait()


async def test_many_are_left_behind_in_the_time_of_one() -> None:
    stubborn = [Stubborn() for _ in range(20)]
    tasks = [asyncio.create_task(each()) for each in stubborn]
    await asyncio.sleep(0)
    started = time.perf_counter()
    await WaitScope().cancel(*tasks)
    assert time.perf_counter() - started < 30
    for each in stubborn:
        each.release.set()
    assert await asyncio.gather(*tasks) == ["late"] * 20


async def test_what_a_task_raises_when_it_is_left_is_dropped(caplog: pytest.LogCaptureFixture) -> None:
    async def raises_instead() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            raise ValueError("late")

    task = asyncio.create_task(raises_instead())
    await asyncio.sleep(0)
    await WaitScope().cancel(task)
    del task
    gc.collect()
    assert not caplog.records  # asyncio logs what nobody asked for


async def test_context_variables_that_it_sets_hold_for_the_caller() -> None:
    async def sets() -> None:
        variable.set("inside")

    await await_foreign(sets(), 10)
    assert variable.get() == "inside"


def test_a_real_ctrl_c_gets_out_of_the_loop() -> None:
    async def interrupted() -> None:
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(60)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    loop = asyncio.new_event_loop()
    try:
        with pytest.raises(KeyboardInterrupt):
            loop.run_until_complete(await_foreign(interrupted(), None))
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.run_until_complete(asyncio.sleep(0))
    finally:
        loop.close()
        signal.signal(signal.SIGINT, before)


async def test_who_waits_for_what_was_cancelled_before_it_began_is_woken() -> None:
    async def never_begun() -> str:
        raise AssertionError("it began")

    before = asyncio.all_tasks()
    errand = AbandonableTask(never_begun())
    [task] = asyncio.all_tasks() - before
    task.cancel()
    ended = await asyncio.wait_for(errand.wait(None), 5)
    assert isinstance(ended, Raised)
    assert isinstance(ended.error, asyncio.CancelledError)


async def test_what_ends_wakes_who_waits_in_the_next_turn_of_the_loop() -> None:
    turns = 0

    async def counting() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def at_once() -> str:
        return "value"

    counter = asyncio.create_task(counting())
    await asyncio.sleep(0)
    before = turns
    assert await AbandonableTask(at_once()).wait(10) == "value"
    assert turns - before <= 2
    counter.cancel()


async def test_who_waits_may_be_closed_half_way() -> None:
    """Where a coroutine is closed, nothing can be awaited any more."""
    ended: list[str] = []

    async def hang() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("it")

    waiting = AbandonableTask(hang()).wait(None)
    waiting.send(None)
    await asyncio.sleep(0)
    waiting.close()
    assert ended == []
    await asyncio.sleep(0)
    assert ended == ["it"]
