"""Elements named after the arguments: what becomes of them by the schema."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.types.envelope import Envelope
from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import read_every_way, tool

ITEMS = {"type": "array", "items": {"type": "string"}}
CREW = {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}}
TOOLS = ToolSet(
    [
        tool(
            "load",
            ["cargo"],
            cargo=ITEMS,
            depth={"type": "array", "items": {"type": "number"}},
            crew=CREW,
            via="object",
            note="string",
        ),
        tool("anything"),
        {"name": "nothing", "parameters": {"type": "object", "properties": {}, "additionalProperties": False}},
    ]
)


def read(text: str) -> Envelope:
    return read_every_way(text, TOOLS, chunkings=3)


def only(text: str) -> tuple[dict[str, Any] | None, list[tuple[str, str]]]:
    envelope = read(text)
    (call,) = envelope.tool_calls
    assert call.complete
    assert not envelope.content
    return call.arguments, [(repair.kind, repair.safety) for repair in call.repairs]


@pytest.mark.parametrize(
    ("body", "arguments", "repairs"),
    [
        ("<cargo>tea</cargo><note>a</note><cargo>salt</cargo>", {"cargo": ["tea", "salt"], "note": "a"}, "parameter_repeated"),
        ("<cargo><item>tea</item></cargo>", {"cargo": ["tea"]}, ""),
        ("<cargo><piece>tea</piece><piece>salt</piece></cargo>", {"cargo": ["tea", "salt"]}, ""),
        ("<cargo>\n  <0>tea</0>\n  <1>salt</1>\n</cargo>", {"cargo": ["tea", "salt"]}, ""),
        ("<cargo><1>salt</1><0>tea</0></cargo>", {"cargo": ["tea", "salt"]}, ""),
        ("<cargo><1>tea</1><2>salt</2></cargo>", {"cargo": ["tea", "salt"]}, ""),
        ("<cargo><0>tea</0><2>salt</2></cargo>", {"cargo": ["tea", "salt"]}, "index_gap"),
        ("<cargo><a>tea</a><b>salt</b></cargo>", {"cargo": ["tea", "salt"]}, "items_of_several_names"),
        ('<cargo>["tea", "salt"]</cargo>', {"cargo": ["tea", "salt"]}, ""),
        ("<cargo>tea, salt</cargo>", {"cargo": "tea, salt"}, ""),
        ("<cargo>tea\nsalt</cargo>", {"cargo": "tea\nsalt"}, ""),
        ("<cargo><item>a &amp; b</item></cargo>", {"cargo": ["a & b"]}, "entities_decoded"),
        ("<cargo><item>a &amp; b</item></cargo><note>c & d</note>", {"cargo": ["a &amp; b"], "note": "c & d"}, ""),
        ("<cargo><item>a && b < 3</item></cargo>", {"cargo": ["a && b < 3"]}, ""),
        ("<cargo><item><![CDATA[a </b>]]></item></cargo>", {"cargo": ["a </b>"]}, ""),
        ("<cargo>tea</cargo><depth>3.5</depth><depth>4</depth>", {"cargo": "tea", "depth": [3.5, 4]}, "parameter_repeated"),
        (
            "<cargo><item>tea</item></cargo><crew><name>Ann</name><age>3</age></crew><crew><name>Bo</name><age>5</age></crew>",
            {"cargo": ["tea"], "crew": [{"name": "Ann", "age": 3}, {"name": "Bo", "age": 5}]},
            "parameter_repeated",
        ),
        ("<cargo><item>tea</item></cargo><via><0>x</0><b>y</b></via>", {"cargo": ["tea"], "via": {"0": "x", "b": "y"}}, ""),
        ("<cargo><item>tea</item></cargo><note><p>a</p></note>", {"cargo": ["tea"], "note": "<p>a</p>"}, ""),
    ],
)
def test_the_schema_says_what_children_are(body: str, arguments: dict[str, Any], repairs: str) -> None:
    found, made = only(f"<load>{body}</load>")
    assert found == arguments
    assert repairs in [kind for kind, _ in made] if repairs else not made


def test_a_gap_or_several_names_are_a_guess() -> None:
    assert only("<load><cargo><0>tea</0><2>salt</2></cargo></load>")[1] == [("index_gap", "guess")]
    assert only("<load><cargo><a>tea</a><b>salt</b></cargo></load>")[1] == [("items_of_several_names", "guess")]


def test_a_tool_whose_schema_names_none_takes_any() -> None:
    assert only("<anything><depth>3</depth><note>a</note></anything>")[0] == {"depth": "3", "note": "a"}
    assert read("<nothing><depth>3</depth></nothing>").tool_calls == []
    assert [call.arguments for call in read("<nothing></nothing>").tool_calls] == [{}]


@pytest.mark.parametrize("form", ['<load cargo=\'["a &amp; b"]\' note="&lt;c&gt;"/>'])
def test_entities_of_attributes_are_decoded(form: str) -> None:
    assert only(form)[0] == {"cargo": ["a & b"], "note": "<c>"}


def test_one_line_of_tags_without_end_is_linear() -> None:
    envelope = read_every_way("<load><cargo>" + "<item>a</cargo>" * 400, TOOLS, chunkings=1)
    assert len(envelope.tool_calls) <= 1


@pytest.mark.parametrize(
    "text",
    [
        "<load><note><![CDATA[a</note><cargo>tea</cargo></load>",
        "<load><cargo>tea</cargo><note><![CDATA[a</note></load>",
        "load\n<cargo>tea</cargo>\n<note><![CDATA[a</note>\n</load>",
        "<load><cargo>tea</cargo><note><![CDATA[a]]>b<![CDATA[c</note></load>",
        "<function=load><cargo>tea</cargo><note><![CDATA[a</note></function>",
        "<tool_call>load<arg_key>cargo</arg_key><arg_value>tea</arg_value><arg_key>note</arg_key><arg_value><![CDATA[a</arg_value></tool_call>",
        '<invoke name="load"><parameter name="cargo">tea</parameter><parameter name="note"><![CDATA[a</parameter></invoke>',
    ],
)
def test_a_literal_that_never_ends_was_cut(text: str) -> None:
    (call,) = read(text).tool_calls
    assert not call.complete


@pytest.mark.parametrize(
    "text",
    [
        "<load><cargo>tea</cargo><note>say <![CDATA[ first</note></load>",
        "<function=load><parameter=cargo>tea</parameter><parameter=note>say <![CDATA[ first</parameter></function>",
    ],
)
def test_a_text_that_speaks_of_a_literal_is_a_guess(text: str) -> None:
    (call,) = read(text).tool_calls
    assert (call.complete, (call.arguments or {})["note"]) == (True, "say <![CDATA[ first")
    assert [(repair.kind, repair.safety) for repair in call.repairs] == [("literal_open", "guess")]
