"""A run within a tool of another run: one budget, one usage, and its result in the parent's."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from llmcore.orchestrator import Orchestrator
from llmcore.run import RunResult
from llmcore.testing import FakeModel
from llmcore.tools import RunContext, tool
from llmcore.types import (
    Budget,
    ConfigError,
    LimitExceeded,
    RateLimited,
    RequestRefused,
    RetryConfig,
    Timeout,
    ToolError,
    ToolStarted,
)
from tests.run.support import assert_valid

pytestmark = pytest.mark.anyio


def dig(depth: int) -> str:
    """Dig."""
    return "a bone"


def inner_model() -> FakeModel:
    return FakeModel().tool_call("dig", {"depth": 1}).text("Found.").usage(input_tokens=100, output_tokens=10, cost=0.5)


def outer_model() -> FakeModel:
    return FakeModel().tool_call("ask", {"question": "Where?"}).text("There.").usage(input_tokens=10, output_tokens=1, cost=0.25)


def asking(inner: Orchestrator, **options: Any) -> Any:
    async def ask(question: str, context: RunContext[Any]) -> str:
        """Ask somebody else."""
        return (await inner.run(question, parent=context, **options)).content

    return ask


async def ended(outer: Orchestrator, streamed: bool, **options: Any) -> RunResult[Any]:
    if not streamed:
        return await outer.run("Go", **options)
    last: Any = [event async for event in outer.stream("Go", **options)][-1]
    result: RunResult[Any] = last.result
    return result


@pytest.mark.parametrize("streamed", [False, True])
async def test_its_usage_counts_in_the_outer_ones_which_has_its_result(streamed: bool) -> None:
    outer = Orchestrator(outer_model(), [asking(Orchestrator(inner_model(), [dig]))])
    result = await ended(outer, streamed)
    (inner,) = result.runs
    assert result.content == "There."
    assert (result.usage.input_tokens, result.usage.output_tokens, result.usage.cost) == (220, 22, 1.5)
    assert (inner.usage.input_tokens, len(inner.attempts), len(result.attempts)) == (200, 2, 2)
    assert inner.parent_call == result.tool_results[0].id
    assert [record.name for record in inner.tool_results] == ["dig"]
    again = RunResult[Any].model_validate_json(result.model_dump_json())
    assert again.runs[0].messages == inner.messages


@pytest.mark.parametrize("errors", ["continue", "abort", "retry"])
@pytest.mark.parametrize(
    ("budget", "requests"),
    [
        (Budget(requests=2), 1),
        (Budget(tool_calls=1), 1),
        (Budget(tokens=100), 1),
        (Budget(cost=0.6), 1),
        (Budget(cost=0.1), 0),
    ],
    ids=str,
)
async def test_the_outer_budget_ends_both(budget: Budget, requests: int, errors: Any) -> None:
    inner = inner_model()
    outer = Orchestrator(outer_model(), [asking(Orchestrator(inner, [dig]))], budget=budget, tool_errors=errors)
    with pytest.raises(LimitExceeded, match="budget of") as caught:
        await outer.run("Go")
    assert inner.call_count == requests
    partial = caught.value.partial
    assert_valid(partial.messages)
    assert [len(run.attempts) for run in partial.runs] == [requests]
    assert partial.usage.input_tokens == 10 + 100 * requests


async def test_its_own_budget_is_its_own_matter() -> None:
    inner = Orchestrator(inner_model(), [dig], budget=Budget(requests=1))
    result = await Orchestrator(outer_model(), [asking(inner)]).run("Go")
    assert result.content == "There."
    assert "the budget of 1 requests is spent" in result.tool_results[0].content
    assert len(result.runs[0].attempts) == 1


async def test_its_error_is_the_tools_error_and_its_partial_result_is_kept() -> None:
    model = FakeModel().tool_call("dig", {"depth": 1}).error(RateLimited("slow down", retry_after=0.0))
    inner = Orchestrator(model, [dig], budget=Budget(attempts=1))
    result = await Orchestrator(outer_model(), [asking(inner)]).run("Go")
    assert result.tool_results[0].error is not None
    assert [record.content for record in result.runs[0].tool_results] == ["a bone"]
    refused = FakeModel().default_error(RequestRefused("no"))
    with pytest.raises(ToolError):
        await Orchestrator(outer_model(), [asking(Orchestrator(refused, [dig]))], tool_errors="abort").run("Go")


async def test_the_outer_deadline_holds_within() -> None:
    slow = FakeModel().delay(60.0).text("late")
    outer = Orchestrator(outer_model(), [asking(Orchestrator(slow))], budget=Budget(deadline=0.2))
    with pytest.raises(Timeout, match="deadline"):
        await outer.run("Go")


def runs_down(run: RunResult[Any]) -> list[RunResult[Any]]:
    """The run, the one within it, the one within that."""
    return [run, *(below for inner in run.runs for below in runs_down(inner))]


@pytest.mark.parametrize(("parallel", "streamed"), [(False, False), (True, True)])
@pytest.mark.parametrize("stop", ["deadline", "cancellation"])
@pytest.mark.parametrize("deaf", [False, True])
async def test_what_ends_all_of_many_runs_within_one_another_loses_none(
    deaf: bool, stop: str, parallel: bool, streamed: bool
) -> None:
    """Each of them ends as it is told, at the same moment; at the most the innermost tool does not."""
    began, release = asyncio.Event(), asyncio.Event()

    async def work(depth: int) -> str:
        """Work."""
        began.set()
        while True:
            try:
                await release.wait()
            except asyncio.CancelledError:
                if not deaf:
                    raise
            else:
                return "late"

    def calling(name: str, arguments: dict[str, Any]) -> FakeModel:
        beside = [("dig", {"depth": 1})] if parallel else []
        return FakeModel().tool_calls((name, arguments), *beside)

    outer = Orchestrator(calling("work", {"depth": 1}), [work, dig])
    for _ in range(5):
        outer = Orchestrator(calling("ask", {"question": "Where?"}), [asking(outer), dig])
    await Orchestrator(FakeModel("loaded")).run("Go")
    task = asyncio.create_task(ended(outer, streamed, **({"deadline": 0.8} if stop == "deadline" else {})))
    if stop == "cancellation":
        await began.wait()
        task.cancel()
    with pytest.raises((Timeout, asyncio.CancelledError)) as caught:
        await task
    release.set()
    runs = runs_down(vars(caught.value)["partial"])
    told = [run.tool_results[0].content for run in runs]
    assert [run.tool_results[0].name for run in runs] == ["ask"] * 5 + ["work"]
    assert all(one.startswith("ask was stopped before it finished.") for one in told[:-1])
    assert ("it ignores its cancellation" in told[-1]) is deaf
    for run in runs:
        assert_valid(run.messages)


async def test_a_cancellation_reaches_it() -> None:
    began = asyncio.Event()
    cancelled: list[bool] = []

    async def wait(depth: int) -> str:
        """Wait."""
        began.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise
        return "never"

    inner = Orchestrator(FakeModel().tool_call("wait", {"depth": 1}), [wait])
    task = asyncio.create_task(Orchestrator(outer_model(), [asking(inner)]).run("Go"))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    assert cancelled == [True]
    partial: RunResult[Any] = vars(caught.value)["partial"]
    assert_valid(partial.messages)
    assert [record.name for record in partial.runs[0].tool_results] == ["wait"]


async def test_a_refusal_by_the_outermost_passes_all_between() -> None:
    innermost = inner_model()
    middle = Orchestrator(outer_model(), [asking(Orchestrator(innermost, [dig]))])
    with pytest.raises(LimitExceeded, match="the budget of 3 requests"):
        await Orchestrator(outer_model(), [asking(middle)], budget=Budget(requests=3)).run("Go")
    assert innermost.call_count == 1


async def test_code_between_that_swallows_the_refusal_does_not_undo_it() -> None:
    inner = Orchestrator(inner_model(), [dig])

    async def ask(question: str, context: RunContext[Any]) -> str:
        """Ask."""
        try:
            return (await inner.run(question, parent=context)).content
        except Exception:
            return "no matter"

    with pytest.raises(LimitExceeded):
        await Orchestrator(outer_model(), [ask], budget=Budget(requests=2)).run("Go")


async def test_runs_that_make_one_another_without_end_are_stopped() -> None:
    made: list[str] = []

    async def ask(question: str, context: RunContext[Any]) -> str:
        """Ask."""
        made.append(question)
        again = Orchestrator(FakeModel().tool_call("ask", {"question": "And you?"}), [ask])
        return (await again.run(question, parent=context)).content

    with pytest.raises(LimitExceeded, match="runs are nested 10 deep"):
        await Orchestrator(outer_model(), [ask]).run("Go")
    assert len(made) == 11


async def test_other_functions_that_are_given_the_context_may_make_runs_too() -> None:
    judge = Orchestrator(FakeModel("fine").usage(input_tokens=7))

    async def judged(value: Any, context: RunContext[Any]) -> None:
        assert (await judge.run("Is it fine?", parent=context)).content == "fine"

    result = await Orchestrator(FakeModel("answer").usage(input_tokens=1), output_validators=[judged]).run("Go")
    assert (result.usage.input_tokens, [run.parent_call for run in result.runs]) == (8, [""])


async def test_a_sync_tool_shares_too() -> None:
    inner = Orchestrator(inner_model(), [dig])

    def ask(question: str, context: RunContext[Any]) -> str:
        """Ask."""
        return inner.run_sync(question, parent=context).content

    result = await Orchestrator(outer_model(), [ask]).run("Go")
    assert (result.usage.input_tokens, result.tool_results[0].content) == (220, "Found.")


async def test_a_context_made_by_hand_has_no_run_and_anything_else_is_refused() -> None:
    inner: Any = Orchestrator(FakeModel("ok", "ok"))
    assert (await inner.run("Go", parent=RunContext(deps=None))).content == "ok"
    with pytest.raises(ConfigError, match="`parent` must be the RunContext"):
        await inner.run("Go", parent="me")
    with pytest.raises(ConfigError, match="parent=context"):
        await inner.run("Go", usage=1)


async def test_a_failed_try_is_not_repeated_when_the_budget_is_gone() -> None:
    inner, delays = inner_model(), RetryConfig(max_retries=5, base=0.0)
    outer = Orchestrator(outer_model(), [asking(Orchestrator(inner, [dig]))], budget=Budget(requests=2))
    with pytest.raises(LimitExceeded) as caught:
        await outer.run("Go", tool_config=_retrying(delays))
    assert len(caught.value.partial.runs) == 1


def _retrying(retry: RetryConfig) -> Any:
    from llmcore.tools import ToolConfig

    return ToolConfig(errors="retry", retry=retry)


@pytest.mark.parametrize("end", ["cancelled", "closed", "timeout"])
async def test_a_run_that_a_sync_tool_waits_for_ends_with_its_call(end: str) -> None:
    began, over, heard = threading.Event(), threading.Event(), list[bool]()

    def step(ctx: RunContext[None]) -> str:
        began.set()
        while not ctx.cancelled:
            time.sleep(0.005)
        heard.append(ctx.cancelled)
        return "gave up"

    inner = FakeModel(default="done").tool_call("step").tool_call("step")

    def ask(ctx: RunContext[None]) -> str:
        try:
            return Orchestrator(inner, [tool(step, timeout=30)]).run_sync("go", parent=ctx).content
        finally:
            over.set()

    outer = Orchestrator(FakeModel(default="ok").tool_call("ask"), [tool(ask, timeout=0.3 if end == "timeout" else 30)])
    if end == "timeout":
        assert (await outer.run("go")).content == "ok"
    elif end == "closed":
        async with outer.stream("go") as stream:
            async for event in stream:
                if isinstance(event, ToolStarted):
                    assert await asyncio.to_thread(began.wait, 20)
                    break
    else:
        run = asyncio.create_task(outer.run("go"))
        assert await asyncio.to_thread(began.wait, 20)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
    assert await asyncio.to_thread(over.wait, 20)
    assert inner.call_count == 1


async def test_one_that_is_made_after_its_call_was_left_asks_nothing() -> None:
    began, left, over = threading.Event(), threading.Event(), threading.Event()
    inner = FakeModel(default="done")

    def ask(ctx: RunContext[None]) -> str:
        began.set()
        left.wait(20)
        try:
            return Orchestrator(inner).run_sync("go", parent=ctx).content
        finally:
            over.set()

    run = asyncio.create_task(Orchestrator(FakeModel(default="ok").tool_call("ask"), [ask]).run("go"))
    assert await asyncio.to_thread(began.wait, 20)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    left.set()
    assert await asyncio.to_thread(over.wait, 20)
    assert inner.call_count == 0
