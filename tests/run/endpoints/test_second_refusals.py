"""Unknown words refuse what an endpoint is known to take: the first refusal is a doubt, the second is believed. A fault of
one tool, or one under a condition, is never learned. Over real sockets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from llmcore.adapters.capabilities import CapabilityStore
from llmcore.models import ModelRegistry
from llmcore.orchestrator import Orchestrator
from llmcore.run.results.result import RunResult
from llmcore.types import Budget
from tests.helpers.wire_server import Failure, Seen, Step, Turn, WireServer
from tests.run.endpoints.test_unexplained_refusals import weather
from tests.run.support import FAST, get_weather

pytestmark = pytest.mark.anyio

UNKNOWN = "Rejected by the gateway of the blue pool (request {})."
ONE_LOOK = Budget(requests=5)
"""Leaves no request for a second look in the next turn."""
CALL = Turn(calls=[("get_weather", {"city": "Paris"})])


class City(BaseModel):
    name: str


def registry(server: WireServer, provider: str = "openai") -> ModelRegistry:
    name = "gpt-4o" if provider == "openai" else "local"
    model = {"provider": provider, "model": name, "base_url": server.base_url(provider), "api_key": "none"}
    return ModelRegistry.from_dict({"models": {"m": model}})


def refusing(is_refused: Callable[[Seen], bool], words: str = UNKNOWN, answer: Callable[[Seen], Step] = weather) -> Any:
    count = iter(range(1000, 9999))

    def script(seen: Seen) -> Step:
        return Failure(400, {"error": {"message": words.format(next(count))}}) if is_refused(seen) else answer(seen)

    return script


def has_tools(seen: Seen) -> bool:
    return "tools" in seen.body


def native(seen: Seen) -> Step:
    return CALL if has_tools(seen) and "sunny for" not in json.dumps(seen.body["messages"]) else weather(seen)


async def asked(server: WireServer, times: int, store: CapabilityStore | None = None, **run: Any) -> list[RunResult[Any]]:
    made = registry(server, run.pop("provider", "openai"))
    async with Orchestrator(made, run.pop("tools", [get_weather]), strategies=FAST, capabilities=store) as orchestrator:
        return [await orchestrator.run("Weather in Paris?", **run) for _ in range(times)]


def learnt(store: CapabilityStore, server: WireServer, provider: str = "openai") -> dict[str, bool]:
    return store.learnt(registry(server, provider).get("m").endpoint)


async def test_the_second_refusal_in_the_same_words_is_believed_against_the_table() -> None:
    store = CapabilityStore()
    with WireServer(refusing(has_tools)) as server:
        await asked(server, 1, store, budget=ONE_LOOK)
        assert learnt(store, server) == {}
        second, third = await asked(server, 2, store, budget=ONE_LOOK)
        assert learnt(store, server) == {"native_tools": False}
    assert [type(attempt.failure).__name__ for attempt in second.attempts] == ["RequestRefused", "NoneType", "NoneType"]
    assert [attempt.failure for attempt in third.attempts] == [None, None]


async def test_it_is_kept_in_the_backend(tmp_path: Path) -> None:
    path = tmp_path / "facts.json"
    with WireServer(refusing(has_tools)) as server:
        results = [(await asked(server, 1, CapabilityStore(backend=path), budget=ONE_LOOK))[0] for _ in range(3)]
    assert [len(result.attempts) for result in results] == [3, 3, 2]
    assert "blue pool" not in path.read_text("utf-8")


async def test_other_words_are_another_doubt_and_an_answer_ends_it() -> None:
    store, words, refused = CapabilityStore(), iter(["Not on a Monday.", "Not so.", "Not so."]), [True, True, False, True]

    def script(seen: Seen) -> Step:
        if has_tools(seen) and "sunny for" not in json.dumps(seen.body["messages"]) and refused.pop(0):
            return Failure(400, {"error": {"message": next(words)}})
        return native(seen)

    with WireServer(script) as server:
        await asked(server, 4, store)
        assert learnt(store, server).get("native_tools") is not False


@pytest.mark.parametrize(
    "words",
    [
        "Bad tool 'get_weather': no.",
        "tools.0.function.parameters: keyword 'anyOf' is unloved",
        "Unloved feature in tools[0]: anyOf",
        "tools.0.function.parameters.type: Invalid enum value. Expected 'object', received 'x'",
        "tools.0.function.parameters: must NOT have additional properties",
        "tools.0.function.description: Field required",
        "[{{'type': 'missing', 'loc': ('body', 'tools', 0, 'function', 'description'), 'msg': 'Field required'}}]",
        "tools[0].function.parameters.anyOf: Extra inputs are not permitted",
        "The grammar engine gave up: union types in get_weather",
        "The tool get_weather has a description that is too long (1024 at most)",
        "Function 'get_weather' is not for this route",
    ],
)
@pytest.mark.parametrize("provider", ["openai", "openai_compatible"])
async def test_what_is_wrong_with_one_tool_or_on_a_condition_is_not_learnt(provider: str, words: str) -> None:
    store = CapabilityStore()
    with WireServer(refusing(has_tools, words)) as server:
        await asked(server, 3, store, provider=provider)
        assert learnt(store, server, provider) == {}


async def test_a_question_that_is_quoted_makes_no_other_words() -> None:
    store = CapabilityStore()

    def script(seen: Seen) -> Step:
        said = seen.body["messages"][-1]["content"]
        return Failure(400, {"error": {"message": f"Rejected by the pool: {said}"}}) if has_tools(seen) else weather(seen)

    with WireServer(script) as server:
        async with Orchestrator(registry(server), [get_weather], strategies=FAST, capabilities=store) as orchestrator:
            for question in ("What about the weather in Paris?", "And is it any better in Oslo today?"):
                await orchestrator.run(question)
        assert learnt(store, server) == {"native_tools": False}


async def test_a_format_that_is_refused_is_doubted_before_the_tools_beside_it() -> None:
    store = CapabilityStore()

    def script(seen: Seen) -> Step:
        if "response_format" in seen.body:
            return Failure(400, {"error": {"message": "Rejected by the pool."}})
        return Turn(calls=[("final_result", {"name": "Oslo"})]) if has_tools(seen) else '{"name": "Oslo"}'

    with WireServer(script) as server:
        results = await asked(server, 3, store, tools=[], output_type=City)
        assert learnt(store, server)["json_schema"] is False
        assert learnt(store, server).get("native_tools") is not False
    assert [result.output for result in results] == [City(name="Oslo")] * 3
    assert [attempt.failure for attempt in results[-1].attempts] == [None]


async def test_words_that_name_the_tools_are_not_mistaken_for_the_choice() -> None:
    store = CapabilityStore()
    with WireServer(refusing(has_tools, "Nobody ever taught this one tools.", lambda _: '{"name": "Oslo"}')) as server:
        first, second = await asked(server, 2, store, provider="openai_compatible", output_type=City)
        assert learnt(store, server, "openai_compatible") == {"native_tools": False}
    assert (len(first.attempts), [attempt.failure for attempt in second.attempts]) == (2, [None])


async def test_a_named_choice_is_suspected_before_tools_that_are_unknown() -> None:
    store = CapabilityStore()
    script = refusing(lambda seen: isinstance(seen.body.get("tool_choice"), dict), answer=native)
    with WireServer(script) as server:
        *_, last = await asked(server, 3, store, provider="vllm", tool_choice={"name": "get_weather"})
        assert learnt(store, server, "vllm")["native_tools+tool_choice_named"] is False
        assert learnt(store, server, "vllm").get("native_tools") is not False
    assert (last.attempts[0].mode, last.attempts[0].failure) == ("native_tools", None)


async def test_results_that_are_refused_twice_in_the_same_words_end_native_calls() -> None:
    store = CapabilityStore()
    script = refusing(lambda seen: any(one["role"] == "tool" for one in seen.body["messages"]), "bad conversation 9", native)
    with WireServer(script) as server:
        results = await asked(server, 3, store, provider="openai_compatible")
        assert learnt(store, server, "openai_compatible")["tool_results"] is False
    assert [sum(attempt.failure is not None for attempt in result.attempts) for result in results] == [1, 1, 0]
    assert [result.content for result in results] == ["It is sunny."] * 3
