"""Statistics of tools over any number of runs: how often each was called, how long it took and how often it failed.

Durations are counted in buckets, each a fifth wider than the one before. So many runs take no more memory than one, and
separate counts add up exactly. A percentile is exact to 10 %.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from threading import Lock
from typing import Any

from llmcore.run.observing.events import ObservedRun
from llmcore.run.observing.observers import Observer
from llmcore.run.results.result import RunResult, ToolRecord
from llmcore.support.code.suggestions import describe_value
from llmcore.support.values.json_data import encodable
from llmcore.types import ConfigError

__all__ = ["ToolStatistics", "ToolStats"]

_LOG_BUCKET_WIDTH = math.log(1.2)


@dataclass(slots=True)
class ToolStats:
    """One tool's numbers; `a + b` adds them. Durations are in seconds, over all tries of a call, and cover the calls that ran.

    - `calls`: all calls, including refused ones.
    - `ran`: calls whose function was started.
    - `failed`: calls that ended in an error, including refused ones.
    - `retries`: tries after the first one of each call.
    - `errors`: the failed calls by the type of their `ToolError`.
    - `exceptions`: the failed calls by the class of the exception that the tool raised.
    """

    calls: int = 0
    ran: int = 0
    failed: int = 0
    retries: int = 0
    total_duration: float = 0.0
    max_duration: float = 0.0
    errors: Counter[str] = field(default_factory=Counter[str])
    exceptions: Counter[str] = field(default_factory=Counter[str])
    durations: Counter[int] = field(default_factory=Counter[int])
    """The number of calls in each bucket. Bucket n holds the durations from 1.2**n to 1.2**(n + 1) seconds."""

    @classmethod
    def of(cls, record: ToolRecord) -> ToolStats:
        """The numbers of one call."""
        error, made = record.error, cls(calls=1, retries=record.retries)
        if error is not None:
            made.failed = 1
            made.errors[error.type] = 1
            if error.exception:
                made.exceptions[error.exception] = 1
        if record.ran:
            made.ran, made.total_duration, made.max_duration = 1, record.duration, record.duration
            made.durations[_bucket_of(record.duration)] = 1
        return made

    def __add__(self, other: ToolStats) -> ToolStats:
        return ToolStats(
            self.calls + other.calls,
            self.ran + other.ran,
            self.failed + other.failed,
            self.retries + other.retries,
            self.total_duration + other.total_duration,
            max(self.max_duration, other.max_duration),
            self.errors + other.errors,
            self.exceptions + other.exceptions,
            self.durations + other.durations,
        )

    @property
    def error_rate(self) -> float:
        """The share of the calls that failed, from 0 to 1; 0 without calls."""
        return self.failed / self.calls if self.calls else 0.0

    @property
    def mean_duration(self) -> float:
        """Seconds; 0 if no call ran."""
        return self.total_duration / self.ran if self.ran else 0.0

    def percentile(self, part: float) -> float:
        """The duration that this part of the calls (0.5, 0.95) did not exceed, exact to 10 %; 0 if no call ran.

        Raises `ConfigError` for a part that is not from 0 to 1.
        """
        if not isinstance(part, int | float) or not 0 <= part <= 1:  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without a type checker
            raise ConfigError(f"percentile: the part must be from 0 to 1, as 0.95, not {describe_value(part)}")
        left = max(1, math.ceil(part * self.ran))
        for one, count in sorted(self.durations.items()):
            left -= count
            if left <= 0:
                return min(self.max_duration, math.exp((one + 0.5) * _LOG_BUCKET_WIDTH))
        return 0.0

    def as_data(self) -> dict[str, Any]:
        """The numbers as JSON data, with `error_rate`, `mean_duration`, `p50` and `p95`, and without the buckets."""
        own: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(ToolStats) if one.name != "durations"}
        rates = {"error_rate": self.error_rate, "mean_duration": self.mean_duration}
        return {**own, "errors": dict(self.errors), "exceptions": dict(self.exceptions), **rates, **self._percentiles()}

    def _percentiles(self) -> dict[str, float]:
        return {"p50": self.percentile(0.5), "p95": self.percentile(0.95)}


class ToolStatistics(Observer, Mapping[str, ToolStats]):
    """The `ToolStats` of each tool by its name: `ToolStatistics(result)["get_weather"].error_rate`.

    Takes any number of results and records; `add` takes more. As an observer of an orchestrator, it counts the calls of each
    run when the run ends, even if it fails. It can be pickled, sent to another process and added there. Calls of unknown tools
    are counted together under `UNKNOWN`. Thread-safe.
    """

    UNKNOWN = "(unknown)"

    def __init__(self, *given: RunResult[Any] | ToolRecord) -> None:
        self._by_tool: dict[str, ToolStats] = {}
        self._lock = Lock()
        self.add(*given)

    def add(self, *given: RunResult[Any] | ToolRecord | ToolStatistics) -> None:
        """Count these calls, too. Raises `ConfigError` for anything else."""
        numbers = [pair for one in given for pair in _numbers(one)]
        with self._lock:
            for name, stats in numbers:
                known = self._by_tool.get(name)
                self._by_tool[name] = stats if known is None else known + stats

    def run_ended(self, run: ObservedRun, result: RunResult[Any], error: BaseException | None) -> None:
        if result.tool_results:
            self.add(result)

    @property
    def total(self) -> ToolStats:
        """The numbers of all tools together."""
        return sum(self.values(), ToolStats())

    def as_data(self) -> dict[str, dict[str, Any]]:
        """JSON data: the numbers of each tool by its name."""
        return {encodable(name): self[name].as_data() for name in self}

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (dict(self._by_tool),)

    def __getitem__(self, name: str) -> ToolStats:
        return self._by_tool[name]

    def __iter__(self) -> Iterator[str]:
        with self._lock:
            return iter(sorted(self._by_tool))

    def __len__(self) -> int:
        return len(self._by_tool)

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name}: {self[name].calls} calls, {self[name].failed} failed" for name in self)
        return f"ToolStatistics({numbers})"


def _rebuilt(by_tool: dict[str, ToolStats]) -> ToolStatistics:
    made = ToolStatistics()
    made._by_tool.update(by_tool)  # pyright: ignore[reportPrivateUsage]  # of this module
    return made


def _numbers(given: object) -> Iterable[tuple[str, ToolStats]]:
    if isinstance(given, RunResult):
        return [_stats_of(record) for record in given.tool_results]
    if isinstance(given, ToolRecord):
        return [_stats_of(given)]
    if isinstance(given, ToolStatistics):
        return [(name, given[name]) for name in given]
    raise ConfigError(f"ToolStatistics counts RunResults and ToolRecords, not {describe_value(given)}")


def _stats_of(record: ToolRecord) -> tuple[str, ToolStats]:
    unknown = record.error is not None and record.error.type == "not_found"
    return ToolStatistics.UNKNOWN if unknown else record.name, ToolStats.of(record)


def _bucket_of(seconds: float) -> int:
    return math.floor(math.log(max(seconds, 1e-9)) / _LOG_BUCKET_WIDTH)
