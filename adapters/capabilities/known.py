"""What is known of an endpoint without a request."""

from __future__ import annotations

from typing import Any

from llmcore.adapters.base import Capabilities, Endpoint
from llmcore.adapters.capabilities.beliefs import Layer
from llmcore.adapters.providers import DEFAULT_DIALECT, provider_of, text_dialect
from llmcore.adapters.providers.model_table import litellm_entry, table_capabilities
from llmcore.support.values.media_kinds import MEDIA_KINDS

__all__ = ["known_capabilities", "known_fields", "known_layers"]


def known_fields(capabilities: Capabilities) -> dict[str, Any]:
    """Return the fields that have a value."""
    return capabilities.model_dump(exclude_unset=True, exclude_none=True)


def known_layers(endpoint: Endpoint) -> list[Layer]:
    """Return what is known of an endpoint without a request, by source, the least trusted first.

    The sources are LiteLLM's table, llmcore's table, and the figures that the user gave for the endpoint.
    """
    provider = provider_of(endpoint)
    row = provider.row(endpoint.model)
    ours = known_fields(provider.capabilities) | (known_fields(row.capabilities) if row else {})
    ours |= {kind.part: False for kind in MEDIA_KINDS.values() if kind.type not in provider.media}
    dialect = text_dialect(endpoint.model)
    flag = provider.schema_flag
    refused = {} if not flag or litellm_entry(endpoint).get(flag) is True else {"json_schema": False, "schema_with_tools": False}
    figures = {"context_window": endpoint.context_window, "max_output_tokens": endpoint.max_output_tokens}
    return [
        ("default", {"text_dialect": DEFAULT_DIALECT}),
        ("table", {"text_dialect": dialect} if dialect else {}),
        ("litellm", known_fields(table_capabilities(endpoint))),
        ("table", ours),
        ("litellm", refused),
        ("registry", {name: value for name, value in figures.items() if value is not None}),
    ]


def known_capabilities(endpoint: Endpoint) -> Capabilities:
    """Return what is known of an endpoint without a request: the user's figures, llmcore's table, then LiteLLM's."""
    merged: dict[str, Any] = {}
    for _, says in known_layers(endpoint):
        merged |= says
    return Capabilities(**merged)
