"""The units of a run: a reply in which a call or a value was due, together with the exchanges that it caused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from llmcore.transcripts.model import Transcript
from llmcore.transcripts.scoring.judging import Judgement
from llmcore.types import AttemptReason

__all__ = ["Outcome", "Unit", "units_of"]

_RETRIES: frozenset[AttemptReason] = frozenset({"reask", "mode", "model"})
_FALLBACKS: frozenset[AttemptReason] = frozenset({"mode", "model"})
_BEGINS_A_UNIT: frozenset[AttemptReason] = frozenset({"first", "turn"})


@dataclass(frozen=True, slots=True)
class Unit:
    """A reply in which a call or value was due, with the exchanges it caused. `last` is the judgement that decides. `attempts`
    is the number of exchanges."""

    last: Judgement
    retries: int = 0
    fallback: bool = False
    attempts: int = 1

    @property
    def succeeded(self) -> bool:
        return self.last.success

    @property
    def needs_reask(self) -> bool:
        return bool(self.last.problems)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One replayed run: the judgement of each exchange, and the units. `seconds`: how long judging took."""

    transcript: Transcript
    judgements: Sequence[Judgement]
    units: Sequence[Unit]
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether a unit did not succeed, or an expectation is not met."""
        return any(not unit.succeeded for unit in self.units) or any(judgement.mismatches for judgement in self.judgements)

    @property
    def needs_reask(self) -> bool:
        return any(unit.needs_reask for unit in self.units)

    @property
    def reasons(self) -> list[str]:
        """Why the run failed: the problems of its units, and then what differs from the expectations."""
        problems = [problem for unit in self.units for problem in unit.last.problems]
        differing = [mismatch.what for judgement in self.judgements for mismatch in judgement.mismatches]
        return [*problems, *(f"not as expected: {what}" for what in dict.fromkeys(differing))]


def units_of(transcript: Transcript, judgements: Sequence[Judgement]) -> Iterator[Unit]:
    """The units of a run. `judgements` are those of its exchanges, in order."""
    group: list[tuple[AttemptReason, Judgement]] = []
    for exchange, judgement in zip(transcript.exchanges, judgements, strict=True):
        if group and exchange.attempt.reason in _BEGINS_A_UNIT:
            yield from _unit(group)
            group = []
        group.append((exchange.attempt.reason, judgement))
    yield from _unit(group)


def _unit(group: Sequence[tuple[AttemptReason, Judgement]]) -> Iterator[Unit]:
    if any(judgement.due for _, judgement in group):
        reasons = [reason for reason, _ in group]
        yield Unit(
            last=group[-1][1],
            retries=sum(reason in _RETRIES for reason in reasons),
            fallback=any(reason in _FALLBACKS for reason in reasons),
            attempts=len(group),
        )
