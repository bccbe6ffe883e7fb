"""The text of a reply as it grows, and the few ways a reader looks at it.

Readers are generators. `yield None` means "I need more text"; the engine resumes the reader when text has come or when the
text is final. Rules that make the result independent of how the text was cut:

- a reader decides only on characters that are there, or on `final`; "not there yet" is never "not there";
- a wait for a head of bounded length ends at that length, and so does what is matched there (`match_within`), in an expression
  that does not go back over white space: it is matched anew at every feed;
- it remembers how far it has searched, so that the work is linear in the length of the text for any chunking;
- it keeps no name for the text over a `yield` in a loop, nor a match in it: CPython would copy the text at every feed.
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
"""`skim(more)`: does text that has just come change nothing but what is told? Then it has told it, and the reader sleeps on.
Resumed later, the reader finds all of the text as if it had come at once."""

_T = TypeVar("_T")
Steps = Generator[Skim | None, None, _T]
"""A reader's generator: it yields for more text, with a skim if it may sleep on, and returns its result."""

Follows = Callable[[str, int, bool], bool | None]
"""`follows(text, at, final)`: does what stands at `at` fit? None = more text is needed to tell. In a text that is over, the
beginning of what would fit does: it was cut off there."""

_SPACE: Final = re.compile(rf"[{BLANKS}]*")
_NAME: Final = re.compile(rf"(?![{OWN_SIGNS}])[^{BLANKS}<>{{}}\[\]()\"'`,;|｜=]{{1,256}}")


class Source:
    """`text` only grows; `final` is set once nothing more will come."""

    __slots__ = ("absent", "final", "text")

    def __init__(self) -> None:
        self.text = ""
        self.final = False
        self.absent: dict[Sought, int] = {}
        """Patterns that the final text does not hold at or after a position: they are not sought again."""


class SpaceRun:
    """How far white space reaches from a place on, remembered while the text grows."""

    __slots__ = ("_end", "_start")

    def __init__(self) -> None:
        self._start = self._end = -1

    def reaches(self, text: str, start: int, at: int) -> bool:
        """Does it reach from `start` to `at`?"""
        if start != self._start:
            self._start = self._end = start
        self._end = past(_SPACE, text, self._end)
        return at <= self._end


def past(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where what `pattern` matches at `at` ends; `at` when it does not. A match that a reader kept would keep the text."""
    match = pattern.match(text, at)
    return at if match is None else match.end()


def skip_space(src: Source, at: int) -> Steps[int]:
    """The first position at or after `at` that is not white space (the text's length when it is final and there is none)."""
    while True:
        at = past(_SPACE, src.text, at)
        if at < len(src.text) or src.final:
            return at
        yield None


def wait_for(src: Source, at: int, length: int) -> Steps[None]:
    """Until so many characters stand behind `at`, or the text is over."""
    while len(src.text) - at < length and not src.final:
        yield None


def wait_for_one(src: Source, at: int, length: int, *signs: str) -> Steps[None]:
    """Until one of the signs stands behind `at`, or so many characters without one, or the text is over."""
    while not src.final and len(src.text) - at < length and all(src.text.find(sign, at) < 0 for sign in signs):
        yield None


def wait_while(src: Source, begun: re.Pattern[str], at: int) -> Steps[None]:
    """While all that stands behind `at` is the beginning of something, and the text is not over."""
    while not src.final and begun.match(src.text, at) is not None:
        yield None


def match_within(src: Source, pattern: re.Pattern[str], at: int, length: int) -> Steps[re.Match[str] | None]:
    """What `pattern` matches at `at` within `length` characters. None: so many are there, or the text is final.

    As in `search`, a match must not turn into another when text is added.
    """
    while True:
        match = pattern.match(src.text, at, at + length)
        if match is not None or src.final or len(src.text) - at >= length:
            return match
        yield None


def search(src: Source, pattern: Sought, start: int, overlap: int) -> Steps[re.Match[str] | None]:
    """The first match at or after `start`, or None when the text is final and there is none.

    `overlap` is how many characters at most decide a match, those a lookahead sees included: what may still become one at the end
    of the text is looked at again. No match may turn into another when text is added. tests/normalizer/test_waiting.py reads both
    from the expressions.
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
    """Wait until `follows` can tell."""
    while True:
        verdict = follows(src.text, at, src.final)
        if verdict is not None:
            return verdict
        yield None


def always(text: str, at: int, final: bool) -> bool | None:
    """Fits whatever stands there."""
    return True


_LONGEST: Final = 64  # no literal is longer


def _beginnings(options: tuple[str, ...]) -> frozenset[str]:
    return frozenset(option[:end] for option in options for end in range(len(option)))


def _one_of(text: str, at: int, final: bool, options: tuple[str, ...], beginnings: frozenset[str]) -> bool | None:
    if text.startswith(options, at):
        return True
    if len(text) - at < _LONGEST and (rest := text[at:]) in beginnings:
        return bool(rest) if final else None  # a text may end inside one of them
    return False


def starts(*options: str) -> Follows:
    """White space, then one of the literals."""
    beginnings = _beginnings(options)

    def follows(text: str, at: int, final: bool) -> bool | None:
        match = _SPACE.match(text, at)
        return _one_of(text, match.end() if match else at, final, options, beginnings)

    return follows


def name_then(*options: str) -> Follows:
    """White space, a name of at most 256 characters, white space, one of the literals ("" = the end of the text)."""
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
