"""What is known of endpoints before anything was asked."""

from __future__ import annotations

import pytest

from llmcore.adapters.base import Endpoint
from llmcore.adapters.capabilities import known_capabilities


@pytest.mark.parametrize(
    ("provider", "model", "expected"),
    [
        ("openai", "gpt-4o", {"native_tools": True, "schema_with_tools": True, "context_window": 128_000}),
        ("openai", "o1-mini", {"native_tools": False}),
        ("openai", "gpt-3.5-turbo", {"json_schema": False, "native_tools": True}),
        ("anthropic", "claude-3-5-sonnet-20241022", {"json_schema": False, "schema_with_tools": False}),
        ("anthropic", "claude-opus-4-20250514", {"json_schema": False, "schema_with_tools": False}),
        ("anthropic", "claude-opus-4-5-20251101", {"json_schema": True}),
        ("anthropic", "claude-sonnet-4-5", {"json_schema": True, "schema_with_tools": True, "parallel_tools": True}),
        ("anthropic", "claude-opus-5", {"json_schema": True}),
        ("anthropic", "claude-unknown-9", {"json_schema": False, "context_window": 200_000, "json_object": False}),
        ("gemini", "gemini-2.5-pro", {"schema_with_tools": False, "parallel_tools": True}),
        ("gemini", "gemini-3.1-pro-preview", {"schema_with_tools": True}),
        ("gemini", "gemini-1.5-pro", {"json_schema": False, "native_tools": True}),
        ("groq", "llama-3.3-70b-versatile", {"native_tools": True, "json_schema": False}),
        ("groq", "openai/gpt-oss-20b", {"json_schema": True, "schema_with_tools": False}),
        ("mistral", "mistral-large-latest", {"native_tools": True, "parallel_tools": True}),
        ("ollama", "llama3.1", {"tool_choice_required": False, "schema_with_tools": False, "native_tools": None}),
        ("openrouter", "meta-llama/llama-3.3-70b-instruct", {"json_schema": None}),
        ("deepseek", "deepseek-reasoner", {"tool_choice_required": False, "json_schema": False}),
        ("openai_compatible", "anything", {"native_tools": None, "json_schema": None, "schema_with_tools": False}),
        ("someone_new", "model", {"native_tools": None, "context_window": None}),
    ],
)
def test_what_is_known_beforehand(provider: str, model: str, expected: dict[str, object]) -> None:
    known = known_capabilities(Endpoint(provider=provider, model=model)).model_dump()
    assert {name: known[name] for name in expected} == expected


def test_the_endpoints_own_figures_stand() -> None:
    endpoint = Endpoint(provider="openai", model="gpt-4o", context_window=32_000, max_output_tokens=1_000)
    known = known_capabilities(endpoint)
    assert (known.context_window, known.max_output_tokens) == (32_000, 1_000)


@pytest.mark.parametrize(
    ("model", "dialect"),
    [
        ("claude-sonnet-4-5", "anthropic_function_calls"),
        ("meta-llama/Llama-3.3-70B-Instruct", "functionary_v31"),
        ("Qwen/Qwen3-Coder-30B", "qwen3_coder"),
        ("qwen3:8b", "hermes"),
        ("zai-org/GLM-4.5-Air", "glm45"),
        ("gemma-3-27b-it", "tool_code"),
        ("mistral-small", "hermes"),
        ("something-else", "hermes"),
    ],
)
def test_each_family_is_taught_its_own_dialect(model: str, dialect: str) -> None:
    assert known_capabilities(Endpoint(provider="openai_compatible", model=model)).text_dialect == dialect
