"""A Decimal has the digits that the model wrote, on every path to it."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

import llmcore
from llmcore.types import OutputParseError
from llmcore.validator import parse

LONG = "12345678901234567890.12"
EXACT = Decimal(LONG)


class Payment(BaseModel):
    amount: Decimal


class StrictPayment(BaseModel):
    model_config = ConfigDict(strict=True)
    amount: Decimal


@dataclasses.dataclass
class Plain:
    amount: Decimal


@pytest.mark.parametrize(
    ("text", "output_type", "value"),
    [
        (LONG, Decimal, EXACT),
        (f'"{LONG}"', Decimal, EXACT),
        (f"```json\n{LONG}\n```", Decimal, EXACT),
        ("1234567890123456789e-10", Decimal, Decimal("123456789.0123456789")),
        ("1e-400", Decimal, Decimal("1e-400")),
        (f'{{"amount": {LONG}}}', Payment, Payment(amount=EXACT)),
        (f'{{"amount": {LONG}}}', StrictPayment, StrictPayment(amount=EXACT)),
        (f'{{"amount": {LONG}}}', Plain, Plain(EXACT)),
        (f"Here: {{'amount': {LONG},}}", Payment, Payment(amount=EXACT)),
        (f'Here: {{"amount": {LONG}}} as asked', Payment | None, Payment(amount=EXACT)),
        (f'{{"a": {LONG}, "b": 0.1}}', dict[str, Decimal], {"a": EXACT, "b": Decimal("0.1")}),
        (f"[{LONG}, 1]", list[Decimal], [EXACT, Decimal(1)]),
        (LONG, Decimal | str, EXACT),
        (f'{{"amount": {LONG}}}', {"type": "object", "properties": {"amount": {"type": "string"}}}, {"amount": LONG}),
        ("12345678901234567890.00", int, 12345678901234567890),
    ],
)
def test_typed_output_keeps_every_digit(text: str, output_type: Any, value: Any) -> None:
    assert parse(text, output_type) == value


def test_a_partial_value_keeps_every_digit() -> None:
    assert parse(f'[{{"amount": {LONG}}}, {{"am', list[Payment], partial=True)[0] == Payment(amount=EXACT)


def test_a_number_that_is_not_whole_is_no_integer() -> None:
    with pytest.raises(OutputParseError):
        parse("0.99999999999999999999", int)


@pytest.mark.parametrize(
    "reply",
    [
        f'<tool_call>{{"name": "pay", "arguments": {{"amount": {LONG}}}}}</tool_call>',
        f"<tool_call>{{'name': 'pay', 'arguments': {{'amount': {LONG},}}}}</tool_call>",
        f'<tool_call>{{"name": "pay", "arguments": {{"amount": "{LONG}"}}}}</tool_call>',
        f"<function=pay><parameter=amount>{LONG}</parameter></function>",
        f'<invoke name="pay"><parameter name="amount">{LONG}</parameter></invoke>',
        f"[pay(amount={LONG})]",
        {"choices": [{"message": {"role": "assistant", "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "pay", "arguments": f'{{"amount": {LONG}}}'}},
        ]}}]},
    ],
)  # fmt: skip
def test_a_tool_gets_every_digit_and_the_model_sees_them_again(reply: Any) -> None:
    paid: list[Decimal] = []

    @llmcore.tool
    def pay(amount: Decimal) -> str:
        paid.append(amount)
        return "paid"

    fake = llmcore.FakeModel(reply, "done")
    llmcore.Orchestrator(fake, [pay]).run_sync("pay")
    assert paid == [EXACT]
    asked = next(message for message in fake.requests[1].messages if message.role == "assistant")
    assert LONG in repr(asked.content)
