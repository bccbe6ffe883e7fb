"""Converting the type names of other languages, and Gemini's numbers and upper case, to those of JSON Schema.

Published tool sets write `float`, `dict`, `List[str]` or `STRING` where JSON Schema has `number`, `object`, `array` or `string`.
`ToolDefinition` converts them when it is made, so all other code sees standard names.
"""

from __future__ import annotations

import re
from typing import Any

from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types.errors import ToolDefinitionError
from llmcore.types.schemas.schema_shape import check_schema_shape

__all__ = ["TYPES", "standard_schema", "standard_type"]

TYPES = ("null", "integer", "number", "boolean", "object", "array", "string")
_STANDARD = (*TYPES, None)

_NAMES: dict[str, str | None] = {
    name: standard
    for standard, names in {
        "null": "null none nonetype nil void undefined",
        "integer": "integer int long short byte bigint biginteger int8 int16 int32 int64 uint uint8 uint16 uint32 uint64",
        "number": "number num float double real decimal numeric float16 float32 float64 bigdecimal",
        "boolean": "boolean bool",
        "object": "object dict dictionary map mapping hashmap hashtable struct",
        "array": "array list tuple set frozenset sequence arraylist vector queue stack",
        "string": "string str text char character varchar",
        None: "any type_unspecified",
    }.items()
    for name in names.split()
}
_GEMINI_NUMBERS = (None, "string", "number", "integer", "boolean", "array", "object", "null")  # of its enum
_GENERIC = lazy_regex(r"(?P<name>\w{1,32})\s?[\[<(].{1,200}[\])>]|(?P<items>.{1,200})\[\]", re.DOTALL)

_ONE = ("additionalProperties", "unevaluatedProperties", "unevaluatedItems", "additionalItems", "items", "contains",
        "propertyNames", "not", "if", "then", "else", "contentSchema")  # fmt: skip
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems", "items")
_WITH_SCHEMAS = frozenset({*_ONE, *_LISTS})
_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")

COUNTS = (
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
)
"""The keywords of JSON Schema whose values are counts."""


def count_of(value: Any) -> Any:
    """The value of a keyword of `COUNTS` as a number: Gemini writes int64 as text. Anything else is returned unchanged."""
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10 else value


def standard_type(declared: Any) -> Any:
    """The value of `type` with standard names; None if it admits any value. What is no type is returned unchanged."""
    if is_list(declared):
        names = [standard_type(name) for name in declared]
        return None if None in names else list(dict.fromkeys(names)) if all(isinstance(name, str) for name in names) else names
    if isinstance(declared, int) and not isinstance(declared, bool) and 0 < declared < len(_GEMINI_NUMBERS):
        return _GEMINI_NUMBERS[declared]
    if not isinstance(declared, str):
        return declared
    name = declared.strip().lower()
    if name not in _NAMES and (generic := _GENERIC.fullmatch(name)) is not None:
        name = generic["name"] or "array"
    return _NAMES.get(name, declared)


def standard_schema(schema: Any) -> Any:
    """The schema with standard type names and with numbers as counts: a copy, or the schema itself if nothing differs.

    A schema that `check_schema_shape` refuses is returned unchanged.
    """
    if not _needs_change(schema):
        return schema
    try:
        check_schema_shape(schema)
    except ToolDefinitionError:
        return schema
    return _standard(schema, {})


def _needs_change(schema: Any) -> bool:
    """Whether the schema has another type name, or a count that is no number. Visits each object once."""
    waiting, seen = [schema], set[int]()
    while waiting:
        part = waiting.pop()
        if not is_object(part) or id(part) in seen:
            continue
        seen.add(id(part))
        for key, value in part.items():
            if key == "type":
                if value not in _STANDARD and standard_type(value) != value:
                    return True
            elif key in _WITH_SCHEMAS:
                waiting += value if is_list(value) else (value,)
            elif key in _MAPS:
                waiting += value.values() if is_object(value) else ()
            elif key in COUNTS and count_of(value) != value:
                return True
    return False


def _standard(schema: Any, done: dict[int, Any]) -> Any:
    """A copy of the schema with standard names. A shared object is copied once."""
    if not is_object(schema):
        return schema
    if id(schema) in done:
        return done[id(schema)]
    made: dict[str, Any] = dict(schema)
    if "type" in made and made["type"] is not None and (named := standard_type(made["type"])) != made["type"]:
        if named is None:
            del made["type"]
        else:
            made["type"] = named
    for key in COUNTS:
        if key in made:
            made[key] = count_of(made[key])
    for key in _ONE:
        if is_object(inner := made.get(key)):
            made[key] = _standard(inner, done)
    for key in _LISTS:
        if is_list(inner := made.get(key)):
            made[key] = [_standard(item, done) for item in inner]
    for key in _MAPS:
        if is_object(inner := made.get(key)):
            made[key] = {name: _standard(item, done) for name, item in inner.items()}
    done[id(schema)] = made
    return made
