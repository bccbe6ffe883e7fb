"""What a run has spent and what it may still spend: one list of attempts, drawn on by whoever makes a request.

Rules: no request without an attempt in the list; no attempt but the first and a turn's without the recorded problem
that made it necessary. `Budget.attempts` and `reasks` count per model within one turn, requests, tokens, cost and the
deadline over the whole run. An attempt that failed before its request went out stands in no list, but counts among its
model's: so the budget bounds whatever strategies make of failures.

A run that a tool of another one makes may spend from that one's budget besides its own: its ledger has a parent, and each
request, token, tool call and second counts there as well, all the way up. What a ledger above refuses ends the runs on the way
down to it, whatever the code between them makes of the error.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from llmcore.adapters.capabilities.facts import PARAMETERS
from llmcore.adapters.secrets.known_secrets import hide_in_error, process_scrubber
from llmcore.support.code.fork_safe_lock import ForkSafeLock
from llmcore.support.code.quoted_words import MAX_MESSAGE, clipped_words
from llmcore.support.code.suggestions import dollars
from llmcore.support.values.copies import assign_field, made
from llmcore.types import (
    Attempt,
    AttemptReason,
    Budget,
    CapabilityRefused,
    InternalError,
    LimitExceeded,
    LLMCoreError,
    OutputMode,
    Timeout,
    Usage,
)
from llmcore.types.usage import NO_USAGE

__all__ = ["Ledger"]

T = TypeVar("T", int, float)

_NEEDS_NO_DETAIL = frozenset({"first", "turn"})
_lock = ForkSafeLock()
_MAX_DEPTH = 10
"""Runs within runs. Two agents that ask each other would otherwise do so until the budget, if there is one, is spent."""


class Ledger:
    """One run's spending. `clock` is in seconds and only differences matter. `parent`: the ledger of the run within which this
    one is made. Raises `LimitExceeded` where runs are made within runs without end."""

    def __init__(self, budget: Budget, *, parent: Ledger | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.budget = budget
        self._parent = parent
        self._ends_at: float | None = None
        self._bounds_nothing = parent is None and not _bounds(budget)
        self._depth: int = 0 if parent is None else parent._depth + 1
        self._requests_below = 0
        self._refused_below: LimitExceeded | None = None
        self.attempts: list[Attempt] = []
        self.usage = NO_USAGE
        self._clock = clock
        self._allowed: Callable[[str], int | None] = _no_other
        self._turn_started_at = 0
        self._unsent: defaultdict[str, int] = defaultdict(int)
        self._cost = 0.0
        self._tool_calls = 0
        self._refused_calls = 0
        self._wait: tuple[float, float] | None = None
        self._begun: dict[int, float] = {}
        self._stops = 0
        self._stopped_at = self._uncounted = 0.0
        if budget.deadline is not None:
            self._ends_at = clock() + budget.deadline
        if self._depth > _MAX_DEPTH:
            raise self._refusing_all(
                LimitExceeded(
                    f"runs were made within runs {_MAX_DEPTH} deep, and one more was asked for; do agents ask each other?"
                )
            )

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
        attempt at each further deployment, one that was refused for a parameter which the next goes without, and one that was
        made without a part of the request to see whether that is the reason."""
        tried = [one for one in self.of_turn if one.model == model and one.reason != "reask"]
        further = len({*(one.deployment for one in tried), *([] if deployment is None else [deployment])}) - 1
        return max(0, self.attempts_allowed(model) + max(0, further) + _spared(tried) - len(tried) - self._unsent[model])

    def reasks_left(self, model: str) -> int:
        """How many self-corrections this turn may still ask of this model."""
        left, requests = self.budget.reasks, self.requests_left
        for one in self.of_turn:
            left -= one.reason == "reask" and one.model == model
        return max(0, left if requests is None else min(left, requests))

    @property
    def requests_left(self) -> int | None:
        """Of the whole run; None = unbounded."""
        if self._bounds_nothing:
            return None
        most, above = self.budget.requests, self._parent
        own = None if most is None else max(0, most - len(self.attempts) - self._requests_below)
        return own if above is None else _least(own, above.requests_left)

    @property
    def bounds_cost(self) -> bool:
        """Must the cost of each request be known?"""
        if self._bounds_nothing:
            return False
        return self.budget.cost is not None or (self._parent is not None and self._parent.bounds_cost)

    def take_tool_call(self) -> bool:
        """Count a call that is about to be carried out. False, and not counted, when none is left of the budget."""
        most, above = self.budget.tool_calls, self._parent
        is_left = most is None or self._tool_calls < most
        if is_left and above is not None and not above.take_tool_call():
            above._refused_below = above._calls_spent()
            is_left = False
        if is_left:
            self._tool_calls += 1
        else:
            self._refused_calls += 1
        return is_left

    def check_tool_calls(self) -> None:
        """Raises `LimitExceeded` when a call was refused because none was left."""
        if self._refused_calls:
            raise self._calls_spent()

    def _calls_spent(self) -> LimitExceeded:
        most = self.budget.tool_calls
        if self._parent is not None and (most is None or self._tool_calls < most):
            return self._parent._calls_spent()
        return LimitExceeded(
            f"the budget of {most} tool calls is spent, and {self._refused_calls} more were asked for; "
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

    def spare(self, model: str) -> None:
        """An attempt of this turn counts among no model's."""
        self._unsent[model] -= 1

    @contextmanager
    def waiting(self) -> Generator[None, None, None]:
        """Set around the wait before the next attempt, which the wait is a part of."""
        since = self._clock()
        try:
            yield
        finally:
            self._wait = (since, self._clock() - since)

    @contextmanager
    def uncounted(self) -> Generator[None, None, None]:
        """What is done within takes no time of a deadline or timeout, of this run or of one around it. What is done at the same
        time counts once. Any thread may enter."""
        ledgers = (self, *self._above())
        for ledger in ledgers:
            ledger._stop()
        try:
            yield
        finally:
            for ledger in ledgers:
                ledger._go_on()

    def _stop(self) -> None:
        with _lock:
            if not self._stops:
                self._stopped_at = self._clock()
            self._stops += 1

    def _go_on(self) -> None:
        with _lock:
            self._stops -= 1
            if not self._stops:
                self._uncounted += self._clock() - self._stopped_at

    @property
    def seconds_uncounted(self) -> float:
        """What was done so far as `uncounted` took so long. Timers that were set before are put off by what is added."""
        with _lock:
            return self._uncounted + (self._clock() - self._stopped_at if self._stops else 0.0)

    @property
    def seconds_left(self) -> float | None:
        """Until the deadline, the nearest one; None = there is none. May be negative."""
        if self._bounds_nothing:
            return None
        ends_at, above = self._ends_at, self._parent
        own = None if ends_at is None else ends_at + self.seconds_uncounted - self._clock()
        return own if above is None else _least(own, above.seconds_left)

    def start(self, model: str, mode: OutputMode, reason: AttemptReason, detail: str = "", deployment: str = "") -> Attempt:
        """Enter a request that is about to be made.

        Raises `LimitExceeded` when requests, tokens or cost of the budget are spent, and `Timeout` when the deadline has passed.
        """
        if not detail and reason not in _NEEDS_NO_DETAIL:
            raise InternalError(f"a request of reason {reason!r} without a recorded problem")
        self.check()
        self.check_deadline()
        if self._parent is not None:
            for above in self._above():
                above._requests_below += 1
        begun, waited = self._wait or (self._clock(), 0.0)
        self._wait = None
        detail = clipped_words(process_scrubber().text(detail), MAX_MESSAGE) if detail else ""
        attempt = made(
            Attempt,
            n=len(self.attempts) + 1,
            model=model,
            mode=mode,
            reason=reason,
            deployment=deployment,
            detail=detail,
            waited=waited,
            usage=NO_USAGE,
        )
        self.attempts.append(attempt)
        self._begun[attempt.n] = begun
        return attempt

    def finish(
        self, attempt: Attempt, usage: Usage | None = None, *, failure: LLMCoreError | None = None, report: Any = None
    ) -> None:
        """Enter what became of it. May be called again to add what was learnt later; usage is counted once."""
        learnt: dict[str, Any] = {}
        if usage is not None:
            learnt["usage"] = usage
            self._spend(usage)
        begun = self._begun.pop(attempt.n, None)
        if begun is not None:
            learnt["duration"] = self._clock() - begun
        if failure is not None:
            hide_in_error(failure)
            learnt["failure"] = failure
        if report is not None:
            learnt["report"] = report
        assign_field(attempt, **learnt)

    def _spend(self, usage: Usage) -> None:
        self.usage += usage
        if usage.cost:
            self._cost += max(0.0, usage.cost)
        if self._parent is not None:
            self._parent._spend(usage)

    def check_deadline(self) -> None:
        """Raises `Timeout` when the deadline has passed. It looks at the clock, for a timer does not ring while something
        blocks the event loop."""
        left = self.seconds_left
        if left is not None and left <= 0:
            raise Timeout("the run's deadline has passed", status=None)

    def check(self) -> None:
        """Raises `LimitExceeded` when requests, tokens or cost are spent, here or above.

        The cost has a sum of its own: that of `usage` is unknown as soon as one cost is.
        """
        if self._bounds_nothing:
            return
        if self._parent is not None:
            self._parent.check_for_those_below()
        budget, tokens = self.budget, self.usage.total_tokens
        if self.requests_left == 0:
            raise LimitExceeded(f"the budget of {budget.requests} requests is spent; raise Budget.requests, or leave it out")
        if budget.tokens is not None and tokens >= budget.tokens:
            about = "about " if self.usage.estimated else ""
            raise LimitExceeded(f"the budget of {budget.tokens} tokens is spent ({about}{tokens} were used)")
        if budget.cost is not None and self._cost >= budget.cost:
            raise LimitExceeded(f"the budget of {dollars(budget.cost)} is spent ({dollars(self._cost)} were used)")

    def check_for_those_below(self) -> None:
        """As `check`, asked by a run within this one. What is refused then ends this run too: see `check_refused_below`."""
        try:
            self.check()
        except LimitExceeded as error:
            self._refused_below = error
            raise

    @property
    def has_refused_below(self) -> bool:
        """Was something refused to a run within this one, by this budget or one above?"""
        return self._refused_below is not None

    def check_refused_below(self) -> None:
        """Raises `LimitExceeded` when `has_refused_below`."""
        if self._refused_below is not None:
            raise LimitExceeded(str(self._refused_below))

    def _refusing_all(self, error: LimitExceeded) -> LimitExceeded:
        for above in self._above():
            above._refused_below = error
        return error

    def _above(self) -> Iterator[Ledger]:
        above = self._parent
        while above is not None:
            yield above
            above = above._parent


def _bounds(budget: Budget) -> bool:
    """Does it bound more than the attempts of a turn? Most do not, and then nothing needs to be counted up at each request."""
    bounds = (budget.requests, budget.tokens, budget.cost, budget.deadline)
    return any(bound is not None for bound in bounds)


_LEFT_OUT = PARAMETERS | {
    *(
        "parallel_tools",
        "tool_choice_required",
        "tool_choice_named",
        "reasoning",
        "streaming",
        "streaming_with_tools",
        "web_search",
    )
}
"""What is refused by its name, and left out of the next request in the same mode. Each is spared once, so there is an end."""


def _spared(tried: Iterable[Attempt]) -> int:
    """How many of these were refused for parameters that no earlier one had named."""
    named: set[str] = set()
    count = 0
    for one in tried:
        count += not named.issuperset(found := _left_out(one.failure))
        named |= found
    return count


def _left_out(failure: BaseException | None) -> frozenset[str]:
    """The parameters that a refusal names; none where it names anything else, and of any other failure."""
    names = frozenset(failure.capabilities if isinstance(failure, CapabilityRefused) else ())
    return names if all("+" in name or name in _LEFT_OUT for name in names) else frozenset()


def _least(one: T | None, other: T | None) -> T | None:
    return min((each for each in (one, other) if each is not None), default=None)


def _no_other(_: str) -> int | None:
    return None
