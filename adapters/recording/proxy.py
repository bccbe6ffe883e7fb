"""Recording at the wire's level: a proxy on loopback that any client can use as its base URL.

    with RecordingProxy("https://api.openai.com", "run.jsonl", provider="openai", provenance="live") as proxy:
        client = openai.OpenAI(base_url=f"{proxy.url}/v1")

Bytes pass through as they come, streams included, and each exchange becomes one line of a transcript file when it ends, also one
without a whole reply (the client left, nobody is upstream, the recording was ended): that is `truncated`, with why in `error`.
`body` is the reply's text bit for bit; `response` the same parsed, `sse` a stream, `chunks` one in AWS's binary framing.
Headers that hold secrets pass through to the provider and are never written; neither is whatever looks like a key. One thread a
connection; memory: one reply.
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
"""A line of a stream: what stands before its data, the data, the end."""
_SECONDS_TO_END = 2.0
"""For which exchanges that are going on when the recording ends may come to their own end."""
_SECONDS_TO_WRITE = 60.0
"""For lines that are being written then: large ones take their time."""
_MAX_LINE = 8192
"""Bytes of a line between the chunks of a request's body."""
_log = logger("recording")
_STREAMS = ("text/event-stream", "application/x-ndjson", "application/jsonl")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]  # the one server this handler is made for

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet: paths may hold keys."""

    def _forward(self) -> None:
        try:
            body = self._sent()
        except ValueError:
            self.close_connection = True  # where the next request begins cannot be told
            self._refuse(400, "the body of the request is not framed as its headers say")
            return
        headers = _forwarded(dict(self.headers.items())) | {"Accept-Encoding": "identity"}
        owner = self.server.owner
        hide_in_logs(owner.secrets(self.path, headers))
        exchange = owner.begun(self.path, headers, body)
        try:
            url = _behind(self.server.upstream, self.path)
            with self.server.client.stream(self.command, url, content=body, headers=headers) as reply:
                exchange.status, exchange.headers = reply.status_code, reply.headers
                self._pass_on(reply, exchange.got)
            owner.ended(exchange, _cut_off(exchange))
        except httpx.HTTPError as error:
            kind = type(error).__name__
            owner.ended(exchange, Cut(kind, "upstream cannot be reached" if exchange.status is None else "upstream broke off"))
            if exchange.status is None:
                self._refuse(502, f"{kind}: upstream cannot be reached")
            self.close_connection = exchange.status is not None  # half of its reply is on its way: all that can be said
        except (BrokenPipeError, ConnectionResetError) as error:
            self.close_connection = True  # the client hung up; the connection upstream is closed with it
            owner.ended(exchange, Cut(type(error).__name__, "the client left before the end"))

    do_POST = do_GET = do_DELETE = do_PUT = do_PATCH = do_HEAD = do_OPTIONS = _forward

    def _sent(self) -> bytes:
        """The body of the request, of whichever length or in chunks (RFC 9112, section 7.1). Raises `ValueError`."""
        if "chunked" not in self.headers.get("transfer-encoding", "").lower():
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        body = bytearray()
        while size := int(self.rfile.readline(_MAX_LINE).partition(b";")[0], 16):
            if size < 0:
                raise ValueError(size)
            body += self.rfile.read(size)
            self.rfile.readline(_MAX_LINE)
        while self.rfile.readline(_MAX_LINE).strip():
            continue  # a trailer, which says nothing that is sent on
        return bytes(body)

    def _pass_on(self, reply: httpx.Response, got: bytearray) -> None:
        self.send_response(reply.status_code)
        for name, value in _forwarded(reply.headers).items():
            self.send_header(name, value)
        if self.command == "HEAD":  # its reply has no body, whatever length it tells
            if (length := reply.headers.get("content-length")) is not None:
                self.send_header("Content-Length", length)
            self.end_headers()
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in _pieces(reply):
            got += piece
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
    """One that has begun: what was sent, and what has come of the reply. `status` None: nothing yet."""

    path: str
    sent: Mapping[str, str]
    body: bytes
    got: bytearray = field(default_factory=bytearray)
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def _cut_off(exchange: _Exchange) -> Cut | None:
    """Did the connection's end come before that of the reply in it? Where a server closes it, nothing else tells."""
    kind = exchange.headers.get("content-type", "").split(";")[0].strip()
    cut = Cut("Incomplete", "upstream closed the connection before the reply's end")
    if exchange.status is None or exchange.status >= 400:
        return None
    if kind in _STREAMS:
        stream = EventStream(DEFAULT_LIMITS, binary=False, known=True)
        stream.feed(bytes(exchange.got))
        stream.finish()
        return cut if stream.end.known and not stream.end.seen and not stream.is_broken else None
    return cut if kind == "application/json" and exchange.got and isinstance(_json(bytes(exchange.got)), str) else None


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
        """A client that hangs up between two requests is no fault of anybody's; what else fails is told in a line."""
        error = sys.exception()
        if not isinstance(error, ConnectionError):
            self.owner.failed(error)


class RecordingProxy:
    """See the module. `upstream`: the URL that paths of requests are put behind, a provider's root or its usual base URL, whose
    own path (`/v1`) a client may send as well;
    `port` 0 takes a free one; `tell` is told of each exchange that has no whole reply, or could not be written. Raises OSError
    when the port is taken."""

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
        """How many have been written."""
        self.cut = 0
        """How many of these have no whole reply."""
        self.lost = 0
        """How many could not be written."""
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
        """Where the proxy listens; what stands behind it in a request is put behind `upstream`."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def secrets(self, path: str, sent: Mapping[str, str]) -> list[str]:
        """What a request holds of secrets. For the proxy's own handler."""
        return list(secrets_in({"api_base": _behind(self._server.upstream, path), "extra_headers": sent}))

    def begun(self, path: str, sent: Mapping[str, str], body: bytes) -> _Exchange:
        """An exchange begins. For the proxy's own handler."""
        exchange = _Exchange(path, sent, body)
        with self._changed:
            self._open.append(exchange)
        return exchange

    def failed(self, error: BaseException | None) -> None:
        """A request could not be served. For the proxy's own server."""
        self._tell(f"a request could not be passed on: {type(error).__name__}")

    def ended(self, exchange: _Exchange, cut: Cut | None = None) -> None:
        """It is over, and becomes a line, unless it is one already; `cut`: why it has no whole reply. For the proxy's own
        handler."""
        with self._changed:
            if exchange not in self._open:
                return
            self._open.remove(exchange)
            self._writing += 1
        try:
            self._keep(exchange, cut)
        except Exception as error:  # a full disk, data that cannot be written
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

    def _keep(self, ended: _Exchange, cut: Cut | None) -> None:
        if not ended.body:  # it asks no model: a list of models is looked up
            return
        scrubber = process_scrubber(self.secrets(ended.path, ended.sent))
        request = _json(ended.body)
        model = _model(ended.path, request)
        exchange: dict[str, Any] = {
            # without tools in the request, a prompt may have taught them: then its mode is not known
            "attempt": {"model": model, "reason": "first"} | ({"mode": "native_tools"} if _offers_tools(request) else {}),
            "request": request,
            **_response(scrubber, ended.status, ended.headers.get("content-type", ""), bytes(ended.got), cut),
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
            self.cut += cut is not None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        with self._changed:  # a client has its reply a moment before the line is written
            self._changed.wait_for(lambda: not self._open and not self._writing, timeout=_SECONDS_TO_END)
            still_open = list(self._open)
        for exchange in still_open:
            self.ended(exchange, Cut("Ended", "the recording was ended before the reply was"))
        with self._changed:
            if not self._changed.wait_for(lambda: not self._writing, timeout=_SECONDS_TO_WRITE):
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
    """The events of a stream in AWS's binary frames, and what it ended in; one that cannot be read to its end says so."""
    read = aws_events(reply)
    told: dict[str, Any] = {"chunks": list(scrubber.events(read.events))}
    if read.fault:
        return {**told, "truncated": True, "error": {"type": "Unreadable", "message": f"{AWS_STREAM}: {read.fault}"}}
    return {**told, "error": read.error} if read.error is not None else told


def _stream(scrubber: Scrubber, text: str) -> str:
    """A stream's text; the events that hold a piece of a secret are written anew, all others stay bit for bit."""
    lines = _LINE.findall(text)
    events = {index: event for index, line in enumerate(lines) if is_object(event := _json(line[1].encode("utf-8", "replace")))}
    for (index, before), after in zip(events.items(), scrubber.events(events.values()), strict=True):
        if after != before:
            prefix, _, end = lines[index]
            lines[index] = (prefix, as_json(after, ascii_only=True), end)
    return "".join(itertools.chain.from_iterable(lines))


def _behind(upstream: str, path: str) -> str:
    """The URL of a request: its path behind `upstream`, of whose own path what the request's begins with is not doubled (a client
    puts `/v1` behind an address without a path)."""
    end = upstream.find("/", upstream.find("://") + 3)
    own = upstream[end:].split("/")[1:] if end >= 0 else []
    asked = path.partition("?")[0].split("/")[1:]
    twice = next((most for most in range(len(own), 0, -1) if own[-most:] == asked[:most]), 0)
    return upstream.removesuffix("".join(f"/{part}" for part in own[len(own) - twice :])) + path


def _offers_tools(request: Any) -> bool:
    """Does the body offer tools, on whatever wire?"""
    return any(object_in(request).get(key) for key in ("tools", "functions", "toolConfig"))


def _model(path: str, request: Any) -> str:
    """As the body says it, or the path: Gemini's `/models/NAME:generateContent`, Bedrock's `/model/NAME/converse`, its name
    encoded."""
    path = path.partition("?")[0]
    in_path = path.rpartition("/models/")[2].partition(":")[0] if "/models/" in path else _in_path(path)
    return str(object_in(request).get("model") or in_path)


def _in_path(path: str) -> str:
    before, found, behind = path.rpartition("/model/")
    return unquote(behind.partition("/")[0]) if found else before or path


def _tools(request: Any) -> list[dict[str, Any]]:
    """The tools of a request body, on any wire: Gemini nests its declarations, Bedrock has them in its `toolConfig`."""
    tools: list[dict[str, Any]] = []
    body = object_in(request)
    for tool in objects_in(body.get("tools") or object_in(body.get("toolConfig")).get("tools")):
        declared = objects_in(tool.get("functionDeclarations")) or objects_in(tool.get("function_declarations"))
        tools += declared or [tool]
    return [tool for tool in tools if _is_function(tool)]


def _is_function(tool: Mapping[str, Any]) -> bool:
    """Is it a tool of the caller's that `definition_of` reads? Those of the provider's own are part of the request alone."""
    try:
        return bool(definition_of(tool).name)
    except ToolDefinitionError:
        return False
