"""Copies at the border to tools."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from llmcore import FakeModel, Orchestrator, ToolRegistry
from llmcore.tools import Tool, as_tool, tool
from llmcore.tools.context import MessageCopies
from llmcore.types import Message, TextBlock, ToolUseBlock
from tests.helpers.processes import sent


def test_a_history_is_looked_at_in_copies() -> None:
    history = [
        Message(role="user", content=[TextBlock(text="go")]),
        Message(role="assistant", content=[ToolUseBlock(id="c", name="f", input={"items": [1]})]),
    ]
    view = MessageCopies(history)
    (use,) = view[1].tool_uses
    assert use.input is not None
    use.input["items"].append(2)
    view[0].content.append(TextBlock(text="more"))
    next(iter(view)).content.clear()
    view[:1][0].content.clear()
    assert history[0].text == "go"
    assert history[1].tool_uses[0].input == {"items": [1]}
    assert (len(view), view == history, view == tuple(history), [message.role for message in view]) == (
        2,
        True,
        True,
        ["user", "assistant"],
    )


def test_a_definition_that_is_changed_later_changes_no_tool() -> None:
    cities = ["Paris"]
    properties: dict[str, Any] = {"city": {"type": "string", "enum": cities}}

    def visit(city: str) -> None: ...

    given = as_tool({"name": "visit", "parameters": {"type": "object", "properties": properties}})
    declared = tool(params=properties)(visit)
    cities.append("Rome")
    properties["more"] = {}
    for made in (given, declared):
        assert made.definition.parameters["properties"] == {"city": {"type": "string", "enum": ["Paris"]}}


@tool(timeout=3)
def plain(city: str) -> str:
    return f"sun in {city}"


@tool(name="other", requires_approval=True)
def named(city: str) -> str:
    return f"rain in {city}"


class Station:
    @tool(version="2")
    def sun(self, city: str) -> str:
        return f"sun in {city}"


GIVEN = Tool.from_definition({"name": "given", "parameters": {"type": "object", "properties": {}}}, idempotent=True)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, sent])
@pytest.mark.parametrize("made", [plain, named, GIVEN, named.renamed("again"), Station().sun, Station().sun.renamed("more")])
def test_a_tool_and_a_registry_of_it_are_pickled_and_copied(made: Tool, copied: Callable[[Any], Any]) -> None:
    alone = copied(made)
    (kept,) = copied(ToolRegistry([made]))
    for one in (alone, kept):
        assert (one.name, one.options, one.definition) == (made.name, made.options, made.definition)
        assert made.function is None or one("Rome") == made("Rome")


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, sent])
def test_what_a_model_was_asked_is_pickled_and_copied(copied: Callable[[Any], Any]) -> None:
    """Also where calls are written as text: by a function, which cannot be."""
    model = FakeModel('<tool_call>{"name": "plain", "arguments": {"city": "Rome"}}</tool_call>', "done")
    Orchestrator(model, tools=[plain]).run_sync("x")
    write = model.calls[-1].writer
    assert write is not None
    for asked in (copied(model).calls[-1], copied(model.calls[-1])):
        assert asked.writer("f", {"a": 1}) == write("f", {"a": 1})
