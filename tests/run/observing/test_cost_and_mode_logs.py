"""What a run logs about an unknown cost and a change of mode."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from llmcore.adapters.base import Capabilities
from llmcore.adapters.capabilities import CapabilityStore
from llmcore.agent import Agent
from llmcore.models import ModelConfig
from llmcore.orchestrator import Orchestrator
from llmcore.run.endpoints.modes import why_unusable
from llmcore.testing import FakeModel
from llmcore.tools import RunContext, as_tool
from llmcore.types import Budget, CapabilityRefused, ConfigError, RateLimited
from tests.run.support import FAST, add, called, stack

pytestmark = pytest.mark.anyio


async def test_an_unpriced_fallback_is_named_where_it_makes_the_cost_unknown(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "llmcore")
    priced = FakeModel(called("add", {"a": 1, "b": 2}), RateLimited("busy", retry_after=0)).usage(
        input_tokens=5, output_tokens=1, cost=0.01
    )
    other = FakeModel("3").usage(input_tokens=5, output_tokens=1)
    result = await stack({"a": priced, "b": other}, [add], strategies=FAST[2:]).run("go")
    assert (result.content, result.usage.cost, result.unpriced) == ("3", None, ["b"])
    assert "cost unknown" in repr(result)
    assert [record.message for record in caplog.records] == [
        "the cost of the run is unknown: b answered and has no `prices` in the registry"
    ]


@pytest.mark.parametrize("is_agent", [True, False])
async def test_an_unpriced_run_within_a_run_is_named(caplog: pytest.LogCaptureFixture, is_agent: bool) -> None:
    caplog.set_level(logging.WARNING, "llmcore")
    inner = stack({"b": FakeModel("3").usage(input_tokens=5)})

    async def ask(ctx: RunContext[Any]) -> str:
        return (await inner.run("x", parent=ctx)).content

    tool = Agent(inner, name="ask").as_tool() if is_agent else ask
    outer = FakeModel().tool_call("ask", {"message": "x"} if is_agent else {}).text("ok").usage(input_tokens=3, cost=0.01)
    result = await stack({"a": outer}, [tool]).run("go")
    assert (result.usage.cost, result.unpriced, result.runs[0].unpriced) == (None, ["b"], [])
    assert [record.message for record in caplog.records] == [
        "the cost of the run is unknown: b answered and has no `prices` in the registry"
    ]


async def test_a_run_of_which_no_cost_or_every_cost_is_known_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "llmcore")
    for cost in (None, 0.5):
        result = await Orchestrator(FakeModel("3").usage(input_tokens=5, output_tokens=1, cost=cost)).run("go")
        assert (result.unpriced, "unknown" in repr(result)) == ([], False)
    assert not caplog.records


@pytest.mark.parametrize("where", ["escalates_to", "deployments"])
async def test_a_cost_budget_without_the_price_of_a_way_out_is_an_error_at_once(where: str) -> None:
    price: dict[str, Any] = {"prices": {"input": 1, "output": 1}}
    fakes = {"a": FakeModel("x"), "b": FakeModel("y")}
    if where == "deployments":
        places = {
            "deployments": [
                {"provider": "openai", "model": "gpt-4o"},
                {"provider": "openai", "model": "mine", "base_url": "http://127.0.0.1:9/v1"},
            ]
        }
        settings: dict[str, Any] = {"a": places, "b": price}
    else:
        settings = {"a": price}
    with pytest.raises(ConfigError, match="a cost budget needs the price of"):
        await stack(fakes, settings=settings).run("go", budget=Budget(cost=1))
    assert [fake.call_count for fake in fakes.values()] == [0, 0]


def more_each_time(ctx: RunContext[Any]) -> list[Any]:
    count = 300 if len(ctx.messages) > 1 else 0
    return [add, *(as_tool(add).renamed(f"add{n}") for n in range(count))]


async def test_too_many_tools_are_the_reason_for_another_mode_where_they_are() -> None:
    store = CapabilityStore()
    store.override("fake", max_tools=100)
    fake = FakeModel(called("add", {"a": 1, "b": 2}), "3")
    result = await Orchestrator(fake, more_each_time, capabilities=store, strategies=FAST).run("go")
    assert (result.attempts[0].mode, result.attempts[1].reason) == ("native_tools", "turn")
    assert result.attempts[1].detail == ("native_tools is no longer used: 301 tools are offered, and it takes 100 at most")


@pytest.mark.parametrize(
    ("settings", "learnt", "why"),
    [
        ({"preferred_modes": ["text"]}, {}, "it is none of the model's modes there"),
        ({}, {"native_tools": False}, "the endpoint was seen not to take it"),
        ({}, {}, "`native_tools` is off for the endpoint"),
    ],
)
def test_what_keeps_a_mode_from_being_asked_for_is_named(settings: dict[str, Any], learnt: dict[str, bool], why: str) -> None:
    config = ModelConfig(alias="a", provider="fake", model="a", **settings)
    assert why_unusable("native_tools", config, Capabilities(native_tools=False), 1, learnt) == why


async def test_each_attempt_in_another_mode_says_why() -> None:
    text = '<tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}}</tool_call>'
    refused = CapabilityRefused("no tools here", capability="native_tools")
    for replies in ([text, text, text, "3"], [called("add", {"a": 1, "b": 2}), refused, "3", "3"]):
        result = await Orchestrator(FakeModel(*replies, default="3"), [add], strategies=FAST).run("go")
        modes = [attempt.mode for attempt in result.attempts]
        changed = [now for before, now in zip(result.attempts, result.attempts[1:], strict=False) if now.mode != before.mode]
        assert changed, modes
        assert all(attempt.detail for attempt in changed)
