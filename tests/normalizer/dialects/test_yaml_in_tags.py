"""Arguments as lines of YAML: scalars, blocks, lists and brackets by the schema, what is no YAML, floods."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.normalizer.api import normalize
from llmcore.types.limits import Limits
from llmcore.types.tools import ToolSet
from tests.helpers.growth import assert_linear
from tests.normalizer.helpers import read_every_way, tool

TOOLS = ToolSet(
    [
        tool("book_room", ["room"], room="string", seats="integer", projector="boolean", hall={"type": ["string", "null"]}),
        tool("save_note", ["title"], title="string", text="string"),
        tool("plan_route", ["stops"], stops={"type": "array", "items": {"type": "string"}}, via="object", any={}),
        tool("set", limits={"type": "object", "properties": {"most": {"type": "number"}, "of": {"type": "array"}}}),
        tool("search", ["query"], query="string"),
        tool("ping"),
    ]
)


def arguments(body: str, name: str = "book_room") -> dict[str, Any] | None:
    envelope = read_every_way(f"<{name}>\n{body}\n</{name}>", TOOLS)
    assert [(call.name, call.dialect, call.complete) for call in envelope.tool_calls] == [(name, "yaml_in_tag", True)]
    assert not envelope.content
    return envelope.tool_calls[0].arguments


@pytest.mark.parametrize(
    ("body", "given"),
    [
        ("room: Aula 3\nseats: 40\nprojector: true", {"room": "Aula 3", "seats": 40, "projector": True}),
        ("room: 1.10", {"room": "1.10"}),
        ("room: no", {"room": "no"}),
        ("room: 2026-11-23", {"room": "2026-11-23"}),
        ("room: 12:30", {"room": "12:30"}),
        ("room: ~", {"room": "~"}),
        ("other: 1.10\nroom: a", {"other": "1.10", "room": "a"}),
        ("room: a\nprojector: yes", {"room": "a", "projector": True}),
        ("room: a\nprojector: Off", {"room": "a", "projector": False}),
        ('room: "a"\nseats: "40"\nprojector: "false"', {"room": "a", "seats": 40, "projector": False}),
        ("room: a\nseats: forty", {"room": "a", "seats": "forty"}),
        ("room: a\nhall: null", {"room": "a", "hall": None}),
        ("room: a\nhall: ~", {"room": "a", "hall": None}),
        ("room: a\nhall:", {"room": "a", "hall": None}),
        ("room: a\nhall: 'null'", {"room": "a", "hall": "null"}),
        ("room:", {"room": ""}),
        ("room: ''", {"room": ""}),
        ("room: 'it''s'", {"room": "it's"}),
        ('room: "a\\n\\"b\\" \\u00e9"', {"room": 'a\n"b" é'}),
        ('room: "\\ud83c\\udf26"', {"room": "\U0001f326"}),
        ("room: a   # the big one", {"room": "a"}),
        ("room: a#b", {"room": "a#b"}),
        ("'room': a\n\"seats\": 2", {"room": "a", "seats": 2}),
        ("room:Aula 3", {"room": "Aula 3"}),
        ("room: a\n  b\n\n  c", {"room": "a b\nc"}),
        ("room: a\u2028b", {"room": "a\u2028b"}),
        ('room: "a\x85b"', {"room": "a\x85b"}),
        ("---\nroom: a\n...", {"room": "a"}),
    ],
)
def test_scalars_are_text_until_the_schema_types_them(body: str, given: dict[str, Any]) -> None:
    assert arguments(body) == given


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("|\n  north: leeks\n    (under glass)\n  3 < 5 rows", "north: leeks\n  (under glass)\n3 < 5 rows\n"),
        ("|-\n  a\n  b\n", "a\nb"),
        ("|+\n  a\n", "a\n\n"),
        ("|2-\n    a\n  b", "  a\nb"),
        (">\n  a\n  b\n\n  c", "a b\nc\n"),
        (">-\n  a\n  b", "a b"),
        ("| # said\n  a", "a\n"),
        ("|\n  <b>x</b>\n  &amp; <y", "<b>x</b>\n&amp; <y\n"),
        ("|\n  a\n</text>", "a\n"),
    ],
)
def test_blocks(written: str, text: str) -> None:
    assert arguments(f"title: Beds\ntext: {written}", "save_note") == {"title": "Beds", "text": text}
    assert arguments(f"text: {written}\ntitle: Beds", "save_note") == {"title": "Beds", "text": text}


@pytest.mark.parametrize(
    ("body", "given"),
    [
        ("stops:\n- Ulm\n- 'Au'", {"stops": ["Ulm", "Au"]}),
        ("stops:\n  - Ulm\n  - 1.10", {"stops": ["Ulm", "1.10"]}),
        ("stops: [Ulm, Au am Inn]", {"stops": ["Ulm", "Au am Inn"]}),
        ('stops: ["Ulm",\n  "Au"]', {"stops": ["Ulm", "Au"]}),
        ("stops: '[\"Ulm\"]'", {"stops": ["Ulm"]}),
        ("stops: Ulm, Au", {"stops": "Ulm, Au"}),
        ("stops: Ulm\nstops: Au", {"stops": ["Ulm", "Au"]}),
        ("stops:", {"stops": []}),
        ("stops: []\nvia: {}", {"stops": [], "via": {}}),
        ("stops: []\nvia:", {"stops": [], "via": {}}),
        ("stops: []\nvia: {a: 1, b: no}", {"stops": [], "via": {"a": "1", "b": "no"}}),
        ('stops: []\nvia: {"a": 1, "b": [null]}', {"stops": [], "via": {"a": 1, "b": [None]}}),
        ("stops: []\nvia:\n  a:\n    - b: c\n      d: 1", {"stops": [], "via": {"a": [{"b": "c", "d": "1"}]}}),
        ("stops: []\nany: 3", {"stops": [], "any": "3"}),
    ],
)
def test_lists_and_mappings(body: str, given: dict[str, Any]) -> None:
    assert arguments(body, "plan_route") == given


def test_inner_values_have_the_types_of_the_inner_schema() -> None:
    assert arguments("limits:\n  most: 1.50\n  of:\n  - 1", "set") == {"limits": {"most": 1.5, "of": ["1"]}}
    assert arguments('limits: {"most": "2", "of": [1, {"a": 1}]}', "set") == {"limits": {"most": 2, "of": [1, {"a": 1}]}}


@pytest.mark.parametrize(
    ("body", "given", "safety"),
    [
        ("title: Re: beds", {"title": "Re: beds"}, "coerced"),
        ("title: [urgent] beds\ntext: x", {"title": "[urgent] beds", "text": "x"}, "coerced"),
        ("title: [urgent]", {"title": "[urgent]"}, "coerced"),
        ("title:\n  a: b\n  c: d", {"title": "a: b\nc: d"}, "coerced"),
        ("title: #3", {"title": "#3"}, "guess"),
        ("title: a\ntitle: b", {"title": "b"}, "guess"),
        ("title: first\nand: second\nthird\ntext: x", {"title": "first\nand: second\nthird\n", "text": "x"}, "guess"),
        ("text: |\nfirst\nsecond\ntitle: a", {"text": "first\nsecond\n", "title": "a"}, "guess"),
        (
            'title: a\ntext: """Doc."""\n\ndef f():\n    pass',
            {"title": "a", "text": '"""Doc."""\n\ndef f():\n    pass\n'},
            "guess",
        ),
        ("title: *.py", {"title": "*.py"}, "coerced"),
        ("text: |-\n\tdef f():\n\t\tpass\ntitle: a", {"text": "def f():\n\tpass", "title": "a"}, "guess"),
        ('"title": "a",\n"text": "b"', {"title": "a", "text": "b"}, "coerced"),
        ("title: a\n  text: b", {"title": "a", "text": "b"}, "coerced"),
        ("  title: a\ntext: b", {"title": "a", "text": "b"}, "coerced"),
        ("title: a &amp; b\ntext: '&lt;p&gt;'", {"title": "a & b", "text": "<p>"}, "coerced"),
        ("title: &x a\ntext: *x", {"title": "&x a", "text": "*x"}, "coerced"),
        ("title: !!int 3", {"title": "!!int 3"}, "coerced"),
        ("title: a\n---\ntitle: b", {"title": "a\n---\ntitle: b\n"}, "guess"),
    ],
)
def test_text_that_is_no_yaml_is_recorded(body: str, given: dict[str, Any], safety: str) -> None:
    assert arguments(body, "save_note") == given
    repairs = normalize(f"<save_note>\n{body}\n</save_note>", TOOLS).tool_calls[0].repairs
    assert safety in {repair.safety for repair in repairs}


@pytest.mark.parametrize(
    ("body", "given"),
    [
        ("title: a &amp; b & c", {"title": "a &amp; b & c"}),
        ("title: a &amp; <b>", {"title": "a &amp; <b>"}),
        ("title: a\ntext: |\n  &amp; <p>", {"title": "a", "text": "&amp; <p>\n"}),
        ("title: a &amp; b\ntext: |\n  &amp; <p>", {"title": "a & b", "text": "&amp; <p>\n"}),
    ],
)
def test_entities_are_decoded_outside_blocks_if_all_is_escaped(body: str, given: dict[str, Any]) -> None:
    assert arguments(body, "save_note") == given


def test_a_key_that_holds_all_arguments_is_peeled() -> None:
    assert arguments("arguments:\n  room: a\n  seats: 3") == {"room": "a", "seats": 3}
    assert not read_every_way("<book_room>\narguments:\n  roam: a\n</book_room>", TOOLS).tool_calls


def test_closers_of_others_and_doubled_ones() -> None:
    lost = read_every_way("<book_room>\nroom: a\n</tool_call>", TOOLS)
    assert [(call.arguments, call.complete) for call in lost.tool_calls] == [({"room": "a"}, True)]
    doubled = read_every_way("<book_room>\nroom: a\n</book_room></book_room>", TOOLS)
    assert [(call.arguments, call.complete) for call in doubled.tool_calls] == [({"room": "a"}, True)]
    assert not doubled.truncated
    assert not doubled.content


def test_merge_keys_are_no_merge() -> None:
    assert arguments("room: a\n<<: {seats: 2}") == {"room": "a", "<<": {"seats": "2"}}


@pytest.mark.parametrize(
    "text",
    [
        "<search>\nquery: a</search>",
        "<search>query: a</search>",
        "Use <search>\nquery: a\n</search>",
        "Look: <search>\nquery: a\n</search>",
        "<summary>\nfew: words\n</summary>",
    ],
)
def test_a_tool_named_like_an_element_of_html_needs_lines_of_its_own(text: str) -> None:
    tools = ToolSet([*TOOLS, tool("summary")])
    envelope = read_every_way(text, tools)
    assert not envelope.tool_calls
    assert envelope.content == text
    assert read_every_way("<search>\nquery: a\n</search>", tools).tool_calls[0].arguments == {"query": "a"}


def test_a_tool_whose_schema_names_no_keys_takes_any() -> None:
    assert arguments("speed: 3", "ping") == {"speed": "3"}


@pytest.mark.parametrize(
    "text", ["Let me see <book_room>\nroom: a\n</book_room>", "<book_room>\nroom: a\n</book_room> and so on"]
)
def test_a_tools_tag_in_a_line_of_words_is_content(text: str) -> None:
    envelope = read_every_way(text, TOOLS)
    assert not envelope.tool_calls
    assert envelope.content == text


def test_a_line_with_a_known_key_beats_the_only_text_of_a_tool() -> None:
    assert arguments("query: best pizza: where", "search") == {"query": "best pizza: where"}
    tools = ToolSet([tool("look_up", ["query"], query="string")])
    envelope = read_every_way("<look_up>\nbest pizza: where\n</look_up>", tools)
    assert [(call.dialect, call.arguments) for call in envelope.tool_calls] == [("cline", {"query": "best pizza: where"})]
    assert not read_every_way("<search>\nbest pizza: where\n</search>", TOOLS).tool_calls  # an element of HTML needs a key


def test_the_wrapper_types_values_and_peels_the_name() -> None:
    text = "<tool_call>\n  name: functions.book_room\n  arguments:\n    room: a\n    seats: '3'\n</tool_call>"
    call = read_every_way(text, TOOLS).tool_calls[0]
    assert (call.name, call.arguments) == ("functions.book_room", {"room": "a", "seats": 3})


def test_nesting_beyond_the_limit_is_not_read() -> None:
    tools = ToolSet([tool("f", x="object", y="string")])
    for deep in ("[" * 5000 + "]" * 5000, "{a: " * 20 + "}" * 20):
        (call,) = normalize(f"<f>\nx: {deep}\n</f>", tools, limits=Limits(depth=16)).tool_calls
        assert call.arguments == {"x": deep}
        assert [repair.kind for repair in call.repairs] == ["text_for_yaml"]


_FLOODS = {
    "never closed": "<book_room>\nroom: a\n",
    "closed, no key": "<book_room>\nroam: a\n</book_room>\n",
    "one line": "<book_room> room: a ",
    "in a block": "<save_note>\ntext: |\n  </save_note>\n",
    "quotes": '<save_note>\ntext: "</save_note> "\n',
    "wrapper": "<tool_call>\nname: x\n",
    "wrapper closed": "<tool_call>\nname: x\n</tool_call>\n",
    "keys": "room: a\n",
    "comments": "<book_room>\n# a\n",
    "foreign closers": "</x>\n",
    "other foreign closers": "</x>\n</y>\n",
    "brackets": "room: [{",
    "anchors": "a: &a [*a,*a]\n",
}


@pytest.mark.sweep
@pytest.mark.parametrize("name", _FLOODS)
def test_floods_are_linear(name: str) -> None:
    assert_linear(lambda times: normalize("<book_room>\nroom: a\n" + _FLOODS[name] * times, TOOLS), 500)


@pytest.mark.parametrize(
    "text",
    [
        "<book_room>\nroom: Au\n<book_room>\nroom: Aula 3\n</book_room>",
        "<book_room>\nroom: Au\nseats: 2\n<save_note>\ntitle: Aula 3\n</save_note>",
        "<tool_call>\nname: book_room\narguments:\n  room: Au\n<tool_call>\nname: book_room\narguments:\n  room: Aula 3\n</tool_call>",
    ],
)
def test_lines_that_the_next_call_ends_may_have_been_cut(text: str) -> None:
    first, second = read_every_way(text, TOOLS).tool_calls
    assert (first.arguments or {})["room"] == "Au"
    assert [(repair.kind, repair.safety) for repair in first.repairs] == [("closer_missing", "guess")]
    assert (second.complete, second.repairs) == (True, [])


@pytest.mark.parametrize("beside", ["text: b", "parameters:\n  text: b", "title: b"])
def test_text_beside_the_key_of_all_arguments_is_recorded(beside: str) -> None:
    text = f"<tool_call>\nname: save_note\narguments:\n  title: a\n{beside}\n</tool_call>"
    (call,) = read_every_way(text, TOOLS).tool_calls
    assert call.arguments == {"title": "a"}
    assert [(repair.kind, repair.safety) for repair in call.repairs] == [("arguments_dropped", "guess")]
