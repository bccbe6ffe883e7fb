"""Tokens and cost of one request, as LiteLLM counts them on every wire.

LiteLLM's `usage` is OpenAI-shaped for all providers: `prompt_tokens` holds the cached ones (for Anthropic: input +
cache write + cache read), `completion_tokens` the reasoning (for Gemini: the thoughts). Prices are the endpoint's, else
LiteLLM's table's where that can be trusted; an unknown price gives cost None, never 0.

Usage that a server leaves out is estimated, in one way on every wire. Where a budget hangs on a number, also one that cannot be
believed is (0 for a side that is not empty, more than any model reads or writes): a budget is never switched off by what a
server says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmcore.adapters.base import Endpoint, ModelCall, Prices
from llmcore.adapters.providers import provider_of
from llmcore.adapters.providers.model_table import table_prices
from llmcore.adapters.wire.counts import MOST_TOKENS, count_of
from llmcore.support.values.bounds import is_amount
from llmcore.support.values.narrowing import is_object, object_in, objects_in
from llmcore.types import Block, Envelope, ImageBlock, ToolResultBlock, Usage

__all__ = ["accounted", "cost_of", "read_usage", "tokens_of", "usage_of_reply", "whole_prompt"]

_PER_MILLION = 1_000_000
_CHARACTERS_PER_TOKEN = 4
_TOKENS_PER_IMAGE = 1000
_INPUT = ("prompt_tokens", "input_tokens")
_OUTPUT = ("completion_tokens", "output_tokens")
_INPUT_DETAILS = ("prompt_tokens_details", "input_tokens_details")
_OUTPUT_DETAILS = ("completion_tokens_details", "output_tokens_details")
"""LiteLLM's names, and those of a body that LiteLLM does not read."""


def _count(source: object, *path: str) -> int:
    for key in path:
        source = source.get(key) if is_object(source) else None
    return count_of(source)


_HOLDERS = ("response", "x_groq", "delta", "metadata")


def _detail(usage: object, places: tuple[str, ...], name: str) -> int:
    return next(filter(None, (_count(usage, place, name) for place in places)), 0)


def usage_of_reply(*events: Mapping[str, Any]) -> object:
    """The usage that a body or a stream event tells, None when it tells none.

    It stands in its usual place, or where Groq (`x_groq`), Moonshot (the choice), Cohere (the last delta), Bedrock (`metadata`)
    and OpenAI's responses (the last event) put it. Of several the first that counts: LiteLLM loses Cohere's.
    """
    found = [
        _in_openais_words(object_in(usage.get("tokens")) or usage)
        for event in events
        for place in (event, *(object_in(event.get(key)) for key in _HOLDERS), *objects_in(event.get("choices")))
        if is_object(usage := place.get("usage") or place.get("usageMetadata")) and usage
    ]
    return next(filter(_counts, found), found[0] if found else None)


def whole_prompt(usage: Mapping[str, Any]) -> dict[str, Any]:
    """The usage as Claude tells it, with the cached tokens among the input's, as others count them."""
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return {**usage, "input_tokens": sum(count_of(usage.get(name)) for name in names)}


def _in_openais_words(usage: dict[str, Any]) -> dict[str, Any]:
    """Gemini's and Bedrock's own usage, counted as LiteLLM counts it; any other as it is."""
    if "promptTokenCount" in usage:
        names = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "toolUsePromptTokenCount", "totalTokenCount")
        asked, said, thought, by_tools, total = (_count(usage, name) for name in names)
        return {
            "prompt_tokens": asked + by_tools,
            "completion_tokens": said if asked + said + by_tools == total else said + thought,  # some count thoughts as said
            "prompt_tokens_details": {"cached_tokens": _count(usage, "cachedContentTokenCount")},
            "completion_tokens_details": {"reasoning_tokens": thought},
        }
    if "inputTokens" in usage:
        read, written = _count(usage, "cacheReadInputTokens"), _count(usage, "cacheWriteInputTokens")
        return {
            "prompt_tokens": _count(usage, "inputTokens") + read + written,
            "completion_tokens": _count(usage, "outputTokens"),
            "prompt_tokens_details": {"cached_tokens": read, "cache_creation_tokens": written},
        }
    return usage


def _counts(usage: dict[str, Any]) -> bool:
    return any(count_of(usage.get(name)) for name in (*_INPUT, *_OUTPUT))


def read_usage(usage: object, endpoint: Endpoint, *, estimated: bool = False) -> Usage:
    """`usage` (LiteLLM's, as a dict) as ours, priced. Without any count it is `estimated`, for nobody counted. `estimated`: the
    server told none, so what stands there is LiteLLM's guess, and none of ours."""
    cached = _detail(usage, _INPUT_DETAILS, "cached_tokens") or _count(usage, "prompt_cache_hit_tokens")
    read = cached or _count(usage, "cache_read_input_tokens")
    written = _count(usage, "prompt_tokens_details", "cache_creation_tokens") or _count(usage, "cache_creation_input_tokens")
    told = max(_count(usage, name) for name in _INPUT)
    counted = Usage(
        # of what holds more cached tokens than there were, those are left out, as Anthropic leaves them out
        input_tokens=told if read + written <= told or not told else told + read + written,
        output_tokens=max(_count(usage, name) for name in _OUTPUT),
        cache_read_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=_detail(usage, _OUTPUT_DETAILS, "reasoning_tokens"),
    )
    charged = _charged(usage) if provider_of(endpoint).reports_cost else None
    if estimated or not counted.total_tokens:
        return Usage(estimated=True, cost=charged)
    return counted.model_copy(update={"cost": charged or cost_of(counted, endpoint)})


def _charged(usage: object) -> float | None:
    cost = usage.get("cost") if is_object(usage) else None
    return float(cost) if is_amount(cost) and cost > 0 else None


def accounted(told: Usage | None, call: ModelCall, reply: Envelope) -> Usage:
    """What a request counts for in a budget: what was told where it can be believed; else an estimate (`estimated`), a
    fourth of the characters. Its cost is None only where the price is unknown. O(size of the request and the reply),
    and only where something must be estimated."""
    usage = told or Usage()
    changes: dict[str, int] = {}
    if not 0 < usage.input_tokens <= MOST_TOKENS:
        changes["input_tokens"] = _asked(call)
    if not 0 < usage.output_tokens <= MOST_TOKENS:
        changes["output_tokens"] = _answered(reply)
    if not 0 <= usage.cache_read_tokens + usage.cache_write_tokens <= changes.get("input_tokens", usage.input_tokens):
        changes |= {"cache_read_tokens": 0, "cache_write_tokens": 0}
    if any(getattr(usage, name) != tokens for name, tokens in changes.items()):
        usage = usage.model_copy(update={**changes, "estimated": True})
    elif is_amount(usage.cost) and usage.cost:
        return usage
    charged = usage.cost if is_amount(usage.cost) and usage.cost else None
    costs = [cost for cost in (charged, cost_of(usage, call.endpoint)) if cost is not None]
    return usage.model_copy(update={"cost": max(costs, default=None)})


def _asked(call: ModelCall) -> int:
    """Tokens of a request, roughly: its texts, the tools and the schema it carries, its images."""
    request = call.request
    blocks = [block for message in request.messages for block in message.content]
    carried = [str(request.system or ""), str(call.output_schema or ""), *(tool.model_dump_json() for tool in call.tools)]
    return tokens_of(sum(map(len, carried))) + sum(map(_tokens_in, blocks))


def _tokens_in(block: Block) -> int:
    if isinstance(block, ImageBlock):
        return _TOKENS_PER_IMAGE
    if isinstance(block, ToolResultBlock):
        return sum(map(_tokens_in, block.content))
    return tokens_of(len(block.model_dump_json()))


def _answered(reply: Envelope) -> int:
    """Tokens of a reply, roughly. The source of a native reply holds neither its calls nor its reasoning."""
    text = max(len(reply.source), len(reply.content) + len(reply.reasoning))
    return tokens_of(text + sum(len(call.name) + len(call.raw_arguments) for call in reply.tool_calls if call.span is None))


def tokens_of(characters: int) -> int:
    """The tokens that so many characters are, roughly."""
    return -(-characters // _CHARACTERS_PER_TOKEN)


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
