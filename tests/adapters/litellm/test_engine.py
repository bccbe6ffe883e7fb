"""How LiteLLM is imported: late, once, and without reaching for the network or the user's files."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import pytest

from llmcore.adapters.litellm import engine
from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.normalizer import normalize
from llmcore.orchestrator import Orchestrator
from llmcore.types import ConfigError
from tests.adapters.conftest import WEATHER, call_of, endpoint_at
from tests.packaging.tree import ROOT
from tests.support.wire_server import Raw, WireServer
from tests.support.wires import Turn

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
from tests.support.wire_server import WireServer
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


@pytest.mark.anyio
@pytest.mark.parametrize("tools", [True, False])
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_no_server_is_asked_what_its_model_is(streamed: bool, tools: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the end of a stream LiteLLM would ask Ollama, wherever it stands: nothing else answers meanwhile."""
    module = engine.litellm_now()
    asked: list[str] = []

    def post(*_: Any, url: str, **__: Any) -> None:
        asked.append(url)
        raise OSError(url)

    monkeypatch.setattr(module.module_level_client, "post", post)
    adapter = LiteLLMAdapter()
    with WireServer([Turn("Hello.")]) as server:
        endpoint = endpoint_at(server, "ollama", "a-model-that-is-in-no-table")
        call = call_of(endpoint, streamed=streamed, tools=(WEATHER,) if tools else ())
        if streamed:
            events = [event async for event in adapter.stream(call)]
            assert events[-1] != events[0]
        else:
            await adapter.complete(call)
    await adapter.close()
    assert asked == []
    assert server.looked_up == []


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
from tests.support.wire_server import WireServer
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


SAID = [{"type": "text", "text": "Hello."}]
ODD: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"content": SAID}, {}),
    ({"content": "Hello.", "refusal": SAID, "function_call": SAID, "annotations": "said"}, {}),
    ({"content": "Hello."}, {"id": SAID, "model": SAID, "system_fingerprint": SAID, "created": SAID}),
]


@pytest.mark.anyio
@pytest.mark.parametrize("provider", ["openai", "openai_compatible"])
@pytest.mark.parametrize(("message", "top"), ODD)
async def test_fields_of_other_types_cost_no_warning_that_quotes_them(
    adapter: LiteLLMAdapter, provider: str, message: dict[str, Any], top: dict[str, Any]
) -> None:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    body = json.dumps({"id": "c", "object": "chat.completion", "model": "m", "choices": [choice], **top}).encode()
    with warnings.catch_warnings(record=True) as warned, WireServer([Raw([body])]) as server:
        warnings.filterwarnings("always", category=UserWarning)
        reply = await adapter.complete(call_of(endpoint_at(server, provider)))
    assert normalize(reply).content == "Hello."
    assert [warning for warning in warned if issubclass(warning.category, UserWarning)] == []
