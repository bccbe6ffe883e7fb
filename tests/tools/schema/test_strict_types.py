"""Strict types as parameters: a call's arguments are JSON, and are taken as such."""

from __future__ import annotations

import enum
import json
from datetime import date
from typing import Annotated, Any
from uuid import UUID

import pytest
from pydantic import BaseModel, ConfigDict, Strict, StrictBytes
from pydantic.dataclasses import dataclass

from llmcore import FakeModel, Orchestrator, Tool, parse, tool


class Seat(enum.Enum):
    WINDOW = "window"


@dataclass(config=ConfigDict(strict=True))
class Stay:
    nights: tuple[date, date]


class Booking(BaseModel):
    model_config = ConfigDict(strict=True)
    day: date
    seat: Seat = Seat.WINDOW
    ids: set[UUID] = set()


DAY, ID = "2024-01-02", "12345678-1234-5678-1234-567812345678"
TYPES: list[tuple[Any, Any, Any]] = [
    (Annotated[date, Strict()], DAY, date(2024, 1, 2)),
    (Annotated[Seat, Strict()], "window", Seat.WINDOW),
    (StrictBytes, "x", b"x"),
    (Stay, {"nights": [DAY, DAY]}, Stay((date(2024, 1, 2), date(2024, 1, 2)))),
    (Booking, {"day": DAY, "ids": [ID]}, Booking(day=date(2024, 1, 2), ids={UUID(ID)})),
    (list[Booking], [{"day": DAY}], [Booking(day=date(2024, 1, 2))]),
    (Booking | None, {"day": DAY}, Booking(day=date(2024, 1, 2))),
]


def called(made: Any, arguments: dict[str, Any]) -> Any:
    run = Orchestrator(FakeModel().tool_call(made.name, arguments).text("done"), [made]).run_sync("?")
    return run.tool_results[0]


@pytest.mark.parametrize(("kind", "given", "value"), TYPES, ids=str)
@pytest.mark.parametrize("way", ["parameter", "keywords", "preprocessed"])
def test_a_strict_type_takes_in_a_call_what_parse_takes(kind: Any, given: Any, value: Any, way: str) -> None:
    got: list[Any] = []

    def take(it: Any) -> None:
        got.append(it)

    def take_any(**each: Any) -> None:
        got.extend(each.values())

    take.__annotations__["it"] = take_any.__annotations__["each"] = kind
    made: Tool[..., Any] = tool(take_any, name="take") if way == "keywords" else tool(take)
    if way == "preprocessed":
        made = tool(take, preprocess=lambda arguments: {**arguments})
    result = called(made, {"it": given})
    assert result.error is None
    assert got == [value]
    mapping: Any = dict[str, kind]
    assert parse(f'{{"it": {json.dumps(given)}}}', mapping) == {"it": value}


def test_a_strict_model_as_all_of_the_parameters_takes_its_json() -> None:
    got: list[Booking] = []

    def take(it: Booking) -> None:
        got.append(it)

    made = tool(take, params=Booking)
    assert called(made, {"day": DAY}).error is None
    assert got == [Booking(day=date(2024, 1, 2))]


def test_objects_that_a_preprocess_made_stay_objects() -> None:
    got: list[Any] = []

    def take(day: Annotated[date, Strict()], other: Any) -> None:
        got.extend((day, other))

    marker = object()
    made = tool(take, preprocess=lambda arguments: {"day": date.fromisoformat(arguments["day"]), "other": marker})
    assert called(made, {"day": DAY, "other": 1}).error is None
    assert got == [date(2024, 1, 2), marker]


class Trip(BaseModel):
    model_config = ConfigDict(strict=True)
    day: date


@pytest.mark.parametrize(("key", "kind"), [("Booking", Booking), ("Trip", Trip)])
def test_a_member_of_a_union_that_the_key_names_is_what_the_tool_gets(key: str, kind: type[Any]) -> None:
    taken: list[Any] = []

    @tool
    def take(value: Booking | Trip, many: list[Booking | Trip]) -> None:
        taken.extend([value, *many])

    @tool(params=Both)
    def take_both(both: Both) -> None:
        taken.append(both.value)

    given = {key: {"day": DAY}}
    assert called(take, {"value": given, "many": [given, given]}).error is None
    assert called(take_both, {"value": given}).error is None
    assert [type(one) for one in taken] == [kind] * 4


class Both(BaseModel):
    value: Booking | Trip
