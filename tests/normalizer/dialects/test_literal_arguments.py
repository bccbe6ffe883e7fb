"""Arguments in a literal (`<![CDATA[...]]>`) are read as those without one, in every form whose arguments are JSON in an element."""

from __future__ import annotations

import pytest

from tests.normalizer.helpers import read_every_way

_FORMS = [
    "<function><name>get_weather</name><arguments>{}</arguments></function>",
    "<tool>get_weather</tool>\n<tool_input>{}</tool_input>",
    "<use_mcp_tool>\n<server_name>s</server_name>\n<tool_name>get_weather</tool_name>\n<arguments>{}</arguments>\n</use_mcp_tool>",
]


@pytest.mark.parametrize("form", _FORMS)
def test_a_literal_holds_the_arguments(form: str) -> None:
    found = read_every_way(form.replace("{}", '<![CDATA[{"city": "a b"}]]>'), chunkings=2)
    (call,) = found.tool_calls
    assert (call.arguments, call.complete, call.repairs, found.content) == ({"city": "a b"}, True, [], "")


@pytest.mark.parametrize("form", _FORMS[:2])
def test_one_that_holds_no_object_cannot_be_read(form: str) -> None:
    (call,) = read_every_way(form.replace("{}", "<![CDATA[Oslo]]>"), chunkings=2).tool_calls
    assert (call.arguments, call.complete) == (None, True)
