"""Finding the tool or function that a decorator, a `functools.partial`, a bound method or a callable object wraps.

A wrapped tool keeps its options, `requires_approval` above all. So this module follows every attribute by which a wrapper names
what it wraps. A wrapper that hides a tool is refused.
"""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any, cast

from llmcore.types import ToolDefinitionError

__all__ = [
    "ToolBase",
    "bound_parameters",
    "getattr_or_none",
    "innermost",
    "is_generator_function",
    "refuse_hidden_tool",
    "unwrap_once",
    "wrapped_tool",
]

_MAX_DEPTH = 100
_WRAPPED_ATTRIBUTES = ("__func__", "fget", "__wrapped__", "__partialmethod__", "_partialmethod")
"""Where descriptors and decorators keep what they wrap. An unbound `partialmethod` has `__partialmethod__`
(before Python 3.13: `_partialmethod`)."""
_PARTIALS = (functools.partial, functools.partialmethod)
_WITH_FUNC = (functools.partial, functools.partialmethod, functools.cached_property)
"""The classes whose `func` is what they wrap. Any other object may have an unrelated attribute of that name."""
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class ToolBase:
    """The base of `Tool`, so that this module need not import `Tool`, which imports this module."""

    name: str


def unwrap_once(value: object) -> object:
    """What a descriptor, a decorator, a `partial` or a callable object wraps; None for a plain function."""
    if isinstance(value, _WITH_FUNC):
        return cast("Any", value).func
    found = next((inner for name in _WRAPPED_ATTRIBUTES if (inner := getattr_or_none(value, name)) is not None), None)
    if found is not None or isinstance(value, type) or inspect.isroutine(value):
        return found
    call = inspect.getattr_static(type(value), "__call__", None)
    return call if hasattr(call, "__wrapped__") or isinstance(call, types.FunctionType) else None


def getattr_or_none(value: Any, name: str) -> Any:
    try:
        return getattr(value, name, None)
    except Exception:  # a proxy of something that does not exist yet raises its own error
        return None


def innermost(function: object) -> Any:
    """The innermost wrapped function, whose annotations apply to everything that wraps it.

    Raises `ToolDefinitionError` for an endless chain of wrappers: one that wraps itself, or returns a wrapper for any attribute.
    """
    found = function
    for _ in range(_MAX_DEPTH):
        inner = unwrap_once(found)
        if inner is None:
            return found
        found = inner
    name = function.__name__ if isinstance(function, types.FunctionType) else type(function).__name__
    raise ToolDefinitionError(f"{name} has an endless chain of `__wrapped__`: wrap it in a plain function")


def bound_parameters(function: object) -> frozenset[str]:
    """The parameters that a `partial` or `partialmethod` has bound, at any depth. A model cannot give them."""
    names = set[str]()
    for _ in range(_MAX_DEPTH):
        if function is None or "__signature__" in getattr(function, "__dict__", {}):  # it declares its own parameters
            break
        if _is_partial(function):
            partial = cast("Any", function)
            names |= {*partial.keywords, *_bound_positionally(partial)}
        function = unwrap_once(function)
    return frozenset(names)


def _is_partial(value: object) -> bool:  # a call, for `isinstance` in the loop leaves pyright with unknown types
    return isinstance(value, _PARTIALS)


def _bound_positionally(partial: Any) -> list[str]:
    try:
        return [*inspect.signature(partial.func).bind_partial(*partial.args).arguments]
    except (TypeError, ValueError):  # some builtins have no signature
        return []


def wrapped_tool(value: object) -> ToolBase | None:
    """The tool that `value` is or wraps; None if there is none."""
    for _ in range(_MAX_DEPTH):
        if value is None or isinstance(value, ToolBase):
            return value
        value = unwrap_once(value)
    return None


def refuse_hidden_tool(function: object) -> None:
    """Raises `ToolDefinitionError` for a function of `*args` and `**kwargs` that calls a tool in its closure without
    `__wrapped__`: the tool's schema and options would be lost."""
    if not isinstance(function, types.FunctionType) or not function.__closure__ or hasattr(function, "__wrapped__"):
        return
    parameters = inspect.signature(function).parameters.values()
    if not parameters or any(parameter.kind not in _VARIADIC for parameter in parameters):
        return
    for cell in function.__closure__:
        if (hidden := wrapped_tool(_content(cell))) is not None:
            raise ToolDefinitionError(
                f"{function.__qualname__} hides the tool {hidden.name!r} below it, with its parameters and options: put @tool "
                "above the decorator, or @functools.wraps(function) within it"
            )


def _content(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def is_generator_function(function: object) -> bool:
    """Whether it is a generator function, sync or async."""
    return inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)
