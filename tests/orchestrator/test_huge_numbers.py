"""A number beyond every float is read wherever a type keeps every digit, and refused wherever it does not."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter

from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.tools import Tool, tool
from llmcore.types import FallbackExhausted, OutputParseError, ToolDefinition
from llmcore.types.numbers import exact_loads
from llmcore.validator import parse, parse_detailed
from tests.orchestrator.support import called

HUGE = Decimal("1e400")
AMOUNT = TypeAdapter(Decimal).json_schema()


class Bill(BaseModel):
    amount: Decimal
    note: str = ""


READ: list[tuple[str, Any, Any]] = [
    ("1e400", Decimal, HUGE),
    ("[1e400]", list[Decimal], [HUGE]),
    (
        "[1e400, 0.1, -12345678901234567890.5E+380]",
        list[Decimal],
        [HUGE, Decimal("0.1"), Decimal("-12345678901234567890.5E+380")],
    ),
    ('{"a": 1e400}', dict[str, Decimal], {"a": HUGE}),
    ('{"amount": 1e400, "note": "so \\"1e400\\" it is, [1e400]"}', Bill, Bill(amount=HUGE, note='so "1e400" it is, [1e400]')),
    ('Here it is:\n```json\n{"amount": 1e400}\n```', Bill, Bill(amount=HUGE)),
]


@pytest.mark.parametrize(("text", "kind", "value"), READ)
def test_it_is_read_exactly(text: str, kind: Any, value: Any) -> None:
    assert parse(text, kind) == value
    modes: list[dict[str, Any]] = [{}, {"strictness": "lenient"}]
    for mode in modes:
        assert Orchestrator(FakeModel(text)).execute_sync("x", kind, **mode) == value


def test_it_is_recorded() -> None:
    assert [repair.kind for repair in parse_detailed("[1e400]", list[Decimal]).repairs] == ["number_as_text"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("[1e400]", list[float]),
        ('{"a": 1e400}', dict[str, float]),
        ("[1e400]", list[str]),
        ("[NaN]", list[Decimal]),
        ("[1e99999999999999999999]", list[Decimal]),
    ],
)
def test_it_is_refused_where_no_digit_would_stay(text: str, kind: Any) -> None:
    with pytest.raises(OutputParseError):
        parse(text, kind)


paid: list[Any] = []


@tool
def pay(amount: Decimal) -> str:
    """Pays."""
    paid.append(amount)
    return "paid"


@tool
def measure(length: float) -> str:
    """Measures."""
    paid.append(length)
    return "measured"


@pytest.mark.parametrize("arguments", ['{"amount": 1e400}', '{"amount": -1.5E+400}'])
def test_a_tool_is_given_it(arguments: str) -> None:
    paid.clear()
    Orchestrator(FakeModel(called("pay", arguments), "done"), [pay]).run_sync("x")
    assert paid == [Decimal(arguments[11:-1])]


@pytest.mark.parametrize("more", [{}, {"type": "string"}, {"type": "number"}])
def test_an_argument_of_any_other_kind_is_not_made_a_text(more: dict[str, Any]) -> None:
    fake = FakeModel(default=called("pay", '{"amount": 1e400, "more": 1e400}'))
    tool_of_both = Tool.from_definition(
        ToolDefinition(name="pay", parameters={"type": "object", "properties": {"amount": AMOUNT, "more": more}})
    )
    with pytest.raises(FallbackExhausted) as caught:
        Orchestrator(fake, [tool_of_both]).run_sync("x")
    assert "finite number" in caught.value.details


def test_a_tool_that_cannot_hold_it_is_not() -> None:
    paid.clear()
    with pytest.raises(FallbackExhausted) as caught:
        Orchestrator(FakeModel(default=called("measure", '{"length": 1e400}')), [measure]).run_sync("x")
    assert "finite number" in caught.value.details
    assert paid == []


_INPUTS: dict[str, Callable[[str], Any]] = {
    "text": lambda given: called("pay", given),
    "object": lambda given: {
        "choices": [{"message": {"tool_calls": [{"function": {"name": "pay", "arguments": _read(given)}}]}}]
    },
    "anthropic": lambda given: {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "t", "name": "pay", "input": _read(given)}],
        "stop_reason": "tool_use",
    },
    "gemini": lambda given: {
        "candidates": [{"content": {"parts": [{"functionCall": {"name": "pay", "args": _read(given)}}]}, "finishReason": "STOP"}]
    },
    "ollama": lambda given: {
        "message": {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "pay", "arguments": _read(given)}}]},
        "done": True,
    },
}


def _read(given: str) -> Any:
    return exact_loads(given, json.loads)


@pytest.mark.parametrize("form", _INPUTS)
@pytest.mark.parametrize("number", ["1e400", "-1E+309"])
def test_a_call_keeps_its_digits_in_whatever_form_its_arguments_come(form: str, number: str) -> None:
    got = list[Decimal | None]()

    @tool
    def pay(limit: Decimal | None = None) -> str:
        got.append(limit)
        return "paid"

    Orchestrator(FakeModel(_INPUTS[form](f'{{"limit": {number}}}'), "Done."), [pay]).run_sync("go")
    assert got == [Decimal(number)]


@pytest.mark.parametrize("form", _INPUTS)
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "[1e400]", '{"a": NaN}'])
def test_a_call_without_a_number_that_its_tool_takes_is_asked_for_again(form: str, number: str) -> None:
    got = list[float | None]()

    @tool
    def pay(limit: float | None = None) -> str:
        got.append(limit)
        return "paid"

    fake = FakeModel(_INPUTS[form](f'{{"limit": {number}}}'), called("pay", '{"limit": 5}'), "Done.")
    result = Orchestrator(fake, [pay]).run_sync("go")
    assert got == [5.0]
    assert [attempt.reason for attempt in result.attempts] == ["first", "reask", "turn"]
