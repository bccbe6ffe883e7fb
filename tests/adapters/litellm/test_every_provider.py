"""Every row of the provider table on a real socket: a tool is called in its own form, its result goes back, and an answer comes."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest

from llmcore import Orchestrator
from llmcore.adapters.base import Capabilities, Endpoint
from llmcore.adapters.capabilities import known_capabilities
from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.providers import PROVIDERS
from llmcore.types import ConfigError, Finished, ProviderBlock, Request, TextBlock, TextDelta
from tests.adapters.conftest import EVERY_MODEL, call_of, endpoint_at
from tests.helpers.wire_server import Raw, Seen, Turn, WireServer

pytestmark = pytest.mark.anyio
ON_CHAT = [name for name in PROVIDERS if name not in ("bedrock", "vertex_ai")]
CALLS = [("get_weather", {"city": "Paris"}), ("get_weather", {"city": "Oslo"})]


def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"{city}: 12 degrees"


@pytest.fixture
async def orchestrator(request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    """Of the provider that the test names, on a server that calls the tool twice and then answers."""
    provider: str = request.param
    with WireServer([Turn(calls=CALLS), Turn("Mild.")]) as server:
        endpoint = endpoint_at(server, provider, EVERY_MODEL[provider])
        at = {"provider": provider, "model": endpoint.model, "base_url": endpoint.base_url, "api_key": "k"}
        async with Orchestrator({"models": {"m": at}}, [get_weather]) as made:
            yield made, server


@pytest.mark.parametrize("orchestrator", ON_CHAT, indirect=True)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_a_tool_loop(orchestrator: tuple[Orchestrator, WireServer], streamed: bool) -> None:
    made, server = orchestrator
    if streamed:
        (result,) = [event.result async for event in made.stream("Weather?") if isinstance(event, Finished)]
    else:
        result = await made.run("Weather?")
    assert result.envelope.content == "Mild."
    assert [attempt.mode for attempt in result.attempts] == ["native_tools"] * 2
    assert b"12 degrees" in server.requests[1].sent


def _bedrock(content: list[dict[str, Any]], stop: str) -> Raw:
    body = {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": stop,
        "usage": {"inputTokens": 5, "outputTokens": 2, "totalTokens": 7},
        "metrics": {"latencyMs": 1},
    }
    return Raw([json.dumps(body).encode()])


async def test_bedrock() -> None:
    use = {"toolUse": {"toolUseId": "tooluse_1", "name": "get_weather", "input": {"city": "Paris"}}}
    with WireServer([_bedrock([use], "tool_use"), _bedrock([{"text": "Mild."}], "end_turn")]) as server:
        at = {"provider": "bedrock", "model": EVERY_MODEL["bedrock"], "base_url": server.base_url("bedrock"), "api_key": "k"}
        async with Orchestrator({"models": {"m": at}}, [get_weather]) as made:
            result = await made.run("Weather?", max_tokens=50, parallel_tool_calls=False)
    first, second = server.requests
    assert result.envelope.content == "Mild."
    assert result.usage.total_tokens == 14
    assert first.headers["authorization"] == "Bearer k"
    assert first.body["inferenceConfig"] == {"maxTokens": 50}
    assert second.body["messages"][2]["content"][0]["toolResult"]["toolUseId"] == "tooluse_1"


@pytest.mark.parametrize(
    ("provider", "path"),
    [
        ("azure", "/openai/deployments/a-deployment/chat/completions"),
        ("xai", "/v1/chat/completions"),
        ("together", "/v1/chat/completions"),
        ("llama_cpp", "/v1/chat/completions"),
    ],
)
async def test_where_a_request_goes(adapter: LiteLLMAdapter, provider: str, path: str) -> None:
    with WireServer(["Hi"]) as server:
        await adapter.complete(call_of(endpoint_at(server, provider, EVERY_MODEL[provider])))
    assert server.requests[0].path.partition("?")[0] == path


_FOUND: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "status": "completed",
    "model": "gpt-5",
    "output": [
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {
            "type": "message",
            "id": "msg_1",
            "status": "completed",
            "role": "assistant",
            "content": [
                {"type": "output_text", "text": "Sunny.", "annotations": [{"type": "url_citation", "url": "https://example.org"}]}
            ],
        },
    ],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "usage": {
        "input_tokens": 3,
        "input_tokens_details": {"cached_tokens": 1},
        "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 5,
    },
}


@pytest.mark.parametrize(("provider", "model"), [("xai", "grok-4"), ("openai", "gpt-5"), ("openai", "gpt-4o")])
async def test_a_search_goes_to_the_endpoint_that_has_it(adapter: LiteLLMAdapter, provider: str, model: str) -> None:
    def answer(seen: Seen) -> Raw:
        return Raw([json.dumps(_FOUND).encode()])

    with WireServer(answer) as server:
        request = Request.model_validate({"messages": "Weather?", "allow_web_search": True})
        endpoint = endpoint_at(server, provider, model)
        can = known_capabilities(endpoint).updated(Capabilities(web_search=True))  # of `openai` elsewhere the user must say it
        reply = await adapter.complete(call_of(endpoint, request, capabilities=can))
    (seen,) = server.requests
    assert seen.path == "/v1/responses"
    assert {"type": "web_search"} in seen.body["tools"]
    assert (reply.id, reply.dropped) == ("resp_1", ())


@pytest.mark.parametrize(
    ("provider", "model"),
    [("openai", "gpt-4o-search-preview"), ("openai", "local"), ("vllm", "qwen3"), ("groq", "any"), ("mistral", "mistral-large")],
)
async def test_a_search_that_the_user_says_there_is_is_asked_for(adapter: LiteLLMAdapter, provider: str, model: str) -> None:
    with WireServer(["Sunny."]) as server:
        endpoint = endpoint_at(server, provider, model)
        can = known_capabilities(endpoint).updated(Capabilities(web_search=True))
        request = Request.model_validate({"messages": "Weather?", "allow_web_search": True})
        reply = await adapter.complete(call_of(endpoint, request, capabilities=can, tools=()))
    (seen,) = server.requests
    assert seen.path.endswith("/chat/completions")
    assert (seen.body["web_search_options"], reply.dropped) == ({}, ())


async def test_vertex_says_what_it_needs(adapter: LiteLLMAdapter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google.auth", None)
    with pytest.raises(ConfigError, match="vertex_ai needs the package google-auth"):
        await adapter.complete(call_of(Endpoint(provider="vertex_ai", model="gemini-2.5-pro")))


def _streamed_search() -> Raw:
    """The answer of `_FOUND` as the events of a stream."""
    message = _FOUND["output"][1]
    text = message["content"][0]["text"]
    place = {"item_id": "msg_1", "output_index": 1}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**_FOUND, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**_FOUND["output"][0], "status": "in_progress"}},
        {"type": "response.output_item.done", "output_index": 0, "item": _FOUND["output"][0]},
        {"type": "response.output_item.added", "output_index": 1, "item": {**message, "content": [], "status": "in_progress"}},
        {"type": "response.output_text.delta", **place, "content_index": 0, "delta": text[:3]},
        {"type": "response.output_text.delta", **place, "content_index": 0, "delta": text[3:]},
        {"type": "response.output_item.done", "output_index": 1, "item": message},
        {"type": "response.completed", "response": _FOUND},
    ]
    lines = [
        f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': at})}\n\n" for at, event in enumerate(events)
    ]
    return Raw([line.encode() for line in lines], "text/event-stream")


@pytest.mark.parametrize(
    ("provider", "model", "streams"),
    [("xai", "grok-4", True), ("xai", "grok-9", True), ("openai", "gpt-5", True), ("openai", "gpt-5-pro", False)],
)
async def test_a_streamed_search_is_asked_for_as_a_stream_or_told(provider: str, model: str, streams: bool) -> None:
    def answer(seen: Seen) -> Raw:
        return _streamed_search() if seen.body.get("stream") else Raw([json.dumps(_FOUND).encode()])

    with WireServer(answer) as server:
        at = {"provider": provider, "model": model, "base_url": server.base_url(provider), "api_key": "k"}
        async with Orchestrator({"models": {"m": {**at, "supports_web_search": True}}}) as made:
            (result,) = [e.result async for e in made.stream("Weather?", allow_web_search=True) if isinstance(e, Finished)]
    assert [seen.body.get("stream") for seen in server.requests] == [True if streams else None]
    assert ("streaming" in result.attempts[0].dropped) is not streams
    assert result.envelope.content == "Sunny."
    assert (result.usage.input_tokens, result.usage.cache_read_tokens, result.usage.reasoning_tokens) == (3, 1, 2)
    assert result.envelope.blocks == [
        ProviderBlock(provider="openai-responses", data=_FOUND["output"][0]),
        TextBlock(text="Sunny."),
        ProviderBlock(provider="openai-responses", data={"annotations": _FOUND["output"][1]["content"][0]["annotations"]}),
    ]


_CLAUDES: list[dict[str, Any]] = [
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "tides"}},
    {
        "type": "web_search_tool_result",
        "tool_use_id": "srvtoolu_1",
        "content": [{"type": "web_search_result", "url": "https://example.org", "title": "Tides", "encrypted_content": "ENCR"}],
    },
    {"type": "text", "text": "High water is "},
    {"type": "text", "text": "at noon", "citations": [{"url": "https://example.org", "encrypted_index": "EI"}]},
    {"type": "text", "text": " today."},
]


def _claudes_text(at: int, block: dict[str, Any]) -> list[dict[str, Any]]:
    """What is cited comes before the text."""
    deltas = [
        *({"type": "citations_delta", "citation": one} for one in block.get("citations", ())),
        *({"type": "text_delta", "text": block["text"][cut]} for cut in (slice(0, 3), slice(3, None))),
    ]
    return [
        {"type": "content_block_start", "index": at, "content_block": {"type": "text", "text": ""}},
        *({"type": "content_block_delta", "index": at, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": at},
    ]


def _claudes_answer(seen: Seen) -> Raw:
    """Plain, or as the events of a stream, in which the query comes in pieces."""
    usage = {"input_tokens": 3, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 20, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "stop_reason": None, "usage": usage}
    if not seen.body.get("stream"):
        whole = {**message, "content": _CLAUDES, "stop_reason": "end_turn", "usage": {**usage, "output_tokens": 7}}
        return Raw([json.dumps(whole).encode()])
    query, result, *said = _CLAUDES
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {**query, "input": {}}},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": piece}}
            for piece in ('{"query": "ti', 'des"}')
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": result},
        {"type": "content_block_stop", "index": 1},
        *(event for at, block in enumerate(said, 2) for event in _claudes_text(at, block)),
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}},
        {"type": "message_stop"},
    ]
    return Raw([f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events], "text/event-stream")


async def test_claudes_searches_go_back_plain_and_streamed_and_to_no_other() -> None:
    with WireServer(_claudes_answer) as server, WireServer(["Then."]) as other:
        claude = {"provider": "anthropic", "model": "claude-sonnet-4-5", "base_url": server.root, "api_key": "k"}
        gpt = {"provider": "openai", "model": "gpt-4o", "base_url": other.base_url("openai"), "api_key": "k"}
        async with Orchestrator({"models": {"claude": claude, "gpt": gpt}}) as made:
            plain = await made.run("When?", allow_web_search=True)
            async with made.stream("When?", allow_web_search=True) as stream:
                words = "".join([event.text async for event in stream if isinstance(event, TextDelta)])
            for result in (plain, stream.result):
                blocks = [
                    block.data if isinstance(block, ProviderBlock) else getattr(block, "text", "")
                    for block in result.envelope.blocks
                ]
                cited = {"citations": _CLAUDES[3]["citations"]}
                assert blocks == [*_CLAUDES[:2], "High water is ", "at noon", cited, " today."]
                assert (result.usage.input_tokens, result.usage.output_tokens) == (33, 7)
                assert (result.usage.cache_read_tokens, result.usage.cache_write_tokens) == (10, 20)
                again = await made.run("And then?", message_history=result.messages, allow_web_search=True)
                assert server.requests[-1].body["messages"][1]["content"] == _CLAUDES
                assert again.attempts[0].dropped == []
                moved = await made.run("And then?", model="gpt", message_history=result.messages)
                assert moved.attempts[0].dropped == ["web search of an earlier turn"]
    assert words == "High water is at noon today."
