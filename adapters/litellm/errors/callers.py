"""Finds refusals of what only the caller gave: a parameter's value, or a field of `extra_body`.

No output mode helps against these, and llmcore does not change the values, so the caller gets the error at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from llmcore.adapters.base import ModelCall
from llmcore.adapters.litellm.errors.fields import MARK, VALUES, marks_in
from llmcore.adapters.litellm.errors.phrases import meanings
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["SENTENCE", "callers_own"]

SENTENCE = lazy_regex(r"(?<=[.!\u3002])\s+|[;\n]")
"""Separates two sentences."""
_NAMES = {"max_completion_tokens": "max_tokens"}
_TOOLS = MARK.format("tools")
_ELSEWHERE = lazy_regex(rf"\b(?:tool|function|schema|propert(?:y|ies)|messages?|default)\b|{_TOOLS}")
_KIND = r"(?:fields?|param\w*|arguments?|keys?|propert(?:y|ies)|options?|inputs?|names?|supplied)"


def callers_own(server_text: str, text: str, call: ModelCall) -> Iterator[str]:
    """Return the names of these values and fields.

    `server_text` is the server's message in lower case; `text` is the same with a mark for each field.
    """
    for plain, sentence in zip(SENTENCE.split(server_text), SENTENCE.split(text), strict=False):
        if "value" in meanings(sentence) and not _ELSEWHERE.search(sentence):
            for field in VALUES.intersection(marks_in(sentence)):
                name = _NAMES.get(field, field)
                if getattr(call.request, name) not in (None, False, []):
                    yield name
        if _TOOLS not in sentence:
            yield from (key for key in call.request.extra_body if _names(plain, key.lower()))


def _names(sentence: str, key: str) -> bool:
    """Whether the sentence names the field: in quotes, after a word such as `field`, or first. A name that is not a plain
    word counts anywhere."""
    if len(key) < 2 or key in VALUES:
        return False
    own = re.escape(key)
    if not key.isalpha():
        return re.search(rf"(?<![\w-]){own}(?![\w-])", sentence) is not None
    field = rf"['\"`]{own}['\"`]|\b{_KIND}:? {own}\b(?! of\b)|^\W*{own}(?=\s*[?:!,]| (?:is|isn|was|are)\b)|\.{own}: "
    return re.search(field, sentence) is not None
