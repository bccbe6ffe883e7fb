"""The figures of a replay as data: what the tables show and `--json` prints.

Rates are shares between 0 and 1, None where nothing was counted.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field, computed_field

from llmcore.transcripts.scoring.families import MAX_FALLBACK_SHARE, MAX_RETRIES_PER_CALL, SUCCESS_TARGETS

__all__ = ["DialectRow", "FamilyRow", "Finding", "ScoreReport", "TargetVerdict"]


class Finding(BaseModel):
    """Something worth a look, and where. `expected` and `got` are set for expectations that are not met."""

    id: str
    path: str | None = None
    line: int | None = None
    what: str
    expected: Any = None
    got: Any = None

    @property
    def where(self) -> str:
        """The place as editors jump to it, with the id where it says more."""
        place = f"{self.path}:{self.line}" if self.path and self.line else self.path or ""
        return f"{place} ({self.id})" if place and self.id and self.id not in place else place or self.id or "-"


class TargetVerdict(BaseModel):
    """One figure against its target. `at_least`: higher is better; else the figure may not exceed the target."""

    metric: str
    value: float
    target: float
    at_least: bool
    met: bool


class FamilyRow(BaseModel):
    """One model family, real and local recordings apart.

    `needs_reask`: units that would be asked again and whose recording holds no further answer. `wrong`: sound units
    that are not what was expected. `retries_per_call` (re-asks, other modes and models, per successful unit) and
    `fallback_share` (units that took another mode or model) are None unless the row has runs of several exchanges.
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

    @computed_field  # type: ignore[prop-decorator]  # mypy cannot stack decorators on a property; pydantic documents it so
    @property
    def targets(self) -> list[TargetVerdict]:
        """Empty for local recordings, and where there is no figure or no target."""
        if not self.real_provider:
            return []
        return [
            *_verdict("success", self.success_rate, SUCCESS_TARGETS.get(self.family), at_least=True),
            *_verdict("retries per call", self.retries_per_call, MAX_RETRIES_PER_CALL),
            *_verdict("fallback", self.fallback_share, MAX_FALLBACK_SHARE, below=True),
        ]


def _verdict(
    metric: str, value: float | None, target: float | None, *, at_least: bool = False, below: bool = False
) -> list[TargetVerdict]:
    if value is None or target is None:
        return []
    met = value >= target if at_least else value < target if below else value <= target
    return [TargetVerdict(metric=metric, value=value, target=target, at_least=at_least, met=met)]


class DialectRow(BaseModel):
    """The calls of one dialect, each counted once by the least safe repair it needed. `invalid`: whole calls that may
    not run (no such tool, arguments that do not fit). `units` and `succeeded`: the units such a call stands in."""

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


class ScoreReport(BaseModel):
    """A whole replay. `near_misses` counts them by reason; `unmet` and `reasks` hold the first ones only."""

    runs: int
    exchanges: int
    units: int
    succeeded: int
    needs_reask: int
    wrong: int
    families: list[FamilyRow]
    dialects: list[DialectRow]
    near_misses: dict[str, int] = Field(default_factory=dict[str, int])
    unreadable_events: int = 0
    unmet_expectations: int = 0
    unmet: list[Finding] = Field(default_factory=list[Finding])
    reasks: list[Finding] = Field(default_factory=list[Finding])
