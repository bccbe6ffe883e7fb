"""What the recorded runs are made of: the tools that are offered, the calls that are meant, and calls written as text.

The text forms are written here by hand, not by the normaliser's writers, which they are meant to judge.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.metadata import version
from typing import Any

from llmcore.types import ToolDefinition
from tests.helpers.aimock import VERSION as AIMOCK_VERSION
from tests.helpers.wire_server import Failure

__all__ = [
    "AIMOCK", "ASK_BOTH", "ASK_CODE", "ASK_PARIS", "CODE", "NOTES", "OSLO", "PARIS", "SAVE", "SEARCH", "SUNNY", "TOOLS",
    "WEATHER", "WIRE", "Call", "deepseek", "envelope", "expectation", "failed_generation", "fenced", "hermes", "invoke_xml",
    "kimi", "llama",
]  # fmt: skip

LITELLM = f"litellm {version('litellm')}"
AIMOCK = f"local recording: {LITELLM} against @copilotkit/aimock {AIMOCK_VERSION}"
WIRE = f"local recording: {LITELLM} against tests/helpers/wire_server.py of this repository"

WEATHER = ToolDefinition(
    name="get_weather",
    description="The weather in a city.",
    parameters={
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer", "minimum": 1},
            "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
        },
        "required": ["city"],
    },
)
SEARCH = ToolDefinition(
    name="search_notes",
    description="Full-text search in the user's notes.",
    parameters={
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "archived": {"type": "boolean"},
        },
        "required": ["query"],
    },
)
SAVE = ToolDefinition(
    name="save_file",
    description="Write a text file.",
    parameters={
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
    },
)
TOOLS = (WEATHER, SEARCH, SAVE)

Call = tuple[str, dict[str, Any]]
PARIS: Call = ("get_weather", {"city": "Paris"})
OSLO: Call = ("get_weather", {"city": "Oslo", "days": 3, "unit": "celsius"})
NOTES: Call = ("search_notes", {"query": 'kitchen "plan"', "tags": ["home", "2026"], "archived": False})
CODE: Call = ("save_file", {"path": "src/min.py", "content": "def smaller(a, b):\n    return a if a < b else b\n"})

SUNNY = "It is 24 degrees and sunny in Paris."
ASK_PARIS = "What is the weather in Paris?"
ASK_BOTH = "Look up Oslo and my kitchen notes."
ASK_CODE = "Save the function that gives the smaller of two values."


# Calls written as text, as the families write them


def hermes(*calls: Call) -> str:
    return "\n".join(
        f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>" for name, arguments in calls
    )


def invoke_xml(*calls: Call) -> str:
    """Claude's markup: text values stand as they are, others as JSON."""

    def value(given: Any) -> str:
        return given if isinstance(given, str) else json.dumps(given)

    def block(name: str, arguments: dict[str, Any]) -> str:
        inside = "\n".join(f'<parameter name="{key}">{value(given)}</parameter>' for key, given in arguments.items())
        return f'<invoke name="{name}">\n{inside}\n</invoke>'

    blocks = "\n".join(block(*call) for call in calls)
    return f"<function_calls>\n{blocks}\n</function_calls>"


def kimi(*calls: Call) -> str:
    blocks = "".join(
        f"<|tool_call_begin|>functions.{name}:{number}<|tool_call_argument_begin|>{json.dumps(arguments)}<|tool_call_end|>"
        for number, (name, arguments) in enumerate(calls)
    )
    return f"<|tool_calls_section_begin|>{blocks}<|tool_calls_section_end|>"


def deepseek(*calls: Call) -> str:
    blocks = "\n".join(
        f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{json.dumps(arguments)}\n```<｜tool▁call▁end｜>"
        for name, arguments in calls
    )
    return f"<｜tool▁calls▁begin｜>{blocks}<｜tool▁calls▁end｜>"


def llama(*calls: Call) -> str:
    return "<|python_tag|>" + "; ".join(json.dumps({"name": name, "parameters": given}) for name, given in calls)


def fenced(call: Call) -> str:
    name, arguments = call
    return f"```json\n{json.dumps({'name': name, 'arguments': arguments}, indent=2)}\n```"


def envelope(*calls: Call, content: str = "") -> str:
    entries = [{"name": name, "arguments": arguments} for name, arguments in calls]
    return json.dumps({"toolCalls": entries, "content": content, "needsMoreWork": bool(calls)})


def failed_generation(text: str) -> Failure:
    error = {
        "message": "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
        "type": "invalid_request_error",
        "code": "tool_use_failed",
        "failed_generation": text,
    }
    return Failure(400, {"error": error})


def expectation(calls: Iterable[Call], content: str | None = None) -> dict[str, Any]:
    """What a reply should give, as transcripts write it."""
    expected: dict[str, Any] = {"calls": [{"name": name, "arguments": arguments} for name, arguments in calls]}
    return expected | ({"content": content} if content is not None else {})
