"""Detect results of calls that a model wrote itself. What they hold is never a call.

A model that saw results in its conversation may write more of them: a label (`Observation:`) and made-up output, or an element
named for results. A call there is part of the output, for example of a web page. The output behind a label ends at words that
announce a call, or at a further step. A call in a later paragraph is a guess.
"""

from __future__ import annotations

import re
from typing import Literal

from llmcore.normalizer.scanning.words import COLONS
from llmcore.normalizer.trust.lead_ins import announces, sentence_before
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["ELEMENTS", "is_in_result"]

ELEMENTS = (
    *(f"{who}_{kind}{many}" for who in ("tool", "function") for kind in ("result", "response", "output") for many in ("", "s")),
    "tool_call_result",
    "observation",
)
"""Names of elements around results."""
_KIND = r"(?:call[ \t_]?)?(?:result|output|response)s?"
_LABELS = (
    rf"Observation|(?:Tool|Function)[ \t_]?{_KIND}|Beobachtung|Observación|Observação|Osservazione|Наблюдение"
    r"|观察(?:结果)?|観察|관찰"
)
_LABEL = lazy_regex(
    rf"[ \t*_#>-]{{0,16}}(?:{_LABELS})(?:[ \t]{{0,2}}#?\d{{1,3}})?[ \t*_]{{0,8}}:",
    re.IGNORECASE,
)
_STEP = lazy_regex(r"[ \t*_#>-]{0,16}(?:Thought|Action|Question|Final Answer|Plan)[ \t*_]{0,8}:", re.IGNORECASE)
_OPENED = lazy_regex(rf"<(?:{'|'.join(ELEMENTS)})(?:\s[^<>]{{0,200}})?>\s*\Z", re.IGNORECASE)
_LONGEST_LABEL = 80
_LONGEST_TAG = 256
_PARAGRAPH = 2048
_LINES = 16
"""The number of lines with a colon before a call that are searched for the label."""


def is_in_result(text: str, at: int, start: int) -> Literal["held", "behind", ""]:
    """Where a call at `at` stands: "held" in a result, "behind" one in a later paragraph, or "" elsewhere.

    A further step between the result and the call ends the result. `start` is where the text before the call begins.
    """
    begin = max(start, at - _PARAGRAPH)
    before = text[begin:at]
    searched = before.rstrip()
    if searched.endswith(">"):
        return "held" if _OPENED.search(before, max(0, len(searched) - _LONGEST_TAG)) is not None else ""
    labelled = _behind_last_label(before)
    if labelled < 0 or _STEP.match(text, at) is not None:
        return ""
    behind = before[labelled:]
    if not behind.strip():
        return "held"
    if any(_STEP.match(line) for line in behind.splitlines()[1:]) or announces(sentence_before(text, start, at)):
        return ""
    return "behind" if "\n\n" in behind.lstrip().replace("\r", "") else "held"


def _behind_last_label(before: str) -> int:
    """Where the last label of a result ends; -1 if no line begins with one. Lines without a colon are skipped."""
    ascii_colon, full_width_colon = COLONS
    searched = before if before.isascii() else before.replace(full_width_colon, ascii_colon)  # the length does not change
    colon = len(searched)
    for _ in range(_LINES):
        if (colon := searched.rfind(ascii_colon, 0, colon)) < 0:
            break
        begin = searched.rfind("\n", 0, colon) + 1
        if colon - begin <= _LONGEST_LABEL and (label := _LABEL.match(searched, begin)) is not None:
            return label.end()
        colon = begin
    return -1
