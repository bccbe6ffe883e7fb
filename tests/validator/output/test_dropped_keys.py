"""A key that the type ignores is recorded, wherever it stands; a key that the type may use is not."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, NamedTuple

import pydantic
import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, Json, RootModel, model_validator
from typing_extensions import TypedDict

from llmcore.validator import parse_detailed


class City(BaseModel):
    name: str


class Open(City):
    model_config = ConfigDict(extra="allow")


class Aliased(BaseModel):
    name: str = Field(validation_alias=AliasChoices("n", "label"))


class OwnWay(BaseModel):
    name: str

    @model_validator(mode="before")
    @classmethod
    def _translated(cls, data: dict[str, Any]) -> dict[str, Any]:
        return {"name": data["nombre"]}


@dataclasses.dataclass
class Town:
    name: str


@pydantic.dataclasses.dataclass(config=ConfigDict(extra="allow"))
class OpenTown:
    name: str


class Place(TypedDict):
    name: Annotated[str, Field(alias="title")]


class Pair(NamedTuple):
    city: City
    rank: int


class Trip(BaseModel):
    stops: list[City] = []
    by_day: dict[str, City] = {}
    start: City | int = 0
    pair: Pair | None = None
    packed: Json[City] | None = None


Dropped = list[tuple[str, Any]]


def dropped(text: str, output_type: Any, **options: Any) -> Dropped:
    detail = parse_detailed(text, output_type, **options)
    return [(repair.path, repair.before) for repair in detail.repairs if repair.kind == "dropped_key"]


@pytest.mark.parametrize(
    ("text", "output_type", "expected"),
    [
        ('{"name": "Oslo", "size": 7}', City, [("size", 7)]),
        ('{"name": "Oslo", "size": null}', City | int, [("size", None)]),
        ('{"name": "Oslo", "size": {"km": 7}}', Town, [("size", {"km": 7})]),
        ('{"title": "Oslo", "size": 7}', Place, [("size", 7)]),
        ('{"label": "Oslo", "size": 7}', Aliased, [("size", 7)]),
        ('[{"name": "a", "x": 1}, {"name": "b", "y": 2}]', list[City], [("[0].x", 1), ("[1].y", 2)]),
        ('[{"name": "a", "x": 1}]', RootModel[list[City]], [("[0].x", 1)]),
        ('{"stops": [{"name": "a", "x": 1}]}', Trip, [("stops[0].x", 1)]),
        ('{"by_day": {"mon": {"name": "a", "x": 1}}}', Trip, [("by_day.mon.x", 1)]),
        ('{"start": {"name": "a", "x": 1}}', Trip, [("start.x", 1)]),
        ('{"pair": [{"name": "a", "x": 1}, 2]}', Trip, [("pair[0].x", 1)]),
        ('{"packed": "{\\"name\\": \\"a\\", \\"x\\": 1}"}', Trip, [("packed.x", 1)]),
        ('Here: ```json\n{"name": "Oslo", "size": 7}\n```', City, [("size", 7)]),
    ],
)
def test_a_dropped_key_is_recorded_with_its_value(text: str, output_type: Any, expected: Dropped) -> None:
    assert dropped(text, output_type) == expected


@pytest.mark.parametrize(
    ("text", "output_type"),
    [
        ('{"name": "Oslo", "size": 7}', Open),
        ('{"name": "Oslo", "size": 7}', OpenTown),
        ('{"name": "Oslo", "size": 7}', dict[str, Any]),
        ('{"name": "Oslo", "size": 7}', {"type": "object", "properties": {"name": {"type": "string"}}}),
        ('{"name": "", "nombre": "Oslo"}', OwnWay),
        ('{"name": "Oslo"}', City),
    ],
)
def test_a_key_that_the_type_keeps_or_reads_itself_is_not_called_dropped(text: str, output_type: Any) -> None:
    assert dropped(text, output_type) == []


@pytest.mark.parametrize("strictness", ["off", "safe", "lenient"])
def test_a_dropped_key_is_recorded_at_every_strictness_and_refuses_nothing(strictness: str) -> None:
    assert dropped('{"name": "Oslo", "size": 7}', City, strictness=strictness) == [("size", 7)]
    assert dropped('{"name": "Oslo", "size": 7}', City, strictness=strictness, partial=True) == [("size", 7)]
