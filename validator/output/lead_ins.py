"""What the words before a value make of it: an example, the answer, or neither.

The phrases are those that judge calls (`normalizer.trust.lexicon`). Only the last sentence before the value is asked, never one
before another value. What stands behind a value decides nothing.
"""

from __future__ import annotations

import re
from enum import IntEnum

from llmcore.normalizer.scanning.words import COLONS
from llmcore.normalizer.trust.layout import has_words
from llmcore.normalizer.trust.lead_ins import kind_of, names_answer, sentence_before

__all__ = ["LeadIn", "lead_in", "shares_lead_in"]


class LeadIn(IntEnum):
    """What a lead-in makes of the value behind it; a higher one names the value more strongly."""

    EXAMPLE = -1
    """It is no value."""
    NOTHING = 0
    ANSWER = 1


_ENDED = re.compile(r"[.!?](?=\s)|[\u3002\uff01\uff1f]")
"""The end of a sentence."""
_AND = re.compile(r"[ \t]*(?:[,;\uff0c\u3001][ \t]*)?\n?[ \t]*(?:and|or|und|oder|et|ou|y|o|e|和|或|と|や)?[ \t]*")


def shares_lead_in(text: str, since: int, start: int) -> bool:
    """Does nothing but a comma, a line break or `and` join a value with the one before it, which ends at `since`?"""
    return since > 0 and _AND.fullmatch(text, since, start) is not None


def lead_in(text: str, start: int, since: int, before: LeadIn) -> LeadIn:
    """What the words before `text[start]` make of the value there. `since`: where the value before it ends, which has the lead-in
    `before`: values joined by a comma, a line break or `and` share it."""
    if shares_lead_in(text, since, start):
        return before
    line, over, rest = text[since:start].partition("\n")
    if since and over and not has_words(rest) and not line.rstrip().endswith(COLONS) and _ENDED.search(line) is None:
        return LeadIn.NOTHING  # a remark on the line of the value before
    said = sentence_before(text, since, start)
    if not said:
        return LeadIn.NOTHING
    if kind_of(said) in ("strict", "example"):
        return LeadIn.EXAMPLE
    return LeadIn.ANSWER if names_answer(said) else LeadIn.NOTHING
