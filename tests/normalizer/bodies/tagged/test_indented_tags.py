"""Where tags are indented, their indentation is layout in the lines of a value, as the line breaks beside them are."""

from __future__ import annotations

import pytest

from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import read_every_way, tool

_TOOLS = ToolSet([tool("copy_file", ["src"], src="string", mode="integer", lines={"type": "array", "items": {"type": "string"}})])
_FORMS = {
    "invoke": '<invoke name="copy_file">\n{0}<parameter name="src">{1}</parameter>\n</invoke>',
    "invoke in a wrapper": '<function_calls>\n{0}<invoke name="copy_file">\n{0}<parameter name="src">{1}</parameter>\n{0}</invoke>\n</function_calls>',
    "invoke, children": '<invoke name="copy_file">\n{0}<src>{1}</src>\n</invoke>',
    "dsml": '<｜DSML｜invoke name="copy_file">\n{0}<｜DSML｜parameter name="src" string="true">{1}</｜DSML｜parameter>\n</｜DSML｜invoke>',
    "function": "<tool_call>\n{0}<function=copy_file>\n{0}<parameter=src>{1}</parameter>\n{0}</function>\n</tool_call>",
    "function, attributes": '<function name="copy_file">\n{0}<param name="src">{1}</param>\n</function>',
    "key and value": "<tool_call>copy_file\n{0}<arg_key>src</arg_key>\n{0}<arg_value>{1}</arg_value>\n</tool_call>",
    "tool's tag": "<copy_file>\n{0}<src>{1}</src>\n</copy_file>",
    "name line": "copy_file\n{0}<src>{1}</src>\n</copy_file>",
    "minimax_m3": ']<]minimax[>[<tool_call>\n{0}]<]minimax[>[<invoke name="copy_file">\n{0}]<]minimax[>[<src>{1}]<]minimax[>[</src>\n{0}]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
    "namespace": '<minimax:tool_call>\n{0}<invoke name="copy_file">\n{0}<parameter name="src">{1}</parameter>\n{0}</invoke>\n</minimax:tool_call>',
}  # fmt: skip


@pytest.mark.parametrize("depth", ["  ", "\t", "      "], ids=["two blanks", "a tab", "six blanks"])
@pytest.mark.parametrize(
    ("lines", "value"),
    [
        (["a.txt"], "a.txt"),
        (["def f():", "    return 1", "", "f()"], "def f():\n    return 1\n\nf()"),
    ],
    ids=["one line", "lines"],
)
@pytest.mark.parametrize("form", _FORMS)
def test_the_indentation_of_the_tags_is_no_part_of_a_value(form: str, lines: list[str], value: str, depth: str) -> None:
    body = "\n" + "".join(f"{depth}{line}\n" if line else "\n" for line in lines) + depth
    (call,) = read_every_way(_FORMS[form].format(depth, body), _TOOLS, chunkings=2).tool_calls
    assert (call.arguments, call.complete, call.repairs) == ({"src": value}, True, [])


@pytest.mark.parametrize("form", _FORMS)
def test_a_line_that_is_less_deep_keeps_the_indentation_of_all(form: str) -> None:
    (call,) = read_every_way(_FORMS[form].format("  ", "\n  a\nb\n  "), _TOOLS, chunkings=2).tool_calls
    assert call.arguments == {"src": "  a\nb"}


@pytest.mark.parametrize("form", _FORMS)
def test_a_value_on_the_line_of_its_tag_is_as_it_was_written(form: str) -> None:
    (call,) = read_every_way(_FORMS[form].format("  ", "a\n  b"), _TOOLS, chunkings=2).tool_calls
    assert call.arguments == {"src": "a\n  b"}


@pytest.mark.parametrize("form", ["invoke", "function", "function, attributes"])
def test_tags_at_the_margin_take_nothing_from_the_lines(form: str) -> None:
    (call,) = read_every_way(_FORMS[form].format("", "\n  a\n  b\n"), _TOOLS, chunkings=2).tool_calls
    assert call.arguments == {"src": "  a\n  b"}


def test_an_indented_value_that_is_none_of_text_is_typed() -> None:
    text = '<invoke name="copy_file">\n  <parameter name="src">a</parameter>\n  <parameter name="mode">\n  7\n  </parameter>\n</invoke>'
    (call,) = read_every_way(text, _TOOLS, chunkings=2).tool_calls
    assert (call.arguments, call.repairs) == ({"src": "a", "mode": 7}, [])


_UNCLOSED = {
    "invoke": '<invoke name="copy_file">\n{0}<parameter name="src">{1}\n</invoke>',
    "invoke, children": '<invoke name="copy_file">\n{0}<src>{1}\n</invoke>',
    "dsml": '<｜DSML｜invoke name="copy_file">\n{0}<｜DSML｜parameter name="src" string="true">{1}\n</｜DSML｜invoke>',
    "function": "<tool_call>\n  <function=copy_file>\n{0}<parameter=src>{1}\n  </function>\n</tool_call>",
    "function, key and value": "<tool_call>\n<function>copy_file</function>\n{0}<parameter>src</parameter>{1}\n</function>\n</tool_call>",
    "function, the next tag": "<function=copy_file>\n{0}<parameter=src>{1}\n<parameter=mode>\n7\n</parameter>\n</function>",
    "key and value": "<tool_call>copy_file\n{0}<arg_key>src</arg_key>\n{0}<arg_value>{1}\n</tool_call>",
    "tool's tag": "<copy_file>\n{0}<src>{1}\n</copy_file>",
    "minimax_m3": ']<]minimax[>[<tool_call>\n{0}]<]minimax[>[<invoke name="copy_file">\n{0}]<]minimax[>[<src>{1}\n{0}]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
}  # fmt: skip


@pytest.mark.parametrize("depth", ["    ", "\t"], ids=["blanks", "a tab"])
@pytest.mark.parametrize(
    ("lines", "value"), [(["a.txt"], "a.txt"), (["a", "  b", "", "c"], "a\n  b\n\nc")], ids=["one line", "lines"]
)
@pytest.mark.parametrize("form", _UNCLOSED)
def test_the_indentation_is_layout_where_the_closer_is_missing(form: str, lines: list[str], value: str, depth: str) -> None:
    body = "".join(f"\n{depth}{line}" if line else "\n" for line in lines)
    (call,) = read_every_way(_UNCLOSED[form].format(depth, body), _TOOLS, chunkings=2).tool_calls
    assert call.arguments is not None
    assert (call.arguments["src"], call.complete) == (value, True)
    assert {repair.kind for repair in call.repairs} == {"closer_missing"}


@pytest.mark.parametrize("form", _UNCLOSED)
def test_a_line_at_the_margin_keeps_all_indentation_where_the_closer_is_missing(form: str) -> None:
    (call,) = read_every_way(_UNCLOSED[form].format("  ", "\n  a\nb"), _TOOLS, chunkings=2).tool_calls
    assert call.arguments is not None
    assert call.arguments["src"] == "  a\nb"
