"""A parameter without its closer in a call that is closed: where its value ends is a guess, unless the form says it."""

from __future__ import annotations

import pytest

from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import read_every_way, tool

_TOOLS = ToolSet([tool("copy_file", ["src"], src="string", dst="string")])
_GUESSED = {
    "invoke": '<invoke name="copy_file"><parameter name="src">b.t\n</invoke>',
    "the next parameter": '<invoke name="copy_file"><parameter name="src">b.t\n<parameter name="dst">c</parameter></invoke>',
    "prefix": '<x:function_calls><x:invoke name="copy_file"><x:parameter name="src">b.t\n</x:invoke></x:function_calls>',
    "minimax": '<minimax:tool_call>\n<invoke name="copy_file">\n<parameter name="src">b.t\n</invoke>\n</minimax:tool_call>',
    "dsml": '<｜DSML｜invoke name="copy_file"><｜DSML｜parameter name="src" string="true">b.t\n</｜DSML｜invoke>',
    "function": '<function name="copy_file"><param name="src">b.t\n</function>',
    "children": '<invoke name="copy_file"><src>b.t\n</invoke>',
    "legacy": "<invoke><tool_name>copy_file</tool_name><parameters><src>b.t\n</parameters></invoke>",
    "tool's tag": "<copy_file>\n<src>b.t\n</copy_file>",
    "tool's tag, the next parameter": "<copy_file>\n<src>b.t\n<dst>c</dst>\n</copy_file>",
    "tool call": '<tool_call name="copy_file"><parameter name="src">b.t\n</tool_call>',
}
_SAID = {
    "function and parameter": "<tool_call>\n<function=copy_file>\n<parameter=src>\nb.t\n</function>\n</tool_call>",
    "key and value": "<tool_call>copy_file<arg_key>src</arg_key><arg_value>b.t\n</tool_call>",
    "beam": '<|start|>assistant to=copy_file<|channel|>analysis<|message|><rfl:parameter name="src">b.t\n<rfl:parameter name="dst">c</rfl:parameter><|call|>',
    "a wrong closer": '<invoke name="copy_file"><parameter name="src">b.t</src></invoke>',
}  # fmt: skip


@pytest.mark.parametrize("form", _GUESSED)
def test_a_parameter_without_its_closer_is_a_guess(form: str) -> None:
    (call,) = read_every_way(_GUESSED[form], _TOOLS, chunkings=2).tool_calls
    assert call.arguments is not None
    assert (call.arguments["src"], call.complete) == ("b.t", True)
    assert ("closer_missing", "src", "guess") in [(repair.kind, repair.path, repair.safety) for repair in call.repairs]


@pytest.mark.parametrize("form", _SAID)
def test_where_the_form_says_that_the_next_tag_ends_a_value_it_is_none(form: str) -> None:
    (call,) = read_every_way(_SAID[form], _TOOLS, chunkings=2).tool_calls
    assert call.arguments is not None
    assert (call.arguments["src"], call.complete) == ("b.t", True)
    assert all(repair.safety == "lossless" for repair in call.repairs)


_OPENED = {
    "a block": "<tool_call>\n<function=read_file>\n<parameter=path>\n",
    "a line": "<tool_call>\n<function=read_file>\n<parameter=path>",
    "pairs": "<tool_call>read_file<arg_key>path</arg_key><arg_value>",
    "invoke": '<invoke name="read_file"><parameter name="path">',
}
_CLOSERS = {
    "a block": ("</parameter>", "</function>", "</tool_call>"),
    "a line": ("</parameter>", "</function>", "</tool_call>"),
    "pairs": ("</arg_value>", "</tool_call>"),
    "invoke": ("</parameter>", "</invoke>"),
}


@pytest.mark.parametrize("form", _OPENED)
def test_words_right_behind_a_closer_may_be_part_of_a_cut_value(form: str) -> None:
    (call,) = read_every_way(f"{_OPENED[form]}see{_CLOSERS[form][0]} and").tool_calls
    assert "guess" in {repair.safety for repair in call.repairs}


def test_a_pair_in_a_value_is_in_doubt() -> None:
    pair = "use <arg_key>dst</arg_key><arg_value>x</arg_value> here"
    text = f"<tool_call>copy_file<arg_key>src</arg_key><arg_value>{pair}</arg_value></tool_call>"
    (call,) = read_every_way(text, _TOOLS).tool_calls
    assert "guess" in {repair.safety for repair in call.repairs}


@pytest.mark.parametrize("reason", ["stop", "length"])
@pytest.mark.parametrize(("form", "closer"), [(form, closer) for form in _OPENED for closer in _CLOSERS[form]])
def test_a_closer_between_words_of_a_line_may_be_part_of_a_cut_value(form: str, closer: str, reason: str) -> None:
    (call,) = read_every_way(f"{_OPENED[form]}see {closer} and", finish_reason=reason).tool_calls
    assert not call.complete or "guess" in {repair.safety for repair in call.repairs}


@pytest.mark.parametrize(
    ("form", "closer"), [(form, closer) for form in _OPENED for closer in _CLOSERS[form] if closer != "</invoke>"]
)
def test_words_on_the_next_line_leave_no_doubt(form: str, closer: str) -> None:
    end = "\n" if form == "a block" else ""
    (call,) = read_every_way(f"{_OPENED[form]}a.txt{end}{closer}\nI will wait.").tool_calls
    assert (call.complete, call.arguments) == (True, {"path": "a.txt"})
    assert "guess" not in {repair.safety for repair in call.repairs}
