"""The layout around a call: words on its line, the end of a sentence, indentation."""

from __future__ import annotations

import re

from llmcore.normalizer.scanning.source import Source, Steps
from llmcore.normalizer.scanning.words import FACES, OWN_SIGNS
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["LINE", "MARKS", "ends_sentence", "has_words", "is_deep", "is_remark", "prose_follows", "words_follow"]

_WORD = re.compile(r"\w")
_REMARK = lazy_regex(r"[ \t]*[^\W_]+(?:['’-][^\W_]+)*(?:,?[ \t]+[^\W_]+(?:['’-][^\W_]+)*)?[.!…。！]{1,3}[\"'”’»)*_`]*[ \t\r]*")
"""A sentence of one word or two, up to its line's end."""
_ENDED = lazy_regex(
    r"""(?:(?:[^\W\d_]{2}|[)\]])[.!?…。！？]{1,3}["'”’»)*_]{0,4}|"""
    rf"""[^\W\d_]["'”’»)*_.!?…:。！？：]{{0,4}}[ \t]*[{FACES}]{{1,8}})[ \t]*\Z"""
)
_SENTENCE_END = 64  # characters that hold the last word, its closing marks and an emoji
_LIST_SIGN = lazy_regex(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+")
_DEEP = 4
MARKS = frozenset(f"<[]{OWN_SIGNS}")
"""The characters that begin markers."""
_REST_OF_LINE = 256
LINE = 512  # characters of the lines above that are searched


def has_words(text: str) -> bool:
    return _WORD.search(text) is not None


def ends_sentence(before: str) -> bool:
    """Whether this beginning of a line ends with a sentence. A number with a point is a list sign."""
    text = before.rstrip(" \t")
    return _ENDED.search(text, max(0, len(text) - _SENTENCE_END)) is not None


def words_follow(text: str, at: int) -> bool | None:
    """Whether words stand behind a call on its line. None if a marker or the text's end comes first."""
    for char in text[at : at + _REST_OF_LINE]:
        if char == "\n":
            return False
        if char.isalnum():
            return True
        if char in MARKS:
            return None
    return None if len(text) - at > _REST_OF_LINE else False


def is_remark(text: str) -> bool:
    """Whether this rest of a line is a sentence of a word or two, and nothing more."""
    return _REMARK.fullmatch(text) is not None


def prose_follows(src: Source, start: int) -> Steps[bool]:
    """Whether words at the margin follow the indented text that ends at `start`, on a later line."""
    line = src.text.find("\n", start)
    while line < 0 and not src.final:
        yield None
        line = src.text.find("\n", start)
    if line < 0:
        return False
    while True:
        rest = src.text[line : line + LINE]
        words = rest.lstrip()
        if words or src.final or len(rest) == LINE:
            indent = rest[: len(rest) - len(words)]
            return words.lstrip("*_#-+ ")[:1].isalnum() and _columns(indent[indent.rfind("\n") + 1 :]) < _DEEP
        yield None


def is_deep(text: str, at: int, start: int, line: int) -> bool:
    """Whether the line is indented like code: a blank line and then deeper than the prose above."""
    if line <= start or line == at or text[line:at].strip():
        return False
    first = max(start, line - LINE)
    above, columns = text[first:line].rstrip(" \t\r\n"), _columns(text[line:at])
    blank = text.count("\n", first + len(above), line) > 1
    last = above[above.rfind("\n") + 1 :]
    while above and columns and _LIST_SIGN.match(last) is None and _columns(_indent(last)) >= columns:  # a line of the same block
        rest = above[: -len(last)].rstrip(" \t\r\n")
        blank, above = "\n\n" in above[len(rest) : len(above) - len(last)].replace("\r", ""), rest
        last = above[above.rfind("\n") + 1 :]
    if not above or not blank:
        return False
    sign = _LIST_SIGN.match(last)
    margin = _columns(last[: sign.end()] if sign is not None else _indent(last))
    return columns >= margin + _DEEP


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _columns(indent: str) -> int:
    return len(indent.expandtabs(_DEEP))
