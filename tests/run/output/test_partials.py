"""Partial values of a typed stream, of every type in every mode, and the content of an envelope while it streams."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Literal, NamedTuple, cast

import pytest
from pydantic import BaseModel

from llmcore import Orchestrator
from llmcore.adapters.base import Capabilities
from llmcore.compiling import compile_tools
from llmcore.run.output.early_output import EnvelopeContent, certain_answer
from llmcore.support.values.narrowing import is_object
from llmcore.testing import FakeModel
from llmcore.types import Event, Finished, OutputMode, PartialOutput, TextDelta
from tests.run.support import add, called, stack

pytestmark = pytest.mark.anyio


class Plan(BaseModel):
    title: str
    count: int
    items: list[str] | None = None


class Thought(BaseModel):
    reasoning: str
    answer: int


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


@dataclasses.dataclass
class Team:
    name: str
    plan: Plan


PLAN: dict[str, Any] = {"title": "A title of some words", "count": 12345, "items": [f"item number {n}" for n in range(6)]}
VALUES: dict[str, tuple[Any, Any, int]] = {
    "model": (Plan, PLAN, 5),
    "model or None": (Plan | None, PLAN, 5),
    "model with null": (Plan, {**PLAN, "items": None}, 2),
    "model that thinks": (Thought, {"reasoning": "First, this; then that, which leads to it.", "answer": 42}, 3),
    "dataclass with a name": (Team, {"name": "The name of it", "plan": PLAN}, 5),
    "list of models": (list[Plan], [PLAN, PLAN], 10),
    "list of texts": (list[str], PLAN["items"], 4),
    "dict": (dict[str, Any], PLAN, 5),
    "schema": ({"type": "object", "properties": {"name": {"type": "string"}}}, {"name": "some words of a name"}, 1),
    "int": (int, 123456789, 1),
    "bool": (bool, True, 1),
    "enum": (Level, "high", 1),
    "date": (datetime.date, "2026-01-02", 1),
    "literal": (Literal["one", "other"], "other", 1),
    "text": (str, "A text of quite some words, and more.", 2),
    "int or text": (int | str, "A text of quite some words.", 1),
}
MODES: list[OutputMode] = ["native_tools", "json_schema", "json_object", "text"]


def told(value: Any, mode: OutputMode, form: str, tools: bool) -> Any:
    """A reply that gives the value."""
    arguments: dict[str, Any] = value if is_object(value) else {"result": value}
    if form == "fence":
        return f"Here it is:\n```json\n{json.dumps(arguments)}\n```"
    if form == "plain" and (not mode.startswith("json") or not tools):
        return value if isinstance(value, str) else json.dumps(value)
    if mode == "native_tools":
        return called("final_result", arguments)
    call = {"name": "final_result", "arguments": arguments}
    if mode == "text":
        return f"<tool_call>{json.dumps(call)}</tool_call>"
    return json.dumps({"toolCalls": [call], "content": "", "needsMoreWork": False})


async def streamed(fake: FakeModel, mode: OutputMode, tools: bool, output_type: Any = None) -> list[Event]:
    orchestrator = stack({"m": fake}, [add] if tools else [], settings={"m": {"preferred_modes": [mode]}}, strategies=())
    return [event async for event in orchestrator.stream("q", output_type)]


def bears_out(whole: Any, part: Any) -> bool:
    """Does the final value say what the partial one said? None and a default are what was not told yet."""
    if isinstance(part, BaseModel) or (dataclasses.is_dataclass(part) and not isinstance(part, type)):
        return type(part) is type(whole) and all(bears_out(vars(whole)[name], value) for name, value in vars(part).items())
    if is_object(part):
        return is_object(whole) and all(name in whole and bears_out(whole[name], value) for name, value in part.items())
    if isinstance(part, (list, tuple)):
        parts, wholes = cast("Sequence[Any]", part), cast("Sequence[Any]", whole)
        is_alike = type(parts) is type(wholes)
        return is_alike and len(parts) <= len(wholes) and all(map(bears_out, wholes, parts))
    if isinstance(part, str) and not isinstance(part, enum.Enum):
        return isinstance(whole, str) and whole.startswith(part)
    return part is None or part == whole


@pytest.mark.parametrize("tools", [False, True], ids=["alone", "beside a tool"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", VALUES)
async def test_what_is_certain_is_shown_and_borne_out(name: str, mode: OutputMode, tools: bool) -> None:
    output_type, value, least = VALUES[name]
    for form in ("plain", "call", "fence") if tools or mode == "native_tools" else ("plain", "fence"):
        fake = FakeModel(told(value, mode, form, tools), chunk_size=3, capabilities=Capabilities(json_schema=False))
        events = await streamed(fake, mode, tools, output_type)
        assert isinstance(events[-1], Finished)
        values = [event.value for event in events if isinstance(event, PartialOutput)]
        final = events[-1].result.output
        assert len(values) >= (least if form != "fence" or least < 3 else 3) or (tools and "thinks" in name), form
        assert values[-1] == final
        assert all(bears_out(final, part) for part in values), form
        assert all(one != other for one, other in pairwise(values))


@pytest.mark.parametrize("mode", MODES)
async def test_a_call_of_a_tool_is_no_value_of_a_type_with_its_keys(mode: OutputMode) -> None:
    call = {"name": "add", "arguments": {"a": 123456789012345678901234567890, "b": 23456789012345678901234567890}}
    text = json.dumps({"toolCalls": [call], "content": ""}) if mode.startswith("json") else json.dumps(call)
    fake = FakeModel(text, told({"name": "x"}, mode, "call", True), chunk_size=3)

    class Named(BaseModel):
        name: str
        arguments: dict[str, Any] | None = None

    events = await streamed(fake, mode, True, Named)
    values = [event.value for event in events if isinstance(event, PartialOutput)]
    assert {one.name for one in values} - {None} == {"x"}


TOOLS = compile_tools([add])
BOTH = compile_tools([add, {"name": "final_result", "parameters": {"type": "object"}}])
ONLY = compile_tools([{"name": "final_result", "parameters": {"type": "object"}}])


@pytest.mark.parametrize(
    ("text", "tools", "shown"),
    [
        ("Here:\n```json\n{", BOTH, False),
        ('{"title": "x', BOTH, True),
        ('{"name": "Jo', BOTH, False),
        ('{"name": "Jo", "x": 1', BOTH, True),
        ('{"name": "add", "x": 1', BOTH, False),
        ('[{"name": "Jo", "x": 1', BOTH, True),
        ('{"add": 1', BOTH, False),
        ('{"reasoning": "so', BOTH, False),
        ('{"reasoning": "so', ONLY, True),
        ('{"thought": "so', ONLY, False),
        ('{"arguments": {"a": 1}', ONLY, False),
        ('["Jo', BOTH, False),
        ('["Jo", "An', BOTH, True),
        ('["add(a=1)", "An', BOTH, False),
        ('["Jo is here (see', BOTH, True),
        ('["Jo is h', BOTH, True),
        ('["Jo, ', BOTH, False),
        ('["add (a', BOTH, False),
        ('["call: add(a', BOTH, False),
        ('["<tool_call>{', BOTH, False),
        ('[["Jo is h', BOTH, True),
        ('[["add', BOTH, False),
        ('["一只猫。', BOTH, True),
        ('["一只猫', BOTH, False),
        (f'["{"x" * 200}', BOTH, True),
        ("[[", BOTH, False),
        ("[[1, 2", BOTH, True),
        ('[["Jo", "An"], ["', BOTH, True),
        ('[["add", "An"], ["', BOTH, False),
        ('[[{"name": "add", "arguments": {"a": 1', BOTH, False),
        ('[[{"id": 1, "title": "x', BOTH, True),
        ('{"id": 1', ONLY, False),
        ('{"id": 1, "title": "x', BOTH, True),
        ('{"id": "1", "add": {"a": 1', BOTH, False),
        ('{"id": "1", "name": "add", "arguments": {"title": "x"', BOTH, False),
        ('{"id": "1", "other": "x', BOTH, False),
        ('[{"type": "bug", "x": 1', BOTH, True),
        ('[{"type": "bu', BOTH, False),
        ('[{"type": "function", "function": {"name": "add"', BOTH, False),
        ('{"type": "tool_use", "id": "1", "name": "add", "input": {"title": "x"', BOTH, False),
        ('{"arguments": {"a": 1}, "title": "x', BOTH, True),
        ('{"id": 1, "reasoning": "x', BOTH, False),
        ('[{"id": 1, "reasoning": "x"}, {"id', BOTH, True),
        ('{"toolCalls": [{"name": "add", "arguments": {"title"', BOTH, False),
        ("no JSON", BOTH, False),
    ],
)
def test_what_may_be_a_call_is_no_answer(text: str, tools: Any, shown: bool) -> None:
    assert certain_answer(text, tools, {"id", "type", "title", "name", "reasoning", "arguments"}) == (text if shown else None)


class Row(NamedTuple):
    text: str
    n: int


PARAGRAPHS = "a long paragraph of text (and more) " * 20


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (list[str], [PARAGRAPHS]),
        (Row, [PARAGRAPHS, 5]),
        (list[list[str]], [[PARAGRAPHS]]),
        (tuple[str, str], ["ok", PARAGRAPHS]),
        (set[str], [PARAGRAPHS]),
    ],
)
def test_a_list_whose_first_item_is_a_text_comes_as_text_as_it_does_as_a_call(kind: Any, value: Any) -> None:
    as_text = FakeModel(json.dumps(value), chunk_size=5)
    as_call = FakeModel(chunk_size=5).tool_call("final_result", {"result": value})
    counts: list[int] = []
    for model in (as_text, as_call):
        with Orchestrator(model).stream_sync("?", kind) as stream:
            counts.append(sum(isinstance(event, PartialOutput) for event in stream))
    assert counts[0] >= counts[1] > 20


def test_the_arguments_of_the_output_tool_are_the_answer() -> None:
    text = '{"content": "", "toolCalls": [{"id": "1", "name": "final_result", "arguments": {"title": "x'
    assert certain_answer(text, BOTH, ()) == '{"title": "x'


class Bug(BaseModel):
    kind: Literal["bug", "feature"]
    title: str


class Entry(BaseModel):
    type: str
    id: int
    content: str


class Caller(BaseModel):
    function: int
    arguments: list[str]
    parameters: dict[str, Any]
    about: str


LONG = "likes long walks " * 20
BUGS = [{"kind": "bug", "title": f"task {n}"} for n in range(40)]
BEGUN_LIKE_CALLS: dict[str, tuple[Any, Any]] = {
    "list": (list[Bug], BUGS),
    "or None": (Bug | None, {"kind": "bug", "title": LONG}),
    "list or None": (list[Bug | None] | None, BUGS),
    "in lists": (list[list[Bug]], [BUGS]),
    "numbers in lists": (list[list[int]], [[n, n] for n in range(60)]),
    "texts in lists": (list[tuple[str, int]], [["word", n] for n in range(60)]),
    "all keys of calls": (Entry, {"type": "bug", "id": 1, "content": LONG}),
    "list of such": (list[Entry], [{"id": 1, "content": "x", "type": "bug"}] * 20),
    "words of calls": (Caller, {"arguments": ["x"], "parameters": {"a": 1}, "function": 1, "about": LONG}),
    "schema": (
        {"type": "object", "properties": {"id": {"type": "string"}, "about": {"type": "string"}}},
        {"id": "x", "about": LONG},
    ),
    "mapping": (dict[str, str], {"id": "x", "about": LONG}),
}


@pytest.mark.parametrize("tools", [False, True], ids=["alone", "beside a tool"])
@pytest.mark.parametrize("name", BEGUN_LIKE_CALLS)
async def test_an_answer_that_begins_like_a_call_is_shown_once_its_type_tells(name: str, tools: bool) -> None:
    output_type, value = BEGUN_LIKE_CALLS[name]
    for text in (json.dumps(value), json.dumps(value, indent=2), f"```json\n{json.dumps(value)}\n```"):
        events = await streamed(FakeModel(text, chunk_size=5), "native_tools", tools, output_type)
        values = [event.value for event in events if isinstance(event, PartialOutput)]
        assert len(values) > 5
        assert all(bears_out(values[-1], part) for part in values)


class Called(BaseModel):
    id: str
    type: str
    title: str = ""
    name: str = ""
    arguments: dict[str, Any] = {}


@pytest.mark.parametrize(
    "call",
    [
        {"id": "call_1", "type": "function", "name": "add", "arguments": {"a": 1, "b": 2}},
        {"type": "function", "id": "call_1", "function": {"name": "add", "arguments": {"a": 1, "b": 2}}},
        {"type": "tool_use", "id": "call_1", "name": "add", "input": {"a": 1, "b": 2}},
        {"id": "call_1", "arguments": {"a": 1, "b": 2}, "name": "add"},
    ],
)
async def test_a_call_with_keys_of_the_type_is_no_value(call: Any) -> None:
    for text in (json.dumps(call), json.dumps([call]), json.dumps(call, indent=2)):
        answer = called("final_result", {"id": "x", "type": "y"})
        events = await streamed(FakeModel(text, answer, chunk_size=3), "native_tools", True, Called)
        assert {event.value.id for event in events if isinstance(event, PartialOutput)} <= {"x", None, ""}


SAID = 'He said: "yes \u2014 \U0001f600", and\nthen \\ went. It was so long that it could not be told at once.'
ENVELOPES: Mapping[str, str] = {
    "as it is asked for": json.dumps({"toolCalls": [], "content": SAID, "needsMoreWork": False}),
    "words first": json.dumps({"content": SAID, "toolCalls": []}, indent=1, ensure_ascii=False),
    "words alone": json.dumps({"content": SAID}),
    "in a fence": f"```json\n{json.dumps({'toolCalls': [], 'content': SAID})}\n```",
    "cut off": json.dumps({"toolCalls": [], "content": SAID})[:-4],
    "beside a call": json.dumps({"toolCalls": [{"name": "add", "arguments": {"a": 1, "b": 2}}], "content": SAID}),
}


@pytest.mark.parametrize("mode", ["json_schema", "json_object"])
@pytest.mark.parametrize("form", ENVELOPES)
async def test_the_words_of_an_envelope_are_reported_as_they_come(form: str, mode: OutputMode) -> None:
    for size in (1, 2, 7, 1000):
        events = await streamed(FakeModel(ENVELOPES[form], "Done so.", chunk_size=size), mode, True)
        last = events[-1]
        assert isinstance(last, Finished)
        pieces = [event.text for event in events if isinstance(event, TextDelta)]
        said = SAID[:-2] if form == "cut off" else SAID
        assert "".join(pieces) == (f"{said}Done so." if form == "beside a call" else said)
        if form != "beside a call" and size < 8:
            assert len(pieces) > 5


def _from(text: str, start: int) -> str:
    return text[start:]


@pytest.mark.parametrize(
    "content", ["add(a=1, b=2)", '<tool_call>{"name": "add"', "{", "", "one", r"bad \q escape of a word here", "x" * 500]
)
def test_words_that_may_be_a_call_or_are_damaged_are_left_to_the_normaliser(content: str) -> None:
    words, text, told = EnvelopeContent(), f'{{"content": "{content}", "toolCalls": []}}', ""
    for end in range(len(text) + 1):
        delta = words.new_content(partial(_from, text[:end]))
        told += delta.text if delta else ""
    assert told in ("", "bad ")
    left = words.without_emitted(TextDelta("bad q escape"))
    assert left == TextDelta("bad q escape"[len(told) :])


def test_an_event_that_is_not_what_was_emitted_is_reported_whole() -> None:
    words = EnvelopeContent()
    text = '{"content": "Some words here'
    assert words.new_content(partial(_from, text)) == TextDelta("Some words here")
    assert words.without_emitted(TextDelta(text)) == TextDelta(text)
    assert words.without_emitted(TextDelta("more")) == TextDelta("more")
