"""Parameters as they should not be: never closed, given twice, without a name, with text that no key took."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.types.envelope import Envelope
from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import read_every_way, tool

TOOLS = ToolSet(
    [
        tool("seal", ["berth"], berth="string", crew={"type": "array", "items": {"type": "integer"}}, note="string"),
        tool("drain", tank="string", level="integer"),
    ]
)
_M3 = "]<]minimax[>["
OPEN = {
    "F": "<tool_call>\n<function=seal>\n<parameter=berth>\n",
    "F alone": "<function=seal><parameter=berth>",
    "G": "<tool_call>seal\n<arg_key>berth</arg_key>\n<arg_value>",
    "E": '<invoke name="seal">\n<parameter name="berth">',
    "E in its wrapper": '<function_calls>\n<invoke name="seal">\n<parameter name="berth">',
    "DSML": '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="seal">\n<｜DSML｜parameter name="berth">',
    "M3": f'{_M3}<tool_call>{_M3}<invoke name="seal">{_M3}<berth>',
    "Gemma": '<|tool_call>call:seal{berth:<|"|>',
    "harmony": '<|start|>assistant<|channel|>commentary to=functions.seal<|message|>{"berth": "',
}


def read(text: str, **more: Any) -> Envelope:
    return read_every_way(text, TOOLS, chunkings=3, **more)


def kinds(envelope: Envelope) -> list[tuple[str, str, str]]:
    return [(repair.kind, repair.path, repair.safety) for call in envelope.tool_calls for repair in call.repairs]


@pytest.mark.parametrize("value", ["", "North", "North pier\n"])
@pytest.mark.parametrize("opened", OPEN.values(), ids=OPEN)
def test_a_restarted_call_is_incomplete(opened: str, value: str) -> None:
    envelope = read((opened + value) * 2)
    assert envelope.tool_calls
    assert not any(call.complete for call in envelope.tool_calls)
    first = envelope.tool_calls[0]
    closers = [repair.safety for repair in first.repairs if repair.kind in ("closer_missing", "missing_closer")]
    assert "lossless" not in closers


@pytest.mark.parametrize(
    "text",
    [
        '<function name=" seal "><parameter name=" berth ">7</parameter><parameter= note >wet</parameter></function>',
        "<function= seal >\n<parameter= berth >7</parameter><parameter=' note '>wet</parameter></function>",
        '<invoke name=" seal "><parameter name=" berth ">7</parameter><parameter name="note ">wet</parameter></invoke>',
    ],
)
def test_names_and_keys_are_trimmed(text: str) -> None:
    envelope = read(text)
    assert [(call.name, call.arguments) for call in envelope.tool_calls] == [("seal", {"berth": "7", "note": "wet"})]
    assert kinds(envelope) == []


@pytest.mark.parametrize(
    ("body", "arguments"),
    [
        ("<parameter=berth>7</parameter>\nand wet\n", {"berth": "7"}),
        ("<parameter=berth>7</parameter><parameter>wet</parameter>", {"berth": "7"}),
        ("<parameter>wet</parameter><parameter=berth>7</parameter>", {"berth": "7"}),
        ("<parameter=note>wet</parameter>7", None),
    ],
)
def test_what_no_key_took_is_a_guess_or_unreadable(body: str, arguments: dict[str, Any] | None) -> None:
    envelope = read(f"<function=seal>{body}</function>")
    assert [call.arguments for call in envelope.tool_calls] == [arguments]
    assert [(kind, safety) for kind, _, safety in kinds(envelope)] == [("text_dropped", "guess")]


def test_a_key_of_another_family_is_a_guess() -> None:
    envelope = read("<function=seal><parameter=berth></arg_key>\n<arg_value>7</arg_value></function>")
    assert [call.arguments for call in envelope.tool_calls] == [{"berth": "7"}]
    assert ("value_peeled", "berth", "guess") in kinds(envelope)


TWICE = {
    "F": "<function=seal><parameter=berth>7</parameter><parameter={0}>{1}</parameter><parameter={0}>{2}</parameter></function>",
    "E": '<invoke name="seal"><parameter name="berth">7</parameter><parameter name="{0}">{1}</parameter>'
    '<parameter name="{0}">{2}</parameter></invoke>',
    "G": "<tool_call>seal<arg_key>berth</arg_key><arg_value>7</arg_value><arg_key>{0}</arg_key><arg_value>{1}</arg_value>"
    "<arg_key>{0}</arg_key><arg_value>{2}</arg_value></tool_call>",
    "M3": f'{_M3}<tool_call>{_M3}<invoke name="seal">{_M3}<berth>7{_M3}</berth>{_M3}<{{0}}>{{1}}{_M3}</{{0}}>'
    f"{_M3}<{{0}}>{{2}}{_M3}</{{0}}>{_M3}</invoke>{_M3}</tool_call>",
    "J4": '[TOOL_CALL]{{tool => "seal", args => {{--berth "7" --{0} "{1}" --{0} "{2}"}}}}[/TOOL_CALL]',
}


@pytest.mark.parametrize("form", TWICE.values(), ids=TWICE)
def test_a_parameter_that_comes_twice_is_the_last_one_by_a_guess(form: str) -> None:
    envelope = read(form.format("note", "a", "b"))
    assert [call.arguments for call in envelope.tool_calls] == [{"berth": "7", "note": "b"}]
    assert kinds(envelope) == [("parameter_repeated", "note", "guess")]


@pytest.mark.parametrize("form", TWICE.values(), ids=TWICE)
def test_an_array_takes_all(form: str) -> None:
    envelope = read(form.format("crew", "3", "5"))
    assert [call.arguments for call in envelope.tool_calls] == [{"berth": "7", "crew": [3, 5]}]
    assert kinds(envelope) == [("parameter_repeated", "crew", "lossless")]


@pytest.mark.parametrize(("first", "second"), [("[3, 5]", "7"), ("3", "[5, 7]"), ("[3]", "[5, 7]")])
def test_an_array_takes_the_items_of_a_list(first: str, second: str) -> None:
    envelope = read(TWICE["F"].format("crew", first, second))
    assert [call.arguments for call in envelope.tool_calls] == [{"berth": "7", "crew": [3, 5, 7]}]


FORMS = {
    "F": ("<function=seal><parameter=berth>", "</parameter></function>"),
    "E": ('<invoke name="seal"><parameter name="berth">', "</parameter></invoke>"),
    "DSML": ('<｜DSML｜invoke name="seal"><｜DSML｜parameter name="berth">', "</｜DSML｜parameter></｜DSML｜invoke>"),
    "G": ("<tool_call>seal<arg_key>berth</arg_key><arg_value>", "</arg_value></tool_call>"),
    "H4": ('<invoke name="seal"><berth>', "</berth></invoke>"),
}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("<![CDATA[a <b> & {close} c]]>", "a <b> & {close} c"),
        ("\n  <![CDATA[x]]>\n", "x"),
        ("a <![CDATA[<b>]]> c <![CDATA[{close}]]>", "a <b> c {close}"),
        ("<![CDATA[a]]> and <![CDATA[b]]>", "a and b"),
        ("<![CDATA[a]]]]><![CDATA[>]]>", "a]]>"),
        ("say <![CDATA[ to begin one", "say <![CDATA[ to begin one"),
        ("<p><![CDATA[x]]></p>", "<p><![CDATA[x]]></p>"),
    ],
)
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_cdata_is_literal_in_every_form(form: tuple[str, str], written: str, meant: str) -> None:
    close = form[1].partition("</")[1] + form[1].partition("</")[2].partition(">")[0] + ">"
    envelope = read(form[0] + written.replace("{close}", close) + form[1])
    assert [(call.complete, call.arguments) for call in envelope.tool_calls] == [
        (True, {"berth": meant.replace("{close}", close)})
    ]


def test_the_text_behind_a_call_that_never_closed_is_content() -> None:
    envelope = read("I'll seal it.\n<function=seal><parameter=berth>7</parameter>\n\nThe seal is on.\nCheck it.")
    assert [(call.arguments, call.complete) for call in envelope.tool_calls] == [({"berth": "7"}, True)]
    assert envelope.content == "I'll seal it.\n\n\nThe seal is on.\nCheck it."
    assert kinds(envelope) == [("closer_missing", "", "lossless")]


def test_text_between_a_call_that_never_closed_and_the_next_is_content() -> None:
    one = "<function=drain><parameter=tank>{}</parameter>"
    envelope = read(f"{one.format('A')}\nThen the other:\n{one.format('B')}</function>")
    assert [call.arguments for call in envelope.tool_calls] == [{"tank": "A"}, {"tank": "B"}]
    assert envelope.content.strip() == "Then the other:"


def test_text_behind_a_value_that_never_closed_is_the_values() -> None:
    envelope = read("<function=seal><parameter=berth>7\n\nThe seal is on.")
    assert [(call.arguments, call.complete) for call in envelope.tool_calls] == [({"berth": "7\n\nThe seal is on."}, False)]
    assert envelope.content == ""


def test_text_behind_a_call_cut_by_the_limit_leaves_it_cut() -> None:
    envelope = read("<function=seal><parameter=berth>7</parameter>\n\nThe seal is on.", finish_reason="length")
    assert [call.complete for call in envelope.tool_calls] == [False]
