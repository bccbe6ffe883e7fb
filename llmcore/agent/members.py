"""What the class of an agent says: its tools, its options, and the methods that take part in a chat.

Whatever is written in a class and would never be heard is an error when the class is made: a name that is almost a hook's, an
option's or one of the agent's own, a method in the place of an option that is a value, a tool within another descriptor, a method
that takes the place of a tool and is none, a tool that takes the place of one of the agent's own methods.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import lru_cache, update_wrapper
from types import FunctionType, MethodType
from typing import Any, cast

from llmcore.agent.options import INSTEAD, OPTIONS, checked_agent_options
from llmcore.hooks import check_members
from llmcore.run.caller_functions import CallersFunction
from llmcore.support.code.suggestions import misspelled
from llmcore.tools import Tool
from llmcore.tools.definition.tool import is_tool
from llmcore.tools.schema.unwrapping import wrapped_tool
from llmcore.types import ConfigError, ToolDefinitionError

__all__ = [
    "adopt",
    "asks_its_base",
    "check_class",
    "is_overridden",
    "is_own",
    "member_tools",
    "method_of",
    "methods_of",
    "options_of",
    "options_set",
    "refuse_misspelt_option",
]

_SEEDS_NAMES = {"system_messages": "_system_messages", "finalize_response": "_finalize_response"}
_METHODS: tuple[type[Any], ...] = (FunctionType, classmethod, property)
_AS_METHODS = {"checkpoint": 1, "log": 1, "socket_emit": 1, "output_validators": 1, "tools": 0, "interjections": 0}
"""Options that may be written as methods, and how many values each is given beside the object."""
_INSTEAD_OF_METHODS = {"system": "what changes from chat to chat is `def system_messages(self)`"}
_MESSAGES = "_llmcore_messages"
"""Where a class keeps its option `messages`: each object has a conversation of its own under that name."""


def member_tools(agent: object) -> list[Tool]:
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
    return is_overridden(agent, base, name) or is_overridden(agent, base, _SEEDS_NAMES[name])


def is_overridden(agent: object, base: type, name: str) -> bool:
    """Is the method of this name another one than the base's?"""
    return getattr(getattr(agent, name), "__func__", None) is not vars(base)[name]


def asks_its_base(agent: object, name: str) -> bool:
    """Is the agent's method of this name under way in this thread, and calls the base from there? Only the stack tells: `super()`
    leaves no trace, and a context variable would hold in the threads of tools as well."""
    code = getattr(inspect.unwrap(getattr(agent, name)), "__code__", None)
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code is code and frame.f_locals.get(next(iter(frame.f_code.co_varnames), "")) is agent:
            return True
        frame = frame.f_back
    return False


def method_of(agent: object, base: type, name: str) -> Any:
    """The method of this name, or of the name with an underscore where that one is not the base's."""
    seeds = _SEEDS_NAMES[name]
    return getattr(agent, seeds if is_overridden(agent, base, seeds) else name)


def options_of(kind: type) -> dict[str, Any]:
    """The options among the attributes of a class. Methods, tools and properties are none."""
    found: dict[str, Any] = {}
    for name in OPTIONS:
        given = inspect.getattr_static(kind, _MESSAGES if name == "messages" else name, None)
        if isinstance(given, staticmethod):
            given = cast("Any", given).__func__
        elif isinstance(given, FunctionType | classmethod | property) or _is_tool(given):
            continue
        if given is not None:
            found[name] = given
    return found


def options_set(agent: object) -> dict[str, Any]:
    """The options that were set on an object itself before it was made as an agent."""
    return {name: value for name, value in vars(agent).items() if name in OPTIONS and value is not None}


def refuse_misspelt_option(kind: str, name: str) -> None:
    """Raises `ConfigError` for an attribute of an object whose name is almost an option's, which it would set in vain."""
    if (near := _almost_an_option(name)) is not None:
        raise ConfigError(f"{kind}.{name} is no option; did you mean {near!r}? Call it _{name} if it is the object's own")


@lru_cache(maxsize=1024)
def _almost_an_option(name: str) -> str | None:
    near = misspelled(name, OPTIONS)
    if near is None or name in OPTIONS or name == near.removesuffix("s").partition("_")[0]:  # one `message` is no misspelling
        return None
    return near


def methods_of(agent: object, given: Collection[str]) -> dict[str, Any]:
    """The options that are methods of the agent's class, bound to it, but for those that the object was `given`."""
    kind = type(agent)
    own = [name for name in _AS_METHODS if isinstance(inspect.getattr_static(kind, name, None), FunctionType)]
    return {name: getattr(agent, name) for name in own if name not in given}


def adopt(kind: type) -> None:
    """Let a new class have its `messages` as an option, and as tools what other decorators made of its tools. Raises
    `ToolDefinitionError` for a tool within a descriptor, where it would never be heard."""
    if "messages" in vars(kind) and not isinstance(vars(kind)["messages"], FunctionType | property):
        setattr(kind, _MESSAGES, vars(kind)["messages"])
        delattr(kind, "messages")
    for name, value in dict[str, object](vars(kind)).items():
        within = None if name.startswith("__") or _is_tool(value) else cast("Tool | None", wrapped_tool(value))
        if within is None:
            continue
        if not isinstance(value, FunctionType):
            fix = "let @tool stand above a plain method or a @staticmethod: a tool of an agent takes the object, or nothing"
            raise ToolDefinitionError(f"{kind.__name__}.{name}: @{type(value).__name__} hides the tool below it; {fix}")
        named = cast("Any", update_wrapper(value, cast("Any", within.function)))  # its signature, and where it stands
        anew = Tool(named, replace(within.options, name=within.name))
        setattr(kind, name, anew)
        anew.__set_name__(kind, name)


def check_class(kind: type, agent: type) -> None:
    """Raises `CallerError` for what would never be heard, or could never run, in a class derived from `agent`."""
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
            if name in OPTIONS and issubclass(base, agent) and isinstance(value, _METHODS):
                _check_method(base, name, value)
            if _is_tool(value) and isinstance(value, Tool):
                value.refuse_unbound(can_bind=True)
    _refuse_two_spellings(_heirs(kind, agent))
    _refuse_namesakes(kind)
    checked_agent_options(kind.__name__, options_of(kind))


def _refuse_two_spellings(bases: Collection[type]) -> None:
    """Raises `ConfigError` where a class, or it and a base, spell one method in two ways: only one of them would be asked."""
    for names in _SEEDS_NAMES.items():
        by_name = {name: base.__name__ for base in bases for name in names if name in vars(base)}
        if len(by_name) > 1:
            told = " and ".join(f"{base} has {name}" for name, base in by_name.items())
            raise ConfigError(f"{told}, which are the same: keep one name")


def _refuse_namesakes(kind: type) -> None:
    """Raises `ToolDefinitionError` for two tools of one name."""
    members: dict[str, tuple[str, Any]] = {}
    for attribute in _tool_names(kind):
        value: Any = inspect.getattr_static(kind, attribute)
        found: Any = getattr(value, "__func__", value)
        other, known = members.setdefault(found.name, (attribute, found))
        if known is not found:
            raise ToolDefinitionError(
                f"{kind.__name__}.{other} and {kind.__name__}.{attribute} are tools of one name, {found.name!r}: give one "
                "another by @tool(name=...)"
            )


def _heirs(kind: type, agent: type) -> Collection[type]:
    return [base for base in kind.__mro__ if base not in agent.__mro__]


def _is_tool(value: object) -> bool:
    return is_tool(cast("Any", value).__func__ if isinstance(value, staticmethod) else value)


def _was_tool(kind: type, base: type, name: str) -> bool:
    above = kind.__mro__[kind.__mro__.index(base) + 1 :]
    return _is_tool(next((vars(one)[name] for one in above if name in vars(one)), None))


def _check_method(base: type, name: str, value: object) -> None:
    """Raises `ConfigError` for a method in the place of an option that would not be heard."""
    where = f"{base.__name__}.{name}"
    if name not in _AS_METHODS or not isinstance(value, FunctionType):
        fix = _INSTEAD_OF_METHODS.get(name) or "give its value, or staticmethod(function) where that is a function"
        raise ConfigError(
            f"{where} is the option `{name}`, which is no {_kind_of(value)}; {fix}. Call it otherwise if it is no option"
        )
    first = next(iter(inspect.signature(value).parameters), "")
    if first not in ("self", "_self", "args"):
        raise ConfigError(
            f"{where} is a function in a class, hence a method: let its first parameter be `self`, or write "
            f"`{name} = staticmethod(function)`"
        )
    CallersFunction(where, MethodType(value, base), _AS_METHODS[name])


def _kind_of(value: object) -> str:
    return "method" if isinstance(value, FunctionType) else type(value).__name__


def _refuse_misspelt(base: type, name: str, value: object) -> None:
    own = [*_SEEDS_NAMES, *_SEEDS_NAMES.values(), *_AS_METHODS]
    if callable(value) and name not in own and name not in OPTIONS and (near := misspelled(name, own)) is not None:
        raise ConfigError(f"{base.__name__}.{name} is never asked; did you mean {near!r}? Call it otherwise if it is a helper")
    is_type = isinstance(value, type) and name.islower()  # of output, say; a class of the class's own has a capital letter
    if name.startswith("_") or name in OPTIONS or isinstance(value, property | staticmethod | classmethod):
        return
    if callable(value) and not is_type:
        return
    near = misspelled(name, OPTIONS)
    if name in INSTEAD or near is not None:
        meant = INSTEAD.get(name) or f"did you mean {near!r}?"
        raise ConfigError(f"{base.__name__}.{name} is no option; {meant} Call it _{name} if it is the class's own")
