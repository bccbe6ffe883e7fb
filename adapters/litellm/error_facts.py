"""What is seen of an exception of LiteLLM: its status, the server's error object, its words, how long to wait.

Nothing is imported from LiteLLM: classes are compared by name, its own, those of what it is chained to and of what broke a stream
beneath it. What a server quotes of the request is none of its words. Messages are scrubbed of secrets. Of a long message both
ends are read.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, cast

from pydantic_core import from_json

from llmcore.adapters.base import ModelCall
from llmcore.adapters.litellm.callers_values import callers_own
from llmcore.adapters.litellm.fields import in_our_names
from llmcore.adapters.litellm.held_parts import searches_natively
from llmcore.adapters.litellm.keys_words import charges_for_the_model, denies_the_model
from llmcore.adapters.litellm.named_tools import without_tool_names
from llmcore.adapters.litellm.passing_words import says_it_passes
from llmcore.adapters.litellm.quotations import is_quoted, own_words
from llmcore.adapters.litellm.refusals import (
    holds_a_part,
    may_pass,
    names_the_key,
    names_the_model,
    passes,
    refused_capabilities,
    speaks_of_a_part,
)
from llmcore.adapters.litellm.refused_conditions import streams_alone
from llmcore.adapters.litellm.refused_parameters import parameters_named
from llmcore.adapters.litellm.waits import retry_after, wait_in_words
from llmcore.adapters.litellm.words import NO_WORDS, place_words, said_by_server, without_bytes, without_tips
from llmcore.adapters.providers import provider_of
from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.adapters.secrets.scrubber import Scrubber
from llmcore.adapters.wire.error_words import Said, fault_in, said_in, told_in, words_in
from llmcore.types import LLMCoreError
from llmcore.types.narrowing import is_list, is_object, objects_in
from llmcore.types.others_words import MAX_LOOKED_THROUGH, MAX_WORDS, both_ends

__all__ = [
    "SERVERS_WORDS",
    "Facts",
    "SignIn",
    "as_answered",
    "error_body",
    "facts_of",
    "failed_generation",
    "is_clean",
    "recordable",
    "shown_text",
]

_FAILED_GENERATIONS = ("tool_use_failed", "json_validate_failed")
"""Groq's codes for a reply of the model's that it could not read."""
_MAX_CHAIN = 8
_TRACEBACK = "\nTraceback (most recent call last)"
"""LiteLLM puts one, and tips of its own behind it, into the messages of its own faults."""


def error_body(error: BaseException, call: ModelCall | None = None) -> dict[str, Any]:
    """The provider's error object: of the bytes that it sent, where they were seen; else from `error.body`, else the JSON that
    stands in the message ("GroqException - {...}"), or in that of an exception beneath it (streams of Anthropic and Gemini: as
    bytes), else the `body` of one beneath. JSON in a message that is quoted from the request of `call` is none of it."""
    if (said := _said(error)) is not None:
        return _without_cut_words(said.fault) if said.is_cut else said.fault
    body: object = getattr(error, "body", None)
    if is_object(body):
        return fault_in(body)
    nothing: dict[str, Any] = {}
    chain = _chain(error)
    told = next((found for part in chain if (found := _json_in(_message(part), call))), nothing)
    # the OpenAI SDK's exception has the body where LiteLLM's tells only its message
    return told or next((fault_in(beneath) for part in chain if is_object(beneath := getattr(part, "body", None))), nothing)


def _said(error: BaseException) -> Said | None:
    """What the server said with an error status, read from its bytes; None where nobody saw them."""
    said: object = getattr(error, "llmcore_said", None)
    return said if isinstance(said, Said) else None


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


SignIn = Literal["refused", "unreached"]
"""How a sign-in failed: whoever gives access refused it, or could not be asked."""


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
    capabilities: tuple[str, ...]
    """What the words refuse of the request, the surest first."""
    connection: bool
    """A socket failed beneath it, and the server told of no error."""
    timeout: bool
    """A wait for the network ended beneath it."""
    speaks_of_part: bool = False
    """The server's words speak of what another output mode does without: tools, a response format."""
    holds_part: bool = False
    """The request holds such a part."""
    searches: bool = False
    """The provider is to search the web, by a path or a parameter that may not be there."""
    names_model: bool = False
    """The server's words say that the model is not there, or not for this key."""
    denies_model: bool = False
    """They say that this model is not for this key, project, plan or place, whatever else may be."""
    charges_for_model: bool = False
    """They say that this model, unlike another, is for those who pay more, and nothing of what is left to spend."""
    names_parameter: bool = False
    """They name a parameter of the request, and say nothing of its value."""
    names_key: bool = False
    """They speak of the key, the account or the place that it is used from."""
    may_pass: bool = False
    """By its status or its words the server may take the same request later."""
    passes: bool = False
    """It refuses the request as it is, and by its status or its words may take the same later."""
    call: ModelCall | None = None
    """What was asked for; None = not told."""
    unsent: bool = False
    """LiteLLM made no request: no server said this."""
    sent_with: int | None = None
    """The HTTP status that the error came with, where it is not `status`: some servers send errors with 200."""
    callers: str = ""
    """What only the caller gave, a value or a field, that the words are about."""
    wants_stream: bool = False
    """The words say that only streams are taken, and none was asked for."""
    unsigned: bool = False
    """What signs a request was not found, so none was made."""
    sign_in: SignIn | None = None
    """What is found signs requests only after a sign-in, and that failed, so none was made."""

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
_REFUSED_SIGN_INS = frozenset(
    {
        *("RefreshError", "ReauthFailError", "OAuthError"),  # google.auth.exceptions
        *("CredentialRetrievalError", "TokenRetrievalError", "SSOTokenLoadError", "UnauthorizedSSOTokenError"),  # botocore
    }
)
_UNREACHED_SIGN_INS = frozenset({"TransportError", "MetadataRetrievalError"})
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


def as_answered(error: Exception, status: int | None, body: bytes | None = None) -> Exception:
    """The client's exception with the status that the server sent, and with what it said in `body` (None: nobody saw it):
    LiteLLM looks for "403" and "429" in all of an error's text for Gemini, a port or an address included, and clients differ in
    what they leave of a body."""
    if status is None and _UNSENT in _class_names(error):
        with suppress(AttributeError):
            error.llmcore_unsent = True  # type: ignore[attr-defined]  # read by `facts_of`
    if status is not None and status >= 300:
        said = None if body is None else said_in(body)
        for part in (error, _cause(error)):
            with suppress(AttributeError):
                part.llmcore_answered = True  # type: ignore[attr-defined]  # read by `facts_of`
                part.llmcore_said = said  # type: ignore[attr-defined]  # the same
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
    shown, told = _shown_and_told(error, body)
    said = own_words(told.lower(), call, lambda words: tells(words, call) or wait_in_words(words) is not None)
    status = getattr(error, "status_code", None)
    answered = getattr(error, "llmcore_answered", False) is True
    unsent = getattr(error, "llmcore_unsent", False) is True
    words = said_by_server(_clean(shown.partition(_TRACEBACK)[0], scrubber))
    codes, told_wait = _codes_of(body, error), retry_after(error, body)
    part = own_words(told.lower(), call, lambda words: speaks_of_a_part(words, call))
    named = own_words(told.lower(), call, lambda words: names_the_model(words, call) or names_the_key(words))
    return Facts(
        status=status if isinstance(status, int) else None,
        kinds=frozenset(_class_names(error) - _READ_OUT_OF_WORDS if answered else _class_names(error)),
        codes=codes,
        param=str(body.get("param") or getattr(error, "param", None) or ""),
        text=said,
        message=without_tips(words) if unsent else words,
        retry_after=told_wait if told_wait is not None else wait_in_words(said),
        capabilities=refused_capabilities(said, str(body.get("param") or ""), call, codes),
        connection=not (body or answered) and not beneath.isdisjoint(_SOCKET_FAILURES),
        timeout=not (beneath.isdisjoint(_TIMEOUTS) or answered),
        speaks_of_part=speaks_of_a_part(part, call),
        holds_part=holds_a_part(call),
        callers=_callers(said, call),
        wants_stream=call is not None and not call.streamed and streams_alone(said),
        searches=searches_natively(call),
        names_parameter=call is not None and bool(parameters_named(said, call)),
        names_model=names_the_model(named, call),
        denies_model=denies_the_model(named, codes, call.endpoint.model if call is not None else ""),
        charges_for_model=charges_for_the_model(named, call.endpoint.model if call is not None else ""),
        names_key=names_the_key(named),
        may_pass=may_pass(status, said, told_wait),
        passes=passes(status, own_words(told.lower(), call, says_it_passes)),
        call=call,
        unsent=unsent,
        sent_with=sent_with if isinstance(sent_with := getattr(error, "sent_with", None), int) else None,
        sign_in=_failed_sign_in(error, call),
        unsigned=_is_signed_in(call) and (not beneath.isdisjoint(_UNSIGNED) or any(part in said for part in _UNSIGNED_WORDS)),
    )


def _callers(said: str, call: ModelCall | None) -> str:
    wire = provider_of(call.endpoint).wire if call is not None else None
    return callers_own(in_our_names(without_tool_names(said, call), wire), call)


_READ_OUT_OF_WORDS = frozenset(
    {
        *("AuthenticationError", "ContentPolicyViolationError", "ContextWindowExceededError", "NotFoundError"),
        *("PermissionDeniedError", "RateLimitError", "Timeout"),
    }
)
"""Classes that LiteLLM chooses by words anywhere in an error's text, those of the user that a server quotes included. Where the
server's own words and status are known, these count."""


def _shown_and_told(error: BaseException, body: dict[str, Any]) -> tuple[str, str]:
    """The words to show, and all that is told, of which the meaning is read: the server's, else the exception's message."""
    if (said := _said(error)) is not None:
        return said.words or NO_WORDS, both_ends(said.told)
    message = both_ends(_message(error))
    whole: object = getattr(error, "body", None)  # OpenAI's client has what stands under `error`
    shown = words_in(body if body else whole if isinstance(whole, str) else "") or without_bytes(message)
    return shown, f"{message};\n{both_ends(told_in(whole))}"


def _codes_of(body: dict[str, Any], error: BaseException) -> frozenset[str]:
    """The server's own words for what the error is."""
    details = (detail.get("reason") for detail in objects_in(body.get("details")))  # Google's
    clients: object = getattr(error, "code", None)
    if getattr(error, "llmcore_answered", False) is True and str(clients).isdecimal():
        clients = None  # a status that LiteLLM read out of the words, those of the user included
    words = (body.get("code"), body.get("type"), body.get("status"), *details, clients)
    return frozenset(str(word).lower() for word in words if word is not None)


def _failed_sign_in(error: BaseException, call: ModelCall | None) -> SignIn | None:
    for part in _chain(error) if _is_signed_in(call) else ():
        kinds = {kind.__name__ for kind in type(part).__mro__ if kind.__module__.partition(".")[0] in ("google", "botocore")}
        if kinds & _UNREACHED_SIGN_INS or (kinds & _REFUSED_SIGN_INS and getattr(part, "retryable", False) is True):
            return "unreached"
        if kinds & _REFUSED_SIGN_INS:
            return "refused"
    return None


def _is_signed_in(call: ModelCall | None) -> bool:
    """Does the provider take other credentials than a key?"""
    return call is not None and bool(provider_of(call.endpoint).credentials)
