"""Reads a server's error once: the status and the error's code, then `param`, then the phrases.

What a server quotes from the request does not count, since a user may have written the words with which servers refuse. A
part that the request did not have is never refused: a server that implements formats by tools may say that it has no tools.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from llmcore.adapters.base import Capabilities, ModelCall
from llmcore.adapters.capabilities.facts import tool_limit_fact
from llmcore.adapters.litellm.errors.callers import SENTENCE, callers_own
from llmcore.adapters.litellm.errors.exceptions import (
    Answered,
    SignIn,
    all_kinds,
    clean,
    codes_of,
    error_body,
    error_cause,
    error_kinds,
    failed_sign_in,
    is_signed_in,
    shown_and_read,
    status_of,
)
from llmcore.adapters.litellm.errors.fields import VALUES, marked, marks_in, part_of
from llmcore.adapters.litellm.errors.named_tools import names_one_tool, offered_names
from llmcore.adapters.litellm.errors.phrases import denials, meanings, nouns, part_phrases
from llmcore.adapters.litellm.errors.quotations import own_words
from llmcore.adapters.litellm.errors.waits import retry_after, wait_in_words
from llmcore.adapters.litellm.errors.words import place_words, server_words, without_tips
from llmcore.adapters.providers import provider_of
from llmcore.adapters.request.output import output_plan, output_tools
from llmcore.adapters.request.parts import all_parts, joined_parts
from llmcore.adapters.secrets.scrubber import Scrubber
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.refusals import RefusalFacts, RefusalKind

__all__ = ["SERVERS_WORDS", "ErrorReading", "read", "refuses_as_it_is"]

SERVERS_WORDS = "; it says: "
"""Precedes a server's message in llmcore's errors."""
_TRACEBACK = "\nTraceback (most recent call last)"
"""LiteLLM puts a traceback, followed by its own tips, into the messages of its own errors."""
_UNSENT = "BadRequestError"
"""What LiteLLM raises instead of a server if it cannot build a request."""
_SOCKET_FAILURES = frozenset({"ClientError", "ConnectError", "OSError", "ReadError", "RemoteProtocolError", "WriteError"})
_TIMEOUTS = frozenset({"APITimeoutError", "ServerTimeoutError", "Timeout", "TimeoutError", "TimeoutException"})
_UNSIGNED = frozenset({"DefaultCredentialsError", "NoCredentialsError", "PartialCredentialsError", "ProfileNotFound"})
"""What Google's and Amazon's packages raise if they find no credentials."""
_UNRELIABLE_KINDS = frozenset(
    {
        *("AuthenticationError", "ContentPolicyViolationError", "ContextWindowExceededError", "NotFoundError"),
        *("PermissionDeniedError", "RateLimitError", "Timeout"),
    }
)
"""Classes that LiteLLM chooses by words anywhere in an error's text, even in quotations from the user. If the server's
message and status are known, these decide instead."""
_MAY_PASS = frozenset({408, 420, 425, 429, 498})
"""4xx statuses that do not concern the request: it was too slow, too early or too frequent. Some hosts use 420 and 498 for a
rate limit and for a full tier."""
_NOT_IMPLEMENTED = 501
_CODE_MEANINGS = {
    "called_too_often": r"rate[_ -]?limit|throttl|too[_ -]?many[_ -]?requests|^429$|resource[_ -]?exhausted",
    "called_overloaded": r"over[_ -]?load|(?:^|_)unavailable(?:_error)?$|server[_ -]?busy|^(?:503|529)$",
    "called_a_fault": r"^(?:50[024]|52[0-7]|bad_gateway|gateway_timeout)$",
    "called_unauthorized": r"^(?:invalid|incorrect|missing|expired|revoked|no)_?(?:api|access|auth)\w{0,16}$|^api_?key_?\w{0,12}$"
    r"|^(?:authentication|unauthori[sz]ed|unauthenticated|auth)(?:_?(?:error|failed|failure|required|exception))?$",
    "called_overflow": r"(?:context|prompt|input)\w*(?:exceed|too_long|overflow)|exceed\w*(?:context|prompt|input)",
}
"""The meaning of error codes (`code`, `type`, `status`)."""
_MODE_PARTS = frozenset(
    {
        *("native_tools", "parallel_tools", "tool_choice", "tool_choice_named", "tool_choice_required"),
        *("json_schema", "json_object", "schema_with_tools"),
    }
)
"""Parts that another output mode omits."""
_SETTINGS = frozenset(
    {"temperature", "top_p", "max_tokens", "max_completion_tokens", "stop", "reasoning", "parallel_tools", "usage"}
)


def refuses_as_it_is(status: int | None) -> bool:
    """Return whether this status refuses the request permanently, so that a repeat would fail too.

    These are the 4xx statuses except those that may pass, redirects that lead nowhere, and 501.
    """
    return status is not None and ((300 <= status < 500 and status not in _MAY_PASS) or status == _NOT_IMPLEMENTED)


@dataclass(frozen=True, slots=True)
class ErrorReading:
    """What is known of one exception.

    `text` is the server's message in lower case, without quotations from the request. `kinds` are the names of the
    exception's classes. `means` are the meanings of its codes and phrases.
    """

    facts: RefusalFacts
    kinds: frozenset[str]
    codes: frozenset[str]
    means: frozenset[str]
    text: str
    message: str
    refused: tuple[str, ...]
    """The parts, or combinations of parts, that are refused, the most certain first."""
    request_parts: frozenset[str]
    """The parts that the request had."""
    callers_field: str
    """The caller's value or field that the message concerns."""
    connection: bool
    """Whether a socket failed and the server reported no error."""
    timeout: bool
    """Whether a network wait timed out."""
    call: ModelCall | None = None
    """The call, None if unknown."""
    unsent: bool = False
    """Whether LiteLLM sent no request, so that the message is not a server's."""
    sent_with: int | None = None
    """The HTTP status of the response, if it differs from `status`: some servers send errors with 200."""
    unsigned: bool = False
    """Whether the credentials that sign requests were missing, so that none was sent."""
    sign_in: SignIn | None = None
    """How a required sign-in failed, so that no request was sent."""

    @property
    def status(self) -> int | None:
        return self.facts.status

    @property
    def speaks_of_mode(self) -> bool:
        """Whether the message mentions parts that another output mode omits."""
        return not _MODE_PARTS.isdisjoint(self.facts.parts)

    @property
    def names_setting(self) -> bool:
        return not _SETTINGS.isdisjoint(self.facts.parts) and "value" not in self.means

    @property
    def holds_mode(self) -> bool:
        """Whether the request has such a part."""
        return not self.request_parts.isdisjoint(("native_tools", "json_schema", "json_object"))

    @property
    def searches(self) -> bool:
        """Whether the provider should search the web, by a path or parameter that it may not have."""
        return self.call is not None and self.call.capabilities is not None and "web_search" in self.request_parts

    @property
    def passes(self) -> bool:
        """Whether the status refuses the request, but a repeat may be accepted later."""
        return refuses_as_it_is(self.status) and (self.status == 409 or not {"passing", "too_often"}.isdisjoint(self.means))

    @property
    def may_pass(self) -> bool:
        """Whether the same request may be accepted later."""
        passing = self.facts.retry_after is not None or "may_pass" in self.means
        return self.status in _MAY_PASS or (self.status is not None and self.status >= 500 and passing)

    def facts_of_kind(
        self, kind: RefusalKind = "explained", *, status: int | None = -1, parts: Collection[str] = ()
    ) -> RefusalFacts:
        """The facts for an error of this kind. `status` replaces the one that was read."""
        wait = self.facts.retry_after
        return replace(
            self.facts,
            kind=kind,
            status=self.status if status == -1 else status,
            retry_after=wait if wait is not None and wait > 0 else None,  # a wait that is over does not count
            parts=frozenset(parts) or self.facts.parts,
        )

    def with_place(self, what: str) -> str:
        """llmcore's message: the place, what happened, and the server's message. Without a call, only the server's message."""
        place = place_words(self.call)
        quoted = f"{SERVERS_WORDS}{self.message}" if self.message else ""
        return f"{place}: {what}{quoted}" if place else self.message

    def client_message(self, what: str) -> str:
        """The same for a message that is the client's own, not a server's."""
        place = place_words(self.call)
        return f"{place}: {what}: {self.message}" if place else self.message

    @property
    def http(self) -> str:
        status = self.sent_with or self.status
        return f" (HTTP {status})" if status else ""


def read(error: BaseException, call: ModelCall | None, scrubber: Scrubber | None, answered: Answered | None) -> ErrorReading:
    """Read everything that decides what an error means. `call` is needed to name what was refused."""
    beneath, names = all_kinds(error), error_kinds(error)
    unsent = answered is not None and answered.status is None and _UNSENT in names
    error = error_cause(error)
    is_answered = answered is not None and answered.status is not None
    body, status = error_body(error, call, answered), status_of(error, answered)
    shown, whole_text = shown_and_read(error, body, answered)
    server_text = own_words(whole_text.lower(), call, lambda words: _is_decisive(words, call))
    words = server_words(clean(shown.partition(_TRACEBACK)[0], scrubber))
    codes, wait = codes_of(body, error, answered), retry_after(error, body, status)
    param = str(body.get("param") or getattr(error, "param", None) or "")[:_MAX_PARAM]
    means = meanings(_without_own_name(server_text, call)) | {
        name for name, called in _CODE_MEANINGS.items() if any(re.search(called, code) for code in codes)
    }
    request_parts = all_parts(call) if call is not None else frozenset[str]()
    text = _marked(server_text, call)
    refused = tuple(
        dict.fromkeys(_refused(server_text, text, str(body.get("param") or "")[:_MAX_PARAM], call, codes, request_parts))
    )
    named = frozenset(part for field in marks_in(text) if (part := part_of(field, call)) in request_parts)
    own = error_kinds(error)
    return ErrorReading(
        facts=RefusalFacts(
            status=status,
            code=clean(min(codes, default=""), scrubber),
            param=clean(param, scrubber),
            parts=named,
            kind=_kind(server_text, call, means, status, named),
            retry_after=wait if wait is not None else wait_in_words(server_text),
            words=words,
        ),
        kinds=frozenset(own - _UNRELIABLE_KINDS if is_answered else own),
        codes=codes,
        means=means,
        text=server_text,
        message=without_tips(words) if unsent else words,
        refused=refused,
        request_parts=request_parts,
        callers_field=next(callers_own(server_text, text, call), "") if call is not None else "",
        connection=not (body or is_answered) and not beneath.isdisjoint(_SOCKET_FAILURES),
        timeout=not (beneath.isdisjoint(_TIMEOUTS) or is_answered),
        call=call,
        unsent=unsent,
        sent_with=sent_with if isinstance(sent_with := getattr(error, "sent_with", None), int) else None,
        unsigned=is_signed_in(call) and (not beneath.isdisjoint(_UNSIGNED) or "unsigned" in means),
        sign_in=failed_sign_in(error, call),
    )


def _marked(text: str, call: ModelCall | None) -> str:
    """The text with a mark for each field that it names. The model's own name may contain such a word and does not count."""
    return marked(_without_own_name(text, call), provider_of(call.endpoint).wire if call is not None else None, nouns())


def _without_own_name(text: str, call: ModelCall | None) -> str:
    if call is None or (own := call.endpoint.model.lower()) not in text:
        return text
    return re.sub(rf"(?<![\w-]){re.escape(own)}(?![\w-])", "model", text)


_TELLING = frozenset({"value", "particular", "of_a_schema", "unsupported", "may_pass", "balance"})
"""Meanings of single words, by which a quotation decides nothing."""


def _is_decisive(words: str, call: ModelCall | None) -> bool:
    """Would these words (lower case) decide what an error means?"""
    refuses = any(_refused(words, _marked(words, call), "", None, (), ()))
    return refuses or bool(meanings(words) - _TELLING) or wait_in_words(words) is not None


# What of the request is refused

_PLACES = r"(?:models?|servers?|endpoints?|deployments?|engines?|apis?|versions?|providers?|backends?|routes?|hosts?|builds?)"
_ITS = r"(?:the|this|that|your|our|any|current|selected|chosen|api)"
_HERE = rf"(?:with|in|for|on|by|at|when using)(?: {_ITS}){{0,3}} {_PLACES}\b"
_CONDITION = lazy_regex(
    rf"\W{{0,3}}(?!{_HERE})(?:with|without|when|while|together|alongside|beside|in|if|unless|at the same time|to exceed|above"
    r"|below)\b"
)
_WITHIN = lazy_regex(r"\b(?:tools?|functions?)(?:\[\d|\.\d)|\bresponse_format\.json_schema\.|\u27e7\.[a-z]")
_ABOUT_A_SCHEMA = lazy_regex(r"\bschemas?\b|\bproperty\b|\b(?:function|tool) names?\b")
_ABOUT_CALLS = lazy_regex(r"\bcall(?:ed|s)?\b|\bturn\b|\bat (?:a|one) time\b|\bat once\b|\bin parallel\b")
_AHEAD = lazy_regex(r"\W{0,3}(?:when|while|if|unless|with)\b")
_MAX_PARAM = 256
"""In characters. Paths into a request are shorter."""
_VALUE_CODES = frozenset({"invalid_value", "invalid_type", "invalid_parameter_value", "integer_below_min_value", "value_error"})
"""Codes for a parameter with a wrong value."""
_UNSUPPORTED = frozenset({"unsupported_parameter", "unsupported_value", "unknown_parameter"})
"""OpenAI's codes for a `param` that is not supported. The message may say something else."""
_REASONING = frozenset({"reasoning"})
_STREAMED_TOOLS = frozenset({"native_tools", "streaming"})
_PARENT_PARTS = {"system_place": "system_message"}
"""The part whose position is refused, not the part itself."""
_WITHOUT_PARTS = frozenset(
    {"temperature", "top_p", "max_tokens", "max_completion_tokens", "parallel_tool_calls", "thinking", "seed", "strict"}
)
"""Fields for which an error can only mean that they are not supported, or that their value is wrong."""


def _refused(
    server_text: str, text: str, param: str, call: ModelCall | None, codes: Collection[str], request_parts: Collection[str]
) -> Iterator[str]:
    """The parts and combinations of parts that are refused, by their fact names. `text` is the message with marks."""

    def holds(part: str) -> bool:
        return call is None or part in request_parts

    fields = marks_in(_marked(param.lower(), call)) or ([] if not param or "[" in param or "." in param else [param.lower()])
    for field in fields:
        means = meanings(text)
        is_not_taken = field in _WITHOUT_PARTS and _VALUE_CODES.isdisjoint(codes) and "value" not in means
        is_called_so = not _UNSUPPORTED.isdisjoint(codes) or "unsupported" in means
        if (is_not_taken or is_called_so) and holds(part := part_of(field, call)):
            yield part
    by_phrase = [part for part in _by_phrase(text, call, request_parts) if "=" in part or holds(_PARENT_PARTS.get(part, part))]
    yield from by_phrase
    tools = offered_names(call) if call is not None and call.tools else []
    for plain, sentence in () if by_phrase else zip(SENTENCE.split(server_text), SENTENCE.split(text), strict=False):
        if _WITHIN.search(sentence) or (tools and names_one_tool(plain, tools)):
            continue  # it concerns one tool or one schema
        for parts in _denied(sentence, call):
            if len(parts) > 1:
                yield from _set_of(parts, call, request_parts)
            else:
                yield from filter(holds, parts)


def _by_phrase(text: str, call: ModelCall | None, request_parts: Collection[str]) -> Iterator[str]:
    """The parts that a phrase refuses alone."""
    for name, phrases in part_phrases().items():
        found = phrases.search(text)
        if found is None:
            continue
        if name == "most_tools":
            yield from () if _ABOUT_CALLS.search(text) else _most_tools(found[0], call)
        elif name == "own_room":
            yield from ("max_tokens",) if call is None or call.request.max_tokens is None else ()
        elif name == "streaming_with_tools":
            yield from _set_of(["native_tools", "streaming"], call, request_parts)
        else:
            yield part_of({"format": "response_format"}.get(name, name), call)


def _most_tools(phrase: str, call: ModelCall | None) -> Iterator[str]:
    number = re.findall(r"\d+", phrase)
    most = int(number[-1]) if number else 1
    if call is not None and 0 < most < len(output_tools(call, output_plan(call, call.capabilities or Capabilities()))):
        yield tool_limit_fact(most)


def _denied(sentence: str, call: ModelCall | None) -> Iterator[list[str]]:
    """The parts that a sentence refuses, each alone or together.

    If the sentence makes another part the condition, the two are refused together. With any other condition, nothing is
    refused.
    """

    def parts(words: str) -> list[str]:
        return list(dict.fromkeys(part_of(field, call) for field in marks_in(words)))

    if found := denials("together").search(sentence):
        yield parts(found[0])
        return
    for found in denials("refused").finditer(sentence):
        fields = marks_in(found[0])
        if not VALUES.isdisjoint(fields) and ("value" in meanings(sentence) or _ABOUT_A_SCHEMA.search(sentence)):
            continue
        if _CONDITION.match(sentence, found.end()) or _AHEAD.match(sentence):
            if beside := [part for part in parts(sentence) if part not in parts(found[0])]:
                yield [*parts(found[0]), *beside]
            continue
        yield from ([part] for part in parts(found[0]))


def _set_of(parts: Collection[str], call: ModelCall | None, request_parts: Collection[str]) -> Iterator[str]:
    """The name of a combination of parts, if the request had all of them."""
    found = frozenset(parts)
    is_format = not found.isdisjoint(("json_schema", "json_object"))
    if "native_tools" in found and is_format:
        yield from ("schema_with_tools",) if call is None or "schema_with_tools" in request_parts else ()
    elif call is None:
        yield joined_parts(found)
    elif found.difference(request_parts) == _REASONING and _SETTINGS.issuperset(found):  # the server thinks by default
        yield from found.intersection(request_parts)
    elif found.issubset(request_parts):
        yield "streaming_with_tools" if found == _STREAMED_TOOLS else joined_parts(found)


# Refusals that do not concern the endpoint

_FAULT = 500
_ABOUT_MEDIA = lazy_regex(
    r"\b(?:image|picture|photo|pdf|audio)s?\b[^;\n]{0,60}?\b(?:format|media|mime|size|large|larger|small|exceed\w*|download\w*"
    r"|fetch\w*|identify|corrupt\w*|decod\w*|invalid|process|read|empty|upload\w*)\b"
    r"|\b(?:identify|upload\w*|process|read|invalid)\b[^;\n]{0,30}?\b(?:image|pdf|audio)s?\b"
)
"""One image, file or recording that the server could not use."""


def _kind(
    server_text: str, call: ModelCall | None, means: Collection[str], status: int | None, named: Collection[str]
) -> RefusalKind:
    """What a refusal without a named part concerns. One tool, schema, value or prompt is `particular`."""
    if not {"passing", "too_often"}.isdisjoint(means):
        return "passing"
    if call is not None and call.tools and names_one_tool(server_text, offered_names(call)):
        return "particular"
    has_calls = call is not None and any(
        message.tool_uses for message in call.request.messages
    )  # a template may require an order
    of_prompt = "template" in means and status == _FAULT and has_calls
    of_a_schema = "particular" in means or "grammar" in means or ("of_a_schema" in means and not named)
    is_particular = of_a_schema or of_prompt or _ABOUT_MEDIA.search(server_text) is not None
    return "particular" if is_particular else "unexplained"
