"""What leaves no doubt is no guess: one value without a name where one is required, and one value that is given twice."""

from __future__ import annotations

import pytest

from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import read_every_way, tool

_TOOLS = ToolSet(
    [
        tool("get_weather", ["city"], city="string", days="integer"),
        tool("add", ["a", "b"], a="integer", b="integer"),
        tool("mark", ["tags"], tags={"type": "array", "items": {"type": "string"}}),
    ]
)


@pytest.mark.parametrize(
    "form",
    [
        "{}",
        "[{}]",
        "<tool_call>{}</tool_call>",
        "<|python_start|>[{}]<|python_end|>",
        "```tool_code\nprint({})\n```",
        "```python\n{}\n```",
    ],
)
@pytest.mark.parametrize(
    ("written", "is_guess"),
    [
        ('get_weather("Paris")', False),
        ('get_weather("Paris", days=2)', False),
        ('get_weather("Paris", 2)', True),
        ("add(1, 2)", True),
        ("add(1, b=2)", True),
    ],
)
def test_one_positional_argument_of_one_required_parameter_is_no_guess(written: str, is_guess: bool, form: str) -> None:
    (call,) = read_every_way(form.replace("{}", written), _TOOLS).tool_calls
    assert call.arguments
    assert any(repair.safety == "guess" for repair in call.repairs) is is_guess
    assert any(repair.kind == "positional" for repair in call.repairs)


_REPEATED = [
    "<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n<parameter=city>\nVALUE\n</parameter>\n</function>",
    '<invoke name="get_weather"><parameter name="city">Paris</parameter><parameter name="city">VALUE</parameter></invoke>',
    "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Paris</arg_value>"
    "<arg_key>city</arg_key><arg_value>VALUE</arg_value></tool_call>",
    "<get_weather><city>Paris</city><city>VALUE</city></get_weather>",
    '<get_weather city="Paris" city="VALUE"/>',
    '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris", "city": "VALUE"}}</tool_call>',
    '<|tool_call>call:get_weather{city:<|"|>Paris<|"|>,city:<|"|>VALUE<|"|>}<tool_call|>',
    '[TOOL_CALL]\n{tool => "get_weather", args => {\n--city "Paris"\n--city "VALUE"\n}}\n[/TOOL_CALL]',
    "<tool_call>\nname: get_weather\narguments:\n  city: Paris\n  city: VALUE\n</tool_call>",
    'get_weather(city="Paris", city="VALUE")',
]


@pytest.mark.parametrize(("second", "is_guess"), [("Paris", False), ("Rome", True)])
@pytest.mark.parametrize("form", _REPEATED)
def test_a_parameter_given_twice_is_a_guess_where_its_values_differ(form: str, second: str, is_guess: bool) -> None:
    (call,) = read_every_way(form.replace("VALUE", second), _TOOLS).tool_calls
    assert call.arguments == {"city": second}
    assert any(repair.safety == "guess" for repair in call.repairs) is is_guess
    assert {repair.kind for repair in call.repairs} <= {"parameter_repeated", "duplicate_key"}


def test_an_array_takes_both_values() -> None:
    text = "<function=mark>\n<parameter=tags>\na\n</parameter>\n<parameter=tags>\na\n</parameter>\n</function>"
    (call,) = read_every_way(text, _TOOLS).tool_calls
    assert call.arguments == {"tags": ["a", "a"]}
