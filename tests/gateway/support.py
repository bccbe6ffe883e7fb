"""A gateway behind a real uvicorn on loopback, the models' servers behind it, and requests to it."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import Any, Self

import httpx
import uvicorn

from llmcore.gateway import create_app
from tests.helpers.wire_server import Raw
from tests.integrations.httpx.support import ASK, CHAT_TOOLS
from tests.wire.support import CALL, TOOLS, WIRES, Wire
from tests.wire.test_exchange import stream_bytes

__all__ = [
    "ABOUT",
    "ANTHROPIC_TOOLS",
    "ASK",
    "BY_NAME",
    "CALL_TEXT",
    "CHAT_TOOLS",
    "PATHS",
    "RESPONSES_TOOLS",
    "SECONDS",
    "START_SECONDS",
    "TOOLS_OF",
    "HangingServer",
    "app_for",
    "asked",
    "events_of",
    "gateway",
    "running",
    "streamed",
    "whole",
]

Json = dict[str, Any]
SECONDS = 20.0
"""How long a test waits for an event that must come."""
START_SECONDS = 120.0
"""How long a gateway may take to start: it imports LiteLLM if a model is orchestrated."""
CALL_TEXT = f"I look.\n{CALL}"
ABOUT = f"For example:\n{CALL}\nis how you do it."
BY_NAME = {wire.name: wire for wire in WIRES}
PATHS = {"openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses", "anthropic": "/v1/messages"}
RESPONSES_TOOLS: Any = [{"type": "function", **tool["function"], "strict": False} for tool in CHAT_TOOLS]
ANTHROPIC_TOOLS: Any = [{"name": tool.name, "input_schema": tool.parameters} for tool in TOOLS]
TOOLS_OF: dict[str, Any] = {"openai-chat": CHAT_TOOLS, "openai-responses": RESPONSES_TOOLS, "anthropic": ANTHROPIC_TOOLS}


def asked(name: str, **fields: Any) -> Json:
    """A request to the alias `m` on a wire, with tools. A field None is left out."""
    field = "input" if name == "openai-responses" else "messages"
    limit = {"max_tokens": 99} if name == "anthropic" else {}
    body = {"model": "m", field: list(ASK), "tools": TOOLS_OF[name], **limit, **fields}
    return {key: value for key, value in body.items() if value is not None}


def whole(wire: Wire, text: str, **fields: Any) -> Raw:
    """A whole reply of a model's server. `fields` are more fields of its body."""
    return Raw([json.dumps({**wire.body(text), **fields}).encode()])


def streamed(wire: Wire, text: str, **options: Any) -> Raw:
    """A stream of a model's server."""
    return Raw([stream_bytes(wire, text)], "text/event-stream", **options)


def events_of(data: bytes) -> list[Json]:
    """The JSON of the events of a stream."""
    lines = [line.removeprefix(b"data: ") for line in data.splitlines() if line.startswith(b"data: ")]
    return [json.loads(line) for line in lines if line != b"[DONE]"]


def app_for(base_url: str, settings: Mapping[str, Any] | None = None, **fields: Any) -> Any:
    """The gateway for one model `m`, served as `served-model` at this URL."""
    model = {"provider": "vllm", "model": "served-model", "base_url": base_url, "api_key": "sk-upstream-key", **fields}
    return create_app({"models": {"m": model}}, settings or {})


class _Server(uvicorn.Server):
    """Says when it has started."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_ready.set()


@contextmanager
def running(app: Any, **options: Any) -> Generator[str]:
    """The URL of an application behind uvicorn, in a thread."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = _Server(uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=5, **options))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        assert server.is_ready.wait(START_SECONDS)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(SECONDS)
        listener.close()


@contextmanager
def gateway(base_url: str, settings: Mapping[str, Any] | None = None, **fields: Any) -> Generator[httpx.Client]:
    """A client of a running gateway for one model at this URL."""
    with running(app_for(base_url, settings, **fields)) as url, httpx.Client(base_url=url, timeout=SECONDS) as client:
        yield client


class HangingServer:
    """A model's server that sends `parts`, and `then` when `go_on` is set. It sees when its client leaves.

    `was_asked` and `was_freed` are set when a request has come, and when its connection was closed.
    """

    def __init__(self, parts: Iterable[bytes] = (), then: Iterable[bytes] = ()) -> None:
        self._parts, self._then = list(parts), list(then)
        self.go_on = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.was_asked, self.was_freed = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"

    def _serve(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return
        with connection:
            received = b""
            while b"\r\n\r\n" not in received:
                if not (part := connection.recv(65_536)):  # the client left before it had asked
                    self.was_freed.set()
                    return
                received += part
            head, _, body = received.partition(b"\r\n\r\n")
            length = next(int(line.split(b":")[1]) for line in head.splitlines() if line.lower().startswith(b"content-length"))
            while len(body) < length:
                body += connection.recv(65_536)
            for part in self._parts:
                connection.sendall(part)
            self.was_asked.set()
            if self._then and self.go_on.wait(SECONDS):
                for part in self._then:
                    connection.sendall(part)
            try:
                while connection.recv(65_536):
                    pass
            except OSError:
                pass
            self.was_freed.set()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._listener.close()
