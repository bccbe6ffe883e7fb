"""Two keys of the data that are one key of the type's mapping: refused, for one of the entries would be lost."""

from __future__ import annotations

import collections
import dataclasses
import enum
import re
from decimal import Decimal
from typing import Annotated, Any

import pydantic.dataclasses
import pytest
from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasPath,
    BaseModel,
    ConfigDict,
    Field,
    Json,
    RootModel,
    StringConstraints,
    TypeAdapter,
)
from pydantic_core import core_schema
from typing_extensions import TypedDict

from llmcore.support.values.merged_keys import members_of
from llmcore.types import OutputParseError
from llmcore.validator import parse

Lower = Annotated[str, StringConstraints(to_lower=True)]


class Scores(BaseModel):
    by_id: dict[int, int] = Field(alias="byId")


@dataclasses.dataclass(slots=True)
class Held:
    by_id: dict[int, int]


class Root(RootModel[dict[int, dict[int, int]]]):
    pass


class Named(TypedDict):
    by_id: dict[int, int]


@pytest.mark.parametrize(
    ("text", "output_type", "path"),
    [
        ('{"1": 1, "01": 2}', dict[int, int], ""),
        ('{"1": 1, "1.0": 2}', dict[int, int], ""),
        ('{"true": 1, "yes": 2}', dict[bool, int], ""),
        ('{"1.0": 1, "1.00": 2}', dict[Decimal, int], ""),
        ('{"A": 1, "a": 2}', dict[Lower, int], ""),
        ('{"byId": {"1": 1, "01": 2}}', Scores, "byId"),
        ('{"by_id": {"1": 1, "01": 2}}', Held, "by_id"),
        ('{"7": {"1": 1, "01": 2}}', Root, "7"),
        ('{"by_id": {"1": 1, "01": 2}, "more": 3}', Named, "by_id"),
        ('[{"x": {"1": 1, "01": 2}}]', list[dict[str, dict[int, int]]], "[0].x"),
        ('{"a": {"byId": {"1": 1}}, "b": {"byId": {"1": 1, "01": 2}}}', dict[str, Scores], "b.byId"),
        ('{"byId": {"1": 1, "01": 2}}', Scores | None, "byId"),
    ],
)
@pytest.mark.parametrize("strictness", ["off", "safe", "lenient"])
def test_keys_that_are_one_to_the_type_are_refused(text: str, output_type: Any, path: str, strictness: Any) -> None:
    with pytest.raises(OutputParseError) as caught:
        parse(text, output_type, strictness=strictness)
    assert [(problem.path, problem.expected) for problem in caught.value.problems] == [(path, "keys that the type tells apart")]
    assert '2 keys of which the type makes 1: string "' in str(caught.value)


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


def test_keys_that_differ_are_all_kept() -> None:
    assert parse('{"1": 1, "02": 2}', dict[int, int]) == {1: 1, 2: 2}
    assert parse('{"red": 1, "blue": 2}', dict[Color, int]) == {Color.RED: 1, Color.BLUE: 2}
    assert parse('{"byId": {"1": 1}, "other": {"a": 1, "b": 2}}', Scores).by_id == {1: 1}
    assert parse('{"by_id": {"1": 1}, "other": 2}', Named) == {"by_id": {1: 1}}
    assert parse('{"a": 1, "A": 2}', dict[str, int]) == {"a": 1, "A": 2}


def test_a_validator_of_the_types_own_may_take_entries_out() -> None:
    def positive(given: dict[int, int]) -> dict[int, int]:
        return {key: value for key, value in given.items() if value > 0}

    assert parse('{"1": 0, "2": 1}', Annotated[dict[int, int], AfterValidator(positive)]) == {2: 1}


class ByTwoNames(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    a: int = Field(alias="x")


class OneOfTwo(BaseModel):
    a: int = Field(validation_alias=AliasChoices("x", "y"))


class Keeping(OneOfTwo):
    model_config = ConfigDict(extra="allow")


@pytest.mark.parametrize(("text", "output_type"), [('{"a": 2, "x": 1}', ByTwoNames), ('{"y": 2, "x": 1}', OneOfTwo)])
def test_two_values_of_one_field_are_refused(text: str, output_type: Any) -> None:
    with pytest.raises(OutputParseError, match="2 keys of which the type makes 1"):
        parse(text, output_type)


def test_a_value_that_is_kept_or_said_twice_is_not_lost() -> None:
    assert parse('{"a": 1, "x": 1}', ByTwoNames).a == 1
    assert parse('{"y": 2, "x": 1}', Keeping).model_extra == {"y": 2}


@pydantic.dataclasses.dataclass
class HeldByTwo:
    a: int = Field(validation_alias=AliasChoices("x", "y"))


@dataclasses.dataclass
class Annotated2:
    a: Annotated[int, Field(validation_alias=AliasChoices("x", "y"))]


class ByPath(BaseModel):
    a: int = Field(validation_alias=AliasChoices("x", AliasPath("p", "q")))


class RootOfTwo(RootModel[OneOfTwo]):
    pass


class HoldsJson(BaseModel):
    quoted: Json[dict[int, int]]


class HasRoot(BaseModel):
    r: RootModel[dict[int, int]]


@pytest.mark.parametrize(
    ("text", "output_type"),
    [
        ('{"x": 1, "y": 2}', HeldByTwo),
        ('{"x": 1, "y": 2}', Annotated2),
        ('{"x": 1, "y": 2}', RootOfTwo),
        ('{"x": 1, "p": {"q": 2}}', ByPath),
        ('[{"x": 1, "y": 2}]', list[HeldByTwo]),
        ('{"1": 1, "01": 2}', RootModel[dict[int, int]]),
        ('{"r": {"1": 1, "01": 2}}', HasRoot),
        ('{"1": 1, "01": 2}', collections.OrderedDict[int, int]),
        ('{"1": 1, "01": 2}', collections.Counter[int]),
        (r'{"quoted": "{\"1\": 1, \"01\": 2}"}', HoldsJson),
    ],
)
def test_roots_dataclasses_and_kinds_of_mappings_lose_nothing_either(text: str, output_type: Any) -> None:
    with pytest.raises(OutputParseError, match="2 keys of which the type makes 1"):
        parse(text, output_type)


def test_they_are_made_where_nothing_is_lost() -> None:
    assert parse('{"y": 2}', HeldByTwo).a == parse('{"p": {"q": 2}}', ByPath).a == parse('{"x": 2, "y": 2}', Annotated2).a == 2
    assert parse('{"r": {"1": 1, "02": 2}}', HasRoot).r.root == {1: 1, 2: 2}


def test_only_what_values_are_made_by_is_read_of_pydantics_schemas() -> None:
    """Names and data may look like a schema: fields called `type`, a default, a tag."""

    class Event(BaseModel):
        type: str
        cls: int
        fields: dict[str, int] = {"type": 1}
        seen: dict[str, Any] = {"type": "model", "schema": {"type": "decimal"}}

    class Other(BaseModel):
        type: Annotated[int, Field(strict=True)] = 1

    found = parse('{"type": "bug", "cls": 3}', Event)
    assert (found.type, found.cls, found.seen["schema"]) == ("bug", 3, {"type": "decimal"})
    assert not any(part.get("type") == "decimal" for part in members_of(TypeAdapter(Event).core_schema))
    assert {part["cls"] for part in members_of(TypeAdapter(Event | Other).core_schema) if part.get("type") == "model"} == {
        Event,
        Other,
    }


def test_every_key_of_pydantics_schemas_under_which_schemas_stand_is_read() -> None:
    of_writing = {"serialization", "computed_fields", "return_schema", "json_schema_input_schema"}
    schemas = re.compile(r"(?<!Inc)(?<!Json)(?:Schema|Field|Parameter|ValidatorFunction)\b")
    keys: set[str] = set()
    for kind in vars(core_schema).values():
        if isinstance(kind, type):
            hints: dict[str, Any] = getattr(kind, "__annotations__", {})
            keys |= {key for key, hint in hints.items() if schemas.search(str(hint).split("module=")[0])}
    assert keys >= {"schema", "fields", "choices", "steps"}
    marked = {"type": "decimal"}
    for key in keys - of_writing:
        assert any(part is marked for part in members_of({"type": "any", key: [marked]})), key
