"""A call that is begun and begun again before it is whole was never whole; the one behind it is read if it begins a line (for every
row). Elsewhere it is a part of the value that is open, and nothing in it runs."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from llmcore.normalizer.api import normalize
from llmcore.normalizer.core.damage.restarted_call import TRIALS
from llmcore.normalizer.dialects.registry import DIALECTS
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types.envelope import Envelope, ToolCall
from llmcore.types.tools import ToolSet
from tests.helpers.growth import assert_linear

from .helpers import read_every_way, tool

_TOOLS = ToolSet(
    [
        tool("move_shelf", ["shelf"], shelf="string", reason="string", steps="integer"),
        tool("label_box", ["box"], box="string"),
        tool("ping"),
    ]
)
_FIRST = ("move_shelf", {"shelf": "Q-41 upper", "reason": "damp wall"})
_SECOND = ("move_shelf", {"shelf": "R-2", "reason": "too dark"})
_ENDED_BY_A_LINE = frozenset({"yaml_in_tag", "yaml_in_tool_call", "labelled_lines", "labelled_block"})
"""Behind a line break nothing tells a value that was cut off from a whole one: the line break ends a plain scalar of YAML."""
_ON_LINES = frozenset({"labelled_lines", "labelled_block"})
"""It has no marker and begins a line, so both cannot be told."""
_ON_SEVERAL_LINES = frozenset({"react", "cline_mcp"})
"""Their calls begin anew on a line of their own, behind words that another line holds."""
_CUTS = ("Q-4", "Q-41 upper", "damp")
_ROWS = sorted(name for name in DIALECTS if name not in _ENDED_BY_A_LINE)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if is_object(value):
        return [text for item in value.values() for text in _texts(item)]
    return [text for item in value for text in _texts(item)] if is_list(value) else []


def _opener(name: str) -> str:
    """What two calls of a row have in common before anything is told apart."""
    first, second = DIALECTS[name].write([_FIRST]), DIALECTS[name].write([("ping", {})])
    same = next((n for n, (one, other) in enumerate(zip(first, second, strict=False)) if one != other), len(second))
    return first[:same].strip()


def _runs(call: ToolCall) -> bool:
    doubtful = any(repair.safety in ("guess", "truncated") for repair in call.repairs)
    return call.complete and call.arguments is not None and not doubtful


def _check(found: Envelope, opener: str) -> None:
    *before, last = found.tool_calls
    assert (last.name, last.arguments, last.complete) == (*_SECOND, True)
    assert _runs(last)
    assert not any(_runs(call) for call in before)
    for text in (text for call in found.tool_calls for text in _texts(call.arguments)):
        assert "move_shelf" not in text
        assert not opener or len(opener) < 3 or opener not in text


@pytest.mark.parametrize("cut", _CUTS)
@pytest.mark.parametrize("name", _ROWS)
def test_a_call_restarted_on_a_line_is_incomplete(name: str, cut: str) -> None:
    row = DIALECTS[name]
    written = row.write([_FIRST])
    text = written[: written.index(cut) + len(cut)] + "\n" + row.write([_SECOND])
    _check(read_every_way(text, _TOOLS, chunkings=2), _opener(name))


@pytest.mark.parametrize("cut", ["", *_CUTS])
@pytest.mark.parametrize("name", sorted(set(DIALECTS) - _ON_LINES - _ON_SEVERAL_LINES))
def test_nothing_in_an_open_value_is_called(name: str, cut: str) -> None:
    row = DIALECTS[name]
    written = row.write([_FIRST])
    head = written[: written.index(cut) + len(cut)] if cut else f"{written[: written.index('Q-41')]}see"
    for given, behind in product([{}, {"box": "7"}], ["", " or so", "\nor so"]):
        envelope = read_every_way(f"{head} {row.write([('label_box', given)]).strip()}{behind}", _TOOLS, chunkings=1)
        assert not [call.name for call in envelope.tool_calls if call.complete and call.name == "label_box"]
        assert not any(map(_runs, envelope.tool_calls))


@pytest.mark.parametrize("outer", sorted(set(DIALECTS) - _ENDED_BY_A_LINE))
def test_nothing_in_an_open_value_is_called_in_another_form(outer: str) -> None:
    written = DIALECTS[outer].write([_FIRST])
    called: list[str] = []
    for inner in DIALECTS:
        text = f"{written[: written.index('damp')]}see {DIALECTS[inner].write([('label_box', {'box': '7'})]).strip()}"
        if inner == "react":
            text = text.replace("\n", " ")  # it begins a line
        calls = normalize(text, _TOOLS).tool_calls
        called += [inner for call in calls if call.complete and call.name == "label_box"]
    assert called == []


@pytest.mark.parametrize(
    "half",
    [
        "<tool_call>\n<function=move_shelf>\n<parameter=shelf>\n",
        "<tool_call>\n<function>move_shelf</function>\n<parameter>shelf</parameter>\n",
        "<tool_call>move_shelf<arg_key>shelf</arg_key><arg_value>",
        '<invoke name="move_shelf"><parameter name="shelf">',
        "<move_shelf>\n<shelf>\n",
        '<|start|>assistant to=functions.move_shelf<|channel|>analysis<|message|><rfl:parameter name="shelf">\n',
        '<|open|>call tool="move_shelf" index="1"<|sep|><|open|>argument key="shelf" type="string"<|sep|>',
    ],
)
def test_half_a_call_twice_runs_nothing(half: str) -> None:
    found = read_every_way(half + half, _TOOLS, chunkings=2)
    assert found.tool_calls
    assert not any(_runs(call) for call in found.tool_calls)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("<move_shelf>\n<shelf>Q\n", "<label_box>\n<box>7</box>\n</label_box>"),
        ('<tool_call>\n{"name": "move_shelf", "arguments": {"shelf": "Q\n', '<tool_call>\n{"name": "label_box", "arguments": {"box": "7"}}'),
        ('<tool_call>\n{"name": "move_shelf", "arguments": {"steps": 1', '<tool_call>\n{"name": "label_box", "arguments": {"box": "7"}}'),
        ("move_shelf\n  <shelf>Q\n", "label_box\n  <box>7</box>\n</label_box>"),
    ],
)  # fmt: skip
def test_the_next_call_may_be_of_another_tool(first: str, second: str) -> None:
    found = read_every_way(first + second, _TOOLS, chunkings=2)
    assert [(call.name, call.complete) for call in found.tool_calls] == [("move_shelf", False), ("label_box", True)]
    assert found.tool_calls[1].arguments == {"box": "7"}
    assert found.truncated


@pytest.mark.parametrize(
    "first",
    [
        "<move_shelf>\n<shelf>Q</shelf>\n<reason>damp</reason>\n",
        "<function_calls>\n<invoke>\n<tool_name>move_shelf</tool_name>\n<parameters>\n<shelf>Q</shelf>\n<reason>damp</reason>\n",
        "move_shelf\n  <shelf>Q</shelf>\n  <reason>damp</reason>\n",
    ],
)
def test_a_call_whose_last_value_was_closed_is_whole_before_the_next(first: str) -> None:
    second = first.replace("Q", "R-2").replace("damp", "too dark")
    found = read_every_way(first + second, _TOOLS, chunkings=2)
    wanted = [{"shelf": "Q", "reason": "damp"}, {"shelf": "R-2", "reason": "too dark"}]
    assert [(call.arguments, call.complete) for call in found.tool_calls] == [(given, True) for given in wanted]


def test_a_parameter_that_was_opened_before_the_next_call_is_not_given() -> None:
    written = DIALECTS["invoke_children"].write([_SECOND])
    found = read_every_way('<invoke name="move_shelf">\n<shelf>Q</shelf>\n<steps>\n' + written, _TOOLS, chunkings=2)
    assert [call.complete for call in found.tool_calls] == [False, True]
    assert found.tool_calls[1].arguments == _SECOND[1]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (
            '<tool_call>{"name": "label_box", "arguments": {"box": "<tool_call>{\\"name\\": \\"ping\\", \\"arguments\\": {}}"}}</tool_call>',
            '<tool_call>{"name": "ping", "arguments": {}}',
        ),
        ("<label_box><box>say <label_box> or <box></box></label_box>", "say <label_box> or <box>"),
        ("<label_box>\nbox: |-\n  <label_box>\n  box: 7\n  </label_box>\n</label_box>", "<label_box>\nbox: 7\n</label_box>"),
    ],
)
def test_a_value_may_speak_of_calls(text: str, value: str) -> None:
    (call,) = read_every_way(text, _TOOLS, chunkings=2).tool_calls
    assert call.arguments == {"box": value}
    assert call.complete


_ENDED_BY_AN_INNER_VALUE = {("name_line_tags", "invoke_children"), ("gemma4", "hermes")}
"""The closer of the inner call's value is the outer one's own: nothing is missing behind it."""


@pytest.mark.parametrize("inner", ["hermes", "tool_calls_array", "minimax_m2", "invoke_children"])
@pytest.mark.parametrize("outer", sorted(DIALECTS))
def test_a_value_that_ends_at_the_closer_of_another_rows_call_is_no_value(outer: str, inner: str) -> None:
    if (outer, inner) in _ENDED_BY_AN_INNER_VALUE:
        pytest.skip("the value's own closer stands there")
    written = DIALECTS[outer].write([_FIRST])
    text = written[: written.index("damp") + 4] + "\n" + DIALECTS[inner].write([("label_box", {"box": "7"})])
    found = read_every_way(text, _TOOLS, chunkings=2)
    assert not any(_runs(call) for call in found.tool_calls if call.name == "move_shelf" and "label_box" in str(call.arguments))


def test_a_whole_call_in_a_value_that_is_closed_is_a_part_of_it() -> None:
    spoken = DIALECTS["hermes"].write([("label_box", {"box": "7"})])
    (call,) = read_every_way(
        f"<function=label_box><parameter=box>say {spoken} or not</parameter></function>", _TOOLS, chunkings=2
    ).tool_calls
    assert call.arguments == {"box": f"say {spoken} or not"}
    assert _runs(call)


def test_a_call_beyond_the_number_of_trials_is_a_guess() -> None:
    again = "<move_shelf>\n<shelf>Q\n<move_shelf>\n<shelf>R</shelf>\n</move_shelf>\n"
    found = normalize(again * (TRIALS[0] + 2), _TOOLS)
    last = found.tool_calls[-1]
    assert "move_shelf" in str(last.arguments)
    assert not _runs(last)


_ONE_AFTER_THE_OTHER = {
    "name_line_tags": "{name}\n<{key}>{value}</{key}>\n",
    "name_line_tags indented": "{name}:\n  <{key}>{value}</{key}>\n\n",
    "cline": "<{name}>\n<{key}>{value}</{key}>\n",
    "cline on one line": "<{name}><{key}>{value}</{key}>",
    "mixed_tags": "<tool_call>{name}\n<{key}>{value}</{key}>\n",
    "mixed_tags in a namespace": "<｜DSML｜{name}><{key}>{value}</{key}>\n",
    "qwen3_coder with children": "<function={name}><{key}>{value}</{key}>\n",
    "qwen3_coder": "<function={name}>\n<parameter={key}>\n{value}\n</parameter>\n",
    "invoke_children": '<invoke name="{name}">\n<{key}>{value}</{key}>\n',
    "anthropic_function_calls": '<invoke name="{name}"><parameter name="{key}">{value}</parameter>\n',
    "anthropic_legacy": "<invoke><tool_name>{name}</tool_name><parameters><{key}>{value}</{key}></parameters>",
    "glm45": "<tool_call>{name}<arg_key>{key}</arg_key><arg_value>{value}</arg_value>\n",
}
_CALLS = [("label_box", "box", "rope"), ("label_box", "box", "x"), ("move_shelf", "shelf", "R"), ("label_box", "box", "paint")]


@pytest.mark.parametrize("closed", [False, True], ids=["open", "last closer there"])
@pytest.mark.parametrize("form", _ONE_AFTER_THE_OTHER)
def test_calls_in_tags_without_their_closers_are_as_many_as_were_begun(form: str, closed: bool) -> None:
    text = "".join(_ONE_AFTER_THE_OTHER[form].format(name=name, key=key, value=value) for name, key, value in _CALLS)
    closer = "</function>" if "<function" in text else "</invoke>" if "<invoke" in text else f"</{_CALLS[-1][0]}>"
    envelope = read_every_way(text + closer * closed, _TOOLS, chunkings=2)
    assert [(call.name, call.arguments) for call in envelope.tool_calls] == [(name, {key: value}) for name, key, value in _CALLS]
    assert all(call.complete for call in envelope.tool_calls)
    assert {repair.kind for call in envelope.tool_calls for repair in call.repairs} <= {"closer_missing"}


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("<label_box><box>about <label_box> tags</box></label_box>", {"box": "about <label_box> tags"}),
        ("label_box\n<box>the line\nlabel_box\nsays it</box>\n</label_box>", {"box": "the line\nlabel_box\nsays it"}),
        ("<label_box><box>a </box> b</box></label_box>", {"box": "a </box> b"}),
    ],
)
def test_a_value_that_only_speaks_of_a_call_is_whole(text: str, arguments: dict[str, Any]) -> None:
    (call,) = read_every_way(text, _TOOLS).tool_calls
    assert (call.arguments, call.complete) == (arguments, True)


_INNER_AND_OUTER = {
    "qwen3_coder": (
        "<tool_call>\n<function={}>\n<parameter={}>\n",
        "\n</parameter>\n</function>\n</tool_call>",
    ),
    "anthropic_function_calls": ('<invoke name="{}"><parameter name="{}">', "</parameter></invoke>"),
    "dsml": ('<｜DSML｜invoke name="{}"><｜DSML｜parameter name="{}" string="true">', "</｜DSML｜parameter></｜DSML｜invoke>"),
    "glm45": ("<tool_call>{}<arg_key>{}</arg_key><arg_value>", "</arg_value></tool_call>"),
}


def _nested(form: str, before: str, behind: str) -> tuple[str, str]:
    """(a value that holds a whole call, the call that has it)."""
    opener, closer = _INNER_AND_OUTER[form]
    value = before + opener.format("label_box", "box") + "rope" + closer + behind
    return value, opener.format("move_shelf", "shelf") + value + closer


@pytest.mark.parametrize("around", [("a ", " b"), ("a\n", "\nb"), ("", "")], ids=["in a line", "on lines", "alone"])
@pytest.mark.parametrize("form", _INNER_AND_OUTER)
def test_a_call_in_a_value_that_is_closed_behind_it_is_a_part_of_the_value(form: str, around: tuple[str, str]) -> None:
    value, text = _nested(form, *around)
    envelope = read_every_way(text, _TOOLS, chunkings=2)
    (call,) = envelope.tool_calls
    assert (call.name, call.arguments, call.complete) == ("move_shelf", {"shelf": value}, True)
    assert [(repair.kind, repair.safety) for repair in call.repairs] == [("holds_call", "guess")]
    assert not envelope.content


@pytest.mark.parametrize("inner", ["label_box", "move_shelf"])
@pytest.mark.parametrize("opener", ["<move_shelf>", "move_shelf"])
def test_a_tools_tag_in_a_value_that_is_closed_behind_it_is_a_part_of_the_value(inner: str, opener: str) -> None:
    key = {"label_box": "box", "move_shelf": "shelf"}[inner]
    value = f"a\n<{inner}>\n<{key}>rope</{key}>\n</{inner}>\nb"
    envelope = read_every_way(f"{opener}\n<shelf>{value}</shelf>\n</move_shelf>", _TOOLS, chunkings=2)
    (call,) = envelope.tool_calls
    assert (call.arguments, call.complete) == ({"shelf": value}, True)
    assert [(repair.kind, repair.safety) for repair in call.repairs] == [("holds_call", "guess")]


@pytest.mark.parametrize("form", _INNER_AND_OUTER)
def test_floods_of_calls_in_values_are_linear(form: str) -> None:
    opener = _INNER_AND_OUTER[form][0].format("label_box", "box")
    assert_linear(lambda n: normalize(opener * n, _TOOLS), 500)


@pytest.mark.parametrize(
    "half",
    [
        '<function name="move_shelf"><param name="shelf"><![CDATA[see\n{}',
        '<invoke name="move_shelf"><parameter name="shelf"><![CDATA[\n{}\n',
        "<invoke><tool_name>move_shelf</tool_name><parameters><shelf><![CDATA[\n{}",
        "<tool_call>\n<function=move_shelf>\n<parameter=shelf>\n<![CDATA[\n{}",
        "<tool_call>move_shelf<arg_key>shelf</arg_key><arg_value><![CDATA[{}",
        '<invoke name="move_shelf"><arguments><![CDATA[{{"shelf": "Q\n{}',
    ],
)
def test_nothing_in_a_literal_without_an_end_is_called(half: str) -> None:
    written = half[: half.index("move_shelf")].removeprefix("<tool_call>\n") or "<"
    inner = f"{written}label_box{half[half.index('move_shelf') + 10 : half.index('>', half.index('move_shelf')) + 1]}"
    closer = {"<i": "</invoke>", "<f": "</function>", "<t": "</tool_call>"}[half[:2] if "<function=" not in half else "<f"]
    inner = "<invoke><tool_name>label_box</tool_name>" if "<tool_name>" in half else inner
    inner = "<tool_call>label_box" if "<arg_key>" in half else inner
    envelope = read_every_way(half.format(inner + closer), _TOOLS, chunkings=2)
    assert not any(map(_runs, envelope.tool_calls))
    assert not [call.name for call in envelope.tool_calls if call.complete]


def test_a_call_on_a_line_behind_a_mentioned_one_begins_anew() -> None:
    mentioned = (
        '<invoke name="move_shelf"><parameter name="shelf">see <invoke name="ping"></invoke> or <invoke name="ping"></invoke>'
    )
    anew = '\n<invoke name="label_box"><parameter name="box">7</parameter></invoke>'
    first, second = read_every_way(mentioned + anew, _TOOLS, chunkings=2).tool_calls
    assert (first.name, first.complete) == ("move_shelf", False)
    assert (second.name, second.arguments, _runs(second)) == ("label_box", {"box": "7"}, True)


def test_between_values_a_call_may_begin_anew_on_the_same_line() -> None:
    first = '<tool_call>{"name": "move_shelf", "arguments": {"shelf": "Q", "steps": 1'
    second = '<tool_call>{"name": "label_box", "arguments": {"box": "7"}}</tool_call>'
    found = read_every_way(first + second, _TOOLS, chunkings=2).tool_calls
    assert [(call.name, call.complete) for call in found] == [("move_shelf", False), ("label_box", True)]


@pytest.mark.parametrize("whole", ["", "<arg_key>box</arg_key><arg_value>tin</arg_value>"])
@pytest.mark.parametrize("begun", ["<arg_key>bo", "<arg_key>"])
def test_a_call_restarted_in_a_key_is_incomplete(begun: str, whole: str) -> None:
    text = f"<tool_call>label_box{whole}{begun}<tool_call>label_box<arg_key>box</arg_key><arg_value>rope</arg_value></tool_call>"
    first, second = read_every_way(text, _TOOLS, chunkings=2).tool_calls
    assert not first.complete
    assert (second.arguments, _runs(second)) == ({"box": "rope"}, True)


@pytest.mark.parametrize("begun", ["<parameter=bo", "<parameter="])
def test_a_function_restarted_in_a_key_is_incomplete(begun: str) -> None:
    call = "<tool_call><function=label_box><parameter=box>rope</parameter></function></tool_call>"
    text = f"<tool_call><function=label_box><parameter=box>tin</parameter>{begun}{call}"
    first, second = read_every_way(text, _TOOLS, chunkings=2).tool_calls
    assert not first.complete
    assert (second.arguments, _runs(second)) == ({"box": "rope"}, True)


@pytest.mark.parametrize("begun", ['{title:<|"|>A', '{title:<|"|>A<|"|>,text:<|"|>C c', '{title:<|"|>A b '])
def test_half_a_value_of_gemma_is_no_content(begun: str) -> None:
    again = '<|tool_call>call:save_note{title:<|"|>B<|"|>}<tool_call|>'
    found = read_every_way(f"<|tool_call>call:save_note{begun}\n{again}")
    assert [(call.arguments, call.complete) for call in found.tool_calls][1:] == [({"title": "B"}, True)]
    assert not found.tool_calls[0].complete
    assert found.content == ""


_BETWEEN_TAGS = {
    *("qwen3_coder", "mimo", "seed_oss", "anthropic_function_calls", "minimax_m2", "dsml_v32", "dsml_v4", "dsml_v41", "gcml"),
    *("dots", "step3", "invoke_children", "anthropic_legacy", "atem", "beam", "kimi_k3", "minimax_m3", "cline"),
    *("glm45", "glm47", "hunyuan_v3", "hunyuan_v4", "iquest", "k2_horizon", "longcat_pairs"),
}
"""Rows whose values stand between tags: a call in one is a guess. In the others it is told apart, or cuts the call."""


@pytest.mark.parametrize("name", DIALECTS)
def test_a_call_of_its_own_row_in_a_value_is_a_guess_where_values_have_no_escapes(name: str) -> None:
    write = DIALECTS[name].write
    value = f"a\n{write([('label_box', {'box': 'rope'})]).strip()}\nb"
    found = normalize(write([("move_shelf", {"shelf": value})]), _TOOLS)
    kinds = {repair.kind for call in found.tool_calls for repair in call.repairs if repair.safety in ("guess", "truncated")}
    assert ("holds_call" in kinds) == (name in _BETWEEN_TAGS)
    if not kinds:
        assert [(call.name, call.arguments) for call in found.tool_calls] == [("move_shelf", {"shelf": value})]


_NESTED = 'label_box(box="rope")'


@pytest.mark.parametrize("end", [")", ""])
@pytest.mark.parametrize(
    "written",
    [
        f"move_shelf({_NESTED}",
        f"move_shelf(\n  {_NESTED}\n",
        f'move_shelf("a",\n{_NESTED}',
        f"move_shelf(shelf={_NESTED}",
        f"move_shelf(shelf=\n{_NESTED}",
        f"move_shelf([\n{_NESTED}]",
        f'move_shelf({{"shelf":\n{_NESTED}}}',
        f'move_shelf("a" +\n{_NESTED}',
        f"So:\nmove_shelf(\n{_NESTED}\n",
        f"[move_shelf(\n{_NESTED}",
        f"<|python_tag|>move_shelf(\n{_NESTED}",
        f"<tool_call>move_shelf({_NESTED}",
        f"```python\nmove_shelf(\n{_NESTED}",
    ],
)
def test_a_call_that_is_an_argument_of_another_one_is_none_of_its_own(written: str, end: str) -> None:
    found = read_every_way(written + end, _TOOLS, chunkings=2)
    assert {call.name for call in found.tool_calls} <= {"move_shelf"}
    assert not any(call.complete and _runs(call) for call in found.tool_calls)


def test_a_call_in_braces_within_another_one_is_none_of_its_own() -> None:
    found = read_every_way('move_shelf{\nlabel_box{"box": "rope"}}', _TOOLS, chunkings=2)
    assert [call.name for call in found.tool_calls if _runs(call)] == []


@pytest.mark.parametrize("cut", ["upper", "upper,", "(upper"])
def test_a_call_of_python_behind_half_a_string_is_begun_anew(cut: str) -> None:
    found = read_every_way(f'move_shelf(shelf="{cut}\n{_NESTED}', _TOOLS, chunkings=2)
    assert [(call.name, _runs(call)) for call in found.tool_calls] == [("move_shelf", False), ("label_box", True)]
