"""The name of a type as the only key around its value: peeled, as a tool's name is; another name is named in the message."""

from __future__ import annotations

import dataclasses
import enum
import json
from typing import Any, Generic, NamedTuple, TypeVar

import pytest
from pydantic import BaseModel, ConfigDict, RootModel
from pydantic_core import core_schema
from typing_extensions import TypedDict

from llmcore.types import OutputParseError
from llmcore.validator import parse, parse_detailed
from llmcore.validator.coercion.coercer import Strictness


class City(BaseModel):
    name: str
    size: int = 0


class Settings(BaseModel):
    loud: bool = False


class Cities(RootModel[list[City]]):
    pass


class Color(enum.Enum):
    RED = "red"


class Hue(enum.Enum):
    RED = "red"


class Place(TypedDict):
    name: str


@dataclasses.dataclass
class BigTown:
    name: str


class Titled(BaseModel):
    model_config = ConfigDict(title="Big Town")
    name: str


T = TypeVar("T")


class Box(BaseModel, Generic[T]):
    it: T


class Point(NamedTuple):
    x: int
    y: int = 0


class Spot(NamedTuple):
    x: int
    y: int = 9


class Line(BaseModel):
    at: Point
    to: list[Point] = []


class Trip(BaseModel):
    start: City
    stops: list[City] = []


OSLO = City(name="Oslo")


@pytest.mark.parametrize(
    ("text", "output_type", "value"),
    [
        ('{"City": {"name": "Oslo"}}', City, OSLO),
        ('{"city": {"name": "Oslo"}}', City, OSLO),
        ('{"City": {"name": "Oslo", "more": 1}}', City, OSLO),
        ('{"City": {"name": "Oslo"}}', City | BigTown, OSLO),
        ('{"Settings": {"loud": true}}', Settings, Settings(loud=True)),
        ('{"big_town": {"name": "Oslo"}}', BigTown, BigTown("Oslo")),
        ('{"Place": {"name": "Oslo"}}', Place, {"name": "Oslo"}),
        ('{"Color": "red"}', Color, Color.RED),
        ('{"Big Town": {"name": "Oslo"}}', Titled, Titled(name="Oslo")),
        ('{"Titled": {"name": "Oslo"}}', Titled, Titled(name="Oslo")),
        ('{"Box": {"it": 1}}', Box[int], Box[int](it=1)),
        ('{"Cities": [{"name": "Oslo"}]}', Cities, Cities([OSLO])),
        ('[{"City": {"name": "Oslo"}}]', list[City], [OSLO]),
        ('{"start": {"City": {"name": "Oslo"}}}', Trip, Trip(start=OSLO)),
        ('{"Trip": {"start": {"City": {"name": "Oslo"}}}}', Trip, Trip(start=OSLO)),
        (
            '{"Z": {"name": "Oslo"}}',
            {"title": "Z", "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
            {"name": "Oslo"},
        ),
    ],
)
def test_the_name_of_the_type_as_the_only_key_is_peeled(text: str, output_type: Any, value: Any) -> None:
    detail = parse_detailed(text, output_type)
    assert detail.value == value
    assert ("peeled_wrapper", "coerced") in [(repair.kind, repair.safety) for repair in detail.repairs]


@pytest.mark.skipif(not hasattr(core_schema, "named_tuple_schema"), reason="this pydantic knows no named tuples")
@pytest.mark.parametrize(
    ("text", "output_type", "value"),
    [
        ('{"Point": {"x": 1, "y": 2}}', Point, Point(1, 2)),
        ('{"point": {"x": 1}}', Point, Point(1)),
        ('{"Point": [1, 2]}', Point, Point(1, 2)),
        ('{"Point": [1, 2]}', City | Point, Point(1, 2)),
        ('{"Point": [1]}', Spot | Point, Point(1)),
        ('{"Point": [1]}', list[int] | Point, Point(1)),
        ('{"at": {"Point": {"x": 1}}, "to": [{"Point": [2]}]}', Line, Line(at=Point(1), to=[Point(2)])),
    ],
)
def test_the_name_of_a_named_tuple_is_peeled(text: str, output_type: Any, value: Any) -> None:
    detail = parse_detailed(text, output_type)
    assert repr(detail.value) == repr(value)
    assert detail.repairs[0].kind == "peeled_wrapper"


class Town(BaseModel):
    name: str


class Cow(BaseModel):
    name: str
    legs: int = 4


class Stay(BaseModel):
    at: City | Town


@dataclasses.dataclass(frozen=True)
class Hut:
    name: str


@dataclasses.dataclass(frozen=True)
class Cot:
    name: str


X = {"name": "x"}


@pytest.mark.parametrize(
    ("data", "output_type", "value"),
    [
        ({"Town": X}, City | Town, Town(name="x")),
        ({"Town": X}, City | Town | None, Town(name="x")),
        ({"Cow": X}, City | Cow, Cow(name="x")),
        ({"Town": X}, Cow | Town, Town(name="x")),
        ({"cot": X}, Hut | Cot, Cot("x")),
        ({"Big Town": X}, City | Titled, Titled(name="x")),
        ([{"Town": X}, {"City": X}, X], list[City | Town], [Town(name="x"), City(name="x"), City(name="x")]),
        ({"at": {"Town": X}}, Stay, Stay(at=Town(name="x"))),
        ({"Place": X}, City | Place, X),
        ({"City": X}, Place | City, City(name="x")),
        ({"Hue": "red"}, Color | Hue, Hue.RED),
        ({"Stay": {"at": {"Town": X}}}, Stay | Town, Stay(at=Town(name="x"))),
        ({"k": {"Town": X}}, dict[str, City | Town], {"k": Town(name="x")}),
    ],
)
def test_the_name_of_a_member_of_a_union_gives_that_member(data: Any, output_type: Any, value: Any) -> None:
    assert repr(parse(json.dumps(data), output_type)) == repr(value)


def test_equal_data_under_several_names_are_no_repeats_of_a_set() -> None:
    with pytest.raises(OutputParseError):
        parse(json.dumps([{"Hut": X}, {"Cot": X}]), set[Hut | Cot])


@pytest.mark.parametrize("strictness", ["off", "safe"])
def test_a_key_that_is_also_a_field_is_the_field(strictness: Strictness) -> None:
    class Note(BaseModel):
        note: dict[str, str] = {}

    assert parse('{"note": {"note": "a"}}', Note, strictness=strictness) == Note(note={"note": "a"})


@pytest.mark.parametrize(
    ("text", "output_type", "path"),
    [
        ('{"Village": {"name": "Oslo"}}', City, "Village"),
        ('{"Village": {"name": "Oslo"}}', City | int, "Village"),
        ('{"start": {"Village": {"name": "Oslo"}}}', Trip, "start.Village"),
        ('{"village": {"Name": "Oslo"}}', City, "village"),
        ('{"village": {"size": 3}}', City, "village"),
        ('{"data": {"village": {"name": "Oslo"}}}', City, "data.village"),
        ('{"villages": [{"name": "Oslo"}]}', list[City], "villages"),
        ('{"answer": 5}', int, "answer"),
        ('{"Answer": {"loud": true}}', Settings, "Answer"),
        ('[{"Answer": {"loud": true}}]', list[Settings], "[0].Answer"),
        ('{"Answer": {"loud": true}}', Settings | int, "Answer"),
        ('{"Spot": {"x": 1}}', Point, "Spot"),
        ('{"answer": "red"}', Color, "answer"),
        ('{"start": {"name": "Oslo"}, "stops": [{"Village": {"name": "Oslo"}}]}', Trip, "stops[0].Village"),
    ],
)
def test_another_name_around_the_value_is_named(text: str, output_type: Any, path: str) -> None:
    with pytest.raises(OutputParseError) as raised:
        parse(text, output_type)
    first = raised.value.problems[0]
    assert (first.kind, first.path, first.expected) == ("unexpected", path, "no such key around the value")
    assert f"`{path}`" in str(raised.value)
