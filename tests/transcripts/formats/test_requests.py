"""What recorded requests of every wire tell about the reply that was due."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.transcripts.formats.requests import RequestFacts, facts_of, function_tools

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
OPENAI = {"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}
RESPONSES = {"type": "function", "name": "get_weather", "parameters": SCHEMA}
ANTHROPIC = {"name": "get_weather", "input_schema": SCHEMA}
DECLARATION = {"name": "get_weather", "parametersJsonSchema": SCHEMA}
BEDROCK = {"toolSpec": {"name": "get_weather", "inputSchema": {"json": SCHEMA}}}


REQUESTS: list[tuple[Any, list[Any] | None]] = [
    ({"tools": [OPENAI]}, [OPENAI]),
    ({"functions": [OPENAI["function"]]}, [OPENAI["function"]]),
    ({"tools": [RESPONSES, {"type": "web_search"}]}, [RESPONSES]),
    ({"tools": [ANTHROPIC, {"type": "web_search_20250305", "name": "web_search"}]}, [ANTHROPIC]),
    ({"tools": [{"functionDeclarations": [DECLARATION]}, {"googleSearch": {}}]}, [DECLARATION]),
    ({"tools": [{"function_declarations": [DECLARATION]}]}, [DECLARATION]),
    ({"toolConfig": {"tools": [BEDROCK, {"cachePoint": {"type": "default"}}]}}, [BEDROCK]),
    ({"body": {"tools": [OPENAI]}, "headers": {}}, [OPENAI]),
    ({"tools": [{"type": "web_search"}]}, []),
    (
        {"tools": [{"type": "custom", "custom": {"name": "sql"}}, {"type": "custom", **ANTHROPIC}]},
        [{"name": "sql"}, {"type": "custom", **ANTHROPIC}],
    ),
    ({"tools": [OPENAI, OPENAI]}, [OPENAI]),
    ({"tools": []}, None),
    ({"messages": []}, None),
    ("not an object", None),
    (None, None),
]


@pytest.mark.parametrize(("request_body", "tools"), REQUESTS)
def test_tools(request_body: Any, tools: list[Any] | None) -> None:
    assert facts_of(request_body).tools == tools


@pytest.mark.parametrize(
    ("request_body", "forced", "name"),
    [
        ({"tool_choice": "required"}, True, None),
        ({"tool_choice": "any"}, True, None),
        ({"tool_choice": "REQUIRED"}, True, None),
        ({"tool_choice": "auto"}, False, None),
        ({"tool_choice": "none"}, False, None),
        ({"tool_choice": {"type": "function", "function": {"name": "f"}}}, True, "f"),
        ({"tool_choice": {"type": "function", "name": "f"}}, True, "f"),
        ({"tool_choice": {"type": "tool", "name": "f"}}, True, "f"),
        ({"tool_choice": {"name": "f"}}, True, "f"),
        ({"tool_choice": {"type": "any"}}, True, None),
        ({"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}, False, None),
        ({"tool_choice": {"type": "allowed_tools", "mode": "required", "tools": []}}, True, None),
        ({"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": []}}, False, None),
        ({"function_call": {"name": "f"}}, True, "f"),
        ({"toolConfig": {"toolChoice": {"any": {}}}}, True, None),
        ({"toolConfig": {"toolChoice": {"tool": {"name": "f"}}}}, True, "f"),
        ({"toolConfig": {"toolChoice": {"auto": {}}}}, False, None),
        ({"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}, True, None),
        ({"tool_config": {"function_calling_config": {"mode": "any", "allowed_function_names": ["f"]}}}, True, "f"),
        ({"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f", "g"]}}}, True, None),
        ({"toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}}, False, None),
        ({"tool_choice": 3}, False, None),
        ({}, False, None),
    ],
)
def test_forced_choices(request_body: Any, forced: bool, name: str | None) -> None:
    facts = facts_of(request_body)
    assert (facts.forced, facts.forced_tool) == (forced, name)


def test_model_and_stream() -> None:
    assert facts_of({"model": "gpt-4o", "stream": True}) == RequestFacts(model="gpt-4o", stream=True)
    assert facts_of({"json": {"modelId": "nova"}}).model == "nova"
    assert facts_of({"model": 3}).model == ""


def test_what_is_no_tool_dict_is_left_to_whoever_compiles() -> None:
    assert list(function_tools(["get_weather", OPENAI])) == ["get_weather", OPENAI]
