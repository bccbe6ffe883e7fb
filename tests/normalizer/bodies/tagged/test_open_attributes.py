"""A value in an attribute whose quote nothing closes is open: nothing in it is called, in any form."""

from __future__ import annotations

import pytest

from llmcore.normalizer.api import normalize
from llmcore.types.tools import ToolSet
from tests.helpers.growth import assert_linear
from tests.normalizer.helpers import read_every_way, tool

_TOOLS = ToolSet([tool("note", ["title"], title="string", text="string"), tool("ping")])
_OPEN = [
    '<invoke name="note"><parameter name="title" value="see ',
    '<function_calls>\n<invoke name="note">\n<parameter name="title">a</parameter>\n<parameter name="text" value="see ',
    "<invoke name='note'><parameter name='title' value='see ",
    '<invoke name="note"><param key="title" value="see ',
    '<invoke name="note"><param title="see ',
    '<invoke name="note"><title value="see ',
    '<invoke name="note" title="see ',
    '<function name="note"><param name="title" value="see ',
    '<｜DSML｜invoke name="note"><｜DSML｜parameter name="title" string="true" value="see ',
    '<tool_call name="note"><parameter name="title" value="see ',
    '<function=note><parameter=title value="see ',
    '<tool_call>\n<function=note>\n<parameter=title>\na\n</parameter>\n<parameter=text value="see ',
    '<note><title value="see ',
    '<note title="see ',
    '<invoke name="note"><parameter name="tit',
    '<｜DSML｜invoke name="note"><｜DSML｜parameter name="tit',
]
_CALLS = [
    '<invoke name="ping"></invoke>',
    '<tool_call>{"name": "ping", "arguments": {}}</tool_call>',
    '<tool_call>{"name": "note", "arguments": {"title": "<b>"}}</tool_call>',
    "[TOOL_CALLS]ping[ARGS]{}",
    "<function=ping></function>",
    "<|tool_call>call:ping{}<tool_call|>",
]


@pytest.mark.parametrize("behind", ["", "\n</invoke>\nDone."])
@pytest.mark.parametrize("call", _CALLS)
@pytest.mark.parametrize("opened", _OPEN)
def test_nothing_in_an_attribute_that_is_open_is_called(opened: str, call: str, behind: str) -> None:
    envelope = read_every_way(opened + call + behind, _TOOLS, chunkings=2)
    assert [(found.name, found.complete) for found in envelope.tool_calls] == [("note", False)]
    assert envelope.truncated


@pytest.mark.parametrize(
    "opened", ['<invoke name="note"><parameter name="title" value="see\n', '<invoke name="note" title="see\n']
)
def test_a_call_that_begins_a_line_behind_it_begins_anew(opened: str) -> None:
    envelope = read_every_way(f'{opened}<invoke name="ping"></invoke>', _TOOLS)
    assert [(found.name, found.complete) for found in envelope.tool_calls] == [("note", False), ("ping", True)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('<invoke name="note"><parameter name="title" value="see it"/></invoke>', "see it"),
        ('<invoke name="note"><param key="title" value="a <b> c"/></invoke>', "a <b> c"),
        ('<invoke name="note"><parameter name="title" value="5" tall"/></invoke>', "5"),
        ('<function=note><parameter=title value="see it"></function>', "see it"),
        ('<note><title value="see it"/></note>', "see it"),
    ],
)
def test_an_attribute_that_is_closed_is_a_value(text: str, value: str) -> None:
    envelope = read_every_way(f'{text}\n<invoke name="ping"></invoke>', _TOOLS)
    assert [(found.name, found.arguments) for found in envelope.tool_calls] == [("note", {"title": value}), ("ping", {})]


@pytest.mark.parametrize("opened", [*_OPEN, '<invoke name="note"><parameter name="title" value=\'<'])
def test_floods_of_open_attributes_are_linear(opened: str) -> None:
    assert_linear(lambda n: normalize(f"{opened}<" * n, _TOOLS), 500)
