"""What looks like a function and cannot be a tool, refused where it is given, with what to give instead."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

from llmcore.support.code.suggestions import describe_value
from llmcore.tools.schema.unwrapping import had, innermost, refuse_hidden
from llmcore.types import ToolDefinitionError

__all__ = ["HOOK_MARK", "defined_in_a_class", "is_method", "not_a_function", "refuse"]

HOOK_MARK = "__llmcore_hooks__"
"""Where a function says which hooks it is."""


def refuse(function: Callable[..., Any]) -> None:
    """Raises `ToolDefinitionError` for a class, a hook, and a method that was taken from its class."""
    if isinstance(function, type):
        name = function.__name__
        raise ToolDefinitionError(
            f"{name} is a class; give a method of one of its objects, a function that makes one, or @tool(params={name}) on a "
            "function of one argument"
        )
    if not callable(function):
        raise ToolDefinitionError(f"a tool takes a function, or options by name, not {not_a_function(function)}")
    innermost(function)  # raises where there is none
    if hasattr(function, "dispatch") and hasattr(function, "registry"):
        raise ToolDefinitionError(
            f"{getattr(function, '__name__', 'it')} is dispatched by the type of its first argument, which models give by name: "
            "wrap it in a function with an annotation for that"
        )
    refuse_hidden(function)
    if marks := getattr(function, HOOK_MARK, ()):
        raise ToolDefinitionError(
            f"{function.__qualname__} is marked as a hook (@hook.{marks[0]}), which a tool is never asked as: write two functions"
        )
    if had(function, "__partialmethod__") is not None or had(function, "_partialmethod") is not None:
        raise ToolDefinitionError("a partialmethod without its object is no tool: give it of one of the class's objects")
    if is_method(function) and _stands_in_its_class(function):
        owner, _, name = function.__qualname__.rpartition(".")
        fix = f"give {owner}(...).{name}, or write @tool above it in the class"
        raise ToolDefinitionError(f"{function.__qualname__} is a method without its object: {fix}")


def not_a_function(given: object) -> str:
    """What was given, and where it is known, what to write."""
    if isinstance(given, classmethod):
        return "a classmethod: write @classmethod above @tool"
    if isinstance(given, property):
        return "a property: a tool is a method, which the model calls with arguments"
    return describe_value(given)


def defined_in_a_class(function: object) -> bool:
    """Does it stand in a class body?"""
    if not isinstance(function, types.FunctionType):
        return False
    owner = function.__qualname__.rpartition(".")[0]
    return bool(owner) and not owner.endswith("<locals>")


def is_method(function: object) -> bool:
    """Is this a method as it stands in a class body? Then its first parameter is the instance, and no argument."""
    if not defined_in_a_class(function) or not isinstance(function, types.FunctionType):
        return False
    return next(iter(inspect.signature(function).parameters), "") in ("self", "cls")


def _stands_in_its_class(function: Callable[..., Any]) -> bool:
    """Is the class made already, with this function in it? While its body runs, where `@tool` stands, it is not."""
    found: Any = sys.modules.get(function.__module__)
    for step in function.__qualname__.split(".")[:-1]:
        found = getattr(found, step, None)
    return isinstance(found, type) and vars(found).get(function.__name__) is function
