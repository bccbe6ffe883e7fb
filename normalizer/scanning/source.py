"""The text of a reply as it grows, and the functions by which readers wait for more of it.

Readers are generators. `yield None` means "I need more text". The engine resumes the reader when text has arrived or the text
is final. These rules make the result independent of how the text was cut:

- A reader decides only on characters that are there, or on `final`. "Not there yet" never means "not there".
- A wait for a head of bounded length ends at that length, and so does a match there (`match_within`). The expression must not
  backtrack over white space, because it is matched anew at every feed.
- A reader remembers how far it has searched, so that the work is linear in the text, however it is cut.
- A reader keeps no reference to the text and no match in it over a `yield` in a loop. If it did, CPython would copy the text at
  every feed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import Final, TypeVar

from llmcore.normalizer.scanning.sought import Sought
from llmcore.normalizer.scanning.words import BLANKS, OWN_SIGNS

__all__ = [
    "Follows",
    "Skim",
    "Source",
    "SpaceRun",
    "Steps",
    "always",
    "match_within",
    "name_then",
    "past",
    "search",
    "skip_space",
    "starts",
    "wait_for",
    "wait_for_one",
    "wait_until_known",
    "wait_while",
]


Skim = Callable[[str], bool]
"""`skim(more)`: whether the reader can go on waiting after new text. If so, the skim has emitted what was needed.

A reader that is resumed later finds all of the text as if it had arrived at once.
"""

_T = TypeVar("_T")
Steps = Generator[Skim | None, None, _T]
"""A reader's generator. It yields for more text, a skim or None, and returns its result."""

Follows = Callable[[str, int, bool], bool | None]
"""`follows(text, at, final)`: whether the text at `at` fits. None if more text is needed.

If the text is final, the beginning of fitting text fits, too: it was cut off there.
"""

_SPACE: Final = re.compile(rf"[{BLANKS}]*")
_NAME: Final = re.compile(rf"(?![{OWN_SIGNS}])[^{BLANKS}<>{{}}\[\]()\"'`,;|｜=]{{1,256}}")


class Source:
    """The text of a reply. `text` only grows. `final` is set when no more text comes."""

    __slots__ = ("absent", "final", "text", "uncounted")

    def __init__(self) -> None:
        self.text = ""
        self.final = False
        self.absent: dict[Sought, int] = {}
        """By pattern, the position from which the final text does not hold it. It is not sought again there."""
        self.uncounted: dict[Sought, int] = {}
        """By pattern, the position from which no match in the final text ends a message of a frame."""


class SpaceRun:
    """How far white space reaches from a position. The end is remembered while the text grows."""

    __slots__ = ("_end", "_start")

    def __init__(self) -> None:
        self._start = self._end = -1

    def reaches(self, text: str, start: int, at: int) -> bool:
        """Whether white space reaches from `start` to `at`."""
        if start != self._start:
            self._start = self._end = start
        self._end = past(_SPACE, text, self._end)
        return at <= self._end


def past(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where the match of `pattern` at `at` ends; `at` if it does not match. It returns no match, which would keep the text
    alive."""
    match = pattern.match(text, at)
    return at if match is None else match.end()


def skip_space(src: Source, at: int) -> Steps[int]:
    """The first position at or after `at` that is not white space. The text's length if a final text has none."""
    while True:
        at = past(_SPACE, src.text, at)
        if at < len(src.text) or src.final:
            return at
        yield None


def wait_for(src: Source, at: int, length: int) -> Steps[None]:
    """Wait until `length` characters stand behind `at`, or the text is final."""
    while len(src.text) - at < length and not src.final:
        yield None


def wait_for_one(src: Source, at: int, length: int, *signs: str) -> Steps[None]:
    """Wait until one of the signs stands behind `at`, or `length` characters do, or the text is final."""
    while not src.final and len(src.text) - at < length and all(src.text.find(sign, at) < 0 for sign in signs):
        yield None


def wait_while(src: Source, begun: re.Pattern[str], at: int) -> Steps[None]:
    """Wait while all text behind `at` matches `begun`, the beginning of something, and the text is not final."""
    while not src.final and begun.match(src.text, at) is not None:
        yield None


def match_within(src: Source, pattern: re.Pattern[str], at: int, length: int) -> Steps[re.Match[str] | None]:
    """The match of `pattern` at `at` within `length` characters. None if that much text, or a final text, does not match.

    As in `search`, a match must not turn into another when text is added.
    """
    while True:
        match = pattern.match(src.text, at, at + length)
        if match is not None or src.final or len(src.text) - at >= length:
            return match
        yield None


def search(src: Source, pattern: Sought, start: int, overlap: int) -> Steps[re.Match[str] | None]:
    """The first match at or after `start`. None if a final text has none.

    `overlap` is the largest number of characters that decide a match, including those of a lookahead. So many characters at
    the end of the text are searched again. No match may turn into another when text is added. tests/normalizer/test_waiting.py
    derives both from the expressions.
    """
    if src.absent.get(pattern, start + 1) <= start:
        return None
    while True:
        match = pattern.search(src.text, start)
        if match is not None:
            return match
        if src.final:
            src.absent[pattern] = start
            return None
        start = max(start, len(src.text) - overlap)
        yield None


def wait_until_known(src: Source, follows: Follows, at: int) -> Steps[bool]:
    """Wait until `follows` returns a verdict, and return it."""
    while True:
        verdict = follows(src.text, at, src.final)
        if verdict is not None:
            return verdict
        yield None


def always(text: str, at: int, final: bool) -> bool | None:
    """A `Follows` that any text fits."""
    return True


_LONGEST: Final = 64  # the most characters of a literal


def _beginnings(options: tuple[str, ...]) -> frozenset[str]:
    return frozenset(option[:end] for option in options for end in range(len(option)))


def _one_of(text: str, at: int, final: bool, options: tuple[str, ...], beginnings: frozenset[str]) -> bool | None:
    if text.startswith(options, at):
        return True
    if len(text) - at < _LONGEST and (rest := text[at:]) in beginnings:
        return bool(rest) if final else None  # a text may end inside one of them
    return False


def starts(*options: str) -> Follows:
    """A `Follows`: white space, then one of the literals."""
    beginnings = _beginnings(options)

    def follows(text: str, at: int, final: bool) -> bool | None:
        match = _SPACE.match(text, at)
        return _one_of(text, match.end() if match else at, final, options, beginnings)

    return follows


def name_then(*options: str) -> Follows:
    """A `Follows`: white space, a name of at most 256 characters, white space, one of the literals ("" is the text's end)."""
    literals = tuple(option for option in options if option)
    beginnings, end_counts = _beginnings(literals), "" in options

    def follows(text: str, at: int, final: bool) -> bool | None:
        space = _SPACE.match(text, at)
        begin = space.end() if space else at
        name = _NAME.match(text, begin)
        if name is None:
            return None if begin == len(text) and not final else False
        space = _SPACE.match(text, name.end())
        after = space.end() if space else name.end()
        if after == len(text):
            return (end_counts and name.end() - begin < 256) if final else None
        return _one_of(text, after, final, literals, beginnings)

    return follows
