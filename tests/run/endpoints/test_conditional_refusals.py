"""A server takes a part of a request only under a condition. The run learns the condition. Over real sockets."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from llmcore.adapters.capabilities import CapabilityStore, is_learnable
from llmcore.orchestrator import Orchestrator
from llmcore.types import Finished
from tests.helpers.wire_server import Failure, Seen, Step, Turn, WireServer
from tests.run.endpoints.test_unexplained_refusals import ended, registry, weather
from tests.run.support import FAST, add, get_weather

pytestmark = pytest.mark.anyio


class Sky(BaseModel):
    sky: str


async def typed(orchestrator: Orchestrator, streamed: bool) -> Any:
    if not streamed:
        return await orchestrator.run("Weather in Paris?", output_type=Sky)
    events = [event async for event in orchestrator.stream("Weather in Paris?", Sky)]
    return next(event.result for event in events if isinstance(event, Finished))


def refusing(is_refused: Callable[[Seen], bool], words: str) -> Callable[[Seen], Step]:
    def script(seen: Seen) -> Step:
        if is_refused(seen):
            return Failure(400, {"error": {"message": words}})
        if "tools" in seen.body and "sunny for" not in json.dumps(seen.body["messages"]):
            return Turn(calls=[("get_weather", {"city": "Paris"})])
        return weather(seen)

    return script


@pytest.mark.parametrize(
    "words",
    [
        "Too many tools: this model supports at most 1 tool",
        "no more than one tool may be given",
        "The number of tools exceeds the limit of 1",
        "Invalid 'tools': array too long. Expected an array with maximum length 1, but got an array with length 2 instead.",
    ],
)
async def test_a_number_of_tools_is_learnt_and_fewer_are_asked_natively(words: str) -> None:
    store = CapabilityStore()
    with WireServer(refusing(lambda seen: len(seen.body.get("tools", ())) > 1, words)) as server:
        models = registry(server)
        async with Orchestrator(models, [get_weather, add], strategies=FAST, capabilities=store) as two:
            first, second = [await two.run("Weather in Paris?") for _ in range(2)]
        async with Orchestrator(models, [get_weather], strategies=FAST, capabilities=store) as one:
            fewer = await one.run("Weather in Paris?")
        known = store.get(models.get("m").endpoint)
    assert (known.max_tools, known.native_tools) == (1, True)
    assert [[attempt.mode for attempt in result.attempts if not attempt.failure] for result in (first, second, fewer)] == [
        ["json_schema"] * 2,
        ["json_schema"] * 2,
        ["native_tools"] * 2,
    ]
    assert [len(result.attempts) for result in (first, second, fewer)] == [3, 2, 2]


@pytest.mark.parametrize(
    "words",
    [
        "Streaming is not supported when tools are provided",
        "Tool calls cannot be used in streaming mode",
        "this model doesn't support tool use in streaming mode.",
    ],
)
async def test_streams_that_are_refused_beside_tools_are_whole_there_only(words: str) -> None:
    script = refusing(lambda seen: seen.streaming and "tools" in seen.body, words)
    with WireServer(script) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST) as orchestrator:
            first, second = [await ended(orchestrator, True, "Weather in Paris?") for _ in range(2)]
            can = orchestrator.capabilities.get(orchestrator.models.get("m").endpoint)
            count = len(server.requests)
        async with Orchestrator(registry(server), strategies=FAST, capabilities=orchestrator.capabilities) as plain:
            await ended(plain, True, "Hello")
    assert (can.streaming_with_tools, can.native_tools) == (False, True)
    assert can.streaming is not False
    assert [(len(result.attempts), {attempt.mode for attempt in result.attempts}) for result in (first, second)] == [
        (3, {"native_tools"}),
        (2, {"native_tools"}),
    ]
    assert server.requests[count].streaming


@pytest.mark.parametrize(
    "words",
    [
        "Unexpected role 'tool' in messages[2]",
        "Role 'tool' is not supported by this chat template",
        "messages.2.role: Input should be 'user' or 'assistant'",
    ],
)
async def test_results_that_are_refused_are_paid_for_once(words: str) -> None:
    script = refusing(lambda seen: any(message["role"] == "tool" for message in seen.body["messages"]), words)
    with WireServer(script) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST) as orchestrator:
            first, second = [await orchestrator.run("Weather in Paris?") for _ in range(2)]
            learnt = orchestrator.capabilities.learnt(orchestrator.models.get("m").endpoint)
    assert learnt["tool_results"] is False
    assert learnt["native_tools"] is True
    assert [[bool(attempt.failure) for attempt in result.attempts] for result in (first, second)] == [
        [False, True, False],
        [False, False],
    ]
    assert first.content == second.content == "It is sunny."


async def test_tools_that_are_ignored_are_learnt_where_the_wire_has_no_choice() -> None:
    def script(seen: Seen) -> Any:
        return weather(seen) if "format" in seen.body else "I cannot look that up, sorry."

    with WireServer(script) as server:
        model = {"provider": "ollama", "model": "local", "base_url": server.base_url("ollama")}
        async with Orchestrator({"models": {"m": model}}, [get_weather], strategies=FAST) as orchestrator:
            first, second = [await orchestrator.run("Weather in Paris?", tool_choice="required") for _ in range(2)]
    assert [attempt.mode for attempt in first.attempts][:2] == ["native_tools"] * 2
    assert "native_tools" not in {attempt.mode for attempt in second.attempts}


@pytest.mark.parametrize("provider", ["ollama", "vllm", "llama_cpp", "lm_studio", "openai_compatible"])
@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
async def test_tools_that_a_typed_run_needs_are_offered_again_and_learnt_to_be_ignored(provider: str, streamed: bool) -> None:
    def called(name: str, arguments: dict[str, Any]) -> str:
        calls = [{"name": name, "arguments": arguments}]
        return json.dumps({"toolCalls": calls, "content": "", "needsMoreWork": name == "get_weather"})

    def script(seen: Seen) -> Any:
        if "tools" in seen.body:
            return "I cannot look that up, sorry."
        if "sunny for" in json.dumps(seen.body):
            return called("final_result", {"sky": "sunny"})
        return called("get_weather", {"city": "Paris"}) if "get_weather" in json.dumps(seen.body) else '{"sky": "made up"}'

    with WireServer(script) as server:
        model = {"provider": provider, "model": "local", "base_url": server.base_url(provider), "api_key": "k"}
        async with Orchestrator({"models": {"m": model}}, [get_weather], strategies=FAST) as orchestrator:
            first, second = [await typed(orchestrator, streamed) for _ in range(2)]
    assert [(result.output, len(result.tool_results)) for result in (first, second)] == [(Sky(sky="sunny"), 1)] * 2
    assert [attempt.mode for attempt in first.attempts][:2] == ["native_tools"] * 2
    assert server.requests[1].body["tools"] == server.requests[0].body["tools"]
    assert len(second.attempts) == 2
    assert "native_tools" not in {attempt.mode for attempt in second.attempts}


async def test_refused_images_go_to_another_model_at_once() -> None:
    def script(seen: Seen) -> Step:
        refused = seen.body["model"] == "blind" and "image_url" in json.dumps(seen.body)
        return Failure(400, {"error": {"message": "image_url is not supported"}}) if refused else weather(seen)

    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    asked = [{"role": "user", "content": [{"type": "text", "text": "Weather here?"}, picture]}]
    with WireServer(script) as server:
        model = {"provider": "openai_compatible", "base_url": server.base_url("openai_compatible"), "api_key": "none"}
        models = {"m": {**model, "model": "blind", "escalates_to": ["n"]}, "n": {**model, "model": "sees"}}
        async with Orchestrator({"models": models}, [get_weather], strategies=FAST) as orchestrator:
            first = await orchestrator.run(asked)
            second = await orchestrator.run(asked)
    assert [attempt.model for attempt in first.attempts][:2] == ["m", "n"]
    assert {attempt.model for attempt in second.attempts} == {"n"}


@pytest.mark.parametrize(
    "words",
    ["Invalid image data.", "image exceeds 5 MB maximum", "cannot identify image file", "You uploaded an unsupported image."],
)
async def test_an_image_that_is_broken_twice_says_nothing_of_others(words: str) -> None:
    broken, sound = (f"data:image/png;base64,{data}" for data in ("AAAA", "iVBORw0KGgo="))

    def script(seen: Seen) -> Step:
        refused = seen.body["model"] == "sees" and broken in json.dumps(seen.body)
        return Failure(400, {"error": {"message": words}}) if refused else weather(seen)

    def asked(url: str) -> list[dict[str, Any]]:
        return [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]

    with WireServer(script) as server:
        model = {"provider": "openai_compatible", "base_url": server.base_url("openai_compatible"), "api_key": "none"}
        models = {"m": {**model, "model": "sees", "escalates_to": ["n"]}, "n": {**model, "model": "other"}}
        async with Orchestrator({"models": models}, [get_weather], strategies=FAST) as orchestrator:
            for _ in range(2):
                await orchestrator.run(asked(broken))
            result = await orchestrator.run(asked(sound))
    assert {attempt.model for attempt in result.attempts} == {"m"}


@pytest.mark.parametrize("name", ["max_tools=8", "streaming_with_tools", "tool_results"])
def test_conditions_can_be_learnt(name: str) -> None:
    assert is_learnable(name)
    assert not is_learnable("max_tools=")
    assert not is_learnable("max_tools=many")
