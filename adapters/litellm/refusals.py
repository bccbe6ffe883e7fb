"""Which capability a server says it does not have, read from its error text.

Servers refuse in words, seldom by codes, so the words are data: the first phrase that occurs names the capability (a field of
`Capabilities`, or a request parameter), if the request asked for it: of what was not in the request nothing was refused,
whatever the words (a server that makes its formats by tools says that it has no tools). What a server quotes of the request is
taken out first: a user may write the same words. Sources: error texts of the providers' and servers' own code and recorded
replies.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from llmcore.adapters.base import Capabilities, ModelCall
from llmcore.adapters.litellm.fields import in_our_names
from llmcore.adapters.litellm.held_parts import holds
from llmcore.adapters.litellm.listed_names import one_by_one
from llmcore.adapters.litellm.named_tools import without_tool_names
from llmcore.adapters.litellm.passing_words import says_it_passes
from llmcore.adapters.litellm.refused_conditions import conditions_refused
from llmcore.adapters.litellm.refused_parameters import is_of_a_value, parameters_beside, parameters_refused
from llmcore.adapters.litellm.refused_parts import CONDITION, images_refused, parts_refused, refused_together, search_refused
from llmcore.adapters.providers import provider_of
from llmcore.adapters.request.choices import choice_capability
from llmcore.adapters.request.parameters import DEFAULT_MAX_TOKENS
from llmcore.types.late import late

__all__ = [
    "CANNOT_BE_MADE",
    "MISSING_MODEL",
    "NO_PROMPT",
    "NO_SUCH_ENDPOINT",
    "NO_SUCH_PATH",
    "PHRASES",
    "holds_a_part",
    "is_within_a_schema",
    "may_pass",
    "names_half",
    "names_the_key",
    "names_the_model",
    "passes",
    "refused_capabilities",
    "refuses_as_it_is",
    "speaks_of_a_part",
]

_MAY_PASS = frozenset({408, 420, 425, 429, 498})
"""Statuses of the 400s that say nothing of the request: it came too slowly, too early or too often (420 and 498 are names that
hosts have of their own for a rate and for a tier without room)."""
_CONFLICT = 409
"""Something else is under way: the same request may be taken when it is over."""
_NOT_IMPLEMENTED = 501
_FAULT = 500


def refuses_as_it_is(status: int | None) -> bool:
    """Does a server refuse a request as it is by this status, so that the same again would be refused again? Any of the 400s but
    those that pass, a redirect that leads nowhere, and what the server has no code for."""
    return status is not None and ((300 <= status < 500 and status not in _MAY_PASS) or status == _NOT_IMPLEMENTED)


PHRASES: tuple[tuple[str, str], ...] = (
    ("json mode cannot be combined with tool", "schema_with_tools"),  # Groq
    ("function calling with a response mime type", "schema_with_tools"),  # Gemini 2
    ("no endpoints found that support tool use", "native_tools"),  # OpenRouter
    ("no endpoints found that support the provided 'tool_choice'", "tool_choice_required"),  # OpenRouter
    ("no endpoints found that support image input", "images"),  # OpenRouter
    ("does not support tools", "native_tools"),  # Ollama
    ("does not support function calling", "native_tools"),
    ("does not support tool calling", "native_tools"),
    ("function calling is not enabled", "native_tools"),  # Gemini (gemma)
    ("`tool calling` is not supported", "native_tools"),  # Groq
    ("tools param requires --jinja", "native_tools"),  # llama.cpp
    ("tool choice requires --enable-auto-tool-choice", "native_tools"),  # vLLM
    ("tool_choice forces tool use", "tool_choice_required"),  # Claude, with thinking
    ("does not support this tool_choice", "tool_choice_required"),  # DeepSeek reasoner
    ("tool_choice 'required' is incompatible", "tool_choice_required"),  # Moonshot, with thinking
    ("response_format` does not support `json_schema", "json_schema"),  # Groq
    ("does not support response format `json_schema`", "json_schema"),  # Groq
    ("'response_format' of type 'json_schema' is not supported", "json_schema"),  # OpenAI
    ("'response_format' of type 'json_object' is not supported", "json_object"),
    ("response_format value as json_schema is enabled only", "json_schema"),  # Azure, older versions of its API
    ("tool use in streaming mode", "streaming"),  # Bedrock
    ("doesn't support tool use", "native_tools"),  # Bedrock
    ("does not support image", "images"),
    ("image input is not supported", "images"),
    ("image_url is only supported by certain models", "images"),
    ("system message must be at the beginning", "system_place"),  # Qwen's chat template
    ("system message must be the first", "system_place"),
    ("only the first message can be a system", "system_place"),
)

_NO_TOOLS = late(
    r"\b(?:tool|function)[ _-](?:calling|use|usage)\b[^.;:\n]{0,40}\bnot (?:supported|enabled|available|allowed|implemented)\b"
    rf"{CONDITION}"
    r"|\b(?:no|without an?|lacks an?|has no) (?:tool|function)(?:[ -]call(?:ing|s)?)? (?:template|parser|support|handler)\b"
)
"""A plain sentence that the endpoint has no tool calling; one that names a condition says it of that only."""
_NO_SYSTEM = late(
    r"\b(?:system|developer) (?:role|prompt|message|instruction)s?\b[^.;:\n]{0,40}\bnot (?:supported|enabled|available|allowed)\b"
    r"|(?:\bnot|n't) support (?:a |the )?(?:system|developer) (?:role|prompt|message|instruction)s?\b"
    r"|\bmessages[.\[]\d{1,6}\]?\.role'? does not support '(?:system|developer)'"  # o1-mini
)
"""The same of a system prompt, in any place."""
_NO_STREAMS = late(
    r"(?<!non-)(?<!non )\b(?:streaming|streamed (?:responses?|replies|requests?)|stream mode)\b[^.;:\n]{0,40}"
    rf"\bnot (?:supported|enabled|available|allowed|implemented)\b{CONDITION}"
    rf"|(?:\bnot|n't) support (?:streaming|streamed|streams)\b{CONDITION}"
    r"|(?:\bnot|n't) (?:support(?:ed)?|available|allowed|enabled)\b[^.;:\n]{0,40}"
    r"\b(?:in|with|when|while) (?:using )?stream(?:ing|s|ed)?\b"
)
"""The same of streams."""

_MOST = ("max_tokens", "max_completion_tokens")
"""The two names of one parameter. Servers name either, or both, whichever was sent."""
_RENAMED = late(
    r"\b(?:use|using|send|try|pass|set|specify|provide|expect(?:s|ed)?|renamed(?: to)?|replaced (?:by|with)|switch to)"
    r"(?: (?:the|parameter|field|argument|name)){0,3} ['\"`]?max_completion_tokens\b"
    r"|['\"`]?max_completion_tokens['\"`]?,? (?:instead|in its place|in place of)\b"
)
"""The newer one is asked for."""

_TOO_MUCH_ROOM = late(
    rf"which is the maximum allowed number of output tokens|\bmax_tokens\b[^;\n]{{0,40}}\b{DEFAULT_MAX_TOKENS}\b"
)
"""Claude, of a `max_tokens` that is ours where the request names none; or any words that name it with its number."""
_OF_THE_FORMAT = (
    "this response_format type is unavailable",  # DeepSeek
    "json mode is not enabled",  # Gemini (gemma), for a schema too
    "launched with --grammar-backend none",  # SGLang
    "'response_format.type' must be",  # LM Studio
    "response_format type must be one of",  # llama.cpp, older
    "invalid format: ",  # Ollama, whose status is 500
)
"""Phrases about whichever JSON mode was asked for."""

MISSING_MODEL = (
    "model_not_found",
    "model identifier is invalid",
    "is not a valid model",
    *("model not found", "model not exist", "model does not exist", "unknown model", "no such model", "invalid model: "),
    *("has been decommissioned", "model_decommissioned", "model_access_denied"),
    *("not allowed to access model", "no access to model", "not have access to model", "not have access to the model"),
)

NO_SUCH_PATH = ("page not found", "cannot post ", "invalid url (", "no route matched", "the requested url", "unknown request url")
"""Nothing is at this URL, whatever is asked there: Go's servers, Express, OpenAI, Kong, Apache, Groq."""

NO_SUCH_ENDPOINT = ("no endpoints found that can handle the requested parameters",)
"""OpenRouter: the model is there, and none of its hosts takes such a request."""

NO_PROMPT = ("jinja", "error rendering prompt")
"""What llama.cpp and LM Studio say where the chat template gives no prompt."""
CANNOT_BE_MADE = (
    *NO_PROMPT,
    "invalid json schema in format",  # Ollama
    *("failed to parse grammar", "failed to initialize samplers"),  # llama.cpp
)
"""Servers' own faults (500) by which the same request would fail again: no grammar or no prompt can be made of it."""

_CODES = frozenset({"unsupported_parameter", "unsupported_value", "unknown_parameter"})
"""OpenAI's codes for the same as the words below, about the `param` beside them: its words may be others ("Your organization must
be verified to stream this model")."""
_OF_VALUES = frozenset({"invalid_value", "invalid_type", "invalid_parameter_value", "integer_below_min_value", "value_error"})
"""Codes by which a parameter has a wrong value."""
_LEFT_OUT = frozenset({"temperature", "top_p", "max_tokens", "max_completion_tokens", "parallel_tool_calls", "reasoning_effort"})
"""Parameters without parts: about one of these an error can only say that it is not taken, or of its value."""
_UNSUPPORTED = (
    "not support",
    "unsupported",
    "unrecognized request argument",
    "unknown parameter",
    "unknown field",
    "unknown name",
    "extra inputs are not permitted",
    "extra fields not permitted",
    "does not support parameters",
    "n't support",
    "invalid option provided",  # Ollama
    "is not enabled",
    "is not available",
    "when thinking is enabled",  # Claude, of a temperature and the like
)
_BY_PARAMETER = {
    "tools": "native_tools",
    "functions": "native_tools",
    "parallel_tool_calls": "parallel_tools",
    "stream": "streaming",
    "reasoning_effort": "reasoning",
    "thinking": "reasoning",
    "reasoning": "reasoning",
    "web_search_options": "web_search",
}
_FORMATS = ("response_format", "output_format", "output_config", "format")
_PARAMETERS = (
    *_BY_PARAMETER,
    *_FORMATS,
    "tool_choice",
    "temperature",
    "top_p",
    "stop",
    "max_tokens",
    "max_completion_tokens",
    "stream_options",
    "usage",
    "system_message",
    "cache_control",
    "strict",
)
_ANY = "|".join(re.escape(name) for name in sorted(_PARAMETERS, key=len, reverse=True))
_SPOKEN = (("stop sequence", "stop"), ("stop words", "stop"), ("stop strings", "stop"))
"""What servers call a parameter in a sentence."""
_WORDS_OF_THEIR_OWN = ("tools", "functions", "thinking", "reasoning")
_PLAIN = "|".join(name for name in _PARAMETERS if "_" in name or name in _WORDS_OF_THEIR_OWN)
_NAMED = late(
    rf"['\"`]({_ANY})\b(?!\[|\.\d)|\b({_ANY})(?:\.[\w.]{{1,64}})?: extra|supplied: ({_ANY})\b"
    rf"|\b(?:support|allow|accept|take) the ({_ANY})(?:\.[\w.]{{1,64}})? (?:field|parameter)\b|\boption provided: ({_ANY})\b"
    rf"|\bnot supported on this model: ({_ANY})\b"
    rf"|\b({_PLAIN}) (?:is|are) (?:not supported|unsupported|not enabled|not available){CONDITION}"
)
"""Quoted, as Anthropic names a field, as Azure does, or as the subject of a plain sentence, where it is no common word."""
_SENTENCE = late(r"(?<=[.!\u3002])\s+|[;\n]")
_OF_ONE_TOOL = late(r"(?:tools|functions)[.\[]")


def refused_capabilities(text: str, param: str, call: ModelCall | None, codes: Collection[str] = ()) -> tuple[str, ...]:
    """The capabilities refused by an error whose message is `text` (lower case) about the request parameter `param`; `codes`:
    what the server calls the error. The surest first; of a sentence that names several, each that the request held."""
    wire = provider_of(call.endpoint).wire if call is not None else None
    text = in_our_names(without_tool_names(text, call), wire)
    if is_within_a_schema(text):
        return ()
    if whole := _first_held(_told_of_all(text, call), call):
        return (whole,)
    first = _first_held(_told(text, in_our_names(param.lower(), wire).strip("'"), call, codes), call)
    each = (_first_held(told, call) for told in _told_of_each(text, call))
    return tuple(dict.fromkeys(name for name in (first, *each) if name is not None))


_WITHIN_A_SCHEMA = late(
    r"\bresponse_format['\"]?(?:\.|, ['\"])json_schema['\"]?(?:\.|, ['\"])(?:schema|name|description)\b"
    r"|\b(?:tools?|functions?)(?:\[\d{1,4}\]|\.\d{1,4})\.(?:\w{1,20}\.)?(?:parameters|input_schema|inputschema|name|description)\b"
)


def is_within_a_schema(text: str) -> bool:
    """Are a server's words (lower case) about what stands within one schema or one tool? Another one may be taken."""
    return _WITHIN_A_SCHEMA.search(text) is not None


def _first_held(told: Iterable[str | None], call: ModelCall | None) -> str | None:
    return next((name for name in told if name is not None and (call is None or holds(name, call))), None)


def _told_of_all(text: str, call: ModelCall | None) -> Iterator[str | None]:
    """What the words as a whole are known to mean, the surest first."""
    yield from conditions_refused(text, call)
    by_phrase = (capability for phrase, capability in PHRASES if phrase in text)
    yield from (_choice_asked(call) if name == "tool_choice_required" else name for name in by_phrase)
    if any(phrase in text for phrase in _OF_THE_FORMAT):
        yield _format_asked(call)
    if refused_together(text):
        yield "schema_with_tools"
    yield from parameters_beside(text, call)


def _told(text: str, param: str, call: ModelCall | None, codes: Collection[str]) -> Iterator[str | None]:
    """What the words name, the surest first."""
    yield from _denied(text, call)
    if _TOO_MUCH_ROOM.search(text) and (call is None or call.request.max_tokens is None):
        yield "max_tokens"
    if _RENAMED.search(text) and (call is None or call.request.max_tokens is not None):
        yield _as_asked("max_tokens", call)
    if param in _LEFT_OUT and _OF_VALUES.isdisjoint(codes) and not is_of_a_value(text):
        yield _as_asked(param, call)
    if any(word in text for word in _UNSUPPORTED) or (param and not _CODES.isdisjoint(codes)):
        yield _parameter_named(text, param, call)


def _denied(text: str, call: ModelCall | None) -> Iterator[str | None]:
    """What a plain sentence denies."""
    if images_refused(text):
        yield "images"
    if _NO_SYSTEM.search(text):
        yield "system_message"
    if search_refused(text):
        yield "web_search"
    yield from (_as_asked(parameter, call) for parameter in parts_refused(text))
    yield from (_as_asked(name, call) for name in parameters_refused(text, call))
    if _NO_STREAMS.search(text):
        yield "streaming"
    if _NO_TOOLS.search(text):
        yield "native_tools"


def _told_of_each(text: str, call: ModelCall | None) -> Iterator[Iterator[str | None]]:
    """What each sentence denies, and of one that lists several names what it says of each."""
    for sentence in _SENTENCE.split(text):
        listed = one_by_one(sentence)
        yield from (_told(one, "", call, ()) for one in listed)
        if not listed and sentence != text:
            yield _denied(sentence, call)


def _parameter_named(text: str, param: str, call: ModelCall | None) -> str | None:
    found = _NAMED.search(text)
    spoken = next((name for words, name in _SPOKEN if words in text), "")
    if _OF_ONE_TOOL.match(param):
        return None
    named = re.split(r"[.\[]", param)[0] or (next(filter(None, found.groups())) if found else spoken)
    return _as_asked(named, call)


def _as_asked(parameter: str, call: ModelCall | None) -> str | None:
    """The capability that a parameter asks for, as the request had it."""
    if parameter in _FORMATS:
        return _format_asked(call)
    if parameter == "tool_choice":
        return _choice_asked(call)
    if parameter in _MOST:
        older_is_refused = call is not None and call.capabilities and "max_tokens" in call.capabilities.unsupported_parameters
        return _MOST[bool(older_is_refused)]
    return _BY_PARAMETER.get(parameter) or (parameter if parameter in _PARAMETERS else None)


def _choice_asked(call: ModelCall | None) -> str:
    """The capability that the request's tool choice rests on, as it was sent: a name that is known to be refused is not."""
    sent = choice_capability(call, call.capabilities or Capabilities()) if call is not None else None
    return sent or "tool_choice_required"


_PARTS = (
    (
        late(
            r"(?<![/\w])(?:parallel[ _-])?"
            r"(?:tools|tool[ _-](?:use|usage|calls?|calling|choice|support)|functions?[ _-]call(?:s|ing)?)\b"
        ),
        ("native_tools",),
    ),
    (
        late(
            r"\bresponse_?(?:format|schema)\b|\bjson[ _-](?:mode|schema|object)\b|\bstructured[ _-]outputs?\b"
            r"|\b(?:guided|constrained)[ _-](?:decoding|generation)\b"
        ),
        ("json_schema", "json_object"),
    ),
)
"""Words for parts of a request, and the capabilities that each is."""


def speaks_of_a_part(text: str, call: ModelCall | None) -> bool:
    """Do a server's words (lower case) speak of a part of the request that another output mode does without? The model's own name
    may hold such a word."""
    if call is None or not any(words.search(text) for words, _ in _PARTS):
        return False
    text = text.replace(call.endpoint.model.lower(), "")
    return any(words.search(text) and _asks_for_one(capabilities, call) for words, capabilities in _PARTS)


def holds_a_part(call: ModelCall | None) -> bool:
    """Does the request hold such a part?"""
    return call is not None and any(_asks_for_one(capabilities, call) for _, capabilities in _PARTS)


def _asks_for_one(capabilities: Collection[str], call: ModelCall) -> bool:
    return any(holds(capability, call) for capability in capabilities)


_GONE = (
    r"(?:not (?:be )?(?:found|available|accessible|permitted|allowed|authori[sz]ed|deployed|loaded|exist)|doesn't exist"
    r"|no(?:t have)? (?:permission|access)|retired|deprecated|decommissioned|removed|shut ?down|discontinued|no longer|unknown)"
)
_MISSING = (
    r"(?:no such|unknown|invalid|(?:no|have|denied|request|grant|rights|permission) access to|access (?:denied )?to|not find"
    r"|not found:?)"
)


def names_the_model(text: str, call: ModelCall | None) -> bool:
    """Do a server's words (lower case) say that the model is not there, or not for who asks?"""
    names = r"\b(?:models?|deployments?|engines?|checkpoints?)\b"
    if call is not None and (own := call.endpoint.model.lower()) in text:
        names = rf"(?:{names}|{re.escape(own)})"
    return re.search(rf"{names}[^;\n]{{0,80}}\b{_GONE}\b|\b{_MISSING}[^;\n.]{{0,30}}{names}|\bmodel: ", text) is not None


_KEY = late(
    r"\b(?:api[ _-]?keys?|(?:access|auth|bearer|security)[ _-]tokens?|credentials?|signature|unauthenticated|authentication"
    r"|unauthori[sz]ed|not (?:been )?(?:authori[sz]ed|authenticated)|log ?in|sign ?in|accounts?|ip address|country|region"
    r"|territory|suspended)\b"
)


def names_the_key(text: str) -> bool:
    """Do a server's words (lower case) speak of the key, of whose it is, or of where it is used?"""
    return _KEY.search(text) is not None


_PASSING = late(
    r"\b(?:temporar|overload|try(?:ing)? again|retry|busy\b|(?:at|out of|over) capacity|timed? ?out|too many requests)"
)


def may_pass(status: int | None, text: str, wait: float | None) -> bool:
    """May the same request be taken later? By its status, or as a server's own fault that its words (lower case) call a passing
    one, or for which it asks to wait (seconds)."""
    passing = wait is not None or _PASSING.search(text) is not None
    return status in _MAY_PASS or (status is not None and status >= _FAULT and passing)


def passes(status: int | None, text: str) -> bool:
    """May the same request be taken later, though it was refused as it is, by its status or by the server's words?"""
    return refuses_as_it_is(status) and (status == _CONFLICT or says_it_passes(text))


def _format_asked(call: ModelCall | None) -> str:
    return "json_object" if call is not None and call.mode == "json_object" else "json_schema"


def names_half(quotation: str, following: str, least: int) -> bool:
    """Is a quotation half of "'tools' is not supported", which would tell something with a server's own words? The second half is
    common in English: when it is short (`least`), or goes on in other words, it need not be a quotation."""
    if _NAMED.search(quotation):
        return True
    is_whole = len(quotation) >= 2 * least and not following.isalnum()
    return is_whole and any(word in quotation for word in _UNSUPPORTED)
