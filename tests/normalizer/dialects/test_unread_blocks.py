"""Wrappers of calls that no row reads: an unreadable call where a tool is named, else a near miss."""

from __future__ import annotations

import pytest

from tests.normalizer.helpers import read_every_way


@pytest.mark.parametrize("tag", ["tool_call", "function_call", "TOOLCALL"])
def test_a_named_tool_is_called_with_arguments_that_cannot_be_read(tag: str) -> None:
    found = read_every_way(f"I look.\n<{tag}>get_weather\nremember this</{tag}>", chunkings=2)
    (call,) = found.tool_calls
    assert (call.name, call.arguments, call.raw_arguments) == ("get_weather", None, "remember this")
    assert found.content == "I look."


def test_prose_in_a_wrapper_is_a_near_miss() -> None:
    text = "<tool_call>\nNote: prose with a colon.\n</tool_call>"
    found = read_every_way(text, chunkings=2)
    assert (found.tool_calls, found.content) == ([], text)
    assert [miss.reason for miss in found.near_misses] == ["no_call_object"]


def test_a_literal_is_read_as_what_it_holds() -> None:
    call = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
    found = read_every_way(f"<tool_call><![CDATA[{call}]]></tool_call>", chunkings=2)
    assert [(call.arguments, call.repairs) for call in found.tool_calls] == [({"city": "Oslo"}, [])]


@pytest.mark.parametrize("text", ["Use <tool_call>get_weather now</tool_call> to ask.", "Between <tool_call> and </tool_call>."])
def test_a_sentence_about_the_format_is_none(text: str) -> None:
    found = read_every_way(text, chunkings=2)
    assert (found.tool_calls, found.near_misses, found.content) == ([], [], text)
