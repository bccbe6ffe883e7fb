"""What else clients of providers do: each works with a wrapped client as without. Most of them share one generator (Stainless)."""

from __future__ import annotations

import gzip
import itertools
import json
from typing import Any

import pytest

from llmcore.integrations.httpx import wrap
from tests.helpers.wire_server import Failure, Raw, Turn, WireServer, wire_of
from tests.helpers.wires import frames
from tests.integrations.clients.sdks import SDKS, Sdk
from tests.integrations.clients.support import Answer, Sample, failure_of, items, resolved, sample, the_module

pytestmark = pytest.mark.anyio
GIVEN: Sample = sample("written", "hermes", "sentence_before")
TURN = Turn(GIVEN.text)
STAINLESS = [sdk for sdk in SDKS if sdk.base == "base_url"]
each = pytest.mark.parametrize("sdk", STAINLESS, ids=lambda sdk: sdk.name)
every = pytest.mark.parametrize("sdk", SDKS, ids=lambda sdk: sdk.name)


async def calls_of(sdk: Sdk, reply: Any) -> list[Any]:
    answer = Answer()
    sdk.api.add(answer, await resolved(reply))
    return answer.calls


def resource_of(sdk: Sdk, client: Any) -> Any:
    """What has the method that asks."""
    for name in sdk.api.create.split(".")[:-1]:
        client = getattr(client, name)
    return client


@each
async def test_a_raw_response(sdk: Sdk) -> None:
    with WireServer([TURN]) as server:
        client = sdk.client(server)
        raw = await resolved(resource_of(sdk, client).with_raw_response.create(**sdk.api.options(GIVEN)))
        assert await calls_of(sdk, raw.parse()) == GIVEN.calls
        body = raw.http_response.content
        assert int(raw.headers["content-length"]) == len(body)
        assert json.loads(body)["id"] == sdk.reply_ids[0]
        await resolved(client.close())


@each
@pytest.mark.parametrize("stream", [False, True])
async def test_a_streaming_response(sdk: Sdk, stream: bool) -> None:
    with WireServer([TURN]) as server:
        client = sdk.client(server)
        manager = resource_of(sdk, client).with_streaming_response.create(**sdk.api.options(GIVEN), stream=stream)
        if hasattr(manager, "__aenter__"):
            async with manager as response:
                lines = [line async for line in response.iter_lines()]
        else:
            with manager as response:
                lines = [*response.iter_lines()]
        text = "\n".join(lines)
        assert "get_weather" in text
        assert "<tool_call>" not in text
        assert ("content-length" in response.headers) is not stream
        await resolved(client.close())


@each
async def test_the_events_of_a_raw_stream_are_the_sdks_own(sdk: Sdk) -> None:
    with WireServer([TURN]) as server:
        client = sdk.client(server)
        stream = await resolved(sdk.create(client, GIVEN, stream=True))
        events = [event async for event in items(stream)]
        # Those of a server that sends the call natively are of the same types.
        with WireServer([Turn(GIVEN.content, GIVEN.calls)]) as native:
            other = sdk.bare_client(native.root)
            expected: set[Any] = {type(event) async for event in items(await resolved(sdk.create(other, GIVEN, stream=True)))}
            await resolved(other.close())
        assert {*map(type, events)} == expected
        await resolved(client.close())


@each
async def test_clients_made_of_it_are_wrapped(sdk: Sdk) -> None:
    with WireServer([TURN]) as server:
        client = sdk.client(server)
        other = client.with_options(timeout=9, max_retries=1).copy()
        assert await calls_of(sdk, sdk.create(other, GIVEN)) == GIVEN.calls
        await resolved(client.close())


@each
async def test_a_failed_request_is_tried_again(sdk: Sdk) -> None:
    failing = Failure(500, {"error": {"message": "no"}}, {"retry-after-ms": "1"})
    with WireServer([failing, TURN]) as server:
        client = sdk.client(server, max_retries=1)
        assert await calls_of(sdk, sdk.create(client, GIVEN)) == GIVEN.calls
        assert len(server.requests) == 2
        await resolved(client.close())


@each
async def test_an_error_is_the_clients_own(sdk: Sdk) -> None:
    refused = the_module(sdk.module).BadRequestError
    with WireServer([Failure(400, {"error": {"message": GIVEN.text}})]) as server:
        client = sdk.client(server, max_retries=0)
        with pytest.raises(refused, match="get_weather"):
            await resolved(sdk.create(client, GIVEN))
        await resolved(client.close())


@each
async def test_a_server_that_hangs_is_a_timeout(sdk: Sdk) -> None:
    late = the_module(sdk.module).APITimeoutError
    with WireServer([Raw([b'{"id": '], hang=30.0)]) as server:
        client = sdk.client(server, max_retries=0, timeout=0.3)
        with pytest.raises(late):
            await resolved(sdk.create(client, GIVEN))
        await resolved(client.close())


@each
async def test_a_stream_that_hangs_is_a_timeout(sdk: Sdk) -> None:
    seen: list[Any] = []

    def hanging(request: Any) -> Raw:
        parts = [*itertools.islice(frames(wire_of(request.path), TURN), 4)]
        return Raw(parts, "text/event-stream", hang=30.0)

    with WireServer(hanging) as server:
        client = sdk.client(server, max_retries=0, timeout=0.5)
        stream = await resolved(sdk.create(client, GIVEN, stream=True))

        async def read() -> None:
            async for event in items(stream):
                seen.append(event)

        assert "Timeout" in type(await failure_of(read())).__name__  # the SDK's error or that of its library
        assert seen
        await resolved(client.close())


@every
async def test_a_proxy_of_the_environment_is_used(sdk: Sdk, monkeypatch: pytest.MonkeyPatch) -> None:
    with WireServer([TURN]) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.root)
        monkeypatch.setenv("NO_PROXY", "")
        client = wrap(sdk.bare_client("http://model.invalid"))
        assert await calls_of(sdk, sdk.create(client, GIVEN)) == GIVEN.calls
        assert proxy.requests[0].headers["host"] == "model.invalid"
        if hasattr(client, "close"):
            await resolved(client.close())


@every
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_compressed_reply(sdk: Sdk, streamed: bool) -> None:
    def compressed(request: Any) -> Raw:
        wire = wire_of(request.path)
        raw = b"".join(frames(wire, TURN)) if request.streaming else json.dumps(wire.body(TURN)).encode()
        packed = gzip.compress(raw, mtime=0)
        kind = "text/event-stream" if request.streaming else "application/json"
        return Raw([packed[at : at + 50] for at in range(0, len(packed), 50)], kind, headers={"Content-Encoding": "gzip"})

    with WireServer(compressed) as server:
        answer = Answer()
        await sdk.ask(server, GIVEN, streamed, answer)
    assert answer.calls == GIVEN.calls


@each
async def test_a_stream_that_is_left_closes_its_connection(sdk: Sdk) -> None:
    def endless(request: Any) -> Raw:
        head, *rest = frames(wire_of(request.path), Turn("word " * 40))
        return Raw([head, *rest[:4], *[b": keep-alive\n\n"] * 2000], "text/event-stream", pause=0.005)

    with WireServer(endless) as server:
        client = sdk.client(server)
        stream = await resolved(sdk.create(client, GIVEN, stream=True))
        async for _ in items(stream):
            break
        await resolved(stream.close())
        assert server.wait_for_disconnect()
        await resolved(client.close())


OTHER_TRAFFIC = [
    ("openai chat", "embeddings.create", {"model": "m", "input": [GIVEN.text], "encoding_format": "float"}),
    ("openai chat", "files.create", {"file": ("a.jsonl", GIVEN.text.encode()), "purpose": "batch"}),
    ("openai chat", "moderations.create", {"input": GIVEN.text}),
    ("anthropic", "messages.count_tokens", None),
    ("groq", "embeddings.create", {"model": "m", "input": [GIVEN.text]}),
]


@pytest.mark.parametrize(("name", "method", "options"), OTHER_TRAFFIC)
async def test_traffic_that_is_not_chat_passes_byte_for_byte(name: str, method: str, options: Any) -> None:
    (sdk,) = (sdk for sdk in SDKS if sdk.name == name)
    reply = json.dumps({"id": "x", "data": [{"content": GIVEN.text}], "input_tokens": 3}).encode()
    given = options or {key: value for key, value in sdk.api.options(GIVEN).items() if key != "max_tokens"}
    found: list[tuple[bytes, dict[str, str], bytes]] = []
    for is_wrapped in (False, True):
        with WireServer([Raw([gzip.compress(reply, mtime=0)], headers={"Content-Encoding": "gzip"})]) as server:
            client = sdk.client(server) if is_wrapped else sdk.bare_client(server.root)
            resource, _, called = method.partition(".")
            raw = getattr(getattr(client, resource).with_raw_response, called)(**given)
            headers = {key: value for key, value in raw.headers.items() if key != "date"}
            boundary = server.requests[0].headers.get("content-type", "").partition("boundary=")[2].encode()
            sent = server.requests[0].sent
            found.append((raw.http_response.content, headers, sent.replace(boundary, b"") if boundary else sent))
            client.close()
    assert found[0] == found[1]
    assert found[0][0] == reply
