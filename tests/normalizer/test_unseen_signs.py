"""Signs that nobody sees, a byte order mark and spaces without width, are layout where white space is; in a value they stay."""

from __future__ import annotations

import pytest

from tests.normalizer.helpers import TOOLS, read_every_way

_CALL = '{"name": "get_weather", "arguments": {"city": "Paris"}}'


@pytest.mark.parametrize("sign", ["\ufeff", "\u200b", "\u2060"])
@pytest.mark.parametrize(
    "text",
    [
        f"~{_CALL}~",
        f"Sure:\n~{_CALL}",
        f"~<tool_call>~{_CALL}~</tool_call>",
        f"<tool_call>\n~\n{_CALL}\n</tool_call>",
        f"[TOOL_CALLS]~[{_CALL}]",
        '[TOOL_CALLS]get_weather[ARGS]~{"city": "Paris"}',
        '<|tool_call_start|>~[get_weather(city="Paris")]<|tool_call_end|>',
        '<invoke name="get_weather">~<parameter name="city">Paris</parameter>~</invoke>',
        "<function=get_weather>~<parameter=city>Paris</parameter></function>",
        'Action: get_weather~\nAction Input: {"city": "Paris"}',
    ],
)
def test_they_are_layout(text: str, sign: str) -> None:
    found = read_every_way(text.replace("~", sign), TOOLS, chunkings=1)
    assert [(call.name, call.arguments) for call in found.tool_calls] == [("get_weather", {"city": "Paris"})]
    assert found.tool_calls[0].repairs == []
    assert not found.content.strip(f"{sign}Sure:\n")


def test_in_a_value_they_stay() -> None:
    (call,) = read_every_way(_CALL.replace("Paris", "Pa\u200bris"), TOOLS).tool_calls
    assert call.arguments == {"city": "Pa\u200bris"}
