"""Which family a model belongs to, which targets the family has, and whether a recording is of a real provider.

A family is who trained the model, wherever it is served: Claude on Bedrock is `claude`. The targets are the user's
document's (success metrics: OpenAI 99 %, Claude 95 %, Llama 85 %, 0.2 retries a call, fallbacks under 5 %).
"""

from __future__ import annotations

import re

__all__ = ["MAX_FALLBACK_SHARE", "MAX_RETRIES_PER_CALL", "SUCCESS_TARGETS", "family_of", "is_real_provider"]

SUCCESS_TARGETS = {"openai": 0.99, "claude": 0.95, "llama": 0.85}
"""The least share of units that succeed."""
MAX_RETRIES_PER_CALL = 0.2
MAX_FALLBACK_SHARE = 0.05
"""Fallbacks stay below this."""

_FAMILIES = tuple(
    (re.compile(pattern), family)
    for pattern, family in (  # the first found in the model's name; derived models stand before what they derive from
        (r"claude", "claude"),
        (r"deepseek", "deepseek"),
        (r"hermes", "hermes"),
        (r"nemotron", "nemotron"),
        (r"gpt-oss", "gpt-oss"),
        (r"qwen|qwq", "qwen"),
        (r"(?<!o)llama", "llama"),  # not `ollama/...`
        (r"gemini", "gemini"),
        (r"gemma", "gemma"),
        (r"mistral|mixtral|ministral|codestral|devstral|magistral|pixtral", "mistral"),
        (r"\bcommand-?[ar]", "command"),
        (r"\bgrok", "grok"),
        (r"\bnova-|titan", "amazon"),
        (r"\bglm", "glm"),
        (r"kimi|moonshot", "kimi"),
        (r"minimax", "minimax"),
        (r"\bphi-?\d", "phi"),
        (r"granite", "granite"),
        (r"\bgpt-?\d|chatgpt|\bo[134](?:-|$)|davinci|codex", "openai"),
    )
)
_FAMILY_OF_PROVIDER = {
    "anthropic": "claude",
    "cohere": "command",
    "xai": "grok",
    "moonshot": "kimi",
    "vertex": "gemini",
}
_REAL = re.compile(r"\s*(?:provider|real|live|production)\b", re.IGNORECASE)


def family_of(provider: str, model: str) -> str:
    """By the model's name; else the provider's own family or name; `unknown` when neither is told."""
    name = model.lower()
    for pattern, family in _FAMILIES:
        if pattern.search(name):
            return family
    provider = provider.lower()
    return _FAMILY_OF_PROVIDER.get(provider, provider) or "unknown"


def is_real_provider(provenance: str | None) -> bool:
    """May targets be judged by such a recording? Only where a real provider answered.

    True when the provenance begins with `provider`, `real`, `live` or `production`, or is not stated: who replays
    traffic of their own has seldom labelled it. Recorders that talk to a stand-in state it (`local: ...`), and any
    other word counts as local too.
    """
    return provenance is None or not provenance.strip() or _REAL.match(provenance) is not None
