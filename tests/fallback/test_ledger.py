"""What a run has spent: no request without an entry, no entry without a reason."""

from __future__ import annotations

import pytest

from llmcore.fallback import Ledger
from llmcore.types import AttemptReason, Budget, InternalError, LimitExceeded, ModelError, Usage


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_attempts_and_reasks_count_within_a_turn() -> None:
    ledger = Ledger(Budget(attempts=3, reasks=2))
    ledger.start_turn()
    ledger.start("m", "text", "first")
    assert (ledger.attempts_left, ledger.reasks_left) == (2, 2)
    ledger.start("m", "text", "reask", "a problem")
    assert (ledger.attempts_left, ledger.reasks_left) == (1, 1)
    ledger.start("m", "text", "mode", "another")
    assert (ledger.attempts_left, ledger.reasks_left) == (0, 0)
    ledger.start_turn()
    assert (ledger.attempts_left, ledger.reasks_left) == (3, 2)
    ledger.start_turn(1)
    assert (ledger.attempts_left, ledger.reasks_left) == (1, 1)
    assert [attempt.n for attempt in ledger.attempts] == [1, 2, 3]


@pytest.mark.parametrize("reason", ["reask", "mode", "model", "retry"])
def test_a_repeated_request_without_a_recorded_problem_is_our_fault(reason: AttemptReason) -> None:
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
def test_what_is_spent_ends_the_run(budget: Budget, usage: Usage) -> None:
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
