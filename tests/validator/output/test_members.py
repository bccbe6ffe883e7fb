"""Of a union a partial value shows no member but the one that it turns out to be."""

from __future__ import annotations

import dataclasses
import json
from datetime import date
from typing import Annotated, Any, Literal, cast

import pytest
from pydantic import BaseModel, Discriminator, Field, Tag
from typing_extensions import TypedDict

from llmcore import FakeModel, Orchestrator, PartialOutput, json_schema, parse
from llmcore.support.values.narrowing import is_list, is_object


class Bug(BaseModel):
    kind: Literal["bug"]
    title: str


class Idea(BaseModel):
    kind: Literal["idea"]
    text: str = "none"


class Ok(BaseModel):
    id: int
    result: str


class Failed(BaseModel):
    id: int
    error: str
    code: int = 0


class Note(BaseModel):
    id: int
    text: str = ""


class Named(BaseModel):
    id: int
    name: str
    size: int


@dataclasses.dataclass
class Point:
    x: int
    name: str


class Circle(TypedDict):
    x: int
    radius: str


class Step(BaseModel):
    title: str
    outcome: Ok | Failed


class Dated(BaseModel):
    when: date
    what: list[Ok | Failed]


class Add(BaseModel):
    left: Add | Num
    right: Add | Num


class Num(BaseModel):
    value: int


class Aliased(BaseModel):
    number: int = Field(alias="n")
    inner: Bug | Idea | None = Field(default=None, alias="in")


def kind_of(value: Any) -> str:
    return "ok" if "result" in (value if isinstance(value, dict) else vars(value)) else "failed"


OK, FAILED = {"id": 1, "result": "all is well"}, {"id": 1, "error": "no disk left", "code": 7}
BUG, IDEA = {"kind": "bug", "title": "it leaks"}, {"text": "let it fly", "kind": "idea"}
CASES: list[tuple[Any, Any]] = [
    (Annotated[Bug | Idea, Field(discriminator="kind")], BUG),
    (Annotated[Bug | Idea, Field(discriminator="kind")], IDEA),
    (Annotated[Annotated[Ok, Tag("ok")] | Annotated[Failed, Tag("failed")], Discriminator(kind_of)], FAILED),
    (Bug | Idea, IDEA),
    (Ok | Failed, FAILED),
    (Failed | Ok, OK),
    (Ok | Failed | None, FAILED),
    (list[Ok | Failed], [OK, FAILED, OK]),
    (dict[str, Ok | Failed], {"a": OK, "b": FAILED}),
    (tuple[Ok | Failed, Bug | Idea], [FAILED, IDEA]),
    (Step, {"title": "t", "outcome": FAILED}),
    (Step, {"outcome": FAILED, "title": "t"}),
    (list[Step], [{"title": "t", "outcome": FAILED}, {"outcome": OK, "title": "t"}]),
    (Dated, {"when": "2024-01-02", "what": [FAILED, OK]}),
    (Note | Named, {"id": 1, "name": "a name", "size": 4}),
    (Named | Note, {"id": 1, "text": "a text"}),
    (Point | Circle, {"x": 1, "radius": "a mile"}),
    (Circle | Point, {"x": 1, "name": "here"}),
    (list[int] | list[str], ["1", "a"]),
    (list[int | str], ["12", "a", 5]),
    (list[int] | dict[str, int], {"a": 1}),
    (list[Ok] | list[Failed], [FAILED, FAILED]),
    (Add | Num, {"left": {"left": {"value": 1}, "right": {"value": 22}}, "right": {"value": 3}}),
    (Aliased, {"n": 5, "in": IDEA}),
    (str | Ok, OK),
]


def shape(value: Any) -> Any:
    """The classes that a value is made of, by place."""
    if is_object(value):
        return {key: shape(item) for key, item in value.items()}
    if is_list(value) or isinstance(value, tuple):
        return [shape(item) for item in cast("list[Any]", value)]
    if isinstance(value, BaseModel) or dataclasses.is_dataclass(value):
        return type(value).__name__, {key: shape(item) for key, item in vars(value).items() if item is not None}
    return type(value).__name__


def becomes(part: Any, whole: Any) -> bool:
    """Can more be added to this shape, and nothing else, to make the other?"""
    if is_object(part):
        return is_object(whole) and all(key in whole and becomes(item, whole[key]) for key, item in part.items())
    if is_list(part):
        return is_list(whole) and len(part) <= len(whole) and all(map(becomes, part, whole))
    if isinstance(part, tuple):
        (name, fields), (other, others) = cast("tuple[str, Any]", part), whole
        return bool(name == other) and becomes(fields, others)
    return bool(part == whole)


@pytest.mark.parametrize("number", range(len(CASES)))
def test_nothing_is_shown_that_turns_out_to_be_another(number: int) -> None:
    kind, data = CASES[number]
    text = json.dumps(data)
    whole = parse(text, kind)
    shown = [value for end in range(len(text)) if (value := parse(text[:end], kind, partial=True)) is not None]
    assert shown, "nothing at all"
    for value in shown:
        assert becomes(shape(value), shape(whole)), value
    assert parse(text, kind, partial=True) == whole


@pytest.mark.parametrize("number", range(len(CASES)))
def test_a_schema_as_a_dict_is_held_to_the_same(number: int) -> None:
    kind, data = CASES[number]
    text, schema = json.dumps(data), json_schema(kind)
    whole = parse(text, schema)
    for end in range(len(text)):
        value = parse(text[:end], schema, partial=True)
        assert value is None or becomes(shape(value), shape(whole)), value


def test_a_member_is_shown_as_soon_as_it_is_certain() -> None:
    def partial(text: str, kind: Any) -> Any:
        return parse(text, kind, partial=True)

    assert partial('{"id": 1', Ok | Failed) is None
    assert partial('{"id": 1, "error": "no di', Ok | Failed) == Failed.model_construct(id=1, error="no di")
    assert partial('{"kind": "id', Bug | Idea) is None
    assert partial('{"kind": "idea", "te', Bug | Idea) == Idea(kind="idea")
    assert partial('{"title": "a", "outcome": {"id": 1, ', Step).outcome is None
    assert partial("[1, 2", list[str] | list[int]) is None
    assert partial('["1"', list[int] | list[str]) is None
    assert partial('["1", "a"', list[int] | list[str]) == ["1", "a"]
    assert partial('[{"id": 1, "error": "x"}, {"id": 2', list[Ok | Failed]) == [Failed(id=1, error="x")]
    optional = partial('{"n": "many", "in": {"kind": "bug"', Aliased)
    assert optional.inner == Bug.model_construct(kind="bug", title=None)


def test_nested_unions_cost_no_more_than_their_depth() -> None:
    text = '{"left": ' * 20 + '{"value": 1'
    assert parse(text, Add | Num, partial=True) is not None


@pytest.mark.parametrize("way", ["as text", "as a call"])
def test_what_is_streamed_of_a_union_is_certain(way: str) -> None:
    model = FakeModel(json.dumps({"title": "t", "outcome": FAILED}), chunk_size=3)
    if way == "as a call":
        model = FakeModel(chunk_size=3).tool_call("final_result", {"title": "t", "outcome": FAILED})
    with Orchestrator(model).stream_sync("?", Step) as stream:
        outcomes = [event.value.outcome for event in stream if isinstance(event, PartialOutput)]
    assert {type(each) for each in outcomes} == {type(None), Failed}
