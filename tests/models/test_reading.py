"""Registry files: what they may hold, and how wrong ones are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from llmcore.models import ModelRegistry
from llmcore.models.reading import build_models, read_document
from llmcore.types import ConfigError

FULL = """
llm:
  defaults:
    max_output_tokens: 4000
    tools: {timeout: 30, max_parallel: 2}
  models:
    small:
      provider: groq
      model: llama-3.3-70b-versatile
      api_key: ${GROQ_KEY}
      base_url: ${GROQ_URL:-}
      context_window: ${WINDOW:-131072}
      escalates_to: big
      prices: {input: 0.59, output: 0.79}
      preferred_modes: [native_tools, text]
      tools: {timeout: 5, allowed: [search]}
    big:
      provider: anthropic
      model: claude-sonnet-4-5
      supports_web_search: true
      max_output_tokens: 8000
  overrides:
    "groq/*": {strict_json_instructions: true}
    "claude-*": {expect_xml: true, prefer_native_tools: true, preferred_modes: [json_schema]}
"""


def test_a_whole_file_is_read() -> None:
    models = build_models(read_document(FULL, "llm.yaml", {"GROQ_KEY": "gsk-secret"}))
    small, big = models["small"], models["big"]
    assert list(models) == ["small", "big"]
    assert small.api_key is not None
    assert small.api_key.get_secret_value() == "gsk-secret"
    assert (small.base_url, small.context_window, small.max_output_tokens) == (None, 131072, 4000)
    assert (small.escalates_to, small.modes) == (("big",), ("native_tools", "text"))
    assert (small.tools.timeout, small.tools.max_parallel) == (5, 2)
    assert small.tools.allowed == frozenset({"search"})
    assert (small.strict_json_instructions, big.strict_json_instructions) == (True, False)
    assert (big.max_output_tokens, big.modes) == (8000, ("native_tools", "json_schema"))
    assert (big.told.emits_text_calls, big.told.web_search, small.told.web_search) == (True, True, None)
    assert small.endpoint.prices is not None
    assert small.endpoint.prices.input == 0.59


def test_no_key_is_ever_printed() -> None:
    config = build_models(read_document(FULL, "llm.yaml", {"GROQ_KEY": "gsk-secret"}))["small"]
    assert "gsk-secret" not in f"{config!r} {config} {config.model_dump()} {config.model_dump_json()} {config.endpoint!r}"


MODEL = "llm: {models: {a: {provider: openai, model: gpt-4o, %s}}}"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (MODEL % "api_key: '${NOPE}'", ["llm.models.a.api_key", "NOPE is not set", "${NOPE:-default}"]),
        (MODEL % "contxt_window: 5", ["llm.models.a.contxt_window", "did you mean 'context_window'"]),
        (MODEL % "context_window: large", ["llm.models.a.context_window", "whole number"]),
        (MODEL % "context_window: -1", ["llm.models.a.context_window", "at least 1"]),
        (MODEL % "context_window: true", ["llm.models.a.context_window", "whole number"]),
        (MODEL % "timeout: .inf", ["llm.models.a.timeout", "finite number above 0"]),
        (MODEL % "prices: {input: .nan, output: 1}", ["llm.models.a.prices.input", "finite number of at least 0"]),
        (MODEL % "prices: {input: 1, output: .inf}", ["llm.models.a.prices.output", "finite number"]),
        (MODEL % "prices: {input: 1, output: -0.1}", ["llm.models.a.prices.output", "at least 0"]),
        (MODEL % "prices: {input: true, output: 1}", ["llm.models.a.prices.input", "finite number"]),
        (MODEL % "prices: {inputs: 1}", ["llm.models.a.prices.inputs"]),
        (MODEL % "escalates_to: [b]", ["llm.models.a.escalates_to", "no model 'b'"]),
        (MODEL % "preferred_modes: [native]", ["llm.models.a.preferred_modes.0", "native_tools"]),
        (MODEL % "tools: {timeut: 1}", ["llm.models.a.tools.timeut"]),
        ("llm: {models: {a: {provider: openai}}}", ["llm.models.a.model", "add `model:`"]),
        ("llm: {models: {a: 3}}", ["llm.models.a", "got a int"]),
        ("llm: {modles: {}}", ["llm.modles", "did you mean 'models'"]),
        ("llm: {defaults: {modle: x}}", ["llm.defaults.modle", "did you mean 'model'"]),
        ("llm: {overrides: {'*': {prefered_modes: [text]}}}", ["llm.overrides.*.prefered_modes"]),
        ("models: {}", ["models", "under `llm:`"]),
        ("- a", ["the file", "got a list"]),
        ("llm:\n  models:\n    a: {}\n    a: {}", [":4", "'a' is given twice"]),
        ("llm: {models: [", [":1", "not a valid registry file"]),
        ("llm: !!python/object:os.system {}", ["not a valid registry file"]),
    ],
)
def test_whatever_is_wrong_is_named_with_file_key_and_fix(text: str, told: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        build_models(read_document(text, "llm.yaml", {"KEY": "value"}))
    assert str(caught.value).startswith("llm.yaml:")
    for part in told:
        assert part in str(caught.value)


def test_a_secret_never_stands_in_an_error() -> None:
    text = MODEL % "api_key: '${KEY}', base_url: '${KEY}', context_window: '${KEY}', extra_headers: '${KEY}'"
    with pytest.raises(ConfigError) as caught:
        build_models(read_document(text, "llm.yaml", {"KEY": "sk-very-secret"}))
    assert "sk-very-secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_several_variables_stand_in_one_value_and_an_empty_one_takes_the_default() -> None:
    text = MODEL % "base_url: 'http://${HOST}:${PORT:-80}/v1'"
    config = build_models(read_document(text, "llm.yaml", {"HOST": "local", "PORT": ""}))["a"]
    assert config.base_url == "http://local:80/v1"


def entry(alias: str) -> str:
    return f"llm: {{models: {{{alias}: {{provider: openai, model: m}}}}}}"


def test_a_folder_is_read_by_name_like_a_configmap_mount(tmp_path: Path) -> None:
    (tmp_path / "..data").mkdir()
    (tmp_path / "..data" / "hidden.yaml").write_text(entry("hidden"))
    (tmp_path / "20-second.yaml").write_text(entry("second"))
    (tmp_path / "10-first.yml").symlink_to(tmp_path / "target.md")
    (tmp_path / "target.md").write_text(entry("first"))
    (tmp_path / ".swp").write_text("not yaml: [")
    assert ModelRegistry.from_yaml(tmp_path).aliases == ["first", "second"]
    (tmp_path / "30-third.yaml").write_text(entry("first"))
    with pytest.raises(ConfigError, match=r"30-third\.yaml: llm\.models\.first.*10-first\.yml"):
        ModelRegistry.from_yaml(tmp_path)


def test_files_of_a_folder_share_defaults_and_overrides(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("llm: {defaults: {max_retries: 1, tools: {timeout: 3}}}")
    (tmp_path / "b.yaml").write_text("llm: {defaults: {tools: {max_parallel: 4}}, overrides: {'m': {max_retries: 7}}}")
    (tmp_path / "c.yaml").write_text(entry("x"))
    config = ModelRegistry.from_yaml(tmp_path).get("x")
    assert (config.max_retries, config.tools.timeout, config.tools.max_parallel) == (7, 3, 4)


@pytest.mark.parametrize("name", ["none.yaml", "."])
def test_a_missing_file_or_an_empty_folder_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=str(tmp_path)):
        ModelRegistry.from_yaml(tmp_path / name)
