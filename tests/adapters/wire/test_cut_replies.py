"""Replies that end before their end, over real sockets: on every wire, however the connection ends, wherever it is cut."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest

from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.litellm.engine import litellm_now
from llmcore.adapters.wire.terminators import ends_reply, parse_json
from llmcore.normalizer import normalize
from llmcore.types import Overloaded, RateLimited, RemoteServerError, ToolSet
from tests.adapters.conftest import KEY, PROVIDERS, WEATHER, call_of, endpoint_at
from tests.helpers.wire_server import Failure, Raw, Turn, WireServer
from tests.helpers.wires import WIRES, frames

pytestmark = pytest.mark.anyio

ENDINGS = ("chunked", "dropped", "close", "length")
TWO_CALLS = Turn("Größer.", calls=[("get_weather", {"city": "Paris"}), ("get_weather", {"city": "Rome"})], chunk=100)


def wire_of(provider: str) -> str:
    return provider if provider in WIRES else "openai-chat"


def streamed(provider: str, turn: Turn = TWO_CALLS) -> list[bytes]:
    return list(frames(WIRES[wire_of(provider)], turn))


def raw_stream(provider: str, parts: list[bytes], ending: str = "chunked") -> Raw:
    kind = "application/x-ndjson" if provider == "ollama" else "text/event-stream"
    return Raw([part for part in parts if part], kind, ending=ending)


def _says(frame: bytes, word: str) -> bool:
    return word.encode() in frame.replace(b"\\", b"")


def _ends(frame: bytes) -> bool:
    return b"[DONE]" in frame or ends_reply(parse_json(frame.strip().split(b"data: ")[-1]))


CUTS: dict[str, Callable[[list[bytes]], bytes]] = {
    "before the first byte": lambda parts: b"",
    "after the text": lambda parts: b"".join(parts[: _first(parts, "Größer") + 1]),
    "in a character": lambda parts: (whole := b"".join(parts))[: whole.index("ö".encode()) + 1],
    "in the arguments": lambda parts: (whole := b"".join(parts))[: whole.index(b"Paris") + 2],
    "after a whole call": lambda parts: b"".join(parts[: _first(parts, "Paris") + 1]),
    "before the finish reason": lambda parts: b"".join(parts[: [_ends(part) for part in parts].index(True)]),
}


def _first(parts: list[bytes], word: str) -> int:
    return next(number for number, part in enumerate(parts) if _says(part, word))


async def read(adapter: LiteLLMAdapter, server: WireServer, provider: str) -> list[Any]:
    return [event async for event in adapter.stream(call_of(endpoint_at(server, provider)))]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_cut_stream_is_the_servers_fault_wherever_it_is_cut(adapter: LiteLLMAdapter, provider: str, ending: str) -> None:
    parts = streamed(provider)
    cuts = {name: cut(parts) for name, cut in CUTS.items()}
    with WireServer([raw_stream(provider, [sent], ending) for sent in cuts.values()]) as server:
        for name, sent in cuts.items():
            with pytest.raises(RemoteServerError) as caught:
                await read(adapter, server, provider)
            told = str(caught.value)
            assert ("ended before its end" if sent else "sent nothing") in told, name
            assert f"{provider}/{PROVIDERS[provider]}" in told
            assert f"HTTP 200, {server.root}/" in told
            assert KEY not in told
    assert len(server.requests) == len(cuts)  # the adapter itself asks once


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_stream_with_its_end_is_whole_however_the_connection_ends(
    adapter: LiteLLMAdapter, provider: str, ending: str
) -> None:
    with WireServer([raw_stream(provider, [b"".join(streamed(provider))], ending)]) as server:
        *events, summary = await read(adapter, server, provider)
    assert summary["llmcore"]["ended"] is True
    assert "Größer." in json.dumps(events, ensure_ascii=False)
    assert "Rome" in json.dumps(events)


@pytest.mark.parametrize("provider", ["openai_compatible", "anthropic", "gemini", "ollama"])
async def test_what_came_of_a_cut_stream_is_given_before_the_error(adapter: LiteLLMAdapter, provider: str) -> None:
    sent = CUTS["before the finish reason"](streamed(provider))
    events: list[Any] = []

    async def collect() -> None:
        async for event in adapter.stream(call_of(endpoint_at(server, provider))):
            events.append(event)

    with WireServer([raw_stream(provider, [sent])]) as server, pytest.raises(RemoteServerError):
        await collect()
    assert "Größer." in json.dumps(events, ensure_ascii=False)
    assert "Paris" in json.dumps(events)
    assert not any(map(ends_reply, events)), "a finish reason was made up"


def _without(parts: list[bytes], word: bytes) -> list[bytes]:
    return [part for part in parts if word not in part]


SOUND: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "no [DONE]": lambda parts: _without(parts, b"[DONE]"),
    "no finish reason": lambda parts: [part for part in parts if b"[DONE]" in part or not _ends(part)],
    "no usage": lambda parts: _without(parts, b"usage"),
    "an empty finish reason in each chunk": lambda parts: [
        part.replace(b'"finish_reason": null', b'"finish_reason": ""') for part in parts
    ],
    "comments": lambda parts: [b": ping\n\n", *(part + b": ping\n\n" for part in parts)],
    "CRLF": lambda parts: [part.replace(b"\n", b"\r\n") for part in parts],
    "CR": lambda parts: [part.replace(b"\n", b"\r") for part in parts],
    "no blank lines": lambda parts: [part.rstrip(b"\n") + b"\n" for part in parts],
    "no space": lambda parts: [part.replace(b"data: ", b"data:") for part in parts],
    "no line break at the end": lambda parts: [*parts[:-1], parts[-1].strip()],
    "a byte at a time": lambda parts: [bytes([byte]) for byte in b"".join(parts)],
    "a byte order mark": lambda parts: [b"\xef\xbb\xbf", *parts],
    "several data lines": lambda parts: [part.replace(b'", "', b'",\ndata: "', 1) for part in parts],
    "JSON lines": lambda parts: [part.removeprefix(b"data: ").strip() + b"\n" for part in parts if b"[DONE]" not in part],
}


@pytest.mark.parametrize("variant", SOUND)
@pytest.mark.parametrize("provider", ["openai_compatible", "groq"])
async def test_streams_that_are_written_differently_are_whole(adapter: LiteLLMAdapter, provider: str, variant: str) -> None:
    with WireServer([raw_stream(provider, SOUND[variant](streamed(provider)))]) as server:
        *events, summary = await read(adapter, server, provider)
    assert summary["llmcore"]["ended"] is True
    text = json.dumps(events, ensure_ascii=False)
    assert "Größer." in text
    assert "Rome" in text


@pytest.mark.parametrize("sent", [b"", b"\n \r\n", b": ping\n\n: ping\n\n", b"data: [DONE]\n\n"])
@pytest.mark.parametrize("provider", ["openai_compatible", "groq", "anthropic", "gemini", "ollama"])
async def test_nothing_received_is_the_servers_fault(adapter: LiteLLMAdapter, provider: str, sent: bytes) -> None:
    with WireServer([raw_stream(provider, [sent])]) as server:
        with pytest.raises(RemoteServerError, match=r"sent nothing|without any event"):
            await read(adapter, server, provider)
        if b"data" not in sent:
            with pytest.raises(RemoteServerError, match=r"sent nothing|no JSON"):
                await adapter.complete(call_of(endpoint_at(server, provider)))


def body_of(provider: str) -> bytes:
    return json.dumps(WIRES[wire_of(provider)].body(TWO_CALLS), ensure_ascii=False).encode()


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_cut_body_is_the_servers_fault_and_a_whole_one_is_read(
    adapter: LiteLLMAdapter, provider: str, ending: str
) -> None:
    body = body_of(provider)
    cuts = [body[:1], body[: body.index("ö".encode()) + 1], body[: body.index(b"Paris") + 2], body[:-1]]
    with WireServer([*(Raw([cut], ending=ending) for cut in cuts), Raw([body], ending=ending)]) as server:
        call = call_of(endpoint_at(server, provider))
        for _ in cuts:
            with pytest.raises(RemoteServerError, match=r"ended before its end: \d+ bytes came"):
                await adapter.complete(call)
        if ending in ("chunked", "close"):
            assert (await adapter.complete(call)).raw == json.loads(body)
        else:  # HTTP says that more was to come
            with pytest.raises(RemoteServerError, match=r"ended before its end: \d+ bytes came"):
                await adapter.complete(call)


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize(
    ("name", "is_whole"),
    [("whole", True), ("padded", True), ("two members", True), ("no checksum", False), ("more behind it", False)],
)
async def test_a_packed_body_is_whole_when_its_packing_is(
    adapter: LiteLLMAdapter, name: str, is_whole: bool, streamed: bool
) -> None:
    body = body_of("openai")
    whole = gzip.compress(body)
    packed = {
        "whole": whole,
        "padded": whole + bytes(9),
        "two members": gzip.compress(body[:50]) + gzip.compress(body[50:]),
        "no checksum": whole[:-8],
        "more behind it": whole + b"more",
    }[name]
    with WireServer([Raw([packed], "application/json", headers={"Content-Encoding": "gzip"})]) as server:
        call = call_of(endpoint_at(server, "openai"))
        asked = read(adapter, server, "openai") if streamed else adapter.complete(call)
        if is_whole:
            assert "Paris" in str(await asked)
        else:
            with pytest.raises(RemoteServerError, match="cannot be unpacked"):
                await asked


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_body_where_a_stream_was_asked_for_is_read(adapter: LiteLLMAdapter, provider: str) -> None:
    body = body_of(provider)
    pretty = json.dumps(json.loads(body), indent=1, ensure_ascii=False).encode()
    with WireServer([Raw([body]), Raw([pretty])]) as server:
        for _ in range(2):
            *events, summary = await read(adapter, server, provider)
            text = json.dumps(events, ensure_ascii=False)
            assert "Größer." in text
            assert "Rome" in text
            assert summary["llmcore"]["ended"] is True


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_stream_where_a_body_was_asked_for_is_read(adapter: LiteLLMAdapter, provider: str) -> None:
    parts = streamed(provider)
    with WireServer([raw_stream(provider, parts), raw_stream(provider, parts[:2])]) as server:
        reply = await adapter.complete(call_of(endpoint_at(server, provider)))
        with pytest.raises(RemoteServerError):
            await adapter.complete(call_of(endpoint_at(server, provider)))
    raw: Any = reply.raw
    assert isinstance(raw, tuple)
    assert "Rome" in json.dumps(raw)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_web_page_gives_one_clear_sentence(adapter: LiteLLMAdapter, provider: str) -> None:
    page = Raw([b"<!DOCTYPE html><html><body>Sign in</body></html>"], "text/html")
    with WireServer([page]) as server:
        for ask in (read(adapter, server, provider), adapter.complete(call_of(endpoint_at(server, provider)))):
            with pytest.raises(RemoteServerError) as caught:
                await ask
            name = f"{provider}/{PROVIDERS[provider]}"
            assert str(caught.value).startswith(f"{name}: the server answered with a web page instead of a reply")
            assert f"(HTTP 200, {server.root}/" in str(caught.value)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_json_that_is_no_reply_is_the_servers_fault(adapter: LiteLLMAdapter, provider: str) -> None:
    with WireServer([Raw([b'{"hello": "ok"}'])]) as server:
        for ask in (read(adapter, server, provider), adapter.complete(call_of(endpoint_at(server, provider)))):
            with pytest.raises(RemoteServerError, match="JSON that is no reply"):
                await ask


@pytest.mark.parametrize("provider", ["openai_compatible", "groq", "anthropic", "gemini"])
async def test_an_error_object_with_status_200_means_what_it_says(adapter: LiteLLMAdapter, provider: str) -> None:
    with WireServer([Raw([b'{"error": {"message": "slow down", "code": 429}}'])]) as server:
        for ask in (read(adapter, server, provider), adapter.complete(call_of(endpoint_at(server, provider)))):
            with pytest.raises(RateLimited, match="slow down"):
                await ask


async def test_a_rate_limit_told_in_a_stream_is_one(adapter: LiteLLMAdapter) -> None:
    error = b'data: {"error": {"message": "later", "type": "rate_limit_error"}}\n\n'
    with WireServer([raw_stream("groq", [error])]) as server, pytest.raises(RateLimited, match="later"):
        await read(adapter, server, "groq")


@pytest.mark.parametrize("ending", ENDINGS)
async def test_a_last_event_without_its_line_break_still_counts(adapter: LiteLLMAdapter, ending: str) -> None:
    last = streamed("openai_compatible")[1].strip()
    events: list[Any] = []
    with WireServer([raw_stream("openai_compatible", [last], ending)]) as server:
        stream = adapter.stream(call_of(endpoint_at(server, "openai_compatible")))
        events.append(await anext(stream))
        with pytest.raises(RemoteServerError, match="ended before its end: 1 events"):
            await anext(stream)
    assert "Größer." in json.dumps(events, ensure_ascii=False)


async def test_an_error_event_in_the_middle_is_an_error_and_no_end(adapter: LiteLLMAdapter) -> None:
    parts = streamed("openai_compatible")[:2]
    error = b'data: {"error": {"message": "overloaded", "code": 503}}\n\ndata: [DONE]\n\n'
    bare = b'data: {"object": "error", "message": "overloaded", "code": 503}\n\ndata: [DONE]\n\n'
    named = streamed("anthropic")[:3]
    event = b'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}\n\n'
    openai = [raw_stream("openai_compatible", [*parts, sent]) for sent in (error, bare)]
    with WireServer([*openai, raw_stream("anthropic", [*named, event])]) as server:
        for provider in ("openai_compatible", "openai_compatible", "anthropic"):
            with pytest.raises(Overloaded, match=r"(?i)overloaded"):
                await read(adapter, server, provider)


async def test_a_body_that_litellm_refuses_is_read_all_the_same(adapter: LiteLLMAdapter) -> None:
    body = WIRES["openai-chat"].body(TWO_CALLS)
    del body["service_tier"]  # LiteLLM's Groq adapter fails without it
    with WireServer([Raw([json.dumps(body).encode()])]) as server:
        reply = await adapter.complete(call_of(endpoint_at(server, "groq")))
    assert reply.raw == body
    assert (reply.id, reply.model) == ("chatcmpl-wire", "wire-model")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (21, 9)
    assert len(server.requests) == 1


async def test_a_refused_body_of_another_wire_is_read_as_of_that_wire(adapter: LiteLLMAdapter) -> None:
    body = WIRES["anthropic"].body(TWO_CALLS)
    for block in body["content"]:
        block.pop("id", None)  # LiteLLM's Anthropic adapter fails without them
    with WireServer([Raw([json.dumps(body).encode()])]) as server:
        reply = await adapter.complete(call_of(endpoint_at(server, "anthropic")))
    assert reply.wire == "anthropic"
    assert [(call.name, call.arguments) for call in normalize(reply).tool_calls] == TWO_CALLS.calls


async def test_an_http_error_is_no_cut_reply(adapter: LiteLLMAdapter) -> None:
    with WireServer([Failure(503, "")]) as server:
        for ask in (read(adapter, server, "openai"), adapter.complete(call_of(endpoint_at(server, "openai")))):
            with pytest.raises(Overloaded):
                await ask


def responses_events() -> list[bytes]:
    """A call on OpenAI's other endpoint, which LiteLLM chooses for some models."""
    item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "get_weather", "arguments": "", "status": "x"}
    called = item | {"arguments": '{"city": "Paris"}', "status": "completed"}
    counted = {"input_tokens": 5, "output_tokens": 6, "total_tokens": 11}
    body = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "status": "completed", "output": [called]}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": body | {"status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 0, "delta": called["arguments"]},
        {"type": "response.output_item.done", "output_index": 0, "item": called},
        {"type": "response.completed", "response": body | {"usage": counted}},
    ]
    return [f"data: {json.dumps(event | {'sequence_number': number})}\n\n".encode() for number, event in enumerate(events)]


async def test_replies_of_openais_other_endpoint_are_judged_by_their_own_end(adapter: LiteLLMAdapter) -> None:
    events = responses_events()
    whole = json.dumps(json.loads(events[-1][6:])["response"]).encode()
    tools = ToolSet([WEATHER])
    with WireServer([raw_stream("openai", events), raw_stream("openai", events[:-1]), Raw([whole]), Raw([whole[:-9]])]) as server:
        call = call_of(endpoint_at(server, "openai", "responses/gpt-4o"))
        *chunks, summary = [event async for event in adapter.stream(call)]
        with pytest.raises(RemoteServerError, match="ended before its end"):
            [event async for event in adapter.stream(call)]
        reply = await adapter.complete(call)
        with pytest.raises(RemoteServerError, match="ended before its end"):
            await adapter.complete(call)
    assert [made.arguments for made in normalize(chunks, tools).tool_calls] == [{"city": "Paris"}]
    assert [made.arguments for made in normalize(reply, tools).tool_calls] == [{"city": "Paris"}]
    assert isinstance(summary, dict)
    assert summary["llmcore"]["ended"] is True


@pytest.mark.parametrize("provider", ["openai_compatible", "groq", "anthropic"])
async def test_the_other_http_client_is_watched_as_well(
    adapter: LiteLLMAdapter, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(litellm_now(), "disable_aiohttp_transport", True)
    parts = streamed(provider)
    for ending in ENDINGS:
        with WireServer([raw_stream(provider, sent, ending) for sent in (parts[:2], parts)]) as server:
            call = call_of(endpoint_at(server, provider), timeout=17.5)  # a timeout of its own gets a client of its own
            with pytest.raises(RemoteServerError, match="ended before its end"):
                [event async for event in adapter.stream(call)]
            assert [event async for event in adapter.stream(call)]


@pytest.mark.parametrize("provider", ["ollama", "ollama_chat"])
async def test_a_body_that_says_it_is_not_over_is_cut(adapter: LiteLLMAdapter, provider: str) -> None:
    body = {**WIRES["ollama"].body(TWO_CALLS), "done": False}
    del body["done_reason"]
    with WireServer([Raw([json.dumps(body).encode()], "application/json")]) as server:
        endpoint = endpoint_at(server, "ollama").model_copy(update={"provider": provider})
        with pytest.raises(RemoteServerError, match="ended before its end"):
            await adapter.complete(call_of(endpoint))
