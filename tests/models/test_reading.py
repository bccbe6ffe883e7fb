"""Registry files: what they may hold, and how wrong ones are told."""

from __future__ import annotations

import json
import re
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import yaml

from llmcore.models import ModelRegistry
from llmcore.models.reading import build_models, read_document
from llmcore.types import ConfigError
from llmcore.types.limits import REGISTRY_LIMITS

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
        (MODEL % "escalates_to: a", ["llm.models.a.escalates_to", "names the model itself"]),
        (MODEL.replace("a:", "'':") % "timeout: 1", ["the alias '' is empty"]),
        (MODEL.replace("a:", "' a':") % "timeout: 1", ["the alias ' a'", "blanks at its ends"]),
        (MODEL % "preferred_modes: [native]", ["llm.models.a.preferred_modes.0", "native_tools"]),
        (MODEL % "tools: {timeut: 1}", ["llm.models.a.tools.timeut"]),
        ("llm: {models: {a: {provider: openai}}}", ["llm.models.a.model", "add `model:`"]),
        ("llm: {models: {a: 3}}", ["llm.models.a", "got a int"]),
        ("llm: {modles: {}}", ["llm.modles", "did you mean 'models'"]),
        ("llm: {defaults: {modle: x}}", ["llm.defaults.modle", "did you mean 'model'"]),
        ("llm: {overrides: {'*': {prefered_modes: [text]}}}", ["llm.overrides.*.prefered_modes"]),
        ("llm: {}\nmodels: {}", ["models", "under `llm:`"]),
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


BOMBS = {
    "aliases": "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)),
    "merge keys": "a0: &a0 {k: 1}\n"
    + "".join(f"a{n}: &a{n} {{<<: [{','.join([f'*a{n - 1}'] * 9)}], k{n}: 1}}\n" for n in range(1, 30)),
    "an alias of itself": "llm: &a {models: *a}",
    "a merge of itself": "llm: &a {<<: *a}",
    "a long number": MODEL % ("context_window: " + "9" * 5000),
    "a long hexadecimal number": MODEL % ("context_window: 0x" + "f" * 5000),
    "a huge float": MODEL % "timeout: 1.0e+999",
    "infinity": MODEL % "timeout: .inf",
    "infinity as text": MODEL % "timeout: '1e999'",
    "no number": MODEL % "prices: {input: .nan}",
    "a number that is none": MODEL % "context_window: !!int x",
    "an impossible date": MODEL % "context_window: 2024-13-45",
    "a defaults' chain": MODEL % ("base_url: '" + "${a:-" * 100_000 + "'"),
    "nested defaults": MODEL % "base_url: '${A:-${B:-x}}'",
    "a name that is none": MODEL % "base_url: '${my-key}'",
    "a variable that repeats": MODEL % ("base_url: '" + "${LONG}" * 100 + "'"),
    "lists": "llm: " + "[" * 100_000,
    "mappings": "llm: " + "{a: " * 100_000,
    "dashes": "- " * 100_000,
    "question marks": "? " * 100_000,
    "many values": "llm: [" + "a," * 400_000 + "]",
    "many models": "llm: {models: {" + ",".join(f"m{n}: {{provider: custom, model: m}}" for n in range(3000)) + "}}",
    "many overrides": "llm: {overrides: {" + ",".join(f"'{n}*': {{}}" for n in range(3000)) + "}}",
    "a long key": "llm: {models: {" + "k" * 100_000 + ": {}}}",
    "a key that is a list": "llm: {models: {? [a] : {}}}",
    "binary": "llm: !!binary aGVsbG8=",
    "an object": "llm: !!python/object/apply:os.system ['true']",
    "a set": "llm: !!set {a}",
    "two documents": "llm: {}\n---\nllm: {}",
    "a NUL": "llm: {}\0",
    "half of a surrogate pair": "llm: {models: {a: \ud800}}",
}


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_a_hostile_file_is_refused_at_once_in_little_memory(text: str) -> None:
    started = time.process_time()
    with pytest.raises(ConfigError, match=r"^llm\.yaml") as caught:
        build_models(read_document(text, "llm.yaml", {"LONG": "x" * 60_000}))
    assert time.process_time() - started < 1
    assert len(str(caught.value)) < 2000


@pytest.mark.parametrize("content", [b"llm: {}\xff", b"\xff\xfel\0l\0m\0", b" " * (REGISTRY_LIMITS.size + 1)])
def test_a_file_that_is_no_registry_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "llm.yaml").write_bytes(content)
    with pytest.raises(ConfigError, match=r"llm\.yaml: (cannot be read|larger than)"):
        ModelRegistry.from_yaml(tmp_path / "llm.yaml")


def test_a_file_of_a_gigabyte_is_not_held(tmp_path: Path) -> None:
    with (tmp_path / "llm.yaml").open("wb") as file:
        file.truncate(1_000_000_000)  # a hole: it takes no room on the disk
    tracemalloc.start()
    try:
        with pytest.raises(ConfigError, match="larger than"):
            ModelRegistry.from_yaml(tmp_path / "llm.yaml")
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_settings_given_as_data_are_bounded_too() -> None:
    own: dict[str, Any] = {"provider": "custom", "model": "m"}
    own["tools"] = own
    with pytest.raises(ConfigError, match=r"the given settings: .*levels"):
        ModelRegistry.from_dict({"models": {"a": own}})
    with pytest.raises(ConfigError, match="the key 3 is not text"):
        ModelRegistry.from_dict({"models": {3: {"provider": "custom", "model": "m"}}})


def test_names_that_yaml_takes_for_something_else_stay_text() -> None:
    names = "on", "1", "1.10", "2026-01-31", "null"
    text = "llm: {models: {" + ", ".join(f"{name}: {{provider: custom, model: m}}" for name in names) + "}}"
    assert tuple(build_models(read_document(text, "llm.yaml", {}))) == names


def test_anchors_and_merge_keys_of_a_sane_file_work() -> None:
    text = (
        "llm:\n  models:\n    a: &base {provider: custom, model: m, max_retries: 1}\n"
        "    b: {<<: *base, model: n}\n    c: {<<: [{max_retries: 3}, *base]}\n"
    )
    models = build_models(read_document(text, "llm.yaml", {}))
    assert [(config.model, config.max_retries) for config in models.values()] == [("m", 1), ("n", 1), ("m", 3)]


def test_a_dollar_keeps_braces_from_being_a_variable() -> None:
    text = MODEL % "extra_headers: {a: '$${HOST}/${PATH_}${PATH_}/$5'}"
    assert build_models(read_document(text, "llm.yaml", {"PATH_": "a$"}))["a"].extra_headers == {"a": "${HOST}/a$a$/$5"}


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
    return f"llm: {{models: {{{alias}: {{provider: openai, model: gpt-4o}}}}}}"


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
    (tmp_path / "b.yaml").write_text("llm: {defaults: {tools: {max_parallel: 4}}, overrides: {'gpt-4o': {max_retries: 7}}}")
    (tmp_path / "c.yaml").write_text(entry("x"))
    config = ModelRegistry.from_yaml(tmp_path).get("x")
    assert (config.max_retries, config.tools.timeout, config.tools.max_parallel) == (7, 3, 4)


@pytest.mark.parametrize("name", ["none.yaml", "."])
def test_a_missing_file_or_an_empty_folder_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=str(tmp_path)):
        ModelRegistry.from_yaml(tmp_path / name)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("provider: opnai, model: gpt-4o", ["llm.models.a", "did you mean 'openai'"]),
        ("provider: openai, model: gtp-4o", ["llm.models.a", "did you mean 'gpt-4o'"]),
        ("provider: openai, model: gpt-4o, text_dialect: hermess", ["text_dialect", "did you mean 'hermes'"]),
        ("provider: openai, model: gpt-4o, preferred_modes: [nativ_tools]", ["modes.0", "did you mean 'native_tools'"]),
        ("provider: openai, model: gpt-4o, prices: {inptu: 1}", ["prices.inptu: unknown key", "did you mean 'input'"]),
        ("provider: openai, model: gpt-4o, tools: {alowed: []}", ["tools.alowed: unknown key", "did you mean 'allowed'"]),
        ("provider: openai, model: m, base_url: 'https://openai.com.evil/v1'", ["looks like openai's"]),
    ],
)
def test_an_unknown_name_is_an_error_at_load(settings: str, words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        build_models(read_document(f"llm: {{models: {{a: {{{settings}}}}}}}", "llm.yaml", {}))
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_names_and_ports_that_cannot_be_are_refused_at_load() -> None:
    with pytest.raises(ConfigError, match=r"the key 'm\\ud800' holds half of a surrogate pair"):
        ModelRegistry.from_dict({"models": {"m\ud800": {"provider": "openai", "model": "gpt-4o"}}})
    served = {"provider": "openai_compatible", "model": "m", "base_url": "http://host:99999/v1"}
    with pytest.raises(ConfigError, match="base_url names the port 99999; the last one is 65535"):
        ModelRegistry.from_dict({"models": {"m": served}})


_SECTIONS_OF_A_FILE: dict[str, Any] = {
    "defaults": {"provider": "custom", "base_url": "http://127.0.0.1:1/v1"},
    "models": {"small": {"model": "a"}, "large": {"model": "b", "timeout": 5}},
    "overrides": {"large": {"max_retries": 1}},
}


@pytest.mark.parametrize("wrapped", [True, False])
def test_data_a_file_and_a_folder_take_one_form_with_and_without_llm_around(tmp_path: Path, wrapped: bool) -> None:
    data = {"llm": _SECTIONS_OF_A_FILE} if wrapped else _SECTIONS_OF_A_FILE
    file, folder = tmp_path / "models.yaml", tmp_path / "folder"
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    folder.mkdir()
    (folder / "1.json").write_text(json.dumps(data))
    (folder / "2.yaml").write_text("models: {other: {model: c}}" if wrapped else "llm: {models: {other: {model: c}}}")
    given, read, folded = (ModelRegistry.load(one) for one in (data, file, folder))
    assert [*given] == [*read] == [*folded][:2]
    assert (given.get("large").timeout, given.get("large").max_retries, given.get("small").provider) == (5, 1, "custom")
    assert folded.aliases == ["small", "large", "other"]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"modles": {}}, "modles: unknown key; did you mean 'models'?"),
        ({"lmm": {"models": {}}}, "lmm: unknown key; did you mean 'llm'?"),
        ({"models": {}, "server": 1}, "server: unknown key; there are llm, defaults, models, overrides"),
        ({"llm": {}, "models": {}}, "models: unknown key; everything belongs under `llm:`, in defaults, models, overrides"),
        ({"llm": {"default": {}}}, "llm.default: unknown key; did you mean 'defaults'?"),
        ({"models": {"a": {"provder": "openai"}}}, "llm.models.a.provder: unknown key; did you mean 'provider'?"),
    ],
)
def test_an_unknown_key_in_data_and_in_a_file_gives_the_same_message(tmp_path: Path, data: dict[str, Any], told: str) -> None:
    file = tmp_path / "models.yaml"
    file.write_text(yaml.safe_dump(data))
    with pytest.raises(ConfigError, match=re.escape(f"the given settings: {told}")):
        ModelRegistry.from_dict(data)
    with pytest.raises(ConfigError, match=re.escape(f"{file}: {told}")):
        ModelRegistry.from_yaml(file)
