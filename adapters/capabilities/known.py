"""What is known of an endpoint without asking it."""

from __future__ import annotations

from typing import Any

from llmcore.adapters.base import Capabilities, Endpoint
from llmcore.adapters.capabilities.beliefs import Layer
from llmcore.adapters.providers import DEFAULT_DIALECT, provider_of, text_dialect
from llmcore.adapters.providers.model_table import litellm_entry, table_capabilities

__all__ = ["given", "known_capabilities", "known_layers"]


def given(capabilities: Capabilities) -> dict[str, Any]:
    """The fields that say something."""
    return capabilities.model_dump(exclude_unset=True, exclude_none=True)


def known_layers(endpoint: Endpoint) -> list[Layer]:
    """What is known of an endpoint without asking it, by source, the least trusted first: LiteLLM's table, ours, and the
    endpoint's own figures, which the user gave."""
    provider = provider_of(endpoint)
    row = provider.row(endpoint.model)
    ours = given(provider.capabilities) | (given(row.capabilities) if row else {})
    dialect = text_dialect(endpoint.model)
    flag = provider.schema_flag
    denied = {} if not flag or litellm_entry(endpoint).get(flag) is True else {"json_schema": False, "schema_with_tools": False}
    figures = {"context_window": endpoint.context_window, "max_output_tokens": endpoint.max_output_tokens}
    return [
        ("default", {"text_dialect": DEFAULT_DIALECT}),
        ("table", {"text_dialect": dialect} if dialect else {}),
        ("litellm", given(table_capabilities(endpoint))),
        ("table", ours),
        ("litellm", denied),
        ("registry", {name: value for name, value in figures.items() if value is not None}),
    ]


def known_capabilities(endpoint: Endpoint) -> Capabilities:
    """What is known of an endpoint without asking it: the endpoint's own figures, our table, then LiteLLM's."""
    merged: dict[str, Any] = {}
    for _, says in known_layers(endpoint):
        merged |= says
    return Capabilities(**merged)
