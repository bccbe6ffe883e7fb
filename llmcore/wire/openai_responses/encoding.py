"""OpenAI's Responses API: envelopes and events as responses and stream events, and requests as messages.

Reasoning that llmcore read is a `reasoning` item with its text as `content`.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from typing import Any

from llmcore.support.values.narrowing import is_list, is_object, object_in
from llmcore.types import (
    CallerError,
    Envelope,
    FinishReason,
    Message,
    ProviderBlock,
    ReasoningDelta,
    Request,
    TextDelta,
    ToolCall,
    ToolSet,
    Usage,
)
from llmcore.wire.ids import random_id, with_new_ids
from llmcore.wire.offering import Offered, offered
from llmcore.wire.openai_responses.item_writer import ItemWriter, message, reasoning_item, text_part
from llmcore.wire.rewriting import arguments_text, free_text_of, text_with_withheld

__all__ = ["ResponsesStreamEncoder", "decode_responses_messages", "encode_responses", "encoded_responses_call"]

Json = dict[str, Any]
_INCOMPLETE: dict[FinishReason | None, str] = {"length": "max_output_tokens", "content_filter": "content_filter"}
"""The reasons of responses that are incomplete."""


def encode_responses(
    envelope: Envelope,
    tools: ToolSet | Iterable[object] | None = None,
    *,
    model: str,
    usage: Usage | None = None,
    id: str | None = None,
    created: int | None = None,
    free_text: Collection[str] = (),
) -> Json:
    """A whole response of one reply.

    The calls are those that `offered(envelope, tools)` offers, with unique ids. The text of the others is content.
    `id` and `created` (seconds) are those of the response; by default a new id and the present. `free_text`: the names of tools
    whose calls are `custom_tool_call` items (`DecodedTools.free_text`).
    """
    result = offered(envelope, tools)
    text = text_with_withheld(envelope, result)
    output = [reasoning_item(envelope.reasoning)] if envelope.reasoning else []
    output += [message([text_part(text)])] if text else []
    output += [encoded_responses_call(call, free_text) for call in with_new_ids(result.calls)]
    return {**_head(model, id, created), "output": output, **_end(envelope.finish_reason, usage)}


def _head(model: str, id: str | None, created: int | None) -> Json:
    return {
        "id": id or random_id("resp_"),
        "object": "response",
        "created_at": int(time.time()) if created is None else created,
        "status": "in_progress",
        "model": model,
        "output": list[Any](),
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": dict[str, str](),
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": list[Any](),
        "top_p": None,
        "usage": None,
    }


def _end(reason: FinishReason | None, usage: Usage | None) -> Json:
    why = _INCOMPLETE.get(reason)
    return {
        "status": "incomplete" if why else "completed",
        "incomplete_details": {"reason": why} if why else None,
        "usage": None if usage is None else _encoded_usage(usage),
    }


def _encoded_usage(usage: Usage) -> Json:
    """The usage in the form of this API."""
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {"cached_tokens": usage.cache_read_tokens},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.total_tokens,
    }


def encoded_responses_call(call: ToolCall, free_text: Collection[str] = ()) -> Json:
    """A `function_call` item, or a `custom_tool_call`. The call's id is its `call_id`."""
    if call.name in free_text:
        head = {"type": "custom_tool_call", "id": random_id("ctc_"), "status": "completed"}
        return {**head, "call_id": call.id, "name": call.name, "input": free_text_of(call)}
    head = {"type": "function_call", "id": random_id("fc_"), "status": "completed"}
    return {**head, "call_id": call.id, "name": call.name, "arguments": arguments_text(call)}


class ResponsesStreamEncoder:
    """Encodes one streamed reply as events. `sse.event_bytes(event, event["type"])` turns each into bytes.

    encoder = StreamEncoder(model="m")
    send(*encoder.start())
    for chunk in chunks: send(*encoder.feed(stream.feed(chunk)))          # an AppendOnlyStream
    send(*encoder.feed(stream.finish()), *encoder.finish(stream.offered, stream.envelope.finish_reason, usage))
    """

    def __init__(self, *, model: str, id: str | None = None, created: int | None = None, free_text: Collection[str] = ()) -> None:
        self._head = _head(model, id, created)
        self._free_text = free_text
        self._items = ItemWriter()
        self._events = 0

    def start(self) -> list[Json]:
        """The first events."""
        return self._numbered([{"type": f"response.{name}", "response": self._head} for name in ("created", "in_progress")])

    def feed(self, events: Iterable[object]) -> list[Json]:
        """The events of these ones. Events other than `TextDelta` and `ReasoningDelta` have none."""
        texts = (event for event in events if isinstance(event, TextDelta | ReasoningDelta))
        return self._numbered(self._items.write(texts))

    def finish(self, result: Offered, finish_reason: FinishReason | None = None, usage: Usage | None = None) -> list[Json]:
        """The calls, whole, and the end with the whole response."""
        events = self._items.close()
        for call in with_new_ids(result.calls):
            events += self._items.call(encoded_responses_call(call, self._free_text))
        response = {**self._head, "output": self._items.output, **_end(finish_reason, usage)}
        return self._numbered([*events, {"type": f"response.{response['status']}", "response": response}])

    def _numbered(self, events: list[Json]) -> list[Json]:
        first, self._events = self._events, self._events + len(events)
        return [{**event, "sequence_number": n} for n, event in enumerate(events, first)]


def decode_responses_messages(body: Json) -> list[Message]:
    """The messages of a request, with its `instructions` first. `decode_tools(body.get("tools"))` reads its tools.

    Items that only this API has (reasoning, the provider's own calls, files) become `ProviderBlock`s of the model's message.
    Raises `CallerError` for what is no item, and names its place.
    """
    given = body.get("input")
    if not isinstance(given, str) and not is_list(given):
        raise CallerError("the request has no `input`: give the body of a request to the Responses API")
    items: list[Any] = [{"role": "user", "content": given}] if isinstance(given, str) else given
    instructions = body.get("instructions")
    first = [{"role": "system", "content": instructions}] if instructions else []
    return Request(messages=[*first, *_messages(items)]).messages


def _messages(items: list[Any]) -> list[Json]:
    """Items as messages of the chat API. The items of one turn of the model become one message."""
    messages: list[Json] = []
    for at, item in enumerate(items):
        if not is_object(item):
            raise CallerError(f"`input` item {at} is of type {type(item).__name__}; each item is an object")
        kind = str(item.get("type") or "message")
        if kind == "message" and item.get("role") != "assistant":
            messages.append({"role": item.get("role"), "content": item.get("content")})
        elif kind in ("function_call_output", "custom_tool_call_output"):
            messages.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": _output(item.get("output"))})
        else:
            if not messages or messages[-1]["role"] != "assistant":
                messages.append({"role": "assistant", "content": list[Any]()})
            _add_to_turn(messages[-1], kind, item)
    return messages


def _add_to_turn(turn: Json, kind: str, item: Json) -> None:
    content: list[Any] = turn["content"]
    if kind == "message":
        parts = item.get("content")
        content += (
            [{"type": "output_text", "text": parts}] if isinstance(parts, str) else [_sent_part(part) for part in parts or ()]
        )
    elif kind == "function_call":
        content.append(_tool_use(item, item.get("arguments")))
    elif kind == "custom_tool_call":
        content.append({**_tool_use(item, None), "input": {"input": item.get("input")}})
    else:
        content.append(ProviderBlock(provider="openai-responses", data=item))


def _tool_use(item: Json, arguments: object) -> Json:
    from llmcore.normalizer.native.shape import parsed_json  # imported on demand

    value: object = parsed_json(arguments) if isinstance(arguments, str) and arguments.strip() else dict[str, Any]()
    raw = {"raw_input": arguments} if not is_object(value) else {}
    block = {"type": "tool_use", "id": item.get("call_id"), "name": item.get("name")}
    return {**block, "input": value if is_object(value) else None, **raw}


def _sent_part(part: Any) -> Any:
    """A part of the model's message as it goes back: without the fields that only replies have, if they are empty."""
    return {key: value for key, value in part.items() if value or key == "text"} if is_object(part) else part


def _output(output: object) -> Any:
    return output if isinstance(output, str) or is_list(output) else str(object_in(output) or "")
