"""What the class of an agent says: its tools, its options, and the methods that take part in a chat.

Whatever is written in a class and would never be heard is an error when the class is made: a name that is almost a hook's or an
option's, a method that takes the place of a tool and is none, a tool that takes the place of one of the agent's own methods.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import lru_cache
from types import FunctionType
from typing import Any, cast

from llmcore.agent.options import INSTEAD, OPTIONS, check
from llmcore.hooks import check_members
from llmcore.tools import Tool
from llmcore.tools.tool import is_tool
from llmcore.types import ConfigError, ToolDefinitionError

__all__ = ["check_class", "is_own", "method_of", "options_of", "tools_of"]

_SEEDS_NAMES = {"system_messages": "_system_messages", "finalize_response": "_finalize_response"}
_NEAR = 0.9


def tools_of(agent: object) -> list[Tool]:
    """The tools among an object's methods, bound to it: a base's before its heirs', in the order in which they were written."""
    return [getattr(agent, name) for name in _tool_names(cast("Any", type(agent)))]


@lru_cache(maxsize=256)
def _tool_names(kind: type) -> Sequence[str]:
    members: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        members.update(vars(base))
    return [name for name, value in members.items() if _is_tool(value)]


def is_own(agent: object, base: type, name: str) -> bool:
    """Has the agent's class a method for this of its own?"""
    return getattr(method_of(agent, name), "__func__", None) is not vars(base)[name]


def method_of(agent: object, name: str) -> Any:
    """The method of this name, or the one that is called as the document of the framework has it."""
    return getattr(agent, _SEEDS_NAMES[name], None) or getattr(agent, name)


def options_of(kind: type) -> dict[str, Any]:
    """The options among the attributes of a class. Methods, tools and properties are none."""
    found: dict[str, Any] = {}
    for name in OPTIONS:
        given = inspect.getattr_static(kind, name, None)
        if isinstance(given, staticmethod):
            given = cast("Any", given).__func__
        elif isinstance(given, FunctionType | classmethod | property) or _is_tool(given):
            continue
        if given is not None:
            found[name] = given
    return found


def check_class(kind: type, agent: type) -> None:
    """Raises `CallerError` for what would never be heard in a class derived from `agent`."""
    check_members(kind, but=agent, near_only=True, passed=_is_tool)
    own = [name for name in vars(agent) if not name.startswith("_")]
    for base in _heirs(kind, agent):
        for name, value in vars(base).items():
            if _is_tool(value) and name in own:
                fix = f"call the method otherwise, and the tool by @tool(name={name!r})"
                raise ToolDefinitionError(f"{base.__name__}.{name} takes the place of the agent's own method; {fix}")
            if value is not None and not _is_tool(value) and _was_tool(kind, base, name):
                fix = f"put @tool above it, or set `{name} = None` to leave the tool out"
                raise ToolDefinitionError(f"{base.__name__}.{name} takes the place of a tool and is none itself; {fix}")
            _refuse_misspelt(base, name, value)
        for name, seeds in _SEEDS_NAMES.items():
            if seeds in vars(base) and name in vars(base):
                raise ConfigError(f"{base.__name__} has {name} and {seeds}, which are the same: keep one")
    check(kind.__name__, options_of(kind))


def _heirs(kind: type, agent: type) -> Iterable[type]:
    return [base for base in kind.__mro__ if base not in agent.__mro__]


def _is_tool(value: object) -> bool:
    return is_tool(cast("Any", value).__func__ if isinstance(value, staticmethod) else value)


def _was_tool(kind: type, base: type, name: str) -> bool:
    above = kind.__mro__[kind.__mro__.index(base) + 1 :]
    return _is_tool(next((vars(one)[name] for one in above if name in vars(one)), None))


def _refuse_misspelt(base: type, name: str, value: object) -> None:
    if name.startswith("_") or name in OPTIONS or callable(value) or isinstance(value, property | staticmethod | classmethod):
        return
    near = get_close_matches(name, OPTIONS, n=1, cutoff=_NEAR)
    if name in INSTEAD or near:
        meant = INSTEAD.get(name) or f"did you mean {near[0]!r}?"
        raise ConfigError(f"{base.__name__}.{name} is no option; {meant} Call it _{name} if it is the class's own")
