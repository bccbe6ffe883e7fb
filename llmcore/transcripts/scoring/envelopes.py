"""The envelope of one recorded reply, in any form that the transcript format allows.

No output of a model or server raises: malformed streams and bodies of unknown shape count as replies.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

from llmcore.adapters.request.conversation.restored_tokens import restored_envelope
from llmcore.adapters.request.conversation.special_tokens import joiners_in
from llmcore.normalizer import Normalizer, normalize
from llmcore.support.values.narrowing import is_object, object_in
from llmcore.transcripts.formats.events import EventSplitter
from llmcore.transcripts.model import Exchange
from llmcore.types import Envelope, ToolSet

__all__ = ["envelope_of"]

_ERROR_DEPTH = 5


def envelope_of(exchange: Exchange, tools: ToolSet | None, forced_tool: str | None) -> tuple[Envelope | None, int]:
    """The reply's envelope (None if the request failed), and the number of unreadable pieces of a recorded stream. If the
    recorded request broke special tokens, the envelope has them whole, as in the run."""
    envelope, unreadable = _as_recorded(exchange, tools, forced_tool)
    joiners = joiners_in(exchange.request) if envelope is not None else None
    if envelope is None or joiners is None:
        return envelope, unreadable
    return restored_envelope(joiners, envelope), unreadable


def _as_recorded(exchange: Exchange, tools: ToolSet | None, forced_tool: str | None) -> tuple[Envelope | None, int]:
    reader = _ReplyReader(exchange, tools, forced_tool)
    quoted_reply: list[dict[str, Any] | str] = []
    if exchange.kind == "error" or exchange.error is not None:
        quoted = _failed_generation(exchange.error, _ERROR_DEPTH)
        if quoted is None:
            return None, 0
        quoted_reply = [{"error": {"failed_generation": quoted}}]
    match exchange.kind:
        case "error":
            return reader.read(quoted_reply[0]), 0
        case "chunks":
            return reader.fed([*_chunks(exchange), *quoted_reply]), 0
        case "sse":
            return reader.streamed(exchange.sse or "", quoted_reply)
        case "response" if exchange.stream and isinstance(exchange.response, str):
            return reader.streamed(exchange.response)
        case kind:
            return reader.read(getattr(exchange, kind)), 0


class _ReplyReader:
    """Runs the normaliser with the settings of the exchange."""

    def __init__(self, exchange: Exchange, tools: ToolSet | None, forced_tool: str | None) -> None:
        self._exchange = exchange
        self._tools = tools
        self._forced_tool = forced_tool
        attempt = exchange.attempt
        self._read_as: dict[str, Any] = {"text_calls": attempt.text_calls, "own": attempt.own_dialects}

    def read(self, reply: Any) -> Envelope:
        return normalize(
            reply,
            self._tools,
            finish_reason=self._exchange.finish_reason,
            reasoning_open=self._exchange.reasoning_open,
            forced_tool=self._forced_tool,
            **self._read_as,
        )

    def fed(self, chunks: Iterable[dict[str, Any] | str]) -> Envelope:
        normalizer = Normalizer(
            self._tools, reasoning_open=self._exchange.reasoning_open, forced_tool=self._forced_tool, **self._read_as
        )
        for chunk in chunks:
            normalizer.feed(chunk)
        normalizer.finish(finish_reason=self._exchange.finish_reason)
        return normalizer.envelope

    def streamed(self, text: str, behind: Iterable[dict[str, Any] | str] = ()) -> tuple[Envelope, int]:
        splitter = EventSplitter()
        events = splitter.whole(text)
        first = next(events, None)
        if first is None:  # not a stream: the whole text is the reply
            return self.read(text), 0
        return self.fed(chain([first], events, behind)), splitter.unreadable


def _chunks(exchange: Exchange) -> list[dict[str, Any] | str]:
    """The events, and the text deltas that some adapters yield. Anything else becomes an empty event."""
    return [chunk if isinstance(chunk, str) else object_in(chunk) for chunk in exchange.chunks or []]


def _failed_generation(error: Any, depth: int) -> str | None:
    """The model's text that Groq's error body quotes. It counts as a reply."""
    if not is_object(error) or not depth:
        return None
    if isinstance(text := error.get("failed_generation"), str):
        return text
    return next((text for part in error.values() if (text := _failed_generation(part, depth - 1)) is not None), None)
