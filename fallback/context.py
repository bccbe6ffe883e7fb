"""What strategies are told: the plan that failed, why, what was tried, and what else there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from llmcore.fallback.ledger import Ledger
from llmcore.fallback.remedies import PATIENCE, TRIES, remedies
from llmcore.types import AttemptReason, LLMCoreError, OutputMode

__all__ = ["FallbackContext", "Models", "Plan"]


@dataclass(frozen=True, slots=True)
class Plan:
    """The next attempt: which model (alias), in which mode, why (`detail`: the recorded problem), after how many
    seconds.

    What a strategy leaves out of `reason` and `detail` is filled in: what the plan changes, and the latest failure.
    """

    model: str
    mode: OutputMode
    reason: AttemptReason = "first"
    detail: str = ""
    wait: float = 0.0


class Models(Protocol):
    """What strategies may ask about models. Answers reflect what was learnt meanwhile."""

    def modes(self, model: str) -> Sequence[OutputMode]:
        """The modes this model may be asked in, best first; those known to be refused left out. One entry at least.

        Raises `ModelNotFound` for an alias that does not exist.
        """
        ...

    def escalations(self, model: str) -> Sequence[str]:
        """The models to go to when this one fails, in order; only those that can take the request."""
        ...

    def window(self, model: str) -> int | None:
        """The context window in tokens, None when unknown."""
        ...

    def provider(self, model: str) -> str: ...

    def may_change_mode(self, model: str) -> bool: ...

    def learn_refused(self, model: str, capability: str) -> None:
        """The endpoint refused a capability or parameter."""
        ...


@dataclass(slots=True)
class FallbackContext:
    """One turn's state; strategies get a copy. `mode_matters`: tools or a typed answer are asked for, so another mode is
    another request."""

    models: Models
    ledger: Ledger
    plan: Plan
    mode_matters: bool = True
    tried: tuple[Plan, ...] = ()
    failures: tuple[LLMCoreError, ...] = ()

    def failed(self, failure: LLMCoreError) -> None:
        """The current plan failed."""
        self.tried += (self.plan,)
        self.failures += (failure,)

    @property
    def failure(self) -> LLMCoreError:
        """The latest failure."""
        return self.failures[-1]

    @property
    def first_failure(self) -> LLMCoreError:
        return self.failures[0]

    def was_tried(self, model: str, mode: OutputMode | None = None) -> bool:
        return any(plan.model == model and mode in (None, plan.mode) for plan in self.tried)

    def overstays(self, plan: Plan) -> bool:
        """Does the plan keep to a model that was asked often enough, or would be waited for too long, while another is
        left? See `remedies`."""
        if plan.model != self.plan.model or "retry" not in remedies(self.failure):
            return False
        faults = sum(
            past.model == plan.model and "retry" in remedies(failure)
            for past, failure in zip(self.tried, self.failures, strict=True)
        )
        return faults >= TRIES or plan.wait > PATIENCE

    @property
    def retries_in_a_row(self) -> int:
        """How many times the current model and mode were already asked again for the same reason."""
        count = 0
        for plan in reversed(self.tried):
            if plan.reason != "retry" or (plan.model, plan.mode) != (self.plan.model, self.plan.mode):
                break
            count += 1
        return count

    @property
    def problem(self) -> str:
        """The latest failure in words, for `Attempt.detail`."""
        return f"{type(self.failure).__name__}: {self.failure}"
