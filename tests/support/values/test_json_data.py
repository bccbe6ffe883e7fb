"""Whatever a reply, a result or an error holds, its JSON can be written and read again."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import json
import types
import typing
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, computed_field, field_serializer

import llmcore
from llmcore import event_json
from llmcore.run.results.result import RepairRecord, RunResult, ToolFailure, ToolRecord
from llmcore.support.values.json_data import LARGEST_INT, encodable, json_data, model_data
from llmcore.testing import FakeModel
from llmcore.types import (
    Attempt,
    Envelope,
    LLMCoreError,
    Message,
    NearMiss,
    OutputParseError,
    PartialOutput,
    ProviderBlock,
    Repair,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolError,
    ToolResultBlock,
    ToolUseBlock,
)
from llmcore.validator import Problem, ValidationReport

LONE = "a\ud800b"


class Hue(enum.Enum):
    RED = LONE


class Unwritable:
    def __str__(self) -> str:
        raise RuntimeError("no text")


def later() -> None:
    """Later."""


def endless() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


HOSTILE: dict[str, tuple[Any, Any]] = {
    "a lone surrogate": (LONE, "a�b"),
    "a pair in two halves": ("\ud83d\ude00", "😀"),
    "a key": ({LONE: 1}, {"a�b": 1}),
    "infinity": ([float("inf"), float("-inf")], ["Infinity", "-Infinity"]),
    "no number": ({"a": float("nan")}, {"a": "NaN"}),
    "a number of too many digits": (LARGEST_INT + 1, "1" + "0" * 4300),
    "a negative one": ({"a": [-(10**5000)]}, {"a": ["-1" + "0" * 5000]}),
    "the largest that stays": (LARGEST_INT, LARGEST_INT),
    "an enum": (Hue.RED, "a�b"),
    "a model": (TextBlock(text="x"), {"cache_control": None, "type": "text", "text": "x"}),
    "other keys": ({(1, 2): {3}, None: 1}, {"1,2": [3], "None": 1}),
    "a failing __str__": ([Unwritable()], ["<Unwritable>"]),
    "itself": (endless(), "[[...]]"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_value_becomes_data_that_any_reader_takes(name: str) -> None:
    value, expected = HOSTILE[name]
    made = json_data(value)
    assert made == expected
    record = ToolRecord(id="1", name="f", value=value, arguments={"a": value})
    back = ToolRecord.model_validate_json(record.model_dump_json())
    assert back.value == expected
    assert back.model_dump_json() == record.model_dump_json()


def hostile_values(error: BaseException) -> list[Any]:
    """Values of which every method that a writer might ask raises."""

    def fails(*_: Any, **__: Any) -> Any:
        raise error

    ways = dict.fromkeys(["items", "keys", "values", "get", "__iter__", "__len__", "__getitem__", "__str__", "__repr__"], fails)
    made = [type("Odd", (kind,), ways)(value) for kind, value in ((dict, {"a": 1}), (list, [1]), (set, {1}), (tuple, (1,)))]
    texts = {**dict.fromkeys(["isascii", "encode", "__str__", "__repr__", "__getitem__"], fails), "__class__": property(fails)}
    made += [type("OddText", (str,), texts)("caf\u00e9"), type("Odd", (), {"__str__": fails, "__class__": property(fails)})()]

    class Written(BaseModel):
        x: int = 1

        @field_serializer("x")
        def said(self, value: int) -> int:
            raise error

    class SaysOdd:
        def __str__(self) -> str:
            return typing.cast("str", made[4])

    return [*made, Written(), SaysOdd()]


@pytest.mark.parametrize("error", [ValueError("v"), SystemExit(1), GeneratorExit(), asyncio.CancelledError(), MemoryError()])
def test_no_method_of_a_value_keeps_a_result_from_being_written(error: BaseException) -> None:
    for value in hostile_values(error):
        for whole in (value, [value], {"inside": value}):
            written = RunResult(output=whole, has_output=True).model_dump_json()
            assert json.loads(written)["has_output"]
    assert json_data(hostile_values(error)[0]) == {"a": 1}
    assert json_data(hostile_values(error)[1]) == [1]


def test_the_users_own_interruption_passes() -> None:
    with pytest.raises(KeyboardInterrupt):
        json_data(hostile_values(KeyboardInterrupt())[5])


def test_plain_data_stays_as_it_is() -> None:
    value: dict[str, Any] = {"a": [1, 2.5, None, True, "größer 😀"], "b": {"c": []}}
    assert json_data(value) == value
    assert type(json_data([True, 1, 1.0])[0]) is bool
    assert encodable("größer") == "größer"


# --- every field of every model that holds what others wrote -----------------------------------------------------------

MODELS: list[type[BaseModel]] = [
    Envelope,
    ToolCall,
    Repair,
    NearMiss,
    TextBlock,
    ThinkingBlock,
    ToolUseBlock,
    ToolResultBlock,
    ProviderBlock,
    Problem,
    ValidationReport,
    Attempt,
    ToolFailure,
    ToolRecord,
    RepairRecord,
    RunResult,
]


def kinds(annotation: Any) -> Iterator[Any]:
    """The plain types of an annotation, without Annotated and unions."""
    if typing.get_origin(annotation) in (Annotated, typing.Union, types.UnionType):
        for inner in typing.get_args(annotation):
            yield from kinds(inner)
    else:
        yield annotation


def hostile_fields(model: type[BaseModel]) -> dict[str, Any]:
    """Each field that may hold text or data of others, with the worst of it."""
    made: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        of = list(kinds(field.annotation))
        if name in ("kind", "provider", "model", "version") and model is not NearMiss:
            continue  # words of our own and of the caller's configuration
        if Any in of and name != "failure":
            made[name] = {LONE: [float("inf"), 10**5000]}
        elif dict[str, Any] in of:
            made[name] = {LONE: float("nan")}
        elif str in of:
            made[name] = LONE
        elif list[str] in of:
            made[name] = [LONE]
    return made


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_field_that_others_fill_can_be_written(model: type[BaseModel]) -> None:
    needed: dict[str, Any] = {
        "repair": Repair(kind="k"),
        "attempt": 1,
        "of": "reply",
        "span": (0, 1),
        "kind": "type",
        "provider": "p",
        "n": 1,
    }
    needed["model"] = "m"
    fields: dict[str, Any] = {name: value for name, value in needed.items() if name in model.model_fields} | hostile_fields(model)
    made = model.model_construct(**fields)
    written = made.model_dump_json()
    assert model.model_validate_json(written).model_dump_json() == written
    assert made.model_dump(mode="json") == json.loads(written)


@pytest.mark.parametrize(
    "reply",
    [
        f"Hello {LONE}",
        f'<tool_call>{{"name": "f{LONE}", "arguments": {{"a": "{LONE}"}}}}</tool_call>',
        f'<tool_call>{{"name": "f", "arguments": {{"{LONE}": 1e999,,}}}}</tool_call>',
        f"<think>{LONE}</think>f",
        {"choices": [{"message": {"content": LONE, "reasoning": LONE}, "finish_reason": LONE}]},
        {"choices": [{"message": {"tool_calls": [{"id": LONE, "function": {"name": LONE, "arguments": f'{{"a": "{LONE}"}}'}}]}}]},
        {"content": [{"type": "thinking", "thinking": LONE, "signature": LONE}, {"type": LONE, LONE: LONE}], "role": "assistant"},
    ],
)
def test_an_envelope_can_be_written_whatever_the_model_wrote(reply: Any) -> None:
    envelope = llmcore.normalize(reply)
    written = envelope.model_dump_json()
    assert Envelope.model_validate_json(written).model_dump_json() == written
    message = Message(role="assistant", content=envelope.blocks)
    assert Message.model_validate_json(message.model_dump_json()).role == "assistant"
    report = llmcore.validate(envelope, [{"name": "f", "parameters": {"type": "object", "required": ["b"], "properties": {}}}])
    ValidationReport.model_validate_json(report.model_dump_json())


# --- errors -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error",
    [
        LLMCoreError(LONE),
        OutputParseError(LONE, [Problem(kind="type", message=LONE)], LONE),
        ToolError(LONE, tool_name=LONE, tool_id="1", type="execution", details={LONE: [LONE, endless(), float("inf")]}),
        LLMCoreError.from_data({"type": "RateLimited", "message": LONE}),
    ],
)
def test_an_errors_message_and_data_can_be_encoded(error: LLMCoreError) -> None:
    assert str(error) == "a�b"
    written = json.dumps(error.as_data(), ensure_ascii=False, allow_nan=False)
    written.encode()
    assert str(LLMCoreError.from_data(json.loads(written))) == "a�b"
    attempt = Attempt(n=1, model="m", failure=error)
    assert type(Attempt.model_validate_json(attempt.model_dump_json()).failure) is type(error)


# --- tools of the caller ------------------------------------------------------------------------------------------------

TOOLS: dict[str, Any] = {
    "a name": {"name": LONE, "parameters": {}},
    "a description": {"name": "f", "description": LONE},
    "a property": {"name": "f", "parameters": {"type": "object", "properties": {LONE: {}}}},
    "an enum": {"name": "f", "parameters": {"type": "object", "properties": {"a": {"enum": ["x", LONE]}}}},
    "OpenAI's": {"type": "function", "function": {"name": "f", "description": LONE, "parameters": {}}},
    "a definition": llmcore.ToolDefinition(name="f", description=LONE),
    "an example": llmcore.ToolDefinition(name="f", examples=[{"a": LONE}]),
    "a function's": llmcore.tool(description=LONE)(later),
}


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_that_cannot_be_sent_is_the_callers_error_at_once(name: str) -> None:
    fake = FakeModel("x")
    with pytest.raises(llmcore.ToolDefinitionError, match=r"\\ud800|unicode"):
        llmcore.Orchestrator(fake, [TOOLS[name]]).run_sync("x")
    assert fake.call_count == 0
    with pytest.raises(llmcore.ToolDefinitionError):
        llmcore.normalize("x", [TOOLS[name]])


class Cart(BaseModel):
    """Counts on its fields, of which a partial value lacks some."""

    note: str = Field(serialization_alias="words")
    price: int
    token: str = Field(default="hush", exclude=True)

    @computed_field  # type: ignore[prop-decorator]  # mypy knows no decorated property
    @property
    def gross(self) -> int:
        return self.price + 1

    @computed_field  # type: ignore[prop-decorator]  # mypy knows no decorated property
    @property
    def shout(self) -> str:
        return self.note.upper()

    @field_serializer("price")
    def _in_cents(self, price: int) -> int:
        return price * 100

    def __repr__(self) -> str:
        return f"Cart({self.price + 1})"


@dataclasses.dataclass
class Held:
    cart: Cart
    n: int


class Order(BaseModel):
    carts: list[Cart]
    by_name: dict[str, Cart] = {}
    held: Held | None = None


LACKING = Cart.model_construct(note="for the road", price=None)
WHOLE = Cart(note="x", price=2)
NAMES = {"note": "for the road", "price": None, "shout": "FOR THE ROAD"}
ALIASES = {"words": "for the road", "price": None, "shout": "FOR THE ROAD"}
SOUND = {"price": 200, "gross": 3, "shout": "X"}


def test_of_what_lacks_parts_stands_what_can_be_written() -> None:
    assert model_data(LACKING) == NAMES
    assert model_data(WHOLE) == {"note": "x", **SOUND}
    order = Order.model_construct(carts=[LACKING, WHOLE], by_name={"a": LACKING}, held=Held(LACKING, 1))
    assert model_data(order) == {
        "carts": [NAMES, {"note": "x", **SOUND}],
        "by_name": {"a": NAMES},
        "held": {"cart": ALIASES, "n": 1},
    }
    for around in ([LACKING], (LACKING,), {"a": LACKING}.values()):
        assert json_data([*around]) == [ALIASES]
    assert json_data((LACKING, WHOLE)) == [ALIASES, {"words": "x", **SOUND}]
    assert json_data(Held(LACKING, 1)) == {"cart": ALIASES, "n": 1}


@pytest.mark.parametrize("value", [LACKING, [LACKING], (LACKING,), Order.model_construct(carts=[LACKING]), Held(LACKING, 1)])
def test_an_event_of_a_partial_value_can_be_shown(value: Any) -> None:
    event = PartialOutput(value)
    assert "for the road" in repr(event)
    assert "for the road" in json.dumps(event_json(event))
    assert "hush" not in repr(event) + json.dumps(event_json(event))


def test_of_what_ends_the_process_where_it_is_written_the_rest_stands() -> None:
    class Leaves(BaseModel):
        a: int

        @computed_field  # type: ignore[prop-decorator]  # mypy knows no decorated property
        @property
        def b(self) -> int:
            raise SystemExit

        @computed_field  # type: ignore[prop-decorator]  # mypy knows no decorated property
        @property
        def c(self) -> int:
            return self.a

    assert model_data(Leaves(a=1)) == json_data(Leaves(a=1)) == {"a": 1, "c": 1}
    assert repr(PartialOutput(WHOLE)) == "PartialOutput(value=Cart(3))"
