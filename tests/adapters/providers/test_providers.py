"""The provider table is consistent with what it refers to."""

from __future__ import annotations

import re

import pytest

from llmcore.adapters.base import Endpoint
from llmcore.adapters.providers import OPENAI_COMPATIBLE, PROVIDERS, TEXT_DIALECTS, Provider, provider_of, text_dialect
from llmcore.adapters.request.schemas import DIALECTS as SCHEMA_DIALECTS
from llmcore.normalizer.dialects.registry import DIALECTS
from tests.packaging.tree import ROOT


def test_every_taught_dialect_can_be_read_and_written() -> None:
    for _, name in TEXT_DIALECTS:
        assert DIALECTS[name].write([("get_weather", {"city": "Paris"})])


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=list(PROVIDERS))
def test_a_row_refers_to_what_there_is(provider: object) -> None:
    row = PROVIDERS[getattr(provider, "name", "")]
    assert {row.schema_dialect, row.output_dialect} <= SCHEMA_DIALECTS.keys()
    assert all(limits.source for limits in row.limits)
    assert not any(limits.verified for limits in row.limits if "document" in limits.source)
    assert not row.default_path.endswith("/")


@pytest.mark.parametrize("row", PROVIDERS.values(), ids=list(PROVIDERS))
def test_every_fact_has_its_source(row: Provider) -> None:
    assert row.sources
    assert all(model.source for model in row.models)
    assert row.names is None or row.names.source
    assert row.ids is None or row.ids.source


@pytest.mark.parametrize(
    ("provider", "model", "expected"),
    [
        ("openrouter", "anthropic/claude-opus-4.5", ("openai-chat", "anthropic", "json_schema", "anthropic_function_calls")),
        ("openrouter", "google/gemini-2.5-pro", ("openai-chat", "gemini", "gemini_json", "tool_code")),
        ("openrouter", "openai/gpt-5", ("openai-chat", "openai", "openai_strict", "hermes")),
        ("openrouter", "some/model", ("openai-chat", "json_schema", "json_schema", "hermes")),
        ("vertex_ai", "gemini-3-pro", ("gemini", "gemini", "gemini_json", "tool_code")),
        ("vertex_ai", "claude-opus-4-5", ("anthropic", "anthropic", "anthropic_strict", "anthropic_function_calls")),
        (
            "bedrock",
            "eu.anthropic.claude-opus-4-5-v1:0",
            ("bedrock-converse", "anthropic_inline", "json_schema", "anthropic_function_calls"),
        ),
        ("bedrock", "amazon.nova-pro-v1:0", ("bedrock-converse", "inline_defs", "json_schema", "hermes")),
    ],
)
def test_a_provider_of_many_families_serves_each_in_its_own_form(provider: str, model: str, expected: tuple[str, ...]) -> None:
    row = provider_of(Endpoint(provider=provider, model=model))
    assert (row.wire, row.schema_dialect, row.output_dialect, text_dialect(model)) == expected
    assert {row.schema_dialect, row.output_dialect} <= SCHEMA_DIALECTS.keys()


def test_openai_elsewhere_is_any_compatible_server() -> None:
    assert provider_of(Endpoint(provider="openai", model="m", base_url="http://127.0.0.1:1/v1")).name == OPENAI_COMPATIBLE.name
    eu = Endpoint(provider="openai", model="m", base_url="https://eu.api.openai.com/v1")
    assert provider_of(eu) is PROVIDERS["openai"]
    assert provider_of(Endpoint(provider="OpenAI-compatible", model="m")) is OPENAI_COMPATIBLE
    for elsewhere in ("https://openai.community.example/v1", "https://proxy.example/api.openai.com/v1"):
        assert provider_of(Endpoint(provider="openai", model="m", base_url=elsewhere)).name == OPENAI_COMPATIBLE.name


def test_an_unknown_provider_is_litellms_to_route() -> None:
    row = provider_of(Endpoint(provider="cohere_chat", model="command-a"))
    assert (row.prefix, row.wire, row.names) == ("cohere_chat", None, None)


def test_the_page_lists_every_row() -> None:
    page = (ROOT / "docs" / "providers.md").read_text("utf-8")
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == list(PROVIDERS)


@pytest.mark.parametrize(
    ("model", "sent"),
    [
        ("anthropic.claude-sonnet-9-v1:0", "bedrock/converse/anthropic.claude-sonnet-9-v1:0"),
        ("us-west-2/qwen.qwen5-v1:0", "bedrock/converse/us-west-2/qwen.qwen5-v1:0"),
        ("invoke/anthropic.claude-v2", "bedrock/invoke/anthropic.claude-v2"),
        ("openai.gpt-oss-120b-1:0", "bedrock/openai.gpt-oss-120b-1:0"),
    ],
)
def test_a_model_of_bedrock_that_no_list_has_goes_by_converse(model: str, sent: str) -> None:
    assert PROVIDERS["bedrock"].routed(model) == sent
