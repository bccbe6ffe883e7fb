"""A field is read by every name that pydantic reads it by, at any depth and strictness; the schema tells one."""

from __future__ import annotations

import json
from decimal import Decimal
from enum import IntEnum
from typing import Any, NamedTuple

import pytest
from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field, ValidationError
from pydantic.dataclasses import dataclass

from llmcore.types import OutputParseError
from llmcore.validator import json_schema, parse, parse_detailed
from llmcore.validator.coercion.coercer import Strictness


class Many(BaseModel):
    model_config = ConfigDict(extra="forbid")
    value: int = Field(validation_alias=AliasChoices("x", "y", AliasPath("z", 0), AliasPath("q", "w")))


class PathFirst(BaseModel):
    value: int = Field(validation_alias=AliasChoices(AliasPath("q", "w"), "x"))


class OnlyPaths(BaseModel):
    first: int = Field(validation_alias=AliasPath("z", 0))
    second: int = Field(5, validation_alias=AliasPath("z", 1))


class ByName(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    ident: Decimal = Field(alias="id")


@dataclass
class Pair:
    value: int = Field(validation_alias=AliasChoices("x", "y"))


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Spot(NamedTuple):
    name: str
    level: Level = Level.LOW


class Named(BaseModel):
    spots: list[Spot]
    by_level: dict[str, Level] = {}


class Whole(BaseModel):
    inner: list[Many]
    other: Many | None = None
    either: OnlyPaths | Many | None = None
    named: dict[str, Pair] = {}


CASES: list[tuple[Any, Any]] = [
    (Many, {"x": 1}),
    (Many, {"y": 1}),
    (Many, {"z": [1]}),
    (Many, {"q": {"w": 1}}),
    (Many, {"x": 1, "y": 2}),
    (Many, {"z": []}),
    (PathFirst, {"x": 1, "q": {"w": 2}}),
    (PathFirst, {"x": 1, "q": 2}),
    (OnlyPaths, {"z": [1, 2]}),
    (OnlyPaths, {"z": [1]}),
    (ByName, {"id": 1.5}),
    (ByName, {"ident": 1.5}),
    (Pair, {"y": 1}),
    (Whole, {"inner": [{"y": 1}, {"z": [2]}], "other": {"q": {"w": 3}}, "either": {"z": [4]}, "named": {"a": {"y": 5}}}),
]


@pytest.mark.parametrize("strictness", ["off", "safe", "lenient"])
@pytest.mark.parametrize(("output_type", "data"), CASES)
def test_it_is_read_as_pydantic_reads_it(output_type: Any, data: Any, strictness: Strictness) -> None:
    from pydantic import TypeAdapter

    text = json.dumps(data)
    try:
        wanted = TypeAdapter(output_type).validate_json(text)
    except ValidationError:
        with pytest.raises(OutputParseError):
            parse(text, output_type, strictness="off")
        return
    assert parse(text, output_type, strictness=strictness) == wanted
    assert parse(f"Here it is:\n{text}", output_type, strictness=strictness) == wanted
    assert parse(text, output_type, partial=True) == wanted
    listed: Any = list[output_type]
    assert parse(f"[{text}]", listed) == [wanted]


def test_what_was_moved_is_recorded() -> None:
    repairs = parse_detailed('{"inner": [{"z": [1]}]}', Whole, strictness="off").repairs
    assert [(one.kind, one.path, one.before, one.safety) for one in repairs] == [
        ("alias", "inner[0].x", "inner[0].z[0]", "lossless")
    ]


def test_an_alias_is_repaired_like_any_value() -> None:
    assert parse('{"y": "5"}', Many).value == 5
    with pytest.raises(OutputParseError, match="`x`: expected integer"):
        parse('{"y": "five"}', Many)


@pytest.mark.parametrize("output_type", [Many, PathFirst, OnlyPaths, ByName, Whole, Named])
def test_the_model_is_told_pydantics_own_schema(output_type: type[BaseModel]) -> None:
    assert json_schema(output_type) == output_type.model_json_schema()


def test_the_name_that_the_schema_tells_is_always_read() -> None:
    assert parse('{"first": 1, "second": 2}', OnlyPaths) == OnlyPaths.model_validate({"z": [1, 2]})


def test_a_partial_value_has_what_is_certain_of_an_alias() -> None:
    class Noted(BaseModel):
        mood: str = Field(validation_alias=AliasChoices("m", "mood"))
        level: int = Field(0, validation_alias=AliasChoices("l", AliasPath("levels", 0)))

    assert parse('{"levels": [3], "mood": "goo', Noted, partial=True).mood == "goo"
    assert parse('{"mood": "good", "levels": [3', Noted, partial=True).level == 0


def test_members_of_enums_and_items_of_named_tuples_are_read_by_their_names() -> None:
    said = '{"spots": [{"level": "HIGH", "name": "a"}, {"name": "b"}, ["c", 2]], "by_level": {"x": "high", "y": 1}}'
    read = parse_detailed(said, Named)
    assert read.value.spots == [Spot("a", Level.HIGH), Spot("b"), Spot("c", Level.HIGH)]
    assert read.value.by_level == {"x": Level.HIGH, "y": Level.LOW}
    assert {(one.kind, one.path) for one in read.repairs} == {
        ("items_by_name", "spots[0]"),
        ("named_value", "spots[0][1]"),
        ("items_by_name", "spots[1]"),
        ("named_value", "by_level.x"),
    }
    with pytest.raises(OutputParseError):
        parse(said, Named, strictness="off")
