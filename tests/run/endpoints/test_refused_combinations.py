"""A server takes each of several parts and refuses them together. The run learns the set; a mode or a search that is taken
alone stays. Over real sockets."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from llmcore.orchestrator import Orchestrator
from tests.helpers.wire_server import Failure, Raw, Seen, Step, Turn, WireServer
from tests.run.endpoints.test_refused_parts import PIXEL, has_image
from tests.run.endpoints.test_unexplained_refusals import assert_never_twice, weather
from tests.run.support import FAST, get_weather

pytestmark = pytest.mark.anyio

UNKNOWN = "This house digests none of that."


class City(BaseModel):
    name: str


def refusing(is_refused: Callable[[Seen], bool], answer: Callable[[Seen], Step], words: str = UNKNOWN) -> Callable[[Seen], Step]:
    return lambda seen: Failure(400, {"error": {"message": words}}) if is_refused(seen) else answer(seen)


def made(server: WireServer, provider: str, model: str, tools: Any = (), **options: Any) -> Orchestrator:
    at = {"provider": provider, "model": model, "base_url": server.base_url(provider), "api_key": "sk-0123456789ab"}
    return Orchestrator({"models": {"m": {**at, **options.pop("settings", {})}}}, tools, strategies=FAST, **options)


def calls(seen: Seen) -> Step:
    is_due = "tools" in seen.body and "sunny for" not in json.dumps(seen.body["messages"])
    return Turn(calls=[("get_weather", {"city": "Paris"})]) if is_due else weather(seen)


def lacking(orchestrator: Orchestrator) -> set[str]:
    learnt = orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint)
    return {name for name, value in learnt.items() if not value}


async def test_stop_beside_tools_gives_way_and_is_sent_without_them() -> None:
    script = refusing(lambda seen: {"stop", "tools"} <= seen.body.keys(), calls)
    with WireServer(script) as server:
        async with made(server, "openai_compatible", "local", [get_weather]) as orchestrator:
            results = [await orchestrator.run("Weather in Paris?", stop=["END"]) for _ in range(3)]
            assert lacking(orchestrator) == {"native_tools+stop"}
        async with made(server, "openai_compatible", "local", capabilities=orchestrator.capabilities) as plain:
            await plain.run("Hello", stop=["END"])
    assert {result.content for result in results} == {"It is sunny."}
    assert {attempt.mode for result in results for attempt in result.attempts} == {"native_tools"}
    assert [attempt.failure for attempt in results[-1].attempts] == [None, None]
    assert results[-1].attempts[0].dropped == ["stop"]
    assert server.requests[-1].body["stop"] == ["END"]


async def test_images_beside_tools_lead_to_another_mode_and_tools_alone_stay_native() -> None:
    script = refusing(lambda seen: has_image(seen) and "tools" in seen.body, calls)
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    asked = [{"role": "user", "content": [{"type": "text", "text": "Weather here?"}, picture]}]
    with WireServer(script) as server:
        async with made(server, "openai_compatible", "local", [get_weather]) as orchestrator:
            seen_by = [await orchestrator.run(asked) for _ in range(2)]
            assert lacking(orchestrator) == {"images+native_tools"}
            alone = await orchestrator.run("Weather in Paris?")
    assert [attempt.mode for attempt in seen_by[1].attempts] == ["json_schema"] * 2
    assert [(attempt.mode, attempt.failure) for attempt in alone.attempts] == [("native_tools", None)] * 2


async def test_temperature_beside_thinking_gives_way() -> None:
    words = "`temperature` may only be set to 1 when thinking is enabled. Please consult our documentation"
    script = refusing(lambda seen: {"temperature", "reasoning_effort"} <= seen.body.keys(), lambda _: "Good day.", words)
    with WireServer(script) as server:
        async with made(server, "xai", "grok-3-mini") as orchestrator:
            first, second = [await orchestrator.run("Hello", temperature=0.3, thinking=2048) for _ in range(2)]
            assert lacking(orchestrator) == {"reasoning+temperature"}
            alone = await orchestrator.run("Hello", temperature=0.3)
    assert [len(result.attempts) for result in (first, second)] == [2, 1]
    assert "temperature" in second.attempts[0].dropped
    assert alone.attempts[0].dropped == []
    assert "reasoning_effort" in server.requests[2].body


@pytest.mark.parametrize("words", [UNKNOWN, "Search Grounding can't be used with JSON mode"])
async def test_a_search_beside_json_gives_way_to_the_given_function(words: str) -> None:
    def script(seen: Seen) -> Step:
        searches = "web_search_options" in seen.body
        if searches and "response_format" in seen.body:
            return Failure(400, {"error": {"message": words}})
        offered = json.dumps(seen.body)
        if "web_search" in offered and "noon" not in offered:
            return json.dumps({"toolCalls": [{"name": "web_search", "arguments": {"query": "tides"}}], "content": ""})
        return (
            '{"name": "Oslo"}'
            if not offered.count("toolCalls")
            else json.dumps({"toolCalls": [{"name": "final_result", "arguments": {"name": "Oslo"}}], "content": ""})
        )

    asked: list[str] = []

    def find(query: str) -> str:
        asked.append(query)
        return "high at noon"

    settings = {"supports_web_search": True, "preferred_modes": ["json_schema", "text"]}
    with WireServer(script) as server:
        async with made(server, "openai_compatible", "local", web_search=find, settings=settings) as orchestrator:
            results: list[Any] = []
            for _ in range(3):
                before = len(server.requests)
                result = await orchestrator.run("Which city?", output_type=City, allow_web_search=True)
                assert result.output == City(name="Oslo")
                assert_never_twice(server.requests[before:])
                results.append(result)
            assert {attempt.failure for attempt in results[-1].attempts} == {None}
            assert {attempt.mode for attempt in results[-1].attempts} == {"json_schema"}
            assert lacking(orchestrator) == {"json_schema+web_search"}
    assert asked == ["tides"] * 3


OTHER = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "status": "completed",
    "model": "gpt-5.4",
    "output": [{"type": "message", "id": "m1", "role": "assistant", "content": [{"type": "output_text", "text": "Sunny."}]}],
    "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
}


async def test_reasoning_beside_tools_goes_to_openais_other_endpoint() -> None:
    words = (
        "Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions. "
        "Please use /v1/responses instead."
    )

    def script(seen: Seen) -> Step:
        if seen.path.endswith("/responses"):
            return Raw([json.dumps(OTHER).encode()], "application/json")
        is_refused = {"reasoning_effort", "tools"} <= seen.body.keys()
        return Failure(400, {"error": {"message": words}}) if is_refused else "Sunny."

    with WireServer(script) as server:
        async with made(server, "openai", "gpt-5.4", [get_weather]) as orchestrator:
            first, second = [await orchestrator.run("Weather in Paris?", thinking=2048) for _ in range(2)]
            learnt = lacking(orchestrator)
    paths = [seen.path.rpartition("/")[2] for seen in server.requests]
    refused = paths.count("completions")  # none where LiteLLM goes to the other endpoint itself, as 1.110 does
    assert paths == ["completions"] * refused + ["responses"] * 2
    assert (refused, learnt) in ((1, {"native_tools+reasoning"}), (0, set[str]()))
    assert [attempt.mode for attempt in (*first.attempts, *second.attempts)] == ["native_tools"] * len(paths)
    assert all("reasoning" in seen.body and "tools" in seen.body for seen in server.requests[refused:])


async def test_where_there_is_no_other_endpoint_reasoning_gives_way() -> None:
    script = refusing(
        lambda seen: {"reasoning_effort", "tools"} <= seen.body.keys(), calls, "tools with reasoning_effort are not supported"
    )
    with WireServer(script) as server:
        async with made(server, "xai", "grok-3-mini", [get_weather]) as orchestrator:
            result = await orchestrator.run("Weather in Paris?", thinking=2048)
    assert {attempt.mode for attempt in result.attempts} == {"native_tools"}
    assert result.content == "It is sunny."
