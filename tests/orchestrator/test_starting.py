"""What is done once in a process counts in no deadline: the adapter's warm-up, in runs of every kind."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from llmcore import Agent, Budget, FakeModel, LLMCoreError, Orchestrator, RunContext, Timeout
from llmcore.adapters.base import ModelCall
from llmcore.fallback import Ledger
from tests.orchestrator.support import called

pytestmark = pytest.mark.anyio

DEADLINE = 60.0
IMPORT = 1000.0


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """What deadlines are counted by."""
    made = Clock()
    defaults: Any = Ledger.__init__.__kwdefaults__
    monkeypatch.setitem(defaults, "clock", made)
    return made


class Slow(FakeModel):
    """Its first request needs an import, which takes longer than any deadline here."""

    def __init__(self, clock: Clock, *replies: Any) -> None:
        super().__init__(*replies)
        self.clock = clock
        self.warmed = 0

    async def warm_up(self, call: ModelCall) -> None:
        self.warmed += 1
        if self.warmed == 1:
            self.clock.now += IMPORT


async def _streamed(orchestrator: Orchestrator) -> str:
    stream = orchestrator.stream("Hello?", deadline=DEADLINE)
    async for _ in stream:
        pass
    return stream.result.content


async def _stepped(orchestrator: Orchestrator) -> str:
    steps = orchestrator.iterate("Hello?", deadline=DEADLINE)
    async for _ in steps:
        pass
    return steps.result.content


async def _by_budget(orchestrator: Orchestrator) -> str:
    return (await orchestrator.run("Hello?", budget=Budget(deadline=DEADLINE))).content


async def _synced(orchestrator: Orchestrator) -> str:
    return (await asyncio.to_thread(orchestrator.run_sync, "Hello?", deadline=DEADLINE)).content


async def _executed(orchestrator: Orchestrator) -> str:
    return await orchestrator.execute("Hello?", str, deadline=DEADLINE)


@pytest.mark.parametrize(
    "way", [_streamed, _stepped, _by_budget, _synced, _executed], ids=["stream", "steps", "budget", "sync", "execute"]
)
async def test_the_import_counts_in_no_deadline(clock: Clock, way: Callable[[Orchestrator], Awaitable[str]]) -> None:
    model = Slow(clock, "Hello.", "Hello.")
    assert await way(Orchestrator(model)) == "Hello."
    assert clock.now == IMPORT


async def test_nor_in_that_of_a_chat_and_of_what_it_finalises(clock: Clock) -> None:
    class Polite(Agent):
        async def finalize_response(self, text: str) -> str:
            return f"{text} Bye."

    agent = Polite(Slow(clock, "Hello."))
    assert await agent.chat("Hello?", deadline=DEADLINE) == "Hello. Bye."


async def test_nor_in_that_of_a_run_around_it(clock: Clock) -> None:
    inner = Orchestrator(Slow(clock, "Paris."))

    async def ask(context: RunContext[None]) -> str:
        """Ask another model."""
        return (await inner.run("Where?", parent=context)).content

    outer = Orchestrator(FakeModel(called("ask"), "It is Paris."), [ask])
    assert (await outer.run("Where?", deadline=DEADLINE)).content == "It is Paris."


async def test_what_follows_the_import_counts(clock: Clock) -> None:
    class Late(Slow):
        async def complete(self, call: ModelCall) -> Any:
            self.clock.now += DEADLINE + 1
            return await super().complete(call)

    with pytest.raises(Timeout, match="deadline has passed"):
        await Orchestrator(Late(clock, "Hello.")).run("Hello?", deadline=DEADLINE)


async def test_an_adapter_that_cannot_warm_up_fails_as_its_request_would() -> None:
    class Broken(FakeModel):
        lets_exceptions_through = False

        async def warm_up(self, call: ModelCall) -> None:
            raise ValueError("no such library")

    with pytest.raises(LLMCoreError, match="no such library"):
        await Orchestrator(Broken("Hello.")).run("Hello?")
