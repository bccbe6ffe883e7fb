"""Reads tokens, id and model from a recorded or scripted reply of any wire, whole or as a stream's events.

LiteLLM's and OpenAI's bodies, Responses, Anthropic, Gemini, Bedrock, Cohere and Ollama use different names for them;
one table has the names. If several events of a stream give token counts, the last one counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from llmcore.support.values.narrowing import is_object, object_in
from llmcore.types import Usage

__all__ = ["identity_in", "usage_of_body"]

JsonObject = dict[str, Any]
_HOLDERS = ("response", "message", "delta", "metadata", "llmcore")
"""The keys of a stream's event under which the top-level fields of a whole body may be."""
_USAGES = ("usage", "usageMetadata", "usage_metadata")
_DETAILS = ("tokens", "billed_units")
_USAGE_KEYS = frozenset({*_HOLDERS, *_USAGES, "eval_count"})
"""A body without any of these has no token counts."""
_NAMES: dict[str, tuple[str, ...]] = {
    "input_tokens": (
        "prompt_tokens", "input_tokens", "inputTokens", "promptTokenCount", "prompt_token_count", "prompt_eval_count",
    ),
    "output_tokens": (
        "completion_tokens", "output_tokens", "outputTokens", "candidatesTokenCount", "candidates_token_count", "eval_count",
    ),
    "cache_read_tokens": (
        "prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens", "cache_read_input_tokens",
        "cacheReadInputTokens", "cachedContentTokenCount", "cached_content_token_count", "prompt_cache_hit_tokens",
        "cache_read_tokens",
    ),
    "cache_write_tokens": (
        "prompt_tokens_details.cache_creation_tokens", "cache_creation_input_tokens", "cacheWriteInputTokens",
        "cache_write_tokens",
    ),
    "reasoning_tokens": (
        "completion_tokens_details.reasoning_tokens", "output_tokens_details.reasoning_tokens", "reasoning_tokens",
    ),
    "thoughts": ("thoughtsTokenCount", "thoughts_token_count"),
}  # fmt: skip
_WITHOUT_CACHED = ("cache_read_input_tokens", "cache_creation_input_tokens", "cacheReadInputTokens", "cacheWriteInputTokens")
"""A wire with these and without `prompt_tokens` does not count cached tokens as input. llmcore does."""


def usage_of_body(raw: object) -> Usage | None:
    """The usage in a body or in a stream's events (a list or tuple); None if there is none."""
    if raw.__class__ is dict and _USAGE_KEYS.isdisjoint(cast("JsonObject", raw)):
        return None
    counts: dict[str, int] = {}
    cost: float | None = None
    without_cached = False
    for usage in _token_counts(raw):
        for field, names in _NAMES.items():
            counts[field] = next(filter(None, (_count(usage, name) for name in names)), 0) or counts.get(field, 0)
        without_cached = without_cached or ("prompt_tokens" not in usage and any(name in usage for name in _WITHOUT_CACHED))
        charged = usage.get("cost")
        cost = float(charged) if isinstance(charged, int | float) and charged > 0 else cost
    thoughts = counts.pop("thoughts", 0)
    if not any(counts.values()):
        return None
    counts["output_tokens"] += thoughts
    counts["reasoning_tokens"] = counts["reasoning_tokens"] or thoughts
    if without_cached:
        counts["input_tokens"] += counts["cache_read_tokens"] + counts["cache_write_tokens"]
    return Usage.model_validate({**counts, "cost": cost})


def identity_in(raw: object) -> tuple[str, str]:
    """The reply's id and the model that answered, `""` for a missing one."""
    id_ = model = ""
    if raw.__class__ is dict and _IDENTITY_KEYS.isdisjoint(cast("JsonObject", raw)):
        return id_, model
    for holder in _holders(raw):
        id_, model = id_ or _first_text(holder, _IDS), model or _first_text(holder, _MODELS)
    return id_, model


_IDS = ("id", "responseId", "response_id")
_MODELS = ("model", "modelVersion", "model_version")
_IDENTITY_KEYS = frozenset({*_HOLDERS, *_IDS, *_MODELS})
"""A body without any of these has neither."""


def _first_text(holder: JsonObject, names: tuple[str, ...]) -> str:
    for name in names:
        if isinstance(text := holder.get(name), str):
            return text
    return ""


def _token_counts(raw: object) -> Iterator[JsonObject]:
    """Every object with token counts."""
    for holder in _holders(raw):
        usages = [holder[name] for name in _USAGES if name in holder and is_object(holder[name])]
        for usage in usages or [holder] * ("eval_count" in holder):
            yield usage
            yield from (usage[name] for name in _DETAILS if is_object(usage.get(name)))


def _holders(raw: object) -> Iterator[JsonObject]:
    for event in _events(raw):
        yield event
        for name in _HOLDERS:
            if name in event and is_object(event[name]):
                yield event[name]


def _events(raw: object) -> Iterable[JsonObject]:
    if is_object(raw):
        return (raw,)
    if isinstance(raw, Mapping):
        return [dict(cast("Mapping[str, Any]", raw))]
    several = cast("Sequence[object]", raw) if isinstance(raw, list | tuple) else ()
    return [object_in(event) for event in several]


def _count(usage: JsonObject, path: str) -> int:
    first, _, rest = path.partition(".")
    value: object = object_in(usage.get(first)).get(rest) if rest else usage.get(first)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e12:
        return 0
    return int(value)
