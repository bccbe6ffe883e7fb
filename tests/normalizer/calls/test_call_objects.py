"""The spellings of a call object: keys for name and arguments, what wraps it, and arguments that are no object yet."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import TOOLS, read_every_way, tool

_ARGUMENTS = {"city": "Oslo", "days": 3}
_TEXT = json.dumps(_ARGUMENTS)

_WRAPPED = ("{}", "<tool_call>\n{}\n</tool_call>", "I will look:\n\n```json\n{}\n```")


def read(value: Any, tools: ToolSet = TOOLS) -> list[list[tuple[str, Any]]]:
    """The calls that are read of it: alone, in tags and in a fence."""
    texts = [wrapped.format(json.dumps(value)) for wrapped in _WRAPPED]
    return [[(call.name, call.arguments) for call in read_every_way(text, tools, chunkings=1).tool_calls] for text in texts]


@pytest.mark.parametrize(
    "name", ["name", "tool", "toolName", "function_name", "functionName", "func", "method", "command", "action"]
)
@pytest.mark.parametrize("arguments", ["arguments", "params", "kwargs", "inputs", "tool_args", "toolInput", "function_arguments"])
def test_keys_of_name_and_arguments(name: str, arguments: str) -> None:
    assert read({name: "get_weather", arguments: _ARGUMENTS}) == [[("get_weather", _ARGUMENTS)]] * 3


@pytest.mark.parametrize(
    "value",
    [
        {"tool": {"name": "get_weather", "args": _ARGUMENTS}},
        {"thoughts": {"text": "Look."}, "command": {"name": "get_weather", "args": _ARGUMENTS}},
        {"action": {"tool": "get_weather", "tool_input": _ARGUMENTS}},
        {"toolUse": {"toolUseId": "t1", "name": "get_weather", "input": _ARGUMENTS}},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_weather", "arguments": _ARGUMENTS}},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "get_weather", "input": _ARGUMENTS}]},
        {"role": "model", "parts": [{"functionCall": {"name": "get_weather", "args": _ARGUMENTS}}]},
        {"explanation": "To know.", "name": "get_weather", "arguments": _ARGUMENTS},
    ],
)
def test_what_wraps_a_call(value: Any) -> None:
    assert read(value) == [[("get_weather", _ARGUMENTS)]] * 3


@pytest.mark.parametrize(
    ("written", "kinds"),
    [
        (_TEXT, ["double_encoded"]),
        (json.dumps(_TEXT), ["double_encoded", "double_encoded"]),
        ([_ARGUMENTS], ["list_for_object"]),
        ([{"name": "city", "value": "Oslo"}, {"name": "days", "value": 3}], ["list_for_object"]),
        (json.dumps([_ARGUMENTS]), ["double_encoded", "list_for_object"]),
    ],
)
def test_arguments_that_are_no_object_yet(written: Any, kinds: list[str]) -> None:
    (call,) = read_every_way(json.dumps({"name": "get_weather", "arguments": written})).tool_calls
    assert call.arguments == _ARGUMENTS
    assert [repair.kind for repair in call.repairs] == kinds


@pytest.mark.parametrize("written", [[_ARGUMENTS, _ARGUMENTS], [1], [], "three days in Oslo", json.dumps(json.dumps(_TEXT)), 7])
def test_arguments_that_hold_no_object(written: Any) -> None:
    (call,) = read_every_way(
        "<tool_call>" + json.dumps({"name": "get_weather", "arguments": written}) + "</tool_call>"
    ).tool_calls
    assert call.arguments is None


def test_arguments_beside_the_name() -> None:
    assert read({"name": "get_weather", **_ARGUMENTS}) == [[("get_weather", _ARGUMENTS)]] * 3
    (call,) = read_every_way(json.dumps({"id": "c1", "tool": "get_weather", **_ARGUMENTS})).tool_calls
    assert (call.id, call.arguments, [repair.kind for repair in call.repairs]) == ("c1", _ARGUMENTS, ["flat_arguments"])


def test_a_key_that_is_no_parameter_makes_no_flat_arguments() -> None:
    text = "<tool_call>" + json.dumps({"name": "get_weather", "city": "Oslo", "mood": "good"}) + "</tool_call>"
    (call,) = read_every_way(text).tool_calls
    assert call.arguments is None


def test_a_parameter_called_like_a_key_of_names() -> None:
    tools = ToolSet([tool("add_user", method="string", action="string")])
    given = {"method": "mail", "action": "invite"}
    assert read({"tool": "add_user", **given}, tools) == [[("add_user", given)]] * 3
    assert read({"tool": "add_user", "arguments": given}, tools) == [[("add_user", given)]] * 3


def test_a_name_behind_the_arguments_counts_less_than_one_before() -> None:
    text = '<tool_call>{"name": "Ida", "arguments": {}, "tool": "ping"}</tool_call>'
    assert [call.name for call in read_every_way(text).tool_calls] == ["Ida"]


@pytest.mark.parametrize(
    "value",
    [
        {"name": "get_weather", "input": "the weather", "arguments": _ARGUMENTS},
        {"name": "get_weather", "parameters": {"type": "object", "properties": {}}, "arguments": _ARGUMENTS},
        {"name": "get_weather", "args": _ARGUMENTS, "arguments": {"city": "Bergen"}},
        {"name": "get_weather", "input": "x", "arguments": _TEXT},
    ],
)
def test_where_several_keys_may_hold_the_arguments(value: Any) -> None:
    assert read(value) == [[("get_weather", _ARGUMENTS)]] * 3
