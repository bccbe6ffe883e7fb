"""The walk: what it passes over, what it never passes over, and what it hears asleep."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.normalizer.api import Normalizer, normalize
from llmcore.normalizer.dialects.registry import DIALECTS
from llmcore.normalizer.text.engine import TextEngine
from llmcore.normalizer.text.whole import Whole, whole_at
from llmcore.types.events import ArgumentsDelta, NormalizerEvent, Reclassified, TextDelta, ToolCallFinished
from llmcore.types.limits import Limits
from tests.helpers.builds import pure_only
from tests.helpers.growth import assert_linear
from tests.normalizer.helpers import TOOLS, read_every_way, samples

CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>'
BARE = '\n{"name": "get_weather", "arguments": {"city": "Oslo"}}'


@pytest.mark.sweep
@pytest.mark.parametrize(
    "line",
    [
        "if (x) { return [1, 2]; }\n",
        '{"id": 1, "tags": ["a"]}\n',
        '["a", "b", "c"],\n',
        "- [a page](https://example.org/x) and [another](y)\n",
        "\\frac{a}{b} + {x}_{i} = [0, 1]\n",
        "<name>x</name><tool>hammer</tool>\n",
        "{'a': 1, 'b': [2]}\n",
        'Say {"name": "get_weather", "arguments": {"city": "x"}} to ask.\n',
    ],
)
def test_a_long_text_full_of_brackets_loses_no_call(line: str) -> None:
    text = line * 1500
    for call in (CALL, BARE):
        assert normalize(text + call, TOOLS).tool_calls[-1].arguments == {"city": "Oslo"}


def test_brackets_that_came_to_nothing_are_passed_over_and_markers_are_not() -> None:
    """The brackets cost far more than the text before them: a bare call is content, a delimited one is a call."""
    flood = "\n{" * 40_000
    passed = normalize(flood + BARE, TOOLS)
    assert not passed.tool_calls
    assert [miss.reason for miss in passed.near_misses] == ["looks_limit"]
    assert normalize(flood + BARE, TOOLS, limits=Limits(looks=4_000_000)).tool_calls
    assert [call.arguments for call in normalize(flood + CALL, TOOLS).tool_calls] == [{"city": "Oslo"}]
    spaced = flood + "Now that was a lot of brackets. " * 40_000
    assert [call.arguments for call in normalize(spaced + BARE, TOOLS).tool_calls] == [{"city": "Oslo"}]


@pytest.mark.parametrize("looks", [0, 60, 400])
def test_skipped_text_does_not_depend_on_the_cut(looks: int) -> None:
    for sample in samples("catalogue")[::7]:
        text = f"\n{{\n[x\n{{'a'}} {sample.text}\n{{ {sample.text}"
        read_every_way(text, sample.toolset, finish_reason=sample.finish, chunkings=2, limits=Limits(looks=looks))


@pytest.mark.sweep
@pytest.mark.parametrize(
    "unit",
    [
        "\n{",
        "<tool_call>[",
        "</s>[",
        "<name>",
        "`[",
        "{'a':",
        "]<]",
        "<file_report>\n<title>",
        "[TOOL_functools",
        "<function_call>```json",
    ],
)
def test_floods_are_linear(unit: str) -> None:
    def feed(size: int) -> None:
        normalizer = Normalizer(TOOLS)
        text = (unit * size)[:size]
        for at in range(0, size, 16):
            normalizer.feed(text[at : at + 16])
        normalizer.finish()

    assert_linear(feed, 40_000)


@pytest.mark.parametrize("unit", ["<tool ", "<function\n"])
def test_floods_of_tags_without_an_end_are_linear_when_they_come_at_once(unit: str) -> None:
    def feed(size: int) -> None:
        normalizer = Normalizer(TOOLS)
        normalizer.feed((unit * size)[:size])
        normalizer.finish()

    assert_linear(feed, 20_000)


@pure_only("it replaces a function, which compiled code does not look up")
def test_in_a_flood_of_openers_whole_calls_are_sought_so_often_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each might be read up to the text's end; the readers look no farther than they pay for."""
    asked: list[int] = []

    def counted(text: str, at: int, *given: Any, **settings: Any) -> tuple[Whole, ...]:
        asked.append(at)
        return whole_at(text, at, *given, **settings)

    call = DIALECTS["lfm2"].write([("get_weather", {"city": "Oslo"})])
    monkeypatch.setattr("llmcore.normalizer.text.walk.whole_at", counted)
    text = "<|tool_call_start|>[get_weather(city='x')]\n" * 300 + call
    read = TextEngine(TOOLS, listening=False).read(text)
    assert 0 < len(asked) < 100
    assert read.calls == TextEngine(TOOLS, listening=False, reads_whole=False).read(text).calls


def told(text: str) -> list[NormalizerEvent]:
    normalizer = Normalizer(TOOLS)
    return [event for character in text for event in normalizer.feed(character)] + normalizer.finish()


def test_prose_is_emitted_as_it_arrives_and_a_call_in_it_is_found() -> None:
    text = "Let me see (it takes 3 steps, as in [1]).\nOne moment, please: " + CALL
    events = told(text)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == text.removesuffix(CALL).rstrip()
    assert not any(isinstance(event, Reclassified) for event in events)
    assert any(isinstance(event, ToolCallFinished) for event in events)
    assert len(events) > 50  # nearly every character was told when it came


@pytest.mark.parametrize("opener", ["<tool_call>", "[TOOL_CALLS]", "<|tool_call_start|>", "◁think▷", "<seed:tool_call>"])
def test_an_incomplete_opener_is_not_emitted(opener: str) -> None:
    """Cut anywhere: what may become an opener waits."""
    for cut in range(1, len(opener)):
        normalizer = Normalizer(TOOLS)
        events = [*normalizer.feed("Well, then. "), *normalizer.feed(opener[:cut])]
        assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "Well, then."


def test_a_waiting_reader_resumes_for_a_closer_in_pieces() -> None:
    text = '<invoke name="get_weather"><city>Oslo</city> and so on'
    deltas = "".join(event.json for event in told(text) if isinstance(event, ArgumentsDelta))
    assert deltas.startswith('{"city": "Oslo"')
