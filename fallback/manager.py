"""Layer 4's loop: attempt, classify the failure, choose the next plan, until one attempt is accepted or nothing is
left.

It knows no adapter and no prompt: it is given an `attempt` that carries out one plan. Each further attempt has a
recorded reason and is drawn from the one budget. There is no other retry loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from llmcore.fallback.context import FallbackContext, Plan
from llmcore.fallback.strategies import DEFAULT_STRATEGIES, Strategy
from llmcore.types import CallerError, CapabilityRefused, Event, FallbackExhausted, LLMCoreError

__all__ = ["Attempting", "FallbackManager"]

Attempting = Callable[[Plan], AsyncGenerator[Event, None]]
"""Carries out one plan: yields its events; ends when the reply was accepted; raises an `LLMCoreError` when it was
not."""


class FallbackManager:
    """Asks its strategies, in order, for a way out of each failure."""

    def __init__(self, strategies: Sequence[Strategy] | None = None) -> None:
        self.strategies = tuple(DEFAULT_STRATEGIES if strategies is None else strategies)

    async def run(self, context: FallbackContext, attempt: Attempting) -> AsyncGenerator[Event, None]:
        """Carry out `context.plan` and what follows from its failures; yields the events of every attempt.

        Raises a `CallerError` as it is, at once; else, when nothing is left to try, `FallbackExhausted` from the
        first failure.
        """
        while True:
            try:
                async with aclosing(attempt(context.plan)) as events:
                    async for event in events:
                        yield event
                return
            except LLMCoreError as failure:
                context.failed(failure)
            context.plan = self.next_plan(context)
            if context.plan.wait > 0:
                await asyncio.sleep(context.plan.wait)

    def next_plan(self, context: FallbackContext) -> Plan:
        """What to try after the latest failure. Raises what `run` raises."""
        failure = context.failure
        if isinstance(failure, CapabilityRefused):
            context.models.learn_refused(context.plan.model, failure.capability)
        left = context.ledger.seconds_left
        if left is not None and left <= 0:
            raise failure  # the deadline has passed: whatever failed, nothing more can be tried
        if context.ledger.attempts_left > 0:
            for strategy in self.strategies:
                if strategy.can_handle(failure, context):
                    return strategy.execute(context)
        if isinstance(failure, CallerError):
            raise failure
        raise _exhausted(context) from context.first_failure


def _exhausted(context: FallbackContext) -> FallbackExhausted:
    attempts = context.ledger.attempts
    words = "; then ".join(
        f"{plan.model} ({plan.mode}): {type(failure).__name__}: {failure}"
        for plan, failure in zip(context.tried, context.failures, strict=True)
    )
    spent = "" if context.ledger.attempts_left else f" (the budget's {context.ledger.attempts_in_turn} attempts are spent)"
    return FallbackExhausted(f"no strategy is left{spent}: {words}", attempts)
