"""LiteLLM's table is believed only where it can be."""

from __future__ import annotations

import subprocess
import sys

import pytest

from llmcore.adapters.base import Endpoint
from llmcore.adapters.capabilities.known import known_capabilities
from llmcore.adapters.providers import model_table
from llmcore.adapters.providers.model_table import litellm_entry, table_capabilities, table_prices


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("anthropic", "claude-unknown-9"),  # a name pattern of LiteLLM's would invent an entry
        ("openrouter", "anthropic/claude-unknown"),
        ("groq", "not-a-model"),
        ("openai_compatible", "private"),
    ],
)
def test_a_name_that_is_no_key_is_unknown(provider: str, model: str) -> None:
    endpoint = Endpoint(provider=provider, model=model)
    assert litellm_entry(endpoint) == {}
    assert table_capabilities(endpoint).model_dump(exclude_none=True, exclude={"text_dialect"}) == {
        "unsupported_parameters": frozenset()
    }
    assert table_prices(endpoint) is None


def test_true_counts_and_false_is_unknown() -> None:
    known = table_capabilities(Endpoint(provider="anthropic", model="claude-sonnet-4-5"))
    assert known.native_tools is True
    assert known.parallel_tools is None  # the table has no such key, though the model does it
    assert known.context_window == 200_000


def test_prices_are_per_million() -> None:
    prices = table_prices(Endpoint(provider="openai", model="gpt-4o"))
    assert prices is not None
    assert (prices.input, prices.output, prices.cache_read) == (2.5, 10.0, 1.25)


def test_another_base_url_has_no_known_price() -> None:
    assert table_prices(Endpoint(provider="openai", model="gpt-4o", base_url="http://127.0.0.1:1/v1")) is None


def test_a_price_of_zero_is_unknown() -> None:
    free = Endpoint(provider="gemini", model="gemini-exp-1206")
    assert litellm_entry(free)["input_cost_per_token"] == 0
    assert table_prices(free) is None


def test_a_look_up_does_not_import_litellm() -> None:
    code = (
        "import sys; from llmcore.adapters.providers.model_table import table_prices; from llmcore.adapters.base import Endpoint;"
        "assert table_prices(Endpoint(provider='openai', model='gpt-4o')); assert 'litellm' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("price", [float("nan"), float("inf"), -1.0, 0, True, "0.1"])
def test_a_price_of_the_table_that_is_none_is_unknown(price: object, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"litellm_provider": "openai", "input_cost_per_token": price, "output_cost_per_token": 1e-6}
    monkeypatch.setattr(model_table, "_table", lambda: {"gpt-odd": row})
    assert table_prices(Endpoint(provider="openai", model="gpt-odd")) is None


def test_a_row_of_one_of_a_providers_families_is_the_providers() -> None:
    gemini = Endpoint(provider="vertex_ai", model="gemini-2.5-pro")  # LiteLLM's provider: `vertex_ai-language-models`
    assert known_capabilities(gemini).json_schema is True
    assert table_prices(gemini) is not None
