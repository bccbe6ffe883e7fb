"""Checks the events of a stream as they arrive. Valid events are passed on; the first invalid event ends the stream.

LiteLLM drops an event that it cannot read, or everything after it, and it may read an error event as part of a reply. Nobody
would notice the lost text, and a tool call could run without a part of its arguments. So LiteLLM receives only events that
were checked here, each in the simplest framing. Linear in the bytes; memory is bounded by one event.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from llmcore.adapters.wire.counts import with_sound_counts
from llmcore.adapters.wire.error_events import ErrorEvent, error_in, is_ping, plain_words
from llmcore.adapters.wire.extent import too_many_values, too_many_values_in
from llmcore.adapters.wire.framing import EventLines, Frames, Sent, TooLong
from llmcore.adapters.wire.terminators import DONE, StreamEnd, parse_json, why_unreadable
from llmcore.support.values.json_data import as_json
from llmcore.support.values.narrowing import is_list, is_object, object_in
from llmcore.types import Limits

__all__ = ["EventStream", "ReadChunk"]


@dataclass(slots=True)
class ReadChunk:
    """The valid events in some bytes of a stream, and these events as bytes."""

    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    written: bytearray = field(default_factory=bytearray)


class EventStream:
    """The events of one stream.

    `known`: the wire format is known, so data that is no JSON object is invalid. In other formats, only errors are detected.

    `end` is what the events say of the reply's end. `error` is the first error event. `failure` says why reading stopped.
    """

    def __init__(self, limits: Limits, *, binary: bool, known: bool) -> None:
        self.end = StreamEnd()
        self.error: ErrorEvent | None = None
        self.failure = ""
        self._limits = limits
        self._binary = binary
        self._known = known
        self._lines: EventLines | Frames = (Frames if binary else EventLines)(limits.line)
        self._text_length = 0
        self._began_with_words = False
        """Whether a line that is no JSON object came before any event. If JSON follows, these are no JSON lines."""

    @property
    def is_broken(self) -> bool:
        return self.error is not None or bool(self.failure)

    @property
    def in_document(self) -> bool:
        """Whether the bytes are one JSON text and no stream."""
        return self._lines.in_document

    def feed(self, piece: bytes) -> ReadChunk:
        """Read the next bytes, up to the first event that is an error or invalid."""
        chunk = self._read(self._lines.feed(piece))
        if self._binary or not self._known:
            chunk.written[:] = b"" if self.is_broken else piece
        return chunk

    def finish(self) -> ReadChunk:
        """End the stream. A last event that is cut does not count as invalid."""
        return self._read(self._lines.finish(), is_last=True)

    def _read(self, found: Iterator[Sent], *, is_last: bool = False) -> ReadChunk:
        chunk = ReadChunk()
        try:
            for sent in found:
                if self.end.done:  # the rest is not part of the reply
                    break
                event = None if sent.data == DONE else self._checked(sent, is_last)
                if sent.data == DONE:
                    self.end.mark_done()
                elif event is not None:
                    self.end.add(event)
                    chunk.events.append(event)
                if self.is_broken:
                    break
                if sent.data == DONE:
                    chunk.written += sent.serialized()
                elif event is not None:
                    chunk.written += b"".join(each.serialized() for each in _for_litellm(event, sent))
        except TooLong:
            self.failure = f"a line of the stream is longer than {self._limits.line:,} bytes"
        return chunk

    def _checked(self, sent: Sent, is_last: bool) -> dict[str, Any] | None:
        """The event; None if it has no content, or if it is an error or invalid."""
        self.failure = too_many_values_in(sent.data, self._limits)
        event = None if self.failure else parse_json(sent.data)
        self.failure = self.failure or too_many_values(event, self._limits)
        if self.failure:
            return None
        if is_object(event) and self._began_with_words and not sent.is_framed:
            self.failure = "the stream began with a line that is no JSON object"
            return None
        if is_object(event):
            self.error = error_in(event, sent.name, is_of_unknown_wire=not self._known)
            self._text_length += _length_of_texts(event)
            if self._text_length > self._limits.body:
                self.failure = f"the texts of the reply are longer than {self._limits.body:,} characters"
            return None if self.is_broken else event
        if not self._known or is_ping(sent) or not (sent.is_framed or self.end.events):
            self._began_with_words = self._began_with_words or (self._known and not is_ping(sent))
            return None  # text before any event is no stream; the caller reports it
        words = plain_words(sent.data)
        if words or sent.name == b"error":
            self.error = ErrorEvent(words or {"message": "the server sent an error that cannot be read"})
        elif is_last:
            self.end.events += 1
        else:
            why = why_unreadable(sent.data) or "it is no JSON object"
            self.failure = f"an event of the stream cannot be read ({len(sent.data):,} bytes; {why})"
        return None


def _for_litellm(event: dict[str, Any], sent: Sent) -> list[Sent]:
    """The event as LiteLLM can read it without loss: without invalid counts, and with a call's input as a separate delta."""
    try:
        read = with_sound_counts(event)
        whole = _with_input_as_delta(read)
        if whole is None:
            return [sent if read is event else sent._replace(data=as_json(read, ascii_only=True).encode())]
        names = [sent.name, b"content_block_delta" if sent.name else b""]
        written = (as_json(each, ascii_only=True).encode() for each in whole)
        return [sent._replace(data=text, name=name) for text, name in zip(written, names, strict=True)]
    except RecursionError:
        return [sent]


def _with_input_as_delta(event: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Anthropic's start of a call that already holds the input, split into a start and a delta. None for other events.

    Some servers send this. LiteLLM takes the input in the start for a placeholder and drops it.
    """
    if event.get("type") != "content_block_start":
        return None
    block = object_in(event.get("content_block"))
    given = object_in(block.get("input"))
    if block.get("type") != "tool_use" or not given:
        return None
    delta = {"type": "input_json_delta", "partial_json": as_json(given)}
    placeholder: dict[str, Any] = {}
    start = {**event, "content_block": {**block, "input": placeholder}}
    return start, {"type": "content_block_delta", "index": event.get("index"), "delta": delta}


def _length_of_texts(event: dict[str, Any]) -> int:
    """The characters in an event's content. Its top-level strings, such as ids and names, do not count."""
    delta = event.get("delta")
    length = len(delta) if isinstance(delta, str) else 0
    waiting: list[Any] = [value for value in event.values() if is_object(value) or is_list(value)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            length += len(value)
        elif is_object(value):
            waiting += value.values()
        elif is_list(value):
            waiting += value
    return length
