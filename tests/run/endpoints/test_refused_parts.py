"""A server refuses one part of a request in unknown words. For every provider and part: at most two runs are refused, the
right fact is learned and no other, and no request is sent twice. Over real sockets."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel

from llmcore import Orchestrator, tool
from llmcore.adapters.providers import PROVIDERS
from llmcore.run.results.result import RunResult
from llmcore.support.values.narrowing import object_in
from llmcore.types import Budget, ImageBlock, LLMCoreError, Message, TextBlock
from tests.adapters.conftest import EVERY_MODEL
from tests.adapters.litellm import test_every_mode
from tests.helpers.shown import ANSWER, format_of, mode_of, model
from tests.helpers.wire_server import Failure, Seen, Step, WireServer
from tests.run.endpoints.test_unexplained_refusals import assert_never_twice
from tests.run.support import FAST

pytestmark = pytest.mark.anyio

openais_place, signed_in = test_every_mode.openais_place, test_every_mode.signed_in
"""Fixtures."""
UNKNOWN = {"error": {"message": "Gadgets in your payload: this house digests none of that."}}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Weather(BaseModel):
    city: str
    degrees: int


def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"{city}: 12 degrees"


class Part(NamedTuple):
    """A part of a request: what asks for it, how it is seen in a body, and the fact that it is not taken."""

    asked: dict[str, Any]
    is_in: Callable[[Seen], bool]
    facts: frozenset[str]


def field(*names: str) -> Callable[[Seen], bool]:
    found = re.compile("|".join(rf'"{name}": ?' for name in names))
    return lambda seen: found.search(json.dumps(seen.body)) is not None


def chooses(seen: Seen) -> bool:
    body = seen.body
    choice = body.get("tool_choice") or object_in(body.get("toolConfig")).get("toolChoice")
    if choice is None and "toolConfig" in body:
        choice = object_in(body["toolConfig"]).get("functionCallingConfig")
    told = json.dumps(choice or body.get("tool_config") or "auto")
    return any(word in told for word in ('"required"', '"any"', '"ANY"', '"function"', '"tool"'))


def is_native(seen: Seen) -> bool:
    return mode_of(seen.body) == "native_tools"


def has_schema(seen: Seen) -> bool:
    return format_of(seen.body) == "json_schema"


def has_image(seen: Seen) -> bool:
    return PIXEL in json.dumps(seen.body)


PARTS: dict[str, Part] = {
    "tools": Part({}, is_native, frozenset({"native_tools"})),
    "required": Part({"tool_choice": "required"}, chooses, frozenset({"tool_choice_required"})),
    "format": Part({}, has_schema, frozenset({"schema_with_tools", "json_schema", "strict"})),
    "strict": Part({"strict": True}, field("strict"), frozenset({"strict"})),
    "parallel": Part(
        {"parallel_tool_calls": False}, field("parallel_tool_calls", "disable_parallel_tool_use"), frozenset({"parallel_tools"})
    ),
    "thinking": Part(
        {"thinking": 2048},
        field("thinking", "thinkingConfig", "reasoning_effort", "reasoning", "reasoning_config", "think"),
        frozenset({"reasoning"}),
    ),
    "temperature": Part({"temperature": 0.3}, field("temperature"), frozenset({"temperature"})),
    "top_p": Part({"top_p": 0.4}, field("top_p", "topP"), frozenset({"top_p"})),
    "stop": Part({"stop": ["Q"]}, field("stop", "stop_sequences", "stopSequences"), frozenset({"stop"})),
    "images": Part({"image": True}, has_image, frozenset({"images"})),
    "own field": Part({"extra_body": {"mirostat": 3}}, field("mirostat"), frozenset()),
}


async def runs(provider: str, part: Part, times: int = 3, **more: Any) -> tuple[list[tuple[int, int, str]], set[str]]:
    """Of each run, how many of its requests were refused, how many there were, and how it ended; and what is learnt to be refused
    at last."""
    asked = {**part.asked, **more}
    offered = [tool(strict=True)(get_weather) if asked.pop("strict", False) else get_weather]
    content: list[Any] = [TextBlock(text="Weather in Paris?")]
    if asked.pop("image", False):
        content.append(ImageBlock(data=PIXEL, media_type="image/png"))
    told: list[tuple[int, int, str]] = []

    def script(seen: Seen) -> Step:
        return Failure(400, UNKNOWN) if part.is_in(seen) else model(seen)

    with WireServer(script) as server, WireServer(model) as other:
        at = {"provider": provider, "model": EVERY_MODEL[provider], "base_url": server.base_url(provider), "api_key": "k"}
        sees = {"provider": "openai_compatible", "model": "sees", "base_url": other.base_url("openai_compatible"), "api_key": "k"}
        models = {"m": {**at, "escalates_to": ["s"]}, "s": sees} if content[1:] else {"m": at}
        async with Orchestrator({"models": models}, offered, strategies=FAST) as orchestrator:
            for _ in range(times):
                before = len(server.requests)
                told.append(await _one(orchestrator, content, asked, server, before))
            learnt = orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint)
    return told, {name for name, value in learnt.items() if not value}


async def _one(
    orchestrator: Orchestrator, content: list[Any], asked: dict[str, Any], server: WireServer, before: int
) -> tuple[int, int, str]:
    message = Message(role="user", content=content)
    try:
        result: RunResult[Any] = await orchestrator.run([message], output_type=Weather, **asked)
        ending = "well" if result.output == Weather.model_validate(ANSWER) else repr(result.output)
        failed = sum(attempt.failure is not None for attempt in result.attempts)
    except LLMCoreError as error:
        ending, failed = type(error).__name__, sum(attempt.failure is not None for attempt in error.attempts)
    made = server.requests[before:]
    assert_never_twice(made)
    return failed, len(made), ending


MOST_REQUESTS = 7
"""Of one run: in each mode, and without each thing that the last one can do without."""


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_each_part_on_each_wire(provider: str, name: str) -> None:
    part = PARTS[name]
    told, learnt = await runs(provider, part)
    refused = [count for count, _, _ in told]
    assert max(requests for _, requests, _ in told) <= MOST_REQUESTS
    if name == "own field":  # it is the caller's, and stays
        assert ({ending for _, _, ending in told}, learnt) == ({"FallbackExhausted"}, set())
        return
    assert {ending for _, _, ending in told} == {"well"}
    assert (refused[-1], bool(learnt)) == (0, any(refused))
    assert all(not part.facts.isdisjoint(name.split("+")) for name in learnt), learnt


@pytest.mark.parametrize("name", ["temperature", "top_p", "stop", "strict", "parallel", "required", "tools"])
async def test_one_part_beside_the_others(name: str) -> None:
    every: dict[str, Any] = {}
    for one in ("temperature", "top_p", "stop", "strict", "parallel", "required"):
        every |= PARTS[one].asked
    told, learnt = await runs("openai_compatible", PARTS[name], system="Be brief.", **every)
    assert [(refused > 0, ending) for refused, _, ending in told][-1] == (False, "well")
    assert all(not PARTS[name].facts.isdisjoint(one.split("+")) for one in learnt), learnt


@pytest.mark.parametrize("refused", [["top_p"], ["temperature", "top_p"]])
async def test_the_parts_of_a_refused_request_are_learnt_as_a_set(refused: list[str]) -> None:
    """One request is made without the optional parts. The second run believes that they are refused together, and not before. A
    request with one of them alone is made as it is."""

    def script(seen: Seen) -> Step:
        return Failure(400, UNKNOWN) if seen.body.keys() >= set(refused) else "Hello."

    with WireServer(script) as server:
        at = {"provider": "openai_compatible", "model": "local", "base_url": server.base_url("openai_compatible")}
        async with Orchestrator({"models": {"m": {**at, "api_key": "k"}}}, strategies=FAST) as orchestrator:
            results = [await orchestrator.run("Hello", temperature=0.3, top_p=0.4) for _ in range(3)]
            alone = await orchestrator.run("Hello", temperature=0.3)
            learnt = orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint)
    assert [len(result.attempts) for result in results] == [2, 2, 1]
    assert learnt == {"temperature+top_p": False}
    assert (results[-1].attempts[-1].dropped, alone.attempts[-1].dropped) == (["top_p"], [])


async def test_an_answer_to_the_whole_set_ends_the_doubt() -> None:
    refusals = [True, False, False, True, False]

    def script(seen: Seen) -> Step:
        return Failure(400, UNKNOWN) if refusals.pop(0) else "Hello."

    with WireServer(script) as server:
        at = {"provider": "openai_compatible", "model": "local", "base_url": server.base_url("openai_compatible")}
        async with Orchestrator({"models": {"m": {**at, "api_key": "k"}}}, strategies=FAST) as orchestrator:
            for _ in range(3):
                await orchestrator.run("Hello", temperature=0.3, top_p=0.4)
            assert orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint) == {}


async def test_a_tight_budget_has_no_requests_for_comparisons() -> None:
    def script(seen: Seen) -> Step:
        return Failure(400, UNKNOWN) if "tools" in seen.body else model(seen)

    with WireServer(script) as server:
        at = {"provider": "openai_compatible", "model": "local", "base_url": server.base_url("openai_compatible")}
        async with Orchestrator({"models": {"m": {**at, "api_key": "k"}}}, [get_weather], strategies=FAST) as orchestrator:
            budget = Budget(requests=3)
            result = await orchestrator.run("Weather in Paris?", output_type=Weather, budget=budget)
    assert [attempt.mode for attempt in result.attempts] == ["native_tools", "json_schema", "json_schema"]
