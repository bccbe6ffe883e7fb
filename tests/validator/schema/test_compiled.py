"""Schemas compiled: what is checked at registration, how older drafts are read, and how problems are worded."""

from __future__ import annotations

import socket
import time
from typing import Any

import pytest

from llmcore.types import JsonSchema, ToolDefinition, ToolDefinitionError
from llmcore.validator.schema.compiled import check_tool, check_tool_schema, compile_schema
from tests.validator.schemas import nested, object_schema


def problems_of(schema: JsonSchema, value: Any) -> list[str]:
    return [str(problem) for problem in compile_schema(schema).problems(value)]


@pytest.mark.parametrize(
    ("schema", "value", "line"),
    [
        ({"type": "integer"}, "5", 'expected integer, got string "5"'),
        ({"type": ["integer", "null"]}, [], "expected integer or null, got empty array"),
        (object_schema(city={"type": "string"}), {}, "`city`: expected string, got nothing"),
        (
            object_schema(city={"type": "string"}),
            {"town": "Rome", "City": "Rome"},
            "`city`: expected string, got nothing (you gave `City`)",
        ),
        ({"enum": ["a", "b"]}, "c", 'expected one of "a", "b", got string "c"'),
        ({"const": 5}, 6, "expected 5, got integer 6"),
        ({"type": "integer", "minimum": 3}, 2, "expected at least 3, got integer 2"),
        ({"type": "string", "minLength": 2}, "x", "expected at least 2 characters, got 1 characters"),
        ({"type": "array", "maxItems": 1}, [1, 2], "expected at most 1 item, got array of 2"),
        ({"type": "string", "pattern": "^a+$"}, "b", 'expected text that matches the pattern ^a+$, got string "b"'),
        ({"type": "string", "format": "date"}, "soon", 'expected text in the format date, got string "soon"'),
        ({"multipleOf": 0.1}, 0.25, "expected a multiple of 0.1, got number 0.25"),
        ({"uniqueItems": True}, [1, 1.0], "expected items that all differ, got array of 2 (items are repeated)"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "x", 'expected integer or null, got string "x"'),
        ({"anyOf": [{"const": "a"}, {"const": "b"}]}, "c", 'expected one of "a", "b", got string "c"'),
        ({"properties": {"a": {"items": {"type": "null"}}}}, {"a": [None, 1]}, "`a[1]`: expected null, got integer 1"),
        ({"properties": {"a b": False}}, {"a b": 1}, '`["a b"]`: expected nothing here, got integer 1'),
    ],
)
def test_a_problem_says_where_what_was_expected_and_what_came(schema: JsonSchema, value: Any, line: str) -> None:
    assert line in problems_of(schema, value)


def test_of_alternatives_the_nearest_is_explained() -> None:
    circle = object_schema(kind={"const": "circle"}, radius={"type": "number"})
    square = object_schema(kind={"const": "square"}, side={"type": "number"})
    schema: JsonSchema = {"anyOf": [circle, square]}
    assert problems_of(schema, {"kind": "square", "side": "two"}) == [
        '`side`: expected number (as `kind` is "square"), got string "two"'
    ]


def test_an_unexpected_key_names_the_one_that_was_meant() -> None:
    schema = {**object_schema(), "properties": {"limit": {"type": "integer"}}, "additionalProperties": False}
    (problem,) = compile_schema(schema).problems({"limits": 3})
    assert (problem.kind, problem.path, problem.choices) == ("unexpected", "limits", ["limit"])


def test_missing_comes_first_and_no_more_than_asked_for() -> None:
    schema = object_schema(**{f"k{number}": {"type": "string"} for number in range(30)})
    found = compile_schema(schema).problems({"k5": 1, "k6": 2}, most=4)
    assert [problem.kind for problem in found] == ["missing"] * 4


def test_neither_values_nor_schemas_are_quoted_whole() -> None:
    found = compile_schema({"enum": ["x" * 5000] * 50}).problems("y" * 100_000)
    assert all(len(str(problem)) < 3000 for problem in found)
    assert "9" * 50 not in str(compile_schema({"type": "string"}).problems(10**4000)[0])


# --- drafts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "array", "items": [{"type": "integer"}], "additionalItems": False}, [1], [1, 2]),
        ({"type": "integer", "minimum": 3, "exclusiveMinimum": True}, 4, 3),
        ({"type": "integer", "maximum": 3, "exclusiveMaximum": False}, 3, 4),
        ({"dependencies": {"a": ["b"]}}, {"a": 1, "b": 2}, {"a": 1}),
        ({"dependencies": {"a": {"required": ["b"]}}}, {"b": 2}, {"a": 1}),
        ({"type": "string", "nullable": True}, None, 1),
        ({"$ref": "#/$defs/x", "nullable": True, "$defs": {"x": {"type": "string"}}}, None, 1),
        ({"type": "string", "enum": ["a"], "nullable": True}, None, "b"),
        ({"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}, {"a": "x"}, {"a": 1}),
        ({"type": 6, "properties": {"a": {"type": 3}}}, {"a": 1}, {"a": "x"}),
        ({"type": "array", "minItems": "2"}, [1, 2], [1]),
        ({"definitions": {"x": {"type": "null"}}, "$ref": "#/definitions/x"}, None, 1),
        ({"$defs": {"x": {"$anchor": "here", "type": "null"}}, "$ref": "#here"}, None, 1),
        ({"$defs": {"x": {"$id": "urn:x", "type": "null"}}, "$ref": "urn:x"}, None, 1),
        ({"x-kept": {"y": {"type": "NULL"}}, "$ref": "#/x-kept/y"}, None, 1),
        (
            {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "properties": {"a": {"$ref": "#/definitions/n", "type": "string"}},
                "definitions": {"n": {"type": "integer"}},
            },
            {"a": 1},
            {"a": "x"},
        ),
    ],
)
def test_older_ways_of_saying_it_mean_the_same(schema: JsonSchema, good: Any, bad: Any) -> None:
    compiled = compile_schema(schema)
    assert compiled.problems(good) == []
    assert compiled.problems(bad) != []


def test_the_callers_schema_is_not_changed() -> None:
    schema: JsonSchema = {"type": "STRING", "nullable": True}
    compile_schema(schema)
    assert schema == {"type": "STRING", "nullable": True}


@pytest.mark.parametrize("pattern", [r"^\p{L}+$", r"(?<year>\d{4})", r"^[^]$", r"\u{1F600}", r"\cJ", r"a\/b"])
def test_ecma_patterns_are_admitted(pattern: str) -> None:
    compile_schema({"type": "string", "pattern": pattern})


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [(r"^a$", "a\n", False), (r"^\d$", "٣", False), (r"^\p{L}$", "é", True), (r"[$]$", "$", True), (r"^[^]$", "\n", True)],
)
def test_patterns_mean_what_ecma_says(pattern: str, text: str, matches: bool) -> None:
    assert compile_schema({"pattern": pattern}).is_valid(text) is matches


# --- refused at registration ------------------------------------------------------------------------------------------


def doubling(steps: int) -> JsonSchema:
    definitions: JsonSchema = {f"a{n}": {"anyOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(steps)}
    return {"$ref": "#/$defs/a0", "$defs": {**definitions, f"a{steps}": {"type": "string"}}}


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({"type": "intger"}, "did you mean 'integer'?"),
        ({"properties": {"a": {"type": "date"}}}, "properties.a.type: unknown type"),
        ({"properties": {"a": 5}}, "properties.a: a schema must be an object"),
        ({"pattern": "("}, "not a regular expression"),
        ({"$ref": "#/$defs/missing"}, "leads nowhere"),
        ({"$ref": "https://example.com/schema.json"}, "never fetched"),
        ({"$ref": "#"}, "leads back to itself"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, "leads back to itself"),
        ({"multipleOf": 0}, "greater than 0"),
        ({"minLength": -1}, "at least 0"),
        ({"required": "city"}, "list of property names"),
        ({"anyOf": []}, "non-empty list"),
        ({"enum": "ab"}, "list of values"),
        ({"default": float("nan")}, "not JSON"),
        ({"default": {1, 2}}, "not JSON"),
        (doubling(20), "alternatives apply to one value"),
        ({"unevaluatedProperties": False, "patternProperties": {"a": {}}}, "drop one"),
        (nested(400), "levels deep"),
        ({"description": "x" * 600_000}, "too large"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused_with_the_fix(schema: JsonSchema, says: str) -> None:
    with pytest.raises(ToolDefinitionError, match="tool 'search'") as caught:
        check_tool_schema(schema, "search")
    assert says in str(caught.value)


def test_parameters_must_admit_an_object() -> None:
    with pytest.raises(ToolDefinitionError, match="must be of type object"):
        check_tool_schema({"type": "array"}, "search")


def test_examples_are_checked_with_the_tool() -> None:
    tool = ToolDefinition(name="search", parameters=object_schema(q={"type": "string"}), examples=[{"q": "a"}, {"q": 1}])
    with pytest.raises(ToolDefinitionError, match="example 1 does not fit"):
        check_tool(tool)


# --- hostile schemas and values ---------------------------------------------------------------------------------------


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    with pytest.raises(ToolDefinitionError):
        compile_schema({"properties": {"a": {"$ref": "http://127.0.0.1:9/x"}}})


def test_a_nested_dialect_does_not_switch_the_hardening_off() -> None:
    stock = "http://json-schema.org/draft-07/schema#"
    compiled = compile_schema({"properties": {"a": {"$schema": stock, "pattern": "^(a|a)*$"}}})
    started = time.process_time()
    assert compiled.problems({"a": "a" * 40 + "!"})
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": "^(a|a)*$"}, "a" * 60 + "!"),
        ({"items": {"pattern": "^(a|a)*$"}}, ["a" * 60 + "!"] * 300),
        ({"patternProperties": {"^(a|a)*$": {}}}, {"a" * 60 + "!": 1}),
        ({"patternProperties": {"^(a|a)*$": {}}, "additionalProperties": {"type": "integer"}}, {"a" * 60 + "!": "x"}),
        ({"uniqueItems": True}, [{"n": number, "x": [number]} for number in range(3000)] + [{"n": 1, "x": [1]}]),
        ({"items": {"anyOf": [{"const": n} for n in range(400)]}}, [-1] * 30_000),
        (doubling(9), 5),
        ({"multipleOf": 3}, 10**4000),
        ({"multipleOf": 0.5}, 1e308),
        ({"minimum": 5}, float("nan")),
        ({"type": "number"}, float("inf")),
        ({}, nested(100)),
    ],
    ids=str,
)
def test_hostile_schemas_and_values_end_in_problems_soon(schema: JsonSchema, value: Any) -> None:
    compiled = compile_schema(schema)
    started = time.process_time()
    found = compiled.problems(value)
    assert time.process_time() - started < 5
    assert found or schema == {"multipleOf": 0.5}
    assert len(found) <= 10


def test_a_recursive_schema_takes_values_as_deep_as_the_limit() -> None:
    tree: JsonSchema = {"type": "object", "properties": {"n": {"$ref": "#"}}, "additionalProperties": False}
    compiled = compile_schema(tree)
    assert compiled.problems(nested(63, "n")) == []
    assert "64 levels" in str(compiled.problems(nested(70, "n"))[0])


def test_recursion_that_doubles_at_each_level_is_bounded() -> None:
    branch: JsonSchema = {"type": "object", "properties": {"n": {"$ref": "#"}}}
    compiled = compile_schema({"anyOf": [branch, {**branch, "title": "again"}, {"type": "integer"}]})
    started = time.process_time()
    value: Any = "no integer"
    for _ in range(40):
        value = {"n": value}
    (problem,) = compiled.problems(value)
    assert problem.kind in ("schema", "type")
    assert time.process_time() - started < 5


def test_json_equality_is_not_pythons() -> None:
    assert compile_schema({"uniqueItems": True}).is_valid([1, True, "1", [1], [True], {"a": 1}, {"a": True}])
    assert not compile_schema({"uniqueItems": True}).is_valid([{"a": 1}, {"a": 1.0}])
    assert not compile_schema({"type": "integer"}).is_valid(True)


def test_the_same_schema_is_compiled_once() -> None:
    schema = object_schema(city={"type": "string"})
    assert compile_schema(schema) is compile_schema({**schema})


@pytest.mark.parametrize(
    ("part", "meant"),
    [
        ({"typ": "string"}, "'type'"),
        ({"description": "x", "types": ["string"]}, "'type'"),
        ({"enums": [1]}, "'enum'"),
        ({"anyof": []}, "'anyOf'"),
    ],
)
def test_a_misspelt_keyword_of_a_part_that_says_no_type_is_refused(part: dict[str, Any], meant: str) -> None:
    schema = {"type": "object", "properties": {"a": part}}
    with pytest.raises(ToolDefinitionError, match=rf"properties\.a\.\w+: unknown keyword; did you mean {meant}"):
        check_tool_schema(schema)


@pytest.mark.parametrize("part", [{}, {"unit": "m"}, {"x-typ": 1}, {"type": "string", "typ": "x"}, {"description": "x"}])
def test_other_keywords_are_allowed(part: dict[str, Any]) -> None:
    check_tool_schema({"type": "object", "properties": {"a": part}})
