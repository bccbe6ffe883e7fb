"""The content of a run in the form of OpenTelemetry's conventions for generative AI: JSON texts of messages and their
parts, without the secrets that the process knows. Used only with `capture_content`.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Sequence
from typing import Any

from llmcore.adapters.base import ModelCall
from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.run.results.result import ToolRecord
from llmcore.support.code.quoted_words import MAX_LOOKED_THROUGH, clipped_words
from llmcore.support.values.json_data import json_data
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import (
    AudioBlock,
    Block,
    Envelope,
    FileBlock,
    ImageBlock,
    Message,
    Request,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolStarted,
    ToolUseBlock,
)

_SHORTEST = 100
"""No text is cut to fewer characters than this."""

BROKEN_OFF = "cancelled"
"""The finish reason of a reply that its run cancelled. Neither servers nor the conventions have this word."""

__all__ = [
    "BROKEN_OFF",
    "captured_call",
    "captured_exception",
    "captured_reply",
    "captured_run",
    "captured_tool",
    "captured_tool_result",
]

Attributes = dict[str, Any]


def captured_run(request: Request) -> Attributes:
    return {**_system(request), "gen_ai.input.messages": _text(_messages(request.messages))}


def captured_call(call: ModelCall) -> Attributes:
    tools = [
        {"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.parameters}
        for tool in call.tools
    ]
    return {**captured_run(call.request), **({"gen_ai.tool.definitions": _text(tools)} if tools else {})}


def captured_reply(reply: Envelope) -> Attributes:
    reasoning = [{"type": "reasoning", "content": reply.reasoning}] if reply.reasoning else []
    content = [{"type": "text", "content": reply.content}] if reply.content else []
    calls = [_part_of_call(call.id, call.name, call.arguments, call.raw_arguments) for call in reply.tool_calls]
    reason = "error" if reply.finish_reason == BROKEN_OFF else reply.finish_reason or "stop"
    message = {"role": "assistant", "parts": [*reasoning, *content, *calls], "finish_reason": reason}
    return {"gen_ai.output.messages": _text([message])}


def captured_tool(tool: ToolStarted) -> Attributes:
    return {"gen_ai.tool.call.arguments": _text(tool.arguments)}


def captured_tool_result(record: ToolRecord) -> Attributes:
    return {"gen_ai.tool.call.result": _scrubbed(record.content)}


def captured_exception(error: BaseException) -> Attributes:
    try:
        words, trace = str(error), "".join(traceback.format_exception(error))
    except Exception:  # the exception's own code fails
        return {}
    return {"exception.message": _scrubbed(words), "exception.stacktrace": _scrubbed(trace)}


def _system(request: Request) -> Attributes:
    if not request.system:
        return {}
    texts = [request.system] if isinstance(request.system, str) else [block.text for block in request.system]
    return {"gen_ai.system_instructions": _text([{"type": "text", "content": text} for text in texts])}


def _messages(messages: Sequence[Message]) -> list[Attributes]:
    return [{"role": message.role, "parts": [_part(block) for block in message.content]} for message in messages]


def _part(block: Block) -> Attributes:
    match block:
        case TextBlock():
            return {"type": "text", "content": block.text}
        case ThinkingBlock():
            return {"type": "reasoning", "content": block.thinking}
        case ToolUseBlock():
            return _part_of_call(block.id, block.name, block.input, block.raw_input)
        case ToolResultBlock():
            return {"type": "tool_call_response", "id": block.tool_use_id, "response": [_part(one) for one in block.content]}
        case ImageBlock() | FileBlock() | AudioBlock():
            data = block.base64
            place = {"uri": block.url} if data is None else {"content": f"({len(data)} characters of base64)"}
            return {"type": "uri" if data is None else "blob", "modality": block.kind.type, **place}
        case _:
            return {"type": block.type}


def _part_of_call(call_id: str, name: str, arguments: Any, raw: str) -> Attributes:
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": raw if arguments is None else arguments}


def _text(value: Any) -> str:
    data = process_scrubber().value(json_data(value))
    written, most = json.dumps(data, ensure_ascii=False), MAX_LOOKED_THROUGH
    while len(written) > MAX_LOOKED_THROUGH and most > _SHORTEST:  # cut the texts inside, so that the result stays JSON
        most //= 4
        written = json.dumps(_cut(data, most), ensure_ascii=False)
    return written if len(written) <= MAX_LOOKED_THROUGH else json.dumps({"cut": written[: MAX_LOOKED_THROUGH // 8]})


def _cut(data: Any, most: int) -> Any:
    if isinstance(data, str):
        return clipped_words(data, most)
    if is_object(data):
        return {key: _cut(value, most) for key, value in data.items()}
    return [_cut(value, most) for value in data] if is_list(data) else data


def _scrubbed(text: str) -> str:
    return process_scrubber().text(clipped_words(text, MAX_LOOKED_THROUGH))
