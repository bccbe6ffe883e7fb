"""Differences between providers, as data: one row per provider, with its capabilities, limits, schema dialect and
peculiarities.

`provider_of` never fails. A provider without a row is passed to LiteLLM under its own name, without assumptions. `names`
checks provider and model names when a registry is loaded. `model_table` reads LiteLLM's table of models as a file. Nothing
here sends requests or learns at run time; `capabilities` learns.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from urllib.parse import urlsplit

from llmcore.adapters.base import Endpoint
from llmcore.adapters.providers.families import DEFAULT_DIALECT, TEXT_DIALECTS, text_dialect
from llmcore.adapters.providers.provider import IdRule, ModelRule, NameRule, Provider, ProviderLimits
from llmcore.adapters.providers.table import ALIASES, IN_PROCESS, OPENAI_COMPATIBLE, PROVIDERS

__all__ = [
    "ALIASES",
    "DEFAULT_DIALECT",
    "IN_PROCESS",
    "OPENAI_COMPATIBLE",
    "PROVIDERS",
    "TEXT_DIALECTS",
    "IdRule",
    "ModelRule",
    "NameRule",
    "Provider",
    "ProviderLimits",
    "canonical",
    "is_host_of",
    "provider_of",
    "row_of",
    "text_dialect",
]


_LIKE_OPENAI = replace(
    OPENAI_COMPATIBLE,
    one_system_message=False,
    models=tuple(
        ModelRule(pattern, OPENAI_COMPATIBLE.capabilities, "as OpenAI serves it", changes)
        for pattern, changes in (
            ("*-search-*", {"searches_by": "body"}),
            ("gpt-[5-9]*", {"searches_by": "responses", "thinking": "effort"}),
            ("gpt-4*", {"searches_by": "responses"}),
            ("o[1-9]*", {"searches_by": "responses", "thinking": "effort"}),
        )
    ),
)
"""The row of a server named `openai` at another host: its capabilities are unknown, but OpenAI's models are asked as usual."""


def canonical(name: str) -> str:
    """Return a provider's name as in the table: lower case, `_` instead of `-`, aliases resolved."""
    plain = name.lower().replace("-", "_")
    return ALIASES.get(plain, plain)


def is_host_of(host: str, domain: str) -> bool:
    """Return whether `host` is the domain or within it."""
    return host == domain or host.endswith(f".{domain}")


def row_of(provider: str, base_url: str | None) -> Provider | None:
    """Return the table's row of a provider, None without one.

    `openai` at another host than OpenAI's is any OpenAI-compatible server, whose system messages keep their places.
    """
    name = canonical(provider)
    row = PROVIDERS.get(name) or IN_PROCESS.get(name)
    if row is not None and row.name == "openai" and base_url:
        host = (urlsplit(base_url).hostname or "").lower()
        return row if any(is_host_of(host, domain) for domain in row.hosts) else _LIKE_OPENAI
    return row


def provider_of(endpoint: Endpoint) -> Provider:
    """Return the row of an endpoint's provider, with the changes for the family of its model."""
    return _provider_of(endpoint.provider, endpoint.model, endpoint.base_url)


@lru_cache(maxsize=1024)
def _provider_of(provider: str, model: str, base_url: str | None) -> Provider:
    row = row_of(provider, base_url)
    return row.serving(model) if row is not None else Provider(name=canonical(provider), prefix=provider, wire=None)
