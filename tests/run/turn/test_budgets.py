"""A budget of cost or tokens holds, whatever usage a server reports, omits or cuts off."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.adapters.base import Endpoint, Prices
from llmcore.fallback import FallbackContext, Plan
from llmcore.hooks import Hooks, Veto
from llmcore.models import ModelRegistry
from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.tools import tool
from llmcore.types import (
    Budget,
    ConfigError,
    FallbackExhausted,
    Finished,
    LimitExceeded,
    LLMCoreError,
    Overloaded,
    RemoteServerError,
    RetryConfig,
    ToolCall,
    Usage,
)
from tests.run.support import FAST, add, assert_valid, called, stack

pytestmark = pytest.mark.anyio

PRICED = Endpoint(provider="fake", model="fake", alias="fake", prices=Prices(input=10_000.0, output=20_000.0))
"""A cent a token in, two cents a token out."""


def reply(usage: Any) -> dict[str, Any]:
    return {**called("add", {"a": 1, "b": 1}), "usage": usage}


TOLD = {"prompt_tokens": 100, "completion_tokens": 10}
NOT_TOLD = [
    None,
    {},
    {"prompt_tokens": 0, "completion_tokens": 0},
    {"prompt_tokens": -100, "completion_tokens": -100},
    {"prompt_tokens": 10**30, "completion_tokens": 10**30},
]


async def spend(fake: FakeModel, streamed: bool, **budget: Any) -> LLMCoreError | None:
    orchestrator = Orchestrator(fake, [add], strategies=FAST, max_tool_turns=50, budget=Budget(**budget))
    try:
        if streamed:
            async for _ in orchestrator.stream("x" * 400):
                pass
        else:
            await orchestrator.run("x" * 400)
    except LLMCoreError as error:
        return error
    return None


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("usage", NOT_TOLD, ids=str)
@pytest.mark.parametrize("bound", [{"cost": 5.0}, {"tokens": 500}], ids=str)
async def test_replies_without_believable_usage_are_estimated(bound: Any, usage: Any, streamed: bool) -> None:
    for first in (TOLD, usage):
        fake = FakeModel(reply(first), default=reply(usage), endpoint=PRICED)
        error = await spend(fake, streamed, **bound)
        assert isinstance(error, LimitExceeded)
        assert "is spent" in str(error)
        assert 2 <= fake.call_count <= 6
        spent: Usage = error.partial.usage
        assert spent.estimated
        assert spent.cost is not None
        assert 5 <= spent.cost < 10


@pytest.mark.parametrize("bound", [{"cost": 3.0}, {"tokens": 150}], ids=str)
async def test_a_stream_that_breaks_off_is_charged_for_what_came(bound: Any) -> None:
    fake = FakeModel(default=["y" * 400, RemoteServerError("broken off")], endpoint=PRICED)
    error = await spend(fake, True, **bound)
    assert isinstance(error, LimitExceeded)
    assert fake.call_count == 1
    assert error.partial.attempts[0].usage.output_tokens == 100


@pytest.mark.parametrize("usage", [{"input_tokens": float("nan")}, {"input_tokens": "many"}, {"cost": "much"}])
async def test_a_streams_summary_that_makes_no_sense_is_as_if_nothing_was_emitted(usage: Any) -> None:
    fake = FakeModel(["y" * 400, {"llmcore": {"usage": usage}}], endpoint=PRICED)
    events = [event async for event in Orchestrator(fake, budget=Budget(tokens=10**6)).stream("go")]
    assert isinstance(events[-1], Finished)
    assert events[-1].result.usage.output_tokens == 100


async def test_a_request_that_was_turned_away_costs_nothing() -> None:
    fake = FakeModel(Overloaded("busy"), Overloaded("busy"), "ok", endpoint=PRICED)
    result = await Orchestrator(fake, strategies=FAST, budget=Budget(cost=1.5)).run("x" * 400)
    assert [attempt.usage.total_tokens > 0 for attempt in result.attempts] == [False, False, True]


async def test_a_re_ask_is_made_only_while_something_is_left() -> None:
    fake = FakeModel(default={**called("add", {"a": 1}), "usage": TOLD}, endpoint=PRICED)
    error = await spend(fake, False, cost=1.0)
    assert isinstance(error, LimitExceeded)
    assert fake.call_count == 1


async def test_a_strategy_cannot_lead_a_cost_budget_to_a_model_without_a_price() -> None:
    class Elsewhere:
        def can_handle(self, failure: LLMCoreError, context: FallbackContext) -> bool:
            return isinstance(failure, Overloaded)

        def execute(self, context: FallbackContext) -> Plan:
            return Plan("b", "text")

    fakes = {"a": FakeModel(default=Overloaded("busy")), "b": FakeModel(default="unpriced")}
    settings = {"a": {"prices": {"input": 1, "output": 1}}}
    orchestrator = stack(fakes, settings=settings, strategies=[Elsewhere()])
    with pytest.raises(ConfigError, match="price of 'b'"):
        await orchestrator.run("go", budget=Budget(cost=1))
    assert fakes["b"].call_count == 0
    assert (await orchestrator.run("go")).content == "unpriced"


@pytest.mark.parametrize("price", [".nan", ".inf", "-1", "true"])
def test_a_price_that_is_none_is_refused_when_the_registry_is_read(price: str, tmp_path: Any) -> None:
    file = tmp_path / "llm.yaml"
    file.write_text(f"llm: {{models: {{a: {{provider: openai, model: m, prices: {{input: {price}, output: 1}}}}}}}}")
    with pytest.raises(ConfigError, match=r"llm\.models\.a\.prices\.input: must be a finite number of at least 0"):
        ModelRegistry.from_yaml(file)


# Requests


async def test_a_stronger_model_is_reached_whatever_the_first_one_spent() -> None:
    small, large = FakeModel(*(called("add", {"a": n}) for n in range(99))), FakeModel().tool_call("add", {"a": 1, "b": 2})
    result = await stack({"small": small, "large": large.text("3")}, [add]).run("go")
    assert (result.content, small.call_count) == ("3", 6)
    assert {call.mode for call in small.calls} == {"native_tools", "json_schema", "json_object", "text"}
    assert [attempt.model for attempt in result.attempts[6:]] == ["large", "large"]


async def test_the_most_requests_are_what_the_docstring_says() -> None:
    """Models that never get anything right, in ever new words: models x (attempts + reasks) a turn."""
    for attempts, reasks in ((4, 2), (2, 1), (1, 0), (3, 5)):
        fakes = {alias: FakeModel(*(called("add", {"a": n}) for n in range(99))) for alias in "abc"}
        budget = Budget(attempts=attempts, reasks=reasks)
        with pytest.raises(FallbackExhausted) as caught:
            await stack(fakes, [add]).run("go", budget=budget)
        assert len(caught.value.attempts) == 3 * (attempts + reasks)
        assert sum(fake.call_count for fake in fakes.values()) == 3 * (attempts + reasks)


@pytest.mark.parametrize("requests", [1, 2, 3, 5, 8])
async def test_requests_are_a_hard_cap_over_turns_re_asks_and_models(requests: int) -> None:
    small = FakeModel(called("add", {"a": 1, "b": 2}), *(called("add", {"a": n}) for n in range(99)))
    fakes = {"small": small, "large": FakeModel(default=called("add", {"a": 1}))}
    with pytest.raises(LimitExceeded, match=f"the budget of {requests} requests is spent") as caught:
        await stack(fakes, [add]).run("go", budget=Budget(requests=requests))
    assert sum(fake.call_count for fake in fakes.values()) == requests == len(caught.value.attempts)
    assert caught.value.partial.tool_results[0].value == 3


async def test_a_models_own_retries_count_for_it_alone() -> None:
    fakes = {alias: FakeModel(default=called("add", {"a": 1})) for alias in "ab"}
    with pytest.raises(FallbackExhausted):
        await stack(fakes, [add], settings={"a": {"max_retries": 0}, "b": {"max_retries": 1}}).run("go")
    assert [len({call.mode for call in fake.calls}) for fake in fakes.values()] == [1, 2]


# Tool calls


@pytest.mark.parametrize("most", [0, 1, 3, 4])
async def test_tool_calls_are_a_hard_cap_and_those_beyond_it_are_answered_as_not_run(most: int) -> None:
    ran: list[int] = []

    async def count(n: int) -> int:
        ran.append(n)
        return n

    def calls(first: int) -> None:
        fake.tool_calls(*(("count", {"n": n}) for n in range(first, first + 2)))

    fake = FakeModel(default="never")
    for first in (0, 2, 4):
        calls(first)
    with pytest.raises(LimitExceeded, match=f"budget of {most} tool calls is spent") as caught:
        await Orchestrator(fake, [count], budget=Budget(tool_calls=most), max_parallel_tools=1).run("go")
    partial = caught.value.partial
    assert ran == list(range(most))
    assert [record.ran for record in partial.tool_results] == [n < most for n in range((most // 2 + 1) * 2)]
    assert "budget of tool calls is spent" in partial.tool_results[-1].content
    assert_valid(partial.messages)
    assert fake.call_count == most // 2 + 1


async def test_a_budget_of_tool_calls_that_is_enough_ends_no_run() -> None:
    fake = FakeModel().tool_calls(("add", {"a": 1, "b": 1}), ("add", {"a": 1, "b": 2})).text("done")
    assert (await Orchestrator(fake, [add], budget=Budget(tool_calls=2)).run("go")).content == "done"


async def test_a_call_that_a_hook_refuses_or_that_is_tried_again_takes_no_more_of_the_budget() -> None:
    tries: list[int] = []

    def shaky(n: int) -> str:
        tries.append(n)
        raise RuntimeError("shaky")

    def refuse(call: ToolCall, context: Any) -> Veto | None:
        return Veto("no") if call.arguments == {"n": 0} else None

    fake = FakeModel().tool_calls(("shaky", {"n": 0}), ("shaky", {"n": 1})).text("done")
    tools = [tool(retries=RetryConfig(max_retries=2, base=0))(shaky)]
    result = await Orchestrator(fake, tools, hooks=Hooks(before_tool_run=refuse), budget=Budget(tool_calls=1)).run("go")
    assert (result.content, tries) == ("done", [1, 1, 1])


# What a fake model says that it costs


async def test_a_fake_that_reports_its_cost_needs_no_prices() -> None:
    fake = FakeModel(default=called("add", {"a": 1, "b": 1})).usage(cost=0.4)
    error = await spend(fake, False, cost=1.0)
    assert isinstance(error, LimitExceeded)
    assert fake.call_count == 3
    assert error.partial.usage.cost == pytest.approx(1.2)
    with pytest.raises(ConfigError, match="price of 'fake'"):
        await Orchestrator(FakeModel("ok").usage(input_tokens=3)).run("go", budget=Budget(cost=1))
