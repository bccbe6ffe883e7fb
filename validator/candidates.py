"""The values that a text holds: JSON, sound or broken, alone, in fences or in prose.

A scan from bracket to bracket: each is read once, by the normaliser's readers, and the scan goes on behind what was
read. What reads as nothing is skipped. Linear: brackets that lead nowhere draw on a budget of characters in
proportion to the text.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llmcore.normalizer.readers.json import JsonReading, read_json, read_value
from llmcore.types import DEFAULT_LIMITS, Repair
from llmcore.types.narrowing import is_list, is_object

__all__ = ["MAX_CANDIDATES", "Candidate", "fenced", "find_values"]

_WASTE_PER_CHARACTER = 4
_WASTE_ALLOWED = 20_000
_LEAST_WASTE = 200
_LIMIT_WASTE = 4000
MAX_CANDIDATES = 1000
"""Values that are looked at; of more, an array type does not take the first thousand for all."""
_OPENING_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*[\w.+-]*[ \t]*$", re.MULTILINE)


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


def find_values(text: str, *, cut: bool) -> list[Candidate]:
    """The objects and arrays of a text, in order; the whole text alone where it is one sound JSON value of any type.

    `cut`: the text may end inside a value, of which then only what is certain is read; else what is open is closed.
    """
    if len(text) > DEFAULT_LIMITS.text:
        return []
    if (sound := _sound(text, 0, len(text), cut=cut)) is not None:
        return [replace(sound, alone=True)]
    return list(_Scan(text, cut).candidates())


def _sound(text: str, start: int, end: int, *, cut: bool = False) -> Candidate | None:
    """A stretch of text as one JSON value that needs no repair."""
    body = text[start:end]
    stripped = body.strip()
    if stripped[:1] not in _STARTS:
        return None
    reading = read_json(stripped, cut=cut)
    if reading.error or reading.repairs or len(reading.values) != 1 or reading.end < len(stripped):
        return None
    start += len(body) - len(body.lstrip())
    return Candidate(reading.values[0], start, start + len(stripped))


_STARTS = frozenset('{["-0123456789tfn')


class _Scan:
    """One pass over a text. `broken` is where the last value that could not be read ends, as far as its brackets
    tell: what is found before it is a part of that value, and taking the part for the whole is a guess."""

    def __init__(self, text: str, cut: bool) -> None:
        self.text, self.cut, self.broken = text, cut, 0
        self.waste = _WASTE_ALLOWED + _WASTE_PER_CHARACTER * len(text)
        self.fences = fenced(text)[::-1]
        self.first, self.last = len(text) - len(text.lstrip()), len(text.rstrip())

    def candidates(self) -> Iterator[Candidate]:
        text, found = self.text, 0
        for start, end in reversed(self.fences):  # null, a number or a string may stand in a fence of its own
            if (scalar := _sound(text, start, end)) is not None and not isinstance(scalar.value, (dict, list)):
                yield scalar
        position = _next_bracket(text, 0)
        while position >= 0 and self.waste > 0 and found < MAX_CANDIDATES:
            candidate, read_to = self._read(position)
            if candidate is not None:
                found += 1
                yield candidate
                position = _next_bracket(text, candidate.end)
            else:
                self._skip(position, read_to)
                position = _next_bracket(text, position + 1)

    def _skip(self, position: int, read_to: int) -> None:
        self.waste -= max(read_to - position, _LEAST_WASTE)
        if position >= self.broken and _LIKE_JSON.match(self.text, position):
            self.broken = _matching(self.text, position)
            self.waste -= self.broken - position

    def _read(self, start: int) -> tuple[Candidate | None, int]:
        """The value at `start`. One that its fence ends is whole, though it lacks brackets; one that the text ends is
        cut."""
        text = self.text
        reading = read_value(text, start, cut=self.cut)
        end = self._fence_end(start)
        missing = any(repair.kind == "missing_closer" for repair in reading.repairs)
        ran_out = not reading.complete or (missing and reading.end >= self.last)
        if (ran_out or reading.error) and end is not None:
            bounded = read_value(text[:end], start)
            if not bounded.error and bounded.complete:
                return self._candidate(start, bounded, whole=True), bounded.end
        if reading.error is not None and reading.error.endswith("_limit"):
            return None, max(reading.end, start) + _LIMIT_WASTE  # how far it had read is not told
        if reading.error or not reading.values or not isinstance(reading.values[0], (dict, list)):
            return None, max(reading.end, start)
        return self._candidate(start, reading, whole=not ran_out), reading.end

    def _fence_end(self, start: int) -> int | None:
        """Where the fence around `start` ends. Starts only grow, so fences left behind are dropped."""
        while self.fences and self.fences[-1][1] <= start:
            self.fences.pop()
        return self.fences[-1][1] if self.fences and self.fences[-1][0] <= start else None

    def _candidate(self, start: int, reading: JsonReading, *, whole: bool) -> Candidate:
        repairs = [_judged(repair, whole) for repair in reading.repairs]
        if start < self.broken:
            repairs.append(Repair(kind="part_of_unreadable", before=[start, reading.end], after=None, safety="guess"))
        value = _dedented(reading.values[0], repairs)
        alone = start <= self.first and reading.end >= self.last
        return Candidate(value, start, reading.end, tuple(repairs), whole, alone)


_OPENER = re.compile(r"[{\[]")
_LIKE_JSON = re.compile(r"""\{\s*(?:["'}]|[\w$-]+\s*:)|\[\s*(?:["'{\[]|-?\d)""")
_BRACKETS = {"{": re.compile(r"[{}]"), "[": re.compile(r"[\[\]]")}


def _matching(text: str, start: int) -> int:
    """Just past the bracket that closes the one at `start`, counting those of its kind; the end when none does."""
    depth = 0
    for bracket in _BRACKETS[text[start]].finditer(text, start):
        depth += 1 if bracket[0] == text[start] else -1
        if depth == 0:
            return bracket.end()
    return len(text)


def _next_bracket(text: str, start: int) -> int:
    found = _OPENER.search(text, start)
    return found.start() if found else -1


def _judged(repair: Repair, whole: bool) -> Repair:
    """A reader's repair as typed output sees it: closing what the text left open is not lossless when the text may have gone
    on, and a text in triple back-ticks is a form that strings may have, its layout apart."""
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


def fenced(text: str) -> list[tuple[int, int]]:
    """The bodies of the closed code fences, as (start, end)."""
    bodies: list[tuple[int, int]] = []
    opening = _OPENING_FENCE.search(text)
    while opening is not None:
        start = opening.end() + 1
        closing = text.find("\n" + opening[1], opening.end())
        while closing >= 0 and text[closing + 1 + len(opening[1]) :].split("\n", 1)[0].strip():
            closing = text.find("\n" + opening[1], closing + 1)
        if closing < 0:
            break
        bodies.append((start, closing))
        opening = _OPENING_FENCE.search(text, closing + 1 + len(opening[1]))
    return bodies
