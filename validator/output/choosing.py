"""Of several values in a text, is it certain which one is the answer?

It is where all say the same, and where the last one alone is named the answer (`Final answer:`). Otherwise the choice is a
`guess`: a different value behind the chosen one may correct it. Values alone on one line, without a word between them, are a
model that did not stop: the first of them is taken, recorded as `coerced`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from llmcore.types import Repair, Safety
from llmcore.validator.coercion.coercer import trust
from llmcore.validator.output.candidates import Candidate
from llmcore.validator.output.lead_ins import LeadIn

__all__ = ["Doubt", "Fit", "doubt_about", "preference"]

_MAX_TOLD = 20


class Fit(NamedTuple):
    """A candidate brought into shape: the typed value, everything that was done, and whether the text ended inside
    it."""

    value: Any
    data: Any
    repairs: list[Repair]
    complete: bool = True
    of: Candidate | None = None


class Doubt(NamedTuple):
    """What is beside a chosen value, recorded. `rivals`: how many different ones there are; `is_begun`: one of them was broken
    off by the end of the text; `others_fit`: one of them fits."""

    note: Repair
    rivals: int
    is_begun: bool
    others_fit: bool


def preference(fit: Fit) -> tuple[int, int, int]:
    """What the text announces comes first, the last of its corrections before the others, then what can be trusted most."""
    named_at = fit.of.announced_at if fit.of is not None else -1
    return -int(named_at >= 0), -named_at, trust(fit.repairs)


def doubt_about(
    best: Fit, fits: Sequence[Fit], meant: Sequence[Candidate], begun: Sequence[Candidate], text: str
) -> Doubt | None:
    """What speaks against the chosen one. `fits`: all that fit; `meant`: what was to be a value of the type and is none;
    `begun`: what the end of the text broke off and could have become one."""
    chosen = best.of
    if chosen is None:
        return None
    fitting = [fit.of for fit in fits if fit.of is not None and fit.of is not chosen and fit.data != best.data]
    rivals = [one for one in fitting if not _gives_way(one, chosen)]
    rivals += [one for one in (*meant, *begun) if one is not chosen and not _gives_way(one, chosen)]
    if not rivals:
        return None
    is_begun = any(one is other for one in begun for other in rivals)
    others_fit = any(one is other for one in fitting for other in rivals)
    goes_on = _is_one_line(text, [chosen, *fitting])
    safety: Safety = "truncated" if is_begun else "coerced" if goes_on else "guess"
    places = [[other.start, other.end] for other in (chosen, *rivals[:_MAX_TOLD])]
    note = Repair(kind="several_fit", before=places, after=places[0], safety=safety)
    return Doubt(note, 1 + len(rivals), is_begun, others_fit)


def _gives_way(other: Candidate, chosen: Candidate) -> bool:
    """Is the other one an example, or does it stand before one that is named the answer? One behind it may be its correction."""
    if other.announced is LeadIn.EXAMPLE:
        return True
    return chosen.announced is LeadIn.ANSWER and other.start < chosen.announced_at


def _is_one_line(text: str, candidates: Sequence[Candidate]) -> bool:
    """Are they all that the text says, on one line and with no word or sign between them?"""
    since, said = 0, ""
    for candidate in sorted(candidates, key=lambda one: one.start):
        said += text[since : candidate.start].lstrip() if not since else text[since : candidate.start].strip(" \t")
        since = candidate.end
    return not said and not text[since:].strip()
