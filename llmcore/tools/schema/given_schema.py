"""A function whose schema was given, not inferred from its signature: whether the two fit, and which keywords a call passes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any, get_origin

from llmcore.support.code.signatures import signature_of
from llmcore.support.code.suggestions import hint
from llmcore.support.values.copies import copied
from llmcore.support.values.narrowing import object_in
from llmcore.tools.schema.signature import BY_NAME, hints_of, is_context, refuse_bound_arguments
from llmcore.tools.schema.unwrapping import bound_parameters
from llmcore.types import CompiledTool, ToolDefinition, ToolDefinitionError

__all__ = ["GivenSchema"]


class GivenSchema:
    """Calls a function with the arguments of a definition, as plain data by name.

    If the model omits an optional property that the function has no default for, the function receives the schema's `default`,
    else None.

    If the only parameter is positional-only and annotated as a dict (`def call(arguments: dict[str, Any], /)`), it receives all
    arguments.

    `any_arguments`: a preprocess function may change the arguments, so the names are not compared.

    Raises `ToolDefinitionError` if the schema or the function has a parameter that the other does not have.
    """

    def __init__(self, definition: ToolDefinition, function: Callable[..., Any] | None, *, any_arguments: bool = False) -> None:
        self.context_parameter: str | None = None
        self.takes_all_arguments = False
        self._optional_defaults: dict[str, Any] = {}
        self._bound = bound_parameters(function)
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
        self.takes_all_arguments = _takes_dict(parameters, hints)
        if self.takes_all_arguments:
            return
        if not any_arguments:
            _compare(definition, parameters, self._bound)
        compiled = CompiledTool(definition)
        defaults = {name: object_in(compiled.properties.get(name)).get("default") for name in _required(parameters)}
        self._optional_defaults = {name: default for name, default in defaults.items() if name not in compiled.required}

    def keywords(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by name, with the defaults. Raises `ArgumentsError` for one that `functools.partial` has bound."""
        refuse_bound_arguments(self._bound, arguments)
        return copied(self._optional_defaults) | dict(arguments)


def _parameters(function: Callable[..., Any] | None, bound: Collection[str]) -> dict[str, inspect.Parameter] | None:
    """The parameters that a call can give; None if the signature cannot be read, as of some C functions."""
    signature = signature_of(function) if function is not None else None
    if signature is None:
        return None
    return {name: each for name, each in signature.parameters.items() if name not in bound or each.kind not in BY_NAME}


def _hints(function: Callable[..., Any], name: str) -> Mapping[str, Any]:
    """The annotations, of which only `RunContext` matters here; none if one of them cannot be resolved."""
    try:
        return hints_of(function, name)
    except ToolDefinitionError:
        return {}


def _takes_dict(parameters: Mapping[str, inspect.Parameter], hints: Mapping[str, Any]) -> bool:
    """Whether the only parameter is positional-only and annotated as a dict or a mapping."""
    if [each.kind for each in parameters.values()] != [inspect.Parameter.POSITIONAL_ONLY]:
        return False
    (hint,) = (hints.get(name) for name in parameters)
    return (get_origin(hint) or hint) in (dict, Mapping)


def _required(parameters: Mapping[str, inspect.Parameter]) -> list[str]:
    return [name for name, each in parameters.items() if each.kind in BY_NAME and each.default is each.empty]


def _compare(definition: ToolDefinition, parameters: Mapping[str, inspect.Parameter], bound: Collection[str]) -> None:
    where = f"tool {definition.name!r}: "
    positional = [name for name, each in parameters.items() if each.kind is each.POSITIONAL_ONLY]
    if positional:
        raise ToolDefinitionError(
            f"{where}parameter {positional[0]!r} is positional-only; models give arguments by name. To take all of them as one "
            "dict, annotate the only parameter as dict[str, Any]"
        )
    declared = CompiledTool(definition).properties
    if filled := [name for name in declared if name in bound]:
        raise ToolDefinitionError(
            f"{where}its schema has {filled[0]!r}, which functools.partial has bound; leave it out of the schema"
        )
    named = [name for name, each in parameters.items() if each.kind in BY_NAME]
    takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    if not takes_any and (unknown := [name for name in declared if name not in named]):
        raise ToolDefinitionError(
            f"{where}its schema has {unknown[0]!r}, which the function does not take; {hint(unknown[0], named)}"
        )
    missing = [name for name in _required(parameters) if name not in declared]
    if missing and "patternProperties" not in definition.parameters:
        raise ToolDefinitionError(
            f"{where}the function needs {missing[0]!r}, which its schema does not have; {hint(missing[0], declared)}"
        )
