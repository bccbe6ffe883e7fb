"""One alias at several places: what a registry says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from llmcore.models import ModelRegistry
from llmcore.orchestrator import Orchestrator
from llmcore.types import ConfigError

KEY = "sk-eu-0123456789abcdef"
YAML = """
llm:
  models:
    large:
      provider: azure
      model: gpt-4o
      api_key: ${OWN}
      base_url: https://own.example
      extra_headers: {X-Team: blue}
      deployments:
        - {name: eu, base_url: https://eu.example, api_key: "${EU}"}
        - {model: gpt-4o-spare}
        - {provider: openai, model: gpt-4o-2024}
    plain: {provider: openai, model: gpt-4o}
"""


def registry(tmp_path: Path, text: str = YAML) -> ModelRegistry:
    file = tmp_path / "llm.yaml"
    file.write_text(text)
    return ModelRegistry.from_yaml(file, environ={"OWN": "sk-own-0123456789abcdef", "EU": KEY})


def test_what_a_deployment_leaves_out_is_the_aliass_own(tmp_path: Path) -> None:
    large = registry(tmp_path).get("large")
    assert large.places == ("eu", "2", "3")
    eu, second, third = (large.at(place) for place in large.places)
    assert (eu.model, eu.base_url, eu.extra_headers) == ("gpt-4o", "https://eu.example", {"X-Team": "blue"})
    assert eu.api_key is not None
    assert eu.api_key.get_secret_value() == KEY
    assert (second.model, second.base_url, second.api_key) == ("gpt-4o-spare", "https://own.example", large.api_key)
    assert (eu.alias, eu.deployments, eu.places) == ("large", (), ("",))
    assert third.provider == "openai"
    assert large.endpoint == eu.endpoint == large.at("gone").endpoint


def test_no_key_is_sent_to_another_provider(tmp_path: Path) -> None:
    third = registry(tmp_path).get("large").at("3")
    assert (third.api_key, third.base_url, third.extra_headers) == (None, None, {})


def test_a_model_without_deployments_is_one_place(tmp_path: Path) -> None:
    plain = registry(tmp_path).get("plain")
    assert plain.places == ("",)
    assert plain.at("") is plain


def test_no_key_of_a_deployment_is_shown(tmp_path: Path) -> None:
    large = registry(tmp_path).get("large")
    assert KEY not in f"{large!r} {large.model_dump()} {large.model_dump_json()}"


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        ("[{name: eu}, {name: eu}]", r"llm\.models\.large\.deployments: two deployments have one name"),
        ('[{name: "2"}, {}]', "two deployments have one name"),
        ("[{url: https://x}]", r"llm\.models\.large\.deployments\.0\.url: unknown key; there are name, provider"),
        ("[{base_url: 'https://user:pw@x'}]", "large"),
    ],
)
def test_what_is_no_deployment_is_refused_when_the_registry_is_read(entries: str, told: str, tmp_path: Path) -> None:
    text = f"llm: {{models: {{large: {{provider: openai, model: m, deployments: {entries}}}}}}}"
    with pytest.raises(ConfigError, match=told):
        registry(tmp_path, text)


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ({"base_url": "http://127.0.0.1:8000/v1"}, None),
        ({}, "the provider 'vllm' needs a `base_url`"),
        ({"provider": "opnai"}, "there is no provider 'opnai'"),
        ({"provider": "openai", "model": "gtp-4o"}, "openai has no model 'gtp-4o'"),
    ],
)
def test_each_place_is_held_to_the_names_and_urls_there_are(place: dict[str, str], told: str | None) -> None:
    """The alias's own URL need not be given where its places have one."""
    places = [{"base_url": "http://127.0.0.1:8001/v1"}, place]
    llm = {"models": {"m": {"provider": "vllm", "model": "qwen3", "deployments": places}}}
    if told is None:
        Orchestrator(ModelRegistry.from_dict(llm))
        return
    with pytest.raises(ConfigError, match=told):
        ModelRegistry.from_dict(llm)
