"""`llmcore models`: the registry as a table and as JSON, never a key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke

REGISTRY = """
llm:
  models:
    fast:
      provider: groq
      model: llama-3.3-70b-versatile
      api_key: ${TEST_KEY}
      supports_tools: true
      context_window: 131072
      prices: {input: 0.59, output: 0.79}
      escalates_to: [strong]
    strong:
      provider: openai_compatible
      model: big
      base_url: http://127.0.0.1:9/v1
      force_text_mode: true
      extra_headers: {X-Key: top-secret-header}
"""


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TEST_KEY", "sk-top-secret")
    path = tmp_path / "models.yaml"
    path.write_text(REGISTRY, "utf-8")
    return path


def test_the_table(invoke: Invoke, registry: Path) -> None:
    result = invoke("models", registry)
    assert result.exit_code == 0
    fast, strong = (line for line in result.output.splitlines() if line.startswith(("fast", "strong")))
    assert [cell.strip() for cell in fast.split("│")] == [
        "fast",
        "groq/llama-3.3-70b-versatile",
        "native_tools, json_schema, json_object, text",
        "yes",
        "-",
        "131,072",
        "$0.59 / $0.79",
        "yes",
        "strong",
    ]
    assert "openai_compatible/big at http://127.0.0.1:9/v1" in strong
    assert "secret" not in result.output


def test_json(invoke: Invoke, registry: Path) -> None:
    result = invoke("models", registry, "--json")
    fast, strong = json.loads(result.stdout)
    assert (fast["alias"], fast["has_api_key"], fast["escalates_to"]) == ("fast", True, ["strong"])
    assert (strong["has_api_key"], strong["modes"]) == (False, ["text"])
    assert "secret" not in result.output


def test_the_registry_may_be_named_by_the_environment(invoke: Invoke, registry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLMCORE_MODELS", str(registry))
    assert "fast" in invoke("models").output


def test_a_registry_that_cannot_be_read_exits_2(invoke: Invoke, tmp_path: Path) -> None:
    missing = invoke("models", tmp_path / "nowhere.yaml")
    assert (missing.exit_code, missing.stderr.count("\n")) == (2, 1)
    assert "nowhere.yaml: no such file" in missing.stderr
    (tmp_path / "models.yaml").write_text("llm: {models: {a: {provider: x, model: y, api_key: '${NO_SUCH_KEY}'}}}")
    unset = invoke("models", tmp_path / "models.yaml")
    assert unset.exit_code == 2
    assert "NO_SUCH_KEY" in unset.stderr


def test_a_url_that_holds_a_key_exits_2_and_is_not_quoted(
    invoke: Invoke, registry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.write_text(REGISTRY.replace("http://127.0.0.1:9/v1", "http://ann:${TEST_KEY}@127.0.0.1:9/v1"), "utf-8")
    result = invoke("models", registry)
    assert result.exit_code == 2
    assert "llm.models.strong: base_url holds a secret (user name, password)" in result.stderr
    assert "top-secret" not in result.output


def test_what_may_be_a_secret_in_a_url_is_masked(invoke: Invoke, registry: Path) -> None:
    registry.write_text(REGISTRY.replace("http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1?tenant=top-secret"), "utf-8")
    for options in ((), ("--json",)):
        result = invoke("models", registry, *options)
        assert "http://127.0.0.1:9/v1?tenant=[secret]" in result.output
        assert "top-secret" not in result.output
