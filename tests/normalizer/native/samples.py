"""One turn (reasoning, text, two calls) as every wire writes it, whole and streamed, and streams cut anew.

The bodies are our own, written from the formats' facts.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from llmcore.types import ToolSet

__all__ = ["ARGUMENTS", "REASONING", "SAMPLES", "SAYING", "TEXT", "TOOLS", "Sample", "joined", "recut"]

Json = dict[str, Any]

TOOLS = ToolSet(
    [
        {
            "name": "get_weather",
            "input_schema": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                "required": ["city"],
            },
        },
        {"name": "ping", "input_schema": {"type": "object", "properties": {}}},
    ]
)
REASONING = "The user wants the weather."
TEXT = "Let me look: one moment, s'il vous plaît."
ARGUMENTS: Json = {"city": 'Pa"ris', "days": 3}
_WRITTEN = json.dumps(ARGUMENTS)


@dataclass(frozen=True)
class Sample:
    """`whole` and `events` say the same. `reasons`: the wire has a place for reasoning in this sample."""

    wire: str
    whole: Json
    events: list[Json]
    ids: tuple[str, str] = ("a1", "a2")
    finish_word: str = "tool_calls"
    reasons: bool = True


def _chunk(delta: Json, finish: str | None = None) -> Json:
    return {
        "id": "x",
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def _chat_call(id: str, name: str, arguments: str) -> Json:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


OPENAI_CHAT = Sample(
    "openai-chat",
    {
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "reasoning_content": REASONING,
                    "content": TEXT,
                    "refusal": None,
                    "tool_calls": [_chat_call("a1", "get_weather", _WRITTEN), _chat_call("a2", "ping", "{}")],
                },
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
    },
    [
        _chunk({"role": "assistant", "content": ""}),
        _chunk({"reasoning_content": REASONING}),
        _chunk({"content": TEXT}),
        _chunk({"tool_calls": [{"index": 0, **_chat_call("a1", "get_weather", "")}]}),
        _chunk({"tool_calls": [{"index": 0, "function": {"arguments": _WRITTEN}}]}),
        _chunk({"tool_calls": [{"index": 1, **_chat_call("a2", "ping", "")}]}),
        _chunk({"tool_calls": [{"index": 1, "function": {"arguments": "{}"}}]}),
        _chunk({}, "tool_calls"),
        {"id": "x", "choices": [], "usage": {"prompt_tokens": 1}},
    ],
)

_REASONING_ITEM: Json = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": REASONING}],
    "encrypted_content": "e",
}
_MESSAGE_ITEM: Json = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "content": [{"type": "output_text", "text": TEXT, "annotations": []}],
}
_CALL_ITEMS: list[Json] = [
    {"type": "function_call", "id": "fc_1", "call_id": "a1", "name": "get_weather", "arguments": _WRITTEN},
    {"type": "function_call", "id": "fc_2", "call_id": "a2", "name": "ping", "arguments": "{}"},
]
_RESPONSE: Json = {
    "object": "response",
    "status": "completed",
    "output": [_REASONING_ITEM, _MESSAGE_ITEM, *_CALL_ITEMS],
}


def _streamed_call_item(index: int, item: Json) -> list[Json]:
    where = {"item_id": item["id"], "output_index": index}
    return [
        {"type": "response.output_item.added", "output_index": index, "item": {**item, "arguments": ""}},
        {"type": "response.function_call_arguments.delta", **where, "delta": item["arguments"]},
        {"type": "response.function_call_arguments.done", **where, "arguments": item["arguments"]},
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


OPENAI_RESPONSES = Sample(
    "openai-responses",
    _RESPONSE,
    [
        {"type": "response.created", "response": {"status": "in_progress", "output": []}},
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {"type": "reasoning", "id": "rs_1", "summary": []},
        },
        {
            "type": "response.reasoning_summary_text.delta",
            "item_id": "rs_1",
            "output_index": 0,
            "summary_index": 0,
            "delta": REASONING,
        },
        {
            "type": "response.reasoning_summary_text.done",
            "item_id": "rs_1",
            "output_index": 0,
            "summary_index": 0,
            "text": REASONING,
        },
        {"type": "response.output_item.done", "output_index": 0, "item": _REASONING_ITEM},
        {
            "type": "response.output_item.added",
            "output_index": 1,
            "item": {"type": "message", "id": "msg_1", "content": []},
        },
        {"type": "response.content_part.added", "item_id": "msg_1", "output_index": 1, "content_index": 0},
        {
            "type": "response.output_text.delta",
            "item_id": "msg_1",
            "output_index": 1,
            "content_index": 0,
            "delta": TEXT,
        },
        {"type": "response.output_text.done", "item_id": "msg_1", "output_index": 1, "content_index": 0, "text": TEXT},
        {"type": "response.output_item.done", "output_index": 1, "item": _MESSAGE_ITEM},
        *_streamed_call_item(2, _CALL_ITEMS[0]),
        *_streamed_call_item(3, _CALL_ITEMS[1]),
        {"type": "response.completed", "response": _RESPONSE},
    ],
    finish_word="completed",
)


def _block(index: int, start: Json, *deltas: Json) -> list[Json]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


ANTHROPIC = Sample(
    "anthropic",
    {
        "type": "message",
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": REASONING, "signature": "sig=="},
            {"type": "text", "text": TEXT},
            {"type": "tool_use", "id": "a1", "name": "get_weather", "input": ARGUMENTS},
            {"type": "tool_use", "id": "a2", "name": "ping", "input": {}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 1},
    },
    [
        {
            "type": "message_start",
            "message": {"type": "message", "role": "assistant", "content": [], "stop_reason": None},
        },
        {"type": "ping"},
        *_block(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": REASONING},
            {"type": "signature_delta", "signature": "sig=="},
        ),
        *_block(1, {"type": "text", "text": ""}, {"type": "text_delta", "text": TEXT}),
        *_block(
            2,
            {"type": "tool_use", "id": "a1", "name": "get_weather", "input": {}},
            {"type": "input_json_delta", "partial_json": ""},
            {"type": "input_json_delta", "partial_json": _WRITTEN},
        ),
        *_block(
            3,
            {"type": "tool_use", "id": "a2", "name": "ping", "input": {}},
            {"type": "input_json_delta", "partial_json": ""},
        ),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ],
    finish_word="tool_use",
)


def _candidate(*parts: Json, finish: str | None = None) -> Json:
    candidate: Json = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "modelVersion": "m"}


_GEMINI_PARTS: tuple[Json, ...] = (
    {"text": REASONING, "thought": True},
    {"text": TEXT},
    {"functionCall": {"id": "a1", "name": "get_weather", "args": ARGUMENTS}, "thoughtSignature": "sig=="},
    {"functionCall": {"id": "a2", "name": "ping"}},
)
GEMINI = Sample(
    "gemini",
    _candidate(*_GEMINI_PARTS, finish="STOP"),
    [
        *map(_candidate, _GEMINI_PARTS),
        _candidate({"text": ""}, finish="STOP"),
        {"usageMetadata": {"totalTokenCount": 3}},
    ],
    finish_word="STOP",
)


def _converse_block(index: int, *deltas: Json, start: Json | None = None) -> list[Json]:
    where = {"contentBlockIndex": index}
    return [
        *([{"contentBlockStart": {**where, "start": start}}] if start else []),
        *({"contentBlockDelta": {**where, "delta": delta}} for delta in deltas),
        {"contentBlockStop": where},
    ]


BEDROCK_CONVERSE = Sample(
    "bedrock-converse",
    {
        "output": {
            "message": {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": REASONING, "signature": "sig=="}}},
                    {"text": TEXT},
                    {"toolUse": {"toolUseId": "a1", "name": "get_weather", "input": ARGUMENTS}},
                    {"toolUse": {"toolUseId": "a2", "name": "ping", "input": {}}},
                ],
            }
        },
        "stopReason": "tool_use",
        "usage": {"inputTokens": 1},
    },
    [
        {"messageStart": {"role": "assistant"}},
        *_converse_block(0, {"reasoningContent": {"text": REASONING}}, {"reasoningContent": {"signature": "sig=="}}),
        *_converse_block(1, {"text": TEXT}),
        *_converse_block(2, {"toolUse": {"input": _WRITTEN}}, start={"toolUse": {"toolUseId": "a1", "name": "get_weather"}}),
        *_converse_block(3, start={"toolUse": {"toolUseId": "a2", "name": "ping"}}),
        {"messageStop": {"stopReason": "tool_use"}},
        {"metadata": {"usage": {"inputTokens": 1}}},
    ],
    finish_word="tool_use",
)


def _cohere(kind: str, index: int | None = None, **message: Any) -> Json:
    event: Json = {"type": kind, "delta": {"message": message}}
    return event if index is None else {**event, "index": index}


def _cohere_call(index: int, id: str, name: str, arguments: str) -> list[Json]:
    return [
        _cohere("tool-call-start", index, tool_calls=_chat_call(id, name, "")),
        _cohere("tool-call-delta", index, tool_calls={"function": {"arguments": arguments}}),
        {"type": "tool-call-end", "index": index},
    ]


COHERE_V2 = Sample(
    "cohere-v2",
    {
        "id": "x",
        "message": {
            "role": "assistant",
            "tool_plan": REASONING,
            "content": [{"type": "text", "text": TEXT}],
            "tool_calls": [_chat_call("a1", "get_weather", _WRITTEN), _chat_call("a2", "ping", "{}")],
        },
        "finish_reason": "TOOL_CALL",
    },
    [
        {
            "type": "message-start",
            "id": "x",
            "delta": {"message": {"role": "assistant", "content": [], "tool_calls": []}},
        },
        _cohere("tool-plan-delta", tool_plan=REASONING),
        _cohere("content-start", 0, content={"type": "text", "text": ""}),
        _cohere("content-delta", 0, content={"text": TEXT}),
        {"type": "content-end", "index": 0},
        *_cohere_call(0, "a1", "get_weather", _WRITTEN),
        *_cohere_call(1, "a2", "ping", "{}"),
        {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL", "usage": {"tokens": {"input_tokens": 1}}}},
    ],
    finish_word="TOOL_CALL",
)


def _ollama(done: bool = False, **message: Any) -> Json:
    line: Json = {"model": "m", "message": {"role": "assistant", **message}, "done": done}
    return {**line, "done_reason": "stop"} if done else line


_OLLAMA_CALLS: list[Json] = [
    {"function": {"index": 0, "name": "get_weather", "arguments": ARGUMENTS}},
    {"function": {"index": 0, "name": "ping", "arguments": {}}},
]
OLLAMA_CHAT = Sample(
    "ollama-chat",
    _ollama(done=True, content=TEXT, thinking=REASONING, tool_calls=_OLLAMA_CALLS),
    [
        _ollama(content="", thinking=REASONING),
        _ollama(content=TEXT),
        _ollama(content="", tool_calls=_OLLAMA_CALLS[:1]),
        _ollama(content="", tool_calls=_OLLAMA_CALLS[1:]),
        _ollama(done=True, content=""),
    ],
    ids=("call_0", "call_1"),
    finish_word="stop",
)

SAYING: dict[str, Callable[[str], list[Json]]] = {
    "openai-chat": lambda text: [_chunk({"role": "assistant", "content": ""}), _chunk({"content": text}), _chunk({}, "stop")],
    "openai-responses": lambda text: [
        {"type": "response.created", "response": {"status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "id": "msg_1", "content": []}},
        {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": text},
        {"type": "response.output_text.done", "item_id": "msg_1", "output_index": 0, "content_index": 0, "text": text},
    ],
    "anthropic": lambda text: [
        {"type": "message_start", "message": {"type": "message", "role": "assistant", "content": [], "stop_reason": None}},
        *_block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": text}),
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ],
    "gemini": lambda text: [_candidate({"text": text}), _candidate({"text": ""}, finish="STOP")],
    "bedrock-converse": lambda text: [
        {"messageStart": {"role": "assistant"}},
        *_converse_block(0, {"text": text}),
        {"messageStop": {"stopReason": "end_turn"}},
    ],
    "cohere-v2": lambda text: [
        {"type": "message-start", "id": "x", "delta": {"message": {"role": "assistant", "content": [], "tool_calls": []}}},
        _cohere("content-start", 0, content={"type": "text", "text": ""}),
        _cohere("content-delta", 0, content={"text": text}),
        {"type": "content-end", "index": 0},
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}},
    ],
    "ollama-chat": lambda text: [_ollama(content=text), _ollama(done=True, content="")],
}
"""A stream of each wire that says a text and calls nothing natively."""

SAMPLES = [OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC, GEMINI, BEDROCK_CONVERSE, COHERE_V2, OLLAMA_CHAT]

_Path = tuple[str | int, ...]
_DELTAS: tuple[_Path, ...] = (
    ("choices", 0, "delta", "content"),
    ("choices", 0, "delta", "reasoning_content"),
    ("choices", 0, "delta", "tool_calls", 0, "function", "arguments"),
    ("delta", "text"),
    ("delta", "thinking"),
    ("delta", "partial_json"),
    ("delta", "message", "content", "text"),
    ("delta", "message", "tool_plan"),
    ("delta", "message", "tool_calls", "function", "arguments"),
    ("delta",),
    ("candidates", 0, "content", "parts", 0, "text"),
    ("contentBlockDelta", "delta", "text"),
    ("contentBlockDelta", "delta", "toolUse", "input"),
    ("contentBlockDelta", "delta", "reasoningContent", "text"),
    ("message", "content"),
    ("message", "thinking"),
)
"""Where the wires' stream events hold a piece of text or of arguments."""


def _at(event: Any, path: _Path) -> Any:
    for step in path:
        try:
            event = event[step]
        except (KeyError, IndexError, TypeError):
            return None
    return event


def _with(event: Json, path: _Path, text: str) -> Json:
    changed = copy.deepcopy(event)
    _at(changed, path[:-1])[path[-1]] = text
    return changed


def _cuttable(event: Json) -> _Path | None:
    """The one place of the event that holds text; None when there is none, or when the event also starts a call."""
    held = [path for path in _DELTAS if isinstance(_at(event, path), str) and _at(event, path)]
    starts = _at(event, ("choices", 0, "delta", "tool_calls", 0, "id"))
    return held[0] if len(held) == 1 and not starts and not event.get("done") else None


def recut(events: list[Json], size: int) -> Iterator[Json]:
    """The stream with every text and argument delta cut into pieces of `size` characters."""
    for event in events:
        path = _cuttable(event)
        if path is None:
            yield event
            continue
        text = _at(event, path)
        for start in range(0, len(text), size):
            yield _with(event, path, text[start : start + size])


def joined(events: list[Json]) -> list[Json]:
    """The stream with neighbouring deltas of one kind joined."""
    out: list[Json] = []
    for event in events:
        path = _cuttable(event)
        last = out[-1] if out else None
        if path and last and _cuttable(last) == path and _with(last, path, "") == _with(event, path, ""):
            out[-1] = _with(last, path, _at(last, path) + _at(event, path))
        else:
            out.append(event)
    return out
