"""Each place below LiteLLM that llmcore replaces or sets is there, is ours, and is what LiteLLM itself uses.

A version that moves one of them fails here, whatever else still works. The scan of LiteLLM's sources says what it uses: it may
keep an old name as an alias that nobody calls.
"""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from packaging.requirements import Requirement

from llmcore.adapters.litellm import engine, unheard
from llmcore.adapters.litellm.patching import replace
from llmcore.types import ConfigError
from tests.packaging.tree import pyproject


class Patch(NamedTuple):
    module: str
    holder: str
    name: str


_UTILS = "litellm.litellm_core_utils"
PATCHES = [
    *(Patch(module, holder, name) for module, holder, name, _ in engine._LOOKS_UP),  # pyright: ignore[reportPrivateUsage]  # the list is what is tested
    Patch("litellm.utils", "", "supports_native_streaming"),
    Patch("litellm.main", "", "completion"),
    Patch("litellm", "ModelResponse", "model_dump"),
    Patch("openai.types.chat", "ChatCompletion", "model_dump"),
    Patch("litellm.llms.ollama.chat.transformation", "OllamaChatCompletionResponseIterator", "chunk_parser"),
    Patch("litellm.llms.vertex_ai.gemini.vertex_and_google_ai_studio_gemini", "VertexGeminiConfig", "_calculate_usage"),
    Patch(f"{_UTILS}.litellm_logging", "Logging", "_response_cost_calculator"),
    Patch(f"{_UTILS}.thread_pool_executor", "executor", "submit"),
    Patch(f"{_UTILS}.logging_worker", "GLOBAL_LOGGING_WORKER", "ensure_initialized_and_enqueue"),
    Patch("litellm", "in_memory_llm_clients_cache", "_remove_key"),
]
TRANSPORTS = [("litellm.llms.custom_httpx.aiohttp_transport", "LiteLLMAiohttpTransport"), ("httpx", "AsyncHTTPTransport")]
"""What LiteLLM's clients send through; httpx calls them."""
SETTINGS = {
    "suppress_debug_info": True,
    "disable_hf_tokenizer_download": True,
    "REPEATED_STREAMING_CHUNK_LIMIT": 1_000_000_000,
}
READ = [
    *engine.ENVIRONMENT,
    *unheard._LISTENERS,  # pyright: ignore[reportPrivateUsage]  # the list is what is tested
    "is_internal_call",
    "in_memory_llm_clients_cache",
    "update_cache_key_with_event_loop",
    "module_level_aclient",
    "aclient_session",
    "cache_dict",
    "ttl_dict",
    "get_model_info_helper",
    *(name for _, name in TRANSPORTS),
    "UnsupportedParamsError",
]
"""What LiteLLM must still know by these names: variables, settings, attributes and errors."""
_OURS = ("adapters/litellm/", "adapters/wire/")


@cache
def _sources() -> dict[str, str]:
    folder = Path(str(import_module("litellm").__file__)).parent
    files = (file for file in folder.rglob("*.py") if "proxy" not in file.relative_to(folder).parts[:1])
    return {str(file): file.read_text("utf-8") for file in files}


@cache
def _uses() -> dict[str, set[str]]:
    """The files that use each name, beside those lines that only define it, give it another name or import it as such."""
    names = {patch.name for patch in PATCHES} | SETTINGS.keys() | set(READ)
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


def _functions(holder: Any, name: str) -> Iterator[tuple[str, Any]]:
    for spelling in _spellings(name):
        function = getattr(holder, spelling, None)
        if function is not None:
            yield spelling, function


@pytest.fixture(scope="module")
def litellm() -> Any:
    return engine.litellm_now()


@pytest.mark.usefixtures("litellm")
@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: f"{patch.holder or patch.module}.{patch.name}")
def test_what_litellm_calls_is_ours(patch: Patch) -> None:
    module: Any = import_module(patch.module)
    holder = getattr(module, patch.holder) if patch.holder else module
    called = [function for spelling, function in _functions(holder, patch.name) if _uses()[spelling]]
    ours = [function for function in called if _is_ours(function)]
    assert ours, "LiteLLM calls nothing of this name that is ours: it has moved"
    originals = [getattr(function, "__wrapped__", None) for function in ours]
    assert not [function for function in called if function in originals], "LiteLLM calls it by another name as well"


@pytest.mark.usefixtures("litellm")
@pytest.mark.parametrize(("module", "name"), TRANSPORTS)
def test_what_litellm_sends_through_is_watched(module: str, name: str) -> None:
    assert _is_ours(getattr(import_module(module), name).handle_async_request)


def _is_ours(function: Any) -> bool:
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return any(folder in str(getattr(code, "co_filename", "")) for folder in _OURS)


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_that_llmcore_makes_is_read(litellm: Any, name: str) -> None:
    assert getattr(litellm, name) == SETTINGS[name]
    assert any(f"litellm.{name}" in _sources()[file] for file in _uses()[name])


@pytest.mark.usefixtures("litellm")
@pytest.mark.parametrize("name", READ)
def test_a_name_that_llmcore_relies_on_is_one_of_litellms(name: str) -> None:
    assert any(_uses()[spelling] for spelling in _spellings(name))


@pytest.mark.parametrize(
    "words",
    [
        "Item 'total' on TypedDict class '_Usage' is using the `ReadOnly` qualifier. Pydantic will not protect items",
        "Items 'a', 'b' on TypedDict class 'Usage' are using the `ReadOnly` qualifier. Pydantic will not protect items",
    ],
)
@pytest.mark.anyio
async def test_what_pydantic_says_of_litellms_typed_dicts_is_no_error(words: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        await engine.litellm()
        warnings.warn(words, UserWarning, stacklevel=1)
        with pytest.raises(UserWarning, match="of yours"):
            warnings.warn("an item on TypedDict class of yours", UserWarning, stacklevel=1)


@pytest.mark.parametrize("name", ["ask", "_ask"])
@pytest.mark.parametrize("spelt", ["public", "private", "both"])
def test_a_function_is_replaced_under_each_of_its_names(name: str, spelt: str) -> None:
    def ask() -> str:
        return "theirs"

    names = {"public": ["ask"], "private": ["_ask"], "both": ["ask", "_ask"]}[spelt]
    holder = SimpleNamespace(**dict.fromkeys(names, ask))
    replace(holder, name, lambda function: lambda: f"ours, not {function()}")
    assert [getattr(holder, one)() for one in names] == ["ours, not theirs"] * len(names)


def test_a_namesake_that_is_another_function_stays() -> None:
    holder = SimpleNamespace(ask=lambda: "public", _ask=lambda: "private")
    replace(holder, "_ask", lambda function: lambda: "ours")
    assert (holder.ask(), holder._ask()) == ("public", "ours")


def test_a_function_that_is_gone_is_an_error_that_names_it_and_the_fix() -> None:
    with pytest.raises(ConfigError, match=r"has no SimpleNamespace\.ask; install litellm=="):
        replace(SimpleNamespace(), "ask", lambda function: function)


def test_the_installed_litellm_is_one_that_users_get() -> None:
    requirement = next(Requirement(one) for one in pyproject()["project"]["dependencies"] if one.startswith("litellm"))
    assert requirement.specifier.contains(version("litellm"))
