"""Whether calls follow each other as items of a list. If so, the lead-in of the first call counts for the others.

Between two items there may be layout, closers, list signs, comments and words that only join (`and`, `oder`, `或者`). At most
`_LONGEST` characters are searched.
"""

from __future__ import annotations

import re

from llmcore.normalizer.trust.lexicon import joining_words
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["goes_on_as_list"]

_LONGEST = 256
_TAG = lazy_regex(r"</?(?:li|ul|ol|dl|d[dt]|p|div|br|hr)\b[^<>]{0,64}>|</[^<>\s]{1,48}>|<[|｜][^<>\s]{1,48}[|｜]>", re.IGNORECASE)
"""Tags of an HTML list, and closers of a call or of a section of calls."""
_MARK = lazy_regex(r"\d{1,3}|[^\W\d_]|[ivxIVX]{1,5}")
"""The number of an item: `2.`, `b)`, `iv.`"""
_MARKED = lazy_regex(r"[ \t*_#>\[(（]{0,8}\w{1,5}(?:\.\d{1,3}){0,2}[.):\]）、．]")
_WORD = lazy_regex(r"\w+")
_COMMENT = lazy_regex(r"[ \t]*(?:#(?!#)|//|--)[ \t]")


def goes_on_as_list(between: str) -> bool:
    """Whether the text between two calls is only layout, list signs, comments and joining words."""
    if len(between) > _LONGEST:
        return not between.strip()
    return all(_joins(line) for line in _TAG.sub("\n", between).splitlines())


def _joins(line: str) -> bool:
    words = _WORD.findall(line)
    if _COMMENT.match(line) is not None:
        return True
    if words and _MARKED.match(line) is not None and _MARK.fullmatch(words[0]) is not None:
        words = [word for word in words[1:] if not word.isdecimal()]
    return all(word.lower() in joining_words() for word in words)
