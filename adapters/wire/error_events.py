"""Errors that a server tells with status 200: in an event of a stream, or in place of a reply.

There is no one form, so a table of signs is read. Some signs count wherever they stand; others are words that a reply may hold
as well, and count only in JSON that is of no wire.
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
"""Fields whose value `error` says that the rest are an error's: Anthropic's, older vLLM's, Bedrock's, ..."""
_WORDS = ("message", "msg", "detail", "status_msg", "error_message", "error_msg", "errmsg", "errors")
"""Where the server's own words stand; in JSON of no wire each of them alone is the sign of an error."""
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
"""What errors call themselves (`type`, `code`, `status`), and the status with which others send the same."""
_PING = re.compile(rb"\W*(?:ping|pong|heart-?beat|keep-?alive)\W*\Z", re.IGNORECASE)
_PLAIN = lazy_regex(r"[^{}\[\]\"\\<>]{1,300}\Z")


class ErrorEvent(Exception):
    """An error that a server sent with status 200 (`sent_with`); `body` as it came. The status is the one that it names, else
    that of the kind of error that it says it is, else 500. Its words name none: it may quote the user's."""

    sent_with = 200

    def __init__(self, body: Any) -> None:
        self.body: dict[str, Any] = body if is_object(body) else {"message": _as_text(body)}
        self.message = words_in(self.body)[:MAX_WORDS]
        code = next((code for key in _CODES if (code := _status(self.body.get(key)))), 0)
        kind = f"{self.body.get('type')} {self.body.get('code')} {self.body.get('status')}"
        self.status_code = code or next((code for words, code in _KINDS if words.search(kind)), 500)
        super().__init__(self.message)


def error_in(body: object, name: bytes = b"", *, is_of_unknown_wire: bool = False) -> ErrorEvent | None:
    """The error that a JSON body or event is, if it is one. `name`: of the event, `b"error"` being enough. Of a wire that is
    unknown any field may mean anything, so that only the plain signs count."""
    if not is_object(body):
        return None
    for place in (body, object_in(body.get("response")), *objects_in(body.get("choices"))):
        error = place.get("error")
        if error and not (is_object(error) and not any(error.values())):  # some servers always send one, full of nothing
            return ErrorEvent(error)
    status = object_in(body.get("base_resp"))  # MiniMax
    if status.get("status_code") or name == b"error" or any(body.get(key) == "error" for key in _NAMED):
        return ErrorEvent(status if status.get("status_code") else body)
    if is_of_unknown_wire or is_of_a_wire(body) or is_whole_reply(body):
        return None
    has_words = any(value for key in _WORDS if not is_object(value := body.get(key)))
    return ErrorEvent(body) if has_words or any(_status(body.get(key)) for key in _CODES) else None


def is_ping(sent: Sent) -> bool:
    """Does the event only keep the connection alive? Some servers send a word for it where an object belongs."""
    return _PING.match(sent.data) is not None or _PING.match(sent.name) is not None


def plain_words(data: bytes) -> str:
    """Words of the server's own where a reply or an event belongs (`Internal Server Error`); "" where it is anything else."""
    text = data.decode("utf-8", "replace").strip()
    return text if _PLAIN.match(text) else ""


def _as_text(value: object) -> str:
    try:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)[:MAX_WORDS]
    except RecursionError:
        return "an error that is nested too deep to be shown"


def _status(value: object) -> int:
    """An HTTP status of an error, as a number or its digits; else 0."""
    code = int(value) if isinstance(value, str) and re.fullmatch(r"[45]\d\d", value) else value
    return code if isinstance(code, int) and 400 <= code < 600 else 0
