"""`parse`: finding the value, bringing it into the type's shape, and refusing what would be a guess."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import uuid
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, field_validator
from typing_extensions import TypedDict

from llmcore.types import CallerError, JsonSchema, OutputParseError
from llmcore.validator import json_schema, parse, parse_detailed
from llmcore.validator.coercion.coercer import Strictness
from tests.validator.schemas import object_schema


class Color(enum.Enum):
    RED = "red"
    DARK_BLUE = "dark_blue"


class Item(BaseModel):
    name: str
    quantity: int
    price: Decimal = Decimal(0)
    color: Color | None = None


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Movie(TypedDict):
    title: str
    year: int


PERSON = object_schema(name={"type": "string"}, age={"type": "integer"})
NUMBERS: JsonSchema = {"type": "array", "items": {"type": "integer"}}


def kinds(text: str, output_type: Any, strictness: Strictness = "lenient") -> list[tuple[str, str]]:
    return [(r.kind, r.safety) for r in parse_detailed(text, output_type, strictness=strictness).repairs]


# --- types ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "output_type", "value"),
    [
        ('{"name": "nut", "quantity": 3, "price": "1.10"}', Item, Item(name="nut", quantity=3, price=Decimal("1.10"))),
        ('{"name": "nut", "quantity": "3", "color": "RED"}', Item, Item(name="nut", quantity=3, color=Color.RED)),
        ('{"x": 1}', Point, Point(1)),
        ('{"title": "Up", "year": 2009}', Movie, {"title": "Up", "year": 2009}),
        ('[{"x": 1}, {"x": 2}]', list[Point], [Point(1), Point(2)]),
        ('["a", "b"]', set[str], {"a", "b"}),
        ('[1, "x"]', tuple[int, str], (1, "x")),
        ('{"1": 2.5}', dict[int, float], {1: 2.5}),
        ("12345678901234567890", int, 12345678901234567890),
        ("0.1", Decimal, Decimal("0.1")),
        ("true", bool, True),
        ("null", int | None, None),
        ("2026-01-02", datetime.date, datetime.date(2026, 1, 2)),
        ('"2026-01-02T03:04:05Z"', datetime.datetime, datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)),
        ("12345678-1234-5678-1234-567812345678", uuid.UUID, uuid.UUID("12345678-1234-5678-1234-567812345678")),
        ("dark_blue", Color, Color.DARK_BLUE),
        ("yes", Literal["yes", "no"], "yes"),
        ('{"a": [1, null]}', Any, {"a": [1, None]}),
        ('{"name": "Ann", "age": 30}', PERSON, {"name": "Ann", "age": 30}),
    ],
)
def test_every_kind_of_type(text: str, output_type: Any, value: Any) -> None:
    made = parse(text, output_type)
    assert made == value
    assert type(made) is type(value)


def test_unions_take_the_member_that_fits() -> None:
    assert parse('{"x": 1}', Item | Point) == Point(1)
    assert parse('{"x": "1"}', Item | Point) == Point(1)
    assert parse("5", int | str) == 5
    assert parse("five", int | str) == "five"
    assert parse("5 o'clock", int | str, strictness="lenient") == "5 o'clock"


def test_a_discriminated_union() -> None:
    class Cat(BaseModel):
        kind: Literal["cat"]
        lives: int

    class Dog(BaseModel):
        kind: Literal["dog"]
        age: int

    pet = parse('{"kind": "DOG", "age": "3"}', Annotated[Cat | Dog, Field(discriminator="kind")])
    assert pet == Dog(kind="dog", age=3)


def test_a_types_own_validators_speak_last() -> None:
    class Even(BaseModel):
        n: int

        @field_validator("n")
        @classmethod
        def even(cls, value: int) -> int:
            if value % 2:
                raise ValueError("must be even")
            return value

    assert parse('{"n": 2}', Even).n == 2
    with pytest.raises(OutputParseError) as caught:
        parse('{"n": 3}', Even)
    assert [(problem.path, problem.got) for problem in caught.value.problems] == [("n", "integer 3: must be even")]


@pytest.mark.parametrize("output_type", [object(), 5, {"type": "strng"}, {"$ref": "#/nowhere"}])
def test_a_type_that_cannot_be_used_is_the_callers_error(output_type: Any) -> None:
    with pytest.raises(CallerError, match="output_type"):
        parse("x", output_type)


def test_wrong_arguments_are_the_callers_error() -> None:
    with pytest.raises(CallerError, match="strictness"):
        parse("1", int, strictness="loose")  # type: ignore[call-overload]  # what is tested
    with pytest.raises(CallerError, match="takes a text"):
        parse(b"1", int)  # type: ignore[call-overload]  # what is tested


def test_the_schema_that_a_model_is_told() -> None:
    assert json_schema(int) == {"type": "integer"}
    assert json_schema(PERSON) is PERSON
    assert set(json_schema(Item)["properties"]) == {"name", "quantity", "price", "color"}


# --- finding the value ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Ann", "age": 30}',
        'Sure, here you are:\n\n{"name": "Ann", "age": 30}\n\nAnything else?',
        'Sure:\n```json\n{"name": "Ann", "age": 30}\n```\nDone.',
        '```\n{"name": "Ann",\n "age": 30}\n```',
        'I {think} it is [maybe] this: {"name": "Ann", "age": 30}',
        'An example: {"city": "Rome"}. The answer: {"name": "Ann", "age": 30}',
        '{"name": "Ann", "age": 30} {"name": "Bob", "age": 31}',
        "<thinking>a {b} c [d]</thinking>\n{'name': 'Ann', 'age': 30,} // as asked",
        '{name: "Ann", "age": "30"}',
        '```json\n{"name": "Ann", "age": 30\n```',
        '{"Name": "Ann", "AGE": 30}',
    ],
)
def test_a_value_is_found_wherever_it_stands(text: str) -> None:
    assert parse(text, PERSON) == {"name": "Ann", "age": 30}


def test_a_remark_that_reads_like_a_key_is_left_out_and_recorded() -> None:
    text = '{name: "Ann",\n age: 30,\n Note to self: "check this",\n}'
    detail = parse_detailed(text, PERSON, strictness="lenient")
    assert detail.value == {"name": "Ann", "age": 30}
    dropped = [(repair.path, repair.before) for repair in detail.repairs if repair.kind == "dropped_key"]
    assert ("Note to self", "check this") in dropped
    assert parse('{"name": "Ann", "age": 30, "note": 1}', PERSON) == {"name": "Ann", "age": 30, "note": 1}


def test_a_list_is_no_item_of_another() -> None:
    with pytest.raises(OutputParseError):
        parse('[{"x": 1}, {"y": 2}]', list[Point], strictness="lenient")


def test_other_notations_of_a_scalar() -> None:
    assert parse("None", int | None) is None
    assert parse(".5", float) == 0.5


def test_several_values() -> None:
    text = '{"name": "Ann", "age": 30}\n{"name": "Bob", "age": 31}\n{"other": 1}'
    people = parse_detailed(text, {"type": "array", "items": PERSON})
    assert [person["name"] for person in people.value] == ["Ann", "Bob"]
    assert [repair.kind for repair in people.repairs] == ["gathered_items"]
    assert len(people.candidates) == 3
    with pytest.raises(OutputParseError, match="several different ones"):
        parse(text, PERSON)
    assert parse(text, PERSON, strictness="lenient")["name"] == "Ann"


def test_a_part_of_an_unreadable_value_is_not_taken_for_the_whole() -> None:
    text = '{"outer": {"name": "Ann", "age": 30}, ]: : oops "'
    with pytest.raises(OutputParseError):
        parse(text, PERSON)


def test_plain_text_is_taken_as_it_is() -> None:
    for text in ("Hello", ' "quoted" ', '{"a": 1}', "None", ""):
        assert parse(text, str, strictness="off") == text
    assert parse("None", str | None) == "None"
    assert parse(" null ", str | None) is None


def test_scalars_in_fences_and_quotes() -> None:
    assert parse("The form is:\n```json\nnull\n```", Color | None) is None
    assert parse("```\nred\n```", Color) == Color.RED
    assert parse('"red"', Color) == Color.RED
    assert parse("`red`", Color) == Color.RED
    assert parse("```json\n5\n```", int) == 5


def test_code_in_back_ticks_is_dedented() -> None:
    text = '{"code": ```\n    def f():\n        return "}"\n```, "lang": "py"}'
    value = parse(text, object_schema(code={"type": "string"}, lang={"type": "string"}))
    assert value == {"code": 'def f():\n    return "}"', "lang": "py"}


# --- strictness -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "least"),
    [
        ('{"name": "Ann", "age": 30,}', "trailing_comma", "off"),
        ("{'name': 'Ann', 'age': 30}", "single_quotes", "off"),
        ('{"name": "Ann", "age": "30"}', "number_from_text", "safe"),
        ('{"name": "say "hi" now", "age": 30}', "inner_quotes", "lenient"),
        ('{"name": "Ann" "age": 30}', "missing_comma", "lenient"),
        ('{"name": "Ann", "age": 30', "missing_closer", "lenient"),
        ('{"age": 30, "name": "An', "cut_string", "lenient"),
    ],
)
def test_strictness_bounds_what_may_be_repaired(text: str, kind: str, least: str) -> None:
    levels: list[Strictness] = ["off", "safe", "lenient"]
    for level in levels[: levels.index(least)]:  # type: ignore[arg-type]  # rows hold plain text
        with pytest.raises(OutputParseError):
            parse(text, PERSON, strictness=level)
    assert kind in [found for found, _ in kinds(text, PERSON, least)]  # type: ignore[arg-type]  # as above


def test_sound_json_that_fits_needs_no_repair_at_any_strictness() -> None:
    for strictness in ("off", "safe", "lenient"):
        assert kinds('{"age": 30, "name": "a"}', PERSON, strictness) == []


@pytest.mark.parametrize(
    ("text", "output_type"),
    [
        ('False. The statement "1 = 2" would not hold true.', bool),
        ("red or dark_blue", Color),
        ("It is definitely not red", Color),
        ("2 or 3", Literal[2, 3]),
        ("between 10 and 20", int),
        ("I cannot help with that.", Item),
        ("[1, two, 3]", list[int]),
        ('{"name": "Ann"}', PERSON),
        ("", int),
        ("{}", PERSON),
    ],
)
def test_what_cannot_be_told_is_refused_even_leniently(text: str, output_type: Any) -> None:
    with pytest.raises(OutputParseError) as caught:
        parse(text, output_type, strictness="lenient")
    assert caught.value.problems
    assert caught.value.text == text


@pytest.mark.parametrize(
    ("text", "output_type", "value"),
    [
        ("about $1,234", int, 1234),
        ("about " + "9" * 400, int, int("9" * 400)),  # more than any float
        ("1/4", float, 0.25),
        ("The answer is True", bool, True),
        ("The answer is True", list[bool], [True]),
        ("It should be **Dark Blue**, I think", Color, Color.DARK_BLUE),
        ('{"answer": "red"}', Color, Color.RED),
        ('["red"]', Color, Color.RED),
        ('{"x": 1}', list[Point], [Point(1)]),
        ('{"name": "a", "quantity": 2.6}', Item, Item(name="a", quantity=3)),
    ],
)
def test_lenient_guesses_and_says_so(text: str, output_type: Any, value: Any) -> None:
    detail = parse_detailed(text, output_type, strictness="lenient")
    assert detail.value == value
    assert any(repair.safety in ("guess", "coerced") for repair in detail.repairs)
    with pytest.raises(OutputParseError):
        parse(text, output_type, strictness="safe")


def test_the_error_tells_of_the_value_that_was_meant() -> None:
    with pytest.raises(OutputParseError) as caught:
        parse('Here: {"name": "Ann", "age": "old"} and {"q": 1}', PERSON)
    assert [str(problem) for problem in caught.value.problems] == ['`age`: expected integer, got string "old"']
    with pytest.raises(OutputParseError) as caught:
        parse('{"name": "Ann", "age": 3', PERSON)
    assert [problem.kind for problem in caught.value.problems] == ["incomplete"]


def test_a_thousand_values_are_not_taken_for_all() -> None:
    with pytest.raises(OutputParseError):
        parse('{"x": 1}\n' * 1500, list[Point])
