"""Requests typed output, in one way for all modes.

If tools are offered, the final output is the arguments of one more tool, `final_result`, unless the endpoint accepts a
response schema beside tools. Without tools, the schema itself is sent. Tools and strict formats need an object at the root,
so any other schema is wrapped as `{"result": ...}`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from llmcore.adapters.base import Capabilities, ModelCall
from llmcore.adapters.providers import provider_of
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import JsonSchema, ToolDefinition

__all__ = [
    "FINAL_RESULT",
    "WRAPPER",
    "OutputPlan",
    "is_object_schema",
    "object_schema",
    "output_plan",
    "output_tool",
    "output_tools",
    "wrapped_schema",
]

FINAL_RESULT = "final_result"
"""The name of the output tool. Its call is the final output and never runs."""
WRAPPER = "result"
"""The key of a value that is no object."""

OutputPlan = Literal["none", "format", "tool", "prompt"]
"""How typed output is requested: not at all, by the provider's response format, by the output tool, or in the prompt."""


def output_plan(call: ModelCall, capabilities: Capabilities) -> OutputPlan:
    """Return how this call requests its typed output."""
    if call.output_schema is None:
        return "none"
    if call.mode == "native_tools":
        format_beside = capabilities.schema_with_tools and capabilities.json_schema is not False
        together = format_beside if call.tools else capabilities.json_schema
        return "format" if together and not _is_beyond_format(call) else "tool"
    if call.tools:
        return "tool"
    return "format" if call.mode == "json_schema" and not _is_beyond_format(call) else "prompt"


def _is_beyond_format(call: ModelCall) -> bool:
    """Whether the provider's response format cannot express the schema. Claude's does not accept recursion, but its tools do
    (Claude's documentation: Structured outputs, JSON Schema limitations)."""
    schema = call.output_schema or {}
    if "$defs" not in schema or provider_of(call.endpoint).output_dialect != "anthropic_strict":
        return False
    return _is_recursive(schema)


def _is_recursive(schema: JsonSchema) -> bool:
    definitions: dict[str, Any] = {f"#/$defs/{name}": each for name, each in schema["$defs"].items()}
    named = {name: set(_references(each)) for name, each in definitions.items()}
    while leaves := [name for name, each in named.items() if not each & named.keys()]:
        for name in leaves:
            del named[name]
    return bool(named)


def _references(node: object) -> Iterator[str]:
    for key, value in node.items() if is_object(node) else ():
        if key == "$ref" and isinstance(value, str):
            yield value
        yield from _references(value)
    for value in node if is_list(node) else ():
        yield from _references(value)


def output_tools(call: ModelCall, plan: OutputPlan) -> tuple[ToolDefinition, ...]:
    """Return the tools to offer: the call's own and, if the plan is `tool`, the output tool.

    If the tool choice is `none`, only the output tool is offered, since the model answers through it.
    """
    if plan != "tool" or call.output_schema is None:
        return call.tools
    final = next((tool for tool in call.tools if tool.name == FINAL_RESULT), None) or output_tool(call.output_schema)
    if call.request.tool_choice == "none":
        return (final,)
    return (*(tool for tool in call.tools if tool.name != FINAL_RESULT), final)


def output_tool(schema: JsonSchema) -> ToolDefinition:
    """Return the tool whose arguments are the final output."""
    return ToolDefinition(
        name=FINAL_RESULT,
        description="Give the final answer. Call it once, when nothing is left to look up; it ends the conversation.",
        parameters=object_schema(schema),
        read_only=True,
    )


def is_object_schema(schema: JsonSchema) -> bool:
    """Return whether a schema's root is an object."""
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/$defs/"):
        target = schema.get("$defs", {}).get(reference.removeprefix("#/$defs/"))
        return is_object(target) and is_object_schema(target)
    return schema.get("type") == "object" or ("properties" in schema and "type" not in schema)


def object_schema(schema: JsonSchema) -> JsonSchema:
    """Return `schema` if its root is an object, else wrap it in one."""
    return schema if is_object_schema(schema) else wrapped_schema(schema)


def wrapped_schema(schema: JsonSchema) -> JsonSchema:
    """Return `{"result": schema}`. The definitions stay at the root."""
    inner = {key: value for key, value in schema.items() if key not in {"$defs", "definitions", "$schema"}}
    wrapped: JsonSchema = {
        "type": "object",
        "properties": {WRAPPER: inner},
        "required": [WRAPPER],
        "additionalProperties": False,
    }
    return wrapped | {key: schema[key] for key in ("$defs", "definitions") if key in schema}
