"""The tool that stands below something else: a decorator that is not ours, a `functools.partial`, a bound method, a `__call__`.

Whatever is put above a tool, its author's options hold on, `requires_approval` above all: they are looked for wherever a
decorator says what it wraps. What wraps a tool and does not say so is refused.
"""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any, cast

from llmcore.types import ToolDefinitionError

__all__ = ["AnyTool", "below", "bound_in", "had", "innermost", "refuse_hidden", "tool_within", "yields"]

_DEEPEST = 100
_WITHIN = ("__func__", "fget", "__wrapped__", "__partialmethod__", "_partialmethod")
"""Where descriptors and decorators keep what they stand above. A `partialmethod` without its object has `__partialmethod__`
(before Python 3.13: `_partialmethod`)."""
_PARTIALS = (functools.partial, functools.partialmethod)
_WITH_FUNC = (functools.partial, functools.partialmethod, functools.cached_property)
"""Those of `func`; anybody's object may have an attribute of that name."""
_ANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class AnyTool:
    """What every `Tool` is, to this file, which `Tool` asks itself."""

    name: str


def below(value: object) -> object:
    """What a descriptor, a decorator, a `partial` or a callable object stands above; None for a plain function."""
    if isinstance(value, _WITH_FUNC):
        return cast("Any", value).func
    found = next((one for name in _WITHIN if (one := had(value, name)) is not None), None)
    if found is not None or isinstance(value, type) or inspect.isroutine(value):
        return found
    call = inspect.getattr_static(type(value), "__call__", None)
    return call if hasattr(call, "__wrapped__") or isinstance(call, types.FunctionType) else None


def had(value: Any, name: str) -> Any:
    """What it has under the name; a proxy of something that is not there yet raises an error of its own."""
    try:
        return getattr(value, name, None)
    except Exception:
        return None


def innermost(function: object) -> Any:
    """The function whose annotations are those of all that stands above it. Raises `ToolDefinitionError` where there is none:
    what wraps itself, or answers by any name with another one like it, would be looked into without end."""
    found = function
    for _ in range(_DEEPEST):
        inner = below(found)
        if inner is None:
            return found
        found = inner
    said = function.__name__ if isinstance(function, types.FunctionType) else type(function).__name__
    raise ToolDefinitionError(f"{said} says without end what it wraps (`__wrapped__`): wrap it in a plain function")


def bound_in(function: object) -> frozenset[str]:
    """The parameters that a `partial` or `partialmethod` has filled, at any depth. A call cannot give them."""
    names = set[str]()
    for _ in range(_DEEPEST):
        if function is None or "__signature__" in getattr(function, "__dict__", {}):  # what says its own parameters
            break
        if _is_partial(function):
            partial = cast("Any", function)
            names |= {*partial.keywords, *_filled_by_place(partial)}
        function = below(function)
    return frozenset(names)


def _is_partial(value: object) -> bool:
    return isinstance(value, _PARTIALS)


def _filled_by_place(partial: Any) -> list[str]:
    try:
        return [*inspect.signature(partial.func).bind_partial(*partial.args).arguments]
    except (TypeError, ValueError):  # some builtins tell no signature
        return []


def tool_within(value: object) -> AnyTool | None:
    """The tool that something stands above, or is; None where there is none."""
    for _ in range(_DEEPEST):
        if value is None or isinstance(value, AnyTool):
            return value
        value = below(value)
    return None


def refuse_hidden(function: object) -> None:
    """Raises `ToolDefinitionError` for a function of any arguments around a tool that it does not tell: neither the tool's
    schema nor its options would be heard."""
    if not isinstance(function, types.FunctionType) or not function.__closure__ or hasattr(function, "__wrapped__"):
        return
    parameters = inspect.signature(function).parameters.values()
    if not parameters or any(one.kind not in _ANY for one in parameters):
        return
    for cell in function.__closure__:
        held = _content(cell)
        if (hidden := tool_within(held)) is not None:
            raise ToolDefinitionError(
                f"{function.__qualname__} hides the tool {hidden.name!r} below it, with its parameters and options: put @tool "
                "above the decorator, or @functools.wraps(function) within it"
            )


def _content(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def yields(function: object) -> bool:
    """Is it a generator, sync or async?"""
    return inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)
