"""What who approves a call, or reads the catalogue, is told of a tool."""

from __future__ import annotations

import re
from typing import Any

import pytest

from llmcore import FakeModel, Orchestrator, Tool, ToolDefinitionError, tool
from llmcore.tools.catalogue import catalogue, openapi


@tool(requires_approval=True, summary="Order {qty} x {item}")
def order(item: str, qty: int = 3) -> str:
    """Order."""
    return f"{qty} {item}"


def test_a_summary_shows_what_is_left_out_by_its_default() -> None:
    result = Orchestrator(FakeModel().tool_call("order", {"item": "tea"}), [order]).run_sync("x")
    assert [call.summary for call in result.approvals] == ["Order 3 x tea"]


@pytest.mark.parametrize(
    ("summary", "words"),
    [
        ("Order {quantity} x {itme}", "has {quantity}, and no parameter has that name; there are {item}, {qty}"),
        ("Order {itme}", "did you mean {item}?"),
        ("Order {item:{qyt}}", "did you mean {qty}?"),
        ("Order {}", "has {}, and no parameter has that name"),
        ("Order {item", "a brace of the text is {{"),
    ],
)
def test_a_summary_names_parameters_that_there_are(summary: str, words: str) -> None:
    with pytest.raises(ToolDefinitionError, match=re.escape(words)):
        order.with_options(summary=summary)
    with pytest.raises(ToolDefinitionError, match=re.escape(words)):
        Tool.from_definition(order.definition, summary=summary)


def test_a_summary_may_name_what_a_schema_leaves_open() -> None:
    anything: dict[str, Any] = {"name": "call", "parameters": {"type": "object", "properties": {}, "additionalProperties": True}}
    assert Tool.from_definition(anything, summary="{city}").summary_of({"city": "Rome"}) == "Rome"


@pytest.mark.parametrize("summary", [None, "Order {item}"])
def test_what_steers_a_terminal_is_shown_as_an_escape(summary: str | None) -> None:
    said = order.with_options(summary=summary).summary_of(
        {"item": "tea\x1b[31m\u202e\u200b\x00 caf\u00e9 \U0001f469\u200d\U0001f4bb"}
    )
    assert "tea\\x1b[31m\\u202e\\u200b\\x00 caf\u00e9 \U0001f469\u200d\U0001f4bb" in said
    nested = order.with_options(summary=summary).summary_of({"item": {"a": "\u2067\x9b"}})
    assert "\u2067" not in nested
    assert "\x9b" not in nested


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
