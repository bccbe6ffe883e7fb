"""What a server may send is bounded before anybody parses or searches it."""

from __future__ import annotations

import gzip
import json
import tracemalloc
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest

from llmcore.adapters.base import ModelCall
from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.litellm.completeness import body_of
from llmcore.adapters.litellm.patches.http_transport import watched
from llmcore.adapters.litellm.patches.patch import replace
from llmcore.adapters.wire.extent import too_many_values
from llmcore.adapters.wire.inflating import Inflater, UnknownEncoding, inflater_of
from llmcore.adapters.wire.traffic_watch import TrafficWatch, WireExchange
from llmcore.normalizer import normalize
from llmcore.types import DEFAULT_LIMITS, Limits, LLMCoreError, RemoteServerError, ToolSet
from tests.adapters.conftest import WEATHER, call_of, endpoint_at
from tests.helpers.wire_server import Failure, Raw, Turn, WireServer
from tests.helpers.wires import WIRES, frames

pytestmark = pytest.mark.anyio

SMALL = Limits(body=20_000, line=20_000, stream=40_000, error_body=1000, members=10)
Ask = Callable[[LiteLLMAdapter, WireServer, str], Awaitable[Any]]


async def whole(adapter: LiteLLMAdapter, server: WireServer, provider: str) -> Any:
    return (await adapter.complete(call_of(endpoint_at(server, provider)))).raw


async def stream(adapter: LiteLLMAdapter, server: WireServer, provider: str) -> Any:
    return [event async for event in adapter.stream(call_of(endpoint_at(server, provider)))]


BOTH = pytest.mark.parametrize("ask", [whole, stream])
PROVIDERS = pytest.mark.parametrize("provider", ["openai_compatible", "groq", "anthropic", "gemini", "ollama"])


@pytest.fixture
async def small() -> AsyncIterator[LiteLLMAdapter]:
    adapter = LiteLLMAdapter(limits=SMALL)
    yield adapter
    await adapter.close()


@BOTH
@PROVIDERS
@pytest.mark.parametrize("start", [b'data: {"choices": [', b'{"choices": [', b"<html>"])
async def test_a_body_without_end_is_broken_off(small: LiteLLMAdapter, provider: str, ask: Ask, start: bytes) -> None:
    endless = Raw([start, *[b"{}," * 3000] * 30])
    with WireServer([endless]) as server, pytest.raises(RemoteServerError, match=r"longer than \d+,000 bytes \(HTTP 200, http"):
        await ask(small, server, provider)


@PROVIDERS
async def test_a_stream_without_end_is_broken_off(small: LiteLLMAdapter, provider: str) -> None:
    parts = list(frames(WIRES.get(provider, WIRES["openai-chat"]), Turn(" ".join(map(str, range(5000))), chunk=100)))
    kind = "application/x-ndjson" if provider == "ollama" else "text/event-stream"
    with WireServer([Raw(parts, kind)]) as server, pytest.raises(RemoteServerError, match="longer than 40,000 bytes"):
        await stream(small, server, provider)


PACKED = {
    "a bomb": gzip.compress(b'{"choices": [' + b"{}," * 3_000_000),
    "empty members": gzip.compress(b"") * 5000,
    "nested names": b"",
    "no gzip at all": b'{"choices": []}',
}


@BOTH
@pytest.mark.parametrize("provider", ["openai_compatible", "anthropic"])
@pytest.mark.parametrize("what", PACKED)
async def test_hostile_packing_is_refused(small: LiteLLMAdapter, provider: str, ask: Ask, what: str) -> None:
    encoding = "gzip, gzip" if what == "nested names" else "gzip"
    with WireServer([Raw([PACKED[what] or b"x"], headers={"Content-Encoding": encoding})]) as server:
        with pytest.raises(RemoteServerError, match=r"longer than|cannot be unpacked|was not asked for"):
            await ask(small, server, provider)
        assert server.requests[0].headers["accept-encoding"] == "gzip, deflate"


@BOTH
@PROVIDERS
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "x-gzip", "identity"])
async def test_honest_packing_is_unpacked(adapter: LiteLLMAdapter, provider: str, ask: Ask, encoding: str) -> None:
    wire, turn = WIRES.get(provider, WIRES["openai-chat"]), Turn("It is sunny.", chunk=100)
    sent = json.dumps(wire.body(turn)).encode() if ask is whole else b"".join(frames(wire, turn))
    packed = {"deflate": zlib.compress(sent), "identity": sent}.get(encoding) or gzip.compress(sent[:50]) + gzip.compress(
        sent[50:]
    )
    pieces = [packed[at : at + 20] for at in range(0, len(packed), 20)]
    kind = "application/json" if ask is whole else "text/event-stream"
    with WireServer([Raw(pieces, kind, headers={"Content-Encoding": encoding})]) as server:
        assert "It is sunny." in json.dumps(await ask(adapter, server, provider))


@BOTH
@PROVIDERS
@pytest.mark.parametrize("status", [400, 500])
async def test_of_an_errors_body_only_a_head_is_read(small: LiteLLMAdapter, provider: str, ask: Ask, status: int) -> None:
    for body in (json.dumps({"error": {"message": "word " * 100_000}}), "<html>" + "<p>" * 100_000):
        with WireServer([Failure(status, body)]) as server, pytest.raises(LLMCoreError) as caught:
            await ask(small, server, provider)
        assert len(str(caught.value)) < 2500
        assert str(caught.value.__cause__).count("word") < 500


@PROVIDERS
async def test_of_a_body_that_is_no_reply_litellm_reads_only_a_head(small: LiteLLMAdapter, provider: str) -> None:
    for body in (b"<html>" + b"<p> " * 4000, b'{"a": "' + b"word " * 3000, b'{"a": "' + b"word " * 3000 + b'"}'):
        with WireServer([Raw([body])]) as server, pytest.raises(RemoteServerError) as caught:
            await whole(small, server, provider)
        cause = str(caught.value.__cause__)
        assert cause.count("<p>") + cause.count("word") < 600


@PROVIDERS
async def test_a_large_reply_is_read_whole_and_its_usage_counted(small: LiteLLMAdapter, provider: str) -> None:
    turn = Turn("Here it is. " * 500, calls=[("get_weather", {"city": "Paris"})], usage=(50, 12))
    with WireServer([turn]) as server:
        reply = await small.complete(call_of(endpoint_at(server, provider)))
    envelope = normalize(reply, ToolSet([WEATHER]))
    assert envelope.content == turn.text
    assert [made.arguments for made in envelope.tool_calls] == [{"city": "Paris"}]
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.model) == (50, 12, "wire-model")


async def test_a_large_reply_that_litellm_cannot_read_is_in_none_of_its_errors(
    small: LiteLLMAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Exception | None] = []

    def spy(call: ModelCall, exchange: WireExchange, error: Exception | None) -> object:
        told.append(error)
        return body_of(call, exchange, error)

    monkeypatch.setattr("llmcore.adapters.litellm.adapter.body_of", spy)
    with WireServer([Turn(calls=[("get_weather", "[" * 8000 + "]" * 8000)])]) as server:
        await whole(small, server, "openai_compatible")
    assert told == [None]


@pytest.mark.parametrize("provider", ["openai_compatible", "groq"])
async def test_hostile_arguments_come_out_the_same_whole_and_streamed(adapter: LiteLLMAdapter, provider: str) -> None:
    deep = '{"city": ' + "[" * 20_000 + "]" * 20_000 + "}"
    with WireServer([Turn(calls=[("get_weather", deep)], chunk=5000)]) as server:
        at_once = normalize(await whole(adapter, server, provider), ToolSet([WEATHER]))
        in_pieces = normalize((await stream(adapter, server, provider))[:-1], ToolSet([WEATHER]))
    assert at_once == in_pieces
    assert at_once.tool_calls[0].raw_arguments == deep
    assert at_once.tool_calls[0].arguments is None


def test_what_is_unpacked_comes_in_small_pieces() -> None:
    bomb = gzip.compress(b"{}," * 20_000_000)
    tracemalloc.start()
    assert sum(map(len, Inflater("gzip", 10).feed(bomb))) == 60_000_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000


@pytest.mark.parametrize("wbits", [zlib.MAX_WBITS, -zlib.MAX_WBITS])
def test_both_forms_of_deflate_are_unpacked(wbits: int) -> None:
    packer = zlib.compressobj(wbits=wbits)
    packed = packer.compress(b"hello " * 100) + packer.flush()
    inflater = Inflater("deflate", 1)
    assert b"".join(piece for byte in packed for piece in inflater.feed(bytes([byte]))) == b"hello " * 100


def test_padding_after_gzip_is_ignored_and_unknown_encodings_are_refused() -> None:
    assert b"".join(Inflater("gzip", 1).feed(gzip.compress(b"a") + bytes(100))) == b"a"
    assert inflater_of(None, 1) is inflater_of("identity", 1) is None
    for name in ("br", "zstd", "gzip, br"):
        with pytest.raises(UnknownEncoding):
            inflater_of(name, 1)


class _Local(httpx.AsyncBaseTransport):
    """Answers without a socket."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, stream=_Bytes(), request=request)


class _Bytes(httpx.AsyncByteStream):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b"{}"


async def test_only_watched_requests_are_touched_and_secrets_of_their_urls_are_not_kept() -> None:
    for _ in range(2):  # a second time changes nothing
        replace(_Local, "handle_async_request", watched)
    url = "https://user:hunter2@example.test/v1/chat/completions?key=hunter2#hunter2"
    async with httpx.AsyncClient(transport=_Local()) as client:
        assert (await client.get(url, headers={"accept-encoding": "br"})).request.headers["accept-encoding"] == "br"
        watch = TrafficWatch(DEFAULT_LIMITS, streamed=False, known=True)
        with watch.active():
            assert (await client.get(url)).content == b"{}"
        assert watch.exchange is not None
        assert watch.exchange.url == "https://example.test/v1/chat/completions"
        assert (watch.exchange.body, watch.exchange.received) == (b"{}", 2)


_MANY = 100_000
_FLOODS = {
    "choices": '{"choices": [' + "{}," * _MANY + "{}]}",
    "parts": '{"candidates": [{"content": {"parts": [' + "{}," * _MANY + "{}]}}]}",
    "content": '{"type": "message", "role": "assistant", "content": [' + "{}," * _MANY + '{}], "stop_reason": "end_turn"}',
    "output": '{"object": "response", "status": "completed", "output": [' + "{}," * _MANY + "{}]}",
    "usage": '{"choices": [{"message": {"content": "Hi"}}], "usage": {' + ",".join(f'"k{n}": 1' for n in range(_MANY)) + "}}",
    "more than is parsed": '{"choices": [' + "{}," * 2_000_000 + "{}]}",
}


@pytest.mark.parametrize("ask", [whole, stream])
@pytest.mark.parametrize("flood", _FLOODS)
async def test_a_body_of_more_values_than_may_be_is_refused_by_the_limit(ask: Ask, flood: str) -> None:
    body = _FLOODS[flood]
    with WireServer([Raw([body.encode()])]) as server, pytest.raises(LLMCoreError, match="holds more than 65,536 values"):
        await ask(LiteLLMAdapter(), server, "openai")


async def test_an_event_of_more_values_than_may_be_ends_the_stream() -> None:
    event = f"data: {_FLOODS['choices']}\n\ndata: [DONE]\n\n"
    with (
        WireServer([Raw([event.encode()], "text/event-stream")]) as server,
        pytest.raises(LLMCoreError, match="holds more than 65,536 values"),
    ):
        await stream(LiteLLMAdapter(), server, "openai")


def test_log_probabilities_are_not_counted() -> None:
    choice = {"message": {"content": "Hi"}, "logprobs": {"content": [{"token": "a"}] * 10}}
    assert too_many_values({"choices": [choice]}, Limits(values=8)) == ""
    assert too_many_values({"choices": [choice]}, Limits(values=3)) != ""


@pytest.mark.parametrize("fact", ["model", "id", "service_tier", "modelVersion"])
async def test_litellm_reads_no_name_that_is_too_long_to_be_one(
    small: LiteLLMAdapter, fact: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[bytes] = []
    litellm_body = WireExchange.litellm_body

    async def spied(self: WireExchange) -> AsyncGenerator[bytes, None]:
        async for piece in litellm_body(self):
            read.append(piece)
            yield piece

    monkeypatch.setattr(WireExchange, "litellm_body", spied)
    message = {"role": "assistant", "content": "Hi"}
    body = {"id": "1", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], fact: "m" * 15_000}
    with WireServer([Raw([json.dumps(body).encode()])]) as server:
        reply = await small.complete(call_of(endpoint_at(server, "openai_compatible")))
    assert normalize(reply).content == "Hi"
    assert len(b"".join(read)) < 1000
