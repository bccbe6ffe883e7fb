"""A body that is not read as it is written has a repair: brackets that close nothing, in every form that holds JSON or a Python
call. What such a bracket is dropped from stays lossless: no value is lost."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.normalizer import DIALECTS, normalize
from llmcore.types.envelope import Envelope
from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import TOOLS, read_every_way

_CALLS = [("get_weather", {"city": "Oslo"})]
_SURPLUS = ("}", "]", ")", "}}", "}]", "\n}")
_TAILS = ("", "\nDone.")


def _with_json() -> list[tuple[str, str]]:
    written = [(name, write(_CALLS)) for name, row in sorted(DIALECTS.items()) for write in (row.write, *row.also)]
    return [(name, text) for name, text in written if any(mark in text for mark in ('"city":', "city=", "city:<"))]


def _damaged(text: str) -> list[str]:
    """The text with brackets too many behind each bracket of it that closes."""
    places = [at + 1 for at, char in enumerate(text) if char in "}])" and "Oslo" in text[:at]]
    return [text[:at] + surplus + text[at:] for at in places for surplus in _SURPLUS]


def _is_told(envelope: Envelope) -> bool:
    """Each call has a repair, or brackets stand in the content."""
    return all(call.repairs for call in envelope.tool_calls) or not set("}])").isdisjoint(envelope.content)


@pytest.mark.parametrize("tail", _TAILS)
@pytest.mark.parametrize(("name", "text"), _with_json())
def test_a_surplus_bracket_is_recorded_or_content(name: str, text: str, tail: str) -> None:
    assert not any(repair.kind == "extra_closer" for call in normalize(text, TOOLS).tool_calls for repair in call.repairs)
    for damaged in _damaged(text):
        envelope = normalize(damaged + tail, TOOLS)
        assert _is_told(envelope), (name, damaged, envelope.tool_calls, envelope.content)


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}}</tool_call>',
        '<|python_tag|>{"name": "get_weather", "parameters": {"city": "Oslo"}}}',
        '[TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Oslo"}}]]',
        '```json\n{"name": "get_weather", "arguments": {"city": "Oslo"}}}\n```',
        '{"name": "get_weather", "arguments": {"city": "Oslo"}}}',
        "get_weather(city='Oslo'))",
        "<tool_call>get_weather(city='Oslo'))</tool_call>",
        'get_weather{"city": "Oslo"}}',
        'Action: get_weather\nAction Input: {"city": "Oslo"}}',
        'Action: get_weather({"city": "Oslo"}})',
        '[Calling tool: get_weather({"city": "Oslo"}})]',
        '<function=get_weather>{"city": "Oslo"}}</function>',
        '<function=get_weather>{"city": "Oslo"})</function>',
        '<get_weather>{"city": "Oslo"}}</get_weather>',
        '<invoke name="get_weather">{"city": "Oslo"}}</invoke>',
        '<|channel|>commentary to=functions.get_weather<|message|>{"city": "Oslo"}}<|call|>',
        '<|tool_call>call:get_weather{city:<|"|>Oslo<|"|>}}<tool_call|>',
    ],
)
def test_a_dropped_bracket_is_lossless_however_the_text_is_cut(text: str) -> None:
    (call,) = read_every_way(text).tool_calls
    assert call.arguments == {"city": "Oslo"}
    assert call.complete
    assert [(repair.kind, repair.safety) for repair in call.repairs] == [("extra_closer", "lossless")]


@pytest.mark.parametrize("written", ['{"city": "Oslo"}}', '{"city": "Oslo"}]', '{"city": "Oslo"})'])
def test_a_surplus_bracket_in_native_arguments_is_recorded(written: str) -> None:
    called: dict[str, Any] = {"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": written}}
    body = {"choices": [{"message": {"role": "assistant", "tool_calls": [called]}, "finish_reason": "tool_calls"}]}
    (call,) = normalize(body, TOOLS).tool_calls
    assert call.arguments == {"city": "Oslo"}
    assert [repair.safety for repair in call.repairs] == ["lossless"]


_NESTED = [
    '<function=build>\n<parameter=graph>\n{"a": 1}}\n</parameter>\n</function>',
    '<tool_call>build<arg_key>graph</arg_key><arg_value>{"a": 1}]</arg_value></tool_call>',
    '<invoke name="build"><parameter name="graph">{"a": 1}}</parameter></invoke>',
    '<build><graph>{"a": 1}}</graph></build>',
]


@pytest.mark.parametrize("text", _NESTED)
def test_a_surplus_bracket_in_a_value_is_recorded(text: str) -> None:
    build = {"name": "build", "parameters": {"type": "object", "properties": {"graph": {"type": "object"}}}}
    (call,) = read_every_way(text, ToolSet([build])).tool_calls
    assert call.arguments == {"graph": {"a": 1}}
    assert [(repair.kind, repair.safety) for repair in call.repairs] == [("extra_closer", "lossless")]
