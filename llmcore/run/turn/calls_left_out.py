"""Calls that were left out of a reply: those beyond `Limits.calls`, and those that the request did not allow.

The model is before of those beyond the limit: the name and arguments of each that the envelope lists, and the number of the
rest.
"""

from __future__ import annotations

from llmcore.support.values.json_data import read_object
from llmcore.support.values.narrowing import object_in
from llmcore.types import Envelope, Repair, ToolCall
from llmcore.types.limits import DEFAULT_LIMITS
from llmcore.validator.correction.turns import DroppedCall
from llmcore.validator.schema.problems import cut

__all__ = ["CALL_NOT_ALLOWED", "left_out_calls", "note_on_left_out"]

_KIND = "calls_limit"
CALL_NOT_ALLOWED = "call_not_allowed"
_WHY = {
    _KIND: f"It did not run: of one reply at most {DEFAULT_LIMITS.calls} calls may.",
    CALL_NOT_ALLOWED: "It did not run: the request did not allow it (tool_choice, parallel_tool_calls, or tools disabled).",
}
_MAX_NAME = 80
_MAX_ARGUMENTS = 120


def note_on_left_out(envelope: Envelope) -> str:
    """The text that tells the model which calls did not run; "" if all ran."""
    found = [object_in(repair.before) for repair in envelope.repairs if repair.kind == _KIND]
    if not found:
        return ""
    named = [one for one in found if "name" in one]
    more = sum(int(one.get("more", 0)) for one in found)
    lines = [f"- {cut(str(one['name']), _MAX_NAME)} {cut(str(one['arguments']), _MAX_ARGUMENTS)}" for one in named]
    if more:
        lines.append(f"- and {more} more")
    intro = f"{len(named) + more} calls of your last reply did not run, for of one reply at most {DEFAULT_LIMITS.calls} may."
    return "\n".join([f"{intro} Make those again that are still needed. Not run:", *lines])


def left_out_calls(envelope: Envelope) -> list[DroppedCall]:
    """The calls that the envelope's repairs left out."""
    return [one for repair in envelope.repairs for one in _left_out_by(repair)] if envelope.repairs else []


def _left_out_by(repair: Repair) -> list[DroppedCall]:
    """The call that this repair left out; empty for other repairs and for those that only count calls."""
    why, before = _WHY.get(repair.kind), object_in(repair.before)
    if why is None or "name" not in before:
        return []
    raw = str(before.get("arguments", ""))
    call = ToolCall(id=str(before.get("id", "")), name=str(before["name"]), arguments=read_object(raw), raw_arguments=raw)
    return [DroppedCall(call, why, is_known=False)]
