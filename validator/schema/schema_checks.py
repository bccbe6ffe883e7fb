"""Checks the keywords of one subschema. Errors name the place and, if possible, the fix.

jsonschema's `check_schema` takes 1.8 ms, refuses legal ECMA patterns, and recurses as deep as the schema. These checks look
at one subschema, and `drafts` calls them for each.
"""

from __future__ import annotations

import difflib
from typing import Any

from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import JsonSchema, ToolDefinitionError
from llmcore.types.schemas.type_names import COUNTS
from llmcore.validator.schema.patterns import PatternError, compile_pattern
from llmcore.validator.schema.problems import join_path, shown_value
from llmcore.validator.schema.references import IN_PLACE_LISTS, Path

__all__ = ["LISTS", "MAPS", "SINGLE", "TYPES", "check_keywords", "check_root", "schema_error"]

TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")

LISTS = (*IN_PLACE_LISTS, "prefixItems")
SINGLE = (
    "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "items", "contains", "propertyNames", "not",
    "if", "then", "else", "contentSchema",
)  # fmt: skip
MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_VOCABULARY = frozenset((*LISTS, *MAPS, *COUNTS, *SINGLE, "dependencies", "default", "const", "example", "discriminator"))
_TYPE_KEYWORDS = frozenset(("type", "$ref", "anyOf", "oneOf", "allOf", "enum", "properties"))
_ANNOTATIONS = frozenset(("title", "description", "examples", "format", "pattern", "required"))
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


def schema_error(path: Path, message: str) -> ToolDefinitionError:
    return ToolDefinitionError(f"{join_path(path) or 'the schema'}: {message}")


def check_keywords(schema: JsonSchema, path: Path) -> None:
    """Raises `ToolDefinitionError` for a keyword with an invalid value."""
    _check_type(schema, path)
    for keyword in ("$ref", "pattern", "format", "title", "description"):
        if keyword in schema and not isinstance(schema[keyword], str):
            raise schema_error((*path, keyword), f"must be a string, got {shown_value(schema[keyword])}")
    for keyword in COUNTS:
        if keyword in schema and not _is_count(schema[keyword]):
            raise schema_error((*path, keyword), f"must be a whole number of at least 0, got {shown_value(schema[keyword])}")
    for keyword in (*_BOUNDS, "multipleOf"):
        if keyword in schema and not _is_number(schema[keyword]):
            raise schema_error((*path, keyword), f"must be a number, got {shown_value(schema[keyword])}")
    if "multipleOf" in schema and schema["multipleOf"] <= 0:
        raise schema_error((*path, "multipleOf"), "must be greater than 0")
    _check_containers(schema, path)
    _check_patterns(schema, path)
    if _TYPE_KEYWORDS.isdisjoint(schema):
        _check_misspelt(schema, path)


def _check_misspelt(schema: JsonSchema, path: Path) -> None:
    """Refuse a schema that seems to misspell a type keyword, since it would accept any value. Other unknown keywords are
    allowed."""
    for key in schema:
        if key in _VOCABULARY or key in _ANNOTATIONS or key.startswith(("$", "x-")):
            continue
        if meant := next(iter(difflib.get_close_matches(key, _TYPE_KEYWORDS, 1, 0.8)), None):
            raise schema_error((*path, key), f"unknown keyword; did you mean {meant!r}?")


def check_root(schema: JsonSchema) -> None:
    """Raises `ToolDefinitionError` for a root schema that is only a mapping of properties, or that misspells `properties`.

    Such a schema would accept any value. Other unknown keywords, such as `x-order`, are allowed.
    """
    if "properties" in schema:
        return
    for key, value in schema.items():
        if key in _VOCABULARY or not is_object(value):
            continue
        if difflib.get_close_matches(key.lower(), ["properties"], 1, 0.8):
            raise schema_error((key,), "unknown keyword; did you mean 'properties'?")
        if not key.startswith(("$", "x-")) and not _TYPE_KEYWORDS.isdisjoint(value):
            raise schema_error((key,), "a property stands under 'properties': {'type': 'object', 'properties': {...}}")


def _is_count(value: Any) -> bool:
    return (
        not isinstance(value, bool)
        and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))
        and value >= 0
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _check_type(schema: JsonSchema, path: Path) -> None:
    if "type" not in schema:
        return
    declared = schema["type"]
    for name in declared if is_list(declared) else [declared]:
        if name not in TYPES:
            raise schema_error(
                (*path, "type"), f"unknown type {shown_value(name)}{_type_hint(name)}; the types are {', '.join(TYPES)}"
            )
    if is_list(declared) and not declared:
        raise schema_error((*path, "type"), "an empty list of types admits nothing")


def _type_hint(name: Any) -> str:
    if not isinstance(name, str):
        return ""
    lowered = name.lower()
    guess = next(iter(difflib.get_close_matches(lowered[:40], TYPES, 1)), None)
    return f", did you mean {guess!r}?" if guess else ""


def _check_containers(schema: JsonSchema, path: Path) -> None:
    for keyword in LISTS:
        if keyword in schema and not (is_list(schema[keyword]) and schema[keyword]):
            raise schema_error((*path, keyword), f"must be a non-empty list of schemas, got {shown_value(schema[keyword])}")
    for keyword in (*MAPS, "dependentRequired"):
        if keyword in schema and not is_object(schema[keyword]):
            raise schema_error((*path, keyword), f"must be an object, got {shown_value(schema[keyword])}")
    if "enum" in schema and not is_list(schema["enum"]):
        raise schema_error((*path, "enum"), f"must be a list of values, got {shown_value(schema['enum'])}")
    if "uniqueItems" in schema and not isinstance(schema["uniqueItems"], bool):
        raise schema_error((*path, "uniqueItems"), f"must be true or false, got {shown_value(schema['uniqueItems'])}")
    if "required" in schema:
        _check_names(schema["required"], (*path, "required"))
    for key, names in schema.get("dependentRequired", {}).items():
        _check_names(names, (*path, "dependentRequired", key))


def _check_names(names: Any, path: Path) -> None:
    if not is_list(names) or not all(isinstance(name, str) for name in names):
        raise schema_error(path, f"must be a list of property names, got {shown_value(names)}")


def _check_patterns(schema: JsonSchema, path: Path) -> None:
    patterns = [((*path, "pattern"), schema["pattern"])] if "pattern" in schema else []
    patterns += [((*path, "patternProperties"), pattern) for pattern in schema.get("patternProperties", {})]
    for where, pattern in patterns:
        try:
            compile_pattern(pattern)
        except (PatternError, RecursionError, OverflowError, ValueError) as error:
            raise schema_error(where, f"not a regular expression: {shown_value(pattern)} ({error})") from None
