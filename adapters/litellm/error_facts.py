"""What is seen of an exception of LiteLLM: its status, the server's error object, its words, how long to wait.

Nothing is imported from LiteLLM: classes are compared by name, its own, those of what it is chained to and of what broke a stream
beneath it. What a server quotes of the request is none of its words. Messages are scrubbed of secrets. Linear in the message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from pydantic_core import from_json

from llmcore.adapters.base import ModelCall
from llmcore.adapters.litellm.refusals import is_quoted, own_words, refused_capability, speaks_of_a_part
from llmcore.adapters.litellm.waits import retry_after, wait_in_words
from llmcore.adapters.litellm.words import place_words, said_by_server, without_bytes, without_tips
from llmcore.adapters.providers import provider_of
from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.adapters.secrets.scrubber import Scrubber
from llmcore.types import LLMCoreError
from llmcore.types.narrowing import is_list, is_object
from llmcore.types.others_words import MAX_LOOKED_THROUGH, MAX_WORDS

__all__ = [
    "SERVERS_WORDS",
    "Facts",
    "error_body",
    "facts_of",
    "failed_generation",
    "is_clean",
    "recordable",
    "shown_text",
    "with_servers_status",
]

_FAILED_GENERATIONS = ("tool_use_failed", "json_validate_failed")
"""Groq's codes for a reply of the model's that it could not read."""
_MAX_CHAIN = 8
_MODEL = re.compile(r"\b(?:models?|deployments?)\b", re.IGNORECASE)
_TRACEBACK = "\nTraceback (most recent call last)"
"""LiteLLM puts one, and tips of its own behind it, into the messages of its own faults."""


def error_body(error: BaseException, call: ModelCall | None = None) -> dict[str, Any]:
    """The provider's error object: from `error.body`, else the JSON that stands in the message ("GroqException -
    {...}"), or in that of an exception beneath it (streams of Anthropic and Gemini: as bytes), else the `body` of one
    beneath. JSON in a message that is quoted from the request of `call` is none of the provider's."""
    body: object = getattr(error, "body", None)
    if is_object(body):
        return _inner(body)
    nothing: dict[str, Any] = {}
    chain = _chain(error)
    told = next((found for part in chain if (found := _json_in(_message(part), call))), nothing)
    # the OpenAI SDK's exception has the body where LiteLLM's tells only its message
    return told or next((_inner(beneath) for part in chain if is_object(beneath := getattr(part, "body", None))), nothing)


def _message(error: BaseException) -> str:
    message = getattr(error, "message", None)
    return message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message or error)


def _json_in(text: str, call: ModelCall | None) -> dict[str, Any]:
    try:
        start = text.index("{")
        found, end = json.JSONDecoder().raw_decode(text, start)  # text may follow the JSON
    except (ValueError, RecursionError):
        return _cut_json_in(text)
    return {} if call is not None and is_quoted(text[start:end], call) else _inner(found)


def _cut_json_in(text: str) -> dict[str, Any]:
    """The error object of a body of which only a head was read. A model's words in it are cut: they are left out."""
    start = text.find('{"error"')
    if start < 0:
        return {}
    try:
        found: object = from_json(text[start:], allow_partial="trailing-strings")
    except ValueError:
        return {}
    inner = _inner(found) if is_object(found) else {}
    told = any(f'"{code}"' in text for code in _FAILED_GENERATIONS) or "failed_generation" in inner
    return {**inner, "code": _FAILED_GENERATIONS[0], "failed_generation": None} if told else inner


def _inner(body: dict[str, Any]) -> dict[str, Any]:
    """The object under `error`, where there is one."""
    inner = body.get("error", body)
    return inner if is_object(inner) else body


def failed_generation(error: BaseException) -> dict[str, Any] | None:
    """The error object of a Groq `tool_use_failed`, whose `failed_generation` is the model's text, "" where the server does not
    tell it or it was cut; None for other errors."""
    body = error_body(_cause(error))
    said = body.get("failed_generation")
    if isinstance(said, str):
        return body
    if body.get("code") not in _FAILED_GENERATIONS:
        return None
    return {**body, "failed_generation": json.dumps(said) if is_object(said) or is_list(said) else ""}


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of an exception. `text` is its whole message in lower case, without what it quotes of the
    request; `codes` the body's words for what it is."""

    status: int | None
    kinds: frozenset[str]
    codes: frozenset[str]
    param: str
    text: str
    message: str
    retry_after: float | None
    capability: str | None
    connection: bool
    """A socket failed beneath it, and the server told of no error."""
    timeout: bool
    """A wait for the network ended beneath it."""
    speaks_of_model: bool
    """The message of the server's error object speaks of a model; a plain page or a text is none."""
    speaks_of_part: bool = False
    """The same, of what another output mode does without: tools, a response format."""
    call: ModelCall | None = None
    """What was asked for; None = not told."""
    unsent: bool = False
    """LiteLLM made no request: no server said this."""
    sent_with: int | None = None
    """The HTTP status that the error came with, where it is not `status`: some servers send errors with 200."""
    unsigned: bool = False
    """What signs a request was not found, so none was made."""

    def placed(self, what: str) -> str:
        """In our words: where, what, and what was said there; the last alone where no call is known."""
        place = place_words(self.call)
        said = f"{SERVERS_WORDS}{self.message}" if self.message else ""
        return f"{place}: {what}{said}" if place else self.message

    def beneath(self, what: str) -> str:
        """The same where no server said it: `message` is the client's own."""
        place = place_words(self.call)
        return f"{place}: {what}: {self.message}" if place else self.message

    @property
    def http(self) -> str:
        status = self.sent_with or self.status
        return f" (HTTP {status})" if status else ""


SERVERS_WORDS = "; it says: "
"""What stands before the words of a server in an error of ours."""
_SOCKET_FAILURES = frozenset({"ClientError", "ConnectError", "OSError", "ReadError", "RemoteProtocolError", "WriteError"})
_UNSIGNED = frozenset({"DefaultCredentialsError", "NoCredentialsError", "PartialCredentialsError", "ProfileNotFound"})
"""What Google's and Amazon's own packages raise where they find nothing to sign with."""
_UNSIGNED_WORDS = (
    "default credentials were not found",
    "unable to locate credentials",
    "partial credentials found in",
    "the config profile (",
    "credentials were found, but",
)
"""The same as LiteLLM tells it, which names no class of theirs."""
_TIMEOUTS = frozenset({"APITimeoutError", "ServerTimeoutError", "Timeout", "TimeoutError", "TimeoutException"})


def _cause(error: BaseException) -> BaseException:
    """The error itself, or what broke a stream underneath it."""
    for _ in range(_MAX_CHAIN):
        inner = getattr(error, "original_exception", None)
        if not isinstance(inner, BaseException):
            break
        error = inner
    return error


def _chain(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and len(found) < _MAX_CHAIN:
        found.append(following)
        following = following.__cause__ or following.__context__
    return found


_UNSENT = "BadRequestError"
"""What LiteLLM raises in a server's stead where it makes no request of what it was given."""


def with_servers_status(error: Exception, status: int | None) -> Exception:
    """The client's exception with the status that the server sent: LiteLLM looks for "403" and "429" in all of an error's text
    for Gemini, a port or an address included."""
    if status is None and _UNSENT in _class_names(error):
        with suppress(AttributeError):
            error.llmcore_unsent = True  # type: ignore[attr-defined]  # read by `facts_of`
    if status is not None and status >= 300:
        for part in (error, _cause(error)):
            with suppress(AttributeError):
                part.llmcore_answered = True  # type: ignore[attr-defined]  # read by `facts_of`
            if isinstance(getattr(part, "status_code", None), int) and not isinstance(part, LLMCoreError):
                with suppress(AttributeError):  # of a class that only lets it be read
                    part.status_code = status  # type: ignore[attr-defined]  # asked for above
    return error


def recordable(error: BaseException, scrubber: Scrubber | None = None) -> dict[str, Any]:
    """The error as transcripts hold it, enough to classify it anew: the client's exception, its message and, where
    there are any, HTTP status, body and how long to wait. Only the message is free of secrets."""
    error = _cause(error)
    body, status = error_body(error), getattr(error, "status_code", None)
    wait = retry_after(error, body)
    told = {
        "status": status if isinstance(status, int) else None,
        "body": (body if "error" in body else {"error": body}) if body else None,
        "headers": {"retry-after": f"{wait:g}"} if wait is not None else None,
    }
    kept = {key: value for key, value in told.items() if value is not None}
    return {"type": type(error).__name__, "message": _clean(_message(error), scrubber), **kept}


def _clean(message: str, scrubber: Scrubber | None) -> str:
    """Scrubbed before it is cut to size: half a key is no known one."""
    return (scrubber or process_scrubber()).text(message[:MAX_LOOKED_THROUGH])[:MAX_WORDS]


def is_clean(error: BaseException, scrubber: Scrubber) -> bool:
    """May the error be chained: would nothing that it shows be scrubbed? What is too long to look through may not."""
    shown = shown_text(error)
    return len(shown) <= MAX_LOOKED_THROUGH and scrubber.text(shown) == shown


def shown_text(error: BaseException) -> str:
    """Everything that printing the error and all it is chained to would show: messages, arguments, notes and fields."""
    waiting: list[BaseException] = [error]
    seen: set[int] = set()
    texts: list[str] = []
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        texts += (_message(part), *(_printed(what) for what in (part, part.args, vars(part))))
        beneath: tuple[object, ...] = (part.__cause__, part.__context__, getattr(part, "original_exception", None))
        group = cast("BaseExceptionGroup[BaseException]", part) if isinstance(part, BaseExceptionGroup) else None
        waiting += (inner for inner in (*beneath, *(group.exceptions if group else ())) if isinstance(inner, BaseException))
    return "\n".join(texts)


def _printed(value: object) -> str:
    try:
        return f"{value!s} {value!r}"
    except Exception as error:  # a client's own __str__ or __repr__ that fails
        return type(error).__name__


def _class_names(error: BaseException) -> set[str]:
    return {kind.__name__ for kind in type(error).__mro__}


def facts_of(
    error: BaseException, call: ModelCall | None, scrubber: Scrubber | None, tells: Callable[[str, ModelCall | None], bool]
) -> Facts:
    """Everything the table asks about, gathered once. `call` tells what was asked for, so what was refused can be
    named; `tells`, whether words (lower case) would decide what the error means."""
    beneath = {name for start in (error, _cause(error)) for part in _chain(start) for name in _class_names(part)}
    error = _cause(error)
    body = error_body(error, call)
    message = _message(error)
    inner = body.get("message")
    shown = _plain_words(error, body) or without_bytes(message)
    said = own_words(message.lower(), call, lambda words: tells(words, call) or wait_in_words(words) is not None)
    status = getattr(error, "status_code", None)
    answered = getattr(error, "llmcore_answered", False) is True
    unsent = getattr(error, "llmcore_unsent", False) is True
    told = said_by_server(_clean(shown.partition(_TRACEBACK)[0], scrubber))
    words = (body.get("code"), body.get("type"), body.get("status"), getattr(error, "code", None))
    codes = frozenset(str(word).lower() for word in words if word is not None)
    return Facts(
        status=status if isinstance(status, int) else None,
        kinds=frozenset(_class_names(error)),
        codes=codes,
        param=str(body.get("param") or getattr(error, "param", None) or ""),
        text=said,
        message=without_tips(told) if unsent else told,
        retry_after=told_wait if (told_wait := retry_after(error, body)) is not None else wait_in_words(said),
        capability=refused_capability(said, str(body.get("param") or ""), call, codes),
        connection=not body and not beneath.isdisjoint(_SOCKET_FAILURES),
        timeout=not (beneath.isdisjoint(_TIMEOUTS) or answered),
        speaks_of_model=isinstance(inner, str) and _MODEL.search(inner[:MAX_WORDS]) is not None,
        speaks_of_part=isinstance(inner, str) and speaks_of_a_part(inner[:MAX_WORDS].lower(), call),
        call=call,
        unsent=unsent,
        sent_with=sent_with if isinstance(sent_with := getattr(error, "sent_with", None), int) else None,
        unsigned=_is_signed_in(call) and (not beneath.isdisjoint(_UNSIGNED) or any(part in said for part in _UNSIGNED_WORDS)),
    )


_WORDS_IN = ("message", "error", "detail", "msg")
"""Where servers put what they say into the object of an error."""


def _plain_words(error: BaseException, body: dict[str, Any]) -> str:
    """What the server says in words, out of its object; empty where it sent none."""
    whole: object = getattr(error, "body", None)  # OpenAI's client has what stands under `error`
    return next(
        (text for text in map(body.get, _WORDS_IN) if isinstance(text, str) and text), whole if isinstance(whole, str) else ""
    )


def _is_signed_in(call: ModelCall | None) -> bool:
    """Does the provider take other credentials than a key?"""
    return call is not None and bool(provider_of(call.endpoint).credentials)
