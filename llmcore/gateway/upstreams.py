"""The servers of models, as pass-through requests reach them: URL, key and headers of each place of an alias.

A client's own key and cookies are never sent on. Only the headers of `_PASSED` are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit

from llmcore.adapters.base import urls_of_environment
from llmcore.adapters.providers import Provider, is_host_of, provider_of
from llmcore.models import ModelConfig
from llmcore.types import ConfigError

__all__ = ["Upstream", "is_own_server", "passed_reply_headers", "upstream_of"]

_HOMES = {
    "anthropic": "https://api.anthropic.com/v1",
    "deepseek": "https://api.deepseek.com/v1",
    "gemini": "https://generativelanguage.googleapis.com/v1beta/openai",
    "groq": "https://api.groq.com/openai/v1",
    "mistral": "https://api.mistral.ai/v1",
    "ollama": "http://127.0.0.1:11434/v1",
    "openai": "https://api.openai.com/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "together": "https://api.together.xyz/v1",
    "xai": "https://api.x.ai/v1",
}
"""Where the providers serve OpenAI's wires, or Anthropic's. Sources: the API reference of each."""
_OWN_SERVERS = frozenset({"llama_cpp", "lm_studio", "ollama", "openai_compatible", "sglang", "vllm"})
"""Providers that are servers of the user's own. None of them runs the tools of a hosted API."""
_KEY_HEADERS = {"anthropic": "x-api-key", "azure": "api-key"}
"""The header of a key, if it is not `authorization`."""
_ANTHROPIC_VERSION = "2023-06-01"
_PASSED = frozenset({"accept-language", "idempotency-key", "openai-beta", "traceparent", "tracestate", "user-agent"})
_PASSED_BEGINNINGS = ("anthropic-", "x-stainless-")
"""Headers of a client that are sent on."""
_RETURNED = frozenset({"content-type", "openai-processing-ms", "request-id", "retry-after", "retry-after-ms", "x-request-id"})
_RETURNED_BEGINNINGS = ("anthropic-ratelimit-", "x-ratelimit-")
"""Headers of a server that the client gets."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """One place of an alias. `url`: without the path of a wire. `query`: the query of the base URL."""

    url: str
    model: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    def address(self, path: str, query: str = "") -> str:
        """The URL of a request."""
        joined = "&".join(filter(None, (self.query, query)))
        return f"{self.url}{path}{'?' if joined else ''}{joined}"

    def request_headers(self, client: Iterable[tuple[str, str]], *, is_anthropic: bool) -> dict[str, str]:
        """The headers of a request: those of the client that pass, and the place's own, which win."""
        passed = {name: value for name, value in client if name in _PASSED or name.startswith(_PASSED_BEGINNINGS)}
        version = {"anthropic-version": _ANTHROPIC_VERSION} if is_anthropic else {}
        encoding = {"content-type": "application/json", "accept-encoding": "identity"}
        return {**version, **passed, **encoding, **self.headers}


def upstream_of(config: ModelConfig) -> Upstream:
    """The server of a model at one place (`ModelConfig.at`). Raises `ConfigError` if no plain HTTP request reaches it."""
    row = provider_of(config.endpoint)
    given = config.base_url or next(iter(urls_of_environment(row.name)), "")
    base = given or _HOMES.get(row.name, "")
    if not base:
        raise ConfigError(
            f"gateway.models.{config.alias}.mode: pass_through needs a `base_url` for the provider {config.provider!r}; "
            "give one in the registry, or set the mode to `orchestrated`"
        )
    parts = urlsplit(base)
    path = parts.path.rstrip("/")
    if row.appended_path:
        path = path.removesuffix(row.appended_path) + row.appended_path
    path = path or urlsplit(_HOMES.get(row.name, "")).path or "/v1"
    url = urlunsplit((parts.scheme, parts.netloc, path, "", ""))
    return Upstream(url, config.model, parts.query, {**_key_headers(config, row, parts.hostname or ""), **_own(config)})


def _own(config: ModelConfig) -> dict[str, str]:
    return {name.lower(): value for name, value in config.extra_headers.items()}


def _key_headers(config: ModelConfig, row: Provider, host: str) -> dict[str, str]:
    """The header with the model's key. The environment's key goes to the provider's own hosts, and where the environment says."""
    if config.api_key is not None:
        key = config.api_key.get_secret_value()
    elif not config.base_url or any(is_host_of(host, domain) for domain in row.hosts):
        key = os.environ.get(row.api_key_variable or "", "")
    else:
        key = ""
    if not key:
        return {}
    header = _KEY_HEADERS.get(row.name, "authorization")
    return {header: f"Bearer {key}" if header == "authorization" else key}


def is_own_server(config: ModelConfig) -> bool:
    """Whether the model stands on a server of the user's own, which runs no tools of a hosted API."""
    return provider_of(config.endpoint).name in _OWN_SERVERS


def passed_reply_headers(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The headers of a server's reply that the client gets."""
    return [(name, value) for name, value in headers if name in _RETURNED or name.startswith(_RETURNED_BEGINNINGS)]
