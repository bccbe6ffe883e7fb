"""A tool's own description is an echo of the offered tools, in any wrapper. A tool's argument of such a name stays an argument."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import read_every_way, tool

_TOOLS = ToolSet(
    [
        tool("look_up", ["order"], order="string"),
        tool("ping"),
        tool("note", [], description="string", parameters="object"),
        tool("define", ["parameters"], parameters="object"),
    ]
)
_SCHEMA = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}
_NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
_DECLARATIONS: list[dict[str, Any]] = [
    {"name": "ping", "description": "Checks.", "parameters": {}},
    {"name": "ping", "description": "Checks."},
    {"name": "ping", "parameters": {"type": "object"}},
    {"name": "ping", "input_schema": _NOTHING},
    {"name": "look_up", "description": "Looks.", "input_schema": _SCHEMA},
    {"name": "look_up", "parameters": _SCHEMA},
    {"type": "function", "function": {"name": "ping", "description": "Checks.", "parameters": _NOTHING}},
    {"type": "function", "function": {"name": "ping", "description": "Checks."}},
    {"type": "function", "name": "ping", "description": "Checks.", "parameters": _NOTHING},
]
_WRAPPERS = [
    "{}",
    "[{}]",
    "[{}, {}]",
    "<tool_call>{}</tool_call>",
    "[TOOL_CALLS] [{}]",
    "<|tool_call|>[{}]",
    "```json\n{}\n```",
    "```json\n[{}]\n```",
    "<tools>{}</tools>",
    "<tools>[{}]</tools>",
    '{"tools": [{}]}',
    '{"tool_calls": [{}]}',
    '{"toolCalls": [{}], "content": ""}',
]


@pytest.mark.parametrize("wrapper", _WRAPPERS)
@pytest.mark.parametrize("declared", _DECLARATIONS)
def test_a_declaration_is_an_echo(declared: dict[str, Any], wrapper: str) -> None:
    assert read_every_way(wrapper.replace("{}", json.dumps(declared)), _TOOLS, chunkings=1).tool_calls == []


def test_a_declaration_under_the_name_of_its_tool_is_an_echo() -> None:
    text = json.dumps({"ping": {"description": "Checks.", "parameters": {}}})
    assert read_every_way(text, _TOOLS).tool_calls == []


@pytest.mark.parametrize("wrapper", ["{}", "<tool_call>{}</tool_call>", "[{}]"])
@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (
            {"name": "note", "arguments": {"description": "x", "parameters": _NOTHING}},
            {"description": "x", "parameters": _NOTHING},
        ),
        ({"name": "note", "description": "x"}, {"description": "x"}),
        ({"name": "note", "parameters": {"description": "x"}}, {"description": "x"}),
        ({"name": "define", "arguments": {"parameters": _NOTHING}}, {"parameters": _NOTHING}),
        ({"name": "define", "parameters": {"parameters": _NOTHING}}, {"parameters": _NOTHING}),
        ({"name": "look_up", "description": "Looks.", "arguments": {"order": "A"}}, {"order": "A"}),
        ({"name": "look_up", "description": "Looks.", "parameters": {"order": "A"}}, {"order": "A"}),
        ({"name": "ping", "parameters": {}}, {}),
        ({"name": "ping", "description": "Checks.", "arguments": {}}, {}),
    ],
)
def test_what_has_arguments_is_a_call(written: dict[str, Any], expected: dict[str, Any], wrapper: str) -> None:
    (call,) = read_every_way(wrapper.replace("{}", json.dumps(written)), _TOOLS).tool_calls
    assert call.arguments == expected
