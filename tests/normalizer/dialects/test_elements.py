"""Calls as XML elements: every word in use, with the name and the arguments wherever a prompt may have put them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore.normalizer.api import Normalizer
from llmcore.types.events import ArgumentsDelta, ToolCallStarted
from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import TOOLS, read_every_way, tool

DISTINCT = ("invoke", "function_call", "tool_call", "tool_use", "use_tool", "call_tool", "api_call")
COMMON = ("function", "tool", "call", "action")
WANTED = {"city": "Oslo", "days": 3}
OBJECT = json.dumps(WANTED)
PARAMETERS = '<parameter name="city">Oslo</parameter><parameter name="days">3</parameter>'
CHILDREN = "<city>Oslo</city>\n<days>3</days>"
ARGUMENTS = {
    "object": OBJECT,
    "parameters": PARAMETERS,
    "param": PARAMETERS.replace("parameter", "param"),
    "arg": PARAMETERS.replace("parameter", "arg"),
    "children": CHILDREN,
    "object_in_arguments": f"<arguments>\n{OBJECT}\n</arguments>",
    "object_in_input": f"<input>{OBJECT}</input>",
    "parameters_in_arguments": f"<arguments>{PARAMETERS}</arguments>",
    "children_in_parameters": f"<parameters>\n{CHILDREN}\n</parameters>",
    "values_as_attributes": '<param name="city" value="Oslo"/><param name="days" value=\'3\'></param>',
}


def calls(text: str, tools: ToolSet | None = TOOLS) -> list[tuple[str, dict[str, Any] | None]]:
    envelope = read_every_way(text, tools, chunkings=3)
    assert all(call.complete for call in envelope.tool_calls)
    assert not (envelope.tool_calls and envelope.content.strip()), envelope.content
    return [(call.name, call.arguments) for call in envelope.tool_calls]


@pytest.mark.parametrize("written", ARGUMENTS.values(), ids=ARGUMENTS)
@pytest.mark.parametrize("word", [*DISTINCT, *COMMON])
def test_the_name_is_an_attribute(word: str, written: str) -> None:
    assert calls(f'<{word} name="get_weather">{written}</{word}>') == [("get_weather", WANTED)]


@pytest.mark.parametrize("written", ARGUMENTS.values(), ids=ARGUMENTS)
@pytest.mark.parametrize("word", [*DISTINCT, *COMMON])
@pytest.mark.parametrize("named", ["name", "tool_name"])
def test_the_name_is_a_child(word: str, named: str, written: str) -> None:
    assert calls(f"<{word}>\n<{named}>get_weather</{named}>\n{written}\n</{word}>") == [("get_weather", WANTED)]


@pytest.mark.parametrize("named", ["tool", "tool_name", "function", "function_name", "action"])
@pytest.mark.parametrize("held", ["tool_input", "action_input", "arguments", "parameters", "args", "input"])
@pytest.mark.parametrize("written", [OBJECT, PARAMETERS, CHILDREN])
def test_nothing_stands_around_the_name(named: str, held: str, written: str) -> None:
    assert calls(f"<{named}>get_weather</{named}>\n<{held}>{written}</{held}>") == [("get_weather", WANTED)]


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call name=\"get_weather\" arguments='{OBJECT}' />",
        f'<tool_call name="get_weather" arguments="{OBJECT.replace(chr(34), "&quot;")}"/>',
        f"<function_call name='get_weather' args='{OBJECT}'></function_call>",
        '<tool_call tool="get_weather" city="Oslo" days="3"/>',
        "<invoke name=get_weather city=Oslo days=3></invoke>",
        '<get_weather city="Oslo" days="3"/>',
        '<get_weather city="Oslo"><days>3</days></get_weather>',
        '<get_weather\n  city="Oslo"\n  days="3"\n></get_weather>',
        '<tool_use type="tool_use" name="get_weather" city="Oslo"><parameter name="days">3</parameter></tool_use>',
    ],
)
def test_arguments_are_attributes(text: str) -> None:
    assert calls(text) == [("get_weather", WANTED)]


def test_an_attribute_that_is_no_argument_is_recorded() -> None:
    (call,) = read_every_way(f'<tool_call name="get_weather" mood="fair">{OBJECT}</tool_call>').tool_calls
    assert (call.arguments, [(repair.kind, repair.path, repair.before) for repair in call.repairs]) == (
        WANTED,
        [("text_dropped", "mood", "fair")],
    )


def test_it_is_recorded_beside_parameters_too() -> None:
    (call,) = read_every_way(f'<tool_call name="get_weather" mood="fair">{CHILDREN}</tool_call>').tool_calls
    assert (call.arguments, [repair.path for repair in call.repairs]) == (WANTED, ["mood"])


def test_attributes_of_a_lone_tag_are_arguments_of_an_unknown_tool() -> None:
    assert calls('<tool_call name="f" a="1" b="x y"/>', None) == [("f", {"a": "1", "b": "x y"})]


def test_attributes_beside_an_object_are_recorded() -> None:
    (call,) = read_every_way('<tool_call name="get_weather" days="3">{"city": "Oslo"}</tool_call>').tool_calls
    assert call.arguments == {"city": "Oslo"}
    assert [(repair.kind, repair.path, repair.before) for repair in call.repairs] == [("text_dropped", "days", 3)]


@pytest.mark.parametrize(
    "text", ['<tool_call id="c7" name="ping">{}</tool_call>', "<tool_call><id>c7</id><name>ping</name></tool_call>"]
)
def test_an_id_is_kept(text: str) -> None:
    (call,) = read_every_way(text).tool_calls
    assert (call.id, call.name, call.arguments) == ("c7", "ping", {})


def test_several_in_a_wrapper() -> None:
    inner = '<function_call name="get_weather">\n<city>Oslo</city>\n</function_call>\n' * 2
    assert calls(f"<function_calls>\n{inner}</function_calls>") == [("get_weather", {"city": "Oslo"})] * 2


def test_text_goes_to_the_only_parameter_as_a_guess() -> None:
    (call,) = read_every_way("<tool>get_weather</tool><tool_input>Oslo, the capital</tool_input>").tool_calls
    assert call.arguments == {"city": "Oslo, the capital"}
    assert [(repair.kind, repair.safety) for repair in call.repairs] == [("only_parameter", "guess")]


def test_a_parameter_called_like_a_holder_is_a_parameter() -> None:
    tools = ToolSet([tool("ask", ["input"], input="string", args="object")])
    text = '<invoke name="ask"><input>{"a": 1}</input><args>{"b": 2}</args></invoke>'
    assert calls(text, tools) == [("ask", {"input": '{"a": 1}', "args": {"b": 2}})]


@pytest.mark.parametrize(
    "text",
    [
        "<function=get_weather>\n<city>\nOslo\n</city>\n<days>3</days>\n</function>",
        "<tool_call>\n<function=get_weather>\n<city>Oslo</city>\n<days>3</days>\n</function>\n</tool_call>",
        f"<function=get_weather><arguments>{OBJECT}</arguments></function>",
        "<tool>get_weather(city='Oslo', days=3)</tool>",
        '<execute>\nget_weather("Oslo", 3)\n</execute>',
    ],
)
def test_forms_that_borrow_from_each_other(text: str) -> None:
    assert calls(text) == [("get_weather", WANTED)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('<tool name="hammer">{"weight": 3}</tool>', None),
        ("<tool><name>hammer</name><price>3</price></tool>", None),
        ("<tool>hammer</tool><input>3</input>", None),
        ("<tool>get_weather</action><input>Oslo</input>", None),
        ('<tool name="get_weather">tells the weather</tool>', "no_arguments"),
        ("<action><name>get_weather</name><price>3</price></action>", "unknown_parameter"),
        ("<function=get_weather><b>bold</b></function>", "unknown_parameter"),
        ('<get_weather place="Oslo"/>', "unknown_parameter"),
        ('See <get_weather city="Oslo"/> in the page.', "mid_line"),
        ("Write <tool>get_weather(city)</tool> there.", "mid_line"),
        ("<action>look(around)</action>", None),
    ],
)
def test_other_markup_is_content(text: str, reason: str | None) -> None:
    envelope = read_every_way(text)
    assert (envelope.tool_calls, envelope.content) == ([], text)
    assert [miss.reason for miss in envelope.near_misses] == ([reason] if reason else [])


@pytest.mark.parametrize(
    "text", ["<tool><name>hammer</name></tool>", '<call name="home"></call>', '<action name="x">{"a": 1}</action>']
)
def test_common_words_are_no_calls_of_unknown_tools(text: str) -> None:
    envelope = read_every_way(text, None)
    assert (envelope.tool_calls, envelope.content) == ([], text)


@pytest.mark.parametrize("word", ["function_call", "tool_use"])
@pytest.mark.parametrize("end", [1, 4])
def test_a_cut_call_is_incomplete(word: str, end: int) -> None:
    text = f'<{word} name="get_weather">\n<city>Oslo</city>\n<days>3</days>'
    (call,) = read_every_way(text[:-end], finish_reason="length").tool_calls
    assert not call.complete


def test_values_are_emitted_as_they_arrive() -> None:
    normalizer = Normalizer(TOOLS)
    events = normalizer.feed('<tool_use name="get_weather"><arguments><city>Oslo is the capital of')
    assert [event.name for event in events if isinstance(event, ToolCallStarted)] == ["get_weather"]
    assert "".join(event.json for event in events if isinstance(event, ArgumentsDelta)) == '{"city": "Oslo is the capital of'


SCHEMA = '{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}'


@pytest.mark.parametrize(
    "text",
    [
        f'<tool name="get_weather">{SCHEMA}</tool>',
        f'<function_call name="get_weather">{{\n{SCHEMA[1:]}</function_call>',
        f"<tool><name>get_weather</name><parameters>{SCHEMA}</parameters></tool>",
        f"<tool>get_weather</tool>\n<parameters>{SCHEMA}</parameters>",
        '<tool name="get_weather"><parameter name="city" type="string" required="true"/></tool>',
        '<tool name="get_weather"><parameter name="city" type="string">The name of the city</parameter></tool>',
        '<function name="get_weather"><parameter name="city" description="its name"/></function>',
        '<tool name="get_weather" description="Tells the weather"><city>string</city></tool>',
    ],
)
def test_the_echo_of_a_definition_is_content(text: str) -> None:
    envelope = read_every_way(text)
    assert (envelope.tool_calls, envelope.content) == ([], text)
    assert [(miss.name, miss.reason) for miss in envelope.near_misses] == [("get_weather", "definition")]


@pytest.mark.parametrize("text", ['<tool name="get_weather"/>', "<action><name>get_weather</name></action>"])
def test_a_common_word_without_arguments_that_are_required_is_content(text: str) -> None:
    envelope = read_every_way(text)
    assert (envelope.tool_calls, envelope.content) == ([], text)
    assert [miss.reason for miss in envelope.near_misses] == ["no_arguments"]
    assert calls(text.replace("get_weather", "ping")) == [("ping", {})]


def test_a_tool_may_have_a_type() -> None:
    tools = ToolSet([tool("draw", ["type"], type="string", description="string")])
    assert calls('<tool name="draw">{"type": "object"}</tool>', tools) == [("draw", {"type": "object"})]
    assert calls('<tool name="draw" type="object" description="a cube"/>', tools) == [
        ("draw", {"type": "object", "description": "a cube"})
    ]
