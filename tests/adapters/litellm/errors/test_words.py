"""What a failure says, in our words: the model, the place, whose key it was; no key, and none of LiteLLM's tips."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.adapters.base import Endpoint, ModelCall
from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.litellm.errors.exceptions import answered_with
from llmcore.adapters.litellm.errors.table import classify
from llmcore.adapters.litellm.errors.words import key_words, server_words, without_tips
from llmcore.models import ModelRegistry
from llmcore.orchestrator import Orchestrator
from llmcore.types import (
    AuthenticationFailed,
    ConfigError,
    ContextOverflow,
    LLMCoreError,
    ModelNotFound,
    QuotaExceeded,
    Refused,
    Request,
    RequestRefused,
    RequestTooLarge,
)
from tests.adapters.litellm.errors.test_failures import Made
from tests.helpers.wire_server import Failure, WireServer

pytestmark = pytest.mark.anyio

KEY = "sk-own-0123456789abcdef"
PROVIDERS = ["openai", "openai_compatible", "groq", "openrouter", "mistral", "deepseek", "anthropic", "gemini", "ollama"]


def call_of(**endpoint: Any) -> ModelCall:
    told = {"provider": "openai", "model": "gpt-4o", **endpoint}
    return ModelCall(endpoint=Endpoint.model_validate(told), request=Request.model_validate({"messages": "Hi"}))


async def failure_of(server: WireServer, provider: str, api_key: str = "${OWN_KEY}") -> LLMCoreError:
    model = {"provider": provider, "model": "gpt-4o", "base_url": server.base_url(provider), "api_key": api_key}
    registry = ModelRegistry.from_dict({"models": {"mine": model}})
    async with Orchestrator(registry, strategies=()) as orchestrator:
        with pytest.raises(LLMCoreError) as caught:
            await orchestrator.run("Hello")
    return caught.value


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_key_that_is_refused_is_named_by_its_variable(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWN_KEY", KEY)
    with WireServer([Failure(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}})]) as server:
        error = await failure_of(server, provider)
        url = server.base_url(provider)
    assert isinstance(error, AuthenticationFailed)
    words = str(error)
    assert words.startswith(
        f"mine at {url}: the server does not let us in (HTTP 401); the key is the model's `api_key`, the value of"
    )
    assert "the variable OWN_KEY; it says: Incorrect API key provided: " in words
    assert KEY not in words
    assert "litellm" not in words.lower()


@pytest.mark.parametrize("body", ["", "No.", {"error": {"message": "No."}}], ids=str)
@pytest.mark.parametrize(("status", "kind"), [(401, AuthenticationFailed), (403, AuthenticationFailed), (404, ModelNotFound)])
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_no_words_of_litellm_stand_in_it(provider: str, status: int, kind: type[Exception], body: Any) -> None:
    with WireServer([Failure(status, body)]) as server:
        error = await failure_of(server, provider, KEY)
    error = error.__cause__ if isinstance(error.__cause__, LLMCoreError) else error
    assert isinstance(error, kind)
    assert str(error).endswith("it says: No." if body else "it says: (no words)"), str(error)
    assert "mine at http" in str(error)
    assert f"(HTTP {status})" in str(error)


def test_an_unknown_provider_is_told_with_the_nearest_one() -> None:
    with pytest.raises(ConfigError, match=r"there is no provider 'grok'; did you mean 'xai'\? .* 'openai_compatible'") as caught:
        ModelRegistry.from_dict({"models": {"mine": {"provider": "grok", "model": "m", "api_key": KEY}}})
    assert "huggingface" not in str(caught.value).lower()


async def test_so_it_is_where_no_registry_came_before() -> None:
    with pytest.raises(ConfigError, match=r"there is no provider 'grok'; did you mean '\w+'\?") as caught:
        await LiteLLMAdapter().complete(call_of(provider="grok", model="m"))
    assert "huggingface" not in str(caught.value).lower()


def test_where_a_key_came_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EU_KEY", KEY)
    assert key_words(call_of(api_key=KEY)) == "the key is the model's `api_key`, the value of the variable EU_KEY"
    assert key_words(call_of(api_key="sk-other-0123456789")) == "the key is the model's `api_key`"
    assert key_words(call_of()) == "the key is the value of the variable OPENAI_API_KEY"
    assert key_words(call_of(base_url="http://local")) == "no key was sent, for none was given: give `api_key`"
    assert key_words(call_of(provider="ollama")) == "no key was sent, for none was given: give `api_key`"
    assert key_words(call_of(provider="bedrock")) == "no `api_key` was given"


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("litellm.BadRequestError: OpenAIException - Error code: 400", "(no words)"),
        ("litellm.BadRequestError: GeminiException BadRequestError - ", "(no words)"),
        ("litellm.NotFoundError: NotFoundError: GroqException - gone", "gone"),
        ("Error code: 422 - {'detail': 1}", "{'detail': 1}"),
        ("ValidationError: this is the server's", "ValidationError: this is the server's"),
        ("litellm.APIError: Error and more", "Error and more"),
    ],
)
def test_what_the_clients_put_before_it_is_left_out(message: str, said: str) -> None:
    assert server_words(message) == said


class BadRequestError(Exception):
    """As LiteLLM raises one before it sends anything."""

    status_code = 400


TIP = "x does not support parameters: ['tools'], for model=m. To drop these, set `litellm.drop_params=True` or for proxy:\n\n`litellm_settings:`"


async def test_what_litellm_itself_refuses_is_no_word_of_the_servers() -> None:
    assert without_tips(TIP) == "x does not support parameters: ['tools'], for model=m."
    told = BadRequestError("litellm.BadRequestError: what was given is odd. Set litellm.modify_params = True.")
    error = classify(told, call_of(), answered=answered_with(None))
    assert isinstance(error, RequestRefused)
    assert str(error) == "openai/gpt-4o at openai: LiteLLM makes no request of this, so none was sent: what was given is odd."
    sent = BadRequestError("litellm.BadRequestError: what was given is odd.")
    assert "the server refused the request (HTTP 400)" in str(classify(sent, call_of(), answered=answered_with(400)))


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, {"message": "You exceeded your current quota", "code": "insufficient_quota"}, QuotaExceeded),
        (400, {"message": "maximum context length is 10 tokens", "code": "context_length_exceeded"}, ContextOverflow),
        (413, {"message": "request_too_large"}, RequestTooLarge),
        (400, {"message": "flagged", "code": "content_filter"}, Refused),
    ],
)
def test_every_failure_says_where_it_happened(status: int, body: dict[str, str], kind: type[LLMCoreError]) -> None:
    call = call_of(alias="large", base_url="https://eu.example")
    failure = classify(Made(body["message"], status, body=body), call)
    assert type(failure) is kind
    assert str(failure).startswith("large at https://eu.example: ")
    assert body["message"] in str(failure)


@pytest.mark.parametrize(
    ("message", "body"),
    [
        ("AnthropicException - b'Sorry guv.'", None),
        ("Error code: 400 - {'error': 'Sorry guv.'}", {"error": "Sorry guv."}),
        ("Error code: 400 - {'error': 'Sorry guv.'}", "Sorry guv."),
        ('{"error": "Sorry guv."}', None),
        ('{"detail": "Sorry guv."}', None),
    ],
)
def test_a_server_is_quoted_in_plain_words(message: str, body: Any) -> None:
    told = str(classify(Made(message, 400, body=body)))
    assert told.endswith("Sorry guv.")
    assert not any(sign in told for sign in ("b'", "{", '"'))
