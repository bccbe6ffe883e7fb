"""Deadlines, budgets and cancellation: how a run ends early, and the result that it leaves."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from llmcore.adapters.base import Endpoint, ModelCall, Prices
from llmcore.hooks import Hooks
from llmcore.orchestrator import Orchestrator
from llmcore.run.asking import sending
from llmcore.run.results.result import RunResult
from llmcore.testing import FakeModel
from llmcore.types import (
    AuthenticationFailed,
    Budget,
    ConfigError,
    FallbackExhausted,
    LimitExceeded,
    Overloaded,
    RateLimited,
    Reply,
    TextDelta,
    Timeout,
    Usage,
)
from tests.run.support import FAST, add, assert_valid, called, stack

pytestmark = pytest.mark.anyio

PRICED = Endpoint(provider="fake", model="fake", alias="fake", prices=Prices(input=1_000_000.0, output=2_000_000.0))


async def slow() -> str:
    """Take a minute."""
    await asyncio.sleep(60)
    return "late"


def fails_a_test(_: object) -> str:
    raise AssertionError("not what was asked for")


def own_error(*_: object) -> None:
    raise LookupError("of a hook")


@pytest.mark.parametrize(
    ("reply", "hooks", "expected"),
    [
        (fails_a_test, None, AssertionError),
        ("x", Hooks(on_response=own_error), LookupError),
        (called("slow"), None, asyncio.CancelledError),
        (AuthenticationFailed("bad key"), None, AuthenticationFailed),
    ],
)
async def test_whatever_ends_a_run_carries_what_was_done(reply: Any, hooks: Any, expected: type[BaseException]) -> None:
    task = asyncio.create_task(Orchestrator(FakeModel(reply), [slow], hooks=hooks).run("go"))
    if expected is asyncio.CancelledError:
        await asyncio.sleep(0.05)
        task.cancel()
    with pytest.raises(expected) as caught:
        await task
    told: Any = caught.value
    partial: RunResult = told.partial
    assert type(partial) is RunResult
    assert told.attempts == partial.attempts
    assert [attempt.reason for attempt in told.attempts] == ["first"]


def body(text: str, tokens: int) -> dict[str, Any]:
    usage = {"prompt_tokens": tokens, "completion_tokens": 1}
    return {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}], "usage": usage}


def call_body(tokens: int) -> dict[str, Any]:
    made: Any = called("add", {"a": 1, "b": 1})
    return {**made, "usage": {"prompt_tokens": tokens, "completion_tokens": 1}}


async def consume(orchestrator: Orchestrator, streamed: bool, **options: Any) -> None:
    if streamed:
        async for _ in orchestrator.stream("go", **options):
            pass
    else:
        await orchestrator.run("go", **options)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("where", ["model", "tool"])
async def test_a_deadline_ends_the_run_wherever_it_is(where: str, streamed: bool) -> None:
    fake = FakeModel().tool_calls(("slow", {}), ("add", {"a": 1, "b": 2})).text("done")
    fake.delay(60 if where == "model" else 0)
    started = time.perf_counter()
    with pytest.raises(Timeout, match="deadline") as caught:
        await consume(Orchestrator(fake, [slow, add]), streamed, deadline=0.5)  # time for `add`'s thread on a busy machine
    assert time.perf_counter() - started < 30
    partial: RunResult = caught.value.partial
    assert_valid(partial.messages)
    assert len(partial.attempts) == fake.call_count == 1
    if where == "tool":
        assert [block.text for block in partial.messages[2].tool_results] == [
            "slow was stopped before it finished.",
            "3",
        ]


async def test_no_strategy_outlives_the_deadline() -> None:
    fakes = {"a": FakeModel(default="x").delay(60), "b": FakeModel(default="never")}
    with pytest.raises(Timeout):
        await stack(fakes).run("go", budget=Budget(deadline=0.03))
    assert fakes["b"].call_count == 0
    waiting = FakeModel(default=RateLimited("slow", retry_after=50))
    started = time.perf_counter()
    with pytest.raises(RateLimited) as caught:  # the wait would end after the deadline, so it is not begun
        await Orchestrator(waiting).run("go", budget=Budget(deadline=20))
    assert time.perf_counter() - started < 10
    assert caught.value.retry_after == 50
    assert len(caught.value.partial.attempts) == 1


class Sticky(FakeModel):
    """Takes a minute to tidy up."""

    async def stream(self, call: ModelCall) -> AsyncIterator[dict[str, Any] | str]:
        try:
            yield "so far"
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(60)

    async def complete(self, call: ModelCall) -> Reply:
        return Reply(raw=[part async for part in self.stream(call)])


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_request_that_will_not_end_holds_up_no_deadline(streamed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "GRACE", 0.02)
    started = time.perf_counter()
    with pytest.raises(Timeout, match="deadline"):
        await consume(Orchestrator(Sticky()), streamed, deadline=0.02)
    assert time.perf_counter() - started < 20


async def test_a_stream_that_is_left_early_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "GRACE", 0.02)
    started = time.perf_counter()
    async with aclosing(Orchestrator(Sticky()).stream("go")) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
    assert time.perf_counter() - started < 20


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("where", ["model", "tool"])
async def test_cancellation_reaches_the_tools_and_leaves_a_valid_history(where: str, streamed: bool) -> None:
    cancelled: list[str] = []
    running = asyncio.Event()

    async def wait() -> None:
        running.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append("tool")
            raise

    def quick() -> str:
        return "finished"

    fake = FakeModel().tool_calls(("wait", {}), ("quick", {}))
    if where == "model":
        fake = FakeModel(default="late").delay(60).on_request(lambda _: running.set())
    task = asyncio.create_task(consume(Orchestrator(fake, [wait, quick]), streamed))
    async with asyncio.timeout(10):  # a run that fails first must fail the test, not hang it
        await running.wait()
    await asyncio.sleep(0.2)  # time for `quick`'s thread on a busy machine
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    partial: RunResult = getattr(caught.value, "partial")  # noqa: B009  (the class itself has none)
    assert_valid(partial.messages)
    assert cancelled == (["tool"] if where == "tool" else [])
    if where == "tool":
        results = {block.name: block for block in partial.messages[2].tool_results}
        assert results["quick"].text == "finished"
        assert results["wait"].is_error
    resumed = await Orchestrator(FakeModel("ok")).run("go on", message_history=partial.messages)
    assert_valid(resumed.messages)


async def test_a_budget_of_tokens_is_kept_between_requests() -> None:
    fake = FakeModel(call_body(30), call_body(30), body("done", 1))
    with pytest.raises(LimitExceeded, match="budget of 50 tokens") as caught:
        await Orchestrator(fake, [add]).run("go", budget=Budget(tokens=50))
    assert fake.call_count == 2
    assert caught.value.partial.usage.input_tokens == 60
    assert_valid(caught.value.partial.messages)
    assert (await Orchestrator(FakeModel(body("ok", 500))).run("go", budget=Budget(tokens=50))).content == "ok"


async def test_tokens_nobody_counted_are_estimated_where_a_budget_hangs_on_them() -> None:
    fake = FakeModel(default=called("add", {"a": 1, "b": 1}))
    with pytest.raises(LimitExceeded) as caught:
        await Orchestrator(fake, [add]).run("go" * 200, budget=Budget(tokens=300))
    assert caught.value.partial.usage.estimated
    assert (await Orchestrator(FakeModel("x")).run("go")).usage == Usage()


async def test_a_budget_of_cost_is_kept_by_the_endpoints_prices() -> None:
    fake = FakeModel(call_body(2), call_body(2), endpoint=PRICED)
    with pytest.raises(LimitExceeded, match=r"budget of \$5 is spent \(\$8") as caught:
        await Orchestrator(fake, [add]).run("go", budget=Budget(cost=5))
    assert caught.value.partial.usage.cost == 8.0


async def test_a_cost_budget_needs_the_price_of_each_model_that_may_be_reached() -> None:
    fakes = {"a": FakeModel(default=Overloaded("x")), "b": FakeModel("unpriced"), "c": FakeModel("far")}
    price = {"prices": {"input": 1, "output": 1}}
    settings: dict[str, Any] = {"a": price}
    for missing in "bc":
        with pytest.raises(ConfigError, match=f"price of '{missing}'"):
            await stack(fakes, settings=settings).run("go", budget=Budget(cost=1))
        settings[missing] = price
    assert [fake.call_count for fake in fakes.values()] == [0, 0, 0]
    assert (await stack(fakes, settings=settings).run("go", budget=Budget(cost=1))).content == "unpriced"
    for fake in fakes.values():
        fake.reset()
    settings = {"a": price}
    assert (await stack(fakes, settings=settings).run("go")).content == "unpriced"


async def test_the_budgets_attempts_bound_every_kind_of_repetition() -> None:
    fake = FakeModel(default=called("add", {"a": 1}))
    with pytest.raises(FallbackExhausted) as caught:
        await Orchestrator(fake, [add], strategies=FAST).run("go", budget=Budget(attempts=1, reasks=0))
    assert fake.call_count == 1
    assert len(caught.value.attempts) == 1
    with pytest.raises(FallbackExhausted):
        await Orchestrator(fake.reset(), [add], strategies=FAST, budget=Budget(attempts=9, reasks=0)).run("go")
    assert {attempt.mode for attempt in fake.calls} == {"native_tools", "json_schema", "json_object", "text"}
