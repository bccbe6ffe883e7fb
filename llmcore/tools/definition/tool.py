"""`Tool`: a function, its options, and its definition for the model.

A `Tool` is callable like its function. It is a descriptor too, so a decorated method is bound to its instance like any method.

The constructor builds the schema, so it raises every error of the definition. If an annotation names something that is defined
later, the schema is built on first use. A schema that the caller gave is checked like the schema of a typed answer, and examples
are validated against it.
"""

from __future__ import annotations

import copy
import functools
import inspect
import sys
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Concatenate, Generic, SupportsIndex, TypeGuard, Unpack, cast, overload

from cachetools import LRUCache
from pydantic import TypeAdapter
from typing_extensions import ParamSpec, TypeVar

from llmcore.support.code.fork_safe_lock import ForkSafeLock
from llmcore.support.code.function_types import OfArguments
from llmcore.support.code.suggestions import meant
from llmcore.support.values.annotations import usable
from llmcore.support.values.copies import copied, updated
from llmcore.support.values.merged_keys import KeyCheck
from llmcore.support.values.narrowing import is_list, is_object, object_in
from llmcore.support.values.typed_data import TypedReading
from llmcore.tools.definition.function_checks import defined_in_a_class, is_method, refuse_non_tool
from llmcore.tools.definition.options import (
    SIGNATURE_OPTIONS,
    OptionsByName,
    Params,
    ToolOptions,
    checked_tool_options,
    is_tool_name,
)
from llmcore.tools.definition.summaries import check_summary, summary_of
from llmcore.tools.schema.docstrings import documentation
from llmcore.tools.schema.fragments import check_callables, is_dynamic, merge_fragments, resolve_callables
from llmcore.tools.schema.given_schema import GivenSchema
from llmcore.tools.schema.signature import (
    SignatureSchema,
    UnresolvedAnnotation,
    record_ignored_keys,
    refuse_lost_keys,
    schema_of_type,
    typed_arguments,
)
from llmcore.tools.schema.unwrapping import ToolBase, bound_parameters, innermost, is_generator_function, wrapped_tool
from llmcore.types import ConfigError, JsonSchema, Repair, ToolDefinition, ToolDefinitionError, definition_of
from llmcore.types.input.argument_errors import in_words, is_async
from llmcore.types.tools import check_definition

__all__ = ["Params", "Tool", "ToolOptions", "as_tool", "checked_tool", "is_tool"]

P = ParamSpec("P", default=...)
Q = ParamSpec("Q")
R_co = TypeVar("R_co", covariant=True, default=Any)
_OPTIONS = frozenset(field.name for field in fields(ToolOptions)) - {"name"}
_DEFINITION_OPTIONS = ("name", "description", "read_only", "strict", "examples", "tags", "version", "cache_control")
"""The options that are fields of `ToolDefinition` too."""


@dataclass(slots=True)
class _Compiled:
    """The schema of a function. The tools bound to different instances share it."""

    signature: SignatureSchema
    schema: JsonSchema
    dynamic: bool
    reading: TypedReading | None = None
    keys: KeyCheck | None = None


@in_words(only=("__init__", "renamed", "replacing"))
class Tool(ToolBase, Generic[P, R_co]):
    """A function as a tool. If `function` is None, the caller answers the calls of the definition.

    Raises `ToolDefinitionError` for a signature that no model can fill. The message names the parameter and the fix.
    """

    replaces = False
    """Whether the tool, given to a run, replaces the orchestrator's tool of the same name; see `replacing`."""

    def __setattr__(self, name: str, value: Any) -> None:
        if (option := meant(name, _OPTIONS)) is not None and hasattr(self, "options"):
            raise ConfigError(f"`{option}` is set when a tool is made: tool({option}=...)")
        super().__setattr__(name, value)

    def __init__(self, function: Callable[P, R_co], options: ToolOptions | None = None) -> None:
        """If the function wraps a tool, options that equal the defaults are those of the wrapped tool."""
        function = _without_staticmethod(function)
        refuse_non_tool(function)
        inner = _tool_wrapped_by(function)
        self._set_up(
            function, options or ToolOptions() if inner is None else _inherited_options(inner, function).overlaid(options)
        )

    @classmethod
    def from_function(cls, function: Callable[P, R_co], options: OptionsByName) -> Tool[P, R_co]:
        """The tool of a function. If the function is or wraps a tool, the options that are not given are those of that tool."""
        if is_tool(function):
            return cast("Tool[P, R_co]", function.with_options(**options))
        settings, function = ToolOptions.of(options), _without_staticmethod(function)
        refuse_non_tool(function)
        inner = _tool_wrapped_by(function)
        if inner is not None and inner._given is not None:
            given = _definition_without(inner._given, bound_parameters(function))
            return cast("Tool[P, R_co]", cls.from_definition(given, function, **options))
        made: Tool[P, R_co] = cls.__new__(cls)
        made._set_up(function, settings if inner is None else replace(_inherited_options(inner, function), **options))
        return made

    def _set_up(self, function: Callable[P, R_co], options: ToolOptions) -> None:
        self.function: Callable[..., Any] | None = function
        self.options = options
        self.instance: object = None
        self.name = self.options.name or _name_of(function)
        self.__doc__ = function.__doc__
        self.__wrapped__ = function
        self.__name__ = getattr(function, "__name__", self.name)  # `functools.wraps` copies it
        self.__qualname__ = getattr(function, "__qualname__", self.__name__)
        self.__module__ = getattr(function, "__module__", type(function).__module__)
        self._is_method = is_method(function)
        self._is_missing_self = False
        self._given: ToolDefinition | None = None
        self._given_schema: GivenSchema | None = None
        self._compiled_with: _Compiled | None = None
        self._is_checked = False
        with suppress(UnresolvedAnnotation):  # it may be defined later; if not, the first use raises
            needs_check = self.options.examples or isinstance(self.options.params, Mapping)
            self._check_summary()
            if self._compile().dynamic:
                check_callables(self._compile().schema, int(self._is_method), f"tool {self.name!r}: parameters")
            elif needs_check:
                self.check()

    @overload
    @classmethod
    def from_definition(
        cls,
        definition: ToolDefinition | Mapping[str, Any],
        function: OfArguments | None = None,
        **options: Unpack[OptionsByName],
    ) -> Tool: ...

    @overload
    @classmethod
    def from_definition(  # type: ignore[overload-cannot-match]  # mypy: by keywords, or of more arguments
        cls, definition: ToolDefinition | Mapping[str, Any], function: Callable[..., Any], **options: Unpack[OptionsByName]
    ) -> Tool: ...

    @classmethod
    def from_definition(
        cls,
        definition: ToolDefinition | Mapping[str, Any],
        function: Callable[..., Any] | None = None,
        **options: Unpack[OptionsByName],
    ) -> Tool:
        """A tool with a given schema, for example of an MCP server or a provider's tool dict.

        `function` receives the arguments as keywords, as plain data, and a `RunContext` in a parameter annotated so. If its only
        other parameter is positional-only and annotated as a dict (`arguments: dict[str, Any], /`), it receives all arguments.
        If it is None, the caller answers the calls (`RunResult.pending`). If the model omits a property that the function has no
        default for, a keyword receives the schema's `default`, else None.

        The options are those of `tool` except `params` and `required`. They override the fields of the definition.

        Raises `ToolDefinitionError` for an invalid schema, or if schema and function do not fit together.
        """
        settings = ToolOptions.of(options)
        if named := [name for name in SIGNATURE_OPTIONS if options.get(name) is not None]:
            raise ToolDefinitionError(f"`{named[0]}` changes the schema of a signature; from_definition takes the whole schema")
        found = definition_of(definition)
        check_definition(found)  # before the copy recurses
        if function is not None:
            refuse_non_tool(function)
            if (inner := _tool_wrapped_by(function)) is not None:
                settings = replace(_inherited_options(inner, function), **dict.fromkeys(SIGNATURE_OPTIONS), **options)
        elif settings.requires_approval:
            raise ToolDefinitionError(f"tool {found.name!r} has no function: the caller answers its calls, and approves them so")
        given: dict[str, Any] = {**options}
        changes = {name: given[name] for name in _DEFINITION_OPTIONS if given.get(name) is not None}
        made = cls.__new__(cls)
        made._given = updated(found.model_copy(), {name: _definition_value(value) for name, value in changes.items()})
        made.function, made.instance = function, None
        made.options = replace(settings, read_only=made._given.read_only)
        made.name, made.__doc__ = made._given.name, made._given.description
        made._is_method = made._is_missing_self = made._is_checked = False
        made._compiled_with = None
        if function is not None:
            made.__wrapped__ = cast("Any", function)
            made.__name__ = getattr(function, "__name__", made.name)
        made.check()
        made._given_schema = GivenSchema(made._given, function, any_arguments=settings.preprocess is not None)
        return made

    def check(self) -> Tool[P, R_co]:
        """This tool, after checking its schema and examples: once, or each time if the schema is dynamic.

        Raises `ToolDefinitionError` for a schema that arguments cannot be validated against, and for an example that does not
        fit.
        """
        if not self._is_checked:
            from llmcore.validator.schema.compiled import check_tool  # loads jsonschema

            check_tool(self.definition)
            self._check_summary()
            self._is_checked = not self.is_dynamic
        return self

    def _check_summary(self) -> None:
        if isinstance(self.options.summary, str):
            check_summary(self.name, self.options.summary, self._schema)

    @property
    def _schema(self) -> JsonSchema:
        """The schema of the parameters, in which callables are not evaluated."""
        return self._given.parameters if self._given is not None else self._compile().schema

    @property
    def needs_instance(self) -> bool:
        """Whether it is an unbound method: `Class.method` where `instance.method` was meant."""
        return self._is_method and self.instance is None

    @property
    def definition(self) -> ToolDefinition:
        """The definition for the model. If `params` has callables, each access evaluates them."""
        if self._given is not None:
            return self._given
        return self._dynamic_definition() if self.is_dynamic else self._static_definition

    @property
    def is_dynamic(self) -> bool:
        """Whether the schema may differ from one request to the next."""
        return self._given is None and self._compile().dynamic

    def _dynamic_definition(self) -> ToolDefinition:
        from llmcore.validator import check_tool_schema  # loads jsonschema

        definition = self._definition_of(self._resolved())
        check_tool_schema(definition.parameters, self.name)  # the callables may have returned anything
        return definition

    @cached_property
    def _static_definition(self) -> ToolDefinition:
        return self._definition_of(self._compile().schema)

    @cached_property
    def is_async(self) -> bool:
        return is_async(self.function) or (self.yields and inspect.isasyncgenfunction(innermost(self.function)))

    @cached_property
    def yields(self) -> bool:
        """Whether the function is a generator, sync or async, whose yields are progress."""
        return self.function is not None and is_generator_function(innermost(self.function))

    @property
    def context_parameter(self) -> str | None:
        """The name of the parameter for the `RunContext`; None if the function has none."""
        schema = self._given_schema or self._compile().signature
        return schema.context_parameter

    @property
    def takes_all_arguments(self) -> bool:
        """Whether the function takes all arguments of a call as one dict, in its positional-only parameter."""
        return self._given_schema is not None and self._given_schema.takes_all_arguments

    def keywords(
        self, arguments: Mapping[str, Any], repairs: list[Repair] | None = None, applied: Sequence[Repair] = ()
    ) -> dict[str, Any]:
        """A call's arguments as the keyword arguments of the function, in the annotated types.

        A repair for each key that a type ignored is appended to `repairs`. `applied`: the repairs that made the arguments fit.

        If the model omits an optional parameter of `params`, the function receives the `default` declared there, which the model
        was shown; else the function's own default, else None. Raises `ArgumentsError`.
        """
        if self._given_schema is not None:
            return self._given_schema.keywords(arguments)
        compiled = self._compile()
        if compiled.reading is not None and compiled.keys is not None:
            return {compiled.signature.names[0]: _validated(compiled.reading, compiled.keys, arguments, repairs, applied)}
        return compiled.signature.bind({**self._declared_defaults, **arguments}, repairs, applied)

    @property
    def _declared_defaults(self) -> dict[str, Any]:
        """The defaults that `params` declares; none with a `preprocess` function, which may change the arguments."""
        params = self.options.params
        if params is None or not isinstance(params, Mapping) or self.options.preprocess is not None:
            return {}
        declared = {name: part["default"] for name, part in params.items() if part.get("default") is not None}
        return {name: copied(self._evaluated(value) if callable(value) else value) for name, value in declared.items()}

    def _evaluated(self, keyword: Callable[..., Any]) -> Any:
        """The current value of a callable in the schema."""
        return keyword(self.instance) if self._is_method else keyword()

    def summary_of(self, arguments: Mapping[str, Any] | None) -> str:
        """One line that describes a call to users. Never raises.

        The option `summary` makes it, from the arguments and the schema's defaults. Without that option it is the name and the
        arguments, shortened.
        """
        summary = self.options.summary
        return summary_of(self.name, summary, arguments if summary is None else copied({**self._defaults, **(arguments or {})}))

    @property
    def _defaults(self) -> dict[str, Any]:
        """The schema's defaults by parameter."""
        parts: Mapping[str, Any] = self._schema.get("properties") or {}
        values: dict[str, Any] = {name: part["default"] for name, part in parts.items() if is_object(part) and "default" in part}
        return {name: value for name, value in values.items() if not callable(value)}

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R_co:
        if self.function is None:
            raise TypeError(f"tool {self.name!r} has no function: its calls are answered by the caller")
        function = cast("Callable[..., R_co]", self.function)
        return function(*args, **kwargs) if self.instance is None else function(self.instance, *args, **kwargs)

    def __set_name__(self, owner: type, name: str) -> None:
        self._is_missing_self = not self._is_method and defined_in_a_class(self.function)

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Tool[P, R_co]: ...

    @overload
    def __get__(self: Tool[Concatenate[Any, Q], R_co], instance: object, owner: type | None = None) -> Tool[Q, R_co]: ...

    def __get__(self, instance: object, owner: type | None = None) -> Tool[..., Any]:
        if instance is not None:
            self.refuse_unbound(can_bind=True)
        if instance is None or not self._is_method:
            return self
        return self.bound_to(instance)

    def refuse_unbound(self, *, can_bind: bool = False) -> None:
        """Raises `ToolDefinitionError` for an unbound method, and for a method without `self`."""
        if self._is_missing_self:
            raise ToolDefinitionError(f"tool {self.name!r} is a method without `self`: add it, or @staticmethod above @tool")
        if self.needs_instance and not can_bind:
            raise ToolDefinitionError(f"tool {self.name!r} is a method without its object: give instance.{self.name}")

    def bound_to(self, instance: object) -> Tool[..., R_co]:
        """The tool of this method, bound to an instance."""
        bound: Tool[..., R_co] = Tool.__new__(Tool)
        bound.__dict__.update(self.__dict__)
        bound.instance = instance
        bound.__wrapped__ = cast("Any", types.MethodType(cast("Any", self.function), instance))  # for decorators above it
        bound._compiled_with = self._compile()
        return bound

    def renamed(self, name: str) -> Tool[P, R_co]:
        """The same tool with another name."""
        return self.with_options(name=name)

    def with_options(self, **options: Unpack[OptionsByName]) -> Tool[P, R_co]:
        """The same tool with these options in place of its own. Raises `ToolDefinitionError`."""
        if not options:
            return self
        if self._given is not None or self.function is None:
            anew = Tool.from_definition(self.definition, self.function, **_kept_options(self.options, options), **options)
            made = cast("Tool[P, R_co]", anew)
        else:
            made = Tool.__new__(Tool)
            made._set_up(self.function, replace(self.options, **checked_tool_options(options)))
            made.instance, made.__wrapped__ = self.instance, self.__wrapped__
        made.replaces, made._is_missing_self = self.replaces, self._is_missing_self
        return made

    def replacing(self) -> Tool[P, R_co]:
        """A copy that, given to a run, replaces the orchestrator's tool of the same name. Without it, that is an error."""
        made = copy.copy(self)
        made.replaces = True
        return made

    def deep_copy(self) -> Tool[P, R_co]:
        """A copy that shares no mutable data with this tool: neither schemas nor examples nor tags."""
        made = copy.copy(self)
        made.__dict__.pop("_static_definition", None)
        options = self.options
        made.__dict__["options"] = replace(
            options,
            params=copied(options.params),
            examples=copied(options.examples),
            tags=copied(options.tags),
            required=copied(options.required),
        )
        if self._given is not None:
            made._given = copied(self._given)
        else:
            with suppress(UnresolvedAnnotation):  # the copy builds its schema on first use
                compiled = self._compile()
                made._compiled_with = replace(compiled, schema=copied(compiled.schema))
        return made

    def is_same(self, other: Tool[..., Any]) -> bool:
        """Whether the two tools have the same function, instance, options and definition."""
        if self is other:
            return True
        runs_the_same = self.function == other.function and self.instance is other.instance and self.options == other.options
        return runs_the_same and self.definition == other.definition

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"

    def __copy__(self) -> Tool[P, R_co]:
        made: Tool[P, R_co] = Tool.__new__(Tool)
        made.__dict__.update(self.__dict__)
        return made

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        """Pickles the tool of a module's decorated function by its name, as pickle does with functions.

        A variant of that tool, bound or with other options, is pickled as the name and the attributes that differ.
        """
        name = getattr(self, "__qualname__", "")
        found: Any = sys.modules.get(self.__module__) if name else None
        for step in name.split("."):
            found = getattr(found, step, None)
        if found is self:
            return name
        if not is_tool(found) or self.function is None or found.function is not self.function:
            return super().__reduce_ex__(protocol)
        state = {key: value for key, value in self.__getstate__().items() if key not in ("function", "__wrapped__")}
        return _unbound_copy, (found,), state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.instance is not None and self.function is not None:
            self.__wrapped__ = cast("Any", types.MethodType(self.function, self.instance))

    def __getstate__(self) -> dict[str, Any]:
        """Omits the compiled schema, whose classes cannot be pickled. It is built again on first use."""
        return {**self.__dict__, "_compiled_with": None}

    def _compile(self) -> _Compiled:
        if self._compiled_with is None:
            self._compiled_with = self._compile_anew()
        return self._compiled_with

    def _compile_anew(self) -> _Compiled:
        if self.function is None:
            raise ToolDefinitionError("a tool without a function needs a definition: use Tool.from_definition")
        params, required = self.options.params, self.options.required
        if isinstance(params, type):
            return _compiled_of_type(SignatureSchema(self.function, self.name, skip_first=self._is_method), params)
        signature = SignatureSchema(
            self.function, self.name, skip_first=self._is_method, may_be_omitted=_optional_parameters(params, required)
        )
        if params is None and required is None:
            return _Compiled(signature, signature.schema, dynamic=False)
        nothing: Mapping[str, Any] = {}
        fragments = dict.fromkeys(signature.names, nothing) if params is None else params
        schema = merge_fragments(signature, fragments, required, has_preprocess=self.options.preprocess is not None)
        return _Compiled(signature, schema, is_dynamic(schema))

    def _resolved(self) -> JsonSchema:
        if self.needs_instance:
            raise ToolDefinitionError(f"tool {self.name!r}: its schema needs the instance; give instance.{self.name}")
        return cast("JsonSchema", resolve_callables(self._compile().schema, self._evaluated, f"tool {self.name!r}: parameters"))

    def _definition_of(self, schema: JsonSchema) -> ToolDefinition:
        options = self.options
        described = options.description
        return ToolDefinition(
            name=self.name,
            description=documentation(self.function).summary if described is None else described,
            parameters=schema,
            read_only=options.read_only,
            strict=options.strict,
            examples=_definition_value(options.examples),
            tags=list(options.tags),
            version=options.version,
            cache_control=options.cache_control,
        )


def _compiled_of_type(signature: SignatureSchema, kind: type[Any]) -> _Compiled:
    given, kind = kind, usable(kind)
    try:
        schema, adapter = schema_of_type(kind), TypeAdapter(kind)
    except Exception as error:  # from pydantic, or from code of the type
        raise ToolDefinitionError(f"tool {signature.name!r}: no JSON Schema can be made of its `params`: {error}") from error
    if schema.get("type") != "object" and "$ref" not in schema:
        raise ToolDefinitionError(f"tool {signature.name!r}: `params` must be a type with fields, not {kind.__name__}")
    signature.require_single_argument(given)
    schema.pop("title", None)
    reading = TypedReading.of(adapter)
    return _Compiled(signature, schema, dynamic=False, reading=reading, keys=KeyCheck(adapter.core_schema))


def _unbound_copy(found: Tool[..., Any]) -> Tool[..., Any]:
    made: Tool[..., Any] = Tool.__new__(Tool)
    made.function, made.__wrapped__ = found.function, cast("Any", found.function)
    return made


def _optional_parameters(params: Mapping[str, Any] | None, required: Collection[str] | None) -> Callable[[str], bool]:
    """A predicate for the parameters without a default that a model may omit: `required` does not name them."""
    if required is None:
        return lambda name: False
    return lambda name: name not in required and (params is None or name in params)


def _validated(
    reading: TypedReading, keys: KeyCheck, arguments: Mapping[str, Any], repairs: list[Repair] | None, applied: Sequence[Repair]
) -> Any:
    made = typed_arguments(reading, arguments, applied)
    refuse_lost_keys(keys, arguments, made)
    record_ignored_keys(keys, arguments, made, repairs)
    return made


def _tool_wrapped_by(function: object) -> Tool[..., Any] | None:
    return cast("Tool[..., Any] | None", wrapped_tool(function))


def _inherited_options(inner: Tool[..., Any], function: object) -> ToolOptions:
    """The options of a wrapped tool, without the parameters that the wrapper has bound."""
    return inner.options.without_parameters(bound_parameters(function))


def _definition_without(definition: ToolDefinition, bound: Collection[str]) -> ToolDefinition:
    """The definition without the parameters that `functools.partial` has bound."""
    declared = object_in(definition.parameters.get("properties"))
    if not any(name in bound for name in declared):
        return definition
    parameters = {**definition.parameters, "properties": {name: part for name, part in declared.items() if name not in bound}}
    if is_list(required := parameters.get("required")):
        parameters["required"] = [name for name in required if name not in bound]
    examples = [{name: value for name, value in example.items() if name not in bound} for example in definition.examples]
    return updated(definition.model_copy(), {"parameters": parameters, "examples": examples})


def _without_staticmethod(function: Callable[P, R_co]) -> Callable[P, R_co]:
    return cast("Callable[P, R_co]", function.__func__) if isinstance(function, staticmethod) else function


def _name_of(function: Callable[..., Any]) -> str:
    inner = getattr(function, "func", function)
    name = str(getattr(inner, "__name__", type(inner).__name__))
    if not is_tool_name(name):
        raise ToolDefinitionError(f"{name!r} cannot be a tool's name; give one: tool(function, name=...)")
    return name


def _definition_value(value: Any) -> Any:
    """The value of an option as a field of `ToolDefinition`: collections become lists."""
    if isinstance(value, str | bool):
        return value
    return [dict(cast("Mapping[str, Any]", item)) if isinstance(item, Mapping) else item for item in value]


def _kept_options(options: ToolOptions, changed: Collection[str]) -> dict[str, Any]:
    """The options that are neither fields of the definition nor in `changed`."""
    names = ("preprocess", "postprocess", "timeout", "retries", "summary", "requires_approval", "idempotent")
    return {name: getattr(options, name) for name in names if name not in changed}


_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools.partial)
_tools: LRUCache[Any, Tool] = LRUCache(maxsize=1024)
_tools_with_objects: LRUCache[Any, Tool] = LRUCache(maxsize=128)
"""Smaller, because each entry keeps objects of the caller alive."""
_lock = ForkSafeLock()


def references_objects(tool: object) -> bool:
    """Whether a tool keeps objects of the caller alive: the instance of a method, or the cells of a closure."""
    if is_tool(tool):
        return tool.instance is not None or references_objects(tool.function)
    if isinstance(tool, types.FunctionType):
        return tool.__closure__ is not None
    return callable(tool) and not isinstance(tool, types.BuiltinFunctionType)


def is_tool(given: object) -> TypeGuard[Tool[..., Any]]:
    """`isinstance(given, Tool)`, after which pyright knows the type parameters."""
    return isinstance(given, Tool)


def as_tool(given: object) -> Tool:
    """The `Tool` of a Tool, function, bound method, callable object, `ToolDefinition` or provider's tool dict.

    The tool of a function is cached. Raises `ToolDefinitionError` for anything else.
    """
    made = given if is_tool(given) else _tool_of(given)
    made.refuse_unbound()
    return made


def checked_tool(given: object) -> Tool:
    """`as_tool(given)`, after `Tool.check` of its schema and examples."""
    return as_tool(given).check()


def _tool_of(given: object) -> Tool:
    if isinstance(given, type):
        if hasattr(given, "__llmcore_tool__"):
            raise ToolDefinitionError(f"{given.__name__} is a class: give one of its objects, {given.__name__}(...)")
        refuse_non_tool(given)
    if (tool_method := _tool_method(given)) is not None:
        return tool_method(given)
    if not isinstance(given, _FUNCTIONS):
        if callable(given) and not isinstance(given, Mapping) and not hasattr(given, "definition"):
            return Tool.from_function(given, {})  # an object with `__call__` need not be hashable, so it is not cached
        return Tool.from_definition(_definition_of_other(given))
    function = cast("Callable[..., Any]", given)
    kept = _tools_with_objects if references_objects(function) else _tools
    with _lock:
        made = kept.get(given)
    if made is None:
        made = Tool.from_function(function, {})
        with _lock:
            made = kept.setdefault(given, made)
    return made


def _tool_method(given: object) -> Callable[[object], Tool] | None:
    """The `__llmcore_tool__` method of the value's class. The value itself may have every attribute (a mock, say)."""
    return cast("Callable[[object], Tool] | None", getattr(type(given), "__llmcore_tool__", None))


def _definition_of_function(function: Any) -> ToolDefinition:
    return as_tool(function).definition


_definition_of_other = definition_of.dispatch(object)


def _definition_of_anything(given: object) -> ToolDefinition:
    """The definition of any object. Only this package accepts callable objects and those with `__llmcore_tool__`."""
    if _tool_method(given) is not None:
        return as_tool(given).definition
    if not isinstance(given, Tool) and callable(given) and not isinstance(given, Mapping) and not hasattr(given, "definition"):
        return _definition_of_function(given)
    return _definition_of_other(given)


definition_of.register(object, _definition_of_anything)
for _kind in _FUNCTIONS:
    definition_of.register(_kind, _definition_of_function)
