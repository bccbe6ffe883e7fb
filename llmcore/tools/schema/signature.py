"""A function's signature as a JSON Schema, and a call's arguments as values of the annotated types.

pydantic does both: the parameters become the fields of one model per function. The schema omits `RunContext` parameters, which
are injected. Each field has a neutral name and the parameter's name as its alias: pydantic refuses fields named `schema`, `json`
or `_x`.
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
from llmcore.tools.schema.unwrapping import bound_parameters, innermost
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
    "problems_of",
    "record_ignored_keys",
    "refuse_bound_arguments",
    "schema_of_type",
    "typed_arguments",
]

_MAX_PROBLEMS = 20
_NULL = {"type": "null"}
BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
"""The kinds of parameters that a call can give by name."""

UNUSABLE = (PydanticSchemaGenerationError, PydanticInvalidForJsonSchema, PydanticUserError)
"""What pydantic raises for a type that has no JSON Schema."""


class ArgumentsError(ValueError):
    """The arguments do not fit the annotated types. Each of `problems` is `path: message`."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class UnresolvedAnnotation(ToolDefinitionError):
    """An annotation names something that is not defined yet. It is resolved again when the tool is first used."""


class _PlainSchema(GeneratedSchema):
    """pydantic's JSON Schema without the titles that repeat the field names: they only cost tokens."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def schema_of_type(kind: Any) -> JsonSchema:
    """The JSON Schema of the values that pydantic accepts for `kind`. Raises one of `UNUSABLE` for a type without a schema."""
    return TypeAdapter(kind).json_schema(schema_generator=_PlainSchema)


class SignatureSchema:
    """The parameters of one function. `schema` is the JSON Schema for the model; `bind` turns a call's arguments into keywords.

    `skip_first`: the first parameter is the instance.
    `may_be_omitted`: whether a parameter without a default arrives as None if the model omits it.

    The schema omits parameters that `functools.partial` has bound, and a call cannot give them.

    Raises `ToolDefinitionError` for a signature that no model can fill: positional-only parameters, `*args`, or a type without a
    schema.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        *,
        skip_first: bool = False,
        may_be_omitted: Callable[[str], bool] = lambda name: False,
    ) -> None:
        self.name = name
        self._may_be_omitted = may_be_omitted
        self.context_parameter: str | None = None
        self.takes_any_keyword = False
        self._any_keyword: Any = Any
        self._always_passed: set[str] = set()
        """Parameters whose default pydantic makes: the function has no usable default, or one that its calls would share."""
        self._without_default: set[str] = set()
        self._fields: dict[str, tuple[str, Any, Any]] = {}
        self._bound = bound_parameters(function)
        hints = hints_of(function, name)
        parameters = list(_signature(function, name).parameters.values())[1 if skip_first else 0 :]
        for parameter in parameters:
            if parameter.name in self._bound and parameter.kind in BY_NAME:
                continue
            self._add_parameter(parameter, hints.get(parameter.name, Any))
        self._model = self._make_model()
        self.schema = self._make_schema(documentation(function).parameters)

    def _add_parameter(self, parameter: inspect.Parameter, hint: Any) -> None:
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
            self._add_keyword_parameters(parameter, hint)
        else:
            self._add_field(parameter, usable(hint))

    def _add_keyword_parameters(self, parameter: inspect.Parameter, hint: Any) -> None:
        """Add `**kwargs`: all of one type, or with the names and types of a TypedDict."""
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
        """Raises `ToolDefinitionError` for a type that pydantic accepts as a field and JSON has no value for."""
        if (part := unfillable(hint)) is not None:
            type_text = repr(hint) if part is hint else f"{hint!r}, which holds {part!r}"
            raise ToolDefinitionError(
                f"tool {self.name!r}: parameter {name!r} has type {type_text}: JSON has no value for it; "
                "annotate it with the type of the value that a call is to give"
            )

    def _add_field(self, parameter: inspect.Parameter, hint: Any, *, may_be_absent: bool = False) -> None:
        """`may_be_absent`: if the model omits it, the function does not receive it at all."""
        name, default = parameter.name, parameter.default
        self._refuse_unfillable(name, hint)
        declared: Any = Field(alias=name)
        may_be_absent = may_be_absent and not _has_own_default(hint)
        if may_be_absent:
            declared = Field(alias=name, default_factory=_omitted)  # so the schema shows no default
        elif isinstance(default, FieldInfo):  # def f(n: int = Field(5, ge=1)): the function's default is a FieldInfo, no int
            hint = Annotated[_or_none(hint) if default.default is None else hint, default]
            self._always_passed.add(name)
        elif default is inspect.Parameter.empty and self._may_be_omitted(name):
            default = None  # the function has no default, so None must be passed
            self._always_passed.add(name)
        elif copied(default) is not default:  # a list or dict: each call receives a copy
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
                keywords = {"__pydantic_extra__": dict[str, self._any_keyword]}  # type: ignore[name-defined]  # made at run time
                body = {"__annotations__": keywords, "model_config": config}
                base: Any = types.new_class("Keywords", (BaseModel,), exec_body=lambda space: space.update(body))
                model = create_model(self.name, __base__=base, **fields)
        except Exception as error:  # from pydantic, or from code of the type
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
        for key, part in schema.get("properties", {}).items():
            values = [branch for branch in part.get("anyOf", ()) if branch != _NULL]
            if "description" not in part and len(values) == 1 and "description" in values[0]:  # the default None made it a union
                part["description"] = values[0].pop("description")
            if key in descriptions:
                part.setdefault("description", descriptions[key])
        return schema

    def _unusable(self, error: Exception) -> ToolDefinitionError:
        for name, hint, _ in self._fields.values():
            try:
                schema_of_type(hint)
            except Exception as unusable_type:  # from pydantic, or from code of the type
                return ToolDefinitionError(
                    f"tool {self.name!r}: parameter {name!r} has type {hint!r}, {_type_error(hint, unusable_type)}"
                )
        return ToolDefinitionError(f"tool {self.name!r}: no JSON Schema can be made of its signature: {error}")

    @property
    def names(self) -> list[str]:
        """The parameters that a model may fill, in the order of the signature."""
        return [name for name, _, _ in self._fields.values()]

    @property
    def required(self) -> list[str]:
        return list(self.schema.get("required", []))

    def require_single_argument(self, kind: type[Any]) -> None:
        """Raises `ToolDefinitionError` unless the function takes exactly one argument, and that of this type."""
        parameters = [(name, hint) for name, hint, _ in self._fields.values()]
        if len(parameters) != 1 or self.takes_any_keyword or not _accepts(parameters[0][1], kind):
            names, wanted = ", ".join(name for name, _ in parameters) or "no argument", kind.__name__
            raise ToolDefinitionError(
                f"tool {self.name!r}: with `params={wanted}` its function is given one {wanted}, and it takes {names}; let it "
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
        self, arguments: Mapping[str, Any], repairs: list[Repair] | None = None, applied: Sequence[Repair] = ()
    ) -> dict[str, Any]:
        """The keyword arguments of the function, as values of the annotated types. Parameters that the model omitted are absent.

        A repair for each key that a type ignored is appended to `repairs`. `applied`: the repairs that made the arguments fit.

        Raises `ArgumentsError`.
        """
        refuse_bound_arguments(self._bound, arguments)
        filled = typed_arguments(self._reading, arguments, applied)
        for each in arguments.values():
            if isinstance(each, (dict, list)):
                refuse_lost_keys(self._keys, arguments, filled)
                record_ignored_keys(self._keys, arguments, filled, repairs)
                break
        given, values = filled.__pydantic_fields_set__, filled.__dict__
        keywords = {
            name: values[field] for field, (name, _, _) in self._fields.items() if field in given or name in self._always_passed
        }
        return keywords | extra if (extra := filled.__pydantic_extra__) else keywords


def refuse_bound_arguments(bound: Collection[str], arguments: Mapping[str, Any]) -> None:
    """Raises `ArgumentsError` for an argument that `functools.partial` has bound, as for any unknown key.

    Without this check a function with `**kwargs` would accept it.
    """
    if bound and (given := [name for name in arguments if name in bound]):
        raise ArgumentsError([f"{name}: Extra inputs are not permitted" for name in given])


def _accepts(hint: Any, kind: type[Any]) -> bool:
    """Whether a parameter annotated `hint` accepts a `kind`. True for annotations that this cannot decide."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _accepts(args[0], kind)
    if origin in (typing.Union, types.UnionType):
        return any(_accepts(member, kind) for member in args)
    wanted = hint if origin is None else origin
    if wanted is Any or not isinstance(wanted, type):
        return wanted is not typing.Literal
    made = dict if is_typeddict(kind) else kind
    if is_typeddict(wanted):
        return wanted is kind or made is dict
    return issubclass(made, wanted)


def _or_none(hint: Any) -> Any:
    """The annotation, as a union with None if it does not accept None itself."""
    return hint if _accepts_none(hint) else Optional[hint]  # noqa: UP045  (built at run time; `|` refuses some annotations)


def _accepts_none(hint: Any) -> bool:
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _accepts_none(args[0])
    return hint is Any or hint is type(None) or (origin in (typing.Union, types.UnionType) and any(map(_accepts_none, args)))


def _has_own_default(hint: Any) -> bool:
    """Whether the annotation has a default, as `Annotated[list[int], Field(default_factory=list)]` has."""
    parts = get_args(hint) if get_origin(hint) is Annotated else ()
    return any(isinstance(part, FieldInfo) and not part.is_required() for part in parts)


def _omitted() -> None:
    return None


def _type_error(hint: Any, error: Exception) -> str:
    """Why the type cannot be used, and the fix, as the rest of a sentence."""
    fix = "annotate it with a type pydantic knows (str, int, list[...], a BaseModel, a dataclass, ...)"
    if isinstance(error, UnwritableSchema):
        fix = str(error)
    elif not isinstance(error, UNUSABLE):
        fix = f"it raises {error_text(error)}"
    elif error.code == "typed-dict-version":
        fix = "import TypedDict from typing_extensions, for Python below 3.12"
    elif (undefined := undefined_in(hint)) is not None:
        fix = f"it refers to {undefined!r}, which is not defined; define it, then call `model_rebuild()`"
    return f"which has no JSON Schema; {fix}"


def problems_of(error: ValidationError) -> list[str]:
    """The messages of a validation error, each of bounded length: at most the first 20, and a count of the others."""
    found = error.errors(include_url=False)
    remaining = len(found) - _MAX_PROBLEMS
    more = [f"and {remaining} more"] if remaining > 0 else []
    return [clipped_words(_described(problem)) for problem in found[:_MAX_PROBLEMS]] + more


def refuse_lost_keys(keys: KeyCheck, arguments: Mapping[str, Any], filled: Any) -> None:
    """Raises `ArgumentsError` if a type maps several keys of the arguments to one key: all values but one would be lost."""
    if lost := keys.lost(dict(arguments), filled, _MAX_PROBLEMS):
        raise ArgumentsError(
            [clipped_words(f"{'.'.join(map(str, each.path)) or 'arguments'}: {_lost_keys(each)}") for each in lost]
        )


def typed_arguments(reading: TypedReading, arguments: Mapping[str, Any], applied: Sequence[Repair]) -> Any:
    """The arguments as one value of the type. `applied`: the repairs that made them fit, which may name a member of a union.

    Raises `ArgumentsError`.
    """
    inside = [repair for repair in applied if repair.path and repair.kind == "peeled_wrapper"]  # the others name the tool
    try:
        if not inside:
            return reading.read_any(dict(arguments))
        from llmcore.validator.output.members import read_named  # seldom needed

        return read_named(reading, dict(arguments), inside)
    except ValidationError as error:
        raise ArgumentsError(problems_of(error)) from None


def record_ignored_keys(keys: KeyCheck, arguments: Mapping[str, Any], filled: Any, repairs: list[Repair] | None) -> None:
    """Append a `dropped_key` repair for each key of the arguments that their types ignored."""
    if repairs is None or not (ignored := [*keys.ignored(dict(arguments), filled)]):
        return
    from llmcore.validator.schema.problems import join_path  # seldom needed

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
    except Exception as error:  # `__wrapped__` may be anything
        raise ToolDefinitionError(
            f"tool {name!r}: its signature cannot be read ({error_text(error)}); wrap it in a function"
        ) from error


def _annotations(target: Any, *, returned: bool) -> Any:
    """An object with the annotations of the parameters, or (`returned`) of the return value, for `typing.get_type_hints`."""
    found = get_annotations(target, format=Format.FORWARDREF)
    chosen = {name: hint for name, hint in found.items() if (name == "return") == returned}
    scope = {name: getattr(target, name) for name in ("__globals__", "__type_params__") if hasattr(target, name)}
    return types.SimpleNamespace(__annotations__=chosen, **scope)


def hints_of(function: Callable[..., Any], name: str, *, returned: bool = False) -> dict[str, Any]:
    """The resolved annotations of the parameters, by name; with `returned`, only that of the return value, under `return`.

    Raises `UnresolvedAnnotation` for an undefined name, and `ToolDefinitionError` for an annotation that is no type.
    """
    target = innermost(function)
    if isinstance(target, type):  # wrapped in a `partial`
        target = () if returned else cast("Any", target).__init__
    elif not isinstance(target, types.FunctionType | types.BuiltinFunctionType):
        target = type(target).__call__
    try:
        annotated = _annotations(target, returned=returned)
        try:
            return typing.get_type_hints(annotated, include_extras=True)
        except NameError:  # the type may be defined inside the function that defines the tool
            return typing.get_type_hints(annotated, localns=_callers_locals(), include_extras=True)
    except NameError as error:
        raise UnresolvedAnnotation(
            f"tool {name!r}: the annotation {error.name!r} cannot be resolved; define or import it at module level"
        ) from error
    except TypeError as error:
        raise ToolDefinitionError(f"tool {name!r}: an annotation is not a type: {error}") from error


def _callers_locals() -> dict[str, Any]:
    """The local names of the code that called this library. pydantic resolves a model's annotations in the same way."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # the only way to a caller's names
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(("llmcore.", "functools")):
        frame = frame.f_back
    return dict(frame.f_locals)


def is_context(hint: Any) -> bool:
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if get_origin(hint) in (typing.Union, types.UnionType):
        return any(is_context(part) for part in get_args(hint))
    return (get_origin(hint) or hint) is RunContext
