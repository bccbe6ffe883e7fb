"""Markdown block quotes: indented, in lists, of several levels, with or without a space behind the sign.

Three signs right before a name are the marker of a dialect (`>>>get_weather`), and no quote.
"""

from __future__ import annotations

from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["in_block_quote", "may_be_in_block_quote", "quote_begins", "without_quote_signs"]

_LISTS = r"[ \t]{0,32}(?:(?:[-*+•]|\d{1,9}[.)])[ \t]{1,16}){0,8}"
_SIGN = lazy_regex(rf"{_LISTS}(?!>>>\w)(?:>[ \t]?){{1,32}}")
_BEGUN = lazy_regex(r"[ \t*+•\d.)-]{0,64}>{0,3}\Z")
_FIRST = frozenset("> \t-*+•0123456789")
_REACH = 2048
"""The number of characters before a position in which its quote may begin."""


def in_block_quote(text: str, line: int) -> bool:
    """Whether the line that begins at `line` belongs to a block quote."""
    return text[line : line + 1] in _FIRST and _SIGN.match(text, line) is not None


def may_be_in_block_quote(text: str, line: int) -> bool:
    """Whether the line may belong to a block quote when more text comes."""
    return len(text) - line < 64 and _BEGUN.match(text, line) is not None


def quote_begins(text: str, floor: int, line: int) -> int:
    """Where the block quote of the line at `line` begins, not before `floor`."""
    floor = max(floor, line - _REACH)
    while line > floor:
        above = text.rfind("\n", floor, line - 1) + 1
        if above < floor or (above == 0 and floor > 0) or not in_block_quote(text, above):
            break
        line = above
    return line


def without_quote_signs(text: str) -> str:
    return "\n".join([_SIGN.sub("", line, count=1) for line in text.split("\n")])
