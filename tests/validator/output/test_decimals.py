"""A Decimal has the digits that the model wrote, where it wrote a text, or no more of them than a float holds."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

import llmcore
from llmcore.validator import parse

LONG = "12345678901234567890.12"
EXACT, ROUNDED = Decimal(LONG), Decimal(repr(float(LONG)))


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
        (LONG, Decimal, EXACT),  # as the text that it is
        (f'"{LONG}"', Decimal, EXACT),
        ("1.10", Decimal, Decimal("1.1")),
        (f'{{"amount": {LONG}}}', Payment, Payment(amount=ROUNDED)),
        (f'{{"amount": "{LONG}"}}', Payment, Payment(amount=EXACT)),
        ('{"amount": 0.29}', StrictPayment, StrictPayment(amount=Decimal("0.29"))),
        ('{"amount": 0.29}', Plain, Plain(Decimal("0.29"))),
        ("Here: {'amount': 0.29,}", Payment, Payment(amount=Decimal("0.29"))),
        (f"[0.1, {2**70}]", list[Decimal], [Decimal("0.1"), Decimal(2**70)]),
    ],
)
def test_typed_output(text: str, output_type: Any, value: Any) -> None:
    assert parse(text, output_type) == value


@pytest.mark.parametrize(
    "reply",
    [
        f'<tool_call>{{"name": "pay", "arguments": {{"amount": "{LONG}"}}}}</tool_call>',
        f"<function=pay><parameter=amount>{LONG}</parameter></function>",
        f'<invoke name="pay"><parameter name="amount">{LONG}</parameter></invoke>',
    ],
)
def test_a_tool_gets_every_digit_of_a_text_and_the_model_sees_them_again(reply: Any) -> None:
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
