"""The opener of a parameter in the words of a value: it is no parameter, or the call is one that no one runs unasked."""

from __future__ import annotations

import pytest

from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import read_every_way, tool

_TOOLS = ToolSet([tool("save", ["path", "content"], path="string", content="string", mode="string")])
_FORMS = {
    "function": ("<function=save><parameter=path>a.md</parameter><parameter=content>{}</parameter></function>", "<parameter={}>"),
    "invoke": (
        '<invoke name="save"><parameter name="path">a.md</parameter><parameter name="content">{}</parameter></invoke>',
        '<parameter name="{}">',
    ),
    "glm": (
        "<tool_call>save\n<arg_key>path</arg_key>\n<arg_value>a.md</arg_value>\n<arg_key>content</arg_key>\n"
        "<arg_value>{}</arg_value>\n</tool_call>",
        "<arg_key>{}</arg_key><arg_value>",
    ),
}
_forms = pytest.mark.parametrize(("call", "opener"), _FORMS.values(), ids=_FORMS)


@_forms
@pytest.mark.parametrize("said", ["Use {} in templates.", "`{}` and more", "One: {} or {} there", "First.\nUse ({}) so.\nLast."])
def test_an_opener_of_no_parameter_between_words_is_a_word(call: str, opener: str, said: str) -> None:
    value = said.replace("{}", opener.format("x"))
    (found,) = read_every_way(call.format(value), _TOOLS).tool_calls
    assert found.arguments == {"path": "a.md", "content": value}
    assert {repair.kind for repair in found.repairs} <= {"damaged_markup"}  # half of a pair of GLM's tags


@_forms
@pytest.mark.parametrize(
    "said",
    ["{} begins", "it ends with {}", "in it{}five", "a\n{}\nb", "pair {}5CLOSED here", "Use {} and CLOSED here", "use {}\nso"],
)
def test_where_it_may_open_a_value_it_is_a_guess(call: str, opener: str, said: str) -> None:
    closer = "</arg_value>" if "arg_value" in call else "</parameter>"
    value = said.replace("{}", opener.format("x")).replace("CLOSED", closer)
    (found,) = read_every_way(call.format(value), _TOOLS).tool_calls
    assert "guess" in {repair.safety for repair in found.repairs}


@_forms
@pytest.mark.parametrize("said", ["Use {} in templates.", "`{}` and more"])
def test_so_is_a_parameter_of_the_tool_between_words(call: str, opener: str, said: str) -> None:
    (found,) = read_every_way(call.format(said.replace("{}", opener.format("mode"))), _TOOLS).tool_calls
    assert "guess" in {repair.safety for repair in found.repairs}


@_forms
@pytest.mark.parametrize("gap", ["", "\n"])
def test_a_closer_that_is_missing_before_the_next_parameter_loses_nothing(call: str, opener: str, gap: str) -> None:
    (found,) = read_every_way(call.format(f"text{gap}{opener.format('mode')}wide"), _TOOLS).tool_calls
    assert found.arguments == {"path": "a.md", "content": "text", "mode": "wide"}
    assert [repair.safety for repair in found.repairs] == ["guess" if "<invoke" in call else "lossless"]
