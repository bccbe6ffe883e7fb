"""The events of a streamed reply, its timeouts, and the facts that only the whole stream contains.

If possible (`_READ_DIRECTLY`), the provider's own events are read, since LiteLLM's version of them loses content.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable
from typing import Any, TypeVar

from llmcore.adapters.base import ModelCall
from llmcore.adapters.litellm.errors.table import classify
from llmcore.adapters.litellm.errors.words import place_words
from llmcore.adapters.litellm.usage import read_usage, tokens_of, usage_of_reply, whole_prompt
from llmcore.adapters.request.openings import forced_tool
from llmcore.adapters.request.parameters import Prepared
from llmcore.adapters.wire.body_facts import BodyFacts
from llmcore.adapters.wire.traffic_watch import TrafficWatch
from llmcore.support.values.narrowing import object_in, objects_in
from llmcore.types import Timeout

__all__ = ["MOST_BUFFERED", "STREAM_WIRE", "StreamProgress", "StreamTimeouts", "dumped_chunk", "events_of", "has_content"]

T = TypeVar("T")

STREAM_WIRE = "openai-chat"  # LiteLLM converts streams to OpenAI's chunks
_READ_DIRECTLY: dict[str | None, tuple[str, ...]] = {
    STREAM_WIRE: ("/chat/completions", "/responses"),
    "anthropic": ("/messages", ":streamRawPredict"),
    "gemini": (":streamGenerateContent",),
    "bedrock-converse": ("/converse-stream",),
    None: ("/v2/chat",),
}
"""The streams that are read without LiteLLM: by the provider's wire format, the ends of the URLs.

LiteLLM loses which call a fragment belongs to, and which call ended (Anthropic, Bedrock). It loses web searches and their
positions (Anthropic, OpenAI's Responses). It fails at partial calls (Gemini) and at Cohere's events.
"""
_CLAUDE_USAGE_EVENTS = frozenset({"message_start", "message_delta"})
_CLAUDE_CONTENT_EVENTS = frozenset({"content_block_start", "content_block_delta"})
"""Events of Claude's streams with content. `_CLAUDE_USAGE_EVENTS` are those with usage."""
_BEDROCK_CONTENT_EVENTS = frozenset({"contentBlockStart", "contentBlockDelta"})
"""Events of Bedrock's streams with content."""
_NO_PATHS: tuple[str, ...] = ()
_LITELLM_FINISH_WORDS = frozenset({"", "stop", "tool_use", "tool_call", "tool_calls", "function_call"})
"""Finish words that stay as LiteLLM reports them. It may have converted a call to an answer: that of the tool that it forces
for typed output."""
_NO_REASON = "ended before a finish_reason"
_DUPLICATE_FIELDS = frozenset({"thinking_blocks", "reasoningContent"})
"""Fields that repeat a delta's `thinking_blocks`."""
MOST_BUFFERED = 1000
"""The most events without content that are buffered at the start of a stream."""
_NEARLY = 0.95
"""If a connection's timeout comes after this part of the wait, it counts as the stream's own timeout."""


class StreamTimeouts:
    """How long a stream may wait for its first content, and between two events.

    LiteLLM's own timeout does not cover every provider's reads. Comments and empty deltas would renew it. `has_output`: some
    content arrived.
    """

    def __init__(self, call: ModelCall) -> None:
        self._call = call
        self._started = asyncio.get_running_loop().time()
        self.has_output = False

    async def wait_for(self, awaitable: Awaitable[T]) -> T:
        """Await it. Raises `Timeout` if it takes too long, even if the connection's own timeout was first."""
        seconds = self._seconds()
        limit, before = asyncio.timeout(seconds), asyncio.get_running_loop().time()
        try:
            async with limit:
                return await awaitable
        except Exception as error:
            waited = asyncio.get_running_loop().time() - before
            if limit.expired() or (waited >= seconds * _NEARLY and isinstance(classify(error), Timeout)):
                raise Timeout(self._words()) from None
            raise

    def _seconds(self) -> float:
        first = self._call.first_token_timeout
        if self.has_output or first is None:
            return self._call.timeout
        return max(0.0, self._started + first - asyncio.get_running_loop().time())

    def _words(self) -> str:
        call, name = self._call, place_words(self._call)
        if not self.has_output and call.first_token_timeout is not None:
            return f"{name}: no first token came within {call.first_token_timeout:g} s (first_token_timeout)"
        return f"{name}: nothing of the stream came for {call.timeout:g} s (timeout)"


def events_of(prepared: Prepared, watch: TrafficWatch, answer: Any) -> AsyncGenerator[dict[str, Any], None]:
    """Return the provider's own events if llmcore reads them and nobody has read them yet; else LiteLLM's."""
    exchange = watch.exchange
    untouched = exchange is not None and exchange.ok and not exchange.is_read
    if untouched and exchange is not None and not watch.forces_litellm_tool:
        path = exchange.url.partition("?")[0]
        if path.endswith(_READ_DIRECTLY.get(prepared.provider.wire, _NO_PATHS)):
            return exchange.events()
    if exchange is not None and exchange.is_exhausted and object_in(exchange.document).get("object") == "response":
        return _single_event(exchange.document)  # LiteLLM converts it to a stream
    return _chunks(watch, answer)


async def _single_event(body: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
    yield body


async def _chunks(watch: TrafficWatch, answer: Any) -> AsyncGenerator[dict[str, Any], None]:
    """LiteLLM's chunks, with the server's own finish word.

    LiteLLM replaces unknown finish words, such as `error`, by `stop`, and invents one at the end of a cut stream.
    """
    async for chunk in _until_end(watch, answer):
        event = _without_echo(dumped_chunk(chunk))
        for choice in objects_in(event.get("choices")):
            if choice.get("finish_reason") and watch.exchange is not None:
                if not watch.exchange.is_whole:
                    del choice["finish_reason"]
                elif (word := watch.exchange.end.word).lower() not in _LITELLM_FINISH_WORDS:
                    choice["finish_reason"] = word
        yield event


async def _until_end(watch: TrafficWatch, answer: Any) -> AsyncGenerator[Any, None]:
    """LiteLLM's chunks. From 1.110 on, LiteLLM raises at the end of a stream without a finish reason, even if the end mark
    arrived."""
    try:
        async for chunk in answer:
            yield chunk
    except Exception as error:
        ended = watch.exchange is not None and watch.exchange.is_whole
        if not (ended and _NO_REASON in str(error)):
            raise


def _without_echo(event: dict[str, Any]) -> dict[str, Any]:
    """The event without LiteLLM's second copy of thinking blocks, which would separate the pieces of one thought."""
    for choice in objects_in(event.get("choices")):
        delta = object_in(choice.get("delta"))
        fields = object_in(delta.get("provider_specific_fields"))
        if "thinking_blocks" in delta and fields:
            delta["provider_specific_fields"] = {name: value for name, value in fields.items() if name not in _DUPLICATE_FIELDS}
    return event


def dumped_chunk(answer: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = answer.model_dump(exclude_none=True, warnings=False)
    return dumped


class StreamProgress:
    """Collects the facts that only the whole stream contains."""

    def __init__(self, call: ModelCall, prepared: Prepared, watch: TrafficWatch) -> None:
        self._call = call
        self._watch = watch
        self._prepared = prepared
        self._started = time.perf_counter()
        self._first: float | None = None
        self._facts = BodyFacts()  # from the events, which may be LiteLLM's
        self._usage: Any = None
        self._claude_usage: dict[str, Any] = {}  # Claude's usage, from the stream's start and end
        self._thinking_length = 0  # characters; Claude does not count its thinking tokens
        self._wire = STREAM_WIRE

    def add(self, event: dict[str, Any]) -> None:
        """Record the next event."""
        if self._first is None and has_content(event):
            self._first = time.perf_counter() - self._started
            self._wire = STREAM_WIRE if "choices" in event else self._prepared.provider.wire or STREAM_WIRE
        self._facts.add(event)
        if isinstance(thought := object_in(event.get("delta")).get("thinking"), str):
            self._thinking_length += len(thought)
        elif event.get("type") in _CLAUDE_USAGE_EVENTS:
            self._claude_usage |= object_in(object_in(event.get("message", event)).get("usage"))
            self._usage = whole_prompt(self._claude_usage)
        else:
            self._usage = usage_of_reply(event) or self._usage

    def summary(self) -> dict[str, Any]:
        """Return `usage` (a `Usage` as a dict), times in seconds, and the reply's identity. Only whole streams have a
        summary."""
        seen = self._watch.exchange is not None and self._watch.exchange.end.events > 0
        facts = self._watch.exchange.end.facts if seen and self._watch.exchange is not None else self._facts
        usage = read_usage(self._usage, self._call.endpoint, estimated=not facts.counted)
        if self._thinking_length:
            usage = usage.model_copy(update={"reasoning_tokens": min(tokens_of(self._thinking_length), usage.output_tokens)})
        return {
            "usage": usage.model_dump(),
            "time_to_first_token": self._first,
            "duration": time.perf_counter() - self._started,
            "id": facts.id,
            "model": facts.model or self._call.endpoint.model,
            "provider": self._call.endpoint.provider,
            "wire": self._wire,
            "forced_tool": forced_tool(self._call, self._prepared.tools),
            "dropped": self._prepared.left_out,
            "ended": True,
        }


def has_content(event: dict[str, Any]) -> bool:
    if isinstance(event.get("delta"), str):  # of the responses
        return bool(event["delta"])
    if event.get("type") in _CLAUDE_CONTENT_EVENTS or not _BEDROCK_CONTENT_EVENTS.isdisjoint(event):
        return True
    if any(object_in(candidate.get("content")).get("parts") for candidate in objects_in(event.get("candidates"))):
        return True
    choices = (object_in(choice.get("delta")) for choice in objects_in(event.get("choices")))
    deltas = (*choices, object_in(object_in(event.get("delta")).get("message")))  # Cohere's
    return any(delta.get(key) for delta in deltas for key in ("content", "tool_calls", "reasoning_content"))
