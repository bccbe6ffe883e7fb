"""`HttpExchange`: one request and its reply, as bytes. It finds the wire by the path, and rewrites the reply.

For transports and proxies. What it does not know passes unchanged: other paths, requests without functions, and bodies and events
that cannot be read. The work is linear in the bytes, however a stream is split.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from llmcore.adapters.wire.terminators import parse_json
from llmcore.support.values.narrowing import is_object, object_in
from llmcore.types import DEFAULT_LIMITS, CallerError
from llmcore.types.logs import logger
from llmcore.types.requests import TextCalls
from llmcore.wire import anthropic, openai_chat, openai_responses
from llmcore.wire.extension import extension, with_extension
from llmcore.wire.ids import IdForm
from llmcore.wire.rewriting import ReplyReport, RewriteSettings, Rewritten, StreamRewriter, is_error_event
from llmcore.wire.sse import DONE, ServerEvent, ServerEventSplitter, event_bytes, json_bytes
from llmcore.wire.tools import decode_tools

__all__ = ["ExchangeOptions", "HttpExchange", "StreamedReply"]

_log = logger("wire")
_BLANK_LINES = (b"\n\n", b"\r\n\r\n", b"\r\r")


@dataclass(frozen=True, slots=True)
class _Wire:
    """One wire: the rewriters of its replies, the form of its ids, and whether its events have names."""

    rewrite: Callable[[dict[str, Any], RewriteSettings], Rewritten]
    stream: Callable[[RewriteSettings], StreamRewriter]
    ids: IdForm = "openai"
    named: bool = False


_WIRES = {
    "/chat/completions": _Wire(openai_chat.rewrite, openai_chat.StreamRewriter),
    "/responses": _Wire(openai_responses.rewrite, openai_responses.StreamRewriter, named=True),
    "/messages": _Wire(anthropic.rewrite, anthropic.StreamRewriter, "anthropic", named=True),
}
"""By the end of the path."""
_LAST_EVENTS = frozenset({"message_stop", "response.completed", "response.incomplete", "response.failed"})
"""The events with which the rewriters of named streams return the rest of a reply."""


def _wire_of(path: str) -> _Wire | None:
    return next((wire for end, wire in _WIRES.items() if path.rstrip("/").endswith(end)), None)


@dataclass(frozen=True, slots=True)
class ExchangeOptions:
    """How replies are read: as the parameters of `llmcore.normalize`. `on_reply` receives a report of each rewritten reply.

    `extension`: whether replies get the field `llmcore` of `extension.extension`, if there is anything to report.
    """

    dialects: Collection[str] | None = None
    reasoning_open: bool = False
    text_calls: TextCalls = "standard"
    on_reply: Callable[[ReplyReport], object] | None = None
    extension: bool = False


class HttpExchange:
    """A request that offers functions, whose reply can be rewritten. `HttpExchange.of` finds out whether one is."""

    __slots__ = ("_options", "_settings", "_wire")

    def __init__(self, wire: _Wire, settings: RewriteSettings, options: ExchangeOptions) -> None:
        self._wire, self._settings, self._options = wire, settings, options

    @staticmethod
    def of(path: str, body: bytes, options: ExchangeOptions, host: str = "") -> HttpExchange | None:
        """The exchange of a POST request with this path and body; None if its reply must pass unchanged.

        That is a request to another API, one that offers no functions, and one that forbids calls. A request with a fault is the
        server's to refuse. `host`: Mistral's own API takes ids of another form.
        """
        if _wire_of(path) is None or b'"tools"' not in body:
            return None
        request = parse_json(body)
        return HttpExchange.of_request(path, request, options, host) if is_object(request) else None

    @staticmethod
    def of_request(path: str, request: Mapping[str, Any], options: ExchangeOptions, host: str = "") -> HttpExchange | None:
        """As `of`, for a request that is data already. Only its `tools` and `tool_choice` are read."""
        wire = _wire_of(path)
        if wire is None or not request.get("tools"):
            return None
        try:
            tools = decode_tools(request.get("tools"), free_text="function")
        except CallerError as error:
            _log.info("the tools of a request cannot be read, so its reply passes unchanged: %s", error)
            return None
        choice = request.get("tool_choice")
        if not len(tools.tools) or "none" in (choice, object_in(choice).get("type")):
            return None
        settings = RewriteSettings(
            tools.tools,
            dialects=options.dialects,
            reasoning_open=options.reasoning_open,
            forced_tool=_forced_tool(choice, tools.tools.names),
            text_calls=options.text_calls,
            free_text=tools.free_text,
            ids="mistral" if host.endswith("mistral.ai") else wire.ids,
        )
        return HttpExchange(wire, settings, options)

    def body(self, raw: bytes) -> bytes:
        """The whole reply rewritten. The given object if nothing had to change, or if it is no JSON object."""
        body = parse_json(raw)
        if not is_object(body):
            return raw
        rewritten = self.rewrite(body)
        return raw if rewritten is body else json_bytes(rewritten)

    def rewrite(self, body: dict[str, Any]) -> dict[str, Any]:
        """The whole reply rewritten, as data. The given object if nothing had to change."""
        rewritten = self._wire.rewrite(body, self._settings)
        self.report(rewritten.reports)
        (written,) = self.extended([rewritten.body], rewritten.reports)
        return written

    def stream(self) -> StreamedReply:
        """A rewriter of the reply as server-sent events."""
        return StreamedReply(self, self.rewriter(), named=self._wire.named)

    def rewriter(self) -> StreamRewriter:
        """A rewriter of the reply as events that are data. Its reports are for `report`."""
        return self._wire.stream(self._settings)

    def report(self, reports: list[ReplyReport]) -> None:
        """Log what was done, without words of the reply, and give it to `on_reply`."""
        for each in reports:
            reasons = ", ".join(sorted({withheld.reason for withheld in each.withheld}))
            if each.calls or reasons:
                why = f" ({reasons})" if reasons else ""
                _log.debug("calls of a reply: %d handed out, %d withheld%s", len(each.calls), len(each.withheld), why)
            if length := len(each.reclassified_reasoning):
                _log.debug("%d characters were streamed as content and turned out to be reasoning", length)
            if self._options.on_reply is not None:
                self._options.on_reply(each)

    def extended(self, bodies: list[dict[str, Any]], reports: list[ReplyReport]) -> list[dict[str, Any]]:
        """A body or the last events of a stream, with the field `llmcore` if that is wanted."""
        return with_extension(bodies, extension(reports)) if self._options.extension else bodies


def _forced_tool(choice: object, names: frozenset[str]) -> str | None:
    """The tool that a `tool_choice` of any wire names."""
    inner = object_in(choice)
    name = object_in(inner.get("function")).get("name") or inner.get("name")
    return name if isinstance(name, str) and name in names else None


class _Event(dict[str, Any]):
    """An event that keeps its bytes, which are sent again if it does not change."""

    __slots__ = ("raw",)
    raw: bytes


class StreamedReply:
    """Rewrites the bytes of one stream. Events that need not change keep their bytes."""

    __slots__ = ("_exchange", "_is_reported", "_named", "_passes", "_rewriter", "_splitter")

    def __init__(self, exchange: HttpExchange, rewriter: StreamRewriter, *, named: bool) -> None:
        self._exchange, self._rewriter, self._named = exchange, rewriter, named
        self._splitter = ServerEventSplitter()
        self._is_reported = self._passes = False
        """`_passes`: whether the rest passes unchanged, because an event is too long."""

    def feed(self, data: bytes) -> bytes:
        """The bytes to send for these ones; b"" for none."""
        if self._passes:
            return data
        written = [*map(self._event, self._splitter.feed(data))]
        if len(self._splitter) > DEFAULT_LIMITS.line:
            self._passes = True
            written += [self._rest(done=False), self._splitter.rest]
        return b"".join(written)

    def finish(self) -> bytes:
        """The last bytes, at the end of the stream. If the reply was cut, these are its withheld text."""
        if self._passes:
            return b""
        written = b""
        for event in self._splitter.finish():
            if event.data == DONE or parse_json(event.data) is not None:
                written += self._event(event)
            else:  # a part of an event
                written += self._rest(done=False) + event.raw
        rest = self._rest(done=False)
        if rest and written and not written.endswith(_BLANK_LINES):  # the last event has no end, and others follow
            written += b"\n\n"
        return written + rest

    def _event(self, event: ServerEvent) -> bytes:
        data = event.data
        if data == DONE:
            return self._rest(done=True) + event.raw
        if event.name == b"error":
            return self._rest(done=False) + event.raw
        chunk = parse_json(data) if data.startswith(b"{") else None
        if not is_object(chunk):
            return event.raw
        chunk = _Event(chunk)
        chunk.raw = event.raw
        chunks = self._rewriter.feed(chunk)
        if chunk.get("type") in _LAST_EVENTS or is_error_event(chunk):
            chunks = self._reported(chunks)
        return b"".join([self._bytes(each) for each in chunks])

    def _rest(self, *, done: bool) -> bytes:
        return b"".join(map(self._bytes, self._reported(self._rewriter.finish(done=done))))

    def _reported(self, chunks: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Report the reply, whose end these chunks are. Its client may read nothing after them."""
        if self._is_reported:
            return chunks
        self._is_reported = True
        self._exchange.report(self._rewriter.reports)
        return self._exchange.extended(chunks, self._rewriter.reports)

    def _bytes(self, chunk: dict[str, Any]) -> bytes:
        if isinstance(chunk, _Event):
            return chunk.raw
        return event_bytes(chunk, str(chunk.get("type") or "") if self._named else "")
