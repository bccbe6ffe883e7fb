"""A tool: what a model is told of it, and the function that runs.

A `Tool` is callable like its function, and a descriptor, so that a decorated method of an instance is bound like any
method. Everything that can be wrong with a definition is wrong at once: the schema is made with the tool, except
where an annotation names something defined later; then on first use.
"""

from __future__ import annotations

import copy
import functools
import inspect
import re
import types
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Concatenate, Generic, Self, cast, overload

from cachetools import LRUCache
from pydantic import TypeAdapter, ValidationError
from typing_extensions import ParamSpec, TypeVar  # with defaults, so that a bare Tool is one of any function

from llmcore.tools.docstrings import documentation
from llmcore.tools.schema_fragments import is_dynamic, merge_fragments, resolve
from llmcore.tools.signature import ArgumentsError, SignatureSchema, UnresolvedAnnotation, problems_of, schema_of_type
from llmcore.types import JsonSchema, RetryConfig, ToolDefinition, ToolDefinitionError, definition_of
from llmcore.types.bounds import is_amount
from llmcore.types.locks import ForkSafeLock
from llmcore.types.tools import check_definition

__all__ = ["Tool", "ToolOptions", "as_tool"]

P = ParamSpec("P", default=...)
Q = ParamSpec("Q")
R = TypeVar("R", default=Any)
S = TypeVar("S")
Params = Mapping[str, Mapping[str, Any]] | type[Any] | None


@dataclass(frozen=True, slots=True)
class ToolOptions:
    """What a tool's author may say beyond the function itself. None = take it from the function.

    `params`: JSON Schema fragments by parameter, or a type (BaseModel, dataclass, TypedDict) that is the function's
    one argument. `preprocess` takes and returns the arguments, `postprocess` the result; either may be async.
    `timeout` in seconds, `retries` a number or a `RetryConfig`: they win over the run's. A retry after a timeout waits for
    no thread: see `docs/reliability.md`.

    Raises `ToolDefinitionError` for a value that is none of its option's.
    """

    name: str | None = None
    description: str | None = None
    params: Params = None
    required: Collection[str] | None = None
    preprocess: Callable[[dict[str, Any]], Any] | None = None
    postprocess: Callable[[Any], Any] | None = None
    read_only: bool = False
    strict: bool | None = None
    examples: Collection[dict[str, Any]] = ()
    tags: Collection[str] = ()
    version: str | None = None
    timeout: float | None = None
    retries: int | RetryConfig | None = None

    def __post_init__(self) -> None:
        for option, (fits, words) in _OPTION_VALUES.items():
            value = getattr(self, option)
            if value is not None and not fits(value):
                raise ToolDefinitionError(f"a tool's {option} must be {words}, not {_described(value)}")

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> ToolOptions:
        """Options by name. Raises `ToolDefinitionError`, also for a name that is no option."""
        names = [field.name for field in fields(cls)]
        for name in options:
            if name not in names:
                near = get_close_matches(name, names, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
                raise ToolDefinitionError(f"a tool has no option {name!r}; {hint}")
        return cls(**options)


def _described(value: object) -> str:
    """A number or a short text as it is, of anything else its type."""
    is_short = isinstance(value, int | float) or (isinstance(value, str) and len(value) <= _MAX_VALUE_SHOWN)
    return repr(value) if is_short else type(value).__name__


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_collection(value: object) -> bool:
    return isinstance(value, Collection) and not isinstance(value, str | bytes)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and is_amount(value)


_MAX_VALUE_SHOWN = 40
_OPTION_VALUES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "name": (_is_text, "a text"),
    "description": (_is_text, "a text"),
    "params": (lambda value: isinstance(value, Mapping | type), "JSON Schemas by parameter, or a type"),
    "required": (_is_collection, "a list of names"),
    "preprocess": (callable, "a function"),
    "postprocess": (callable, "a function"),
    "read_only": (lambda value: isinstance(value, bool), "True or False"),
    "strict": (lambda value: isinstance(value, bool), "True, False or None"),
    "examples": (_is_collection, "a list of argument objects"),
    "tags": (_is_collection, "a list of texts"),
    "version": (_is_text, "a text"),
    "timeout": (lambda value: is_amount(value) and value > 0, "a finite number of seconds above 0"),
    "retries": (
        lambda value: isinstance(value, RetryConfig) or _is_count(value),
        "a whole number of at least 0, or an llmcore.RetryConfig",
    ),
}


@dataclass(slots=True)
class _Compiled:
    """Worked out once per function and shared by the tools bound to its instances."""

    signature: SignatureSchema
    schema: JsonSchema
    dynamic: bool
    adapter: TypeAdapter[Any] | None = None


class Tool(Generic[P, R]):
    """A function as a tool, or (`function` None) a definition whose calls the caller answers.

    Raises `ToolDefinitionError` for a signature no model can fill; the message names the parameter and the fix.
    """

    replaces = False
    """Given to a run, it stands in for the orchestrator's tool of the same name; see `replacing`."""

    def __init__(self, function: Callable[P, R], options: ToolOptions | None = None) -> None:
        if isinstance(function, staticmethod):
            function = cast("Callable[P, R]", function.__func__)
        self.function: Callable[..., Any] | None = function
        self.options = options or ToolOptions()
        self.instance: object = None
        self.name = self.options.name or _name_of(function)
        self.__doc__ = function.__doc__
        self.__wrapped__ = function
        self._is_method = _defined_in_a_class(function)
        self._given: ToolDefinition | None = None
        self._compiled_with: _Compiled | None = None
        with suppress(UnresolvedAnnotation):  # perhaps defined further down; raised on first use if it is not
            self._compile()

    @classmethod
    def from_definition(cls, definition: ToolDefinition, function: Callable[..., Any] | None = None) -> Tool:
        """A tool with a schema of its own, e.g. from an MCP server or a provider's tool dict.

        `function` gets the arguments as keywords; None = the caller answers the calls (`RunResult.pending`).
        """
        made: Tool = Tool.__new__(Tool)
        made.function, made.options, made.instance = function, ToolOptions(read_only=definition.read_only), None
        made.name, made.__doc__ = definition.name, definition.description
        check_definition(definition)  # before the copy recurses
        made._is_method, made._given, made._compiled_with = False, definition.model_copy(), None
        return made

    @property
    def needs_instance(self) -> bool:
        """A method that is not bound: `Class.method` where `instance.method` was meant."""
        return self._is_method and self.instance is None

    @property
    def definition(self) -> ToolDefinition:
        """What the model is told. With callables in `params` it is made anew for each request."""
        if self._given is not None:
            return self._given
        return self._definition_of(self._resolved()) if self.is_dynamic else self._static_definition

    @property
    def is_dynamic(self) -> bool:
        """May the schema differ from one request to the next?"""
        return self._given is None and self._compile().dynamic

    @cached_property
    def _static_definition(self) -> ToolDefinition:
        return self._definition_of(self._compile().schema)

    @cached_property
    def is_async(self) -> bool:
        function = self.function
        return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004  (asks whether it is async, not whether it is callable)

    @property
    def context_parameter(self) -> str | None:
        """The parameter that takes the `RunContext`, None when the function takes none."""
        return None if self._given is not None else self._compile().signature.context_parameter

    @property
    def retry(self) -> RetryConfig | None:
        retries = self.options.retries
        return RetryConfig(max_retries=retries) if isinstance(retries, int) else retries

    def keywords(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """A call's arguments as the keyword arguments of the function, in the annotated types.

        Declared parameters (`params`) that are not required and were left out arrive as None unless the function has
        a default. Raises `ArgumentsError`.
        """
        if self._given is not None:
            return dict(arguments)
        compiled = self._compile()
        if compiled.adapter is not None:
            return {compiled.signature.names[0]: _validated(compiled.adapter, arguments)}
        return compiled.signature.bind(arguments)

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if self.function is None:
            raise TypeError(f"tool {self.name!r} has no function: its calls are answered by the caller")
        bound: tuple[Any, ...] = args if self.instance is None else (self.instance, *args)
        return cast("R", self.function(*bound, **kwargs))

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...

    @overload
    def __get__(self: Tool[Concatenate[S, Q], R], instance: S, owner: type | None = None) -> Tool[Q, R]: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Tool[..., Any]: ...

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None or not self._is_method:
            return self
        return self.bound_to(instance)

    def bound_to(self, instance: object) -> Tool:
        """This method's tool, for one instance."""
        bound: Tool = Tool.__new__(Tool)
        bound.__dict__.update(self.__dict__)
        bound.instance = instance
        bound._compiled_with = self._compile()
        return bound

    def renamed(self, name: str) -> Tool:
        """The same tool under another name."""
        if self._given is not None or self.function is None:
            made = Tool.from_definition(self.definition.model_copy(update={"name": name}), self.function)
        else:
            made = Tool(self.function, replace(self.options, name=name))
            made.instance = self.instance
        made.replaces = self.replaces
        return made

    def replacing(self) -> Tool:
        """The same tool, for one run: there it stands in for the orchestrator's tool of this name, which would
        otherwise be an error."""
        made = copy.copy(self)
        made.replaces = True
        return made

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"

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
        def ask(value: Callable[..., Any]) -> Any:
            return value(self.instance) if self._is_method else value()

        if self.needs_instance:
            raise ToolDefinitionError(f"tool {self.name!r}: its schema asks the instance; give instance.{self.name}")

        return cast("JsonSchema", resolve(self._compile().schema, ask))

    def _definition_of(self, schema: JsonSchema) -> ToolDefinition:
        options = self.options
        described = options.description
        return ToolDefinition(
            name=self.name,
            description=documentation(self.function).summary if described is None else described,
            parameters=schema,
            read_only=options.read_only,
            strict=options.strict,
            examples=list(options.examples),
            tags=list(options.tags),
            version=options.version,
        )


def _of_one_type(signature: SignatureSchema, kind: type[Any]) -> _Compiled:
    if len(signature.names) != 1:
        raise ToolDefinitionError(
            f"tool {signature.name!r}: with a type as `params` its function takes that one argument, not {signature.names}"
        )
    schema = schema_of_type(kind)
    if schema.get("type") != "object" and "$ref" not in schema:
        raise ToolDefinitionError(f"tool {signature.name!r}: `params` must be a type with fields, not {kind.__name__}")
    schema.pop("title", None)
    return _Compiled(signature, schema, dynamic=False, adapter=TypeAdapter(kind))


def _left_out(params: Mapping[str, Any] | None, required: Collection[str] | None) -> Callable[[str], bool]:
    """Which parameters a model may leave out although the function has no default: declared, and not called
    required."""
    if required is None:
        return lambda name: False
    return lambda name: name not in required and (params is None or name in params)


def _validated(adapter: TypeAdapter[Any], arguments: Mapping[str, Any]) -> Any:
    try:
        return adapter.validate_python(dict(arguments))
    except ValidationError as error:
        raise ArgumentsError(problems_of(error)) from None


def _name_of(function: Callable[..., Any]) -> str:
    name = str(getattr(getattr(function, "func", function), "__name__", type(function).__name__))
    if not re.fullmatch(r"[\w.:-]+", name):
        raise ToolDefinitionError(f"{name!r} cannot be a tool's name; give one: @tool(name=...)")
    return name


def _defined_in_a_class(function: object) -> bool:
    """Is this a method as it stands in a class body? Then its first parameter is the instance, and no argument."""
    if not isinstance(function, types.FunctionType):
        return False
    owner = function.__qualname__.rpartition(".")[0]
    if not owner or owner.endswith("<locals>"):
        return False
    return next(iter(inspect.signature(function).parameters), "") in ("self", "cls")


_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools.partial)
_made: LRUCache[Any, Tool] = LRUCache(maxsize=1024)
_lock = ForkSafeLock()


def as_tool(given: object) -> Tool:
    """Anything that is a tool as a `Tool` that can be run: a Tool, a function, a bound method, a `functools.partial`;
    or, with no function to run, a `ToolDefinition` or a provider's tool dict.

    Raises `ToolDefinitionError` for anything else. A function's tool is made once.
    """
    if isinstance(given, Tool):
        found = cast("Tool", given)
        if found.needs_instance:
            raise ToolDefinitionError(f"tool {found.name!r} is a method without its object: give instance.{found.name}")
        return found
    if not isinstance(given, _FUNCTIONS):
        return Tool.from_definition(definition_of(given))  # which copies it: its schema stays as it was given
    with _lock:
        made = _made.get(given)
    if made is None:
        made = Tool(cast("Callable[..., Any]", given))
        with _lock:
            made = _made.setdefault(given, made)
    return made


def _definition_of_function(function: Any) -> ToolDefinition:
    return as_tool(function).definition


for _kind in _FUNCTIONS:
    definition_of.register(_kind, _definition_of_function)
