"""Properties over generated schemas and instances: valid ones are untouched, mutated ones repaired or refused."""

from __future__ import annotations

import json
import math
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import JsonSchema, OutputParseError, ToolDefinitionError
from llmcore.validator import parse, parse_detailed
from llmcore.validator.coercion.coercer import coerce
from llmcore.validator.schema.compiled import compile_schema
from llmcore.validator.schema.keywords import json_key
from tests.validator.instances import instances
from tests.validator.schemas import WEATHER, object_schema

STOCK: Any = jsonschema.Draft202012Validator
SCHEMAS: list[JsonSchema] = [
    WEATHER,
    object_schema(id={"type": "integer"}, rows={"type": "array", "items": WEATHER}, note={"type": ["string", "null"]}),
    {"type": "array", "items": {"anyOf": [{"type": "integer"}, WEATHER, {"type": "boolean"}]}, "uniqueItems": True},
    {"type": "object", "additionalProperties": {"type": "number", "minimum": 0}, "maxProperties": 5},
    object_schema(kind={"const": "a"}, big={"type": "integer", "minimum": 2**60}, level={"enum": [1, "two", None]}),
]
INSTANCES = st.sampled_from(range(len(SCHEMAS))).flatmap(
    lambda index: st.tuples(st.just(SCHEMAS[index]), instances(SCHEMAS[index]))
)
slow = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large])


def same(one: Any, other: Any) -> bool:
    return bool(json_key(one) == json_key(other))


@slow
@given(pair=INSTANCES)
def test_valid_instances_are_untouched(pair: tuple[JsonSchema, Any]) -> None:
    schema, value = pair
    settled = coerce(value, compile_schema(schema), strictness="lenient")
    assert settled.problems == []
    assert same(settled.value, value)
    assert all(repair.kind == "whole_number" for repair in settled.repairs)


@slow
@given(pair=INSTANCES, before=st.sampled_from(["", "Here: ", "```json\n"]), after=st.sampled_from(["", "\n```", " Done."]))
def test_valid_instances_are_found_in_any_surrounding(pair: tuple[JsonSchema, Any], before: str, after: str) -> None:
    schema, value = pair
    assume(isinstance(value, (dict, list)) and "`" not in json.dumps(value))
    detail = parse_detailed(before + json.dumps(value) + after, schema, strictness="safe")
    assert same(detail.value, value)


def spoiled(value: Any, draw: st.DrawFn) -> Any:
    """`value` with numbers and booleans as text, keys respelled, containers as JSON text: what safe coercion undoes."""
    if is_object(value):
        return {key: spoiled(item, draw) for key, item in value.items()}
    if is_list(value):
        return [spoiled(item, draw) for item in value]
    if isinstance(value, (int, float)) and draw(st.booleans()):
        return json.dumps(value)
    return value


@st.composite
def spoiled_instances(draw: st.DrawFn) -> tuple[JsonSchema, Any, Any]:
    schema = draw(st.sampled_from([SCHEMAS[0], SCHEMAS[1], SCHEMAS[3]]))
    value = draw(instances(schema))
    assume(all(math.isfinite(number) for number in _numbers(value)))
    return schema, value, spoiled(value, draw)


def _numbers(value: Any) -> list[float]:
    if is_object(value):
        return [number for item in value.values() for number in _numbers(item)]
    if is_list(value):
        return [number for item in value for number in _numbers(item)]
    return [value] if isinstance(value, float) else []


@slow
@given(trio=spoiled_instances())
def test_mutated_instances_are_repaired_or_refused_never_silently_wrong(trio: tuple[JsonSchema, Any, Any]) -> None:
    schema, value, wrong = trio
    settled = coerce(wrong, compile_schema(schema), strictness="safe")
    if not settled.problems:
        assert same(settled.value, value)
        assert same(wrong, value) or settled.repairs


LEAF_SCHEMAS: list[JsonSchema] = [
    {},
    {"type": "integer"},
    {"type": "string", "minLength": 2},
    {"enum": [1, "a", None]},
    {"const": True},
    {"type": ["number", "null"]},
]


def composed(inner: st.SearchStrategy[JsonSchema]) -> st.SearchStrategy[JsonSchema]:
    shapes: list[dict[str, st.SearchStrategy[Any]]] = [
        {"type": st.just("array"), "items": inner},
        {
            "properties": st.fixed_dictionaries({"a": inner, "b": inner}),
            "required": st.just(["a"]),
            "additionalProperties": st.booleans(),
        },
        {"anyOf": st.lists(inner, min_size=1, max_size=3)},
        {"oneOf": st.lists(inner, min_size=1, max_size=3)},
        {"not": inner},
        {"if": inner, "then": inner, "else": inner},
    ]
    return st.one_of([st.fixed_dictionaries(shape) for shape in shapes])


ANY_SCHEMA = st.recursive(st.sampled_from(LEAF_SCHEMAS), composed, max_leaves=6)
ANY_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-3, 3) | st.sampled_from(["", "a", "abc"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@given(schema=ANY_SCHEMA, value=ANY_VALUE)
def test_the_hardened_keywords_judge_as_the_stock_ones(schema: JsonSchema, value: Any) -> None:
    stock = next(iter(STOCK(schema).iter_errors(value)), None) is None
    compiled = compile_schema(schema)
    assert compiled.is_valid(value) is stock
    assert (compiled.problems(value) == []) is stock


@given(schema=ANY_VALUE)
def test_any_value_as_a_schema_is_taken_or_refused_by_our_error(schema: Any) -> None:
    try:
        compile_schema({"properties": {"a": schema}, "x-junk": schema})
    except ToolDefinitionError as error:
        assert str(error)  # noqa: PT017  - either outcome is right


NUMERALS = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "-", "+", "about ", "$", "0x", "1.", '"', "[", "{'a': "]),
    st.sampled_from("1789f"),
    st.builds(
        str.__mul__, st.sampled_from(["0", "9", "f", ",000", "_0"]), st.sampled_from([1, 20, 308, 309, 340, 1100, 3600, 4300])
    ),
    st.sampled_from(["", ".0", "e5", "e-5", "/3", " * 9", "%", '"', "]", "}"]),
)
"""Numbers about as long as a float, and as an integer, may be."""


@given(text=st.text(max_size=60) | NUMERALS, strictness=st.sampled_from(["off", "safe", "lenient"]), partial=st.booleans())
@pytest.mark.parametrize(
    "output_type",
    [SCHEMAS[0], {"type": "integer"}, {"type": "number", "multipleOf": 0.1}, {"enum": ["a", "b c"]}, list[int], str | None],
)
def test_any_text_gives_a_value_or_our_error(text: str, strictness: Any, partial: bool, output_type: Any) -> None:
    try:
        parse(text, output_type, strictness=strictness, partial=partial)
    except OutputParseError as error:
        assert error.problems  # noqa: PT017  - either outcome is right
