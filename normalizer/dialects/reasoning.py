"""Reasoning formats as rows: their openers, closers, and the meaning of an unclosed block.

- A block that closes is reasoning, including call markup in it.
- A block that never closes is reasoning up to the first delimited call in it.
- A closer without an opener makes all text before it reasoning (`Reading.withdraw`). A second closer is dropped.
- One line break after the opener and one before the closer are markup.
docs/dialects.md lists the formats.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import NamedTuple

from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import Marker, Reader
from llmcore.normalizer.scanning.source import Skim, Steps, match_within, search, skip_space, wait_for
from llmcore.normalizer.scanning.words import OWN_SIGNS
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.envelope import SegmentKind

__all__ = ["ANY_CLOSER", "MARKERS", "PAIRS", "Block", "closed_block", "flow", "reasoning_reader", "think", "whole_block"]

PAIRS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<scratch_pad>", "</scratch_pad>"),
    ("<mm:think>", "</mm:think>"),
    ("<seed:think>", "</seed:think>"),
    ("<ifm|think>", "</ifm|think>"),
    ("<ifm|think_fast>", "</ifm|think_fast>"),
    ("<ifm|think_faster>", "</ifm|think_faster>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"),
)
_OPENERS = tuple(opener for opener, _ in PAIRS)
_NEVER_ALONE = frozenset({"</thought>", "</reasoning>", "</scratch_pad>"})
_LONE = (*(closer for _, closer in PAIRS if closer not in _NEVER_ALONE), "[BEGIN FINAL RESPONSE]")
_BLOCK_ENDS = ("</tool_call>", "</tool_calls>")
_CITATION = lazy_regex(r"<co>|</co(?::[^<>\n]{0,64})?>")
_CITATION_BEGUN = lazy_regex(r"</?(?:c(?:o(?::[^<>\n]{0,64})?)?)?\Z")
_SUFFIXED_OPENER = r"<think:[^\s<>]{1,32}>"
_SUFFIXED_CLOSER = r"</think:[^\s<>]{1,32}>"
_OVERLAP = 80
_HELD_SPACE = 64  # characters of white space that wait for a marker, before which they are markup

ANY_CLOSER = lazy_regex("|".join([*map(re.escape, _LONE), _SUFFIXED_CLOSER, re.escape("<channel|>")]))
_SIGN = lazy_regex(rf"<|\[|[{OWN_SIGNS}]|\](?=<|\Z)")
"""The beginning of a marker."""


Counts = Callable[[str, int, int, bool], bool | None]
"""`counts(text, start, end, final)`: whether the match `start:end` ends a block. None if more text decides."""


def _always(_text: str, _start: int, _end: int, _final: bool, /) -> bool:
    return True


def flow(
    reading: Reading,
    kind: SegmentKind,
    stop: re.Pattern[str],
    *,
    overlap: int = _OVERLAP,
    counts: Counts = _always,
    calls: bool = True,
) -> Steps[re.Match[str] | None]:
    """Classify text from `reading.done` on as `kind` until `stop` matches or the text ends.

    Returns the match, which is not classified.

    - `counts`: whether a match ends the block. If none does, the first one ends reasoning, and content goes on.
    - `calls`: if the block never closes, its first marker counts. Text behind that marker is not emitted until it is known
      whether the block closes.
    """
    src, begin = reading.src, reading.done
    start, passed = begin, -1  # `passed`: where the first match stands that does not count
    barrier, decided = (begin, False) if calls else (sys.maxsize, True)
    absent = calls and src.absent.get(stop, begin + 1) <= begin
    skim = _skim(reading, kind)
    while True:
        match = None if absent else stop.search(src.text, start)
        if match is None and src.final and passed >= 0 and kind == "reasoning":  # otherwise an answer behind it would be lost
            src.uncounted[stop] = begin
            match = stop.match(src.text, passed)
        elif match is not None and src.uncounted.get(stop, begin + 1) > begin:
            verdict = counts(src.text, *match.span(), src.final)
            if not verdict:
                if verdict is None:
                    start = match.start()
                else:
                    passed, start = match.start() if passed < 0 else passed, max(match.end(), match.start() + 1)
                match = None  # a match keeps its text alive
                if reading.listening:
                    _take_decided(reading, kind, min(barrier, start if passed < 0 else passed))
                if verdict is None:
                    yield None
                continue
        if match is not None:
            _take_trimmed(reading, kind, match.start())
            return match
        if not decided and (src.final or reading.listening):
            barrier, decided = _first_marker(reading, barrier)
        if src.final and not calls:
            _take_trimmed(reading, kind, len(src.text))
            return None
        if src.final:
            src.absent[stop] = min(begin, src.absent.get(stop, begin))
            _take_decided(reading, kind, min(barrier, _sign_at(src.text, max(start, len(src.text) - overlap))))
            return None
        start = _sign_at(src.text, max(start, len(src.text) - overlap))
        if reading.listening:
            _take_decided(reading, kind, min(barrier, start if passed < 0 else passed))
        yield skim if reading.listening and passed < 0 and start == len(src.text) <= barrier else None


def _sign_at(text: str, start: int) -> int:
    """The first possible beginning of a marker at or after `start`; the text's length if there is none."""
    sign = _SIGN.search(text, start)
    return len(text) if sign is None else sign.start()


def _skim(reading: Reading, kind: SegmentKind) -> Skim:
    """A skim for more text of this kind, in which nothing begins."""

    def skim(more: str) -> bool:
        if _SIGN.search(more) is not None:
            return False
        text = reading.src.text
        floor = max(reading.done, len(text) - _HELD_SPACE)
        reading.take(kind, floor + len(text[floor:].rstrip()))
        return True

    return skim


def _first_marker(reading: Reading, start: int) -> tuple[int, bool]:
    """(where the first marker stands, or may stand, from `start` on; whether it certainly does)."""
    text = reading.src.text
    for sign in _SIGN.finditer(text, start):
        stands = reading.has_marker(sign.start())
        if stands is not False:
            return sign.start(), stands is True
    return len(text), False


def stop_in_message(stop: re.Pattern[str], counts: Counts) -> Reader:
    """A reader of an end token inside an answer. If the token does not end the answer, the token is text."""

    def read(reading: Reading, at: int, _body: int) -> Steps[bool]:
        src = reading.src
        match = (yield from match_within(src, stop, at, _OVERLAP)) if reading.answers else None
        if match is None:
            return False
        end, match = match.end(), None  # a match keeps its text alive
        while (ends := counts(src.text, at, end, src.final)) is None:
            yield None
        if not ends:
            reading.text(end)
        return not ends

    return read


def closed_block(
    reading: Reading,
    kind: SegmentKind,
    stop: re.Pattern[str],
    *,
    overlap: int = _OVERLAP,
    counts: Counts = _always,
) -> Steps[re.Match[str] | None]:
    """As `flow`, for a block in which nothing is a call: such framings give a call its own header."""
    yield from wait_for(reading.src, reading.done, 1)
    if reading.src.text.startswith("\n", reading.done):
        reading.markup(reading.done + 1)
    return (yield from flow(reading, kind, stop, overlap=overlap, counts=counts, calls=False))


def _take(reading: Reading, kind: SegmentKind, end: int) -> None:
    """Classify text as `kind`. Citation marks in reasoning are markup."""
    if kind != "reasoning":
        reading.take("content", end)
        return
    for mark in _CITATION.finditer(reading.src.text, reading.done, end):
        reading.take("reasoning", mark.start())
        reading.markup(mark.end())
    reading.take("reasoning", end)


def _take_decided(reading: Reading, kind: SegmentKind, end: int) -> None:
    mark = reading.src.text.rfind("<", max(reading.done, end - _OVERLAP), end)
    if mark >= 0 and _CITATION_BEGUN.match(reading.src.text, mark, end):
        end = mark
    floor = max(reading.done, end - _HELD_SPACE)
    _take(reading, kind, floor + len(reading.src.text[floor:end].rstrip()))


def _take_trimmed(reading: Reading, kind: SegmentKind, end: int) -> None:
    text = reading.src.text
    _take(reading, kind, end - 1 if end > reading.done and text[end - 1] == "\n" else end)
    reading.markup(end)


def think(reading: Reading, body: int, closer: re.Pattern[str], counts: Counts = _always) -> Steps[None]:
    """Read reasoning from `body` on. All text before `body` is classified already."""
    src = reading.src
    yield from wait_for(src, body, 1)
    if src.text.startswith("\n", body):
        body += 1
    reading.markup(body)
    match = yield from flow(reading, "reasoning", closer, counts=counts)
    if match is None:
        reading.leave_reasoning_open()
        return
    reading.close_reasoning()
    reading.markup(match.end())


def reasoning_reader(opener: str, closer: re.Pattern[str], label: str = "") -> Reader:
    def read(reading: Reading, at: int, body: int) -> Steps[bool]:
        src = reading.src
        line = src.text[max(reading.line_start(at), reading.text_start()) : at]
        if line.strip():  # in the middle of a line, it is an opener only if it closes
            closes = yield from search(src, closer, body, _OVERLAP)
            if closes is None:
                return False
        while True:  # a repeated opener is one opener
            ahead = src.text[body : body + len(opener)]
            if ahead == opener:
                body += len(opener)
            elif len(ahead) < len(opener) and opener.startswith(ahead) and not src.final:
                yield None
            else:
                break
        if label:
            while not src.final and label.startswith(src.text[body : body + len(label)]) and len(src.text) - body < len(label):
                yield None
            if src.text.startswith(label, body):
                body += len(label)
        reading.text(at)
        reading.markup(body)
        yield from think(reading, body, closer)
        return True

    return read


class Block(NamedTuple):
    """A block of reasoning that opens a text. The reasoning is `begin:end`, and its closer ends at `over`."""

    opener: str
    begin: int
    end: int
    over: int


def whole_block(text: str) -> Block | None:
    """The block that opens a whole text, as its reader would read it.

    None if there is none, or if the reader must read it: it never closes, its opener is repeated, or it has citations.
    """
    if not text.startswith(_OPENERS):
        return None
    opener, closer = next(pair for pair in PAIRS if text.startswith(pair[0]))
    begin = len(opener)
    if text.startswith(opener, begin):
        return None
    begin += text.startswith("\n", begin)
    stop = text.find(closer, begin)
    if stop < 0 or _CITATION.search(text, begin, stop) is not None:
        return None
    return Block(opener, begin, stop - 1 if stop > begin and text[stop - 1] == "\n" else stop, stop + len(closer))


def _lone_closer(reading: Reading, at: int, body: int) -> Steps[bool]:
    if reading.nested:
        return False
    if reading.reasoning_closed or not (yield from _closes_call(reading, at, body)):
        _close_what_stood_before(reading, at)
    else:
        reading.text(at)
    reading.markup(body)
    return True


def _closes_call(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Whether this `</think>` was written for `</tool_call>`.

    It is if it stands right behind calls that open the message, one of which has no closer, and only another block follows.
    """
    src = reading.src
    if src.text[at:body] != "</think>" or not reading.drafts or reading.has_content() or not reading.blank_before(at):
        return False
    if src.text[max(0, at - _OVERLAP) : at].rstrip().endswith(_BLOCK_ENDS):
        return False
    while True:
        ahead = yield from skip_space(src, body)
        rest = src.text[ahead : ahead + _OVERLAP]
        if not rest or rest.startswith(_BLOCK_ENDS):
            return True
        stands = reading.has_marker(ahead)
        if stands is not None and (src.final or not any(end.startswith(rest) for end in _BLOCK_ENDS)):
            return stands
        yield None


def _close_what_stood_before(reading: Reading, at: int) -> None:
    """Classify all text before a closer without an opener as reasoning. A second closer closes nothing."""
    if reading.reasoning_closed:
        reading.text(at)
    else:
        text = reading.src.text
        reading.withdraw(at - 1 if text[at - 1 : at] == "\n" else at)
        reading.close_reasoning()


MARKERS = (
    *(Marker(reasoning_reader(opener, lazy_regex(re.escape(closer))), (opener,)) for opener, closer in PAIRS),
    Marker(reasoning_reader("<think:", lazy_regex(_SUFFIXED_CLOSER)), pattern=_SUFFIXED_OPENER, begins=("<think:",)),
    Marker(reasoning_reader("<|channel>", lazy_regex(re.escape("<channel|>")), "thought"), ("<|channel>",)),
    Marker(_lone_closer, (*_LONE, "<channel|>")),
    Marker(_lone_closer, pattern=_SUFFIXED_CLOSER, begins=("</think:",)),
)
