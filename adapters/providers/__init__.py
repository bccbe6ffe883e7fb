"""Provider differences as data: one row a provider, with its capabilities, limits, schema dialect and quirks.

`provider_of` never fails: a provider without a row is passed to LiteLLM under its own name with nothing assumed. Whether a name
is one at all is for `names` to say, when a registry is loaded. Beside it LiteLLM's table of models, read as a file. Nothing here
sends, and nothing learns at run time (`capabilities` does).
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from urllib.parse import urlsplit

from llmcore.adapters.base import Endpoint
from llmcore.adapters.providers.families import DEFAULT_DIALECT, TEXT_DIALECTS, text_dialect
from llmcore.adapters.providers.provider import IdRule, ModelRow, NameRule, Provider, ProviderLimits
from llmcore.adapters.providers.table import ALIASES, OPENAI_COMPATIBLE, PROVIDERS

__all__ = [
    "ALIASES",
    "DEFAULT_DIALECT",
    "OPENAI_COMPATIBLE",
    "PROVIDERS",
    "TEXT_DIALECTS",
    "IdRule",
    "ModelRow",
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
        ModelRow(pattern, OPENAI_COMPATIBLE.capabilities, "as OpenAI serves it", changes)
        for pattern, changes in (
            ("*-search-*", {"searches_by": "body"}),
            ("gpt-[5-9]*", {"searches_by": "responses", "thinking": "effort"}),
            ("gpt-4*", {"searches_by": "responses"}),
            ("o[1-9]*", {"searches_by": "responses", "thinking": "effort"}),
        )
    ),
)
"""A server that is called `openai` at another host: what it can do is not known, how OpenAI's models are asked is."""


def canonical(name: str) -> str:
    """A provider's name as the table has it: lower case, `_` for `-`, without other spellings."""
    plain = name.lower().replace("-", "_")
    return ALIASES.get(plain, plain)


def is_host_of(host: str, domain: str) -> bool:
    """Is `host` the domain, or within it?"""
    return host == domain or host.endswith(f".{domain}")


def row_of(provider: str, base_url: str | None) -> Provider | None:
    """The table's row of a provider, None when it has none; `openai` at another host than OpenAI's own is any
    OpenAI-compatible server, which is taken at its word: system messages keep their places."""
    row = PROVIDERS.get(canonical(provider))
    if row is not None and row.name == "openai" and base_url:
        host = (urlsplit(base_url).hostname or "").lower()
        return row if any(is_host_of(host, domain) for domain in row.hosts) else _LIKE_OPENAI
    return row


def provider_of(endpoint: Endpoint) -> Provider:
    """The row of an endpoint's provider, as it stands for the family of its model."""
    return _provider_of(endpoint.provider, endpoint.model, endpoint.base_url)


@lru_cache(maxsize=1024)
def _provider_of(provider: str, model: str, base_url: str | None) -> Provider:
    row = row_of(provider, base_url)
    return row.serving(model) if row is not None else Provider(name=canonical(provider), prefix=provider, wire=None)
