"""The synchronous methods: one background loop for the process."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from llmcore.orchestrator import Orchestrator
from llmcore.run.background import BackgroundLoop
from llmcore.testing import FakeModel
from llmcore.types import AuthenticationFailed
from tests.orchestrator.support import add

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


def test_from_the_loop_itself_it_is_an_error_instead_of_a_deadlock() -> None:
    inner = Orchestrator(FakeModel("x"))

    async def nested(_: object) -> str:
        return inner.run_sync("x").content

    with pytest.raises(Exception, match=r"await run\(\.\.\.\)"):
        Orchestrator(FakeModel(nested), strategies=()).run_sync("x")


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


@pytest.mark.slow
def test_a_program_ends_without_warnings() -> None:
    program = (
        "from llmcore.orchestrator import Orchestrator\nfrom llmcore.testing import FakeModel\n"
        "print(Orchestrator(FakeModel('fine')).run_sync('x').content)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout.strip(), done.stderr, done.returncode) == ("fine", "", 0)
