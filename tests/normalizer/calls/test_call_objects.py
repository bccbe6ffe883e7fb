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
    ("key", "safety"), [("payload", "coerced"), ("parameter", "coerced"), ("data", "guess"), ("fields", "guess")]
)
def test_unusual_keys_of_arguments(key: str, safety: str) -> None:
    (call,) = read_every_way(json.dumps({"name": "get_weather", key: _ARGUMENTS})).tool_calls
    assert (call.arguments, [repair.safety for repair in call.repairs]) == (_ARGUMENTS, [safety])
    for other in ({"name": "get_weather", key: {"town": "Oslo"}}, {"name": "get_weather", key: {"days": 3}}):
        assert not read_every_way(json.dumps(other), chunkings=1).tool_calls


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


_NOTE = ToolSet([tool("note", ["title"], title="string", text="string", content="string"), tool("drop", ["user"], user="string")])
_FORMS = ("{}", "<tool_call>{}</tool_call>", "[TOOL_CALLS][{}]", '{{"toolCalls": [{}], "content": ""}}', "```json\n{}\n```")


@pytest.mark.parametrize("form", _FORMS)
@pytest.mark.parametrize(
    ("written", "arguments", "repairs"),
    [
        ('"arguments": {"title": "a"}, "parameters": {"text": "b"}', {"title": "a", "text": "b"}, ["arguments_merged"]),
        ('"args": {"title": "a"}, "input": {"text": "b"}', {"title": "a", "text": "b"}, ["arguments_merged"]),
        ('"arguments": {}, "parameters": {"title": "b"}', {"title": "b"}, ["arguments_merged"]),
        ('"arguments": {"title": "a"}, "text": "b"', {"title": "a", "text": "b"}, ["arguments_merged"]),
        ('"content": "c", "arguments": {"title": "a"}', {"title": "a", "content": "c"}, ["arguments_merged"]),
        ('"arguments": null, "title": "b"', {"title": "b"}, ["arguments_merged"]),
        ('"arguments": {"title": "a"}, "parameters": {"title": "b"}', {"title": "a"}, ["arguments_dropped"]),
        ('"arguments": {"title": "a"}, "title": "b"', {"title": "a"}, ["arguments_dropped"]),
        ('"arguments": {"title": "a"}, "input": "words"', {"title": "a"}, ["arguments_dropped"]),
        ('"arguments": {"title": "a"}, "function": "drop"', {"title": "a"}, ["names_disagree"]),
    ],
)
def test_keys_beside_the_arguments_are_recorded(form: str, written: str, arguments: dict[str, Any], repairs: list[str]) -> None:
    (call,) = read_every_way(form.format(f'{{"name": "note", {written}}}'), _NOTE, chunkings=2).tool_calls
    assert (call.name, call.arguments) == ("note", arguments)
    assert [repair.kind for repair in call.repairs if repair.safety == "guess"] == repairs


@pytest.mark.parametrize(
    "written",
    [
        '"arguments": {"title": "a"}, "parameters": {"title": "a"}',
        '"arguments": {"title": "a"}, "parameters": {}',
        '"arguments": {"title": "a"}, "input": null, "text": ""',
        '"arguments": {"title": "a"}, "thought": "it is asked for", "id": "7", "type": "function", "index": 0',
        '"arguments": {"title": "a"}, "parameters": {"type": "object", "properties": {"title": {"type": "string"}}}',
        '"arguments": {"title": "a"}, "function": "note", "tool": "a server of ours"',
    ],
)
def test_keys_that_repeat_the_arguments_are_no_guess(written: str) -> None:
    (call,) = read_every_way(f'<tool_call>{{"name": "note", {written}}}</tool_call>', _NOTE, chunkings=2).tool_calls
    assert (call.name, call.arguments) == ("note", {"title": "a"})
    assert all(repair.safety == "lossless" for repair in call.repairs)


_UNKNOWN = ("nobody", {"a": 1})


@pytest.mark.parametrize("form", ["{}", "<tool_call>{}</tool_call>", "```json\n{}\n```", "So:\n{}"])
@pytest.mark.parametrize("order", [1, -1])
def test_in_a_list_of_calls_by_their_names_one_known_name_is_enough(order: int, form: str) -> None:
    calls = [("get_weather", {"city": "Oslo"}), _UNKNOWN][::order]
    envelope = read_every_way(form.format(json.dumps([{name: given} for name, given in calls])), chunkings=2)
    assert [(call.name, call.arguments, call.known) for call in envelope.tool_calls] == [
        (name, given, name != "nobody") for name, given in calls
    ]


@pytest.mark.parametrize("other", ["5", '{"a": 1}', '{"a": {}, "b": {}}', '"ping"'])
def test_other_items_of_such_a_list_stay_content(other: str) -> None:
    envelope = read_every_way(f'[{{"get_weather": {{"city": "Oslo"}}}}, {other}]', chunkings=2)
    assert [call.name for call in envelope.tool_calls] == ["get_weather"]
    assert (envelope.content, envelope.near_misses) == (other, [])


@pytest.mark.parametrize("text", ['[{"a": {"b": 1}}, {"c": {}}]', '[{"a": {"get_weather": {"city": "Oslo"}}}]'])
def test_a_list_of_objects_without_a_known_name_is_data(text: str) -> None:
    envelope = read_every_way(text, chunkings=2)
    assert (envelope.tool_calls, envelope.content) == ([], text)
