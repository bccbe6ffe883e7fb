"""What becomes of a call that was read where it may be only shown: it is taken back, or it stands.

Readers do not ask where they stand. Whoever calls one stages the reading first, and settles here what was read.
"""

from __future__ import annotations

from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.record import Staged
from llmcore.normalizer.scanning.source import Steps
from llmcore.normalizer.trust.surroundings import Standing, is_closed, prose_follows

__all__ = ["may_be_shown", "settle_shown", "shown_behind"]


def may_be_shown(standing: Standing) -> bool:
    """Must a call be read before it is known whether it is only shown?"""
    return bool(standing.shown) or standing.quotation is not None or standing.deep


def shown_behind(reading: Reading, standing: Standing, end: int) -> Steps[str]:
    """Why a call that ends at `end` is only shown, "" when it is not."""
    if standing.shown:
        return standing.shown
    if standing.quotation is not None and (yield from is_closed(reading.src, standing.quotation, end)):
        return "quoted"
    return "example" if standing.deep and (yield from prose_follows(reading.src, end)) else ""


def settle_shown(reading: Reading, staged: Staged, standing: Standing, at: int, behind: int = -1) -> Steps[bool]:
    """Decide on what was read since then, from `at` on: True when it is taken, as calls or as content. `behind`: from where on
    text is behind the call, if the call takes it along."""
    reason = yield from shown_behind(reading, standing, reading.done if behind < 0 else behind)
    if not reason:
        reading.release(staged)
        reading.answer_follows()
        return True
    drafts, end = reading.drafts[staged.drafts :], reading.done
    missed = next((miss.name for miss in reading.near_misses[staged.near_misses :] if miss.name), None)
    is_opener = not drafts and len(reading.near_misses) == staged.near_misses  # of calls that follow, which say it themselves
    reading.take_back(staged)
    if not all(draft.complete for draft in drafts):
        reading.note(at, end, drafts[0].name, reason)  # a call that is not whole is just text
        return False
    reading.shown(end, reason)
    if not is_opener:
        reading.note(at, end, drafts[0].name if drafts else missed, reason)
    reading.text(end)
    return True
