"""Recording at the wire's level: a proxy on loopback that any client can use as its base URL.

    with RecordingProxy("https://api.openai.com", "run.jsonl", provider="openai", provenance="live") as proxy:
        client = openai.OpenAI(base_url=f"{proxy.url}/v1")

Bytes pass through as they come, streams included, and each exchange becomes one line of a transcript file when it ends.
`body` is the reply's text bit for bit; `response` the same parsed, or `sse` for a stream. Headers that hold secrets
pass through to the provider and are never written; neither is whatever looks like a key. One thread a connection;
memory: one reply.
"""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

import httpx

from llmcore.adapters.recording.recorder import TranscriptFile, transcript
from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.adapters.secrets.log_scrubbing import hide_in_logs
from llmcore.adapters.secrets.request_secrets import secrets_in
from llmcore.adapters.secrets.scrubber import Scrubber
from llmcore.types import ToolDefinitionError, definition_of
from llmcore.types.narrowing import is_object, object_in, objects_in
from llmcore.types.numbers import exact_json, exact_loads

__all__ = ["RecordingProxy"]

_HOP_BY_HOP = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "host",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_LINE = re.compile(r"((?:data:[ ]?)?)([^\r\n]*)([\r\n]*)")
"""A line of a stream: what stands before its data, the data, the end."""
_SECONDS_TO_WRITE = 2.0
_STREAMS = ("text/event-stream", "application/x-ndjson", "application/jsonl")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]  # the one server this handler is made for

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet: paths may hold keys."""

    def _forward(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = _forwarded(dict(self.headers.items())) | {"Accept-Encoding": "identity"}
        hide_in_logs(self.server.owner.secrets(self.path, headers))
        got = bytearray()
        try:
            with (
                self.server.owner.exchange(),
                self.server.client.stream(self.command, self.server.upstream + self.path, content=body, headers=headers) as reply,
            ):
                self._pass_on(reply, got)
                self.server.owner.keep(self.path, headers, body, reply.status_code, reply.headers, bytes(got))
        except httpx.HTTPError as error:
            self._refuse(f"{type(error).__name__}: upstream cannot be reached")
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client hung up; the connection upstream is closed with it

    do_POST = do_GET = do_DELETE = do_PUT = do_PATCH = _forward

    def _pass_on(self, reply: httpx.Response, got: bytearray) -> None:
        self.send_response(reply.status_code)
        for name, value in _forwarded(reply.headers).items():
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in _pieces(reply):
            got += piece
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def _refuse(self, message: str) -> None:
        text = json.dumps({"error": {"message": message, "type": "recording_proxy"}}).encode()
        self.send_response(502)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


def _pieces(reply: httpx.Response) -> Iterator[bytes]:
    return (piece for piece in reply.iter_bytes() if piece)


def _forwarded(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _HOP_BY_HOP}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    owner: RecordingProxy
    upstream: str
    client: httpx.Client


class RecordingProxy:
    """See the module. `upstream`: the URL that paths of requests are put behind, a provider's root or its usual base URL;
    `port` 0 takes a free one. Raises OSError when the port is taken."""

    def __init__(
        self,
        upstream: str,
        path: str | Path,
        *,
        provider: str,
        provenance: str,
        port: int = 0,
        timeout: float = 600.0,
    ) -> None:
        self._path = Path(path)
        self._provider, self._provenance = provider, provenance
        self._file = TranscriptFile(path)
        self.exchanges = 0
        """How many have been written."""
        self._going_on = 0
        self._changed = threading.Condition()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.owner, self._server.upstream = self, upstream.rstrip("/")
        self._server.client = httpx.Client(timeout=timeout)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        """Where the proxy listens; what stands behind it in a request is put behind `upstream`."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def secrets(self, path: str, sent: Mapping[str, str]) -> list[str]:
        """What a request holds of secrets. For the proxy's own handler."""
        return list(secrets_in({"api_base": self._server.upstream + path, "extra_headers": sent}))

    @contextmanager
    def exchange(self) -> Generator[None, None, None]:
        """Around one exchange, from the request to the written line. For the proxy's own handler."""
        with self._changed:
            self._going_on += 1
        try:
            yield
        finally:
            with self._changed:
                self._going_on -= 1
                self._changed.notify_all()

    def keep(
        self, path: str, sent: Mapping[str, str], body: bytes, status: int, headers: Mapping[str, str], reply: bytes
    ) -> None:
        """Write one exchange. For the proxy's own handler."""
        scrubber = process_scrubber(self.secrets(path, sent))
        request = _json(body)
        model = _model(path, request)
        exchange: dict[str, Any] = {
            "attempt": {"model": model, "mode": "native_tools", "reason": "first"},
            "request": request,
            **_response(scrubber, status, headers.get("content-type", ""), reply),
        }
        line = transcript(
            [exchange],
            id=f"{self._path.stem}-1",
            provider=self._provider,
            model=model,
            provenance=self._provenance,
            level="wire",
            tools=[definition_of(tool) for tool in _tools(request)],
        )
        self._file.append(scrubber.value(line))  # bytes that are no UTF-8 stand as lone surrogates
        with self._changed:
            self.exchanges += 1

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        with self._changed:  # a client has its reply a moment before the line is written
            self._changed.wait_for(lambda: not self._going_on, timeout=_SECONDS_TO_WRITE)
        self._server.client.close()


def _json(body: bytes) -> Any:
    try:
        return exact_loads(body or b"null", json.loads)
    except (ValueError, RecursionError):
        return body.decode("utf-8", "surrogateescape")


def _response(scrubber: Scrubber, status: int, content_type: str, reply: bytes) -> dict[str, Any]:
    text = scrubber.text(reply.decode("utf-8", "surrogateescape"))
    if content_type.split(";")[0].strip() in _STREAMS:
        return {"status": status, "sse": _stream(scrubber, text)}
    parsed = _json(text.encode("utf-8", "surrogateescape"))
    return {"status": status, "body": text, "response" if status < 400 else "error": parsed}


def _stream(scrubber: Scrubber, text: str) -> str:
    """A stream's text; the events that hold a piece of a secret are written anew, all others stay bit for bit."""
    lines = _LINE.findall(text)
    events = {index: event for index, line in enumerate(lines) if is_object(event := _json(line[1].encode("utf-8", "replace")))}
    for (index, before), after in zip(events.items(), scrubber.events(events.values()), strict=True):
        if after != before:
            prefix, _, end = lines[index]
            lines[index] = (prefix, exact_json(after, ascii_only=True), end)
    return "".join(itertools.chain.from_iterable(lines))


def _model(path: str, request: Any) -> str:
    return str(object_in(request).get("model") or path.partition("?")[0].rpartition("/models/")[2].partition(":")[0])


def _tools(request: Any) -> list[dict[str, Any]]:
    """The tools of a request body, on any wire: Gemini nests its declarations."""
    tools: list[dict[str, Any]] = []
    for tool in objects_in(object_in(request).get("tools")):
        declared = objects_in(tool.get("functionDeclarations")) or objects_in(tool.get("function_declarations"))
        tools += declared or [tool]
    return [tool for tool in tools if _is_function(tool)]


def _is_function(tool: Mapping[str, Any]) -> bool:
    """Is it a tool of the caller's that `definition_of` reads? Those of the provider's own are part of the request alone."""
    try:
        return bool(definition_of(tool).name)
    except ToolDefinitionError:
        return False
