"""The strategies: another deployment, the same again later, another output mode, a more capable model, text only, and back to a
place that had asked for time.

A strategy says whether it can help against a failure (`can_handle`) and what to try (`execute`, which gives the next
`Plan`; the manager carries it out, unless a later strategy's suits better: see `remedies`). Which failures a strategy
answers to stands there as well. A strategy of one's own needs these two methods, both plain functions. Its plan may
name any alias of the registry. An error in it ends the run as a `ConfigError` that names it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from llmcore.fallback.context import FallbackContext, Models, Plan, best_place, resting
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
    """One way out of a failure. `can_handle` must be True before `execute` is asked."""

    def can_handle(self, failure: LLMCoreError, context: FallbackContext) -> bool: ...

    def execute(self, context: FallbackContext) -> Plan:
        """The next attempt, with the reason and the recorded problem in it."""
        ...


@dataclass(frozen=True, slots=True)
class OtherDeployment:
    """The same request at once at the next place of the alias that was not asked in this turn, one that is well first. It is
    asked in the first of its own modes: what led to the mode of the place that failed is true of that place."""

    def can_handle(self, failure: LLMCoreError, context: FallbackContext) -> bool:
        allowed = remedies(failure)
        is_next = "deployment" in allowed or ("deployment_last" in allowed and _is_out_of_modes(failure, context))
        return is_next and bool(self._left(context))

    def execute(self, context: FallbackContext) -> Plan:
        models, model = context.models, context.plan.model
        place = min(self._left(context), key=lambda name: models.resting(model, name))
        modes = models.modes(model, place)
        mode = modes[0] if context.mode_matters or context.plan.mode not in modes else context.plan.mode
        return Plan(model, mode, "retry", context.problem, deployment=place)

    def _left(self, context: FallbackContext) -> list[str]:
        tried = context.places_tried(context.plan.model)
        return [name for name in context.models.deployments(context.plan.model) if name not in tried]


def _is_at(plan: Plan, model: str, deployment: str) -> bool:
    return (plan.model, plan.deployment) == (model, deployment)


def _last_at(context: FallbackContext, place: str) -> Plan:
    """How the model was last asked at the place; as it is asked now where it was not asked there."""
    return next((plan for plan in reversed(context.tried) if _is_at(plan, context.plan.model, place)), context.plan)


def _is_out_of_modes(failure: LLMCoreError, context: FallbackContext) -> bool:
    """Is no other mode left at this place, or no attempt?"""
    now = context.plan
    return not OtherMode().can_handle(failure, context) or context.ledger.attempts_left(now.model, now.deployment) <= 0


@dataclass(frozen=True, slots=True)
class Retry:
    """The same request again, after what the provider said (`retry_after`) or an exponential back-off.

    In a run with a deadline the wait may take all the time that is left; in one without, `max_wait` seconds at most.
    Where another model is left, that one is asked sooner: see `remedies`. `random` in [0, 1) decides the back-off's
    jitter. Raises `ConfigError` for settings that are none.
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
        if context.fails_by_its_mode and OtherMode().can_handle(failure, context):
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
        """After how many seconds, and at which place: the one that is ready first. One that failed again and again in this turn
        comes after any that will be ready in time: it may be dead, where another only asked to wait."""
        models, now = context.models, context.plan
        left, faults = context.ledger.seconds_left, context.faults(now.model)
        most = self.max_wait if left is None else left
        ways: list[tuple[float, str]] = []
        for place in models.deployments(now.model):
            if place == now.deployment:
                ways.append((self._wait(failure, context, jitter), place))
            elif _last_at(context, place).mode in models.modes(now.model, place) and place not in context.hopeless(now.model):
                pause = self.backoff.delay(max(1, faults[place]), jitter)
                ways.append((max(models.resting(now.model, place), pause), place))
        return min(ways, key=lambda way: (way[0] > most, max(0, faults[way[1]] - 1), way[0], way[1] != now.deployment))

    def _wait(self, failure: LLMCoreError, context: FallbackContext, jitter: float) -> float:
        told = failure.retry_after if isinstance(failure, RateLimited | Overloaded) else None
        if told is not None and 0 <= told < math.inf:  # nor NaN
            return told
        return self.backoff.delay(context.retries_in_a_row + 1, jitter)


_OWN_CAPABILITY: dict[OutputMode, str] = {
    "native_tools": "native_tools",
    "json_schema": "json_schema",
    "json_object": "json_object",
}


_SAID_OTHERWISE = frozenset({"web_search", "reasoning"})
"""What is left out of this run where a capability is refused, also one that the user said is there."""
_OF_THE_LAST_MODE = 2
"""So many attempts are kept for it where a refusal was not understood: the second one is that without the optional parts."""
_LAST_RESORTS = ("system_message", "streaming")
"""What is left out of the last mode, one after the other, when that without the other optional parts is refused, too."""
_SPARE_REQUESTS = 3
"""With so many requests left of a run's budget, or fewer, none is made to compare."""


@dataclass(frozen=True, slots=True)
class OtherMode:
    """The next output mode in the model's order of preference that was not tried.

    A refused capability that is not the mode's own (a tool choice, a parameter) was learnt by now, so the same mode
    makes another request: that is tried first, once for each capability. So it is after a server's own fault (500) that comes
    again and again in one mode, when it is not retried any more. The last attempt that a refused model has left
    is made in its last mode, which most servers take: text.

    If a refusal does not say what is refused, the same mode is asked once more without its optional parts: without those that the
    words name, else without all. If that is refused as well, the next mode is asked, with these parts. In the last mode the
    system prompt and the stream are left out as well, one after the other.
    """

    def can_handle(self, failure: LLMCoreError, context: FallbackContext) -> bool:
        may_help = "mode" in remedies(failure) or context.fails_by_its_mode or context.may_be_its_mode
        return may_help and self._next(context) is not None

    def execute(self, context: FallbackContext) -> Plan:
        found = self._next(context)
        assert found is not None  # can_handle said so
        mode, without = found
        return Plan(context.plan.model, mode, "mode", context.problem, deployment=context.plan.deployment, without=without)

    def _next(self, context: FallbackContext) -> tuple[OutputMode, frozenset[str]] | None:
        now, failure = context.plan, context.failure
        if self._same_mode_may_do(context):
            return now.mode, now.without | _SAID_OTHERWISE.intersection(getattr(failure, "capabilities", ()))
        attempts = context.ledger.attempts_left(now.model)
        usable, left = self._modes(context)
        is_refused = isinstance(failure, RequestRefused)
        if is_refused and now.mode == usable[-1]:
            left = []
        is_short = bool(left) and attempts <= _OF_THE_LAST_MODE
        if is_refused and not is_short and (spare := self._optional(context, last=not left)):
            return now.mode, now.without | spare
        if left:
            is_of_mode = is_refused or isinstance(failure, CapabilityRefused) or context.fails_by_its_mode
            is_last = is_of_mode and attempts <= (_OF_THE_LAST_MODE if is_refused else 1)
            is_last = is_last or context.unexplained > 1
            return left[-1] if is_last else left[0], frozenset()
        doubted = self._doubted(context)
        return (doubted[0], frozenset()) if doubted else None

    def _optional(self, context: FallbackContext, *, last: bool) -> frozenset[str]:
        """What is left out of the same mode, once: what the words name, else all that can be."""
        left = context.ledger.requests_left
        if (left is not None and left <= (1 if last else _SPARE_REQUESTS)) or (context.plan.without and not last):
            return frozenset()
        if named := context.failure.facts.parts:
            return named & context.optional(last=True)
        found = context.optional(last=last)
        each = [frozenset({name}) for name in _LAST_RESORTS if name in found]
        return found.difference(_LAST_RESORTS) or next(iter(each), frozenset[str]())

    def _doubted(self, context: FallbackContext) -> Sequence[OutputMode]:
        """What was refused once may have been a passing thing: it is asked for before the run gives up."""
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

    def _same_mode_may_do(self, context: FallbackContext) -> bool:
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
    """The next model of the registry's `escalates_to` that was not tried: with a larger window after an overflow, of
    another account when one's quota is spent or its key not taken. The current model's list first, then those of the models that
    led to it in this turn. What does not suit is passed over, and leads on to its own list, as it would if it had failed."""

    def can_handle(self, failure: LLMCoreError, context: FallbackContext) -> bool:
        return self._next(failure, context) is not None

    def execute(self, context: FallbackContext) -> Plan:
        model = self._next(context.failure, context)
        assert model is not None  # can_handle said so
        place = best_place(context.models, model, context.spent_accounts())
        return Plan(model, context.models.modes(model, place)[0], "model", context.problem, deployment=place)

    def _next(self, failure: LLMCoreError, context: FallbackContext) -> str | None:
        allowed, models = remedies(failure), context.models
        asked = dict.fromkeys([context.plan.model, *(plan.model for plan in reversed(context.tried))])
        listed = [*dict.fromkeys(listed for one in asked for listed in models.escalations(one))]
        left = [model for model in _with_those_behind(models, listed) if not context.was_tried(model)]
        for model in sorted(left, key=lambda model: resting(models, model) > 0):  # the sick ones last
            if (
                "model" in allowed
                or ("larger_window" in allowed and _is_larger(context, model))
                or ("other_account" in allowed and _has_quota(context, model))
            ):
                return model
        return None


def _with_those_behind(models: Models, listed: Sequence[str]) -> Sequence[str]:
    """The listed models, then those that their own lists lead to, the nearest first."""
    found = [*listed]
    for model in found:  # grows meanwhile
        found += [behind for behind in models.escalations(model) if behind not in found]
    return found


def _has_quota(context: FallbackContext, model: str) -> bool:
    """Is one of the model's places another account than those found to be spent?"""
    spent, models = context.spent_accounts(), context.models
    return any(models.account(model, place) not in spent for place in models.deployments(model))


def _is_larger(context: FallbackContext, model: str) -> bool:
    """An unknown window may be."""
    window, too_small = context.models.window(model), context.models.window(context.plan.model)
    return window is None or too_small is None or window > too_small


@dataclass(frozen=True, slots=True)
class TextOnly:
    """The last resort: plain text, with the tools and the output's form taught by the prompt."""

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
    """Back to a place that had asked for time (a rate limit, an overload) and was left for another one, which failed: when it is
    ready, in the mode it was asked in. Of several the one that is ready first. `max_wait`: as `Retry`'s."""

    max_wait: float = 60.0

    def can_handle(self, failure: LLMCoreError, context: FallbackContext) -> bool:
        return bool(remedies(failure)) and self._next(context) is not None

    def execute(self, context: FallbackContext) -> Plan:
        found = self._next(context)
        assert found is not None  # can_handle said so
        past, wait = found
        return Plan(past.model, past.mode, "retry", context.problem, wait, past.deployment, past.without)

    def _next(self, context: FallbackContext) -> tuple[Plan, float] | None:
        now, ledger = context.plan, context.ledger
        last = {
            (plan.model, plan.deployment): (plan, failure) for plan, failure in zip(context.tried, context.failures, strict=True)
        }
        ways = [
            (plan, context.models.resting(*place))
            for place, (plan, failure) in last.items()
            if place != (now.model, now.deployment)
            and isinstance(failure, RateLimited | Overloaded)
            and ledger.attempts_left(*place) > 0
        ]
        found = min(ways, key=lambda way: way[1], default=None)
        is_soon = found is not None and (ledger.seconds_left is not None or found[1] <= self.max_wait)
        return found if is_soon else None


DEFAULT_STRATEGIES: Sequence[Strategy] = (OtherDeployment(), Retry(), OtherMode(), EscalateModel(), TextOnly(), ComeBack())
"""In the order in which they are asked."""
