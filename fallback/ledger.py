"""What a run has spent and what it may still spend: one list of attempts, drawn on by whoever makes a request.

Rules: no request without an attempt in the list; no attempt but the first and a turn's without the recorded problem
that made it necessary. `Budget.attempts` and `reasks` count per model within one turn, requests, tokens, cost and the
deadline over the whole run. An attempt that failed before its request went out stands in no list, but counts among its
model's: so the budget bounds whatever strategies make of failures.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from llmcore.adapters.secrets.known_secrets import hide_in_error, process_scrubber
from llmcore.types import Attempt, AttemptReason, Budget, InternalError, LimitExceeded, LLMCoreError, OutputMode, Timeout, Usage
from llmcore.types.others_words import MAX_MESSAGE, bounded

__all__ = ["Ledger"]

_NEEDS_NO_DETAIL = frozenset({"first", "turn"})


class Ledger:
    """One run's spending. `clock` is in seconds and only differences matter."""

    def __init__(self, budget: Budget, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.budget = budget
        self.attempts: list[Attempt] = []
        self.usage = Usage()
        self._clock = clock
        self._allowed: Callable[[str], int | None] = _no_other
        self._started = clock()
        self._turn_started_at = 0
        self._unsent = Counter[str]()
        self._cost = 0.0
        self._tool_calls = 0
        self._refused_calls = 0
        self._wait: tuple[float, float] | None = None
        self._begun: dict[int, float] = {}

    def start_turn(self, allowed: Callable[[str], int | None] | None = None) -> None:
        """A new turn has its attempts and re-asks anew; what `allowed` says of a model takes the place of the budget's
        attempts."""
        self._turn_started_at = len(self.attempts)
        self._unsent.clear()
        self._allowed = allowed or _no_other

    def attempts_allowed(self, model: str) -> int:
        """How many attempts a turn may make with this model."""
        own = self._allowed(model)
        return self.budget.attempts if own is None else own

    def attempts_left(self, model: str, deployment: str | None = None) -> int:
        """How many of them are left in this turn, at this deployment. Re-asks are counted apart, and so is the first
        attempt at each further deployment."""
        places = [one.deployment for one in self.of_turn if one.model == model and one.reason != "reask"]
        further = len({*places, *([] if deployment is None else [deployment])}) - 1
        return max(0, self.attempts_allowed(model) + max(0, further) - len(places) - self._unsent[model])

    def reasks_left(self, model: str) -> int:
        """How many self-corrections this turn may still ask of this model."""
        made = sum(attempt.model == model and attempt.reason == "reask" for attempt in self.of_turn)
        left = self.budget.reasks - made
        return max(0, left if self.requests_left is None else min(left, self.requests_left))

    @property
    def requests_left(self) -> int | None:
        """Of the whole run; None = unbounded."""
        return None if self.budget.requests is None else max(0, self.budget.requests - len(self.attempts))

    def take_tool_call(self) -> bool:
        """Count a call that is about to be carried out. False, and not counted, when none is left of the budget."""
        most = self.budget.tool_calls
        if most is not None and self._tool_calls >= most:
            self._refused_calls += 1
            return False
        self._tool_calls += 1
        return True

    def check_tool_calls(self) -> None:
        """Raises `LimitExceeded` when a call was refused because none was left."""
        if self._refused_calls:
            raise LimitExceeded(
                f"the budget of {self.budget.tool_calls} tool calls is spent, and {self._refused_calls} more were asked for; "
                "raise Budget.tool_calls, or look at the partial result"
            )

    @property
    def of_turn(self) -> list[Attempt]:
        """The requests of the present turn."""
        return self.attempts[self._turn_started_at :]

    def count_unsent(self, model: str) -> None:
        """An attempt of this turn failed before its request was entered."""
        self._unsent[model] += 1
        self._wait = None

    @contextmanager
    def waiting(self) -> Generator[None, None, None]:
        """Set around the wait before the next attempt, which the wait is a part of."""
        since = self._clock()
        try:
            yield
        finally:
            self._wait = (since, self._clock() - since)

    @property
    def seconds_left(self) -> float | None:
        """Until the deadline; None = there is none. May be negative."""
        if self.budget.deadline is None:
            return None
        return self._started + self.budget.deadline - self._clock()

    def start(self, model: str, mode: OutputMode, reason: AttemptReason, detail: str = "", deployment: str = "") -> Attempt:
        """Enter a request that is about to be made.

        Raises `LimitExceeded` when requests, tokens or cost of the budget are spent, and `Timeout` when the deadline has passed.
        """
        if not detail and reason not in _NEEDS_NO_DETAIL:
            raise InternalError(f"a request of reason {reason!r} without a recorded problem")
        self.check()
        self.check_deadline()
        begun, waited = self._wait or (self._clock(), 0.0)
        self._wait = None
        detail = bounded(process_scrubber().text(detail), MAX_MESSAGE) if detail else ""
        attempt = Attempt(
            n=len(self.attempts) + 1,
            model=model,
            mode=mode,
            reason=reason,
            deployment=deployment,
            detail=detail,
            waited=waited,
        )
        self.attempts.append(attempt)
        self._begun[attempt.n] = begun
        return attempt

    def finish(
        self, attempt: Attempt, usage: Usage | None = None, *, failure: LLMCoreError | None = None, report: Any = None
    ) -> None:
        """Enter what became of it. May be called again to add what was learnt later; usage is counted once."""
        if usage is not None:
            attempt.usage = usage
            self.usage += usage
            self._cost += max(0.0, usage.cost or 0.0)
        begun = self._begun.pop(attempt.n, None)
        if begun is not None:
            attempt.duration = self._clock() - begun
        if failure is not None:
            hide_in_error(failure)
            attempt.failure = failure
        attempt.report = report or attempt.report

    def check_deadline(self) -> None:
        """Raises `Timeout` when the deadline has passed. It looks at the clock, for a timer does not ring while something
        blocks the event loop."""
        left = self.seconds_left
        if left is not None and left <= 0:
            raise Timeout("the run's deadline has passed", status=None)

    def check(self) -> None:
        """Raises `LimitExceeded` when requests, tokens or cost are spent.

        The cost has a sum of its own: that of `usage` is unknown as soon as one cost is.
        """
        budget, tokens = self.budget, self.usage.total_tokens
        if self.requests_left == 0:
            raise LimitExceeded(f"the budget of {budget.requests} requests is spent; raise Budget.requests, or leave it out")
        if budget.tokens is not None and tokens >= budget.tokens:
            raise LimitExceeded(f"the budget of {budget.tokens} tokens is spent ({tokens} were used)")
        if budget.cost is not None and self._cost >= budget.cost:
            raise LimitExceeded(f"the budget of {budget.cost:g} US dollars is spent ({self._cost:.6f} were used)")


def _no_other(_: str) -> int | None:
    return None
