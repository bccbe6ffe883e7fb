"""The values that a text holds: JSON, sound or broken, alone, in fences or in prose.

A scan from bracket to bracket: each is read once, by the normaliser's readers, and the scan goes on behind what was
read. Reasoning and what stands behind an example's or a denied lead-in are no values. What reads as nothing is skipped; values
inside of it are parts of something that nobody could read, and none of them stands for the whole. Linear: brackets
that lead nowhere draw on a budget of characters in proportion to the text.
"""

from __future__ import annotations

import re
import textwrap
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from llmcore.normalizer.notations.extent import Extent
from llmcore.normalizer.notations.json import JsonReading, read_json, read_json_value
from llmcore.normalizer.notations.refusals import UNREADABLE
from llmcore.normalizer.notations.relaxed.strings import info_string
from llmcore.normalizer.replies.reasoning_spans import ReasoningSpan, reasoning_spans
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import DEFAULT_LIMITS, Repair
from llmcore.validator.output.lead_ins import LeadIn, lead_in, shares_lead_in

__all__ = [
    "LIKE_JSON",
    "MAX_CANDIDATES",
    "Candidate",
    "Found",
    "find_values",
    "is_whole_answer",
    "named_until",
    "only_fence",
    "stands_alone",
]

_WASTE_PER_CHARACTER = 4
_WASTE_ALLOWED = 20_000
_LEAST_WASTE = 200
_LIMIT_WASTE = 4000
MAX_CANDIDATES = 1000
"""Values that are looked at; of more, an array type does not take the first thousand for all."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value and how it was read. `start`, `end`: where it stands. `complete` is False when the text ended inside
    it."""

    value: Any
    start: int
    end: int
    repairs: tuple[Repair, ...] = ()
    complete: bool = True
    alone: bool = False
    """Nothing but white space stands around it."""
    announced: LeadIn = LeadIn.NOTHING
    """Do the words before it name it the answer?"""
    announced_at: int = -1
    """Where the first value stands that has the same lead-in."""


class Found(NamedTuple):
    """`values` in order. `fences`: the bodies of closed code fences that hold something else and are neither
    reasoning nor examples. `unread`:
    something that begins like a value could not be read, or there was too much to look at."""

    values: list[Candidate]
    fences: list[tuple[int, int]]
    reasoning: list[ReasoningSpan]
    unread: bool = False
    members_left: bool = False
    """Members of an object stand outside of every value: a bracket around them is missing."""
    unreadable: Sequence[Candidate] = ()
    """What begins like a value, ends, and cannot be read; of its value nothing is known."""
    begun: Sequence[Candidate] = ()
    """What the end of the text broke off: values that are not complete, and what was begun and cannot be read."""
    limit: str = ""
    """The field of `Limits` that something is beyond and was not read for, if anything is."""
    taken: Sequence[tuple[int, int]] = ()
    """Where all of them stand, with what was denied, taken back or cannot be read: no prose to find a value in."""


def find_values(text: str, *, cut: bool) -> Found:
    """The objects and arrays of a text, in order; the whole text alone where it is one sound JSON value of any type.

    `cut`: the text may end inside a value, of which then only what is certain is read; else what is open is closed.
    """
    if len(text) > DEFAULT_LIMITS.text:
        return Found([], [], [], unread=True, limit="text")
    if (sound := _sound(text, 0, len(text), cut=cut, alone=True)) is not None:
        return Found([sound], [], [])
    return _Scan(text, cut).found()


def _sound(text: str, start: int, end: int, *, cut: bool = False, alone: bool = False) -> Candidate | None:
    """A stretch of text as one JSON value that needs no repair."""
    body = text[start:end]
    stripped = body.strip()
    if stripped[:1] not in _STARTS:
        return None
    reading = read_json(stripped, cut=cut)
    if reading.error or reading.repairs or len(reading.values) != 1 or reading.end < len(stripped):
        return None
    start += len(body) - len(body.lstrip())
    return Candidate(reading.values[0], start, start + len(stripped), alone=alone)


_STARTS = frozenset('{["-0123456789tfn')


class _Scan:
    """One pass over a text. `broken` is where the last value that could not be read ends, as far as its brackets
    tell: what is found before it is a part of that value."""

    def __init__(self, text: str, cut: bool) -> None:
        self.text, self.cut, self.broken, self.bracketed = text, cut, 0, 0
        self.members_left = False
        self.limit = ""
        self.left_open: list[Candidate] = []
        self.closed_unread: list[Candidate] = []
        self.waste = _WASTE_ALLOWED + _WASTE_PER_CHARACTER * len(text)
        self.reasoning = reasoning_spans(text)
        fences = _fenced(text)
        self.all_fences, self.unread = fences[:MAX_CANDIDATES], len(fences) > MAX_CANDIDATES
        self.fences = self.all_fences[::-1]
        self.spans = self.reasoning[::-1]
        self.first, self.last = len(text) - len(text.lstrip()), len(text.rstrip())

    def found(self) -> Found:
        containers = list(self._containers())
        fences = [(start, end) for start, end in self.all_fences if not self._in_reasoning(start, end)]
        scalars = [scalar for start, end in fences if (scalar := self._scalar(start, end)) is not None]
        values, examples = self._without_examples(sorted([*scalars, *containers], key=lambda value: value.start))
        others = [fence for fence in fences if self.text[fence[0] : fence[1]].lstrip()[:1] not in ("{", "[")]
        denied = {fence: None for fence in others if self._is_example(fence, examples)}
        kept = [fence for fence in others if fence not in denied]
        members_left = self.members_left or any(map(self._holds_members, self._between(containers)))
        begun = [*(value for value in values if not value.complete), *self._begun(containers)]
        unreadable = list(self._with_lead_ins(self.closed_unread, containers))
        all_values = [*containers, *scalars, *self.closed_unread, *self.left_open]
        taken = [*denied, *((one.start, one.end) for one in all_values)]
        unread = self.unread or members_left
        return Found(values, kept, self.reasoning, unread, members_left, unreadable, begun, self.limit, taken)

    def _begun(self, containers: Sequence[Candidate]) -> Iterator[Candidate]:
        """What was begun before the end of the text and is no value: a bracket that none closes, and an answer of which there
        is no more than its lead-in."""
        text, since = self.text, containers[-1].end if containers else 0
        opened = [*self.left_open]
        if since and _ANNOUNCED.search(text, max(since, len(text) - _LOOKED_AT)):
            opened.append(Candidate(None, len(text), len(text), complete=False))
        for one in self._with_lead_ins(opened, containers):
            if one.value is not None or one.announced > LeadIn.NOTHING:
                yield one

    def _with_lead_ins(self, opened: Sequence[Candidate], containers: Sequence[Candidate]) -> Iterator[Candidate]:
        ends = [one.end for one in containers]
        for one in opened:
            at = bisect_right(ends, one.start)
            yield replace(one, announced=lead_in(self.text, one.start, ends[at - 1] if at else 0, LeadIn.NOTHING))

    def _between(self, containers: Sequence[Candidate]) -> Iterator[tuple[int, int]]:
        """The stretches of text around values and reasoning."""
        taken = sorted([*((one.start, one.end) for one in containers), *((span.start, span.end) for span in self.reasoning)])
        since = 0
        for start, end in taken:
            if start > since:
                yield since, start
            since = max(since, end)
        yield since, len(self.text)

    def _holds_members(self, stretch: tuple[int, int]) -> bool:
        return _MEMBER.search(self.text, *stretch) is not None

    def _scalar(self, start: int, end: int) -> Candidate | None:
        """null, a number or a string may stand in a fence of its own."""
        if self.text.startswith(("{", "["), start):
            return None
        scalar = _sound(self.text, start, end)
        return scalar if scalar is not None and not isinstance(scalar.value, (dict, list)) else None

    def _without_examples(self, values: Sequence[Candidate]) -> tuple[list[Candidate], list[int]]:
        """The values with what announces them, and where those begin that are examples."""
        kept: list[Candidate] = []
        examples: list[int] = []
        since, before, first = 0, LeadIn.NOTHING, -1
        for value in values:
            if not shares_lead_in(self.text, since, value.start):
                before, first = lead_in(self.text, value.start, since, before), value.start
            since = value.end
            if before is LeadIn.EXAMPLE:
                examples.append(value.start)
            else:
                kept.append(replace(value, announced=before, announced_at=first) if before else value)
        return kept, examples

    def _is_example(self, fence: tuple[int, int], examples: list[int]) -> bool:
        start, end = fence
        at = bisect_left(examples, start)
        if at < len(examples) and examples[at] < end:
            return True
        return lead_in(self.text, start, 0, LeadIn.NOTHING) is LeadIn.EXAMPLE

    def _in_reasoning(self, start: int, end: int) -> bool:
        at = bisect_right(self.reasoning, start, key=lambda span: span.start) - 1
        return at >= 0 and end <= self.reasoning[at].end

    def _containers(self) -> Iterator[Candidate]:
        text, found = self.text, 0
        position = _next_bracket(text, 0)
        while position >= 0:
            if self.waste <= 0 or found >= MAX_CANDIDATES:
                self.unread = True
                return
            span = self._span(position)
            if span is not None and (self.cut or (span.opened and span.closed)):
                position = _next_bracket(text, span.end)
                continue
            candidate, read_to = self._read(position)
            inside = span is not None and span.closed and (candidate is None or candidate.end <= span.end)
            if candidate is None:
                self._skip(position, read_to, noted=not inside)
                position = _next_bracket(text, position + 1)
                continue
            found += 1
            if not inside and not self._is_part(candidate):
                yield candidate if span is None or span.closed else _in_open_reasoning(candidate)
            position = _next_bracket(text, candidate.end)

    def _span(self, position: int) -> ReasoningSpan | None:
        """The reasoning around a position. Positions only grow, so what is left behind is dropped."""
        while self.spans and self.spans[-1].end <= position:
            self.spans.pop()
        return self.spans[-1] if self.spans and self.spans[-1].start <= position else None

    def _skip(self, position: int, read_to: int, *, noted: bool) -> None:
        """Go over a bracket that leads to nothing. What it encloses is remembered, if that looks like JSON."""
        self.waste -= max(read_to - position, _LEAST_WASTE)
        like_json = LIKE_JSON.match(self.text, position) is not None
        if noted and position >= (self.broken if like_json else self.bracketed):
            end, closed = self._enclosed(position)
            self.waste -= (end if closed else len(self.text)) - position
            if like_json:
                self.broken, self.unread = end, True
                self.members_left = self.members_left or self.text[position] == "{"
                empty: Any = {} if self.text[position] == "{" else []
                if closed:
                    self.closed_unread.append(Candidate(empty, position, end))
                elif end >= len(self.text):
                    self.left_open.append(Candidate(empty, position, end, complete=False))
            elif closed:
                self.bracketed = end

    def _enclosed(self, start: int) -> tuple[int, bool]:
        """Where what a bracket opens ends, and whether a bracket closes it, strings looked over or not. What none
        closes ends with the fence that it stands in, or before the next one."""
        text = self.text
        end = Extent(start).scan(text, final=True)
        if end >= 0 and (matching := _matching(text, start)) <= len(text):
            return max(end, matching), True
        inside = self._fence_end(start)
        if inside is not None:
            return inside, False
        return next((at for at, _ in reversed(self.fences) if at > start), len(text)), False

    def _is_part(self, candidate: Candidate) -> bool:
        """Does it stand inside of something that could not be read? In brackets that look like prose only what stands
        beside a comma does."""
        if candidate.start < self.broken:
            return True
        before = self.text[max(0, candidate.start - _LEAST_WASTE) : candidate.start].rstrip()[-1:]
        after = self.text[candidate.end : candidate.end + _LEAST_WASTE].lstrip()[:1]
        part = candidate.start < self.bracketed and "," in (before, after)
        self.unread = self.unread or part
        return part

    def _read(self, start: int) -> tuple[Candidate | None, int]:
        """The value at `start`. One that its fence ends is whole, though it lacks brackets; one that the text ends is
        cut."""
        text = self.text
        reading = _read_at(text, start, cut=self.cut)
        end = self._fence_end(start)
        missing = any(repair.kind == "missing_closer" for repair in reading.repairs)
        ran_out = not reading.complete or (missing and reading.end >= self.last)
        if (ran_out or reading.error) and end is not None:
            bounded = _read_at(text[:end], start)
            if not bounded.error and bounded.complete:
                return self._candidate(start, bounded, whole=True), bounded.end
        if reading.error and end is None and not self.cut and LIKE_JSON.match(text, start):
            reading = self._read_as_cut(start, reading)
            ran_out = not reading.complete
        if reading.error is not None and reading.error.endswith("_limit"):
            self.limit = reading.error.removesuffix("_limit")
            return None, max(reading.end, start) + _LIMIT_WASTE  # how far it had read is not told
        if reading.error or not reading.values or not isinstance(reading.values[0], (dict, list)):
            return None, max(reading.end, start)
        return self._candidate(start, reading, whole=not ran_out), reading.end

    def _read_as_cut(self, start: int, reading: JsonReading) -> JsonReading:
        """What cannot be read as whole may have been cut: it is read as such where nothing closes it."""
        if Extent(start).scan(self.text, final=True) >= 0:
            return reading
        self.waste -= len(self.text) - start
        cut = _read_at(self.text, start, cut=True)
        return cut if not cut.error and cut.end >= self.last and not cut.complete else reading

    def _fence_end(self, start: int) -> int | None:
        """Where the fence around `start` ends. Starts only grow, so fences left behind are dropped."""
        while self.fences and self.fences[-1][1] <= start:
            self.fences.pop()
        return self.fences[-1][1] if self.fences and self.fences[-1][0] <= start else None

    def _candidate(self, start: int, reading: JsonReading, *, whole: bool) -> Candidate:
        repairs = [_judged(repair, whole) for repair in reading.repairs]
        value = _dedented(reading.values[0], repairs)
        alone = start <= self.first and reading.end >= self.last
        return Candidate(value, start, reading.end, tuple(repairs), whole, alone)


_LOOKED_AT = 100
_ANNOUNCED = re.compile(r"[:\uff1a][\s*_]{0,8}(?:(?:`{3,}|~{3,})\w{0,16}\s{0,8})?\Z")
_MEMBER = re.compile(r'"\s{0,8}:\s{0,8}(?:["\d-]|true\b|false\b|null\b)')
_OPENER = re.compile(r"[{\[]")
LIKE_JSON = re.compile(
    r"""\{\s*(?:["'“}]|[\w$-]+\s*[:=])|\[(?![^\[\]{}"'\n]{0,40}\))\s*(?:["'“{\[]|-?[\d.]|[$€£]\s*\d|(?:true|false|null)\b)"""
)
"""The look ahead: `[0, 5)` is an interval."""
_BRACKETS = {"{": re.compile(r"[{}]"), "[": re.compile(r"[\[\]]")}


def _matching(text: str, start: int) -> int:
    """Just past the bracket that closes the one at `start`, counting those of its kind; beyond the end when none
    does."""
    depth = 0
    for bracket in _BRACKETS[text[start]].finditer(text, start):
        depth += 1 if bracket[0] == text[start] else -1
        if depth == 0:
            return bracket.end()
    return len(text) + 1


def _in_open_reasoning(candidate: Candidate) -> Candidate:
    """A value in reasoning that never closes may be the answer: the model may have forgotten the closer."""
    note = Repair(kind="in_open_reasoning", before=[candidate.start, candidate.end], after=None, safety="guess")
    return replace(candidate, repairs=(*candidate.repairs, note))


def _next_bracket(text: str, start: int) -> int:
    found = _OPENER.search(text, start)
    return found.start() if found else -1


def _read_at(text: str, start: int, *, cut: bool = False) -> JsonReading:
    """The value at `start`. Where several keys stand twice brackets between two objects are missing, one of which would
    be lost: it cannot be read."""
    reading = read_json_value(text, start, cut=cut)
    if sum(repair.kind == "duplicate_key" for repair in reading.repairs) > 1:
        return JsonReading(complete=False, end=reading.end, error=UNREADABLE)
    return reading


def _judged(repair: Repair, whole: bool) -> Repair:
    """A reader's repair as typed output sees it: closing what the text left open is not lossless when the text may have gone
    on, nor is taking one of two values of a key; a text in triple back-ticks is a form that strings may have, its layout
    apart."""
    if repair.kind == "duplicate_key" and repair.before != repair.after:
        return repair.model_copy(update={"safety": "guess"})
    if repair.kind == "missing_closer" and not whole:
        return repair.model_copy(update={"safety": "truncated"})
    return repair.model_copy(update={"safety": "coerced"}) if repair.kind == "code_block" else repair


# --- code in strings --------------------------------------------------------------------------------------------------


def _dedented(value: Any, repairs: Sequence[Repair]) -> Any:
    """Strings that stood in triple back-ticks or triple quotes lose the indentation their lines share."""
    paths = {repair.path for repair in repairs if repair.kind in ("code_block", "triple_quotes")}
    return _dedent_at(value, paths, "") if paths else value


def _dedent_at(value: Any, paths: set[str], path: str) -> Any:
    if isinstance(value, str):
        return textwrap.dedent(value).strip("\n") if path in paths else value
    if is_list(value):
        return [_dedent_at(item, paths, f"{path}[{index}]") for index, item in enumerate(value)]
    if is_object(value):
        items = value.items()
        return {key: _dedent_at(item, paths, f"{path}.{key}" if path else key) for key, item in items}
    return value


# --- fences -----------------------------------------------------------------------------------------------------------

_FENCE_LINE = re.compile(r"^[ \t]*(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)


def _fenced(text: str) -> list[tuple[int, int]]:
    """The bodies of the closed code fences, as (start, end)."""
    bodies: list[tuple[int, int]] = []
    mark, start = "", 0
    for line in _FENCE_LINE.finditer(text):
        if not mark:
            if info_string(line[2]) is not None:
                mark, start = line[1], line.end() + 1
        elif line[1].startswith(mark) and not line[2].strip():
            end = max(start, line.start() - 1)
            bodies.append((start, end - 1 if text[start:end].endswith("\r") else end))
            mark = ""
    return bodies


def only_fence(text: str) -> tuple[int, int] | None:
    """The body of the one code fence that is all of a text, where its first line is certainly none of the body."""
    bodies = _fenced(text) if text.lstrip()[:3] in ("```", "~~~") else []
    if len(bodies) != 1:
        return None
    start, end = bodies[0]
    opener = text[:start].strip()
    if opener.count("\n") or text[end:].strip().strip("`~"):
        return None
    return bodies[0] if info_string(opener.lstrip("`~")) else None


_OPENED_FENCE = re.compile(r"(?:`{3,}|~{3,})[ \t]*[\w+-]*|`+")


def is_whole_answer(text: str, start: int, end: int) -> bool:
    """Does nothing but reasoning and the marks of a fence stand around a value? The fence need not close: its end may be
    what the reply lacks."""
    before, behind = _around(text, start, end)
    return (not before or _OPENED_FENCE.fullmatch(before) is not None) and not behind.strip("`~")


_NAMED = re.compile(
    r"""(?: [\s:\uff1a!,.*_'\u2019]+ | </?(?:answer|final_answer|result|output|response|json)>
      | \b(?:sure|certainly|ok|okay|yes|of\scourse|here|is|it|s|you|go|the|your|my|final|corrected|updated|requested|answer|result
        |output|response|solution|json|object|value|list|below|this|as|in|format|for|asked|wanted|based|on|analysis|so|therefore|thus
        |hier|die|das|ist|lautet|Antwort|Ergebnis|voici|la|le|est|réponse|résultat|aquí|está|el|es|respuesta|resultado|aqui|a|o|é
        |resposta|ecco|il|è|risposta|risultato|вот|ответ|результат)\b
      | 以下|这是|是|最终|答案|结果|回答|答え|結果|です|は|답변|답|결과|은|는|입니다 )*+
    (?: (?P<fence>`{3,}|~{3,})[ \t]*[\w+-]* | (?P<tick>`) )? \s*""",
    re.IGNORECASE | re.VERBOSE,
)
"""All that may stand before a value for it to be certain that it is the answer and no draft, item or quotation."""
_HEADING = re.compile(r"^#{1,6} (?=[\w*])", re.MULTILINE)
_CLOSED = re.compile(r"[\s*_]*+(?P<mark>`{3,}|~{3,}|`)?[\s*_]*+(?:</[\w:-]++>\s*+)*+")


def named_until(text: str) -> int:
    """How far a text does nothing but name the answer that follows, and open its fence."""
    found = _NAMED.match(text)
    return found.end() if found else 0


def stands_alone(text: str, start: int, end: int, *, headed: bool = False) -> bool:
    """Is a value, in a text that may have been cut, all that it says? Before it may stand reasoning, a fence and words that do
    nothing but name the answer; behind it what closes those. Any other word, sign or item may have begun something of which the
    value is no more than a part or a first idea. `headed`: the words may be a heading, of a text that is whole."""
    before, behind = _around(text, start, end)
    if headed:
        before = _HEADING.sub("", before)
    opened, closed = _NAMED.fullmatch(before), _CLOSED.fullmatch(behind)
    if opened is None or closed is None:
        return False
    return closed["mark"] == "`" if opened["tick"] else closed["mark"] in (None, opened["fence"])


def _around(text: str, start: int, end: int) -> tuple[str, str]:
    """What stands before and behind a value, without reasoning."""
    before, behind, since = "", "", 0
    for span in [*reasoning_spans(text), ReasoningSpan(len(text), len(text), opened=True, closed=True)]:
        before += text[since : min(span.start, start)]
        behind += text[max(since, end) : span.start]
        since = span.end
    return before.strip(), behind.strip()
