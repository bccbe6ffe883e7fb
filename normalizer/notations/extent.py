"""Where a bracketed value ends, in text that still grows.

Strings are skipped. Brackets are counted, not matched, so a wrong closer does not lose the end. A scanner remembers its
position: over all calls, the work is linear, and the result does not depend on how the text was cut. It does not recurse;
nesting is one integer.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

__all__ = ["Extent", "delimiters_of"]

_COMMENTS: Final = (("//", "\n"), ("/*", "*/"), ("#", "\n"))
_COMMENT_STARTS: Final = tuple(opener for opener, _ in _COMMENTS)


_FEW: Final = 16
"""So few characters, as in most chunks of a stream, are checked one by one, which is faster than a search."""


@lru_cache(maxsize=256)
def _tokens(
    quotes: str, delimiters: tuple[str, ...], comments: bool, triple: bool
) -> tuple[re.Pattern[str], frozenset[str], frozenset[str]]:
    """(pattern, single characters, first characters of markers) of what matters outside strings.

    A complete string without escapes is one token. Any other string is found by its quote.
    """
    firsts = {marker[0] for marker in delimiters + (_COMMENT_STARTS if comments else ()) if marker}
    sole = "(?!{0}(?:{0}|\\Z))" if triple else ""  # one quote, not the first of three
    strings = [f"{quote}{sole.format(quote)}[^{quote}\\\\]*+{quote}" for quote in quotes if quote not in firsts]
    singles = firsts.union("{}[]()", quotes)
    single = "[" + re.escape("".join(sorted(singles))) + "]"
    return re.compile("|".join([*strings, single])), frozenset(singles), frozenset(firsts)


def delimiters_of(closers: tuple[str, ...]) -> tuple[str, ...]:
    """The delimiters of a value that one of these closers may end. Every `<` is one, since other markers end it, too."""
    return ("<", *(closer for closer in closers if closer[0] != "<"))


class Extent:
    """A resumable search for the end of the value that opens with `{`, `[` or `(` at `text[start]`.

    - `quotes` delimit strings, in which a backslash escapes the next character. With `triple`, so do Python's triple quotes.
    - `delimiters` are literal markers that end the search outside a string, such as `</tool_call>`.
    - `comments`: skip `//`, `#` and `/* */`.

    After a call of `scan`, these attributes are set:
    - `position`: where it continues; the text before it is decided.
    - `depth`: the number of open brackets.
    - `string_start`: the index of the open string's quote, -1 outside of strings.
    - `stopped`: the index of the delimiter that ended the search, -1 if none did.
    """

    __slots__ = (
        "_closer",
        "_comment",
        "_comments",
        "_delimiters",
        "_end",
        "_firsts",
        "_quotes",
        "_singles",
        "_tokens",
        "_triple",
        "depth",
        "position",
        "start",
        "stopped",
        "string_start",
    )

    def __init__(
        self,
        start: int,
        *,
        quotes: str = '"',
        delimiters: tuple[str, ...] = (),
        comments: bool = False,
        triple: bool = False,
    ) -> None:
        self.start = self.position = start
        self.depth = 0
        self.string_start = self.stopped = -1
        self._tokens, self._singles, self._firsts = _tokens(quotes, delimiters, comments, triple)
        self._quotes, self._delimiters, self._comments, self._triple = quotes, delimiters, comments, triple
        self._closer = ""  # what ends the open string or comment
        self._comment = False
        self._end = -1

    def scan(self, text: str, final: bool = False) -> int:
        """The index just past the value. -1 if more text is needed, or if a delimiter ended the search (`stopped`).

        `text` must begin with the text of earlier calls. `final`: no more text comes.
        """
        if self._end >= 0 or self.stopped >= 0:
            return self._end
        while not self._closer or self._leave(text):
            if self._scan_outside(text, final):
                return self._end
        return -1

    def _scan_outside(self, text: str, final: bool) -> bool:
        """Count brackets. True at the end of the value or text, or at a delimiter; False inside a string or comment."""
        if len(text) - self.position <= _FEW:
            return self._scan_few(text, final)
        firsts, quotes, depth = self._firsts, self._quotes, self.depth
        for found in self._tokens.finditer(text, self.position):
            token = found[0]
            if len(token) > 1:
                continue
            at = found.start()
            if token in firsts or token in quotes:
                self.depth = depth
                if (stays := self._meets(text, at, token, final)) is not None:
                    return stays
            if token in "{[(":
                depth += 1
            elif token in "}])":
                depth -= 1
                if depth <= 0:
                    self.position = self._end = at + 1
                    break
        else:
            self.position = len(text)
        self.depth = depth
        return True

    def _scan_few(self, text: str, final: bool) -> bool:
        """The same, character by character."""
        for at in range(self.position, len(text)):
            token = text[at]
            if token not in self._singles:
                continue
            special = token in self._firsts or token in self._quotes
            if special and (stays := self._meets(text, at, token, final)) is not None:
                return stays
            if token in "{[(":
                self.depth += 1
            elif token in "}])":
                self.depth -= 1
                if self.depth <= 0:
                    self.position = self._end = at + 1
                    return True
        self.position = len(text)
        return True

    def _meets(self, text: str, at: int, token: str, final: bool) -> bool | None:
        """Read a possible delimiter, comment or string. True: stop here. False: one begins. None: none begins."""
        self.position = at
        if token in self._firsts:
            if not self._marker(text, at, final):
                return True
            if self._comment:
                return False
        return not self._open_string(text, at, token, final) if token in self._quotes else None

    def _marker(self, text: str, at: int, final: bool) -> bool:
        """Read a delimiter or comment that may start at `at`. False: stop here, decided (`stopped`) or undecided."""
        if any(text.startswith(delimiter, at) for delimiter in self._delimiters):
            self.stopped = at
            return False
        left = len(text) - at
        markers = self._delimiters + (_COMMENT_STARTS if self._comments else ())
        if not final and any(len(marker) > left and marker.startswith(text[at:]) for marker in markers):
            return False
        if self._comments:
            for opener, closer in _COMMENTS:
                if text.startswith(opener, at):
                    self._comment, self._closer, self.position = True, closer, at + len(opener)
                    break
        return True

    def _open_string(self, text: str, at: int, quote: str, final: bool) -> bool:
        """Enter the string that opens at `at`. False: more text must tell one quote from three."""
        width = 1
        if self._triple:
            if not final and len(text) - at < 3 and text[at:] == quote * (len(text) - at):
                return False
            if text.startswith(quote * 3, at):
                width = 3
        self.string_start, self._closer, self.position = at, quote * width, at + width
        return True

    def _leave(self, text: str) -> bool:
        """Go to the end of the open string or comment. False: it has not arrived."""
        closer = self._closer
        while True:
            at = text.find(closer, self.position)
            if at < 0:
                # The text may end within a longer closer.
                self.position = max(self.position, len(text) - len(closer) + 1)
                return False
            if self._comment or text[at - 1] != "\\" or not self._escaped(text, at):
                break
            self.position = at + 1
        self.position = at + len(closer)
        self._closer, self._comment, self.string_start = "", False, -1
        return True

    def _escaped(self, text: str, at: int) -> bool:
        """Whether the quote at `at` is escaped: an odd number of backslashes stands before it in this string."""
        first = at
        opening = self.string_start + len(self._closer)
        while first > opening and text[first - 1] == "\\":
            first -= 1
        return (at - first) % 2 == 1
