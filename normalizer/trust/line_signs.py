"""Signs that may stand before a bare call on its line: a list sign, a dash, an arrow.

Behind an announcement, or if no words stand before the signs, the call may be meant.
"""

from __future__ import annotations

from llmcore.normalizer.scanning.words import FACES
from llmcore.normalizer.trust.lead_ins import announces, sentence_before
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["is_sign", "may_be_listed"]

_ARROWS = r"[-–—→⇒➜➔▶▸►]|->|=>"
_SIGN = lazy_regex(rf"[ \t]*(?:{_ARROWS}|[*+•◦‣▪●{FACES}]|\d{{1,3}}[.)]|[a-z]\))[ \t]+")


def is_sign(before: str) -> bool:
    """Whether this beginning of a line is only a list sign, a dash, an arrow or an emoji."""
    return _SIGN.fullmatch(before) is not None


def may_be_listed(text: str, start: int, line: int) -> bool:
    """Whether an announcement stands before the line at `line`, or no words at all since `start`."""
    sentence = sentence_before(text, start, line)
    return not sentence or announces(sentence)
