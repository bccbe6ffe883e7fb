"""The adapter over real sockets, against the wire server: every provider, plain and streamed."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from typing import Any

import pytest
from pydantic import SecretStr

from llmcore.adapters.base import Adapter, Endpoint, ModelCall
from llmcore.adapters.capabilities import CapabilityStore
from llmcore.adapters.guard import RequestBlock
from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.normalizer import Normalizer, normalize
from llmcore.support.values.narrowing import is_list, is_object, object_in
from llmcore.types import (
    ConfigError,
    Message,
    ProviderBlock,
    Request,
    TextBlock,
    ThinkingBlock,
    Timeout,
    ToolDefinition,
    ToolResultBlock,
    ToolSet,
    ToolUseBlock,
)
from tests.adapters.conftest import KEY, PROVIDERS, WEATHER, call_of, endpoint_at
from tests.helpers.wire_server import Failure, Raw, Turn, WireServer, demo

pytestmark = pytest.mark.anyio

WIRES = {"anthropic": "anthropic", "gemini": "gemini", "ollama": "ollama"}
TWO_CALLS = Turn(
    "Let me look.",
    calls=[("get_weather", {"city": "Paris"}), ("get_weather", {"city": "Rome"})],
    usage=(50, 12),
)


async def collected(adapter: LiteLLMAdapter, call: ModelCall) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The chunks of a stream, and the summary that ends it."""
    events = [event async for event in adapter.stream(call)]
    assert all(isinstance(event, dict) for event in events)
    *chunks, last = [event for event in events if isinstance(event, dict)]
    return chunks, last["llmcore"]


def calls_in(body: Any) -> list[tuple[str, Any]]:
    """The calls that stand in a body of any wire, in order."""
    if is_list(body):
        return [call for item in body for call in calls_in(item)]
    for key in ("arguments", "input", "args"):
        if is_object(body) and "name" in body and key in body:
            value = body[key]
            return [(body["name"], json.loads(value) if isinstance(value, str) else value)]
    return [call for value in object_in(body).values() for call in calls_in(value)]


def streamed_calls(chunks: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    """The calls of a stream, as layer 2 reads them."""
    return [(call.name, call.arguments) for call in normalize(chunks).tool_calls]


def test_is_an_adapter() -> None:
    assert isinstance(LiteLLMAdapter(), Adapter)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_plain_reply_is_the_providers_own_body(adapter: LiteLLMAdapter, provider: str) -> None:
    with WireServer([TWO_CALLS]) as server:
        reply = await adapter.complete(call_of(endpoint_at(server, provider)))
    assert calls_in(reply.raw) == [("get_weather", {"city": "Paris"}), ("get_weather", {"city": "Rome"})]
    assert reply.wire == WIRES.get(provider, "openai-chat")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (50, 12)
    assert reply.model == "wire-model"
    assert reply.provider == provider
    assert reply.duration > 0
    assert len(server.requests) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_stream_is_events_of_its_wire_and_a_summary(adapter: LiteLLMAdapter, provider: str) -> None:
    with WireServer([TWO_CALLS]) as server:
        chunks, summary = await collected(adapter, call_of(endpoint_at(server, provider)))
    assert streamed_calls(chunks) == [("get_weather", {"city": "Paris"}), ("get_weather", {"city": "Rome"})]
    assert normalize(chunks).content == "Let me look."
    assert (summary["usage"]["input_tokens"], summary["usage"]["output_tokens"]) == (50, 12)
    assert summary["usage"]["estimated"] is False
    assert summary["ended"] is True
    assert 0 < summary["time_to_first_token"] <= summary["duration"]
    of_ollama = provider == "ollama"  # LiteLLM reads its streams
    assert summary["wire"] == ("openai-chat" if of_ollama else WIRES.get(provider, "openai-chat"))
    assert len(server.requests) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_second_turn_carries_calls_and_results(adapter: LiteLLMAdapter, provider: str) -> None:
    history = [
        Message(role="user", content=[TextBlock(text="Weather?")]),
        Message(
            role="assistant",
            content=[
                ToolUseBlock(id="call_1", name="get_weather", input={"city": "Paris"}),
                ToolUseBlock(id="call_2", name="get_weather", input={"city": "Rome"}),
            ],
        ),
        Message(role="tool", content=[ToolResultBlock.model_validate({"tool_use_id": "call_1", "content": "sunny"})]),
    ]
    with WireServer(["It is sunny."]) as server:
        await adapter.complete(call_of(endpoint_at(server, provider), Request(messages=history, system="Be brief.")))
    body = server.requests[0].body
    told = json.dumps(body)
    assert "Be brief." in told
    assert "sunny" in told
    assert "No result" in told  # the made-up result of the second call
    history_calls = calls_in(body.get("messages") or body.get("contents"))
    assert history_calls == [("get_weather", {"city": "Paris"}), ("get_weather", {"city": "Rome"})]


@pytest.mark.parametrize("provider", ["openai", "groq", "anthropic", "gemini", "ollama"])
async def test_parallel_calls_under_one_index_stay_apart(adapter: LiteLLMAdapter, provider: str) -> None:
    turn = Turn(calls=TWO_CALLS.calls, one_index=True)
    with WireServer([turn]) as server:
        chunks, _ = await collected(adapter, call_of(endpoint_at(server, provider)))
    assert streamed_calls(chunks) == TWO_CALLS.calls


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini"])
async def test_cached_and_reasoning_tokens_are_parts(adapter: LiteLLMAdapter, provider: str) -> None:
    turn = Turn("Hi", reasoning="I think.", signature="sig", usage=(100, 20), cached=30)
    with WireServer([turn]) as server:
        plain = (await adapter.complete(call_of(endpoint_at(server, provider)))).usage
        _, summary = await collected(adapter, call_of(endpoint_at(server, provider)))
    thoughts = 4 if provider == "gemini" else 0  # counted beside the candidates there
    for usage in (plain.model_dump(), summary["usage"]):
        assert usage["input_tokens"] == 100
        assert usage["cache_read_tokens"] == 30
        assert usage["output_tokens"] == 20 + thoughts
        assert 0 < usage["reasoning_tokens"] <= usage["output_tokens"]


async def test_cost_is_the_endpoints_prices(adapter: LiteLLMAdapter) -> None:
    with WireServer([Turn("Hi", usage=(1000, 500), cached=400)]) as server:
        endpoint = endpoint_at(server, "openai").model_dump() | {"prices": {"input": 2.0, "output": 8.0, "cache_read": 0.5}}
        priced = Endpoint.model_validate(endpoint | {"api_key": KEY})
        reply = await adapter.complete(call_of(priced))
        unpriced = await adapter.complete(call_of(endpoint_at(server, "openai")))
    assert reply.usage.cost == pytest.approx((600 * 2.0 + 400 * 0.5 + 500 * 8.0) / 1_000_000)
    assert unpriced.usage.cost is None


async def test_a_failed_generation_is_a_reply(adapter: LiteLLMAdapter) -> None:
    written = '<function=get_weather>{"city": "Paris"}</function>'
    body = {"message": "Failed to call a function.", "type": "invalid_request_error", "code": "tool_use_failed"}
    with WireServer([Failure(400, {"error": {**body, "failed_generation": written}})]) as server:
        for provider in ("groq", "openai"):
            reply = await adapter.complete(call_of(endpoint_at(server, provider)))
            assert reply.raw["error"]["failed_generation"] == written
            chunks, _ = await collected(adapter, call_of(endpoint_at(server, provider)))
            assert chunks == [reply.raw]


async def test_names_a_wire_refuses_are_mapped_and_back(adapter: LiteLLMAdapter) -> None:
    tool = ToolDefinition(name="maps.geo/lookup", parameters=WEATHER.parameters)
    sent: list[str] = []

    def answer(seen: Any) -> Turn:
        name = json.dumps(seen.body)
        sent.append(name)
        tools = seen.body["tools"][0]
        declared = tools.get("function") or tools.get("function_declarations", [tools])[0]
        return Turn(calls=[(declared["name"], {"city": "Paris"})])

    with WireServer(answer) as server:
        for provider in ("openai", "anthropic", "gemini"):
            call = call_of(endpoint_at(server, provider), tools=(tool,))
            assert calls_in((await adapter.complete(call)).raw) == [("maps.geo/lookup", {"city": "Paris"})]
            chunks, _ = await collected(adapter, call)
            assert streamed_calls(chunks) == [("maps.geo/lookup", {"city": "Paris"})]
    assert not any("maps.geo/lookup" in body for body in sent)


async def test_gemini_gets_its_signature_back(adapter: LiteLLMAdapter) -> None:
    history = [
        Message(role="user", content=[TextBlock(text="Weather?")]),
        Message(
            role="assistant",
            content=[
                ToolUseBlock(id="call_1", name="get_weather", input={"city": "Paris"}),
                ProviderBlock(provider="gemini", data={"thoughtSignature": "c2ln"}),
            ],
        ),
        Message(role="tool", content=[ToolResultBlock.model_validate({"tool_use_id": "call_1", "content": "sunny"})]),
    ]
    with WireServer(["Sunny."]) as server:
        for provider in ("gemini", "openai", "anthropic"):
            await adapter.complete(call_of(endpoint_at(server, provider), Request(messages=history)))
    assert "c2ln" in json.dumps(server.requests[0].body)
    assert "c2ln" not in json.dumps([seen.body for seen in server.requests[1:]])


async def test_claude_gets_its_thinking_back_and_nobody_else(adapter: LiteLLMAdapter) -> None:
    history = [
        Message(role="user", content=[TextBlock(text="Weather?")]),
        Message(
            role="assistant",
            content=[
                ThinkingBlock(thinking="Look it up.", signature="c2ln"),
                ToolUseBlock(id="toolu_1", name="get_weather", input={"city": "Paris"}),
            ],
        ),
        Message(role="tool", content=[ToolResultBlock.model_validate({"tool_use_id": "toolu_1", "content": "sunny"})]),
    ]
    request = Request(messages=history, thinking=2000, max_tokens=4000)
    with WireServer(["Sunny."]) as server:
        await adapter.complete(call_of(endpoint_at(server, "anthropic"), request))
        await adapter.complete(call_of(endpoint_at(server, "openai_compatible"), Request(messages=history)))
    body = server.requests[0].body
    assistant = next(message for message in body["messages"] if message["role"] == "assistant")
    assert [block["type"] for block in assistant["content"]] == ["thinking", "tool_use"]
    assert assistant["content"][0] == {"type": "thinking", "thinking": "Look it up.", "signature": "c2ln"}
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 2000}
    assert body["max_tokens"] == 4000  # the budget is part of it
    assert "c2ln" not in json.dumps(server.requests[1].body)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("provider", ["anthropic", "gemini"])
async def test_a_turn_read_by_layer_2_goes_back_as_it_came(adapter: LiteLLMAdapter, provider: str, streamed: bool) -> None:
    """Thinking and signatures survive: reply -> envelope -> history -> the next request."""
    turn = Turn("Let me look.", calls=[("get_weather", {"city": "Paris"})], reasoning="Look it up.", signature="c2ln")
    with WireServer([turn, "Sunny."]) as server:
        call = call_of(endpoint_at(server, provider))
        normalizer = Normalizer(ToolSet([WEATHER]))
        for piece in (await collected(adapter, call))[0] if streamed else [(await adapter.complete(call)).raw]:
            normalizer.feed(piece)
        normalizer.finish()
        blocks = normalizer.envelope.blocks
        use = next(block for block in blocks if isinstance(block, ToolUseBlock))
        result = ToolResultBlock(tool_use_id=use.id, content=[TextBlock(text="sunny")])
        history = [
            *call.request.messages,
            Message(role="assistant", content=blocks),
            Message(role="tool", content=[result]),
        ]
        await adapter.complete(call_of(call.endpoint, Request(messages=history)))
    sent = server.requests[-1].body
    if provider == "anthropic":
        thinking, text, tool_use = sent["messages"][1]["content"]
        assert thinking == {"type": "thinking", "thinking": "Look it up.", "signature": "c2ln"}
        assert text == {"type": "text", "text": "Let me look."}
        assert (tool_use["name"], tool_use["input"]) == ("get_weather", {"city": "Paris"})
    else:
        parts = sent["contents"][1]["parts"]
        (called,) = [part for part in parts if "function_call" in part]
        assert called["thoughtSignature"] == "c2ln"


ODD_CALLS: dict[str, dict[str, Any]] = {
    "an integer id": {"index": 0, "id": 5, "type": "function"},
    "no index": {"id": "a", "type": "function"},
    "an index as text": {"index": "0", "id": "a"},
    "a fraction as index": {"index": 0.0, "id": "a"},
    "no type": {"index": 0, "id": "a", "type": None},
    "arguments as an object": {"index": 0, "id": "a", "function": {"name": "get_weather", "arguments": {"city": "Paris"}}},
}


@pytest.mark.parametrize("what", ODD_CALLS)
@pytest.mark.parametrize("provider", ["openai", "openai_compatible", "groq", "openrouter", "mistral", "deepseek"])
async def test_a_streamed_call_that_is_written_oddly_is_not_lost(adapter: LiteLLMAdapter, provider: str, what: str) -> None:
    function = {"name": "get_weather", "arguments": '{"city": "Paris"}'}
    call = {"function": function, **ODD_CALLS[what]}
    deltas: list[dict[str, Any]] = [{"tool_calls": [call]}, {"content": None, "role": None}]
    chunks: list[dict[str, Any]] = [
        {"id": 7, "created": None, "model": "m", "choices": [{"index": 0, "delta": delta}]} for delta in deltas
    ]
    end: dict[str, Any] = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    sent = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in [*chunks, end]]
    whole = {"choices": [{"index": 0, "message": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "tool_calls"}]}
    with WireServer([Raw(sent, "text/event-stream"), Raw([json.dumps(whole).encode()])]) as server:
        events, _ = await collected(adapter, call_of(endpoint_at(server, provider)))
        reply = await adapter.complete(call_of(endpoint_at(server, provider)))
    streamed, plain = normalize(events, ToolSet([WEATHER])), normalize(reply, ToolSet([WEATHER]))
    assert [(made.name, made.arguments) for made in streamed.tool_calls] == [("get_weather", {"city": "Paris"})]
    assert streamed.tool_calls == plain.tool_calls


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_text_of_many_equal_pieces_comes_through(adapter: LiteLLMAdapter, provider: str) -> None:
    with WireServer([Turn("-" * 1500)]) as server:
        chunks, _ = await collected(adapter, call_of(endpoint_at(server, provider)))
    assert normalize(chunks).content == "-" * 1500


@pytest.mark.parametrize(("place", "provider"), [("x_groq", "groq"), ("choice", "openai_compatible")])
async def test_usage_is_read_where_the_provider_puts_it(adapter: LiteLLMAdapter, place: str, provider: str) -> None:
    usage = {"usage": {"prompt_tokens": 50, "completion_tokens": 12}}
    choice = {"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}
    event = {"choices": [choice], "x_groq": usage} if place == "x_groq" else {"choices": [choice | usage]}
    with WireServer([Raw([f"data: {json.dumps(event)}\n\n".encode()], "text/event-stream")]) as server:
        _, summary = await collected(adapter, call_of(endpoint_at(server, provider)))
    assert (summary["usage"]["input_tokens"], summary["usage"]["output_tokens"]) == (50, 12)


async def test_a_litellm_forced_tool_is_read_through(adapter: LiteLLMAdapter) -> None:
    """An old Claude has no response format: LiteLLM forces a tool of its own, whose arguments are the answer."""
    answer = Turn(calls=[("json_tool_call", {"city": "Paris"})])
    with WireServer([answer]) as server:
        call = call_of(
            endpoint_at(server, "anthropic", "claude-3-opus-20240229"),
            mode="json_schema",
            tools=(),
            output_schema=WEATHER.parameters,
        )
        reply = await adapter.complete(call)
    assert json.loads(reply.raw["choices"][0]["message"]["content"]) == {"city": "Paris"}
    assert reply.wire == "openai-chat"


async def test_closing_a_stream_closes_the_connection(adapter: LiteLLMAdapter) -> None:
    chunk = b'data: {"id": "x", "choices": [{"index": 0, "delta": {"content": "a"}}]}\n\n'
    with WireServer([Raw([chunk] * 2000, "text/event-stream", pause=0.01)]) as server:
        stream = adapter.stream(call_of(endpoint_at(server, "openai")))
        await anext(stream)
        started = time.perf_counter()
        await stream.aclose()  # type: ignore[attr-defined]  # it is an async generator
        assert time.perf_counter() - started < 10
        assert await asyncio.to_thread(server.wait_for_disconnect)


@pytest.mark.parametrize("provider", ["openai", "groq", "anthropic"])
async def test_cancelling_closes_the_connection(adapter: LiteLLMAdapter, provider: str) -> None:
    with WireServer([Raw([b" "] * 500, pause=0.02)]) as server:
        task = asyncio.create_task(adapter.complete(call_of(endpoint_at(server, provider))))
        while not server.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.wait_for_disconnect)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_stalled_read_is_a_timeout(adapter: LiteLLMAdapter, provider: str) -> None:
    with WireServer([Raw([b" "], "text/event-stream", pause=60)]) as server:
        call = call_of(endpoint_at(server, provider), timeout=0.2)
        started = time.perf_counter()
        with pytest.raises(Timeout):
            await collected(adapter, call)
        with pytest.raises(Timeout):
            await adapter.complete(call)
    assert time.perf_counter() - started < 30


async def test_a_deadline_is_the_callers(adapter: LiteLLMAdapter) -> None:
    with WireServer([Raw([b" "], pause=5)]) as server, pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await adapter.complete(call_of(endpoint_at(server, "openai")))


async def test_a_learnt_refusal_changes_the_request() -> None:
    store = CapabilityStore()
    adapter = LiteLLMAdapter(store)
    with WireServer(["Hi"]) as server:
        endpoint = endpoint_at(server, "openai_compatible")
        request = Request.model_validate({"messages": "hi", "temperature": 0.5})
        await adapter.complete(call_of(endpoint, request))
        store.record_failure(endpoint, "temperature")
        await adapter.complete(call_of(endpoint, request))
        await adapter.close()
    assert server.requests[0].body["temperature"] == 0.5
    assert "temperature" not in server.requests[1].body


async def test_what_is_left_out_is_logged(adapter: LiteLLMAdapter, caplog: pytest.LogCaptureFixture) -> None:
    with WireServer(["Hi"]) as server, caplog.at_level(logging.WARNING, "llmcore.adapters"):
        request = Request.model_validate({"messages": "hi", "temperature": 0.5})
        await adapter.complete(call_of(endpoint_at(server, "openai_compatible", "x"), request))
        await adapter.complete(call_of(endpoint_at(server, "deepseek", "deepseek-reasoner"), request))
    assert [record.getMessage() for record in caplog.records] == [
        "deepseek/deepseek-reasoner does not take temperature: it is not sent"
    ]


async def test_tools_given_are_never_edited(adapter: LiteLLMAdapter) -> None:
    parameters: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"city": {"type": "string", "minLength": 1, "title": "City"}, "labels": {"type": "object"}},
        "required": ["city"],
        "additionalProperties": False,
    }
    tool = ToolDefinition(name="f", parameters=parameters, strict=True)
    before = tool.model_dump_json()
    with WireServer(["Hi"]) as server:
        for provider in PROVIDERS:
            await adapter.complete(call_of(endpoint_at(server, provider), tools=(tool,)))
    assert tool.model_dump_json() == before


async def test_no_request_while_requests_are_blocked(adapter: LiteLLMAdapter) -> None:
    with WireServer(["Hi"]) as server, RequestBlock():
        with pytest.raises(ConfigError, match="gpt-4o"):
            await adapter.complete(call_of(endpoint_at(server, "openai")))
        with pytest.raises(ConfigError):
            await collected(adapter, call_of(endpoint_at(server, "openai")))
    assert server.requests == []


async def test_the_environments_key_goes_to_no_stranger(adapter: LiteLLMAdapter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with WireServer(["Hi"]) as server:
        endpoint = Endpoint(provider="openai", model="m", base_url=server.base_url("openai"))
        await adapter.complete(call_of(endpoint))
    assert KEY not in json.dumps(dict(server.requests[0].headers))


@pytest.mark.parametrize("provider", ["openai", "groq", "anthropic", "gemini"])
async def test_a_closed_adapter_opens_new_clients(adapter: LiteLLMAdapter, provider: str) -> None:
    with WireServer(["Hi"]) as server:
        for _ in range(2):
            await adapter.complete(call_of(endpoint_at(server, provider)))
            await adapter.close()
    assert len(server.requests) == 2


async def test_closing_leaves_other_loops_alone(adapter: LiteLLMAdapter) -> None:
    with WireServer(["Hi"]) as server:
        call = call_of(endpoint_at(server, "openai"))
        await adapter.complete(call)

        async def elsewhere() -> None:
            await adapter.complete(call)
            await adapter.close()

        await asyncio.to_thread(asyncio.run, elsewhere())
        await adapter.complete(call)
    assert len(server.requests) == 3


@pytest.mark.parametrize("provider", ["openai_compatible", "anthropic", "gemini", "ollama"])
async def test_the_demonstration_server_calls_and_then_answers(adapter: LiteLLMAdapter, provider: str) -> None:
    with WireServer(demo) as server:
        call = call_of(endpoint_at(server, provider))
        assert calls_in((await adapter.complete(call)).raw) == [("get_weather", {"city": "Paris"})]
        history = [
            *call.request.messages,
            Message(role="assistant", content=[ToolUseBlock(id="c", name="get_weather", input={"city": "Paris"})]),
            Message(role="tool", content=[ToolResultBlock(tool_use_id="c", content=[TextBlock(text="24")])]),
        ]
        answer = await adapter.complete(call_of(call.endpoint, Request(messages=history)))
        assert "sunny" in json.dumps(answer.raw)


@pytest.mark.parametrize("provider", ["openai", "anthropic", "ollama"])
async def test_a_reply_is_as_the_model_said_it_whole_and_streamed(adapter: LiteLLMAdapter, provider: str) -> None:
    """Also where it holds the key of its own request: a rewritten path or argument is a wrong call that nothing records."""
    said = Turn(f"You are {KEY}.", calls=[("get_weather", {"city": f"/keys/{KEY}"})])
    with WireServer([said, said]) as server:
        call = call_of(endpoint_at(server, provider))
        whole = normalize((await adapter.complete(call)).raw, ToolSet([WEATHER]))
        normalizer = Normalizer(ToolSet([WEATHER]))
        async for event in adapter.stream(call):
            normalizer.feed(event)
        normalizer.finish()
    for envelope in (whole, normalizer.envelope):
        assert envelope.content == f"You are {KEY}."
        assert [made.arguments for made in envelope.tool_calls] == [{"city": f"/keys/{KEY}"}]


async def test_a_placeholder_for_a_key_is_an_ordinary_word_of_a_reply(adapter: LiteLLMAdapter) -> None:
    with WireServer(["It runs on lmstudiolocalserver."]) as server:
        endpoint = endpoint_at(server, "openai_compatible").model_copy(update={"api_key": SecretStr("lmstudiolocalserver")})
        assert "lmstudiolocalserver" in json.dumps((await adapter.complete(call_of(endpoint))).raw)
