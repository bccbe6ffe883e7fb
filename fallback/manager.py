"""Layer 4's loop: attempt, classify the failure, choose the next plan, until one attempt is accepted or nothing is
left.

It knows no adapter and no prompt: it is given an `attempt` that carries out one plan. Each further attempt has a
recorded reason and is drawn from the one budget, whether or not its request went out. There is no other retry loop.
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

__all__ = ["Attempting", "FallbackManager"]

_log = logger("fallback")

Attempting = Callable[[Plan, Emit[Event]], Awaitable[None]]
"""Carries out one plan: tells its events; ends when the reply was accepted; raises an `LLMCoreError` when it was
not."""

_MAX_LINE = 200
"""Characters of the message of a run that failed."""
_NO_MORE = "no strategy is left: "


class FallbackManager:
    """Asks its strategies, in order, for a way out of each failure.

    The first plan counts; one that keeps to a sick model gives way to a later strategy's plan for another model (see
    `remedies`), and one that would wait beyond the deadline to any later one. Raises `ConfigError` when something among
    `strategies` is none.
    """

    def __init__(self, strategies: Sequence[Strategy] | None = None) -> None:
        self.strategies = tuple(DEFAULT_STRATEGIES) if strategies is None else check_strategies(strategies)

    async def run(self, context: FallbackContext, attempt: Attempting, tell: Emit[Event]) -> None:
        """Carry out `context.plan` and what follows from its failures; tells the events of every attempt, and `Waiting`
        before each wait.

        Raises a `CallerError` as it is, at once, and so a failure of the test's own (a fake model without a reply left); the
        latest failure when the deadline has passed, and a provider's when the deadline leaves no time for the wait it needs; a
        `ConfigError` from the latest failure when a strategy is at fault; else, when nothing is left to try,
        `FallbackExhausted` from the first failure.
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
                    raise  # no model failed: the test gave too few replies, or other ones
                context.failed(failure)
            if context.plan.without and isinstance(context.failure, RequestRefused):
                ledger.spare(context.plan.model)  # it was made to compare
            if len(ledger.attempts) == entered:
                ledger.count_unsent(context.plan.model)
            elif ledger.attempts[-1].failure is context.failure:
                await tell(_failed(ledger.attempts[-1], context.failure))
            plan = context.plan = self.next_plan(context)
            number = len(ledger.attempts) + 1
            _tell(context, number)
            if plan.wait > 0:
                await tell(Waiting(number, plan.model, plan.mode, plan.reason, plan.detail, plan.wait, plan.deployment))
                with ledger.waiting():
                    await asyncio.sleep(_bounded(plan.wait, ledger.seconds_left))

    def next_plan(self, context: FallbackContext) -> Plan:
        """What to try after the latest failure. Raises what `run` raises."""
        failure = context.failure
        failed = context.plan
        if isinstance(failure, CapabilityRefused):
            for capability in failure.capabilities:
                context.models.learn_refused(failed.model, capability, failed.deployment)
        left = context.ledger.seconds_left
        if left is not None and left <= 0:
            raise failure  # the deadline has passed: whatever failed, nothing more can be tried
        context.models.failed(failed.model, failed.deployment, failure)
        plan = self._chosen(context)
        if plan is not None and not _exceeds_deadline(plan, left):
            self._check_budget(context)
            return plan
        no_time = plan is not None and isinstance(failure, ProviderError)
        if (no_time and not context.went_elsewhere) or all(isinstance(one, CallerError) for one in context.failures):
            raise failure
        raise _exhausted(context) from context.first_failure

    def _check_budget(self, context: FallbackContext) -> None:
        """Before a wait that nothing would follow. Raises `LimitExceeded` from the failure."""
        try:
            context.ledger.check()
        except LimitExceeded as spent:
            raise spent from context.failure

    def _chosen(self, context: FallbackContext) -> Plan | None:
        """The plan of the first strategy that has one for a model whose attempts are not spent, unless a later one's is
        better."""
        left, held = context.ledger.seconds_left, None
        for strategy in self.strategies:
            plan = plan_of(strategy, replace(context))  # a copy: what a strategy does to it is its own affair
            if plan is None or context.ledger.attempts_left(plan.model, plan.deployment) <= 0:
                continue
            if held is None or _exceeds_deadline(held, left) or (plan.model != held.model and plan.wait <= PATIENCE):
                held = plan
            if not (_exceeds_deadline(held, left) or context.overstays(held)):
                break
        return held


def _exceeds_deadline(plan: Plan, left: float | None) -> bool:
    return left is not None and plan.wait >= left


def _bounded(wait: float, left: float | None) -> float:
    """Whoever listens may have taken time since the plan was made."""
    return wait if left is None else max(0.0, min(wait, left))


def _failed(attempt: Attempt, failure: LLMCoreError) -> AttemptFailed:
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


def _tell(context: FallbackContext, number: int) -> None:
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
    """The error in one line that can be read; every failure stands in its `details`, and whole in its `attempts`."""
    told = "; then ".join(
        f"{plan.place} ({plan.mode}): {type(failure).__name__}: {failure}"
        for plan, failure in zip(context.tried, context.failures, strict=True)
    )
    last, count = context.failures[-1], len(context.ledger.of_turn)  # re-asks among them; what was not sent is none
    end = f" ({count} attempts failed)" if count > 1 else ""
    words = " ".join(f"{type(last).__name__}: {last}".split())
    room = _MAX_LINE - len(end) - len(_NO_MORE)
    message = f"{_NO_MORE}{_in_room(words, room)}{end}"
    details = f"no strategy is left{_spent(context)}: {told}"
    return FallbackExhausted.of(message, context.ledger.attempts, context.failures, details)


def _in_room(words: str, room: int) -> str:
    """The words without some in the middle, where they are too long: what an error is about stands first, its cause last."""
    if len(words) <= room:
        return words
    first = words[: room // 2].rpartition(" ")[0] or words[: room // 2]
    rest = words[len(first) + 5 - room :]
    return f"{first} ... {rest.partition(' ')[2] or rest}"


def _spent(context: FallbackContext) -> str:
    """Which models' attempts are spent, in words."""
    ledger = context.ledger
    models = [model for model in dict.fromkeys(plan.model for plan in context.tried) if not ledger.attempts_left(model)]
    told = ", ".join(f"{model}'s {ledger.attempts_allowed(model)} attempts" for model in models)
    return f" ({told} of this turn are spent: see Budget.attempts and max_retries)" if told else ""
