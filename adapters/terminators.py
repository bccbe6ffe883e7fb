"""How a stream's bytes say that the reply is whole: a finish reason, or the end mark of the wire.

LiteLLM invents the finish reason `stop` when a stream ends without one, so a reply that was cut in the middle looks whole. Here
the bytes themselves are read, below LiteLLM: server-sent events, JSON lines, and AWS's binary frames.

| wire | what ends a reply |
|---|---|
| OpenAI chat | a `finish_reason`, or `data: [DONE]` |
| OpenAI Responses | `response.completed`, `response.incomplete`, `response.failed` |
| Anthropic | a `stop_reason`, or `message_stop` |
| Gemini | a `finishReason`, or the `blockReason` of a prompt |
| Ollama | `"done": true` |
| Bedrock | `messageStop` |
| Cohere | `message-end`, `stream-end`, `is_finished` |

Memory is bounded by one line; work is linear in the bytes, however they are cut. JSON is parsed only where a line holds one of
the words.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator
from typing import Any

from llmcore.types.narrowing import is_list, is_object, object_in, objects_in
from llmcore.types.numbers import exact_float, exact_loads

__all__ = ["DONE", "EventLines", "Frames", "StreamEnd", "TooLong", "ends_reply", "is_whole_reply", "parse_json"]

DONE = b"[DONE]"
"""OpenAI chat's end mark, the data of its last event."""
_BOM = b"\xef\xbb\xbf"
_FRAME_HEAD, _FRAME_CHECK = 12, 4

_FINISH_KEYS = ("finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason", "blockReason")
_NO_FINISH = frozenset({"", "null", "none", "finish_reason_unspecified", "block_reason_unspecified"})
_TYPE_KEYS = ("type", "event_type")
_END_TYPES = frozenset(
    {"message_stop", "message-end", "stream-end", "response.completed", "response.incomplete", "response.failed"}
)
_PLACES = ("choices", "candidates", "delta", "promptFeedback", "messageStop", "results", "details")
"""Where beside the event itself a finish reason stands. Nothing is looked for in a message: its calls may hold the same words."""
_END_FLAGS = ("done", "is_finished")
_REASON, _IS_DONE = re.compile(rb'eason"\s*:\s*"'), re.compile(rb'"done"\s*:\s*true')
_SIGNS = (b'_stop"', b'-end"', b'"is_finished"', b'"response.')
"""Bytes without which no event ends a reply. Looking for them costs a tenth of parsing."""
_KNOWN_KEYS = frozenset({"choices", "candidates", "done", "contentBlockIndex", "promptFeedback"})
_KNOWN_TYPES = re.compile(
    r"(?:message|content_block|content|tool-call|tool-plan|response)[_.-]|ping|stream-start|text-generation"
)
_REPLY_KEYS = frozenset({"choices", "candidates", "generations", "promptFeedback"})
_WHOLE_TYPES = (None, "message", "response", "chat.completion")


class TooLong(ValueError):
    """A line or frame of a stream is longer than it may be."""


def parse_json(data: bytes) -> Any:
    """The JSON value; None when it cannot be read."""
    try:
        return exact_loads(data)
    except ValueError:  # also for half a surrogate pair or deep nesting, which the other reader may take
        pass
    try:
        return json.loads(data.decode("utf-8", "replace"), parse_float=exact_float)
    except (ValueError, RecursionError):
        return None


def ends_reply(event: object) -> bool:
    """Does this event of a stream, of whatever wire, say that the reply is whole?"""
    if not is_object(event):
        return False
    if any(isinstance(kind := event.get(key), str) and kind in _END_TYPES for key in _TYPE_KEYS):
        return True
    if any(event.get(key) is True for key in _END_FLAGS) or _finishes(event):
        return True
    return any(_finishes(part) for place in _PLACES for part in _parts(event.get(place)))


def _parts(value: object) -> list[dict[str, Any]]:
    return list(objects_in(value)) if is_list(value) else [object_in(value)]


def _finishes(part: dict[str, Any]) -> bool:
    for key in _FINISH_KEYS:
        word = part.get(key)
        if isinstance(word, str) and word.lower() not in _NO_FINISH:
            return True
    return False


def _is_known(event: object) -> bool:
    if not is_object(event):
        return False
    kind = event.get("type", event.get("event_type"))
    return not _KNOWN_KEYS.isdisjoint(event) or (isinstance(kind, str) and _KNOWN_TYPES.match(kind) is not None)


def is_whole_reply(body: object) -> bool:
    """Is this JSON the body of a whole reply, on any wire, rather than one event of a stream or an error?"""
    if not is_object(body) or body.get("error") or body.get("done") is False:
        return False
    if any("delta" in choice for choice in objects_in(body.get("choices"))) or all(
        body.get("type") != kind for kind in _WHOLE_TYPES
    ):
        return False
    told = body.get("content"), body.get("message"), body.get("output")
    return not _REPLY_KEYS.isdisjoint(body) or any(is_object(part) or is_list(part) for part in told)


class EventLines:
    """Server-sent events and JSON lines out of bytes: the data of each event, without its framing.

    A `data:` line that is a JSON object or `[DONE]` is an event by itself, since some servers leave out the blank line; other
    ones are joined until it comes. `longest`: bytes an event may have; `feed` raises `TooLong` beyond.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._line: list[bytes] = []
        self._data: list[bytes] = []
        self._length = self._held = 0  # bytes that wait; those of them that stand in `_data`
        self._begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The data of the events that end in these bytes."""
        for line in data.splitlines(keepends=True):
            self._line.append(line)
            self._length += len(line)
            if self._length > self._longest:
                raise TooLong
            if line.endswith((b"\n", b"\r")):
                yield from self._take(self._joined())

    def finish(self) -> Iterator[bytes]:
        """The stream is over; a last event without its line break still counts."""
        yield from self._take(self._joined())
        yield from self._take(b"")

    def _joined(self) -> bytes:
        line = b"".join(self._line).strip()
        self._line, self._length = [], self._held
        if not self._begun:
            line = line.removeprefix(_BOM).lstrip()
            self._begun = bool(line)
        return line

    def _take(self, line: bytes) -> Iterator[bytes]:
        if line.startswith(b"data:"):
            line = line[5:].strip()
            if line and (self._data or not (line == DONE or (line.startswith(b"{") and line.endswith(b"}")))):
                self._data.append(line)
                self._held += len(line)
                self._length = self._held
            elif line:
                yield line
        elif not line:
            if self._data:
                data, self._data, self._length, self._held = b"\n".join(self._data).strip(), [], 0, 0
                yield data
        elif line.startswith((b"{", b"[")):
            yield line


class Frames:
    """AWS's event stream: the payloads of its frames. Same use as `EventLines`."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._held = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._held += data
        at = 0
        while len(self._held) - at >= _FRAME_HEAD:
            length = int.from_bytes(self._held[at : at + 4])
            headers = int.from_bytes(self._held[at + 4 : at + 8])
            if not _FRAME_HEAD + _FRAME_CHECK + headers <= length <= self._longest:
                raise TooLong
            if len(self._held) - at < length:
                break
            yield _unwrapped(bytes(self._held[at + _FRAME_HEAD + headers : at + length - _FRAME_CHECK]))
            at += length
        del self._held[:at]

    def finish(self) -> Iterator[bytes]:
        """Half a frame holds nothing."""
        yield from ()


def _unwrapped(payload: bytes) -> bytes:
    """A model's own event stands in the frame in base64, where the request was made in the model's own format."""
    if not payload.startswith(b'{"bytes"') or (inner := object_in(parse_json(payload)).get("bytes")) is None:
        return payload
    try:
        return base64.b64decode(str(inner))
    except (ValueError, binascii.Error):
        return payload


class StreamEnd:
    """Watches the events of one stream. `finished`: one said that the reply is whole; `done`: OpenAI's end mark came; `events`:
    how many came; `known`: they are of a wire whose end is known, so that without it the reply was cut."""

    __slots__ = ("done", "events", "finished", "known")

    def __init__(self) -> None:
        self.finished = self.known = self.done = False
        self.events = 0

    @property
    def seen(self) -> bool:
        return self.finished or self.done

    def saw(self, data: bytes, event: object = None) -> None:
        """The data of the next event; `event`: the same parsed, where that was done."""
        if data == DONE:
            self.known = self.done = True
            return
        self.events += 1
        if not self.known:
            self.known = _is_known(event or parse_json(data))
        if not self.finished and (_REASON.search(data) or _IS_DONE.search(data) or any(sign in data for sign in _SIGNS)):
            self.finished = ends_reply(event or parse_json(data))
