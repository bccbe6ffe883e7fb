"""What the relaxed readers share: where they stand, what is open, and what was repaired.

Every edit is recorded where it is made. A *notation* (single quotes, comments, Python literals ...) changes no value
and is recorded once a text, where it is first met; an edit of a value is recorded each time. Look-ahead is memoised,
so that many looks over the same text stay linear.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from llmcore.normalizer.notations.refusals import REPAIRS_LIMIT, SHOWN, UNREADABLE, clipped
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.envelope import Repair, Safety
from llmcore.types.limits import Limits

__all__ = [
    "BRACKETS",
    "CLOSERS",
    "COLONS",
    "COMMAS",
    "Ended",
    "Flavour",
    "Frame",
    "FrameKind",
    "State",
    "Stop",
]

BRACKETS = "}])"
COMMAS = ",\uff0c"  # and the fullwidth comma
COLONS = ":=\uff1a"  # and the fullwidth colon
CLOSERS = {
    '"': '"',
    "'": "'",
    "`": "`",
    "\u201c": '\u201d\u201c"',
    "\u201d": '\u201d"',
    "\u201e": '\u201c\u201d"',
    "\u2018": "\u2019\u2018'",
    "\u2019": "\u2019'",
    "\u00ab": "\u00bb",
}
"""The quotes that may open a string, straight and typographic, and those that close it."""

_COMMENTS_LOOKED_OVER = 2
_OMITS = lazy_regex(
    r"\.\.\.|\u2026|\b(?:truncated|omitted|abbreviated|shortened|elided|left out|not shown|for brevity|and so (?:on|forth)|etc)\b"
    r"|^\W*(?:(?:and|with|plus|add) )?(?:the )?(?:(?:\d+|many|some|several) )?"
    r"(?:more\b(?! than)|others\b|rest\b|remaining\b|continue)",
    re.IGNORECASE,
)
"""A comment that says that something is missing where it stands."""
_PLAIN_SPACE = lazy_regex(r"[ \t\r\n]*")
_ANY_SPACE = lazy_regex(r"(?:[\s\ufeff\u200b]|\\[nrt](?![A-Za-z]))*+")  # also white space written as an escape
_ODD = frozenset("/#\\\ufeff\u200b")
_SOLID = frozenset(map(chr, range(0x21, 0x7F))) - _ODD  # what is certainly neither white space nor a comment

FrameKind = Literal["object", "array", "call"]


class Stop(Exception):
    """Internal: the text cannot be read, for this reason."""

    def __init__(self, reason: str = UNREADABLE) -> None:
        super().__init__(reason)
        self.reason = reason


class Ended(Exception):
    """Internal: the text ended inside a member, which is left out."""


@dataclass(frozen=True, slots=True)
class Flavour:
    """`native`: the notations that are the language's own and no repair. `delimiters` open and close raw strings."""

    native: frozenset[str] = frozenset()
    delimiters: tuple[str, ...] = ()
    python: bool = False


class Frame:
    """An open container. A call's keyword arguments are an object; what has no name is in `positional`."""

    __slots__ = ("after_value", "closer", "comma", "commas", "key", "kind", "members", "opener", "positional")

    def __init__(self, kind: FrameKind, opener: str, closer: str) -> None:
        self.kind: FrameKind = kind
        self.opener, self.closer = opener, closer
        self.members: dict[str, Any] = {}
        self.positional: list[Any] = []
        self.key: str | None = None
        self.after_value = self.comma = False
        self.commas = 0

    @property
    def value(self) -> Any:
        if self.kind != "array":
            return self.members
        if self.opener == "(" and len(self.positional) == 1 and not self.commas:
            return self.positional[0]  # parentheses around a value are no tuple
        return self.positional


class State:
    """A position in `text[start:end]` with the open frames and the repairs made so far."""

    __slots__ = (
        "_found",
        "_noted",
        "bounded",
        "closed",
        "complete",
        "cut",
        "delimited",
        "end",
        "flavour",
        "frames",
        "limits",
        "odd_strings",
        "pos",
        "repairs",
        "rescues",
        "text",
    )

    def __init__(
        self, text: str, start: int, end: int, *, limits: Limits, cut: bool, flavour: Flavour, bounded: bool = True
    ) -> None:
        self.text, self.pos, self.end = text, start, end
        self.limits, self.cut, self.flavour = limits, cut, flavour
        self.bounded = bounded  # the caller knows that nothing but the value stands in the slice
        self.frames: list[Frame] = []
        self.repairs: list[Repair] = []
        self.complete = True
        self.delimited = True  # the last value read shows its own end
        self.closed = True  # the outermost bracket was closed by one in the text
        self.odd_strings = self.rescues = 0
        self._noted: set[str] = set()
        self._found: dict[str, tuple[int, int]] = {}

    def record(self, kind: str, before: Any = None, after: Any = None, safety: Safety = "lossless") -> None:
        if len(self.repairs) >= self.limits.repairs:
            raise Stop(REPAIRS_LIMIT)
        self.repairs.append(Repair(kind=kind, path=self.path(), before=clipped(before), after=clipped(after), safety=safety))

    def note(self, kind: str, before: Any = None, after: Any = None) -> None:
        """Record a notation, once a text and only where it is not the language's own."""
        if kind not in self._noted and kind not in self.flavour.native:
            self._noted.add(kind)
            self.record(kind, before, after)

    def noted(self, kind: str) -> bool:
        return kind in self._noted

    def path(self) -> str:
        """Where the reader stands: the member being read, or, between members, their container."""
        path = ""
        for frame in self.frames:
            if not frame.after_value and (frame.kind == "array" or frame.key is not None):
                step = f"[{len(frame.positional)}]" if frame.key is None else clipped(frame.key)
                path += "." + step if path and frame.key is not None else step
        return path

    def skip(self) -> None:
        """Go over white space and comments."""
        if self.pos < self.end and self.text[self.pos] in _SOLID:
            return
        self.pos = _PLAIN_SPACE.match(self.text, self.pos, self.end).end()  # type: ignore[union-attr]  # matches always
        while self.pos < self.end:
            character = self.text[self.pos]
            if character not in _ODD and not character.isspace():
                return
            if (after := self.comment_end(self.pos)) >= 0:
                said = self.text[self.pos : min(after, self.pos + 2 * SHOWN)]
                self.note("comment", said)
                if _OMITS.search(said) is not None:  # what was meant is not all written
                    self.record("omission", said, None, "guess")
            elif (after := self._space_end(self.pos)) > self.pos:
                if character not in " \t\r\n":
                    self.note("escaped_white_space" if character == "\\" else "white_space", character)
            else:
                return
            self.pos = after

    def peek_past_comments(self, at: int, comments: bool = True) -> int:
        """Where `skip` would come to from `at`, over a few comments at most."""
        if at < self.end and self.text[at] in _SOLID:
            return at
        at = self._space_end(at)
        for _ in range(_COMMENTS_LOOKED_OVER if comments else 0):
            after = self.comment_end(at)
            if after < 0:
                break
            at = self._space_end(after)
        return at

    def _space_end(self, at: int) -> int:
        return _ANY_SPACE.match(self.text, at, self.end).end()  # type: ignore[union-attr]  # matches always

    def comment_end(self, at: int) -> int:
        """The index just past the comment at `at`, -1 when there is none."""
        text, end = self.text, self.end
        if at >= end:
            return -1
        if text[at] == "#" or text.startswith("//", at):
            found = self.find("\n", at)
            return found if found >= 0 else end
        if text.startswith("/*", at):
            found = self.find("*/", at + 2)
            return found + 2 if found >= 0 else end
        return -1

    def find(self, marker: str, at: int) -> int:
        """`text.find(marker, at, end)`, remembered: asking again further on does not search the same stretch twice."""
        since, index = self._found.get(marker, (self.end + 1, -1))
        if since <= at and (index >= at or index < 0):
            return index
        index = self.text.find(marker, at, self.end)
        self._found[marker] = (at, index)
        return index
