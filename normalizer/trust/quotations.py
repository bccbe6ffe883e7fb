"""Quotations around a call: what opens one before the call, and what closes it behind the call."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from llmcore.normalizer.scanning.source import Source, Steps, skip_space
from llmcore.normalizer.trust.layout import MARKS, has_words
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["PARAGRAPH", "Quotation", "is_closed", "open_quotation"]

PARAGRAPH = 2048
"""The number of characters before a call in which a quotation may begin, and behind it in which it may end."""
_PARTNERS = {
    '"': '"', "'": "'", "“": "”", "”": "”", "„": '“”"', "‘": "’", "‚": "‘’", "«": "»", "»": "«»", "‹": "›", "›": "‹›",
    "「": "」", "『": "』", "《": "》", "〈": "〉",
}  # fmt: skip
_TRIPLES = ("'''", '"""')
_MARK = lazy_regex('["“”„‘’‚«»‹›「」『』《》〈〉]')
_UNSPACED = "\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef"
"""Characters of languages that put no space before a quotation mark."""
_OPENS_QUOTATION = lazy_regex(rf"[\s(\[{{<>=:,;/|*_—–{_UNSPACED}-]")
_CLOSING_MARK = {mark: lazy_regex(rf"(?<![\s({{\[:,]){mark}(?=[\s.;!?)…{_UNSPACED}]|,\s{{1,8}}(?:\w|\Z)|\Z)") for mark in "\"'’"}
_LONGEST_CLOSER = 16
_ENDS_SECTION = (">", "]", "}")


@dataclass(frozen=True, slots=True)
class Quotation:
    """What is open before a call. If one of its `closers` follows the call, the call is quoted.

    `direct`: the closer must stand right behind the call. `within`: the stretch in which the closer may stand. `needs_words`:
    words must follow the closer as well.
    """

    closers: tuple[str, ...]
    direct: bool = False
    within: Literal["paragraph", "text"] = "paragraph"
    needs_words: bool = False


def is_closed(src: Source, quotation: Quotation, start: int) -> Steps[bool]:
    """Whether the quotation is closed behind the call, which ends at `start`.

    A closer that must stand right behind the call may also stand behind the end of a section of calls.
    """
    if (yield from _is_closed(src, quotation, start)):
        return True
    if not quotation.direct or (behind := src.text[(yield from skip_space(src, start)) :][:1]) not in MARKS or not behind:
        return False
    closers = tuple(end + mark for mark in quotation.closers for end in _ENDS_SECTION)
    return (yield from _is_closed(src, replace(quotation, closers=closers, direct=False), start))


def _is_closed(src: Source, quotation: Quotation, start: int) -> Steps[bool]:
    sought = start
    while True:
        text = src.text
        farthest = start + PARAGRAPH if quotation.within == "paragraph" else len(text) + 1
        over = text.find("\n\n", max(start, sought - 1), farthest) if quotation.within == "paragraph" else -1
        if over < 0 and len(text) >= farthest:
            over = farthest
        stop = len(text) if over < 0 else over
        decided = stop if over >= 0 or src.final else stop - _LONGEST_CLOSER  # the text behind a mark decides whether it closes
        reach = min(decided, start + 1) if quotation.direct else decided
        within = reach + _LONGEST_CLOSER if over < 0 else over  # other paragraphs are not searched
        closed = min((hit for one in quotation.closers if (hit := _partner(src, one, sought, reach, within)) >= 0), default=-1)
        if closed >= 0 and (not quotation.needs_words or has_words(text[closed + 1 : stop])):
            return True
        if over >= 0 or src.final or (quotation.direct and closed < 0 and reach > start):
            return False
        sought = max(start, closed if closed >= 0 else reach - _LONGEST_CLOSER)
        del text
        yield None


def _partner(src: Source, closer: str, start: int, stop: int, within: int) -> int:
    """Where `closer` stands: a quotation mark that is not JSON's, or a closing tag. -1 if it does not stand before `stop`.

    The text up to `within` decides whether a quotation mark is JSON's.
    """
    if closer in _TRIPLES:
        return start if src.text.startswith(closer, start) else -1
    if (mark := _CLOSING_MARK.get(closer)) is not None:
        found = mark.search(src.text, start, within)
        return -1 if found is None or found.start() >= stop else found.start()
    if len(closer) == 1:
        return src.text.find(closer, start, stop)
    tag = _closing_tag(closer)
    if src.absent.get(tag, start + 1) <= start:
        return -1
    found = tag.search(src.text, start, stop)
    at = -1 if found is None else found.start()
    if at < 0 and src.final and stop == len(src.text):  # many calls behind one opener seek it once
        src.absent[tag] = start
    return at


@cache
def _closing_tag(closer: str) -> re.Pattern[str]:
    return re.compile(re.escape(closer), re.IGNORECASE)


def open_quotation(text: str, at: int, start: int) -> Quotation | None:
    """The quotation that begins in the paragraph and is still open at `at`. None if there is none."""
    begin = max(start, at - PARAGRAPH)
    blank = text.rfind("\n\n", begin, at)
    begin = begin if blank < 0 else blank + 2
    if begin == at:
        return None
    if (triple := text[at - 3 : at]) in _TRIPLES and at - 3 >= begin:
        return Quotation((triple,), direct=True, needs_words=not has_words(text[begin : at - 3]))
    if text[at - 1] == "'" and (at - 1 == begin or _OPENS_QUOTATION.match(text, at - 2)):
        return Quotation(("'",), direct=True, needs_words=not has_words(text[begin : at - 1]))
    opened, closers = -1, ""
    for mark in _MARK.finditer(text, begin, at):
        char, where = mark[0], mark.start()
        if opened >= 0 and char in closers:
            opened = -1
        elif opened < 0 and char in _PARTNERS and _begins_quotation(text, where, begin, at):
            opened, closers = where, _PARTNERS[char]
    if opened < 0:
        return None
    return Quotation(tuple(closers), needs_words=not has_words(text[begin:opened]))


def _begins_quotation(text: str, mark: int, begin: int, at: int) -> bool:
    """Whether a quotation mark stands at the start of a word."""
    behind_space = mark == begin or _OPENS_QUOTATION.match(text, mark - 1) is not None or text[mark] in "„‚「『《〈"
    return behind_space and (
        mark + 1 == at or not text[mark + 1].isspace() or text[mark] in "“„«‹「『《〈"
    )  # French puts a space behind it
