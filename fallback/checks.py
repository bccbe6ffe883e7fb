"""What strategies of one's own are held to: their form when the manager is made, their plans when they give them.

Whatever is wrong is a `ConfigError` that names the strategy. No error of a strategy passes for one of a provider, and
none goes round in circles.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, cast, get_args

from llmcore.fallback.context import FallbackContext, Plan, best_place
from llmcore.fallback.strategies import Strategy
from llmcore.support.code.quoted_words import clipped_words
from llmcore.support.values.bounds import is_amount
from llmcore.types import AttemptReason, ConfigError, ModelNotFound, OutputMode, Request

__all__ = ["check_strategies", "plan_of"]

_METHODS = {"can_handle": 2, "execute": 1}
"""With how many arguments each is called."""
_HAS = "a strategy has the methods can_handle(failure, context) and execute(context)"
_MODES: tuple[str, ...] = get_args(OutputMode)
_REASONS: tuple[str, ...] = get_args(AttemptReason)
_TOLD_BY_THE_PLAN = frozenset({"first", "turn"})
"""Reasons that no plan after a failure has: what the plan changes is the reason."""


def check_strategies(given: object) -> tuple[Strategy, ...]:
    """The strategies, each an object with both methods. Raises `ConfigError`."""
    kind = type(given).__name__
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise ConfigError(f"strategies must be a list of strategies, not {kind}; {_HAS}")
    found = tuple(cast("Iterable[object]", given))
    for index, strategy in enumerate(found):
        if isinstance(strategy, type):
            raise ConfigError(f"strategies[{index}] is the class {strategy.__name__}; give an instance: {strategy.__name__}()")
        for method, arguments in _METHODS.items():
            problem = _wrong_with(getattr(strategy, method, None), arguments)
            if problem:
                raise ConfigError(f"strategies[{index}] ({type(strategy).__name__}): its {method} {problem}; {_HAS}")
    return cast("tuple[Strategy, ...]", found)


def _wrong_with(method: object, arguments: int) -> str:
    if method is None:
        return "is missing"
    if not callable(method):
        return "cannot be called"
    if inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method):
        return "is async; strategies choose and never wait (a plan says how long to wait)"
    try:
        inspect.signature(method).bind(*range(arguments))
    except TypeError:
        return f"does not take {arguments} argument{'s' if arguments > 1 else ''}"
    except ValueError:  # a callable that does not tell its signature
        pass
    return ""


def plan_of(strategy: Strategy, context: FallbackContext) -> Plan | None:
    """The strategy's way out of the latest failure, None when it has none. Raises `ConfigError` from that failure."""
    name = type(strategy).__name__
    try:
        verdict: object = strategy.can_handle(context.failure, context)
        if _is_awaitable(verdict):
            raise TypeError(f"can_handle returned a {type(verdict).__name__}, not a bool; strategies are not async")
        plan: object = strategy.execute(context) if verdict else None
    except Exception as error:
        raise ConfigError(f"the strategy {name} raised {clipped_words(f'{type(error).__name__}: {error}')}") from context.failure
    if not verdict:
        return None
    problem = _not_a_plan(plan) or _impossible(cast("Plan", plan), context)
    if problem:
        raise ConfigError(f"the strategy {name} {problem}") from context.failure
    try:
        return _filled_in(cast("Plan", plan), context)
    except ConfigError as error:
        raise ConfigError(f"the strategy {name}: in its plan's request, {error}") from context.failure


def _is_awaitable(value: object) -> bool:
    if not inspect.isawaitable(value):
        return False
    if inspect.iscoroutine(value):
        value.close()  # it will never be awaited
    return True


def _not_a_plan(plan: object) -> str:
    if isinstance(plan, Plan):
        return ""
    _is_awaitable(plan)
    return f"returned a {type(plan).__name__} from execute, not a Plan"


def _impossible(plan: Plan, context: FallbackContext) -> str:
    """What is wrong with a plan, in words that follow the strategy's name."""
    fields: dict[str, Any] = {name: getattr(plan, name) for name in ("model", "mode", "reason", "detail", "wait", "deployment")}
    for name, known in (("mode", _MODES), ("reason", _REASONS)):
        if fields[name] not in known:
            return f"names the {name} {fields[name]!r}; there are {', '.join(known)}"
    if not isinstance(fields["detail"], str):
        return f"gives {fields['detail']!r} as its plan's detail; it is a text"
    if not is_amount(fields["wait"]):
        return f"gives {fields['wait']!r} as its plan's wait; it is a finite number of seconds, 0 or more"
    without = cast("object", plan.without)
    if not isinstance(without, frozenset) or not all(isinstance(name, str) for name in cast("frozenset[object]", without)):
        return f"gives {without!r} as what its plan is made without; it is a frozenset of names"
    request = cast("object", plan.request)
    if request is not None and not isinstance(request, Request):
        return f"gives {clipped_words(repr(request))} as its plan's request; it is an llmcore.Request, made from context.request"
    if not isinstance(fields["model"], str):
        return f"names the model {fields['model']!r}; it is an alias of the registry"
    try:
        context.models.modes(plan.model)
    except ModelNotFound as error:
        return f"names a model that cannot be asked: {error}"
    places = context.models.deployments(plan.model)
    if fields["deployment"] and fields["deployment"] not in places:
        return f"names the deployment {fields['deployment']!r} of {plan.model}; there are {', '.join(places) or 'none'}"
    is_same = replace(plan, request=context.plan.request) == context.plan and not _alters(plan, context)
    if is_same and plan.reason != "retry" and not plan.wait:
        return f"gives the plan that just failed ({plan.model}, {plan.mode}) again; change it, or make it a retry or a wait"
    return ""


def _alters(plan: Plan, context: FallbackContext) -> bool:
    """Is its request another one than that which failed?"""
    if plan.request is None or plan.request is context.plan.request:
        return False
    return context.asked is None or plan.request != context.request


def _filled_in(plan: Plan, context: FallbackContext) -> Plan:
    """Raises `ConfigError` for a request that cannot be sent."""
    failed, reason = context.plan, plan.reason
    if reason in _TOLD_BY_THE_PLAN:
        reason = "model" if plan.model != failed.model else "mode" if plan.mode != failed.mode else "retry"
    here = failed.deployment if plan.model == failed.model else best_place(context.models, plan.model)
    detail = plan.detail.strip() or context.problem
    request = failed.request
    if plan.request is not None and plan.request is not request:
        request = plan.request if context.asked is None else context.asked.checked(plan.request)
    return replace(plan, reason=reason, detail=detail, deployment=plan.deployment or here, request=request)
