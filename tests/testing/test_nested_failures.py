"""What a fake model of an inner run has to say to the test comes out of the outer run, however the two are tied together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from llmcore import (
    Agent,
    ConfigError,
    FakeModel,
    FallbackExhausted,
    Orchestrator,
    RateLimited,
    RemoteServerError,
    ReplayAdapter,
    RunContext,
    tool,
)

pytestmark = pytest.mark.anyio


class Inner(Agent):
    """Knows the rivers."""


def _within_an_agent(inner: FakeModel) -> Any:
    return Inner(inner)


def _within_a_tool(inner: FakeModel) -> Any:
    @tool(name="inner")
    async def ask(message: str, context: RunContext[Any]) -> str:
        """Ask another model."""
        return (await Orchestrator(inner).run(message, parent=context)).content

    return ask


def _within_a_sync_tool(inner: FakeModel) -> Any:
    @tool(name="inner")
    def ask(message: str) -> str:
        """Ask another model."""
        return Orchestrator(inner).run_sync(message).content

    return ask


def _checked(request: Any) -> str:
    assert "Oslo" in request.messages[-1].text, "the inner run was not told the city"
    return "ok"


_TIES = [_within_an_agent, _within_a_tool, _within_a_sync_tool]


@pytest.mark.parametrize("tied", _TIES)
async def test_a_failed_assertion_in_an_inner_run_fails_the_test(tied: Callable[[FakeModel], Any]) -> None:
    outer = FakeModel().tool_call("inner", {"message": "Paris?"}).text("all fine")
    with pytest.raises(AssertionError, match="not told the city"):
        await Orchestrator(outer, [tied(FakeModel(_checked))]).run("go")


@pytest.mark.parametrize("tied", _TIES)
async def test_an_inner_fake_without_a_reply_left_fails_the_test(tied: Callable[[FakeModel], Any]) -> None:
    outer = FakeModel().tool_call("inner", {"message": "Paris?"}).text("all fine")
    with pytest.raises(ConfigError, match="FakeModel was given 0 replies"):
        await Orchestrator(outer, [tied(FakeModel())]).run("go")


async def test_an_assertion_of_a_tool_is_the_tools_error() -> None:
    def check(number: int) -> int:
        """Check a number."""
        assert number > 3, "too small"
        return number

    result = await Orchestrator(FakeModel().tool_call("check", {"number": 1}).text("done"), [check]).run("go")
    assert result.tool_results[0].error is not None


async def test_a_failure_within_a_group_of_tasks_comes_out() -> None:
    async def ask(message: str) -> str:
        """Ask two models at once."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(Orchestrator(fake).run(message)) for fake in (FakeModel("ok"), FakeModel(_checked))]
        return tasks[0].result().content

    async def rephrase(message: str) -> str:
        """Ask, and tell a failure in other words."""
        try:
            return await ask(message)
        except BaseException as error:
            raise LookupError("it was of no use") from error

    for function in (ask, rephrase):
        outer = FakeModel().tool_call(function.__name__, {"message": "Paris?"}).text("all fine")
        with pytest.raises(AssertionError, match="not told the city"):
            await Orchestrator(outer, [function]).run("go")


async def test_what_a_transcript_does_not_hold_comes_out() -> None:
    recorded = {
        "format": "llmcore.transcript",
        "version": 1,
        "id": "one",
        "exchanges": [{"request": {"messages": [{"role": "user", "content": "Hi"}]}, "response": "Hello."}],
    }

    async def other(message: str) -> str:
        """Ask for something else."""
        return (await Orchestrator(ReplayAdapter(recorded)).run(message)).content

    async def twice(message: str) -> str:
        """Ask once too often."""
        replay = Orchestrator(ReplayAdapter(recorded))
        return (await replay.run("Hi")).content + (await replay.run("Hi")).content

    for function, words in ((other, "recorded for another request"), (twice, "holds 1 exchange")):
        outer = FakeModel().tool_call(function.__name__, {"message": "Bye"}).text("all fine")
        with pytest.raises(ConfigError, match=words):
            await Orchestrator(outer, [function]).run("go")


FAILING = [RateLimited("slow", retry_after=0), RemoteServerError("down"), ""]


@pytest.mark.parametrize("failing", FAILING, ids=repr)
@pytest.mark.parametrize("stream", [False, True])
async def test_a_model_without_a_reply_left_says_so_also_behind_a_failure(failing: Any, stream: bool) -> None:
    orchestrator = Orchestrator(FakeModel(failing))

    async def run() -> None:
        if not stream:
            await orchestrator.run("go")
        async with orchestrator.stream("go") as events:
            _ = [event async for event in events]

    with pytest.raises(ConfigError, match=r"given 1 reply and this is request 2, made .*; add a reply, or a default\.") as caught:
        await run()
    assert not isinstance(caught.value, FallbackExhausted)
    assert [attempt.n for attempt in caught.value.attempts] == [1, 2]


async def test_a_transcript_without_an_exchange_left_says_so_also_behind_a_failure() -> None:
    limited = {"error": {"type": "RateLimitError", "status": 429, "headers": {"retry-after": "0"}}}
    with pytest.raises(ConfigError, match="holds 1 exchange and this is request 2") as caught:
        await Orchestrator(ReplayAdapter({"id": "h", "exchanges": [limited]})).run("go")
    assert not isinstance(caught.value, FallbackExhausted)
