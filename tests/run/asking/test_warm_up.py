"""The adapter's warm-up counts in no deadline, in runs of every kind."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from llmcore import Agent, Budget, FakeModel, Hooks, LLMCoreError, Orchestrator, RunContext, Timeout, Tool, ToolCall, tool
from llmcore.adapters.base import ModelCall
from llmcore.fallback import Ledger
from tests.run.support import called

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


async def test_the_import_counts_in_no_deadline_of_a_chat(clock: Clock) -> None:
    class Polite(Agent):
        async def finalize_response(self, text: str) -> str:
            return f"{text} Bye."

    agent = Polite(Slow(clock, "Hello."))
    assert await agent.chat("Hello?", deadline=DEADLINE) == "Hello. Bye."


async def test_the_import_counts_in_no_deadline_of_an_outer_run(clock: Clock) -> None:
    inner = Orchestrator(Slow(clock, "Paris."))

    async def ask(context: RunContext[None]) -> str:
        """Ask another model."""
        return (await inner.run("Where?", parent=context)).content

    outer = Orchestrator(FakeModel(called("ask"), "It is Paris."), [ask])
    assert (await outer.run("Where?", deadline=DEADLINE)).content == "It is Paris."


SECONDS = 0.25


class Importing(FakeModel):
    """Its first request needs an import, which takes longer than the deadlines and timeouts here."""

    async def warm_up(self, call: ModelCall) -> None:
        if not self.calls:
            await asyncio.sleep(3 * SECONDS)


def _asking(inner: Orchestrator, timeout: float | None) -> Tool:
    @tool(timeout=timeout)
    async def ask(context: RunContext[None]) -> str:
        """Ask another model."""
        return (await inner.run("Where?", parent=context)).content

    return ask


def _asking_in_a_thread(inner: Orchestrator, timeout: float | None) -> Tool:
    @tool(timeout=timeout)
    def ask(context: RunContext[None]) -> str:
        """Ask another model."""
        return inner.run_sync("Where?", parent=context).content

    return ask


def _agent(inner: Orchestrator, timeout: float | None) -> Tool:
    return Agent(inner).as_tool(name="ask", timeout=timeout or 600)


def _two_deep(inner: Orchestrator, timeout: float | None) -> Tool:
    between = Orchestrator(FakeModel(called("ask"), "Paris."), [_asking(inner, timeout)])
    return _asking(between, timeout)


@pytest.mark.parametrize("timeout", [None, SECONDS], ids=["deadline", "timeout"])
@pytest.mark.parametrize("asking", [_asking, _asking_in_a_thread, _agent, _two_deep])
async def test_the_timers_round_a_tool_wait_for_the_import_within(
    asking: Callable[[Orchestrator, float | None], Tool], timeout: float | None
) -> None:
    arguments = {"message": "Where?"} if asking is _agent else {}
    model = FakeModel().tool_call("ask", arguments).text("It is Paris.")
    outer = Orchestrator(model, [asking(Orchestrator(Importing("Paris.")), timeout)])
    result = await outer.run("Where?", deadline=SECONDS if timeout is None else None)
    assert [record.error for record in result.tool_results] == [None]


async def test_the_timers_around_hooks_and_other_functions_wait_for_the_import() -> None:
    async def ask(context: RunContext[Any]) -> str:
        return (await Orchestrator(Importing("Paris.")).run("Where?", parent=context)).content

    class Asking(Hooks):
        async def before_tool_run(self, call: ToolCall, context: RunContext[Any]) -> None:
            await ask(context)

    async def judge(context: RunContext[Any], value: str) -> str:
        return await ask(context)

    def judge_in_a_thread(context: RunContext[Any], value: str) -> str:
        return Orchestrator(Importing("In France.")).run_sync("Where?", parent=context).content

    outer = Orchestrator(FakeModel(called("look"), "Here."), [look], hooks=Asking(), output_validators=[judge, judge_in_a_thread])
    assert (await outer.run("Where?", deadline=SECONDS)).value == "In France."


def look() -> str:
    return "Nothing."


async def test_what_a_tool_does_after_the_import_counts() -> None:
    inner = Orchestrator(Importing("Paris.", "Paris."))

    @tool(timeout=SECONDS)
    async def ask(context: RunContext[None]) -> str:
        """Ask another model, and then sleep."""
        await inner.run("Where?", parent=context)
        await asyncio.sleep(60)
        return "late"

    outer = Orchestrator(FakeModel(called("ask"), "I do not know."), [ask])
    result = await outer.run("Where?")
    assert result.tool_results[0].error is not None
    assert result.tool_results[0].error.type == "timeout"
    assert 3 * SECONDS < result.duration < 40
    with pytest.raises(Timeout, match="deadline has passed"):
        await Orchestrator(FakeModel(called("ask"), "No."), [ask]).run("Where?", deadline=SECONDS / 2)


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
