"""Sentences in which servers say that they do not take a parameter of a request, which can be left out: by its name on whichever
wire, beside a word that denies it.

A sentence that says what its value should be denies the value, which is the caller's to mend. Every repetition is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from llmcore.adapters.base import ModelCall
from llmcore.adapters.litellm.denials_abroad import DENIED_BEHIND, DENIES_BEFORE
from llmcore.adapters.providers import provider_of
from llmcore.adapters.request.parameters import TOP_P_BESIDE
from llmcore.adapters.request.unsendable import blocks_of
from llmcore.types.late import late

__all__ = ["EXTRA", "PARAMETER_NAMES", "is_held", "is_of_a_value", "parameters_beside", "parameters_named", "parameters_refused"]

_NAMES = (
    *("temperature", "top_p", "max_tokens", "max_completion_tokens", "parallel_tool_calls", "reasoning_effort"),
    *("stream_options", "web_search_options", "cache_control"),
)
_COMMON_WORDS = ("stop", "thinking", "stream", "strict", "usage")
"""Names that are words of a sentence as well: only in quotes they name a field (`in_our_names` puts them there)."""
PARAMETER_NAMES = frozenset({*_NAMES, *_COMMON_WORDS, "seed", "reasoning", "format", "system"})
"""What fields of a request are called, one of which may be called so elsewhere, too."""
_QUOTED = "|".join(_COMMON_WORDS)
_NAME = rf"(?:(?<![\w-])(?:{'|'.join(sorted(_NAMES, key=len, reverse=True))})(?![\w-])|(?<=['\"`])(?:{_QUOTED})(?=['\"`]))"
_QUOTE = r"['\"`\u201c\u201d\u2018\u2019]"
EXTRA = (
    r"(?:extra|additional) (?:inputs?|fields?|properties) (?:are |is )?(?:not permitted|not allowed|forbidden)"
    r"|(?:must|should) not have (?:additional|unevaluated|unknown) properties"
)
"""What validators say of a field beside its name: pydantic, jsonschema, AJV."""
_NOT = r"(?:not|\w{0,5}n['\u2019]t|never|cannot|no longer)(?: (?:yet|currently|be|been|a|an|the)){0,2}"
_DENIED = (
    rf"(?:{_NOT} (?:supported|enabled|available|allowed|permitted|implemented|accepted|recogni[sz]ed|offered|used|set|specified"
    r"|sent|given|configurable|changed|modified|known|customi[sz]ed|adjusted|present|provided)"
    r"|unsupported|unavailable|disabled|forbidden|unknown|unrecogni[sz]ed|unexpected|deprecated|obsolete|retired|removed|rejected"
    rf"|{EXTRA}|not ?implemented|must be (?:omitted|removed|unset|left out|absent|null|empty))\b"
)
_FILLERS = (
    r"(?:the|parameters?|params?|fields?|arguments?|keys?|options?|settings?|inputs?|is|are|was|has|have|been|an?|with|for|in|by|on"
    r"|object|body|payload|request|supplied|given|this|that|these|your|models?|apis?|endpoints?|servers?|and|or|any|use|of|specifying|setting|passing|value)"
)
_BETWEEN = rf"(?:[\s=:,()]|{_QUOTE}|\b{_FILLERS}\b){{0,12}}"
_TAKES_NONE = (
    rf"\b(?:{_NOT} (?:support|accept|allow|take|recogni[sz]e|understand|use|have|know|set|specify|send|pass)"
    r"|(?:has|have|takes?|knows?|accepts?|supports?) no"
    r"|(?:unknown|unexpected|unrecogni[sz]ed|unsupported|invalid|illegal|extraneous)"
    r" (?:request |keyword )?(?:parameters?|arguments?|fields?|names?|keys?|property|properties|options?|inputs?)"
    r"|no [^.;\n]{0,40} supports? (?:the )?requested|without|remove|omit|drop|unset|leave out)\b"
)
_VALUE_FOLLOWS = rf"(?!{_QUOTE}?(?: ?[:=]? ?-?\d| (?:values?|of|to|above|below|over|larger|greater|less|higher|lower|more)\b))"
_REFUSED = late(
    rf"(?P<first>{_NAME}){_BETWEEN}{_DENIED}(?! (?:values?|range|number|type|to|above|below|over|with a)\b)"
    rf"|{_TAKES_NONE}{_BETWEEN}(?P<last>{_NAME}){_VALUE_FOLLOWS}"
    rf"|(?P<behind>{_NAME}){DENIED_BEHIND}|{DENIES_BEFORE}(?P<before>{_NAME})"
)
_OF_A_VALUE = late(
    r"\b(?:must be (?:a|an|at|between|in|less|greater|more|smaller|larger|positive|one|set|the|>|<|\d)|should be|between|range"
    r"|at (?:most|least)|maximum|minimum|too (?:large|small|high|low|big|long|many)|greater|less than|larger|exceeds?|exceeded"
    r"|only the default|integer|numeric|float|valid number|out of"
    r"|zu (?:hoch|niedrig|groß|klein|lang)|zwischen|höchstens|mindestens|muss (?:kleiner|größer)"
    r"|trop (?:grande?|élevée?|petite?|basse?|haute?)|comprise? entre|doit être (?:entre|inférieure?|supérieure?|comprise?)"
    r"|(?:debe|deve) (?:estar|ser|essere) (?:entre|menor|mayor|maior|inferior|superior|compres[ao])"
    r"|demasiado (?:alt|baj|grand)[ao]"
    r"|troppo (?:alt|bass|grand)[aoe]|muito (?:alt|baix)[ao]|между|слишком (?:велик|больш|высок|мал)\w*)\b"
    r"|(?<!\S)[<>] ?-?\d|[<>]= ?-?\d"
    r"|必须(?:在|介于|小于|大于|为)|之间|过[大高小低]|超出范围|の範囲|以下でなければ|以上でなければ|사이여야|범위"
)
"""Words about a value: another one may be taken, and which one is for the caller to say."""


def is_of_a_value(text: str) -> bool:
    """Does the text (lower case) say what a value should be?"""
    return _OF_A_VALUE.search(text) is not None


def _sentences(text: str) -> Iterator[str]:
    """Those that are not about a value."""
    return (one for one in re.split(r"(?<=[.;!\u3002\uff1b])\s*|\n", text) if not is_of_a_value(one))


def parameters_refused(text: str, call: ModelCall | None) -> Iterator[str]:
    """The parameters of the request of which the text (lower case) says that they are not taken."""
    for sentence in _sentences(text):
        for found in _REFUSED.finditer(sentence):
            name = next(name for name in found.groups() if name)
            if is_held(name, call):
                yield name


_CALLED = (
    (
        "thinking",
        late(
            r"(?<![\w-])(?<!with )(?<!while )(?<!when )(?<!during )(?<!beside )(?<!alongside )"
            r"(?:thinking|reasoning|thoughts)\b(?![-_]| (?:models?|for|behind|about)\b)"
        ),
    ),
    (
        "stop",
        late(
            r"(?<![\w-])(?:stop|stopping)[ _-]"
            r"(?:sequence|word|string|phrase|token|marker|list|parameter|field|setting|option)s?\b"
            r"|(?:^|[;.\n]\s?)stop(?=\s*[?:!,]|\W*$| (?:is )?(?:not|un\w+|disabled)\b)"
        ),
    ),
    ("top_p", late(r"\btop[ -]?p\b|\bnucleus\b")),
    ("usage", late(r"(?<![\w-])(?<!tool )(?<!tools )(?<!function )usage\b(?![-_]| (?:limits?|quotas?|polic|of)\b)")),
)
"""What people call a parameter, beside its name. Where thinking is a condition, something else is refused."""


def parameters_named(text: str, call: ModelCall) -> tuple[str, ...]:
    """The parameters of the request that the text (lower case) names, or calls as people do, whatever it says of them but what
    their value should be."""
    found = list[str]()
    for sentence in _sentences(text):
        found += re.findall(_NAME, sentence)
        found += (name for name, words in _CALLED if words.search(sentence))
    return tuple(name for name in dict.fromkeys(found) if is_held(name, call))


def is_held(name: str, call: ModelCall | None) -> bool:
    """Does the request hold the parameter?"""
    if call is None:
        return True
    if name in ("stream", "stream_options"):
        return call.streamed
    if name == "cache_control":
        return any(block.cache_control is not None for block in blocks_of(call))
    if name == "strict":
        return any(tool.strict for tool in call.tools) if call.mode == "native_tools" else call.mode == "json_schema"
    if name == "web_search_options":
        return call.request.allow_web_search
    if name == "usage":
        return provider_of(call.endpoint).reports_cost and name not in call.request.extra_body  # the caller's stays
    field = {"max_completion_tokens": "max_tokens", "reasoning_effort": "thinking"}.get(name, name)
    return getattr(call.request, field, None) not in (None, False, []) or name in call.request.extra_body


_AT_ONCE = late(
    r"\b(?:(?:can(?:not|['\u2019]?t)|may not|must not|not(?: be)?) both"
    r"|(?:not|n['\u2019]t|cannot)[^.;\n]{0,40} (?:together|both|simultaneous|same time|at once|combined|alongside)"
    r"|mutually exclusive|only (?:use |specify |set |one )|either|just one|one of)\b"
)
_BOTH = late(
    rf"(?P<one>{_NAME})[^.;\n]{{0,60}}? (?:and|or|nor|with|alongside|beside|when|while|if)(?: (?:the|using|setting))? "
    rf"{_QUOTE}?(?P<other>{_NAME})"
)
_LESSER = {frozenset({"temperature", "top_p"}): TOP_P_BESIDE}
"""Of two that are not taken together, the one that is left out, as `Capabilities.unsupported_parameters` calls that."""


def parameters_beside(text: str, call: ModelCall | None) -> Iterator[str]:
    """Of parameters that the text (lower case) says are not taken together, the one that can be done without, where the request
    holds both."""
    if not _AT_ONCE.search(text):
        return
    for found in _BOTH.finditer(text):
        pair = frozenset(found.groups())
        if pair in _LESSER and (call is None or all(getattr(call.request, name, None) is not None for name in pair)):
            yield _LESSER[pair]
