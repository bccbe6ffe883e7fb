"""A budget of cost or tokens holds whatever a server tells of usage, leaves out of it, or breaks off."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.adapters.base import Endpoint, Prices
from llmcore.fallback import FallbackContext, Plan
from llmcore.models import ModelRegistry
from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.types import Budget, ConfigError, Finished, LimitExceeded, LLMCoreError, Overloaded, RemoteServerError, Usage
from tests.orchestrator.support import FAST, add, called, stack

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
async def test_a_streams_summary_that_makes_no_sense_is_as_if_nothing_was_told(usage: Any) -> None:
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
