"""Provider differences as data: one row a provider, with its capabilities, limits, schema dialect and quirks.

`provider_of` never fails: a provider without a row is passed to LiteLLM under its own name with nothing assumed.
Beside it LiteLLM's table of models, read as a file. Nothing here sends, and nothing learns at run time (`capabilities` does).
"""

from __future__ import annotations

from llmcore.adapters.base import Endpoint
from llmcore.adapters.providers.families import DEFAULT_DIALECT, TEXT_DIALECTS, text_dialect
from llmcore.adapters.providers.provider import IdRule, Limits, ModelRow, NameRule, Provider
from llmcore.adapters.providers.table import OPENAI_COMPATIBLE, PROVIDERS

__all__ = [
    "DEFAULT_DIALECT",
    "OPENAI_COMPATIBLE",
    "PROVIDERS",
    "TEXT_DIALECTS",
    "IdRule",
    "Limits",
    "ModelRow",
    "NameRule",
    "Provider",
    "provider_of",
    "text_dialect",
]


def provider_of(endpoint: Endpoint) -> Provider:
    """The row of an endpoint's provider; `openai` at another base URL than OpenAI's own is any OpenAI-compatible
    server."""
    name = endpoint.provider.lower().replace("-", "_")
    if name == "openai" and endpoint.base_url and "openai.com" not in endpoint.base_url:
        return OPENAI_COMPATIBLE
    return PROVIDERS.get(name) or Provider(name=name, prefix=endpoint.provider, wire=None)
