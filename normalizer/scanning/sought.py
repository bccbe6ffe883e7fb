"""Expressions for markup with names that are known only at run time: a tool's names, or names in the text itself.

Compiling one expression per name would take a millisecond for each set of tools and each name in a text. So an expression has
holes and is compiled once: a hole matches any name, and the name is compared afterwards. `tags` makes such expressions,
`filled_pattern` gives the texts of a hole, and `Element` seeks the tags of one element.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, groupby
from typing import Final, Protocol

from llmcore.support.code.lazy_regex import lazy_regex

__all__ = [
    "HOLDER",
    "KEY",
    "LINE_FOR_BRACKET",
    "OPENER",
    "SPACE",
    "SUFFIX",
    "TAG",
    "Either",
    "Element",
    "Sought",
    "closers_in",
    "filled_pattern",
    "may_be_named",
    "tags",
    "undecided_from",
]

TAG, KEY, HOLDER, OPENER, SPACE, SUFFIX = "\x00", "\x01", "\x02", "\x03", "\x04", "\x05"
"""Holes. TAG, KEY and HOLDER stand for the name of an element, of an argument, and of an element around others.

OPENER stands for a tag up to an attribute, without its `<`. SPACE stands for a namespace with its colon, and SUFFIX for what a
checkpoint adds to the names of its tags.
"""

_NAME: Final = r"[^\s<>=]{1,256}?"
_HOLES: Final = {
    TAG: _NAME,
    KEY: _NAME,
    HOLDER: _NAME,
    OPENER: r"(?=[^<>]{1,603}>)[^<>]{1,330}?[\s=>]",  # without a `>` ahead, no position need be tried
    SPACE: "[a-z]{1,16}:",
    SUFFIX: r":[^\s<>]{1,32}?",
}
_HOLE: Final = lazy_regex(f"[{''.join(_HOLES)}]")
_GROUP: Final = lazy_regex(r"\?P<\w+>")
_HOLE_OR_GROUP: Final = lazy_regex(f"{_HOLE.pattern}|{_GROUP.pattern}")
_WORD: Final = lazy_regex(r"[A-Za-z_][\w-]+|\b[A-Za-z](?=>)")
_FIRST_WORD: Final = lazy_regex(r"[\w-]+")
_LEADING: Final = lazy_regex(r"^(\(\?P<\w+>)?<")
LINE_FOR_BRACKET: Final = r"\n(?:\s{0,3}[^\s>]|\s{4})"
"""A line break in the place of a closer's `>`, with what shows that no `>` follows."""
_CLOSER: Final = lazy_regex(r"</(\??)([^>]*+)>")


class Sought(Protocol):
    """What a reader may seek: an expression, or an object with the same methods. Equal objects find the same."""

    @property
    def pattern(self) -> str:
        """An expression that matches at least as much."""
        ...

    def search(self, string: str, pos: int = 0, endpos: int = sys.maxsize, /) -> re.Match[str] | None:
        """The first match at or behind `pos`."""
        ...

    def match(self, string: str, pos: int = 0, endpos: int = sys.maxsize, /) -> re.Match[str] | None:
        """The match at `pos`."""
        ...

    def __hash__(self) -> int: ...


def tags(*alternatives: str, ends: int | None = None) -> Sought:
    """One pattern of alternatives that each begin with `<`. In closers (`</f>`), it allows white space, as models write it.

    The shared `<` comes first, so that a search jumps from one `<` to the next; on a value of 500 characters, that takes a
    tenth of the time. If an alternative has a hole, which `filled_pattern` fills, all its groups have names. `ends` is the
    largest number of `>` that decide a match.
    """
    spaced = (_CLOSER.sub(_with_space, alternative) for alternative in alternatives)
    bare = tuple(_LEADING.sub(r"\1", alternative, count=1) for alternative in spaced)
    return _Holed(_Alternatives(bare, ends)) if any(map(_HOLE.search, bare)) else lazy_regex(_any_of(bare))


def filled_pattern(sought: Sought, hole: str, *texts: str) -> Sought:
    """`sought` with one of these texts in the hole. If it has no holes, `sought` itself."""
    if not isinstance(sought, _Holed):
        return sought
    return _Holed(sought.alternatives, (*sought.texts, (hole, frozenset(texts))))


def undecided_from(sought: Sought, text: str, start: int) -> int:
    """The first position behind `start` at which more text may still make a match.

    A tag in a value that ends nothing is so checked a few times only, and not once for each of the next chunks.
    """
    ends = sought.alternatives.ends if isinstance(sought, _Holed) else None
    if ends is None:
        return start
    at = len(text)
    for _ in range(ends + 1):
        at = text.rfind(">", start, at)
        if at < 0:
            return start
    return at + 1


def may_be_named(sought: Sought, name: str) -> bool:
    """Whether a tag of this name may begin what is sought."""
    return name.lower().startswith(_words(sought))


@lru_cache(maxsize=1024)
def _words(sought: Sought) -> tuple[str, ...]:
    """The beginnings of tag names: the words in an expression, and the first words of the texts of its holes."""
    texts = () if not isinstance(sought, _Holed) else chain.from_iterable(texts for _, texts in sought.texts)
    pattern = _GROUP.sub("", sought.pattern)  # the names of groups are no tags
    words = [*_WORD.findall(pattern), *(found[0] for text in texts if (found := _FIRST_WORD.match(text)) is not None)]
    return tuple(word.lower() for word in words)


def _any_of(alternatives: Iterable[str]) -> str:
    return "<(?:" + "|".join(alternatives) + ")"


def _with_space(closer: re.Match[str]) -> str:
    """The expression for a closer, with the white space that may stand in it. A line break may stand in the place of its `>`."""
    slash = r"(?:/\s{0,4})?" if closer[1] else r"/\s{0,4}"
    return rf"<{slash}{closer[2]}(?:\s{{0,4}}>|[^\S\n]{{0,4}}(?={LINE_FOR_BRACKET}))"


class _Alternatives:
    """Alternatives, of which some have holes.

    `any` matches all of them, with any text in the holes. `each` has them in turn, with the groups that are holes; adjacent
    ones without holes are joined. `ends` is the largest number of `>` that decide a match, None if unknown.
    """

    __slots__ = ("any", "each", "ends")

    def __init__(self, alternatives: tuple[str, ...], ends: int | None) -> None:
        self.ends = ends
        self.any = lazy_regex(_any_of([_GROUP.sub("?:", _HOLE.sub(_any_text, one)) for one in alternatives]))
        self.each: list[tuple[re.Pattern[str], list[tuple[int, str]]]] = []
        for has_hole, some in groupby(alternatives, lambda one: _HOLE.search(one) is not None):
            for one in some if has_hole else [_any_of(some)]:
                self.each.append(_with_groups(f"<{one}" if has_hole else one))


def _any_text(hole: re.Match[str]) -> str:
    return f"(?:{_HOLES[hole[0]]})"


def _with_groups(alternative: str) -> tuple[re.Pattern[str], list[tuple[int, str]]]:
    """The expression of an alternative, and which of its groups are which holes."""
    groups: list[tuple[int, str]] = []
    pieces, end = list[str](), 0
    for group, found in enumerate(_HOLE_OR_GROUP.finditer(alternative), 1):
        if found[0] in _HOLES:
            groups.append((group, found[0]))
            pieces += alternative[end : found.start()], f"({_HOLES[found[0]]})"
            end = found.end()
    return lazy_regex("".join(pieces) + alternative[end:]), groups


@dataclass(frozen=True, slots=True)
class _Holed:
    """Alternatives with the texts of their holes."""

    alternatives: _Alternatives
    texts: tuple[tuple[str, frozenset[str]], ...] = ()

    @property
    def pattern(self) -> str:
        return self.alternatives.any.pattern

    def search(self, string: str, pos: int = 0, endpos: int = sys.maxsize, /) -> re.Match[str] | None:
        seek, texts = self.alternatives.any.search, dict(self.texts)
        while (found := seek(string, pos, endpos)) is not None:
            pos = found.start()
            exact = self._match(string, pos, endpos, texts)
            if exact is not None:
                return exact
            pos += 1
        return None

    def match(self, string: str, pos: int = 0, endpos: int = sys.maxsize, /) -> re.Match[str] | None:
        return self._match(string, pos, endpos, dict(self.texts))

    def _match(self, string: str, pos: int, endpos: int, texts: dict[str, frozenset[str]]) -> re.Match[str] | None:
        for one, groups in self.alternatives.each:
            found = one.match(string, pos, endpos)
            if found is not None and all(found[group] is None or found[group] in texts.get(hole, ()) for group, hole in groups):
                return found
        return None


_LONGEST: Final = 512
_BLANKS: Final = 4  # the most blanks on either side of a name
_CLOSING: Final = lazy_regex(rf"</\s{{0,{_BLANKS}}}+([^<>]{{1,{_LONGEST}}}+)>")
_OPENING: Final = lazy_regex(rf"<([^<>]{{1,{_LONGEST}}}+)>")


@dataclass(frozen=True, slots=True)
class Element:
    """The closer of the element of this name, with the white space that models write; or its opener, without white space."""

    name: str
    opens: bool = False

    @property
    def pattern(self) -> str:
        name = re.escape(self.name)
        return f"<{name}>" if self.opens else rf"</\s{{0,{_BLANKS}}}{name}\s{{0,{_BLANKS}}}>"

    def search(self, string: str, pos: int = 0, endpos: int = sys.maxsize, /) -> re.Match[str] | None:
        seek = (_OPENING if self.opens else _CLOSING).search
        while (found := seek(string, pos, endpos)) is not None and not self._is_named(found):
            pos, found = found.end(), None
        return found

    def match(self, string: str, pos: int = 0, endpos: int = sys.maxsize, /) -> re.Match[str] | None:
        found = (_OPENING if self.opens else _CLOSING).match(string, pos, endpos)
        return found if found is not None and self._is_named(found) else None

    def _is_named(self, found: re.Match[str]) -> bool:
        return (found[1] if self.opens else _name_in(found)) == self.name


def _name_in(closer: re.Match[str]) -> str:
    name = closer[1].rstrip()
    return name if len(closer[1]) - len(name) <= _BLANKS else ""


def closers_in(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Yield every closer behind `start`: (its name, where it begins, where it ends)."""
    for found in _CLOSING.finditer(text, start):
        yield (_name_in(found), *found.span())


@dataclass(frozen=True, slots=True)
class Either:
    """The first match of two expressions. At the same position, `one` wins."""

    one: Sought
    other: Sought

    @property
    def pattern(self) -> str:
        return f"{self.one.pattern}|{self.other.pattern}"

    def search(self, string: str, pos: int = 0, endpos: int = sys.maxsize, /) -> re.Match[str] | None:
        one, other = self.one.search(string, pos, endpos), self.other.search(string, pos, endpos)
        return other if one is None or (other is not None and other.start() < one.start()) else one

    def match(self, string: str, pos: int = 0, endpos: int = sys.maxsize, /) -> re.Match[str] | None:
        return self.one.match(string, pos, endpos) or self.other.match(string, pos, endpos)
