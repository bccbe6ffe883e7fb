"""What the words before a call say of it: that it is meant, an example, or not to be run.

A lead-in is the last sentence before a call. Models announce calls they mean (`Let me check:`) and introduce calls that they
only show (`The syntax is:`). `lead_in_words` and `lead_in_denials` hold the phrases.

Kinds, in the order in which they win: the speaker's word that this call is not made (`I will not run it`), a prohibition (`do not
run`), both unless the sentence goes on to what the speaker does instead (`never mind the docs; I run it`); consent that the call
waits for (`if you agree`), an announcement (`I'll look`), a form (`looks like`) or a label (`Example:`), and what only mentions:
a report that ends in its verb (`the log says`), what might be done (`I would`), a statement (`this was sent yesterday:`, `models
write it this way:`, `use this template:`), an example (`for instance`).

Most sentences hold no word of any phrase: a look-up of their words tells. Expressions are compiled when a sentence first needs
them.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Literal

from llmcore.normalizer.scanning.words import COLONS, NOT_IN_ASCII
from llmcore.normalizer.trust import lead_in_denials as denials
from llmcore.normalizer.trust import lead_in_statements as statements
from llmcore.normalizer.trust import lead_in_words as words
from llmcore.normalizer.trust.lines_of_code import is_stamped
from llmcore.normalizer.trust.open_lead_ins import asks, leaves_open
from llmcore.normalizer.trust.told_lead_ins import Place, ends, said_by
from llmcore.types.late import late

__all__ = ["LeadIn", "announces", "answers", "kind_of", "sentence_before", "told"]

LeadIn = Literal["strict", "mention", "statement", "example"]
"""`strict`: what follows is shown. The others: it may be meant, and special tokens after an `example` are. After a `statement` a
fence is doubtful as well; after the others it shows what it holds."""

_REACH = 320
"""Characters before a call in which its lead-in may stand."""
_SENTENCES = 3
"""Sentences before a call that are asked what they tell."""
_WORDLESS = 16
"""Lines or sentences without a word, beyond which none is sought."""
_LAYOUT = ' \t\r\n*_#"“„‘‚”«‹»›「『《〈'
_LIST_SIGN = late(r"[ \t]{0,8}(?:[-+•①-⑳]|\(?(?:\d{1,3}|[A-Za-z]|[ivx]{1,4})[.)])\Z")
_LONGEST_SIGN = 14
_FENCES = ("```", "~~~")
_WRAPPER = late(r"(?:<\|?[A-Za-z][\w.:-]{0,40}\|?>|&lt;[A-Za-z][\w.-]{0,40}&gt;)\Z")
"""The opener of any wrapper, made-up ones too."""
_WRAPPER_SIGNS = ("<", "&lt;")
_SHELL_WRAPPER = late(r"\b[A-Z_]{4,40}>>>\Z")
_BLOCK = late(
    r"</?(?:summary|details|h[1-6]|p|div|li|ul|ol|d[dtl]|t[dhr]|label|legend|caption|figcaption|figure|center|br|hr)\b[^<>]{0,128}>"
)
_INLINE = late(r"</?(?:b|strong|i|em|u|span|small|mark|font)\b[^<>]{0,128}>")
"""Tags of HTML around words: those that end a line, and those within one."""
_OTHER_ENDS = ("… ", "。", "！", "？")  # the full-width ones are meant
"""Of sentences, beside `. `, `? `, `! ` and the end of a line."""
_ABBREVIATED = late(
    r"(?<![\w-])(?:[^\W\d_]|e\.g|i\.e|etc|bzw|vgl|(?:examples?|samples?|listing|figure|fig|beispiel|exemple|ejemplo|exemplo|esempio|пример|"
    r"例|示例|范例|예|예시|예제)\s?[#№]?\s?\d{1,3})\Z",
    re.IGNORECASE,
)
"""A point behind it ends no sentence."""
_LONGEST_ABBREVIATED = 24
"""Characters, with what is behind it."""
_INSERTED = late(
    r"\b(not|never|don['’]t|nicht|niemals|nie|jamais|no|nunca|não|non|mai|никогда|нельзя)(?:,\s*ever\b|,[^,;:.!?]{1,60},)\s*"
    r"|,\s*(?:egal\s+was|whatever|no\s+matter\s+what|quoi\s+qu|pase\s+lo\s+que|aconteça\s+o\s+que|qualunque\s+cosa|что\s+бы)[^,;:.!?]{0,40},\s*",
    re.IGNORECASE,
)
"""A negation, and words between commas that part it from its verb."""
_WORDS = re.compile(r"[^\W\d_]+")
_UNSPACED = late("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")  # Japanese, Chinese, Korean
_ANCHOR = 4
_TABLES = {
    "prohibition": denials.PROHIBITION,
    "refusal": denials.REFUSAL,
    "not yet": denials.NOT_YET,
    "condition": denials.CONDITION,
    "form": words.FORM,
    "example": words.EXAMPLE,
    "report": words.REPORT,
    "possible": words.POSSIBLE,
    "past": statements.PAST,
    "manner": statements.MANNER,
    "template": statements.TEMPLATE,
    "contrast": statements.CONTRAST,
    "obsolete": statements.OBSOLETE,
}
_SPEAKER = {
    "announcement": words.ANNOUNCEMENT,
    "action": denials.ACTION,
    "not forbidden": denials.NOT_FORBIDDEN,
    "described": denials.DESCRIBED,
}
_KINDS: dict[str, LeadIn] = {
    "report": "mention",
    "possible": "mention",
    "past": "statement",
    "manner": "statement",
    "template": "statement",
    "contrast": "statement",
    "obsolete": "statement",
    "example": "example",
}
"""What a table's phrase makes of a call that nothing else decides about; the first that fits counts."""
_Rows = dict[str, set[str]]
"""Table -> the languages whose row may fit."""


@cache
def _by_anchor() -> dict[str, list[tuple[str, str]]]:
    """The rows (table, language) by their anchors; "" for the rows that have none."""
    found: dict[str, list[tuple[str, str]]] = {}
    for table, rows in _TABLES.items():
        for language, row in rows.items():
            for anchor in row.anchors.split() or [""]:
                found.setdefault(anchor, []).append((table, language))
    for anchor in words.LABEL_ANCHORS.split():
        found.setdefault(anchor, []).append(("label", ""))
    return found


@cache
def _expression(table: str, language: str) -> re.Pattern[str]:
    return late(_TABLES[table][language].pattern, re.IGNORECASE)


@cache
def _expressions(rows: str, *, in_ascii: bool) -> list[re.Pattern[str]]:
    """`in_ascii`: those of the languages that can be written so."""
    return [late(row, re.IGNORECASE) for language, row in _SPEAKER[rows].items() if not in_ascii or language not in NOT_IN_ASCII]


def sentence_before(text: str, start: int, at: int) -> str:
    """The last sentence of `text[start:at]`; "" when there are no words, or none in the last `_WORDLESS` lines.

    Layout between it and `at`, list signs, and the openers of a fence or a wrapper are no part of it.
    """
    before = text[max(start, at - _REACH) : at]
    if "<" in before and "</" in before:
        before = _INLINE.sub("", _BLOCK.sub("\n", before))
    for _ in range(_WORDLESS):
        before = before.rstrip(_LAYOUT)
        while (framed := _framing(before)) < len(before):
            before = before[:framed].rstrip(_LAYOUT)
        begin = _last_begins(before[:-1])
        while begin >= 3 and before[begin - 2] == "." and _is_abbreviated(before, begin - 2):
            begin = _last_begins(before[: begin - 2])
        sentence = before[begin:].strip(" \t\r\n*_#>-")
        if not begin or _WORDS.search(sentence) is not None:
            return sentence
        before = before[:begin]
    return ""


def _is_abbreviated(said: str, point: int) -> bool:
    return _ABBREVIATED.search(said, max(0, point - _LONGEST_ABBREVIATED), point) is not None


def _last_begins(said: str) -> int:
    """Where the last sentence of the text begins."""
    line = said.rfind("\n") + 1
    end = max(said.rfind(". ", line), said.rfind("? ", line), said.rfind("! ", line))
    begin = end + 2 if end >= 0 else line
    if not said.isascii():
        for sign in _OTHER_ENDS:
            if (found := said.rfind(sign, begin)) >= 0:
                begin = found + len(sign)
    return begin


def _framing(before: str) -> int:
    """Where a fence's or a wrapper's opener, or a list sign, begins that ends the text; its length when there is none."""
    line = before.rfind("\n") + 1
    if before.startswith(_FENCES, line) or (len(before) - line <= _LONGEST_SIGN and _LIST_SIGN.match(before, line)):
        return line
    if before.endswith((">", ";")):
        for sign in _WRAPPER_SIGNS:  # a search would try each place of the line
            at = before.rfind(sign, line)
            if at >= 0 and _WRAPPER.match(before, at) is not None:
                return at
        if before.endswith(">>>") and (wrapper := _SHELL_WRAPPER.search(before, line)) is not None:
            return wrapper.start()
    return len(before)


@lru_cache(maxsize=512)
def kind_of(sentence: str) -> LeadIn | None:
    """What a lead-in, or the time that it begins with, says of the call behind it; None when it may be meant as it stands."""
    return _kind_of_words(sentence) or ("mention" if is_stamped(sentence) else None)


def _kind_of_words(sentence: str) -> LeadIn | None:
    if "," in sentence and _INSERTED.search(sentence) is not None:  # `Do not, under any circumstances, run this:`
        sentence = _INSERTED.sub(r"\g<1> ", sentence)
    if asks(sentence):
        return "mention"
    rows = _rows_of(sentence)
    if not rows:
        return "statement" if not _says("announcement", sentence) and _is_open(sentence) else None
    denied, kind = _denied(rows, sentence)
    if denied >= 0 and not _acts(sentence[denied:]):
        return kind
    if _fits("condition", rows, sentence) is not None:
        return "mention"
    if denied >= 0:
        return None
    if _says("announcement", sentence):
        return None
    if ("label" in rows and words.LABEL.match(sentence) is not None) or _fits("form", rows, sentence) is not None:
        return "strict"
    found: LeadIn | None = next((kind for table, kind in _KINDS.items() if _fits(table, rows, sentence) is not None), None)
    if found is None and _is_open(sentence):
        return "statement"
    return found


def _is_open(sentence: str) -> bool:
    """Does a sentence that announces no call lead in to one, and leave it open whether it is made?"""
    if words.EXPLAINING.search(sentence) is None or not sentence.rstrip(_LAYOUT).endswith(COLONS):
        return leaves_open(sentence)
    announced = _expressions("announcement", in_ascii=sentence.isascii())
    return any(one.search(sentence) is not None for one in announced) or leaves_open(sentence)


def _denied(rows: _Rows, sentence: str) -> tuple[int, LeadIn]:
    """Where a refusal or a prohibition ends, -1 when there is none, and what it makes of the call."""
    refused = _fits("refusal", rows, sentence)
    if refused is not None:
        return refused.end(), "mention"
    not_yet = _fits("not yet", rows, sentence) if sentence.endswith(COLONS) else None
    if not_yet is not None and not _says("not forbidden", sentence[: not_yet.start()]):  # what the speaker does not know yet
        return not_yet.end(), "mention"
    forbidden = _fits("prohibition", rows, sentence)
    if forbidden is None or _says("not forbidden", sentence[: forbidden.start()]):
        return -1, "strict"
    return forbidden.end(), "mention" if _says("described", sentence) else "strict"


def _acts(rest: str) -> bool:
    """Does the speaker do something in this rest of a sentence?"""
    return _WORDS.search(rest) is not None and (_says("action", rest) or _says("announcement", rest))


def _rows_of(sentence: str) -> _Rows:
    """The rows of which the sentence holds a word."""
    found: _Rows = {}
    by_anchor = _by_anchor()
    anchors = {word[:_ANCHOR] for word in _WORDS.findall(sentence.lower())} & by_anchor.keys()
    if not sentence.isascii() and _UNSPACED.search(sentence) is not None:
        anchors.add("")
    for anchor in anchors:
        for table, language in by_anchor[anchor]:
            found.setdefault(table, set()).add(language)
    if "" in anchors:
        found.setdefault("label", set())
    return found


def _fits(table: str, rows: _Rows, sentence: str) -> re.Match[str] | None:
    for language in sorted(rows.get(table, ())):
        if (found := _expression(table, language).search(sentence)) is not None:
            return found
    return None


def told(text: str, start: int, at: int, sentence: str) -> bool:
    """Does the sentence before a call tell of something, or one before it, where it says nothing itself? Then the call may be
    shown."""
    return _told(text[max(start, at - (_SENTENCES + 1) * _REACH) : at], sentence)


@lru_cache(maxsize=256)
def _told(before: str, sentence: str) -> bool:
    said, at = said_by(sentence), len(before)
    place: Place = "above" if ends(sentence) else "above a label"
    for _ in range(_SENTENCES):
        begin = before.rfind(sentence, 0, at) if sentence else -1
        if said != "neutral" or begin <= 0:
            break
        at = begin
        sentence = sentence_before(before, 0, at)
        if kind_of(sentence) is not None and ends(sentence):
            return True
        said = said_by(sentence, place)
    return said == "told"


@lru_cache(maxsize=512)
def announces(sentence: str) -> bool:
    """Does it announce a call?"""
    return _says("announcement", sentence)


def answers(sentence: str, before: str) -> LeadIn | None:
    """Is it the sign of an answer (`A:`) to a question (`Q: ...`) in the text before the call? Then it shows an example. Stand a
    line of the user's and one of the assistant's before it? They are of a transcript, which mentions the call."""
    if before.count(":") + before.count("：") < 2:  # one ends each sign of who speaks, and two must be there
        return None
    if words.ANSWER.match(sentence) is not None and words.QUESTION.search(before) is not None:
        return "example"
    asked = words.USER.search(before)
    return "mention" if asked is not None and words.ASSISTANT.search(before, asked.end()) is not None else None


def _says(rows: str, sentence: str) -> bool:
    """Does the sentence say so? An announcement whose verb is to show something announces no call."""
    return any(
        rows != "announcement" or words.SHOWING.search(found[0]) is None
        for expression in _expressions(rows, in_ascii=sentence.isascii())
        for found in expression.finditer(sentence)
    )
