"""Replies of words and whole calls are read without the engine: the same as the engine reads them, segments included."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

import llmcore
from llmcore.normalizer.dialects.reasoning import PAIRS
from llmcore.normalizer.dialects.registry import DIALECTS, marker_table
from llmcore.normalizer.replies.envelopes import envelope_of_text, envelope_of_words_and_calls
from llmcore.normalizer.text.engine import TextEngine
from llmcore.normalizer.text.quick import read_quickly
from llmcore.types.limits import DEFAULT_LIMITS, Limits
from tests.normalizer.helpers import TOOLS, read_every_way

GIVEN: dict[str, Any] = {"city": "Baden & Oslo", "days": 3}
CALL = DIALECTS["hermes"].write([("get_weather", GIVEN)]).strip()
SHAPED = (
    "hermes",
    "kimi_k2",
    "deepseek_v31",
    "apertus",
    "qwen3_coder",
    "minimax_m2",
    "glm45",
    "dsml_v4",
    "llama3_json",
    "mistral_v11",
)
SURROUNDINGS = {
    "alone": "{}",
    "white space": "\n\n{}\n",
    "a sentence": "I will look that up.\n{}",
    "a sentence on its line": "I will look that up: {}",
    "sentences around": "I will look that up.\n\n{}\n\nThat may take a while.",
    "behind reasoning": "<think>\nThe user asks for [1] the weather.\n</think>\n\n{}",
    "behind reasoning and a sentence": "<think>It <b>rains</b> {{there}}.</think>I will look that up.\n{}",
    "two calls": "{}\n{}",
    "two calls and words": "First this.\n{}\nThen that.\n{}\nAnd now it is done.",
    "brackets in the words": "A list [1], a set {{1, 2}} and x < y.\n{}",
}


def read(text: str, limits: Limits = DEFAULT_LIMITS) -> Any:
    """Asked thrice, since shapes are learnt for starts that are asked for often."""
    for _ in range(2):
        read_quickly(text, TOOLS, None, limits)
    return read_quickly(text, TOOLS, None, limits)


@pytest.mark.parametrize("place", SURROUNDINGS)
@pytest.mark.parametrize("name", SHAPED)
def test_words_and_whole_calls_need_no_engine(name: str, place: str) -> None:
    written = DIALECTS[name].write([("get_weather", GIVEN)])
    text = SURROUNDINGS[place].replace("{{", "{").replace("}}", "}").replace("{}", written)
    quick, engine = read(text), TextEngine(TOOLS, listening=False, by_shape=False).read(text)
    assert quick is not None
    assert (quick.content, quick.reasoning) == (engine.content, engine.reasoning)
    assert [tuple(piece) for piece in quick.pieces()] == [tuple(piece) for piece in engine.segments()]
    assert [(call.name, call.arguments, call.raw_arguments, call.span, call.dialect) for call in quick.calls] == [
        (call.name, call.arguments, call.raw_arguments, call.span, call.dialect) for call in engine.calls
    ]
    read_every_way(text)


_PAIRS: list[tuple[str, dict[str, Any]]] = [
    ("get_weather", GIVEN),
    ("write_file", {"path": '"', "text": ""}),
    ("search-web", {"ratio": 0.0}),
    ("ping", {}),
]


@pytest.mark.parametrize("before", ["", "Some words.\n"])
@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_what_is_taken_is_what_the_engine_reads(name: str, before: str) -> None:
    row = DIALECTS[name]
    for first, second, write in product(_PAIRS, _PAIRS, (row.write, *row.also)):
        text = before + write([first] if row.single else [first, second])
        quick = read(text)
        if quick is None:
            continue
        engine = TextEngine(TOOLS, listening=False, by_shape=False).read(text)
        assert [tuple(piece) for piece in quick.pieces()] == [tuple(piece) for piece in engine.segments()]
        assert quick.content == engine.content
        assert [(call.name, call.arguments, call.span, call.repairs) for call in quick.calls] == [
            (call.name, call.arguments, call.span, call.repairs) for call in engine.calls
        ]


@pytest.mark.parametrize("space", ["\xa0", "\u2028", "\u200b"], ids=repr)
@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_rare_white_space_hides_no_bracket_from_the_shapes(name: str, space: str) -> None:
    """Readers skip it to look for another call, so shapes, which are learnt with the first replies, must look behind it."""
    written = DIALECTS[name].write([("get_weather", GIVEN)]).strip()
    for behind in ("{", "[]", "</"):
        text = f"I will look.\n{written}{space}{behind}"
        slow = envelope_of_text(TextEngine(TOOLS, listening=False, by_shape=False).read(text), None)
        for _ in range(3):
            assert llmcore.normalize(text, TOOLS) == slow, behind


@pytest.mark.parametrize("count", [9, 20])
@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_many_calls_are_what_the_engine_reads(name: str, count: int) -> None:
    """The same call again and again, and different ones, behind a sentence and before one."""
    for given in ([GIVEN] * count, [{"city": f"Oslo {n}", "days": n} for n in range(count)]):
        written = DIALECTS[name].write([("get_weather", one) for one in given])
        for text in (written, f"I will look.\n\n{written}", f"{written}\n\nThat is done."):
            quick = read(text)
            if quick is None:
                continue
            engine = TextEngine(TOOLS, listening=False, by_shape=False).read(text)
            assert [tuple(piece) for piece in quick.pieces()] == [tuple(piece) for piece in engine.segments()]
            assert quick.content == engine.content
            assert [
                (call.name, call.arguments, call.id, call.raw_arguments, call.span, call.repairs) for call in quick.calls
            ] == [
                (call.name, call.arguments, call.id or f"call_{n}", call.raw_arguments, call.span, call.repairs)
                for n, call in enumerate(engine.calls)
            ]


@pytest.mark.parametrize("name", ["hermes", "kimi_k2", "minimax_m2", "glm45"])
def test_many_calls_need_no_engine(name: str) -> None:
    text = DIALECTS[name].write([("get_weather", GIVEN)] * 20)
    assert read(text) is not None
    assert read(f"I will look.\n\n{text}\n\nThat is done.") is not None


def test_one_section_may_hold_a_call_twice_in_two_forms() -> None:
    """The second call of a section is named by another row than the first: with no words between nobody compares them."""
    for name in ("minimax_m2", "dots", "dsml_v32", "hunyuan_v3"):
        text = DIALECTS[name].write([("get_weather", GIVEN)] * 2)
        quick = read(text)
        assert quick is not None
        assert len({call.dialect for call in quick.calls}) == 2


@pytest.mark.parametrize("place", ["", "I will look that up.\n"])
@pytest.mark.parametrize("name", ["harmony", "minicpm5"])
def test_each_way_of_writing_has_a_shape(name: str, place: str) -> None:
    """A header whose first words mostly stand in the prompt; values in sections of characters."""
    row = DIALECTS[name]
    for write in (row.write, *row.also):
        assert read(place + write([("get_weather", GIVEN)])) is not None
        assert read(place + write([("get_weather", GIVEN), ("get_weather", GIVEN)])) is not None


@pytest.mark.parametrize("value", ["a ] b", "a ]] b", "]", "[1]", "a < b", "a ]]> b", "<call>", "]]"])
def test_a_section_of_characters_ends_where_the_engine_ends_it(value: str) -> None:
    text = DIALECTS["minicpm5"].write([("get_weather", {"city": value, "days": 3})])
    quick, engine = read(text), TextEngine(TOOLS, listening=False, by_shape=False).read(text)
    if quick is not None:
        assert [(call.name, call.arguments) for call in quick.calls] == [(call.name, call.arguments) for call in engine.calls]
    assert (quick is None) == ("<" in value or "]]>" in value)


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
    assert read(text) is None
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
_BEHIND = (
    "",
    "\n",
    "\n\nIt rains here today.",
    "\n\nIt rains.",
    " It rains.\n",
    f"\n{CALL}",
    f"\n\nI will look.\n{CALL}\nThat may take a while.",
    "[1]",
    "{",
    "\n> x",
)


@pytest.mark.parametrize("finish", [None, "stop", "length"])
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0])
def test_reasoning_that_opens_a_text_is_the_engines(pair: tuple[str, str], finish: str | None) -> None:
    taken = 0
    for thought, behind in product(_THOUGHTS, _BEHIND):
        text = f"{pair[0]}{thought}{pair[1]}{behind}"
        quick = read(text)
        taken += quick is not None
        if quick is not None:
            got = envelope_of_words_and_calls(text, finish, quick)
            engine = TextEngine(TOOLS, listening=False, by_shape=False).read(text, finish)
            wanted = envelope_of_text(engine, finish)
            assert (got, got.segments, got.blocks) == (wanted, wanted.segments, wanted.blocks)
    is_frame = pair[0] == "<|content_thinking|>"  # of which the engine alone knows what it makes of the rest
    assert taken >= len(_THOUGHTS) or is_frame or pair[0] not in marker_table(None).unshared


def test_limits_are_the_engines() -> None:
    assert read(CALL + "\n" + CALL, Limits(calls=1)) is None
    assert read("words " * 10, Limits(text=20)) is None
    assert read("\n".join([CALL] * 9), Limits(calls=9)) is None
