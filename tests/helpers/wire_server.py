"""A model server on loopback that speaks the providers' wires: what a test or a recording scripts is what a client
reads.

    with WireServer([Turn(calls=[("get_weather", {"city": "Paris"})]), Turn("It is sunny.")]) as server:
        base = server.base_url("groq")          # http://127.0.0.1:PORT/openai/v1
        ...
        server.requests[0].body["tools"]

The path picks the wire: `/v1/messages` Anthropic, `...:generateContent` Gemini, `/api/chat` Ollama,
`.../converse` Bedrock, `.../responses` OpenAI's Responses, `.../chat/completions` everybody else. A script is a list of steps, used
in order (the last one again and again), or a function of the request. A step is a `Turn`, a `Failure` (an HTTP error), a `Raw` body or stream, or a str (a turn of
text).

As a script it answers every request by calling the first tool with an example of its arguments, then by text:

    python -m tests.helpers.wire_server --port 8080
"""

from __future__ import annotations

import argparse
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from llmcore.support.values.narrowing import object_in, objects_in
from tests.helpers.responses_wire import RESPONSES
from tests.helpers.wires import CONVERSE, WIRES, Turn, Wire, frames

__all__ = ["Failure", "Raw", "Seen", "Step", "Turn", "WireServer", "demo", "wire_of"]


@dataclass
class Failure:
    """An HTTP error. `body` is JSON, or text that goes out verbatim."""

    status: int
    body: dict[str, Any] | str
    headers: dict[str, str] = field(default_factory=dict[str, str])


@dataclass
class Raw:
    """Bytes as they are: a whole body, or the frames of a stream. `pause` seconds before each frame; `hang` seconds
    after the last one, then the connection is dropped without an end.

    `ending`: `chunked`, and the last chunk comes; `dropped`, and it does not come; `close`: nothing tells the length, the end of
    the connection is the end; `length`: more was promised than comes.
    """

    frames: list[bytes]
    content_type: str = "application/json"
    pause: float = 0.0
    hang: float = 0.0
    ending: str = "chunked"
    headers: dict[str, str] = field(default_factory=dict[str, str])


@dataclass
class Seen:
    """A request as it arrived. `disconnected` is set when the client hung up before the whole reply was written."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    disconnected: bool = False
    sent: bytes = b""
    """The body's bytes."""
    peer: int = 0
    """The client's port: one for each connection."""

    @property
    def streaming(self) -> bool:
        return bool(self.body.get("stream")) or "streamGenerateContent" in self.path


Step = Turn | Failure | Raw | str
Script = Sequence[Step] | Callable[[Seen], Step]

_BASE_PATHS = {
    "openai": "/v1",
    "openai_compatible": "/v1",
    "mistral": "/v1",
    "groq": "/openai/v1",
    "openrouter": "/api/v1",
    "gemini": "/v1beta",
    **dict.fromkeys(("xai", "together", "vllm", "sglang", "llama_cpp", "lm_studio"), "/v1"),
}


def wire_of(path: str) -> Wire:
    for mark, name in (("/v1/messages", "anthropic"), ("GenerateContent", "gemini"), (":generateContent", "gemini")):
        if mark in path:
            return WIRES[name]
    if path.endswith("/converse"):
        return CONVERSE
    if path.endswith("/responses"):
        return RESPONSES
    return WIRES["ollama" if path.startswith("/api/chat") else "openai-chat"]


def _json(sent: bytes) -> dict[str, Any]:
    """The body of a request; {} for an upload, which is no JSON."""
    try:
        return object_in(json.loads(sent))
    except ValueError:
        return {}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]  # the one server this handler is made for

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet: the journal is `WireServer.requests`."""

    def do_GET(self) -> None:
        self._send(200, b'{"data": []}', {})

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers.get("content-length") or 0))
        seen = Seen(
            self.path,
            {name.lower(): value for name, value in self.headers.items()},
            _json(sent),
            sent=sent,
            peer=self.client_address[1],
        )
        if self.path.startswith("/api/show"):  # LiteLLM's Ollama path would ask what the model can do
            self.server.owner.looked_up.append(seen)
            self._send(200, b'{"capabilities": ["tools"], "model_info": {}, "template": ""}', {})
            return
        try:
            self._answer(seen, self.server.owner.next_step(seen))
        except (BrokenPipeError, ConnectionResetError):
            seen.disconnected = True
            self.close_connection = True

    def _answer(self, seen: Seen, step: Step) -> None:
        if isinstance(step, Failure):
            body = step.body if isinstance(step.body, str) else json.dumps(step.body)
            self._send(step.status, body.encode(), step.headers)
        elif isinstance(step, Raw):
            self._raw(step)
        else:
            turn = Turn(step) if isinstance(step, str) else step
            wire = wire_of(seen.path)
            if seen.streaming:
                self._stream(frames(wire, turn), "application/x-ndjson" if wire.framing == "ndjson" else "text/event-stream")
            else:
                self._send(200, json.dumps(wire.body(turn)).encode(), {})

    def _send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _raw(self, step: Raw) -> None:
        if step.ending in ("close", "length"):
            self.close_connection = True
            length = {"Content-Length": str(sum(map(len, step.frames)) + 1000)} if step.ending == "length" else {}
            self._head(step.content_type, {"Connection": "close", **length, **step.headers})
            for part in step.frames:
                self.wfile.write(part)
            return
        last = step.ending == "chunked"
        self._stream(iter(step.frames), step.content_type, step.pause, step.hang, step.headers, last=last)

    def _head(self, content_type: str, headers: Mapping[str, str]) -> None:
        self.send_response(200)
        for name, value in {"Content-Type": content_type, **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def _stream(
        self,
        parts: Iterator[bytes],
        content_type: str,
        pause: float = 0.0,
        hang: float = 0.0,
        headers: Mapping[str, str] | None = None,
        *,
        last: bool = True,
    ) -> None:
        self._head(content_type, {"Transfer-Encoding": "chunked", **(headers or {})})
        for part in parts:
            if pause and self.server.owner.stopped.wait(pause):
                break
            self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
            self.wfile.flush()
        if hang or not last:
            self.server.owner.stopped.wait(hang)
            self.close_connection = True
            return
        self.wfile.write(b"0\r\n\r\n")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    owner: WireServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no error of the server."""


class WireServer:
    """See the module. Enter it to serve; `requests` is the journal, in order of arrival; `looked_up` holds the
    requests that ask what a model is."""

    def __init__(self, script: Script, port: int = 0) -> None:
        self.script = script
        self.requests: list[Seen] = []
        self.looked_up: list[Seen] = []
        self.stopped = threading.Event()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def base_url(self, provider: str) -> str:
        """What a client of `provider` is given as its base URL."""
        return self.root + _BASE_PATHS.get(provider, "")

    def next_step(self, seen: Seen) -> Step:
        with self._lock:
            self.requests.append(seen)
            if callable(self.script):
                return self.script(seen)
            return self.script[min(len(self.requests), len(self.script)) - 1]

    def wait_for_disconnect(self, timeout: float = 10.0) -> bool:
        """Whether the last request's client hung up within `timeout` seconds."""
        until = time.monotonic() + timeout
        while time.monotonic() < until:
            if self.requests and self.requests[-1].disconnected:
                return True
            time.sleep(0.005)
        return False

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()


def _tools(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tools a request offers, on any wire: name and JSON Schema."""
    found: list[dict[str, Any]] = []
    for tool in objects_in(body.get("tools")):
        nested = objects_in(tool.get("function_declarations")) or objects_in(tool.get("functionDeclarations"))
        for part in nested or [object_in(tool.get("function")) or tool]:
            found.append({"name": part.get("name"), "schema": part.get("parameters") or part.get("input_schema") or {}})
    return found


_EXAMPLES: dict[str, Any] = {"string": "Paris", "integer": 3, "number": 1.5, "boolean": True, "array": [], "object": {}}


def _example(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties: Mapping[str, Any] = schema.get("properties") or {}
    wanted = schema.get("required") or properties
    return {
        name: part["enum"][0] if part.get("enum") else _EXAMPLES.get(str(part.get("type", "string")).lower(), "Paris")
        for name, part in properties.items()
        if name in wanted
    }


def demo(seen: Seen) -> Step:
    """Calls the first tool offered until a result stands in the history, then answers."""
    tools = _tools(seen.body)
    told = json.dumps([seen.body.get(key) for key in ("messages", "contents", "input")])
    marks = ('"role": "tool"', '"tool_result"', "functionResponse", "function_response", "function_call_output")
    answered = any(mark in told for mark in marks)
    if tools and not answered:
        return Turn(calls=[(tools[0]["name"], _example(tools[0]["schema"]))])
    return Turn("It is sunny in Paris, 24 degrees.")


def main() -> None:
    """Serve `demo` until interrupted."""
    parser = argparse.ArgumentParser(description="A scripted model server on loopback.")
    parser.add_argument("--port", type=int, default=8080)
    with WireServer(demo, parser.parse_args().port) as server:
        print(f"listening on {server.root}; OpenAI-compatible base URL: {server.base_url('openai')}")
        try:
            server.stopped.wait()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
