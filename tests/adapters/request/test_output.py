"""How typed output is asked for in each mode."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.adapters.base import Capabilities, Endpoint, ModelCall
from llmcore.adapters.request.output import FINAL_RESULT, object_schema, output_plan, output_tool, output_tools
from llmcore.types import OutputMode, Request, ToolDefinition

OBJECT: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}}
LIST: dict[str, Any] = {"type": "array", "items": {"$ref": "#/$defs/A"}, "$defs": {"A": OBJECT}}
TOOL = ToolDefinition(name="f")


def call(mode: OutputMode, tools: tuple[ToolDefinition, ...], schema: dict[str, Any] | None) -> ModelCall:
    endpoint = Endpoint(provider="openai", model="m")
    request = Request.model_validate({"messages": "hi"})
    return ModelCall(endpoint=endpoint, request=request, mode=mode, tools=tools, output_schema=schema)


@pytest.mark.parametrize(
    ("mode", "tools", "known", "plan"),
    [
        ("native_tools", (TOOL,), {"schema_with_tools": True}, "format"),
        ("native_tools", (TOOL,), {"schema_with_tools": False}, "tool"),
        ("native_tools", (TOOL,), {"schema_with_tools": True, "json_schema": False}, "tool"),  # refused meanwhile
        ("native_tools", (TOOL,), {}, "tool"),  # unknown: a format might make the tools uncallable
        ("native_tools", (), {"json_schema": True}, "format"),
        ("native_tools", (), {"json_schema": False}, "tool"),
        ("json_schema", (TOOL,), {}, "tool"),
        ("json_schema", (), {}, "format"),
        ("json_object", (TOOL,), {}, "tool"),
        ("json_object", (), {}, "prompt"),
        ("text", (TOOL,), {}, "tool"),
        ("text", (), {}, "prompt"),
    ],
)
def test_the_plan(mode: OutputMode, tools: tuple[ToolDefinition, ...], known: dict[str, Any], plan: str) -> None:
    assert output_plan(call(mode, tools, OBJECT), Capabilities(**known)) == plan
    assert output_plan(call(mode, tools, None), Capabilities(**known)) == "none"


NODE: dict[str, Any] = {"type": "object", "properties": {"next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}}}
CIRCLE: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"$ref": "#/$defs/A"}},
    "$defs": {"A": {"items": {"$ref": "#/$defs/B"}}, "B": {"properties": {"a": {"$ref": "#/$defs/A"}}}},
}


@pytest.mark.parametrize(
    ("provider", "schema", "plan"),
    [
        ("anthropic", {**NODE, "$defs": {"Node": NODE}}, "tool"),
        ("anthropic", CIRCLE, "tool"),
        ("anthropic", LIST, "format"),
        ("openai", CIRCLE, "format"),
    ],
)
def test_claudes_format_takes_no_recursion(provider: str, schema: dict[str, Any], plan: str) -> None:
    asked = call("native_tools", (), schema).model_copy(update={"endpoint": Endpoint(provider=provider, model="m")})
    can = Capabilities(json_schema=True)
    assert output_plan(asked, can) == plan
    without_tools = asked.model_copy(update={"mode": "json_schema"})
    assert output_plan(without_tools, can) == ("format" if plan == "format" else "prompt")


def test_the_output_tool_is_added_once() -> None:
    asked = call("native_tools", (TOOL,), OBJECT)
    assert [tool.name for tool in output_tools(asked, "tool")] == ["f", FINAL_RESULT]
    already = call("native_tools", (TOOL, output_tool(OBJECT)), OBJECT)
    assert output_tools(already, "tool") == already.tools
    assert output_tools(asked, "format") == (TOOL,)


def test_where_no_tool_may_be_called_the_output_tool_is_left() -> None:
    asked = call("native_tools", (TOOL,), OBJECT)
    silent = asked.model_copy(update={"request": asked.request.model_copy(update={"tool_choice": "none"})})
    assert [tool.name for tool in output_tools(silent, "tool")] == [FINAL_RESULT]
    assert output_tools(silent, "format") == (TOOL,)


def test_an_object_stays_and_anything_else_is_wrapped() -> None:
    assert object_schema(OBJECT) is OBJECT
    wrapped = object_schema(LIST)
    assert wrapped["properties"]["result"] == {"type": "array", "items": {"$ref": "#/$defs/A"}}
    assert wrapped["$defs"] == {"A": OBJECT}
    referred = {"$ref": "#/$defs/A", "$defs": {"A": OBJECT}}
    assert object_schema(referred) is referred
