"""Untyped text typed by the schema."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmcore.normalizer.calls.typed_values import positional_arguments, typed_by, typed_value
from llmcore.types.tools import CompiledTool, ToolDefinition

ANYTHING = ("null", "integer", "number", "boolean", "object", "array", "string")
ALL_BUT_STRING = ANYTHING[:-1]


@pytest.mark.parametrize(
    ("text", "types", "value"),
    [
        ("5", ("integer",), 5),
        (" 5\n", ("integer",), 5),
        ("-0", ("integer",), 0),
        ("9" * 40, ("integer",), int("9" * 40)),
        ("5.0", ("integer",), "5.0"),
        ("007", ("integer",), 7),
        ("0" + "7" * 5000, ("integer",), "0" + "7" * 5000),
        ("+5", ("integer",), "+5"),
        ("five", ("integer",), "five"),
        ("5", ("number",), 5),
        ("5.50", ("number",), 5.5),
        ("1e3", ("number",), 1000.0),
        ("1e400", ("number",), "1e400"),
        ("NaN", ("number",), "NaN"),
        ("Infinity", ("number",), "Infinity"),
        ("\uff15", ("integer", "number"), "\uff15"),
        ("7" * 4301, ("integer", "number"), "7" * 4301),
        ("true", ("boolean",), True),
        ("False", ("boolean",), False),
        ("yes", ("boolean",), "yes"),
        ("null", ("null", "integer"), None),
        ("None", ("null", "integer"), None),
        ("null", ("null", "string"), None),
        ("None", ("null", "string"), "None"),
        ("null", ("integer",), "null"),
        ("null", ("string",), "null"),
        (" 42 ", ("string",), " 42 "),
        ('{"a": 1}', ("string",), '{"a": 1}'),
        ("42", ("integer", "string"), 42),
        ("042", ("integer", "string"), "042"),
        ("Paris", ANYTHING, "Paris"),
        ("", ALL_BUT_STRING, ""),
        ('{"a": [1]}', ("object",), {"a": [1]}),
        ("[1, 2]", ("array",), [1, 2]),
        ("[1, 2]", ("object",), "[1, 2]"),
        ("[1, 2] and", ("array",), "[1, 2] and"),
        ("[1, 2", ("array",), [1, 2]),
        ('{"a": "x', ("object",), '{"a": "x'),
        ('{"a": 1}{"a": 2}', ("object",), '{"a": 1}{"a": 2}'),
        ("hello", (), "hello"),
        ("hello", ("unheard_of",), "hello"),
    ],
)
def test_first_type_that_converts(text: str, types: tuple[str, ...], value: Any) -> None:
    converted, _ = typed_by(text, types)
    assert converted == value
    assert isinstance(converted, type(value))  # a float that remembers how it was written is one too
    assert isinstance(converted, bool) is isinstance(value, bool)


@pytest.mark.parametrize(
    ("text", "types", "value", "kinds"),
    [
        ("{'a': True}", ("object",), {"a": True}, ["single_quotes", "python_literal"]),
        ("('x', 'y')", ("array",), ["x", "y"], ["tuple", "single_quotes"]),
        ("{'x', 'y'}", ("array",), ["x", "y"], ["single_quotes", "set"]),
        ('"{\\"a\\": 1}"', ("object",), {"a": 1}, ["double_encoded"]),
        ('```json\n{"a": 1}\n```', ("object",), {"a": 1}, ["code_fence"]),
        ("1_000", ("integer",), 1000, ["number_notation"]),
        ("00501", ("integer",), 501, ["leading_zero"]),
        (".5", ("number",), 0.5, ["number_notation"]),
    ],
)
def test_repairs_are_returned(text: str, types: tuple[str, ...], value: Any, kinds: list[str]) -> None:
    converted, repairs = typed_by(text, types)
    assert (converted, [repair.kind for repair in repairs]) == (value, kinds)


def test_where_a_string_is_allowed_only_what_is_certain_converts() -> None:
    assert typed_by("{a: say hi}", ("object",))[0] == {"a": "say hi"}
    assert typed_by("{a: say hi}", ("object", "string")) == ("{a: say hi}", [])
    assert typed_by("{'a': 1}", ("object", "string"))[0] == {"a": 1}
    assert typed_by("1_000", ("integer", "string")) == ("1_000", [])


@pytest.mark.parametrize(("path", "found"), [("f", ["f", "f.a", "f.b[1]"]), ("", ["", "a", "b[1]"])])
def test_paths_begin_at_the_parameter(path: str, found: list[str]) -> None:
    _, repairs = typed_by("{'a': None, 'b': [1, 2*2]}", ("object",), path=path)
    assert [repair.path for repair in repairs] == found


TOOL = CompiledTool(
    ToolDefinition(
        name="f",
        parameters={
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer"},
                "where": {"anyOf": [{"type": "object"}, {"type": "null"}]},
                "free": {},
            },
        },
    )
)


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("city", "42", "42"),
        ("days", "42", 42),
        ("where", '{"x": 1}', {"x": 1}),
        ("where", "null", None),
        ("free", "42", "42"),
        ("unknown", "42", "42"),
    ],
)
def test_typed_by_the_tool(key: str, text: str, value: Any) -> None:
    assert typed_value(text, TOOL, key)[0] == value
    assert typed_value(text, None, key) == (text, [])


def test_positional_arguments() -> None:
    assert positional_arguments(["Paris", 3], TOOL) == {"city": "Paris", "days": 3}
    assert positional_arguments([], TOOL) == {}
    assert positional_arguments([1, 2, 3, 4, 5], TOOL) is None
    assert positional_arguments(["Paris"], TOOL, given={"city"}) is None
    assert positional_arguments(["Paris"], TOOL, given={"days"}) == {"city": "Paris"}
    assert positional_arguments(["Paris"], None) is None


@given(st.text(), st.lists(st.sampled_from(ANYTHING), unique=True))
def test_any_text_gives_a_value_or_itself(text: str, chosen: list[str]) -> None:
    types = tuple(kind for kind in ANYTHING if kind in chosen)
    value, repairs = typed_by(text, types)
    assert (value, repairs) == typed_by(text, types)
    if types in ((), ("string",)):
        assert value == text
