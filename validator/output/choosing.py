"""Decides whether it is certain which of several values in a text is the answer.

It is certain if all values are equal, or if only the last one is introduced as the answer (`Final answer:`). Otherwise the
choice is a `guess`, since a later value may correct the chosen one. If the whole text is one line of values without words
between them, the model did not stop. Then the first value is chosen and recorded as `coerced`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from llmcore.types import Repair, Safety
from llmcore.validator.coercion.coercer import trust
from llmcore.validator.output.candidates import Candidate
from llmcore.validator.output.lead_ins import LeadIn

__all__ = ["Doubt", "Fit", "doubt_about", "preference"]

_MAX_PLACES = 20


class Fit(NamedTuple):
    """A candidate converted to the type: the typed value, its JSON data, all repairs, and whether the text ended inside it."""

    value: Any
    data: Any
    repairs: list[Repair]
    complete: bool = True
    candidate: Candidate | None = None


class Doubt(NamedTuple):
    """The other values beside a chosen one, as a repair.

    `rivals` counts the different values. `is_begun`: the end of the text cut off one of them. `others_fit`: one of them fits.
    """

    note: Repair
    rivals: int
    is_begun: bool
    others_fit: bool


def preference(fit: Fit) -> tuple[int, int, int]:
    """The sort key of a fit; the smallest wins. A value introduced as the answer wins, the last one first, then the most
    trusted."""
    named_at = fit.candidate.announced_at if fit.candidate is not None else -1
    return -int(named_at >= 0), -named_at, trust(fit.repairs)


def doubt_about(
    best: Fit, fits: Sequence[Fit], meant: Sequence[Candidate], begun: Sequence[Candidate], text: str
) -> Doubt | None:
    """What makes the choice uncertain, None if nothing does.

    `fits` are all that fit. `meant` were meant as values of the type but do not fit. `begun` were cut off by the end of the
    text and could have fitted.
    """
    chosen = best.candidate
    if chosen is None:
        return None
    fitting = [
        fit.candidate for fit in fits if fit.candidate is not None and fit.candidate is not chosen and fit.data != best.data
    ]
    rivals = [one for one in fitting if not _is_outranked(one, chosen)]
    rivals += [one for one in (*meant, *begun) if one is not chosen and not _is_outranked(one, chosen)]
    if not rivals:
        return None
    is_begun = any(one is other for one in begun for other in rivals)
    others_fit = any(one is other for one in fitting for other in rivals)
    continues_after_end = _is_only_one_line(text, [chosen, *fitting])
    safety: Safety = "truncated" if is_begun else "coerced" if continues_after_end else "guess"
    places = [[other.start, other.end] for other in (chosen, *rivals[:_MAX_PLACES])]
    note = Repair(kind="several_fit", before=places, after=places[0], safety=safety)
    return Doubt(note, 1 + len(rivals), is_begun, others_fit)


def _is_outranked(other: Candidate, chosen: Candidate) -> bool:
    """Whether the other value is an example, or precedes one introduced as the answer. A value after that one may correct it."""
    if other.announced is LeadIn.EXAMPLE:
        return True
    return chosen.announced is LeadIn.ANSWER and other.start < chosen.announced_at


def _is_only_one_line(text: str, candidates: Sequence[Candidate]) -> bool:
    """Whether the values, on one line without words or signs between them, are all that the text says."""
    since, words = 0, ""
    for candidate in sorted(candidates, key=lambda one: one.start):
        words += text[since : candidate.start].lstrip() if not since else text[since : candidate.start].strip(" \t")
        since = candidate.end
    return not words and not text[since:].strip()
