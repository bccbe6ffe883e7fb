"""Typed partial values while a text is still arriving. They hold only what is certain.

Rules
- Of the last, unfinished leaf, only plain text is shown: never half a number, enum, literal, date or key.
- Missing parts are absent from dicts. In models and dataclasses they are the field's default, or None.
- A complete part that does not fit is absent as well. A list ends before such an item, so that no item moves to its index.
- A union shows nothing until it is certain which member arrives (see `members`).
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from itertools import takewhile
from typing import Any, Union, get_args, get_origin, get_type_hints

from pydantic import AliasChoices, BaseModel, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from typing_extensions import is_typeddict  # typing's own does not know the TypedDicts of typing_extensions before 3.13

from llmcore.support.values.narrowing import is_list, is_object
from llmcore.support.values.typed_data import TypedReading
from llmcore.validator.coercion.aliases import with_schema_names
from llmcore.validator.coercion.coercer import Strictness, coerce
from llmcore.validator.coercion.views import view_of
from llmcore.validator.output.candidates import Candidate
from llmcore.validator.output.members import Member, Members
from llmcore.validator.output.output_types import CompiledOutput, compile_output
from llmcore.validator.schema.compiled import CompiledSchema
from llmcore.validator.schema.problems import type_name

__all__ = ["certain_part", "partial_value"]

_ABSENT: Any = object()

_HIGH_SURROGATES = "".join(map(chr, range(0xD800, 0xDC00)))
"""First halves of surrogate pairs. In an unfinished text, the second half may follow."""


def certain_part(candidate: Candidate, schema: CompiledSchema, strictness: Strictness) -> Any:
    """The certain part of an incomplete value, in the form that the schema demands. None if nothing is certain."""
    cut = {repair.path for repair in candidate.repairs if repair.kind == "cut_string"}
    value, moves = with_schema_names(candidate.value, schema, schema.schema)
    for move in moves:
        cut = {move.path + path.removeprefix(move.before) if path.startswith(move.before) else path for path in cut}
    still_open = _open_paths(candidate)
    for move in moves:
        still_open |= {move.path + path.removeprefix(move.before) for path in still_open if path.startswith(move.before)}
    part = _Pruner(schema, strictness, cut, still_open).part(value, schema.schema, "")
    return None if part is _ABSENT else part


def _open_paths(candidate: Candidate) -> set[str]:
    """The paths of the containers that may grow: the last one at each level, as many as lack their closing bracket."""
    closers = [repair.after for repair in candidate.repairs if repair.kind == "missing_closer"]
    number = sum(str(each).count("}") + str(each).count("]") for each in closers)
    value, path, paths = candidate.value, "", list[str]()
    while (is_object(value) or is_list(value)) and (len(paths) < number or not number):
        paths.append(path)
        if not value:
            break
        last: Any = [*value][-1] if is_object(value) else len(value) - 1
        path = f"{path}[{last}]" if is_list(value) else f"{path}.{last}" if path else str(last)
        value = value[last]
    return {*paths}


class _Pruner:
    """Removes what is not certain from a value.

    `cut` holds the path of the string in which the text ended, if any; `still_open` holds those of the containers around it.
    """

    def __init__(self, schema: CompiledSchema, strictness: Strictness, cut: set[str], still_open: set[str]) -> None:
        self.schema, self.cut, self.still_open = schema, cut, still_open
        self.strictness: Strictness = strictness
        self.members = Members(strictness, cut, still_open.__contains__)

    def part(self, value: Any, subschema: Any, path: str) -> Any:
        if isinstance(value, str) and path in self.cut:
            return value.rstrip(_HIGH_SURROGATES) if self._is_free_text(subschema) else _ABSENT
        if not (is_object(value) or is_list(value)):
            return self._coerced(value, subschema, _ABSENT)
        return self._container(value, subschema, path)

    def _container(self, value: dict[str, Any] | list[Any], subschema: Any, path: str) -> Any:
        view = view_of(self.schema, subschema)
        if view.alternatives:
            return self._member(value, subschema, path)
        if view.types and type_name(value) not in view.types:
            return _ABSENT
        inside: dict[str, Any] | list[Any]
        if is_object(value):
            items = [
                (key, self.part(item, view.value_schema(key), f"{path}.{key}" if path else key)) for key, item in value.items()
            ]
            inside = {key: item for key, item in items if item is not _ABSENT}
        else:
            values = enumerate(value)
            parts = [self.part(item, view.item_schema(index), f"{path}[{index}]") for index, item in values]
            inside = list(takewhile(lambda item: item is not _ABSENT, parts))
        return self._coerced(inside, subschema, inside)

    def _member(self, value: dict[str, Any] | list[Any], subschema: Any, path: str) -> Any:
        """A complete value of a union as it fits; an unfinished one as its certain member."""
        if path not in self.still_open and (whole := self._coerced(value, subschema, _ABSENT)) is not _ABSENT:
            return whole
        part = _ABSENT
        for alternatives in view_of(self.schema, subschema).alternatives:
            index = self.members.certain(value, [Member(self.schema, branch) for branch in alternatives], path)
            part = _ABSENT if index is None else self.part(value, alternatives[index], path)
            if part is _ABSENT:
                break
        return part

    def _coerced(self, value: Any, subschema: Any, otherwise: Any) -> Any:
        coerced = coerce(value, self.schema, strictness=self.strictness, at=subschema)
        return otherwise if coerced.problems else coerced.value

    def _is_free_text(self, subschema: Any) -> bool:
        view = view_of(self.schema, subschema)
        if view.alternatives:
            return any(self._is_free_text(branch) for branches in view.alternatives for branch in branches)
        return view.allowed is None and not view.bounded_text and (not view.types or "string" in view.types)


# --- typed ------------------------------------------------------------------------------------------------------------


def partial_value(data: Any, output: CompiledOutput) -> Any:
    """The typed value of JSON data that may lack parts. Validators of models run only on complete parts."""
    if output.adapter is None:
        return data
    if not output.holds_unions and output.schema.is_valid(data) and not (finished := output.finish(data)).problems:
        return finished.value
    try:
        return _build(output.output_type, data)
    except KeyboardInterrupt:
        raise
    except BaseException:  # the type's own code: default factories, validators, `__hash__`
        return None


def _build(annotation: Any, data: Any) -> Any:
    """`data` as `annotation`; structures are built without their missing parts. None if that is impossible."""
    whole, annotation = annotation, _unwrapped(annotation)
    if data is None or annotation is Any:
        return data
    origin = get_origin(annotation)
    if origin in (Union, types.UnionType):
        return _build_union(whole, get_args(annotation), data)
    if is_object(data):
        return _build_object(annotation, origin, data)
    if is_list(data):
        return _build_array(annotation, origin, data)
    return _validated(annotation, data)


def _unwrapped(annotation: Any) -> Any:
    """The annotation without Annotated, NewType, type aliases, Required and the like."""
    while True:
        origin = get_origin(annotation)
        if origin is not None and origin in _WRAPPERS:
            annotation = get_args(annotation)[0]
        elif hasattr(annotation, "__value__"):
            annotation = annotation.__value__
        elif hasattr(annotation, "__supertype__"):
            annotation = annotation.__supertype__
        else:
            return annotation


_WRAPPERS = (typing.Annotated, typing.Required, typing.NotRequired, typing.ClassVar, typing.Final)


def _validated(annotation: Any, data: Any) -> Any:
    try:
        return TypedReading.of(TypeAdapter[Any](annotation)).read(data)
    except (ValidationError, PydanticUserError):
        return None


def _build_union(annotation: Any, branches: tuple[Any, ...], data: Any) -> Any:
    """The data as their certain member, validated or built; else what the union itself makes of them."""
    if not (is_object(data) or is_list(data)):
        return _validated(annotation, data)
    compiled = [compile_output(_unwrapped(branch)).schema for branch in branches]
    members = [Member(schema, schema.schema) for schema in compiled]
    index = Members("off", (), lambda path: True).certain(data, members, "")
    if index is None:
        return _validated(annotation, data)
    value = _validated(branches[index], data)
    return _build(branches[index], data) if value is None else value


def _build_object(annotation: Any, origin: Any, data: dict[str, Any]) -> Any:
    cls: Any = origin or annotation
    if is_typeddict(cls):
        hints = get_type_hints(cls, include_extras=True)
        return {key: _build(hints[key], item) for key, item in data.items() if key in hints}
    if isinstance(cls, type) and issubclass(cls, BaseModel):
        return _build_model(cls, data)
    if isinstance(cls, type) and dataclasses.is_dataclass(cls):
        return _build_dataclass(cls, data)
    if isinstance(cls, type) and issubclass(cls, Mapping):
        key_type, value_type = get_args(annotation) or (str, Any)
        return {_validated(key_type, key): _build(value_type, item) for key, item in data.items()}
    return _validated(annotation, data)


def _build_model(cls: type[BaseModel], data: dict[str, Any]) -> BaseModel:
    """An instance whose missing fields are their default or None. No validator of the model runs."""
    instance = cls.model_construct()
    values = vars(instance)
    given: set[str] = set()
    for name, info in cls.model_fields.items():
        key = next((key for key in _field_names(info, name) if key in data), None)
        default = values.pop(name, None)
        values[name] = default if key is None else _build(info.annotation, data[key])
        given |= set() if key is None else {name}
    instance.model_fields_set.update(given)
    return instance


def _field_names(info: FieldInfo, name: str) -> list[str]:
    """The names that a field may have in its schema."""
    alias = info.validation_alias
    choices: list[Any] = [*alias.choices] if isinstance(alias, AliasChoices) else [alias, info.alias]
    return [*(choice for choice in choices if isinstance(choice, str)), name]


def _build_dataclass(cls: type[Any], data: dict[str, Any]) -> Any:
    hints = get_type_hints(cls, include_extras=True)
    instance = object.__new__(cls)
    for each in dataclasses.fields(cls):
        if each.name in data:
            value = _build(hints[each.name], data[each.name])
        elif each.default_factory is not dataclasses.MISSING:
            value = each.default_factory()
        else:
            value = None if each.default is dataclasses.MISSING else each.default
        object.__setattr__(instance, each.name, value)
    return instance


def _build_array(annotation: Any, origin: Any, data: list[Any]) -> Any:
    cls: Any = origin or annotation
    arguments = get_args(annotation)
    if isinstance(cls, type) and issubclass(cls, tuple) and arguments and arguments[-1] is not Ellipsis:
        return tuple(_build(each, item) for each, item in zip(arguments, data, strict=False))
    if hasattr(origin or annotation, "_fields"):
        return _build_named_tuple(origin or annotation, data)
    items = [_build(arguments[0] if arguments else Any, item) for item in data]
    makers: list[Any] = [tuple, frozenset, set]
    for make in makers:
        if cls is make:
            try:
                return make(items)
            except TypeError:  # an item that cannot be hashed
                return items
    return items


def _build_named_tuple(cls: Any, data: list[Any]) -> Any:
    """A named tuple whose missing fields are their default or None."""
    hints = get_type_hints(cls, include_extras=True)
    items = [_build(hints.get(name, Any), item) for name, item in zip(cls._fields, data, strict=False)]
    return cls(*items, *(cls._field_defaults.get(name) for name in cls._fields[len(items) :]))
