"""A call in an element of code is shown, within a fence as well as outside of one."""

from __future__ import annotations

import pytest

from tests.normalizer.helpers import read_every_way

_JSON = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
_FORMS = {
    "json": _JSON,
    "list": f"[{_JSON}, {_JSON}]",
    "python": 'get_weather(city="Oslo")',
    "python list": '[get_weather(city="Oslo")]',
    "name line": 'get_weather\n{"city": "Oslo"}',
    "react": 'Action: get_weather\nAction Input: {"city": "Oslo"}',
    "tag": f"<tool_call>{_JSON}</tool_call>",
    "named tag": "<get_weather><city>Oslo</city></get_weather>",
}


@pytest.mark.parametrize("form", _FORMS)
@pytest.mark.parametrize("element", ["code", "pre", "kbd", "samp", "example", "good_example", "blockquote"])
@pytest.mark.parametrize("fence", ["```html\n{}\n```", "~~~\n{}\n~~~", "Sure:\n```\n{}\n```"])
def test_an_element_of_code_in_a_fence(form: str, element: str, fence: str) -> None:
    text = fence.format(f"<{element}>\n{_FORMS[form]}\n</{element}>")
    envelope = read_every_way(text, chunkings=1)
    assert not envelope.tool_calls
    assert envelope.content == text


@pytest.mark.parametrize("form", [form for form in _FORMS if form not in ("tag", "named tag", "react", "name line")])
@pytest.mark.parametrize("element", ["action", "tool_use"])
def test_another_element_in_a_fence_holds_a_call(form: str, element: str) -> None:
    assert read_every_way(f"```xml\n<{element}>\n{_FORMS[form]}\n</{element}>\n```", chunkings=1).tool_calls
