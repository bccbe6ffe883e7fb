"""One turn of a model, written on the wires of the providers, plain and streamed.

A `Turn` says what the model answers; each wire is a pair of functions from a turn to a body and to the events of a
stream. Shapes follow the providers' published formats, down to the fields that clients insist
on: a Groq body without `service_tier`, for one, crashes LiteLLM.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = ["CONVERSE", "WIRES", "Turn", "Wire", "frames", "pieces"]

Call = tuple[str, Any]
"""A name, and the arguments: an object, or a str that goes out verbatim where the wire has a string."""


@dataclass
class Turn:
    """What the model answers. `usage` is (input, output) tokens; `chunk` the size of streamed pieces in characters."""

    text: str = ""
    calls: list[Call] = field(default_factory=list[Call])
    reasoning: str = ""
    signature: str | None = None
    finish: str | None = None
    """The wire's own finish word; None = the usual one."""
    usage: tuple[int, int] = (21, 9)
    cached: int = 0
    """Input tokens that came from the cache. `stored`: those that were written to it, on Anthropic's wire."""
    stored: int = 0
    model: str = "wire-model"
    chunk: int = 12
    one_index: bool = False
    """All parallel calls of a stream under index 0, as several servers do."""


class Wire(NamedTuple):
    """How a wire writes a turn: the plain body, the stream's events, and how an event is framed."""

    body: Callable[[Turn], dict[str, Any]]
    events: Callable[[Turn], Iterator[dict[str, Any]]]
    framing: str
    """`sse` (with `[DONE]`), `sse_named` (with `event:` lines) or `ndjson`."""


def pieces(text: str, size: int) -> list[str]:
    """`text` in pieces of `size` characters; none of an empty text."""
    return [text[at : at + size] for at in range(0, len(text), size)]


def _arguments(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _numbered(turn: Turn, form: str) -> list[tuple[str, str, Any]]:
    return [(form.format(number), name, arguments) for number, (name, arguments) in enumerate(turn.calls, 1)]


# OpenAI chat, and everybody who speaks it


def _openai_usage(turn: Turn) -> dict[str, Any]:
    given, written = turn.usage
    return {
        "prompt_tokens": given,
        "completion_tokens": written,
        "total_tokens": given + written,
        "prompt_tokens_details": {"cached_tokens": turn.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 4 if turn.reasoning else 0, "audio_tokens": 0},
    }


def _openai_head(turn: Turn, kind: str) -> dict[str, Any]:
    return {
        "id": "chatcmpl-wire",
        "object": kind,
        "created": 1767225600,
        "model": turn.model,
        "service_tier": "default",
    }


def _openai_finish(turn: Turn) -> str:
    return turn.finish or ("tool_calls" if turn.calls else "stop")


def _openai_body(turn: Turn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None, "refusal": None}
    if turn.reasoning:
        message["reasoning_content"] = turn.reasoning
    if turn.calls:
        message["tool_calls"] = [
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": _arguments(arguments)}}
            for call_id, name, arguments in _numbered(turn, "call_wire{:05d}")
        ]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _openai_finish(turn)}
    return {**_openai_head(turn, "chat.completion"), "choices": [choice], "usage": _openai_usage(turn)}


def _openai_deltas(turn: Turn) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": "" if turn.text else None}
    for piece in pieces(turn.reasoning, turn.chunk):
        yield {"reasoning_content": piece}
    for piece in pieces(turn.text, turn.chunk):
        yield {"content": piece}
    for position, (call_id, name, arguments) in enumerate(_numbered(turn, "call_wire{:05d}")):
        index = 0 if turn.one_index else position
        head = {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
        yield {"tool_calls": [head]}
        for piece in pieces(_arguments(arguments), turn.chunk):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _openai_events(turn: Turn) -> Iterator[dict[str, Any]]:
    head = _openai_head(turn, "chat.completion.chunk")
    for delta in _openai_deltas(turn):
        yield {**head, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}]}
    yield {**head, "choices": [{"index": 0, "delta": {}, "logprobs": None, "finish_reason": _openai_finish(turn)}]}
    yield {**head, "choices": [], "usage": _openai_usage(turn)}


# Anthropic messages


def _anthropic_blocks(turn: Turn) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if turn.reasoning or turn.signature:
        blocks.append({"type": "thinking", "thinking": turn.reasoning, "signature": turn.signature or ""})
    if turn.text:
        blocks.append({"type": "text", "text": turn.text})
    blocks += [
        {"type": "tool_use", "id": call_id, "name": name, "input": arguments}
        for call_id, name, arguments in _numbered(turn, "toolu_wire{:02d}")
    ]
    return blocks


def _anthropic_usage(turn: Turn) -> dict[str, Any]:
    given, written = turn.usage
    cache = {"cache_read_input_tokens": turn.cached, "cache_creation_input_tokens": turn.stored}
    return {"input_tokens": given - turn.cached - turn.stored, "output_tokens": written, **cache}


def _anthropic_body(turn: Turn) -> dict[str, Any]:
    return {
        "id": "msg_wire",
        "type": "message",
        "role": "assistant",
        "model": turn.model,
        "content": _anthropic_blocks(turn),
        "stop_reason": turn.finish or ("tool_use" if turn.calls else "end_turn"),
        "stop_sequence": None,
        "usage": _anthropic_usage(turn),
    }


def _anthropic_deltas(block: dict[str, Any], size: int) -> Iterator[dict[str, Any]]:
    if block["type"] == "text":
        yield from ({"type": "text_delta", "text": piece} for piece in pieces(block["text"], size))
    elif block["type"] == "thinking":
        yield from ({"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"], size))
        yield {"type": "signature_delta", "signature": block["signature"]}
    else:
        parts = pieces(_arguments(block["input"]), size)
        yield from ({"type": "input_json_delta", "partial_json": piece} for piece in ["", *parts])


_ANTHROPIC_EMPTY: dict[str, dict[str, Any]] = {
    "text": {"text": ""},
    "thinking": {"thinking": "", "signature": ""},
    "tool_use": {"input": {}},
}


def _anthropic_events(turn: Turn) -> Iterator[dict[str, Any]]:
    body = _anthropic_body(turn)
    usage = {**body["usage"], "output_tokens": 1}
    yield {"type": "message_start", "message": {**body, "content": [], "stop_reason": None, "usage": usage}}
    for index, block in enumerate(body["content"]):
        yield {
            "type": "content_block_start",
            "index": index,
            "content_block": {**block, **_ANTHROPIC_EMPTY[block["type"]]},
        }
        for delta in _anthropic_deltas(block, turn.chunk):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": turn.usage[1]}}
    yield {"type": "message_stop"}


# Gemini generateContent


def _gemini_parts(turn: Turn) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    if turn.reasoning:
        parts.append({"text": turn.reasoning, "thought": True})
    if turn.text:
        parts.append({"text": turn.text})
    for number, (name, arguments) in enumerate(turn.calls):
        signed = {"thoughtSignature": turn.signature} if turn.signature and number == 0 else {}
        parts.append({"functionCall": {"name": name, "args": arguments}, **signed})
    return parts


def _gemini_body_of(turn: Turn, parts: list[dict[str, Any]], last: bool) -> dict[str, Any]:
    given, written = turn.usage
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if last:
        candidate["finishReason"] = turn.finish or "STOP"
    usage: dict[str, Any] = {
        "promptTokenCount": given,
        "candidatesTokenCount": written,
        "totalTokenCount": given + written,
    }
    if turn.reasoning:
        usage |= {"thoughtsTokenCount": 4, "totalTokenCount": given + written + 4}
    if turn.cached:
        usage["cachedContentTokenCount"] = turn.cached
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": turn.model, "responseId": "wire"}


def _gemini_body(turn: Turn) -> dict[str, Any]:
    return _gemini_body_of(turn, _gemini_parts(turn), last=True)


def _gemini_events(turn: Turn) -> Iterator[dict[str, Any]]:
    parts = [
        [{**part, "text": piece}] if "text" in part else [part]
        for part in _gemini_parts(turn)
        for piece in (pieces(part["text"], turn.chunk) if "text" in part else [""])
    ] or [[]]
    for number, some in enumerate(parts, 1):
        yield _gemini_body_of(turn, some, last=number == len(parts))


# Ollama chat


def _ollama_body(turn: Turn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text}
    if turn.reasoning:
        message["thinking"] = turn.reasoning
    if turn.calls:
        message["tool_calls"] = [{"function": {"name": name, "arguments": arguments}} for name, arguments in turn.calls]
    return {**_ollama_head(turn), "message": message, **_ollama_end(turn)}


def _ollama_head(turn: Turn) -> dict[str, Any]:
    return {"model": turn.model, "created_at": "2026-01-01T00:00:00.000000Z"}


def _ollama_end(turn: Turn) -> dict[str, Any]:
    given, written = turn.usage
    counts = {"total_duration": 5_000_000, "prompt_eval_count": given, "eval_count": written}
    return {"done": True, "done_reason": turn.finish or "stop", **counts}


def _ollama_events(turn: Turn) -> Iterator[dict[str, Any]]:
    messages: list[dict[str, Any]] = [
        *({"content": "", "thinking": piece} for piece in pieces(turn.reasoning, turn.chunk)),
        *({"content": piece} for piece in pieces(turn.text, turn.chunk)),
        *({"content": "", "tool_calls": [{"function": {"name": name, "arguments": given}}]} for name, given in turn.calls),
    ]
    for message in messages:
        yield {**_ollama_head(turn), "message": {"role": "assistant", **message}, "done": False}
    yield {**_ollama_head(turn), "message": {"role": "assistant", "content": ""}, **_ollama_end(turn)}


# Bedrock's Converse (its stream is no text: only whole bodies)


def _converse_body(turn: Turn) -> dict[str, Any]:
    given, written = turn.usage
    uses = [
        {"toolUse": {"toolUseId": call_id, "name": name, "input": arguments}}
        for call_id, name, arguments in _numbered(turn, "tooluse_wire{:02d}")
    ]
    content: list[dict[str, Any]] = [*([{"text": turn.text}] if turn.text else []), *uses]
    return {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": turn.finish or ("tool_use" if uses else "end_turn"),
        "usage": {"inputTokens": given, "outputTokens": written, "totalTokens": given + written},
        "metrics": {"latencyMs": 1},
    }


def _no_events(turn: Turn) -> Iterator[dict[str, Any]]:
    raise NotImplementedError("a stream of Bedrock's is binary")


WIRES: dict[str, Wire] = {
    "openai-chat": Wire(_openai_body, _openai_events, "sse"),
    "anthropic": Wire(_anthropic_body, _anthropic_events, "sse_named"),
    "gemini": Wire(_gemini_body, _gemini_events, "sse_plain"),
    "ollama": Wire(_ollama_body, _ollama_events, "ndjson"),
}
CONVERSE = Wire(_converse_body, _no_events, "")
"""Bedrock's: not among the others, for its stream is binary."""


def frames(wire: Wire, turn: Turn) -> Iterator[bytes]:
    """The bytes of a streamed turn, one event after the other."""
    for event in wire.events(turn):
        data = json.dumps(event, ensure_ascii=False)
        if wire.framing == "ndjson":
            yield f"{data}\n".encode()
        elif wire.framing == "sse_named":
            yield f"event: {event['type']}\ndata: {data}\n\n".encode()
        else:
            yield f"data: {data}\n\n".encode()
    yield from itertools.repeat(b"data: [DONE]\n\n", 1 if wire.framing == "sse" else 0)
