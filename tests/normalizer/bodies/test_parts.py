"""A body of several parts: none of them is dropped in silence."""

from __future__ import annotations

import pytest

from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import read_every_way, tool

_TOOLS = ToolSet([tool("pay", ["to"], to="string", amount="integer"), tool("ping")])
_FORMS = {
    "a tool's tag": "<pay>{}</pay>",
    "function=": "<function=pay>{}</function>",
    "invoke": '<invoke name="pay">{}</invoke>',
    "invoke in a wrapper": '<function_calls><invoke name="pay">{}</invoke></function_calls>',
    "DSML": '<｜DSML｜tool_calls><｜DSML｜invoke name="pay">{}</｜DSML｜invoke></｜DSML｜tool_calls>',
    "an element that holds them": '<invoke name="pay"><arguments>{}</arguments></invoke>',
    "name and arguments": "<function><name>pay</name><arguments>{}</arguments></function>",
    "a name line": "<tool_call>pay\n{}</tool_call>",
    "Kimi": "<|tool_call_begin|>functions.pay:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
    "DeepSeek V3.1": "<｜tool▁call▁begin｜>pay<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
    "harmony": "<|start|>assistant<|channel|>commentary to=functions.pay <|constrain|>json<|message|>{}<|call|>",
    "Gemma": "<|tool_call>call:pay{}<tool_call|>",
    "MCP": "<use_mcp_tool>\n<server_name>t</server_name>\n<tool_name>pay</tool_name>\n<arguments>\n{}\n</arguments>\n</use_mcp_tool>",
}
_OBJECT = '{"to": "bob"}'
_PARTS = {
    "an element": "<amount>3</amount>",
    "a parameter": '<parameter name="amount">3</parameter>',
    "a pair": "<arg_key>amount</arg_key><arg_value>3</arg_value>",
    "an attribute": 'amount="3"',
    "an object": '{"amount": 3}',
    "a line of YAML": "amount: 3",
    "words": "and three coins",
}


@pytest.mark.parametrize("gap", ["", "\n"], ids=["glued", "on a line"])
@pytest.mark.parametrize("part", _PARTS.values(), ids=_PARTS)
@pytest.mark.parametrize("form", _FORMS.values(), ids=_FORMS)
def test_what_stands_behind_the_object_makes_the_call_a_guess(form: str, part: str, gap: str) -> None:
    found = read_every_way(form.replace("{}", _OBJECT + gap + part), _TOOLS, chunkings=1)
    sound = [call for call in found.tool_calls if all(repair.safety == "lossless" for repair in call.repairs)]
    if "{" in part and found.tool_calls and "amount" in (found.tool_calls[0].arguments or {}):
        return  # both are one
    assert not sound, "a part of the body is dropped and the call runs"


@pytest.mark.parametrize("opener", ["<tool_call>", "<longcat_tool_call>", "<function_calls>"])
@pytest.mark.parametrize("part", ["<amount>3</amount>", "and three coins", '{"amount": 3}'])
def test_what_stands_beside_a_call_object_makes_it_a_guess(opener: str, part: str) -> None:
    call = '{"name": "pay", "arguments": {"to": "bob"}}'
    (found,) = read_every_way(f"{opener}{call}{part}{opener.replace('<', '</')}", _TOOLS, chunkings=1).tool_calls
    assert [(repair.kind, repair.before, repair.safety) for repair in found.repairs] == [("text_dropped", part, "guess")]


@pytest.mark.parametrize("extra", [_OBJECT, "and three coins", "{}"])
def test_what_is_no_attribute_beside_attributes_makes_the_call_a_guess(extra: str) -> None:
    (call,) = read_every_way(f'<tool_call>pay to="bob" {extra}</tool_call>', _TOOLS, chunkings=1).tool_calls
    assert [(repair.kind, repair.safety) for repair in call.repairs] == [("text_dropped", "guess")]


@pytest.mark.parametrize("closer", ["", "</invoke>"])
@pytest.mark.parametrize("behind", ["\n\nIt is paid.", '\n<invoke name="pay">{"to": "ann"}</invoke>'])
def test_what_stands_behind_a_call_without_its_closer_is_none_of_its_parts(closer: str, behind: str) -> None:
    found = read_every_way(f'<invoke name="pay">{{"to": "bob"}}{closer}{behind}', _TOOLS, chunkings=1)
    assert found.tool_calls[0].arguments == {"to": "bob"}
    assert all(repair.safety == "lossless" for call in found.tool_calls for repair in call.repairs)


def test_another_call_by_its_name_is_none_of_its_parts() -> None:
    found = read_every_way('<tool_call>\npay\n{"to": "bob"}\n>>>ping\n{}\n</tool_call>', _TOOLS, chunkings=1)
    assert [(call.name, call.arguments, [repair.kind for repair in call.repairs]) for call in found.tool_calls] == [
        ("pay", {"to": "bob"}, ["closer_missing"]),
        ("ping", {}, []),
    ]
