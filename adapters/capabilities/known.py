"""What is known of an endpoint without asking it."""

from __future__ import annotations

from typing import Any

from llmcore.adapters.base import Capabilities, Endpoint
from llmcore.adapters.providers import DEFAULT_DIALECT, provider_of, text_dialect
from llmcore.adapters.providers.model_table import litellm_entry, table_capabilities

__all__ = ["known_capabilities"]


def _given(capabilities: Capabilities) -> dict[str, Any]:
    return capabilities.model_dump(exclude_unset=True, exclude_none=True)


def known_capabilities(endpoint: Endpoint) -> Capabilities:
    """What is known of an endpoint without asking it: the endpoint's own figures, our table, then LiteLLM's."""
    provider = provider_of(endpoint)
    ours = provider.capabilities
    row = provider.row(endpoint.model)
    merged = _given(table_capabilities(endpoint)) | _given(ours) | (_given(row.capabilities) if row else {})
    if provider.schema_flag and litellm_entry(endpoint).get(provider.schema_flag) is not True:
        merged |= {"json_schema": False, "schema_with_tools": False}
    figures = {"context_window": endpoint.context_window, "max_output_tokens": endpoint.max_output_tokens}
    merged |= {name: value for name, value in figures.items() if value is not None}
    merged.setdefault("text_dialect", text_dialect(endpoint.model) or DEFAULT_DIALECT)
    return Capabilities(**merged)
