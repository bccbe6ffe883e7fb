"""A streamed reply's native calls are those of the provider's own events: LiteLLM loses which call a piece belongs to, and which
call came to its end, and fails at calls in parts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore import Orchestrator
from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.normalizer import normalize
from llmcore.types import Finished, LLMCoreError
from tests.adapters.conftest import EVERY_MODEL, WEATHER, call_of, endpoint_at
from tests.adapters.litellm.test_bedrock_reasoning import frames_of
from tests.helpers.wire_server import Failure, Raw, WireServer

pytestmark = pytest.mark.anyio
Step = tuple[Any, ...]
"""`("begin", block, id)`, `("more", block, text)` or `("end", block)`."""
WHOLE = '{"room": "hall"}'


def _anthropic(*steps: Step, stop: str = "tool_use") -> Raw:
    message: dict[str, Any] = {
        "type": "message",
        "role": "assistant",
        "id": "m",
        "model": "c",
        "content": [],
        "usage": {"input_tokens": 5, "output_tokens": 1},
    }
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    for kind, block, *told in steps:
        if kind == "begin":
            use: dict[str, Any] = {"type": "tool_use", "id": told[0], "name": "set_light", "input": {}}
            events.append({"type": "content_block_start", "index": block, "content_block": use})
        elif kind == "more":
            delta = {"type": "input_json_delta", "partial_json": told[0]}
            events.append({"type": "content_block_delta", "index": block, "delta": delta})
        else:
            events.append({"type": "content_block_stop", "index": block})
    events.append({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 9}})
    events.append({"type": "message_stop"})
    return Raw([f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events], "text/event-stream")


def _bedrock(*steps: Step, stop: str = "tool_use") -> Raw:
    events: list[tuple[str, dict[str, Any]]] = [("messageStart", {"role": "assistant"})]
    for kind, block, *told in steps:
        place = {"contentBlockIndex": block}
        if kind == "begin":
            events.append(("contentBlockStart", {**place, "start": {"toolUse": {"toolUseId": told[0], "name": "set_light"}}}))
        elif kind == "more":
            events.append(("contentBlockDelta", {**place, "delta": {"toolUse": {"input": told[0]}}}))
        else:
            events.append(("contentBlockStop", place))
    usage = {"inputTokens": 5, "outputTokens": 9, "totalTokens": 14}
    return frames_of(*events, ("messageStop", {"stopReason": stop}), ("metadata", {"usage": usage, "metrics": {"latencyMs": 1}}))


WIRES = {"anthropic": _anthropic, "bedrock": _bedrock}


async def _run(provider: str, replies: list[Raw], model: str | None = None) -> tuple[list[str], Any]:
    """What the calls of a run did, and its result."""
    did: list[str] = []

    def set_light(room: str = "nowhere", level: int = 1) -> str:
        """Set the light."""
        did.append(f"{room} {level}")
        return "ok"

    with WireServer(replies) as server:
        at = {
            "provider": provider,
            "model": model or EVERY_MODEL[provider],
            "base_url": server.base_url(provider),
            "api_key": "k",
        }
        async with Orchestrator({"models": {"m": at}}, [set_light]) as made:
            (result,) = [event.result async for event in made.stream("Light!") if isinstance(event, Finished)]
    return did, result


@pytest.mark.parametrize("provider", WIRES)
async def test_pieces_of_interleaved_blocks_go_to_their_own_calls(provider: str) -> None:
    wire = WIRES[provider]
    steps = (("begin", 0, "t1"), ("begin", 1, "t2"), ("more", 0, '{"room": '), ("more", 1, '{"room": '))
    ends = (("more", 0, '"x"}'), ("more", 1, '"y"}'), ("end", 1), ("end", 0))
    did, _ = await _run(provider, [wire(*steps, *ends), wire(stop="end_turn")])
    assert sorted(did) == ["x 1", "y 1"]


@pytest.mark.parametrize("said", ["", '{"room": "hall"', '{"room": "ha'])
@pytest.mark.parametrize("provider", WIRES)
async def test_a_call_without_its_end_does_not_run(provider: str, said: str) -> None:
    wire = WIRES[provider]
    pieces = (("more", 0, said),) if said else ()
    replies = [wire(("begin", 0, "t1"), *pieces), wire(("begin", 0, "t2"), ("more", 0, WHOLE), ("end", 0)), wire(stop="end_turn")]
    did, result = await _run(provider, replies)
    assert did == ["hall 1"], "the call of the second reply, which was asked for anew"
    assert [attempt.reason for attempt in result.attempts][:2] == ["first", "reask"]


@pytest.mark.parametrize("provider", WIRES)
async def test_a_call_whose_block_is_begun_anew_does_not_run(provider: str) -> None:
    wire = WIRES[provider]
    cut = wire(("begin", 0, "t1"), ("begin", 0, "t2"), ("more", 0, '{"room": "bath"}'), ("end", 0))
    replies = [cut, wire(("begin", 0, "t3"), ("more", 0, WHOLE), ("end", 0)), wire(stop="end_turn")]
    did, result = await _run(provider, replies)
    assert did == ["hall 1"]
    assert not result.tool_results[0].ran


def _gemini(*parts: dict[str, Any]) -> Raw:
    events: list[dict[str, Any]] = [
        {"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]} for part in parts
    ]
    usage = {
        "promptTokenCount": 7,
        "candidatesTokenCount": 3,
        "thoughtsTokenCount": 2,
        "cachedContentTokenCount": 4,
        "totalTokenCount": 12,
    }
    events.append({"candidates": [{"content": {"role": "model", "parts": []}, "finishReason": "STOP"}], "usageMetadata": usage})
    return Raw([f"data: {json.dumps(event)}\r\n\r\n".encode() for event in events], "text/event-stream")


async def test_a_call_in_parts_comes_through() -> None:
    def part(path: str, *, more: bool = False, **value: Any) -> dict[str, Any]:
        held = {"jsonPath": path, **value, **({"willContinue": True} if more else {})}
        return {"functionCall": {"partialArgs": [held], "willContinue": True}}

    call: list[dict[str, Any]] = [
        {"functionCall": {"name": "set_light", "willContinue": True}},
        part("$.room", more=True, stringValue="ha"),
        part("$.room", stringValue="ll"),
        part("$.level", numberValue=5),
        {"functionCall": {}},
    ]
    did, result = await _run("gemini", [_gemini(*call), _gemini({"text": "Done."})])
    assert (did, result.content) == (["hall 5"], "Done.")
    usage = result.attempts[0].usage
    assert (usage.input_tokens, usage.output_tokens, usage.reasoning_tokens, usage.cache_read_tokens) == (7, 5, 2, 4)


async def test_a_call_in_parts_that_does_not_come_to_its_end_does_not_run() -> None:
    cut: list[dict[str, Any]] = [{"functionCall": {"name": "set_light", "willContinue": True}}]
    whole: dict[str, Any] = {"functionCall": {"name": "set_light", "args": {"room": "hall"}}}
    did, _ = await _run("gemini", [_gemini(*cut), _gemini(whole), _gemini({"text": "Done."})])
    assert did == ["hall 1"]


async def test_the_answer_in_a_tool_that_litellm_forces_is_read_by_litellm(adapter: LiteLLMAdapter) -> None:
    told = _anthropic(("begin", 0, "t1"), ("more", 0, '{"city": "Paris"}'), ("end", 0))
    forced = [frame.replace(b'"set_light"', b'"json_tool_call"') for frame in told.frames]
    with WireServer([Raw(forced, told.content_type)]) as server:
        endpoint = endpoint_at(server, "anthropic", "claude-3-opus-20240229")
        call = call_of(endpoint, mode="json_schema", tools=(), output_schema=WEATHER.parameters)
        envelope = normalize([event async for event in adapter.stream(call) if "llmcore" not in event])
    assert (envelope.content, envelope.tool_calls) == ('{"city": "Paris"}', [])


@pytest.mark.parametrize(
    "failure",
    [
        Failure(400, {"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}}),
        Failure(429, {"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED"}}, {"retry-after": "3"}),
        Failure(503, {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}),
    ],
    ids=lambda failure: str(failure.status),
)
async def test_a_refused_stream_is_the_error_that_a_refused_body_is(adapter: LiteLLMAdapter, failure: Failure) -> None:
    with WireServer([failure]) as server:
        call = call_of(endpoint_at(server, "gemini"))
        with pytest.raises(LLMCoreError) as whole:
            await adapter.complete(call)
        with pytest.raises(LLMCoreError) as streamed:
            await anext(aiter(adapter.stream(call)))
        assert len(server.requests) == 2
    told = [
        (type(error), str(error), getattr(error, "status", None), getattr(error, "retry_after", None))
        for error in (whole.value, streamed.value)
    ]
    assert told[0] == told[1]
