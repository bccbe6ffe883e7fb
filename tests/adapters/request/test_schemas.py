"""Schemas in each provider's dialect: what is kept, what becomes words, and what comes back."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmcore.adapters.request.schemas import DIALECTS, MAX_NODES, Loss, restore, transform
from llmcore.support.values.narrowing import is_list, is_object, object_in

HARD: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "kind": {"const": "z"},
        "level": {"type": "integer", "enum": [1, 2]},
        "mail": {"type": ["string", "null"], "minLength": 2, "format": "email", "default": None},
        "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]},
        "either": {"oneOf": [{"type": "string", "pattern": "^a"}, {"type": "integer", "exclusiveMinimum": 3}]},
        "prices": {"type": "object", "additionalProperties": {"type": "number"}},
        "node": {"$ref": "#/$defs/Node", "description": "A list."},
        "free": True,
        "both": {"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}]},
    },
    "required": ["kind"],
    "additionalProperties": False,
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {
                "value": {"type": "string"},
                "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
            },
            "required": ["value"],
        }
    },
}
PLAIN: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}


def properties(dialect: str) -> dict[str, Any]:
    found: dict[str, Any] = transform(HARD, dialect).schema["properties"]
    return found


def keywords(schema: Any) -> set[str]:
    """Every keyword in use, names of properties and definitions apart."""
    if is_list(schema):
        return {word for item in schema for word in keywords(item)}
    found: set[str] = set()
    for key, value in object_in(schema).items():
        inside: Any = list(value.values()) if key in ("properties", "$defs") and is_object(value) else value
        found |= {key} | (set() if key in ("enum", "required") else keywords(inside))
    return found


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_given_schema_is_never_changed(dialect: str) -> None:
    before = copy.deepcopy(HARD)
    transform(HARD, dialect)
    assert before == HARD


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_plain_schema_loses_nothing(dialect: str) -> None:
    found = transform(PLAIN, dialect)
    assert found.lossless
    without = {"additionalProperties"} if dialect == "gemini" else set[str]()
    assert found.schema == {key: value for key, value in PLAIN.items() if key not in without}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_was_transformed_stays_as_it_is(dialect: str) -> None:
    once = transform(HARD, dialect).schema
    assert transform(once, dialect).schema == once


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_result_is_a_json_schema(dialect: str) -> None:
    jsonschema.Draft202012Validator.check_schema(transform(HARD, dialect).schema)


def test_gemini_keeps_every_meaning_in_its_subset() -> None:
    found = properties("gemini")
    assert found["kind"] == {"type": "string", "enum": ["z"]}
    assert found["level"] == {"type": "integer", "description": "one of 1, 2"}
    assert found["mail"]["anyOf"][0] == {"type": "string", "minLength": 2, "description": 'format: "email"'}
    assert found["pair"]["items"] == {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    assert (found["pair"]["minItems"], found["pair"]["maxItems"]) == (2, 2)
    assert found["either"]["anyOf"][1] == {"type": "integer", "description": "exclusiveMinimum: 3"}
    assert found["prices"]["items"]["properties"]["value"] == {"type": "number"}
    assert found["node"]["description"] == "A list."
    assert found["free"]["type"] == "string"
    allowed = {
        *("type", "properties", "required", "description", "enum", "items", "anyOf", "pattern"),
        *("minItems", "maxItems", "minLength"),
    }
    assert keywords(transform(HARD, "gemini").schema) <= allowed


def test_recursion_is_unrolled_and_then_told_in_words() -> None:
    node = properties("gemini")["node"]
    inner = node["properties"]["next"]["anyOf"][0]
    last = inner["properties"]["next"]["anyOf"][0]
    assert inner["properties"]["value"] == {"type": "string"}
    assert last == {"type": "object", "description": "recursive: the same shape as Node"}


@pytest.mark.parametrize("dialect", ["inline_defs", "anthropic_inline", "anthropic_strict"])
def test_no_reference_is_left_whose_definition_is_not_sent(dialect: str) -> None:
    found = json.dumps(transform(HARD, dialect).schema)
    assert "$ref" not in found
    assert "$defs" not in found
    assert "recursive: the same shape as Node" in found


@pytest.mark.parametrize("dialect", ["inline_defs", "anthropic_inline"])
def test_what_is_left_of_recursion_takes_what_the_definition_took(dialect: str) -> None:
    tree: dict[str, Any] = {
        "type": "object",
        "properties": {"result": {"$ref": "#/$defs/Tree"}, "expr": {"$ref": "#/$defs/Expr"}},
        "$defs": {
            "Tree": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
            "Expr": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/Expr"}}]},
        },
    }
    sent = transform(tree, dialect).schema
    values: list[Any] = [[[[[]]]], []]
    for value in values:
        jsonschema.validate({"result": value, "expr": [[[1]]]}, sent)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"result": {}}, sent)


def test_mutual_recursion_does_not_explode() -> None:
    names = [f"D{number}" for number in range(8)]
    everyone = {name: {"$ref": f"#/$defs/{name}"} for name in names}
    schema = {"$ref": "#/$defs/D0", "$defs": {name: {"type": "object", "properties": everyone} for name in names}}
    found = transform(schema, "gemini").schema

    def size(part: Any) -> int:
        return 1 + sum(size(inner) for inner in part.get("properties", {}).values())

    assert size(found) < MAX_NODES * 10


def test_openai_strict_closes_objects_and_requires_all() -> None:
    found = transform(HARD, "openai_strict")
    assert found.schema["required"] == list(HARD["properties"])
    assert found.schema["additionalProperties"] is False
    assert found.schema["$defs"]["Node"]["required"] == ["value", "next"]
    assert found.schema["properties"]["node"]["anyOf"][0]["anyOf"] == [{"$ref": "#/$defs/Node"}]  # no siblings of $ref
    assert not keywords(found.schema) & {"oneOf", "allOf", "minLength", "default", "prefixItems", "$schema"}
    assert Loss("/properties/mail", "minLength", 2) in found.losses
    assert Loss("/properties/level", "optional", "as null") in found.losses


def test_a_lost_constraint_is_told_to_the_model() -> None:
    mail = properties("openai_strict")["mail"]
    assert mail["description"] == "minLength: 2 (default: null)"
    described = transform({"type": "string", "description": "A name.", "minLength": 2}, "openai_strict").schema
    assert described["description"] == "A name. (minLength: 2)"


def test_anthropic_takes_schemas_as_they_are_but_for_the_root() -> None:
    rooted = {"$ref": "#/$defs/Node", "$defs": HARD["$defs"]}
    found = transform(rooted, "anthropic").schema
    assert found["properties"]["value"] == {"type": "string"}
    assert found["$defs"] == HARD["$defs"]
    assert transform(HARD, "anthropic").schema == HARD


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "gemini", "openai_strict"])
def test_a_root_of_branches_becomes_one_object(dialect: str) -> None:
    schema = {
        "anyOf": [
            {
                "type": "object",
                "properties": {"id": {"type": "integer"}, "by": {"type": "string"}},
                "required": ["id", "by"],
            },
            {
                "type": "object",
                "properties": {"name": {"type": "string"}, "by": {"type": "string"}},
                "required": ["by", "name"],
            },
        ]
    }
    before = copy.deepcopy(schema)
    found = transform(schema, dialect)
    assert schema == before
    assert found.schema["type"] == "object"
    assert set(found.schema["properties"]) == {"id", "name", "by"}
    assert Loss("", "anyOf", 2) in found.losses
    if dialect != "openai_strict":
        assert found.schema["required"] == ["by"]


def test_restore_undoes_pairs_and_nulls() -> None:
    written = {
        "kind": "z",
        "prices": [{"key": "a", "value": 1.5}, {"key": "b", "value": 2}],
        "level": None,
        "mail": None,
        "node": {"value": "x", "next": None},
        "unknown": None,
    }
    assert restore(HARD, written) == {
        "kind": "z",
        "prices": {"a": 1.5, "b": 2},
        "mail": None,  # null is one of its own values
        "node": {"value": "x", "next": None},
        "unknown": None,
    }


def test_restore_leaves_what_is_no_pair() -> None:
    assert restore(HARD, {"prices": [{"key": "a"}]}) == {"prices": [{"key": "a"}]}
    assert restore(HARD, "text") == "text"


@given(
    st.fixed_dictionaries(
        {"kind": st.just("z")},
        optional={
            "level": st.sampled_from([1, 2]),
            "mail": st.none() | st.emails(),
            "prices": st.dictionaries(st.text(), st.floats(allow_nan=False)),
            "node": st.fixed_dictionaries({"value": st.text()}, optional={"next": st.none()}),
        },
    )
)
def test_restore_changes_no_valid_value(value: Any) -> None:
    assert restore(HARD, value) == value


@given(st.recursive(st.none() | st.booleans() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_restore_never_raises(value: Any) -> None:
    restore(HARD, value)
