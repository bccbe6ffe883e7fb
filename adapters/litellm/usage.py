"""Tokens and cost of one request, in LiteLLM's counting for every wire format.

LiteLLM's `usage` has OpenAI's form for all providers. `prompt_tokens` includes cached tokens (for Anthropic: input + cache
write + cache read), and `completion_tokens` includes reasoning (for Gemini: thoughts). Prices are the endpoint's, else those
of LiteLLM's table if they can be trusted. If a price is unknown, the cost is None, never 0.

If a server omits usage, it is estimated, in one way for every format. If a budget depends on a number, an implausible one (0
for a side that is not empty, or more than any model reads or writes) is estimated too. So a server cannot switch a budget
off.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmcore.adapters.base import Endpoint, ModelCall, Prices
from llmcore.adapters.providers import IN_PROCESS, provider_of
from llmcore.adapters.providers.model_table import table_prices
from llmcore.adapters.wire.counts import MOST_TOKENS, count_of
from llmcore.support.values.bounds import is_amount
from llmcore.support.values.narrowing import is_object, object_in, objects_in
from llmcore.types import Block, Envelope, MediaBlock, ToolResultBlock, Usage

__all__ = ["accounted", "cost_of", "most_cost_of", "read_usage", "tokens_in", "tokens_of", "usage_of_reply", "whole_prompt"]

_PER_MILLION = 1_000_000
_CHARACTERS_PER_TOKEN = 4
_UNBOUNDED_OUTPUT = 4096
"""The output tokens that a request is expected to need at most if nothing bounds them."""
_INPUT = ("prompt_tokens", "input_tokens")
_OUTPUT = ("completion_tokens", "output_tokens")
_INPUT_DETAILS = ("prompt_tokens_details", "input_tokens_details")
_OUTPUT_DETAILS = ("completion_tokens_details", "output_tokens_details")
"""LiteLLM's names, and those of bodies that LiteLLM does not read."""


def _count(source: object, *path: str) -> int:
    for key in path:
        source = source.get(key) if is_object(source) else None
    return count_of(source)


_HOLDERS = ("response", "x_groq", "delta", "metadata")


def _detail(usage: object, places: tuple[str, ...], name: str) -> int:
    return next(filter(None, (_count(usage, place, name) for place in places)), 0)


def usage_of_reply(*events: Mapping[str, Any]) -> object:
    """Return the usage in a body or in stream events, None without one.

    It is in its usual field, or where Groq (`x_groq`), Moonshot (the choice), Cohere (the last delta), Bedrock (`metadata`)
    and OpenAI's Responses (the last event) put it. Of several, the first with counts is used, since LiteLLM loses Cohere's.
    """
    found = [
        _as_openai_usage(object_in(usage.get("tokens")) or usage)
        for event in events
        for place in (event, *(object_in(event.get(key)) for key in _HOLDERS), *objects_in(event.get("choices")))
        if is_object(usage := place.get("usage") or place.get("usageMetadata")) and usage
    ]
    return next(filter(_has_counts, found), found[0] if found else None)


def whole_prompt(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Return Claude's usage with the cached tokens added to the input tokens, as others count them."""
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return {**usage, "input_tokens": sum(count_of(usage.get(name)) for name in names)}


def _as_openai_usage(usage: dict[str, Any]) -> dict[str, Any]:
    """Gemini's and Bedrock's own usage in OpenAI's form, counted like LiteLLM; other usage unchanged."""
    if "promptTokenCount" in usage:
        names = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "toolUsePromptTokenCount", "totalTokenCount")
        prompt, output, thoughts, tool_prompt, total = (_count(usage, name) for name in names)
        return {
            "prompt_tokens": prompt + tool_prompt,
            "completion_tokens": output
            if prompt + output + tool_prompt == total
            else output + thoughts,  # some servers count thoughts as output
            "prompt_tokens_details": {"cached_tokens": _count(usage, "cachedContentTokenCount")},
            "completion_tokens_details": {"reasoning_tokens": thoughts},
        }
    if "inputTokens" in usage:
        read, written = _count(usage, "cacheReadInputTokens"), _count(usage, "cacheWriteInputTokens")
        return {
            "prompt_tokens": _count(usage, "inputTokens") + read + written,
            "completion_tokens": _count(usage, "outputTokens"),
            "prompt_tokens_details": {"cached_tokens": read, "cache_creation_tokens": written},
        }
    return usage


def _has_counts(usage: dict[str, Any]) -> bool:
    return any(count_of(usage.get(name)) for name in (*_INPUT, *_OUTPUT))


def read_usage(usage: object, endpoint: Endpoint, *, estimated: bool = False) -> Usage:
    """Return LiteLLM's `usage` (a dict) as a priced `Usage`. Without any count it is `estimated`.

    `estimated`: the server sent no usage, so the counts are LiteLLM's guess and are not used.
    """
    cached = _detail(usage, _INPUT_DETAILS, "cached_tokens") or _count(usage, "prompt_cache_hit_tokens")
    read = cached or _count(usage, "cache_read_input_tokens")
    written = _count(usage, "prompt_tokens_details", "cache_creation_tokens") or _count(usage, "cache_creation_input_tokens")
    input_tokens = max(_count(usage, name) for name in _INPUT)
    counted = Usage(
        # if there are more cached than input tokens, the input excludes them, as in Anthropic's count
        input_tokens=input_tokens if read + written <= input_tokens or not input_tokens else input_tokens + read + written,
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


def accounted(reported: Usage | None, call: ModelCall, reply: Envelope) -> Usage:
    """Return what a request counts in a budget: the reported usage if plausible, else an estimate (`estimated`), a fourth of
    the characters.

    The cost is None only if the price is unknown. O(size of the request and the reply), only if something is estimated.
    """
    usage = reported or Usage()
    changes: dict[str, int] = {}
    if not 0 < usage.input_tokens <= MOST_TOKENS:
        changes["input_tokens"] = _request_tokens(call)
    if not 0 < usage.output_tokens <= MOST_TOKENS:
        changes["output_tokens"] = _reply_tokens(reply)
    if not 0 <= usage.cache_read_tokens + usage.cache_write_tokens <= changes.get("input_tokens", usage.input_tokens):
        changes |= {"cache_read_tokens": 0, "cache_write_tokens": 0}
    if any(getattr(usage, name) != tokens for name, tokens in changes.items()):
        usage = usage.model_copy(update={**changes, "estimated": True})
    elif is_amount(usage.cost) and usage.cost:
        return usage
    charged = usage.cost if is_amount(usage.cost) and usage.cost else None
    costs = [cost for cost in (charged, cost_of(usage, call.endpoint)) if cost is not None]
    return usage.model_copy(update={"cost": max(costs, default=None)})


def most_cost_of(call: ModelCall) -> float | None:
    """Return the US dollars that a request is expected to cost at most; None if the price is unknown.

    The input is estimated as a fourth of the characters. The output is the request's `max_tokens`, else the model's maximum,
    else 4096 tokens.
    """
    can = call.capabilities
    bounds = (call.request.max_tokens, call.endpoint.max_output_tokens, can.max_output_tokens if can else None)
    output = next(filter(None, bounds), _UNBOUNDED_OUTPUT)
    return cost_of(Usage(input_tokens=_request_tokens(call), output_tokens=output), call.endpoint)


def _request_tokens(call: ModelCall) -> int:
    """A rough number of tokens in a request: its texts, tools, schema and media."""
    request = call.request
    blocks = [block for message in request.messages for block in message.content]
    carried = [str(request.system or ""), str(call.output_schema or ""), *(tool.model_dump_json() for tool in call.tools)]
    return tokens_of(sum(map(len, carried))) + sum(map(tokens_in, blocks))


def tokens_in(block: Block) -> int:
    """A rough number of tokens in a block."""
    if isinstance(block, MediaBlock):
        return block.kind.tokens
    if isinstance(block, ToolResultBlock):
        return sum(map(tokens_in, block.content))
    return tokens_of(len(block.model_dump_json()))


def _reply_tokens(reply: Envelope) -> int:
    """A rough number of tokens in a reply. The source of a native reply contains neither its calls nor its reasoning."""
    text = max(len(reply.source), len(reply.content) + len(reply.reasoning))
    return tokens_of(text + sum(len(call.name) + len(call.raw_arguments) for call in reply.tool_calls if call.span is None))


def tokens_of(characters: int) -> int:
    """A rough number of tokens in so many characters."""
    return -(-characters // _CHARACTERS_PER_TOKEN)


def cost_of(usage: Usage, endpoint: Endpoint) -> float | None:
    """Return US dollars, None if the price of input or output is unknown. Without their own price, cached tokens cost as much
    as input. A model in this process costs nothing."""
    if endpoint.provider in IN_PROCESS:
        return 0.0
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
