"""An event that cannot be read, or that tells an error, is the server's fault on every wire, and nothing behind it is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.normalizer import normalize
from llmcore.types import Limits, ProviderError, RemoteServerError, ToolSet
from tests.adapters.conftest import PROVIDERS, WEATHER, call_of, endpoint_at
from tests.adapters.wire.test_cut_replies import raw_stream, streamed
from tests.helpers.wire_server import Raw, Turn, WireServer

pytestmark = pytest.mark.anyio

TURN = Turn("Hello big world of ours.", calls=[("get_weather", {"city": "Paris"})], chunk=8)
WIRES = ["openai_compatible", "groq", "anthropic", "gemini", "ollama"]


def event(provider: str, data: bytes) -> bytes:
    return data + b"\n" if provider == "ollama" else b"data: " + data + b"\n\n"


def _spoilt(part: bytes, spoil: Callable[[bytes], bytes]) -> bytes:
    head, brace, rest = part.partition(b"{")
    return head + spoil(brace + rest.strip()) + b"\n\n"


BROKEN: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda data: data[:-3],
    "two objects": lambda data: data + data,
    "no UTF-8": lambda data: data.replace(b"}", b', "x": "\xff\xfe"}', 1),
    "a list": lambda data: b"[" + data + b"]",
    "a string": lambda data: b'"' + data.replace(b'"', b"") + b'"',
}


async def told(adapter: LiteLLMAdapter, provider: str, parts: list[bytes]) -> list[Any]:
    with WireServer([raw_stream(provider, parts)]) as server:
        return [event async for event in adapter.stream(call_of(endpoint_at(server, provider)))]


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("provider", WIRES)
async def test_an_event_that_cannot_be_read_is_the_servers_fault(adapter: LiteLLMAdapter, provider: str, how: str) -> None:
    parts = streamed(provider, TURN)
    parts[2] = _spoilt(parts[2], BROKEN[how])
    with pytest.raises(RemoteServerError, match="an event of the stream cannot be read"):
        await told(adapter, provider, parts)


ERRORS = [
    b'{"type": "error", "message": "boom"}',
    b'{"error": {"message": "boom"}}',
    b'{"error": "boom"}',
    b'{"choices": [{"index": 0, "delta": {}, "error": {"message": "boom", "code": 502}}]}',
    b'{"detail": "boom"}',
    b'{"status": 500, "msg": "boom"}',
    b'{"choices": [], "base_resp": {"status_code": 1000, "status_msg": "boom"}}',
    b"boom happened in the server",
]


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("provider", WIRES)
async def test_an_error_event_is_the_servers_fault_in_its_words(adapter: LiteLLMAdapter, provider: str, error: bytes) -> None:
    parts = streamed(provider, TURN)
    with pytest.raises(ProviderError, match="boom"):
        await told(adapter, provider, [*parts[:3], event(provider, error), *parts[3:]])


@pytest.mark.parametrize("error", [b'event: error\ndata: {"reason": "boom"}\n\n', b'error: {"reason": "boom"}\n\n'])
@pytest.mark.parametrize("provider", WIRES)
async def test_an_event_named_error_is_one(adapter: LiteLLMAdapter, provider: str, error: bytes) -> None:
    parts = streamed(provider, TURN)
    with pytest.raises(RemoteServerError, match="boom"):
        await told(adapter, provider, [*parts[:3], error, *parts[3:]])


@pytest.mark.parametrize(
    "alive", [b": ping\n\n", b"data: ping\n\n", b"event: heartbeat\ndata: 1\n\n", b"id: 7\n\n", b"note: x\n\n"]
)
@pytest.mark.parametrize("provider", ["openai_compatible", "groq", "anthropic", "gemini"])
async def test_what_only_keeps_a_connection_alive_loses_nothing(adapter: LiteLLMAdapter, provider: str, alive: bytes) -> None:
    parts = streamed(provider, TURN)
    *events, _ = await told(adapter, provider, [sent for part in parts for sent in (alive, part)])
    envelope = normalize(events, ToolSet([WEATHER]))
    assert envelope.content == TURN.text
    assert [call.arguments for call in envelope.tool_calls] == [{"city": "Paris"}]


BODIES = [b'{"choices": []}', b'{"choices": [null]}', b'{"candidates": []}', b'{"detail": "x"}', b"Internal Server Error"]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_body_without_a_reply_is_the_servers_fault(adapter: LiteLLMAdapter, provider: str, body: bytes) -> None:
    with WireServer([Raw([body])]) as server, pytest.raises(RemoteServerError):
        await adapter.complete(call_of(endpoint_at(server, provider)))


@pytest.mark.parametrize(
    ("value", "limit"), [(b"1" * 5000, "more digits than are read, 4,300"), (b"[" * 100_000 + b"]" * 100_000, "nested deeper")]
)
async def test_a_body_over_a_limit_of_reading_is_not_called_cut(adapter: LiteLLMAdapter, value: bytes, limit: str) -> None:
    body = b'{"choices": [{"message": {"content": "x"}, "n": ' + value + b"}]}"
    with WireServer([Raw([body])]) as server, pytest.raises(RemoteServerError, match=limit):
        await adapter.complete(call_of(endpoint_at(server, "openai_compatible")))


@pytest.mark.parametrize("provider", WIRES)
async def test_a_stream_may_say_no_more_than_a_whole_body(provider: str) -> None:
    small = LiteLLMAdapter(limits=Limits(body=20_000))
    with pytest.raises(RemoteServerError, match="texts of the reply are longer than 20,000 characters"):
        await told(small, provider, streamed(provider, Turn("word " * 5000, chunk=200)))
    await small.close()


@pytest.mark.parametrize(
    ("provider", "word", "reason"),
    [
        ("openai_compatible", "insufficient_system_resource", "error"),
        ("groq", "network_error", "error"),
        ("anthropic", "refusal", "content_filter"),
        ("anthropic", "model_context_window_exceeded", "length"),
        ("gemini", "OTHER", "error"),
        ("gemini", "RECITATION", "content_filter"),
        ("gemini", "MALFORMED_FUNCTION_CALL", "error"),
        ("ollama", "aborted", "error"),
        ("ollama", "length", "length"),
    ],
)
async def test_the_finish_word_is_the_servers_own_whole_and_streamed(
    adapter: LiteLLMAdapter, provider: str, word: str, reason: str
) -> None:
    turn = Turn("Half.", finish=word)
    with WireServer([turn]) as server:
        whole = await adapter.complete(call_of(endpoint_at(server, provider)))
    *events, _ = await told(adapter, provider, streamed(provider, turn))
    assert json.dumps(events)
    assert [normalize(whole).finish_reason, normalize(events).finish_reason] == [reason, reason]


@pytest.mark.parametrize("provider", ["openai_compatible", "groq", "anthropic", "gemini"])
async def test_a_document_behind_a_comment_is_no_stream_and_no_reply(adapter: LiteLLMAdapter, provider: str) -> None:
    """Whoever writes a comment has begun a stream, and the lines of a document are no events."""
    document = json.dumps({"choices": [{"message": {"content": "Hello."}, "finish_reason": "stop"}]}, indent=2)
    with pytest.raises(RemoteServerError):
        await told(adapter, provider, [b": processing\n\n", document.encode()])
