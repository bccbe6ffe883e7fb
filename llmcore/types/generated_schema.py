"""pydantic's JSON Schema of a type, as JSON: what a type says that JSON has no form for is left out.

A default is told only where it is what arrives, should a model send it: models fill in the defaults that they are told. So none
is told that JSON cannot hold, that is a secret (which is written as stars), or that the type reads back as something else.
"""

from __future__ import annotations

import json
import math
import typing
from collections.abc import Callable, Sequence
from typing import Any, cast

from pydantic import BaseModel, PydanticUserError, SecretBytes, SecretStr
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic.types import Secret
from pydantic_core import PydanticOmit, PydanticSerializationError, SchemaValidator, core_schema, to_jsonable_python

from llmcore.types.annotations import description_in, unqualified
from llmcore.types.merged_keys import is_foreign, parts_of
from llmcore.types.narrowing import is_list, is_object
from llmcore.types.tools import JsonSchema

__all__ = ["GeneratedSchema", "UnwritableSchema", "said_by"]

_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_SECRETS = (SecretStr, SecretBytes, Secret)
_READ_AS_THEY_ARE: dict[str, set[type]] = {
    "str": {str},
    "int": {int},
    "float": {float, int},
    "bool": {bool},
    "nullable": {type(None)},
}
"""By part of a type: plain values that it makes of themselves, which most defaults are."""


class UnwritableSchema(PydanticInvalidForJsonSchema):
    """What a type says raises an error of its own where its JSON Schema is made. `path`: the fields in which it stands."""

    def __init__(self, path: Sequence[str], said: str) -> None:
        self.path, self.said = path, said
        super().__init__(f"its field {'.'.join(path)!r} raises {said}." if path else f"it raises {said}.")

    def __str__(self) -> str:
        return self.message  # without the address of a page about another error


class GeneratedSchema(GenerateJsonSchema):
    """`math.inf` is a good default and bound in Python. As a bound it bounds nothing; as a default it is told as little as any
    other object that JSON cannot hold."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012  (pydantic declares it so)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._field_names: dict[int, str] = {}
        self._classes: list[object] = []
        """Those whose fields are being described, outer ones first."""
        self._shared_parts: list[Any] = []
        """What parts of the type refer to: pydantic's definitions."""

    def encode_default(self, dft: Any) -> Any:
        try:
            if _is_unwritable(to_jsonable_python(dft, inf_nan_mode="constants")):  # within containers pydantic writes null
                raise PydanticSerializationError("JSON has no infinity")
            return super().encode_default(dft)
        except PydanticSerializationError:
            raise
        except Exception as error:  # bytes that are no text, what holds itself, a serializer of the caller's
            raise PydanticSerializationError(f"it has no JSON form: {type(error).__name__}") from error  # so it is left out

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchema:
        made: JsonSchema = super().default_schema(schema)
        if "default" in made:
            default = self.get_default_value(schema)
            if _holds_secret(default, ()) or not self._is_read_back(made["default"], default, schema["schema"]):
                return {key: part for key, part in made.items() if key != "default"}
        return made

    def _is_read_back(self, told: Any, default: Any, kind: Any) -> bool:
        """Does the type make the default of what is told of it? True also where only code of the caller's would know."""
        if default.__class__ in _READ_AS_THEY_ARE.get(kind["type"], set()) and (default is None or len(kind) == 1):
            return True
        parts = [*parts_of(kind)]
        references = any(part.get("type") == "definition-ref" for part in parts)
        if any(map(_calls_foreign, [*parts, *parts_of(self._shared_parts)] if references else parts)):
            return True
        try:
            whole = core_schema.definitions_schema(kind, self._shared_parts) if references else kind
            return bool(SchemaValidator(whole).validate_json(json.dumps(told)) == default)
        except Exception:  # it does not take what is told; or they compare as they like
            return False

    def definitions_schema(self, schema: core_schema.DefinitionsSchema) -> JsonSchema:
        self._shared_parts = [*schema["definitions"]]
        return super().definitions_schema(schema)

    def _named_required_fields_schema(self, named_required_fields: Sequence[tuple[str, bool, Any]]) -> JsonSchema:
        self._field_names |= {id(field): name for name, _, field in named_required_fields}
        told = _told_of_fields(self._classes[-1]) if self._classes else {}
        made: JsonSchema = super()._named_required_fields_schema(named_required_fields)
        for name, _, field in named_required_fields if told else ():
            part = made["properties"].get(self._get_alias_name(field, name) if self.by_alias else name)
            if part is not None and name in told:
                part.setdefault("description", told[name])
        return made

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchema:
        return self._of_class(schema, super().model_schema)

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchema:
        return self._of_class(schema, super().dataclass_schema)

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchema:
        return self._of_class(schema, super().typed_dict_schema)

    def _of_class(self, schema: Any, made: Callable[[Any], JsonSchema]) -> JsonSchema:
        self._classes.append(schema.get("cls"))
        try:
            return made(schema)
        finally:
            self._classes.pop()

    def generate_inner(self, schema: Any) -> JsonSchema:
        name = self._field_names.get(id(schema))
        try:
            made: JsonSchema = super().generate_inner(schema)
        except UnwritableSchema as error:
            if name is None:
                raise
            raise UnwritableSchema([name, *error.path], error.said) from error.__cause__
        except (PydanticUserError, PydanticOmit):
            raise
        except Exception as error:
            raise UnwritableSchema([] if name is None else [name], said_by(error)) from error
        for key in _NUMBERS:
            if _is_unwritable(made.get(key)):
                del made[key]
        if is_list(examples := made.get("examples")) and any(map(_is_unwritable, examples)):
            made["examples"] = [example for example in examples if not _is_unwritable(example)]
        return made


def _told_of_fields(kind: object) -> dict[str, str]:
    """The descriptions that pydantic does not read: `Annotated[int, "text"]`, `Annotated[int, Doc("text")]`."""
    said: dict[str, Sequence[object]]
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        fields: dict[str, FieldInfo] = getattr(kind, "__pydantic_fields__", {})  # BaseModel itself has none
        said = {name: field.metadata for name, field in fields.items() if field.description is None}
    else:
        try:
            hints = typing.get_type_hints(kind, include_extras=True) if kind is not None else {}
        except Exception:  # names that only pydantic resolves
            return {}
        said = {name: getattr(unqualified(hint), "__metadata__", ()) for name, hint in hints.items()}
    return {name: text for name, parts in said.items() if (text := description_in(parts)) is not None}


def _is_unwritable(value: Any) -> bool:
    """Does JSON data hold a number that JSON has not?"""
    if is_object(value):
        return any(map(_is_unwritable, value.values()))
    if is_list(value):
        return any(map(_is_unwritable, value))
    return isinstance(value, float) and not math.isfinite(value)


def _holds_secret(value: Any, around: tuple[int, ...]) -> bool:
    """Is there one of pydantic's secrets in it, at any depth?"""
    if isinstance(value, _SECRETS):
        return True
    own = id(cast("object", value))
    if own in around:
        return False
    inside: Any = ()
    if is_object(value):
        inside = value.values()
    elif isinstance(value, list | tuple | set | frozenset):
        inside = cast("Sequence[Any]", value)
    elif isinstance(value, BaseModel) or hasattr(value, "__dataclass_fields__"):
        inside = getattr(value, "__dict__", {}).values()
    return any(_holds_secret(item, (*around, own)) for item in inside)


def _calls_foreign(part: dict[str, Any]) -> bool:
    """Would reading this part run code of the caller's?"""
    functions = [part.get(key) for key in ("function", "default_factory", "discriminator")]
    return bool(part.get("post_init") or part.get("custom_init")) or any(callable(one) and is_foreign(one) for one in functions)


def said_by(error: Exception) -> str:
    """The class of an error, which may be the caller's, and its words."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__
