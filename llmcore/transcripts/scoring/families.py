"""The family of a model, the targets of a family, and whether a recording is of a real provider.

A family is named after the trained model, wherever it is served: Claude on Bedrock is `claude`. The targets are the
success metrics: OpenAI 99 %, Claude 95 %, Llama 85 %, 0.2 retries a call, fallbacks under 5 %.
"""

from __future__ import annotations

import re

__all__ = ["MAX_FALLBACK_SHARE", "MAX_RETRIES_PER_CALL", "SUCCESS_TARGETS", "family_of", "is_real_provider"]

SUCCESS_TARGETS = {"openai": 0.99, "claude": 0.95, "llama": 0.85}
"""The smallest allowed share of units that succeed."""
MAX_RETRIES_PER_CALL = 0.2
MAX_FALLBACK_SHARE = 0.05
"""The share of fallbacks must be below this."""

_FAMILIES = tuple(
    (re.compile(pattern), family)
    for pattern, family in (  # the first match in the model's name counts, so derived models precede their base
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
    """The family by the model's name, else the provider's own family or name, else `unknown`."""
    name = model.lower()
    for pattern, family in _FAMILIES:
        if pattern.search(name):
            return family
    provider = provider.lower()
    return _FAMILY_OF_PROVIDER.get(provider, provider) or "unknown"


def is_real_provider(provenance: str | None) -> bool:
    """Did a real provider answer? Only such recordings count for the targets.

    True if the provenance begins with `provider`, `real`, `live` or `production`, or is missing: people seldom label
    their own traffic. Recorders of a local stand-in label it (`local: ...`). Any other word counts as local too.
    """
    return provenance is None or not provenance.strip() or _REAL.match(provenance) is not None
