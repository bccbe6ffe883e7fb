"""`Marker` and `MarkerTable`: which readers to try at a position.

A dialect (`core/dialect.py`) has markers, a trust level and a writer. A marker has openers, a check that tells it from other
markers with the same opener, and a reader. Reasoning formats, end-of-turn tokens and echoed results are markers without a
dialect. Rows that share an opener are tried by `order`, then by their registration. The first row wins whose `follows` holds
and whose reader returns True.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from llmcore.normalizer.core.names import name_line
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.scanning.source import Follows, Steps, always
from llmcore.normalizer.trust.layout import MARKS
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.json_data import as_json

__all__ = ["Calls", "Marker", "MarkerTable", "Reader", "Trust", "Writer", "as_json"]

Calls = Sequence[tuple[str, dict[str, Any]]]
Reader = Callable[["Reading", int, int], Steps[bool] | bool]
"""`reader(reading, at, body)`: the opener starts at `at`, and `body` is just past it.

Returns True if it consumed text (`reading.done` has moved), or False if it declined and committed nothing. A reader that never
needs more text is a plain function.
"""
Writer = Callable[[Calls], str]
Trust = Literal["delimited", "bare"]


@dataclass(frozen=True, slots=True)
class Marker:
    """What one opener starts, and how it is read. `openers` are literals; `pattern` is a regular expression of spellings."""

    reader: Reader
    openers: tuple[str, ...] = ()
    pattern: str | None = None
    begins: tuple[str, ...] = ()
    """What the spellings of `pattern` begin with, except `<|`, its look-alikes, and `<` with a namespace."""
    follows: Follows = always
    order: int = 0
    calls: bool = False
    """Whether it opens a call. If no tools were offered, it is skipped."""
    frames: bool = False
    """Whether it opens a frame, of a call or of a message. Its place is judged as a call's is. It is read without tools too."""
    dialect: str = ""
    name_line: bool = False
    """Whether its opener is any tag behind a line that is a tool's name.

    It is tried after the rows with literal openers, and before those with `tool_tag`.
    """
    by_name: bool = False
    """Whether only a tool's name tells it from other markup. If the tools are unknown, it opens nothing."""
    tool_tag: bool = False
    """Whether its opener is `<NAME>`, or `<NAME` before attributes, where NAME is a tool's name.

    It is tried after the rows with literal openers.
    """

    def __post_init__(self) -> None:
        for opener in (*self.openers, *self.begins):
            if opener[0] not in MARKS and not opener.isalpha():  # words before brackets are found by other candidates
                raise ValueError(f"no candidate begins with {opener[0]!r}: {opener!r} needs it in scanning/words.OWN_SIGNS")


_START = 4
_TAG_NAME = re.compile(r"<([^\s<>/]{1,256})(?:>|(?=[\s/]))")
_REMEMBERED = 8192  # cached answers, including those on prefixes of literals
_NAMING = r"""[^\s<>/]{1,24} (?:t(?:o(?:ol?)?)?|n(?:a(?:me?)?)?|(?:tool|name)=(?:"[^"<>\s]{0,28}|'[^'<>\s]{0,28})?)?"""
_UNDECIDED_TAG = lazy_regex(
    rf"<(?:{_NAMING}|/? [a-z_]{{0,16}}|/ {{0,4}}[^\s<>]{{0,40}} {{0,4}}|/co:[^<>\n]{{0,64}}|(?:/ {{0,4}})? ?[|｜‖][^<>\n]{{0,60}}"
    r"|[^\s<>]{0,60})\Z"
)  # may become an opener when more text comes
_MARKUP_BEGUN = lazy_regex(r"</?(?:invoke\b|[a-z]{1,16}:| ?[|｜‖])[^<>]*\Z")  # may become an opener of a `pattern`


class _Undecided(dict[str, bool]):
    """Whether a text's last characters, fewer than 64, may still become an opener. Caches answers for up to two characters."""

    def __missing__(self, begun: str) -> bool:
        verdict = _UNDECIDED_TAG.match(begun) is not None
        if len(begun) <= 2 and len(self) < _REMEMBERED:
            self[begun] = verdict
        return verdict


class MarkerTable:
    """Finds the rows that may start at a position.

    Literals are looked up by their first four characters, the longest first. Then one regular expression tries all patterns.
    """

    def __init__(self, markers: Sequence[Marker]) -> None:
        ordered = sorted(markers, key=lambda marker: marker.order)
        self._by_literal: dict[str, list[Marker]] = {}
        self._by_group: dict[str, Marker] = {}
        literals: list[str] = []
        patterns: list[str] = []
        for marker in ordered:
            for opener in marker.openers:
                self._by_literal.setdefault(opener, []).append(marker)
            if marker.pattern is not None:
                group = f"p{len(self._by_group)}"
                self._by_group[group] = marker
                patterns.append(f"(?P<{group}>{marker.pattern})")
        literals = sorted(self._by_literal, key=lambda literal: -len(literal))
        self._by_start: dict[str, list[str]] = {}
        for literal in literals:
            self._by_start.setdefault(literal[:_START], []).append(literal)
        self._patterns = lazy_regex("|".join(patterns))
        self.literals = frozenset(literals)
        self.beginnings = self.literals.union(*(marker.begins for marker in ordered))
        self._partials = frozenset(literal[:n] for literal in literals for n in range(1, len(literal)))
        self.undecided = _Undecided.fromkeys(self._partials, True)
        self.unshared = frozenset(literal for literal, rows in self._by_literal.items() if len(rows) == 1)
        """The openers of exactly one row."""
        self.tool_tags = [marker for marker in ordered if marker.tool_tag]
        self.name_lines = [marker for marker in ordered if marker.name_line]

    def is_begun(self, text: str) -> bool:
        """Whether all of `text` is a proper prefix of an opener."""
        return text in self._partials or _MARKUP_BEGUN.match(text) is not None

    def may_open(self, text: str, at: int) -> bool:
        """Whether an opener may stand at `at`. It checks a few characters only, and `<` always may."""
        return text[at] == "<" or len(text) - at < _START or text[at : at + _START] in self._by_start

    def match(self, text: str, at: int) -> tuple[int, list[Marker]] | None:
        """The end of the opener at `at` and the rows that share it. None if no opener stands there."""
        for literal in self._by_start.get(text[at : at + _START], ()):
            if text.startswith(literal, at):
                return at + len(literal), self._by_literal[literal]
        found = self._patterns.match(text, at) if text[at : at + 1] == "<" else None
        return None if found is None or found.lastgroup is None else (found.end(), [self._by_group[found.lastgroup]])

    def match_name_line(self, text: str, at: int, names: frozenset[str] | None) -> tuple[int, list[Marker]] | None:
        """As `match`, for a tag behind a line that is a tool's name. Such an opener is empty: it ends at `at`."""
        if not names or not self.name_lines or name_line(text, 0, at, names) < 0:
            return None
        return at, self.name_lines

    def match_tool_tag(self, text: str, at: int, names: frozenset[str] | None) -> tuple[int, list[Marker]] | None:
        """As `match`, for a tag that is a tool's name. If it has attributes, the opener ends before them."""
        if not names or not self.tool_tags:
            return None
        found = _TAG_NAME.match(text, at)
        return None if found is None or found[1] not in names else (found.end(), self.tool_tags)
