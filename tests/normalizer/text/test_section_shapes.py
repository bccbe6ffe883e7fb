"""Several calls in one section are read by its shape: the same as the engine reads them, wherever they stand."""

from __future__ import annotations

import random
from typing import Any

import pytest

from llmcore.normalizer.core.rows import as_json
from llmcore.normalizer.dialects.registry import DIALECTS
from llmcore.normalizer.text.engine import SHAPES, TextEngine
from llmcore.normalizer.text.quick import read_quickly
from llmcore.normalizer.text.wholes import Whole
from llmcore.normalizer.trust.surroundings import MARKS
from llmcore.types.limits import DEFAULT_LIMITS, Limits
from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import TOOLS, read_every_way

Calls = list[tuple[str, dict[str, Any]]]

THREE: Calls = [
    ("get_weather", {"city": "Baden & Oslo", "days": 3}),
    ("read_file", {"path": 'a "quoted" ]} > name\nof; two lines'}),
    ("get_weather", {"city": "Rome", "days": 0}),
]


def written(name: str, calls: Calls = THREE) -> str:
    return DIALECTS[name].write(calls)


def at_start(text: str, limits: Limits = DEFAULT_LIMITS) -> tuple[Whole, ...]:
    """What is taken in one step; asked thrice, since shapes are learnt for starts that are asked for often."""
    for _ in range(2):
        SHAPES.at(text, 0, TOOLS, limits)
    return SHAPES.at(text, 0, TOOLS, limits)


ROWS = sorted(name for name, row in DIALECTS.items() if not row.single)
SECTIONS = [name for name in ROWS if len(at_start(written(name))) == 3]


def test_every_row_that_puts_calls_in_a_section_has_a_shape_of_it() -> None:
    alone = {name for name in ROWS if len(at_start(written(name))) == 1}
    assert {
        *("kimi_k2", "kimi_k3", "deepseek_v3", "deepseek_v31", "step3", "plamo3", "solar_open", "harmony", "dots", "gcml"),
        *("dsml_v32", "dsml_v4", "dsml_v41", "minimax_m2", "hunyuan_v3", "hunyuan_v4", "k2_horizon", "anthropic_legacy"),
        *("apertus", "cohere_action", "mistral_array", "llama3_json", "granite3", "nemotron_v2", "bare_array", "bare_json"),
    } <= set(SECTIONS)
    assert len(SECTIONS) >= 39
    assert {"hermes", "qwen3_coder", "glm45", "mistral_v11", "gigachat3_1"} <= alone  # each call is taken by itself


def same(text: str, tools: ToolSet = TOOLS, limits: Limits = DEFAULT_LIMITS) -> bool:
    """The same by shape and by the readers, in the engine and without it. Was it read without?"""
    quick, slow = (TextEngine(tools, limits=limits, listening=False, by_shape=by_shape).read(text) for by_shape in (True, False))
    for what in ("calls", "pieces", "content", "reasoning", "near_misses", "repairs", "truncated", "needs_more_work"):
        assert getattr(quick, what) == getattr(slow, what), (what, text)
    assert quick.reasoning_is_over == slow.reasoning_is_over, text
    without = read_quickly(text, tools, None, limits)
    if without is None:
        return False
    calls = [call.model_copy(update={"id": call.id or f"call_{n}"}) for n, call in enumerate(slow.calls)]
    assert without.calls == calls, text
    assert [tuple(piece) for piece in without.pieces()] == [tuple(piece) for piece in slow.segments()], text
    assert without.content == slow.content
    return True


_AROUND = (
    "{}",
    "\n\n{}\n",
    "I will look that up.\n{}",
    "I will look that up: {}",
    "I will look.\n\n{}\n\nThat may take a while.",
    "I will look.\n\n{} That may take a while.",
    "{}\n{}",
    "{}{}",
    "First this.\n{}\nThen that.\n{}\nAnd now it is done.",
    "For example: {}",
    'He wrote "{}" and left.',
    "I call {} now.",
    "> {}",
    "- {}",
    "`{}`",
    "```\n{}\n```",
    "<think>\nHm.\n</think>\n{}",
    "<think>Hm. {}",
    "{}</tool_call>",
    "{}]",
    "{}}",
    "{}; {}",
    "{}, {}",
    "{}<|im_end|>",
    "{}\n<",
    "{}\nObservation: rain",
    "x{}",
)


@pytest.mark.sweep(7)
@pytest.mark.parametrize("name", ROWS)
def test_a_section_is_read_alike_wherever_it_stands(name: str) -> None:
    for count in (2, 3):
        text = written(name, THREE[:count])
        at_start(text)
        for around in _AROUND:
            same(around.replace("{}", text))


@pytest.mark.parametrize("name", SECTIONS)
def test_sections_need_no_engine_and_streams_agree(name: str) -> None:
    for count in (2, 3):
        text = written(name, THREE[:count])
        assert len(at_start(text)) == count
        if DIALECTS[name].trust == "delimited" and text[0] in MARKS:
            assert same(f"I will look that up.\n{text}")
        assert [call.name for call in read_every_way(text, chunkings=2).tool_calls] == [call for call, _ in THREE[:count]]
    read_every_way(f"I will look.\n{written(name)}\nDone.", chunkings=1)


@pytest.mark.parametrize("name", SECTIONS)
def test_many_calls_go_on_as_the_first_do(name: str) -> None:
    for times in (3, 5):
        text = written(name, THREE * times)
        assert len(at_start(text)) == 3 * times
        same(text)
        same(text.replace("9", "8", 1) + "\nDone.")


@pytest.mark.parametrize("name", SECTIONS)
def test_what_is_no_plain_section_is_the_engines(name: str) -> None:
    text = written(name)
    assert at_start(text)
    for odd in (
        written(name, [THREE[0], ("get_time", {"city": "Rome"})]),  # no such tool
        written(name, [THREE[0], ("read_file", {"path": "<your path>"})]),  # an example
        text.replace("Rome", "Rome\x00").replace('"path"', '"path" "'),  # damaged
        text.replace("read_file", "", 1),
        text.replace("read_file", "read_file ", 1),
        text.replace("of; two", "of; </tool_call> two"),
        text.replace('"path":', '"path"'),
        text.replace("path", "weight", 1),
        text[: len(text) - 3],
        text + text[-8:],
    ):
        assert odd == text or len(at_start(odd)) != 2
        same(odd)
    assert not at_start(text, Limits(arguments=100))
    for limits in (Limits(calls=1), Limits(calls=2), Limits(calls=3), Limits(arguments=100), Limits(name=5), Limits(depth=3)):
        same(text, limits=limits)


@pytest.mark.quick(2)
@pytest.mark.sweep(11)
@pytest.mark.parametrize("name", SECTIONS)
def test_damage_anywhere_changes_nothing(name: str) -> None:
    """Something more, less or twice at any place: what is still taken is the engine's reading as well."""
    text = written(name)
    draw = random.Random(name)  # reproducible, no secret
    for at in range(len(text) + 1):
        more = draw.choice([" ", "\n", "\r\n", " " * 17, "{", "}", "]", '"', ",", "<", "x", ";"])
        end = min(len(text), at + draw.randint(1, 30))
        for odd in (text[:at] + more + text[at:], text[:at] + text[end:], text[:end] + text[at:]):
            if len(at_start(odd)) > 1:
                same(odd)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", SECTIONS)
def test_layout_within_a_call_is_free(name: str) -> None:
    for text in (written(name).replace(", ", ","), written(name).replace(": ", ":"), written(name).replace(": ", " : ")):
        at_start(text)
        same(text)
        same(f"I will look that up.\n{text}\nDone.")


WRITTEN_OTHERWISE = (
    '{"city": "Oslo"}', '{"city":"Oslo"}', '{ "city": "Oslo"}', '{"city": "Oslo" }', '{"city": "Oslo" , "days": 1}', '{"city": "Oslo",  "days": 1}',
    '{"city" : "Oslo"}', '{"city": "a\\/b"}', '{"city": "\\u00e9"}', '{"city": "é"}', '{"city": "\\u001f"}', '{"city": "a\\nb\\t\\"c\\\\"}',
    '{"city": "a: b,c ,d"}', '{"days": -0}', '{"days": -0.0}', '{"days": -1}', '{"days": 1e5}', '{"days": 1E5}', '{"days": 1.10}', '{"days": 1.5}',
    '{"tags": [1,2]}', '{"tags": [1, 2]}', '{"tags": [ ]}', '{"tags": []}', '{"tags": [true, null, -0]}', "{}",
)  # fmt: skip


@pytest.mark.parametrize("name", ["cohere_action", "apertus"])
@pytest.mark.parametrize("arguments", WRITTEN_OTHERWISE)
def test_arguments_of_a_list_are_the_json_text_that_we_write(name: str, arguments: str) -> None:
    """However they were written: what is taken as it stands is what would be written anew."""
    text = written(name, [("get_weather", {"city": "first"}), ("get_weather", {"city": "second"})])
    text = text.replace('{"city": "second"}', arguments)
    at_start(text)
    assert same(text)
    second = read_quickly(text, TOOLS, None, DEFAULT_LIMITS)
    assert second is not None
    assert second.calls[1].raw_arguments == as_json(second.calls[1].arguments)
