"""Instances of schemas, for properties: what a conforming model could answer.

Own, since hypothesis-jsonschema 0.23 draws objects through an internal of Hypothesis that is gone. Covers the keywords the
tests use: type, enum, const, anyOf, properties, required, additionalProperties, items, uniqueItems, minimum, maxProperties.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import JsonSchema
from llmcore.validator.schema.keywords import json_key

__all__ = ["instances"]

_TEXT = st.text(max_size=8)


def instances(schema: JsonSchema) -> st.SearchStrategy[Any]:
    """Values that fit `schema`."""
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "anyOf" in schema:
        return st.one_of([instances(branch) for branch in schema["anyOf"]])
    declared = schema["type"] if is_list(schema["type"]) else [schema["type"]]
    return st.one_of([_of_type(name, schema) for name in declared])


def _of_type(name: str, schema: JsonSchema) -> st.SearchStrategy[Any]:
    if name == "object":
        return _objects(schema)
    if name == "array":
        unique = json_key if schema.get("uniqueItems") else None
        return st.lists(instances(schema["items"]), max_size=4, unique_by=unique)
    least = schema.get("minimum")
    scalars: dict[str, st.SearchStrategy[Any]] = {
        "integer": st.integers(min_value=least),
        "number": st.floats(min_value=least, allow_nan=False, allow_infinity=False) | st.integers(min_value=least),
        "string": _TEXT,
        "boolean": st.booleans(),
        "null": st.none(),
    }
    return scalars[name]


def _objects(schema: JsonSchema) -> st.SearchStrategy[dict[str, Any]]:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    named = st.fixed_dictionaries(
        {key: instances(properties[key]) for key in required},
        optional={key: instances(inner) for key, inner in properties.items() if key not in required},
    )
    extra = schema.get("additionalProperties")
    if not is_object(extra):
        return named
    return st.dictionaries(_TEXT, instances(extra), max_size=schema.get("maxProperties", 3))
