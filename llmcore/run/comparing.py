"""Which part of a request is it that a server refuses in words that nobody knows? Requests that hold less tell: where the same
words come again, all that was left out is innocent, is given back, and the next part is left out; an answer says that it was one
of those.

Parts beside tools (a choice, a format) are left out together first, since one request more then says of them all that the tools
are refused; so is, in the second run that meets the same words, whatever else may be it beside the mode's own part (a system
prompt that teaches the mode). Where it is known that nothing else is left, they are left out one by one, many of them by halves.
Where each of them was not it, the server refuses several: all are left out together, then with what is beside tools, then of
other modes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from llmcore.run.parts import BESIDE_TOOLS, IMAGES, LEARNT_AS
from llmcore.types import OutputMode, RequestRefused

__all__ = ["MODES_OWN", "Refusal", "compare"]

_ONE_BY_ONE = 4
"""So many suspects are left out one by one: an answer then says which it was."""
MODES_OWN = frozenset({"native_tools", "tool_results", "json_schema", "json_object"})
"""What only another output mode does without."""


@dataclass(slots=True)
class Refusal:
    """One refused request. `key`: the same for the same words; `suspects`: what it may be refused for, the most particular first;
    `parts`: all that it held; `open`: of the suspects, what nobody knows of; `said`: what its words speak of; `named`: what they
    name, of that `listed` what they say the same of; `without`: what had been left out of it in order to compare; `doubted`: what
    was doubted before in the same words (`is_known`: or of another request); `times`: how often it was sent."""

    key: str
    words: str
    mode: OutputMode
    suspects: Sequence[str]
    parts: frozenset[str]
    open: frozenset[str]
    said: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    listed: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    doubted: frozenset[str] = frozenset()
    is_known: bool = False
    times: int = 1


def compare(
    error: RequestRefused, same: Sequence[Refusal], held: Sequence[str], doubted: Collection[str], *, may_compare: bool
) -> None:
    """Tell a refusal which parts of its request may be left out next, and which are innocent. `same`: the refusals of this place
    in the same words, this one the last; `held`: what can be left out in any mode, the words' own first."""
    first, last = same[0], same[-1]
    known = frozenset(name for name in first.parts if LEARNT_AS.get(name, name) in doubted)
    for one in same:
        one.doubted = frozenset(LEARNT_AS.get(name, name) for name in known)
    held_before = frozenset[str]().union(*(one.parts for one in same[:-1]))
    before = frozenset[str]().union(*(one.without for one in same[:-1])) & held_before
    innocent = before | (last.without & held_before)
    error.innocent, error.acquits = innocent, innocent - before
    error.in_any_mode = len({one.mode for one in same}) > 1 and any(one.mode == "text" for one in same)
    error.named = tuple(name for name in error.named if name not in innocent)
    error.additions = tuple(name for name in held if name not in innocent)
    singly = [
        name
        for name in dict.fromkeys(name for one in same for name in one.suspects)
        if name in innocent and (name not in BESIDE_TOOLS or name in known)
    ]
    named = [name for name in first.suspects if name in first.named]
    if may_compare and _is_each_alone(named, same):  # they may be refused for all that they name
        error.named, error.listed, error.innocent = tuple(named), frozenset(named), frozenset()
        return
    if not error.additions and len(singly) > 1 and _leaves_all_out(error, same, singly, may_compare=may_compare and bool(known)):
        return
    common = [name for name in first.suspects if all(name in one.parts for one in same) and name not in innocent]
    from_before = [name for name in common if name in known]
    error.of_images = from_before == [IMAGES]
    if may_compare:
        error.apart = frozenset(_next(from_before or common, is_known=bool(from_before)))


def _leaves_all_out(error: RequestRefused, same: Sequence[Refusal], singly: Sequence[str], *, may_compare: bool) -> bool:
    """Each of `singly` was left out alone, and was not it: the request may be refused for two. Told to leave all of them out, of
    the last mode at once; where the words are those of an earlier run, of this mode, then with what is beside tools, and of those
    that follow."""
    last = same[-1]
    was_all = any(one.without.issuperset(singly) for one in same)
    if was_all and not may_compare:
        return False
    beside = [name for name in last.parts if name in BESIDE_TOOLS] if last.without.issuperset(singly) else []
    error.innocent, error.together, error.additions = frozenset(), True, () if was_all else tuple(singly)
    if not may_compare:
        return True
    error.carried = frozenset(singly)
    error.apart = frozenset((*singly, *beside)) - last.without
    return True


def _is_each_alone(named: Sequence[str], same: Sequence[Refusal]) -> bool:
    """Was each of those that the words name left out, and never all at once?"""
    each = frozenset[str]().union(*(one.without for one in same))
    return len(named) > 1 and each.issuperset(named) and not any(one.without.issuperset(named) for one in same)


def _next(suspects: Sequence[str], *, is_known: bool) -> Sequence[str]:
    """What to leave out of the next request in the same mode; nothing where another mode tells more."""
    beside = [name for name in suspects if name in BESIDE_TOOLS]
    loose = [name for name in suspects if name != IMAGES and name not in MODES_OWN]
    if not is_known:
        return beside
    if not MODES_OWN.isdisjoint(suspects):  # where the same words come without all of the others, it is the mode's own part
        return beside or loose
    return loose[:1] if len(loose) <= _ONE_BY_ONE else loose[: len(loose) // 2]
