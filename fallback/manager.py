"""The retry loop: runs an attempt, classifies the failure, and chooses the next plan, until an attempt succeeds or none is
left.

The manager knows no adapter and no prompt. Its caller passes a function that carries out one plan. Each further attempt has a
recorded reason and counts in the one budget, even if its request was never sent. llmcore has no other retry loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from llmcore.fallback.checks import check_strategies, plan_of
from llmcore.fallback.context import FallbackContext, Plan
from llmcore.fallback.remedies import PATIENCE
from llmcore.fallback.strategies import DEFAULT_STRATEGIES, Strategy
from llmcore.support.code.emitter import Emit
from llmcore.support.code.test_failures import test_failure_in
from llmcore.types import (
    Attempt,
    AttemptFailed,
    CallerError,
    CapabilityRefused,
    Event,
    FallbackExhausted,
    LimitExceeded,
    LLMCoreError,
    ProviderError,
    RequestRefused,
    Waiting,
)
from llmcore.types.logs import failure_name, logger

__all__ = ["AttemptRunner", "FallbackManager"]

_log = logger("fallback")

AttemptRunner = Callable[[Plan, Emit[Event]], Awaitable[None]]
"""Carries out one plan and emits its events. Returns once the reply is accepted; raises an `LLMCoreError` otherwise."""

_MAX_LINE = 200
"""The longest message of a `FallbackExhausted`, in characters."""
_NO_MORE = "no strategy is left: "


class FallbackManager:
    """Asks its strategies, in order, for a plan after each failure. The first plan wins, with two exceptions.

    - If the plan exceeds the patience for a model (see `remedies`), a later strategy's plan for another model replaces it.
    - If the plan waits beyond the deadline, any later plan replaces it.

    Raises `ConfigError` if an item of `strategies` is not a strategy. The default is `DEFAULT_STRATEGIES`.
    """

    def __init__(self, strategies: Sequence[Strategy] | None = None) -> None:
        self.strategies = tuple(DEFAULT_STRATEGIES) if strategies is None else check_strategies(strategies)

    async def run(self, context: FallbackContext, attempt: AttemptRunner, tell: Emit[Event]) -> None:
        """Carry out `context.plan`, then a new plan after each failure. Emits each attempt's events, and `Waiting` before a
        wait.

        Raises:
        - the latest failure, unchanged, if no strategy has a plan and every failure is a `CallerError`;
        - a failure of the test itself (a fake model without a reply left), unchanged;
        - the latest failure, if the deadline has passed;
        - a provider's failure, if its wait exceeds the deadline and no other place was tried;
        - `ConfigError`, from the latest failure, if a strategy is faulty;
        - `LimitExceeded`, from the latest failure, if the budget is spent;
        - `FallbackExhausted`, from the first failure, if no strategy has a plan.
        """
        ledger = context.ledger
        while True:
            entered = len(ledger.attempts)
            try:
                await attempt(context.plan, tell)
                context.models.worked(context.plan.model, context.plan.deployment)
                return
            except LLMCoreError as failure:
                if test_failure_in(failure) is failure:
                    raise  # the model did not fail: the test's replies are too few or wrong
                context.failed(failure)
            if context.plan.without and isinstance(context.failure, RequestRefused):
                ledger.uncount_attempt(context.plan.model)  # it showed whether a part of the request was the reason
            if len(ledger.attempts) == entered:
                ledger.count_unsent(context.plan.model)
            elif ledger.attempts[-1].failure is context.failure:
                await tell(_failed_event(ledger.attempts[-1], context.failure))
            plan = context.plan = self.next_plan(context)
            await context.models.share_cooldowns()
            number = len(ledger.attempts) + 1
            _log_plan(context, number)
            if plan.wait > 0:
                await tell(Waiting(number, plan.model, plan.mode, plan.reason, plan.detail, plan.wait, plan.deployment))
                with ledger.waiting():
                    await asyncio.sleep(_capped(plan.wait, ledger.seconds_left))

    def next_plan(self, context: FallbackContext) -> Plan:
        """Return the plan that follows the latest failure. Raises the same errors as `run`."""
        failure = context.failure
        failed = context.plan
        if isinstance(failure, CapabilityRefused):
            for capability in failure.capabilities:
                context.models.learn_refused(failed.model, capability, failed.deployment)
        left = context.ledger.seconds_left
        if left is not None and left <= 0:
            raise failure  # the deadline has passed
        context.models.failed(failed.model, failed.deployment, failure)
        plan = self._chosen(context)
        if plan is not None and not _exceeds_deadline(plan, left):
            self._check_budget(context)
            return plan
        no_time = plan is not None and isinstance(failure, ProviderError)
        if (no_time and not context.tried_several_deployments) or all(isinstance(one, CallerError) for one in context.failures):
            raise failure
        raise _exhausted(context) from context.first_failure

    def _check_budget(self, context: FallbackContext) -> None:
        """Raises `LimitExceeded`, from the failure, before a wait that no request could follow."""
        try:
            context.ledger.check()
        except LimitExceeded as spent:
            raise spent from context.failure

    def _chosen(self, context: FallbackContext) -> Plan | None:
        """The first plan for a model with attempts left, or the later plan that replaces it."""
        left, best = context.ledger.seconds_left, None
        for strategy in self.strategies:
            plan = plan_of(strategy, replace(context))  # a copy: a strategy may change it without effect
            if plan is None or context.ledger.attempts_left(plan.model, plan.deployment) <= 0:
                continue
            if best is None or _exceeds_deadline(best, left) or (plan.model != best.model and plan.wait <= PATIENCE):
                best = plan
            if not (_exceeds_deadline(best, left) or context.exceeds_patience(best)):
                break
        return best


def _exceeds_deadline(plan: Plan, left: float | None) -> bool:
    return left is not None and plan.wait >= left


def _capped(wait: float, left: float | None) -> float:
    """The wait, at most until the deadline. An event's consumer may have used time since the plan was made."""
    return wait if left is None else max(0.0, min(wait, left))


def _failed_event(attempt: Attempt, failure: LLMCoreError) -> AttemptFailed:
    return AttemptFailed(
        attempt.n,
        attempt.model,
        attempt.mode,
        type(failure).__name__,
        str(failure),
        failure.status,
        attempt.duration,
        attempt.deployment,
    )


def _log_plan(context: FallbackContext, number: int) -> None:
    plan, failure = context.plan, context.failure
    extra = {"attempt": number, "model": plan.model, "mode": plan.mode, "reason": plan.reason, "wait": plan.wait}
    extra |= {"failure": type(failure).__name__, "status": failure.status}
    _log.info(
        "attempt %d: %s (%s), %s after %s, waiting %.2f s",
        number,
        plan.place,
        plan.mode,
        plan.reason,
        failure_name(failure),
        plan.wait,
        extra=extra,
    )


def _exhausted(context: FallbackContext) -> FallbackExhausted:
    """An error with a short message. Its `details` name every failure, and its `attempts` hold them."""
    failures = "; then ".join(
        f"{plan.place} ({plan.mode}): {type(failure).__name__}: {failure}"
        for plan, failure in zip(context.tried, context.failures, strict=True)
    )
    last, count = context.failures[-1], len(context.ledger.of_turn)  # includes re-asks, excludes unsent attempts
    end = f" ({count} attempts failed)" if count > 1 else ""
    words = " ".join(f"{type(last).__name__}: {last}".split())
    length = _MAX_LINE - len(end) - len(_NO_MORE)
    message = f"{_NO_MORE}{_shortened(words, length)}{end}"
    details = f"no strategy is left{_spent_attempts(context)}: {failures}"
    return FallbackExhausted.of(message, context.ledger.attempts, context.failures, details)


def _shortened(words: str, length: int) -> str:
    """The words without some in the middle, if they are too long. An error names its subject first and its cause last."""
    if len(words) <= length:
        return words
    first = words[: length // 2].rpartition(" ")[0] or words[: length // 2]
    rest = words[len(first) + 5 - length :]
    return f"{first} ... {rest.partition(' ')[2] or rest}"


def _spent_attempts(context: FallbackContext) -> str:
    """Which models have no attempts left, in words."""
    ledger = context.ledger
    models = [model for model in dict.fromkeys(plan.model for plan in context.tried) if not ledger.attempts_left(model)]
    spent = ", ".join(f"{model}'s {ledger.attempts_allowed(model)} attempts" for model in models)
    return f" ({spent} of this turn are spent: see Budget.attempts and max_retries)" if spent else ""
