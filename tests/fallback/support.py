"""A turn with scripted failures, for tests of layer 4 without any other layer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from functools import partial

from llmcore.fallback import FallbackContext, FallbackManager, Ledger, Plan
from llmcore.fallback.manager import AttemptRunner
from llmcore.support.code.emitter import Emit, event_stream
from llmcore.types import AttemptStarted, Budget, Event, LLMCoreError, ModelNotFound, OutputMode


@dataclass
class Table:
    """The `Models` of a small registry."""

    preferred: dict[str, list[OutputMode]] = field(default_factory=dict[str, list[OutputMode]])
    chain: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    windows: dict[str, int] = field(default_factory=dict[str, int])
    providers: dict[str, str] = field(default_factory=dict[str, str])
    fixed_mode: bool = False
    unknown: frozenset[str] = frozenset()
    refused: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    places: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    rests: dict[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    seen: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])

    def modes(self, model: str, deployment: str = "") -> Sequence[OutputMode]:
        if model in self.unknown:
            raise ModelNotFound(f"there is no model {model!r}")
        refused = [capability for name, capability in self.refused if name == model]
        all_modes: list[OutputMode] = ["native_tools", "json_schema", "json_object", "text"]
        return [mode for mode in self.preferred.get(model, all_modes) if mode not in refused] or ["text"]

    def escalations(self, model: str) -> Sequence[str]:
        return self.chain.get(model, [])

    def window(self, model: str) -> int | None:
        return self.windows.get(model)

    def provider(self, model: str) -> str:
        return self.providers.get(model, "one")

    def account(self, model: str, deployment: str = "") -> object:
        return self.providers.get(model, "one")

    def doubted_modes(self, model: str, deployment: str = "") -> Sequence[OutputMode]:
        return ()

    def may_change_mode(self, model: str) -> bool:
        return not self.fixed_mode

    def learn_refused(self, model: str, capability: str, deployment: str = "") -> None:
        self.refused.append((model, capability))

    def deployments(self, model: str) -> Sequence[str]:
        return self.places.get(model, [""])

    def cooldown_left(self, model: str, deployment: str) -> float:
        return self.rests.get((model, deployment), 0.0)

    def failed(self, model: str, deployment: str, failure: LLMCoreError) -> None:
        self.seen.append((model, deployment, type(failure).__name__))

    def worked(self, model: str, deployment: str) -> None:
        self.seen.append((model, deployment, "worked"))

    async def share_cooldowns(self) -> None:
        pass


def context_for(table: Table, *, attempts: int = 10, mode_matters: bool = True, deadline: float | None = None) -> FallbackContext:
    ledger = Ledger(Budget(attempts=attempts, deadline=deadline))
    ledger.start_turn()
    return FallbackContext(table, ledger, Plan("m", "native_tools"), mode_matters)


def told(manager: FallbackManager, context: FallbackContext, attempt: AttemptRunner) -> AsyncGenerator[Event, None]:
    """The events of a turn as they come."""
    return event_stream(partial(manager.run, context, attempt))


class Script:
    """An `AttemptRunner`: fails as told, then succeeds; draws on the ledger as the real one does."""

    def __init__(self, context: FallbackContext, *failures: LLMCoreError) -> None:
        self._context = context
        self._failures = list(failures)
        self.plans: list[Plan] = []

    async def __call__(self, plan: Plan, tell: Emit[Event]) -> None:
        self.plans.append(plan)
        attempt = self._context.ledger.start(plan.model, plan.mode, plan.reason, plan.detail, plan.deployment)
        await tell(AttemptStarted(attempt.n, plan.model, plan.mode, plan.reason))
        if self._failures:
            failure = self._failures.pop(0)
            self._context.ledger.finish(attempt, failure=failure)
            raise failure
