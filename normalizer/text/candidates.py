"""Find candidates: the positions where a call or a marker may begin.

Each character that can begin one has an expression, which checks by the neighbouring text whether anything can open there.
Together they are one expression, compiled once for each set of dialects. It reads 4 KB of prose in 20 us, and takes 0.2 us for
each character that it refuses. What the tools add is looked up (`Names`), so new tools cost no compilation. If none of the
characters occurs in a whole text, `str.find` finds that in a tenth of the time.

An expression may find too many candidates, never too few. If the end of the text may still become an opener, it is a
candidate.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from llmcore.normalizer.bare.json_forms import OBJECT_BEGINS, OBJECT_BEGUN
from llmcore.normalizer.bare.labelled_lines import is_label
from llmcore.normalizer.core.names import NEVER_LAST, name_line, named_in_tag
from llmcore.normalizer.core.rows import MarkerTable
from llmcore.normalizer.scanning.source import Source
from llmcore.normalizer.scanning.words import BEFORE_BARE, OWN_SIGNS, TURN_TOKENS
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["Candidates", "Names", "Signs", "names_of", "signs_of"]

_BY_FREQUENCY: Final = f"`<[{{(]{OWN_SIGNS}=~A:"  # the most frequent characters of markup first
_FARTHEST: Final = 64  # characters that an expression for markers reads at most,
_FARTHEST_OF_ALL: Final = 1024  # and any expression
_NEAR: Final = 128
"""If a `<` stands within this many characters, a candidate is probably near."""
_START: Final = 3  # characters after the first one by which openers are recognised
_ADDED_ENDS: Final = frozenset("0123456789tlen_s")  # print(, f.call(, tool_code(, json{, f:0{, functools{
_NAMING: Final[tuple[str, ...]] = ("t", "n", "")  # first letters of attributes that name a tool
_ABOVE_OR_BLANK: Final = frozenset(" \t\n>")  # characters between a tag and a name on the line above
_SPACED: Final = lazy_regex(r"< [a-z_]{1,16}>")
_WORD_END: Final = re.compile(r".*\w\Z", re.DOTALL).match
_NO_INDEX: Final = r"(?!(?!null)[a-z\d]{1,16}(?:[\],]| [^(\s]))"  # a[i], note [3], [a, b)
_IN_SET: Final = r"(?![a-z]{1,16}(?:\}| [^:=\s]))"  # {word}, {x | x < b}
"""With `_NO_INDEX`, it refuses most brackets and braces of prose and mathematics before a longer check."""
_LIST: Final = r"[\[{'\"`]|[A-Za-z_][\w.\\-]{0,255}+\s*+(?:\(|\Z)|Calling\s|\Z"  # the beginning of a list of calls


class Signs:
    """The expressions for one table of markers.

    `odd` are characters that end tools' names but no words; mostly there are none.
    """

    __slots__ = ("_by_character", "any", "any_headed", "markers")

    def __init__(self, table: MarkerTable, odd: frozenset[str]) -> None:
        bare, ends = _escaped(BEFORE_BARE), rf"\w{_escaped(odd)}"
        doubled = [opener for opener in table.beginnings if opener.startswith("<<")]
        openers = "|".join([_beginnings(table.beginnings, "<"), *([_begun(doubled, "<")] if doubled else [])])
        brackets = _begun(table.beginnings, "[")
        empty = rf"(?:(?:None|null)\s*+)?\]\s*+(?:<(?:{_begun(TURN_TOKENS, '<')})|\Z)"  # an empty list, if it is all of the text
        words = "".join(rf"|(?<={opener}\[)" for opener in sorted(table.literals) if opener.isalpha())  # functools[
        spaced = all(_SPACED.fullmatch(opener) for opener in table.beginnings if opener.startswith("< "))
        blank = "(?! [a-z_]{0,16}+[^a-z_>|｜‖])" if spaced else ""  # it refuses most `<` of prose at once
        lower = any(opener[1:2].islower() or opener[1:2].isdigit() for opener in table.beginnings if opener[0] == "[")
        index = "" if lower else _NO_INDEX  # likewise
        plain_tag = rf"(?=(?:{openers}|/?(?: ?[|｜‖]|[a-z]{{1,16}}:[cfipt]))|/? [a-z_]{{0,16}}+\Z|[^\s<>]{{0,60}}+\Z)"
        signs = {
            "<": rf"<{blank}(?:{plain_tag}|(?=(?P<tag>[^\s<>/]{{1,256}}+)[>\s/]))",
            "[": rf"\[(?:{index}(?:(?={brackets})|(?<=[{bare}\\]\[)(?=\s*+(?:{_LIST}|{empty}))){words})",
            "{": rf"\{{(?:(?<=[{ends}]\{{)|(?<=[{bare}]\{{){_IN_SET}(?=\s*+(?:{OBJECT_BEGINS}|{OBJECT_BEGUN}\Z)))",
            "`": "`",
            "~": r"~(?<!\S~)(?=~~|~?\Z)",
            "(": rf"\((?<=[{ends}]\()",
            "A": r"A(?=ction[*_]{0,2}:)",
            "]": rf"\](?={_begun(table.beginnings, ']')})",
            **{one: rf"{one}(?={_begun(table.beginnings, one)})" for one in OWN_SIGNS},
            "=": "=(?<=to=)",
            ":": ":(?<=(?:ool|ame|ion|all|lls|AME):)",
        }
        self.any = lazy_regex("|".join(signs.values()))
        self.any_headed = lazy_regex("|".join({**signs, "{": r"\{"}.values()))
        """As `any`, after the header `to=NAME`: there, anything may stand before a brace."""
        opener = rf"\[(?={brackets})"
        self.markers = lazy_regex("|".join([signs["<"], opener, *(signs[one] for one in ["]", *OWN_SIGNS, "`", "~"])]))
        self._by_character = [(one, lazy_regex(signs[one])) for one in _BY_FREQUENCY]

    def first(self, text: str, position: int, names: Names) -> int:
        """Where the first candidate of a whole text stands, at or behind `position`; -1 if there is none."""
        near = text.find("<", position, position + _NEAR)
        if near >= 0:  # if one is near, the joint expression is faster
            found = self.any.search(text, position, near + _FARTHEST)
            if found is not None and names.allow(found, text):
                return found.start()
        end = len(text)
        for character, sign in self._by_character:
            at = text.find(character, position, end)  # ten times faster than an expression that matches nowhere
            while 0 <= at < end and (found := sign.search(text, at, end + _FARTHEST_OF_ALL)) is not None:
                at = found.start()
                if at < end and names.allow(found, text):
                    end = at
                at += 1
        return end if end < len(text) else -1


class Names:
    """Which candidates the tools' names allow. If the tools are unknown (None), any name may be a tool's."""

    __slots__ = ("_ends", "_names")

    def __init__(self, names: frozenset[str] | None) -> None:
        self._names = names
        self._ends = None if names is None else _ADDED_ENDS.union([name[-1] for name in names if name], BEFORE_BARE)

    def allow(self, found: re.Match[str], text: str, *, headed: bool = False) -> bool:
        """Whether the match may be a candidate with these tools. If `headed`, any brace may."""
        at = found.start()
        if found.lastgroup is not None:
            if self._names is None:
                return False
            tag = found["tag"]
            return tag in self._names or _is_named_call(text, at, at + 1 + len(tag), self._names)
        if text[at] == ":":
            return self._names is not None and is_label(text, at)
        if self._ends is None or text[at] not in "{(" or (headed and text[at] == "{"):
            return True
        return text[at - 1] in self._ends


def _is_named_call(text: str, at: int, end: int, names: frozenset[str]) -> bool:
    """Whether the tag at `at`, whose name ends at `end`, may call a tool named by an attribute or on the line before."""
    if text[end] == " ":
        if text[end + 1 : end + 2] in _NAMING and named_in_tag(text, at + 1, end, names):
            return True
    elif text[end] == "/":
        return False
    if at < 2 or text[at - 1] not in _ABOVE_OR_BLANK:
        return False
    if text[at - 2] in NEVER_LAST if text[at - 1] == "\n" else text[at - 2] not in _ABOVE_OR_BLANK:
        return False  # words stand before it, or the line above cannot end a name
    return name_line(text, 0, at, names) >= 0


@lru_cache(maxsize=64)
def _signs(table: MarkerTable, odd: frozenset[str]) -> Signs:
    return Signs(table, odd)


@lru_cache(maxsize=256)
def names_of(names: frozenset[str] | None) -> Names:
    """The look-up for these tools' names."""
    return Names(names)


@lru_cache(maxsize=256)
def signs_of(names: frozenset[str] | None, table: MarkerTable) -> Signs:
    """The expressions for these dialects, compiled once for all tools."""
    odd = frozenset[str]() if names is None else frozenset(name[-1] for name in names if name and not _WORD_END(name))
    return _signs(table, odd)


class Candidates:
    """Finds candidates in a text that grows."""

    __slots__ = ("_headed", "_names", "_signs", "_src")

    def __init__(self, src: Source, names: frozenset[str] | None, table: MarkerTable) -> None:
        self._src, self._signs, self._names, self._headed = src, signs_of(names, table), names_of(names), False

    def next(self, position: int, brackets_from: int = 0) -> int:
        """The first candidate at or after `position`; -1 if the text so far has none.

        Before `brackets_from`, only markers and code are candidates.
        """
        text, allow = self._src.text, self._names.allow
        while position < brackets_from:
            marker = self._signs.markers.search(text, position, brackets_from + _FARTHEST)
            if marker is None or marker.start() >= brackets_from:
                position = brackets_from
            elif allow(marker, text):
                return marker.start()
            else:
                position = marker.start() + 1
        if position == 0 and self._src.final:  # once only: each run reads the whole text
            position = self._signs.first(text, 0, self._names)
            if position < 0:
                return -1
        while True:
            found = (self._signs.any_headed if self._headed else self._signs.any).search(text, position)
            if found is None:
                return -1
            position = found.start()
            if text[position] == "=":
                self._headed = True
            elif allow(found, text, headed=self._headed):
                return position
            position += 1


def _escaped(characters: Iterable[str]) -> str:
    return "".join(map(re.escape, sorted(characters)))


def _beginnings(openers: Iterable[str], trigger: str) -> str:
    """An expression for what follows `trigger` in these openers."""
    return _any_of({opener[1 : 1 + _START] for opener in openers if opener[0] == trigger})


def _begun(openers: Iterable[str], trigger: str) -> str:
    """As `_beginnings`; at the end of the text, a beginning of it matches, too."""
    begun = {opener[1:end] for opener in openers if opener[0] == trigger for end in range(1, 1 + _START)}
    return rf"{_beginnings(openers, trigger)}|(?:{'|'.join(map(re.escape, sorted(begun)))})\Z"


def _any_of(words: Iterable[str]) -> str:
    """An expression that matches any of the words. It writes shared beginnings once."""
    branches: dict[str, list[str]] = {}
    for word in words:
        branches.setdefault(word[:1], []).append(word[1:])
    if not branches:
        return "(?!)"
    if "" in branches:
        return ""  # a word ends here: any text may follow
    return "|".join(f"{re.escape(first)}(?:{_any_of(rest)})" for first, rest in sorted(branches.items()))
