"""A server refuses, in unknown words, what llmcore adds to a request (a system message, the options of a stream). The run
ends well without it, learns it by contrast, and learns nothing else. Over real sockets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from llmcore.orchestrator import Orchestrator
from llmcore.types import CallerError, FallbackExhausted, Request, RequestRefused
from tests.helpers.wire_server import Failure, Seen, Step, WireServer
from tests.run.endpoints.test_unexplained_refusals import assert_never_twice, ended, registry, weather
from tests.run.support import FAST, assert_valid, get_weather

pytestmark = pytest.mark.anyio

ODD = Failure(400, {"error": {"message": "That is not a shape this house can digest."}})
NO = Failure(422, {"message": "E1047"})


class City(BaseModel):
    name: str
    people: int


def has_system(seen: Seen) -> bool:
    return any(message["role"] == "system" for message in seen.body["messages"])


def has_options(seen: Seen) -> bool:
    return "stream_options" in seen.body


def has_both(seen: Seen) -> bool:
    return has_system(seen) or has_options(seen)


def without(refused: Callable[[Seen], bool], answer: Callable[[Seen], Step], *names: str) -> Callable[[Seen], Step]:
    """A server that refuses requests by a look at them, and those that hold one of the parameters."""
    return lambda seen: ODD if refused(seen) else NO if set(names) & seen.body.keys() else answer(seen)


async def runs(server: WireServer, streamed: bool, tools: list[Any], *request: Any, times: int = 4, **settings: Any) -> list[Any]:
    """So many runs of one orchestrator, and what it learnt."""
    async with Orchestrator(registry(server, **settings), tools, strategies=FAST) as orchestrator:
        results = [await ended(orchestrator, streamed, *request) for _ in range(times)]
        return [*results, orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint)]


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
async def test_a_system_prompt_opens_the_users_message_where_there_is_no_such_role(streamed: bool) -> None:
    asked = Request.model_validate({"messages": "Hello", "system": "Be brief."})
    with WireServer(without(has_system, lambda _: "Hi.")) as server:
        first, second, third, learnt = await runs(server, streamed, [], asked, times=3)
    assert {result.content for result in (first, second, third)} == {"Hi."}
    # streamed, a run may be refused twice: without `stream_options`, too
    assert [len(result.attempts) for result in (second, third)] == [1 if streamed else 2, 1]
    assert learnt == {"system_message": False}
    assert server.requests[-1].body["messages"] == [{"role": "user", "content": "Be brief.\n\nHello"}]
    assert_never_twice(server.requests[: len(first.attempts)])


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize("names", [["tools"], ["tools", "response_format"]], ids=["tools", "all"])
async def test_what_we_teach_a_server_without_tools_and_that_role_reaches_it(names: list[str], streamed: bool) -> None:
    with WireServer(without(has_system, weather, *names)) as server:
        *results, learnt = await runs(server, streamed, [get_weather], "Weather in Paris?", times=5)
    for result in results:
        assert (result.content, result.degraded) == ("It is sunny.", False)
        assert [record.value for record in result.tool_results] == ["Paris: sunny for 1 days"]
        assert_valid(result.messages)
    assert {attempt.failure for attempt in results[-1].attempts} == {None}  # by then it is known
    assert learnt["system_message"] is learnt["native_tools"] is False


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
async def test_a_server_without_that_role_that_takes_tools_is_asked_with_tools_again(streamed: bool) -> None:
    asked = Request.model_validate({"messages": "Weather in Paris?", "system": "Be brief."})
    with WireServer(without(has_system, weather)) as server:
        *results, learnt = await runs(server, streamed, [get_weather], asked)
    assert {result.content for result in results} == {"It is sunny."}
    assert learnt["system_message"] is False
    assert learnt.get("native_tools") is not False
    assert {attempt.failure for attempt in results[-1].attempts} == {None}


@pytest.mark.parametrize("refused", [has_options, has_both], ids=["options", "both"])
@pytest.mark.parametrize("tools", [[], [get_weather]], ids=["plain", "tools"])
async def test_options_of_a_stream_are_left_out(tools: list[Any], refused: Callable[[Seen], bool]) -> None:
    asked = Request.model_validate({"messages": "Weather in Paris?", "system": "Be brief."})
    with WireServer(without(refused, weather if tools else lambda _: "It is sunny.")) as server:
        *results, learnt = await runs(server, True, tools, asked)
    assert {result.content for result in results} == {"It is sunny."}
    assert learnt["stream_options"] is False
    assert learnt.get("system_message") is (False if refused is has_both else None)
    assert learnt.get("native_tools") is not False
    assert {attempt.failure for attempt in results[-1].attempts} == {None}
    assert server.requests[-1].streaming


async def test_a_typed_stream_is_answered_without_them() -> None:
    with WireServer(without(has_options, lambda _: '{"name": "Oslo", "people": 700000}', "tools")) as server:
        *values, learnt = await runs(server, True, [], "Which city?", City)
    assert values == [City(name="Oslo", people=700_000)] * 4
    assert learnt["stream_options"] is False


@pytest.mark.parametrize("settings", [{}, {"retry_with_different_format": False}, {"force_text_mode": True}], ids=str)
async def test_refused_additions_are_left_out_if_the_mode_may_not_change(settings: dict[str, Any]) -> None:
    with WireServer(without(has_options, weather)) as server:
        *results, _ = await runs(server, True, [get_weather], "Weather in Paris?", **settings)
    assert {result.content for result in results} == {"It is sunny."}


async def test_nothing_is_learnt_where_that_does_not_help() -> None:
    asked = Request.model_validate({"messages": "Hello", "system": "Be brief."})
    with WireServer([ODD]) as server:
        async with Orchestrator(registry(server), strategies=FAST) as orchestrator:
            with pytest.raises(FallbackExhausted) as caught:
                await orchestrator.run(asked)
            assert orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint) == {}
    assert [type(failure) for failure in caught.value.failures] == [RequestRefused] * 2
    assert_never_twice(server.requests)


@pytest.mark.parametrize("provider", ["anthropic", "gemini"])
async def test_a_wire_that_has_a_field_for_it_is_not_asked_again(provider: str) -> None:
    at = {"provider": provider, "model": {"anthropic": "claude-sonnet-4-5", "gemini": "gemini-2.5-pro"}[provider], "api_key": "k"}
    with WireServer([ODD]) as server:
        models = {"models": {"m": {**at, "base_url": server.base_url(provider)}}}
        async with Orchestrator(models, strategies=FAST) as orchestrator:
            with pytest.raises(FallbackExhausted):
                await orchestrator.run(Request.model_validate({"messages": "Hello", "system": "Be brief."}))
    assert len(server.requests) == 1


@pytest.mark.parametrize("tools", [[], [get_weather]], ids=["plain", "tools"])
async def test_a_server_that_streams_nothing_is_asked_for_whole_answers(tools: list[Any]) -> None:
    with WireServer(without(lambda seen: seen.streaming, weather if tools else lambda _: "It is sunny.")) as server:
        *results, learnt = await runs(server, True, tools, "Weather in Paris?")
    assert {result.content for result in results} == {"It is sunny."}
    assert learnt["streaming"] is False
    assert learnt.get("native_tools") is not False
    assert {attempt.failure for attempt in results[-1].attempts} == {None}


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize(
    "said",
    [
        "Only user and assistant roles are supported!",
        "messages[0].role: unknown variant",
    ],
)
async def test_words_of_a_system_turn_name_the_system_message(said: str, streamed: bool) -> None:
    asked = Request.model_validate({"messages": "Weather in Paris?", "system": "Be brief."})
    refusal = Failure(400, {"error": {"message": said}})
    with WireServer(lambda seen: refusal if has_system(seen) else weather(seen)) as server:
        first, second, learnt = await runs(server, streamed, [get_weather], asked, times=2)
    assert [attempt.failure for attempt in (*first.attempts[1:], *second.attempts)] == [None] * 4
    assert (learnt["system_message"], learnt.get("stream_options")) == (False, None)


async def test_a_search_that_the_user_promises_and_that_was_refused_is_left_out_first() -> None:
    def searches(seen: Seen) -> bool:
        return "web_search_options" in seen.body

    refusal = Failure(400, {"error": {"message": "Hosted tools? No such luxury."}})
    asked = Request.model_validate({"messages": "Hello", "allow_web_search": True})
    with WireServer(lambda seen: refusal if searches(seen) else "Hello.") as server:
        _, *later, learnt = await runs(server, True, [], asked, times=3, supports_web_search=True)
    assert [len(result.attempts) for result in later] == [2, 2]
    assert any("web_search" in name.split("+") for name in learnt)


def asks_for_the_cost(seen: Seen) -> bool:
    return "usage" in seen.body


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize(
    "words",
    [
        "Unrecognized request argument supplied: usage",
        "usage: unknown field",
        "usage.include is not permitted",
        "usage? not on this gateway",
    ],
)
async def test_an_unrequested_cost_is_not_asked_for_if_it_is_refused_by_name(words: str, streamed: bool) -> None:
    at = {"provider": "openrouter", "model": "meta-llama/llama-3.3-70b-instruct", "api_key": "k-0123456789"}
    refusal = Failure(400, {"error": {"message": words}})
    with WireServer(lambda seen: refusal if asks_for_the_cost(seen) else weather(seen)) as server:
        models = {"models": {"m": {**at, "base_url": server.base_url("openrouter")}}}
        async with Orchestrator(models, [get_weather], strategies=FAST) as orchestrator:
            first, second = [await ended(orchestrator, streamed, "Weather in Paris?") for _ in range(2)]
            learnt = orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint)
    assert [attempt.mode for attempt in first.attempts[:2]] == ["native_tools"] * 2
    assert [attempt.failure for attempt in (*first.attempts[1:], *second.attempts)] == [None] * 4
    assert (learnt["usage"], learnt.get("native_tools")) == (False, None)
    assert [asks_for_the_cost(seen) for seen in server.requests] == [True, *[False] * 4]


async def test_a_usage_of_the_callers_own_stays() -> None:
    at = {"provider": "openrouter", "model": "meta-llama/llama-3.3-70b-instruct", "api_key": "k-0123456789"}
    own = {"usage": {"include": True}}
    with WireServer([Failure(400, {"error": {"message": "usage: unknown field"}})]) as server:
        models = {"models": {"m": {**at, "base_url": server.base_url("openrouter")}}}
        async with Orchestrator(models, strategies=FAST) as orchestrator:
            with pytest.raises(CallerError, match="does not take usage"):
                await orchestrator.run(Request.model_validate({"messages": "Hello", "extra_body": own}))
    assert [seen.body["usage"] for seen in server.requests] == [own["usage"]]
