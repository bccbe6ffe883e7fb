"""Whole calls are read in one step, in the engine and without it: the same as the engine's readers read them.

Each test compares the two for rows of the registry, whatever stands before, behind and in the calls.
"""

from __future__ import annotations

import ast
import json
import random
import re
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmcore.normalizer.core.layouts import Parameters
from llmcore.normalizer.core.rows import as_json
from llmcore.normalizer.dialects.reasoning import PAIRS
from llmcore.normalizer.dialects.registry import DIALECTS, marker_table
from llmcore.normalizer.replies.envelopes import envelope_of_text, envelope_of_words_and_calls
from llmcore.normalizer.text.engine import TextEngine
from llmcore.normalizer.text.quick import Quick, read_quickly
from llmcore.normalizer.text.whole import Whole, whole_at
from llmcore.normalizer.trust.layout import MARKS
from llmcore.types.limits import DEFAULT_LIMITS, Limits
from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import TOOLS, read_every_way, tool

ROOT = Path(__file__).parents[3]
Calls = list[tuple[str, dict[str, Any]]]

GIVEN: dict[str, Any] = {"city": 'Baden > Baden\n& "more"', "days": 3}
THREE: Calls = [
    ("get_weather", {"city": "Baden & Oslo", "days": 3}),
    ("read_file", {"path": 'a "quoted" ]} > name\nof; two lines'}),
    ("get_weather", {"city": "Rome", "days": 0}),
]
ODD: dict[str, Any] = {"city": 'a "quoted" </tool_call> ]}', "days": 3, "near": [{"km": 2.5}, None]}
ROWS = sorted(name for name, row in DIALECTS.items() if row.whole)
TAGGED = [name for name in ROWS if isinstance(DIALECTS[name].whole[0].body, Parameters)]
PARTS = range(8)
"""Each row is read at one place of eight in `make test`, and at all in `make sweep`."""

SECTIONS = [name for name in ROWS if DIALECTS[name].whole[0].between is not None]


def written(name: str, calls: Calls) -> list[str]:
    """The calls in each way in which the row writes them."""
    row = DIALECTS[name]
    return [write(calls[:1] if row.single else calls).rstrip() for write in (row.write, *row.also)]


def taken(text: str, limits: Limits = DEFAULT_LIMITS, tools: ToolSet = TOOLS) -> tuple[Whole, ...]:
    """What a text begins with that is taken in one step."""
    return whole_at(text, 0, tools, limits, is_first=True, dialects=None)


def quick(text: str, limits: Limits = DEFAULT_LIMITS, tools: ToolSet = TOOLS) -> Quick | None:
    return read_quickly(text, tools, None, limits)


def same(text: str, tools: ToolSet = TOOLS, limits: Limits = DEFAULT_LIMITS) -> bool:
    """The same in one step and by the readers, in the engine and without it. Was it read without?"""
    fast, slow = (TextEngine(tools, limits=limits, listening=False, reads_whole=whole).read(text) for whole in (True, False))
    for what in ("calls", "pieces", "content", "reasoning", "near_misses", "repairs", "truncated", "needs_more_work"):
        assert getattr(fast, what) == getattr(slow, what), (what, text)
    assert fast.reasoning_is_over == slow.reasoning_is_over, text
    without = quick(text, limits, tools)
    if without is None:
        return False
    assert without.calls == [call.model_copy(update={"id": call.id or f"call_{n}"}) for n, call in enumerate(slow.calls)], text
    assert [tuple(piece) for piece in without.pieces()] == [tuple(piece) for piece in slow.segments()], text
    assert (without.content, without.reasoning) == (slow.content, slow.reasoning), text
    return True


def test_most_rows_say_how_a_whole_call_looks() -> None:
    assert set(DIALECTS) - set(ROWS) == {
        *("bare_call", "functionary_v32", "name_brace", "name_line_tags"),  # begin with the name
        *("react", "cline_mcp", "llmcore_envelope", "pasted_wire", "labelled_lines"),  # say something beside the call
        *("hash_rocket", "minimax_m3", "cline", "yaml_in_tag", "yaml_in_tool_call"),  # notations of their own
        *("pythonic", "quoted_calls", "tool_code", "llama_builtin", "fenced_calls", "python_repr", "single_key"),  # rare,
        *("calling_tool", "atem", "sarashina", "labelled_block"),  # or written on lines of their own
    }


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("name", ROWS)
def test_what_a_row_writes_is_taken(name: str, count: int) -> None:
    for text in written(name, THREE[:count]):
        lines = name == "minimax_m1" and count > 1  # of objects within one pair of tags
        assert len(taken(text)) == (count if name in SECTIONS else 0 if lines else 1)
        same(text)
        called = [tool for tool, _ in THREE[: 1 if DIALECTS[name].single else count]]
        assert [call.name for call in read_every_way(text, chunkings=1).tool_calls] == called


@pytest.mark.parametrize("count", [9, 20])
@pytest.mark.parametrize("name", ROWS)
def test_many_calls_are_read_alike(name: str, count: int) -> None:
    for many in ([GIVEN] * count, [{"city": f"Oslo {n}", "days": n} for n in range(count)]):
        for text in written(name, [("get_weather", one) for one in many]):
            for around in ("{}", "I will look.\n\n{}", "{}\n\nThat is done."):
                same(around.replace("{}", text))


SURROUNDINGS = (
    "{}",
    "\n\n{}\n",
    "I will look that up.\n{}",
    "I will look that up: {}",
    "I will look that up.\n\n{}\n\nThat may take a while.",
    "<think>\nThe user asks for [1] the weather.\n</think>\n\n{}",
    "<think>It <b>rains</b> {there}.</think>I will look that up.\n{}",
    "First this.\n{}\nThen that.\n{}\nAnd now it is done.",
    "A list [1], a set {1, 2} and x < y.\n{}",
)


@pytest.mark.parametrize("place", SURROUNDINGS)
@pytest.mark.parametrize("name", ROWS)
def test_words_and_whole_calls_need_no_engine(name: str, place: str) -> None:
    row = DIALECTS[name]
    for text in written(name, [("get_weather", {"city": "Baden & Oslo", "days": 3})]):
        without = same(place.replace("{}", text))
        if row.trust == "delimited" and text[0] in MARKS and not (row.single and place.count("{}") > 1):
            assert without or (row.frames and "</think>" in place)


_BEFORE = (
    *("", "\n", "I will look.\n", "I will look.\n\n", "Sure: ", "> quoted\n", "> ", "- ", "`", "```\n", "x", "assistant"),
    *("<think>Hm.</think>\n", "<think>Hm.", "For example: ", 'He wrote "', "Do not run this: "),
    *("I will look. assistant to=functions.get_weather", "I will look.\nto=get_weather "),
)
_BEHIND = (
    *("", "\n", "\n\nThat is all.", " And so on.", "}", "</tool_call>", "]", "<|im_end|>", "\n<", "\n</", "```", "\n```"),
    *("\nObservation: rain", '" and left.', "{", "[]", "\xa0{", "\u2028</", "\u200b[]", "; {}", ", {}", ' {"a": 1}'),
)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", ROWS)
def test_a_call_is_read_alike_wherever_it_stands(name: str, part: int) -> None:
    for calls in ([("get_weather", GIVEN)], THREE[:2]):
        for text in written(name, calls):
            for before, behind in [*product(_BEFORE, _BEHIND)][part :: len(PARTS)]:
                same(before + text + behind)
            for around in ("{}{}", "{}\n{}", "{}; {}", "One.\n{}\nTwo.\n{}\n"):
                same(around.replace("{}", text))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", ROWS)
def test_a_call_that_is_cut_off_is_read_alike(name: str, part: int) -> None:
    for text in written(name, THREE):
        for end in range(part, len(text), len(PARTS)):
            same(text[:end])
            same(f"One.\n{text[:end]}")


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", ROWS)
def test_damage_anywhere_is_read_alike(name: str, part: int) -> None:
    """Something more, less or twice at any place; each kind of white space at each place."""
    draw = random.Random(f"{name} {part}")  # reproducible, no secret
    for text in written(name, THREE):
        for at in range(part, len(text) + 1, len(PARTS)):
            more = draw.choice([" ", "\n", "\r\n", " " * 17, "{", "}", "]", '"', ",", "<", "x", ";"])
            end = min(len(text), at + draw.randint(1, 30))
            spaces = [text[:at] + space + text[at:] for space in (" ", "\t", "\r", "\r\n", "\n\r", " " * 17)]
            for odd in (text[:at] + more + text[at:], text[:at] + text[end:], text[:end] + text[at:], *spaces):
                if taken(odd):
                    same(odd)


@pytest.mark.parametrize("name", [name for name in ROWS if name not in TAGGED])
@given(data=st.data())
@settings(max_examples=12)
def test_layout_changes_nothing(name: str, data: st.DataObject) -> None:
    """White space more or less, compact JSON, something before or behind, a missing end."""
    text = data.draw(st.sampled_from(written(name, [("get_weather", ODD)])))
    if data.draw(st.booleans()):
        text = text.replace(json.dumps(ODD, ensure_ascii=False), json.dumps(ODD, separators=(",", ":")))
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.sampled_from(["", " ", "\n", "\n\n", "{", "}", "]", '"', ",", "<", "x"])) + text[at:]
    if data.draw(st.booleans()):
        text = re.sub(r"\s*([{}\[\]:,])\s*", data.draw(st.sampled_from([r"\1", r" \1 ", "\\1\n"])), text)
    text = text[: data.draw(st.sampled_from([len(text), len(text), len(text) - 1, len(text) // 2]))]
    text += data.draw(st.sampled_from(["", "", "\n", " Done.", "<|im_end|>", text]))
    same(text)
    read_every_way(text, chunkings=1)


_MEANINGFUL = ("city", "name", "arguments", "parameters", "parameter", "input", "tool_input", "invoke", "function", "value", "0")
_NAMES = st.sampled_from(["get_weather", "user", "assistant", "python", "function", "invoke", "call.call", "parameter"])
_TYPES = st.sampled_from(["string", "integer", "boolean", "array", "object", ["string", "null"], ["integer", "string"]])
_VALUES = st.one_of(
    st.text(max_size=12),
    st.text('<>/="\n aparm', max_size=16),
    st.sampled_from(
        ["", "\n", "\r\n", " x ", "\nx\n", "x\r\n", "007", "1e999", "True", "None", "null", "[1,]", "{'a': 1}", '"[1]"']
    ),
    st.sampled_from(["a < b", "<div>\n</div>", "<b", "x</", "<value>1</value>", "</arg_key>", "<parameter=x>", "<tool_call>"]),
    st.sampled_from([7, True, None, [1, {"a": "b"}], {"a": [None]}]),
)


@pytest.mark.parametrize("name", ROWS)
@given(data=st.data())
@settings(max_examples=20)
def test_values_keys_and_names_change_nothing(name: str, data: st.DataObject) -> None:
    """Values that look like something else, keys and names that mean something in markup."""
    types = data.draw(st.dictionaries(st.sampled_from(_MEANINGFUL), _TYPES, min_size=1, max_size=4))
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in types.items()}}
    tools = ToolSet([{"name": (called := data.draw(_NAMES)), "parameters": schema}])
    values = {key: data.draw(_VALUES) for key in data.draw(st.permutations([*types, "more"]))[:4]}
    text = data.draw(st.sampled_from(written(name, [(called, values)])))
    for _ in range(data.draw(st.integers(0, 2))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.sampled_from([" ", "\n", "\r\n", "<", "</parameter>", "x"])) + text[at:]
    same(text, tools)


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize(
    "value",
    [
        *("it's", 'a "b"', "a\\b", "# no comment", "f(x=1)", ")]", "}", "a: b, c=d", "...", "<your city>", "C:\\new\\file.txt"),
        *("<|tool_call_end|>", '<|"|>', "a ] b", "a ]] b", "]", "a < b", "a ]]> b", "<call>", "]]", "```", "\n```\n"),
        *("x\n<b>\n</b>", 'if a < 3 and b >= "x":\n    pass\n', "<div class='x'>\n</div>\n", "</city>", "<city>", "x </par"),
    ],
)
def test_values_change_nothing(name: str, value: str) -> None:
    for text in written(name, [("get_weather", {"city": value, "days": 3})]):
        for around in ("{}", "I look it up.\n{}", "{}\nMore words.", "{}{}"):
            same(around.replace("{}", text))


WRITTEN_OTHERWISE = (
    '{"city": "Oslo"}', '{"city":"Oslo"}', '{ "city": "Oslo"}', '{"city": "Oslo" }', '{"city": "Oslo" , "days": 1}',
    '{"city" : "Oslo"}', '{"city": "a\\/b"}', '{"city": "\\u00e9"}', '{"city": "é"}', '{"city": "\\ud800"}', '{"city": "a\\nb\\t\\"c\\\\"}',
    '{"days": -0}', '{"days": -0.0}', '{"days": 1e5}', '{"days": 1.10}', '{"days": 1e999}', '{"days": NaN}', '{"days": 03}',
    '{"days": 12345678901234567890.12}', '{"city": "a", "city": "b"}', '{"tags": [1,2]}', '{"tags": [ ]}', '{"tags": [1,]}', "{}", "[]",
    '{"properties": {}}', '{"name": "read_file", "arguments": {"path": "x"}}', '{"a": ' * 70 + "1" + "}" * 70,
)  # fmt: skip


@pytest.mark.parametrize("name", [name for name in ROWS if name not in TAGGED])
def test_arguments_written_otherwise_change_nothing(name: str) -> None:
    for text in written(name, [("get_weather", {"city": "first"}), ("get_weather", {"city": "second"})]):
        for arguments in WRITTEN_OTHERWISE:
            same(text.replace(as_json({"city": "second"}), arguments))


def test_the_engine_reads_calls_that_are_not_plain() -> None:
    unknown: list[Calls] = [[("get_time", {})], [THREE[0], ("get_time", {"city": "Rome"})], [("get_weather", {"properties": {}})]]
    limits = (*(Limits(calls=count) for count in (1, 2, 3)), Limits(arguments=50), Limits(name=5), Limits(depth=3))
    for name in ROWS:
        for calls in unknown:
            for text in written(name, calls):
                assert len(taken(text)) < len(calls)
                same(text)
        for text, limit in product(written(name, THREE), limits):
            same(text, limits=limit)


def test_the_engine_reads_values_that_tags_cannot_hold_plainly() -> None:
    text = written("minimax_m2", [("get_weather", GIVEN)])[0]
    assert taken(text)
    assert taken(text.replace("Baden > Baden", "\n\nBaden\n"))
    assert not taken(text.replace(">3<", ">03<"))  # a repair
    assert not taken(text.replace('"days"', '"city"'))  # twice
    assert not taken(text.replace('"days"', '"weeks"'))  # no such property
    assert not taken(text.replace(">\n<", "><"))  # not as the row writes it
    assert not taken(text, Limits(arguments=10))
    assert taken(text, tools=ToolSet([tool("get_weather", city="string", days="integer", arguments="string")]))


def test_elements_that_may_be_arguments_are_the_engines() -> None:
    for dialect, holder in (("function_name_arguments", "arguments"), ("anthropic_legacy", "parameters")):
        text = written(dialect, [("get_weather", {"city": "Paris", "days": 3})])[0]
        assert taken(text)
        assert not taken(text, tools=ToolSet([tool("get_weather", city="string", days="integer", **{holder: "object"})]))


def test_only_the_rows_asked_for_are_read() -> None:
    text = written("hermes", THREE[:1])[0]
    for name, count in (("hermes", 1), ("longcat", 0)):
        assert len(whole_at(text, 0, TOOLS, DEFAULT_LIMITS, is_first=True, dialects=frozenset({name}))) == count


@cache
def _words_of_the_source() -> list[str]:
    """What literals of the normaliser say, as names: a word that means something to a row stands there."""
    found: set[str] = set()
    for file in (ROOT / "normalizer").rglob("*.py"):
        tree = ast.parse("" if file.parent.name == "trust" else file.read_text(encoding="utf-8"))
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                found.update(re.findall(r"[A-Za-z_][\w-]{0,40}", node.value))
    return sorted(found)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", ROWS)
def test_no_word_of_ours_is_read_otherwise(name: str, part: int) -> None:
    """Each word is the tool's name in a third of the rows, and stands before the call in a twelfth."""
    for called in _words_of_the_source()[ROWS.index(name) % 3 :: 3][part :: len(PARTS)]:
        tools = ToolSet([tool(called, city="string")])
        for text in written(name, [(called, {"city": "Paris"})]):
            if taken(text, tools=tools):
                same(text, tools)
    for word in _words_of_the_source()[ROWS.index(name) % 12 :: 12][part :: len(PARTS)]:
        for text in written(name, [("get_weather", GIVEN)]):
            same(f"{word}{text}")
            same(f"I will look.\n{word} {text}")


CALL = written("hermes", [("get_weather", {"city": "Baden & Oslo", "days": 3})])[0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"Do not run this: {CALL}",
        f"For example: {CALL}",
        f'He wrote "{CALL}" and left.',
        f"> {CALL}",
        f"I call {CALL} now.",
        f"<think>\nA thought.\n{CALL}",
        f"<think><think>\nA thought.\n</think>\n{CALL}",
        f"<think>\nA thought.\n</think>\n</think>\n{CALL}",
        f"<think>\nIt says <co>so</co>.\n</think>\n{CALL}",
        f"`code` first.\n{CALL}",
        f"{CALL}</tool_call>",
        f"{CALL}\n<tool_call>",
        f"{CALL}\nand <tool_c",
        f"{CALL}[1]",
        CALL.replace("get_weather", "no_such_tool"),
    ],
)
def test_whatever_else_may_stand_there_is_the_engines(text: str) -> None:
    assert quick(text) is None
    read_every_way(text)


_THOUGHTS = (
    "",
    "\n",
    "\n\n",
    " ",
    "I think.",
    "\nI think.\n",
    "\n\nI think\n\n",
    f"\nPerhaps {CALL}\n",
    "\n```\ncode {\n",
    "> a < b",
)
_THEN = (
    *("", "\n", "\n\nIt rains here today.", "\n\nIt rains.", " It rains.\n", f"\n{CALL}", "[1]", "{", "\n> x"),
    f"\n\nI will look.\n{CALL}\nThat may take a while.",
)


@pytest.mark.parametrize("finish", [None, "stop", "length"])
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0])
def test_reasoning_that_opens_a_text_is_the_engines(pair: tuple[str, str], finish: str | None) -> None:
    read = 0
    for thought, behind in product(_THOUGHTS, _THEN):
        text = f"{pair[0]}{thought}{pair[1]}{behind}"
        if (found := quick(text)) is not None:
            read += 1
            got = envelope_of_words_and_calls(text, finish, found)
            wanted = envelope_of_text(TextEngine(TOOLS, listening=False, reads_whole=False).read(text, finish), finish)
            assert (got, got.segments, got.blocks) == (wanted, wanted.segments, wanted.blocks)
    is_frame = pair[0] == "<|content_thinking|>"  # of which the engine alone knows what it makes of the rest
    assert read >= len(_THOUGHTS) or is_frame or pair[0] not in marker_table(None).unshared


def test_limits_are_the_engines() -> None:
    assert quick(CALL + "\n" + CALL, Limits(calls=1)) is None
    assert quick("words " * 10, Limits(text=20)) is None
    assert quick("\n".join([CALL] * 9), Limits(calls=9)) is None
