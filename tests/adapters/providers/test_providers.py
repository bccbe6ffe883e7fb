"""The provider table is consistent with what it refers to."""

from __future__ import annotations

import pytest

from llmcore.adapters.base import Endpoint
from llmcore.adapters.providers import OPENAI_COMPATIBLE, PROVIDERS, TEXT_DIALECTS, provider_of
from llmcore.adapters.request.schemas import DIALECTS as SCHEMA_DIALECTS
from llmcore.normalizer.dialects.registry import DIALECTS


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


def test_openai_elsewhere_is_any_compatible_server() -> None:
    assert provider_of(Endpoint(provider="openai", model="m", base_url="http://127.0.0.1:1/v1")) is OPENAI_COMPATIBLE
    eu = Endpoint(provider="openai", model="m", base_url="https://eu.api.openai.com/v1")
    assert provider_of(eu) is PROVIDERS["openai"]
    assert provider_of(Endpoint(provider="OpenAI-compatible", model="m")) is OPENAI_COMPATIBLE


def test_an_unknown_provider_is_litellms_to_route() -> None:
    row = provider_of(Endpoint(provider="cohere_chat", model="command-a"))
    assert (row.prefix, row.wire, row.names) == ("cohere_chat", None, None)
