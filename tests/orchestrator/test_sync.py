"""The synchronous methods: one background loop for the process."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from llmcore import background
from llmcore.agent import Agent
from llmcore.background import BackgroundLoop, shared_loop
from llmcore.orchestrator import Orchestrator
from llmcore.run.results.result import RunResult
from llmcore.testing import FakeModel
from llmcore.testing.replies import tool_call_body
from llmcore.tools import tool
from llmcore.types import AuthenticationFailed, CallerError, InternalError
from tests.run.support import add, assert_valid

ROOT = Path(__file__).resolve().parents[2]
user: contextvars.ContextVar[str] = contextvars.ContextVar("user", default="nobody")


def who(_: object) -> str:
    return user.get()


def test_run_and_execute_without_a_loop() -> None:
    fake = FakeModel().tool_call("add", {"a": 1, "b": 2}).text("3")
    assert Orchestrator(fake, [add]).run_sync("go").content == "3"
    assert Orchestrator(FakeModel("[1, 2]")).execute_sync("go", list[int]) == [1, 2]


def test_all_calls_share_one_loop_also_from_several_threads() -> None:
    seen: set[tuple[int, int]] = set()

    async def look(_: object) -> str:
        seen.add((id(asyncio.get_running_loop()), threading.get_ident()))
        return "ok"

    orchestrator = Orchestrator(FakeModel(default=look))
    with ThreadPoolExecutor(4) as pool:
        assert [result.content for result in pool.map(orchestrator.run_sync, ["x"] * 8)] == ["ok"] * 8
    assert len(seen) == 1
    assert threading.get_ident() not in {thread for _, thread in seen}


def test_errors_and_context_variables_pass_through() -> None:
    with pytest.raises(AuthenticationFailed, match="bad key"):
        Orchestrator(FakeModel(AuthenticationFailed("bad key"))).run_sync("x")
    token = user.set("ann")
    try:
        assert Orchestrator(FakeModel(who)).run_sync("x").content == "ann"
    finally:
        user.reset(token)


def cancelling(loops: list[asyncio.AbstractEventLoop], *, itself: bool, threaded: bool) -> Callable[[], Any]:
    """A tool that cancels all tasks of the loop that its run is on."""

    async def on_the_loop() -> str:
        for task in asyncio.all_tasks() - ({asyncio.current_task()} if not itself else set()):
            task.cancel()
        return "done"

    def in_a_thread() -> str:
        cancelled = threading.Event()

        def cancel() -> None:
            for task in asyncio.all_tasks(loops[0]):
                task.cancel()
            cancelled.set()

        loops[0].call_soon_threadsafe(cancel)
        cancelled.wait(5)
        return "done"

    return in_a_thread if threaded else on_the_loop


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("calls", [1, 2])
@pytest.mark.parametrize(("itself", "threaded"), [(False, False), (True, False), (True, True)])
def test_an_unrequested_cancellation_is_an_internal_error(itself: bool, threaded: bool, calls: int) -> None:
    loops: list[asyncio.AbstractEventLoop] = []

    async def ask(_: object) -> dict[str, Any]:
        loops.append(asyncio.get_running_loop())
        made: list[tuple[str, Any]] = [("all_off", {})] * calls
        return tool_call_body(made, None, 0)

    all_off = tool(name="all_off")(cancelling(loops, itself=itself, threaded=threaded))
    with pytest.raises(InternalError, match="cancelled by other code") as caught:
        Orchestrator(FakeModel(ask, "done"), [all_off]).run_sync("go")
    assert [record.name for record in caught.value.partial.tool_results] == ["all_off"] * calls
    assert len(caught.value.attempts) == 1
    assert_valid(caught.value.partial.messages)
    assert Orchestrator(FakeModel("alive")).run_sync("x").content == "alive"


def test_where_no_loop_runs_what_is_async_says_so() -> None:
    orchestrator = Orchestrator(FakeModel(default="x"))
    awaitables: list[Any] = [
        orchestrator.run("x"),
        orchestrator.execute("x", int),
        orchestrator.stream("x").__anext__(),
        orchestrator.iterate("x").__anext__(),
    ]
    for driven in awaitables:
        with pytest.raises(CallerError, match=r"a run needs an asyncio event loop.*run_sync"):
            driven.send(None)


def test_where_a_loop_runs_it_is_an_error_that_says_what_to_write() -> None:
    inner = Orchestrator(FakeModel(default="x"))

    async def in_a_loop() -> None:
        with pytest.raises(CallerError, match=r"run_sync would block the event loop.*await run\(\.\.\.\)"):
            inner.run_sync("x")
        with pytest.raises(CallerError, match=r"await execute\(\.\.\.\)"):
            inner.execute_sync("x", int)

    asyncio.run(in_a_loop())

    async def nested(_: object) -> str:
        await in_a_loop()
        return "told"

    assert Orchestrator(FakeModel(nested)).run_sync("x").content == "told"  # on llmcore's own loop it is the same


def test_tools_may_use_it_however_deep_and_many() -> None:
    def ask(depth: int) -> str:
        if not depth:
            return "bottom"
        fake = FakeModel().tool_calls(*[("ask", {"depth": depth - 1})] * 3).text(f"from {depth}")
        return Orchestrator(fake, [ask]).run_sync("x").content

    fake = FakeModel().tool_calls(*[("ask", {"depth": 2})] * 8).text("done")
    result = Orchestrator(fake, [ask]).run_sync("x", deadline=30)
    assert [block.text for block in result.messages[2].tool_results] == ["from 2"] * 8


@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt(), GeneratorExit()], ids=lambda error: type(error).__name__)
def test_nothing_that_runs_on_the_loop_ends_it(error: BaseException) -> None:
    background = BackgroundLoop()

    async def in_a_task_of_its_own() -> str:
        async def raising() -> None:
            raise error

        task = asyncio.create_task(raising())
        await asyncio.wait([task])
        with contextlib.suppress(BaseException):
            task.result()
        return "went on"

    async def itself() -> None:
        raise error

    async def stops_it() -> str:
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0.001)
        return "went on"

    async def shuts_its_executor_down() -> str:
        await asyncio.get_running_loop().shutdown_default_executor()
        return "went on"

    def use_it() -> None:
        assert background.run(in_a_task_of_its_own()) == "went on"
        assert background.run(shuts_its_executor_down()) == "went on"
        assert background.run(asyncio.to_thread(str)) == ""
        assert background.run(stops_it()) == "went on"
        with pytest.raises(type(error)):
            background.run(itself())
        used.append(background.run(asyncio.sleep(0, "still there")))

    used: list[str] = []
    user_of_it = threading.Thread(target=use_it, daemon=True)
    user_of_it.start()
    user_of_it.join(10)  # on a dead loop it would wait for ever
    assert used == ["still there"]
    background.close()


def broken_factory(loop: Any, coroutine: Any, **_: Any) -> Any:
    coroutine.close()
    raise RuntimeError("no task")


def no_factory(loop: Any, coroutine: Any, **_: Any) -> Any:
    coroutine.close()


def exiting(loop: Any, context: Any) -> None:
    raise SystemExit("handled")


def set_dead_executor(loop: asyncio.AbstractEventLoop) -> None:
    with ThreadPoolExecutor(1) as pool:
        loop.set_default_executor(pool)


def set_handler(loop: asyncio.AbstractEventLoop) -> None:
    loop.set_exception_handler(exiting)
    loop.call_soon(lambda: 1 / 0)


CHANGES: dict[str, Callable[[asyncio.AbstractEventLoop], Any]] = {
    "set_task_factory": lambda loop: loop.set_task_factory(broken_factory),
    "set_task_factory, of nothing": lambda loop: loop.set_task_factory(no_factory),
    "set_default_executor": set_dead_executor,
    "set_exception_handler": set_handler,
    "set_debug": lambda loop: loop.set_debug(True),
    "shutdown_default_executor": lambda loop: loop.shutdown_default_executor(),
    "shutdown_asyncgens": lambda loop: loop.shutdown_asyncgens(),
}


async def items() -> AsyncGenerator[int, None]:
    yield 1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", CHANGES)
def test_what_a_tool_sets_on_the_loop_changes_nothing_for_others(
    name: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    async def change() -> str:
        made = CHANGES[name](asyncio.get_running_loop())
        if made is not None:
            await made
        return "changed"

    async def use() -> str:
        loop = asyncio.get_running_loop()
        async with contextlib.aclosing(items()) as numbers:
            assert [number async for number in numbers] == [1]
        assert await loop.getaddrinfo("localhost", 80)
        assert await asyncio.create_task(asyncio.to_thread(lambda: "a thread")) == "a thread"
        return str(loop.get_debug())

    def runs() -> None:
        fake = FakeModel().tool_call("change", {}).tool_call("use", {}).text("one")
        ended.append(Orchestrator(fake, [change, use]).run_sync("go"))
        ended.append(Orchestrator(FakeModel().tool_call("use", {}).text("two"), [use]).run_sync("go"))

    ended: list[RunResult] = []
    runner = threading.Thread(target=runs, daemon=True)
    runner.start()
    runner.join(10)  # on a broken loop it would wait for ever
    assert [result.content for result in ended] == ["one", "two"]
    assert [record.value for result in ended for record in result.tool_results] == ["changed", "False", "False"]
    assert f"`{name.split(',')[0]}` changes nothing on the event loop" in caplog.text
    assert "generator" not in capfd.readouterr().err


@pytest.mark.parametrize("factory", [broken_factory, no_factory])
def test_a_call_that_cannot_be_started_ends(factory: Any) -> None:
    background = BackgroundLoop()
    loop = background.run(_running_loop())
    vars(loop)["_task_factory"] = factory  # past what stands in its way
    raised: list[BaseException] = []

    def call() -> None:
        try:
            background.run(asyncio.sleep(0))
        except BaseException as error:
            raised.append(error)

    caller = threading.Thread(target=call, daemon=True)
    caller.start()
    caller.join(10)
    assert [type(error) for error in raised] == [RuntimeError if factory is broken_factory else AttributeError]
    vars(loop)["_task_factory"] = None
    background.close()


async def _running_loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


def test_a_loop_that_takes_no_more_calls_is_replaced() -> None:
    orchestrator = Orchestrator(FakeModel(default="x"))
    assert orchestrator.run_sync("x").content == "x"
    closed = shared_loop()
    closed.close()
    assert not closed.is_alive
    assert orchestrator.run_sync("x").content == "x"
    assert shared_loop() is not closed


def test_an_interruption_stops_the_run_and_carries_the_partial_result() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that runs the tests aside ignores it
    try:
        _interrupted()
    finally:
        signal.signal(signal.SIGINT, before)


def _interrupted() -> None:
    cancelled = threading.Event()

    async def slow() -> None:
        threading.Timer(0.01, os.kill, [os.getpid(), signal.SIGINT]).start()
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()

    fake = FakeModel().tool_call("slow")
    with pytest.raises(KeyboardInterrupt) as caught:
        Orchestrator(fake, [slow]).run_sync("go")
    assert cancelled.is_set()
    partial: RunResult = getattr(caught.value, "partial")  # noqa: B009  (the class itself has none)
    assert_valid(partial.messages)
    assert partial.messages[2].tool_results[0].text == "slow was stopped before it finished."
    assert len(getattr(caught.value, "attempts")) == 1  # noqa: B009  (the class itself has none)


_ENDED: dict[str, Callable[[Orchestrator], Any]] = {
    "run": lambda orchestrator: orchestrator.run_sync("go"),
    "execute": lambda orchestrator: orchestrator.execute_sync("go", int),
    "stream": lambda orchestrator: list(orchestrator.stream_sync("go")),
    "chat": lambda orchestrator: Agent(orchestrator).chat_sync("go"),
}


@pytest.mark.parametrize("how", _ENDED)
def test_an_interruption_when_the_run_has_just_ended_carries_the_result(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def pay() -> str:
        return "paid"

    def interrupted(call: Any, *_: object) -> Any:
        raise KeyboardInterrupt

    waiting: Any = vars(background)["_Call"]
    wait = waiting.wait

    def wait_and_be_interrupted(call: Any) -> None:
        wait(call)
        raise KeyboardInterrupt

    monkeypatch.setattr(waiting, "wait", wait_and_be_interrupted)
    monkeypatch.setattr(background.BackgroundLoop, "_outcome", interrupted)
    orchestrator = Orchestrator(FakeModel().tool_call("pay").text("5"), [pay])
    with pytest.raises(KeyboardInterrupt) as caught:
        _ENDED[how](orchestrator)
    partial: RunResult = getattr(caught.value, "partial")  # noqa: B009  (the class itself has none)
    assert [record.value for record in partial.tool_results] == ["paid"]
    assert partial.content == "5"
    assert len(getattr(caught.value, "attempts")) == 2  # noqa: B009  (the class itself has none)


def test_closing_cancels_what_still_runs() -> None:
    background = BackgroundLoop()
    ended = threading.Event()

    async def forever() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    async def start() -> None:
        running.append(asyncio.ensure_future(forever()))
        await asyncio.sleep(0)

    running: list[asyncio.Future[None]] = []
    background.run(start())
    background.close()
    assert ended.is_set()
    background.close()


def test_async_tools_that_block_threads_leave_the_loops_executor_to_others() -> None:
    async def blocks() -> str:
        await asyncio.to_thread(everyone_is_here.wait, 20)
        return "released"

    async def looks_up(_: object) -> str:
        found = await asyncio.get_running_loop().getaddrinfo("127.0.0.1", 80)  # in the default executor, as LiteLLM's own
        return "looked up" if found else "nothing"

    everyone_is_here = threading.Barrier(65)
    calls: list[tuple[str, dict[str, Any]]] = [("blocks", {})] * 64
    busy = Orchestrator(FakeModel().tool_calls(*calls).text("done"), [blocks], max_parallel_tools=64)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(busy.run_sync, "go")
        assert Orchestrator(FakeModel(looks_up)).run_sync("x", deadline=15).content == "looked up"
        everyone_is_here.wait(20)  # with the usual executor of some 6 to 32 threads they never come together
        assert [record.content for record in running.result().tool_results] == ["released"] * 64


# Whole programs: how they end, and what forked children do

PRELUDE = """
import asyncio, contextlib, os, sys, threading, time
from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel

def add(a: int, b: int) -> int:
    return a + b

def calling(function):
    return Orchestrator(FakeModel().tool_call(function.__name__, {"a": 1, "b": 2}).text("fine"), [function])

def blocks(a: int, b: int):
    time.sleep(1000)

async def sleeps(a: int, b: int):
    await asyncio.sleep(1000)

async def sleeps_in_a_thread(a: int, b: int):
    await asyncio.to_thread(time.sleep, 1000)

async def ignores(a: int, b: int):
    while True:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(1000)

async def leaves_a_task(a: int, b: int):
    asyncio.create_task(ignores(a, b))
    return "left"

async def holds_the_loop(a: int, b: int):
    time.sleep(1000)

def begin(function):
    threading.Thread(target=lambda: calling(function).run_sync("x"), daemon=True).start()
    time.sleep(0.1)

print(calling(add).run_sync("x").content)
"""
FORK = """
begin(blocks)
begin(sleeps)
child = os.fork()
if not child:
    print(calling(add).run_sync("x", deadline=5).content, flush=True)
    sys.exit()
os.waitpid(child, 0)
print(calling(add).run_sync("x").content)
"""
FORK_ON_THE_LOOP = """
async def forks(a: int, b: int):
    child = os.fork()
    if not child:
        print(calling(add).run_sync("x", deadline=5).content, flush=True)
        os._exit(0)
    os.waitpid(child, 0)

print(calling(forks).run_sync("x").content)
"""
POOL = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

def work(n):
    return calling(add).run_sync("x", deadline=5).content

with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
    print(*pool.map(work, range(2)), sep="\\n")
"""
PROGRAMS = {
    "nothing runs": "",
    "a thread sleeps": "begin(blocks)",
    "a task sleeps": "begin(sleeps)",
    "a task ignores its cancellation": "begin(ignores)",
    "a tool left a task that does": "begin(leaves_a_task)",
    "the loop itself is held up": "begin(holds_the_loop)",
    "a timed-out thread under asyncio.run": "asyncio.run(calling(blocks).run('x', tool_timeout=0.1))",
    "a fork": FORK,
    "a fork on the loop itself": FORK_ON_THE_LOOP,
    "a process pool": POOL,
    "a thread of an async tool sleeps": "begin(sleeps_in_a_thread)",
}


@pytest.mark.sweep
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_ends_soon_and_without_a_word(name: str) -> None:
    if "fork" in PROGRAMS[name] and sys.platform == "win32":
        pytest.skip("no fork here")
    forks = ["-W", "ignore:.*multi-threaded.*fork:DeprecationWarning"]  # what Python 3.12 says of any fork beside threads
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", *forks, "-c", PRELUDE + PROGRAMS[name]],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
    )
    words = done.stdout.split()
    assert (set(words), len(words), done.returncode) == ({"fine"}, 3 if "fork" in PROGRAMS[name] else 1, 0), done.stderr
    assert [line for line in done.stderr.splitlines() if not line.startswith("Executing <")] == []  # a slow machine's loop
