"""Describes tools, calls, results and output schemas as text, for models that are not offered native tool calling.

Each prompted mode describes one form: `text` the dialect of the given `CallWriter`, `json_schema` and `json_object` llmcore's
envelope (`{"toolCalls": [...], "content": ..., "needsMoreWork": ...}`). Native mode describes nothing. If strict instructions
are configured, it forbids calls written as text. Everything here is pure text. O(size of the tools).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from llmcore.adapters.base import ModelCall
from llmcore.adapters.request.output import FINAL_RESULT, OutputPlan, object_schema
from llmcore.support.values.json_data import as_json
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import CallWriter, JsonSchema, ToolChoice, ToolDefinition

__all__ = ["envelope_schema", "example_arguments", "instructions", "write_calls", "write_result"]

_ENVELOPE_MODES = frozenset({"json_schema", "json_object"})
_STRICT_NATIVE = (
    "Call tools only through the tool-calling interface. Never write a tool call as XML, JSON or any other text in your answer."
)
_STRICT_JSON = (
    "Your whole answer must be one JSON value and nothing else: "
    "no XML or other tags, no Markdown fence, no text before or after it."
)
_ENVELOPE = """\
Answer with one JSON object of this form:
{"toolCalls": [{"name": "<tool>", "arguments": {<its arguments>}}], "content": "<text>", "needsMoreWork": <true/false>}
To call tools, list them in "toolCalls" and set "needsMoreWork" to true; their results come in the next message.
To answer, leave "toolCalls" empty, write the answer in "content" and set "needsMoreWork" to false."""
_FINAL_BY_TOOL = f'Give the final answer by calling "{FINAL_RESULT}"; do not give it as plain text.'

_RESULTS: dict[str, str] = {
    "hermes": '<tool_response>\n{{"name": {quoted_name}, "content": {quoted}}}\n</tool_response>',
    "anthropic_function_calls": (
        "<function_results>\n<result>\n<tool_name>{name}</tool_name>\n<stdout>\n{text}\n</stdout>\n</result>\n</function_results>"
    ),
    "qwen3_coder": "<tool_response>\n{text}\n</tool_response>",
    "glm45": "<tool_response>\n{text}\n</tool_response>",
    "tool_code": "```tool_output\n{text}\n```",
}
"""The result format of model families that were trained with one. The others get `_RESULT`."""
_RESULT = "Result of {name}:\n{text}"


def instructions(call: ModelCall, tools: tuple[ToolDefinition, ...], plan: OutputPlan) -> str:
    """Return what the system prompt must say for this call, `""` if nothing. `tools` are those offered, including the output
    tool."""
    if call.mode == "native_tools":
        return _STRICT_NATIVE if call.strict_json_instructions and tools else ""
    offered = () if call.request.tool_choice == "none" and plan != "tool" else tools
    parts: list[str] = []
    if offered:
        parts.append("\n\n".join(("# Tools\nYou may call these tools:", *map(_description, offered))))
        parts.append(_ENVELOPE if call.mode in _ENVELOPE_MODES else _text_section(offered, call.writer))
        parts.extend(_choice_lines(call.request.tool_choice, call.request.parallel_tool_calls, plan))
    elif call.output_schema is not None:
        parts.append(_output_section(object_schema(call.output_schema)))
    elif call.mode in _ENVELOPE_MODES:
        parts.append(_ENVELOPE)
    if call.strict_json_instructions and (call.mode in _ENVELOPE_MODES or (not offered and call.output_schema is not None)):
        parts.append(_STRICT_JSON)
    return "\n\n".join(part for part in parts if part)


def _description(tool: ToolDefinition) -> str:
    lines = [f"## {tool.name}"]
    if tool.description:
        lines.append(tool.description)
    lines.append(f"Arguments (JSON Schema): {json.dumps(tool.parameters, ensure_ascii=False)}")
    return "\n".join(lines)


def _text_section(tools: Iterable[ToolDefinition], writer: CallWriter | None) -> str:
    if writer is None:
        return ""
    examples = "\n\n".join(writer(tool.name, example_arguments(tool)) for tool in tools)
    return (
        "To call a tool, write the call exactly in this form, as the last thing in your message, and stop; "
        f"the result comes in the next message. One example for each tool, with made-up values:\n\n{examples}\n\n"
        "Write calls in no other form. Without a call, your message is taken as the final answer."
    )


def _choice_lines(choice: ToolChoice, parallel: bool | None, plan: OutputPlan) -> list[str]:
    lines: list[str] = []
    if is_object(choice):
        lines.append(f'Now call the tool "{choice["name"]}".')
    elif choice == "required":
        lines.append("Now call at least one tool; do not answer by text alone.")
    if parallel is False:
        lines.append("Make at most one call in a message.")
    if plan == "tool":
        lines.append(_FINAL_BY_TOOL)
    return lines


def _output_section(schema: JsonSchema) -> str:
    return f"Answer with one JSON value that fits this JSON Schema:\n{json.dumps(schema, ensure_ascii=False)}"


def envelope_schema(tools: Iterable[ToolDefinition], choice: ToolChoice = "auto", *, single: bool = False) -> JsonSchema:
    """Return the JSON Schema of an envelope with calls of `tools`: one `anyOf` branch per tool, with its parameters
    unchanged. A tool that `choice` names is the only one. If `choice` demands a call, there is no text beside it. `single` allows
    one call at most."""
    definitions: JsonSchema = {}
    named = choice["name"] if is_object(choice) else None
    branches = [_call_schema(tool, definitions) for tool in tools if named in (None, tool.name)]
    is_call = bool(branches) and choice not in ("auto", "none")
    bounds = ({"minItems": 1} if is_call else {}) | ({"maxItems": 1} if single else {})
    content: JsonSchema = {"type": "string", "description": "The text for the user; empty while tools are being called."}
    schema: JsonSchema = {
        "type": "object",
        "properties": {
            "toolCalls": {"type": "array", "items": {"anyOf": branches} if branches else {"type": "object"}, **bounds},
            "content": content | ({"enum": [""]} if is_call else {}),
            "needsMoreWork": {"type": "boolean", "description": "True while results of tool calls are still needed."},
        },
        "required": ["toolCalls", "content", "needsMoreWork"],
        "additionalProperties": False,
    }
    return schema | ({"$defs": definitions} if definitions else {})


def _call_schema(tool: ToolDefinition, definitions: JsonSchema) -> JsonSchema:
    """The schema of a call of one tool. Its `$defs` move to the root under the tool's name, and its references follow them."""
    arguments = tool.parameters
    own: Mapping[str, Any] = arguments.get("$defs") or {}
    if own:
        arguments = {key: value for key, value in arguments.items() if key != "$defs"}
        moved = {f"#/$defs/{name}": f"#/$defs/{tool.name}.{name}" for name in own}
        arguments = _with_references(arguments, moved)
        definitions.update({f"{tool.name}.{name}": _with_references(value, moved) for name, value in own.items()})
    return {
        "type": "object",
        "properties": {"name": {"type": "string", "enum": [tool.name]}, "arguments": arguments},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def _with_references(schema: Any, moved: Mapping[str, str]) -> Any:
    if is_list(schema):
        return [_with_references(item, moved) for item in schema]
    if not is_object(schema):
        return schema
    return {
        key: moved.get(value, value) if key == "$ref" and isinstance(value, str) else _with_references(value, moved)
        for key, value in schema.items()
    }


# Examples

_EXAMPLE_VALUES: dict[str, Any] = {"string": "text", "integer": 1, "number": 1.5, "boolean": True, "null": None}
_EXAMPLE_FORMATS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "email": "ann@example.com",
    "uri": "https://example.com",
}


def example_arguments(tool: ToolDefinition) -> dict[str, Any]:
    """Return arguments for an example call: the tool's first example, else values for the schema's required properties."""
    if tool.examples:
        return tool.example_arguments[0]
    made = _example(tool.parameters, tool.parameters, 0)
    return made if is_object(made) else {}


def _example(schema: Any, root: JsonSchema, depth: int) -> Any:
    if not is_object(schema) or depth > 6:
        return "text"
    schema = _dereferenced(schema, root)
    for key in ("examples", "enum"):
        if schema.get(key):
            return schema[key][0]
    for key in ("const", "default"):
        if schema.get(key) is not None:
            return schema[key]
    kind = schema.get("type")
    kind = next((name for name in kind if name != "null"), "null") if is_list(kind) else kind
    if kind == "object" or "properties" in schema:
        properties: JsonSchema = schema.get("properties") or {}
        return {name: _example(properties[name], root, depth + 1) for name in schema.get("required", ()) if name in properties}
    if kind == "array":
        return [_example(schema.get("items", {}), root, depth + 1)]
    if kind in ("integer", "number"):
        return schema.get("minimum", _EXAMPLE_VALUES[kind])
    return _EXAMPLE_FORMATS.get(schema.get("format", ""), _EXAMPLE_VALUES.get(str(kind), "text"))


def _dereferenced(schema: JsonSchema, root: JsonSchema) -> JsonSchema:
    """The target of a local reference, or the first branch of a union that is not null."""
    for _ in range(8):
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith("#/$defs/"):
            schema = root.get("$defs", {}).get(reference.removeprefix("#/$defs/"), {})
            continue
        branches: list[Any] = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf") or []
        schemas = [part for part in branches if is_object(part)]
        chosen = next((part for part in schemas if part.get("type") != "null"), None)
        if chosen is None:
            return schema
        schema = chosen
    return schema


# History


def write_calls(call: ModelCall, text: str, calls: Iterable[tuple[str, dict[str, Any]]]) -> str:
    """Return an assistant turn of the history as the model would write it in this call's mode."""
    made = list(calls)
    if call.mode in _ENVELOPE_MODES and call.tools:
        entries = [{"name": name, "arguments": arguments} for name, arguments in made]
        return as_json({"toolCalls": entries, "content": text, "needsMoreWork": bool(made)})
    if call.mode in _ENVELOPE_MODES or call.writer is None:
        written = [as_json({"name": name, "arguments": arguments}) for name, arguments in made]
    else:
        written = [call.writer(name, arguments) for name, arguments in made]
    return "\n".join(part for part in (text, *written) if part)


def write_result(call: ModelCall, name: str, text: str) -> str:
    """Return a tool's result as the user turn of a prompted mode."""
    if call.mode in _ENVELOPE_MODES:
        return json.dumps({"toolResult": {"name": name, "content": text}}, ensure_ascii=False)
    form = _RESULTS.get(call.writer.dialect if call.writer else "", _RESULT)
    quoted = json.dumps(text, ensure_ascii=False)
    return form.format(name=name, text=text, quoted=quoted, quoted_name=json.dumps(name, ensure_ascii=False))
