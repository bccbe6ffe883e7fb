"""The options of a tool (`@tool(name=..., timeout=...)`) and the checks of their values."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypedDict

from llmcore.support.code.function_types import OfValue
from llmcore.support.code.suggestions import describe_value, unknown
from llmcore.support.values.bounds import is_amount
from llmcore.tools.definition.function_checks import is_method
from llmcore.types import CacheControl, RetryConfig, ToolDefinitionError
from llmcore.types.input.argument_errors import is_async, takes_positional

__all__ = [
    "SIGNATURE_OPTIONS",
    "Approval",
    "OptionsByName",
    "Params",
    "Summary",
    "ToolOptions",
    "checked_tool_options",
    "is_tool_name",
]

Params = Mapping[str, Mapping[str, Any]] | type[Any] | None
Summary = str | Callable[[dict[str, Any]], str]
Approval = bool | OfValue


class OptionsByName(TypedDict, total=False):
    """The options as typed keywords: editors complete them, and type checkers refuse a misspelt one."""

    name: str | None
    description: str | None
    params: Mapping[str, Mapping[str, object | Callable[[Any], Any]]] | type[Any] | None
    required: Collection[str] | None
    preprocess: Callable[[dict[str, Any]], Any] | None
    postprocess: Callable[[Any], Any] | None
    read_only: bool
    strict: bool | None
    examples: Collection[Mapping[str, Any]]
    tags: Collection[str]
    version: str | None
    cache_control: CacheControl | None
    timeout: float | None
    retries: int | RetryConfig | None
    summary: Summary | None
    requires_approval: Approval
    idempotent: bool
    sequential: bool


@dataclass(frozen=True, slots=True)
class ToolOptions:
    """The options of a tool. None takes the value from the function.

    `params`: JSON Schema fragments by parameter, or a type (BaseModel, dataclass, TypedDict) that is the function's only
    argument.
    `required`: the names of the required parameters.
    `preprocess`: a function of the arguments that returns the new ones, or None if it changed them in place; sync or async.
    `postprocess`: a function of the result that returns the new one; sync or async.
    `read_only`: running the tool changes nothing, so a call that needed a guess may run.
    `strict`: asks the provider for its strict mode.
    `examples`: example arguments, which must fit the schema.
    `cache_control`: marks the end of a prefix for the provider's prompt cache: the tools up to this one.
    `timeout`: seconds for each try. `retries`: how many follow the first, or a `RetryConfig`. Both override the run's. A retry
    after a timeout does not wait for the thread of the last try: see `docs/reliability.md`.
    `summary`: describes a call to users, as a format text (`"Weather of {city}"`) or a function of the arguments.
    `requires_approval`: True, or a function of the arguments (and of the `RunContext`), sync or async. If it returns True or a
    reason, or raises, the call waits for the caller's approval.
    `idempotent`: a call that was started and whose outcome is unknown may run again.
    `sequential`: the call starts after the calls before it have ended, and the calls after it start when it has ended.

    Raises `ToolDefinitionError` for a wrong value.
    """

    name: str | None = None
    description: str | None = None
    params: Params = None
    required: Collection[str] | None = None
    preprocess: Callable[[dict[str, Any]], Any] | None = None
    postprocess: Callable[[Any], Any] | None = None
    read_only: bool = False
    strict: bool | None = None
    examples: Collection[Mapping[str, Any]] = ()
    tags: Collection[str] = ()
    version: str | None = None
    cache_control: CacheControl | None = None
    timeout: float | None = None
    retries: int | RetryConfig | None = None
    summary: Summary | None = None
    requires_approval: Approval = False
    idempotent: bool = False
    sequential: bool = False

    def __post_init__(self) -> None:
        for option, (fits, words) in _OPTION_VALUES.items():
            value = getattr(self, option)
            if value is not None and not fits(value):
                raise ToolDefinitionError(f"a tool's {option} must be {words}, not {describe_value(value)}")
        if isinstance(self.params, Mapping):
            _check_params(self.params)

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> ToolOptions:
        """The options of a mapping. Raises `ToolDefinitionError` for an unknown option or a wrong value."""
        return cls(**checked_tool_options(options))

    def without_parameters(self, names: Collection[str]) -> ToolOptions:
        """The same options without every mention of the parameters of these names, which `functools.partial` has bound."""
        if not names:
            return self
        params, required = self.params, self.required
        return replace(
            self,
            params=params if params is None or isinstance(params, type) else _without_keys(params, names),
            required=None if required is None else [name for name in required if name not in names],
            examples=[_without_keys(example, names) for example in self.examples],
            summary=None if isinstance(self.summary, str) and _mentions_any(self.summary, names) else self.summary,
        )

    def overlaid(self, other: ToolOptions | None) -> ToolOptions:
        """The same options, with those of `other` that differ from the defaults in place of them."""
        values = {} if other is None else {field.name: getattr(other, field.name) for field in fields(other)}
        return replace(self, **{name: value for name, value in values.items() if value != getattr(_DEFAULTS, name)})


def checked_tool_options(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The given options. Raises `ToolDefinitionError` for an unknown one."""
    names = [field.name for field in fields(ToolOptions)]
    for name in options:
        if name not in names:
            raise ToolDefinitionError(unknown("a tool", "option", name, names, _INSTEAD))
    return options


def is_tool_name(name: object) -> bool:
    """Whether some provider accepts the name. A name that only some providers refuse is refused when a request is sent."""
    return isinstance(name, str) and re.fullmatch(r"[\w.:/-]+", name) is not None


def _without_keys(given: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name not in names}


def _mentions_any(summary: str, names: Collection[str]) -> bool:
    return any(re.search(rf"\{{{re.escape(name)}\W", summary) for name in names)


def _check_params(params: Mapping[str, Any]) -> None:
    if params.get("type") == "object" and isinstance(params.get("properties"), Mapping):
        raise ToolDefinitionError(
            "a tool's params are JSON Schemas by parameter, as in {'city': {'type': 'string'}}; a whole schema goes to "
            "Tool.from_definition(ToolDefinition(name=..., parameters=schema), function)"
        )
    for name, schema in params.items():
        if not isinstance(schema, Mapping):
            raise ToolDefinitionError(
                f"a tool's params: {name!r} must be a JSON Schema such as {{'type': 'string'}}, not {describe_value(schema)}"
            )


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_collection(value: object) -> bool:
    return isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)


def _is_list_of(kind: type[Any], value: Any) -> bool:
    return _is_collection(value) and all(isinstance(item, kind) for item in value)


_INSTEAD = {
    "parameters": "JSON Schemas by parameter are `params`; a whole schema goes to Tool.from_definition",
    "schema": "JSON Schemas by parameter are `params`; a whole schema goes to Tool.from_definition",
    "max_retries": "how often it is tried again is `retries`",
    "deadline": "the seconds of each try are `timeout`",
    "needs_approval": "it is `requires_approval`",
    "approval": "it is `requires_approval`",
    "parallel": "it is `sequential=True` for a tool that runs alone",
}
_PARAMS = "JSON Schemas by parameter, or a type with fields (a model, a dataclass, a TypedDict)"
SIGNATURE_OPTIONS = ("params", "required")
"""The options that change the schema of the signature. `Tool.from_definition` refuses them."""
_OPTION_VALUES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "name": (is_tool_name, "a text of letters, digits and any of _ - . : /"),
    "description": (_is_text, "a text"),
    "params": (lambda value: isinstance(value, Mapping | type), _PARAMS),
    "required": (lambda value: _is_list_of(str, value), "a list of names"),
    "preprocess": (lambda value: takes_positional(value, 1), "a function of the arguments, which are a dict"),
    "postprocess": (lambda value: takes_positional(value, 1), "a function of the result"),
    "read_only": (lambda value: isinstance(value, bool), "True or False"),
    "strict": (lambda value: isinstance(value, bool), "True, False or None"),
    "examples": (lambda value: _is_list_of(Mapping, value), "a list of argument objects"),
    "tags": (lambda value: _is_list_of(str, value), "a list of texts"),
    "version": (_is_text, "a text"),
    "cache_control": (lambda value: isinstance(value, CacheControl), "an llmcore.CacheControl"),
    "timeout": (lambda value: is_amount(value) and value > 0, "a finite number of seconds above 0"),
    "retries": (
        lambda value: isinstance(value, RetryConfig) or (isinstance(value, int) and is_amount(value)),
        "a whole number of at least 0, or an llmcore.RetryConfig",
    ),
    "summary": (
        lambda value: isinstance(value, str) or (takes_positional(value, 1) and not is_async(value)),
        "a text or a function of the arguments, which are a dict, that is not async",
    ),
    "requires_approval": (
        lambda value: (
            isinstance(value, bool) or takes_positional(value, 1) or (takes_positional(value, 2) and not is_method(value))
        ),
        "True, False or a function of the arguments, and of the RunContext if it wants it",
    ),
    "idempotent": (lambda value: isinstance(value, bool), "True or False"),
    "sequential": (lambda value: isinstance(value, bool), "True or False"),
}
_DEFAULTS = ToolOptions()
