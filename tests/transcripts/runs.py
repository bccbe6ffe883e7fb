"""Transcripts for tests, written from the formats' facts."""

from __future__ import annotations

import json
from typing import Any

from llmcore.transcripts import Transcript

__all__ = ["CALL", "TOOLS", "WEATHER", "chat", "hermes", "run", "sse"]

WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}
TOOLS = [WEATHER]
CALL: dict[str, Any] = {"name": "get_weather", "arguments": {"city": "Paris"}}


def hermes(arguments: Any = None, name: str = "get_weather") -> str:
    """A call as Hermes and Qwen models write it; `arguments` may be a damaged text."""
    body = json.dumps({"city": "Paris"} if arguments is None else arguments) if not isinstance(arguments, str) else arguments
    return f'<tool_call>{{"name": "{name}", "arguments": {body}}}</tool_call>'


def chat(
    arguments: Any = None, *, content: str | None = None, name: str = "get_weather", finish: str = "tool_calls"
) -> dict[str, Any]:
    """An OpenAI chat body with one native call, or with content only."""
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if content is None:
        text = arguments if isinstance(arguments, str) else json.dumps({"city": "Paris"} if arguments is None else arguments)
        message["tool_calls"] = [{"id": "call_a", "type": "function", "function": {"name": name, "arguments": text}}]
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": finish}]}


def sse(*deltas: dict[str, Any], finish: str = "stop") -> str:
    """An OpenAI chat stream."""
    chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


def run(*exchanges: dict[str, Any], **fields: Any) -> Transcript:
    """A run in the full format, with the weather tool offered unless told otherwise."""
    return Transcript.model_validate({"tools": TOOLS, **fields, "exchanges": list(exchanges)})
