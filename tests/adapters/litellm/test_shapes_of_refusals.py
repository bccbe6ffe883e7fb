"""A server's refusal is understood and shown whatever the shape of its body and its status; where it does not say what it refuses,
two other modes are asked. Over real sockets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.orchestrator import Orchestrator
from llmcore.types import (
    AuthenticationFailed,
    CallerError,
    CapabilityRefused,
    ModelNotFound,
    Overloaded,
    RateLimited,
    RequestRefused,
)
from tests.adapters.conftest import call_of, endpoint_at
from tests.adapters.litellm.errors.test_failures import failure_of
from tests.adapters.wire.test_error_words import SHAPES, WORDS
from tests.helpers.refusal_wordings import Wording
from tests.helpers.wire_server import Failure, Raw, Seen, Step, WireServer
from tests.run.endpoints.test_unexplained_refusals import LOOKS_AGAIN, assert_never_twice, ended, refusing, registry, weather
from tests.run.support import FAST, get_weather

pytestmark = pytest.mark.anyio
WIRES = ("openai", "groq", "anthropic", "gemini", "ollama")
KNOWN = "Tools are not supported by this model"


def shaped(shape: Any, words: str) -> Any:
    text = shape if isinstance(shape, str) else json.dumps(shape)
    return text.replace(WORDS, words)


STATUSES = (400, 403, 404, 422, 500)


@pytest.mark.parametrize("name", [name for name in SHAPES if name != "cut"])
@pytest.mark.parametrize("provider", WIRES)
async def test_words_are_read_and_shown_in_any_shape(adapter: LiteLLMAdapter, provider: str, name: str) -> None:
    wrong: list[str] = []
    for status, streamed in [*((status, False) for status in STATUSES), (400, True), (404, True)]:
        for words in (KNOWN, "This is rule 77") if status == 400 else (KNOWN,):
            with WireServer([Failure(status, shaped(SHAPES[name], words))]) as server:
                error = await failure_of(adapter, call_of(endpoint_at(server, provider), streamed=streamed), streamed)
            is_read = (isinstance(error, CapabilityRefused) and error.capability == "native_tools") is (words == KNOWN)
            if not is_read or words not in str(error):
                wrong.append(f"{status} {streamed}: {error!r}")
    assert wrong == []


UNEXPLAINED = (
    (403, {"error": {"message": "Your deployment may not use instruments."}}),
    (403, "<html><head><title>403 Forbidden</title></head><body>Request blocked by policy rule 77</body></html>"),
    (403, ""),
    (404, {"error": {"message": "No such feature on this route."}}),
    (404, {"error": {"message": "Structured calling endpoint not found"}}),
    (404, {"detail": "Not Found"}),
)
OF_TOOLS = (
    (404, {"error": {"message": "No route with tool support for this model."}}),
    (403, {"detail": "Feature disabled by the administrator: tools"}),
    (404, {"error": {"message": "The model local has no function calling here."}}),
    (502, {"error": {"message": "upstream refused tools"}}),
    (503, {"error": {"message": "function calling unavailable for this model"}}),
    (500, {"error": {"message": "ToolParser: tool calls blew up"}}),
)
NAMED = OF_TOOLS[1:]
"""What is believed at once. The others are looked at again in the next turn."""


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize(("status", "body"), UNEXPLAINED + OF_TOOLS, ids=str)
async def test_what_may_be_about_the_mode_leads_to_the_next_one(status: int, body: Any, streamed: bool) -> None:
    with WireServer(refusing(Wording("tools", status, body), weather)) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST) as orchestrator:
            first = await ended(orchestrator, streamed, "Weather in Paris?")
            second = await ended(orchestrator, streamed, "Weather in Paris?")
    assert first.content == second.content == "It is sunny."
    modes = [attempt.mode for attempt in first.attempts]
    assert modes == ["native_tools", "json_schema", "json_schema"] or ((status, body) not in NAMED and modes == LOOKS_AGAIN)
    assert {attempt.failure for attempt in second.attempts} == {None}
    assert_never_twice(server.requests[: len(first.attempts)])


@pytest.mark.parametrize(("status", "body"), UNEXPLAINED, ids=str)
async def test_where_no_mode_helps_two_others_are_asked(status: int, body: Any) -> None:
    with WireServer([Failure(status, body)]) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST) as orchestrator:
            with pytest.raises(CallerError) as caught:
                await orchestrator.run("Weather in Paris?")
    assert isinstance(caught.value, AuthenticationFailed if status == 403 else ModelNotFound)
    assert f"(HTTP {status})" in str(caught.value)
    assert len(server.requests) == len(caught.value.attempts) == 3
    assert_never_twice(server.requests)


@pytest.mark.parametrize(
    ("status", "words", "kind"),
    [
        (401, "tools need a pro key", AuthenticationFailed),
        (403, "Your API key has no permission for that.", AuthenticationFailed),
        (403, "Country, region, or territory not supported", AuthenticationFailed),
        (403, "You do not have access to model local", ModelNotFound),
        (404, "The model `local` does not exist", ModelNotFound),
        (404, "model: local", ModelNotFound),
        (404, 'model "local" not found, try pulling it first', ModelNotFound),
        (404, "The API deployment for this resource does not exist.", ModelNotFound),
        (404, "404 page not found", ModelNotFound),
        (404, "Invalid URL (POST /chat/completions)", ModelNotFound),
    ],
)
async def test_a_key_a_model_or_a_url_that_is_named_is_not_asked_about_twice(
    status: int, words: str, kind: type[CallerError]
) -> None:
    with WireServer([Failure(status, {"error": {"message": words}})]) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST) as orchestrator:
            with pytest.raises(kind, match="it says: "):
                await orchestrator.run("Weather in Paris?")
    assert len(server.requests) == 1


async def test_without_tools_or_a_format_nothing_else_is_asked() -> None:
    for status, kind in ((403, AuthenticationFailed), (404, ModelNotFound)):
        with WireServer([Failure(status, "")]) as server:
            async with Orchestrator(registry(server), strategies=FAST) as orchestrator:
                with pytest.raises(kind):
                    await orchestrator.run("Hello")
        assert len(server.requests) == 1


async def test_a_name_of_a_model_that_speaks_of_tools_is_no_refusal_of_them() -> None:
    with WireServer([Failure(404, {"error": {"message": "The model `tools-7b` does not exist"}})]) as server:
        async with Orchestrator(registry(server, model="tools-7b"), [get_weather], strategies=FAST) as orchestrator:
            with pytest.raises(ModelNotFound):
                await orchestrator.run("Weather in Paris?")
    assert len(server.requests) == 1


async def test_a_fault_that_may_pass_is_waited_for_though_it_names_tools(adapter: LiteLLMAdapter) -> None:
    for body, headers in (
        ("The tool calling backend is overloaded, try again", {}),
        ("function calling unavailable", {"retry-after": "3"}),
    ):
        with WireServer([Failure(503, {"error": {"message": body}}, headers)]) as server:
            assert isinstance(await failure_of(adapter, call_of(endpoint_at(server, "openai")), False), Overloaded)


QUOTED = (
    "Why do I read 'Rate limit reached' so often?",
    "What is 'This model's maximum context length is 10 tokens'?",
    "Is this a content_policy_violation of the content_filter_policy?",
    "What does 'Error 429: too many requests' tell, and what 'request was throttled'?",
)


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("quoted", QUOTED)
@pytest.mark.parametrize("provider", WIRES)
async def test_words_of_the_user_decide_nothing(adapter: LiteLLMAdapter, provider: str, quoted: str, streamed: bool) -> None:
    body = {"error": {"message": f'moderation: we do not like "{quoted}"'}}
    with WireServer([Failure(400, body)]) as server:
        call = call_of(endpoint_at(server, provider), quoted, streamed=streamed)
        error = await failure_of(adapter, call, streamed)
    assert type(error) is RequestRefused


async def test_nor_do_they_where_the_error_comes_with_200(adapter: LiteLLMAdapter) -> None:
    for quoted, own, kind in ((QUOTED[0], "moderation", None), ("Hello", "Rate limit for m hit", RateLimited)):
        body = {"error": {"message": f'{own}: "{quoted}"'}}
        with WireServer([Raw([json.dumps(body).encode()])]) as server:
            error = await failure_of(adapter, call_of(endpoint_at(server, "openai"), quoted), False)
        assert (type(error) is RateLimited) is (kind is RateLimited)


async def test_of_a_mode_that_was_not_asked_nothing_is_learnt() -> None:
    def script(seen: Seen) -> Step:
        refused = seen.body.get("response_format", {}).get("type") == "json_object"
        return Failure(400, {"error": {"message": "Not like this."}}) if refused else weather(seen)

    with WireServer(script) as server:
        modes = registry(server, preferred_modes=["json_object", "text"])
        async with Orchestrator(modes, [get_weather], strategies=FAST) as orchestrator:
            assert (await orchestrator.run("Weather in Paris?")).content == "It is sunny."
            learnt = orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint)
    assert learnt == {"json_object": False}


@pytest.mark.parametrize(
    ("words", "is_learnt"),
    [("Instruments unavailable: NotImplementedError", True), ("Internal Server Error", True), ("", True)],
)
async def test_a_fault_that_comes_again_in_the_same_words_is_learnt(words: str, is_learnt: bool) -> None:
    with WireServer(refusing(Wording("tools", 500, words), weather)) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST) as orchestrator:
            first = await orchestrator.run("Weather in Paris?")
            learnt = orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint)
            second = await orchestrator.run("Weather in Paris?")
    assert first.content == second.content == "It is sunny."
    assert (learnt.get("native_tools") is False) is is_learnt
    assert ({attempt.failure for attempt in second.attempts} == {None}) is is_learnt


async def test_a_model_that_is_missing_in_the_users_words_is_there() -> None:
    asked = "Why does it say: the model does not exist, your API key is wrong?"
    with WireServer(refusing(Wording("tools", 404, {"error": {"message": f"no: {asked}"}}), weather)) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST) as orchestrator:
            assert (await orchestrator.run(asked)).content == "It is sunny."
