"""Extracts from LiteLLM's exceptions the status, the server's error object, its message, and the chained exceptions.

Nothing is imported from LiteLLM: classes are compared by name, including those of chained exceptions. Messages are scrubbed
of secrets. Of a long message, both ends are read.
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
"""Groq's codes for a model's reply that it could not read."""
_MAX_CHAIN = 8


@dataclass(frozen=True, slots=True)
class Answered:
    """What was seen of the answer below LiteLLM.

    This is more reliable than LiteLLM's exceptions. For Gemini, LiteLLM searches "403" and "429" in all of an error's text,
    including ports and addresses, and clients change bodies in different ways.
    """

    status: int | None = None
    """None if no request was sent."""
    body_words: ErrorWords | None = None
    """The body's message, None if the body was not seen."""


def answered_with(status: int | None, body: bytes | None = None) -> Answered | None:
    """Return what is known of an answer, None if it is no error."""
    if status is not None and status < 300:
        return None
    return Answered(status, None if body is None or status is None else error_words(body))


def status_of(error: BaseException, answered: Answered | None) -> int | None:
    """The status that the server sent, else that of the client's exception."""
    status = getattr(error, "status_code", None)
    seen = answered.status if answered is not None else None
    return seen if seen is not None and isinstance(status, int) else status if isinstance(status, int) else None


def error_body(error: BaseException, call: ModelCall | None = None, answered: Answered | None = None) -> dict[str, Any]:
    """Return the provider's error object.

    It comes from the bytes received, if these were seen. Otherwise it comes from `error.body`, from JSON in the message
    ("GroqException - {...}") or in that of a chained exception, or from that exception's `body`. JSON that quotes the request
    of `call` does not count.
    """
    if answered is not None and (seen := answered.body_words) is not None:
        return _without_cut_words(seen.fault) if seen.is_cut else seen.fault
    body: object = getattr(error, "body", None)
    if is_object(body):
        return fault_in(body)
    nothing: dict[str, Any] = {}
    chain = _chain(error)
    fault = next((found for part in chain if (found := _json_in(_message(part), call))), nothing)
    # the OpenAI SDK's exception has the body; LiteLLM's only has its message
    return fault or next((fault_in(beneath) for part in chain if is_object(beneath := getattr(part, "body", None))), nothing)


def _message(error: BaseException) -> str:
    message = getattr(error, "message", None)
    return message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message or error)


def _json_in(text: str, call: ModelCall | None) -> dict[str, Any]:
    try:
        start = text.index("{")
        found, end = json.JSONDecoder().raw_decode(text, start)  # more text may follow
    except (ValueError, RecursionError):
        return _cut_json_in(text)
    return {} if call is not None and is_quoted(text[start:end], call) else fault_in(found)


def _cut_json_in(text: str) -> dict[str, Any]:
    """The error object of a body of which only the beginning was read."""
    start = text.find('{"error"')
    if start < 0:
        return {}
    try:
        found: object = from_json(text[start:], allow_partial="trailing-strings")
    except ValueError:
        return {}
    return _without_cut_words(fault_in(found))


def _without_cut_words(fault: dict[str, Any]) -> dict[str, Any]:
    """The error object of a cut body, without the model's words, which are cut too."""
    is_failed_generation = fault.get("code") in _FAILED_GENERATIONS or "failed_generation" in fault
    return {**fault, "code": _FAILED_GENERATIONS[0], "failed_generation": None} if is_failed_generation else fault


def failed_generation(error: BaseException, answered: Answered | None = None) -> dict[str, Any] | None:
    """Return Groq's `tool_use_failed` error object, None for other errors.

    Its `failed_generation` is the model's text, "" if the server does not send it or it was cut.
    """
    body = error_body(error_cause(error), None, answered)
    generation = body.get("failed_generation")
    if isinstance(generation, str):
        return body
    if body.get("code") not in _FAILED_GENERATIONS:
        return None
    return {**body, "failed_generation": json.dumps(generation) if is_object(generation) or is_list(generation) else ""}


SignIn = Literal["refused", "unreached"]
"""How a sign-in failed: it was refused, or its server was not reached."""


_REFUSED_SIGN_INS = frozenset(
    {
        *("RefreshError", "ReauthFailError", "OAuthError"),  # google.auth.exceptions
        *("CredentialRetrievalError", "TokenRetrievalError", "SSOTokenLoadError", "UnauthorizedSSOTokenError"),  # botocore
    }
)
_UNREACHED_SIGN_INS = frozenset({"TransportError", "MetadataRetrievalError"})


def error_cause(error: BaseException) -> BaseException:
    """The error itself, or the exception that broke a stream below it."""
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
    """Return the error as transcripts store it: the client's exception, its message and, if present, HTTP status, body and
    wait.

    This is enough to classify it again. Only the message is free of secrets.
    """
    error = error_cause(error)
    body, status = error_body(error, None, answered), status_of(error, answered)
    wait = retry_after(error, body, status)
    fields = {
        "status": status,
        "body": (body if "error" in body else {"error": body}) if body else None,
        "headers": {"retry-after": f"{wait:g}"} if wait is not None else None,
    }
    present = {key: value for key, value in fields.items() if value is not None}
    return {"type": type(error).__name__, "message": clean(_message(error), scrubber), **present}


def clean(message: str, scrubber: Scrubber | None) -> str:
    """The message, scrubbed before it is shortened: half a key would not be recognized."""
    return (scrubber or process_scrubber()).text(message[:MAX_LOOKED_THROUGH])[:MAX_WORDS]


def is_clean(error: BaseException, scrubber: Scrubber) -> bool:
    """Whether the error may be chained: nothing that it shows is a secret. A text that is too long to search does not
    qualify."""
    shown = shown_text(error)
    return len(shown) <= MAX_LOOKED_THROUGH and scrubber.text(shown) == shown


def shown_text(error: BaseException) -> str:
    """Everything that printing the error and its chain would show: messages, arguments, notes and fields."""
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
    except Exception as error:  # a client's own __str__ or __repr__ may fail
        return type(error).__name__


def error_kinds(error: BaseException) -> set[str]:
    return {kind.__name__ for kind in type(error).__mro__}


def all_kinds(error: BaseException) -> set[str]:
    """The class names of an exception, of its chain, and of what broke a stream below it."""
    return {name for start in (error, error_cause(error)) for part in _chain(start) for name in error_kinds(part)}


def shown_and_read(error: BaseException, body: dict[str, Any], answered: Answered | None) -> tuple[str, str]:
    """The message to show, and all texts, from which the meaning is read: the server's, else the exception's."""
    if answered is not None and (seen := answered.body_words) is not None:
        return seen.words or NO_WORDS, both_ends(seen.all_text)
    message = both_ends(_message(error))
    whole: object = getattr(error, "body", None)  # OpenAI's client stores what is under `error`
    shown = words_in(body if body else whole if isinstance(whole, str) else "") or without_bytes(message)
    return shown, f"{message};\n{both_ends(all_texts(whole))}"


def codes_of(body: dict[str, Any], error: BaseException, answered: Answered | None) -> frozenset[str]:
    """The server's codes for the error, in lower case."""
    details = (detail.get("reason") for detail in objects_in(body.get("details")))  # Google's
    client_code: object = getattr(error, "code", None)
    if answered is not None and answered.status is not None and str(client_code).isdecimal():
        client_code = None  # a status that LiteLLM read from the message, which may quote the user
    words = (body.get("code"), body.get("type"), body.get("status"), *details, client_code)
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
    """Whether the provider uses other credentials than a key."""
    return call is not None and bool(provider_of(call.endpoint).credentials)
