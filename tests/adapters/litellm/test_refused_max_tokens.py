"""A server that does not take `max_tokens`: it is sent under its newer name, `max_completion_tokens`, where the wire has both, and
left out and recorded where that is refused as well, or there is none. No body is sent twice. On every row, over sockets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from llmcore.adapters.base import Endpoint
from llmcore.adapters.litellm.errors.table import classify
from llmcore.adapters.providers import PROVIDERS, Provider, provider_of
from llmcore.orchestrator import Orchestrator
from llmcore.support.values.narrowing import is_object
from llmcore.types import CapabilityRefused, Request
from tests.adapters.conftest import EVERY_MODEL, call_of
from tests.adapters.litellm.errors.test_failures import Made
from tests.adapters.litellm.test_every_mode import openais_place, signed_in
from tests.helpers.wire_server import Failure, Seen, Step, WireServer
from tests.run.support import FAST

pytestmark = pytest.mark.anyio
_FIXTURES = (openais_place, signed_in)
OLDER, NEWER = "max_tokens", "max_completion_tokens"
NAMES = (OLDER, NEWER, "maxOutputTokens", "max_output_tokens", "num_predict", "maxTokens")
SENTENCE = "Unsupported parameter: 'max_tokens' is not supported with this model."


def row_of(provider: str) -> Provider:
    return provider_of(Endpoint(provider=provider, model=EVERY_MODEL[provider], base_url=PROVIDERS[provider].needs_url or None))


ROWS = [provider for provider in PROVIDERS if not row_of(provider).needs_max_tokens]


def found(value: Any) -> Iterator[str]:
    """The names under which a body holds it."""
    if is_object(value):
        yield from (name for name in value if name in NAMES)
        for inner in value.values():
            yield from found(inner)


async def asked(provider: str, *refused: str) -> tuple[list[list[str]], list[Any]]:
    """What each request of two runs held, and the attempts of the second run."""

    def script(seen: Seen) -> Step:
        held = [name for name in found(seen.body) if name in refused]
        body = {"error": {"message": SENTENCE, "param": NEWER if NEWER in held else OLDER, "code": "unsupported_parameter"}}
        return Failure(400, body) if held else "Hello."

    with WireServer(script) as server:
        at = {"provider": provider, "model": EVERY_MODEL[provider], "base_url": server.base_url(provider), "api_key": "k"}
        async with Orchestrator({"models": {"m": at}}, strategies=FAST) as orchestrator:
            results = [await orchestrator.run("Hi", max_tokens=300) for _ in range(2)]
    assert [result.content for result in results] == ["Hello."] * 2
    first = [json.dumps(seen.body, sort_keys=True) for seen in server.requests[:-1]]
    assert len(set(first)) == len(first)
    return [list(found(seen.body)) for seen in server.requests], results[1].attempts


@pytest.mark.parametrize("provider", [provider for provider in ROWS if row_of(provider).wire == "openai-chat"])
async def test_it_is_sent_under_its_newer_name(provider: str) -> None:
    held, attempts = await asked(provider, OLDER)
    assert held == [[OLDER], [NEWER], [NEWER]]
    assert attempts[0].dropped == []


@pytest.mark.parametrize("provider", ROWS)
async def test_it_is_left_out_where_no_name_is_taken(provider: str) -> None:
    held, attempts = await asked(provider, *NAMES)
    assert held[-2:] == [[], []]
    assert len(held) == (4 if row_of(provider).wire == "openai-chat" else 3)
    assert attempts[0].dropped == ["max_tokens"]


@pytest.mark.parametrize(
    "words",
    [
        SENTENCE,
        "Please use `max_completion_tokens` instead of `max_tokens` here",
        "expected max_completion_tokens, got max_tokens: unknown field",
        "'max_completion_tokens' is unsupported",  # LiteLLM's or a gateway's name for what was sent
    ],
)
def test_words_that_ask_for_the_other_name(words: str) -> None:
    call = call_of(Endpoint(provider="openai_compatible", model="m"), Request.model_validate({"messages": "Hi", "max_tokens": 9}))
    error = classify(Made(words, 400), call)
    assert isinstance(error, CapabilityRefused)
    assert error.capability == "max_tokens"


@pytest.mark.parametrize(
    "words",
    [
        "`max_completion_tokens` must be less than or equal to 8192",
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
    ],
)
def test_words_about_its_value_do_not(words: str) -> None:
    call = call_of(Endpoint(provider="openai_compatible", model="m"), Request.model_validate({"messages": "Hi", "max_tokens": 9}))
    assert not isinstance(classify(Made(words, 400), call), CapabilityRefused)
