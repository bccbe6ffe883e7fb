"""The package list is complete, imports are light, and every module imports under its one name."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from importlib.util import find_spec

import pytest

from llmcore.types import ConfigError
from tests.packaging.tree import LAYERS, ROOT, module_name, pyproject, source_files

HEAVY = {
    "litellm",
    "openai",
    "anthropic",
    "httpx",
    "aiohttp",
    "lxml",
    "jsonschema",
    "json_repair",
    "yaml",
    "rich",
    "typer",
}
PROVIDER_CLIENTS = {"litellm", "openai", "anthropic"}


def loaded_by(code: str) -> set[str]:
    """The modules a fresh interpreter holds after running `code` in the repository's root."""
    code += "\nimport json, sys; print('\\n' + json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_the_package_list_names_every_folder_with_an_init() -> None:
    folders = sorted(module_name(path) for path in source_files("__init__.py"))
    assert pyproject()["tool"]["setuptools"]["packages"] == folders


def test_every_folder_that_holds_a_module_is_a_package() -> None:
    assert {path.parent for path in source_files()} == {path.parent for path in source_files("__init__.py")}


def test_import_llmcore_loads_nothing_heavy() -> None:
    assert loaded_by("import llmcore") & HEAVY == set()


def test_a_first_reply_of_text_loads_neither_wires_nor_what_only_mistakes_need() -> None:
    loaded = loaded_by("import llmcore; llmcore.normalize('It is sunny.', [{'name': 'lookup'}])")
    rare = {"referencing", "regex", "difflib", "logging", "llmcore.validator", "llmcore.normalizer.native.wires"}
    assert loaded & (HEAVY | rare) == set()


def test_import_llmcore_loads_no_layer_by_its_bare_name() -> None:
    assert loaded_by("import llmcore") & set(LAYERS) == set()


OF_SERVERS = {"llmcore.integrations.servers.vllm", "llmcore.integrations.servers.sglang"}
"""Only their servers import them."""


OF_FRAMEWORKS = {"llmcore.integrations.langchain": "langchain", "llmcore.integrations.pydantic_ai": "pydantic-ai"}
"""They derive from a class of their framework. Each has an extra, which `make test-integrations` installs."""


OF_LITELLM = ("llmcore.integrations.litellm.",)
"""They wrap LiteLLM, so they import it. The package loads them at first use."""


@pytest.mark.parametrize("name", sorted(OF_SERVERS))
def test_a_plugin_without_its_server_says_where_it_belongs(name: str) -> None:
    with pytest.raises(ConfigError, match="its environment"):
        importlib.import_module(name)


@pytest.mark.parametrize(("name", "extra"), OF_FRAMEWORKS.items())
def test_a_model_without_its_framework_names_the_extra(name: str, extra: str) -> None:
    if find_spec(extra.replace("-", "_").replace("langchain", "langchain_core")) is not None:
        pytest.skip("the framework is installed")
    with pytest.raises(ConfigError, match=rf"pip install 'llmcore-engine\[{extra}\]'"):
        importlib.import_module(name)


@pytest.fixture(scope="module")
def loaded_by_everything() -> set[str]:
    names = [module_name(path) for path in source_files() if path.name != "__main__.py"]
    names = [name for name in names if name not in OF_SERVERS | OF_FRAMEWORKS.keys() and not name.startswith(OF_LITELLM)]
    return loaded_by(f"import importlib\nfor name in {names}: importlib.import_module(name)")


def test_no_module_imports_a_provider_client_before_the_first_call(loaded_by_everything: set[str]) -> None:
    assert loaded_by_everything & PROVIDER_CLIENTS == set()


def test_no_module_imports_a_layer_by_its_bare_name(loaded_by_everything: set[str]) -> None:
    assert loaded_by_everything & set(LAYERS) == set()
    assert {f"llmcore.{layer}" for layer in LAYERS} <= loaded_by_everything


def test_the_console_script_points_at_a_callable() -> None:
    module, _, name = pyproject()["project"]["scripts"]["llmcore"].partition(":")
    loaded_by(f"import {module}; assert callable({module}.{name})")
