"""The members of an agent's class: its tools, its options, and the methods that take part in a chat.

If a member of a class would have no effect, the class raises an error when it is made. Such members are:

- a name that is almost a hook's, an option's or one of the agent's own;
- a method in place of an option that is a value;
- a tool within another descriptor;
- a method without a mark that replaces a tool;
- a tool that replaces one of the agent's own methods.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import lru_cache, update_wrapper
from types import FunctionType, MethodType
from typing import Any, cast

from llmcore.agent.options import OPTIONS, SUGGESTIONS, checked_agent_options
from llmcore.hooks import check_members
from llmcore.run.caller_functions import CallersFunction
from llmcore.support.code.suggestions import misspelled
from llmcore.tools import Tool
from llmcore.tools.definition.tool import is_tool
from llmcore.tools.schema.unwrapping import wrapped_tool
from llmcore.types import ConfigError, ToolDefinitionError

__all__ = [
    "check_class",
    "convert_members",
    "is_calling_base",
    "is_defined",
    "is_overridden",
    "member_tools",
    "method_of",
    "methods_of",
    "options_of",
    "options_set",
    "refuse_misspelt_option",
]

_PRIVATE_SPELLINGS = {"system_messages": "_system_messages", "finalize_response": "_finalize_response"}
_METHODS: tuple[type[Any], ...] = (FunctionType, classmethod, property)
_METHOD_OPTIONS = {"checkpoint": 1, "log": 1, "socket_emit": 1, "output_validators": 1, "tools": 0, "interjections": 0}
"""The options that may be methods, and the number of their arguments beside the object."""
_INSTEAD_OF_METHODS = {"system": "what changes from chat to chat is `def system_messages(self)`"}
_MESSAGES = "_llmcore_messages"
"""Where a class keeps its option `messages`: each object has its own conversation under that name."""


def member_tools(agent: object) -> list[Tool]:
    """The tools among an object's methods, bound to it: those of a base before those of derived classes, in order of
    definition."""
    return [getattr(agent, name) for name in _tool_names(cast("Any", type(agent)))]


@lru_cache(maxsize=256)
def _tool_names(kind: type) -> Sequence[str]:
    members: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        members.update(vars(base))
    return [name for name, value in members.items() if _is_tool(value)]


def is_defined(agent: object, base: type, name: str) -> bool:
    """Whether the agent's class overrides this method, under either spelling."""
    return is_overridden(agent, base, name) or is_overridden(agent, base, _PRIVATE_SPELLINGS[name])


def is_overridden(agent: object, base: type, name: str) -> bool:
    """Whether the method of this name differs from the base's."""
    return getattr(getattr(agent, name), "__func__", None) is not vars(base)[name]


def is_calling_base(agent: object, name: str) -> bool:
    """Whether the agent's method of this name is running in this thread, and calls the base's.

    Only the stack shows that: `super()` leaves no trace, and a context variable would also hold in the threads of tools.
    """
    code = getattr(inspect.unwrap(getattr(agent, name)), "__code__", None)
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code is code and frame.f_locals.get(next(iter(frame.f_code.co_varnames), "")) is agent:
            return True
        frame = frame.f_back
    return False


def method_of(agent: object, base: type, name: str) -> Any:
    """The method of this name. If the spelling with an underscore is overridden, that one."""
    seeds = _PRIVATE_SPELLINGS[name]
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
    """The options that were set on an object before `Agent.__init__` ran."""
    return {name: value for name, value in vars(agent).items() if name in OPTIONS and value is not None}


def refuse_misspelt_option(kind: str, name: str) -> None:
    """Raises `ConfigError` for an attribute whose name is almost an option's, and which would have no effect."""
    if (near := _almost_an_option(name)) is not None:
        raise ConfigError(f"{kind}.{name} is no option; did you mean {near!r}? Call it _{name} if it is the object's own")


@lru_cache(maxsize=1024)
def _almost_an_option(name: str) -> str | None:
    near = misspelled(name, OPTIONS)
    if (
        near is None or name in OPTIONS or name == near.removesuffix("s").partition("_")[0]
    ):  # a singular `message` is no misspelling
        return None
    return near


def methods_of(agent: object, given: Collection[str]) -> dict[str, Any]:
    """The options that are methods of the agent's class, bound to it, except those that the object was `given`."""
    kind = type(agent)
    names = [name for name in _METHOD_OPTIONS if isinstance(inspect.getattr_static(kind, name, None), FunctionType)]
    return {name: getattr(agent, name) for name in names if name not in given}


def convert_members(kind: type) -> None:
    """Store a new class's `messages` as an option, and make tools of what other decorators made of its tools.

    Raises `ToolDefinitionError` for a tool within a descriptor, where it would have no effect.
    """
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
        named = cast("Any", update_wrapper(value, cast("Any", within.function)))  # keeps the signature and the qualified name
        anew = Tool(named, replace(within.options, name=within.name))
        setattr(kind, name, anew)
        anew.__set_name__(kind, name)


def check_class(kind: type, agent: type) -> None:
    """Raises `CallerError` for members of a class derived from `agent` that would have no effect, or could never run."""
    check_members(kind, but=agent, near_only=True, passed=_is_tool)
    own = [name for name in vars(agent) if not name.startswith("_")]
    for base in _derived_classes(kind, agent):
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
    _refuse_two_spellings(_derived_classes(kind, agent))
    _refuse_namesakes(kind)
    checked_agent_options(kind.__name__, options_of(kind))


def _refuse_two_spellings(bases: Collection[type]) -> None:
    """Raises `ConfigError` if classes spell one method in two ways: only one of them would be called."""
    for names in _PRIVATE_SPELLINGS.items():
        by_name = {name: base.__name__ for base in bases for name in names if name in vars(base)}
        if len(by_name) > 1:
            found = " and ".join(f"{base} has {name}" for name, base in by_name.items())
            raise ConfigError(f"{found}, which are the same: keep one name")


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


def _derived_classes(kind: type, agent: type) -> Collection[type]:
    return [base for base in kind.__mro__ if base not in agent.__mro__]


def _is_tool(value: object) -> bool:
    return is_tool(cast("Any", value).__func__ if isinstance(value, staticmethod) else value)


def _was_tool(kind: type, base: type, name: str) -> bool:
    above = kind.__mro__[kind.__mro__.index(base) + 1 :]
    return _is_tool(next((vars(one)[name] for one in above if name in vars(one)), None))


def _check_method(base: type, name: str, value: object) -> None:
    """Raises `ConfigError` for a method in place of an option that cannot be one."""
    where = f"{base.__name__}.{name}"
    if name not in _METHOD_OPTIONS or not isinstance(value, FunctionType):
        fix = _INSTEAD_OF_METHODS.get(name) or "give its value, or staticmethod(function) where that is a function"
        raise ConfigError(f"{where} is the option `{name}`, which is no {_kind_of(value)}; {fix}. Rename it if it is no option")
    first = next(iter(inspect.signature(value).parameters), "")
    if first not in ("self", "_self", "args"):
        raise ConfigError(
            f"{where} is a function in a class, hence a method: let its first parameter be `self`, or write "
            f"`{name} = staticmethod(function)`"
        )
    CallersFunction(where, MethodType(value, base), _METHOD_OPTIONS[name])


def _kind_of(value: object) -> str:
    return "method" if isinstance(value, FunctionType) else type(value).__name__


def _refuse_misspelt(base: type, name: str, value: object) -> None:
    own = [*_PRIVATE_SPELLINGS, *_PRIVATE_SPELLINGS.values(), *_METHOD_OPTIONS]
    if callable(value) and name not in own and name not in OPTIONS and (near := misspelled(name, own)) is not None:
        raise ConfigError(f"{base.__name__}.{name} is never called; did you mean {near!r}? Rename it if it is a helper")
    is_type = isinstance(value, type) and name.islower()  # such as an output type; nested classes begin with a capital letter
    if name.startswith("_") or name in OPTIONS or isinstance(value, property | staticmethod | classmethod):
        return
    if callable(value) and not is_type:
        return
    near = misspelled(name, OPTIONS)
    if name in SUGGESTIONS or near is not None:
        meant = SUGGESTIONS.get(name) or f"did you mean {near!r}?"
        raise ConfigError(f"{base.__name__}.{name} is no option; {meant} Call it _{name} if it is the class's own")
