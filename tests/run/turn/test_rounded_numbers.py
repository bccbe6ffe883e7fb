"""A float with more digits than Python's floats hold is rounded and recorded; an integer has any size."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel

from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.types import OutputParseError
from llmcore.validator import parse, parse_detailed
from tests.run.support import called

LONG = "12345678901234567890.12"
NEAREST = float(LONG)
INTEGER = 123456789012345678901234567890

WRITTEN = {
    "sound": called("pay", '{"amount": N}'),
    "another quote": called("pay", "{'amount': N}"),
    "a comment": called("pay", '{"amount": N /* dollars */}'),
    "as Python": "[pay(amount=N)]",
}


ELEMENTS = "<function=pay>\n<parameter=amount>\nN\n</parameter>\n</function>"
CASES = [*((reply, kind) for reply in WRITTEN.values() for kind in (Decimal, float)), (ELEMENTS, float)]


@pytest.mark.parametrize(("reply", "kind"), CASES)
def test_a_tool_gets_the_nearest_float_and_the_text_stays(reply: Any, kind: type[Any]) -> None:
    paid: list[Any] = []

    def pay(amount: Any) -> str:
        """Pay."""
        paid.append(amount)
        return "paid"

    pay.__annotations__["amount"] = kind
    result = Orchestrator(FakeModel(_with_number(reply, LONG), "done"), [pay]).run_sync("go")
    assert paid == [kind(repr(NEAREST))]
    kinds = [record.repair.kind for record in result.repairs]
    assert "rounded_number" in kinds
    (call,) = result.attempts[0].report.calls
    assert LONG in call.raw_arguments
    assert {one.safety for one in call.repairs if one.kind == "rounded_number"} == {"coerced"}


def _with_number(reply: Any, number: str) -> Any:
    return json.loads(json.dumps(reply).replace("N", number))


def test_an_integer_has_any_size() -> None:
    paid: list[int] = []

    def pay(amount: int) -> int:
        """Pay."""
        paid.append(amount)
        return amount + 1

    result = Orchestrator(FakeModel(called("pay", f'{{"amount": {INTEGER}}}'), "done"), [pay]).run_sync("go")
    assert paid == [INTEGER]
    assert result.messages[-2].tool_results[0].text == str(INTEGER + 1)
    assert not result.repairs


class Bill(BaseModel):
    amount: Decimal


def test_a_typed_answer_is_rounded_unless_nothing_may_change() -> None:
    text = f'{{"amount": {LONG}}}'
    detail = parse_detailed(text, Bill)
    assert detail.value.amount == Decimal(repr(NEAREST))
    assert [repair.kind for repair in detail.repairs] == ["rounded_number"]
    assert parse('{"amount": 1.10}', Bill, strictness="off").amount == Decimal("1.1")
    with pytest.raises(OutputParseError):
        parse(text, Bill, strictness="off")
