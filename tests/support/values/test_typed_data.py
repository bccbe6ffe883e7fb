"""JSON data as values of a type: read as JSON, unless the data are none."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    Json,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic.functional_validators import BeforeValidator

from llmcore.support.values.typed_data import TypedReading, is_json


class Colour(enum.Enum):
    RED = "red"


class Inner(BaseModel):
    model_config = ConfigDict(strict=True)
    day: date
    sizes: tuple[int, int] = (1, 2)


def reading(kind: Any) -> TypedReading:
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    return TypedReading.of(adapter)


STRICT: list[tuple[Any, Any, Any]] = [
    (date, "2024-01-02", date(2024, 1, 2)),
    (datetime, "2024-01-02T03:04:05", datetime(2024, 1, 2, 3, 4, 5)),
    (time, "03:04:05", time(3, 4, 5)),
    (timedelta, "PT5S", timedelta(seconds=5)),
    (Decimal, "1.5", Decimal("1.5")),
    (Decimal, 1.5, Decimal("1.5")),
    (UUID, "12345678-1234-5678-1234-567812345678", UUID("12345678123456781234567812345678")),
    (Path, "a/b", Path("a/b")),
    (bytes, "x", b"x"),
    (Colour, "red", Colour.RED),
    (tuple[int, str], [1, "a"], (1, "a")),
    (set[int], [1, 2], {1, 2}),
    (frozenset[str], ["a"], frozenset({"a"})),
    (dict[int, str], {"1": "a"}, {1: "a"}),
    (Inner, {"day": "2024-01-02", "sizes": [3, 4]}, Inner(day=date(2024, 1, 2), sizes=(3, 4))),
]


@pytest.mark.parametrize("around", ["alone", "in a list", "or nothing", "as a value"])
@pytest.mark.parametrize(("kind", "data", "value"), STRICT, ids=str)
def test_a_strict_type_is_made_of_its_json_form(kind: Any, data: Any, value: Any, around: str) -> None:
    strict: Any = Annotated[kind, Field(strict=True)] if kind not in (Inner, Path) else kind
    shapes: dict[str, tuple[Any, Any, Any]] = {
        "alone": (strict, data, value),
        "in a list": (list[strict], [data], [value]),
        "or nothing": (strict | None, data, value),
        "as a value": (dict[str, strict], {"a": data}, {"a": value}),
    }
    of, given, made = shapes[around]
    assert reading(of).read_any(given) == made


def test_validators_see_that_they_are_given_json() -> None:
    seen: list[str] = []

    def look(value: Any, info: ValidationInfo) -> Any:
        seen.append(info.mode)
        return value

    kind = Annotated[int, BeforeValidator(look), WithJsonSchema({"type": "integer"})]
    assert reading(kind).read_any(5) == 5
    assert seen == ["json"]


PLAIN = [Any, str, int, bool, float, str | None, list[int], dict[str, Any], Literal["a", 1], list[dict[str, bool | None]]]


@pytest.mark.parametrize("kind", PLAIN, ids=str)
@pytest.mark.parametrize(
    "data", ["a", 1, 1.5, True, None, [1], ["1"], {"a": 1}, {"a": True}, [{"a": None}], "1", "yes"], ids=repr
)
def test_what_is_read_as_python_is_read_alike_as_json(kind: Any, data: Any) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    assert outcome(reading(kind).read, data) == outcome(adapter.validate_json, json.dumps(data))


def outcome(read: Callable[[Any], Any], data: Any) -> Any:
    try:
        made = read(data)
    except ValidationError as error:
        return [each["type"] for each in error.errors()]
    return made, type(made)


def test_what_no_json_text_holds_is_read_all_the_same() -> None:
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]
    kind = dict[str, Any | date]
    for odd in ("\ud83d", deep):
        assert reading(kind).read({"a": odd})["a"] is odd
    with pytest.raises(ValidationError, match="JSON"):
        reading(Json[list[int]]).read("[1")


def test_python_objects_that_code_put_in_stay_what_they_are() -> None:
    class Ours:
        pass

    ours = Ours()
    made = reading(dict[str, Any | date]).read_any({"a": ours, "b": (1, 2)})
    assert made["a"] is ours
    assert made["b"] == (1, 2)
    assert reading(Annotated[date, AfterValidator(lambda day: day)]).read_any(date(2024, 1, 2)) == date(2024, 1, 2)


def test_what_is_json() -> None:
    loop: list[Any] = []
    loop.append(loop)
    for data in (None, 1, "a", 1.5, True, [1, {"a": [None]}], loop):
        assert is_json(data)
    for other in ((1,), {1}, {1: 2}, b"x", [date(2024, 1, 2)], Colour.RED):
        assert not is_json(other)
