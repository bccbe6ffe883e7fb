"""Tags mixed up: a family with a part lost, or borrowed from another."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.types.envelope import Envelope
from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import read_every_way, tool

TOOLS = ToolSet(
    [tool("moor", ["berth"], berth="string", crew="integer"), tool("horn"), tool("moor_at", ["berth"], berth="string")]
)
ONE = [("moor", {"berth": "B 7"})]
TWO = [("moor", {"berth": "B 7", "crew": 4})]
E_BODY = '<｜DSML｜invoke name="moor"><｜DSML｜parameter name="berth">B 7</｜DSML｜parameter></｜DSML｜invoke>'

FORMS: dict[str, tuple[str, list[tuple[str, dict[str, Any]]]]] = {
    "bracket lost": ("<tool_call>function=moor>\n<parameter=berth>\nB 7\n</parameter>\n</function>\n</tool_call>", ONE),
    "bracket lost, quoted": ('<tool_call>\nfunction="moor">\n<parameter=berth>B 7</parameter>\n</function>\n</tool_call>', ONE),
    "children, name closes": ("<tool_call>moor\n<berth>B 7</berth>\n<crew>4</crew>\n</moor>", TWO),
    "children, block closes": ("<tool_call>moor\n<berth>B 7</berth>\n</tool_call>", ONE),
    "children, nothing closes": ("<tool_call>moor\n<berth>B 7</berth>", ONE),
    "children, both close": ("<tool_call>moor\n<berth>B 7</berth>\n</moor>\n</tool_call>", ONE),
    "attributes": ('<tool_call>moor berth="B 7" crew=4</tool_call>', TWO),
    "attributes, entities": ('<tool_call>moor berth="B &amp; 7"</tool_call>', [("moor", {"berth": "B & 7"})]),
    "name and key elements": (
        "<tool_call>\n<function>moor</function>\n<parameter>berth</parameter>\nB 7\n</function>\n</tool_call>",
        ONE,
    ),
    "name and key elements, one closer too many": (
        "<function>moor</function>\n<parameter>berth</parameter>\nB 7\n</parameter>\n<parameter>crew</parameter>4</function>",
        TWO,
    ),
    "key elements": ("<function=moor><parameter>berth</parameter>\nB 7\n<parameter>crew</parameter>\n4\n</function>", TWO),
    "named child of function": ('<function><name>moor</name><parameter name="berth">B 7</parameter></function>', ONE),
    "named child, children": ("<function><name>moor</name><berth>B 7</berth></function>", ONE),
    "named child, other closers": (
        '<function><name>moor</name><parameter name="berth">B 7</｜DSML｜parameter></｜DSML｜invoke>',
        ONE,
    ),
    "record": ('<call_record tool="moor"><parameter name="berth">B 7</parameter></call_record>', ONE),
    "record by name": ("<entry name='moor'>\n<parameter name=\"berth\">B 7</parameter>\n</entry>", ONE),
    "object in the tag": ('<functioncall {"name": "moor", "arguments": {"berth": "B 7"}}>', ONE),
    "object behind the tag": ('<functioncall> {"name": "moor", "arguments": {"berth": "B 7"}}', ONE),
    "object in an element": ('<functioncall>{"name": "moor", "arguments": {"berth": "B 7"}}</functioncall>', ONE),
    "key tag lost": ("<tool_call>moor berth</arg_key><arg_value>B 7</arg_value></tool_call>", ONE),
    "key tag lost, glued": ("<tool_call>moorberth</arg_key>\n<arg_value>B 7</arg_value></tool_call>", ONE),
    "key tag lost, the longest name": (
        "<tool_call>moor_atberth</arg_key><arg_value>B 7</arg_value></tool_call>",
        [("moor_at", ONE[0][1])],
    ),
    "key tag lost, more keys": (
        "<tool_call>moorberth</arg_key><arg_value>B 7</arg_value><arg_key>crew</arg_key><arg_value>4</arg_value></tool_call>",
        TWO,
    ),
    "key closer doubled": ("<tool_call>moor<arg_key>berth</arg_key></arg_key><arg_value>B 7</arg_value></tool_call>", ONE),
    "key tag is the block's": ("<tool_call>moor<tool_call>berth</arg_key><arg_value>B 7</arg_value></tool_call>", ONE),
    "children of function=": ("<function=moor><berth>B 7</berth></function>", ONE),
    "value in an element": ("<function=moor><parameter=berth>\n<value>B 7</value>\n</parameter></function>", ONE),
    "tag in a block": ("<tool_call> <moor> <berth>B 7</berth> </moor>", ONE),
    "tag in a namespace": (
        "<｜DSML｜tool_calls>\n<｜DSML｜moor>\n<berth>B 7</berth>\n</｜DSML｜moor>\n</｜DSML｜tool_calls>",
        ONE,
    ),
    "wrapper without its namespace": (f"< calls>{E_BODY}</ calls>", ONE),
    "wrapper with a bar for a bracket": (f"<|DSML|tool_calls|\n{E_BODY}\n</|DSML|tool_calls|>", ONE),
    "attributes of a tool element": ('<tool name="moor" berth="B 7" />', ONE),
    "calling tool": ('[Calling tool: moor]\n<parameter name="berth">B 7</parameter></invoke>', ONE),
    "declaration": ('declaration:default_api:moor{berth:"B 7"}', ONE),
    "function with a colon": ('<function:default_api:moor{berth:<|"|>B 7<|"|>}', ONE),
    "junk line": ('court\n<invoke name="moor">\n<parameter name="berth">B 7</parameter>\n</invoke>', ONE),
    "all of a tag": ("<function=horn/>", [("horn", {})]),
    "all of a tag, in a block": ("<tool_call><function=horn /></tool_call>", [("horn", {})]),
    "tool's tag": ("<horn/>", [("horn", {})]),
}


def read(text: str, tools: ToolSet | None = TOOLS, **more: Any) -> Envelope:
    return read_every_way(text, tools, chunkings=4, **more)


@pytest.mark.parametrize(("text", "wanted"), FORMS.values(), ids=FORMS)
def test_what_is_left_is_read(text: str, wanted: list[tuple[str, dict[str, Any]]]) -> None:
    envelope = read(text)
    assert [(call.name, call.arguments) for call in envelope.tool_calls] == wanted
    assert all(call.complete and call.known for call in envelope.tool_calls)
    assert not any(repair.safety == "guess" for call in envelope.tool_calls for repair in call.repairs)
    assert not envelope.content.strip()


@pytest.mark.parametrize(("text", "wanted"), FORMS.values(), ids=FORMS)
def test_text_before_and_behind_stays(text: str, wanted: list[tuple[str, dict[str, Any]]]) -> None:
    envelope = read(f"I do it.\n\n{text}")
    assert [(call.name, call.arguments) for call in envelope.tool_calls] == wanted
    assert envelope.content.strip() == "I do it."


@pytest.mark.parametrize("form", [form for form in FORMS if "function=" not in FORMS[form][0] and "invoke" not in FORMS[form][0]])
def test_a_name_that_no_tool_has_makes_no_call(form: str) -> None:
    text = FORMS[form][0].replace("moor", "main").replace("horn", "main")
    if form in ("key closer doubled", "attributes of a tool element"):  # forms of their families that need no name
        return
    envelope = read(text)
    assert envelope.tool_calls == []


@pytest.mark.parametrize(("text", "wanted"), FORMS.values(), ids=FORMS)
def test_a_cut_makes_no_other_call(text: str, wanted: list[tuple[str, dict[str, Any]]]) -> None:
    for end in range(len(text)):
        envelope = read_every_way(text[:end], TOOLS, chunkings=0, finish_reason="length")
        for call in envelope.tool_calls:
            assert not call.complete or (call.name, call.arguments) in wanted, text[:end]


def test_a_key_that_the_tool_does_not_have_makes_a_guess() -> None:
    envelope = read("<function=moor><parameter>berth</parameter>B 7<parameter=crew>4</parameter></function>")
    assert envelope.tool_calls
    unknown = read("<function=moor><parameter=berth>B 7</parameter><parameter>mast</parameter>5</function>")
    assert [(call.arguments, [one.safety for one in call.repairs]) for call in unknown.tool_calls] == [
        ({"berth": "B 7"}, ["guess"])
    ]
