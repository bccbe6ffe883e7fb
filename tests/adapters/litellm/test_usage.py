"""Tokens and cost, as LiteLLM counts them."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.adapters.base import Endpoint, ModelCall, Prices
from llmcore.adapters.litellm.usage import accounted, cost_of, read_usage
from llmcore.normalizer import normalize
from llmcore.types import ConfigError, Envelope, ImageBlock, Message, Request, TextBlock, ToolDefinition, Usage

LOCAL = Endpoint(provider="openai_compatible", model="m", base_url="http://127.0.0.1:1/v1")
GPT = Endpoint(provider="openai", model="gpt-4o")
COUNTED: dict[str, Any] = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "prompt_tokens_details": {"cached_tokens": 30, "cache_creation_tokens": 10},
    "completion_tokens_details": {"reasoning_tokens": 5},
}


def test_the_parts() -> None:
    assert read_usage(COUNTED, LOCAL) == Usage(
        input_tokens=100, output_tokens=20, cache_read_tokens=30, cache_write_tokens=10, reasoning_tokens=5
    )


def test_anthropics_own_names_count_where_the_details_are_missing() -> None:
    usage = {"prompt_tokens": 9, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 3}
    read = read_usage(usage, LOCAL)
    assert (read.cache_read_tokens, read.cache_write_tokens) == (4, 3)


@pytest.mark.parametrize("count", [None, -1, float("nan"), float("inf"), True, "many", 10**30, [1]])
def test_a_count_that_is_none_is_read_as_missing(count: object) -> None:
    assert read_usage({"prompt_tokens": count, "completion_tokens": 12.0}, LOCAL) == Usage(output_tokens=12)


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None}, "none", {"prompt_tokens": -1}])
def test_without_any_count_it_is_an_estimate(usage: object) -> None:
    assert read_usage(usage, LOCAL) == Usage(estimated=True)


def test_litellms_own_sum_is_no_charge() -> None:
    assert read_usage(COUNTED | {"cost": 0.5}, LOCAL).cost is None
    router = Endpoint(provider="openrouter", model="some/model")
    assert read_usage(COUNTED | {"cost": 0.5}, router).cost == 0.5


@pytest.mark.parametrize("cost", [float("nan"), float("inf"), -1, 0, True, "0.5"])
def test_a_charge_that_is_no_sum_of_money_is_none(cost: object) -> None:
    router = Endpoint(provider="openrouter", model="some/model", prices=Prices(input=1.0, output=1.0))
    assert read_usage(COUNTED | {"cost": cost}, router).cost == pytest.approx(120e-6)


def test_a_charge_counts_where_no_tokens_were_told() -> None:
    router = Endpoint(provider="openrouter", model="some/model")
    assert read_usage({"cost": 0.5}, router) == Usage(cost=0.5, estimated=True)


@pytest.mark.parametrize("price", [float("nan"), float("inf"), -0.1, True, "free"])
def test_a_price_that_is_none_is_refused(price: Any) -> None:
    for field in Prices.model_fields:
        with pytest.raises(ConfigError, match="must be a finite number of at least 0"):
            Prices(**{field: price})


def test_an_unknown_kind_of_price_is_refused() -> None:
    with pytest.raises(ConfigError, match="inputs"):
        Prices(inputs=1.0)  # type: ignore[call-arg]  # callers without a type checker


PRICED = LOCAL.model_copy(update={"prices": Prices(input=1_000_000.0, output=2_000_000.0)})
ASKED = ModelCall(
    endpoint=PRICED, request=Request(messages=[Message(role="user", content=[TextBlock(text="x" * 400)])], system="y" * 40)
)
SAID = normalize("z" * 40)


@pytest.mark.parametrize(
    "told",
    [
        None,
        Usage(),
        Usage(estimated=True),
        Usage(input_tokens=-5, output_tokens=-5, cost=-1.0),
        Usage(input_tokens=10**30, output_tokens=10**30, cost=float("nan")),
        Usage(cache_read_tokens=10**30, cost=float("inf")),
    ],
)
def test_what_is_not_told_or_not_believable_is_estimated_and_priced(told: Usage | None) -> None:
    used = accounted(told, ASKED, SAID)
    assert used.estimated
    assert 110 <= used.input_tokens <= 130
    assert (used.output_tokens, used.cache_read_tokens) == (10, 0)
    assert used.cost == pytest.approx(used.input_tokens + 20)


def test_each_side_is_judged_by_itself() -> None:
    used = accounted(Usage(input_tokens=7, cost=7.0), ASKED, SAID)
    assert (used.input_tokens, used.output_tokens, used.cost) == (7, 10, 27.0)
    assert accounted(Usage(input_tokens=7), ASKED, Envelope()) == Usage(input_tokens=7, cost=7.0)


def test_what_is_told_and_believable_stays_as_it_is() -> None:
    told = Usage(input_tokens=7, output_tokens=3, cache_read_tokens=2, cost=0.25)
    assert accounted(told, ASKED, SAID) is told


def test_an_estimate_counts_calls_reasoning_tools_and_images() -> None:
    tool = ToolDefinition(name="add", description="d" * 400)
    picture = Message(role="user", content=[ImageBlock(data="A" * 400_000, media_type="image/png")])
    call = ASKED.model_copy(update={"tools": (tool,), "request": Request(messages=[picture])})
    function = {"name": "add", "arguments": '{"a": "' + "b" * 400 + '"}'}
    message = {"content": None, "reasoning_content": "r" * 400, "tool_calls": [{"id": "1", "function": function}]}
    used = accounted(None, call, normalize({"choices": [{"message": message}]}))
    assert 1100 <= used.input_tokens <= 1300
    assert 200 <= used.output_tokens <= 210


def test_cost_by_the_table() -> None:
    cost = cost_of(Usage(input_tokens=1_000_000, output_tokens=1_000_000, cache_read_tokens=400_000), GPT)
    assert cost == pytest.approx(0.6 * 2.5 + 0.4 * 1.25 + 10.0)


def test_cost_by_the_endpoints_own_prices() -> None:
    priced = GPT.model_copy(update={"prices": Prices(input=1.0, output=2.0)})
    usage = Usage(input_tokens=1_000_000, output_tokens=500_000, cache_read_tokens=100, cache_write_tokens=100)
    assert cost_of(usage, priced) == pytest.approx(2.0)


def test_an_unknown_price_is_never_free() -> None:
    assert cost_of(Usage(input_tokens=5), LOCAL) is None
    assert cost_of(Usage(input_tokens=5), GPT.model_copy(update={"prices": Prices(input=1.0)})) is None
