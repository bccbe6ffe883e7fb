"""An endpoint, and what holds one, is shown and dumped without secrets."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from llmcore.adapters.base import Capabilities, Endpoint, ModelCall
from llmcore.adapters.capabilities import CapabilityStore
from llmcore.adapters.request.parameters import prepare
from llmcore.models import ModelConfig
from llmcore.types import ConfigError, Request

SECRETS = ("keySecret1", "headerSecret1", "headerSecret2", "bodySecret1", "tenantSecret")
ENDPOINT = Endpoint.model_validate(
    {
        "provider": "openai_compatible",
        "model": "m",
        "api_key": "keySecret1",
        "base_url": "https://host/v1?api-version=7&tenant=tenantSecret",
        "extra_headers": {"X-Gate": "headerSecret1"},
    }
)
REQUEST = Request(messages="hi", extra_body={"gate": {"auth": "bodySecret1"}}, extra_headers={"X-Own": "headerSecret2"})
CALL = ModelCall(endpoint=ENDPOINT, request=REQUEST)
CONFIG = ModelConfig.model_validate(dict(ENDPOINT) | {"alias": "a"})


@pytest.mark.parametrize("value", [ENDPOINT, REQUEST, CALL, CONFIG, CONFIG.endpoint, prepare(CALL, Capabilities())])
def test_no_repr_shows_a_secret(value: Any) -> None:
    shown = f"{value} {value!r}"
    assert [secret for secret in SECRETS if secret in shown] == []


@pytest.mark.parametrize("value", [ENDPOINT, CONFIG])
def test_no_dump_holds_a_secret_in_the_open(value: Any) -> None:
    shown = f"{value.model_dump()} {value.model_dump(mode='json')} {value.model_dump_json()}"
    assert [secret for secret in SECRETS if secret in shown] == []
    assert "https://host/v1?api-version=7&tenant=[secret]" in shown
    json.loads(value.model_dump_json())


def test_a_dump_in_python_is_read_back() -> None:
    endpoint = ENDPOINT.model_copy(update={"base_url": "https://host/v1"})
    assert Endpoint.model_validate(endpoint.model_dump()) == endpoint
    assert endpoint.extra_headers == {"X-Gate": "headerSecret1"}
    assert copy.deepcopy(endpoint) == endpoint


def test_a_header_may_be_given_as_a_secret() -> None:
    given = Endpoint.model_validate({"provider": "openai", "model": "m", "extra_headers": {"X-Gate": SecretStr("abc")}})
    assert given.extra_headers == {"X-Gate": "abc"}


def test_facts_are_filed_under_a_key_without_secrets() -> None:
    store = CapabilityStore()
    store.record_failure(ENDPOINT, "temperature")
    assert ENDPOINT.key == "https://host/v1|m"
    assert "temperature" in store.get(ENDPOINT).unsupported_parameters


@pytest.mark.parametrize("made", [Endpoint, ModelConfig])
@pytest.mark.parametrize(
    ("url", "where"),
    [
        ("https://ann:urlSecret1@host/v1", "user name, password"),
        ("https://urlSecret1@host/v1", "user name"),
        ("https://:urlSecret1@host/v1", "password"),
        ("ann:urlSecret1@host/v1", "user name, password"),
        ("https://host/v1?key=urlSecret1", "query parameter 'key'"),
        ("https://host/v1?api-version=1&subscription-key=urlSecret1", "query parameter 'subscription-key'"),
        ("https://host/v1?accessToken=urlSecret1", "query parameter 'accessToken'"),
        ("https://host/v1?x=sk-urlSecret1", "query parameter 'x'"),
    ],
)
def test_a_base_url_with_a_secret_is_refused_with_the_fix(made: Any, url: str, where: str) -> None:
    with pytest.raises(ConfigError) as caught:
        made.model_validate({"alias": "a", "provider": "openai_compatible", "model": "m", "base_url": url})
    told = str(caught.value)
    assert f"({where})" in told
    assert "api_key: ${" in told
    assert "extra_headers" in told
    assert "urlSecret1" not in told + repr(caught.value)


@pytest.mark.parametrize("made", [Endpoint, ModelConfig])
@pytest.mark.parametrize("wrong", [{"api_key": 1234567890}, {"extra_headers": {"X-Gate": 1234567890}}])
def test_a_value_of_a_wrong_type_is_not_quoted(made: Any, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        made.model_validate({"alias": "a", "provider": "openai", "model": "m", **wrong})
    assert "1234567890" not in f"{caught.value} {caught.value!r}"


@pytest.mark.parametrize("key", ["keySecret1\n", "keySecret1é", " keySecret1", "key\x00Secret1"])
def test_a_key_that_no_header_can_hold_is_refused_when_it_is_given(key: str) -> None:
    for wrong in ({"api_key": key}, {"extra_headers": {"X-Gate": key}}):
        with pytest.raises(ConfigError) as caught:
            Endpoint.model_validate({"provider": "openai", "model": "m", **wrong})
        assert "Secret1" not in str(caught.value)
