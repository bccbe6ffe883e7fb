"""Is a call in a text meant? One function decides it for every dialect: `Judge.judge`.

It asks, in this order: what shows the call (an element of code, a line of code, a result that the model made up, a cell of a
table), what the sentence before it says (`lead_ins`), whether a quotation is open, and what stands before it on its line. A
verdict names what must be looked for behind the call, too: the partner of a quotation mark, words on its line.
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
"""How a call is written: behind a token that nobody types, behind another marker, or without one."""
_TOKENS = ("<|", "<｜", "<‖", "]<]", "[TOOL_CALLS]", *OWN_SIGNS)
_BLANKS = (" ", "\t")
_SENTENCE_ENDS = (".", "!", "?", ":", "…", "。", "！", "？", "：")
_CLOSES_SENTENCE = ")\"'”’»`*_ \t\r\n"
_HEADERS = ("to=", "assistant", "commentary", "analysis")
"""What a header of Harmony's begins with whose tokens are lost: no words of a sentence."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the text before a call makes of it. `shown`: a near miss's reason. `doubt`: the kind of a guess, `words` those that
    cause it. `quotation`: what to look for behind. `in_line`: words stand before it on its line."""

    shown: str = ""
    doubt: str = ""
    words: str = ""
    quotation: Quotation | None = None
    in_line: bool = False
    behind_sentence: bool = False
    """A sentence ends right before it on its line: a remark of a word or two (`Done.`) is no text behind it."""
    deep: bool = False
    """Indented like code; a bare form is shown if prose at the margin follows."""

    def decided(self) -> Verdict:
        """What is left of it when the rest of its line has been looked at and what was opened before it."""
        return Verdict(doubt=self.doubt, words=self.words)


CERTAIN = Verdict()
LED_IN = "example_lead_in"
"""The doubt about a call behind words that may introduce an example."""
_IN_LINE = {ended: Verdict(in_line=True, behind_sentence=ended) for ended in (False, True)}
"""By whether the sentence before it is over."""
_IN_TABLE = Verdict(quotation=Quotation(("|",)), in_line=True)
_BEHIND_A_RESULT = Verdict(doubt="after_invented_result")
_QUOTED, _EXAMPLE = Verdict(shown="quoted"), Verdict(shown="example")


class Place(NamedTuple):
    """Where a call stands. `start`: where the text begins that no call or markup has interrupted; `line`: where its line begins;
    `fenced`: all of a fence is the call."""

    text: str
    at: int
    start: int
    line: int
    form: Form
    fenced: bool = False


def form_of(opener: str) -> Form:
    """How a form with this opener is written, if it has a marker."""
    return "token" if opener.startswith(_TOKENS) else "tag"


def is_certain(verdict: Verdict, text: str, end: int) -> bool:
    """Is a call that ends at `end` meant, whatever else follows its line?"""
    return verdict is CERTAIN or (verdict in _IN_LINE.values() and words_follow(text, end) is False)


class Judge:
    """Judges places in one text, from left to right. `names`: the tools told; an element of such a name is no code."""

    __slots__ = ("_elements", "_shown_to")

    def __init__(self, names: frozenset[str] | None) -> None:
        self._elements = CodeElements(names or frozenset[str]())
        self._shown_to: tuple[int, str] = (-1, "")

    def shown(self, end: int, reason: str) -> None:
        """A call that ends here was only shown: so is one right behind it."""
        self._shown_to = (end, reason)

    def judge(self, place: Place) -> Verdict:
        """What stands before a call makes of it."""
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
        """As `judge`, where nothing but an element of code decides."""
        around = self._elements.around(text, at, 0, line)
        return CERTAIN if around is False else _QUOTED if around is True else Verdict(quotation=around)


def _shows_too(reason: str, between: str) -> bool:
    """Is a call only shown for what made the one before it an example, or because it stands right behind one that is quoted?"""
    return goes_on_as_list(between) if reason == _EXAMPLE.shown else not between.strip(" \t\r\n,;")


def _led_in(kind: LeadIn, form: Form, sentence: str, *, fenced: bool) -> Verdict:
    """What a lead-in of this kind makes of a form."""
    if kind != "question" and (fenced or (kind == "strict" and form != "token")):
        return _EXAMPLE
    return Verdict(doubt=LED_IN, words=sentence)
