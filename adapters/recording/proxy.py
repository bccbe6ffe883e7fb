"""Records traffic with a proxy on loopback that any client can use as its base URL.

    with RecordingProxy("https://api.openai.com", "run.jsonl", provider="openai", provenance="live") as proxy:
        client = openai.OpenAI(base_url=f"{proxy.url}/v1")

Bytes are passed on as they arrive, including streams. Each exchange becomes one line of a transcript file when it ends. If
the reply is incomplete (the client left, upstream was not reached, the recording ended), the line is `truncated`, and `error`
says why.

`body` is the reply's exact text, `response` the same parsed, `sse` a stream, and `chunks` a stream in AWS's binary frames.
Secret headers are passed to the provider but never written; neither is what looks like a key. Each connection has a thread
and stores one reply in memory.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import unquote

import httpx

from llmcore.adapters.recording.recorder import TranscriptFile, transcript
from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.adapters.secrets.log_scrubbing import hide_in_logs
from llmcore.adapters.secrets.request_secrets import secrets_in
from llmcore.adapters.secrets.scrubber import Scrubber
from llmcore.adapters.wire.aws_events import AWS_STREAM, aws_events
from llmcore.adapters.wire.streaming import EventStream
from llmcore.support.values.json_data import as_json
from llmcore.support.values.narrowing import is_object, object_in, objects_in
from llmcore.types import DEFAULT_LIMITS, ToolDefinitionError, definition_of
from llmcore.types.logs import logger

__all__ = ["Cut", "RecordingProxy"]

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
"""A line of a stream: the prefix of its data, the data, and the line end."""
_END_TIMEOUT = 2.0
"""Seconds for which open exchanges may continue when the recording ends."""
_WRITE_TIMEOUT = 60.0
"""Seconds for which lines may still be written then. Large ones take long."""
_MAX_LINE = 8192
"""The most bytes of a line between the chunks of a request's body."""
_log = logger("recording")
_STREAMS = ("text/event-stream", "application/x-ndjson", "application/jsonl")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]  # the one server this handler is made for

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing, since paths may hold keys."""

    def _forward(self) -> None:
        try:
            body = self._request_body()
        except ValueError:
            self.close_connection = True  # it is unknown where the next request begins
            self._refuse(400, "the body of the request is not framed as its headers say")
            return
        headers = _forwarded(dict(self.headers.items())) | {"Accept-Encoding": "identity"}
        owner = self.server.owner
        hide_in_logs(owner.secrets(self.path, headers))
        exchange = owner.begin(self.path, headers, body)
        try:
            url = _joined_url(self.server.upstream, self.path)
            with self.server.client.stream(self.command, url, content=body, headers=headers) as reply:
                exchange.status, exchange.headers = reply.status_code, reply.headers
                self._pass_on(reply, exchange.received)
            owner.end(exchange, _incompleteness(exchange))
        except httpx.HTTPError as error:
            kind = type(error).__name__
            owner.end(exchange, Cut(kind, "upstream cannot be reached" if exchange.status is None else "upstream broke off"))
            if exchange.status is None:
                self._refuse(502, f"{kind}: upstream cannot be reached")
            self.close_connection = exchange.status is not None  # a part of the reply was already sent
        except (BrokenPipeError, ConnectionResetError) as error:
            self.close_connection = True  # the client hung up, so the upstream connection is closed too
            owner.end(exchange, Cut(type(error).__name__, "the client left before the end"))

    do_POST = do_GET = do_DELETE = do_PUT = do_PATCH = do_HEAD = do_OPTIONS = _forward

    def _request_body(self) -> bytes:
        """The body of the request, with a given length or in chunks (RFC 9112, section 7.1). Raises `ValueError`."""
        if "chunked" not in self.headers.get("transfer-encoding", "").lower():
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        body = bytearray()
        while size := int(self.rfile.readline(_MAX_LINE).partition(b";")[0], 16):
            if size < 0:
                raise ValueError(size)
            body += self.rfile.read(size)
            self.rfile.readline(_MAX_LINE)
        while self.rfile.readline(_MAX_LINE).strip():
            continue  # trailers are not passed on
        return bytes(body)

    def _pass_on(self, reply: httpx.Response, received: bytearray) -> None:
        self.send_response(reply.status_code)
        for name, value in _forwarded(reply.headers).items():
            self.send_header(name, value)
        if self.command == "HEAD":  # its reply has no body, whatever its length header says
            if (length := reply.headers.get("content-length")) is not None:
                self.send_header("Content-Length", length)
            self.end_headers()
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in _pieces(reply):
            received += piece
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def _refuse(self, status: int, message: str) -> None:
        text = json.dumps({"error": {"message": message, "type": "recording_proxy"}}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


@dataclass(frozen=True, slots=True)
class Cut:
    """Why an exchange has no whole reply: the kind of error, and words."""

    kind: str
    words: str


@dataclass(slots=True, eq=False)
class _Exchange:
    """An open exchange: the request, and the reply so far. `status` is None before the reply begins."""

    path: str
    sent: Mapping[str, str]
    body: bytes
    received: bytearray = field(default_factory=bytearray)
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def _incompleteness(exchange: _Exchange) -> Cut | None:
    """Why the reply is incomplete although the connection ended normally, None if it is whole."""
    kind = exchange.headers.get("content-type", "").split(";")[0].strip()
    cut = Cut("Incomplete", "upstream closed the connection before the reply's end")
    if exchange.status is None or exchange.status >= 400:
        return None
    if kind in _STREAMS:
        stream = EventStream(DEFAULT_LIMITS, binary=False, known=True)
        stream.feed(bytes(exchange.received))
        stream.finish()
        return cut if stream.end.known and not stream.end.seen and not stream.is_broken else None
    return cut if kind == "application/json" and exchange.received and isinstance(_json(bytes(exchange.received)), str) else None


def _pieces(reply: httpx.Response) -> Iterator[bytes]:
    return (piece for piece in reply.iter_bytes() if piece)


def _forwarded(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _HOP_BY_HOP}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    owner: RecordingProxy
    upstream: str
    client: httpx.Client

    def handle_error(self, request: object, client_address: object) -> None:
        """Report an error. A client that hangs up between two requests is no error."""
        error = sys.exception()
        if not isinstance(error, ConnectionError):
            self.owner.report_failure(error)


class RecordingProxy:
    """A recording proxy; see the module.

    `upstream` is the URL to which request paths are appended: a provider's root or its usual base URL. Clients may repeat its
    own path (`/v1`). With `port` 0, a free port is used. `tell` receives a message for each exchange that has no whole reply
    or could not be written. Raises OSError if the port is in use.
    """

    def __init__(
        self,
        upstream: str,
        path: str | Path,
        *,
        provider: str,
        provenance: str,
        port: int = 0,
        timeout: float = 600.0,
        tell: Callable[[str], None] = _log.warning,
    ) -> None:
        self._path = Path(path)
        self._provider, self._provenance = provider, provenance
        self._file = TranscriptFile(path)
        self.exchanges = 0
        """How many exchanges were written."""
        self.cut = 0
        """How many of these lack a whole reply."""
        self.lost = 0
        """How many exchanges could not be written."""
        self._tell = tell
        self._open: list[_Exchange] = []
        self._writing = 0
        self._changed = threading.Condition()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.owner, self._server.upstream = self, upstream.rstrip("/")
        self._server.client = httpx.Client(timeout=timeout)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        """The proxy's URL. The rest of a request's URL is appended to `upstream`."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def secrets(self, path: str, sent: Mapping[str, str]) -> list[str]:
        """Return the secrets of a request. For the proxy's own handler."""
        return list(secrets_in({"api_base": _joined_url(self._server.upstream, path), "extra_headers": sent}))

    def begin(self, path: str, sent: Mapping[str, str], body: bytes) -> _Exchange:
        """Begin an exchange. For the proxy's own handler."""
        exchange = _Exchange(path, sent, body)
        with self._changed:
            self._open.append(exchange)
        return exchange

    def report_failure(self, error: BaseException | None) -> None:
        """Report a request that could not be served. For the proxy's own server."""
        self._tell(f"a request could not be passed on: {type(error).__name__}")

    def end(self, exchange: _Exchange, cut: Cut | None = None) -> None:
        """End an exchange and write its line, once. `cut` says why its reply is incomplete. For the proxy's own handler."""
        with self._changed:
            if exchange not in self._open:
                return
            self._open.remove(exchange)
            self._writing += 1
        try:
            self._record(exchange, cut)
        except Exception as error:  # for example a full disk
            with self._changed:
                self.lost += 1
            self._tell(f"an exchange is not recorded: {type(error).__name__}: {error}")
        else:
            if cut is not None:
                self._tell(f"an exchange is recorded without its whole reply: {cut.words} ({cut.kind})")
        finally:
            with self._changed:
                self._writing -= 1
                self._changed.notify_all()

    def _record(self, ended: _Exchange, cut: Cut | None) -> None:
        if not ended.body:  # no model call, such as a list of models
            return
        scrubber = process_scrubber(self.secrets(ended.path, ended.sent))
        request = _json(ended.body)
        model = _model(ended.path, request)
        exchange: dict[str, Any] = {
            # without tools in the request, the prompt may describe them, so the mode is unknown
            "attempt": {"model": model, "reason": "first"} | ({"mode": "native_tools"} if _offers_tools(request) else {}),
            "request": request,
            **_response(scrubber, ended.status, ended.headers.get("content-type", ""), bytes(ended.received), cut),
        }
        line = transcript(
            id=f"{self._path.stem}-1",
            provider=self._provider,
            model=model,
            provenance=self._provenance,
            level="wire",
            tools=[definition_of(tool) for tool in _tools(request)],
        )
        line["exchanges"] = [exchange]
        self._file.append(scrubber.value(line))  # invalid UTF-8 is stored as lone surrogates
        with self._changed:
            self.exchanges += 1
            self.cut += cut is not None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        with self._changed:  # the client receives its reply before the line is written
            self._changed.wait_for(lambda: not self._open and not self._writing, timeout=_END_TIMEOUT)
            still_open = list(self._open)
        for exchange in still_open:
            self.end(exchange, Cut("Ended", "the recording was ended before the reply was"))
        with self._changed:
            if not self._changed.wait_for(lambda: not self._writing, timeout=_WRITE_TIMEOUT):
                self.lost += self._writing
                self._tell(f"{self._writing} exchanges are not recorded: writing them takes too long")
        self._server.client.close()


def _json(body: bytes) -> Any:
    try:
        return json.loads(body or b"null")
    except (ValueError, RecursionError):
        return body.decode("utf-8", "surrogateescape")


def _response(scrubber: Scrubber, status: int | None, content_type: str, reply: bytes, cut: Cut | None) -> dict[str, Any]:
    ended = {} if cut is None else {"truncated": True, "error": {"type": cut.kind, "message": cut.words}}
    kind = content_type.split(";")[0].strip()
    if kind == AWS_STREAM:
        return {"status": status, **_aws_stream(scrubber, reply), **ended}
    text = scrubber.text(reply.decode("utf-8", "surrogateescape"))
    if kind in _STREAMS:
        return {"status": status, "sse": _stream(scrubber, text), **ended}
    if status is None or ended:
        return {"status": status, "body": text, **ended}
    parsed = _json(text.encode("utf-8", "surrogateescape"))
    return {"status": status, "body": text, "response" if status < 400 else "error": parsed}


def _aws_stream(scrubber: Scrubber, reply: bytes) -> dict[str, Any]:
    """The events of a stream in AWS's binary frames, and the error that ended it."""
    read = aws_events(reply)
    stream: dict[str, Any] = {"chunks": list(scrubber.events(read.events))}
    if read.fault:
        return {**stream, "truncated": True, "error": {"type": "Unreadable", "message": f"{AWS_STREAM}: {read.fault}"}}
    return {**stream, "error": read.error} if read.error is not None else stream


def _stream(scrubber: Scrubber, text: str) -> str:
    """A stream's text. Events that hold a part of a secret are rewritten; all others stay unchanged."""
    lines = _LINE.findall(text)
    events = {index: event for index, line in enumerate(lines) if is_object(event := _json(line[1].encode("utf-8", "replace")))}
    for (index, before), after in zip(events.items(), scrubber.events(events.values()), strict=True):
        if after != before:
            prefix, _, end = lines[index]
            lines[index] = (prefix, as_json(after, ascii_only=True), end)
    return "".join(itertools.chain.from_iterable(lines))


def _joined_url(upstream: str, path: str) -> str:
    """The URL of a request: its path appended to `upstream`, without repeating a common part (clients append `/v1` to an
    address without a path)."""
    end = upstream.find("/", upstream.find("://") + 3)
    own = upstream[end:].split("/")[1:] if end >= 0 else []
    asked = path.partition("?")[0].split("/")[1:]
    repeated = next((most for most in range(len(own), 0, -1) if own[-most:] == asked[:most]), 0)
    return upstream.removesuffix("".join(f"/{part}" for part in own[len(own) - repeated :])) + path


def _offers_tools(request: Any) -> bool:
    """Whether the body offers tools, in any wire format."""
    return any(object_in(request).get(key) for key in ("tools", "functions", "toolConfig"))


def _model(path: str, request: Any) -> str:
    """The model in the body or in the path: Gemini's `/models/NAME:generateContent`, Bedrock's `/model/NAME/converse`
    (percent-encoded)."""
    path = path.partition("?")[0]
    in_path = path.rpartition("/models/")[2].partition(":")[0] if "/models/" in path else _in_path(path)
    return str(object_in(request).get("model") or in_path)


def _in_path(path: str) -> str:
    before, found, behind = path.rpartition("/model/")
    return unquote(behind.partition("/")[0]) if found else before or path


def _tools(request: Any) -> list[dict[str, Any]]:
    """The tools of a request body in any wire format: Gemini nests its declarations, Bedrock puts them in `toolConfig`."""
    tools: list[dict[str, Any]] = []
    body = object_in(request)
    for tool in objects_in(body.get("tools") or object_in(body.get("toolConfig")).get("tools")):
        declared = objects_in(tool.get("functionDeclarations")) or objects_in(tool.get("function_declarations"))
        tools += declared or [tool]
    return [tool for tool in tools if _is_function(tool)]


def _is_function(tool: Mapping[str, Any]) -> bool:
    """Whether `definition_of` can read the tool. A provider's own tools only stay in the request."""
    try:
        return bool(definition_of(tool).name)
    except ToolDefinitionError:
        return False
