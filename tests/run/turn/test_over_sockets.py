"""The whole stack over real sockets: the orchestrator, LiteLLM, and a loopback server that speaks the providers' wires."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import BaseModel

from llmcore.models import ModelRegistry
from llmcore.orchestrator import Orchestrator
from llmcore.testing import block_model_requests
from llmcore.types import AuthenticationFailed, ConfigError, FallbackExhausted, Finished, TextDelta, ToolResult
from tests.helpers.wire_server import Failure, Turn, WireServer
from tests.run.support import FAST, assert_valid, get_weather

pytestmark = pytest.mark.anyio

KEY = "sk-test-0123456789abcdef"
MODELS = {
    "openai": "gpt-4o",
    "openai_compatible": "local-model",
    "groq": "llama-3.3-70b-versatile",
    "openrouter": "some/model",
    "mistral": "mistral-large-latest",
    "anthropic": "claude-sonnet-4-5",
    "gemini": "gemini-2.5-pro",
    "ollama": "llama3.1",
}
WEATHER_CALL = Turn("Let me look.", calls=[("get_weather", {"city": "Paris"})], usage=(50, 12))
AS_TEXT = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'


class City(BaseModel):
    name: str
    people: int


class Stack:
    """Orchestrators over one server, closed with the test's event loop."""

    def __init__(self) -> None:
        self._made: list[Orchestrator] = []

    def __call__(self, server: WireServer, provider: str = "openai_compatible", **options: Any) -> Orchestrator:
        model = {"provider": provider, "model": MODELS[provider], "base_url": server.base_url(provider), "api_key": KEY}
        registry = ModelRegistry.from_dict({"models": {"m": {**model, **options.pop("settings", {})}}})
        options.setdefault("strategies", FAST)
        made = Orchestrator(registry, options.pop("tools", [get_weather]), **options)
        self._made.append(made)
        return made

    async def close(self) -> None:
        for made in self._made:
            await made.aclose()


@pytest.fixture
async def stack() -> AsyncIterator[Stack]:
    made = Stack()
    yield made
    await made.close()


@pytest.mark.parametrize("provider", list(MODELS))
async def test_a_tool_loop_runs_on_every_wire_plain_and_streamed(provider: str, stack: Stack) -> None:
    for streamed in (False, True):
        with WireServer([WEATHER_CALL, "It is sunny."]) as server:
            orchestrator = stack(server, provider)
            if streamed:
                events = [event async for event in orchestrator.stream("Weather in Paris?")]
                assert [event.name for event in events if isinstance(event, ToolResult)] == ["get_weather"]
                assert "".join(event.text for event in events if isinstance(event, TextDelta)).endswith("It is sunny.")
                result = next(event.result for event in events if isinstance(event, Finished))
            else:
                result = await orchestrator.run("Weather in Paris?")
            assert result.content == "It is sunny."
            assert [attempt.reason for attempt in result.attempts] == ["first", "turn"]
            assert result.messages[2].tool_results[0].text == "Paris: sunny for 1 days"
            assert_valid(result.messages)
            assert len(server.requests) == 2
            assert "Paris: sunny" in str(server.requests[1].body)


@pytest.mark.parametrize(("provider", "length"), [("gemini", "MAX_TOKENS"), ("ollama", "length")])
@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
async def test_empty_arguments_of_a_reply_without_room_are_no_whole_call(
    provider: str, length: str, streamed: bool, stack: Stack
) -> None:
    ran: list[str] = []

    def purge(scope: str = "everything") -> str:
        ran.append(scope)
        return "gone"

    for finish, reasons in ((length, ["first", "reask"]), (None, ["first", "turn"])):
        with WireServer([Turn(calls=[("purge", {})], finish=finish), "Done."]) as server:
            orchestrator = stack(server, provider, tools=[purge])
            if streamed:
                events = [event async for event in orchestrator.stream("Go.")]
                result = next(event.result for event in events if isinstance(event, Finished))
            else:
                result = await orchestrator.run("Go.")
        assert [attempt.reason for attempt in result.attempts] == reasons
    assert ran == ["everything"]  # that of the reply which ended by itself


async def test_a_model_that_writes_its_call_as_text(stack: Stack) -> None:
    with WireServer([AS_TEXT, "It is sunny."]) as server:
        result = await stack(server).run("Weather in Paris?")
    assert result.content == "It is sunny."
    assert_valid(result.messages)


async def test_a_server_that_refuses_tools_is_taught_in_words(stack: Stack) -> None:
    refusal = Failure(400, {"error": {"message": "this model does not support tools", "type": "invalid_request_error"}})

    def script(seen: Any) -> Any:
        if "tools" in seen.body:
            return refusal
        return "It is sunny." if "sunny for" in str(seen.body) else AS_TEXT

    with WireServer(script) as server:
        settings = {"preferred_modes": ["native_tools", "text"]}
        orchestrator = stack(server, settings=settings)
        result = await orchestrator.run("Weather in Paris?")
        again = await orchestrator.run("And now?")
    assert [(a.mode, a.reason) for a in result.attempts] == [
        ("native_tools", "first"),
        ("text", "mode"),
        ("text", "turn"),
    ]
    assert (result.content, again.attempts[0].mode) == ("It is sunny.", "text")
    assert "get_weather" in str(server.requests[1].body["messages"][0])  # the prompt teaches the tools


async def test_typed_output_over_a_socket(stack: Stack) -> None:
    with WireServer(['{"name": "Paris", "people": "3"}']) as server:
        value = await stack(server).execute("Which city?", City)
    assert value == City(name="Paris", people=3)


async def test_bad_arguments_twice(stack: Stack) -> None:
    bad = [Turn(calls=[("get_weather", {"town": "Paris", "n": n})]) for n in range(2)]
    with WireServer([*bad, WEATHER_CALL, "It is sunny."]) as server:
        result = await stack(server).run("Weather in Paris?")
    assert [attempt.reason for attempt in result.attempts] == ["first", "reask", "reask", "turn"]
    assert all(attempt.detail for attempt in result.attempts[1:3])
    assert result.usage.input_tokens == 21 + 21 + 50 + 21


async def test_a_server_that_is_down(stack: Stack) -> None:
    with WireServer(["never"]) as server:
        base = server
    with pytest.raises(FallbackExhausted) as caught:
        await stack(base).run("Hello?")
    assert [attempt.reason for attempt in caught.value.attempts] == ["first", "retry", "retry"]
    assert caught.value.partial is not None


async def test_a_bad_key_stops_at_once_and_stands_in_no_message(stack: Stack) -> None:
    told = {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}}
    with WireServer([Failure(401, told)]) as server:
        with pytest.raises(AuthenticationFailed) as caught:
            await stack(server, "openai").run("Hello?")
        assert len(server.requests) == 1
    assert KEY not in f"{caught.value!r} {caught.value.attempts!r} {caught.value.partial!r}"


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini"])
async def test_a_key_that_is_echoed_where_no_one_looks_stands_in_no_result(provider: str, streamed: bool, stack: Stack) -> None:
    with WireServer([Turn("Hi.", model=f"m-{KEY}")]) as server:
        orchestrator = stack(server, provider)
        if streamed:
            last = [event async for event in orchestrator.stream("Hello?")][-1]
            assert isinstance(last, Finished)
            result = last.result
        else:
            result = await orchestrator.run("Hello?")
    assert result.attempts[0].response_model in ("m-[secret]", MODELS[provider])
    assert KEY not in f"{result.attempts!r} {result.model_dump_json()}"


async def test_a_block_on_requests_stops_it_before_the_socket(stack: Stack) -> None:
    with WireServer(["never"]) as server, block_model_requests():
        with pytest.raises(ConfigError, match="FakeModel"):
            await stack(server).run("Hello?")
        assert server.requests == []
