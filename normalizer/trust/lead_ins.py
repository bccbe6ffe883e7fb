"""What the last sentence before a call says about it: it is meant, an example, or must not run.

`lexicon` has the phrases. A prohibition overrides an announcement (`Let me check:`), and an announcement overrides the rest.
No earlier sentence is read, and none behind the call.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from llmcore.normalizer.trust.lexicon import finds, rows_of
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["LeadIn", "announces", "kind_of", "names_answer", "sentence_before"]

LeadIn = Literal["strict", "example", "question"]
"""What a sentence says of the call behind it.

`strict`: a prohibition, a label or a form makes the call content. `example`: the call is content, but a call in special tokens
may be meant. `question`: the call is a guess.
"""

_REACH = 320
"""The number of characters before a call that are searched for its lead-in."""
_MOST_LINES = 16
"""The number of lines or sentences without a word after which the search ends."""
_FRAMES = 4
"""The number of openers and list signs before a call after which the search ends. It bounds the cost of many openers."""
_LAYOUT = ' \t\r\n*_#"“„‘‚”«‹»›「『《〈'
_LIST_SIGN = lazy_regex(r"[ \t]{0,8}(?:[-+•①-⑳]|\(?(?:\d{1,3}|[A-Za-z]|[ivx]{1,4})[.)])\Z")
_LONGEST_SIGN = 14
_FENCES = ("```", "~~~")
_WRAPPER = lazy_regex(r"(?:<\|?[A-Za-z][\w.:-]{0,40}\|?>|&lt;[A-Za-z][\w.-]{0,40}&gt;)\Z")
"""The opener of any wrapper, including made-up ones."""
_WRAPPER_SIGNS = ("<", "&lt;")
_SHELL_WRAPPER = lazy_regex(r"\b[A-Z_]{4,40}>>>\Z")
_BLOCK = lazy_regex(
    r"</?(?:summary|details|h[1-6]|p|div|li|ul|ol|d[dtl]|t[dhr]|label|legend|caption|figcaption|figure|center|br|hr)\b[^<>]{0,128}>"
)
_INLINE = lazy_regex(r"</?(?:b|strong|i|em|u|span|small|mark|font)\b[^<>]{0,128}>")
"""Tags of HTML around words: `_BLOCK` has those that end a line, `_INLINE` those within a line."""
_OTHER_ENDS = ("… ", "。", "！", "？")  # the full-width ones are meant
"""Ends of sentences, beside `. `, `? `, `! ` and the end of a line."""
_ABBREVIATED = lazy_regex(
    r"(?<![\w-])(?:[^\W\d_]|e\.g|i\.e|etc|bzw|vgl|(?:examples?|samples?|listing|figure|fig|beispiel|exemple|ejemplo|exemplo|esempio|пример|"
    r"例|示例|范例|예|예시|예제)\s?[#№]?\s?\d{1,3})\Z",
    re.IGNORECASE,
)
"""Text after which a point ends no sentence."""
_LONGEST_ABBREVIATED = 24
"""The length of that text in characters, including its number."""
_WORDS = re.compile(r"[^\W\d_]+")
_QUESTION_MARKS = ("?", "？")  # the full-width one is meant


def sentence_before(text: str, start: int, at: int) -> str:
    """The last sentence of `text[start:at]`. "" if it has no words, or none in the last `_WORDLESS` lines.

    The sentence excludes the layout before `at`, list signs, and the openers of a fence or a wrapper.
    """
    before = text[max(start, at - _REACH) : at]
    if "<" in before and "</" in before:
        before = _INLINE.sub("", _BLOCK.sub("\n", before))
    frames = 0
    for _ in range(_MOST_LINES):
        before = before.rstrip(_LAYOUT)
        while (framed := _framing(before)) < len(before):
            before = before[:framed].rstrip(_LAYOUT)
            frames += 1
            if frames > _FRAMES:
                return ""
        begin = _last_begins(before[:-1])
        while begin >= 3 and before[begin - 2] == "." and _is_abbreviated(before, begin - 2):
            begin = _last_begins(before[: begin - 2])
        sentence = before[begin:].strip(" \t\r\n*_#>-")
        if not begin or _WORDS.search(sentence) is not None:
            return sentence
        before = before[:begin]
    return ""


def _is_abbreviated(lowered: str, point: int) -> bool:
    return _ABBREVIATED.search(lowered, max(0, point - _LONGEST_ABBREVIATED), point) is not None


def _last_begins(lowered: str) -> int:
    """Where the last sentence of the text begins."""
    line = lowered.rfind("\n") + 1
    end = max(lowered.rfind(". ", line), lowered.rfind("? ", line), lowered.rfind("! ", line))
    begin = end + 2 if end >= 0 else line
    if not lowered.isascii():
        for sign in _OTHER_ENDS:
            if (found := lowered.rfind(sign, begin)) >= 0:
                begin = found + len(sign)
    return begin


def _framing(before: str) -> int:
    """Where the opener of a fence or a wrapper, or a list sign, begins that ends the text. The text's length if none does."""
    line = before.rfind("\n") + 1
    if before.startswith(_FENCES, line) or (len(before) - line <= _LONGEST_SIGN and _LIST_SIGN.match(before, line)):
        return line
    if before.endswith((">", ";")):
        for sign in _WRAPPER_SIGNS:  # a regular expression would try each position of the line
            at = before.rfind(sign, line)
            if at >= 0 and _WRAPPER.match(before, at) is not None:
                return at
        if before.endswith(">>>") and (wrapper := _SHELL_WRAPPER.search(before, line)) is not None:
            return wrapper.start()
    return len(before)


@lru_cache(maxsize=512)
def kind_of(sentence: str) -> LeadIn | None:
    """What a lead-in says of the call behind it. None if the call may be meant."""
    lowered = sentence.lower()
    rows = rows_of(lowered)
    if rows and (finds("prohibition", rows, lowered) or finds("refusal", rows, lowered)):
        return "strict"
    if sentence.rstrip(_LAYOUT).endswith(_QUESTION_MARKS):
        return "question"
    kind: LeadIn | None = None
    if rows:
        is_strict = finds("label", rows, lowered) or finds("form", rows, lowered)
        kind = "strict" if is_strict else "example" if finds("example", rows, lowered) else None
    return None if kind is None or finds("announcement", rows, lowered) else kind


@lru_cache(maxsize=512)
def announces(sentence: str) -> bool:
    """Whether the sentence announces a call."""
    lowered = sentence.lower()
    return finds("announcement", rows_of(lowered), lowered)


def names_answer(sentence: str) -> bool:
    """Whether the sentence says that the typed value behind it is the answer."""
    lowered = sentence.lower()
    return finds("answer", rows_of(lowered), lowered)
