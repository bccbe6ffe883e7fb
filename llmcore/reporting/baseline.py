"""`Baseline`: compares a replay with an earlier one, and says what became better and what worse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, Field, ValidationError

from llmcore.transcripts import DialectRow, FamilyRow, Outcome, ScoreReport
from llmcore.transcripts.formats.building import first_problem
from llmcore.transcripts.scoring.report import ErrorCount
from llmcore.types import CallerError

__all__ = ["Baseline", "Change", "Comparison"]


class Change(BaseModel):
    """One figure that changed. `before` and `now` are shares between 0 and 1, or retries for each call."""

    figure: str
    before: float
    now: float


class Comparison(BaseModel):
    """What changed since the earlier replay. `failing` and `passing` are transcripts by their label: those that fail now and did
    not, and those that failed and do not any more. Of transcripts with the same label, the number that fails is compared."""

    failing: list[str] = Field(default_factory=list[str])
    passing: list[str] = Field(default_factory=list[str])
    worse: list[Change] = Field(default_factory=list[Change])
    better: list[Change] = Field(default_factory=list[Change])

    @property
    def is_worse(self) -> bool:
        return bool(self.failing or self.worse)


class _Earlier(BaseModel):
    """What a comparison needs of an earlier replay's JSON."""

    calls: int
    errors: dict[str, ErrorCount]
    families: list[FamilyRow]
    dialects: list[DialectRow]
    failed: list[str]


class _Figure(NamedTuple):
    value: float
    higher_is_better: bool


class Baseline:
    """An earlier replay: the file that `llmcore replay --json` printed. Raises `CallerError` for anything else.

    A transcript that fails and that the earlier replay did not have counts as failing.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._before = _Earlier.model_validate_json(path.read_bytes())
        except OSError as error:
            raise CallerError(f"--baseline {path}: cannot be read: {error.strerror or error}") from None
        except ValidationError as error:
            raise CallerError(
                f"--baseline {path}: is not what `llmcore replay --json` printed ({first_problem(error)}); "
                f"make it with `llmcore replay PATH... --json > {path}`"
            ) from None
        self._left = Counter(self._before.failed)
        self._failing: list[str] = []

    def add(self, outcome: Outcome) -> None:
        """Take one replayed run."""
        if not outcome.failed:
            return
        label = outcome.transcript.label
        if self._left[label]:
            self._left[label] -= 1
        else:
            self._failing.append(label)

    def finish(self, report: ScoreReport) -> Comparison:
        """The comparison with the whole replay. A figure that only one of the two has is not compared."""
        before, now = dict(_figures(self._before)), dict(_figures(report))
        found = Comparison(failing=self._failing, passing=sorted(self._left.elements()))
        for name in before.keys() & now.keys():
            old, new = before[name], now[name]
            if old.value != new.value:
                better = (new.value > old.value) == old.higher_is_better
                (found.better if better else found.worse).append(Change(figure=name, before=old.value, now=new.value))
        for changes in (found.better, found.worse):
            changes.sort(key=lambda change: change.figure)
        return found


def _figures(report: ScoreReport | _Earlier) -> Iterator[tuple[str, _Figure]]:
    """The figures that are compared, by name."""
    for family in report.families:
        name = family.family if family.real_provider else f"{family.family} (local recording)"
        for what, value, higher_is_better in (
            ("success", family.success_rate, True),
            ("retries per call", family.retries_per_call, False),
            ("fallback", family.fallback_share, False),
        ):
            if value is not None:
                yield f"{name}: {what}", _Figure(value, higher_is_better)
    for dialect in report.dialects:
        if dialect.units:
            yield f"dialect {dialect.dialect}: success", _Figure(dialect.succeeded / dialect.units, True)
    for error, count in report.errors.items() if report.calls else ():
        yield f"calls with {error} as written", _Figure(count.raw / report.calls, False)
        yield f"calls with {error} after repairs", _Figure(count.repaired / report.calls, False)
