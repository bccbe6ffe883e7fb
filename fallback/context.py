"""What strategies are told: the plan that failed, why, what was tried, and what else there is."""

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

__all__ = ["Asked", "FallbackContext", "Models", "Plan", "best_place", "first_well", "resting"]


_FAULT = 500
_OTHER_MODES = 2
"""So many are asked where what is forbidden, or not found, may be what the mode sends."""


def _may_be_of_the_request(status: int | None) -> bool:
    return status == _FAULT or (status is not None and 400 <= status < _FAULT)


@dataclass(slots=True)  # not frozen: that triples what one costs, and each turn makes one
class Plan:
    """The next attempt: which model (alias), in which mode, why (`detail`: the recorded problem), after how many
    seconds, at which of the model's deployments, without which parts of the request, and with which request in the place of
    `FallbackContext.request`.

    What a strategy leaves out is filled in: of `reason` and `detail`, what the plan changes, and the latest failure; of
    `deployment`, the one that is asked at present, or the first of another model that is well; of `request`, that of the plan
    that failed.
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
        """Model and deployment as logs and messages name them."""
        return f"{self.model}@{self.deployment}" if self.deployment else self.model


class Models(Protocol):
    """What strategies may ask about models. Answers reflect what was learnt meanwhile."""

    def modes(self, model: str, deployment: str = "") -> Sequence[OutputMode]:
        """The modes this model may be asked in, best first; those known to be refused left out. One entry at least.

        Raises `ModelNotFound` for an alias that does not exist.
        """
        ...

    def doubted_modes(self, model: str, deployment: str = "") -> Sequence[OutputMode]:
        """The modes that are left out since they were refused once, and not again."""
        ...

    def escalations(self, model: str) -> Sequence[str]:
        """The models to go to when this one fails, in order; only those that can take the request."""
        ...

    def window(self, model: str) -> int | None:
        """The context window in tokens, None when unknown."""
        ...

    def provider(self, model: str) -> str: ...

    def account(self, model: str, deployment: str = "") -> object:
        """Who is charged at this place of the model: equal where one quota is shared."""
        ...

    def may_change_mode(self, model: str) -> bool: ...

    def learn_refused(self, model: str, capability: str, deployment: str = "") -> None:
        """The endpoint refused a capability or parameter."""
        ...

    def deployments(self, model: str) -> Sequence[str]:
        """The names of the model's places, best first; one empty name where there is only one."""
        ...

    def resting(self, model: str, deployment: str) -> float:
        """Seconds for which this place is to be left aside while another is there; 0 = it is well."""
        ...

    def failed(self, model: str, deployment: str, failure: LLMCoreError) -> None:
        """A request to this place failed."""
        ...

    def worked(self, model: str, deployment: str) -> None:
        """This place answered."""
        ...


class Asked(Protocol):
    """What the turn asks for, whatever the model."""

    def request(self) -> Request:
        """A copy of the turn's request."""
        ...

    def optional(self, *, last: bool) -> frozenset[str]:
        """The parts of the latest request that it can do without; in the `last` mode these are more."""
        ...

    def checked(self, request: Request) -> Request:
        """A copy of a request that may take its place. Raises `ConfigError` for one that may not."""
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
    asked: Asked | None = None

    @property
    def request(self) -> Request:
        """The request that failed, as a copy: the turn's, before any re-ask and before hooks. A strategy may give a plan with
        another one: `Plan(..., request=context.request.model_copy(update={...}))`."""
        if self.asked is None:
            raise ConfigError("this context was made without a run, so it has no request")
        return self.asked.request()

    def optional(self, *, last: bool) -> frozenset[str]:
        """The parts of the request that failed that it can do without; in the `last` mode these are more."""
        return self.asked.optional(last=last) - self.plan.without if self.asked is not None else frozenset()

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

    @property
    def went_elsewhere(self) -> bool:
        """Was more than one place asked?"""
        return len({(plan.model, plan.deployment) for plan in self.tried}) > 1

    def places_tried(self, model: str) -> set[str]:
        return {plan.deployment for plan in self.tried if plan.model == model}

    @property
    def fails_by_its_mode(self) -> bool:
        """Did the model fail by its server's own fault (500) each time, twice at least? A server that is down says 502 or 503, or
        nothing; a template or a grammar that breaks on what a mode sends says 500, in any words. So it is where what was refused
        (400s) in words of a passing thing does not pass."""
        failures = [one for plan, one in zip(self.tried, self.failures, strict=True) if plan.model == self.plan.model]
        of_servers = (RemoteServerError, CapabilityRefused, RequestRefused)
        return len(failures) > 1 and all(isinstance(one, of_servers) and _may_be_of_the_request(one.status) for one in failures)

    @property
    def may_be_its_mode(self) -> bool:
        """Does the model's server forbid, or not find, something that it does not name? That may be what the mode sends: two
        other modes show it, the next one and the last."""
        return "mode_once" in remedies(self.failure) and self.unexplained <= _OTHER_MODES

    @property
    def unexplained(self) -> int:
        """How many times the model failed so in this turn."""
        failed = zip(self.tried, self.failures, strict=True)
        return sum(plan.model == self.plan.model and "mode_once" in remedies(one) for plan, one in failed)

    def faults(self, model: str) -> Counter[str]:
        """How many times each place of the model failed in this turn by a fault of its own; a rate limit is none."""
        failed = zip(self.tried, self.failures, strict=True)
        is_fault = (RemoteServerError, Timeout, Overloaded)
        return Counter(plan.deployment for plan, failure in failed if plan.model == model and isinstance(failure, is_fault))

    def hopeless(self, model: str) -> set[str]:
        """The places of the model that waiting does not help: without quota, or without the model."""
        failed = zip(self.tried, self.failures, strict=True)
        return {plan.deployment for plan, failure in failed if plan.model == model and isinstance(failure, CallerError)}

    def spent_accounts(self) -> list[object]:
        """The accounts that were found in this turn to be without quota, or whose key is not taken."""
        return [
            self.models.account(plan.model, plan.deployment)
            for plan, failure in zip(self.tried, self.failures, strict=True)
            if isinstance(failure, QuotaExceeded | AuthenticationFailed)
            and failure.facts.kind not in ("forbidden", "unexplained")
        ]

    def overstays(self, plan: Plan) -> bool:
        """Does the plan keep to a model that was asked often enough, or would be waited for too long, while another is
        left? A deployment that was not asked yet may be. See `remedies`."""
        if plan.model != self.plan.model or "retry" not in remedies(self.failure):
            return False
        faults = sum(
            past.model == plan.model and "retry" in remedies(failure)
            for past, failure in zip(self.tried, self.failures, strict=True)
        )
        is_new = plan.deployment not in self.places_tried(plan.model)
        return (faults >= TRIES and not is_new) or plan.wait > PATIENCE

    @property
    def retries_in_a_row(self) -> int:
        """How many times the current place was already asked again, in the same mode, for the same reason."""
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


def first_well(models: Models, model: str) -> str:
    """The model; where all its places are to be left aside, the first that is well of those it may escalate to, if there
    is one."""
    waiting = [model]
    for one in waiting:  # grows meanwhile
        if not resting(models, one):
            return one
        waiting += [listed for listed in models.escalations(one) if listed not in waiting]
    return model


def best_place(models: Models, model: str, spent: Sequence[object] = ()) -> str:
    """The first of the model's places that is well, else the one that will be soonest; one of another account than those that
    are `spent`, if there is one."""
    places = models.deployments(model)
    if len(places) == 1:
        return places[0]
    return min(
        places,
        key=lambda name: (bool(spent) and models.account(model, name) in spent, models.resting(model, name)),
    )


def resting(models: Models, model: str) -> float:
    """Seconds for which all places of the model are to be left aside; 0 = one is well."""
    return models.resting(model, best_place(models, model))
