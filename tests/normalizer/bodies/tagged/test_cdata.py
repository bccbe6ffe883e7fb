"""Text beside a literal in a value is a part of the value, and that they were joined is told."""

from __future__ import annotations

import pytest

from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import read_every_way, tool

_TOOLS = ToolSet([tool("save_note", ["title"], title="string")])
_FORMS = {
    "minicpm5": '<function name="save_note"><param name="title">{}</param></function>',
    "qwen3_coder": "<tool_call>\n<function=save_note>\n<parameter=title>\n{}\n</parameter>\n</function>\n</tool_call>",
    "minimax_m3": ']<]minimax[>[<tool_call>]<]minimax[>[<invoke name="save_note">]<]minimax[>[<title>{}]<]minimax[>[</title>'
    "]<]minimax[>[</invoke>]<]minimax[>[</tool_call>",
    "cline": "<save_note>\n<title>{}</title>\n</save_note>",
}


@pytest.mark.parametrize("form", _FORMS)
@pytest.mark.parametrize(
    ("written", "meant", "told"),
    [
        ("Oak <![CDATA[<b>]]> elm", "Oak <b> elm", ["coerced"]),
        ("<![CDATA[<b>]]> elm", "<b> elm", ["coerced"]),
        ("Oak <![CDATA[<b>]]>", "Oak <b>", ["coerced"]),
        ("<![CDATA[<b>]]>\nelm", "<b>\nelm", ["coerced"]),
        ("<![CDATA[<b>]]><![CDATA[elm]]>", "<b>elm", []),
        ("<![CDATA[<b>]]>", "<b>", []),
    ],
)
def test_text_beside_a_literal_is_joined_and_told(form: str, written: str, meant: str, told: list[str]) -> None:
    (call,) = read_every_way(_FORMS[form].format(written), _TOOLS).tool_calls
    assert call.arguments == {"title": meant}
    assert [repair.safety for repair in call.repairs if repair.kind == "literal_joined"] == told


def test_half_a_closer_behind_a_literal_is_no_part_of_the_value() -> None:
    for cut in ("<", "</", "</par"):
        found = read_every_way(f'<function name="save_note"><param name="title"><![CDATA[oak]]>{cut}', _TOOLS)
        (call,) = found.tool_calls
        assert (call.arguments, call.complete, found.content) == ({"title": "oak"}, True, "")
        assert [(repair.kind, repair.safety) for repair in call.repairs] == [("closer_missing", "lossless")]


def test_markup_beside_a_literal_that_came_first_is_a_guess() -> None:
    (call,) = read_every_way(_FORMS["minicpm5"].format("<![CDATA[oak]]></text>"), _TOOLS).tool_calls
    assert [(repair.kind, repair.safety) for repair in call.repairs] == [("literal_joined", "guess")]
