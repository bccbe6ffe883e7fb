"""The quick look says yes only where jsonschema's keywords do, and its work is linear in the value."""

from __future__ import annotations

import contextlib
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from llmcore.types import JsonSchema, OutputParseError
from llmcore.validator import parse
from llmcore.validator.coercion.coercer import MAX_CHANGED, coerce
from llmcore.validator.schema.compiled import compile_schema
from llmcore.validator.schema.quick import Checks
from llmcore.validator.schema.references import resolve_pointer
from tests.helpers.growth import assert_linear

LEAVES: list[Any] = [True, {}, {"type": "integer"}, {"type": ["string", "null"]}, {"type": "number"}, {"enum": ["a", "b"]}, {"const": "a"},
                     {"type": "boolean"}, {"type": "string", "minLength": 2}, {"$ref": "#/$defs/node"}, {"enum": [1, 2]}]  # fmt: skip
NODE: JsonSchema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"$ref": "#/$defs/node"}}, "required": ["a"]}


def _object(properties: dict[str, Any], required: list[str], extra: Any, typed: bool) -> dict[str, Any]:
    made = {"properties": properties, "required": required, "additionalProperties": extra}
    return {"type": "object", **made} if typed else made


def _deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some = st.lists(st.sampled_from(["a", "b"]), max_size=2, unique=True)
    names = st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3)
    objects = st.builds(_object, names, some, st.one_of(st.booleans(), inner), st.booleans())
    arrays: st.SearchStrategy[Any] = inner.map(lambda items: {"type": "array", "items": items})
    unions: st.SearchStrategy[Any] = st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"anyOf": parts})
    both: st.SearchStrategy[Any] = st.tuples(objects, unions).map(lambda pair: {**pair[0], **pair[1]})
    return st.one_of(objects, arrays, unions, both)


SCHEMAS = st.recursive(st.sampled_from(LEAVES), _deeper, max_leaves=8)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.just(2.5), st.just(2.0), st.just(1e5), st.sampled_from(["", "a", "xy"])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3)),
    max_leaves=8,
)  # fmt: skip


@given(SCHEMAS, VALUES)
@settings(max_examples=400, deadline=None)
def test_what_it_takes_jsonschema_takes(schema: Any, value: Any) -> None:
    document: JsonSchema = {"$defs": {"node": NODE}, "allOf": [schema]}
    check = Checks(lambda reference: resolve_pointer(document, reference)).of(schema)
    if check is not None and check(value):
        assert cast("Any", Draft202012Validator)(document).is_valid(value)


def test_plain_schemas_are_known_and_others_are_not() -> None:
    def check(schema: JsonSchema) -> Any:
        return Checks(lambda reference: resolve_pointer(schema, reference)).of(schema)

    assert check({"type": "array", "items": {"$ref": "#/$defs/node"}, "$defs": {"node": NODE}})([{"a": 1, "b": {"a": 2}}]) is True
    assert check({"anyOf": [NODE | {"properties": {}}, {"type": "object", "required": ["z"]}]})({"z": 1}) is True
    assert check({"type": "string", "minLength": 2}) is None
    tree: JsonSchema = {
        "anyOf": [{"type": "object", "properties": {"x": {"$ref": "#"}}}, {"type": "array", "items": {"$ref": "#"}}]
    }
    assert check(tree) is None


class Item(BaseModel):
    a: int


class Other(BaseModel):
    b: int


class Third(BaseModel):
    c: int


LISTS: list[tuple[str, Any]] = [
    ("{},", list[Item]),
    ("1,", list[Item]),
    ('{"a":1},', list[Item]),
    ('{"a":"1"},', list[Item]),
    ('{"a":"x"},', list[Item]),
    ('{"a":1},', list[Other | Third | Item]),
    ("{},", list[Other | Third | Item]),
    ("[1],", list[list[int]]),
]


@pytest.mark.parametrize(("item", "output_type"), LISTS)
@pytest.mark.parametrize("strictness", ["off", "safe", "lenient"])
def test_long_lists_are_read_in_linear_time(item: str, output_type: Any, strictness: Any) -> None:
    def read(size: int) -> None:
        with contextlib.suppress(OutputParseError):
            parse(f"[{item * size}{item[:-1]}]", output_type, strictness=strictness)

    assert_linear(read, 1500)


def test_a_list_that_cannot_come_to_fit_is_not_repaired_to_its_end() -> None:
    schema = compile_schema({"type": "array", "items": {"type": "integer"}})
    settled = coerce(["x"] * 100 + ["1"] * 100, schema, strictness="lenient")
    assert len(settled.problems) == 10
    assert settled.value[100:] == ["1"] * 100
    assert coerce(["1"] * 100, schema).value == [1] * 100


def test_more_repairs_than_the_bound_are_none() -> None:
    schema = compile_schema({"type": "array", "items": {"type": "integer"}})
    assert coerce(["1"] * (MAX_CHANGED - 1), schema).problems == []
    refused = coerce(["1"] * (MAX_CHANGED + 1), schema)
    assert refused.problems
    assert refused.repairs == []
