"""Each place below LiteLLM that llmcore replaces or sets is there, is ours, and is what LiteLLM itself uses.

A version that moves one of them fails here, whatever else still works. The scan of LiteLLM's sources says what it uses: it may
keep an old name as an alias that nobody calls.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from packaging.requirements import Requirement

from llmcore.adapters.litellm import engine, patches
from llmcore.adapters.litellm.patches.disable_callbacks import CALLBACK_SETTINGS
from llmcore.adapters.litellm.patches.patch import Patch, replace
from llmcore.types import ConfigError
from tests.packaging.tree import ROOT, pyproject

PATCHES = [*patches.all_patches()]
CALLED_BY_HTTPX = [patch for patch in PATCHES if patch.name == "handle_async_request"]
"""LiteLLM's clients send through these; httpx calls them."""
CALLED_BY_LITELLM = [patch for patch in PATCHES if patch not in CALLED_BY_HTTPX]
READ = [
    *engine.ENVIRONMENT,
    *CALLBACK_SETTINGS,
    "is_internal_call",
    "in_memory_llm_clients_cache",
    "update_cache_key_with_event_loop",
    "module_level_aclient",
    "aclient_session",
    "cache_dict",
    "ttl_dict",
    "get_model_info_helper",
    *(patch.owner for patch in CALLED_BY_HTTPX),
    "UnsupportedParamsError",
]
"""What LiteLLM must still know by these names: variables, settings, attributes and errors."""
_OURS = "adapters/litellm/patches/"


@cache
def _sources() -> dict[str, str]:
    folder = Path(str(import_module("litellm").__file__)).parent
    files = (file for file in folder.rglob("*.py") if "proxy" not in file.relative_to(folder).parts[:1])
    return {str(file): file.read_text("utf-8") for file in files}


@cache
def _uses() -> dict[str, set[str]]:
    """The files that use each name, beside those lines that only define it, give it another name or import it as such."""
    names = {patch.name for patch in CALLED_BY_LITELLM} | engine.SETTINGS.keys() | set(READ)
    spelled = sorted(names | {f"_{name}" for name in names} | {name.removeprefix("_") for name in names}, key=len, reverse=True)
    word = re.compile(rf"\b({'|'.join(map(re.escape, spelled))})\b")
    found: defaultdict[str, set[str]] = defaultdict(set)
    for file, text in _sources().items():
        for match in word.finditer(text):
            line = text[text.rfind("\n", 0, match.start()) + 1 : text.find("\n", match.end())].strip()
            name = re.escape(match[1])
            if not re.match(rf"(async )?def {name}\b|_?{name}(: [^=]+)? = _?{name}$|#", line):
                found[match[1]].add(file)
    return found


def _spellings(name: str) -> tuple[str, str]:
    return name, name.removeprefix("_") if name.startswith("_") else f"_{name}"


def _functions(owner: Any, name: str) -> Iterator[tuple[str, Any]]:
    for spelling in _spellings(name):
        function = getattr(owner, spelling, None)
        if function is not None:
            yield spelling, function


@pytest.fixture(scope="module")
def litellm() -> Any:
    return engine.litellm_now()


@pytest.mark.usefixtures("litellm")
@pytest.mark.parametrize("patch", CALLED_BY_LITELLM, ids=lambda patch: f"{patch.owner or patch.module}.{patch.name}")
def test_what_litellm_calls_is_ours(patch: Patch) -> None:
    called = [function for spelling, function in _functions(patch.find_owner(), patch.name) if _uses()[spelling]]
    ours = [function for function in called if _is_ours(function)]
    assert ours, "LiteLLM calls nothing of this name that is ours: it has moved"
    originals = [getattr(function, "__wrapped__", None) for function in ours]
    assert not [function for function in called if function in originals], "LiteLLM calls it by another name as well"


@pytest.mark.usefixtures("litellm")
@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: f"{patch.owner or patch.module}.{patch.name}")
def test_each_patch_is_applied(patch: Patch) -> None:
    assert patch.is_applied()


def test_each_module_is_in_the_table_and_says_which_fault_it_is_for_and_where_it_was_seen() -> None:
    folder = Path(str(patches.__file__)).parent
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__", "patch"}
    assert sorted(patches.MODULES) == sorted(modules)
    for name in modules:
        said = str(import_module(f"{patches.__name__}.{name}").__doc__)
        assert said.startswith("Fault: "), name
        assert re.search(r"Seen on\s+LiteLLM 1\.\d+\.\d+", said), name


def test_patches_import_nothing_of_litellm_before_they_are_applied() -> None:
    program = (
        "import sys, llmcore.adapters.litellm.engine, llmcore.adapters.litellm.adapter\n"
        "print(*sorted({'litellm', 'openai', 'httpx', 'aiohttp'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def _is_ours(function: Any) -> bool:
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return _OURS in str(getattr(code, "co_filename", ""))


@pytest.mark.parametrize("name", engine.SETTINGS)
def test_a_setting_that_llmcore_makes_is_read(litellm: Any, name: str) -> None:
    assert getattr(litellm, name) == engine.SETTINGS[name]
    assert any(f"litellm.{name}" in _sources()[file] for file in _uses()[name])


@pytest.mark.usefixtures("litellm")
@pytest.mark.parametrize("name", READ)
def test_a_name_that_llmcore_relies_on_is_one_of_litellms(name: str) -> None:
    assert any(_uses()[spelling] for spelling in _spellings(name))


@pytest.mark.parametrize("name", ["ask", "_ask"])
@pytest.mark.parametrize("spelt", ["public", "private", "both"])
def test_a_function_is_replaced_under_each_of_its_names(name: str, spelt: str) -> None:
    def ask() -> str:
        return "theirs"

    names = {"public": ["ask"], "private": ["_ask"], "both": ["ask", "_ask"]}[spelt]
    owner = SimpleNamespace(**dict.fromkeys(names, ask))
    replace(owner, name, lambda function: lambda: f"ours, not {function()}")
    assert [getattr(owner, one)() for one in names] == ["ours, not theirs"] * len(names)


def test_a_namesake_that_is_another_function_stays() -> None:
    owner = SimpleNamespace(ask=lambda: "public", _ask=lambda: "private")
    replace(owner, "_ask", lambda function: lambda: "ours")
    assert (owner.ask(), owner._ask()) == ("public", "ours")


def test_a_function_is_replaced_once() -> None:
    owner = SimpleNamespace(ask=lambda: "theirs")
    for _ in range(2):
        replace(owner, "ask", lambda function: lambda: f"ours, not {function()}")
    assert owner.ask() == "ours, not theirs"


def test_an_owner_that_is_gone_is_an_error_that_names_it_and_the_fix() -> None:
    for module, owner in (("litellm.no_such_module", ""), ("llmcore.types", "NoSuchClass")):
        with pytest.raises(ConfigError, match=rf"has no {module}\.{owner} .*; install litellm=="):
            Patch(module, owner, "ask", print).apply()


def test_a_function_that_is_gone_is_an_error_that_names_it_and_the_fix() -> None:
    with pytest.raises(ConfigError, match=r"has no SimpleNamespace\.ask; install litellm=="):
        replace(SimpleNamespace(), "ask", lambda function: function)


def test_the_installed_litellm_is_one_that_users_get() -> None:
    requirement = next(Requirement(one) for one in pyproject()["project"]["dependencies"] if one.startswith("litellm"))
    assert requirement.specifier.contains(version("litellm"))
