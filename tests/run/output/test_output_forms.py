"""One value in every form of answer: every kind of type, in every mode, on every wire, wrapped or not."""

from __future__ import annotations

import json
import typing
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, RootModel
from typing_extensions import TypedDict

from llmcore.adapters.base import Capabilities
from llmcore.adapters.request.conversation.prompting import instructions
from llmcore.adapters.request.output import object_schema, output_plan, output_tools
from llmcore.models import ModelConfig
from llmcore.orchestrator import Orchestrator
from llmcore.run.endpoints.modes import build_call
from llmcore.run.output.answer_type import OutputSpec
from llmcore.testing import FakeModel
from llmcore.types import OutputMode, PartialOutput, Request, ToolDefinition, Truncated
from llmcore.validator import json_schema, parse
from tests.run.support import FAST, add, called, stack

pytestmark = pytest.mark.anyio


class City(BaseModel):
    name: str
    people: int


class River(BaseModel):
    length: int


class Outcome(BaseModel):
    result: int


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Pair:
    low: int
    high: int


class Row(TypedDict):
    id: int


PARIS = {"name": "Paris", "people": 2}
_CITY = {"type": "object", "properties": {"name": {"type": "string"}, "people": {"type": "integer"}}, "required": ["name"]}

TYPES: dict[str, tuple[Any, Any, Any]] = {
    "str": (str, "just words", "just words"),
    "int": (int, 42, 42),
    "float": (float, 2.5, 2.5),
    "bool": (bool, True, True),
    "decimal": (Decimal, "2.50", Decimal("2.50")),
    "list": (list[int], [1, 2], [1, 2]),
    "dict": (dict[str, int], {"a": 1}, {"a": 1}),
    "dict_with_result": (dict[str, int], {"result": 1}, {"result": 1}),
    "literal": (Literal["a", "b"], "b", "b"),
    "enum": (Colour, "blue", Colour.BLUE),
    "model": (City, PARIS, City(name="Paris", people=2)),
    "model_with_result": (Outcome, {"result": 7}, Outcome(result=7)),
    "optional": (City | None, PARIS, City(name="Paris", people=2)),
    "optional_null": (City | None, None, None),
    "union": (City | River, {"length": 3}, River(length=3)),
    "union_with_result": (Outcome | City, {"result": 7}, Outcome(result=7)),
    "none": (type(None), None, None),
    "typed_dict": (Row, {"id": 3}, {"id": 3}),
    "dataclass": (Pair, {"low": 1, "high": 2}, Pair(1, 2)),
    "models": (list[City], [PARIS], [City(name="Paris", people=2)]),
    "schema_object": (_CITY, PARIS, PARIS),
    "schema_array": ({"type": "array", "items": {"type": "integer"}}, [1], [1]),
    "schema_scalar": ({"type": "integer"}, 5, 5),
    "schema_text": ({"type": "string"}, "words", "words"),
    "schema_ref": ({"$ref": "#/$defs/C", "$defs": {"C": _CITY}}, PARIS, PARIS),
    "schema_any_of": ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, 5, 5),
}


def _openai(text: str) -> Any:
    return {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}


def _anthropic(text: str) -> Any:
    return {"type": "message", "role": "assistant", "content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}


def _gemini(text: str) -> Any:
    return {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}]}


def _ollama(text: str) -> Any:
    return {"model": "m", "message": {"role": "assistant", "content": text}, "done": True, "done_reason": "stop"}


WIRES: dict[str, Any] = {"text": str, "openai": _openai, "anthropic": _anthropic, "gemini": _gemini, "ollama": _ollama}


def _asked(output_type: Any, data: Any) -> str:
    """The answer in the form that was asked for."""
    schema = json_schema(output_type)
    return json.dumps(data if object_schema(schema) is schema else {"result": data})


def _forms(output_type: Any, data: Any) -> dict[str, str]:
    asked = _asked(output_type, data)
    bare = data if isinstance(data, str) else json.dumps(data)
    fenced = f"```json\n{asked}\n```"
    return {"asked": asked, "bare": bare, "fenced": fenced, "open": f"```json\n{asked}", "named": f"Here it is:\n{fenced}"}


def _same(got: Any, value: Any) -> bool:
    return type(got) is type(value) and got == value


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("mode", ["native_tools", "json_schema", "json_object", "text"])
@pytest.mark.parametrize("name", TYPES)
async def test_every_type_comes_out_of_every_form_in_every_mode_on_every_wire(name: str, mode: str, wire: str) -> None:
    output_type, data, value = TYPES[name]
    for form, text in _forms(output_type, data).items():
        fake = FakeModel(WIRES[wire](text), WIRES[wire](text))
        orchestrator = stack({"m": fake}, settings={"m": {"preferred_modes": [mode]}}, strategies=FAST)
        got = await orchestrator.execute("go", output_type)
        assert _same(got, value), f"{form}: {text!r} gave {got!r}"
        assert fake.call_count == 1, form


@pytest.mark.parametrize("tools", [[], [add]], ids=["no tools", "tools"])
@pytest.mark.parametrize("name", TYPES)
async def test_every_type_comes_out_of_a_call_of_the_output_tool(name: str, tools: list[Any]) -> None:
    output_type, data, value = TYPES[name]
    asked = json.loads(_asked(output_type, data))
    for reply in (
        called("final_result", asked),
        f'<tool_call>\n{{"name": "final_result", "arguments": {json.dumps(asked)}}}\n</tool_call>',
    ):
        fake = FakeModel(reply)
        assert _same(await Orchestrator(fake, tools).execute("go", output_type), value), reply
        assert fake.call_count == 1


@pytest.mark.parametrize("form", ["asked", "named", "call"])
@pytest.mark.parametrize("name", TYPES)
async def test_every_type_streams_and_no_partial_value_shows_the_wrapper(name: str, form: str) -> None:
    output_type, data, value = TYPES[name]
    asked = _asked(output_type, data)
    named = f"Sure! Here is the answer as JSON:\n```json\n{asked}\n```"
    reply: Any = {"asked": asked, "named": named, "call": called("final_result", json.loads(asked))}[form]
    seen: list[Any] = []
    result: Any = None
    async for event in Orchestrator(FakeModel(reply, chunk_size=1)).stream("go", output_type):
        if isinstance(event, PartialOutput):
            seen.append(event.value)
        result = getattr(event, "result", result)
    assert _same(result.output, value)
    if "result" not in name:
        assert not any(words in str(one) for one in seen for words in ("result", "Sur", "Her")), seen


async def test_a_long_wrapped_text_is_shown_as_it_grows() -> None:
    text = json.dumps({"result": "some words " * 20})
    orchestrator = Orchestrator(FakeModel(text, chunk_size=7))
    seen = [event.value async for event in orchestrator.stream("go", str) if isinstance(event, PartialOutput)]
    assert len(seen) > 3
    assert all("some words some words".startswith(one[:21]) for one in seen)


@pytest.mark.parametrize("text", ['{"a": 1}', '{"result": 1}', '{"result": "x", "more": 2}', "[1]", "null"])
async def test_json_that_is_the_answer_itself_stays_text(text: str) -> None:
    assert await Orchestrator(FakeModel(text)).execute("go", str) == text


class Words(RootModel[str]):
    """A text by another name."""


_SPOKEN = [
    'Your handler should return {"result": "ok"} with status 200.',
    'The API answers {"result": "queued"} at first. Poll until it says {"result": "done"}.',
    'Use this:\n```json\n{"result": "x"}\n```\nThen restart the server.',
    '```json\n{"result": "x"}\n```\nis what the server says.',
    'He said: {"result": "x"}',
    '{"result": "x"} is what it says.',
    '{"result": "a"}\n{"result": "b"}',
]
_TEXT_TYPES: list[Any] = [str, str | None, int | str, Any, bytes, Words, {"type": "string"}, City | str, dict[str, Any] | str]


@pytest.mark.parametrize("output_type", _TEXT_TYPES, ids=str)
@pytest.mark.parametrize("mode", ["native_tools", "json_schema", "json_object", "text"])
async def test_a_text_that_speaks_of_a_wrapper_is_all_of_it(mode: str, output_type: Any) -> None:
    for text in _SPOKEN:
        orchestrator = stack({"m": FakeModel(text)}, settings={"m": {"preferred_modes": [mode]}}, strategies=FAST)
        got: Any = await orchestrator.execute("go", output_type)
        expected: Any = text.encode() if output_type is bytes else Words(text) if output_type is Words else text
        assert _same(got, expected), f"{text!r} gave {got!r}"


@pytest.mark.parametrize("output_type", [str, str | None, int | str, Any], ids=str)
@pytest.mark.parametrize(
    "text",
    ['{"result": "x"}', ' {"result": "x"}\n', '```json\n{"result": "x"}\n```', '~~~\n{"result": "x"}\n~~~', '`{"result": "x"}`'],
)
async def test_a_wrapper_that_is_the_whole_message_is_removed(text: str, output_type: Any) -> None:
    assert await Orchestrator(FakeModel(text)).execute("go", output_type) == "x"


BROKEN = [
    '{"result": "Hello wor',
    '{"result": "Hello wor\n',
    '```json\n{"result": "Hello wor',
    '{"result": ',
    '{"resul',
    '{"result": "He said "hi" to me"}',
]


@pytest.mark.parametrize("mode", ["json_schema", "json_object", "text"])
@pytest.mark.parametrize("output_type", [str, int | str, str | None, Any], ids=str)
@pytest.mark.parametrize("text", BROKEN)
async def test_a_broken_wrapper_is_no_text(text: str, output_type: Any, mode: OutputMode) -> None:
    can = Capabilities(native_tools=False, json_schema=mode == "json_schema", json_object=mode == "json_object")
    fake = FakeModel(text, '{"result": "Hello world"}', capabilities=can)
    result = await Orchestrator(fake).run("go", output_type=output_type)
    assert (result.output, [attempt.mode for attempt in result.attempts]) == ("Hello world", [mode] * 2)


@pytest.mark.parametrize("text", ['{"', "{", '{"result": x} is the shape', '{"result": "a"} and {"result": "b', "{result"])
async def test_a_text_that_only_begins_like_a_wrapper_is_a_text(text: str) -> None:
    assert await Orchestrator(FakeModel(text)).execute("go", str) == text


def test_reasoning_around_a_wrapper_is_no_part_of_the_message() -> None:
    read = OutputSpec(str).read
    assert read('<think>{"result": "no"}</think>\n```json\n{"result": "x"}\n```').value == "x"
    assert read('<think>hm</think>It returns {"result": "x"}.').value == 'It returns {"result": "x"}.'


@pytest.mark.parametrize("output_type", [Literal["ok", "no"], Annotated[str, Field(max_length=5)], Decimal])
async def test_a_type_that_the_prose_does_not_fit_is_unwrapped_in_it(output_type: Any) -> None:
    value = "2.5" if output_type is Decimal else "ok"
    got = await Orchestrator(FakeModel(f'It returns {{"result": "{value}"}} now.')).execute("go", output_type)
    assert str(got) == value


async def test_a_text_that_goes_on_behind_a_wrapper_is_shown_as_the_text() -> None:
    text = '{"result": "x"} is what the server says, again and again and again, until it is stopped.'
    orchestrator = Orchestrator(FakeModel(text, chunk_size=4))
    seen = [event.value async for event in orchestrator.stream("go", str) if isinstance(event, PartialOutput)]
    assert len(seen) > 2
    assert all(text.startswith(one) for one in seen[1:])


@pytest.mark.parametrize("tools", [[], [ToolDefinition(name="add", parameters={"type": "object"})]], ids=["no tools", "tools"])
@pytest.mark.parametrize("mode", ["native_tools", "json_schema", "json_object", "text"])
async def test_every_mode_asks_for_the_wrapper(mode: OutputMode, tools: list[ToolDefinition]) -> None:
    """So a message that is one wrapper is the answer as it was asked for, in `text` mode too."""
    spec = OutputSpec(str)
    config = ModelConfig(alias="m", model="x", provider="openai")
    call = build_call(config, Capabilities(), mode, Request(messages=[]), tools, spec)
    plan = output_plan(call, Capabilities())
    offered = output_tools(call, plan)
    said = instructions(call, offered, plan) + str([tool.parameters for tool in offered if mode == "native_tools"])
    assert '"result": {"type": "string"}' in said.replace("'", '"')


async def test_a_wrapped_object_that_was_not_asked_for_is_still_read() -> None:
    fake = FakeModel(json.dumps({"result": PARIS}), json.dumps({"result": PARIS}))
    assert await Orchestrator(fake).execute("go", City) == City(name="Paris", people=2)
    assert fake.call_count == 1


async def test_what_fits_neither_form_is_reported_by_its_place() -> None:
    fake = FakeModel('{"result": "many"}', '{"result": 3}')
    assert await Orchestrator(fake).execute("go", int) == 3
    assert "`result`" in str(fake.requests[-1].messages[-1])


_EMPTY_LISTS: list[Any] = [
    "[]",
    " [ ]\n",
    "```json\n[]\n```",
    {"choices": [{"message": {"content": []}, "finish_reason": "stop"}]},
    _anthropic("[]"),
]


@pytest.mark.parametrize("tools", [[], [add]])
@pytest.mark.parametrize("reply", _EMPTY_LISTS)
async def test_an_empty_list_is_an_answer_of_a_list(reply: Any, tools: list[Any]) -> None:
    assert await Orchestrator(FakeModel(reply), tools=tools).execute("go", list[int]) == []


async def test_an_empty_list_behind_reasoning_is_an_answer_too() -> None:
    assert await Orchestrator(FakeModel("<think>None fits.</think>\n[]")).execute("go", list[str]) == []


async def test_an_empty_list_is_asked_about_where_no_list_is_wanted() -> None:
    model = FakeModel("[]", '{"name": "Oslo", "people": 7}')
    assert (await Orchestrator(model).execute("go", City)).name == "Oslo"
    assert "got empty array" in str(model.requests[1].messages[-1])


@pytest.mark.parametrize("text", ["[1, 2],", "[1, 2] ,\n"])
async def test_a_limit_behind_a_comma_cut_an_answer(text: str) -> None:
    cut = {"choices": [{"message": {"content": text}, "finish_reason": "length"}]}
    whole = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    with pytest.raises(Truncated):
        await Orchestrator(FakeModel(default=cut)).execute("go", list[int])
    assert await Orchestrator(FakeModel(whole)).execute("go", list[int]) == [1, 2]


class Place(typing.TypedDict):
    name: str
    size: typing.NotRequired[int]


class Route(typing.TypedDict):
    places: list[Place]


def test_a_typed_dict_of_typing_is_a_type_on_every_python() -> None:
    value = {"places": [{"name": "Oslo", "size": 3}, {"name": "Rome"}]}
    text = json.dumps(value)
    assert parse(text, Route) == value
    assert Orchestrator(FakeModel(text)).execute_sync("q", Route) == value
    assert Orchestrator(FakeModel(json.dumps([value]))).execute_sync("q", list[Route]) == [value]
    assert json_schema(Route)["properties"]["places"]["type"] == "array"


@pytest.mark.parametrize(
    "words",
    [
        "Here is the JSON you asked for:",
        "Based on the analysis, the result is:",
        "Hier ist die Antwort:",
        "Ответ:",
        "Ecco la risposta:",
    ],
)
def test_words_that_name_the_answer_in_other_ways_are_none_of_a_text(words: str) -> None:
    assert OutputSpec(str).read(f'{words}\n```json\n{{"result": "it"}}\n```').value == "it"
    assert OutputSpec(str).read(f'The page says: {words} {{"result": "it"}}').value.endswith("}")


@pytest.mark.parametrize("heading", ["### Answer", "# Result", "## **Final answer**", "Sure!\n\n#### Output"])
async def test_a_heading_that_names_the_answer_is_an_introduction(heading: str) -> None:
    wrapped = '{"result": "hello world"}'
    for text in (f"{heading}\n{wrapped}", f"{heading}\n```json\n{wrapped}\n```"):
        assert (await Orchestrator(FakeModel(text)).run("Hi", output_type=str)).output == "hello world"


@pytest.mark.parametrize("words", ["### Plan", "# ", "#"])
async def test_a_heading_that_names_nothing_is_part_of_the_text(words: str) -> None:
    text = f'{words}\n{{"result": "hello world"}}'
    assert (await Orchestrator(FakeModel(text)).run("Hi", output_type=str)).output == text
