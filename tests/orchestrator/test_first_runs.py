"""The first stream or steps of a process: the layers are loaded in a thread, and what was wrong is told as early as in later ones."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from llmcore import Agent, CallerError, FakeModel, InternalError, Message, Orchestrator, RunResult
from llmcore.run.asking import warming
from llmcore.support.code.emitter import silently
from tests.packaging.tree import ROOT

_WHO_IMPORTS = """
import asyncio, sys, threading
import llmcore

def look(at: str) -> str:
    return at

class Finder:
    on_the_loop = []
    def find_spec(self, name, path=None, target=None):
        if threading.current_thread() is threading.main_thread():
            self.on_the_loop.append(name)

async def main(orchestrator, method, typed):
    sys.meta_path.insert(0, Finder())
    reads = getattr(orchestrator, method)("Hello?", int if typed else None, temperature=0.5)
    made = list(Finder.on_the_loop)
    async for _ in reads:
        pass
    assert reads.result.value == (7 if typed else "7"), reads.result.value
    layers = ("llmcore", "normalizer", "validator", "adapters", "fallback", "jsonschema", "pydantic")
    print(made, [name for name in Finder.on_the_loop if name.split(".")[0] in layers])

asyncio.run(main(llmcore.Orchestrator(llmcore.FakeModel("7"), [look]), sys.argv[1], len(sys.argv) > 2))
"""


@pytest.mark.parametrize("asked", [["stream"], ["iterate"], ["stream", "typed"], ["iterate", "typed"]], ids=" ".join)
def test_the_first_one_loads_nothing_on_its_event_loop(asked: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WHO_IMPORTS, *asked],
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[] []\n"


@pytest.fixture
def cold(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has made no run."""
    monkeypatch.setattr(warming, "_are_ready", False)


pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("cold")]


async def _read(reads: Any) -> RunResult[Any]:
    async for _ in reads:
        pass
    result: RunResult[Any] = reads.result
    return result


def add(a: int, b: int) -> int:
    return a + b


@pytest.mark.parametrize("method", ["stream", "iterate"])
async def test_it_is_the_run_that_a_later_one_is(method: str) -> None:
    results: list[RunResult[Any]] = []
    for _ in range(2):
        orchestrator = Orchestrator(FakeModel().tool_call("add", {"a": 1, "b": 2}).text('{"sum": 3}'), [add])
        results.append(await _read(getattr(orchestrator, method)("What is it?", dict[str, int])))
    first, later = results
    assert first.value == later.value == {"sum": 3}
    assert first.messages == later.messages
    assert [one.reason for one in first.attempts] == [one.reason for one in later.attempts]


@pytest.mark.parametrize("method", ["stream", "iterate"])
@pytest.mark.parametrize(
    "options",
    [{"temprature": 1}, {"model": "other"}, {"tool_choice": {"name": "nothing"}}, {"temperature": "hot"}, {"max_tool_turns": -1}],
    ids=lambda options: next(iter(options)),
)
async def test_what_the_caller_got_wrong_is_told_at_once(method: str, options: dict[str, Any]) -> None:
    with pytest.raises(CallerError):
        getattr(Orchestrator(FakeModel("Hello."), [add]), method)("Hello?", **options)


@pytest.mark.parametrize("method", ["stream", "iterate"])
async def test_a_type_that_cannot_be_asked_for_is_told_where_it_begins(method: str) -> None:
    reads = getattr(Orchestrator(FakeModel("Hello.")), method)("Hello?", asyncio.Lock)
    with pytest.raises(CallerError, match="Lock"):
        await _read(reads)


def test_without_an_event_loop_such_a_type_is_told_at_once() -> None:
    with pytest.raises(CallerError, match="Lock"):
        Orchestrator(FakeModel("Hello.")).stream_sync("Hello?", asyncio.Lock)


async def test_what_was_given_may_change_before_it_begins() -> None:
    model = FakeModel("Hello.")
    messages = [Message(role="user", content="Hello?")]
    stream = Orchestrator(model).stream(messages)
    messages.append(Message(role="user", content="Bye."))
    await _read(stream)
    assert [message.text for message in model.last_request.messages] == ["Hello?"]


@pytest.mark.parametrize("method", ["stream", "iterate"])
async def test_one_that_is_left_before_it_begins_has_a_result_and_sends_nothing(method: str) -> None:
    model = FakeModel("Hello.")
    async with getattr(Orchestrator(model), method)("Hello?") as reads:
        pass
    result = reads.result
    assert result.ended
    assert [message.text for message in result.messages] == ["Hello?"]
    assert model.requests == []


def _streamed(orchestrator: Orchestrator) -> Awaitable[Any]:
    return _read(orchestrator.stream("Hello?"))


def _stepped(orchestrator: Orchestrator) -> Awaitable[Any]:
    return _read(orchestrator.iterate("Hello?"))


def _agents_stream(orchestrator: Orchestrator) -> Awaitable[Any]:
    return _read(Agent(orchestrator).stream("Hello?"))


def _run(orchestrator: Orchestrator) -> Awaitable[Any]:
    return orchestrator.run("Hello?")


def _executed(orchestrator: Orchestrator) -> Awaitable[Any]:
    return orchestrator.execute("Hello?", int)


def _in_a_thread(orchestrator: Orchestrator) -> Awaitable[Any]:
    return asyncio.to_thread(orchestrator.run_sync, "Hello?")


def _made_before(orchestrator: Orchestrator) -> Awaitable[Any]:
    return orchestrator._prepare("Hello?", {}, listening=False).out(silently)  # pyright: ignore[reportPrivateUsage]


def _chat(orchestrator: Orchestrator) -> Awaitable[Any]:
    return Agent(orchestrator).chat("Hello?")


@pytest.mark.parametrize(
    "begin",
    [_run, _executed, _streamed, _stepped, _in_a_thread, _made_before, _chat, _agents_stream],
    ids=["run", "execute", "stream", "iterate", "run_sync", "made", "chat", "agent's stream"],
)
async def test_one_that_is_cancelled_while_it_loads_carries_its_partial_result(
    monkeypatch: pytest.MonkeyPatch, begin: Callable[[Orchestrator], Awaitable[Any]]
) -> None:
    stopped = asyncio.CancelledError("stopped")

    async def loading(make: object) -> None:
        raise stopped

    model = FakeModel("Hello.")
    orchestrator = Orchestrator(model)
    monkeypatch.setattr(orchestrator, "_runtime", replace(orchestrator._runtime, ready=partial(loading, None)))  # pyright: ignore[reportPrivateUsage]
    with pytest.raises((asyncio.CancelledError, InternalError)) as caught:
        await begin(orchestrator)
    error: Any = caught.value
    assert [message.text for message in error.partial.messages] == ["Hello?"]
    assert list(error.attempts) == []
    assert model.requests == []
