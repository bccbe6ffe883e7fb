"""A function's signature as a JSON Schema, and a call's arguments as the types it is annotated with.

pydantic does both: the parameters become the fields of one model, made once. `RunContext` parameters are left out of
the schema and injected. Fields have neutral names and the parameter's name as alias, since `schema`, `json` or `_x`
are good parameter names and bad field names.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any, Optional, cast, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError
from pydantic.fields import FieldInfo
from typing_extensions import Format, get_annotations, is_typeddict

from llmcore.support.code.quoted_words import clipped_words
from llmcore.support.values.annotations import fields_of_unpacked, undefined_in, unfillable, usable
from llmcore.support.values.copies import copied
from llmcore.support.values.merged_keys import KeyCheck, MergedKeys
from llmcore.support.values.typed_data import TypedReading
from llmcore.tools.context import RunContext
from llmcore.tools.schema.docstrings import documentation
from llmcore.tools.schema.unwrapping import bound_in, innermost
from llmcore.types import JsonSchema, Repair, ToolDefinitionError
from llmcore.types.schemas.generated_schema import GeneratedSchema, UnwritableSchema, error_text

__all__ = [
    "BY_NAME",
    "UNUSABLE",
    "ArgumentsError",
    "SignatureSchema",
    "UnresolvedAnnotation",
    "hints_of",
    "is_context",
    "note_ignored_keys",
    "problems_of",
    "refuse_bound",
    "schema_of_type",
    "typed_arguments",
]

_MAX_PROBLEMS = 20
_NULL = {"type": "null"}
BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
"""The kinds of parameters that a call can name."""

UNUSABLE = (PydanticSchemaGenerationError, PydanticInvalidForJsonSchema, PydanticUserError)
"""What pydantic raises for a type that has no JSON Schema."""


class ArgumentsError(ValueError):
    """Arguments do not fit the annotated types. `problems` are `path: message`."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class UnresolvedAnnotation(ToolDefinitionError):
    """An annotation names something not (yet) defined; it is asked for again on first use."""


class _PlainSchema(GeneratedSchema):
    """pydantic's JSON Schema without the titles it makes of field names: they cost tokens and say nothing new."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def schema_of_type(kind: Any) -> JsonSchema:
    """The JSON Schema of anything pydantic knows: what a model is to write to make a `kind`.

    Raises what pydantic raises for a type it does not know.
    """
    return TypeAdapter(kind).json_schema(schema_generator=_PlainSchema)


class SignatureSchema:
    """One function's parameters. `schema` is the JSON Schema the model sees; `bind` makes keyword arguments of a
    call's.

    `skip_first`: the first parameter is the instance. `may_be_left_out`: parameters that arrive as None when the
    model leaves them out although the function has no default.

    What `functools.partial` has bound is no parameter: the schema does not tell it, and a call cannot give it.

    Raises `ToolDefinitionError` for a signature no model can fill: positional-only parameters, `*args`, types without
    a schema.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        *,
        skip_first: bool = False,
        may_be_left_out: Callable[[str], bool] = lambda name: False,
    ) -> None:
        self.name = name
        self._may_be_left_out = may_be_left_out
        self.context_parameter: str | None = None
        self.takes_any_keyword = False
        self._any_keyword: Any = Any
        self._always_passed: set[str] = set()
        """Whose default pydantic makes: the function has none that could be used, or one that calls would share."""
        self._without_default: set[str] = set()
        self._fields: dict[str, tuple[str, Any, Any]] = {}
        self._bound = bound_in(function)
        hints = hints_of(function, name)
        parameters = list(_signature(function, name).parameters.values())[1 if skip_first else 0 :]
        for parameter in parameters:
            if parameter.name in self._bound and parameter.kind in BY_NAME:
                continue
            self._take(parameter, hints.get(parameter.name, Any))
        self._model = self._make_model()
        self.schema = self._make_schema(documentation(function).parameters)

    def _take(self, parameter: inspect.Parameter, hint: Any) -> None:
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise ToolDefinitionError(
                f"tool {self.name!r}: parameter {parameter.name!r} is positional-only; "
                "models give arguments by name, so remove the '/'"
            )
        if parameter.kind is parameter.VAR_POSITIONAL:
            raise ToolDefinitionError(
                f"tool {self.name!r}: '*{parameter.name}' has no name a model could use; "
                f"take a list instead: {parameter.name}: list[...]"
            )
        if is_context(hint):
            if self.context_parameter:
                raise ToolDefinitionError(f"tool {self.name!r} takes two RunContext parameters; keep one")
            self.context_parameter = parameter.name
        elif parameter.kind is parameter.VAR_KEYWORD:
            self._take_keywords(parameter, hint)
        else:
            self._add_field(parameter, usable(hint))

    def _take_keywords(self, parameter: inspect.Parameter, hint: Any) -> None:
        """`**k`, of one type for all, or with the names and types of a TypedDict."""
        named = fields_of_unpacked(hint)
        self.takes_any_keyword = named is None
        self._any_keyword = Any if named is not None else usable(hint)
        self._refuse_unfillable(parameter.name, self._any_keyword)
        for name, (inner, is_required) in (named or {}).items():
            if name in self._bound:
                continue
            declared = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY)
            self._add_field(declared, usable(inner), may_be_absent=not is_required)

    def _refuse_unfillable(self, name: str, hint: Any) -> None:
        """For what pydantic makes a field of that no model can fill, or none at all."""
        if (part := unfillable(hint)) is not None:
            told = repr(hint) if part is hint else f"{hint!r}, which holds {part!r}"
            raise ToolDefinitionError(
                f"tool {self.name!r}: parameter {name!r} has type {told}: JSON has no value for it; "
                "annotate it with the type of the value that a call is to give"
            )

    def _add_field(self, parameter: inspect.Parameter, hint: Any, *, may_be_absent: bool = False) -> None:
        """`may_be_absent`: left out, it does not arrive at all."""
        name, default = parameter.name, parameter.default
        self._refuse_unfillable(name, hint)
        declared: Any = Field(alias=name)
        may_be_absent = may_be_absent and not _has_own_default(hint)
        if may_be_absent:
            declared = Field(alias=name, default_factory=_nothing)  # a default that is not told
        elif isinstance(default, FieldInfo):  # def f(n: int = Field(5, ge=1)): the function's own default is no value
            hint = Annotated[_or_none(hint) if default.default is None else hint, default]
            self._always_passed.add(name)
        elif default is inspect.Parameter.empty and self._may_be_left_out(name):
            default = None  # arrives as None, which only we can pass
            self._always_passed.add(name)
        elif copied(default) is not default:  # a list or dict: each call gets its own
            self._always_passed.add(name)
        if default is not inspect.Parameter.empty and not isinstance(default, FieldInfo):
            declared = Field(default=default, alias=name)
            if default is None:
                hint = _or_none(hint)
        self._fields[f"field_{len(self._fields)}"] = (name, hint, declared)
        if default is inspect.Parameter.empty and not may_be_absent:
            self._without_default.add(name)

    def _make_model(self) -> type[BaseModel]:
        extra: typing.Literal["allow", "forbid"] = "allow" if self.takes_any_keyword else "forbid"
        config = ConfigDict(extra=extra, arbitrary_types_allowed=False, protected_namespaces=())
        fields: dict[str, Any] = {field: (hint, declared) for field, (_, hint, declared) in self._fields.items()}
        try:
            if self._any_keyword is Any:
                model: type[BaseModel] = create_model(self.name, __config__=config, **fields)
            else:
                own = {"__annotations__": {"__pydantic_extra__": dict[str, self._any_keyword]}, "model_config": config}  # type: ignore[name-defined]  # a type made at run time
                base: Any = types.new_class("Keywords", (BaseModel,), exec_body=lambda space: space.update(own))
                model = create_model(self.name, __base__=base, **fields)
        except Exception as error:  # of pydantic, or of a type's own code
            raise self._unusable(error) from error
        for field, (name, _, _) in self._fields.items():  # Annotated[list[int], Field(default_factory=list)]
            if name in self._without_default and not model.model_fields[field].is_required():
                self._always_passed.add(name)
        return model

    def _make_schema(self, descriptions: Mapping[str, str]) -> JsonSchema:
        try:
            schema = self._model.model_json_schema(schema_generator=_PlainSchema)
        except Exception as error:
            raise self._unusable(error) from error
        schema.pop("title", None)
        for key, told in schema.get("properties", {}).items():
            values = [branch for branch in told.get("anyOf", ()) if branch != _NULL]
            if "description" not in told and len(values) == 1 and "description" in values[0]:  # None as a default made it a union
                told["description"] = values[0].pop("description")
            if key in descriptions:
                told.setdefault("description", descriptions[key])
        return schema

    def _unusable(self, error: Exception) -> ToolDefinitionError:
        for name, hint, _ in self._fields.values():
            try:
                schema_of_type(hint)
            except Exception as unusable_type:  # of pydantic, or of the type's own code
                return ToolDefinitionError(
                    f"tool {self.name!r}: parameter {name!r} has type {hint!r}, {_type_error(hint, unusable_type)}"
                )
        return ToolDefinitionError(f"tool {self.name!r}: no JSON Schema can be made of its signature: {error}")

    @property
    def names(self) -> list[str]:
        """The parameters a model may fill, in order."""
        return [name for name, _, _ in self._fields.values()]

    @property
    def required(self) -> list[str]:
        return list(self.schema.get("required", []))

    def refuse_other_than(self, kind: type[Any]) -> None:
        """Raises `ToolDefinitionError` where the function does not take an object of this type as its one argument."""
        taken = [(name, hint) for name, hint, _ in self._fields.values()]
        if len(taken) != 1 or self.takes_any_keyword or not _takes(taken[0][1], kind):
            told, wanted = ", ".join(name for name, _ in taken) or "no argument", kind.__name__
            raise ToolDefinitionError(
                f"tool {self.name!r}: with `params={wanted}` its function is given one {wanted}, and it takes {told}; let it "
                f"take that alone, as in `def {self.name}(value: {wanted})`, or leave `params` out and annotate the fields"
            )

    @functools.cached_property
    def _keys(self) -> KeyCheck:
        return KeyCheck(self._model.__pydantic_core_schema__)

    @functools.cached_property
    def _reading(self) -> TypedReading:
        model = self._model
        reader = model.__pydantic_validator__
        return TypedReading(reader.validate_json, reader.validate_python, model.__pydantic_core_schema__)

    def bind(
        self, arguments: Mapping[str, Any], repairs: list[Repair] | None = None, made_by: Sequence[Repair] = ()
    ) -> dict[str, Any]:
        """The arguments as the annotated types, by parameter name; what the model left out is left to the function's
        default. Into `repairs` goes each key that a type ignored. `made_by`: the repairs that made the arguments fit.

        Raises `ArgumentsError`.
        """
        refuse_bound(self._bound, arguments)
        filled = typed_arguments(self._reading, arguments, made_by)
        for each in arguments.values():
            if isinstance(each, (dict, list)):
                refuse_lost_keys(self._keys, arguments, filled)
                note_ignored_keys(self._keys, arguments, filled, repairs)
                break
        given, values = filled.__pydantic_fields_set__, filled.__dict__
        keywords = {
            name: values[field] for field, (name, _, _) in self._fields.items() if field in given or name in self._always_passed
        }
        return keywords | extra if (extra := filled.__pydantic_extra__) else keywords


def refuse_bound(bound: Collection[str], arguments: Mapping[str, Any]) -> None:
    """Raises `ArgumentsError` for what `functools.partial` has bound, as for any key that the tool does not have. A function of
    any keywords would take it."""
    if bound and (given := [name for name in arguments if name in bound]):
        raise ArgumentsError([f"{name}: Extra inputs are not permitted" for name in given])


def _takes(hint: Any, kind: type[Any]) -> bool:
    """May a value of this type be given where that is annotated? True also where only the type's author would know."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _takes(args[0], kind)
    if origin in (typing.Union, types.UnionType):
        return any(_takes(one, kind) for one in args)
    wanted = hint if origin is None else origin
    if wanted is Any or not isinstance(wanted, type):
        return wanted is not typing.Literal
    made = dict if is_typeddict(kind) else kind
    if is_typeddict(wanted):
        return wanted is kind or made is dict
    return issubclass(made, wanted)


def _or_none(hint: Any) -> Any:
    """The annotation, or a union of it and None where it does not take None itself."""
    return hint if _takes_none(hint) else Optional[hint]  # noqa: UP045  (built at run time; `|` refuses some annotations)


def _takes_none(hint: Any) -> bool:
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _takes_none(args[0])
    return hint is Any or hint is type(None) or (origin in (typing.Union, types.UnionType) and any(map(_takes_none, args)))


def _has_own_default(hint: Any) -> bool:
    """`Annotated[list[int], Field(default_factory=list)]`: what is left out arrives as that."""
    parts = get_args(hint) if get_origin(hint) is Annotated else ()
    return any(isinstance(part, FieldInfo) and not part.is_required() for part in parts)


def _nothing() -> None:
    return None


def _type_error(hint: Any, error: Exception) -> str:
    """What is wrong with a type, and what to do about it."""
    fix = "annotate it with a type pydantic knows (str, int, list[...], a BaseModel, a dataclass, ...)"
    if isinstance(error, UnwritableSchema):
        fix = str(error)
    elif not isinstance(error, UNUSABLE):
        fix = f"it raises {error_text(error)}"
    elif error.code == "typed-dict-version":
        fix = "import TypedDict from typing_extensions, for Python below 3.12"
    elif (lacking := undefined_in(hint)) is not None:
        fix = f"it refers to {lacking!r}, which is not defined; define it, then call `model_rebuild()`"
    return f"which has no JSON Schema; {fix}"


def problems_of(error: ValidationError) -> list[str]:
    """What a validator found, each in words of bounded length; of very many the first, and how many more there are."""
    found = error.errors(include_url=False)
    left_out = len(found) - _MAX_PROBLEMS
    more = [f"and {left_out} more"] if left_out > 0 else []
    return [clipped_words(_described(problem)) for problem in found[:_MAX_PROBLEMS]] + more


def refuse_lost_keys(keys: KeyCheck, arguments: Mapping[str, Any], filled: Any) -> None:
    """Raises `ArgumentsError` where the types have one key of what are several in the arguments: a value would be lost."""
    if lost := keys.lost(dict(arguments), filled, _MAX_PROBLEMS):
        raise ArgumentsError(
            [clipped_words(f"{'.'.join(map(str, each.path)) or 'arguments'}: {_lost_keys(each)}") for each in lost]
        )


def typed_arguments(reading: TypedReading, arguments: Mapping[str, Any], made_by: Sequence[Repair]) -> Any:
    """The typed value of arguments. `made_by`: the repairs that made them fit, which may name a member of a union.

    Raises `ArgumentsError`.
    """
    inside = [one for one in made_by if one.path and one.kind == "peeled_wrapper"]  # the others name the tool
    try:
        if not inside:
            return reading.read_any(dict(arguments))
        from llmcore.validator.output.members import read_named  # seldom

        return read_named(reading, dict(arguments), inside)
    except ValidationError as error:
        raise ArgumentsError(problems_of(error)) from None


def note_ignored_keys(keys: KeyCheck, arguments: Mapping[str, Any], filled: Any, repairs: list[Repair] | None) -> None:
    """Enter each key of the arguments that their types ignored: a value was dropped."""
    if repairs is None or not (ignored := [*keys.ignored(dict(arguments), filled)]):
        return
    from llmcore.validator.schema.problems import join_path  # seldom

    repairs += [Repair(kind="dropped_key", path=join_path(path), before=item, safety="coerced") for path, item in ignored]


def _lost_keys(merged: MergedKeys) -> str:
    keys = ", ".join(map(repr, merged.keys[:_MAX_PROBLEMS]))
    return f"{len(merged.keys)} keys of which the type makes {len(merged.left)}: {keys}; give keys that the type tells apart"


def _described(problem: Mapping[str, Any]) -> str:
    path = ".".join(str(step) for step in problem["loc"])
    return f"{path or 'arguments'}: {problem['msg']}"


def _signature(function: Callable[..., Any], name: str) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except Exception as error:  # also of what it says that it wraps
        raise ToolDefinitionError(
            f"tool {name!r}: its signature cannot be read ({error_text(error)}); wrap it in a function"
        ) from error


def _annotations(target: Any, *, returned: bool) -> Any:
    """Of the function the annotations of its parameters, or that of what it returns, which need not mean anything."""
    found = get_annotations(target, format=Format.FORWARDREF)
    told = {name: hint for name, hint in found.items() if (name == "return") == returned}
    scope = {name: getattr(target, name) for name in ("__globals__", "__type_params__") if hasattr(target, name)}
    return types.SimpleNamespace(__annotations__=told, **scope)


def hints_of(function: Callable[..., Any], name: str, *, returned: bool = False) -> dict[str, Any]:
    """The parameters' annotations; `returned`: that of what it returns, under `return`.

    Raises `ToolDefinitionError` for one that means nothing.
    """
    target = innermost(function)
    if isinstance(target, type):  # below a `partial`
        target = () if returned else cast("Any", target).__init__
    elif not isinstance(target, types.FunctionType | types.BuiltinFunctionType):
        target = type(target).__call__
    try:
        annotated = _annotations(target, returned=returned)
        try:
            return typing.get_type_hints(annotated, include_extras=True)
        except NameError:  # perhaps a type defined inside the function that also defines the tool
            return typing.get_type_hints(annotated, localns=_callers_locals(), include_extras=True)
    except NameError as error:
        raise UnresolvedAnnotation(
            f"tool {name!r}: the annotation {error.name!r} cannot be resolved; define or import it at module level"
        ) from error
    except TypeError as error:
        raise ToolDefinitionError(f"tool {name!r}: an annotation is not a type: {error}") from error


def _callers_locals() -> dict[str, Any]:
    """The local names where this library was called from; pydantic resolves a model's annotations likewise."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # the only way to a caller's names; pydantic's too
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(("llmcore.", "functools")):
        frame = frame.f_back
    return dict(frame.f_locals)


def is_context(hint: Any) -> bool:
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if get_origin(hint) in (typing.Union, types.UnionType):
        return any(is_context(part) for part in get_args(hint))
    return (get_origin(hint) or hint) is RunContext
