"""The calls of a reply beyond `Limits.calls`. None of them may run, and the envelope records each.

Up to `Limits.near_misses` of them get a full record. One more record has the number of the others.
"""

from __future__ import annotations

from collections.abc import Sequence

from llmcore.types.envelope import Repair, ToolCall
from llmcore.types.limits import Limits

__all__ = ["CALLS_LIMIT", "left_out"]

CALLS_LIMIT = "calls_limit"


def left_out(calls: Sequence[ToolCall], limits: Limits) -> list[Repair]:
    """The records of these calls. If not each has its own record, the last one holds `{"more": n}`."""
    recorded = [{"id": call.id, "name": call.name, "arguments": call.raw_arguments} for call in calls[: limits.near_misses]]
    more = len(calls) - len(recorded)
    records = [*recorded, {"more": more}] if more else recorded
    return [Repair(kind=CALLS_LIMIT, before=before, safety="guess") for before in records]
