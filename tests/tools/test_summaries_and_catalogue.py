"""What who approves a call, or reads the catalogue, is told of a tool."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore import FakeModel, Orchestrator, tool
from llmcore.tools.catalogue import catalogue, openapi


@tool(requires_approval=True, summary="Order {qty} x {item}")
def order(item: str, qty: int = 3) -> str:
    """Order."""
    return f"{qty} {item}"


def test_a_summary_shows_what_is_left_out_by_its_default() -> None:
    result = Orchestrator(FakeModel().tool_call("order", {"item": "tea"}), [order]).run_sync("x")
    assert [call.summary for call in result.approvals] == ["Order 3 x tea"]


def _large(arguments: dict[str, Any]) -> bool:
    return bool(arguments["qty"] > 5)


@pytest.mark.parametrize(
    ("asked", "words", "key"),
    [(True, "Needs approval.", "always"), (_large, "Some calls need approval.", "sometimes"), (False, "", None)],
)
def test_the_catalogue_says_what_needs_approval(asked: Any, words: str, key: str | None) -> None:
    given = [order.with_options(requires_approval=asked)]
    assert words in catalogue(given)
    assert ("approval" in catalogue(given)) is bool(words)
    operation = openapi(given)["paths"]["/tools/order"]["post"]
    assert operation.get("x-requires-approval") == key
