"""Arguments in the attributes of parameters, and bare text in place of parameters: read, or left whole and told."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import read_every_way, tool

_TOOLS = ToolSet(
    [
        tool("get_weather", ["city"], city="string", days="integer"),
        tool("send_mail", ["to", "body"], to="string", body="string"),
        tool("ping"),
    ]
)
_PARIS: dict[str, Any] = {"city": "Paris"}


@pytest.mark.parametrize(
    "within",
    [
        '<invoke name="get_weather">{}</invoke>',
        '<function_calls>\n<invoke name="get_weather">\n{}\n</invoke>\n</function_calls>',
        '<tool_call name="get_weather">{}</tool_call>',
        '<function name="get_weather">{}</function>',
        "<function=get_weather>\n{}\n</function>",
        "<tool_call>\n<function=get_weather>\n{}\n</function>\n</tool_call>",
    ],
)
@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ('<parameter name="city" value="Paris"/>', _PARIS),
        ('<parameter name="city" value="Paris"></parameter>', _PARIS),
        ('<parameter name="city" content="Paris" />', _PARIS),
        ('<parameter value="Paris" name="city"/>', _PARIS),
        ('<parameter key="city" value="Paris"/>', _PARIS),
        ('<param city="Paris"/>', _PARIS),
        ('<param city="Paris"></param>', _PARIS),
        ('<parameter city="Paris" days="2"/>', {"city": "Paris", "days": 2}),
        ('<param city="Paris"/>\n<param days="2"/>', {"city": "Paris", "days": 2}),
        ("<param city='Ulm &amp; Au'/>", {"city": "Ulm & Au"}),
    ],
)
def test_a_value_in_an_attribute_is_read(within: str, written: str, arguments: dict[str, Any]) -> None:
    (call,) = read_every_way(within.format(written), _TOOLS, chunkings=1).tool_calls
    assert (call.arguments, call.complete) == (arguments, True)
    assert all(repair.safety != "guess" for repair in call.repairs)


@pytest.mark.parametrize("text", ['<function=get_weather><parameter=city value="Paris"/></function>', '<city value="Paris"/>'])
def test_beside_the_key(text: str) -> None:
    text = text if text.startswith("<function") else f'<invoke name="get_weather">{text}</invoke>'
    (call,) = read_every_way(text, _TOOLS).tool_calls
    assert call.arguments == _PARIS


@pytest.mark.parametrize(
    "text",
    [
        '<function name="get_weather"><parameter city="string" type="string"/></function>',
        '<function name="get_weather"><param name="city" type="string" default="Paris"/></function>',
        '<invoke name="get_weather"><param town="Paris"/></invoke>',
        '<config name="get_weather"><param city="Paris"/></config>',
        '<beans><bean name="get_weather"><property name="city" value="Paris"/></bean></beans>',
    ],
)
def test_attributes_of_other_markup_are_no_arguments(text: str) -> None:
    found = read_every_way(text, _TOOLS)
    assert not [call for call in found.tool_calls if call.arguments]
    assert found.content == text or found.tool_calls[0].repairs


@pytest.mark.parametrize(
    "text",
    [
        '<invoke name="get_weather">Paris</invoke>',
        '<function_calls>\n<invoke name="get_weather">\nParis\n</invoke>\n</function_calls>',
        '<tool_call name="get_weather">Paris</tool_call>',
        '<｜DSML｜invoke name="get_weather">Paris</｜DSML｜invoke>',
    ],
)
def test_bare_text_is_the_one_parameter_it_can_belong_to(text: str) -> None:
    (call,) = read_every_way(text, _TOOLS).tool_calls
    assert (call.arguments, [(repair.kind, repair.safety) for repair in call.repairs]) == (_PARIS, [("only_parameter", "guess")])


@pytest.mark.parametrize(
    "text",
    [
        '<invoke name="send_mail">hello</invoke>',
        '<invoke name="ping">hello</invoke>',
        '<invoke name="get_weather">Paris',
        '<invoke name="get_weather">in\n<parameter name="city">Paris</parameter></invoke>',
        '<function name="get_weather">Tells the weather of a city.</function>',
        '<tool name="get_weather">Tells the weather of a city.</tool>',
    ],
)
def test_other_text_is_left_whole_and_told(text: str) -> None:
    found = read_every_way(text, _TOOLS)
    assert (found.tool_calls, found.content) == ([], text)
    assert [miss.reason for miss in found.near_misses] == ["no_arguments"]
