"""A rate limit, a passing trouble and a key that is not taken are known by a server's words and by what it calls them, whatever
the status: they teach nothing of what the request held."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.adapters.base import Capabilities, Endpoint, ModelCall
from llmcore.adapters.litellm.errors.phrases import meanings
from llmcore.types import (
    AuthenticationFailed,
    CapabilityRefused,
    ContextOverflow,
    RateLimited,
    RemoteServerError,
    RequestRefused,
    RequestTooLarge,
)
from tests.adapters.conftest import call_of
from tests.adapters.litellm.errors.test_refusals import meaning

ENDPOINT = Endpoint(provider="openai_compatible", model="m")
QUOTE = 12
"""Characters that make a quotation."""


def asking(text: str = "Hello") -> ModelCall:
    return call_of(ENDPOINT, text, capabilities=Capabilities())


@pytest.mark.parametrize(
    "body",
    [
        {"type": "rate_limit_error"},
        {"code": "rate_limit_exceeded"},
        {"status": "RESOURCE_EXHAUSTED"},
        {"type": "ThrottlingException"},
        {"code": "too_many_requests"},
    ],
)
def test_a_rate_limit_is_known_by_what_it_is_called(body: dict[str, Any]) -> None:
    assert isinstance(meaning("Nope.", asking(), **body), RateLimited)


@pytest.mark.parametrize(
    "words",
    [
        "You are being rate limited",
        "rate limited",
        "Rate limit reached for tools",
        "Token limit per minute exceeded, retry after 1s",
        "Too many tokens, please wait before trying again.",
        "tokens per minute (TPM): Limit 6000, Used 5800, Requested 900. Please try again in 0.5s",
        "Too many requests with tools, slow down",
        "请求频率超过限制",
    ],
)
def test_a_rate_limit_is_known_by_its_words(words: str) -> None:
    assert isinstance(meaning(words, asking()), RateLimited)
    if len(words) >= QUOTE:
        assert not isinstance(meaning(f"bad input: {words}", asking(words)), RateLimited)


def test_what_looks_like_a_rate_limit_is_none() -> None:
    assert "too_often" not in meanings("rate limiting is no parameter")
    assert isinstance(
        meaning("Request too large: tokens per minute (TPM): Limit 6000, Requested 9000", asking()), RequestTooLarge
    )
    assert isinstance(meaning("too many tokens in the prompt", asking()), ContextOverflow)


@pytest.mark.parametrize(
    "words",
    [
        "请稍后再试",
        "tools cannot be loaded right now",
        "we are under maintenance; tools are temporarily unavailable",
    ],
)
def test_a_passing_trouble_is_known_in_many_languages(words: str) -> None:
    assert "passing" in meanings(words)
    assert not isinstance(meaning(words, asking()), CapabilityRefused)


@pytest.mark.parametrize(
    "words",
    [
        "tools are not supported: drop them and try again",
        "bitte ohne werkzeuge erneut versuchen",
        "réessayez sans outils",
        "暂时不支持工具",
        "此模型暂不支持工具",
        "derzeit nicht unterstützt",
    ],
)
def test_what_asks_for_another_request_does_not_pass(words: str) -> None:
    assert "passing" not in meanings(words)


@pytest.mark.parametrize(
    "body",
    [{"code": "invalid_api_key"}, {"type": "authentication_error"}, {"status": "UNAUTHENTICATED"}, {"code": "api_key_expired"}],
)
def test_a_key_that_is_not_taken_is_known_by_what_that_is_called(body: dict[str, Any]) -> None:
    assert isinstance(meaning("Nope.", asking(), **body), AuthenticationFailed)


@pytest.mark.parametrize(
    "words",
    [
        "Authentication Error, No api key passed in.",
        "Wrong API Key",
        "Missing Authorization header",
        "Your API key has been disabled",
        "API key revoked",
        "API密钥无效",
    ],
)
def test_a_key_that_is_not_taken_is_known_by_words(words: str) -> None:
    assert isinstance(meaning(words, asking()), AuthenticationFailed)
    if len(words) >= QUOTE:
        assert not isinstance(meaning(f"bad input: {words}", asking(words)), AuthenticationFailed)


@pytest.mark.parametrize(
    "words",
    [
        "invalid schema for function 'login': property 'api_key' is required",
        "tools[0].function.parameters: api_key is missing",
        "the model is unknown to this api",
        "tools are not supported by this api",
        "unknown parameter: tools",
    ],
)
def test_what_is_said_of_something_else_is_of_no_key(words: str) -> None:
    assert "key_refused" not in meanings(words)


@pytest.mark.parametrize(
    ("words", "body"),
    [
        ("Model zz is loading, estimated_time 20", {}),
        ("Model zz is currently loading", {}),
        ("the weights are still being loaded", {}),
        ("The queue is full", {}),
        ("Provider returned error", {"code": 502}),
        ("Provider returned error", {"code": "bad_gateway"}),
        ("upstream connect error or disconnect/reset before headers. reset reason: connection termination", {}),
        ("no healthy upstream", {}),
        ("CUDA out of memory. Tried to allocate 2.00 GiB", {}),
        ("CUDA error: an illegal memory access", {}),
    ],
)
def test_a_passing_fault_is_known_whatever_its_status(words: str, body: dict[str, Any]) -> None:
    error = meaning(words, asking(), **body)
    assert isinstance(error, RemoteServerError)
    assert not isinstance(error, RequestRefused)
    if len(words) >= QUOTE and not body:
        assert not isinstance(meaning(f"bad input: {words}", asking(words)), RemoteServerError)


@pytest.mark.parametrize(
    "words",
    [
        "no tool parser is loaded",
        "the model is loaded without a tool template",
        "the upstream takes none of it",
        "the queue field?",
    ],
)
def test_what_sounds_like_a_fault_is_none(words: str) -> None:
    assert "passing" not in meanings(words)
