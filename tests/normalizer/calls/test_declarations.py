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
    {"name": "ping", "input_schema": {}},
    {"name": "ping", "inputSchema": {"json": {"type": "object"}}},
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
    "<TOOLCALL>[{}]</TOOLCALL>",
    "<function_call> {}",
    "functools[{}]",
    "<|tool_call_start|>[{}]<|tool_call_end|>",
    "<|START_ACTION|>[{}]<|END_ACTION|>",
    "<|content_invoke_tool_json|>{}<|end_message|>",
    "<dots_function_call>{}</dots_function_call>",
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


def test_a_lone_schema_is_a_definition() -> None:
    envelope = read_every_way('<tool_call>{"name": "ping", "inputSchema": {}}</tool_call>', _TOOLS)
    assert [miss.reason for miss in envelope.near_misses] == ["definition"]


def test_a_declaration_under_the_name_of_its_tool_is_an_echo() -> None:
    text = json.dumps({"ping": {"description": "Checks.", "parameters": {}}})
    assert read_every_way(text, _TOOLS).tool_calls == []


@pytest.mark.parametrize("declared", [one for one in _DECLARATIONS if "name" in one])
@pytest.mark.parametrize(
    "wrapper",
    [
        *(
            "{}",
            "[{}]",
            "<tool_call>{}</tool_call>",
            "<|tools_prefix|>[{}]<|tools_suffix|>",
            "<|tools_prefix|>{}<|tools_suffix|>",
        ),
        *("<|tools_prefix|>[{}, {}]<|tools_suffix|>", '{"toolCalls": [{}], "content": ""}', '{"tool_calls": [{}]}'),
    ],
)
def test_a_declaration_under_its_name_is_an_echo(wrapper: str, declared: dict[str, Any]) -> None:
    rest = {key: value for key, value in declared.items() if key not in ("name", "type")}
    text = wrapper.replace("{}", json.dumps({declared["name"]: rest}))
    envelope = read_every_way(text, _TOOLS, chunkings=1)
    assert envelope.tool_calls == []
    if "toolCalls" not in wrapper:
        assert envelope.content == text


@pytest.mark.parametrize("wrapper", ["[{}]", "<|tools_prefix|>[{}]<|tools_suffix|>"])
@pytest.mark.parametrize(
    "arguments",
    [
        {"description": "x"},
        {"description": "x", "parameters": {}},
        {"parameters": _NOTHING, "description": "x"},
    ],
)
def test_an_argument_under_a_tools_name_may_be_called_as_a_part_of_a_declaration(arguments: dict[str, Any], wrapper: str) -> None:
    (call,) = read_every_way(wrapper.replace("{}", json.dumps({"note": arguments})), _TOOLS).tool_calls
    assert (call.name, call.arguments) == ("note", arguments)


def test_an_argument_makes_a_call_of_what_a_tools_name_holds() -> None:
    text = '<|tools_prefix|>[{"look_up": {"order": "A", "description": "x"}}]<|tools_suffix|>'
    (call,) = read_every_way(text, _TOOLS).tool_calls
    assert call.arguments == {"order": "A", "description": "x"}


def test_a_declaration_beside_a_call_stays_content() -> None:
    declared = '{"ping": {"description": "Checks.", "parameters": {"type": "object", "properties": {}}}}'
    envelope = read_every_way(f'<|tools_prefix|>[{{"look_up": {{"order": "A"}}}}, {declared}]<|tools_suffix|>', _TOOLS)
    assert [call.name for call in envelope.tool_calls] == ["look_up"]
    assert envelope.content == declared


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
        ({"name": "look_up", "parameters": {"order": "A"}, "input_schema": _SCHEMA}, {"order": "A"}),
        ({"name": "ping", "description": "Checks.", "arguments": {}}, {}),
    ],
)
def test_what_has_arguments_is_a_call(written: dict[str, Any], expected: dict[str, Any], wrapper: str) -> None:
    (call,) = read_every_way(wrapper.replace("{}", json.dumps(written)), _TOOLS).tool_calls
    assert call.arguments == expected


_PING = ToolSet([tool("ping"), tool("save_note", ["title"], title="string")])


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>\nname: ping\ndescription: Pings.\nparameters: {}\n</tool_call>",
        "<tool_call>\nname: save_note\nparameters:\n  type: object\n  properties:\n    title:\n      type: string\n</tool_call>",
        '<function name="ping" description="Pings."></function>',
        '<invoke name="ping" description="Pings."/>',
        '<invoke name="ping" description="Pings."></invoke>',
        '<tool_call name="ping" description="Pings."/>',
    ],
)
def test_a_declaration_in_yaml_or_in_attributes_is_no_call(text: str) -> None:
    envelope = read_every_way(text, _PING)
    assert (envelope.tool_calls, envelope.content) == ([], text)
    assert envelope.near_misses


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>\nname: save_note\ndescription: Saves.\nparameters:\n  title: a\n</tool_call>",
        '<invoke name="save_note" description="Saves."><parameter name="title">a</parameter></invoke>',
    ],
)
def test_a_call_that_is_described_and_has_arguments_is_one(text: str) -> None:
    (call,) = read_every_way(text, _PING).tool_calls
    assert (call.name, call.arguments) == ("save_note", {"title": "a"})
