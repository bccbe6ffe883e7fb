"""Copies at the border to tools."""

from __future__ import annotations

from typing import Any

from llmcore.tools import as_tool, tool
from llmcore.tools.copies import MessageCopies
from llmcore.types import Message, TextBlock, ToolUseBlock


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
