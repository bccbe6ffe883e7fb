"""Names that cannot be reached are errors at load, each with what was probably meant."""

from __future__ import annotations

import subprocess
import sys

import pytest

from llmcore.adapters.providers import ALIASES, PROVIDERS, canonical
from llmcore.adapters.providers.names import _warn, check_provider_names, litellm_names  # pyright: ignore[reportPrivateUsage]
from llmcore.types import ConfigError
from tests.adapters.conftest import EVERY_MODEL
from tests.packaging.tree import ROOT


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("opnai", "gpt-4o"), ["no provider 'opnai'", "did you mean 'openai'"]),
        (("google", "gemini-2.5-pro"), ["did you mean 'gemini'"]),
        (("Claude", "claude-opus-4-5"), ["did you mean 'anthropic'"]),
        (("mistrall", "x"), ["did you mean 'mistral'"]),
        (("fireworks", "x"), ["did you mean 'fireworks_ai'"]),
        (("openai", "gtp-4o"), ["openai has no model 'gtp-4o'", "did you mean 'gpt-4o'"]),
        (("anthropic", "claud-sonnet-4-5"), ["did you mean 'claude-sonnet-4-5'"]),
        (("deepseek", "chat"), ["deepseek has no model 'chat'", "deepseek-*"]),
        (("openrouter", "gpt-4o"), ["openrouter has no model 'gpt-4o'", "*/*"]),
        (("vllm", "m"), ["needs a `base_url`", "http://127.0.0.1:8000/v1"]),
        (("azure", "m"), ["needs a `base_url`", "AZURE_API_BASE"]),
        (("openai", "gpt-4o", "https://api.openai.com.evil/v1"), ["looks like openai's", "belongs to another owner"]),
        (("anthropic", "m", "https://api.anthropic.com-x.example/"), ["looks like anthropic's"]),
        (("custom", "m", "https://api.openai.com.evil/v1"), ["looks like openai's"]),
        (("anthropic", "claude-sonet-4-5"), ["anthropic has no model 'claude-sonet-4-5'", "did you mean 'claude-sonnet-4-5'"]),
        (("mistral", "mistral-lrge-latest"), ["did you mean 'mistral-large-latest'"]),
        (("gemini", "gemini-2.5-flsh"), ["did you mean 'gemini-2.5-flash'"]),
        (("bedrock", "eu.anthropic.claude-sonet-4-5-v1:0"), ["did you mean"]),
        (("deepseek", "deepseek-chta"), ["did you mean 'deepseek-chat'"]),
        (("anthropic", "claude-opsu-4-5"), ["did you mean 'claude-opus-4-5'"]),
        (("openai", "gpt-4o-miin"), ["did you mean 'gpt-4o-mini'"]),
        (("cohere_chat", "comand-r-plus"), ["cohere_chat has no model 'comand-r-plus'", "did you mean 'command-r-plus"]),
        (("cohere", "comand-r-plus"), ["did you mean 'command-r-plus"]),
        (("perplexity", "sonnar-pro"), ["did you mean 'sonar-pro'"]),
        (("ai21", "jamb-1.5"), ["did you mean 'jamba-1.5'"]),
        (("vllm", "m", "http://127.0.0.1:1/v1/chat/completions"), ["leave out '/chat/completions'", "'/v1'"]),
        (("anthropic", "m", "https://proxy.example/v1/messages/"), ["leave out '/v1/messages'"]),
    ],
)
def test_what_nobody_knows_is_an_error_with_the_nearest(
    given: tuple[str, ...], words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AZURE_API_BASE", raising=False)
    with pytest.raises(ConfigError) as caught:
        check_provider_names(*given)
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize(
    "given",
    [
        ("openai", "gpt-9-turbo"),  # a family's next model needs no new release of ours
        ("openai", "ft:gpt-4o-mini:org::id"),
        ("anthropic", "claude-3-5-sonnet-20241022"),  # an old one
        ("anthropic", "claude-sonnet-9-1"),
        ("anthropic", "claude-brio-1"),  # a new family has a new word
        ("anthropic", "claude-sonet-4-5", "https://proxy.example"),  # whose names are its own
        ("mistral", "open-mixtral-8x22b"),
        ("gemini", "gemini-exp-1206"),
        ("groq", "nothing-here"),  # it serves anybody's models
        ("custom", "m", "http://127.0.0.1:1/chat/completions"),
        ("openai", "anything", "http://127.0.0.1:1/v1"),
        ("openai", "gpt-4o", "https://eu.api.openai.com/v1"),
        ("openai", "m", "https://proxy.example/openai.com/v1"),
        ("OpenAI-compatible", "m", "http://box.ai.example/v1"),
        ("vllm", "m", "http://127.0.0.1:1/v1"),
        ("llama.cpp", "m", "http://127.0.0.1:1"),
        ("vertex", "gemini-2.5-pro"),
        ("together_ai", "some/model"),
        ("bedrock", "eu.anthropic.claude-opus-4-5-v1:0"),
        ("fireworks_ai", "accounts/x/models/y"),  # LiteLLM's
        ("cohere_chat", "comand-r-plus", "https://proxy.example"),
        ("nano-gpt", "m"),
        ("custom", "m"),
    ],
)
def test_what_can_be_reached_is_let_through(given: tuple[str, ...]) -> None:
    check_provider_names(*given)


@pytest.mark.parametrize(
    ("provider", "model", "near"),
    [
        ("openai", "gpt-4o-mni", "gpt-4o-mini"),
        ("openai", "gpt-4o-mimi", "gpt-4o-mini"),
        ("openai", "gpt-4-o-mini", "gpt-4o-mini"),
        ("anthropic", "claude-opus-4.5", "claude-opus-4-5"),
        ("anthropic", "claude-4-5-opus", "claude-opus-4-5"),
        ("deepseek", "deepseek-chad", "deepseek-chat"),
        ("gemini", "gemini-2.5-por", "gemini-2.5-pro"),
        ("openai", "gpt-40", "gpt-4o"),
        ("anthropic", "claude-sonnet-45", "claude-sonnet-4-5"),
        ("gemini", "gemini-25-flash", "gemini-2.5-flash"),
        ("openai", "gpt-4o-2024-08-6", "gpt-4o-2024-08-06"),
        ("zai", "gml-5", "glm-5"),
    ],
)
def test_what_may_be_a_slip_is_let_through_with_a_warning(
    provider: str, model: str, near: str, caplog: pytest.LogCaptureFixture
) -> None:
    _warn.cache_clear()
    for _ in range(2):
        check_provider_names(provider, model)
    (said,) = caplog.messages
    assert f"{model!r} is not known" in said
    assert f"{near!r}" in said


def test_what_is_like_no_model_of_a_provider_without_a_row_is_let_through_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    _warn.cache_clear()
    check_provider_names("cohere_chat", "nonsense-99")
    assert caplog.messages == ["cohere_chat: the model 'nonsense-99' is not known. It is requested by this name"]


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("cohere_chat", "command-z"),
        ("zai", "glm-9"),
        ("moonshot", "kimi-k9"),
        ("openai", "gpt-4o-mini"),
        ("openai", "gpt-9-mini"),
        ("openai", "gpt-4x-mini"),
        ("openai", "gpt-4o-mini-2031-01-01"),
        ("openai", "ft:gpt-4o-mini:org::id"),
        ("anthropic", "claude-opus-9-5"),
        ("anthropic", "claude-brio-4-5"),
        ("mistral", "mistral-huge-latest"),
        ("gemini", "gemini-9-pro"),
        ("deepseek", "deepseek-r9"),
    ],
)
def test_a_new_model_is_let_through_without_a_word(provider: str, model: str, caplog: pytest.LogCaptureFixture) -> None:
    check_provider_names(provider, model)
    assert caplog.messages == []


def test_a_url_of_the_environment_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_API_BASE", "https://x.openai.azure.com")
    check_provider_names("azure", "my-deployment")


def test_every_row_serves_the_model_that_the_tests_take_for_it() -> None:
    assert EVERY_MODEL.keys() == PROVIDERS.keys()
    assert all(PROVIDERS[name].may_serve(model) for name, model in EVERY_MODEL.items())


def test_other_spellings_lead_to_a_row() -> None:
    assert {canonical(spelling) for spelling in ALIASES} <= PROVIDERS.keys()
    assert ALIASES.keys().isdisjoint(PROVIDERS)


def test_the_shipped_list_is_the_locked_litellms() -> None:
    assert f"\nlitellm=={litellm_names()['litellm']} " in (ROOT / "requirements.lock").read_text("utf-8")
    assert {row.prefix for row in PROVIDERS.values()} <= set(litellm_names()["providers"])
    assert litellm_names()["models"].keys() <= PROVIDERS.keys() | set(litellm_names()["providers"])


def test_litellm_is_not_imported_for_it() -> None:
    code = (
        "import sys\n"
        "from llmcore import ModelRegistry\n"
        "ModelRegistry.load('fireworks_ai/some-model')\n"
        "print('litellm' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
