"""What a run has spent, and what its budget still allows.

Each request is entered as an `Attempt`. Unless it is the first of a run or of a turn, its `detail` names the problem that
made it necessary. `Budget.attempts` and `Budget.reasks` count per model within one turn. Requests, tokens, cost and the
deadline count over the whole run. If an attempt fails before its request is sent, it is not entered, but it counts against
its model's attempts. So the budget bounds every strategy.

A run that a tool starts within another run may share that run's budget. Its ledger then has a parent, and each request,
token, tool call and second counts in all ancestors as well. If an ancestor's budget is spent, every run below that ancestor
ends, even if the code between them catches the error.
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
from llmcore.types.shared.budgets import SharedBudget
from llmcore.types.usage import NO_USAGE

__all__ = ["Ledger"]

T = TypeVar("T", int, float)

_NEEDS_NO_DETAIL = frozenset({"first", "turn"})
_lock = ForkSafeLock()
_MAX_DEPTH = 10
"""How deep runs may nest. Two agents that call each other would otherwise nest until a budget is spent."""


class Ledger:
    """What one run has spent. `parent` is the ledger of the run within which this run was started.

    `shared`: the run's shared budget. `clock` returns seconds; only differences matter. Raises `LimitExceeded` if runs nest too
    deep.
    """

    def __init__(
        self,
        budget: Budget,
        *,
        parent: Ledger | None = None,
        shared: SharedBudget | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.budget = budget
        self.shared_budgets: tuple[SharedBudget, ...] = () if parent is None else parent.shared_budgets
        """The shared budgets of this run and its ancestors, each once."""
        if shared is not None and not any(one is shared for one in self.shared_budgets):
            self.shared_budgets += (shared,)
        self._parent = parent
        self._ends_at: float | None = None
        self._is_unbounded = parent is None and not _bounds(budget)
        self._depth: int = 0 if parent is None else parent._depth + 1
        self._child_requests = 0
        self._refused_child: LimitExceeded | None = None
        self.attempts: list[Attempt] = []
        self.usage = NO_USAGE
        self._clock = clock
        self._allowed: Callable[[str], int | None] = _no_override
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
            raise self._ending_ancestors(
                LimitExceeded(f"runs are nested {_MAX_DEPTH} deep, and one more was started; do agents call each other?")
            )

    def start_turn(self, allowed: Callable[[str], int | None] | None = None) -> None:
        """Start a new turn: the counts of attempts and re-asks start at zero.

        `allowed` returns a model's own number of attempts, or None to use `Budget.attempts`.
        """
        self._turn_started_at = len(self.attempts)
        self._unsent.clear()
        self._allowed = allowed or _no_override

    def attempts_allowed(self, model: str) -> int:
        """How many attempts a turn may make with this model."""
        own = self._allowed(model)
        return self.budget.attempts if own is None else own

    def attempts_left(self, model: str, deployment: str | None = None) -> int:
        """How many attempts with this model are left in this turn, at this deployment.

        These do not count: re-asks, the first attempt at each further deployment, and attempts made without an optional part
        of the request. Neither does an attempt whose parameter was refused by name, since the next attempt omits that
        parameter.
        """
        tried = [one for one in self.of_turn if one.model == model and one.reason != "reask"]
        further = len({*(one.deployment for one in tried), *([] if deployment is None else [deployment])}) - 1
        return max(0, self.attempts_allowed(model) + max(0, further) + _free_refusals(tried) - len(tried) - self._unsent[model])

    def reasks_left(self, model: str) -> int:
        """How many re-asks of this model are left in this turn."""
        left, requests = self.budget.reasks, self.requests_left
        for one in self.of_turn:
            left -= one.reason == "reask" and one.model == model
        return max(0, left if requests is None else min(left, requests))

    @property
    def requests_left(self) -> int | None:
        """How many requests the whole run may still make, None if unbounded."""
        if self._is_unbounded:
            return None
        most, above = self.budget.requests, self._parent
        own = None if most is None else max(0, most - len(self.attempts) - self._child_requests)
        return own if above is None else _smaller(own, above.requests_left)

    @property
    def bounds_cost(self) -> bool:
        """Whether a budget limits the cost, so that the cost of each request must be known."""
        if self.shared_budgets:
            return True
        return self.budget.cost is not None or (self._parent is not None and self._parent.bounds_cost)

    def take_tool_call(self) -> bool:
        """Count a tool call that is about to run. Returns False, and counts nothing, if the budget allows no more."""
        most, above = self.budget.tool_calls, self._parent
        is_left = most is None or self._tool_calls < most
        if is_left and above is not None and not above.take_tool_call():
            above._refused_child = above._calls_spent()
            is_left = False
        if is_left:
            self._tool_calls += 1
        else:
            self._refused_calls += 1
        return is_left

    def check_tool_calls(self) -> None:
        """Raises `LimitExceeded` if `take_tool_call` refused a call."""
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
        """The requests of the current turn."""
        return self.attempts[self._turn_started_at :]

    def count_unsent(self, model: str) -> None:
        """Count an attempt of this turn that failed before its request was entered."""
        self._unsent[model] += 1
        self._wait = None

    def uncount_attempt(self, model: str) -> None:
        """An attempt of this turn counts among no model's."""
        self._unsent[model] -= 1

    @contextmanager
    def waiting(self) -> Generator[None, None, None]:
        """Measure the wait before the next attempt. The next attempt records it as `waited`."""
        since = self._clock()
        try:
            yield
        finally:
            self._wait = (since, self._clock() - since)

    @contextmanager
    def uncounted(self) -> Generator[None, None, None]:
        """Stop the clocks of this run and its ancestors: time spent within counts toward no deadline or timeout.

        If several callers enter at once, their common time is excluded once. Thread-safe.
        """
        ledgers = (self, *self._ancestors())
        for ledger in ledgers:
            ledger._pause_clock()
        try:
            yield
        finally:
            for ledger in ledgers:
                ledger._resume_clock()

    def _pause_clock(self) -> None:
        with _lock:
            if not self._stops:
                self._stopped_at = self._clock()
            self._stops += 1

    def _resume_clock(self) -> None:
        with _lock:
            self._stops -= 1
            if not self._stops:
                self._uncounted += self._clock() - self._stopped_at

    @property
    def seconds_uncounted(self) -> float:
        """Seconds spent within `uncounted` so far. The caller extends timers that were set before by what was added since."""
        with _lock:
            return self._uncounted + (self._clock() - self._stopped_at if self._stops else 0.0)

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the nearest deadline of this run and its ancestors. None without a deadline; may be negative."""
        if self._is_unbounded:
            return None
        ends_at, above = self._ends_at, self._parent
        own = None if ends_at is None else ends_at + self.seconds_uncounted - self._clock()
        return own if above is None else _smaller(own, above.seconds_left)

    def start(self, model: str, mode: OutputMode, reason: AttemptReason, detail: str = "", deployment: str = "") -> Attempt:
        """Enter a request that is about to be sent, and return its `Attempt`.

        Raises `LimitExceeded` if the budget's requests, tokens or cost are spent, and `Timeout` if the deadline has passed.
        """
        if not detail and reason not in _NEEDS_NO_DETAIL:
            raise InternalError(f"a request with the reason {reason!r} needs a recorded problem")
        self.check()
        self.check_deadline()
        if self._parent is not None:
            for above in self._ancestors():
                above._child_requests += 1
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
        """Enter the outcome of a request. A second call adds what became known later; the caller passes `usage` once."""
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
        """Raises `Timeout` if the deadline has passed. Timers do not fire while code blocks the event loop, so this reads the
        clock."""
        left = self.seconds_left
        if left is not None and left <= 0:
            raise Timeout("the run's deadline has passed", status=None)

    def check(self) -> None:
        """Raises `LimitExceeded` if requests, tokens or cost are spent, in this ledger or in an ancestor.

        `self._cost` exists beside `self.usage` because the cost in `usage` becomes unknown once a single cost is.
        """
        if self._is_unbounded:
            return
        if self._parent is not None:
            self._parent.check_for_child()
        budget, tokens = self.budget, self.usage.total_tokens
        if self.requests_left == 0:
            raise LimitExceeded(f"the budget of {budget.requests} requests is spent; raise Budget.requests, or leave it out")
        if budget.tokens is not None and tokens >= budget.tokens:
            about = "about " if self.usage.estimated else ""
            raise LimitExceeded(f"the budget of {budget.tokens} tokens is spent ({about}{tokens} were used)")
        if budget.cost is not None and self._cost >= budget.cost:
            raise LimitExceeded(f"the budget of {dollars(budget.cost)} is spent ({dollars(self._cost)} were used)")

    def check_for_child(self) -> None:
        """Do the same as `check` for a run within this one. A refusal also ends this run: see `check_refused_child`."""
        try:
            self.check()
        except LimitExceeded as error:
            self._refused_child = error
            raise

    @property
    def has_refused_child(self) -> bool:
        """Whether this budget, or an ancestor's, refused something to a run within this one."""
        return self._refused_child is not None

    def check_refused_child(self) -> None:
        """Raises `LimitExceeded` if `has_refused_child`."""
        if self._refused_child is not None:
            raise LimitExceeded(str(self._refused_child))

    def _ending_ancestors(self, error: LimitExceeded) -> LimitExceeded:
        for above in self._ancestors():
            above._refused_child = error
        return error

    def _ancestors(self) -> Iterator[Ledger]:
        above = self._parent
        while above is not None:
            yield above
            above = above._parent


def _bounds(budget: Budget) -> bool:
    """Whether the budget limits more than attempts. If not, requests need not be added up."""
    bounds = (budget.requests, budget.tokens, budget.cost, budget.deadline)
    return any(bound is not None for bound in bounds)


_OMITTABLE = PARAMETERS | {
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
"""Parts that a server refuses by name, and that the next request in the same mode omits. Each is free once, so retries end."""


def _free_refusals(tried: Iterable[Attempt]) -> int:
    """How many attempts failed because of a parameter that no earlier refusal had named."""
    named: set[str] = set()
    count = 0
    for one in tried:
        count += not named.issuperset(found := _refused_parameters(one.failure))
        named |= found
    return count


def _refused_parameters(failure: BaseException | None) -> frozenset[str]:
    """The parameters that a refusal names. Empty for other failures, and if it names anything that cannot be omitted."""
    names = frozenset(failure.capabilities if isinstance(failure, CapabilityRefused) else ())
    return names if all("+" in name or name in _OMITTABLE for name in names) else frozenset()


def _smaller(first: T | None, second: T | None) -> T | None:
    return min((bound for bound in (first, second) if bound is not None), default=None)


def _no_override(_: str) -> int | None:
    return None
