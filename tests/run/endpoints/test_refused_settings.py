"""A server refuses a system prompt, a stop sequence, or llmcore's own `max_tokens`. The same mode is used without it, at
once and from then on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from llmcore.adapters.capabilities import CapabilityStore
from llmcore.models import ModelRegistry
from llmcore.orchestrator import Orchestrator
from llmcore.types import CallerError
from tests.helpers.wire_server import Failure, Seen, WireServer
from tests.run.support import FAST, get_weather

pytestmark = pytest.mark.anyio


def orchestrator(server: WireServer, provider: str = "vllm", model: str = "gemma", **options: Any) -> Orchestrator:
    settings = {"provider": provider, "model": model, "base_url": server.base_url(provider), "api_key": "sk-0123456789ab"}
    return Orchestrator(ModelRegistry.from_dict({"models": {"m": settings}}), [get_weather], strategies=FAST, **options)


def refusing(refuses: Callable[[Seen], bool], words: str) -> Callable[[Seen], Any]:
    return lambda seen: Failure(400, {"error": {"message": words}}) if refuses(seen) else "Good day."


@pytest.mark.parametrize("words", ["System role not supported", "This model does not support system messages."])
async def test_a_system_prompt_goes_into_the_first_message(words: str) -> None:
    def has_system(seen: Seen) -> bool:
        return any(message["role"] == "system" for message in seen.body["messages"])

    with WireServer(refusing(has_system, words)) as server:
        async with orchestrator(server, system="Be brief.") as made:
            first, second = await made.run("Hello"), await made.run("Hello again")
    assert [first.content, second.content] == ["Good day."] * 2
    assert [attempt.mode for attempt in first.attempts] == ["native_tools"] * 2
    assert [seen.body["messages"] for seen in server.requests][1:] == [
        [{"role": "user", "content": f"Be brief.\n\n{said}"}] for said in ("Hello", "Hello again")
    ]
    assert second.attempts[0].dropped == ["place of the system prompt"]


async def test_a_stop_that_is_refused_in_words_is_left_out() -> None:
    with WireServer(refusing(lambda seen: "stop" in seen.body, "stop sequences unsupported by this engine")) as server:
        async with orchestrator(server) as made:
            result = await made.run("Hello", stop=["END"])
            again = await made.run("Hello", stop=["END"])
    assert ([attempt.mode for attempt in result.attempts], result.attempts[1].dropped) == (["native_tools"] * 2, ["stop"])
    assert len(again.attempts) == 1


async def test_of_two_that_are_not_accepted_together_one_is_left_out_and_that_is_learnt() -> None:
    words = "`temperature` and `top_p` cannot both be specified here. Please use only one."
    with WireServer(refusing(lambda seen: {"temperature", "top_p"} <= seen.body.keys(), words)) as server:
        async with orchestrator(server, "anthropic", "claude-sonnet-4-5") as made:
            result = await made.run("Hello", temperature=0.3, top_p=0.96)
            again = await made.run("Hello", temperature=0.3, top_p=0.96)
            alone = await made.run("Hello", top_p=0.96)
    assert [attempt.mode for attempt in result.attempts] == ["native_tools"] * 2
    assert [attempt.dropped for attempt in (*result.attempts[1:], *again.attempts)] == [["top_p"], ["top_p"]]
    assert (alone.attempts[0].dropped, server.requests[-1].body["top_p"]) == ([], 0.96)


async def test_parameters_that_are_refused_one_by_one_leave_the_modes_their_attempts() -> None:
    given: dict[str, Any] = {"temperature": 0.2, "top_p": 0.5, "parallel_tool_calls": False, "stop": ["END"]}

    def script(seen: Seen) -> Any:
        held = next((name for name in given if name in seen.body), "tools" if "tools" in seen.body else None)
        words = f"Unsupported parameter: '{held}' is not supported with this model."
        return Failure(400, {"error": {"message": words, "param": held}}) if held else '{"toolCalls": [], "content": "Good day."}'

    with WireServer(script) as server:
        async with orchestrator(server, "openai_compatible", "local") as made:
            first = await made.run("Hello", **given)
            second = await made.run("Hello", **given)
    assert [len(first.attempts), len(second.attempts)] == [6, 1]
    assert (first.content, sorted(second.attempts[0].dropped)) == ("Good day.", ["stop", "temperature", "top_p"])


@pytest.mark.parametrize("words", ["Nichts mit temperature hier.", "temperature? we left that behind in the second version"])
async def test_a_parameter_that_unknown_words_name_is_left_out_first(words: str) -> None:
    with WireServer(refusing(lambda seen: "temperature" in seen.body, words)) as server:
        async with orchestrator(server, "openai_compatible", "local", system="Be brief.") as made:
            first, second = [await made.run("Hello", temperature=0.3) for _ in range(2)]
    assert [(attempt.mode, attempt.dropped) for attempt in first.attempts] == [
        ("native_tools", []),
        ("native_tools", ["temperature"]),
    ]
    assert [attempt.dropped for attempt in second.attempts] == [["temperature"]]


@pytest.mark.parametrize(
    ("provider", "model", "given", "words"),
    [
        ("anthropic", "claude-sonnet-4-5", {"thinking": 2048}, "thinking? not here"),
        ("anthropic", "claude-sonnet-4-5", {"thinking": 2048}, "Thinking mode is unavailable"),
        ("anthropic", "claude-sonnet-4-5", {"thinking": 2048}, "extended thinking is not offered by this relay"),
        ("gemini", "gemini-2.5-pro", {"thinking": 2048}, "thinking budget unavailable here"),
        ("openai", "o3", {"thinking": 2048}, "reasoning effort cannot be set on this gateway"),
        ("openai_compatible", "local", {"stop": ["Q"]}, "stop sequences unavailable"),
        ("openai_compatible", "local", {"stop": ["Q"]}, "we do without stop words"),
        ("openai_compatible", "local", {"stop": ["Q"]}, "stop? not here"),
        ("openai_compatible", "local", {"top_p": 0.5}, "nucleus sampling is beyond us"),
    ],
)
async def test_a_parameter_that_unknown_words_call_as_people_do_is_left_out_first(
    provider: str, model: str, given: dict[str, Any], words: str
) -> None:
    def holds(seen: Seen) -> bool:
        sent = json.dumps(seen.body)
        return any(f'"{name}"' in sent for name in ("thinking", "thinkingConfig", "reasoning_effort", "stop", "top_p"))

    with WireServer(refusing(holds, words)) as server:
        async with orchestrator(server, provider, model, system="Be brief.") as made:
            first, second = [await made.run("Hello", **given) for _ in range(2)]
    assert [attempt.mode for attempt in first.attempts] == ["native_tools"] * 2
    assert [attempt.dropped for attempt in (first.attempts[1], *second.attempts)] == [[*given]] * 2


async def test_thinking_that_the_user_promised_is_left_out_of_the_run() -> None:
    script = refusing(lambda seen: "thinking" in seen.body, "thinking is not supported by this model")
    store = CapabilityStore()
    store.override("claude-sonnet-4-5", reasoning=True)
    with WireServer(script) as server:
        async with orchestrator(server, "anthropic", "claude-sonnet-4-5", capabilities=store) as made:
            result = await made.run("Hello", thinking=2000)
    assert [attempt.dropped for attempt in result.attempts] == [[], ["thinking"]]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"temperature": 1.3}, "temperature: must be between 0 and 1"),
        ({"temperature": 1.3}, "Invalid request. `temperature` should be at most 1."),
        ({"max_tokens": 5000}, "max_tokens must be <= 1024"),
        ({"max_tokens": 5000}, "max_completion_tokens is too large: 5000"),
        ({"extra_body": {"seed": 3}}, "Unrecognized request argument supplied: seed"),
        ({"extra_body": {"seed": 3}}, "Il parametro 'seed' non è ammesso."),
        ({"extra_body": {"mirostat": 3}}, "mirostat? pfff"),
        ({"extra_body": {"top_k_min": 3}}, "we have no top_k_min here"),
    ],
)
async def test_a_value_or_field_of_the_callers_own_is_reported_at_once(given: dict[str, Any], words: str) -> None:
    name = next(iter(given.get("extra_body", given)))
    held = re.compile(rf'"(?:{name}|max_completion_tokens)"')
    store = CapabilityStore()
    with WireServer(refusing(lambda seen: held.search(json.dumps(seen.body)) is not None, words)) as server:
        async with orchestrator(server, "openai_compatible", "local", capabilities=store) as made:
            with pytest.raises(CallerError, match=f"does not take {name} as the request has it .*: omit it"):
                await made.run("Hello", **given)
            assert store.learnt(made.models.get("m").endpoint) == {}
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"temperature": 0.3}, "Tool get_weather: temperature must be a number"),
        ({"temperature": 0.3}, "messages[0]: the temperature must be a number"),
        ({"extra_body": {"seed": 3}}, "A seed was planted where tools grow."),
        ({"extra_body": {"seed": 3}}, "seed and tools do not go together"),
        ({}, "temperature must be between 0 and 1"),
    ],
)
async def test_what_is_of_a_tool_or_was_not_given_is_not_the_callers(given: dict[str, Any], words: str) -> None:
    with WireServer(refusing(lambda seen: "tools" in seen.body, words)) as server:
        async with orchestrator(server, "openai_compatible", "local") as made:
            assert (await made.run("Hello", **given)).attempts[-1].failure is None


async def test_a_field_of_the_wire_that_is_named_in_a_refusal_is_left_out() -> None:
    words = "systemInstruction: Extra inputs are not permitted"
    with WireServer(
        refusing(lambda seen: not {"system_instruction", "systemInstruction"}.isdisjoint(seen.body), words)
    ) as server:
        async with orchestrator(server, "gemini", "gemini-2.5-pro", system="Be brief.") as made:
            first, second = await made.run("Hello"), await made.run("Hello again")
    assert (first.content, second.content) == ("Good day.", "Good day.")
    assert [len(result.attempts) for result in (first, second)] == [2, 1]


async def test_our_own_room_is_made_smaller_and_the_callers_is_not() -> None:
    words = "max_tokens: {} > 4096, which is the maximum allowed number of output tokens for claude-3-haiku-20240307"
    script = refusing(lambda seen: seen.body["max_tokens"] > 4096, words)
    with WireServer(script) as server:
        async with orchestrator(server, "anthropic", "claude-3-haiku-20240307") as made:
            with pytest.raises(CallerError):
                await made.run("Hello", max_tokens=8000)
            asked = len(server.requests)
            first, second = await made.run("Hello"), await made.run("Hello")
    assert [first.content, second.content] == ["Good day."] * 2
    assert [seen.body["max_tokens"] for seen in server.requests[asked:]] == [8192, 4096, 4096]
