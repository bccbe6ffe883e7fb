"""Functions that a caller gives to a run: they may be sync or async, and may take the `RunContext`.

Where the context goes is read from the signature once, when the function is given, so that a wrong one is an error at once.
A sync function runs in a thread, for it may block, and both kinds stand under the run's deadline.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import FunctionType
from typing import Any, get_origin, get_type_hints

from llmcore.run.deadline import thread_within
from llmcore.tools import RunContext
from llmcore.tools.execution.abandonment import Abandoned, await_foreign, nothing_uncounted
from llmcore.types import ConfigError, Timeout
from llmcore.types.input.argument_errors import is_async, naming

__all__ = ["CallersFunction", "called", "takes_context"]

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class CallersFunction:
    """A function of `values` positional arguments and perhaps the context: the one parameter more, first where it is annotated
    so, else last. `what` names it in errors. Raises `ConfigError`."""

    def __init__(self, what: str, function: object, values: int) -> None:
        if not callable(function):
            raise ConfigError(f"{what} must be a function, not {type(function).__name__}")
        self.function: Callable[..., Any] = function
        self._what = what
        self._takes_context, self._context_first = _place_of_context(what, function, values)

    @property
    def name(self) -> str:
        """The function as errors call it."""
        return f"{self._what}, {getattr(self.function, '__qualname__', None) or type(self.function).__name__},"

    async def __call__(self, seconds: float | None, context: RunContext[Any], *values: Any) -> Any:
        """What it gives. Raises what it raises, and `Timeout` when the deadline, `seconds` from now, passes meanwhile."""
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
    """What a caller's function gives, sync (in a thread of its own) or async. Raises what it raises, and `Timeout`: an async one
    that does not stop when it is cancelled is left behind."""
    given = function(*arguments) if is_async(function) else await thread_within(seconds, partial(function, *arguments), uncounted)
    if not inspect.isawaitable(given):
        return given
    try:
        return await await_foreign(given, seconds, what, uncounted)
    except Abandoned:
        raise Timeout(f"the run's deadline has passed while {what} ran", status=None) from None


def _place_of_context(what: str, function: Callable[..., Any], values: int) -> tuple[bool, bool]:
    """(is it taken, is it the first)."""
    try:
        parameters = [*inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):  # some builtins tell no signature
        return False, False
    if any(one.kind is inspect.Parameter.VAR_POSITIONAL for one in parameters):
        return False, False
    places = [one for one in parameters if one.kind in _POSITIONAL]
    needed = [one for one in places if one.default is inspect.Parameter.empty]
    by_name = [one.name for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY and one.default is one.empty]
    is_unbound = (
        isinstance(function, FunctionType) and bool(places) and places[0].name == "self"
    )  # nobody would give it the object
    if by_name or is_unbound or not len(needed) <= values + 1 or len(places) < values:
        takes = "no argument" if values == 0 else "the value"
        raise ConfigError(
            f"{what} takes {takes}, and the RunContext if it wants it; its parameters are {inspect.signature(function)}"
        )
    hints = _hints(function)
    if values and len(needed) > values and _takes_context(needed[0], hints) and not _takes_context(needed[-1], hints):
        return True, True
    return len(needed) > values or (len(places) > values and _is_context(hints.get(places[values].name))), False


def takes_context(function: Callable[..., Any], needed: Sequence[inspect.Parameter]) -> bool:
    """Is the one parameter that it needs the context, by its annotation or its name?"""
    return len(needed) == 1 and (_takes_context(needed[0], _hints(function)) or needed[0].name == "_")


def _takes_context(parameter: inspect.Parameter, hints: Mapping[str, Any]) -> bool:
    """Is it the context, by its annotation or, where that says nothing, by its name?"""
    hint = hints.get(parameter.name)
    return _is_context(hint) or (hint in (None, Any) and parameter.name in ("ctx", "context", "run_context"))


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function)
    except Exception:  # names that cannot be resolved: then the order decides
        return {}


def _is_context(hint: Any) -> bool:
    return (get_origin(hint) or hint) is RunContext
