"""A value ends where its own closer stands. A call in it is text, wherever the reply is cut behind that."""

from __future__ import annotations

import pytest

from llmcore.normalizer.api import normalize
from llmcore.types.tools import ToolSet

from .helpers import read_every_way, tool

_TOOLS = ToolSet([tool("note", ["title"], title="string", body="string"), tool("ping"), tool("level", ["n"], n="integer")])
_FORMS = {
    "invoke": (
        '<invoke name="note">\n<parameter name="title">\nsee\n@\n</parameter>',
        '\n<parameter name="body">\nb\n</parameter>\n</invoke>',
        '<invoke name="ping">\n</invoke>',
    ),
    "invoke, children": (
        '<invoke name="note">\n<title>see\n@\n</title>',
        "\n<body>b</body>\n</invoke>",
        '<invoke name="ping">\n</invoke>',
    ),
    "invoke, named by an element": (
        "<function_calls>\n<invoke>\n<tool_name>note</tool_name>\n<parameters>\n<title>see\n@\n</title>",
        "\n<body>b</body>\n</parameters>\n</invoke>\n</function_calls>",
        "<invoke>\n<tool_name>ping</tool_name>\n</invoke>",
    ),
    "dsml": (
        '<｜DSML｜invoke name="note">\n<｜DSML｜parameter name="title" string="true">see\n@\n</｜DSML｜parameter>',
        '\n<｜DSML｜parameter name="body" string="true">b</｜DSML｜parameter>\n</｜DSML｜invoke>',
        '<｜DSML｜invoke name="ping">\n</｜DSML｜invoke>',
    ),
    "function": (
        "<tool_call>\n<function=note>\n<parameter=title>\nsee\n@\n</parameter>",
        "\n<parameter=body>\nb\n</parameter>\n</function>\n</tool_call>",
        "<tool_call>\n<function=ping>\n</function>\n</tool_call>",
    ),
    "key and value": (
        "<tool_call>note\n<arg_key>title</arg_key>\n<arg_value>see\n@\n</arg_value>",
        "\n<arg_key>body</arg_key>\n<arg_value>b</arg_value>\n</tool_call>",
        "<tool_call>ping</tool_call>",
    ),
    "key and value, an argument": (
        "<tool_call>note\n<arg_key>title</arg_key>\n<arg_value>see\n@\n</arg_value>",
        "\n<arg_key>body</arg_key>\n<arg_value>b</arg_value>\n</tool_call>",
        "<tool_call>level\n<arg_key>n</arg_key>\n<arg_value>9</arg_value>\n</tool_call>",
    ),
    "tool's tag": ("<note>\n<title>\nsee\n@\n</title>", "\n<body>\nb\n</body>\n</note>", "<ping></ping>"),
    "gemma": (
        '<|tool_call>call:note{title:<|"|>see\n@\n<|"|>',
        ',body:<|"|>b<|"|>}<tool_call|>',
        "<|tool_call>call:ping{}<tool_call|>",
    ),
    "hermes": (
        '<tool_call>\n{"name": "note", "arguments": {"title": "see\n@\n"',
        ', "body": "b"}}\n</tool_call>',
        '<tool_call>\n{\\"name\\": \\"ping\\", \\"arguments\\": {}}\n</tool_call>',
    ),
    "mistral": ('[TOOL_CALLS]note[ARGS]{"title": "see\n@\n"', ', "body": "b"}', "[TOOL_CALLS]ping[ARGS]{}"),
    "lfm2": (
        '<|tool_call_start|>[note(title="see\n@\n"',
        ', body="b")]<|tool_call_end|>',
        "<|tool_call_start|>[ping()]<|tool_call_end|>",
    ),
    "python": ('note(title="""see\n@\n"""', ', body="b")', "ping()"),
    "react": ('Action: note\nAction Input: {"title": "see\n@\n"', ', "body": "b"}', "Action: ping\nAction Input: {}"),
}


@pytest.mark.parametrize("finish", [None, "length"])
@pytest.mark.parametrize("form", _FORMS)
def test_a_call_in_a_value_that_is_closed_is_text_wherever_the_reply_is_cut(form: str, finish: str | None) -> None:
    begun, rest, inner = _FORMS[form]
    begun = begun.replace("@", inner)
    for stop in range(len(rest)):
        if rest[:stop].endswith(('<|"', '<|"|')):  # half a quote of Gemma is unreadable, and a call before it a guess
            continue
        envelope = normalize(begun + rest[:stop], _TOOLS, finish_reason=finish)
        assert {call.name for call in envelope.tool_calls} == {"note"}, rest[:stop]
    for stop in (0, 2, 6, len(rest)):
        envelope = read_every_way(begun + rest[:stop], _TOOLS, finish_reason=finish, chunkings=1)
        assert [call.name for call in envelope.tool_calls] == ["note"]


@pytest.mark.parametrize("form", [form for form in _FORMS if form not in ("python", "react", "hermes", "gemma")])
def test_a_call_that_begins_a_line_of_an_open_value_begins_anew(form: str) -> None:
    begun, _, inner = _FORMS[form]
    envelope = read_every_way(begun[: begun.index("@")] + inner, _TOOLS, chunkings=1)
    assert [(call.name, call.complete) for call in envelope.tool_calls] == [("note", False), (_name_in(inner), True)]


def _name_in(call: str) -> str:
    return "level" if "level" in call else "ping"


@pytest.mark.parametrize("whole", ["react", "invoke, named by an element"])
def test_a_call_in_a_value_that_is_closed_is_a_part_of_it(whole: str) -> None:
    begun, rest, inner = _FORMS[whole]
    (call,) = read_every_way(begun.replace("@", inner) + rest, _TOOLS).tool_calls
    assert call.arguments is not None
    assert inner in call.arguments["title"]
    assert (call.arguments["body"], call.complete) == ("b", True)


def test_a_step_behind_half_an_input_is_begun_anew() -> None:
    text = 'Action: note\nAction Input: {"title": "half\nAction: level\nAction Input: {"n": 3}'
    assert [(call.name, call.complete) for call in read_every_way(text, _TOOLS).tool_calls] == [("note", False), ("level", True)]


@pytest.mark.parametrize("quotes", ['"""', "'''"])
@pytest.mark.parametrize("form", ["{}", "```python\n{}```", "<|tool_call_start|>[{}", "<|python_tag|>{}"])
def test_nothing_in_a_string_in_triple_quotes_begins_anew(form: str, quotes: str) -> None:
    for behind in ("", "print(1)\n"):
        text = form.replace("{}", f'note(title="a", body={quotes}import os\nping()\n{behind}')
        (call,) = read_every_way(text, _TOOLS, finish_reason="length").tool_calls
        assert (call.name, call.complete) == ("note", False)


@pytest.mark.parametrize("behind", ["", "\nand so on"])
@pytest.mark.parametrize(
    "begun", ["see </title></note>\n", "see \n", "see\n</title>\n<body>b</body>\n</note>\n", "see </note>\n"]
)
def test_nothing_in_a_literal_without_an_end_is_called_behind_a_tools_tag(begun: str, behind: str) -> None:
    (call,) = read_every_way(f"<note>\n<title><![CDATA[{begun}<ping></ping>{behind}", _TOOLS).tool_calls
    assert (call.name, call.complete) == ("note", False)


@pytest.mark.parametrize("value", ["see </title></note>", "a", "see <ping></ping>"])
def test_a_literal_that_ends_is_a_value_of_a_tools_tag(value: str) -> None:
    envelope = read_every_way(f"<note>\n<title><![CDATA[{value}]]></title>\n</note>\n<ping></ping>", _TOOLS)
    assert [(call.name, call.arguments) for call in envelope.tool_calls] == [("note", {"title": value}), ("ping", {})]
