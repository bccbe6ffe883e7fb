"""Functions that a caller gives to a run. They may be sync or async, and may take the `RunContext`.

When a function is given, its signature shows where the context goes, so a wrong function is an error at once. A sync
function runs in a thread, since it may block. The run's deadline applies to both kinds.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import FunctionType
from typing import Any, get_origin, get_type_hints

from llmcore.run.deadline import thread_within
from llmcore.support.code.signatures import signature_of
from llmcore.tools import RunContext
from llmcore.tools.execution.abandonment import Abandoned, await_foreign, nothing_uncounted
from llmcore.types import ConfigError, Timeout
from llmcore.types.input.argument_errors import is_async, naming

__all__ = ["CallersFunction", "called", "takes_context"]

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class CallersFunction:
    """A function of `values` positional arguments, and perhaps one more for the context: the first one if annotated as the
    context, else the last. `what` names it in errors. Raises `ConfigError`."""

    def __init__(self, what: str, function: object, values: int) -> None:
        if not callable(function):
            raise ConfigError(f"{what} must be a function, not {type(function).__name__}")
        self.function: Callable[..., Any] = function
        self._what = what
        self._takes_context, self._context_first = _place_of_context(what, function, values)

    @property
    def name(self) -> str:
        """The function's name in errors."""
        return f"{self._what}, {getattr(self.function, '__qualname__', None) or type(self.function).__name__},"

    async def __call__(self, seconds: float | None, context: RunContext[Any], *values: Any) -> Any:
        """Its result. Raises what it raises, and `Timeout` if the deadline, `seconds` from now, passes first."""
        arguments = list(values)
        if self._takes_context:
            arguments.insert(0 if self._context_first else len(values), context)
        with naming(self._what, self.function):
            return await called(self._what, self.function, seconds, *arguments, uncounted=context.seconds_uncounted)


async def called(
    what: str,
    function: Callable[..., Any],
    seconds: float | None,
    *arguments: Any,
    uncounted: Callable[[], float] = nothing_uncounted,
) -> Any:
    """The result of a caller's function, sync (in a new thread) or async. Raises what it raises, and `Timeout`. If an async
    function does not stop when it is cancelled, the run no longer waits for it."""
    given = function(*arguments) if is_async(function) else await thread_within(seconds, partial(function, *arguments), uncounted)
    if not inspect.isawaitable(given):
        return given
    try:
        return await await_foreign(given, seconds, what, uncounted)
    except Abandoned:
        raise Timeout(f"the run's deadline has passed while {what} ran", status=None) from None


def _place_of_context(what: str, function: Callable[..., Any], values: int) -> tuple[bool, bool]:
    """Whether the function takes the context, and whether first."""
    signature = signature_of(function)
    parameters = () if signature is None else signature.parameters.values()
    if signature is None or any(one.kind is inspect.Parameter.VAR_POSITIONAL for one in parameters):
        return False, False
    places = [one for one in parameters if one.kind in _POSITIONAL]
    needed = [one for one in places if one.default is inspect.Parameter.empty]
    by_name = [one.name for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY and one.default is one.empty]
    is_unbound = isinstance(function, FunctionType) and bool(places) and places[0].name == "self"  # nothing would pass it `self`
    if by_name or is_unbound or not len(needed) <= values + 1 or len(places) < values:
        takes = "no argument" if values == 0 else "the value"
        raise ConfigError(f"{what} takes {takes}, and optionally the RunContext; its parameters are {signature}")
    hints = _hints(function)
    if values and len(needed) > values and _takes_context(needed[0], hints) and not _takes_context(needed[-1], hints):
        return True, True
    return len(needed) > values or (len(places) > values and _is_context(hints.get(places[values].name))), False


def takes_context(function: Callable[..., Any], needed: Sequence[inspect.Parameter]) -> bool:
    """Is its only required parameter the context, by annotation or name?"""
    return len(needed) == 1 and (_takes_context(needed[0], _hints(function)) or needed[0].name == "_")


def _takes_context(parameter: inspect.Parameter, hints: Mapping[str, Any]) -> bool:
    """Is the parameter the context, by its annotation or, without a useful one, by its name?"""
    hint = hints.get(parameter.name)
    return _is_context(hint) or (hint in (None, Any) and parameter.name in ("ctx", "context", "run_context"))


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function)
    except Exception:  # names that cannot be resolved: the order decides
        return {}


def _is_context(hint: Any) -> bool:
    return (get_origin(hint) or hint) is RunContext
