"""Tokens and cost, as LiteLLM counts them."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.adapters.base import Endpoint, Prices
from llmcore.adapters.usage import cost_of, read_usage
from llmcore.types import Usage

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


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None}, "none", {"prompt_tokens": -1}])
def test_without_any_count_it_is_an_estimate(usage: object) -> None:
    assert read_usage(usage, LOCAL) == Usage(estimated=True)


def test_litellms_own_sum_is_no_charge() -> None:
    assert read_usage(COUNTED | {"cost": 0.5}, LOCAL).cost is None
    router = Endpoint(provider="openrouter", model="some/model")
    assert read_usage(COUNTED | {"cost": 0.5}, router).cost == 0.5


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
