"""The figures of a replay as data, for the tables and `--json`.

Rates are shares between 0 and 1, None if nothing was counted.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field, computed_field

from llmcore.transcripts.scoring.families import MAX_FALLBACK_SHARE, MAX_RETRIES_PER_CALL, SUCCESS_TARGETS
from llmcore.types import Safety

__all__ = ["DialectRow", "ErrorCount", "FamilyRow", "Finding", "ModelRow", "RepairRow", "ScoreReport", "TargetVerdict"]


class Finding(BaseModel):
    """A finding and its place. `expected` and `got` are set for expectations that are not met."""

    id: str
    path: str | None = None
    line: int | None = None
    what: str
    expected: Any = None
    got: Any = None

    @property
    def where(self) -> str:
        """The place in a form that editors can open, plus the id if the place does not contain it."""
        place = f"{self.path}:{self.line}" if self.path and self.line else self.path or ""
        return f"{place} ({self.id})" if place and self.id and self.id not in place else place or self.id or "-"


class TargetVerdict(BaseModel):
    """One figure and its target. `at_least`: higher is better; else the figure may not exceed the target."""

    metric: str
    value: float
    target: float
    at_least: bool
    met: bool


class ErrorCount(BaseModel):
    """How many calls have one error: as the model wrote them (`raw`), and after the repairs."""

    raw: int
    repaired: int


class FamilyRow(BaseModel):
    """One model family. Real and local recordings are separate rows.

    `needs_reask`: units that need a re-ask which the recording does not have. `wrong`: valid units that differ from the
    expectation. `retries_per_call` (re-asks, other modes and models, per successful unit) and `fallback_share` (units
    that used another mode or model) are None unless the row has runs of several exchanges. `errors`: how many of the
    `calls` have each of `CALL_ERRORS`.
    """

    family: str
    real_provider: bool
    runs: int
    units: int
    succeeded: int
    needs_reask: int
    wrong: int
    success_rate: float | None
    retries_per_call: float | None
    fallback_share: float | None
    calls: int
    errors: dict[str, ErrorCount]

    @computed_field  # type: ignore[prop-decorator]  # mypy cannot stack decorators on a property; pydantic documents it so
    @property
    def targets(self) -> list[TargetVerdict]:
        """The verdicts. Empty for local recordings, or without a figure or target."""
        if not self.real_provider:
            return []
        return [
            *_verdict("success", self.success_rate, SUCCESS_TARGETS.get(self.family), at_least=True),
            *_verdict("retries per call", self.retries_per_call, MAX_RETRIES_PER_CALL),
            *_verdict("fallback", self.fallback_share, MAX_FALLBACK_SHARE, below=True),
        ]


class ModelRow(FamilyRow):
    """One model of a family. After 500 models, the others are one row without a family."""

    model: str


def _verdict(
    metric: str, value: float | None, target: float | None, *, at_least: bool = False, below: bool = False
) -> list[TargetVerdict]:
    if value is None or target is None:
        return []
    met = value >= target if at_least else value < target if below else value <= target
    return [TargetVerdict(metric=metric, value=value, target=target, at_least=at_least, met=met)]


class DialectRow(BaseModel):
    """The calls of one dialect, each counted once by the least safe repair it needed. `invalid`: complete calls that may
    not run (no such tool, invalid arguments). `units` and `succeeded`: the units with such a call."""

    dialect: str
    calls: int
    as_written: int
    lossless: int
    coerced: int
    guess: int
    truncated: int
    invalid: int
    units: int
    succeeded: int


class RepairRow(BaseModel):
    """How often one kind of repair was made in the calls of a dialect. An empty dialect: repairs of no single call."""

    kind: str
    safety: Safety
    dialect: str
    count: int


class ScoreReport(BaseModel):
    """A whole replay.

    `errors`: how many of the `calls` have each of `CALL_ERRORS`. `attempts`: how many units took so many exchanges; 10 stands
    for 10 and more. `near_misses` has counts by reason. `unmet` and `reasks` have only the first findings.
    """

    runs: int
    exchanges: int
    units: int
    succeeded: int
    needs_reask: int
    wrong: int
    calls: int
    errors: dict[str, ErrorCount]
    families: list[FamilyRow]
    models: list[ModelRow]
    dialects: list[DialectRow]
    repairs: list[RepairRow]
    attempts: dict[int, int]
    near_misses: dict[str, int] = Field(default_factory=dict[str, int])
    unreadable_events: int = 0
    unmet_expectations: int = 0
    unmet: list[Finding] = Field(default_factory=list[Finding])
    reasks: list[Finding] = Field(default_factory=list[Finding])
