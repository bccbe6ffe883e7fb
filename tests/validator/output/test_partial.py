"""`parse(..., partial=True)`: typed partials that hold only what is certain, at every prefix of a text."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
from typing import Any, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import JsonSchema
from llmcore.validator import parse, parse_detailed
from tests.validator.schemas import object_schema


class Keyed(TypedDict):
    a: int
    b: str


class Level(enum.Enum):
    LOW = "low"
    LOWEST = "lowest"


class Step(BaseModel):
    title: str
    minutes: int
    level: Level
    due: datetime.date | None = None
    tags: list[str] = Field(default_factory=list[str])


@dataclasses.dataclass(frozen=True)
class Plan:
    steps: list[Step]
    owner: str
    kind: Literal["short", "shorter"] = "short"


PLAN = {
    "steps": [
        {"title": 'say "hi"', "minutes": 120, "level": "lowest", "due": "2026-01-02", "tags": ["a", "bc"]},
        {"title": "rest", "minutes": 7, "level": "low"},
    ],
    "owner": "Ann",
    "kind": "shorter",
}
TEXT = f"Here is the plan:\n```json\n{json.dumps(PLAN, indent=1)}\n```"


def test_every_prefix_gives_a_partial_that_the_whole_bears_out() -> None:
    whole = parse(TEXT, Plan)
    assert whole == Plan(steps=[Step.model_validate(step) for step in PLAN["steps"]], owner="Ann", kind="shorter")
    for end in range(len(TEXT) + 1):
        part = parse(TEXT[:end], Plan, partial=True)
        if part is not None:
            assert isinstance(part, Plan)
            assert _borne_out(part, whole), TEXT[:end]
    assert parse(TEXT, Plan, partial=True) == whole


def _borne_out(part: Any, whole: Any) -> bool:
    if dataclasses.is_dataclass(part):
        return all(_borne_out(getattr(part, f.name), getattr(whole, f.name)) for f in dataclasses.fields(part))
    if isinstance(part, BaseModel):
        return all(_borne_out(getattr(part, name), getattr(whole, name)) for name in type(part).model_fields)
    if is_list(part):
        return len(part) <= len(whole) and all(map(_borne_out, part, whole))
    if isinstance(part, str) and part != "short":  # the default of a literal that has not come yet
        return str(whole).startswith(part)
    return part is None or part == whole or part == "short"


SCHEMA: JsonSchema = object_schema(
    id={"type": "integer"},
    price={"type": "number"},
    level={"enum": ["low", "lowest"]},
    kind={"const": "short"},
    day={"type": "string", "format": "date"},
    sure={"type": "boolean"},
    note={"type": "string"},
    either={"anyOf": [{"enum": ["yes"]}, {"type": "string"}]},
    rows={"type": "array", "items": object_schema(a={"type": "integer"})},
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("Let me see", None),
        ("{", {}),
        ('{"id', {}),
        ('{"id":', {}),
        ('{"id": 12', {}),
        ('{"id": 12,', {"id": 12}),
        ('{"id": 12 ', {"id": 12}),
        ('{"price": 1.', {}),
        ('{"price": -', {}),
        ('{"level": "low', {}),
        ('{"level": "low"', {"level": "low"}),
        ('{"kind": "short', {}),
        ('{"day": "2026-01-02', {}),
        ('{"sure": tru', {}),
        ('{"sure": true', {"sure": True}),
        ('{"sure": true,', {"sure": True}),
        ('{"note": "so f', {"note": "so f"}),
        ('{"note": "a\\', {"note": "a"}),
        ('{"note": "a\\u00', {"note": "a"}),
        ('{"either": "ye', {"either": "ye"}),
        ('{"rows": [', {"rows": []}),
        ('{"rows": [{"a": 1}, {"a": 2', {"rows": [{"a": 1}, {}]}),
        ('{"id": "x", "note": "n"', {"note": "n"}),
    ],
)
def test_only_what_is_certain_is_shown(text: str, value: Any) -> None:
    detail = parse_detailed(text, SCHEMA, partial=True)
    assert detail.value == value
    assert not detail.complete


def test_scalars_are_shown_when_they_are_whole() -> None:
    assert parse("12", int, partial=True) is None
    assert parse("lo", Level, partial=True) is None
    assert parse("Hello, wor", str, partial=True) == "Hello, wor"


def test_missing_fields_are_none_or_their_default() -> None:
    step = parse('{"title": "pack', Step, partial=True)
    assert type(step) is Step
    assert vars(step) == {"title": "pack", "minutes": None, "level": None, "due": None, "tags": []}
    assert step.model_fields_set == {"title"}


def test_an_unfinished_part_of_an_unreadable_value_is_not_shown() -> None:
    assert parse('{"steps": ]: {"title": "x", "minutes": 3', Step, partial=True) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(value=st.dictionaries(st.text(max_size=4), JSON, min_size=1, max_size=3), data=st.data())
def test_a_prefix_of_sound_json_never_says_what_the_whole_does_not(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value)
    end = data.draw(st.integers(0, len(text)))
    part = parse(text[:end], {"type": "object"}, partial=True)
    assert part is None or _within(part, value)


def _within(part: Any, whole: Any) -> bool:
    if is_object(part) and is_object(whole):
        return all(key in whole and _within(item, whole[key]) for key, item in part.items())
    if is_list(part) and is_list(whole):
        return len(part) <= len(whole) and all(map(_within, part, whole))
    if isinstance(part, str) and isinstance(whole, str):
        return whole.startswith(part)
    return type(part) is type(whole) and part == whole


def test_half_a_surrogate_pair_waits_for_the_other() -> None:
    for cut in ('{"a": "x\\ud800', '{"a": "x\\ud800\\u', '{"a": "x\\ud800\\udc'):
        assert parse(cut, dict, partial=True) == {"a": "x"}
    assert parse('{"a": "x\\ud800\\udc00"}', dict, partial=True) == {"a": "x\U00010000"}


class Place(NamedTuple):
    x: int
    y: int
    name: str = "here"


def test_a_named_tuple_is_one_while_it_grows() -> None:
    assert parse("[1, ", Place, partial=True) == Place(1, None, "here")  # type: ignore[arg-type]
    assert parse('[[1, 2, "a"], [3', list[Place], partial=True)[0] == Place(1, 2, "a")
    assert type(parse("[", Place, partial=True)) is Place


def test_keys_that_a_typed_dict_does_not_have_are_never_shown() -> None:
    text = '{"other": "something long", "a": 1, "b": "x"}'
    shown = [parse(text[:end], Keyed, partial=True) for end in range(1, len(text) + 1)]
    assert all(value is None or value.keys() <= {"a", "b"} for value in shown)
    assert shown[-1] == {"a": 1, "b": "x"}
