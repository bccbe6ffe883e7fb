"""Does a refusal speak of what only the caller gave: a parameter's value, or a field of `extra_body`? No output mode helps
against that, and nothing is changed in it: the caller is told at once.

What a server says of a tool, a schema or a message is not of the request's own parameters, though these may have such names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from llmcore.adapters.base import ModelCall
from llmcore.adapters.litellm.refused_parameters import is_of_a_value
from llmcore.adapters.litellm.refused_parts import parts_named
from llmcore.types.late import late

__all__ = ["callers_own"]

_FIELDS = {
    **{name: name for name in ("temperature", "top_p", "max_tokens", "stop", "thinking")},
    **{"max_completion_tokens": "max_tokens", "reasoning_effort": "thinking"},
}
"""Parameters that have values, and the fields of a request that they are."""
_NAMED = late(rf"(?<![\w.\[-])['\"`]?({'|'.join(sorted(_FIELDS, key=len, reverse=True))})(?![\w-])")
_ELSEWHERE = late(r"\b(?:tools?|functions?|schemas?|propert(?:y|ies)|messages?|default)\b")
_SENTENCE = late(r"(?<=[.;!\u3002])\s+|\n")
_KIND = r"(?:fields?|param\w*|arguments?|keys?|propert(?:y|ies)|options?|inputs?|names?|supplied)"


def callers_own(text: str, call: ModelCall | None) -> str:
    """What it is, by its name; "" where the text (lower case, by our names) is about something else."""
    return next((name for name in _named(text, call)), "") if call is not None else ""


def _named(text: str, call: ModelCall) -> Iterator[str]:
    for sentence in _SENTENCE.split(text):
        found = _NAMED.search(sentence)
        if found and is_of_a_value(sentence) and not _ELSEWHERE.search(sentence):
            name = _FIELDS[found[1]]
            if getattr(call.request, name) not in (None, False, []):
                yield name
        if not parts_named(sentence):
            yield from (key for key in call.request.extra_body if _names(sentence, key.lower()))


def _names(sentence: str, key: str) -> bool:
    """Does it name the field? A word of a sentence does where fields stand: in quotes, behind the word for one, or first."""
    if key in _FIELDS or len(key) < 2:
        return False
    own = re.escape(key)
    if not key.isalpha():
        return re.search(rf"(?<![\w-]){own}(?![\w-])", sentence) is not None
    return (
        re.search(
            rf"['\"`]{own}['\"`]|\b{_KIND}:? {own}\b(?! of\b)|^\W*{own}(?=\s*[?:!,]| (?:is|isn|was|are)\b)|\.{own}: ", sentence
        )
        is not None
    )
