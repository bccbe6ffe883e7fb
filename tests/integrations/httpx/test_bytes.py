"""What a wrapped client gets, byte for byte: traffic that is not chat, replies without calls, and streams that are compressed and cut."""

from __future__ import annotations

import gzip
import itertools
import random
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from llmcore.integrations.httpx import wrap
from llmcore.wire import ReplyReport
from llmcore.wire.sse import json_bytes
from tests.helpers.wire_server import Raw, WireServer
from tests.integrations.httpx.support import CHAT_TOOLS, LIBRARIES, raw_reply, whole_body
from tests.wire.support import CALL, WIRES
from tests.wire.test_exchange import END_OF_REPLY, TEXT, read, sent, stream_bytes

CHAT = WIRES[0]


@LIBRARIES
@pytest.mark.parametrize("path", ["/v1/embeddings", "/v1/files", "/v1/chat/completions", "/page"])
def test_other_traffic_passes_byte_for_byte(name: str, path: str) -> None:
    library: Any = pytest.importorskip(name)
    page = gzip.compress(f"<p>{CALL}</p>".encode(), mtime=0)
    found: list[tuple[bytes, dict[str, str]]] = []
    with WireServer([Raw([page], "text/html", headers={"Content-Encoding": "gzip", "X-Page": "1"})]) as server:
        for client in (library.Client(), wrap(library.Client())):
            with client, client.stream("POST", server.root + path, json={"tools": CHAT_TOOLS, "input": "x"}) as response:
                headers = {key: value for key, value in response.headers.items() if key != "date"}
                found.append((b"".join(response.iter_raw()), headers))
    assert found[0] == found[1]


@LIBRARIES
def test_a_reply_without_calls_passes_byte_for_byte(name: str) -> None:
    packed = gzip.compress(json_bytes(CHAT.body("Hello\n")), mtime=0)
    client = wrap(pytest.importorskip(name).Client())
    found, headers = raw_reply(client, Raw([packed], headers={"Content-Encoding": "gzip"}))
    assert (found, headers["content-encoding"]) == (packed, "gzip")


@LIBRARIES
@pytest.mark.parametrize("raw", [b"no json", b'{"choices": [', b"", gzip.compress(b"{}", mtime=0)[:-4], b"\x1f\x8b broken"])
def test_a_body_that_cannot_be_read_passes_byte_for_byte(name: str, raw: bytes) -> None:
    headers = {"Content-Encoding": "gzip"} if raw.startswith(b"\x1f") else {}
    client = wrap(pytest.importorskip(name).Client())
    assert raw_reply(client, Raw([raw] if raw else [], headers=headers))[0] == raw


@LIBRARIES
@pytest.mark.parametrize("text", ["Hello", CALL])
def test_a_reply_has_its_length_and_how_long_it_took(name: str, text: str) -> None:
    library: Any = pytest.importorskip(name)
    with WireServer([whole_body(CHAT, text)]) as server, wrap(library.Client()) as client:
        response = client.post(server.root + "/v1/chat/completions", json={"tools": CHAT_TOOLS})
    assert response.is_closed
    assert response.elapsed.total_seconds() > 0
    assert ("tool_calls" in response.text) is (text == CALL)
    assert response.headers.get("content-length", str(len(response.content))) == str(len(response.content))


@LIBRARIES
@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_an_async_reply_has_its_length_and_how_long_it_took(name: str, anyio_backend: str) -> None:
    library: Any = pytest.importorskip(name)
    with WireServer([whole_body(CHAT, CALL)]) as server:
        async with wrap(library.AsyncClient()) as client:
            response = await client.post(server.root + "/v1/chat/completions", json={"tools": CHAT_TOOLS})
    assert response.is_closed
    assert response.elapsed.total_seconds() > 0
    assert "tool_calls" in response.text
    assert response.headers["content-length"] == str(len(response.content))


PACK: dict[str, Callable[[bytes], bytes]] = {"": bytes, "gzip": lambda raw: gzip.compress(raw, mtime=0), "deflate": zlib.compress}


@LIBRARIES
@pytest.mark.parametrize("encoding", PACK)
@pytest.mark.parametrize("seed", range(4))
def test_a_stream_means_the_same_however_it_is_compressed_and_cut(name: str, encoding: str, seed: int) -> None:
    client = wrap(pytest.importorskip(name).Client())
    draw = random.Random(seed)  # reproducible cuts, no secret
    data = stream_bytes(CHAT, TEXT, end=draw.choice(["\n", "\r\n", "\r"]), comments=draw.random() < 0.5)
    packed = PACK[encoding](data)
    cuts = [0, *sorted(draw.sample(range(1, len(packed)), 30)), len(packed)] if seed else [*range(len(packed) + 1)]
    parts = [packed[start:end] for start, end in itertools.pairwise(cuts)]
    headers = {"Content-Encoding": encoding} if encoding else {}
    found, received = raw_reply(client, Raw(parts, "text/event-stream", headers=headers))
    assert "content-encoding" not in received
    assert read(CHAT, found) == read(CHAT, sent(CHAT, data, []))
    assert len(read(CHAT, found).calls) == 2


@LIBRARIES
def test_a_compressed_stream_that_is_broken_is_the_clients_own_error(name: str) -> None:
    library: Any = pytest.importorskip(name)
    packed = gzip.compress(stream_bytes(CHAT, TEXT), mtime=0)
    broken = packed[:60] + b"\xff" * 600
    with WireServer([Raw([broken], "text/event-stream", headers={"Content-Encoding": "gzip"})]) as server:
        for client in (library.Client(), wrap(library.Client())):
            with client, pytest.raises(library.DecodingError):
                client.post(server.root + "/v1/chat/completions", json={"tools": CHAT_TOOLS})


BROKEN = f"I look. {CALL}"
"""The text of a reply whose connection breaks before its end."""


def broken() -> Raw:
    whole = stream_bytes(CHAT, BROKEN)
    return Raw(
        [whole[: whole.rindex(b"data:", 0, whole.index(END_OF_REPLY["openai-chat"]))]], "text/event-stream", ending="dropped"
    )


def asked(library: Any, client: Any, server: WireServer) -> bytes:
    """The bytes that a client gets before the error of the connection."""
    got = b""
    with client.stream("POST", server.root + "/v1/chat/completions", json={"tools": CHAT_TOOLS}) as response:
        try:
            for piece in response.iter_bytes():
                got += piece
        except library.RemoteProtocolError:
            return got
    raise AssertionError("the connection did not break")


async def asked_async(library: Any, client: Any, server: WireServer) -> bytes:
    """As `asked`."""
    got = b""
    async with client.stream("POST", server.root + "/v1/chat/completions", json={"tools": CHAT_TOOLS}) as response:
        try:
            async for piece in response.aiter_bytes():
                got += piece
        except library.RemoteProtocolError:
            return got
    raise AssertionError("the connection did not break")


@LIBRARIES
@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("is_async", [False, True])
async def test_text_comes_before_the_error_of_a_broken_connection(name: str, is_async: bool, anyio_backend: str) -> None:
    library: Any = pytest.importorskip(name)
    reports: list[ReplyReport] = []
    with WireServer([broken()]) as server:
        if is_async:
            async with wrap(library.AsyncClient(), on_reply=reports.append) as client:
                got = await asked_async(library, client, server)
        else:
            with wrap(library.Client(), on_reply=reports.append) as client:
                got = asked(library, client, server)
    assert (read(CHAT, got).text, [report.cut for report in reports]) == (BROKEN, [True])
