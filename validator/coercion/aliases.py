"""The other names under which pydantic reads a field: `AliasChoices`, `AliasPath`, and the field's own name.

JSON Schema has one name for a property, and pydantic's schema gives the first. So llmcore's schema also lists, beside each
property, the paths from which pydantic reads it. A value at another path is moved to the schema's name, in pydantic's order.
Nothing is converted, so this happens at every strictness.

The schema also lists names that pydantic's schema omits, for the coercer: those of enum members, named tuples and their
items.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Flag
from typing import Any, cast

from pydantic import TypeAdapter
from pydantic_core import core_schema

from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import JsonSchema, Repair
from llmcore.types.schemas.generated_schema import GeneratedSchema
from llmcore.validator.coercion.views import View, view_of
from llmcore.validator.schema.compiled import ALIASES, CompiledSchema
from llmcore.validator.schema.problems import join_path
from llmcore.validator.schema.quick import NAMES, TITLE

__all__ = ["needs_field_names", "schema_with_aliases", "with_schema_names", "without_aliases"]

Path = tuple[str | int, ...]


class _AliasSchemaGenerator(GeneratedSchema):
    """Generates pydantic's JSON Schema, with the paths from which each property is read."""

    def _named_required_fields_schema(self, named_required_fields: Sequence[tuple[str, bool, Any]]) -> JsonSchema:
        # only here, pydantic knows the names, the fields and the model's configuration
        schema: JsonSchema = super()._named_required_fields_schema(named_required_fields)
        for name, _, field in named_required_fields:
            schema_name = self._get_alias_name(field, name)
            paths = _paths(field.get("validation_alias", name))
            if self._config.validate_by_name or self._config.populate_by_name:
                paths += [[name]] if [name] not in paths else []
            if paths != [[schema_name]] and schema_name in schema["properties"]:
                schema["properties"][schema_name][ALIASES] = paths
        return schema

    def enum_schema(self, schema: core_schema.EnumSchema) -> JsonSchema:
        made: JsonSchema = super().enum_schema(schema)
        kind: Any = schema["cls"]
        if not issubclass(kind, Flag):
            return {**made, NAMES: [member.name for member in schema["members"]]}
        return {**made, NAMES: [kind(value).name or str(value) for value in made.get("enum", ())]}

    def named_tuple_schema(self, schema: core_schema.NamedTupleSchema) -> JsonSchema:
        made: JsonSchema = super().named_tuple_schema(schema)
        return {**made, NAMES: [field["name"] for field in schema["fields"]], TITLE: schema["cls"].__name__}

    def p_arguments_schema(self, arguments: list[core_schema.ArgumentsParameter], var_args_schema: Any) -> JsonSchema:
        """Describes a named tuple up to pydantic 2.13. There it has no title, so a union cannot distinguish two of them."""
        made: JsonSchema = super().p_arguments_schema(arguments, var_args_schema)
        return {**made, NAMES: [one["name"] for one in arguments]}


def _paths(alias: Any) -> list[list[str | int]]:
    if isinstance(alias, str):
        return [[alias]]
    parts = cast("list[Any]", alias)
    return [list(path) for path in parts] if parts and is_list(parts[0]) else [parts]


def schema_with_aliases(adapter: TypeAdapter[Any]) -> JsonSchema:
    """Return the JSON Schema of a type, with the other names of its fields."""
    return adapter.json_schema(schema_generator=_AliasSchemaGenerator)


def without_aliases(schema: Any) -> Any:
    """Return the schema as pydantic writes it, without the names that llmcore added."""
    if is_object(schema):
        return {key: without_aliases(part) for key, part in schema.items() if key not in (ALIASES, NAMES, TITLE)}
    return [without_aliases(part) for part in schema] if is_list(schema) else schema


def needs_field_names(schema: Any) -> bool:
    """Whether pydantic does not read some property by the name in its schema. It must then be read by the field's name."""
    if is_list(schema):
        return any(map(needs_field_names, schema))
    if not is_object(schema):
        return False
    properties = schema.get("properties")
    for name, part in properties.items() if is_object(properties) else ():
        if is_object(part) and [name] not in part.get(ALIASES, [[name]]):
            return True
    return any(map(needs_field_names, schema.values()))


def with_schema_names(value: Any, schema: CompiledSchema, subschema: Any) -> tuple[Any, list[Repair]]:
    """Return the value with each field under its name in the schema, and a repair for each moved field, outer ones first.

    A repair's `before` is the old path. The given value is not changed; it must have been surveyed.
    """
    moves: list[Repair] = []
    return (_Renaming(schema, moves).named(value, subschema, ()), moves) if schema.has_aliases else (value, moves)


class _Renaming:
    def __init__(self, schema: CompiledSchema, moves: list[Repair]) -> None:
        self.schema, self.moves = schema, moves

    def named(self, value: Any, subschema: Any, path: Path) -> Any:
        view = view_of(self.schema, subschema)
        if is_object(value):
            renamed = self._moved(value, view, path)
            inner: Any = {key: self.named(item, view.value_schema(key), (*path, key)) for key, item in renamed.items()}
        elif is_list(value):
            inner = [self.named(item, view.item_schema(index), (*path, index)) for index, item in enumerate(value)]
        else:
            return value
        return self._of_alternatives(inner, view.branches, path) if view.branches else inner

    def _of_alternatives(self, value: Any, branches: list[Any], path: Path) -> Any:
        """The value as the first alternative that it then fits; else as the one with most matching names."""
        best, most = value, list[Repair]()
        for branch in branches:
            tried = _Renaming(self.schema, [])
            made = tried.named(value, branch, path)
            if self.schema.is_valid(made, at=branch):
                self.moves += tried.moves
                return made
            if len(tried.moves) > len(most):
                best, most = made, tried.moves
        self.moves += most
        return best

    def _moved(self, value: dict[str, Any], view: View, path: Path) -> dict[str, Any]:
        """Each field's value from the first of its paths that exists, as pydantic does."""
        made, emptied = dict(value), set[str]()
        for name, part in view.properties.items():
            aliases: list[list[str | int]] = part.get(ALIASES, []) if is_object(part) else []
            source = next((alias for alias in aliases if _exists(alias, value)), None)
            if source is None or source == [name]:
                continue
            emptied.add(str(source[0]))
            made[name] = _value_at(source, value)
            self.moves.append(Repair(kind="alias", path=join_path((*path, name)), before=join_path((*path, *source)), after=name))
        for key in emptied - set(view.properties):
            del made[key]
        return made


def _exists(path: Sequence[str | int], value: Any) -> bool:
    try:
        _value_at(path, value)
    except (KeyError, IndexError, TypeError):
        return False
    return True


def _value_at(path: Sequence[str | int], value: Any) -> Any:
    for step in path:
        if isinstance(value, str):
            raise TypeError("a text has no parts")
        value = value[step]
    return value
