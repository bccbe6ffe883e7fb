"""Elements of code that are open at a position: HTML for code and quotations, comments, LaTeX environments."""

from __future__ import annotations

import re

from llmcore.normalizer.trust.layout import LINE
from llmcore.normalizer.trust.quotations import Quotation
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["CodeElements"]

_CODE = lazy_regex(
    r"(?P<run>`{3,}|~{3,}).*?(?:(?P=run)|\Z)|`[^`\n]+`|(?P<comment><!--)|(?P<over>-->)"
    r"|\\(?:begin|(?P<ends>end))\{(?P<verbatim>verbatim|lstlisting|minted|alltt)\*?\}"
    r"|<(?P<closes>/?)(?P<name>code|pre|kbd|samp|tt|xmp|listing|plaintext|noscript|textarea|script|blockquote|q|template|"
    r"(?:[a-z]+[_-])?(?:examples?|samples?)(?:[_-][a-z]+)?|transcripts?|quot(?:e|ed|ation)|illustration|documentation)\b[^<>]{0,256}>",
    re.IGNORECASE | re.DOTALL,
)
_CODE_SIGNS = [(sign[0], sign) for sign in ("<", "`", "~~~", "\\begin{")] + [(">", "-->")]
_COMMENT = "!--"
_CLOSERS = {_COMMENT: "-->"} | {name: rf"\end{{{name}" for name in ("verbatim", "lstlisting", "minted", "alltt")}
"""The closers of what is no element: a comment, and the LaTeX environments for code."""
_ONLY_OPENERS = lazy_regex(
    r"\s*(?:(?:<[A-Za-z][\w-]*+[^<>]{0,256}>|\\begin\{[a-z]{1,16}\*?\}(?:[\[{][^\]}\n]{0,99}[\]}])*)\s*)+\Z"
)


class CodeElements:
    """The open elements of one text, from left to right. `names` are the tools' names: an element so named is no code."""

    __slots__ = ("_depths", "_names", "_open", "_scanned")

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._scanned = 0
        self._open: list[str] = []  # names of elements, the outermost first
        self._depths: dict[str, int] = {}  # how often each name is open

    def around(self, text: str, at: int, start: int, line: int) -> Quotation | bool:
        """The closers of the elements that are open at `at`.

        Returns False if no element is open, and True if the opener stands alone on the line before.
        """
        if start > self._scanned:
            self._open.clear()
            self._depths.clear()
            self._scanned = start
        before = text[self._scanned : at]
        for mark, sign in _CODE_SIGNS:  # these checks are cheaper than the expression, the first one most
            if mark in before and sign in before:
                self._scan(text, at)
                break
        if at > self._scanned:
            self._scanned = at
        if not self._open:
            return False
        first = max(start, line - LINE)
        above = text[max(first, text.rfind("\n", first, max(first, line - 1)) + 1) : line]
        if _ONLY_OPENERS.match(above) is not None and not text[line:at].strip():
            return True
        closers = tuple(_CLOSERS.get(name) or f"</{name}>" for name, depth in self._depths.items() if depth)
        return Quotation(closers, within="text")

    def _scan(self, text: str, at: int) -> None:
        """Update the open elements up to `at`."""
        for found in _CODE.finditer(text, self._scanned, at):
            name = _COMMENT if found["comment"] or found["over"] else (found["name"] or found["verbatim"] or "").lower()
            if not name or name in self._names:
                continue
            if not (found["closes"] or found["over"] or found["ends"]):
                self._open.append(name)
                self._depths[name] = self._depths.get(name, 0) + 1
            elif self._depths.get(name, 0) > 0:
                closed = ""
                while closed != name:
                    closed = self._open.pop()
                    self._depths[closed] -= 1
