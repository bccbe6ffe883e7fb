"""Calls that a reply held beyond `Limits.calls`: the model is told that they did not run, each by its name and arguments as far
as the envelope tells them, and how many others there were."""

from __future__ import annotations

from llmcore.types import Envelope
from llmcore.types.limits import DEFAULT_LIMITS
from llmcore.types.narrowing import object_in
from llmcore.validator.schema.problems import cut

__all__ = ["told_of_left_out"]

_KIND = "calls_limit"
_MAX_NAME = 80
_MAX_ARGUMENTS = 120


def told_of_left_out(envelope: Envelope) -> str:
    """What the model is told of the calls that did not run; "" where there are none."""
    found = [object_in(repair.before) for repair in envelope.repairs if repair.kind == _KIND]
    if not found:
        return ""
    named = [one for one in found if "name" in one]
    more = sum(int(one.get("more", 0)) for one in found)
    lines = [f"- {cut(str(one['name']), _MAX_NAME)} {cut(str(one['arguments']), _MAX_ARGUMENTS)}" for one in named]
    if more:
        lines.append(f"- and {more} more")
    said = f"{len(named) + more} calls of your last reply did not run, for of one reply at most {DEFAULT_LIMITS.calls} may."
    return "\n".join([f"{said} Make those again that are still needed. Not run:", *lines])
