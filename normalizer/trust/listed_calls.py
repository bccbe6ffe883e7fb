"""Calls that follow each other as a list does: what a lead-in makes of the first holds for those behind it.

Between two of them stand layout, closers, signs of a list, names of items, comments and words that only join (`and`, `oder`,
`或者`), and nothing that leads to the second. Linear: of what stands between, no more than `_LONGEST` characters are looked at.
"""

from __future__ import annotations

import re

from llmcore.normalizer.scanning.words import COLONS
from llmcore.normalizer.trust.lead_ins import announces, kind_of
from llmcore.types.late import late

__all__ = ["goes_on_as_list"]

_LONGEST = 256
_TAG = late(r"</?(?:li|ul|ol|dl|d[dt]|p|div|br|hr)\b[^<>]{0,64}>|</[^<>\s]{1,48}>|<[|｜][^<>\s]{1,48}[|｜]>", re.IGNORECASE)
"""Of a list in HTML, and what closes a call or a section."""
_JOINING = frozenset((
    "and", "or", "nor", "und", "oder", "et", "ou", "y", "o", "e", "i", "u", "или", "и", "либо", "а", "和", "或", "或者", "以及",
    "as", "well", "plus", "also", "sowie", "auch", "ainsi", "que", "aussi", "así", "como", "también", "bem", "assim", "também",
    "così", "come", "anche", "также", "ни", "还有",
    "と", "または", "及び", "および", "あるいは", "그리고", "또는", "및", "혹은", "또",
))  # fmt: skip
_MARK = late(r"\d{1,3}|[^\W\d_]|[ivxIVX]{1,5}")
"""What numbers an item: `2.`, `b)`, `iv.`"""
_MARKED = late(r"[ \t*_#>\[(（]{0,8}\w{1,5}(?:\.\d{1,3}){0,2}[.):\]）、．]")
_WORD = late(r"\w+")
_SHORT = 4  # words of a label
_ORDINAL = late(
    r"(?:first|second|third|last|erstens|zweitens|premi\w+|deuxi\w+|prim\w+|segund\w+|second[oa]|перв\w+|втор\w+)", re.IGNORECASE
)
_COMMENT = late(r"[ \t]*(?:#(?!#)|//|--)[ \t]")


def goes_on_as_list(between: str) -> bool:
    """Is what stands between two calls only layout, list signs and words that join?"""
    if len(between) > _LONGEST:
        return not between.strip()
    return all(_joins(line) for line in _TAG.sub("\n", between).splitlines())


def _is_item_label(line: str) -> bool:
    """Is it the name of an item (`Step 2:`, `deletes B:`): no lead-in of its own, and no word that something is done?"""
    if not line.rstrip(" \t*_").endswith(COLONS) or not 0 < len(words := _WORD.findall(line)) <= _SHORT:
        return False
    if len(words) == 1 and _ORDINAL.fullmatch(words[0]) is not None:
        return True
    return not announces(line) and kind_of(line.strip(" \t*_>#-")) is None


def _joins(line: str) -> bool:
    words = _WORD.findall(line)
    if _COMMENT.match(line) is not None or _is_item_label(line):
        return True
    if words and _MARKED.match(line) is not None and _MARK.fullmatch(words[0]) is not None:
        words = [word for word in words[1:] if not word.isdecimal()]
    return all(word.lower() in _JOINING for word in words)
