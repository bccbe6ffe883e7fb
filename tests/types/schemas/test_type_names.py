"""Types under the names of other languages are aliases, wherever a type is read."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.normalizer import normalize
from llmcore.types.schemas.type_names import TYPES, standard_schema, standard_type
from llmcore.types.tools import ToolDefinition, ToolSet
from llmcore.validator import validate_calls


@pytest.mark.parametrize(
    ("given", "standard"),
    [
        *((name, name) for name in TYPES),
        *((name, "number") for name in ("float", "double", "Double", "decimal", "NUMBER")),
        *((name, "integer") for name in ("int", "int64", "long", "INTEGER", 3)),
        *((name, "boolean") for name in ("bool", "BOOLEAN")),
        *((name, "string") for name in ("str", "text", "STRING", "String", 1)),
        *((name, "object") for name in ("dict", "OBJECT", "Dict[str, int]", "HashMap")),
        *((name, "array") for name in ("list", "tuple", "List[str]", "array<string>", "int[]", "ArrayList")),
        *((name, None) for name in ("any", "ANY", "TYPE_UNSPECIFIED", ["any", "null"])),
        (["str", "None"], ["string", "null"]),
        (["int", "integer"], ["integer"]),
        *((name, name) for name in ("date", "", True, 0, 99, 1.5, None, {"type": "x"}, ["date", "str["])),
    ],
)
def test_each_name_means_one_type(given: Any, standard: Any) -> None:
    assert standard_type(given) == standard


PARAMETERS: dict[str, Any] = {
    "type": "dict",
    "properties": {
        "type": {"type": "str", "enum": ["float", "int"], "default": "int", "description": "int"},
        "ratio": {"type": "float"},
        "on": {"type": "bool"},
        "spots": {"type": "tuple", "items": [{"type": "int"}, {"type": "any"}]},
        "via": {"anyOf": [{"type": "list", "items": {"type": "Double"}}, {"type": "None"}], "examples": [{"type": "int"}]},
    },
    "required": ["ratio"],
}
STANDARD: dict[str, Any] = {
    "type": "object",
    "properties": {
        "type": {"type": "string", "enum": ["float", "int"], "default": "int", "description": "int"},
        "ratio": {"type": "number"},
        "on": {"type": "boolean"},
        "spots": {"type": "array", "items": [{"type": "integer"}, {}]},
        "via": {"anyOf": [{"type": "array", "items": {"type": "number"}}, {"type": "null"}], "examples": [{"type": "int"}]},
    },
    "required": ["ratio"],
}


def test_only_types_are_renamed_and_the_given_schema_stays_as_it_was() -> None:
    before = repr(PARAMETERS)
    assert ToolDefinition(name="f", parameters=PARAMETERS).parameters == STANDARD
    assert repr(PARAMETERS) == before
    assert standard_schema(STANDARD) is STANDARD


def test_a_schema_that_is_no_tree_is_left_for_its_check() -> None:
    looped: dict[str, Any] = {"type": "dict", "properties": {}}
    looped["properties"]["again"] = looped
    assert standard_schema(looped) is looped
    shared = {"type": "int"}
    both = standard_schema({"properties": {"a": shared, "b": shared}})
    assert both["properties"]["a"] is both["properties"]["b"]


def test_untyped_text_and_json_are_read_by_the_standard_type() -> None:
    tools = ToolSet([{"name": "turn", "parameters": PARAMETERS}])
    written = "<tool_call><function=turn><parameter=ratio>3.5</parameter><parameter=on>True</parameter></function></tool_call>"
    envelope = normalize(written, tools)
    assert envelope.tool_calls[0].arguments == {"ratio": 3.5, "on": True}
    assert validate_calls(envelope, tools).ok
    assert not validate_calls(normalize('<tool_call>{"name": "turn", "arguments": {"ratio": "x"}}</tool_call>', tools), tools).ok


def test_a_schema_put_in_by_a_copy_is_read_alike() -> None:
    plain = ToolDefinition(name="turn")
    copied = plain.model_copy(update={"parameters": PARAMETERS})
    tools = ToolSet([copied])
    assert tools.compiled[0].types("ratio") == ("number",)
    envelope = normalize('<tool_call>{"name": "turn", "arguments": {"ratio": 2}}</tool_call>', tools)
    assert validate_calls(envelope, tools).ok


def test_counts_that_are_text_are_sent_as_numbers() -> None:
    inner = {"type": "string", "minLength": "3", "maxLength": 9}
    given = {"type": "object", "properties": {"word": inner}}
    assert standard_schema(given)["properties"]["word"] == {"type": "string", "minLength": 3, "maxLength": 9}
    assert inner["minLength"] == "3"
    assert standard_schema({"minItems": "few"}) == {"minItems": "few"}
