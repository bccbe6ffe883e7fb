"""A call within a dialogue that the reply shows: lines begin with their speakers; who speaks before the call does behind it."""

from __future__ import annotations

from llmcore.types.late import late

__all__ = ["is_in_dialogue"]

_LINE = late(
    r"[ \t>]{0,8}+[*_]{0,2}(?P<who>[^\W\d_][\w.-]{0,23}+(?:[ \t][\w.-]{1,24}+)?)[*_]{0,2}[ \t]?[:：][*_]{0,2}[ \t]*+(?P<said>.*)"  # noqa: RUF001 - the full-width colon is meant
)
_STEPS = frozenset(("thought", "action", "action input", "observation", "final answer", "question"))
"""Of ReAct, which nobody speaks."""
_MOST = 64  # lines that are looked at


def is_in_dialogue(said: str, above: str) -> bool:
    """Does a call between `above` and `said` stand behind the sign of one who speaks, and another speaks before and behind?"""
    if "\n" not in said:
        return False
    lines = above.rstrip().splitlines()[-_MOST:]
    last = _turn(lines[-1]) if lines else None
    if last is None or last[1]:
        return False
    others = {turn[0] for line in lines if (turn := _turn(line)) is not None and turn[1]} - {last[0]}
    return any((turn := _turn(line)) is not None and turn[0] in others for line in said.splitlines()[1:_MOST])


def _turn(line: str) -> tuple[str, str] | None:
    """Who speaks in a line that says so, and the words."""
    found = _LINE.match(line)
    if found is None or (who := found["who"].lower()) in _STEPS:
        return None
    return who, found["said"].strip()
