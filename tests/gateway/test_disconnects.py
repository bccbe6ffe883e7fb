"""A client that leaves frees the model's server: before the first byte, after it, and while a whole reply is made."""

from __future__ import annotations

import json
import logging
import socket
import threading
from typing import Any, Self
from urllib.parse import urlsplit

import pytest

from llmcore.types import TextDelta
from llmcore.wire.sse import event_bytes
from tests.gateway.support import BY_NAME, PATHS, SECONDS, HangingServer, app_for, asked, running, streamed

WIRES = pytest.mark.parametrize("name", list(PATHS))
STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def connected(url: str, name: str, **fields: Any) -> socket.socket:
    """A connection with a request sent on it."""
    place = urlsplit(url)
    body = json.dumps(asked(name, **fields)).encode()
    connection = socket.create_connection((place.hostname, place.port), SECONDS)
    head = f"POST {PATHS[name]} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    connection.sendall(head.encode() + body)
    return connection


@WIRES
@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
def test_before_the_first_byte(name: str, streams: bool) -> None:
    with HangingServer() as server, running(app_for(server.base_url)) as url:
        connection = connected(url, name, stream=streams)
        assert server.was_asked.wait(SECONDS)
        connection.close()
        assert server.was_freed.wait(SECONDS)


@WIRES
@pytest.mark.parametrize("tools", [False, True], ids=["unchanged", "rewritten"])
def test_after_the_first_byte(name: str, tools: bool) -> None:
    """The server sends nothing more, so no write to the client can fail."""
    first = b"\n\n".join(streamed(BY_NAME[name], "Some words of a reply. " * 9).frames[0].split(b"\n\n")[:9]) + b"\n\n"
    with HangingServer([STREAM_HEAD, chunk(first)]) as server, running(app_for(server.base_url)) as url:
        connection = connected(url, name, stream=True, **({} if tools else {"tools": None}))
        received = b""
        while b"words" not in received:
            received += connection.recv(65_536)
        connection.close()
        assert server.was_freed.wait(SECONDS)


def test_in_the_middle_of_a_whole_body() -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"
    with HangingServer([head]) as server, running(app_for(server.base_url)) as url:
        connection = connected(url, "openai-chat")
        assert server.was_asked.wait(SECONDS)
        connection.close()
        assert server.was_freed.wait(SECONDS)


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
def test_an_orchestrated_request(streams: bool) -> None:
    first = chunk(event_bytes(_encoder_chunk()))
    parts = [STREAM_HEAD, first] if streams else []
    with (
        HangingServer(parts) as server,
        running(app_for(server.base_url, {"default": {"mode": "orchestrated"}})) as url,
    ):
        connection = connected(url, "openai-chat", stream=streams)
        assert server.was_asked.wait(60)  # LiteLLM is imported first
        received = b""
        while streams and b"Hello" not in received:
            received += connection.recv(65_536)
        connection.close()
        assert server.was_freed.wait(SECONDS)


def _encoder_chunk() -> dict[str, Any]:
    from llmcore.wire import openai_chat

    return openai_chat.StreamEncoder(model="m").feed([TextDelta("Hello there, this is text. ")])[0]


class _Left(logging.Handler):
    """Waits for the line that says that a client left."""

    def __init__(self) -> None:
        super().__init__()
        self.was_logged = threading.Event()
        self._logger = logging.getLogger("llmcore.gateway")

    def __enter__(self) -> Self:
        self._logger.addHandler(self)
        self._logger.setLevel(logging.INFO)
        return self

    def __exit__(self, *error: object) -> None:
        self._logger.setLevel(logging.NOTSET)
        self._logger.removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        if "499" in record.getMessage() and "client_left" in record.getMessage():
            self.was_logged.set()


def test_while_the_body_is_sent() -> None:
    """The worker forgets the request: another one is served at a limit of one."""
    with (
        _Left() as left,
        HangingServer() as server,
        running(app_for(server.base_url, {"limits": {"in_flight": 1}})) as url,
    ):
        place = urlsplit(url)
        with socket.create_connection((place.hostname, place.port), SECONDS) as connection:
            connection.sendall(b"POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{")
        assert left.was_logged.wait(SECONDS)
        with connected(url, "anthropic"):
            assert server.was_asked.wait(SECONDS)
