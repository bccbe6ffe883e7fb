"""The events of a streamed reply, its timeouts, and what only the whole stream tells.

The provider's own events are read where that is possible (`_READ_HERE`), for LiteLLM's reading of them loses things.
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

STREAM_WIRE = "openai-chat"  # LiteLLM makes OpenAI's chunks of a stream that it reads
_READ_HERE: dict[str | None, tuple[str, ...]] = {
    STREAM_WIRE: ("/chat/completions", "/responses"),
    "anthropic": ("/messages", ":streamRawPredict"),
    "gemini": (":streamGenerateContent",),
    "bedrock-converse": ("/converse-stream",),
    None: ("/v2/chat",),
}
"""Where streams are read without LiteLLM: by the provider's wire, the ends of the URLs.

LiteLLM loses which call a piece belongs to, and which call came to its end (Anthropic, Bedrock). It loses what was searched and
where it stands (Anthropic, OpenAI's other endpoint). It fails at calls in parts (Gemini) and at Cohere's events.
"""
_CLAUDES_COUNTS = frozenset({"message_start", "message_delta"})
_CLAUDES_WORDS = frozenset({"content_block_start", "content_block_delta"})
"""Events of Claude's own streams that tell usage, and those in which something is said."""
_BEDROCKS_WORDS = frozenset({"contentBlockStart", "contentBlockDelta"})
"""The same of Bedrock's."""
_NOWHERE: tuple[str, ...] = ()
_AS_LITELLM_SAYS = frozenset({"", "stop", "tool_use", "tool_call", "tool_calls", "function_call"})
"""Finish words left to LiteLLM, which may have made an answer of a call: the tool that it forces for a typed answer."""
_NO_REASON = "ended before a finish_reason"
_ECHOES = frozenset({"thinking_blocks", "reasoningContent"})
"""Fields that say what a delta's `thinking_blocks` say."""
MOST_BUFFERED = 1000
"""Events that say nothing which are held back at the start of a stream."""
_ALMOST = 0.95
"""The part of a wait after which a connection's timeout is the same one."""


class StreamTimeouts:
    """How long one stream may keep its reader waiting: for the first piece that says something, and between two.

    LiteLLM's own timeout does not cover every provider's reads. Signs of life (comments, empty deltas) would renew it.
    `has_output`: a piece came that says something.
    """

    def __init__(self, call: ModelCall) -> None:
        self._call = call
        self._started = asyncio.get_running_loop().time()
        self.has_output = False

    async def wait_for(self, awaitable: Awaitable[T]) -> T:
        """Await it. Raises `Timeout` when it takes too long, also where the connection's own clock was first to say so."""
        seconds = self._seconds()
        limit, before = asyncio.timeout(seconds), asyncio.get_running_loop().time()
        try:
            async with limit:
                return await awaitable
        except Exception as error:
            waited = asyncio.get_running_loop().time() - before
            if limit.expired() or (waited >= seconds * _ALMOST and isinstance(classify(error), Timeout)):
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
    """The provider's own events where we read them ourselves and nobody has read them yet: LiteLLM loses what is odd in them."""
    exchange = watch.exchange
    untouched = exchange is not None and exchange.ok and not exchange.is_read
    if untouched and exchange is not None and not watch.forces_litellm_tool:
        path = exchange.url.partition("?")[0]
        if path.endswith(_READ_HERE.get(prepared.provider.wire, _NOWHERE)):
            return exchange.events()
    if exchange is not None and exchange.is_exhausted and object_in(exchange.document).get("object") == "response":
        return _whole(exchange.document)  # LiteLLM makes a stream of it
    return _chunks(watch, answer)


async def _whole(body: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
    yield body


async def _chunks(watch: TrafficWatch, answer: Any) -> AsyncGenerator[dict[str, Any], None]:
    """LiteLLM's chunks, with the server's own finish word: LiteLLM takes one that it does not know for `stop`, also `error`, and
    makes one up at the end of a stream that was cut."""
    async for chunk in _to_its_end(watch, answer):
        event = _without_echo(dumped_chunk(chunk))
        for choice in objects_in(event.get("choices")):
            if choice.get("finish_reason") and watch.exchange is not None:
                if not watch.exchange.is_whole:
                    del choice["finish_reason"]
                elif (word := watch.exchange.end.word).lower() not in _AS_LITELLM_SAYS:
                    choice["finish_reason"] = word
        yield event


async def _to_its_end(watch: TrafficWatch, answer: Any) -> AsyncGenerator[Any, None]:
    """LiteLLM's chunks. From 1.110 on it fails at the end of a stream that told no finish reason, also where its wire's end mark
    came."""
    try:
        async for chunk in answer:
            yield chunk
    except Exception as error:
        ended = watch.exchange is not None and watch.exchange.is_whole
        if not (ended and _NO_REASON in str(error)):
            raise


def _without_echo(event: dict[str, Any]) -> dict[str, Any]:
    """LiteLLM says thinking blocks twice in one delta; the copy, or the wire's own piece (Bedrock's), would stand between the
    pieces of one thought."""
    for choice in objects_in(event.get("choices")):
        delta = object_in(choice.get("delta"))
        fields = object_in(delta.get("provider_specific_fields"))
        if "thinking_blocks" in delta and fields:
            delta["provider_specific_fields"] = {name: value for name, value in fields.items() if name not in _ECHOES}
    return event


def dumped_chunk(answer: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = answer.model_dump(exclude_none=True, warnings=False)
    return dumped


class StreamProgress:
    """What only the whole stream tells."""

    def __init__(self, call: ModelCall, prepared: Prepared, watch: TrafficWatch) -> None:
        self._call = call
        self._watch = watch
        self._prepared = prepared
        self._started = time.perf_counter()
        self._first: float | None = None
        self._told = BodyFacts()  # by the events, which may be LiteLLM's
        self._usage: Any = None
        self._claudes: dict[str, Any] = {}  # what Claude tells of usage at a stream's start and end
        self._thought = 0  # characters of Claude's, who does not count what it thought
        self._wire = STREAM_WIRE

    def saw(self, event: dict[str, Any]) -> None:
        if self._first is None and has_content(event):
            self._first = time.perf_counter() - self._started
            self._wire = STREAM_WIRE if "choices" in event else self._prepared.provider.wire or STREAM_WIRE
        self._told.add(event)
        if isinstance(thought := object_in(event.get("delta")).get("thinking"), str):
            self._thought += len(thought)
        elif event.get("type") in _CLAUDES_COUNTS:
            self._claudes |= object_in(object_in(event.get("message", event)).get("usage"))
            self._usage = whole_prompt(self._claudes)
        else:
            self._usage = usage_of_reply(event) or self._usage

    def summary(self) -> dict[str, Any]:
        """`usage` as a `Usage` dict; times in seconds; the identity of the reply. A summary comes after a whole stream only."""
        seen = self._watch.exchange is not None and self._watch.exchange.end.events > 0
        told = self._watch.exchange.end.facts if seen and self._watch.exchange is not None else self._told
        usage = read_usage(self._usage, self._call.endpoint, estimated=not told.counted)
        if self._thought:
            usage = usage.model_copy(update={"reasoning_tokens": min(tokens_of(self._thought), usage.output_tokens)})
        return {
            "usage": usage.model_dump(),
            "time_to_first_token": self._first,
            "duration": time.perf_counter() - self._started,
            "id": told.id,
            "model": told.model or self._call.endpoint.model,
            "provider": self._call.endpoint.provider,
            "wire": self._wire,
            "forced_tool": forced_tool(self._call, self._prepared.tools),
            "dropped": self._prepared.left_out,
            "ended": True,
        }


def has_content(event: dict[str, Any]) -> bool:
    if isinstance(event.get("delta"), str):  # of the responses
        return bool(event["delta"])
    if event.get("type") in _CLAUDES_WORDS or not _BEDROCKS_WORDS.isdisjoint(event):
        return True
    if any(object_in(candidate.get("content")).get("parts") for candidate in objects_in(event.get("candidates"))):
        return True
    choices = (object_in(choice.get("delta")) for choice in objects_in(event.get("choices")))
    deltas = (*choices, object_in(object_in(event.get("delta")).get("message")))  # Cohere's
    return any(delta.get(key) for delta in deltas for key in ("content", "tool_calls", "reasoning_content"))
