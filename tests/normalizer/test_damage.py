"""Damage that is never taken for a sound call: what a call lacks, repeats or drops, and what is cut off, is seen."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore.normalizer.api import normalize
from llmcore.types.envelope import Envelope
from llmcore.types.tools import ToolSet

from .helpers import read_every_way, tool

_TOOLS = ToolSet(
    [
        tool("move_shelf", ["shelf"], shelf="string", reason="string"),
        tool("label_box", ["names"], names={"type": "array", "items": {"type": "string"}}),
        tool("note_down", text="string"),
        tool("summary", ["title"], title="string"),
        tool("ping"),
    ]
)
_M3 = "]<]minimax[>["


def _read(text: str, finish: str | None = None) -> Envelope:
    return read_every_way(text, _TOOLS, finish_reason=finish, chunkings=2)


def _guesses(text: str) -> list[str]:
    (call,) = _read(text).tool_calls
    return [repair.kind for repair in call.repairs if repair.safety == "guess"]


# --- parameters without a name --------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        '<invoke name="{}"><parameter>K-77</parameter></invoke>',
        '<function name="{}"><param>K-77</param></function>',
        '<invoke name="{}"><parameter name="">K-77</parameter></invoke>',
        "<tool_call>{}<arg_key></arg_key><arg_value>K-77</arg_value></tool_call>",
    ],
)
def test_a_parameter_without_a_name_is_a_guess_or_unreadable(form: str) -> None:
    (call,) = _read(form.format("note_down")).tool_calls
    assert (call.arguments, [repair.kind for repair in call.repairs]) == ({}, ["text_dropped"])
    assert call.repairs[0].safety == "guess"
    assert _read(form.format("move_shelf")).tool_calls[0].arguments is None


def test_a_key_whose_value_is_nowhere_is_a_guess() -> None:
    assert _guesses("<tool_call><function>move_shelf</function><parameter>shelf</parameter></tool_call>") == ["closer_missing"]


def test_a_key_in_an_element_that_the_tool_does_not_have_is_a_guess() -> None:
    text = "<function>move_shelf</function>\n<parameter>shelf</parameter>\nQ\n<parameter>colour</parameter>\nred\n</function>"
    assert _guesses(text) == ["key_guessed"]


# --- values given twice ---------------------------------------------------------------------------

_TWICE = [
    '<tool name="{f}" {k}="A" {k}="B" />',
    '<{f} {k}="A" {k}="B"/>',
    '{f}({k}="A", {k}="B")',
    '{{"name": "{f}", "arguments": {{"{k}": "A", "{k}": "B"}}}}',
    '<tool_call>{{"name": "{f}", "arguments": {{"{k}": "A", "{k}": "B"}}}}</tool_call>',
    '<|tool_call>call:{f}{{{k}:<|"|>A<|"|>,{k}:<|"|>B<|"|>}}<tool_call|>',
    'Action: {f}\nAction Input: {{"{k}": "A", "{k}": "B"}}',
    "<{f}>\n{k}: A\n{k}: B\n</{f}>",
]


@pytest.mark.parametrize("form", _TWICE)
def test_of_two_values_of_a_key_the_last_one_is_a_guess(form: str) -> None:
    (call,) = _read(form.format(f="move_shelf", k="shelf")).tool_calls
    assert call.arguments == {"shelf": "B"}
    assert [repair.safety for repair in call.repairs] == ["guess"]


@pytest.mark.parametrize("form", _TWICE)
def test_an_array_takes_all_values_of_its_key(form: str) -> None:
    (call,) = _read(form.format(f="label_box", k="names")).tool_calls
    assert call.arguments == {"names": ["A", "B"]}
    assert [(repair.kind, repair.safety) for repair in call.repairs] == [("parameter_repeated", "lossless")]


def test_a_clipped_record_stays_a_guess() -> None:
    written = '<tool_call>{{"name": "label_box", "arguments": {{"names": "{}", "names": "B"}}}}</tool_call>'
    assert _guesses(written.format("a" * 200)) == ["duplicate_key"]


def test_one_value_twice_loses_nothing() -> None:
    (call,) = _read('{"name": "move_shelf", "arguments": {"shelf": "A", "shelf": "A"}}').tool_calls
    assert [repair.safety for repair in call.repairs] == ["lossless"]


# --- a body said again ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "move_shelf<arg_key>shelf</arg_key><arg_value>Q</arg_value></tool_call>",
        '{"name": "move_shelf", "arguments": {"shelf": "Q"}}</tool_call>',
    ],
)
def test_an_echoed_body_is_no_second_call(body: str) -> None:
    found = _read(f"<tool_call>{body}{body}")
    assert [call.arguments for call in found.tool_calls] == [{"shelf": "Q"}]
    assert found.content == ""
    assert [repair.kind for repair in found.repairs] == ["echo_dropped"]
    assert len(_read(f"<tool_call>{body}{body.replace('Q', 'R')}").tool_calls) == 2


# --- placeholders ---------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["...", "<id>", "<x>", "<your shelf>"])
def test_a_placeholder_is_a_guess(value: str) -> None:
    for text in (
        f'<tool_call>{{"name": "move_shelf", "arguments": {{"shelf": "{value}"}}}}</tool_call>',
        f'{{"name": "move_shelf", "arguments": {{"shelf": "{value}"}}}}',
        f"<move_shelf>\n<shelf>{value}</shelf>\n</move_shelf>",
    ):
        assert _guesses(text) == ["placeholder"]


def test_elements_of_html_are_values() -> None:
    assert _guesses('<tool_call>{"name": "note_down", "arguments": {"text": "<br>"}}</tool_call>') == []


def test_a_placeholder_after_an_example_is_content() -> None:
    found = _read('For example:\n{"name": "move_shelf", "arguments": {"shelf": "..."}}')
    assert (found.tool_calls, [miss.reason for miss in found.near_misses]) == ([], ["placeholder"])


# --- what is cut off or cannot be read ------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "finish", "name"),
    [
        ("Hello\n<ping>", None, "ping"),
        ("<move_shelf>\n", None, "move_shelf"),
        ("<move_shelf>Q", "length", "move_shelf"),
        ('<move_shelf>{"sh', "length", "move_shelf"),
        ('<tool_call>move_shelf shelf="Q" reason="la', None, "move_shelf"),
        ('<tool name="move_shelf" shelf="Q"', None, "move_shelf"),
    ],
)
def test_a_call_that_was_cut_off_is_there_and_not_whole(text: str, finish: str | None, name: str) -> None:
    found = _read(text, finish)
    assert [(call.name, call.complete) for call in found.tool_calls] == [(name, False)]
    assert found.truncated


@pytest.mark.parametrize("text", ["<tool name='ping'<", '<tool_call>move_shelf shelf="Q"<'])
def test_a_tag_that_is_none_is_no_cut_call(text: str) -> None:
    assert all(call.name != "ping" for call in _read(text).tool_calls)


def test_an_object_in_a_tag_that_never_closes_is_whole() -> None:
    (call,) = _read('<move_shelf>{"shelf": "Q"}').tool_calls
    assert (call.arguments, call.complete, [repair.kind for repair in call.repairs]) == ({"shelf": "Q"}, True, ["closer_missing"])
    assert _read('<move_shelf>{"reason": "Q"}').tool_calls[0].complete is False


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<tool_call>move_shelf<arg_value>Q</arg_value>", "unreadable"),
        ("<tool_call>move_shelf<parameter=shelf></arg_key>Q", "unreadable"),
        ("<function>move_shelf</function>\n<parameter>colour</parameter>\nQ\n</function>", "unknown_parameter"),
    ],
)
def test_unreadable_text_is_a_near_miss(text: str, reason: str) -> None:
    found = _read(text)
    assert (found.tool_calls, found.content, [miss.reason for miss in found.near_misses]) == ([], text, [reason])


def test_a_name_line_at_the_end_is_text() -> None:
    found = _read("move_shelf\n<shelf>Q</shelf>\nping\n")
    assert [call.arguments for call in found.tool_calls] == [{"shelf": "Q"}]
    assert (found.content.strip(), found.truncated) == ("ping", False)


# --- what is no call, and what a call drops -------------------------------------------------------


def test_a_link_is_no_call() -> None:
    text = '[move_shelf(shelf="Q")](http://x)'
    found = _read(text)
    assert (found.tool_calls, found.content, found.truncated) == ([], text, False)
    assert _read("""['move_shelf'](shelf="Q")""").tool_calls[0].arguments == {"shelf": "Q"}


def test_a_schema_under_the_name_of_a_tool_is_a_definition() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"shelf": {"type": "string"}}}
    assert _read(json.dumps({"move_shelf": schema})).tool_calls == []
    definition = {"type": "function", "function": {"name": "move_shelf", "parameters": schema}}
    found = _read(f"<tool_call>\n{json.dumps(definition)}\n</tool_call>")
    assert (found.tool_calls, [miss.reason for miss in found.near_misses]) == ([], ["definition"])


def test_strings_side_by_side_are_a_guess() -> None:
    assert _guesses("move_shelf(shelf='a' 'b')") == ["joined_strings"]


def test_a_quotation_mark_that_nothing_closes_in_yaml_is_a_guess() -> None:
    assert _guesses('<move_shelf>\nshelf: "half\nreason: damp\n</move_shelf>') == ["text_for_yaml"]


@pytest.mark.parametrize("form", ['<tool_call>move_shelf {}</tool_call>', "<move_shelf {}/>"])  # fmt: skip
def test_one_known_attribute_is_enough(form: str) -> None:
    (call,) = _read(form.format('shelf="Q" colour="red"')).tool_calls
    assert call.arguments == {"shelf": "Q", "colour": "red"}
    assert _read(form.format('colour="red"')).tool_calls == []


def test_entities_in_children_are_decoded_once() -> None:
    (call,) = _read("<tool_call>move_shelf\n<shelf>a &amp;amp; b</shelf>\n</move_shelf>").tool_calls
    assert call.arguments == {"shelf": "a &amp; b"}
    (raw,) = _read("<tool_call>move_shelf\n<shelf>a &amp; b</shelf>\n<reason>c & d</reason>\n</move_shelf>").tool_calls
    assert raw.arguments == {"shelf": "a &amp; b", "reason": "c & d"}


def test_literal_text_is_literal_in_minimax_m3() -> None:
    inner = f'{_M3}<invoke name="move_shelf">{_M3}<shelf><![CDATA[x<y]]>{_M3}</shelf>{_M3}</invoke>'
    (call,) = _read(f"{_M3}<tool_call>\n{inner}\n{_M3}</tool_call>").tool_calls
    assert call.arguments == {"shelf": "x<y"}


def test_a_call_as_the_only_content_is_read() -> None:
    call = {"name": "move_shelf", "arguments": {"shelf": "Q"}}
    assert _read(json.dumps({"content": call})).tool_calls[0].arguments == {"shelf": "Q"}
    assert _read(json.dumps({"content": {**call, "name": "else"}})).tool_calls == []


def test_html_is_no_call_of_a_tool_of_that_name() -> None:
    page = "<details>\n<summary>More</summary>\ntext\n</details>"
    found = normalize(page, _TOOLS)
    assert (found.tool_calls, found.content) == ([], page)
    assert _read("<summary>\n<title>More</title>\n</summary>").tool_calls[0].arguments == {"title": "More"}
