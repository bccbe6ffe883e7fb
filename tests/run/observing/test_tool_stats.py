"""The statistics of tools equal their records, add up, and hold over any number of runs."""

from __future__ import annotations

import asyncio
import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmcore import ToolStatistics, ToolStats
from llmcore.orchestrator import Orchestrator
from llmcore.run.results.result import RunResult, ToolFailure, ToolRecord
from llmcore.testing import FakeModel
from llmcore.tools import tool
from llmcore.types import Budget, ConfigError, LimitExceeded, RetryConfig
from tests.run.support import add, called

pytestmark = pytest.mark.anyio


def broken(city: str) -> None:
    """Fail."""
    raise KeyError(city)


async def slow() -> None:
    """Take long."""
    await asyncio.sleep(30)


async def test_the_numbers_of_a_run() -> None:
    calls: list[tuple[str, Any]] = [("add", {"a": 1, "b": 2}), ("broken", {"city": "X"}), ("slow", {}), ("nope", {})]
    fake = FakeModel().tool_calls(*calls).tool_call("add", {"a": 2, "b": 2}).text("ok")
    result = await Orchestrator(fake, [add, broken, slow], tool_timeout=0.05).run("go")
    numbers = ToolStatistics(result)
    assert set(numbers) == {"add", "broken", "slow", ToolStatistics.UNKNOWN}
    assert (numbers["add"].calls, numbers["add"].ran, numbers["add"].failed, numbers["add"].error_rate) == (2, 2, 0, 0.0)
    assert (numbers["broken"].error_rate, numbers["broken"].errors, numbers["broken"].exceptions) == (
        1.0,
        {"execution": 1},
        {"KeyError": 1},
    )
    assert (numbers["slow"].errors, numbers["slow"].exceptions) == ({"timeout": 1}, {})
    assert numbers["slow"].mean_duration >= 0.05
    unknown = numbers[ToolStatistics.UNKNOWN]
    assert (unknown.calls, unknown.ran, unknown.errors) == (1, 0, {"not_found": 1})
    assert numbers.total.calls == len(result.tool_results)
    assert repr(numbers).startswith("ToolStatistics((unknown): 1 calls, 1 failed, add: 2 calls, 0 failed")
    assert json.loads(json.dumps(numbers.as_data()))["broken"]["exceptions"] == {"KeyError": 1}


async def test_retries_are_counted() -> None:
    @tool(retries=RetryConfig(max_retries=2, base=0))
    def shaky() -> None:
        """Fail."""
        raise OSError

    result = await Orchestrator(FakeModel().tool_call("shaky").text("ok"), [shaky]).run("go")
    assert ToolStatistics(result)["shaky"].retries == 2


async def test_an_observer_counts_what_the_results_show_also_of_runs_that_fail() -> None:
    live = ToolStatistics()
    orchestrator = Orchestrator(FakeModel(default=called("add", {"a": 1, "b": 2})), [add], observers=live)
    results: list[RunResult[Any]] = []
    for _ in range(3):
        with pytest.raises(LimitExceeded) as raised:
            await orchestrator.run("go", budget=Budget(requests=2))
        results.append(raised.value.partial)
    assert live == ToolStatistics(*results)
    assert live["add"].calls == 6


RECORDS = st.builds(
    ToolRecord,
    id=st.just("x"),
    name=st.sampled_from(["a", "b"]),
    duration=st.floats(0, 1000),
    retries=st.integers(0, 3),
    ran=st.booleans(),
    error=st.none()
    | st.builds(
        ToolFailure,
        type=st.sampled_from(["execution", "timeout"]),
        message=st.just(""),
        exception=st.sampled_from(["", "KeyError"]),
    ),
)


@settings(max_examples=50, deadline=None)
@given(st.lists(RECORDS, max_size=20), st.integers(0, 20))
def test_what_was_counted_apart_adds_up(records: list[ToolRecord], cut: int) -> None:
    apart = ToolStatistics(*records[:cut])
    apart.add(ToolStatistics(*records[cut:]))
    whole = ToolStatistics(*records)
    assert set(apart) == set(whole)
    for name, stats in whole.items():
        assert (stats.calls, stats.ran, stats.failed, stats.errors) == (
            apart[name].calls,
            apart[name].ran,
            apart[name].failed,
            apart[name].errors,
        )
        assert stats.durations == apart[name].durations
        assert stats.total_duration == pytest.approx(apart[name].total_duration)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(1e-6, 1e5), min_size=1, max_size=50), st.sampled_from([0.0, 0.25, 0.5, 0.95, 1.0]))
def test_a_percentile_is_right_to_a_tenth(durations: list[float], part: float) -> None:
    records = [ToolRecord(id="x", name="a", duration=one, ran=True) for one in durations]
    exact = sorted(durations)[max(0, -int(-part * len(durations) // 1) - 1)]
    assert ToolStatistics(*records)["a"].percentile(part) == pytest.approx(exact, rel=0.1)


def test_a_copy_as_for_another_process_is_counted_apart() -> None:
    apart = ToolStatistics(ToolRecord(id="x", name="a", duration=1, ran=True))
    whole = ToolStatistics(ToolRecord(id="y", name="a", duration=2, ran=True))
    whole.add(deepcopy(apart))
    assert (whole["a"].calls, whole["a"].total_duration) == (2, 3)


def test_none_is_no_error_and_mistakes_are_named() -> None:
    assert (ToolStats().error_rate, ToolStats().mean_duration, ToolStats().percentile(0.5)) == (0.0, 0.0, 0.0)
    with pytest.raises(ConfigError, match=r"the part must be from 0 to 1, as 0\.95, not 95"):
        ToolStats().percentile(95)
    with pytest.raises(ConfigError, match="ToolStatistics counts RunResults and ToolRecords, not "):
        ToolStatistics("result")  # type: ignore[arg-type]  # what the test is about


@pytest.mark.parametrize("part", ["x", None, 2, float("nan")])
def test_a_percentile_that_is_none_is_reported(part: Any) -> None:
    with pytest.raises(ConfigError, match="from 0 to 1"):
        ToolStats().percentile(part)
