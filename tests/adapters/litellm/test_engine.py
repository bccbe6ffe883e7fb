"""How LiteLLM is imported: late, once, and without reaching for the network or the user's files."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from llmcore.adapters.litellm import engine
from llmcore.orchestrator import Orchestrator
from llmcore.types import ConfigError
from tests.packaging.tree import ROOT

_WATCHED = """
import asyncio, json, os, socket, sys
looked_up = []
original = socket.getaddrinfo
def watched(host, *args, **kwargs):
    looked_up.append(str(host))
    if str(host) not in ("127.0.0.1", "localhost", "::1"):
        raise OSError("no network in tests")
    return original(host, *args, **kwargs)
socket.getaddrinfo = watched
import llmcore.adapters, llmcore.adapters.litellm.adapter as module
assert "litellm" not in sys.modules and "openai" not in sys.modules, "imported too early"
from tests.adapters.conftest import call_of, endpoint_at
from tests.helpers.wire_server import WireServer
ticks = 0
async def tick():
    global ticks
    while True:
        ticks += 1
        await asyncio.sleep(0.01)
async def main():
    adapter = module.LiteLLMAdapter()
    with WireServer(["Hi"]) as server:
        ticking = asyncio.create_task(tick())
        for provider in ("openai", "anthropic", "gemini"):
            call = call_of(endpoint_at(server, provider))
            await adapter.complete(call)
            await adapter.complete(call.model_copy(update={"mode": "json_schema"}))
        ticking.cancel()
    await adapter.close()
asyncio.run(main())
print(json.dumps({"looked_up": looked_up, "ticks": ticks, "env": os.environ.get("FROM_DOTENV"), "out": ""}))
"""


def test_import_and_calls_look_nothing_up(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("FROM_DOTENV=1\n")
    done = subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-c", _WATCHED],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.strip().splitlines()
    assert len(lines) == 1, "LiteLLM wrote to stdout"
    seen = json.loads(lines[0])
    assert set(seen["looked_up"]) <= {"127.0.0.1"}
    assert seen["ticks"] > 20, "the event loop stood still while litellm was imported"
    assert seen["env"] is None, "the user's .env was loaded"


def test_a_missing_litellm_is_a_configuration_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_loaded", None)
    monkeypatch.setitem(sys.modules, "litellm", None)
    with pytest.raises(ConfigError, match=r"litellm==1\.105\.3"):
        engine.litellm_now()


@pytest.mark.anyio
async def test_a_wait_that_is_cut_short_while_litellm_is_imported_names_the_import(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, over = threading.Event(), threading.Event()

    def imported() -> None:
        begun.set()
        over.wait(60)

    monkeypatch.setattr(engine, "_loaded", None)
    monkeypatch.setattr(engine, "litellm_now", imported)
    model = {"provider": "openai_compatible", "model": "m", "base_url": "http://127.0.0.1:9/v1", "api_key": "k"}
    run = asyncio.create_task(Orchestrator({"models": {"m": model}}).run("Hello?", deadline=0.2))
    while not begun.is_set() and not run.done():
        await asyncio.sleep(0.001)
    run.cancel()
    with pytest.raises(
        asyncio.CancelledError, match=r"nothing was sent, LiteLLM was being imported: await llmcore\.warm_up"
    ) as told:
        await run
    over.set()
    assert told.value.partial.attempts[0].n == 1  # type: ignore[attr-defined]


@pytest.mark.sweep
def test_a_first_run_beside_a_busy_process_keeps_a_deadline_of_five_seconds(tmp_path: Path) -> None:
    program = """
import asyncio
from tests.helpers.wire_server import WireServer
import llmcore
with WireServer(["Hello."]) as server:
    model = {"provider": "openai_compatible", "model": "m", "base_url": server.base_url("openai"), "api_key": "k"}
    print(asyncio.run(llmcore.Orchestrator({"models": {"m": model}}).run("Hello?", deadline=5)).content)
"""
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env={"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        busy.kill()
        busy.wait()
    assert (done.stdout, done.returncode) == ("Hello.\n", 0), done.stderr


def test_a_loop_that_was_only_closed_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[asyncio.AbstractEventLoop] = []

    async def close() -> None:
        closed.append(asyncio.get_running_loop())

    monkeypatch.setattr(engine, "close_clients", close)
    loop = asyncio.new_event_loop()
    loop.run_until_complete(engine.litellm())
    loop.close()

    async def twice() -> asyncio.AbstractEventLoop:
        await engine.litellm()
        await engine.litellm()
        return asyncio.get_running_loop()

    assert closed == [asyncio.run(twice())]
    assert loop not in engine._loop_ends  # pyright: ignore[reportPrivateUsage]  # nothing public tells it
