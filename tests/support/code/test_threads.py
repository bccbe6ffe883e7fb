"""The threads of sync tools."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from llmcore.support.code import threads
from llmcore.support.code.threads import Raised, ThreadCall, UnboundedExecutor

pytestmark = pytest.mark.anyio


async def test_any_number_of_blocked_calls_leaves_a_thread_for_the_next() -> None:
    everyone_is_here = threading.Barrier(65)
    calls = [ThreadCall(everyone_is_here.wait) for _ in range(64)]
    await asyncio.wait_for(ThreadCall(everyone_is_here.wait).result(), 30)  # a bound of 64 threads would hang here
    await asyncio.gather(*(call.result() for call in calls))


async def test_asyncios_own_pool_stays_free() -> None:
    release = threading.Event()
    asyncio.get_running_loop().set_default_executor(pool := ThreadPoolExecutor(1))
    call = ThreadCall(lambda: release.wait(30))
    assert await asyncio.to_thread(lambda: "free") == "free"
    assert call.is_running
    release.set()
    assert await call.result()
    pool.shutdown()


async def test_idle_threads_are_used_again_and_are_daemons() -> None:
    used: set[threading.Thread] = set()
    for _ in range(20):
        used.add(await ThreadCall(threading.current_thread).result())
    assert len(used) == 1
    assert all(thread.daemon for thread in used)


async def test_an_idle_thread_ends_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "IDLE_SECONDS", 0.01)
    monkeypatch.setattr(threads, "idle", deque[Any]())  # others' threads wait in theirs
    thread: threading.Thread = await ThreadCall(threading.current_thread).result()
    await asyncio.get_running_loop().run_in_executor(None, thread.join, 10)
    assert not thread.is_alive()
    assert not threads.idle
    assert await ThreadCall(lambda: "another").result() == "another"
    while threads.idle:  # while it stands in this one
        await asyncio.sleep(0.001)


@pytest.mark.parametrize(
    "error", [StopIteration(1), SystemExit(1), KeyboardInterrupt(), GeneratorExit(), asyncio.CancelledError()]
)
async def test_whatever_is_raised_comes_back_and_the_thread_goes_on(error: BaseException) -> None:
    def raising() -> None:
        raise error

    with pytest.raises(Raised) as caught:
        await asyncio.wait_for(ThreadCall(raising).result(), 10)
    assert caught.value.error is error
    assert await ThreadCall(lambda: 1).result() == 1


async def test_a_late_coroutine_nobody_waits_for_is_closed(recwarn: pytest.WarningsRecorder) -> None:
    release = threading.Event()

    async def never_awaited() -> None: ...

    def late() -> Any:
        release.wait(10)
        return never_awaited()

    call = ThreadCall(late)
    waiting = asyncio.create_task(call.result())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    release.set()
    while call.is_running:
        await asyncio.sleep(0.001)
    await asyncio.sleep(0.01)
    assert not recwarn.list


def test_a_loop_that_ended_meanwhile_is_no_error(capfd: pytest.CaptureFixture[str]) -> None:
    release = threading.Event()
    calls: list[ThreadCall] = []

    async def begin(function: Callable[[], Any]) -> None:
        calls.append(ThreadCall(function))

    asyncio.run(begin(lambda: release.wait(10)))
    release.set()
    assert asyncio.run(_value_of(lambda: "next")) == "next"
    assert capfd.readouterr().err == ""


async def _value_of(function: Callable[[], Any]) -> Any:
    return await ThreadCall(function).result()


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit(1)], ids=lambda error: type(error).__name__)
def test_an_executor_gives_what_the_function_gives_and_no_work_waits(error: BaseException) -> None:
    executor, everyone_is_here = UnboundedExecutor(1), threading.Barrier(33)
    futures = [executor.submit(everyone_is_here.wait, timeout=20) for _ in range(32)]
    everyone_is_here.wait(20)
    assert sorted(future.result() for future in futures)

    def raising() -> None:
        raise error

    assert executor.submit(raising).exception(20) is error
    assert executor.submit(lambda: "next").result(20) == "next"
    executor.shutdown()
