"""What a marker is, and the table that finds the rows whose marker stands at a position.

A dialect (`core/dialect.py`) = its markers, its trust and a writer; a marker = its openers, what must follow to tell it from
neighbours that share an opener, and its reader. Reasoning formats, end-of-turn tokens and echoed results are markers without a
dialect. Rows that share an opener are tried in the order of `order`, then of their registration; the first whose `follows` holds
and whose reader takes it, wins.
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
"""`reader(reading, at, body)`: `at` is where the opener starts, `body` just past it. True = it consumed text (`reading.done`
has moved); False = declined, and nothing was committed. A reader that never needs more text is a plain function."""
Writer = Callable[[Calls], str]
Trust = Literal["delimited", "bare"]


@dataclass(frozen=True, slots=True)
class Marker:
    """Something a marker opens. `openers` are literals; `pattern` is a regular expression for families of spellings."""

    reader: Reader
    openers: tuple[str, ...] = ()
    pattern: str | None = None
    begins: tuple[str, ...] = ()
    """What the spellings of `pattern` may begin with, other than `<|`, its look-alikes, or `<` and a namespace."""
    follows: Follows = always
    order: int = 0
    calls: bool = False
    """Opens a call: passed over when no tools were offered."""
    frames: bool = False
    """Opens a frame, of a call or of a message: its place decides of it as of a call's, and it is read without tools too."""
    dialect: str = ""
    name_line: bool = False
    """Its opener is any tag behind a line that is the name of one of the tools told; tried after the rows with an opener of their
    own and before those of tags."""
    by_name: bool = False
    """What it opens is told from other markup by the name of one of the tools: it opens nothing where none were told."""
    tool_tag: bool = False
    """Its opener is `<NAME>`, or `<NAME` before attributes, NAME being one of the tools told; tried after the rows with an opener
    of their own."""

    def __post_init__(self) -> None:
        for opener in (*self.openers, *self.begins):
            if opener[0] not in MARKS and not opener.isalpha():  # a word before a bracket has candidates of its own
                raise ValueError(f"no candidate begins with {opener[0]!r}: {opener!r} needs it in scanning/words.OWN_SIGNS")


_START = 4
_TAG_NAME = re.compile(r"<([^\s<>/]{1,256})(?:>|(?=[\s/]))")
_REMEMBERED = 8192  # verdicts on what may have begun, those on the beginnings of literals included
_NAMING = r"""[^\s<>/]{1,24} (?:t(?:o(?:ol?)?)?|n(?:a(?:me?)?)?|(?:tool|name)=(?:"[^"<>\s]{0,28}|'[^'<>\s]{0,28})?)?"""  # a tool
_UNDECIDED_TAG = lazy_regex(
    rf"<(?:{_NAMING}|/? [a-z_]{{0,16}}|/ {{0,4}}[^\s<>]{{0,40}} {{0,4}}|/co:[^<>\n]{{0,64}}|(?:/ {{0,4}})?[|｜‖][^<>\n]{{0,60}}"
    r"|[^\s<>]{0,60})\Z"
)  # may become an opener
_MARKUP_BEGUN = lazy_regex(r"</?(?:invoke\b|[a-z]{1,16}:|[|｜‖])[^<>]*\Z")  # of the families of spellings


class _Undecided(dict[str, bool]):
    """May what has come of a text, fewer than 64 characters, still become an opener? Of two characters it is remembered."""

    def __missing__(self, begun: str) -> bool:
        verdict = _UNDECIDED_TAG.match(begun) is not None
        if len(begun) <= 2 and len(self) < _REMEMBERED:
            self[begun] = verdict
        return verdict


class MarkerTable:
    """Finds which rows may start at a position.

    Literals are found by their first four characters, the longest first; then the families of spellings, by one regular
    expression.
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
        """Openers of one row only."""
        self.tool_tags = [marker for marker in ordered if marker.tool_tag]
        self.name_lines = [marker for marker in ordered if marker.name_line]

    def is_begun(self, text: str) -> bool:
        """Is all of a text what a marker begins with?"""
        return text in self._partials or _MARKUP_BEGUN.match(text) is not None

    def may_open(self, text: str, at: int) -> bool:
        """May one of them stand at `at`, which is no `<`? A look at a few characters."""
        return text[at] == "<" or len(text) - at < _START or text[at : at + _START] in self._by_start

    def match(self, text: str, at: int) -> tuple[int, list[Marker]] | None:
        """(end of the opener, rows that share it), or None."""
        for literal in self._by_start.get(text[at : at + _START], ()):
            if text.startswith(literal, at):
                return at + len(literal), self._by_literal[literal]
        found = self._patterns.match(text, at) if text[at : at + 1] == "<" else None
        return None if found is None or found.lastgroup is None else (found.end(), [self._by_group[found.lastgroup]])

    def match_name_line(self, text: str, at: int, names: frozenset[str] | None) -> tuple[int, list[Marker]] | None:
        """As `match`, of a tag behind a line that is the name of a tool; such an opener has no length."""
        if not names or not self.name_lines or name_line(text, 0, at, names) < 0:
            return None
        return at, self.name_lines

    def match_tool_tag(self, text: str, at: int, names: frozenset[str] | None) -> tuple[int, list[Marker]] | None:
        """As `match`, of a tag that is the name of a tool; with attributes, the opener ends where they begin."""
        if not names or not self.tool_tags:
            return None
        found = _TAG_NAME.match(text, at)
        return None if found is None or found[1] not in names else (found.end(), self.tool_tags)
