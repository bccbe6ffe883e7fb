"""Signs that may stand before a bare call on its line: the sign of a list, a dash, an arrow. Behind an announcement, or where no
words stand before them, the call may be meant."""

from __future__ import annotations

from llmcore.normalizer.scanning.words import FACES
from llmcore.normalizer.trust.lead_ins import announces, sentence_before
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["is_sign", "may_be_listed"]

_ARROWS = r"[-–—→⇒➜➔▶▸►]|->|=>"
_SIGN = lazy_regex(rf"[ \t]*(?:{_ARROWS}|[*+•◦‣▪●{FACES}]|\d{{1,3}}[.)]|[a-z]\))[ \t]+")


def is_sign(before: str) -> bool:
    """Is this beginning of a line a list sign, a dash, an arrow or a face, and nothing more?"""
    return _SIGN.fullmatch(before) is not None


def may_be_listed(text: str, start: int, line: int) -> bool:
    """Does an announcement stand before the line that begins at `line`, or no words at all since `start`?"""
    sentence = sentence_before(text, start, line)
    return not sentence or announces(sentence)
