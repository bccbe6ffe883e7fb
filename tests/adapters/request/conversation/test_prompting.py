"""What the prompted modes teach."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from llmcore.adapters.base import Endpoint, ModelCall
from llmcore.adapters.request.conversation.prompting import envelope_schema, example_arguments, instructions, write_result
from llmcore.adapters.request.output import FINAL_RESULT, OutputPlan, output_tool
from llmcore.types import Request, ToolDefinition
from tests.adapters.conftest import WEATHER, call_of
from tests.adapters.request.conversation.test_messages import Hermes

ENDPOINT = Endpoint(provider="openai_compatible", model="m")


def is_valid(schema: dict[str, Any], value: Any) -> bool:
    validator: Any = jsonschema.Draft202012Validator(schema)  # its own types are partly unknown
    return bool(validator.is_valid(value))


def taught(plan: OutputPlan = "none", request: dict[str, Any] | None = None, **fields: Any) -> str:
    asked = Request.model_validate({"messages": "hi"} | (request or {}))
    call = call_of(ENDPOINT, asked, **fields)
    tools = (*call.tools, output_tool(call.output_schema)) if plan == "tool" and call.output_schema else call.tools
    return instructions(call, tools, plan)


def test_native_mode_is_taught_nothing() -> None:
    assert taught() == ""
    assert taught(request={"tool_choice": "required"}) == ""


def test_native_mode_with_strict_instructions() -> None:
    assert "XML" in taught(strict_json_instructions=True)
    assert taught(strict_json_instructions=True, tools=()) == ""


def test_text_mode_teaches_one_dialect_by_example() -> None:
    text = taught(mode="text", writer=Hermes())
    assert Hermes()("get_weather", {"city": "text"}) in text
    assert WEATHER.description in text
    assert json.dumps(WEATHER.parameters) in text
    assert "toolCalls" not in text


@pytest.mark.parametrize("mode", ["json_schema", "json_object"])
def test_json_modes_teach_the_envelope(mode: str) -> None:
    text = taught(mode=mode, writer=Hermes())
    assert '"toolCalls"' in text
    assert "<tool_call>" not in text
    assert "no XML" not in text
    assert "no XML" in taught(mode=mode, strict_json_instructions=True)


def test_choices_are_told() -> None:
    named = taught(request={"tool_choice": {"name": "get_weather"}}, mode="text", writer=Hermes())
    assert 'call the tool "get_weather"' in named
    assert "at least one tool" in taught(request={"tool_choice": "required"}, mode="json_object")
    assert "at most one call" in taught(request={"parallel_tool_calls": False}, mode="json_object")
    none = taught(request={"tool_choice": "none"}, mode="text", writer=Hermes())
    assert none == ""


def test_typed_output() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    alone = taught("prompt", tools=(), output_schema=schema, mode="text")
    assert json.dumps(schema) in alone
    assert "toolCalls" not in alone
    both = taught("tool", output_schema=schema, mode="json_object")
    assert f"## {FINAL_RESULT}" in both
    assert f'calling "{FINAL_RESULT}"' in both


def test_the_envelopes_schema_admits_the_tools_calls_only() -> None:
    schema = envelope_schema([WEATHER, ToolDefinition(name="ping")])
    jsonschema.Draft202012Validator.check_schema(schema)

    def fits(*calls: Any) -> bool:
        envelope = {"toolCalls": list(calls), "content": "", "needsMoreWork": bool(calls)}
        return is_valid(schema, envelope)

    assert fits()
    assert fits({"name": "get_weather", "arguments": {"city": "Paris"}}, {"name": "ping", "arguments": {}})
    assert not fits({"name": "get_weather", "arguments": {}})
    assert not fits({"name": "unknown", "arguments": {}})


def test_definitions_of_different_tools_do_not_meet() -> None:
    def tool(name: str, kind: str) -> ToolDefinition:
        parameters = {
            "type": "object",
            "properties": {"x": {"$ref": "#/$defs/X"}},
            "required": ["x"],
            "$defs": {"X": {"type": kind}},
        }
        return ToolDefinition(name=name, parameters=parameters)

    schema = envelope_schema([tool("a", "string"), tool("b", "integer")])

    def envelope(name: str, value: Any) -> dict[str, Any]:
        return {"toolCalls": [{"name": name, "arguments": {"x": value}}], "content": "", "needsMoreWork": True}

    assert is_valid(schema, envelope("a", "text"))
    assert is_valid(schema, envelope("b", 1))
    assert not is_valid(schema, envelope("a", 1))


NESTED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "unit": {"type": "string", "enum": ["c", "f"]},
        "when": {"type": "string", "format": "date"},
        "days": {"type": ["integer", "null"], "minimum": 3},
        "tags": {"type": "array", "items": {"type": "string"}},
        "place": {"$ref": "#/$defs/Place"},
        "maybe": {"anyOf": [{"type": "null"}, {"type": "number"}]},
        "optional": {"type": "string"},
    },
    "required": ["unit", "when", "days", "tags", "place", "maybe"],
    "$defs": {"Place": {"type": "object", "properties": {"lat": {"type": "number"}}, "required": ["lat"]}},
}


def test_an_example_fits_the_schema() -> None:
    made = example_arguments(ToolDefinition(name="f", parameters=NESTED))
    assert made == {
        "unit": "c",
        "when": "2026-01-31",
        "days": 3,
        "tags": ["text"],
        "place": {"lat": 1.5},
        "maybe": 1.5,
    }
    jsonschema.validate(made, NESTED)


def test_the_tools_own_example_comes_first() -> None:
    tool = ToolDefinition(name="f", parameters=NESTED, examples=[{"unit": "f"}])
    assert example_arguments(tool) == {"unit": "f"}


def test_an_example_of_a_recursive_schema_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}}, "required": ["next"]}
    assert example_arguments(ToolDefinition(name="f", parameters={"$ref": "#/$defs/N", "$defs": {"N": node}}))


def test_results_take_the_familys_form() -> None:
    def written(dialect: str | None) -> str:
        writer = Hermes()
        writer.dialect = dialect or ""
        call: ModelCall = call_of(ENDPOINT, mode="text", writer=writer if dialect else None)
        return write_result(call, "f", 'a "quoted" {brace}')

    assert written("hermes") == ('<tool_response>\n{"name": "f", "content": "a \\"quoted\\" {brace}"}\n</tool_response>')
    assert "<tool_name>f</tool_name>" in written("anthropic_function_calls")
    assert written("functools") == 'Result of f:\na "quoted" {brace}'
    assert written(None) == 'Result of f:\na "quoted" {brace}'


def test_a_demanded_call_is_part_of_the_schema() -> None:
    tools = [WEATHER, ToolDefinition(name="ping")]
    named = envelope_schema(tools, {"name": "ping"}, single=True)["properties"]
    assert [branch["properties"]["name"]["enum"] for branch in named["toolCalls"]["items"]["anyOf"]] == [["ping"]]
    assert (named["toolCalls"]["minItems"], named["toolCalls"]["maxItems"], named["content"]["enum"]) == (1, 1, [""])
    required = envelope_schema(tools, "required")["properties"]
    assert (len(required["toolCalls"]["items"]["anyOf"]), required["toolCalls"]["minItems"]) == (2, 1)
    assert envelope_schema(tools, "auto") == envelope_schema(tools)
