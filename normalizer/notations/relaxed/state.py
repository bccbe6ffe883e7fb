"""The state of the relaxed readers: their position, open containers and repairs.

Each edit is recorded where it is made. A *notation* (single quotes, comments, Python literals ...) changes no value, and is
recorded once per text, at its first use. An edit of a value is recorded each time. Look-aheads are cached, so that repeated
ones over the same text stay linear.
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
COMMAS = ",\uff0c"  # with the full-width comma
COLONS = ":=\uff1a"  # with the full-width colon
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
"""The quotes that may open a string, straight and typographic, with the quotes that close each."""

_COMMENTS_LOOKED_OVER = 2
_OMITS = lazy_regex(
    r"\.\.\.|\u2026|\b(?:truncated|omitted|abbreviated|shortened|elided|left out|not shown|for brevity|and so (?:on|forth)|etc)\b"
    r"|^\W*(?:(?:and|with|plus|add) )?(?:the )?(?:(?:\d+|many|some|several) )?"
    r"(?:more\b(?! than)|others\b|rest\b|remaining\b|continue)",
    re.IGNORECASE,
)
"""A comment that says that something is left out."""
_PLAIN_SPACE = lazy_regex(r"[ \t\r\n]*")
_ANY_SPACE = lazy_regex(r"(?:[\s\ufeff\u200b]|\\[nrt](?![A-Za-z]))*+")  # including escaped white space
_ODD = frozenset("/#\\\ufeff\u200b")
_SOLID = frozenset(map(chr, range(0x21, 0x7F))) - _ODD  # neither white space nor the beginning of a comment

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
    """A notation. `native`: repairs that are its normal syntax, and not recorded. `delimiters` open and close raw strings.

    `spaced_keys`: an unquoted key may hold blanks, wherever its colon stands.
    """

    native: frozenset[str] = frozenset()
    delimiters: tuple[str, ...] = ()
    python: bool = False
    spaced_keys: bool = False


class Frame:
    """An open container. A call's keyword arguments are an object; its other arguments are `positional`."""

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
    """A position in `text[start:end]`, with the open frames and the repairs so far."""

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
        self.bounded = bounded  # the slice holds only the value
        self.frames: list[Frame] = []
        self.repairs: list[Repair] = []
        self.complete = True
        self.delimited = True  # the last value shows its own end
        self.closed = True  # the text closed the outermost bracket
        self.odd_strings = self.rescues = 0
        self._noted: set[str] = set()
        self._found: dict[str, tuple[int, int]] = {}

    def record(self, kind: str, before: Any = None, after: Any = None, safety: Safety = "lossless") -> None:
        if len(self.repairs) >= self.limits.repairs:
            raise Stop(REPAIRS_LIMIT)
        self.repairs.append(Repair(kind=kind, path=self.path(), before=clipped(before), after=clipped(after), safety=safety))

    def note(self, kind: str, before: Any = None, after: Any = None) -> None:
        """Record a notation, once per text, unless it is native to the flavour."""
        if kind not in self._noted and kind not in self.flavour.native:
            self._noted.add(kind)
            self.record(kind, before, after)

    def noted(self, kind: str) -> bool:
        return kind in self._noted

    def path(self) -> str:
        """The path of the member that is being read or, between members, of their container."""
        path = ""
        for frame in self.frames:
            if not frame.after_value and (frame.kind == "array" or frame.key is not None):
                step = f"[{len(frame.positional)}]" if frame.key is None else clipped(frame.key)
                path += "." + step if path and frame.key is not None else step
        return path

    def skip(self) -> None:
        """Skip white space and comments."""
        if self.pos < self.end and self.text[self.pos] in _SOLID:
            return
        self.pos = _PLAIN_SPACE.match(self.text, self.pos, self.end).end()  # type: ignore[union-attr]  # matches always
        while self.pos < self.end:
            character = self.text[self.pos]
            if character not in _ODD and not character.isspace():
                return
            if (after := self.comment_end(self.pos)) >= 0:
                comment = self.text[self.pos : min(after, self.pos + 2 * SHOWN)]
                self.note("comment", comment)
                if _OMITS.search(comment) is not None:  # the value is incomplete
                    self.record("omission", comment, None, "guess")
            elif (after := self._space_end(self.pos)) > self.pos:
                if character not in " \t\r\n":
                    self.note("escaped_white_space" if character == "\\" else "white_space", character)
            else:
                return
            self.pos = after

    def peek_past_comments(self, at: int, comments: bool = True) -> int:
        """The position behind white space at `at`, and behind a few comments at most."""
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
        """The index just past the comment at `at`, -1 if there is none."""
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
        """`text.find(marker, at, end)`, cached: a later search does not search the same stretch twice."""
        since, index = self._found.get(marker, (self.end + 1, -1))
        if since <= at and (index >= at or index < 0):
            return index
        index = self.text.find(marker, at, self.end)
        self._found[marker] = (at, index)
        return index
