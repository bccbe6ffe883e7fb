"""pydantic's JSON Schema of a type, without the parts that JSON cannot express.

Models send the defaults that a schema states. So the schema states a default only if the type reads it back as the same value. It
omits a default that JSON cannot express, and a secret, which pydantic writes as stars.
"""

from __future__ import annotations

import enum
import json
import math
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from pydantic import BaseModel, GetJsonSchemaHandler, PydanticUserError, SecretBytes, SecretStr
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic.types import Secret
from pydantic_core import PydanticOmit, PydanticSerializationError, SchemaValidator, core_schema, to_json, to_jsonable_python

from llmcore.support.values.annotations import description_in, unqualified
from llmcore.support.values.merged_keys import is_foreign, members_of
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types.schemas.schema_shape import JsonSchema

__all__ = ["GeneratedSchema", "UnwritableSchema", "error_text"]

_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_PLAIN_VALUES = (str, int, bool, type(None))
_CONTAINERS = frozenset({"tuple", "list", "set", "frozenset", "dict", "model", "dataclass", "typed-dict", "named-tuple"})
_MAX_FLAGS = 6
"""Six flags have 64 sums."""
_SECRETS = (SecretStr, SecretBytes, Secret)
_READ_UNCHANGED: dict[str, set[type]] = {
    "str": {str},
    "int": {int},
    "float": {float, int},
    "bool": {bool},
    "nullable": {type(None)},
}
"""By pydantic's type of a schema: the Python types of values that it reads unchanged. Most defaults are such values."""


class UnwritableSchema(PydanticInvalidForJsonSchema):
    """A type raises its own error while its JSON Schema is generated. `path`: the names of the fields down to it."""

    def __init__(self, path: Sequence[str], description: str) -> None:
        self.path, self.description = path, description
        super().__init__(f"its field {'.'.join(path)!r} raises {description}." if path else f"it raises {description}.")

    def __str__(self) -> str:
        return self.message  # without pydantic's link to a page about another error


class UnreadableSchema(UnwritableSchema):
    """A type admits a value that no JSON value is read as. `description`: the value and the fix."""

    def __init__(self, path: Sequence[str], description: str) -> None:
        super().__init__(path, description)
        where = f"its field {'.'.join(path)!r}" if path else "it"
        self.message = f"{where} {description}."


class GeneratedSchema(GenerateJsonSchema):
    """Generates the schema of this module. It omits `math.inf` as a bound and as a default, for JSON has no infinity."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012  (pydantic declares it so)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._field_names: dict[int, str] = {}
        self._classes: list[Any] = []
        """The classes whose fields are being generated, outer ones first."""
        self._shared_parts: list[Any] = []
        """pydantic's definitions, which parts of the type refer to."""

    def encode_default(self, dft: Any) -> Any:
        try:
            if _is_unwritable(to_jsonable_python(dft, inf_nan_mode="constants")):  # else pydantic writes null in containers
                raise PydanticSerializationError("JSON has no infinity")
            return super().encode_default(dft)
        except PydanticSerializationError:
            raise
        except Exception as error:  # bytes that are no UTF-8, a circular value, the caller's serializer
            raise PydanticSerializationError(f"it has no JSON form: {type(error).__name__}") from error  # pydantic omits it then

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchema:
        made: JsonSchema = super().default_schema(schema)
        if "default" in made:
            default = self.get_default_value(schema)
            if _holds_secret(default, ()) or not self._round_trips(made["default"], default, schema["schema"]):
                return {key: part for key, part in made.items() if key != "default"}
        return made

    def _round_trips(self, written: Any, default: Any, kind: Any) -> bool:
        """Whether the type reads the written default back as the same value. True if the caller's code would have to run."""
        if default.__class__ in _READ_UNCHANGED.get(kind["type"], set()) and (default is None or len(kind) == 1):
            return True
        parts = [*members_of(kind)]
        references = any(part.get("type") == "definition-ref" for part in parts)
        if any(map(_calls_foreign, [*parts, *members_of(self._shared_parts)] if references else parts)):
            return True
        try:
            whole = core_schema.definitions_schema(kind, self._shared_parts) if references else kind
            return bool(SchemaValidator(whole).validate_json(json.dumps(written)) == default)
        except Exception:  # from the validator, or from the value's `==`
            return False

    def definitions_schema(self, schema: core_schema.DefinitionsSchema) -> JsonSchema:
        self._shared_parts = [*schema["definitions"]]
        return super().definitions_schema(schema)

    def _named_required_fields_schema(self, named_required_fields: Sequence[tuple[str, bool, Any]]) -> JsonSchema:
        self._field_names |= {id(field): name for name, _, field in named_required_fields}
        descriptions = _field_descriptions(self._classes[-1]) if self._classes else {}
        made: JsonSchema = super()._named_required_fields_schema(named_required_fields)
        for name, _, field in named_required_fields if descriptions else ():
            part = made["properties"].get(self._get_alias_name(field, name) if self.by_alias else name)
            if part is not None and name in descriptions:
                part.setdefault("description", descriptions[name])
        return made

    def named_tuple_schema(self, schema: Any) -> JsonSchema:
        return _with_item_schemas(schema["cls"], schema["fields"], super().named_tuple_schema(schema))

    def call_schema(self, schema: Any) -> JsonSchema:
        """The schema of a call, by which older versions of pydantic build a named tuple."""
        fields = schema["arguments_schema"].get("arguments_schema", ())
        return _with_item_schemas(schema["function"], fields, super().call_schema(schema))

    def literal_schema(self, schema: core_schema.LiteralSchema) -> JsonSchema:
        made: JsonSchema = super().literal_schema(schema)
        _check_read(schema, schema["expected"])
        return made

    def enum_schema(self, schema: core_schema.EnumSchema) -> JsonSchema:
        made: JsonSchema = super().enum_schema(schema)
        if issubclass(schema["cls"], enum.Flag):
            return _flags_schema(schema["cls"], made)
        _check_read(schema, [member.value for member in schema["members"]])
        return made

    def _numbers_are_keys(self, schema: Any) -> bool:
        """Whether the keys of a mapping are numbers, read from text. Raises `UnreadableSchema` for keys that no text can be."""
        keys: Any = schema.get("keys_schema", {"type": "any"})
        while keys["type"] not in _CONTAINERS:
            shared = (part for part in self._shared_parts if part.get("ref") == keys.get("schema_ref"))
            inner = next(shared, None) if keys["type"] == "definition-ref" else keys.get("schema")
            if inner is None:
                break
            keys = inner
        if keys["type"] in _CONTAINERS:
            raise UnreadableSchema([], f"has keys of the kind {keys['type']}, and keys are texts in JSON; take a list of pairs")
        values: list[Any] = keys.get("expected") or [member.value for member in keys.get("members", ())]
        if issubclass(keys.get("cls", object), enum.Flag):
            values = [*values, sum(member.value for member in keys["cls"]), 0]
        others = [value for value in values if not isinstance(value, str)]
        _check_read(keys, others, as_keys=True)
        return bool(others)

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchema:
        return self._class_schema(schema, super().model_schema)

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchema:
        return self._class_schema(schema, super().dataclass_schema)

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchema:
        return self._class_schema(schema, super().typed_dict_schema)

    def _class_schema(self, schema: Any, made: Callable[[Any], JsonSchema]) -> JsonSchema:
        self._classes.append(schema.get("cls"))
        try:
            return made(schema)
        finally:
            self._classes.pop()

    def generate_inner(self, schema: Any) -> JsonSchema:
        name = self._field_names.get(id(schema))
        numbers_are_keys = False
        if schema["type"] == "enum" and issubclass(schema["cls"], enum.Flag):
            schema = _with_flag_members(schema)
        try:
            numbers_are_keys = self._numbers_are_keys(schema)
            made: JsonSchema = super().generate_inner(schema)
        except UnwritableSchema as error:
            if name is None:
                raise
            raise type(error)([name, *error.path], error.description) from error.__cause__
        except (PydanticUserError, PydanticOmit):
            raise
        except Exception as error:
            raise UnwritableSchema([] if name is None else [name], error_text(error)) from error
        if numbers_are_keys:
            made.pop("propertyNames", None)  # keys are texts
        for key in _NUMBERS:
            if _is_unwritable(made.get(key)):
                del made[key]
        if is_list(examples := made.get("examples")) and any(map(_is_unwritable, examples)):
            made["examples"] = [example for example in examples if not _is_unwritable(example)]
        return made


def _check_read(schema: Any, values: Sequence[Any], *, as_keys: bool = False) -> None:
    """Raises `UnreadableSchema` for a value that the type cannot read from its JSON form, or (`as_keys`) from that as a key."""
    for value in values:
        if type(value) in _PLAIN_VALUES and not as_keys:
            continue
        try:
            data = to_json(value)
            SchemaValidator(schema).validate_json(to_json(data.decode()) if as_keys else data)
        except Exception:  # from the validator, or a value without a JSON form
            where, fix = ("has keys such as", "text") if as_keys else ("admits", "plain")
            fix = f"derive an enum from str or int, or name {fix} values"
            if issubclass(schema.get("cls", object), enum.Flag):
                fix = "take a list of pairs, for several flags are no key"
            raise UnreadableSchema([], f"{where} {value!r}, which nothing in JSON is read as; {fix}") from None


def _flags_schema(kind: type[enum.Flag], made: JsonSchema) -> JsonSchema:
    """The schema of flags: an `enum` of all their sums, or a range if there are many flags."""
    bits = [member.value for member in kind if member.value]
    whole = {**{key: part for key, part in made.items() if key != "enum"}, "type": "integer"}
    if len(bits) > _MAX_FLAGS:
        return {**whole, "minimum": 0, "maximum": sum(bits)}
    sums = [0]
    for bit in bits:
        sums += [bit | partial_sum for partial_sum in sums]
    return {**whole, "enum": sorted({*sums, *(member.value for member in kind.__members__.values())})}


def _with_flag_members(schema: Any) -> Any:
    """The schema with the flags appended to its description. It is a last step, because pydantic sets the description late."""
    metadata: dict[str, Any] = schema.get("metadata") or {}
    functions: list[Any] = [*metadata.get("pydantic_js_functions", ()), _flag_schema]
    return {**schema, "metadata": {**metadata, "pydantic_js_functions": functions}}


def _flag_schema(schema: Any, handler: GetJsonSchemaHandler) -> JsonSchema:
    made = handler(schema)
    flags = ", ".join(f"{member.value} = {member.name}" for member in schema["cls"])
    own = handler.resolve_ref_schema(made)
    own["description"] = f"{own.get('description', '')}\n\nA sum of any of {flags}.".strip()
    return made


def _field_descriptions(kind: Any) -> dict[str, str]:
    """The descriptions that pydantic ignores: `Annotated[int, "text"]` and `Annotated[int, Doc("text")]`."""
    metadata: dict[str, Sequence[object]]
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        fields: dict[str, FieldInfo] = getattr(kind, "__pydantic_fields__", {})  # BaseModel itself has none
        metadata = {name: field.metadata for name, field in fields.items() if field.description is None}
    else:
        try:
            hints = typing.get_type_hints(cast("Any", kind), include_extras=True) if kind is not None else {}
        except Exception:  # names that only pydantic resolves
            return {}
        metadata = {name: getattr(unqualified(hint), "__metadata__", ()) for name, hint in hints.items()}
    return {name: text for name, parts in metadata.items() if (text := description_in(parts)) is not None}


def _with_item_schemas(kind: Any, fields: Iterable[Any], made: JsonSchema) -> JsonSchema:
    """The schema of a named tuple with the descriptions of its fields, which are items in their order."""
    descriptions = _field_descriptions(kind)
    for field, part in zip(fields, made.get("prefixItems", ()), strict=False):
        if field["name"] in descriptions:
            part.setdefault("description", descriptions[field["name"]])
    return made


def _is_unwritable(value: Any) -> bool:
    """Whether the data contains an infinity or NaN."""
    if is_object(value):
        return any(map(_is_unwritable, value.values()))
    if is_list(value):
        return any(map(_is_unwritable, value))
    return isinstance(value, float) and not math.isfinite(value)


def _holds_secret(value: Any, around: tuple[int, ...]) -> bool:
    """Whether the value contains one of pydantic's secrets at any depth."""
    if isinstance(value, _SECRETS):
        return True
    value_id = id(cast("object", value))
    if value_id in around:
        return False
    inside: Any = ()
    if is_object(value):
        inside = value.values()
    elif isinstance(value, list | tuple | set | frozenset):
        inside = cast("Sequence[Any]", value)
    elif isinstance(value, BaseModel) or hasattr(value, "__dataclass_fields__"):
        inside = getattr(value, "__dict__", {}).values()
    return any(_holds_secret(item, (*around, value_id)) for item in inside)


def _calls_foreign(part: dict[str, Any]) -> bool:
    """Whether reading this part runs code of the caller."""
    functions = [part.get(key) for key in ("function", "default_factory", "discriminator")]
    if part.get("post_init") or part.get("custom_init"):
        return True
    return any(callable(function) and is_foreign(function) for function in functions)


def error_text(error: Exception) -> str:
    """The class and message of an error, or only the class if its `__str__` fails."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__
