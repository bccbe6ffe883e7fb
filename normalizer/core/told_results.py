"""Results of calls that a model wrote out itself: what they hold is never a call.

A model that was shown results in its conversation goes on in that form: a label (`Observation:`) and what a tool is supposed
to have said, or an element named for results. A call in there is what a page or a file says. Words that announce a call, a
further step or another paragraph end what a label tells of.
"""

from __future__ import annotations

import re
from typing import Literal

from llmcore.normalizer.core.lead_ins import announces, sentence_before
from llmcore.types.late import late

__all__ = ["ELEMENTS", "told_as_result"]

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
_LABEL = late(
    rf"^[ \t*_#>-]{{0,16}}(?:{_LABELS})(?:[ \t]{{0,2}}#?\d{{1,3}})?[ \t*_]{{0,8}}[:：]",  # noqa: RUF001 # the full-width colon
    re.IGNORECASE | re.MULTILINE,
)
_STEMS = ("observa", "result", "response", "output", "beobachtung", "osservazione", "наблюдение", "观察", "観察", "관찰")
"""One of which each label holds, in lower case: to look for them costs a tenth of looking for labels."""
_STEP = late(r"[ \t*_#>-]{0,16}(?:Thought|Action|Question|Final Answer|Plan)[ \t*_]{0,8}:", re.IGNORECASE)
_OPENED = late(rf"<(?:{'|'.join(ELEMENTS)})(?:\s[^<>]{{0,200}})?>\s*\Z", re.IGNORECASE)
_COLONS = (":", "：")  # noqa: RUF001 # as above
_LONGEST_TAG = 256
_PARAGRAPH = 2048


def told_as_result(text: str, at: int, start: int) -> Literal["held", "behind", ""]:
    """Does a call at `at` stand in what a result is said to hold, or in a later paragraph, with no further step between?
    `start`: where the text before it begins."""
    begin = max(start, at - _PARAGRAPH)
    before = text[begin:at]
    said = before.rstrip()
    if said.endswith(">"):
        return "held" if _OPENED.search(before, max(0, len(said) - _LONGEST_TAG)) is not None else ""
    may_hold = any(map(before.__contains__, _COLONS)) and any(map(before.lower().__contains__, _STEMS))
    labels = [*_LABEL.finditer(before)] if may_hold else []
    if not labels or _STEP.match(text, at) is not None:
        return ""
    behind = before[labels[-1].end() :]
    if not behind.strip():
        return "held"
    if any(_STEP.match(line) for line in behind.splitlines()[1:]) or announces(sentence_before(text, start, at)):
        return ""
    return "behind" if "\n\n" in behind.lstrip().replace("\r", "") else "held"
