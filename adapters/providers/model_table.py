"""Reads LiteLLM's model table as data: context windows, prices and supported features.

The file is read from the installed package, so that a look-up never imports litellm (2-3 s). Once litellm is loaded, its live
table is used, which includes models registered with `litellm.register_model`.

The table is easily misread, so these rules apply. Only a name that is a key counts, since the table's name patterns invent
entries. True counts, and False means unknown. A price of 0, or one that is not finite, is unknown. The first look-up costs
about 35 ms, later ones a dict access.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from llmcore.adapters.base import Capabilities, Endpoint, Prices
from llmcore.adapters.providers import provider_of
from llmcore.support.values.bounds import is_amount
from llmcore.support.values.narrowing import is_object

__all__ = ["litellm_entry", "table_capabilities", "table_prices"]

_FILE = "model_prices_and_context_window_backup.json"

_SUPPORTS = {
    "native_tools": "supports_function_calling",
    "json_schema": "supports_response_schema",
    "parallel_tools": "supports_parallel_function_calling",
    "reasoning": "supports_reasoning",
    "images": "supports_vision",
    "files": "supports_pdf_input",
    "audio": "supports_audio_input",
    "web_search": "supports_web_search",
}
_PRICES = {
    "input": "input_cost_per_token",
    "output": "output_cost_per_token",
    "cache_read": "cache_read_input_token_cost",
    "cache_write": "cache_creation_input_token_cost",
}
_PER_MILLION = 1_000_000


@cache
def _shipped_table() -> Mapping[str, Any]:
    spec = find_spec("litellm")
    if spec is None or spec.origin is None:
        return {}
    try:
        table = json.loads((Path(spec.origin).parent / _FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    return table if is_object(table) else {}


def _table() -> Mapping[str, Any]:
    loaded = sys.modules.get("litellm")
    live = getattr(loaded, "model_cost", None)
    return live if is_object(live) and live else _shipped_table()


def litellm_entry(endpoint: Endpoint) -> Mapping[str, Any]:
    """Return the table's row of an endpoint's model. Empty if no key names it, with its provider's prefix, or alone if the
    row names the provider."""
    provider, table = provider_of(endpoint), _table()
    for name in (f"{provider.prefix}/{endpoint.model}", endpoint.model):
        row = table.get(name)
        if is_object(row) and str(row.get("litellm_provider")).partition("-")[0] == provider.prefix:
            return row  # `vertex_ai-language-models`: families of one provider
    return {}


def table_capabilities(endpoint: Endpoint) -> Capabilities:
    """Return what LiteLLM's table certainly says of an endpoint. All other fields are None."""
    row = litellm_entry(endpoint)
    known: dict[str, Any] = {field: True for field, key in _SUPPORTS.items() if row.get(key) is True}
    for field, key in (("context_window", "max_input_tokens"), ("max_output_tokens", "max_output_tokens")):
        if isinstance(row.get(key), int) and row[key] > 0:
            known[field] = row[key]
    return Capabilities(**known)


def table_prices(endpoint: Endpoint) -> Prices | None:
    """Return US dollars per million tokens by LiteLLM's table. None for other base URLs than the provider's own, unlisted
    models, and prices of 0."""
    row: Mapping[str, Any] = {} if endpoint.base_url else litellm_entry(endpoint)
    prices: dict[str, float] = {
        field: price * _PER_MILLION for field, key in _PRICES.items() if is_amount(price := row.get(key)) and price > 0
    }
    return Prices(**prices) if {"input", "output"} <= prices.keys() else None
