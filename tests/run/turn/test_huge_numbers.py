"""A number larger than any float is refused, and the model is told which."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.tools import tool
from llmcore.types import FallbackExhausted, OutputParseError
from llmcore.validator import parse
from tests.run.support import called


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("[1e400]", list[float]),
        ('{"a": 1e400}', dict[str, float]),
        ("[1e400]", list[str]),
        ("[1e400]", list[Decimal]),
        ("[NaN]", list[Decimal]),
        ("[1e99999999999999999999]", list[Decimal]),
    ],
)
def test_it_is_refused(text: str, kind: Any) -> None:
    with pytest.raises(OutputParseError):
        parse(text, kind)


paid: list[Any] = []


@tool
def measure(length: float) -> str:
    """Measures."""
    paid.append(length)
    return "measured"


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
    return json.loads(given)


@pytest.mark.parametrize("form", _INPUTS)
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "[1e400]", '{"a": NaN}'])
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
