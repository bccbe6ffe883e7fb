"""A type's valid values arrive, or the type is refused where it is given; what is wrong with a value is told where it is."""

from __future__ import annotations

import enum
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, Field
from typing_extensions import TypedDict

from llmcore import FakeModel, Orchestrator, parse
from llmcore.tools import Tool
from llmcore.types import CallerError, ToolDefinitionError


class Plain(enum.Enum):
    RED = "red"


class Texts(str, enum.Enum):  # noqa: UP042  # as people write it
    RED = "red"


class Numbers(enum.IntEnum):
    ONE = 1


class PlainNumbers(enum.Enum):
    ONE = 1


class Pairs(enum.Enum):
    A = (1, 2)


class Rights(enum.IntFlag):
    """What may be done."""

    READ = 1
    WRITE = 2
    RUN = 4


class Marks(enum.Flag):
    A = 1
    B = 4


class Many(enum.IntFlag):
    A = enum.auto()
    B = enum.auto()
    C = enum.auto()
    D = enum.auto()
    E = enum.auto()
    F = enum.auto()
    G = enum.auto()


class Coloured(BaseModel):
    colour: Literal[Plain.RED]


@dataclass
class Held:
    colours: list[Literal[Plain.RED]]


class Allowed(BaseModel):
    by_right: dict[Rights, int]
    right: Rights


class Counted(BaseModel):
    by: dict[Numbers, int]
    of: Numbers


class Keyed(TypedDict):
    at: dict[tuple[int, int], str]


def took(kind: Any, value: Any) -> tuple[Any, list[str], int]:
    """What a tool of one parameter is given of a call, the repairs, and how many requests that took."""
    given: list[Any] = []

    def take(value: Any) -> str:
        given.append(value)
        return "taken"

    take.__annotations__["value"] = kind
    model = FakeModel().tool_call("take", {"value": value}).text("Done.").default_text("Done.")
    result = Orchestrator(model, [take]).run_sync("?")
    return given[0] if given else None, [one.repair.kind for one in result.repairs], model.call_count


@pytest.mark.parametrize(
    ("kind", "value", "arrives"),
    [
        (Literal[Texts.RED], "red", Texts.RED),
        (Literal[Numbers.ONE], 1, Numbers.ONE),
        (Rights, 3, Rights.READ | Rights.WRITE),
        (Rights, 0, Rights(0)),
        (list[Rights], [7, 4], [Rights(7), Rights.RUN]),
        (Marks, 5, Marks.A | Marks.B),
        (Many, 127, Many(127)),
        (timedelta, 3600, timedelta(hours=1)),
        (timedelta | None, 1.5, timedelta(seconds=1.5)),
        (timedelta, "PT1H", timedelta(hours=1)),
        (timedelta, "1 day, 2:00:00", timedelta(days=1, hours=2)),
        (date, "2026-01-02T00:00:00Z", date(2026, 1, 2)),
        (list[date], ["2026-01-02 00:00:00"], [date(2026, 1, 2)]),
        (datetime, 1767312000, datetime(2026, 1, 2, tzinfo=UTC)),
        (dict[Numbers, str], {"1": "x"}, {Numbers.ONE: "x"}),
        (dict[Numbers | None, str], {"1": "x"}, {Numbers.ONE: "x"}),
        (dict[Annotated[Numbers, AfterValidator(Numbers)], str], {"1": "x"}, {Numbers.ONE: "x"}),
        (Counter[Numbers], {"1": 2}, Counter({Numbers.ONE: 2})),
        (Counted, {"by": {"1": 2}, "of": 1}, Counted(by={Numbers.ONE: 2}, of=Numbers.ONE)),
    ],
)
def test_a_valid_value_of_a_type_arrives_without_a_turn(kind: Any, value: Any, arrives: Any) -> None:
    made, _, requests = took(kind, value)
    assert (made, requests) == (arrives, 2)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Rights, 8),
        (Marks, 2),
        (Many, 128),
        (date, "2026-01-02T10:00:00"),
        (date, 20260102),
        (datetime, 20260102),
        (datetime, 202601021030),
    ],
)
def test_what_a_value_does_not_say_is_not_made_of_it(kind: Any, value: Any) -> None:
    assert took(kind, value)[0] is None


def test_what_is_converted_is_recorded() -> None:
    assert took(timedelta, 3600)[1] == ["duration_from_seconds"]
    assert took(date, "2026-01-02T00:00:00Z")[1] == ["date_of_midnight"]
    assert took(timedelta, "PT1H")[1] == []


def test_flags_tell_the_model_what_they_mean() -> None:
    def take(rights: Rights) -> None: ...

    schema = Tool(take).definition.parameters["$defs"]["Rights"]
    assert schema["enum"] == [0, 1, 2, 3, 4, 5, 6, 7]
    assert schema["description"] == "What may be done.\n\nA sum of any of 1 = READ, 2 = WRITE, 4 = RUN."
    assert parse('"READ|WRITE"', Rights) == Rights(3)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Literal[Plain.RED], "admits <Plain.RED: 'red'>, which nothing in JSON is read as; derive an enum from str or int"),
        (Literal[Plain.RED, "blue"], "admits <Plain.RED: 'red'>"),
        (Literal[b"x"], "admits b'x'"),
        (Pairs, r"admits \(1, 2\)"),
        (Coloured, "its field 'colour' admits <Plain.RED: 'red'>"),
        (Held, "its field 'colours' admits"),
        (dict[tuple[int, int], str], "keys of the kind tuple, and keys are texts in JSON; take a list of pairs"),
        (dict[PlainNumbers, str], "has keys such as 1"),
        (
            dict[Rights, int],
            "has keys such as 7, which nothing in JSON is read as; take a list of pairs, for several flags are no",
        ),
        (dict[Many, int], "has keys such as 127"),
        (dict[Rights | None, int], "has keys such as 7"),
        (Counter[Rights], "has keys such as 7"),
        (Allowed, "its field 'by_right' has keys such as 7"),
        (dict[Coloured, int], "keys of the kind model"),
        (Keyed, "its field 'at' has keys"),
    ],
)
def test_a_type_that_nothing_in_json_is_read_as_is_refused_at_once(kind: Any, words: str) -> None:
    def take(value: Any) -> None: ...

    take.__annotations__["value"] = kind
    with pytest.raises(ToolDefinitionError, match=words):
        Tool(take)
    with pytest.raises(CallerError, match=words):
        parse("{}", kind)


def test_a_choice_that_can_be_given_stands_for_one_that_cannot() -> None:
    assert took(Literal[Plain.RED] | int, 5)[0] == 5


# What is wrong


class Card(BaseModel):
    kind: Literal["card"]
    number: str
    year: int


class Transfer(BaseModel):
    kind: Literal["transfer", "wire"]
    iban: str


class Cash(BaseModel):
    kind: Literal["cash"]
    amount: int


Payment = Annotated[Card | Transfer | Cash, Field(discriminator="kind")]


def told(kind: Any, value: Any) -> str:
    def take(value: Any) -> str:
        return "taken"

    take.__annotations__["value"] = kind
    model = FakeModel().tool_call("take", {"value": value}).default_text("Done.")
    Orchestrator(model, [take]).run_sync("?")
    return model.requests[1].messages[-1].text


@pytest.mark.parametrize("kind", [Payment, Card | Transfer | Cash, Payment | None])
@pytest.mark.parametrize(
    ("value", "line"),
    [
        (
            {"kind": "card", "number": "1", "year": "soon"},
            '`value.year`: expected integer (as `kind` is "card"), got string "soon"',
        ),
        ({"kind": "wire"}, '`value.iban`: expected string (as `kind` is "wire"), got nothing'),
        ({"kind": "check", "amount": 1}, '`value.kind`: expected one of "card", "transfer", "wire", "cash", got string "check"'),
        ({"amount": 1}, '`value.kind`: expected one of "card", "transfer", "wire", "cash", got nothing'),
        ('{"kind": "cash", "amount": "much"}', '`value.amount`: expected integer (as `kind` is "cash"), got string "much"'),
    ],
)
def test_of_members_that_a_key_tells_apart_the_one_that_was_meant_is_named(kind: Any, value: Any, line: str) -> None:
    assert f"- {line}\n" in told(kind, value)
    assert told(kind, value).count("- `value") == 1


class Noted(BaseModel):
    type: Literal["noted"]
    paid: Payment | None = None
    inner: list[Noted | Blank] = []


class Blank(BaseModel):
    type: Literal["blank"]


class Free(BaseModel):
    note: str


class Left(BaseModel):
    side: Literal["a"]
    of: Literal["left"]
    n: int


class Right(BaseModel):
    side: Literal["a"]
    of: Literal["right"]
    n: int


class Alone(BaseModel):
    side: Literal["b"]
    n: int


Sides = Annotated[Annotated[Left | Right, Field(discriminator="of")] | Alone, Field(discriminator="side")]
CARD = {"kind": "card", "number": "1", "year": "soon"}
NO_YEAR = 'expected integer (as `kind` is "card"), got string "soon"'


@pytest.mark.parametrize(
    ("kind", "value", "line"),
    [
        (Card | Transfer | None, CARD, f"`value.year`: {NO_YEAR}"),
        (Payment | str, CARD, f"`value.year`: {NO_YEAR}"),
        (Payment | list[Payment], [CARD], f"`value[0].year`: {NO_YEAR}"),
        (Payment | list[Payment], CARD, f"`value.year`: {NO_YEAR}"),
        (Payment | Free, CARD, f"`value.year`: {NO_YEAR}"),
        (dict[str, Payment | None], {"a": CARD}, f"`value.a.year`: {NO_YEAR}"),
        (
            Noted | Blank,
            {"type": "noted", "paid": CARD},
            '`value.paid.year`: expected integer (as `kind` is "card"), got string "soon"',
        ),
        (
            Noted | Blank,
            {"type": "noted", "inner": [{"type": "noted", "inner": [{"type": "noted", "paid": CARD}]}]},
            '`value.inner[0].inner[0].paid.year`: expected integer (as `kind` is "card")',
        ),
        (Sides, {"side": "b", "n": "x"}, '`value.n`: expected integer (as `side` is "b"), got string "x"'),
        (
            Sides,
            {"side": "a", "of": "right", "n": "x"},
            '`value.n`: expected integer (as `side` is "a" and `of` is "right"), got string "x"',
        ),
        (Sides, {"side": "a", "n": 1}, '`value.of`: expected one of "left", "right" (as `side` is "a"), got nothing'),
        (Sides, {"side": "c", "n": 1}, '`value.side`: expected one of "a", "b", got string "c"'),
        (Payment | None, {}, '`value.kind`: expected one of "card", "transfer", "wire", "cash", got nothing'),
    ],
)
def test_the_member_that_is_meant_is_named_in_a_union_within_a_union(kind: Any, value: Any, line: str) -> None:
    assert f"- {line}" in told(kind, value)
    assert told(kind, value).count("- `value") == 1


class Outer(BaseModel):
    card: Card
    years: list[int] = []


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ('{"card": {"kind": "card", "number": "1", "year": "x"}}', '`value.card.year`: expected integer, got string "x"'),
        ({"card": '{"kind": "card", "number": "1"}'}, "`value.card.year`: expected integer, got nothing"),
        ('{"card": "{\\"kind\\": \\"card\\", \\"number\\": \\"1\\"}"}', "`value.card.year`: expected integer, got nothing"),
        (
            {"card": {"kind": "card", "number": "1", "year": 1}, "years": '[1, "x"]'},
            '`value.years[1]`: expected integer, got string "x"',
        ),
        ("no object", '`value`: expected object, got string "no object"'),
    ],
)
def test_what_is_wrong_within_a_text_of_json_is_named(value: Any, line: str) -> None:
    assert f"- {line}\n" in told(Outer, value)
