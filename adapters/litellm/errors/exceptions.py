"""What an exception of LiteLLM holds: its status, the server's error object and words, and what it is chained to.

Nothing is imported from LiteLLM: classes are compared by name, its own, those of what it is chained to and of what broke a stream
beneath it. Messages are scrubbed of secrets. Of a long message both ends are read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, cast

from pydantic_core import from_json

from llmcore.adapters.base import ModelCall
from llmcore.adapters.litellm.errors.quotations import is_quoted
from llmcore.adapters.litellm.errors.waits import retry_after
from llmcore.adapters.litellm.errors.words import NO_WORDS, without_bytes
from llmcore.adapters.providers import provider_of
from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.adapters.secrets.scrubber import Scrubber
from llmcore.adapters.wire.error_words import ErrorWords, all_texts, error_words, fault_in, words_in
from llmcore.support.code.quoted_words import MAX_LOOKED_THROUGH, MAX_WORDS, both_ends
from llmcore.support.values.narrowing import is_list, is_object, objects_in

__all__ = [
    "Answered",
    "SignIn",
    "all_kinds",
    "answered_with",
    "clean",
    "codes_of",
    "error_body",
    "error_cause",
    "error_kinds",
    "failed_generation",
    "failed_sign_in",
    "is_clean",
    "is_signed_in",
    "recordable",
    "shown_and_read",
    "shown_text",
    "status_of",
]

_FAILED_GENERATIONS = ("tool_use_failed", "json_validate_failed")
"""Groq's codes for a reply of the model's that it could not read."""
_MAX_CHAIN = 8


@dataclass(frozen=True, slots=True)
class Answered:
    """What was seen of the answer to a request, beneath LiteLLM. LiteLLM looks for "403" and "429" in all of an error's text for
    Gemini, a port or an address included, and clients differ in what they leave of a body."""

    status: int | None = None
    """None: no request went out."""
    said: ErrorWords | None = None
    """What its body says; None: nobody saw it."""


def answered_with(status: int | None, body: bytes | None = None) -> Answered | None:
    """What is known of an answer; None where it is no error's."""
    if status is not None and status < 300:
        return None
    return Answered(status, None if body is None or status is None else error_words(body))


def status_of(error: BaseException, answered: Answered | None) -> int | None:
    """The status that the server sent, else the one that the client's exception has."""
    status = getattr(error, "status_code", None)
    seen = answered.status if answered is not None else None
    return seen if seen is not None and isinstance(status, int) else status if isinstance(status, int) else None


def error_body(error: BaseException, call: ModelCall | None = None, answered: Answered | None = None) -> dict[str, Any]:
    """The provider's error object: of the bytes that it sent, where they were seen; else from `error.body`, else the JSON that
    stands in the message ("GroqException - {...}"), or in that of an exception beneath it (streams of Anthropic and Gemini: as
    bytes), else the `body` of one beneath. JSON in a message that is quoted from the request of `call` is none of it."""
    if answered is not None and (said := answered.said) is not None:
        return _without_cut_words(said.fault) if said.is_cut else said.fault
    body: object = getattr(error, "body", None)
    if is_object(body):
        return fault_in(body)
    nothing: dict[str, Any] = {}
    chain = _chain(error)
    told = next((found for part in chain if (found := _json_in(_message(part), call))), nothing)
    # the OpenAI SDK's exception has the body where LiteLLM's tells only its message
    return told or next((fault_in(beneath) for part in chain if is_object(beneath := getattr(part, "body", None))), nothing)


def _message(error: BaseException) -> str:
    message = getattr(error, "message", None)
    return message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message or error)


def _json_in(text: str, call: ModelCall | None) -> dict[str, Any]:
    try:
        start = text.index("{")
        found, end = json.JSONDecoder().raw_decode(text, start)  # text may follow the JSON
    except (ValueError, RecursionError):
        return _cut_json_in(text)
    return {} if call is not None and is_quoted(text[start:end], call) else fault_in(found)


def _cut_json_in(text: str) -> dict[str, Any]:
    """The error object of a body of which only a head was read."""
    start = text.find('{"error"')
    if start < 0:
        return {}
    try:
        found: object = from_json(text[start:], allow_partial="trailing-strings")
    except ValueError:
        return {}
    return _without_cut_words(fault_in(found))


def _without_cut_words(fault: dict[str, Any]) -> dict[str, Any]:
    """The error object of a body that was cut: a model's words in it are cut as well, and left out."""
    told = fault.get("code") in _FAILED_GENERATIONS or "failed_generation" in fault
    return {**fault, "code": _FAILED_GENERATIONS[0], "failed_generation": None} if told else fault


def failed_generation(error: BaseException, answered: Answered | None = None) -> dict[str, Any] | None:
    """The error object of a Groq `tool_use_failed`, whose `failed_generation` is the model's text, "" where the server does not
    tell it or it was cut; None for other errors."""
    body = error_body(error_cause(error), None, answered)
    said = body.get("failed_generation")
    if isinstance(said, str):
        return body
    if body.get("code") not in _FAILED_GENERATIONS:
        return None
    return {**body, "failed_generation": json.dumps(said) if is_object(said) or is_list(said) else ""}


SignIn = Literal["refused", "unreached"]
"""How a sign-in failed: whoever gives access refused it, or could not be asked."""


_REFUSED_SIGN_INS = frozenset(
    {
        *("RefreshError", "ReauthFailError", "OAuthError"),  # google.auth.exceptions
        *("CredentialRetrievalError", "TokenRetrievalError", "SSOTokenLoadError", "UnauthorizedSSOTokenError"),  # botocore
    }
)
_UNREACHED_SIGN_INS = frozenset({"TransportError", "MetadataRetrievalError"})


def error_cause(error: BaseException) -> BaseException:
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


def recordable(error: BaseException, scrubber: Scrubber | None = None, answered: Answered | None = None) -> dict[str, Any]:
    """The error as transcripts hold it, enough to classify it anew: the client's exception, its message and, where
    there are any, HTTP status, body and how long to wait. Only the message is free of secrets."""
    error = error_cause(error)
    body, status = error_body(error, None, answered), status_of(error, answered)
    wait = retry_after(error, body, status)
    told = {
        "status": status,
        "body": (body if "error" in body else {"error": body}) if body else None,
        "headers": {"retry-after": f"{wait:g}"} if wait is not None else None,
    }
    kept = {key: value for key, value in told.items() if value is not None}
    return {"type": type(error).__name__, "message": clean(_message(error), scrubber), **kept}


def clean(message: str, scrubber: Scrubber | None) -> str:
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


def error_kinds(error: BaseException) -> set[str]:
    return {kind.__name__ for kind in type(error).__mro__}


def all_kinds(error: BaseException) -> set[str]:
    """The names of the classes of an exception, of what it is chained to, and of what broke a stream beneath it."""
    return {name for start in (error, error_cause(error)) for part in _chain(start) for name in error_kinds(part)}


def shown_and_read(error: BaseException, body: dict[str, Any], answered: Answered | None) -> tuple[str, str]:
    """The words to show, and all that is told, of which the meaning is read: the server's, else the exception's message."""
    if answered is not None and (said := answered.said) is not None:
        return said.words or NO_WORDS, both_ends(said.all_text)
    message = both_ends(_message(error))
    whole: object = getattr(error, "body", None)  # OpenAI's client has what stands under `error`
    shown = words_in(body if body else whole if isinstance(whole, str) else "") or without_bytes(message)
    return shown, f"{message};\n{both_ends(all_texts(whole))}"


def codes_of(body: dict[str, Any], error: BaseException, answered: Answered | None) -> frozenset[str]:
    """The server's own words for what the error is."""
    details = (detail.get("reason") for detail in objects_in(body.get("details")))  # Google's
    clients: object = getattr(error, "code", None)
    if answered is not None and answered.status is not None and str(clients).isdecimal():
        clients = None  # a status that LiteLLM read out of the words, those of the user included
    words = (body.get("code"), body.get("type"), body.get("status"), *details, clients)
    return frozenset(str(word).lower() for word in words if word is not None)


def failed_sign_in(error: BaseException, call: ModelCall | None) -> SignIn | None:
    for part in _chain(error) if is_signed_in(call) else ():
        kinds = {kind.__name__ for kind in type(part).__mro__ if kind.__module__.partition(".")[0] in ("google", "botocore")}
        if kinds & _UNREACHED_SIGN_INS or (kinds & _REFUSED_SIGN_INS and getattr(part, "retryable", False) is True):
            return "unreached"
        if kinds & _REFUSED_SIGN_INS:
            return "refused"
    return None


def is_signed_in(call: ModelCall | None) -> bool:
    """Does the provider take other credentials than a key?"""
    return call is not None and bool(provider_of(call.endpoint).credentials)
