"""Where a call or a marker may begin: the positions that are worth a close look.

Each character that can begin one has an expression that tells by its neighbours whether anything can open there. They are
compiled once for each set of tools and dialects, and each character is sought through the text once: by `str.find`, which
costs 0.03 us a kilobyte where there is none, then by the expression (0.4 us a kilobyte, 0.2 us for each one it refuses).

An expression may take too much for a candidate, never too little: what stands at the end of the text and may still become an
opener is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from llmcore.normalizer.rows import MarkerTable
from llmcore.normalizer.source import Source

__all__ = ["BEFORE_BARE", "Candidates", "Signs", "signs_of"]

BEFORE_BARE = frozenset(" \t\r\n\"'`*>:_")
"""What may stand directly before a bare form; after anything else a bracket belongs to what it stands in."""

_TRIGGERS = "<[{`(A◁="
_BY_FREQUENCY = "`<[{(◁=A"
_BRACE, _HEADER = _TRIGGERS.index("{"), _TRIGGERS.index("=")
_OVERLAP = len("Action:") - 1  # of the text's end, in which a word may have begun that is sought by its first character
_NEAR = 64  # within this reach one expression for all is cheaper than a search for each (measured)
_NONE = 1 << 62
_START = 3  # so many characters after the first one tell openers from other text
_ADDED_ENDS = "0123456789tlen_s"  # print(, f.call(, tool_code(, json{, f:0{, functools{
_LIST = r"\s*(?:[\[{'\"]|(?:None|null)?\s*\]|[A-Za-z_][\w.\\-]{0,255}\s*(?:\(|\Z)|Calling\s|\Z)"


class Signs:
    """The expressions for one set of tools (None = not told) and one table of markers."""

    __slots__ = ("any", "by_character", "by_index", "headed_brace")

    def __init__(self, names: frozenset[str] | None, table: MarkerTable) -> None:
        ends = r"\w" if names is None else _escaped({*_ADDED_ENDS, *(name[-1] for name in names)})
        bare = _escaped(BEFORE_BARE)
        tags = {f"<{name}>" for name in names or () if table.tool_tags}
        openers, brackets = _beginnings(table.beginnings | tags, "<"), _beginnings(table.beginnings, "[")
        words = "".join(rf"|(?<={opener}\[)" for opener in sorted(table.literals) if opener.isalpha())  # functools[
        self.by_index = tuple(
            map(
                re.compile,
                (
                    rf"<(?={openers}|/?(?:[|｜‖]|[a-z]{{1,16}}:[cfipt])|(?<=\]<)(?:\]|\Z)|[^\s<>]{{0,60}}\Z)",
                    rf"\[(?:(?={brackets}|\Z)|(?<=[{bare}\\]\[)(?={_LIST}){words})",
                    rf"\{{(?<=[{bare}{ends}]\{{)",
                    "`",
                    rf"\((?<=[{ends}]\()",
                    "A(?=ction:)",
                    "◁",
                    "=(?<=to=)",
                ),
            )
        )
        self.by_character = dict(zip(_TRIGGERS, self.by_index, strict=True))
        self.headed_brace = re.compile(r"\{")
        """After the header `to=NAME` anything may stand before the brace."""
        self.any = re.compile(f"[{re.escape(_TRIGGERS)}]")

    def occur_in(self, text: str) -> bool:
        """Is there any candidate in a whole text? What markup is most often made of is sought first."""
        if text.startswith(("[", "{")):
            return True
        for trigger in _BY_FREQUENCY:
            at = text.find(trigger)
            if at >= 0 and self.by_character[trigger].search(text, at) is not None:
                return True
        return False


@lru_cache(maxsize=256)
def signs_of(names: frozenset[str] | None, table: MarkerTable) -> Signs:
    """The signs for these tools' names, compiled once."""
    return Signs(names, table)


class Candidates:
    """Finds them in a text that grows."""

    __slots__ = ("_ahead", "_headed", "_length", "_signs", "_sought", "_src")

    def __init__(self, src: Source, signs: Signs) -> None:
        self._src, self._signs = src, signs
        self._ahead: list[int] = []
        """By trigger: where the next candidate stands; `_NONE` when there is none in what has come; less than the position
        sought from when that is not known."""
        self._sought = self._length = 0
        self._headed = False

    def next(self, position: int) -> int:
        """The first candidate at or after `position`; -1 when what has come so far holds none."""
        text, signs = self._src.text, self._signs
        near = position + _NEAR
        while (found := signs.any.search(text, position, near)) is not None:
            trigger, position = found[0], found.start()
            if trigger == "=":
                self._headed = self._headed or text.startswith("to", position - 2)
            elif (trigger == "{" and self._headed) or signs.by_character[trigger].match(text, position) is not None:
                return position
            position += 1
        return -1 if near >= len(text) else self._far(text, near)

    def _far(self, text: str, position: int) -> int:
        ahead = self._ahead
        if len(text) > self._length:
            self._sought, self._length = max(0, self._length - _OVERLAP), len(text)
            ahead[:] = [-1 if at == _NONE else at for at in ahead] if ahead else [-1] * len(_TRIGGERS)
        while True:
            at = min(ahead)
            if at >= position:
                if at == _NONE:
                    return -1
                if ahead[_HEADER] != at:
                    return at
                if not self._headed:
                    self._headed, ahead[_BRACE] = True, -1
                ahead[_HEADER] = _NONE
                continue
            k = ahead.index(at)
            start = self._sought if at < 0 else at + 1
            ahead[k] = self._seek(text, k, start if start > position else position)

    def _seek(self, text: str, k: int, start: int) -> int:
        at = text.find(_TRIGGERS[k], start)
        if at < 0 or (self._headed and k == _HEADER):
            return _NONE
        sign = self._signs.headed_brace if self._headed and k == _BRACE else self._signs.by_index[k]
        found = sign.search(text, at)
        return _NONE if found is None else found.start()


def _escaped(characters: Iterable[str]) -> str:
    return "".join(map(re.escape, sorted(characters)))


def _beginnings(openers: Iterable[str], trigger: str) -> str:
    """An expression for how openers go on after `trigger`."""
    return _any_of({opener[1 : 1 + _START] for opener in openers if opener[0] == trigger})


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
