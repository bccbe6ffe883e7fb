"""Reads a list that is written as plain text: bulleted, numbered, or separated by commas.

Only the structure counts, not the words of any language. `Rome, Oslo and Paris` is not clearly a list, so it has no items.
Linear.
"""

from __future__ import annotations

import re

__all__ = ["items_of_text", "may_be_one_item"]

_BULLETED = re.compile(r"(?P<bullet>[-*+•\u2013])[ \t]+(?P<item>\S.*)")
_NUMBERED = re.compile(r"\(?(?P<number>\d{1,4})[.)][ \t]+(?P<item>\S.*)")
_WORD = r"\w[\w'\u2019&/+-]*"
_PLAIN_ITEM = re.compile(rf"{_WORD}(?: {_WORD}){{0,3}}|[-+]?\d+\.\d+|-\d+")
_SEPARATOR = re.compile(r"\s*(?:,(?!\d)|[\uff0c\u3001])\s*|\s*,\s+")
"""A comma, also an ideographic one. A comma between two digits belongs to a number."""
_SEPARATES = re.compile(r"[,;\n\uff0c\u3001]")
_FEWEST_BEFORE_FULL_STOP = 3
"""The fewest items of a comma list that ends in a full stop. With fewer, it may be a sentence (`Yes, Rome.`)."""


def may_be_one_item(text: str) -> bool:
    """Whether the text may be a single item: it holds no separator."""
    return _SEPARATES.search(re.sub(r"\d,\d", "", text)) is None


def items_of_text(text: str) -> list[str] | None:
    """Return the items in order, without their markers. None if the text is not clearly a list.

    One line that ends in a colon may precede a bulleted or numbered list. No other text may stand beside the items.
    """
    lines = [line for line in text.strip().splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].rstrip().endswith(":"):
        lines = lines[1:]
    if len({len(line) - len(line.lstrip()) for line in lines}) > 1:
        return None  # an inner list
    stripped = [line.strip() for line in lines]
    return _bulleted(stripped) or _numbered(stripped) or (_between_commas(stripped[0]) if len(lines) == 1 else None)


def _bulleted(lines: list[str]) -> list[str] | None:
    found = [match for line in lines if (match := _BULLETED.fullmatch(line))]
    alike = len(found) == len(lines) and len({match["bullet"] for match in found}) == 1
    return [match["item"] for match in found] if alike else None


def _numbered(lines: list[str]) -> list[str] | None:
    found = [match for line in lines if (match := _NUMBERED.fullmatch(line))]
    counts = [int(match["number"]) for match in found] == list(range(1, len(lines) + 1))
    return [match["item"] for match in found] if counts else None


def _between_commas(line: str) -> list[str] | None:
    """Items of a comma list. If items have several words, each word must begin with a capital or a digit."""
    body = line.removesuffix(".")
    items = _SEPARATOR.split(body)
    least = 2 if body == line else _FEWEST_BEFORE_FULL_STOP
    if len(items) < least or not all(map(_PLAIN_ITEM.fullmatch, items)):
        return None
    words = [word for item in items for word in item.split()]
    return items if len(words) == len(items) or all(word[0].isupper() or word[0].isdigit() for word in words) else None
