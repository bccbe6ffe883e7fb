"""Families by who trained the model, and which recordings may be judged against targets."""

from __future__ import annotations

import pytest

from llmcore.transcripts import family_of, is_real_provider


@pytest.mark.parametrize(
    ("provider", "model", "family"),
    [
        ("openai", "gpt-4o-mini", "openai"),
        ("openai", "o3-mini", "openai"),
        ("azure", "gpt4", "openai"),
        ("openrouter", "openai/gpt-5.4", "openai"),
        ("openai", "", "openai"),
        ("groq", "openai/gpt-oss-120b", "gpt-oss"),
        ("anthropic", "claude-sonnet-4-5", "claude"),
        ("anthropic", "", "claude"),
        ("bedrock", "us.anthropic.claude-sonnet-4-6", "claude"),
        ("bedrock", "us.amazon.nova-lite-v1:0", "amazon"),
        ("groq", "llama-3.3-70b-versatile", "llama"),
        ("together", "meta-llama/Llama-3.2-3B-Instruct", "llama"),
        ("ollama", "ollama/qwen3:8b", "qwen"),
        ("ollama", "ollama_chat/llama3.2", "llama"),
        ("together", "deepseek-r1-distill-llama-70b", "deepseek"),
        ("vertex", "", "gemini"),
        ("gemini", "gemini-2.5-pro", "gemini"),
        ("mistral", "ministral-8b", "mistral"),
        ("cohere", "command-r7b-12-2024", "command"),
        ("xai", "grok-4", "grok"),
        ("snowflake", "some-model", "snowflake"),
        ("Custom Host", "model-o1x", "custom host"),
        ("", "", "unknown"),
    ],
)
def test_family(provider: str, model: str, family: str) -> None:
    assert family_of(provider, model) == family


@pytest.mark.parametrize("provenance", [None, "", "  ", "provider", "provider: api.openai.com", "Real traffic", "production"])
def test_real_providers(provenance: str | None) -> None:
    assert is_real_provider(provenance)


@pytest.mark.parametrize(
    "provenance", ["local recording", "local: aimock 1.2", "synthetic", "aimock", "unreal", "not a provider"]
)
def test_everything_else_is_local(provenance: str) -> None:
    assert not is_real_provider(provenance)
