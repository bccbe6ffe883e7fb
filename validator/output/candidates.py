"""Finds the values in a text: JSON, valid or broken, alone, in code fences or in prose.

The scan goes from bracket to bracket. The normalizer's readers read each value once, and the scan continues after it. These
are no candidates: values in reasoning, and values after a lead-in that marks an example or denies them. If a stretch cannot
be read, the scan skips it. Values inside that stretch are parts of it, so none of them can be the answer.

The scan is linear in the text: failed reads use up a budget of characters that is proportional to the text.
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
"""The most values that are considered. If a text holds more, it has no array type's value."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value, the repairs made to read it, and its position in the text.

    `complete` is False if the text ends inside the value.
    """

    value: Any
    start: int
    end: int
    repairs: tuple[Repair, ...] = ()
    complete: bool = True
    alone: bool = False
    """Whether only white space surrounds it."""
    announced: LeadIn = LeadIn.NONE
    """What its lead-in says."""
    announced_at: int = -1
    """Where the first value with the same lead-in starts. -1 without a lead-in."""


class Found(NamedTuple):
    """`values` are in text order.

    `fences` are the bodies of closed code fences without values, reasoning and examples. `unread`: whether a stretch that
    begins like a value could not be read, or the text holds too much to read.
    """

    values: list[Candidate]
    fences: list[tuple[int, int]]
    reasoning: list[ReasoningSpan]
    unread: bool = False
    members_left: bool = False
    """Whether object members stand outside of all values, because a bracket around them is missing."""
    unreadable: Sequence[Candidate] = ()
    """Stretches that begin like a value and end, but cannot be read. Their values are empty."""
    begun: Sequence[Candidate] = ()
    """What the end of the text cut off: incomplete values, and openings that cannot be read."""
    limit: str = ""
    """The field of `Limits` that the text exceeds. Empty if it exceeds none."""
    occupied: Sequence[tuple[int, int]] = ()
    """The positions of all values, with denied, withdrawn and unreadable ones. Prose outside of them may still hold a value."""


def find_values(text: str, *, cut: bool) -> Found:
    """Return the objects and arrays of a text, in order. If the whole text is one valid JSON value of any type, return only
    that.

    If `cut`, the text may end inside a value, and only its certain part is read. Otherwise open brackets are closed.
    """
    if len(text) > DEFAULT_LIMITS.text:
        return Found([], [], [], unread=True, limit="text")
    if (sound := _sound(text, 0, len(text), cut=cut, alone=True)) is not None:
        return Found([sound], [], [])
    return _Scan(text, cut).found()


def _sound(text: str, start: int, end: int, *, cut: bool = False, alone: bool = False) -> Candidate | None:
    """Read a stretch of text as one JSON value that needs no repair. None if that fails."""
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
    """One pass over a text.

    `broken` is the end of the last unreadable value, as its brackets show. Values before that position are parts of it.
    """

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
        remaining = [fence for fence in others if fence not in denied]
        members_left = self.members_left or any(map(self._holds_members, self._between(containers)))
        begun = [*(value for value in values if not value.complete), *self._begun(containers)]
        unreadable = list(self._with_lead_ins(self.closed_unread, containers))
        all_values = [*containers, *scalars, *self.closed_unread, *self.left_open]
        occupied = [*denied, *((one.start, one.end) for one in all_values)]
        unread = self.unread or members_left
        return Found(values, remaining, self.reasoning, unread, members_left, unreadable, begun, self.limit, occupied)

    def _begun(self, containers: Sequence[Candidate]) -> Iterator[Candidate]:
        """Unfinished openings: brackets that nothing closes, and a lead-in at the end without its value."""
        text, since = self.text, containers[-1].end if containers else 0
        opened = [*self.left_open]
        if since and _ANNOUNCED.search(text, max(since, len(text) - _LOOKED_AT)):
            opened.append(Candidate(None, len(text), len(text), complete=False))
        for one in self._with_lead_ins(opened, containers):
            if one.value is not None or one.announced > LeadIn.NONE:
                yield one

    def _with_lead_ins(self, opened: Sequence[Candidate], containers: Sequence[Candidate]) -> Iterator[Candidate]:
        ends = [one.end for one in containers]
        for one in opened:
            at = bisect_right(ends, one.start)
            yield replace(one, announced=lead_in(self.text, one.start, ends[at - 1] if at else 0, LeadIn.NONE))

    def _between(self, containers: Sequence[Candidate]) -> Iterator[tuple[int, int]]:
        """The stretches of text outside of values and reasoning."""
        occupied = sorted([*((one.start, one.end) for one in containers), *((span.start, span.end) for span in self.reasoning)])
        since = 0
        for start, end in occupied:
            if start > since:
                yield since, start
            since = max(since, end)
        yield since, len(self.text)

    def _holds_members(self, stretch: tuple[int, int]) -> bool:
        return _MEMBER.search(self.text, *stretch) is not None

    def _scalar(self, start: int, end: int) -> Candidate | None:
        """Read a null, number or string that is alone in a fence."""
        if self.text.startswith(("{", "["), start):
            return None
        scalar = _sound(self.text, start, end)
        return scalar if scalar is not None and not isinstance(scalar.value, (dict, list)) else None

    def _without_examples(self, values: Sequence[Candidate]) -> tuple[list[Candidate], list[int]]:
        """The values with their lead-ins, without examples, and the positions of the examples."""
        remaining: list[Candidate] = []
        examples: list[int] = []
        since, before, first = 0, LeadIn.NONE, -1
        for value in values:
            if not shares_lead_in(self.text, since, value.start):
                before, first = lead_in(self.text, value.start, since, before), value.start
            since = value.end
            if before is LeadIn.EXAMPLE:
                examples.append(value.start)
            else:
                remaining.append(replace(value, announced=before, announced_at=first) if before else value)
        return remaining, examples

    def _is_example(self, fence: tuple[int, int], examples: list[int]) -> bool:
        start, end = fence
        at = bisect_left(examples, start)
        if at < len(examples) and examples[at] < end:
            return True
        return lead_in(self.text, start, 0, LeadIn.NONE) is LeadIn.EXAMPLE

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
        """The reasoning around a position. Positions only grow, so spans before it are dropped."""
        while self.spans and self.spans[-1].end <= position:
            self.spans.pop()
        return self.spans[-1] if self.spans and self.spans[-1].start <= position else None

    def _skip(self, position: int, read_to: int, *, noted: bool) -> None:
        """Skip a bracket that begins no readable value. If its content looks like JSON, remember where it ends."""
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
        """Where the content of a bracket ends, and whether a bracket closes it.

        Brackets inside strings count in one of two tries. If nothing closes it, the content ends with its fence or before the
        next one.
        """
        text = self.text
        end = Extent(start).scan(text, final=True)
        if end >= 0 and (matching := _matching(text, start)) <= len(text):
            return max(end, matching), True
        inside = self._fence_end(start)
        if inside is not None:
            return inside, False
        return next((at for at, _ in reversed(self.fences) if at > start), len(text)), False

    def _is_part(self, candidate: Candidate) -> bool:
        """Whether the value stands inside something unreadable. In brackets that look like prose, only a value beside a comma
        does."""
        if candidate.start < self.broken:
            return True
        before = self.text[max(0, candidate.start - _LEAST_WASTE) : candidate.start].rstrip()[-1:]
        after = self.text[candidate.end : candidate.end + _LEAST_WASTE].lstrip()[:1]
        part = candidate.start < self.bracketed and "," in (before, after)
        self.unread = self.unread or part
        return part

    def _read(self, start: int) -> tuple[Candidate | None, int]:
        """Read the value at `start`. A value that its fence ends is complete even without brackets; one that the text ends is
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
            return None, max(reading.end, start) + _LIMIT_WASTE  # the reader does not report how far it read
        if reading.error or not reading.values or not isinstance(reading.values[0], (dict, list)):
            return None, max(reading.end, start)
        return self._candidate(start, reading, whole=not ran_out), reading.end

    def _read_as_cut(self, start: int, reading: JsonReading) -> JsonReading:
        """If nothing closes the value, read it as a cut one."""
        if Extent(start).scan(self.text, final=True) >= 0:
            return reading
        self.waste -= len(self.text) - start
        cut = _read_at(self.text, start, cut=True)
        return cut if not cut.error and cut.end >= self.last and not cut.complete else reading

    def _fence_end(self, start: int) -> int | None:
        """Where the fence around `start` ends. Positions only grow, so earlier fences are dropped."""
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
"""What begins like JSON. The look-ahead excludes intervals such as `[0, 5)`."""
_BRACKETS = {"{": re.compile(r"[{}]"), "[": re.compile(r"[\[\]]")}


def _matching(text: str, start: int) -> int:
    """The position after the bracket that closes the one at `start`, counting only its kind; beyond the text if none does."""
    depth = 0
    for bracket in _BRACKETS[text[start]].finditer(text, start):
        depth += 1 if bracket[0] == text[start] else -1
        if depth == 0:
            return bracket.end()
    return len(text) + 1


def _in_open_reasoning(candidate: Candidate) -> Candidate:
    """A value in reasoning that never closes may be the answer, since the model may have forgotten the closing tag."""
    note = Repair(kind="in_open_reasoning", before=[candidate.start, candidate.end], after=None, safety="guess")
    return replace(candidate, repairs=(*candidate.repairs, note))


def _next_bracket(text: str, start: int) -> int:
    found = _OPENER.search(text, start)
    return found.start() if found else -1


def _read_at(text: str, start: int, *, cut: bool = False) -> JsonReading:
    """Read the value at `start`. If several keys occur twice, brackets between objects are missing, so it counts as
    unreadable."""
    reading = read_json_value(text, start, cut=cut)
    if sum(repair.kind == "duplicate_key" for repair in reading.repairs) > 1:
        return JsonReading(complete=False, end=reading.end, error=UNREADABLE)
    return reading


def _judged(repair: Repair, whole: bool) -> Repair:
    """The reader's repair with the safety that it has for typed output.

    If the text may continue, closing what is open is `truncated`. Choosing one of two values of a key is a `guess`. A string
    in triple back-ticks is `coerced`.
    """
    if repair.kind == "duplicate_key" and repair.before != repair.after:
        return repair.model_copy(update={"safety": "guess"})
    if repair.kind == "missing_closer" and not whole:
        return repair.model_copy(update={"safety": "truncated"})
    return repair.model_copy(update={"safety": "coerced"}) if repair.kind == "code_block" else repair


# --- code in strings --------------------------------------------------------------------------------------------------


def _dedented(value: Any, repairs: Sequence[Repair]) -> Any:
    """Remove the common indentation from strings that stood in triple back-ticks or triple quotes."""
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
    """The body of the only code fence, if the fence is the whole text and its first line is certainly not part of the body."""
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
    """Whether only reasoning and fence marks surround a value. The fence need not close, since its end may be missing."""
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
"""Words that may stand before a value that is certainly the answer, and no draft, item or quotation."""
_HEADING = re.compile(r"^#{1,6} (?=[\w*])", re.MULTILINE)
_CLOSED = re.compile(r"[\s*_]*+(?P<mark>`{3,}|~{3,}|`)?[\s*_]*+(?:</[\w:-]++>\s*+)*+")


def named_until(text: str) -> int:
    """How far the text only introduces the answer that follows, and opens its fence."""
    found = _NAMED.match(text)
    return found.end() if found else 0


def stands_alone(text: str, start: int, end: int, *, headed: bool = False) -> bool:
    """Whether the value is all that a text, perhaps a cut one, says.

    Before it may stand reasoning, a fence and words that introduce the answer; after it, what closes those. Any other word,
    sign or item could mean that the value is only a part or a draft. If `headed`, the words may be a heading; the text must
    be whole.
    """
    before, behind = _around(text, start, end)
    if headed:
        before = _HEADING.sub("", before)
    opened, closed = _NAMED.fullmatch(before), _CLOSED.fullmatch(behind)
    if opened is None or closed is None:
        return False
    return closed["mark"] == "`" if opened["tick"] else closed["mark"] in (None, opened["fence"])


def _around(text: str, start: int, end: int) -> tuple[str, str]:
    """The text before and after a value, without reasoning."""
    before, behind, since = "", "", 0
    for span in [*reasoning_spans(text), ReasoningSpan(len(text), len(text), opened=True, closed=True)]:
        before += text[since : min(span.start, start)]
        behind += text[max(since, end) : span.start]
        since = span.end
    return before.strip(), behind.strip()
