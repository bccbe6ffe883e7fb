"""Classifies the words before a value: they mark it as an example, as the answer, or as neither.

The phrases are the same as for tool calls (`normalizer.trust.lexicon`). Only the last sentence before the value counts, and
only back to the previous value. Words after a value have no effect.
"""

from __future__ import annotations

import re
from enum import IntEnum

from llmcore.normalizer.scanning.words import COLONS
from llmcore.normalizer.trust.layout import has_words
from llmcore.normalizer.trust.lead_ins import kind_of, names_answer, sentence_before

__all__ = ["LeadIn", "lead_in", "shares_lead_in"]


class LeadIn(IntEnum):
    """What a lead-in says of the value after it. A higher one introduces the value more strongly."""

    EXAMPLE = -1
    """The value does not count."""
    NONE = 0
    ANSWER = 1


_SENTENCE_END = re.compile(r"[.!?](?=\s)|[\u3002\uff01\uff1f]")
_CONJUNCTION = re.compile(r"[ \t]*(?:[,;\uff0c\u3001][ \t]*)?\n?[ \t]*(?:and|or|und|oder|et|ou|y|o|e|和|或|と|や)?[ \t]*")


def shares_lead_in(text: str, since: int, start: int) -> bool:
    """Whether only a comma, a line break or `and` separates a value from the one before it, which ends at `since`."""
    return since > 0 and _CONJUNCTION.fullmatch(text, since, start) is not None


def lead_in(text: str, start: int, since: int, before: LeadIn) -> LeadIn:
    """Classify the words before the value at `text[start]`.

    `since` is where the previous value ends, and `before` is its lead-in. Values joined by a comma, a line break or `and`
    share it.
    """
    if shares_lead_in(text, since, start):
        return before
    line, over, rest = text[since:start].partition("\n")
    if since and over and not has_words(rest) and not line.rstrip().endswith(COLONS) and _SENTENCE_END.search(line) is None:
        return LeadIn.NONE  # a remark about the previous value
    sentence = sentence_before(text, since, start)
    if not sentence:
        return LeadIn.NONE
    if kind_of(sentence) in ("strict", "example"):
        return LeadIn.EXAMPLE
    return LeadIn.ANSWER if names_answer(sentence) else LeadIn.NONE
