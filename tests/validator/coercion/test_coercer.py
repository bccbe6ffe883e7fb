"""The table of coercions: each row at each strictness, recorded, idempotent, and nothing beside it."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmcore.types import JsonSchema
from llmcore.validator.coercion.coercer import Strictness, coerce
from llmcore.validator.schema.compiled import compile_schema
from llmcore.validator.schema.quick import NAMES
from tests.validator.schemas import WEATHER, object_schema

STRICTNESSES: tuple[Strictness, ...] = ("off", "safe", "lenient")
INTEGER: JsonSchema = {"type": "integer"}
NUMBER: JsonSchema = {"type": "number"}
BOOLEAN: JsonSchema = {"type": "boolean"}
STRING: JsonSchema = {"type": "string"}
LIST: JsonSchema = {"type": "array", "items": INTEGER}
UNIT: JsonSchema = {"enum": ["Celsius", "Fahrenheit", "DEGREE_CELSIUS"]}
POINT = object_schema(x=INTEGER)
LEVEL: JsonSchema = {"enum": [1, 2], NAMES: ["LOW", "HIGH"]}
PAIR: JsonSchema = {"type": "array", "prefixItems": [INTEGER, STRING], "minItems": 1, "maxItems": 2, NAMES: ["a", "b"]}

UUID: JsonSchema = {"type": "string", "format": "uuid"}
ID = "0d0d0d0d-0d0d-0d0d-0d0d-0d0d0d0d0d0d"
DURATION: JsonSchema = {"type": "string", "format": "duration"}
DATE: JsonSchema = {"type": "string", "format": "date"}
TIME: JsonSchema = {"type": "string", "format": "date-time"}

Row = tuple[JsonSchema, Any, Any, str, str]

SAFE: list[Row] = [
    (INTEGER, "5", 5, "number_from_text", "coerced"),
    (INTEGER, " -5 ", -5, "number_from_text", "coerced"),
    (INTEGER, "5.0", 5, "number_from_text", "coerced"),
    (INTEGER, "12345678901234567890", 12345678901234567890, "number_from_text", "coerced"),
    (NUMBER, "2.5", 2.5, "number_from_text", "coerced"),
    (NUMBER, "1e3", 1000.0, "number_from_text", "coerced"),
    (BOOLEAN, "true", True, "boolean_from_text", "coerced"),
    (BOOLEAN, "False", False, "boolean_from_text", "coerced"),
    (STRING, 5, "5", "text_from_scalar", "coerced"),
    (STRING, 2.5, "2.5", "text_from_scalar", "coerced"),
    (STRING, True, "true", "text_from_scalar", "coerced"),
    ({"type": "string", "format": "uuid"}, "0D" * 16, "-".join(["0d" * 4, *["0d" * 2] * 3, "0d" * 6]), "uuid_hyphens", "coerced"),
    (UUID, f"urn:uuid:{ID}", ID, "uuid_hyphens", "coerced"),
    (UUID, f"{{{ID}}}", ID, "uuid_hyphens", "coerced"),
    (DURATION, 3600, "PT3600S", "duration_from_seconds", "coerced"),
    (DURATION, "-90.5", "-PT90.5S", "duration_from_seconds", "coerced"),
    (DATE, "2026-01-02T00:00:00", "2026-01-02", "date_of_midnight", "coerced"),
    (DATE, " 2026-01-02 00:00Z", "2026-01-02", "date_of_midnight", "coerced"),
    (DATE, "2026-01-02T00:00:00.000+05:00", "2026-01-02", "date_of_midnight", "coerced"),
    (DATE, 1767312000, "2026-01-02", "date_from_epoch", "coerced"),
    (TIME, 1767347100, "2026-01-02T09:45:00Z", "time_from_epoch", "coerced"),
    (TIME, "1767347100500", "2026-01-02T09:45:00.500000Z", "time_from_epoch", "coerced"),
    (LIST, "[1, 2]", [1, 2], "parsed_json", "coerced"),
    (POINT, '{"x": 1}', {"x": 1}, "parsed_json", "coerced"),
    (UNIT, " celsius", "Celsius", "allowed_value", "coerced"),
    ({"enum": [1, 2]}, "2", 2, "allowed_value", "coerced"),
    ({"enum": ["1", "2"]}, 2, "2", "allowed_value", "coerced"),
    ({"const": "Yes"}, "YES", "Yes", "allowed_value", "coerced"),
    (LEVEL, "high", 2, "named_value", "coerced"),
    ({"enum": [1, 2], NAMES: ["a", "A"]}, "A", 2, "named_value", "coerced"),
    (PAIR, {"b": "x", "a": 1}, [1, "x"], "items_by_name", "coerced"),
    (PAIR, {"a": 1}, [1], "items_by_name", "coerced"),
    (POINT, {"X": 1}, {"x": 1}, "renamed_key", "coerced"),
    (object_schema(user_name=STRING), {"userName": "a"}, {"user_name": "a"}, "renamed_key", "coerced"),
    (object_schema(user_name=STRING), {"user-name": "a"}, {"user_name": "a"}, "renamed_key", "coerced"),
    (POINT, {"arguments": {"x": 1}}, {"x": 1}, "peeled_wrapper", "coerced"),
    (POINT, {"properties": {"x": 1}}, {"x": 1}, "peeled_wrapper", "coerced"),
    (POINT, {"get_point": {"x": 1}}, {"x": 1}, "peeled_wrapper", "coerced"),
    ({"anyOf": [INTEGER, {"type": "null"}]}, "5", 5, "number_from_text", "coerced"),
    ({"type": ["integer", "null"]}, "5", 5, "number_from_text", "coerced"),
    ({"type": "object", "additionalProperties": INTEGER}, {"a": "5"}, {"a": 5}, "number_from_text", "coerced"),
    ({"allOf": [INTEGER, {"minimum": 3}]}, "5", 5, "number_from_text", "coerced"),
    (BOOLEAN, "yes", True, "boolean_from_word", "coerced"),
    (BOOLEAN, "**No.**", False, "boolean_from_word", "coerced"),
    (UNIT, "**fahrenheit**", "Fahrenheit", "allowed_value", "coerced"),
    (UNIT, "- `Fahrenheit`.", "Fahrenheit", "allowed_value", "coerced"),
]
LENIENT: list[Row] = [
    (LIST, 5, [5], "wrapped_in_list", "coerced"),
    (INTEGER, [5], 5, "only_item", "coerced"),
    (INTEGER, ["a", 5], 5, "only_item", "guess"),
    (INTEGER, "$1,234", 1234, "number_from_prose", "guess"),
    (INTEGER, "about 5", 5, "number_from_prose", "guess"),
    (NUMBER, "1/5", 0.2, "number_from_prose", "guess"),
    (INTEGER, 2.7, 3, "rounded", "guess"),
    (INTEGER, "2.5", 3, "rounded", "guess"),
    (INTEGER, -2.5, -3, "rounded", "guess"),
    (BOOLEAN, "I think it is true", True, "boolean_from_prose", "guess"),
    (LEVEL, "The priority is HIGH", 2, "named_value", "guess"),
    (UNIT, "in fahrenheit, please", "Fahrenheit", "allowed_value", "guess"),
    (UNIT, "degree celsius", "DEGREE_CELSIUS", "allowed_value", "guess"),
    ({"const": "Zürich"}, "zurich!", "Zürich", "allowed_value", "guess"),
    (POINT, 7, {"x": 7}, "wrapped_in_object", "guess"),
    (object_schema(word=STRING), "hello", {"word": "hello"}, "wrapped_in_object", "guess"),
    (INTEGER, {"value": 3}, 3, "unwrapped_object", "guess"),
    (object_schema(tags=LIST), {}, {"tags": []}, "empty_default", "guess"),
    (object_schema(map={"type": "object"}), {}, {"map": {}}, "empty_default", "guess"),
]
ROWS = [("safe", *row) for row in SAFE] + [("lenient", *row) for row in LENIENT]


@pytest.mark.parametrize(("needed", "schema", "value", "made", "kind", "safety"), ROWS)
def test_each_row_of_the_table(needed: str, schema: JsonSchema, value: Any, made: Any, kind: str, safety: str) -> None:
    compiled = compile_schema(schema)
    for strictness in STRICTNESSES:
        settled = coerce(value, compiled, strictness=strictness, wrapper="get_point")
        if STRICTNESSES.index(strictness) < STRICTNESSES.index(needed):
            assert settled.value == value
            assert settled.repairs == []
            assert settled.problems or compiled.is_valid(value)
        else:
            assert settled.value == made
            assert isinstance(settled.value, type(made))
            assert settled.problems == []
            assert [(repair.kind, repair.safety) for repair in settled.repairs] == [(kind, safety)]


@pytest.mark.parametrize(("needed", "schema", "value", "made", "kind", "safety"), ROWS)
def test_coercion_is_idempotent(needed: Strictness, schema: JsonSchema, value: Any, made: Any, kind: str, safety: str) -> None:
    again = coerce(made, compile_schema(schema), strictness="lenient", wrapper="get_point")
    assert again == (made, [], [])


@pytest.mark.parametrize("strictness", STRICTNESSES)
@pytest.mark.parametrize(
    ("schema", "value", "made"),
    [
        (INTEGER, 5.0, 5),
        (LIST, [1, 2.0], [1, 2]),
        (object_schema(x={"anyOf": [POINT, {"type": "null"}]}), {"x": {"x": 6.0}}, {"x": {"x": 6}}),
        ({"anyOf": [INTEGER, NUMBER]}, 5.0, 5.0),
        (NUMBER, 5.0, 5.0),
    ],
)
def test_a_whole_float_is_the_integer_it_is_at_every_strictness(
    schema: JsonSchema, value: Any, made: Any, strictness: Strictness
) -> None:
    settled = coerce(value, compile_schema(schema), strictness=strictness)
    assert settled.value == made
    assert repr(settled.value) == repr(made)
    assert settled.problems == []
    assert {(repair.kind, repair.safety) for repair in settled.repairs} <= {("whole_number", "lossless")}


@pytest.mark.parametrize("value", [1e30, 2.0**60, 2.5])
def test_a_float_of_which_no_integer_is_known_is_none(value: float) -> None:
    for strictness in ("off", "safe"):
        assert coerce(value, compile_schema(INTEGER), strictness=strictness).problems


def test_what_a_set_says_twice_is_dropped_and_recorded() -> None:
    unique = compile_schema({"type": "array", "uniqueItems": True, "items": {"type": "integer"}, "minItems": 2})
    made = coerce(["1", 2, 1, 2], unique)
    assert (made.value, made.problems) == ([1, 2], [])
    assert [repair.kind for repair in made.repairs] == ["number_from_text", "repeats_dropped"]
    assert coerce([1, 1], unique).problems  # one would be too few
    places = compile_schema({"type": "array", "uniqueItems": True, "prefixItems": [{}, {}]})
    assert coerce([1, 1], places).problems  # what stands at a place of its own is no repeat


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (INTEGER, "about 5 or 6"),
        (INTEGER, "+49 170 123"),
        (INTEGER, "2024-01-05"),
        (INTEGER, "v2"),
        (INTEGER, "five"),
        (INTEGER, "1/5"),
        (INTEGER, ""),
        (INTEGER, None),
        (INTEGER, True),
        (NUMBER, "1e400"),
        (NUMBER, "NaN"),
        (NUMBER, "1.2.3"),
        (BOOLEAN, "true or false"),
        (BOOLEAN, "that is not true"),
        (BOOLEAN, 1),
        (UNIT, "Celsius or Fahrenheit"),
        (UNIT, "not Celsius"),
        (UNIT, "Kelvin"),
        ({"enum": ["on", "off"]}, "Boston"),
        ({"anyOf": [{"const": "north"}, {"const": "south"}]}, "north or south"),
        (LEVEL, "MIDDLE"),
        (LEVEL, "LOW or HIGH"),
        (PAIR, {"a": 1, "c": "x"}),
        (PAIR, {"b": "x"}),
        (PAIR, {"a": 1, "b": "x", "c": 1}),
        (STRING, None),
        (STRING, {"a": {"b": 1}}),
        (POINT, "somewhere over there"),
        (INTEGER, {"a": {"b": 3}}),
        (INTEGER, [1, 2]),
        (object_schema(x=INTEGER), {}),
        (object_schema(x={"anyOf": [INTEGER, {"type": "null"}]}), {}),
        ({**object_schema(user_id=STRING), "additionalProperties": False}, {"userId": "a", "UserID": "b"}),
    ],
)
def test_what_is_not_in_the_table_is_refused_and_left_as_it_was(schema: JsonSchema, value: Any) -> None:
    settled = coerce(value, compile_schema(schema), strictness="lenient")
    assert settled.value == value
    assert settled.problems


def test_text_that_loses_something_as_a_number_is_no_number_under_safe() -> None:
    for text in ("007", "+5", "1,234", "0x1F", "5 %", "1_000", "٣"):
        assert coerce(text, compile_schema(INTEGER), strictness="safe").value == text


def test_a_value_that_fits_is_not_touched() -> None:
    schema = compile_schema({"anyOf": [STRING, INTEGER]})
    for strictness in STRICTNESSES:
        assert coerce("5", schema, strictness=strictness) == ("5", [], [])


def test_unions_take_what_fits_as_it_is_before_what_can_be_made_to_fit() -> None:
    cat, dog = object_schema(name=STRING, lives=INTEGER), object_schema(name=STRING, age=INTEGER)
    schema = compile_schema({"anyOf": [cat, dog]})
    settled = coerce({"name": "Rex", "age": "3"}, schema)
    assert settled.value == {"name": "Rex", "age": 3}


def test_nested_arrays_of_objects_are_coerced_with_their_paths() -> None:
    row = object_schema(id=INTEGER, when={"type": "string", "format": "date"}, on=BOOLEAN)
    schema = compile_schema(object_schema(rows={"type": "array", "items": row}))
    settled = coerce({"rows": [{"id": "1", "when": "2026-01-02", "on": "true"}, {"ID": 2, "when": "x", "on": True}]}, schema)
    assert settled.value["rows"][0] == {"id": 1, "when": "2026-01-02", "on": True}
    assert [repair.path for repair in settled.repairs] == ["rows[0].id", "rows[0].on", "rows[1].id"]
    assert [problem.path for problem in settled.problems] == ["rows[1].when"]
    assert datetime.date.fromisoformat(settled.value["rows"][0]["when"])


def test_an_item_that_does_not_fit_is_not_dropped() -> None:
    settled = coerce(["1", "x", 3], compile_schema(LIST), strictness="lenient")
    assert settled.value == [1, "x", 3]
    assert [problem.path for problem in settled.problems] == ["[1]"]


def test_a_key_the_schema_admits_is_not_renamed_or_peeled() -> None:
    schema = compile_schema({"type": "object", "properties": {"arguments": {"type": "object"}, "x": INTEGER}})
    assert coerce({"arguments": {"x": 1}}, schema).repairs == []


def test_recursive_schemas_do_not_wrap_for_ever() -> None:
    lists = compile_schema({"$ref": "#/$defs/A", "$defs": {"A": {"type": "array", "items": {"$ref": "#/$defs/A"}}}})
    assert coerce("x", lists, strictness="lenient").problems
    boxes = compile_schema({"type": "object", "properties": {"box": {"$ref": "#"}}, "required": ["box"]})
    assert coerce("x", boxes, strictness="lenient").problems


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
SCHEMAS = st.sampled_from([WEATHER, INTEGER, NUMBER, BOOLEAN, STRING, LIST, UNIT, POINT, {"anyOf": [POINT, LIST, STRING]}])


@given(value=JSON, schema=SCHEMAS, strictness=st.sampled_from(STRICTNESSES))
def test_any_value_settles_once_and_for_all(value: Any, schema: JsonSchema, strictness: Strictness) -> None:
    compiled = compile_schema(schema)
    first = coerce(value, compiled, strictness=strictness, wrapper="tool")
    assert first.problems == compiled.problems(first.value)
    second = coerce(first.value, compiled, strictness=strictness, wrapper="tool")
    assert second.value == first.value
    assert second.repairs == []


@pytest.mark.parametrize("value", [{"result": {"a": 1}}, {"a": {"result": 1}}, {"a": [{"b": 1}]}])
def test_a_key_within_a_mapping_is_never_dropped(value: dict[str, Any]) -> None:
    schema = compile_schema({"type": "object", "additionalProperties": {"type": "integer"}})
    assert coerce(value, schema, strictness="lenient").problems
