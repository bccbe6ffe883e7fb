"""OpenAI's chat completions: envelopes and events as bodies and chunks, and requests as messages and tools.

Reasoning is `reasoning_content`, as most compatible servers have it; OpenAI's own API has no field for it.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from llmcore.support.values.json_data import as_json
from llmcore.support.values.narrowing import is_list, is_object, object_in
from llmcore.types import (
    CallerError,
    Envelope,
    FinishReason,
    Message,
    ReasoningDelta,
    Request,
    TextDelta,
    ToolCall,
    ToolSet,
    Usage,
)
from llmcore.wire.ids import random_id, with_new_ids
from llmcore.wire.offering import Offered, offered
from llmcore.wire.rewriting import arguments_text, free_text_of, joined_texts, text_with_withheld
from llmcore.wire.tools import FREE_TEXT_PARAMETER

__all__ = ["ChatStreamEncoder", "decode_chat_messages", "encode_chat", "encoded_chat_call"]

Json = dict[str, Any]
_FINISH_WORDS: dict[FinishReason | None, str] = {"length": "length", "content_filter": "content_filter", "tool_calls": "stop"}
"""The finish reasons. All others, and `tool_calls` without calls, are `stop`."""


def encode_chat(
    envelopes: Envelope | Sequence[Envelope],
    tools: ToolSet | Iterable[object] | None = None,
    *,
    model: str,
    usage: Usage | None = None,
    id: str | None = None,
    created: int | None = None,
    free_text: Collection[str] = (),
) -> Json:
    """A whole body (`chat.completion`) of one reply, or of several, which become the choices.

    The calls are those that `offered(envelope, tools)` offers, with unique ids. The text of the others is content.
    `id` and `created` (seconds) are those of the body; by default a new id and the present. `free_text`: the names of tools whose
    calls are `custom` calls (`DecodedTools.free_text`).
    """
    choices: list[Json] = []
    for index, envelope in enumerate([envelopes] if isinstance(envelopes, Envelope) else envelopes):
        result = offered(envelope, tools)
        calls = with_new_ids(result.calls)
        content = text_with_withheld(envelope, result)
        message: Json = {"role": "assistant", "content": content if content or not calls else None, "refusal": None}
        if envelope.reasoning:
            message["reasoning_content"] = envelope.reasoning
        if calls:
            message["tool_calls"] = [encoded_chat_call(call, free_text) for call in calls]
        word = _finish_word(envelope.finish_reason, bool(calls))
        choices.append({"index": index, "message": message, "logprobs": None, "finish_reason": word})
    body = {**_head("chat.completion", model, id, created), "choices": choices}
    return {**body, "usage": _encoded_usage(usage)} if usage is not None else body


def encoded_chat_call(call: ToolCall, free_text: Collection[str] = ()) -> Json:
    """An entry of `tool_calls`."""
    if call.name in free_text:
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": free_text_of(call)}}
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments_text(call)}}


def _encoded_usage(usage: Usage) -> Json:
    """The usage in the form of this API."""
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }


def _head(kind: str, model: str, id: str | None, created: int | None) -> Json:
    made = int(time.time()) if created is None else created
    return {"id": id or random_id("chatcmpl-"), "object": kind, "created": made, "model": model}


def _finish_word(reason: FinishReason | None, has_calls: bool) -> str:
    if has_calls and reason not in ("length", "content_filter"):
        return "tool_calls"
    return _FINISH_WORDS.get(reason, "stop")


class ChatStreamEncoder:
    """Encodes one streamed reply as chunks (`chat.completion.chunk`), with any number of choices.

        encoder = StreamEncoder(model="m")
        for chunk in chunks: send(*encoder.feed(stream.feed(chunk)))          # an AppendOnlyStream
        send(*encoder.feed(stream.finish()), *encoder.finish(stream.offered, stream.envelope.finish_reason))
        send(*encoder.end(usage))

    `sse.event_bytes` turns a chunk into bytes; the stream ends with `data: [DONE]`.
    """

    def __init__(self, *, model: str, id: str | None = None, created: int | None = None, free_text: Collection[str] = ()) -> None:
        self._head = _head("chat.completion.chunk", model, id, created)
        self._free_text = free_text
        self._begun = set[int]()

    def feed(self, events: Iterable[object], index: int = 0) -> list[Json]:
        """The chunks of these events of the choice `index`. Events other than `TextDelta` and `ReasoningDelta` have none."""
        texts = joined_texts(event for event in events if isinstance(event, TextDelta | ReasoningDelta))
        return [self._chunk(index, {"content" if is_text else "reasoning_content": text}) for is_text, text in texts if text]

    def finish(self, result: Offered, finish_reason: FinishReason | None = None, index: int = 0) -> list[Json]:
        """The calls of the choice `index`, whole, and its finish reason."""
        calls = with_new_ids(result.calls)
        chunks = [
            self._chunk(index, {"tool_calls": [{"index": n, **encoded_chat_call(call, self._free_text)}]})
            for n, call in enumerate(calls)
        ]
        return [*chunks, self._chunk(index, {}, _finish_word(finish_reason, bool(calls)))]

    def end(self, usage: Usage | None = None) -> list[Json]:
        """The chunk with the usage, if there is one. Clients ask for it by `stream_options.include_usage`."""
        return [] if usage is None else [{**self._head, "choices": [], "usage": _encoded_usage(usage)}]

    def _chunk(self, index: int, delta: Json, word: str | None = None) -> Json:
        role = {} if index in self._begun else {"role": "assistant"}
        self._begun.add(index)
        choice = {"index": index, "delta": {**role, **delta}, "logprobs": None, "finish_reason": word}
        return {**self._head, "choices": [choice]}


def decode_chat_messages(body: Json) -> list[Message]:
    """The messages of a request. `decode_tools(body.get("tools"), free_text="function")` reads its tools.

    A call of a free-text tool becomes a call with the argument `input`.

    Raises `CallerError` for what is no message, and names its place.
    """
    messages = body.get("messages")
    if not is_list(messages):
        raise CallerError("the request has no `messages`: give the body of a chat completion")
    return Request(messages=[_with_functions(message) for message in messages]).messages


def _with_functions(message: Any) -> Any:
    """The message, whose calls are all calls of functions."""
    calls = message.get("tool_calls") if is_object(message) else None
    if not is_list(calls) or not any(is_object(object_in(call).get("custom")) for call in calls):
        return message
    return {**message, "tool_calls": [_as_function_call(object_in(call)) for call in calls]}


def _as_function_call(call: Json) -> Json:
    custom = call.get("custom")
    if not is_object(custom):
        return call
    arguments = as_json({FREE_TEXT_PARAMETER: custom.get("input")})
    return {"id": call.get("id"), "type": "function", "function": {"name": custom.get("name"), "arguments": arguments}}
