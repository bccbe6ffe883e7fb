"""Counts a replay: success by model family, calls by dialect, and the expectations that are not met.

Rules (docs/transcripts.md, "What replay counts"): a *unit* is a reply in which a call or a value was due, together
with the exchanges that it caused (re-asks, other modes, other models, repeated requests). The last one decides. A unit
succeeds, needs a re-ask that the recording does not have, or is wrong: valid, but not as expected. No files, no
terminal. Memory is bounded, and time is linear in the length of the replay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from llmcore.transcripts.model import Transcript
from llmcore.transcripts.scoring.families import family_of, is_real_provider
from llmcore.transcripts.scoring.judging import Judgement, judge
from llmcore.transcripts.scoring.report import DialectRow, FamilyRow, Finding, ScoreReport
from llmcore.types import AttemptReason, Safety, ToolCall

__all__ = ["Score", "Unit", "units_of"]

RETRIES: frozenset[AttemptReason] = frozenset({"reask", "mode", "model"})
FALLBACKS: frozenset[AttemptReason] = frozenset({"mode", "model"})
_BEGINS_A_UNIT: frozenset[AttemptReason] = frozenset({"first", "turn"})
_WORST_FIRST: tuple[Safety, ...] = ("truncated", "guess", "coerced", "lossless")


@dataclass(frozen=True, slots=True)
class Unit:
    """A reply in which a call or value was due, with the exchanges it caused. `last` is the judgement that decides."""

    last: Judgement
    retries: int = 0
    fallback: bool = False

    @property
    def succeeded(self) -> bool:
        return self.last.success

    @property
    def needs_reask(self) -> bool:
        return bool(self.last.problems)


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
            retries=sum(reason in RETRIES for reason in reasons),
            fallback=any(reason in FALLBACKS for reason in reasons),
        )


@dataclass(slots=True)
class _Tally:
    """The counts of one row. `reasoned_*` count only runs that say why each request was made."""

    runs: int = 0
    units: int = 0
    succeeded: int = 0
    needs_reask: int = 0
    wrong: int = 0
    reasoned_units: int = 0
    reasoned_succeeded: int = 0
    retries: int = 0
    fallbacks: int = 0
    several_exchanges: bool = False

    def add(self, unit: Unit, *, reasoned: bool) -> None:
        self.units += 1
        self.succeeded += unit.succeeded
        self.needs_reask += unit.needs_reask
        self.wrong += not unit.succeeded and not unit.needs_reask
        if reasoned:
            self.reasoned_units += 1
            self.reasoned_succeeded += unit.succeeded
            self.retries += unit.retries
            self.fallbacks += unit.fallback


@dataclass(slots=True)
class _DialectTally:
    """Calls by the least safe repair that their arguments needed, and the units with such calls."""

    calls: Counter[str] = field(default_factory=Counter[str])
    invalid: int = 0
    units: int = 0
    succeeded: int = 0


class Score:
    """Counts runs: `add` each, then `report`. `keep` is how many findings of each kind the report has."""

    def __init__(self, *, keep: int = 20) -> None:
        self._keep = keep
        self._rows: dict[tuple[str, bool], _Tally] = {}
        self._dialects: dict[str, _DialectTally] = {}
        self._near_misses: Counter[str] = Counter()
        self._unmet: list[Finding] = []
        self._reasks: list[Finding] = []
        self._unmet_count = 0
        self._exchanges = 0
        self._unreadable_events = 0

    def add(self, transcript: Transcript) -> None:
        """Judge and count one run. Raises `TranscriptError` if its tools or its output schema cannot be used."""
        self.add_judged(transcript, [judge(transcript, index) for index in range(len(transcript.exchanges))])

    def add_judged(self, transcript: Transcript, judgements: Sequence[Judgement]) -> None:
        """Count one run that is already judged."""
        real = is_real_provider(transcript.provenance)
        tally = self._rows.setdefault((family_of(transcript.provider, transcript.model), real), _Tally())
        tally.runs += 1
        tally.several_exchanges |= len(transcript.exchanges) > 1
        for unit in units_of(transcript, judgements):
            tally.add(unit, reasoned=not transcript.flat)
            self._count_dialects(unit)
            if unit.needs_reask:
                self._note(self._reasks, transcript, "; ".join(unit.last.problems[:3]))
        for index, judgement in enumerate(judgements):
            self._count_reply(judgement)
            for mismatch in judgement.mismatches:
                self._unmet_count += 1
                where = f"exchanges[{index}]: {mismatch.what}" if len(judgements) > 1 else mismatch.what
                self._note(self._unmet, transcript, where, mismatch.expected, mismatch.got)

    def report(self) -> ScoreReport:
        """The figures so far."""
        rows = [_family_row(family, real, tally) for (family, real), tally in sorted(self._rows.items())]
        dialects = [_dialect_row(name, tally) for name, tally in sorted(self._dialects.items())]
        return ScoreReport(
            runs=sum(row.runs for row in rows),
            exchanges=self._exchanges,
            units=sum(row.units for row in rows),
            succeeded=sum(row.succeeded for row in rows),
            needs_reask=sum(row.needs_reask for row in rows),
            wrong=sum(row.wrong for row in rows),
            families=rows,
            dialects=dialects,
            near_misses=dict(self._near_misses.most_common()),
            unreadable_events=self._unreadable_events,
            unmet_expectations=self._unmet_count,
            unmet=list(self._unmet),
            reasks=list(self._reasks),
        )

    def _count_reply(self, judgement: Judgement) -> None:
        self._exchanges += 1
        self._unreadable_events += judgement.unreadable_events
        if judgement.envelope is not None:
            self._near_misses.update(miss.reason for miss in judgement.envelope.near_misses)
        for index, call in enumerate(judgement.calls):
            row = self._dialects.setdefault(call.dialect, _DialectTally())
            row.calls[_state(call)] += 1
            row.invalid += call.complete and index in judgement.refused

    def _count_dialects(self, unit: Unit) -> None:
        for name in {call.dialect for call in unit.last.calls}:
            row = self._dialects.setdefault(name, _DialectTally())
            row.units += 1
            row.succeeded += unit.succeeded

    def _note(self, kept: list[Finding], transcript: Transcript, what: str, expected: object = None, got: object = None) -> None:
        if len(kept) < self._keep:
            path = str(transcript.path) if transcript.path else None
            kept.append(Finding(id=transcript.id, path=path, line=transcript.line, what=what, expected=expected, got=got))


def _state(call: ToolCall) -> str:
    """`truncated`, else the least safe repair that the call needed, else `as_written`."""
    if not call.complete:
        return "truncated"
    needed = {repair.safety for repair in call.repairs}
    return next((safety for safety in _WORST_FIRST if safety in needed), "as_written")


def _family_row(family: str, real: bool, tally: _Tally) -> FamilyRow:
    several = tally.several_exchanges
    return FamilyRow(
        family=family,
        real_provider=real,
        runs=tally.runs,
        units=tally.units,
        succeeded=tally.succeeded,
        needs_reask=tally.needs_reask,
        wrong=tally.wrong,
        success_rate=_ratio(tally.succeeded, tally.units),
        retries_per_call=_ratio(tally.retries, tally.reasoned_succeeded) if several else None,
        fallback_share=_ratio(tally.fallbacks, tally.reasoned_units) if several else None,
    )


def _dialect_row(name: str, tally: _DialectTally) -> DialectRow:
    return DialectRow(
        dialect=name,
        calls=tally.calls.total(),
        as_written=tally.calls["as_written"],
        lossless=tally.calls["lossless"],
        coerced=tally.calls["coerced"],
        guess=tally.calls["guess"],
        truncated=tally.calls["truncated"],
        invalid=tally.invalid,
        units=tally.units,
        succeeded=tally.succeeded,
    )


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
