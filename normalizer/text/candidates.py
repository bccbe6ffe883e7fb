"""Where a call or a marker may begin: the positions that are worth a close look.

Each character that can begin one has an expression that tells by its neighbours whether anything can open there. Together they
are one expression, compiled once for each set of tools and dialects: it runs through 4 KB of prose in 20 us and takes 0.2 us for
each character that it refuses. A whole text in which none of the characters occurs is told by `str.find` in a tenth of that.

An expression may take too much for a candidate, never too little: what stands at the end of the text and may still become an
opener is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from llmcore.normalizer.core.rows import MarkerTable
from llmcore.normalizer.core.source import Source
from llmcore.normalizer.core.words import BEFORE_BARE, TURN_TOKENS

__all__ = ["Candidates", "Signs", "signs_of"]

_BY_FREQUENCY = "`<[{(]◁=A"  # what markup is most often made of comes first
_WORDS = {"A": "Action:", "=": "to="}  # a whole text has candidates of these characters only in a word
_FARTHEST = 64  # no expression looks farther than so many characters
_START = 3  # so many characters after the first one tell openers from other text
_ADDED_ENDS = "0123456789tlen_s"  # print(, f.call(, tool_code(, json{, f:0{, functools{
_LIST = r"[\[{'\"]|[A-Za-z_][\w.\\-]{0,255}+\s*+(?:\(|\Z)|Calling\s|\Z"  # what a list of calls begins with


class Signs:
    """The expressions for one set of tools (None = not told) and one table of markers."""

    __slots__ = ("_by_character", "any", "any_headed", "markers")

    def __init__(self, names: frozenset[str] | None, table: MarkerTable) -> None:
        ends = r"\w" if names is None else _escaped({*_ADDED_ENDS, *(name[-1] for name in names)})
        bare = _escaped(BEFORE_BARE)
        tags = {f"<{name}{end}" for name in names or () for end in ("> /" if table.tool_tags else "")}
        openers, brackets = _beginnings(table.beginnings | tags, "<"), _begun(table.beginnings, "[")
        empty = rf"(?:(?:None|null)\s*+)?\]\s*+(?:<(?:{_begun(TURN_TOKENS, '<')})|\Z)"  # calls nothing, when it is all there is
        words = "".join(rf"|(?<={opener}\[)" for opener in sorted(table.literals) if opener.isalpha())  # functools[
        signs = {
            "<": rf"<(?={openers}|/?(?:[|｜‖]|[a-z]{{1,16}}:[cfipt])|[^\s<>]{{0,60}}\Z)",
            "[": rf"\[(?:(?={brackets})|(?<=[{bare}\\]\[)(?=\s*+(?:{_LIST}|{empty})){words})",
            "{": rf"\{{(?<=[{bare}{ends}]\{{)",
            "`": "`",
            "(": rf"\((?<=[{ends}]\()",
            "A": "A(?=ction:)",
            "]": rf"\](?={_begun(table.beginnings, ']')})",
            "◁": rf"◁(?={_begun(table.beginnings, '◁')})",
            "=": "=(?<=to=)",
        }
        self.any = re.compile("|".join(signs.values()))
        self.any_headed = re.compile("|".join({**signs, "{": r"\{"}.values()))
        """After the header `to=NAME` anything may stand before a brace."""
        opener = rf"\[(?={brackets})"
        self.markers = re.compile("|".join([signs["<"], opener, signs["]"], signs["◁"], signs["`"]]))
        self._by_character = [(one, _WORDS.get(one, ""), re.compile(signs[one])) for one in _BY_FREQUENCY]

    def occur_in(self, text: str) -> bool:
        """Is there any candidate in a whole text?"""
        if text.startswith(("[", "{")):
            return True
        for character, word, sign in self._by_character:
            at = text.find(character)  # a word takes ten times as long
            if at >= 0 and word:
                at = text.find(word)
            if at >= 0 and sign.search(text, at) is not None:
                return True
        return False


@lru_cache(maxsize=256)
def signs_of(names: frozenset[str] | None, table: MarkerTable) -> Signs:
    """The signs for these tools' names, compiled once."""
    return Signs(names, table)


class Candidates:
    """Finds them in a text that grows."""

    __slots__ = ("_headed", "_signs", "_src")

    def __init__(self, src: Source, signs: Signs) -> None:
        self._src, self._signs, self._headed = src, signs, False

    def next(self, position: int, brackets_from: int = 0) -> int:
        """The first candidate at or after `position`; -1 when what has come so far holds none. Before `brackets_from` only
        markers and code count."""
        text = self._src.text
        if position < brackets_from:
            marker = self._signs.markers.search(text, position, brackets_from + _FARTHEST)
            if marker is not None and marker.start() < brackets_from:
                return marker.start()
            position = brackets_from
        while True:
            found = (self._signs.any_headed if self._headed else self._signs.any).search(text, position)
            if found is None:
                return -1
            position = found.start()
            if text[position] != "=":
                return position
            self._headed = True
            position += 1


def _escaped(characters: Iterable[str]) -> str:
    return "".join(map(re.escape, sorted(characters)))


def _beginnings(openers: Iterable[str], trigger: str) -> str:
    """An expression for how openers go on after `trigger`."""
    return _any_of({opener[1 : 1 + _START] for opener in openers if opener[0] == trigger})


def _begun(openers: Iterable[str], trigger: str) -> str:
    """As `_beginnings`, or how they may have begun at the end of the text."""
    begun = {opener[1:end] for opener in openers if opener[0] == trigger for end in range(1, 1 + _START)}
    return rf"{_beginnings(openers, trigger)}|(?:{'|'.join(map(re.escape, sorted(begun)))})\Z"


def _any_of(words: Iterable[str]) -> str:
    """An expression that matches the words, what several of them begin with written once."""
    branches: dict[str, list[str]] = {}
    for word in words:
        branches.setdefault(word[:1], []).append(word[1:])
    if not branches:
        return "(?!)"
    if "" in branches:
        return ""  # one of the words ends here: what follows does not matter
    return "|".join(f"{re.escape(first)}(?:{_any_of(rest)})" for first, rest in sorted(branches.items()))
