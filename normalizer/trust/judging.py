"""`Judge.judge`: whether a call in a text is meant, for every dialect.

It checks, in this order:
- what surrounds the call: an element of code, a line of code, a result that the model made up, a table's cell;
- the sentence before it (`lead_ins`);
- an open quotation;
- the text before it on its line.

A verdict also says what to look for behind the call: a closing quotation mark, words on its line.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from llmcore.normalizer.scanning.words import OWN_SIGNS
from llmcore.normalizer.trust.code_elements import CodeElements
from llmcore.normalizer.trust.layout import LINE, ends_sentence, has_words, is_deep, words_follow
from llmcore.normalizer.trust.lead_ins import LeadIn, kind_of, sentence_before
from llmcore.normalizer.trust.line_signs import is_sign
from llmcore.normalizer.trust.lines_of_code import in_line_of_code
from llmcore.normalizer.trust.listed_calls import goes_on_as_list
from llmcore.normalizer.trust.quotations import PARAGRAPH, Quotation, open_quotation
from llmcore.normalizer.trust.quoted_results import is_in_result

__all__ = ["CERTAIN", "LED_IN", "Form", "Judge", "Place", "Verdict", "form_of", "is_certain"]

Form = Literal["token", "tag", "bare"]
"""How a call is written: behind a token that nobody types, behind another marker, or without a marker."""
_TOKENS = ("<|", "<｜", "<‖", "]<]", "[TOOL_CALLS]", *OWN_SIGNS)
_BLANKS = (" ", "\t")
_SENTENCE_ENDS = (".", "!", "?", ":", "…", "。", "！", "？", "：")
_CLOSES_SENTENCE = ")\"'”’»`*_ \t\r\n"
_HEADERS = ("to=", "assistant", "commentary", "analysis")
"""The beginnings of a Harmony header that lost its tokens. They are no words of a sentence."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the text before a call says about it.

    `shown`: the call is content, for this near-miss reason. `doubt`: the call is a guess, of this repair kind; `words` cause
    the doubt. `quotation`: if it is closed behind the call, the call is content. `in_line`: words stand before the call on its
    line.
    """

    shown: str = ""
    doubt: str = ""
    words: str = ""
    quotation: Quotation | None = None
    in_line: bool = False
    behind_sentence: bool = False
    """Whether a sentence ends right before it on its line. If so, a remark of a word or two (`Done.`) may follow it."""
    deep: bool = False
    """Whether it is indented like code. If prose at the margin follows a bare form, that form is content."""

    def decided(self) -> Verdict:
        """The verdict after the rest of the line and the closers of what was opened have been sought."""
        return Verdict(doubt=self.doubt, words=self.words)


CERTAIN = Verdict()
LED_IN = "example_lead_in"
"""The doubt about a call behind words that may introduce an example."""
_IN_LINE = {ended: Verdict(in_line=True, behind_sentence=ended) for ended in (False, True)}
"""Verdicts by whether the sentence before the call has ended."""
_IN_TABLE = Verdict(quotation=Quotation(("|",)), in_line=True)
_BEHIND_A_RESULT = Verdict(doubt="after_invented_result")
_QUOTED, _EXAMPLE = Verdict(shown="quoted"), Verdict(shown="example")


class Place(NamedTuple):
    """Where a call stands.

    `start`: where the text begins that no call or markup interrupts. `line`: where the call's line begins. `fenced`: the call
    is all of a fence.
    """

    text: str
    at: int
    start: int
    line: int
    form: Form
    fenced: bool = False


def form_of(opener: str) -> Form:
    """The form of a call whose marker has this opener."""
    return "token" if opener.startswith(_TOKENS) else "tag"


def is_certain(verdict: Verdict, text: str, end: int) -> bool:
    """Whether a call that ends at `end` is meant, whatever the rest of its line says."""
    return verdict is CERTAIN or (verdict in _IN_LINE.values() and words_follow(text, end) is False)


class Judge:
    """Judges positions in one text, from left to right. `names` are the tools' names: an element so named is no code."""

    __slots__ = ("_elements", "_shown_to")

    def __init__(self, names: frozenset[str] | None) -> None:
        self._elements = CodeElements(names or frozenset[str]())
        self._shown_to: tuple[int, str] = (-1, "")

    def shown(self, end: int, reason: str) -> None:
        """Record that a call that ends at `end` is content, for this reason. So is a call right behind it."""
        self._shown_to = (end, reason)

    def judge(self, place: Place) -> Verdict:
        """The verdict on a call, from the text before it."""
        text, at, start, line, form, fenced = place
        if at == line and text[at : at + 1] in _BLANKS:
            at += len(text[at : at + LINE]) - len(text[at : at + LINE].lstrip(" \t"))
        shown_to, reason = self._shown_to
        if shown_to >= start and _shows_too(reason, text[shown_to:at]):
            return Verdict(shown=reason)
        if around := self._elements.around(text, at, start, line):
            return _QUOTED if around is True else Verdict(quotation=around)
        before = text[max(start, line, at - PARAGRAPH) : at]
        if in_line_of_code(text, line, before):
            return _QUOTED
        if as_result := is_in_result(text, at, start):
            return _QUOTED if as_result == "held" else _BEHIND_A_RESULT
        if before and before.lstrip(" \t").startswith("|"):
            return _IN_TABLE
        quotation = open_quotation(text, at, start) if form != "token" else None
        sentence = sentence_before(text, start, at)
        kind = kind_of(sentence)
        if kind == "question" and text[start:at].rstrip().rpartition("\n")[2].lstrip().startswith(">"):
            kind = None  # a block quote asks, and not the model
        if kind is not None and (kind == "strict" or form != "token" or fenced):
            led = _led_in(kind, form, sentence, fenced=fenced)
            return led if led.shown or quotation is None else replace(led, quotation=quotation)
        if quotation is not None:
            return Verdict(quotation=quotation, in_line=form == "tag")
        if form != "token" and not fenced and is_deep(text, at, start, line):
            return _EXAMPLE if form == "tag" else Verdict(deep=True)
        if not before or form == "token":
            return CERTAIN
        if form == "bare" and is_sign(before):
            return Verdict(doubt="behind_a_sign", words=before.strip())
        if not has_words(before):
            return CERTAIN
        if form == "tag":
            return _IN_LINE[before.rstrip(_CLOSES_SENTENCE).endswith(_SENTENCE_ENDS)]
        if ends_sentence(before) and not text.startswith(_HEADERS, at + (text[at : at + 1] == " ")):
            return Verdict(doubt="behind_a_sentence", words=sentence)
        return CERTAIN

    def within_code(self, text: str, at: int, line: int) -> Verdict:
        """As `judge`, but only elements of code are checked."""
        around = self._elements.around(text, at, 0, line)
        return CERTAIN if around is False else _QUOTED if around is True else Verdict(quotation=around)


def _shows_too(reason: str, between: str) -> bool:
    """Whether a call is content because the one before it is.

    Behind an example, it must go on as a list. Behind another call, it must follow directly.
    """
    return goes_on_as_list(between) if reason == _EXAMPLE.shown else not between.strip(" \t\r\n,;")


def _led_in(kind: LeadIn, form: Form, sentence: str, *, fenced: bool) -> Verdict:
    """The verdict that a lead-in of this kind gives a form."""
    if kind != "question" and (fenced or (kind == "strict" and form != "token")):
        return _EXAMPLE
    return Verdict(doubt=LED_IN, words=sentence)
