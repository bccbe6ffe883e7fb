"""A server takes tools and no tool choice but auto. The run learns each refused choice, sends tools without one, and
enforces the choice itself. Over real sockets."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from llmcore.orchestrator import Orchestrator
from llmcore.types import Request
from tests.helpers.wire_server import Failure, Seen, Step, Turn, WireServer
from tests.run.endpoints.test_unexplained_refusals import ANSWER, assert_never_twice, ended, registry, weather
from tests.run.support import FAST, get_weather

pytestmark = pytest.mark.anyio

KNOWN = (
    'tool_choice must be "auto" or "none" on this deployment; forcing a named function isn\'t supported.',
    "tool_choice 'required' is not supported",
    "No endpoints found that support the provided 'tool_choice' value.",
)
UNKNOWN = "Nicht so."
NAMED = {"name": "get_weather"}


def get_news(city: str) -> str:
    """The news of a city."""
    return f"nothing happens in {city}"


def calls(seen: Seen) -> Step:
    """Makes a native call where there are tools, and answers after its result."""
    if "tools" not in seen.body or "sunny for" in json.dumps(seen.body["messages"]):
        return weather(seen)
    return Turn(calls=[("get_weather", {"city": "Paris"})])


def choosing(words: str, *taken: object) -> Callable[[Seen], Step]:
    """A server that takes no other choices than these."""
    refusal = Failure(400, {"error": {"message": words}})
    return lambda seen: calls(seen) if seen.body.get("tool_choice", "auto") in ("auto", *taken) else refusal


async def runs(server: WireServer, tool_choice: Any, times: int, streamed: bool = False) -> tuple[list[Any], dict[str, bool]]:
    async with Orchestrator(registry(server), [get_weather, get_news], strategies=FAST) as orchestrator:
        asked = Request.model_validate({"messages": "Weather in Paris?", "tool_choice": tool_choice})
        results = [await ended(orchestrator, streamed, asked) for _ in range(times)]
        return results, orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint)


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize("words", KNOWN)
async def test_a_named_choice_falls_to_required_then_to_auto(words: str, streamed: bool) -> None:
    with WireServer(choosing(words)) as server:
        (first, second), learnt = await runs(server, NAMED, 2, streamed)
    assert (first.content, second.content) == ("It is sunny.", "It is sunny.")
    assert {attempt.mode for result in (first, second) for attempt in result.attempts} == {"native_tools"}
    assert (learnt["tool_choice_named"], learnt["tool_choice_required"]) == (False, False)
    assert learnt["native_tools"] is True
    assert [attempt.failure for attempt in second.attempts] == [None, None]
    assert second.attempts[0].dropped == ["tool_choice"]
    forced = server.requests[2].body
    assert [tool["function"]["name"] for tool in forced["tools"]] == ["get_weather"]  # the one that was named
    assert_never_twice(server.requests[:3])


@pytest.mark.parametrize(
    "words",
    [
        {"detail": [{"loc": ["body", "tool_choice"], "msg": "unexpected keyword", "type": "value_error.extra"}]},
        {"detail": "tool_choice: unexpected keyword"},
        {"detail": "keyword unexpected: tool_choice"},
        {"message": ["property tool_choice should not exist"], "error": "Bad Request", "statusCode": 400},
        {"message": "Object contains forbidden keyword: tool_choice"},
        {
            "errors": [
                {
                    "instancePath": "",
                    "keyword": "additionalProperties",
                    "params": {"additionalProperty": "tool_choice"},
                    "message": "must NOT have additional properties",
                }
            ]
        },
        {
            "issues": [
                {"code": "unrecognized_keys", "keys": ["tool_choice"], "message": "Unrecognized key(s) in object: 'tool_choice'"}
            ]
        },
        {"error": "Object has unknown properties: tool_choice"},
        {"error": 'Cannot deserialize value of type `ToolChoice` from String "required": not one of the values for Enum class'},
    ],
    ids=["fastapi", "text", "turned", "nestjs", "forbidden", "ajv", "zod", "unknown", "java"],
)
async def test_a_choice_that_a_validator_calls_a_keyword_or_a_property_is_learnt(words: dict[str, Any]) -> None:
    """Words about keywords and properties of a schema teach nothing; these are about the request's own."""

    def script(seen: Seen) -> Step:
        return Failure(422, words) if "tool_choice" in seen.body else calls(seen)

    with WireServer(script) as server:
        results, _ = await runs(server, "required", 3)
    assert [attempt.failure for attempt in results[2].attempts] == [None, None]
    assert {attempt.mode for attempt in results[2].attempts} == {"native_tools"}


async def test_a_named_choice_that_falls_to_required_stays_there() -> None:
    with WireServer(choosing(KNOWN[0], "required")) as server:
        (_, second), learnt = await runs(server, NAMED, 2)
    assert learnt["tool_choice_named"] is False
    assert "tool_choice_required" not in learnt
    assert [attempt.failure for attempt in second.attempts] == [None, None]


async def test_a_refused_none_is_left_out_with_the_tools_and_they_are_not_mistaken_for_refused() -> None:
    def script(seen: Seen) -> Step:
        refused = Failure(400, {"error": {"message": UNKNOWN}})
        said = json.dumps(ANSWER) if "response_format" in seen.body else "It is sunny."
        return refused if seen.body.get("tool_choice", "auto") != "auto" else said

    with WireServer(script) as server:
        results, learnt = await runs(server, "none", 3)
    assert [result.content for result in results] == ["It is sunny."] * 3
    assert learnt == {"native_tools+tool_choice": False}
    assert [attempt.failure for attempt in results[2].attempts] == [None]


@pytest.mark.parametrize(
    ("tool_choice", "suspected"),
    [(NAMED, "native_tools+tool_choice_named"), ("required", "native_tools+tool_choice_required")],
)
async def test_a_choice_is_suspected_before_the_tools_in_unknown_words(tool_choice: Any, suspected: str) -> None:
    with WireServer(choosing(UNKNOWN)) as server:
        results, learnt = await runs(server, tool_choice, 3)
    assert {result.content for result in results} == {"It is sunny."}
    assert [attempt.failure for attempt in results[-1].attempts if attempt.failure] == []
    assert {name for name, value in learnt.items() if not value} == {suspected}


class City(BaseModel):
    name: str
    people: int


async def test_the_choice_of_a_typed_answers_call_is_suspected_as_well() -> None:
    value: dict[str, Any] = {"name": "Oslo", "people": 700_000}

    def script(seen: Seen) -> Step:
        if seen.body.get("tool_choice", "auto") != "auto":
            return Failure(400, {"error": {"message": UNKNOWN}})
        return Turn(calls=[("final_result", value)]) if "tools" in seen.body else json.dumps(value)

    with WireServer(script) as server:
        async with Orchestrator(registry(server), strategies=FAST) as orchestrator:
            values = [await ended(orchestrator, False, "Which city?", City) for _ in range(3)]
            learnt = orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint)
    assert values == [City(**value)] * 3
    assert (learnt["native_tools+tool_choice_required"], learnt["native_tools"]) == (False, True)
    assert len(server.requests) == 5


async def test_tools_that_are_refused_without_a_choice_too_are_learnt_then() -> None:
    def script(seen: Seen) -> Step:
        return Failure(400, {"error": {"message": UNKNOWN}}) if "tools" in seen.body else weather(seen)

    with WireServer(script) as server:
        results, learnt = await runs(server, "required", 3)
    assert learnt["native_tools"] is False
    assert [attempt.failure for attempt in results[-1].attempts] == [None, None]


async def test_words_in_place_of_a_call_are_learnt_where_no_choice_could_be_sent() -> None:
    with WireServer(lambda seen: "I will not." if "tools" in seen.body else weather(seen)) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST) as orchestrator:
            endpoint = orchestrator.models.get("m").endpoint
            orchestrator.capabilities.record_failure(endpoint, "tool_choice")
            await orchestrator.run("Weather in Paris?", tool_choice="required")
            assert orchestrator.capabilities.learnt(endpoint)["native_tools"] is False
