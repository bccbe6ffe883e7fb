"""A function beside a schema that was given, not made of its signature: do the two fit, and how is it called?"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any

from llmcore.support.code.suggestions import hint
from llmcore.support.values.copies import copied
from llmcore.support.values.narrowing import object_in
from llmcore.tools.schema.signature import BY_NAME, hints_of, is_context, refuse_bound
from llmcore.tools.schema.unwrapping import bound_in
from llmcore.types import CompiledTool, ToolDefinition, ToolDefinitionError

__all__ = ["GivenSchema"]


class GivenSchema:
    """How a function answers calls of a definition: with the arguments as plain data, by name.

    A property that the schema does not require and the function has no default for arrives, when it is left out, as the default
    that the schema tells, else as None.
    Raises `ToolDefinitionError` naming the parameter where one of the two has what the other lacks. `any_arguments`: a
    function before this one makes other arguments, so the names are not compared.
    """

    def __init__(self, definition: ToolDefinition, function: Callable[..., Any] | None, *, any_arguments: bool = False) -> None:
        self.context_parameter: str | None = None
        self._may_lack: dict[str, Any] = {}
        self._bound = bound_in(function)
        parameters = _parameters(function, self._bound)
        if function is None or parameters is None:
            return
        hints = _hints(function, definition.name)
        for name in list(parameters):
            if is_context(hints.get(name)):
                if self.context_parameter is not None:
                    raise ToolDefinitionError(f"tool {definition.name!r} takes two RunContext parameters; keep one")
                self.context_parameter = name
                del parameters[name]
        if not any_arguments:
            _compare(definition, parameters, self._bound)
        compiled = CompiledTool(definition)
        told = {name: object_in(compiled.properties.get(name)).get("default") for name in _required(parameters)}
        self._may_lack = {name: default for name, default in told.items() if name not in compiled.required}

    def keywords(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Raises `ArgumentsError` for what `functools.partial` has bound."""
        refuse_bound(self._bound, arguments)
        return copied(self._may_lack) | dict(arguments)


def _parameters(function: Callable[..., Any] | None, bound: Collection[str]) -> dict[str, inspect.Parameter] | None:
    """Those that a call can give. None for one whose signature cannot be read: some of C have none."""
    try:
        found = inspect.signature(function).parameters if function is not None else None
    except (ValueError, TypeError):
        return None
    return None if found is None else {name: one for name, one in found.items() if name not in bound or one.kind not in BY_NAME}


def _hints(function: Callable[..., Any], name: str) -> Mapping[str, Any]:
    """The annotations; none where one of them means nothing: only `RunContext` is looked for."""
    try:
        return hints_of(function, name)
    except ToolDefinitionError:
        return {}


def _required(parameters: Mapping[str, inspect.Parameter]) -> list[str]:
    return [name for name, one in parameters.items() if one.kind in BY_NAME and one.default is one.empty]


def _compare(definition: ToolDefinition, parameters: Mapping[str, inspect.Parameter], bound: Collection[str]) -> None:
    where = f"tool {definition.name!r}: "
    positional = [name for name, one in parameters.items() if one.kind is one.POSITIONAL_ONLY]
    if positional:
        raise ToolDefinitionError(f"{where}parameter {positional[0]!r} is positional-only; models give arguments by name")
    declared = CompiledTool(definition).properties
    if filled := [name for name in declared if name in bound]:
        raise ToolDefinitionError(
            f"{where}its schema has {filled[0]!r}, which functools.partial has bound; leave it out of the schema"
        )
    named = [name for name, one in parameters.items() if one.kind in BY_NAME]
    takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    if not takes_any and (unknown := [name for name in declared if name not in named]):
        raise ToolDefinitionError(
            f"{where}its schema has {unknown[0]!r}, which the function does not take; {hint(unknown[0], named)}"
        )
    lacking = [name for name in _required(parameters) if name not in declared]
    if lacking and "patternProperties" not in definition.parameters:
        raise ToolDefinitionError(
            f"{where}the function needs {lacking[0]!r}, which its schema does not have; {hint(lacking[0], declared)}"
        )
