"""A server takes no tools, or no response format, and says so in unknown words. Each run ends well in a later mode or with
another model, and sends no request twice. Over real sockets."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from pydantic import BaseModel

from llmcore.models import ModelRegistry
from llmcore.orchestrator import Orchestrator
from llmcore.types import (
    AuthenticationFailed,
    Budget,
    FallbackExhausted,
    Finished,
    MaxToolTurns,
    Message,
    ModelNotFound,
    RequestRefused,
)
from tests.helpers.refusal_wordings import WORDINGS, Wording
from tests.helpers.wire_server import Failure, Seen, Step, WireServer
from tests.run.support import FAST, assert_valid, get_weather

pytestmark = pytest.mark.anyio

AS_TEXT = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
AS_ENVELOPE: dict[str, Any] = {
    "toolCalls": [{"name": "get_weather", "arguments": {"city": "Paris"}}],
    "content": "",
    "needsMoreWork": True,
}
LOOKS_AGAIN = ["native_tools", "json_schema", "native_tools", "json_schema"]
"""The modes of a run whose first request is refused in words that nobody knows: the next turn looks whether that passed."""
ANSWER: dict[str, Any] = {"toolCalls": [], "content": "It is sunny.", "needsMoreWork": False}


class City(BaseModel):
    name: str
    people: int


def registry(server: WireServer, **settings: Any) -> ModelRegistry:
    model = {"provider": "openai_compatible", "model": "local", "base_url": server.base_url("openai_compatible")}
    return ModelRegistry.from_dict({"models": {"m": {**model, "api_key": "none", **settings}}})


def refusing(wording: Wording, answer: Callable[[Seen], Step], *more: str) -> Callable[[Seen], Step]:
    """A script that refuses what the wording is about, and whatever else is named."""
    refused = {wording.refused, *more}
    return lambda seen: answer(seen) if refused.isdisjoint(seen.body) else Failure(wording.status, wording.body)


def weather(seen: Seen) -> Step:
    """Calls the tool in whatever mode it is asked, then answers."""
    in_json = "response_format" in seen.body
    if "sunny for 1 days" in json.dumps(seen.body):
        return json.dumps(ANSWER) if in_json else "It is sunny."
    return json.dumps(AS_ENVELOPE) if in_json else AS_TEXT


def assert_never_twice(requests: Sequence[Seen]) -> None:
    bodies = [json.dumps({**seen.body, "stream": None}, sort_keys=True) for seen in requests]
    assert len(set(bodies)) == len(bodies), [seen.body for seen in requests]


async def ended(orchestrator: Orchestrator, streamed: bool, *request: Any) -> Any:
    if not streamed:
        return await (orchestrator.execute(*request) if len(request) > 1 else orchestrator.run(*request))
    events = [event async for event in orchestrator.stream(*request)]
    result = next(event.result for event in events if isinstance(event, Finished))
    return result.output if len(request) > 1 else result


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize("wording", WORDINGS, ids=map(str, range(25)))
async def test_a_run_with_tools_ends_well_in_a_later_mode(wording: Wording, streamed: bool) -> None:
    modes = ["native_tools", "json_schema", "json_object", "text"][wording.refused == "response_format" :]
    with WireServer(refusing(wording, weather)) as server:
        async with Orchestrator(registry(server, preferred_modes=modes), [get_weather], strategies=FAST) as orchestrator:
            result = await ended(orchestrator, streamed, "Weather in Paris?")
    assert (result.content, result.degraded) == ("It is sunny.", False)
    assert [record.value for record in result.tool_results] == ["Paris: sunny for 1 days"]
    assert result.attempts[-1].mode == ("json_schema" if wording.refused == "tools" else "text")
    assert all(attempt.detail for attempt in result.attempts if attempt.reason not in ("first", "turn"))
    assert_valid(result.messages)
    assert_never_twice(server.requests)


@pytest.mark.parametrize("streamed", [False, True], ids=["execute", "stream"])
@pytest.mark.parametrize("wording", WORDINGS, ids=map(str, range(25)))
async def test_a_typed_answer_is_got_in_a_later_mode(wording: Wording, streamed: bool) -> None:
    script = refusing(wording, lambda _: '{"name": "Oslo", "people": 700000}', "tools", "response_format")
    with WireServer(script) as server:
        async with Orchestrator(registry(server), strategies=FAST) as orchestrator:
            value = await ended(orchestrator, streamed, "Which city?", City)
    assert value == City(name="Oslo", people=700_000)
    assert "response_format" not in server.requests[-1].body
    assert_never_twice(server.requests)


async def test_what_was_refused_and_cannot_be_left_out_is_not_sent_again() -> None:
    """The capability is known by its words, but nothing in the request changes by knowing it."""
    wording = Wording("tools", 400, {"error": {"message": "this model does not support image input, nor much else"}})
    with WireServer(refusing(wording, weather)) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST) as orchestrator:
            assert (await orchestrator.run("Weather in Paris?")).content == "It is sunny."
    assert_never_twice(server.requests)


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize("wording", WORDINGS, ids=map(str, range(25)))
async def test_the_next_run_goes_straight_to_what_was_answered(wording: Wording, streamed: bool) -> None:
    modes = ["native_tools", "json_schema", "json_object", "text"][wording.refused == "response_format" :]
    with WireServer(refusing(wording, weather)) as server:
        async with Orchestrator(registry(server, preferred_modes=modes), [get_weather], strategies=FAST) as orchestrator:
            first = await ended(orchestrator, streamed, "Weather in Paris?")
            second = await ended(orchestrator, streamed, "Weather in Paris, again?")
    assert [(attempt.failure, attempt.mode) for attempt in second.attempts] == [(None, first.attempts[-1].mode)] * 2


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
async def test_the_next_run_goes_straight_to_text_where_tools_and_formats_are_refused(streamed: bool) -> None:
    with WireServer(refusing(Wording("tools", 400, {"message": "No."}), weather, "response_format")) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST) as orchestrator:
            first = await ended(orchestrator, streamed, "Weather in Paris?")
            second = await ended(orchestrator, streamed, "Weather in Paris, again?")
    assert first.content == second.content == "It is sunny."
    assert [(attempt.failure, attempt.mode) for attempt in second.attempts] == [(None, "text")] * 2


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
async def test_a_format_that_is_refused_in_words_that_speak_of_tools_is_learnt(streamed: bool) -> None:
    """A server that makes its formats by tools."""
    wording = Wording("response_format", 400, {"error": {"message": "this model does not support tools"}})
    with WireServer(refusing(wording, weather, "tools")) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST) as orchestrator:
            first = await ended(orchestrator, streamed, "Weather in Paris?")
            await ended(orchestrator, streamed, "Weather in Paris?")
            learnt = orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint)
            second = await ended(orchestrator, streamed, "Weather in Paris?")
    assert (first.content, first.attempts[-1].mode) == ("It is sunny.", "text")
    assert learnt["native_tools"] is learnt["json_schema"] is False
    assert {attempt.failure for attempt in second.attempts} == {None}
    assert_never_twice(server.requests[: len(first.attempts)])


async def test_a_refusal_of_one_schema_or_of_what_is_known_to_work_teaches_nothing() -> None:
    of_a_schema = Wording("tools", 400, {"error": {"message": "Invalid schema for function 'get_weather': no."}})
    with WireServer(refusing(of_a_schema, weather)) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST) as orchestrator:
            await orchestrator.run("Weather in Paris?")
            assert orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint) == {}
    not_this_time = Wording("tools", 400, {"error": {"message": "Not like this."}})
    with WireServer(refusing(not_this_time, weather)) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST) as orchestrator:
            endpoint = orchestrator.models.get("m").endpoint
            orchestrator.capabilities.record_success(endpoint, "native_tools")
            result = await orchestrator.run("Weather in Paris?", budget=Budget(requests=5))  # none is spared for a second look
            assert orchestrator.capabilities.learnt(endpoint) == {"native_tools": True}
    assert [type(attempt.failure) for attempt in result.attempts] == [RequestRefused, type(None), type(None)]


NO_BRANCH = "the chat template of this model has no branch for tools; start the server with one that knows them (--jinja)"
BREAKS = "Error rendering prompt with jinja template: tool calls need an object"


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize("status", [400, 500, 501, 502])
@pytest.mark.parametrize("words", [NO_BRANCH, "the template fell over the tools", BREAKS])
async def test_a_fault_whose_words_name_the_tools_is_learnt_as_a_refusal(words: str, status: int, streamed: bool) -> None:
    with WireServer(refusing(Wording("tools", status, {"error": {"message": words}}), weather)) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST) as orchestrator:
            first = await ended(orchestrator, streamed, "Weather in Paris?")
            second = await ended(orchestrator, streamed, "Weather in Paris?")
            learnt = orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint)
    assert [attempt.mode for attempt in first.attempts] == ["native_tools", "json_schema", "json_schema"]
    assert [(attempt.mode, attempt.failure) for attempt in second.attempts] == [("json_schema", None)] * 2
    assert learnt["native_tools"] is False
    assert_never_twice(server.requests[:3])


async def test_a_prompt_that_cannot_be_made_teaches_nothing_where_another_may_be_made() -> None:
    """In words that name no part of the request, or once there are calls whose order the template may not take."""
    of_words = Wording(
        "tools", 500, {"error": {"message": 'Error rendering prompt with jinja template: "Unknown test: sequence".'}}
    )
    with WireServer(refusing(of_words, weather)) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST) as orchestrator:
            await orchestrator.run("Weather in Paris?")
            assert orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint) == {}
            await orchestrator.run("Weather in Paris?")  # where it comes again, every prompt of that mode is broken
            assert orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint) == {"native_tools": False}

    with WireServer(weather) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST) as orchestrator:
            before = (await orchestrator.run("Weather in Paris?")).messages
    with WireServer(refusing(Wording("tools", 500, {"error": {"message": BREAKS}}), weather)) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST) as orchestrator:
            result = await orchestrator.run([*before, Message(role="user", content="And now?")])
            assert orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint) == {}
    assert [(attempt.mode, bool(attempt.failure)) for attempt in result.attempts] == [
        ("native_tools", True),
        ("json_schema", False),
    ]


async def test_what_the_caller_chose_is_left_out_first_and_is_innocent_where_that_does_not_help() -> None:
    wording = Wording("tools", 400, {"error": {"message": "Not like this."}})
    with WireServer(refusing(wording, weather)) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST) as orchestrator:
            result = await orchestrator.run("Weather in Paris?", tool_choice="required")
            learnt = orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint)
    assert learnt == {"native_tools": False}  # two requests were refused in these words
    assert [attempt.mode for attempt in result.attempts] == ["native_tools"] * 2 + ["json_schema"] * 2
    assert_never_twice(server.requests)


async def test_the_next_model_is_asked_when_a_request_is_refused_in_every_mode() -> None:
    with WireServer(lambda seen: Failure(400, "No.") if seen.body["model"] == "local" else weather(seen)) as server:
        model = {"provider": "openai_compatible", "base_url": server.base_url("openai_compatible"), "api_key": "none"}
        models = {"m": {**model, "model": "local", "escalates_to": "n"}, "n": {**model, "model": "other"}}
        async with Orchestrator({"models": models}, [get_weather], strategies=FAST) as orchestrator:
            result = await orchestrator.run("Weather in Paris?")
        async with Orchestrator({"models": models}, strategies=FAST) as without_tools:
            plain = await without_tools.run("Weather in Paris?")
    assert (result.content, [attempt.model for attempt in result.attempts]) == ("It is sunny.", ["m"] * 4 + ["n"] * 2)
    assert [attempt.model for attempt in plain.attempts] == ["m", "n"]  # no mode makes another request
    assert_never_twice(server.requests[:6])


async def test_a_request_without_tools_or_a_format_is_refused_once() -> None:
    with WireServer([Failure(400, {"error": {"message": "No."}})]) as server:
        async with Orchestrator(registry(server), strategies=FAST) as orchestrator:
            with pytest.raises(FallbackExhausted) as caught:
                await orchestrator.run("Hello")
    assert isinstance(caught.value.__cause__, RequestRefused)
    assert "the server refused the request (HTTP 400)" in str(caught.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize("status", [302, 406, 410, 411, 418, 421, 423, 424, 426, 428, 431, 444, 451, 460, 499])
async def test_a_status_that_nobody_listed_is_a_refusal_as_well(status: int, streamed: bool) -> None:
    with WireServer(refusing(Wording("tools", status, {"error": {"message": "Not like this."}}), weather)) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST) as orchestrator:
            result = await ended(orchestrator, streamed, "Weather in Paris?")
            learnt = orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint)
    assert (result.content, result.degraded) == ("It is sunny.", False)
    assert [attempt.mode for attempt in result.attempts] == LOOKS_AGAIN
    assert learnt["native_tools"] is False
    assert_never_twice(server.requests)


async def test_a_model_that_is_gone_is_not_asked_in_other_modes() -> None:
    with WireServer([Failure(410, {"error": {"message": "This model has been retired."}})]) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST) as orchestrator:
            with pytest.raises(ModelNotFound):
                await orchestrator.run("Weather in Paris?")
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [408, 425])
async def test_what_may_pass_is_sent_again(status: int) -> None:
    with WireServer([Failure(status, {"error": {"message": "Not yet."}}), "Hello."]) as server:
        async with Orchestrator(registry(server), strategies=FAST) as orchestrator:
            assert (await orchestrator.run("Hi")).content == "Hello."
    assert len(server.requests) == 2


def read_the_instruments_of_the_station(city: str) -> str:
    """Reads them."""
    return city


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize("tool", [get_weather, read_the_instruments_of_the_station])
@pytest.mark.parametrize(
    "words",
    [
        "tool name {} is reserved here",
        "{} may not be used",
        "the name {} collides with a builtin tool",
        "a function called {} exists already on this server",
    ],
)
async def test_a_refusal_that_holds_the_name_of_a_tool_says_nothing_of_others(
    words: str, tool: Callable[..., str], streamed: bool
) -> None:
    name = tool.__name__

    def script(seen: Seen) -> Step:
        offered = {offered["function"]["name"] for offered in seen.body.get("tools", ())}
        if name in offered:
            return Failure(400, {"error": {"message": words.format(name)}})
        return json.dumps(ANSWER) if "response_format" in seen.body else "It is sunny."

    with WireServer(script) as server:
        async with Orchestrator(registry(server), [tool], strategies=FAST) as orchestrator:
            result = await ended(orchestrator, streamed, "Weather in Paris?")
            learnt = orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint)
    assert (result.content, learnt.get("native_tools")) == ("It is sunny.", None)


PASSING = [
    (498, "capacity exceeded"),
    (420, "Enhance your calm"),
    (409, "conflict"),
    (400, "We are at capacity, please try again."),
    (400, "The fleet is busy; try again later"),
    (422, "Not enough capacity for flex requests"),
]


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize(("status", "words"), PASSING)
async def test_what_passes_by_its_status_or_its_words_is_sent_again_and_teaches_nothing(
    status: int, words: str, streamed: bool
) -> None:
    steps: list[Step] = [Failure(status, {"error": {"message": words}}), "Hello."]
    with WireServer(steps) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST) as orchestrator:
            result = await ended(orchestrator, streamed, "Hi")
            learnt = orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint)
    assert [(attempt.mode, attempt.reason) for attempt in result.attempts] == [
        ("native_tools", "first"),
        ("native_tools", "retry"),
    ]
    assert learnt.get("native_tools") is not False


@pytest.mark.parametrize("words", ["We are at capacity, please try again.", "Tools? Please try again later."])
async def test_what_does_not_pass_though_it_is_said_to_ends_in_another_mode_and_teaches_nothing(words: str) -> None:
    with WireServer(refusing(Wording("tools", 400, {"error": {"message": words}}), weather)) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST) as orchestrator:
            result = await orchestrator.run("Weather in Paris?")
            learnt = orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint)
    assert (result.content, learnt.get("native_tools")) == ("It is sunny.", None)


@pytest.mark.parametrize("words", ["Drop it and try again", "Odd. Try again without them.", "Too little capacity to reason"])
async def test_words_that_ask_for_another_request_are_a_refusal(words: str) -> None:
    with WireServer(refusing(Wording("tools", 400, {"error": {"message": words}}), weather)) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST) as orchestrator:
            result = await orchestrator.run("Weather in Paris?")
            learnt = orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint)
    assert [attempt.mode for attempt in result.attempts] == LOOKS_AGAIN
    assert learnt["native_tools"] is False


@pytest.mark.parametrize("status", [400, 403, 404])
async def test_a_refusal_that_passes_teaches_nothing(status: int) -> None:
    """Of a model that no table knows, in words that nobody knows: it is looked at again in the next turn."""
    refused: list[Seen] = []

    def script(seen: Seen) -> Step:
        if not refused:
            refused.append(seen)
            return Failure(status, {"error": {"message": "the flux is wobbling"}})
        return weather(seen)

    with WireServer(script) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST) as orchestrator:
            first = await orchestrator.run("Weather in Paris?")
            second = await orchestrator.run("Weather in Paris?")
    assert [attempt.mode for attempt in first.attempts] == LOOKS_AGAIN[:3]
    assert second.attempts[0].failure is None
    assert second.attempts[0].mode == "native_tools"


@pytest.mark.parametrize("status", [400, 403, 404, 500])
async def test_a_typed_answer_that_is_refused_in_unknown_words_is_learnt_by_the_fourth_run(status: int) -> None:
    words = Wording("tools", status, {"error": {"message": "the flux does not wobble"}})
    script = refusing(words, lambda _: '{"name": "Oslo", "people": 700000}', "response_format")
    with WireServer(script) as server:
        async with Orchestrator(registry(server), strategies=FAST) as orchestrator:
            results = [await orchestrator.run("Which city?", output_type=City) for _ in range(4)]
    assert [(attempt.mode, attempt.failure) for attempt in results[3].attempts] == [("text", None)]


@pytest.mark.parametrize(
    ("status", "words", "model"),
    [
        (403, "This model is not in your plan.", "n"),
        (401, "key not allowed to access model. This key can only access models=['other']", "n"),
        (403, "local is not enabled for your account", "n"),
        (403, "forbidden", "n"),
        (402, "This model needs a paid plan.", "n"),
        (403, "Invalid API key", ""),
    ],
)
async def test_a_model_that_is_not_for_this_key_gives_way_to_the_next(status: int, words: str, model: str) -> None:
    def script(seen: Seen) -> Step:
        return Failure(status, {"error": {"message": words}}) if seen.body["model"] == "local" else "Hello."

    with WireServer(script) as server:
        place = {"provider": "openai_compatible", "base_url": server.base_url("openai_compatible"), "api_key": "none"}
        models = {"m": {**place, "model": "local", "escalates_to": "n"}, "n": {**place, "model": "other"}}
        async with Orchestrator({"models": models}, strategies=FAST) as orchestrator:
            if not model:
                with pytest.raises(AuthenticationFailed):
                    await orchestrator.run("Hi")
                return
            result = await orchestrator.run("Hi")
    assert [attempt.model for attempt in result.attempts] == ["m", model]


async def test_a_fault_that_names_a_parameter_is_a_refusal_of_it() -> None:
    def script(seen: Seen) -> Step:
        return Failure(500, {"error": {"message": "temperature? not here"}}) if "temperature" in seen.body else "Hello."

    with WireServer(script) as server:
        async with Orchestrator(registry(server), strategies=FAST) as orchestrator:
            await orchestrator.run("Hi", temperature=0.5)
    assert len(server.requests) == 2
    assert_never_twice(server.requests)


async def test_a_mode_that_one_refusal_took_away_is_asked_for_before_the_run_gives_up() -> None:
    with WireServer(lambda seen: AS_TEXT if "tools" in seen.body else Failure(400, "No.")) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST) as orchestrator:
            endpoint = orchestrator.models.get("m").endpoint
            orchestrator.capabilities.record_failure(endpoint, "native_tools", proven=False)
            with pytest.raises(MaxToolTurns) as caught:
                await orchestrator.run("Weather in Paris?", budget=Budget(attempts=6), max_tool_turns=1)
    assert next(attempt.mode for attempt in caught.value.attempts if attempt.failure is None) == "native_tools"
