"""What a run has spent: no request without an entry, no entry without a reason."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.fallback import Ledger
from llmcore.types import AttemptReason, Budget, CapabilityRefused, ConfigError, InternalError, LimitExceeded, ModelError, Usage


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def left(ledger: Ledger, model: str = "m") -> tuple[int, int]:
    return ledger.attempts_left(model), ledger.reasks_left(model)


def test_attempts_and_reasks_count_per_model_and_turn() -> None:
    ledger = Ledger(Budget(attempts=3, reasks=2))
    ledger.start_turn()
    ledger.start("m", "text", "first")
    assert left(ledger) == (2, 2)
    ledger.start("m", "text", "reask", "a problem")
    assert left(ledger) == (2, 1)
    ledger.start("m", "text", "mode", "another")
    ledger.start("m", "text", "retry", "another")
    assert (left(ledger), left(ledger, "l")) == ((0, 1), (3, 2))
    ledger.start("l", "text", "model", "a fourth")
    ledger.start("l", "text", "reask", "a fifth")
    assert (left(ledger), left(ledger, "l")) == ((0, 1), (2, 1))
    ledger.start_turn()
    assert (left(ledger), left(ledger, "l")) == ((3, 2), (3, 2))
    ledger.start_turn({"m": 1}.get)
    assert (left(ledger), left(ledger, "l")) == ((1, 2), (3, 2))
    assert [attempt.n for attempt in ledger.attempts] == [1, 2, 3, 4, 5, 6]


def test_requests_count_over_the_whole_run() -> None:
    ledger = Ledger(Budget(requests=3))
    ledger.start("m", "text", "first")
    ledger.start("m", "text", "reask", "a problem")
    assert (ledger.requests_left, ledger.reasks_left("m")) == (1, 1)
    ledger.start_turn()
    assert (ledger.requests_left, ledger.reasks_left("m")) == (1, 1)  # no re-ask that could not be made
    ledger.start("l", "text", "turn")
    with pytest.raises(LimitExceeded, match="the budget of 3 requests is spent"):
        ledger.start("m", "text", "turn")
    assert len(ledger.attempts) == 3
    assert Ledger(Budget()).requests_left is None


@pytest.mark.parametrize("reason", ["reask", "mode", "model", "retry"])
def test_a_repeated_request_without_a_recorded_problem_is_an_internal_error(reason: AttemptReason) -> None:
    ledger = Ledger(Budget())
    with pytest.raises(InternalError, match=reason):
        ledger.start("m", "text", reason)
    assert ledger.attempts == []


@pytest.mark.parametrize(
    ("budget", "usage"),
    [
        (Budget(tokens=30), Usage(input_tokens=20, output_tokens=10)),
        (Budget(cost=0.5), Usage(input_tokens=1, cost=0.5)),
    ],
)
def test_a_spent_budget_ends_the_run(budget: Budget, usage: Usage) -> None:
    ledger = Ledger(budget)
    ledger.finish(ledger.start("m", "text", "first"), usage)
    with pytest.raises(LimitExceeded, match="budget"):
        ledger.start("m", "text", "turn")
    assert len(ledger.attempts) == 1


def test_usage_duration_failure_and_report_are_entered() -> None:
    clock = Clock()
    ledger = Ledger(Budget(deadline=10), clock=clock)
    attempt = ledger.start("m", "text", "first")
    clock.now += 2
    ledger.finish(attempt, Usage(input_tokens=3))
    clock.now += 2
    error = ModelError("bad")
    ledger.finish(attempt, failure=error, report="report")
    assert (attempt.duration, attempt.usage.input_tokens, attempt.error, attempt.report) == (2, 3, error, "report")
    assert ledger.usage.input_tokens == 3
    assert ledger.seconds_left == 6


def test_one_unknown_cost_does_not_switch_the_budget_off() -> None:
    ledger = Ledger(Budget(cost=1.0))
    for usage in (Usage(input_tokens=1, cost=0.6), Usage(input_tokens=1), Usage(input_tokens=1, cost=0.6)):
        ledger.finish(ledger.start("m", "text", "turn"), usage)
    assert ledger.usage.cost is None
    with pytest.raises(LimitExceeded, match=r"\$1.2 were used"):
        ledger.check()


@pytest.mark.parametrize(("estimated", "words"), [(False, r"\(13 were used\)"), (True, r"\(about 13 were used\)")])
def test_the_message_says_whether_tokens_are_estimated(estimated: bool, words: str) -> None:
    ledger = Ledger(Budget(tokens=12))
    ledger.finish(ledger.start("m", "text", "first"), Usage(input_tokens=10, output_tokens=3, estimated=estimated))
    with pytest.raises(LimitExceeded, match=words):
        ledger.check()


def test_a_wait_is_part_of_the_attempt_after_it() -> None:
    clock = Clock()
    ledger = Ledger(Budget(), clock=clock)
    with ledger.waiting():
        clock.now += 5
    attempt = ledger.start("m", "text", "retry", "a problem")
    clock.now += 2
    ledger.finish(attempt)
    assert (attempt.waited, attempt.duration) == (5, 7)
    assert ledger.start("m", "text", "retry", "another").waited == 0


def test_an_unsent_attempt_counts_and_its_wait_is_dropped() -> None:
    clock = Clock()
    ledger = Ledger(Budget(attempts=2), clock=clock)
    ledger.start_turn()
    with ledger.waiting():
        clock.now += 5
    ledger.count_unsent("m")
    assert (ledger.attempts_left("m"), ledger.attempts_left("l"), ledger.attempts) == (1, 2, [])
    assert ledger.start("m", "text", "first").waited == 0
    ledger.start_turn()
    assert ledger.attempts_left("m") == 2


def test_the_first_refusal_of_a_parameter_counts_no_attempt() -> None:
    def refused(capability: str) -> CapabilityRefused:
        return CapabilityRefused("no", capability=capability)

    ledger = Ledger(Budget(attempts=2))
    ledger.start_turn()
    ledger.finish(ledger.start("m", "native_tools", "first"), failure=refused("temperature"))
    ledger.finish(ledger.start("m", "native_tools", "mode", "x"), failure=refused("stop"))
    assert (ledger.attempts_left("m"), ledger.attempts_left("l")) == (2, 2)
    ledger.finish(ledger.start("m", "native_tools", "mode", "x"), failure=refused("stop"))  # it was not left out
    assert ledger.attempts_left("m") == 1
    ledger.finish(ledger.start("m", "native_tools", "mode", "x"), failure=refused("native_tools"))
    assert ledger.attempts_left("m") == 0


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("attempts", "a whole number of at least 1"),
        ("reasks", "a whole number of at least 0"),
        ("requests", "a whole number of at least 1"),
        ("tokens", "a whole number of at least 1"),
        ("cost", "a finite number above 0"),
        ("deadline", "a finite number above 0"),
    ],
)
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1, -0.5, True, False, "much", [1]])
def test_an_invalid_bound_is_refused(field: str, words: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"(?s){field}.*must be {words}"):
        Budget(**{field: value})


@pytest.mark.parametrize("field", ["attempts", "tokens", "cost", "deadline"])
def test_a_bound_of_zero_is_refused(field: str) -> None:
    with pytest.raises(ConfigError, match="must be"):
        Budget(**{field: 0})


def test_an_unknown_bound_is_refused() -> None:
    with pytest.raises(ConfigError, match="attemps"):
        Budget(attemps=3)  # type: ignore[call-arg]  # callers without a type checker


def test_uncounted_time_extends_every_deadline_around_it() -> None:
    clock = Clock()
    outer = Ledger(Budget(deadline=10), clock=clock)
    inner = Ledger(Budget(deadline=5), parent=outer, clock=clock)
    clock.now += 1
    with inner.uncounted():
        clock.now += 1000
    assert (inner.seconds_left, outer.seconds_left) == (4, 9)
    assert (inner.seconds_uncounted, outer.seconds_uncounted) == (1000, 1000)
    with pytest.raises(ImportError), Ledger(Budget(), clock=clock).uncounted():
        raise ImportError


def test_concurrent_uncounted_time_extends_a_deadline_once() -> None:
    clock = Clock()
    outer = Ledger(Budget(deadline=10), clock=clock)
    one, other = (Ledger(Budget(), parent=outer, clock=clock) for _ in range(2))
    with one.uncounted():
        clock.now += 5
        with other.uncounted():
            clock.now += 20
            assert (outer.seconds_left, outer.seconds_uncounted) == (10, 25)
    clock.now += 1
    assert (outer.seconds_left, outer.seconds_uncounted) == (9, 25)
    assert (one.seconds_uncounted, other.seconds_uncounted) == (25, 20)
