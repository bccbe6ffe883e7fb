"""Recognizes errors that a server sends with status 200: as an event of a stream, or instead of a reply.

Servers use many forms, so this is a table of signs. Some signs count everywhere. Others are words that a reply may also
contain; these count only in JSON of no known wire format.
"""

from __future__ import annotations

import json
import re
from typing import Any

from llmcore.adapters.wire.error_words import words_in
from llmcore.adapters.wire.framing import Sent
from llmcore.adapters.wire.terminators import is_of_a_wire, is_whole_reply
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.code.quoted_words import MAX_WORDS
from llmcore.support.values.narrowing import is_object, object_in, objects_in

__all__ = ["ErrorEvent", "error_in", "is_ping", "plain_words"]

_NAMED = ("type", "object", "event", "event_type", "status")
"""Fields in which the value `error` marks an error: Anthropic's, older vLLM's, Bedrock's, ..."""
_WORDS = ("message", "msg", "detail", "status_msg", "error_message", "error_msg", "errmsg", "errors")
"""Fields with the server's message. In JSON of no known wire format, each of them alone marks an error."""
_CODES = ("code", "status", "status_code", "statusCode", "error_code")
_KINDS = (
    (lazy_regex(r"rate.?limit|too.?many.?requests|resource.?exhausted|throttl", re.IGNORECASE), 429),
    (lazy_regex(r"authentication|unauthorized|unauthenticated|invalid.?api.?key", re.IGNORECASE), 401),
    (lazy_regex(r"permission|forbidden|access.?denied", re.IGNORECASE), 403),
    (lazy_regex(r"not.?found", re.IGNORECASE), 404),
    (lazy_regex(r"too.?large", re.IGNORECASE), 413),
    (lazy_regex(r"time.?out", re.IGNORECASE), 504),
    (lazy_regex(r"overloaded|unavailable", re.IGNORECASE), 503),
    (lazy_regex(r"invalid|bad.?request|unsupported|unknown.?parameter|validation", re.IGNORECASE), 400),
)
"""Names of errors (in `type`, `code`, `status`), and the HTTP status that other servers send for them."""
_PING = re.compile(rb"\W*(?:ping|pong|heart-?beat|keep-?alive)\W*\Z", re.IGNORECASE)
_PLAIN = lazy_regex(r"[^{}\[\]\"\\<>]{1,300}\Z")


class ErrorEvent(Exception):
    """An error that a server sent with status 200 (`sent_with`). `body` is the error as received.

    The status is the one in the body, else that of the kind of error, else 500. The message does not decide it, since it may
    quote the user.
    """

    sent_with = 200

    def __init__(self, body: Any) -> None:
        self.body: dict[str, Any] = body if is_object(body) else {"message": _as_text(body)}
        self.message = words_in(self.body)[:MAX_WORDS]
        code = next((code for key in _CODES if (code := _status(self.body.get(key)))), 0)
        kind = f"{self.body.get('type')} {self.body.get('code')} {self.body.get('status')}"
        self.status_code = code or next((code for words, code in _KINDS if words.search(kind)), 500)
        super().__init__(self.message)


def error_in(body: object, name: bytes = b"", *, is_of_unknown_wire: bool = False) -> ErrorEvent | None:
    """Return the error in a JSON body or event, None if it is not an error.

    `name` is the event's name; `b"error"` alone marks an error. If `is_of_unknown_wire`, only the clear signs count, since
    any field may mean anything.
    """
    if not is_object(body):
        return None
    for place in (body, object_in(body.get("response")), *objects_in(body.get("choices"))):
        error = place.get("error")
        if error and not (is_object(error) and not any(error.values())):  # some servers always send an empty error
            return ErrorEvent(error)
    status = object_in(body.get("base_resp"))  # MiniMax
    if status.get("status_code") or name == b"error" or any(body.get(key) == "error" for key in _NAMED):
        return ErrorEvent(status if status.get("status_code") else body)
    if is_of_unknown_wire or is_of_a_wire(body) or is_whole_reply(body):
        return None
    has_words = any(value for key in _WORDS if not is_object(value := body.get(key)))
    return ErrorEvent(body) if has_words or any(_status(body.get(key)) for key in _CODES) else None


def is_ping(sent: Sent) -> bool:
    """Whether the event only keeps the connection alive. Some servers send a word for it instead of an object."""
    return _PING.match(sent.data) is not None or _PING.match(sent.name) is not None


def plain_words(data: bytes) -> str:
    """Return a server's plain text instead of a reply or event (`Internal Server Error`). Empty if it is anything else."""
    text = data.decode("utf-8", "replace").strip()
    return text if _PLAIN.match(text) else ""


def _as_text(value: object) -> str:
    try:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)[:MAX_WORDS]
    except RecursionError:
        return "an error that is nested too deep to be shown"


def _status(value: object) -> int:
    """An HTTP error status as a number or its digits; else 0."""
    code = int(value) if isinstance(value, str) and re.fullmatch(r"[45]\d\d", value) else value
    return code if isinstance(code, int) and 400 <= code < 600 else 0
