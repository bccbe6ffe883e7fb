"""Tokens and cost of one request, as LiteLLM counts them on every wire.

LiteLLM's `usage` is OpenAI-shaped for all providers: `prompt_tokens` holds the cached ones (for Anthropic: input +
cache write + cache read), `completion_tokens` the reasoning (for Gemini: the thoughts). Prices are the endpoint's, else
LiteLLM's table's where that can be trusted; an unknown price gives cost None, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmcore.adapters.base import Endpoint, Prices
from llmcore.adapters.model_table import table_prices
from llmcore.adapters.providers import provider_of
from llmcore.types import Usage
from llmcore.types.narrowing import is_object, object_in, objects_in

__all__ = ["cost_of", "read_usage", "usage_in"]

_PER_MILLION = 1_000_000


def _count(source: object, *path: str) -> int:
    for key in path:
        source = source.get(key) if is_object(source) else None
    return source if isinstance(source, int) and source > 0 else 0


def usage_in(event: Mapping[str, Any]) -> object:
    """The usage that a body or a stream event tells, None when it tells none: in its usual place, or where Groq (`x_groq`) and
    Moonshot (the choice) put it."""
    places = (event, object_in(event.get("x_groq")), *objects_in(event.get("choices")))
    return next((usage for place in places if is_object(usage := place.get("usage")) and usage), None)


def read_usage(usage: object, endpoint: Endpoint, *, estimated: bool = False) -> Usage:
    """`usage` (LiteLLM's, as a dict) as ours, priced. Without any count it is `estimated`, for nobody counted."""
    cached = _count(usage, "prompt_tokens_details", "cached_tokens") or _count(usage, "prompt_cache_hit_tokens")
    counted = Usage(
        input_tokens=_count(usage, "prompt_tokens"),
        output_tokens=_count(usage, "completion_tokens"),
        cache_read_tokens=cached or _count(usage, "cache_read_input_tokens"),
        cache_write_tokens=(
            _count(usage, "prompt_tokens_details", "cache_creation_tokens") or _count(usage, "cache_creation_input_tokens")
        ),
        reasoning_tokens=_count(usage, "completion_tokens_details", "reasoning_tokens"),
    )
    if not counted.total_tokens:
        return counted.model_copy(update={"estimated": True})
    charged = _charged(usage) if provider_of(endpoint).reports_cost else None
    return counted.model_copy(update={"estimated": estimated, "cost": charged or cost_of(counted, endpoint)})


def _charged(usage: object) -> float | None:
    cost = usage.get("cost") if is_object(usage) else None
    return float(cost) if isinstance(cost, int | float) and cost > 0 else None


def cost_of(usage: Usage, endpoint: Endpoint) -> float | None:
    """US dollars; None when the price of input or output is unknown. Cached tokens without a price of their own cost as
    input."""
    prices: Prices | None = endpoint.prices or table_prices(endpoint)
    if prices is None or prices.input is None or prices.output is None:
        return None
    fresh = max(0, usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens)
    read = prices.cache_read if prices.cache_read is not None else prices.input
    write = prices.cache_write if prices.cache_write is not None else prices.input
    parts = (
        (fresh, prices.input),
        (usage.cache_read_tokens, read),
        (usage.cache_write_tokens, write),
        (usage.output_tokens, prices.output),
    )
    return sum(tokens * price for tokens, price in parts) / _PER_MILLION
