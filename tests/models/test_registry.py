"""The registry in use: look-up, selection by need, loading by name, reload."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from llmcore.adapters.base import Capabilities
from llmcore.models import ModelConfig, ModelRegistry, Needs, needs_of
from llmcore.models import registry as registry_module
from llmcore.types import ConfigError, ImageBlock, Message, ModelNotFound, Request, TextBlock, ToolResultBlock

REGISTRY = ModelRegistry.from_dict(
    {
        "models": {
            "plain": {"provider": "openai", "model": "gpt-4o", "supports_tools": False, "context_window": 100},
            "tooled": {
                "provider": "openai",
                "model": "gpt-4.1",
                "supports_images": False,
                "supports_audio": False,
                "context_window": 1000,
            },
            "seeing": {"provider": "gemini", "model": "gemini-2.5-pro", "supports_audio": False, "supports_web_search": True},
        }
    }
)


@pytest.mark.parametrize(
    ("needs", "alias"),
    [
        (Needs(), "plain"),
        (Needs(tools=True), "tooled"),
        (Needs(tokens=500), "tooled"),
        (Needs(media=frozenset({"images"})), "plain"),
        (Needs(media=frozenset({"images"}), tools=True), "seeing"),
        (Needs(result_media=frozenset({"images"}), tools=True), "seeing"),
        (Needs(result_media=frozenset({"audio"}), tools=True, tokens=900), "tooled"),
        (Needs(web_search=True), "seeing"),
        (Needs(tokens=5000), "seeing"),
    ],
)
def test_the_first_model_that_fits_is_taken(needs: Needs, alias: str) -> None:
    assert REGISTRY.select(needs=needs).alias == alias


def test_a_named_model_is_taken_whatever_the_needs() -> None:
    assert REGISTRY.select("plain", needs=Needs(tools=True)).alias == "plain"


def test_when_none_fits_the_error_says_what_each_lacks() -> None:
    only = ModelRegistry(config for config in REGISTRY if config.alias != "seeing")
    with pytest.raises(ModelNotFound) as caught:
        only.select(needs=Needs(tools=True, web_search=True, tokens=9999))
    assert "plain lacks web search (supports_web_search) and tools (supports_tools) and context" in str(caught.value)
    assert "tooled lacks web search (supports_web_search) and context (about 9999 tokens" in str(caught.value)


def test_what_is_known_of_an_endpoint_counts_too() -> None:
    def can(config: ModelConfig) -> Capabilities:
        return Capabilities(web_search=config.alias == "tooled")

    assert REGISTRY.select(needs=Needs(web_search=True), capabilities=can).alias == "tooled"


def test_an_unknown_alias_is_an_error_with_the_nearest_and_all_aliases() -> None:
    with pytest.raises(ModelNotFound, match=r"no model 'toled'; did you mean 'tooled'.*plain, tooled, seeing"):
        REGISTRY.get("toled")


def test_needs_are_read_from_the_request() -> None:
    image = ImageBlock(url="https://example.com/a.png")
    result = ToolResultBlock(tool_use_id="c", content=[TextBlock(text="x" * 400), image])
    request = Request(messages=[Message(role="tool", content=[result])], allow_web_search=True, system="y" * 40)
    assert needs_of(request, tools=True) == Needs(tools=True, web_search=True, result_media=frozenset({"images"}), tokens=1110)


def test_a_model_name_is_a_registry_of_one() -> None:
    config = ModelRegistry.load("groq/meta-llama/llama-3.3-70b").get("groq/meta-llama/llama-3.3-70b")
    assert (config.provider, config.model) == ("groq", "meta-llama/llama-3.3-70b")


@pytest.mark.parametrize("name", ["gpt-4o", "", "/x", "openai/"])
def test_a_name_without_its_provider_is_an_error(name: str) -> None:
    with pytest.raises(ConfigError):
        ModelRegistry.load(name)


def test_two_models_of_one_alias_are_an_error() -> None:
    config = REGISTRY.get("plain")
    with pytest.raises(ConfigError, match="two models have the alias 'plain'"):
        ModelRegistry([config, config])


def write(path: Path, alias: str, stamp: int) -> None:
    path.write_text(f"llm: {{models: {{{alias}: {{provider: openai, model: gpt-4o}}}}}}" if alias else "llm: [")
    os.utime(path, ns=(stamp, stamp))


def test_a_changed_file_is_read_again_and_a_bad_change_is_not_applied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(registry_module, "_SECONDS_BETWEEN_LOOKS", -1)
    path = tmp_path / "llm.yaml"
    write(path, "first", 1_000)
    registry = ModelRegistry.from_yaml(path)
    write(path, "second", 2_000)
    assert registry.aliases == ["second"]
    write(path, "", 3_000)
    with caplog.at_level(logging.WARNING, "llmcore.models"):
        assert registry.aliases == ["second"]
    assert "llm.yaml" in caplog.text
    write(path, "third", 4_000)
    assert "third" in registry
    assert not registry.refresh()


def test_a_bad_change_is_logged_once_and_a_good_one_is_applied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(registry_module, "_SECONDS_BETWEEN_LOOKS", -1)
    path = tmp_path / "llm.yaml"
    write(path, "first", 1_000)
    registry = ModelRegistry.from_yaml(path)
    hostile = "a: &a [" + "x," * 9000 + "]\nllm: [" + "*a," * 900 + "]", "llm: {models: {}}", "[" * 100_000, "", "\0"
    with caplog.at_level(logging.WARNING, "llmcore.models"):
        for number, text in enumerate(hostile, 2):
            path.write_text(text)
            os.utime(path, ns=(number * 1000, number * 1000))
            caplog.clear()
            assert [registry.aliases for _ in range(3)] == [["first"]] * 3
            assert len(caplog.records) == 1
            with pytest.raises(ConfigError, match=r"llm\.yaml"):
                registry.refresh()
        path.unlink()
        assert registry.aliases == ["first"]
    write(path, "last", 99_000)
    assert registry.aliases == ["last"]


def test_whatever_goes_wrong_while_looking_the_last_good_state_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry_module, "_SECONDS_BETWEEN_LOOKS", -1)
    write(tmp_path / "llm.yaml", "first", 1_000)
    registry = ModelRegistry.from_yaml(tmp_path / "llm.yaml")
    write(tmp_path / "llm.yaml", "second", 2_000)

    def fails(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(registry_module, "read_document", fails)
    assert registry.aliases == ["first"]


def test_files_are_not_checked_more_than_once_a_second(tmp_path: Path) -> None:
    path = tmp_path / "llm.yaml"
    write(path, "first", 1_000)
    registry = ModelRegistry.from_yaml(path)
    path.unlink()
    assert registry.get("first").model == "gpt-4o"


@pytest.mark.parametrize("given", [{}, {"models": {}}, {"llm": {"models": None}}, ModelRegistry()], ids=repr)
def test_a_registry_without_models_is_an_error(given: object) -> None:
    with pytest.raises(ConfigError, match=r"no models.*add `llm: "):
        ModelRegistry.load(given)  # type: ignore[arg-type]  # a mapping or a registry


@pytest.mark.parametrize("given", ["./models", "../llm/prod", "/no/such", "~/llm", "models/", "conf/llm.yml", "llm.json"])
def test_a_path_that_is_not_there_is_no_model(given: str) -> None:
    with pytest.raises(ConfigError, match="no such file or folder"):
        ModelRegistry.load(given)


def test_a_folder_that_looks_like_a_model_is_neither() -> None:
    with pytest.raises(ConfigError, match="neither a file nor a model: there is no provider 'conf'"):
        ModelRegistry.load("conf/models")


def test_a_variable_is_read_as_the_number_or_the_switch_that_it_is() -> None:
    model = {
        "provider": "groq",
        "model": "m",
        "timeout": "${T}",
        "supports_tools": "${S}",
        "tools": {"max_turns": "${N}", "enabled": "${S}"},
    }
    registry = ModelRegistry.from_dict({"models": {"m": model}}, environ={"T": "2.5", "N": "3", "S": "no"})
    config = registry.get("m")
    assert (config.timeout, config.supports_tools, config.tools.max_turns, config.tools.enabled) == (2.5, False, 3, False)
    with pytest.raises(ConfigError, match="timeout"):
        ModelRegistry.from_dict({"models": {"m": model}}, environ={"T": "soon", "N": "3", "S": "no"}).get("m")
