"""Detects the end of a reply in a stream's events: a finish reason, or the end mark of the wire format.

LiteLLM invents the finish reason `stop` for a stream that ends without one, so a cut reply looks complete. This module
therefore reads the events themselves, below LiteLLM.

| wire format | what ends a reply |
|---|---|
| OpenAI chat | a known `finish_reason` of the first choice, or `data: [DONE]` |
| OpenAI Responses | `response.completed`, `response.incomplete`, `response.failed` |
| Anthropic | a known `stop_reason`, or `message_stop` |
| Gemini | a `finishReason`, or the `blockReason` of a prompt |
| Ollama | `"done": true` |
| Bedrock | `messageStop` |
| Cohere | `message-end`, `stream-end`, `is_finished` |

If the format also has an end mark, an unknown finish reason alone does not end the reply: the server may use it for an
aborted or unfinished reply. A reason such as `in_progress` ends a reply in no format.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from pydantic_core import from_json

from llmcore.adapters.wire.body_facts import BodyFacts
from llmcore.support.values.narrowing import is_list, is_object, object_in, objects_in
from llmcore.types.finish_reasons import INCOMPLETE, is_no_end, may_continue, reason_of

__all__ = [
    "DONE",
    "StreamEnd",
    "ends_reply",
    "is_of_a_wire",
    "is_whole_reply",
    "may_be_stream_event",
    "may_be_stream_line",
    "parse_json",
    "reply_end",
    "says_incomplete",
    "why_no_reply",
    "why_unreadable",
]

DONE = b"[DONE]"
"""OpenAI chat's end mark, the data of its last event."""
_FINISH_KEYS = ("finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason", "blockReason")
_TYPE_KEYS = ("type", "event_type")
_END_TYPES = frozenset(
    {"message_stop", "message-end", "stream-end", "response.completed", "response.incomplete", "response.failed"}
)
_PLACES = ("choices", "candidates", "delta", "messageStop", "results", "details")
"""Fields of an event that may hold a finish reason. Messages are not searched: their calls may contain the same words."""
_MARKED = ("choices", "delta")
"""Those of these fields whose wire formats send an end mark."""
_CHOICES = ("choices", "candidates")
_NOT_WHOLE = frozenset({"failed", "cancelled", INCOMPLETE})
_END_FLAGS = ("done", "is_finished")
_KNOWN_KEYS = frozenset({"choices", "candidates", "done", "contentBlockDelta", "messageStop", "promptFeedback"})
_KNOWN_TYPES = re.compile(
    r"(?:message|content_block|content|tool-call|tool-plan|response)[_.-]|ping|stream-start|text-generation"
)
_LISTS = ("choices", "candidates", "generations")
_REPLY_KEYS = frozenset({*_LISTS, "promptFeedback"})
_SPEAKERS = ("assistant", "model")
_WHOLE_TYPES = (None, "message", "response", "chat.completion")


def parse_json(data: bytes) -> Any:
    """Return the JSON value, None if it cannot be read."""
    try:
        return from_json(data)
    except ValueError:  # also for a lone surrogate or deep nesting, which json may accept
        pass
    try:
        return json.loads(data.decode())
    except (ValueError, RecursionError):
        return None


def why_unreadable(data: bytes) -> str:
    """Return which limit the JSON exceeds that `parse_json` cannot read. Empty if it is cut or invalid."""
    try:
        json.loads(data.decode())
    except UnicodeDecodeError as error:
        return "" if error.end >= len(data) else "it is no UTF-8"  # cut inside a character
    except RecursionError:
        return "it is nested deeper than is read, some 1,000 levels"
    except ValueError as error:
        most = sys.get_int_max_str_digits()
        return f"a number in it has more digits than are read, {most:,}" if "integer string conversion" in str(error) else ""
    return ""


def ends_reply(event: object) -> bool:
    """Whether this event, of any wire format, ends the reply."""
    return reply_end(event)[0]


def reply_end(event: object) -> tuple[bool, str]:
    """Return whether this event ends a reply, and its finish word, "" without one. A finish word alone may not end a reply."""
    if not is_object(event) or ("done" in event and event["done"] is not True):
        return False, ""
    if _word_in(object_in(event.get("promptFeedback"))):
        return True, "content_filter"  # block reasons have other meanings as finish reasons
    places = (("", event), *((place, part) for place in _PLACES if place in event for part in _parts(event[place])))
    place, word = next(((place, word) for place, part in places if _is_read(place, part) and (word := _word_in(part))), ("", ""))
    if word and (place not in _MARKED or reason_of(word) is not None):
        return True, word
    if any(isinstance(kind := event.get(key), str) and kind in _END_TYPES for key in _TYPE_KEYS):
        goes_on, why = _response_end(object_in(event.get("response")))
        return not goes_on, word or why or (INCOMPLETE if event.get("type") == "response.incomplete" else "")
    return any(event.get(key) is True for key in _END_FLAGS), word


def _response_end(response: dict[str, Any]) -> tuple[bool, str]:
    """Of an OpenAI Responses object: whether its `status` says that it continues, and its finish word."""
    why, status = object_in(response.get("incomplete_details")).get("reason"), response.get("status")
    if may_continue(status):
        return True, ""
    if isinstance(why, str):
        return False, why
    return False, status if isinstance(status, str) and status.lower() in _NOT_WHOLE else ""


def _parts(value: object) -> list[dict[str, Any]]:
    return list(objects_in(value)) if is_list(value) else [object_in(value)]


def _is_read(place: str, part: dict[str, Any]) -> bool:
    """Whether the part is not a further choice. Only the first choice is read."""
    return place not in _CHOICES or part.get("index") in (None, 0) or not isinstance(part["index"], int)


def _word_in(part: dict[str, Any]) -> str:
    for key in _FINISH_KEYS:
        word = part.get(key)
        if isinstance(word, str) and not is_no_end(word):
            return word
    return ""


def is_of_a_wire(event: object) -> bool:
    """Whether this is an event of a known wire format."""
    if not is_object(event):
        return False
    kind = event.get("type", event.get("event_type"))
    return not _KNOWN_KEYS.isdisjoint(event) or (isinstance(kind, str) and _KNOWN_TYPES.match(kind) is not None)


def says_incomplete(body: object) -> bool:
    """Whether this body says that the reply continues: by Ollama's `done`, by `status` of OpenAI Responses, or by a finish
    reason.

    If such a field is null or missing, it says nothing: many servers omit it from whole bodies.
    """
    if not is_object(body):
        return False
    status = body.get("status") if is_list(body.get("output")) else None
    words = (part.get("finish_reason") for part in objects_in(body.get("choices"))[:1])
    is_incomplete = body.get("done") is not None or any(map(may_continue, (status, *words)))
    return is_incomplete and not ends_reply(body)


def is_whole_reply(body: object) -> bool:
    """Whether this JSON is the body of a whole reply in any wire format, not an event of a stream or an error."""
    if not is_object(body) or body.get("error") or says_incomplete(body):
        return False
    if any("delta" in choice for choice in objects_in(body.get("choices"))) or all(
        body.get("type") != kind for kind in _WHOLE_TYPES
    ):
        return False
    output = body.get("output")
    return (
        any(part for key in _LISTS for part in _objects(body.get(key)))
        or bool(object_in(body.get("promptFeedback")))
        or is_object(body.get("message"))
        or _is_content(body)
        or is_list(output)
        or "message" in object_in(output)
    )


def _is_content(body: dict[str, Any]) -> bool:
    """Whether `content` is a model's, since other services use this field too.

    Blocks are. An object or a number is only if another field says that a model speaks.
    """
    content = body.get("content")
    if is_list(content) and any("type" in block or "text" in block for block in objects_in(content)):
        return True
    if is_object(content) and ("parts" in content or "text" in content):
        return True
    speaks = body.get("role") in _SPEAKERS or body.get("type") == "message" or ends_reply(body)
    return speaks and (is_list(content) or is_object(content) or isinstance(content, int | float))


def _objects(value: object) -> list[dict[str, Any]]:
    return list(objects_in(value)) if is_list(value) else []


def why_no_reply(document: object) -> str:
    """Return why a whole body without an error is no reply. Empty if it is one."""
    if is_whole_reply(document):
        return ""
    if says_incomplete(document):
        return "the reply ended before its end: its body says that it is not done"
    return "the server answered with JSON that is no reply"


def may_be_stream_line(body: object) -> bool:
    """Whether this body may be the first line of a cut Ollama stream. It is neither marked as the last nor of another format."""
    if not is_object(body) or ends_reply(body) or not is_object(body.get("message")):
        return False
    return not any(key in body for key in ("content", "output", *_REPLY_KEYS))


def may_be_stream_event(body: object) -> bool:
    """Whether this body may be an event of a stream that continues. In Gemini's and Ollama's formats, events look like
    bodies."""
    return may_be_stream_line(body) or (is_object(body) and "candidates" in body and not ends_reply(body))


class StreamEnd:
    """Collects from one stream's events whether the reply is complete.

    `finished`: an event said so; `word` is its finish word. `done`: OpenAI's end mark arrived. `is_final`: that, or another
    last event (Ollama's `"done": true`), so the connection's end need not be awaited. `events` counts them. `known`: the wire
    format is known, so a reply without an end was cut. `facts`: the server's facts about the reply.
    """

    __slots__ = ("done", "events", "facts", "finished", "is_final", "known", "word")

    def __init__(self) -> None:
        self.finished = self.known = self.done = self.is_final = False
        self.word = ""
        self.events = 0
        self.facts = BodyFacts()

    @property
    def seen(self) -> bool:
        return self.finished or self.done

    def mark_done(self) -> None:
        """Record OpenAI's end mark."""
        self.known = self.done = self.is_final = True

    def add(self, event: object) -> None:
        """Record the next event."""
        self.events += 1
        self.facts.add(event)
        self.known = self.known or is_of_a_wire(event)
        ends, word = reply_end(event)
        self.word = word or self.word
        if ends:
            self.finished = True
            self.is_final = object_in(event).get("done") is True
