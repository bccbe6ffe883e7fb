"""The counts behind the rows of a report: by family, by model and by dialect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from llmcore.transcripts.scoring.call_errors import CALL_ERRORS, errors_after_repairs, errors_as_written
from llmcore.transcripts.scoring.judging import Judgement
from llmcore.transcripts.scoring.report import DialectRow, ErrorCount, RepairRow
from llmcore.transcripts.scoring.units import Unit
from llmcore.types import Repair, Safety, ToolCall

__all__ = ["DialectTally", "Tally", "error_counts", "repair_rows"]

_WORST_FIRST: tuple[Safety, ...] = ("truncated", "guess", "coerced", "lossless")


@dataclass(slots=True)
class Tally:
    """The counts of a family or a model. `reasoned_*` count only runs that say why each request was made."""

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
    calls: int = 0
    raw: Counter[str] = field(default_factory=Counter[str])
    repaired: Counter[str] = field(default_factory=Counter[str])

    def add_unit(self, unit: Unit, *, reasoned: bool) -> None:
        self.units += 1
        self.succeeded += unit.succeeded
        self.needs_reask += unit.needs_reask
        self.wrong += not unit.succeeded and not unit.needs_reask
        if reasoned:
            self.reasoned_units += 1
            self.reasoned_succeeded += unit.succeeded
            self.retries += unit.retries
            self.fallbacks += unit.fallback

    def add_calls(self, judgement: Judgement) -> None:
        written = judgement.envelope.tool_calls if judgement.envelope is not None else []
        for index, (before, after) in enumerate(zip(written, judgement.calls, strict=True)):
            refused = judgement.refused.get(index)
            raw = errors_as_written(before, after, refused)
            self.calls += 1
            self.raw.update(raw)
            self.repaired.update(errors_after_repairs(raw, refused))

    def figures(self) -> dict[str, Any]:
        """The fields of a `FamilyRow` or `ModelRow`, without its names."""
        several = self.several_exchanges
        return {
            "runs": self.runs,
            "units": self.units,
            "succeeded": self.succeeded,
            "needs_reask": self.needs_reask,
            "wrong": self.wrong,
            "success_rate": _ratio(self.succeeded, self.units),
            "retries_per_call": _ratio(self.retries, self.reasoned_succeeded) if several else None,
            "fallback_share": _ratio(self.fallbacks, self.reasoned_units) if several else None,
            "calls": self.calls,
            "errors": error_counts([self]),
        }


def error_counts(tallies: list[Tally]) -> dict[str, ErrorCount]:
    """The errors of all calls that the tallies count."""
    return {
        error: ErrorCount(
            raw=sum(tally.raw[error] for tally in tallies), repaired=sum(tally.repaired[error] for tally in tallies)
        )
        for error in CALL_ERRORS
    }


@dataclass(slots=True)
class DialectTally:
    """Calls by the least safe repair that their arguments needed, the repairs, and the units with such calls."""

    calls: Counter[str] = field(default_factory=Counter[str])
    repairs: Counter[tuple[str, Safety]] = field(default_factory=Counter[tuple[str, Safety]])
    invalid: int = 0
    units: int = 0
    succeeded: int = 0

    def add_call(self, call: ToolCall, *, refused: bool) -> None:
        self.calls[_state(call)] += 1
        self.invalid += call.complete and refused
        self.add_repairs(call.repairs)

    def add_repairs(self, repairs: list[Repair]) -> None:
        self.repairs.update((repair.kind, repair.safety) for repair in repairs)

    def row(self, name: str) -> DialectRow:
        return DialectRow(
            dialect=name,
            calls=self.calls.total(),
            as_written=self.calls["as_written"],
            lossless=self.calls["lossless"],
            coerced=self.calls["coerced"],
            guess=self.calls["guess"],
            truncated=self.calls["truncated"],
            invalid=self.invalid,
            units=self.units,
            succeeded=self.succeeded,
        )


def repair_rows(dialects: dict[str, DialectTally]) -> list[RepairRow]:
    """The repairs by kind, safety and dialect, the most frequent first."""
    rows = [row for name, tally in dialects.items() for row in _repair_rows(name, tally)]
    return sorted(rows, key=lambda row: (-row.count, row.kind, row.dialect))


def _repair_rows(dialect: str, tally: DialectTally) -> Iterator[RepairRow]:
    for (kind, safety), count in tally.repairs.items():
        yield RepairRow(kind=kind, safety=safety, dialect=dialect, count=count)


def _state(call: ToolCall) -> str:
    """`truncated`, else the least safe repair that the call needed, else `as_written`."""
    if not call.complete:
        return "truncated"
    needed = {repair.safety for repair in call.repairs}
    return next((safety for safety in _WORST_FIRST if safety in needed), "as_written")


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
