"""Take back a call that is only an example, or keep it.

Readers do not ask whether a call is an example. Whoever calls a reader stages the reading first and decides here afterwards.
"""

from __future__ import annotations

from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.record import Staged
from llmcore.normalizer.scanning.source import Steps
from llmcore.normalizer.trust.judging import Verdict
from llmcore.normalizer.trust.layout import prose_follows
from llmcore.normalizer.trust.quotations import is_closed

__all__ = ["decide_quoted", "may_be_shown", "shown_behind"]


def may_be_shown(verdict: Verdict) -> bool:
    """Whether a call must be read before it is known whether it is an example."""
    return bool(verdict.shown) or verdict.quotation is not None or verdict.deep


def shown_behind(reading: Reading, verdict: Verdict, end: int) -> Steps[str]:
    """Why a call that ends at `end` is an example; "" if it is none."""
    if verdict.shown:
        return verdict.shown
    if verdict.quotation is not None and (yield from is_closed(reading.src, verdict.quotation, end)):
        return "quoted"
    return "example" if verdict.deep and (yield from prose_follows(reading.src, end)) else ""


def decide_quoted(reading: Reading, staged: Staged, verdict: Verdict, at: int, behind: int = -1) -> Steps[bool]:
    """Decide on what was read since `staged`, from `at` on. Returns True if it is kept, as calls or as content.

    `behind` is where the text behind the call begins, if that is not `reading.done`.
    """
    reason = yield from shown_behind(reading, verdict, reading.done if behind < 0 else behind)
    if not reason:
        reading.release(staged)
        reading.answer_follows()
        return True
    drafts, end = reading.drafts[staged.drafts :], reading.done
    missed = next((miss.name for miss in reading.near_misses[staged.near_misses :] if miss.name), None)
    is_opener = not drafts and len(reading.near_misses) == staged.near_misses  # the calls behind it record their own near misses
    reading.take_back(staged)
    if not all(draft.complete for draft in drafts):
        reading.note(at, end, drafts[0].name, reason)  # an incomplete call is text
        return False
    reading.shown(end, reason)
    if not is_opener:
        reading.note(at, end, drafts[0].name if drafts else missed, reason)
    reading.text(end)
    return True
