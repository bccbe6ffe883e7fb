"""Errors for callables that cannot be tools. Each error says what to give instead."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

from llmcore.support.code.suggestions import describe_value
from llmcore.tools.schema.unwrapping import getattr_or_none, innermost, refuse_hidden_tool
from llmcore.types import ToolDefinitionError

__all__ = ["HOOK_MARK", "defined_in_a_class", "describe_non_function", "is_method", "refuse_non_tool"]

HOOK_MARK = "__llmcore_hooks__"
"""The attribute with the names of the hooks that `@hook` made a function."""


def refuse_non_tool(function: Callable[..., Any]) -> None:
    """Raises `ToolDefinitionError` for what cannot be a tool: a class, a hook, or a method that was read from its class."""
    if isinstance(function, type):
        name = function.__name__
        raise ToolDefinitionError(
            f"{name} is a class; give a method of one of its objects, a function that makes one, or @tool(params={name}) on a "
            "function of one argument"
        )
    if not callable(function):
        raise ToolDefinitionError(f"a tool takes a function, or options by name, not {describe_non_function(function)}")
    innermost(function)  # raises for an endless chain of wrappers
    if hasattr(function, "dispatch") and hasattr(function, "registry"):
        raise ToolDefinitionError(
            f"{getattr(function, '__name__', 'it')} is dispatched by the type of its first argument, which models give by name: "
            "wrap it in a function with an annotation for that"
        )
    refuse_hidden_tool(function)
    if marks := getattr(function, HOOK_MARK, ()):
        raise ToolDefinitionError(
            f"{function.__qualname__} is marked as a hook (@hook.{marks[0]}) and cannot be a tool as well: write two functions"
        )
    if getattr_or_none(function, "__partialmethod__") is not None or getattr_or_none(function, "_partialmethod") is not None:
        raise ToolDefinitionError("a partialmethod without its object is no tool: read it from an object of the class")
    if is_method(function) and _is_in_finished_class(function):
        owner, _, name = function.__qualname__.rpartition(".")
        fix = f"give {owner}(...).{name}, or write @tool above it in the class"
        raise ToolDefinitionError(f"{function.__qualname__} is a method without its object: {fix}")


def describe_non_function(given: object) -> str:
    """A description of a value that is no function, with the fix if there is a usual one."""
    if isinstance(given, classmethod):
        return "a classmethod: write @classmethod above @tool"
    if isinstance(given, property):
        return "a property: a tool is a method, which the model calls with arguments"
    return describe_value(given)


def defined_in_a_class(function: object) -> bool:
    """Whether the function was defined in a class body."""
    if not isinstance(function, types.FunctionType):
        return False
    owner = function.__qualname__.rpartition(".")[0]
    return bool(owner) and not owner.endswith("<locals>")


def is_method(function: object) -> bool:
    """Whether it is a function of a class body whose first parameter is the instance or the class."""
    if not defined_in_a_class(function) or not isinstance(function, types.FunctionType):
        return False
    return next(iter(inspect.signature(function).parameters), "") in ("self", "cls")


def _is_in_finished_class(function: Callable[..., Any]) -> bool:
    """Whether the class of the function exists and has it. It does not exist yet while `@tool` runs in its body."""
    found: Any = sys.modules.get(function.__module__)
    for step in function.__qualname__.split(".")[:-1]:
        found = getattr(found, step, None)
    return isinstance(found, type) and vars(found).get(function.__name__) is function
