"""A pair of tags around calls is markup or content, never one half of it each."""

from __future__ import annotations

import pytest

from tests.normalizer.helpers import read_every_way

_JSON = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
_INVOKE = '<invoke name="get_weather"><parameter name="city">Oslo</parameter></invoke>'
_CALLS = {
    "tag": f"<tool_call>{_JSON}</tool_call>",
    "invoke": _INVOKE,
    "section": f"<function_calls>\n{_INVOKE}\n</function_calls>",
    "parameters": "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>",
    "named tag": "<get_weather><city>Oslo</city></get_weather>",
    "json": _JSON,
    "python": 'get_weather(city="Oslo")',
}
_TAGS = [
    "action",
    "call",
    "calls",
    "tool",
    "tool_use",
    "use_tool",
    "function_call",
    "toolcall",
    "toolcalls",
    "execute",
    "step",
    "final",
]


@pytest.mark.parametrize("tag", _TAGS)
@pytest.mark.parametrize("call", _CALLS)
@pytest.mark.parametrize(
    "layout",
    ["<t>\n{}\n</t>", "<t>{}</t>", "<t>\n{}\n\n{}\n</t>", "I'll look.\n<t>\n{}\n</t>", "<t>\n{}\n</t>\nIt is on its way."],
)
def test_both_halves_are_markup_or_content(tag: str, call: str, layout: str) -> None:
    text = layout.replace("{}", _CALLS[call]).replace("<t>", f"<{tag}>").replace("</t>", f"</{tag}>")
    content = read_every_way(text, chunkings=1).content
    assert (f"<{tag}>" in content) == (f"</{tag}>" in content)


@pytest.mark.parametrize("tag", ["action", "call", "tool_use", "use_tool", "function_call", "execute"])
@pytest.mark.parametrize("call", _CALLS)
def test_of_what_may_open_a_call_both_are_markup(tag: str, call: str) -> None:
    envelope = read_every_way(f"<{tag}>\n{_CALLS[call]}\n</{tag}>", chunkings=1)
    assert [found.name for found in envelope.tool_calls] == ["get_weather"]
    assert envelope.content == ""


@pytest.mark.parametrize("tag", ["calls", "tool", "tool_calls", "toolcall"])
def test_words_in_it_leave_both_in_the_content(tag: str) -> None:
    content = read_every_way(f"<{tag}>\nThe plan.\n{_CALLS['invoke']}\n</{tag}>").content
    assert (f"<{tag}>" in content) == (f"</{tag}>" in content)
