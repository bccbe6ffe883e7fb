"""What a strategy sees: the plan that failed, the failure, earlier attempts, and the models that are available.

A *place* is a model alias together with one of its deployments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from llmcore.fallback.ledger import Ledger
from llmcore.fallback.remedies import PATIENCE, TRIES, remedies
from llmcore.types import (
    AttemptReason,
    AuthenticationFailed,
    CallerError,
    CapabilityRefused,
    ConfigError,
    LLMCoreError,
    OutputMode,
    Overloaded,
    QuotaExceeded,
    RemoteServerError,
    Request,
    RequestRefused,
    Timeout,
)

__all__ = ["FallbackContext", "Models", "Plan", "TurnRequest", "best_deployment", "cooldown_left", "first_available_model"]


_SERVER_FAULT = 500
_MODES_TO_COMPARE = 2
"""How many other modes are tried after a 403 or 404 that names no reason. What the mode sends may be the reason."""


def _may_blame_request(status: int | None) -> bool:
    return status == _SERVER_FAULT or (status is not None and 400 <= status < _SERVER_FAULT)


@dataclass(slots=True)  # not frozen: that triples what one costs, and each turn makes one
class Plan:
    """The next attempt. `reason` and `detail` (the recorded problem) say why it is made.

    `wait` is in seconds. `without` names parts of the request to leave out. `request` replaces `FallbackContext.request`.

    A strategy may leave fields out. `reason` then follows from what the plan changes, and `detail` is the latest failure.
    `deployment` is the current one, or the best one of another model. `request` is that of the failed plan.
    """

    model: str
    mode: OutputMode
    reason: AttemptReason = "first"
    detail: str = ""
    wait: float = 0.0
    deployment: str = ""
    without: frozenset[str] = frozenset()
    request: Request | None = None

    @property
    def place(self) -> str:
        """The model and its deployment, as logs and messages name them."""
        return f"{self.model}@{self.deployment}" if self.deployment else self.model


class Models(Protocol):
    """What strategies may ask about models. The answers include what the run has learned so far."""

    def modes(self, model: str, deployment: str = "") -> Sequence[OutputMode]:
        """The output modes this model supports, best first, without those it is known to refuse. Never empty.

        Raises `ModelNotFound` for an unknown alias.
        """
        ...

    def doubted_modes(self, model: str, deployment: str = "") -> Sequence[OutputMode]:
        """The modes that are left out because the model refused them once. A second refusal removes them from here."""
        ...

    def escalations(self, model: str) -> Sequence[str]:
        """The models to try when this one fails, in order. Models that cannot take the request are left out."""
        ...

    def window(self, model: str) -> int | None:
        """The context window in tokens, None if unknown."""
        ...

    def provider(self, model: str) -> str: ...

    def account(self, model: str, deployment: str = "") -> object:
        """An object that identifies the account charged at this place. Two places with one quota have equal accounts."""
        ...

    def may_change_mode(self, model: str) -> bool: ...

    def learn_refused(self, model: str, capability: str, deployment: str = "") -> None:
        """Record that the endpoint refused a capability or parameter."""
        ...

    def deployments(self, model: str) -> Sequence[str]:
        """The names of the model's deployments, best first. A model with a single deployment has one empty name."""
        ...

    def cooldown_left(self, model: str, deployment: str) -> float:
        """Seconds for which other places are preferred to this one. 0 means that this place is available."""
        ...

    def failed(self, model: str, deployment: str, failure: LLMCoreError) -> None:
        """Record that a request to this place failed."""
        ...

    def worked(self, model: str, deployment: str) -> None:
        """Record that this place answered."""
        ...

    async def share_cooldowns(self) -> None:
        """Tell other processes of the cooldowns that began or ended here."""
        ...


class TurnRequest(Protocol):
    """The turn's request, the same for each model."""

    def request(self) -> Request:
        """A copy of the turn's request."""
        ...

    def optional(self, *, last: bool) -> frozenset[str]:
        """The parts of the latest request that it can do without. With `last` (the last mode) these are more."""
        ...

    def checked(self, request: Request) -> Request:
        """A copy of a request that may replace the turn's. Raises `ConfigError` if it changes what it may not change."""
        ...


@dataclass(slots=True)
class FallbackContext:
    """The state of one turn. Each strategy receives a copy.

    `mode_matters`: whether the request has tools or a typed output. If not, every output mode sends the same request.
    """

    models: Models
    ledger: Ledger
    plan: Plan
    mode_matters: bool = True
    tried: tuple[Plan, ...] = ()
    failures: tuple[LLMCoreError, ...] = ()
    turn_request: TurnRequest | None = None

    @property
    def request(self) -> Request:
        """A copy of the request that failed: the turn's request, before any re-ask and before hooks.

        A strategy may return a plan with a changed request: `Plan(..., request=context.request.model_copy(update={...}))`.
        Raises `ConfigError` for a context that no run made.
        """
        if self.turn_request is None:
            raise ConfigError("this context was made without a run, so it has no request")
        return self.turn_request.request()

    def optional(self, *, last: bool) -> frozenset[str]:
        """The parts of the failed request that it can do without. With `last` (the last mode) these are more."""
        return self.turn_request.optional(last=last) - self.plan.without if self.turn_request is not None else frozenset()

    def failed(self, failure: LLMCoreError) -> None:
        """Record that the current plan failed."""
        self.tried += (self.plan,)
        self.failures += (failure,)

    @property
    def failure(self) -> LLMCoreError:
        return self.failures[-1]

    @property
    def first_failure(self) -> LLMCoreError:
        return self.failures[0]

    def was_tried(self, model: str, mode: OutputMode | None = None) -> bool:
        return any(plan.model == model and mode in (None, plan.mode) for plan in self.tried)

    @property
    def tried_several_deployments(self) -> bool:
        """Whether more than one place was tried in this turn."""
        return len({(plan.model, plan.deployment) for plan in self.tried}) > 1

    def deployments_tried(self, model: str) -> set[str]:
        return {plan.deployment for plan in self.tried if plan.model == model}

    @property
    def mode_may_break_server(self) -> bool:
        """Whether the output mode may be what makes the server fail: at least two failures, each a 500 or a 4xx.

        A server that is down returns 502 or 503, or does not answer. A template or grammar that fails on a mode's input
        returns 500. A 400 whose message suggests a passing problem counts too if it repeats.
        """
        failures = [one for plan, one in zip(self.tried, self.failures, strict=True) if plan.model == self.plan.model]
        of_servers = (RemoteServerError, CapabilityRefused, RequestRefused)
        return len(failures) > 1 and all(isinstance(one, of_servers) and _may_blame_request(one.status) for one in failures)

    @property
    def mode_may_be_refused(self) -> bool:
        """Whether the server answered 403 or 404 without a reason, and fewer than two other modes were tried since.

        The mode's input may be the reason. Two other modes, the next and the last one, show whether it is.
        """
        return "mode_once" in remedies(self.failure) and self.unexplained_refusals <= _MODES_TO_COMPARE

    @property
    def unexplained_refusals(self) -> int:
        """How many attempts with this model failed in this turn with a 403 or 404 that names no reason."""
        failed = zip(self.tried, self.failures, strict=True)
        return sum(plan.model == self.plan.model and "mode_once" in remedies(one) for plan, one in failed)

    def faults(self, model: str) -> Counter[str]:
        """How many times each deployment of the model failed in this turn by its own fault. A rate limit is not a fault."""
        failed = zip(self.tried, self.failures, strict=True)
        is_fault = (RemoteServerError, Timeout, Overloaded)
        return Counter(plan.deployment for plan, failure in failed if plan.model == model and isinstance(failure, is_fault))

    def unusable_deployments(self, model: str) -> set[str]:
        """The model's deployments at which no wait helps: their quota is spent, or they do not serve the model."""
        failed = zip(self.tried, self.failures, strict=True)
        return {plan.deployment for plan, failure in failed if plan.model == model and isinstance(failure, CallerError)}

    def spent_accounts(self) -> list[object]:
        """The accounts whose quota was found spent, or whose key was refused, in this turn."""
        return [
            self.models.account(plan.model, plan.deployment)
            for plan, failure in zip(self.tried, self.failures, strict=True)
            if isinstance(failure, QuotaExceeded | AuthenticationFailed)
            and failure.facts.kind not in ("forbidden", "unexplained")
        ]

    def exceeds_patience(self, plan: Plan) -> bool:
        """Whether the plan retries a model that failed `TRIES` times, or waits more than `PATIENCE` seconds for it.

        A first attempt at a further deployment does not count as a retry. See `remedies`.
        """
        if plan.model != self.plan.model or "retry" not in remedies(self.failure):
            return False
        faults = sum(
            past.model == plan.model and "retry" in remedies(failure)
            for past, failure in zip(self.tried, self.failures, strict=True)
        )
        is_new = plan.deployment not in self.deployments_tried(plan.model)
        return (faults >= TRIES and not is_new) or plan.wait > PATIENCE

    @property
    def retries_in_a_row(self) -> int:
        """How many retries in a row the current place had, in the current mode."""
        count, now = 0, (self.plan.model, self.plan.deployment, self.plan.mode)
        for plan in reversed(self.tried):
            if plan.reason != "retry" or (plan.model, plan.deployment, plan.mode) != now:
                break
            count += 1
        return count

    @property
    def problem(self) -> str:
        """The latest failure in words, for `Attempt.detail`."""
        return f"{type(self.failure).__name__}: {self.failure}"


def first_available_model(models: Models, model: str) -> str:
    """Return `model` if one of its deployments is available, else the first available model of its escalations.

    If none is available, return `model`.
    """
    waiting = [model]
    for one in waiting:  # the loop extends the list
        if not cooldown_left(models, one):
            return one
        waiting += [listed for listed in models.escalations(one) if listed not in waiting]
    return model


def best_deployment(models: Models, model: str, spent: Sequence[object] = ()) -> str:
    """The first of the model's deployments that is available, else the one with the shortest cooldown.

    If possible, its account is not one of `spent`.
    """
    places = models.deployments(model)
    if len(places) == 1:
        return places[0]
    return min(
        places,
        key=lambda name: (bool(spent) and models.account(model, name) in spent, models.cooldown_left(model, name)),
    )


def cooldown_left(models: Models, model: str) -> float:
    """The shortest cooldown of the model's deployments, in seconds. 0 means that one is available."""
    return models.cooldown_left(model, best_deployment(models, model))
