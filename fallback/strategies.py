"""The strategies: another deployment, a retry, another output mode, another model, text only, and a return to a busy place.

`Strategy.can_handle` returns whether the strategy can help against a failure, and `Strategy.execute` returns the next `Plan`.
The manager carries the plan out, unless a later strategy's plan replaces it. `remedies` lists the failures that each strategy
handles.

You may write your own strategy: an object with these two methods, both plain functions. Its plan may name any alias of the
registry. If the strategy raises, the run ends with a `ConfigError` that names it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from llmcore.fallback.context import FallbackContext, Models, Plan, best_deployment, cooldown_left
from llmcore.fallback.remedies import remedies
from llmcore.support.values.bounds import is_amount
from llmcore.types import (
    CapabilityRefused,
    ConfigError,
    LLMCoreError,
    OutputMode,
    Overloaded,
    RateLimited,
    RequestRefused,
    RetryConfig,
)

__all__ = ["DEFAULT_STRATEGIES", "ComeBack", "EscalateModel", "OtherDeployment", "OtherMode", "Retry", "Strategy", "TextOnly"]


@runtime_checkable
class Strategy(Protocol):
    """One way to continue after a failure. The manager calls `execute` only if `can_handle` returned True."""

    def can_handle(self, failure: LLMCoreError, context: FallbackContext) -> bool: ...

    def execute(self, context: FallbackContext) -> Plan:
        """Return the next attempt, with its reason and the recorded problem."""
        ...


@dataclass(frozen=True, slots=True)
class OtherDeployment:
    """The same request, at once, at another deployment of the alias that was not tried in this turn. Available ones come
    first.

    The request uses the first mode of that deployment: refusals learned at one place do not apply to another.
    """

    def can_handle(self, failure: LLMCoreError, context: FallbackContext) -> bool:
        allowed = remedies(failure)
        is_next = "deployment" in allowed or ("deployment_last" in allowed and _is_out_of_modes(failure, context))
        return is_next and bool(self._left(context))

    def execute(self, context: FallbackContext) -> Plan:
        models, model = context.models, context.plan.model
        place = min(self._left(context), key=lambda name: models.cooldown_left(model, name))
        modes = models.modes(model, place)
        mode = modes[0] if context.mode_matters or context.plan.mode not in modes else context.plan.mode
        return Plan(model, mode, "retry", context.problem, deployment=place)

    def _left(self, context: FallbackContext) -> list[str]:
        tried = context.deployments_tried(context.plan.model)
        return [name for name in context.models.deployments(context.plan.model) if name not in tried]


def _is_at(plan: Plan, model: str, deployment: str) -> bool:
    return (plan.model, plan.deployment) == (model, deployment)


def _last_at(context: FallbackContext, place: str) -> Plan:
    """The last plan for the model at this deployment, or the current plan if there was none."""
    return next((plan for plan in reversed(context.tried) if _is_at(plan, context.plan.model, place)), context.plan)


def _is_out_of_modes(failure: LLMCoreError, context: FallbackContext) -> bool:
    """Whether this place has no other mode left, or no attempt."""
    now = context.plan
    return not OtherMode().can_handle(failure, context) or context.ledger.attempts_left(now.model, now.deployment) <= 0


@dataclass(frozen=True, slots=True)
class Retry:
    """The same request again, after the wait that the server asked for (`retry_after`), else after an exponential back-off.

    If the run has a deadline, a wait may last until then; otherwise at most `max_wait` seconds. If another model is left, it
    is asked after a shorter wait: see `remedies`. `random` returns a number in [0, 1) for the jitter of the back-off.

    Raises `ConfigError` for an invalid `backoff` or `max_wait`.
    """

    backoff: RetryConfig = field(default_factory=lambda: RetryConfig(max_retries=2))
    max_wait: float = 60.0
    random: Callable[[], float] = random.random

    def __post_init__(self) -> None:
        if not isinstance(self.backoff, RetryConfig):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            raise ConfigError(f"Retry's backoff is an llmcore.RetryConfig, not {self.backoff!r}")
        if not is_amount(self.max_wait):
            raise ConfigError(f"Retry's max_wait is a finite number of seconds, 0 or more, not {self.max_wait!r}")

    def can_handle(self, failure: LLMCoreError, context: FallbackContext) -> bool:
        allowed = remedies(failure)
        if context.mode_may_break_server and OtherMode().can_handle(failure, context):
            return False
        once = "retry_once" in allowed or ("again" in allowed and not context.mode_matters)
        most = self.backoff.max_retries if "retry" in allowed else 1 if once else 0
        if context.retries_in_a_row >= most:
            return False
        return context.ledger.seconds_left is not None or self._when(failure, context, 0.0)[0] <= self.max_wait

    def execute(self, context: FallbackContext) -> Plan:
        wait, place = self._when(context.failure, context, self.random())
        last = _last_at(context, place)
        return Plan(last.model, last.mode, "retry", context.problem, wait, place, last.without)

    def _when(self, failure: LLMCoreError, context: FallbackContext, jitter: float) -> tuple[float, str]:
        """After how many seconds, and at which deployment: the one that is ready first.

        A deployment that failed several times in this turn comes after any that is ready before the limit, since it may be
        down.
        """
        models, now = context.models, context.plan
        left, faults = context.ledger.seconds_left, context.faults(now.model)
        most = self.max_wait if left is None else left
        ways: list[tuple[float, str]] = []
        for place in models.deployments(now.model):
            if place == now.deployment:
                ways.append((self._wait(failure, context, jitter), place))
            elif _last_at(context, place).mode in models.modes(now.model, place) and place not in context.unusable_deployments(
                now.model
            ):
                pause = self.backoff.delay(max(1, faults[place]), jitter)
                ways.append((max(models.cooldown_left(now.model, place), pause), place))
        return min(ways, key=lambda way: (way[0] > most, max(0, faults[way[1]] - 1), way[0], way[1] != now.deployment))

    def _wait(self, failure: LLMCoreError, context: FallbackContext, jitter: float) -> float:
        server_delay = failure.retry_after if isinstance(failure, RateLimited | Overloaded) else None
        if server_delay is not None and 0 <= server_delay < math.inf:  # False for NaN
            return server_delay
        return self.backoff.delay(context.retries_in_a_row + 1, jitter)


_OWN_CAPABILITY: dict[OutputMode, str] = {
    "native_tools": "native_tools",
    "json_schema": "json_schema",
    "json_object": "json_object",
}


_OMITTED_WHEN_REFUSED = frozenset({"web_search", "reasoning"})
"""Capabilities to omit from this run once they are refused, even if the user configured them as supported."""
_LAST_MODE_ATTEMPTS = 2
"""Attempts reserved for the last mode after an unexplained refusal. The second one omits the optional parts."""
_LAST_RESORTS = ("system_message", "streaming")
"""What the last mode omits, one after the other, if it is refused without the other optional parts too."""
_SPARE_REQUESTS = 3
"""If the run's budget has at most this many requests left, no request is spent to find out which part was refused."""


@dataclass(frozen=True, slots=True)
class OtherMode:
    """The next output mode, in the model's order of preference, that was not tried.

    If the refused capability is not the mode's own (a tool choice, a parameter), the same mode is tried first without it,
    once per capability. If a server returns 500 again and again in one mode, the next mode follows once retries are spent.
    The last attempt of a model that refuses uses its last mode, text, which most servers accept.

    If a refusal does not name what is refused, the same mode is asked once more without its optional parts: those that the
    message mentions, else all. If that is refused too, the next mode is asked, with these parts. In the last mode, the system
    prompt and the streaming are omitted as well, one after the other.
    """

    def can_handle(self, failure: LLMCoreError, context: FallbackContext) -> bool:
        may_help = "mode" in remedies(failure) or context.mode_may_break_server or context.mode_may_be_refused
        return may_help and self._next(context) is not None

    def execute(self, context: FallbackContext) -> Plan:
        found = self._next(context)
        assert found is not None  # can_handle returned True
        mode, without = found
        return Plan(context.plan.model, mode, "mode", context.problem, deployment=context.plan.deployment, without=without)

    def _next(self, context: FallbackContext) -> tuple[OutputMode, frozenset[str]] | None:
        now, failure = context.plan, context.failure
        if self._may_repeat_mode(context):
            return now.mode, now.without | _OMITTED_WHEN_REFUSED.intersection(getattr(failure, "capabilities", ()))
        attempts = context.ledger.attempts_left(now.model)
        usable, left = self._modes(context)
        is_refused = isinstance(failure, RequestRefused)
        if is_refused and now.mode == usable[-1]:
            left = []
        is_short = bool(left) and attempts <= _LAST_MODE_ATTEMPTS
        if is_refused and not is_short and (spare := self._optional(context, last=not left)):
            return now.mode, now.without | spare
        if left:
            is_of_mode = is_refused or isinstance(failure, CapabilityRefused) or context.mode_may_break_server
            is_last = is_of_mode and attempts <= (_LAST_MODE_ATTEMPTS if is_refused else 1)
            is_last = is_last or context.unexplained_refusals > 1
            return left[-1] if is_last else left[0], frozenset()
        doubted = self._doubted(context)
        return (doubted[0], frozenset()) if doubted else None

    def _optional(self, context: FallbackContext, *, last: bool) -> frozenset[str]:
        """The parts to omit from a repeat in the same mode: those that the message mentions, else all optional ones."""
        left = context.ledger.requests_left
        if (left is not None and left <= (1 if last else _SPARE_REQUESTS)) or (context.plan.without and not last):
            return frozenset()
        if named := context.failure.facts.parts:
            return named & context.optional(last=True)
        found = context.optional(last=last)
        each = [frozenset({name}) for name in _LAST_RESORTS if name in found]
        return found.difference(_LAST_RESORTS) or next(iter(each), frozenset[str]())

    def _doubted(self, context: FallbackContext) -> Sequence[OutputMode]:
        """Modes that were refused once, perhaps for a passing reason. They are tried before the run fails."""
        model, place = context.plan.model, context.plan.deployment
        if not context.mode_matters or not context.models.may_change_mode(model):
            return []
        tried = {plan.mode for plan in context.tried if _is_at(plan, model, place)}
        return [mode for mode in context.models.doubted_modes(model, place) if mode not in tried]

    def _modes(self, context: FallbackContext) -> tuple[Sequence[OutputMode], list[OutputMode]]:
        """The modes in which the model may be asked, and those of them that were not tried."""
        model = context.plan.model
        if not context.mode_matters or not context.models.may_change_mode(model):
            return [context.plan.mode], []
        usable = context.models.modes(model, context.plan.deployment)
        tried = {plan.mode for plan in context.tried if _is_at(plan, model, context.plan.deployment)}
        left: list[OutputMode] = [mode for mode in usable if mode not in tried]
        return usable, left or [*self._doubted(context)]

    def _may_repeat_mode(self, context: FallbackContext) -> bool:
        failure, mode = context.failure, context.plan.mode
        if not isinstance(failure, CapabilityRefused) or _OWN_CAPABILITY.get(mode) in failure.capabilities:
            return False
        if mode not in context.models.modes(context.plan.model, context.plan.deployment):
            return False
        before = {
            capability
            for past, plan in zip(context.failures[:-1], context.tried, strict=False)
            if isinstance(past, CapabilityRefused) and plan.model == context.plan.model
            for capability in past.capabilities
        }
        return not before.issuperset(failure.capabilities)


@dataclass(frozen=True, slots=True)
class EscalateModel:
    """The next model of the registry's `escalates_to` that was not tried.

    After an overflow, it has a larger window. If a quota is spent or a key is refused, it uses another account. The current
    model's list comes first, then those of the models that led to it in this turn. A model that does not fit is skipped, but
    its own list is followed.
    """

    def can_handle(self, failure: LLMCoreError, context: FallbackContext) -> bool:
        return self._next(failure, context) is not None

    def execute(self, context: FallbackContext) -> Plan:
        model = self._next(context.failure, context)
        assert model is not None  # can_handle returned True
        place = best_deployment(context.models, model, context.spent_accounts())
        return Plan(model, context.models.modes(model, place)[0], "model", context.problem, deployment=place)

    def _next(self, failure: LLMCoreError, context: FallbackContext) -> str | None:
        allowed, models = remedies(failure), context.models
        asked = dict.fromkeys([context.plan.model, *(plan.model for plan in reversed(context.tried))])
        listed = [*dict.fromkeys(listed for one in asked for listed in models.escalations(one))]
        left = [model for model in _with_indirect(models, listed) if not context.was_tried(model)]
        for model in sorted(left, key=lambda model: cooldown_left(models, model) > 0):  # those that cool down last
            if (
                "model" in allowed
                or ("larger_window" in allowed and _is_larger(context, model))
                or ("other_account" in allowed and _has_quota(context, model))
            ):
                return model
        return None


def _with_indirect(models: Models, listed: Sequence[str]) -> Sequence[str]:
    """The listed models, then those that their own lists lead to, nearest first."""
    found = [*listed]
    for model in found:  # the loop extends the list
        found += [behind for behind in models.escalations(model) if behind not in found]
    return found


def _has_quota(context: FallbackContext, model: str) -> bool:
    """Whether one of the model's deployments uses an account that is not known to be spent."""
    spent, models = context.spent_accounts(), context.models
    return any(models.account(model, place) not in spent for place in models.deployments(model))


def _is_larger(context: FallbackContext, model: str) -> bool:
    """Whether the model's window is larger than the current model's. An unknown window counts as larger."""
    window, too_small = context.models.window(model), context.models.window(context.plan.model)
    return window is None or too_small is None or window > too_small


@dataclass(frozen=True, slots=True)
class TextOnly:
    """The last resort: plain text, where the prompt describes the tools and the output format."""

    def can_handle(self, failure: LLMCoreError, context: FallbackContext) -> bool:
        model = context.plan.model
        return (
            "text" in remedies(failure)
            and context.mode_matters
            and context.models.may_change_mode(model)
            and not context.was_tried(model, "text")
        )

    def execute(self, context: FallbackContext) -> Plan:
        detail, place = f"text only after {context.problem}", context.plan.deployment
        return Plan(context.plan.model, "text", "mode", detail, deployment=place)


@dataclass(frozen=True, slots=True)
class ComeBack:
    """Back to a place that asked for a wait (rate limit, overload) and was left for another one, which then failed.

    The plan waits until the place is ready and uses the mode of its last attempt. Of several places, the one that is ready
    first. `max_wait` is in seconds, as in `Retry`.
    """

    max_wait: float = 60.0

    def can_handle(self, failure: LLMCoreError, context: FallbackContext) -> bool:
        return bool(remedies(failure)) and self._next(context) is not None

    def execute(self, context: FallbackContext) -> Plan:
        found = self._next(context)
        assert found is not None  # can_handle returned True
        past, wait = found
        return Plan(past.model, past.mode, "retry", context.problem, wait, past.deployment, past.without)

    def _next(self, context: FallbackContext) -> tuple[Plan, float] | None:
        now, ledger = context.plan, context.ledger
        last = {
            (plan.model, plan.deployment): (plan, failure) for plan, failure in zip(context.tried, context.failures, strict=True)
        }
        ways = [
            (plan, context.models.cooldown_left(*place))
            for place, (plan, failure) in last.items()
            if place != (now.model, now.deployment)
            and isinstance(failure, RateLimited | Overloaded)
            and ledger.attempts_left(*place) > 0
        ]
        found = min(ways, key=lambda way: way[1], default=None)
        is_soon = found is not None and (ledger.seconds_left is not None or found[1] <= self.max_wait)
        return found if is_soon else None


DEFAULT_STRATEGIES: Sequence[Strategy] = (OtherDeployment(), Retry(), OtherMode(), EscalateModel(), TextOnly(), ComeBack())
"""In the order in which the manager asks them."""
