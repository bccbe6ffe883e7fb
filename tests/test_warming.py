"""`warm_up`: after it a first run loads nothing more, and it says and sends nothing itself."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from llmcore import CallerError, FakeModel, Orchestrator, warm_up, warm_up_sync
from llmcore.adapters.litellm import engine
from llmcore.run.asking import warming
from tests.packaging.tree import ROOT

_FIRST_RUNS = """
import asyncio, json, sys
import llmcore
from pydantic import BaseModel
from tests.helpers.wire_server import Failure, Turn, WireServer

class City(BaseModel):
    name: str
    people: int

def look(name: str) -> str:
    '''Look.

    Args:
        name: What.
    '''
    return name

def answer(seen):
    told = json.dumps(seen.body["messages"])
    if "refuse" in told:
        return Failure(400, {"error": {"message": "no"}})
    if "call" in told and "tool_call_id" not in told:
        return Turn(calls=[("look", {"name": "it"})])
    return Turn('{"name": "Rome", "people": 3}')

async def main(base):
    await asyncio.gather(llmcore.warm_up(), llmcore.warm_up())
    model = {"provider": "openai_compatible", "model": "m", "base_url": base, "api_key": "sk-test-0123456789abcdef"}
    loaded = {}
    def since(name, before):
        loaded[name] = sorted(set(sys.modules) - before)
    before = set(sys.modules)
    orchestrator = llmcore.Orchestrator({"models": {"m": model}}, tools=[look])
    await orchestrator.run("Hello?", deadline=30)
    await orchestrator.run("call", deadline=30)
    async for _ in orchestrator.stream("call"):
        pass
    await orchestrator.execute("Rome?", City)
    try:
        await orchestrator.run("refuse")
    except llmcore.LLMCoreError:
        pass
    print(json.dumps(sorted(set(sys.modules) - before)))

with WireServer(answer) as server:
    asyncio.run(main(server.base_url("openai_compatible")))
"""


def test_after_it_first_runs_import_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FIRST_RUNS],
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


_FIRST_OBJECTS = """
import json, re, sys
from pathlib import Path
import llmcore

def look(name: str) -> str:
    '''Look.

    Args:
        name: What.
    '''
    return name

llmcore.warm_up_sync()
compile_, compiled, before = re._compiler.compile, [], set(sys.modules)
re._compiler.compile = lambda pattern, *flags: compiled.append(str(pattern)) or compile_(pattern, *flags)
agent = llmcore.Agent(Path(sys.argv[1]), tools=[look], system="Look.")
agent.list_tools()
for form in ("<tool_call>\\n{}\\n</tool_call>", "[TOOL_CALLS][{}]"):
    for _ in range(4):
        calls = llmcore.normalize(form.format('{"name": "look", "arguments": {"name": "it"}}'), [look]).tool_calls
        assert [call.name for call in calls] == ["look"]
print(json.dumps([sorted(set(sys.modules) - before), compiled]))
"""


@pytest.mark.sweep
def test_after_it_first_objects_import_and_compile_nothing(tmp_path: Path) -> None:
    """A registry of YAML, an agent, and replies whose calls are read in one step."""
    path = tmp_path / "models.yaml"
    path.write_text("llm:\n  models:\n    m: {provider: openai_compatible, model: m, base_url: 'http://localhost/v1'}\n", "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", _FIRST_OBJECTS, str(path)],
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[], []]


@pytest.mark.anyio
async def test_the_rehearsed_runs_all_go_well() -> None:
    """What fails in one of them would be dropped silently, and the rest not be rehearsed."""
    await warming._rehearsal(Orchestrator)  # pyright: ignore[reportPrivateUsage]


def test_it_is_done_once_however_often_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    async def rehearsal(_: object) -> None:
        done.append("layers")

    def rehearse(_: object, provider: str) -> None:
        done.append(provider)

    monkeypatch.setattr(warming, "_rehearsal", rehearsal)
    monkeypatch.setattr(warming, "_are_ready", False)
    monkeypatch.setattr(engine, "_warmed_up", set[str]())
    monkeypatch.setattr(engine, "send_warm_up_requests", rehearse)
    monkeypatch.setattr(engine, "has_callbacks", _no)  # another test may have left a callback or a client of its own
    monkeypatch.setattr(engine, "_is_unobserved", _yes)
    threads = [threading.Thread(target=warm_up_sync) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asyncio.run(_twice())
    assert done == ["layers", "openai_compatible"]


def _yes(_: object) -> bool:
    return True


def _no(_: object) -> bool:
    return False


async def _twice() -> None:
    await asyncio.gather(warm_up(), warm_up())


def test_it_is_silent(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: Any) -> None:
    monkeypatch.setattr(warming, "_are_ready", False)
    monkeypatch.setattr(engine, "_warmed_up", set[str]())
    with caplog.at_level(logging.DEBUG, "llmcore"):
        warm_up_sync()
    assert [record for record in caplog.records if record.name.startswith("llmcore")] == []
    assert capfd.readouterr() == ("", "")


def test_a_first_run_without_an_asyncio_loop_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "_are_ready", False)
    with pytest.raises(CallerError, match="a run needs an asyncio event loop"):
        Orchestrator(FakeModel("Hello.")).run("Hello?").send(None)


@pytest.mark.anyio
async def test_the_sync_one_refuses_to_block_a_loop() -> None:
    with pytest.raises(CallerError, match=r"await warm_up\(\.\.\.\)"):
        warm_up_sync()


@pytest.mark.anyio
async def test_a_missing_litellm_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_loaded", None)
    monkeypatch.setitem(sys.modules, "litellm", None)
    with pytest.raises(CallerError, match="litellm cannot be imported"):
        await warm_up()
