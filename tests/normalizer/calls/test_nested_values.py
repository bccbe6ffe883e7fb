"""Nested elements: what they mean under a schema, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from llmcore.normalizer.api import normalize
from llmcore.normalizer.calls.nested_values import parameter_value, read_xml
from llmcore.types.limits import Limits
from llmcore.types.tools import CompiledTool, ToolSet
from tests.normalizer.helpers import read_every_way, tool

_ORDER = tool(
    "order",
    note="string",
    to={"type": "object", "properties": {"city": {"type": "string"}, "zip": {"type": "integer"}}},
    items={"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}, "n": {"type": "integer"}}}},
    tags={"type": "array", "items": {"type": "string"}},
    free={"type": "object"},
    either={"anyOf": [{"type": "string"}, {"type": "object"}]},
)
_TOOLS = ToolSet([_ORDER])


def _tool() -> CompiledTool:
    found = _TOOLS.get("order")
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("to", "<city>Paris</city><zip>75001</zip>", {"city": "Paris", "zip": 75001}),
        ("to", "\n  <city>Paris</city>\n", {"city": "Paris"}),
        ("to", '{"city": "Paris"}', {"city": "Paris"}),
        ("to", "<city>Tom &amp; Co</city>", {"city": "Tom & Co"}),
        ("items", "<item><sku>a</sku><n>2</n></item><item><sku>b</sku></item>", [{"sku": "a", "n": 2}, {"sku": "b"}]),
        ("tags", "<tag>a</tag><tag>b</tag>", ["a", "b"]),
        ("free", "<tag>a</tag><tag>b</tag><x>1</x>", {"tag": ["a", "b"], "x": "1"}),
        ("free", "<a>one<b>two</b></a>", {"a": {"b": "two", "$text": "one"}}),
        ("note", "<city>Paris</city>", "<city>Paris</city>"),
        ("either", "<city>Paris</city>", "<city>Paris</city>"),
        ("to", "if (a < b) <city>", "if (a < b) <city>"),
    ],
)
def test_value_of_a_parameter(key: str, text: str, value: Any) -> None:
    assert parameter_value(text, _tool(), key)[0] == value


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]><city>&e;</city>',
        '<?xml version="1.0"?><city>Paris</city>',
        "<city>&unknown;</city>",
        "<city>Paris</town>",
        "<city>Paris",
        "<city>\ud83d</city>",
        "<city>&#0;</city>",
        "<a>" * 300 + "</a>" * 300,
        "<!-- x --><city>Paris</city>",
    ],
)
def test_unsound_xml_is_refused(text: str) -> None:
    assert read_xml(text, "to") is None
    assert parameter_value(text, _tool(), "to")[0] == text


def test_depth_limit() -> None:
    nested = "<a>" * 5 + "x" + "</a>" * 5
    assert parameter_value(nested, _tool(), "free", limits=Limits(depth=3))[0] == nested
    prefix = "]<]minimax[>["
    opened, closed = f"{prefix}<a>" * 5, f"{prefix}</a>" * 5
    text = f'{prefix}<tool_call>{prefix}<invoke name="order">{prefix}<free>{opened}x{closed}{prefix}</free>{prefix}</invoke>{prefix}</tool_call>'
    assert normalize(text, _TOOLS).tool_calls[0].arguments == {"free": {"a": {"a": {"a": {"a": {"a": "x"}}}}}}
    deep = normalize(text, _TOOLS, limits=Limits(depth=3)).tool_calls[0]
    assert deep.arguments is None
    assert deep.raw_arguments


@pytest.mark.parametrize(
    "text",
    [
        "<order>\n<to><city>Paris</city><zip>75001</zip></to>\n</order>",
        '<invoke name="order"><parameter name="to"><city>Paris</city><zip>75001</zip></parameter></invoke>',
        '<invoke name="order"><to><city>Paris</city><zip>75001</zip></to></invoke>',
    ],
)
def test_nested_elements_in_the_dialects_that_write_tags(text: str) -> None:
    assert [call.arguments for call in read_every_way(text, _TOOLS).tool_calls] == [{"to": {"city": "Paris", "zip": 75001}}]


def test_lxml_is_loaded_only_for_xml() -> None:
    program = (
        "import sys; from llmcore.normalizer.api import normalize;"
        'normalize(\'<tool_call>{"name": "f", "arguments": {}}</tool_call>\');'
        "sys.exit('lxml' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
