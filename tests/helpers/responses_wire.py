"""OpenAI's Responses API as a server speaks it: the body and the events of a turn, field by field as in its reference."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

from tests.helpers.wires import Turn, Wire, pieces

__all__ = ["RESPONSES"]

Json = dict[str, Any]


def _head(turn: Turn, status: str) -> Json:
    return {
        "id": "resp_wire",
        "object": "response",
        "created_at": 1767225600,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": turn.model,
        "output": [],
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": None,
    }


def _text_part(text: str) -> Json:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _items(turn: Turn) -> list[Json]:
    items: list[Json] = []
    if turn.text:
        message = {"type": "message", "id": "msg_wire", "status": "completed", "role": "assistant"}
        items.append({**message, "content": [_text_part(turn.text)]})
    for number, (name, arguments) in enumerate(turn.calls, 1):
        head = {"type": "function_call", "id": f"fc_wire{number}", "call_id": f"call_wire{number:05d}", "status": "completed"}
        items.append({**head, "name": name, "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments)})
    return items


def _body(turn: Turn) -> Json:
    given, written = turn.usage
    usage = {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": turn.cached, "cache_write_tokens": 0},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": given + written,
    }
    return {**_head(turn, "completed"), "output": _items(turn), "usage": usage}


def _message_events(item: Json, at: int, size: int) -> Iterator[Json]:
    place = {"item_id": item["id"], "output_index": at, "content_index": 0}
    (part,) = item["content"]
    yield {"type": "response.content_part.added", **place, "part": _text_part("")}
    for piece in pieces(part["text"], size):
        yield {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}
    yield {"type": "response.output_text.done", **place, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **place, "part": part}


def _call_events(item: Json, at: int, size: int) -> Iterator[Json]:
    place = {"item_id": item["id"], "output_index": at}
    for piece in pieces(item["arguments"], size):
        yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
    yield {"type": "response.function_call_arguments.done", **place, "name": item["name"], "arguments": item["arguments"]}


def _unnumbered(turn: Turn) -> Iterator[Json]:
    for kind in ("created", "in_progress"):
        yield {"type": f"response.{kind}", "response": _head(turn, "in_progress")}
    body = _body(turn)
    for at, item in enumerate(body["output"]):
        is_message = item["type"] == "message"
        empty: Json = {"content": []} if is_message else {"arguments": ""}
        begun = {**item, "status": "in_progress", **empty}
        yield {"type": "response.output_item.added", "output_index": at, "item": begun}
        yield from (_message_events if is_message else _call_events)(item, at, turn.chunk)
        yield {"type": "response.output_item.done", "output_index": at, "item": item}
    yield {"type": "response.completed", "response": body}


def _events(turn: Turn) -> Iterator[Json]:
    for number, event in zip(itertools.count(), _unnumbered(turn), strict=False):
        yield {**event, "sequence_number": number}


RESPONSES = Wire(_body, _events, "sse_named")
