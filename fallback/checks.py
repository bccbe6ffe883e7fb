"""Checks strategies when the manager is made, and checks each plan that a strategy returns.

Every mistake raises a `ConfigError` that names the strategy. So an error inside a strategy never looks like a provider's
error, and a strategy cannot repeat a failed plan forever.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, cast, get_args

from llmcore.fallback.context import FallbackContext, Plan, best_deployment
from llmcore.fallback.strategies import Strategy
from llmcore.support.code.quoted_words import clipped_words
from llmcore.support.code.signatures import misfit
from llmcore.support.values.bounds import is_amount
from llmcore.types import AttemptReason, ConfigError, ModelNotFound, OutputMode, Request

__all__ = ["check_strategies", "plan_of"]

_METHODS = {"can_handle": 2, "execute": 1}
"""How many arguments the manager passes to each method."""
_REQUIRED = "a strategy has the methods can_handle(failure, context) and execute(context)"
_MODES: tuple[str, ...] = get_args(OutputMode)
_REASONS: tuple[str, ...] = get_args(AttemptReason)
_INITIAL_REASONS = frozenset({"first", "turn"})
"""Reasons that no plan after a failure has. `_with_defaults` replaces them by what the plan changes."""


def check_strategies(given: object) -> tuple[Strategy, ...]:
    """Return the strategies as a tuple. Raises `ConfigError` for an object that lacks one of the two methods."""
    kind = type(given).__name__
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise ConfigError(f"strategies must be a list of strategies, not {kind}; {_REQUIRED}")
    found = tuple(cast("Iterable[object]", given))
    for index, strategy in enumerate(found):
        if isinstance(strategy, type):
            raise ConfigError(f"strategies[{index}] is the class {strategy.__name__}; give an instance: {strategy.__name__}()")
        for method, arguments in _METHODS.items():
            problem = _method_problem(getattr(strategy, method, None), arguments)
            if problem:
                raise ConfigError(f"strategies[{index}] ({type(strategy).__name__}): its {method} {problem}; {_REQUIRED}")
    return cast("tuple[Strategy, ...]", found)


def _method_problem(method: object, arguments: int) -> str:
    if method is None:
        return "is missing"
    if not callable(method):
        return "cannot be called"
    if inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method):
        return "is async; strategies choose and never wait (a plan says how long to wait)"
    if misfit(method, *range(arguments)) is not None:
        return f"does not take {arguments} argument{'s' if arguments > 1 else ''}"
    return ""


def plan_of(strategy: Strategy, context: FallbackContext) -> Plan | None:
    """Return the strategy's plan for the latest failure, None if it has none.

    Raises `ConfigError`, from that failure, if the strategy raises or its plan is invalid.
    """
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
    problem = _type_problem(plan) or _plan_problem(cast("Plan", plan), context)
    if problem:
        raise ConfigError(f"the strategy {name} {problem}") from context.failure
    try:
        return _with_defaults(cast("Plan", plan), context)
    except ConfigError as error:
        raise ConfigError(f"the strategy {name}: in its plan's request, {error}") from context.failure


def _is_awaitable(value: object) -> bool:
    if not inspect.isawaitable(value):
        return False
    if inspect.iscoroutine(value):
        value.close()  # it will never be awaited
    return True


def _type_problem(plan: object) -> str:
    if isinstance(plan, Plan):
        return ""
    _is_awaitable(plan)
    return f"returned a {type(plan).__name__} from execute, not a Plan"


def _plan_problem(plan: Plan, context: FallbackContext) -> str:
    """What is wrong with a plan, as words that follow the strategy's name. Empty if the plan is valid."""
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
    is_same = replace(plan, request=context.plan.request) == context.plan and not _changes_request(plan, context)
    if is_same and plan.reason != "retry" and not plan.wait:
        return f"gives the plan that just failed ({plan.model}, {plan.mode}) again; change it, or make it a retry or a wait"
    return ""


def _changes_request(plan: Plan, context: FallbackContext) -> bool:
    """Whether the plan's request differs from the one that failed."""
    if plan.request is None or plan.request is context.plan.request:
        return False
    return context.turn_request is None or plan.request != context.request


def _with_defaults(plan: Plan, context: FallbackContext) -> Plan:
    """The plan with the fields filled in that it leaves out. Raises `ConfigError` for a request that cannot be sent."""
    failed, reason = context.plan, plan.reason
    if reason in _INITIAL_REASONS:
        reason = "model" if plan.model != failed.model else "mode" if plan.mode != failed.mode else "retry"
    deployment = failed.deployment if plan.model == failed.model else best_deployment(context.models, plan.model)
    detail = plan.detail.strip() or context.problem
    request = failed.request
    if plan.request is not None and plan.request is not request:
        request = plan.request if context.turn_request is None else context.turn_request.checked(plan.request)
    return replace(plan, reason=reason, detail=detail, deployment=plan.deployment or deployment, request=request)
