"""When a bare form is a call: the rule for all bare forms.

A bare form has no marker, so three things must hold:
- Its name is one of the tools. If the tools are unknown, it must be the whole message.
- It starts the message or a line. A lead-in that ends in `:` may precede it.
- Only white space or closing punctuation follows on its last line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from llmcore.normalizer.calls.call_messages import calls_listed
from llmcore.normalizer.calls.call_objects import CallObject
from llmcore.normalizer.core.damage.placeholders import holds_placeholders
from llmcore.normalizer.core.draft import Draft
from llmcore.normalizer.core.names import holds_calls, is_known
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import as_json
from llmcore.normalizer.core.showing import shown_behind
from llmcore.normalizer.scanning.source import Steps, past, skip_space
from llmcore.normalizer.scanning.words import COLONS, FACES, HTML_NAMES, TURN_TOKENS
from llmcore.normalizer.trust.documents import is_in_document
from llmcore.normalizer.trust.html import is_in_page, may_be_html
from llmcore.normalizer.trust.judging import CERTAIN
from llmcore.normalizer.trust.layout import ends_sentence
from llmcore.normalizer.trust.line_signs import is_sign, may_be_listed
from llmcore.normalizer.trust.quotations import is_closed
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.envelope import Repair

__all__ = [
    "BarePlace",
    "TagCall",
    "bare_place",
    "drop_echo",
    "echoed",
    "enter_tag",
    "follows_lead_in",
    "is_echo",
    "leads_in",
    "line_is_over",
    "may_stand",
    "mid_line",
    "only_shown",
    "refusal",
    "rest_is_blank",
    "tag_may_stand",
]

_LAST_TOKENS = (*TURN_TOKENS, "<|im_start|>")
_CLOSING = lazy_regex(rf"(?:[^\S\r\n]|[\u200b\u2060\ufeff.,;:!?)\]}}\"'`*_>…。{FACES}])*+")
_LONGEST_LEAD_IN = 200
_FEW_PIECES = 16


class BarePlace:
    """Where a bare form stands: `begin:end`.

    `over`: its last line ends with it. `closed`: a stray closer follows. `whole`: it is the whole message. `alone`: it is the
    whole message except a lead-in, and has placeholders.
    """

    __slots__ = ("alone", "begin", "closed", "end", "over", "whole")

    def __init__(self, begin: int, end: int, *, over: bool, closed: bool, whole: bool, alone: bool = False) -> None:
        self.begin, self.end, self.over, self.closed, self.whole, self.alone = begin, end, over, closed, whole, alone


def leads_in(before: str) -> bool:
    """Whether a bare form may follow this text on its line. A star with a blank is a list sign."""
    if before[-1:] in (" ", "\t") and before.strip() == "*":
        return False
    return before.rstrip(" \t\r*_`\"'").endswith(COLONS) or not before.strip(" \t\r\u200b\u2060\ufeff\"'`*")


def may_stand(reading: Reading, before: str, at: int) -> bool:
    """Whether a form of a known tool may follow this text on its line, up to `at`.

    It may behind a lead-in. It may, as a guess, behind a sentence, or behind a list sign if the list is announced or has no
    words before it.
    """
    if leads_in(before):
        return True
    if reading.tools is None:
        return False
    if ends_sentence(before):
        return True
    if reading.nested:
        return False
    return is_sign(before) and may_be_listed(reading.src.text, reading.text_start(), at - len(before))


_TAG_REACH = 512
"""The number of characters of the line before a tag that are searched."""


def tag_may_stand(reading: Reading, at: int) -> bool:
    """Whether a tool's own tag may stand at `at`: the text before it on its line allows a bare form."""
    return (
        reading.text_kind != "reasoning"
        and not reading.backtrack_budget.too_many_left_open
        and may_stand(reading, reading.line_before(at, _TAG_REACH), at)
    )


def line_is_over(reading: Reading, end: int) -> Steps[bool]:
    """Whether only white space, closing punctuation or an end-of-turn token follow on the line."""
    src = reading.src
    while True:
        end = past(_CLOSING, src.text, end)
        if end < len(src.text):
            char = src.text[end]
            if char in "\r\n":
                return True
            if char != "<":
                return False
            if src.text.startswith(TURN_TOKENS, end) or src.text.startswith("</", end):
                return True
            stands = reading.has_marker(end)
            if stands is not None:
                return stands
            yield None
            continue
        if src.final:
            return True
        yield None


def rest_is_blank(reading: Reading, end: int) -> Steps[bool]:
    """Whether the rest of the text is blank. Waits for the end of the text, or for the first other character."""
    src = reading.src
    while True:
        end = yield from skip_space(src, end)
        rest = src.text[end : end + 64]
        if not rest:
            return True
        if src.text.startswith(_LAST_TOKENS, end):
            end = src.text.index(">", end) + 1
        elif src.final or not any(token.startswith(rest) for token in _LAST_TOKENS):
            return False
        else:
            yield None


def _stands_alone(reading: Reading, begin: int, end: int, calls: Sequence[CallObject]) -> Steps[bool]:
    """Whether `begin:end` is all of the message, except one lead-in, and its calls have placeholders."""
    return _shows(_meant(reading, calls)) and (yield from follows_lead_in(reading, begin, end))


def follows_lead_in(reading: Reading, begin: int, end: int) -> Steps[bool]:
    """Whether `begin:end` is all of the message, except one lead-in."""
    if reading.has_content() or reading.drafts or begin - reading.done > _LONGEST_LEAD_IN:
        return False
    before = reading.src.text[reading.done : begin].strip(" \t\r\n\"'`*")
    return (not before or ("\n" not in before and before.endswith(COLONS))) and (yield from rest_is_blank(reading, end))


def _meant(reading: Reading, calls: Sequence[CallObject]) -> list[CallObject]:
    """The calls. A call of several tools is replaced by the calls in it."""
    meant: list[CallObject] = []
    for call in calls:
        wraps = holds_calls(call.name, reading.tools)
        held = calls_listed(call.arguments or {}, reading.tools, reading.limits) if wraps else None
        meant += held.calls if held is not None and held.calls else [call]
    return meant


def _shows(calls: Sequence[CallObject]) -> bool:
    return any(holds_placeholders(call.arguments) for call in calls if call.arguments)


def refusal(reading: Reading, place: BarePlace, calls: Sequence[CallObject], *, certain: bool = False) -> str | None:
    """Why these calls are no calls where they stand, or None. A call of several tools is judged by the calls in it."""
    calls = _meant(reading, calls)
    if len(reading.drafts) >= reading.limits.calls:
        return "calls_limit"
    if not (reading.takes_calls or (certain and reading.answers)):
        return "unknown_name"
    if _shows(calls) and not (place.alone and reading.tools is not None and not reading.verdict_at(place.begin, "bare").doubt):
        return "placeholder"
    if not any(call.given for call in calls):
        return "no_arguments"
    if reading.tools is None:
        if not place.whole:
            return "tools_not_told"
    elif not certain and not any(is_known(call.name, reading.tools) for call in calls):
        return "unknown_name"
    if not place.over and not place.closed:
        return "mid_line"
    return None


def bare_place(
    reading: Reading,
    span: tuple[int, int],
    calls: Sequence[CallObject],
    *,
    over: bool,
    closed: bool = False,
    whole: bool = False,
) -> Steps[BarePlace]:
    """The place of these calls, once it is known whether they stand alone."""
    alone = yield from _stands_alone(reading, *span, calls)
    return BarePlace(*span, over=over, closed=closed, whole=whole, alone=alone)


class TagCall(NamedTuple):
    """A call of an element that only its name identifies. `call.raw` is the element's content. `sealed`: see `Reading.end`."""

    call: CallObject
    dialect: str
    complete: bool
    repairs: list[Repair]
    sealed: bool = False


def enter_tag(reading: Reading, span: tuple[int, int], read: TagCall, *, over: bool) -> Steps[bool]:
    """Enter the call if a bare form may stand there. If one of its values was cut, it is incomplete. `over`: it ends its line."""
    begin, end = span
    call, dialect, complete, repairs, sealed = read
    complete = complete and all(repair.safety != "truncated" for repair in repairs)
    reason = refusal(reading, (yield from bare_place(reading, span, [call], over=over)), [call])
    if reason is None and call.name.lower() in HTML_NAMES and "</" not in (call.raw or ""):
        if (yield from is_in_page(reading.src, reading.text_start(), begin, end, reading.names or ())):
            reason = "quoted"
        elif not (call.raw or "").strip() and may_be_html(call.arguments or ()) and (yield from _in_words(reading, begin, end)):
            repairs = [*repairs, Repair(kind="like_html", safety="guess")]
    names, before = reading.names or (), reading.verdict
    if reason is None and (yield from is_in_document(reading.src, _behind_reasoning(reading), begin, end, names)):
        reading.set_verdict(replace(reading.verdict, doubt="in_a_document"), passes_on=False)
    if reason is not None:
        reading.miss(begin, end, call.name, reason)
        return False
    draft = reading.begin(begin, call.name, dialect)
    reading.end(draft, end, call.arguments, call.raw or "", complete=complete, repairs=repairs, sealed=sealed)
    if reading.verdict is not before:
        reading.set_verdict(before)
    return True


def _behind_reasoning(reading: Reading) -> int:
    """Where the last reasoning ends."""
    return next((end for _, end, kind in reversed(reading.pieces[-_FEW_PIECES:]) if kind == "reasoning"), 0)


def _in_words(reading: Reading, begin: int, end: int) -> Steps[bool]:
    """Whether words stand before and behind it."""
    before = reading.has_content() or bool(reading.src.text[reading.done : begin].strip())
    return before and not (yield from rest_is_blank(reading, end))


def is_echo(reading: Reading, place: BarePlace, calls: Sequence[CallObject]) -> bool:
    """Whether these calls repeat the calls right before them, behind a stray closer or behind tags."""
    return echoed(reading, place.begin, calls, closed=place.closed) == len(calls) > 0


def echoed(reading: Reading, begin: int, calls: Sequence[CallObject | Draft], *, closed: bool = False) -> int:
    """How many of these calls, from the first one on, repeat the last calls before `begin`, which were written in tags."""
    drafts = reading.drafts
    if not drafts or not calls or drafts[-1].stop > begin or not reading.blank_before(begin):
        return 0
    for count in range(min(len(calls), len(drafts)), 0, -1):
        last = drafts[-count:]
        in_tags = closed or all(reading.src.text.startswith("<", draft.start) for draft in last)
        if in_tags and all(map(_repeats, calls, last)):
            return count
    return 0


def _repeats(call: CallObject | Draft, draft: Draft) -> bool:
    same = call.name == draft.name and call.arguments is not None
    return same and as_json(draft.arguments) == as_json(call.arguments)


def drop_echo(reading: Reading, begin: int, end: int) -> int:
    """Classify a repetition as markup, and record it."""
    reading.repaired(Repair(kind="echo_dropped", before=reading.src.text[begin:end]))
    reading.text(begin)
    reading.markup(end)
    return end


def mid_line(reading: Reading, begin: int, end: int) -> Steps[str]:
    """Why a form in the middle of a line is content: the verdict's reason, "quoted", or "mid_line"."""
    verdict = reading.verdict_at(begin, "bare")
    if verdict.shown:
        return verdict.shown
    quotation = verdict.quotation
    return "quoted" if quotation is not None and (yield from is_closed(reading.src, quotation, end)) else "mid_line"


def only_shown(reading: Reading, begin: int, end: int) -> Steps[str | None]:
    """Why a call at `begin:end` is content where it stands, or None. If it may be meant, it becomes a guess."""
    verdict = reading.verdict_at(begin, "bare")
    if verdict is CERTAIN:
        return None
    if shown := (yield from shown_behind(reading, verdict, end)):
        reading.shown(end, shown)
        return shown
    reading.set_verdict(verdict.decided())
    return None
