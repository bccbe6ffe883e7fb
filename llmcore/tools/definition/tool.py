"""A tool: what a model is told of it, and the function that runs.

A `Tool` is callable like its function, and a descriptor, so that a decorated method of an instance is bound like any
method. Everything that can be wrong with a definition is wrong at once: the schema is made with the tool, except
where an annotation names something defined later; then on first use. A schema that was given, not made of a signature,
is checked as those of typed answers are, and examples are held against it.
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
from llmcore.tools.definition.function_checks import defined_in_a_class, is_method, refuse
from llmcore.tools.definition.options import (
    GIVEN_WITH_A_SCHEMA,
    OptionsByName,
    Params,
    ToolOptions,
    checked_tool_options,
    is_tool_name,
)
from llmcore.tools.definition.summaries import check_summary, summary_of
from llmcore.tools.schema.docstrings import documentation
from llmcore.tools.schema.fragments import check_callables, is_dynamic, merge_fragments, resolve_references
from llmcore.tools.schema.given_schema import GivenSchema
from llmcore.tools.schema.signature import (
    SignatureSchema,
    UnresolvedAnnotation,
    note_ignored_keys,
    refuse_lost_keys,
    schema_of_type,
    typed_arguments,
)
from llmcore.tools.schema.unwrapping import AnyTool, bound_in, innermost, tool_within, yields
from llmcore.types import ConfigError, JsonSchema, Repair, ToolDefinition, ToolDefinitionError, definition_of
from llmcore.types.input.argument_errors import in_words, is_async
from llmcore.types.tools import check_definition

__all__ = ["Params", "Tool", "ToolOptions", "as_tool", "checked_tool", "is_tool"]

P = ParamSpec("P", default=...)
Q = ParamSpec("Q")
R_co = TypeVar("R_co", covariant=True, default=Any)
_OPTIONS = frozenset(field.name for field in fields(ToolOptions)) - {"name"}
_TOLD = ("name", "description", "read_only", "strict", "examples", "tags", "version")
"""Options that a definition has, too."""


@dataclass(slots=True)
class _Compiled:
    """Worked out once per function and shared by the tools bound to its instances."""

    signature: SignatureSchema
    schema: JsonSchema
    dynamic: bool
    reading: TypedReading | None = None
    keys: KeyCheck | None = None


@in_words(only=("__init__", "renamed", "replacing"))
class Tool(AnyTool, Generic[P, R_co]):
    """A function as a tool, or (`function` None) a definition whose calls the caller answers.

    Raises `ToolDefinitionError` for a signature no model can fill; the message names the parameter and the fix.
    """

    replaces = False
    """Given to a run, it stands in for the orchestrator's tool of the same name; see `replacing`."""

    def __setattr__(self, name: str, value: Any) -> None:
        if (option := meant(name, _OPTIONS)) is not None and hasattr(self, "options"):
            raise ConfigError(f"`{option}` is settled when a tool is made: tool({option}=...)")
        super().__setattr__(name, value)

    def __init__(self, function: Callable[P, R_co], options: ToolOptions | None = None) -> None:
        """What `options` has by default is as a tool within the function has it."""
        function = _plain(function)
        refuse(function)
        inner = _tool_below(function)
        self._set_up(function, options or ToolOptions() if inner is None else _options_below(inner, function).overlaid(options))

    @classmethod
    def over(cls, function: Callable[P, R_co], options: OptionsByName) -> Tool[P, R_co]:
        """The tool of a function, with these options; the others are those of a tool that it stands above, if there is one."""
        if is_tool(function):
            return cast("Tool[P, R_co]", function.with_options(**options))
        settings, function = ToolOptions.of(options), _plain(function)
        refuse(function)
        inner = _tool_below(function)
        if inner is not None and inner._given is not None:
            given = _without(inner._given, bound_in(function))
            return cast("Tool[P, R_co]", cls.from_definition(given, function, **options))
        made: Tool[P, R_co] = cls.__new__(cls)
        made._set_up(function, settings if inner is None else replace(_options_below(inner, function), **options))
        return made

    def _set_up(self, function: Callable[P, R_co], options: ToolOptions) -> None:
        self.function: Callable[..., Any] | None = function
        self.options = options
        self.instance: object = None
        self.name = self.options.name or _name_of(function)
        self.__doc__ = function.__doc__
        self.__wrapped__ = function
        self.__name__ = getattr(function, "__name__", self.name)  # what decorators above it tell
        self.__qualname__ = getattr(function, "__qualname__", self.__name__)
        self.__module__ = getattr(function, "__module__", type(function).__module__)
        self._is_method = is_method(function)
        self._lacks_self = False
        self._given: ToolDefinition | None = None
        self._given_schema: GivenSchema | None = None
        self._compiled_with: _Compiled | None = None
        self._is_checked = False
        with suppress(UnresolvedAnnotation):  # perhaps defined further down; raised on first use if it is not
            is_told = self.options.examples or isinstance(self.options.params, Mapping)
            self._check_summary()
            if self._compile().dynamic:
                check_callables(self._compile().schema, int(self._is_method), f"tool {self.name!r}: parameters")
            elif is_told:
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
        """A tool with a schema of its own, e.g. from an MCP server or a provider's tool dict.

        `function` gets the arguments as keywords, as plain data, and a `RunContext` where a parameter is annotated so; None =
        the caller answers the calls (`RunResult.pending`). A property that is left out, and that the function has no default
        for, arrives as the `default` of its schema, else as None. The options are those of `tool`, but for `params` and
        `required`, and stand above the definition's own fields.

        Raises `ToolDefinitionError` for a schema that is none, and naming the parameter where schema and function do not fit
        together.
        """
        settings = ToolOptions.of(options)
        if named := [name for name in GIVEN_WITH_A_SCHEMA if options.get(name) is not None]:
            raise ToolDefinitionError(f"`{named[0]}` lays a schema over a signature; from_definition takes the whole schema")
        found = definition_of(definition)
        check_definition(found)  # before the copy recurses
        if function is not None:
            refuse(function)
            if (inner := _tool_below(function)) is not None:
                settings = replace(_options_below(inner, function), **dict.fromkeys(GIVEN_WITH_A_SCHEMA), **options)
        elif settings.requires_approval:
            raise ToolDefinitionError(f"tool {found.name!r} has no function: the caller answers its calls, and approves them so")
        told: dict[str, Any] = {name: options[name] for name in _TOLD if options.get(name) is not None}  # type: ignore[literal-required]  # each is a key of theirs
        made = cls.__new__(cls)
        made._given = updated(found.model_copy(), {name: _as_field(value) for name, value in told.items()})
        made.function, made.instance = function, None
        made.options = replace(settings, read_only=made._given.read_only)
        made.name, made.__doc__ = made._given.name, made._given.description
        made._is_method = made._lacks_self = made._is_checked = False
        made._compiled_with = None
        if function is not None:
            made.__wrapped__ = cast("Any", function)
            made.__name__ = getattr(function, "__name__", made.name)
        made.check()
        made._given_schema = GivenSchema(made._given, function, any_arguments=settings.preprocess is not None)
        return made

    def check(self) -> Tool[P, R_co]:
        """The tool, whose schema is one that calls can be judged by and whose examples fit it.

        Raises `ToolDefinitionError`. Looked at once, where the schema stays the same.
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
        """As it was given, or made once of the function: with the functions that it asks."""
        return self._given.parameters if self._given is not None else self._compile().schema

    @property
    def needs_instance(self) -> bool:
        """A method that is not bound: `Class.method` where `instance.method` was meant."""
        return self._is_method and self.instance is None

    @property
    def definition(self) -> ToolDefinition:
        """What the model is told. With callables in `params` it is made anew for each request."""
        if self._given is not None:
            return self._given
        return self._asked_definition() if self.is_dynamic else self._static_definition

    @property
    def is_dynamic(self) -> bool:
        """May the schema differ from one request to the next?"""
        return self._given is None and self._compile().dynamic

    def _asked_definition(self) -> ToolDefinition:
        from llmcore.validator import check_tool_schema  # loads jsonschema

        definition = self._definition_of(self._resolved())
        check_tool_schema(definition.parameters, self.name)  # what the callables gave: nobody has seen it before
        return definition

    @cached_property
    def _static_definition(self) -> ToolDefinition:
        return self._definition_of(self._compile().schema)

    @cached_property
    def is_async(self) -> bool:
        return is_async(self.function) or (self.yields and inspect.isasyncgenfunction(innermost(self.function)))

    @cached_property
    def yields(self) -> bool:
        """Is the function a generator, sync or async? Then what it yields is progress."""
        return self.function is not None and yields(innermost(self.function))

    @property
    def context_parameter(self) -> str | None:
        """The parameter that takes the `RunContext`, None when the function takes none."""
        asked = self._given_schema or self._compile().signature
        return asked.context_parameter

    def keywords(
        self, arguments: Mapping[str, Any], repairs: list[Repair] | None = None, made_by: Sequence[Repair] = ()
    ) -> dict[str, Any]:
        """A call's arguments as the keyword arguments of the function, in the annotated types. Into `repairs` goes each key that
        a type ignored. `made_by`: the repairs that made the arguments fit.

        Declared parameters (`params`) that are not required and were left out arrive as the `default` that they declare, for the
        model was told that one; else as the function's own, else as None. Raises `ArgumentsError`.
        """
        if self._given_schema is not None:
            return self._given_schema.keywords(arguments)
        compiled = self._compile()
        if compiled.reading is not None and compiled.keys is not None:
            return {compiled.signature.names[0]: _validated(compiled.reading, compiled.keys, arguments, repairs, made_by)}
        return compiled.signature.bind({**self._declared_defaults, **arguments}, repairs, made_by)

    @property
    def _declared_defaults(self) -> dict[str, Any]:
        """By `params`. What a `preprocess` function gives is not what they declare."""
        params = self.options.params
        if params is None or not isinstance(params, Mapping) or self.options.preprocess is not None:
            return {}
        told = {name: part["default"] for name, part in params.items() if part.get("default") is not None}
        return {name: copied(self._asked(value) if callable(value) else value) for name, value in told.items()}

    def _asked(self, keyword: Callable[..., Any]) -> Any:
        """What a function among the keywords of the schema gives now."""
        return keyword(self.instance) if self._is_method else keyword()

    def summary_of(self, arguments: Mapping[str, Any] | None) -> str:
        """A call in words for users: by the option `summary`, which is given the defaults of what was left out, too; else the
        name and the arguments, shortened. Never raises."""
        said = self.options.summary
        return summary_of(self.name, said, arguments if said is None else copied({**self._defaults, **(arguments or {})}))

    @property
    def _defaults(self) -> dict[str, Any]:
        """What the parameters are that a call leaves out, as the schema has it."""
        parts: Mapping[str, Any] = self._schema.get("properties") or {}
        told: dict[str, Any] = {name: part["default"] for name, part in parts.items() if is_object(part) and "default" in part}
        return {name: value for name, value in told.items() if not callable(value)}

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R_co:
        if self.function is None:
            raise TypeError(f"tool {self.name!r} has no function: its calls are answered by the caller")
        function = cast("Callable[..., R_co]", self.function)
        return function(*args, **kwargs) if self.instance is None else function(self.instance, *args, **kwargs)

    def __set_name__(self, owner: type, name: str) -> None:
        self._lacks_self = not self._is_method and defined_in_a_class(self.function)

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
        """Raises `ToolDefinitionError` for a method without its object, and for one that does not take it."""
        if self._lacks_self:
            raise ToolDefinitionError(f"tool {self.name!r} is a method without `self`: add it, or @staticmethod above @tool")
        if self.needs_instance and not can_bind:
            raise ToolDefinitionError(f"tool {self.name!r} is a method without its object: give instance.{self.name}")

    def bound_to(self, instance: object) -> Tool[..., R_co]:
        """This method's tool, for one instance."""
        bound: Tool[..., R_co] = Tool.__new__(Tool)
        bound.__dict__.update(self.__dict__)
        bound.instance = instance
        bound.__wrapped__ = cast("Any", types.MethodType(cast("Any", self.function), instance))  # for decorators above it
        bound._compiled_with = self._compile()
        return bound

    def renamed(self, name: str) -> Tool[P, R_co]:
        """The same tool under another name."""
        return self.with_options(name=name)

    def with_options(self, **options: Unpack[OptionsByName]) -> Tool[P, R_co]:
        """The same tool with these options in place of its own. Raises `ToolDefinitionError`."""
        if not options:
            return self
        if self._given is not None or self.function is None:
            anew = Tool.from_definition(self.definition, self.function, **_kept(self.options, options), **options)
            made = cast("Tool[P, R_co]", anew)
        else:
            made = Tool.__new__(Tool)
            made._set_up(self.function, replace(self.options, **checked_tool_options(options)))
            made.instance, made.__wrapped__ = self.instance, self.__wrapped__
        made.replaces, made._lacks_self = self.replaces, self._lacks_self
        return made

    def replacing(self) -> Tool[P, R_co]:
        """The same tool, for one run: there it stands in for the orchestrator's tool of this name, which would
        otherwise be an error."""
        made = copy.copy(self)
        made.replaces = True
        return made

    def deep_copy(self) -> Tool[P, R_co]:
        """The same tool, which shares nothing that can change with this one: schemas, examples, tags."""
        made = copy.copy(self)
        made.__dict__.pop("_static_definition", None)
        options = self.options
        own: dict[str, Any] = {
            "params": copied(options.params),
            "examples": copied(options.examples),
            "tags": copied(options.tags),
        }
        made.__dict__["options"] = replace(options, **own, required=copied(options.required))
        if self._given is not None:
            made._given = copied(self._given)
        else:
            with suppress(UnresolvedAnnotation):  # made of what is defined by then
                compiled = self._compile()
                made._compiled_with = replace(compiled, schema=copied(compiled.schema))
        return made

    def is_same(self, other: Tool[..., Any]) -> bool:
        """Would it make no difference which of the two runs?"""
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
        """One that stands in a module under its function's name is pickled as that name, for so its function would be; the same
        with other options, or bound, as what it has beside that one."""
        name = getattr(self, "__qualname__", "")
        found: Any = sys.modules.get(self.__module__) if name else None
        for step in name.split("."):
            found = getattr(found, step, None)
        if found is self:
            return name
        if not is_tool(found) or self.function is None or found.function is not self.function:
            return super().__reduce_ex__(protocol)
        beside = {key: value for key, value in self.__getstate__().items() if key not in ("function", "__wrapped__")}
        return _of_the_function, (found,), beside

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.instance is not None and self.function is not None:
            self.__wrapped__ = cast("Any", types.MethodType(self.function, self.instance))

    def __getstate__(self) -> dict[str, Any]:
        """Without what is made anew on first use, of classes that no pickle can name."""
        return {**self.__dict__, "_compiled_with": None}

    def _compile(self) -> _Compiled:
        if self._compiled_with is None:
            self._compiled_with = self._compiled()
        return self._compiled_with

    def _compiled(self) -> _Compiled:
        if self.function is None:
            raise ToolDefinitionError("a tool without a function needs a definition: use Tool.from_definition")
        params, required = self.options.params, self.options.required
        if isinstance(params, type):
            return _of_one_type(SignatureSchema(self.function, self.name, skip_first=self._is_method), params)
        signature = SignatureSchema(
            self.function, self.name, skip_first=self._is_method, may_be_left_out=_left_out(params, required)
        )
        if params is None and required is None:
            return _Compiled(signature, signature.schema, dynamic=False)
        nothing: Mapping[str, Any] = {}
        fragments = dict.fromkeys(signature.names, nothing) if params is None else params
        schema = merge_fragments(signature, fragments, required, has_preprocess=self.options.preprocess is not None)
        return _Compiled(signature, schema, is_dynamic(schema))

    def _resolved(self) -> JsonSchema:
        if self.needs_instance:
            raise ToolDefinitionError(f"tool {self.name!r}: its schema asks the instance; give instance.{self.name}")
        return cast("JsonSchema", resolve_references(self._compile().schema, self._asked, f"tool {self.name!r}: parameters"))

    def _definition_of(self, schema: JsonSchema) -> ToolDefinition:
        options = self.options
        described = options.description
        return ToolDefinition(
            name=self.name,
            description=documentation(self.function).summary if described is None else described,
            parameters=schema,
            read_only=options.read_only,
            strict=options.strict,
            examples=_as_field(options.examples),
            tags=list(options.tags),
            version=options.version,
        )


def _of_one_type(signature: SignatureSchema, kind: type[Any]) -> _Compiled:
    given, kind = kind, usable(kind)
    try:
        schema, adapter = schema_of_type(kind), TypeAdapter(kind)
    except Exception as error:  # of pydantic, or of the type's own code
        raise ToolDefinitionError(f"tool {signature.name!r}: no JSON Schema can be made of its `params`: {error}") from error
    if schema.get("type") != "object" and "$ref" not in schema:
        raise ToolDefinitionError(f"tool {signature.name!r}: `params` must be a type with fields, not {kind.__name__}")
    signature.refuse_other_than(given)
    schema.pop("title", None)
    reading = TypedReading.of(adapter)
    return _Compiled(signature, schema, dynamic=False, reading=reading, keys=KeyCheck(adapter.core_schema))


def _of_the_function(found: Tool[..., Any]) -> Tool[..., Any]:
    made: Tool[..., Any] = Tool.__new__(Tool)
    made.function, made.__wrapped__ = found.function, cast("Any", found.function)
    return made


def _left_out(params: Mapping[str, Any] | None, required: Collection[str] | None) -> Callable[[str], bool]:
    """Which parameters a model may leave out although the function has no default: declared, and not called
    required."""
    if required is None:
        return lambda name: False
    return lambda name: name not in required and (params is None or name in params)


def _validated(
    reading: TypedReading, keys: KeyCheck, arguments: Mapping[str, Any], repairs: list[Repair] | None, made_by: Sequence[Repair]
) -> Any:
    made = typed_arguments(reading, arguments, made_by)
    refuse_lost_keys(keys, arguments, made)
    note_ignored_keys(keys, arguments, made, repairs)
    return made


def _tool_below(function: object) -> Tool[..., Any] | None:
    return cast("Tool[..., Any] | None", tool_within(function))


def _options_below(inner: Tool[..., Any], function: object) -> ToolOptions:
    """Those of a tool below a function, which may have bound some of its parameters."""
    return inner.options.without(bound_in(function))


def _without(definition: ToolDefinition, bound: Collection[str]) -> ToolDefinition:
    """The definition of a tool whose parameters of these names are bound."""
    declared = object_in(definition.parameters.get("properties"))
    if not any(name in bound for name in declared):
        return definition
    parameters = {**definition.parameters, "properties": {name: part for name, part in declared.items() if name not in bound}}
    if is_list(required := parameters.get("required")):
        parameters["required"] = [name for name in required if name not in bound]
    examples = [{name: value for name, value in one.items() if name not in bound} for one in definition.examples]
    return updated(definition.model_copy(), {"parameters": parameters, "examples": examples})


def _plain(function: Callable[P, R_co]) -> Callable[P, R_co]:
    return cast("Callable[P, R_co]", function.__func__) if isinstance(function, staticmethod) else function


def _name_of(function: Callable[..., Any]) -> str:
    inner = getattr(function, "func", function)
    name = str(getattr(inner, "__name__", type(inner).__name__))
    if not is_tool_name(name):
        raise ToolDefinitionError(f"{name!r} cannot be a tool's name; give one: tool(function, name=...)")
    return name


def _as_field(value: Any) -> Any:
    """An option as the definition has it: collections as lists of their own."""
    if isinstance(value, str | bool):
        return value
    return [dict(cast("Mapping[str, Any]", one)) if isinstance(one, Mapping) else one for one in value]


def _kept(options: ToolOptions, but: Collection[str]) -> dict[str, Any]:
    """What the options say beside the definition and beside `but`."""
    names = ("preprocess", "postprocess", "timeout", "retries", "summary", "requires_approval", "idempotent")
    return {name: getattr(options, name) for name in names if name not in but}


_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools.partial)
_made: LRUCache[Any, Tool] = LRUCache(maxsize=1024)
_made_with_objects: LRUCache[Any, Tool] = LRUCache(maxsize=128)
"""Fewer, for they keep objects of the caller's alive."""
_lock = ForkSafeLock()


def holds_objects(tool: object) -> bool:
    """Does what is given as a tool hold objects of the caller's: a method its own, a closure those of the function around it?"""
    if is_tool(tool):
        return tool.instance is not None or holds_objects(tool.function)
    if isinstance(tool, types.FunctionType):
        return tool.__closure__ is not None
    return callable(tool) and not isinstance(tool, types.BuiltinFunctionType)


def is_tool(given: object) -> TypeGuard[Tool[..., Any]]:
    """Is it a `Tool`? `isinstance` leaves pyright with unknown types of it."""
    return isinstance(given, Tool)


def as_tool(given: object) -> Tool:
    """Anything that is a tool as a `Tool` that can be run: a Tool, a function, a bound method, a `functools.partial`;
    or, with no function to run, a `ToolDefinition` or a provider's tool dict.

    Raises `ToolDefinitionError` for anything else. A function's tool is made once.
    """
    made = given if is_tool(given) else _made_of(given)
    made.refuse_unbound()
    return made


def checked_tool(given: object) -> Tool:
    """As `as_tool`, of something that is to be offered to models: with a schema and examples that can be used (`Tool.check`)."""
    return as_tool(given).check()


def _made_of(given: object) -> Tool:
    if isinstance(given, type):
        if hasattr(given, "__llmcore_tool__"):
            raise ToolDefinitionError(f"{given.__name__} is a class: give one of its objects, {given.__name__}(...)")
        refuse(given)
    if (tells := _tool_method(given)) is not None:
        return tells(given)
    if not isinstance(given, _FUNCTIONS):
        if callable(given) and not isinstance(given, Mapping) and not hasattr(given, "definition"):
            return Tool.over(given, {})  # an object with `__call__`; made anew each time, for it need not be hashable
        return Tool.from_definition(_definition_of_other(given))  # which copies it: its schema stays as it was given
    function = cast("Callable[..., Any]", given)
    kept = _made_with_objects if holds_objects(function) else _made
    with _lock:
        made = kept.get(given)
    if made is None:
        made = Tool.over(function, {})
        with _lock:
            made = kept.setdefault(given, made)
    return made


def _tool_method(given: object) -> Callable[[object], Tool] | None:
    """The method by which it tells its tool. Asked of the class: there are objects that answer by any name."""
    return cast("Callable[[object], Tool] | None", getattr(type(given), "__llmcore_tool__", None))


def _definition_of_function(function: Any) -> ToolDefinition:
    return as_tool(function).definition


_definition_of_other = definition_of.dispatch(object)


def _definition_of_anything(given: object) -> ToolDefinition:
    """Callable objects, and those that tell their tool, are tools to this room, and to no other."""
    if _tool_method(given) is not None:
        return as_tool(given).definition
    if not isinstance(given, Tool) and callable(given) and not isinstance(given, Mapping) and not hasattr(given, "definition"):
        return _definition_of_function(given)
    return _definition_of_other(given)


definition_of.register(object, _definition_of_anything)
for _kind in _FUNCTIONS:
    definition_of.register(_kind, _definition_of_function)
