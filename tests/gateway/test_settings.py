"""The section `gateway`, and where pass-through requests go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from llmcore import ConfigError, ModelRegistry, Orchestrator
from llmcore.gateway import create_app
from llmcore.gateway.settings import GatewaySettings, load_configuration, settings_of
from llmcore.gateway.upstreams import passed_reply_headers, upstream_of
from llmcore.models import ModelConfig

MODELS = {"m": {"provider": "vllm", "model": "x", "base_url": "http://127.0.0.1:9/v1"}}


def model(**fields: Any) -> ModelConfig:
    return ModelConfig.model_validate({"alias": "m", "provider": "vllm", "model": "x", **fields})


def test_a_file_for_an_orchestrator_and_a_gateway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_KEY", "key-of-a-team")
    path = tmp_path / "llm.yaml"
    section = {"keys": {"team": "${TEAM_KEY}"}, "limits": {"in_flight": "${MOST:-7}"}, "models": {"m": {"mode": "orchestrated"}}}
    path.write_text(yaml.safe_dump({"llm": {"models": MODELS}, "gateway": section}))
    registry, settings = load_configuration(path)
    assert registry.aliases == ["m"]
    assert (settings.keys["team"].get_secret_value(), settings.limits.in_flight) == ("key-of-a-team", 7)
    assert settings.of("m").mode == "orchestrated"
    assert settings.of("other").mode == "pass_through"
    assert "key-of-a-team" not in f"{settings!r} {settings.model_dump_json()}"
    Orchestrator(path)


def test_a_folder_has_the_section_in_one_file(tmp_path: Path) -> None:
    (tmp_path / "models.yaml").write_text(yaml.safe_dump({"models": MODELS}))
    (tmp_path / "gateway.yaml").write_text(yaml.safe_dump({"gateway": {"anonymous": True}}))
    _, settings = load_configuration(tmp_path)
    assert settings.anonymous
    (tmp_path / "more.yaml").write_text(yaml.safe_dump({"gateway": {"ping": 3}}))
    with pytest.raises(ConfigError, match=r"more\.yaml: gateway: .*gateway\.yaml has this section too; keep one"):
        load_configuration(tmp_path)


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ({"limits": {"body": 0}}, "gateway.limits.body: must be a whole number of at least 1"),
        ({"limits": {"bodies": 1}}, "gateway.limits.bodies: unknown key"),
        ({"models": {"mm": {}}}, "gateway.models.mm: the registry has no such model; did you mean 'm'?"),
        ({"models": {"m": {"mode": "fast"}}}, "gateway.models.m.mode: Input should be 'pass_through' or 'orchestrated'"),
        ({"keys": {"a": "key-number-one", "b": "key-number-one"}}, "gateway.keys: two names have one key"),
        ({"keys": {"a": "ключ-клиента"}}, "gateway.keys: the key of 'a' must be printable ASCII"),
        ({"budget": {"requests": -1}}, "gateway.budget.requests"),
    ],
)
def test_a_wrong_section(section: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as failure:
        settings_of(section, ["m"])
    assert words in str(failure.value)
    assert "key-number-one" not in str(failure.value)


def test_a_model_that_no_plain_request_reaches() -> None:
    bedrock = {"provider": "bedrock", "model": "anthropic.claude-sonnet-4-5-20250929-v1:0"}
    with pytest.raises(ConfigError, match=r"gateway\.models\.b\.mode: pass_through needs a `base_url`.*`orchestrated`"):
        create_app({"models": {"b": bedrock}})
    create_app({"models": {"b": bedrock}}, {"models": {"b": {"mode": "orchestrated"}}})


def test_settings_may_be_given_whole() -> None:
    create_app(ModelRegistry.from_dict({"models": MODELS}), GatewaySettings())
    create_app({"llm": {"models": MODELS}, "gateway": {"anonymous": True}})


@pytest.mark.parametrize(
    ("fields", "url"),
    [
        ({"base_url": "http://h:8000"}, "http://h:8000/v1/messages"),
        ({"base_url": "http://h:8000/"}, "http://h:8000/v1/messages"),
        ({"base_url": "http://h:8000/v1/"}, "http://h:8000/v1/messages"),
        ({"base_url": "http://h/deep/api"}, "http://h/deep/api/messages"),
        ({"base_url": "http://h/v1?api-version=1"}, "http://h/v1/messages?api-version=1"),
        ({"provider": "ollama"}, "http://127.0.0.1:11434/v1/messages"),
        ({"provider": "ollama", "base_url": "http://h:11434"}, "http://h:11434/v1/messages"),
        ({"provider": "anthropic"}, "https://api.anthropic.com/v1/messages"),
        ({"provider": "anthropic", "base_url": "https://h.example/anthropic"}, "https://h.example/anthropic/v1/messages"),
        ({"provider": "groq"}, "https://api.groq.com/openai/v1/messages"),
        ({"provider": "openrouter"}, "https://openrouter.ai/api/v1/messages"),
    ],
)
def test_where_a_request_goes(fields: dict[str, Any], url: str) -> None:
    assert upstream_of(model(**fields)).address("/messages") == url


def test_a_key_goes_to_its_own_hosts_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "gsk-of-the-environment")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-of-the-environment")
    own = {"base_url": "http://elsewhere.example/v1"}
    assert upstream_of(model(provider="groq")).headers == {"authorization": "Bearer gsk-of-the-environment"}
    assert upstream_of(model(provider="anthropic")).headers == {"x-api-key": "sk-ant-of-the-environment"}
    assert upstream_of(model(provider="groq", **own)).headers == {}
    assert upstream_of(model(provider="groq", api_key="gsk-own", **own)).headers == {"authorization": "Bearer gsk-own"}
    extra = upstream_of(model(extra_headers={"X-Tenant": "blue"}, **own))
    assert extra.request_headers([("x-tenant", "red"), ("authorization", "Bearer x")], is_anthropic=True) == {
        "anthropic-version": "2023-06-01",
        "content-type": "application/json",
        "accept-encoding": "identity",
        "x-tenant": "blue",
    }
    assert "gsk-own" not in repr(upstream_of(model(provider="groq", api_key="gsk-own")))


def test_the_headers_that_a_client_gets() -> None:
    headers = [
        ("x-ratelimit-limit", "1"),
        ("set-cookie", "a=b"),
        ("server", "x"),
        ("content-encoding", "gzip"),
        ("request-id", "r"),
    ]
    assert passed_reply_headers(headers) == [("x-ratelimit-limit", "1"), ("request-id", "r")]
