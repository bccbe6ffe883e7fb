"""`LiteLLMAdapter`: the one adapter that talks to providers, through LiteLLM.

One request per `complete` or `stream`: no retry, no loop, no reading of the reply. Errors leave as `LLMCoreError`s
without secrets. litellm is imported with the first request. Deadlines over the whole call are the caller's
(`asyncio.timeout`); cancelling or closing a stream closes its connection at once.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, suppress
from copy import copy
from functools import partial
from hashlib import sha256
from typing import Any, NoReturn

from llmcore.adapters.base import Capabilities, Endpoint, ModelCall
from llmcore.adapters.capabilities import CapabilityStore, known_capabilities
from llmcore.adapters.guard import check_requests_allowed
from llmcore.adapters.litellm.endings import body_of, ending_of
from llmcore.adapters.litellm.engine import check_package, close_clients, in_thread, is_ready, litellm, make_ready
from llmcore.adapters.litellm.errors.exceptions import Answered, answered_with, failed_generation, is_clean, recordable
from llmcore.adapters.litellm.errors.table import classify
from llmcore.adapters.litellm.evicted import in_use
from llmcore.adapters.litellm.stream_waits import StreamWaits
from llmcore.adapters.litellm.taken import ask
from llmcore.adapters.litellm.unheard import unheard
from llmcore.adapters.litellm.usage import read_usage, tokens_of, usage_in, whole_prompt
from llmcore.adapters.providers import provider_of
from llmcore.adapters.request.openings import forced_tool, reasoning_is_open
from llmcore.adapters.request.outgoing import Outgoing
from llmcore.adapters.request.parameters import Prepared, prepare
from llmcore.adapters.request.parts import settled
from llmcore.adapters.request.replies import ReplyMapper, holds_litellm_tool
from llmcore.adapters.request.twin_calls import unmarked
from llmcore.adapters.secrets.known_secrets import hide_in_error, process_scrubber
from llmcore.adapters.secrets.log_scrubbing import hide_in_logs
from llmcore.adapters.secrets.request_secrets import secrets_in
from llmcore.adapters.wire.terminators import is_whole_reply, says_it_is_not_over
from llmcore.adapters.wire.told import Told
from llmcore.adapters.wire.watching import Exchange, Watch
from llmcore.types import DEFAULT_LIMITS, Limits, LLMCoreError, Reply, Usage
from llmcore.types.narrowing import is_list, object_in, objects_in

__all__ = ["LiteLLMAdapter", "Observer"]

Observer = Callable[[ModelCall, str, Any], None]
"""Is told what goes out and comes in, for recording: `(call, "request", arguments)` (twice where LiteLLM did not
take them, before anything was sent), then `"response"` with the body,
or `"chunk"` for each chunk and `"end"`, or `"error"` with the error as `exceptions.recordable` gives it. Values are not
yet free of secrets."""

_STREAM_WIRE = "openai-chat"  # LiteLLM makes OpenAI's chunks of a stream that it reads
_READ_HERE: dict[str | None, tuple[str, ...]] = {
    _STREAM_WIRE: ("/chat/completions", "/responses"),
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
_MOST_HELD = 1000
"""Events that say nothing which are held back at the start of a stream."""


def _both(first: Observer, second: Observer, call: ModelCall, what: str, value: Any) -> None:
    first(call, what, value)
    second(call, what, value)


class LiteLLMAdapter:
    """Layer 1 over LiteLLM, for every provider of the table and any other that LiteLLM routes.

    `store` tells what an endpoint can do, learnt facts included (give the orchestrator's own, so that both see the
    same); without one the tables alone are asked. `observer` sees the traffic for recording. `limits`: how much a server may
    send. One instance serves any number of endpoints, tasks and threads.
    """

    provider_id = "litellm"
    heeds_cancellation = True

    def __init__(
        self, store: CapabilityStore | None = None, observer: Observer | None = None, *, limits: Limits = DEFAULT_LIMITS
    ) -> None:
        self._store = store
        self._observer = observer
        self._limits = limits

    def capabilities(self, endpoint: Endpoint) -> Capabilities:
        return known_capabilities(endpoint)

    def observed(self, observer: Observer) -> LiteLLMAdapter:
        """This adapter, its traffic told to another observer as well."""
        made = copy(self)
        before = self._observer
        made._observer = observer if before is None else partial(_both, before, observer)
        return made

    async def warm_up(self, call: ModelCall) -> None:
        """Import LiteLLM and rehearse this provider's first request, in a thread; at once where that was done before.

        Raises as `complete` does where the call cannot be made at all, and `ConfigError` when LiteLLM cannot be imported.
        """
        provider = provider_of(call.endpoint).name
        if not is_ready(provider):
            check_requests_allowed(call.endpoint.model)
            self._prepared(call)
            await in_thread(partial(make_ready, LiteLLMAdapter(), provider))

    async def complete(self, call: ModelCall) -> Reply:
        prepared = self._prepare(call)
        module = await litellm()
        watch = self._watch(call, prepared, streamed=False)
        started = time.perf_counter()
        answer, failure = None, None
        try:
            with in_use(watch), watch.watching(), unheard(module):
                answer = await self._asked(module, call, prepared, watch)
        except Exception as error:
            failure = error
        duration = time.perf_counter() - started
        try:
            reading, raw = _reading(call, prepared, watch.exchange, answer, failure)
        except Exception as error:
            return await self._failed(error, call, prepared, watch, duration)
        return self._reply(call, prepared, reading, raw, duration)

    async def stream(self, call: ModelCall) -> AsyncIterator[dict[str, Any] | str]:
        prepared = self._prepare(call)
        watch = self._watch(call, prepared, streamed=True)
        mapper, progress = ReplyMapper(prepared), _Progress(call, prepared, watch)
        try:
            with in_use(watch):
                async with aclosing(self._events(call, prepared, watch)) as events:
                    async for event in events:
                        mapped = mapper.map(event)
                        self._observe(call, "chunk", mapped)
                        progress.saw(mapped)
                        yield mapped
        except Exception as error:
            body = failed_generation(error, _answered(watch.exchange))
            if body is None:
                await self._raise(error, call, prepared, watch)
            self._observe(call, "error", {"error": body})
            yield {"error": body}
        if watch.exchange is not None and watch.exchange.end.done and not watch.exchange.end.finished:  # no chunk tells the end
            self._observe(call, "chunk", {"choices": [], "llmcore": {"ended": True}})
        self._observe(call, "end", None)
        yield {"llmcore": progress.summary()}

    async def _events(self, call: ModelCall, prepared: Prepared, watch: Watch) -> AsyncGenerator[dict[str, Any], None]:
        """The events of a stream: the provider's own where we read it (`_READ_HERE`), else LiteLLM's. Raises when it was cut.

        Those before the first that says something are held back: it may be that a JSON body came in place of a stream.
        """
        module = await litellm()
        answer, failure, said = None, None, False
        held: list[dict[str, Any]] = []
        waits = StreamWaits(call)
        try:
            with watch.watching(), unheard(module):
                answer = await waits.on(self._asked(module, call, prepared, watch))
            async with aclosing(_source(prepared, watch, answer)) as source:
                while True:
                    with watch.watching(), unheard(module):
                        event = await waits.on(anext(source, None))
                    if event is None:
                        break
                    held.append(event)
                    if said or len(held) > _MOST_HELD or _says_something(event):
                        said = waits.said = True
                        for event in held:
                            yield event
                        held.clear()
        except Exception as error:
            failure = error
        finally:
            if answer is not None:
                with suppress(Exception):  # closing a stream that broke
                    await answer.aclose()
            if watch.exchange is not None:
                await watch.exchange.aclose()
        in_place = ending_of(call, watch.exchange, failure, said=said, known=watch.known)
        for event in held if in_place is None else [in_place]:
            yield event

    def _watch(self, call: ModelCall, prepared: Prepared, *, streamed: bool) -> Watch:
        known = prepared.provider.wire is not None
        return Watch(self._limits, streamed=streamed, known=known, outgoing=Outgoing(call, prepared))

    async def _asked(self, module: Any, call: ModelCall, prepared: Prepared, watch: Watch) -> Any:
        """LiteLLM's answer; what it does not take itself is left out (`taken`)."""

        async def send() -> Any:
            watch.carriers.clear()
            try:
                answer = await module.acompletion(**prepared.arguments, **(prepared.streamed if watch.streamed else {}))
                if watch.streamed and (fetch := getattr(answer, "fetch_stream", None)) is not None:
                    await fetch()  # LiteLLM asks Gemini only when the first chunk is
                return answer
            except Exception:
                if watch.fault is not None:
                    raise watch.fault from None
                raise

        return await ask(
            call,
            prepared,
            send,
            streamed=watch.streamed,
            was_sent=lambda: watch.exchange is not None,
            changed=lambda: self._observe_request(call, prepared),
        )

    async def close(self) -> None:
        """Close the HTTP clients of the running event loop, which its end does, too, where `asyncio.run` or the like ends it."""
        await close_clients()

    def request_key(self, call: ModelCall) -> str:
        """What the request would send, and where, as a digest: the same for two calls that would make the same request. With
        what is known of the endpoint at this time."""
        prepared = self._prepared(call)
        sent = {**prepared.sent, **(prepared.streamed if call.streamed else {})}
        return sha256(json.dumps(sent, sort_keys=True, default=str).encode("utf-8", "surrogatepass")).hexdigest()

    def _prepared(self, call: ModelCall) -> Prepared:
        store, can = self._store, call.capabilities
        if can is None:
            can = settled(call, store.can(call.endpoint) if store is not None else known_capabilities(call.endpoint))
        return prepare(call, can)

    def _prepare(self, call: ModelCall) -> Prepared:
        check_requests_allowed(call.endpoint.model)
        prepared = self._prepared(call)
        if needed := prepared.provider.needs_package:
            check_package(needed, prepared.provider.name)
        hide_in_logs(secrets_in(prepared.sent))
        self._observe_request(call, prepared)
        return prepared

    def _observe_request(self, call: ModelCall, prepared: Prepared) -> None:
        """Once a request; again when it was made anew before anything was sent."""
        if self._observer is not None:
            self._observer(call, "request", unmarked(prepared.sent))

    def _observe(self, call: ModelCall, what: str, value: Any) -> None:
        if self._observer is not None:
            self._observer(call, what, value)

    def _reply(self, call: ModelCall, prepared: Prepared, reading: Any, litellms: dict[str, Any], duration: float) -> Reply:
        """`reading` is what the normaliser is to read, a body or a stream's events; `litellms` is LiteLLM's body, if any."""
        own = object_in(reading[-1] if is_list(reading) else reading)
        body = litellms or own
        told = Told.by(reading)
        mapped = ReplyMapper(prepared).map(reading)
        self._observe(call, "response", mapped)
        return Reply(
            raw=tuple(mapped) if is_list(mapped) else mapped,
            wire=_STREAM_WIRE if reading is litellms else _wire_of(own, prepared),
            provider=call.endpoint.provider,
            model=told.model or call.endpoint.model,
            id=told.id,
            usage=read_usage(usage_in(body, own), call.endpoint, estimated=not told.counted),
            time_to_first_token=duration,
            duration=duration,
            reasoning_open=reasoning_is_open(call),
            forced_tool=forced_tool(call, prepared.tools),
            dropped=tuple(prepared.left_out),
        )

    async def _failed(self, error: Exception, call: ModelCall, prepared: Prepared, watch: Watch, duration: float) -> Reply:
        """The model's own words, if the provider could not read its call; otherwise the error is raised as ours."""
        body = failed_generation(error, _answered(watch.exchange))
        if body is None:
            await self._raise(error, call, prepared, watch)
        self._observe(call, "error", {"error": body})
        return Reply(
            raw={"error": body},
            provider=call.endpoint.provider,
            model=call.endpoint.model,
            usage=Usage(estimated=True),
            duration=duration,
            reasoning_open=reasoning_is_open(call),
            forced_tool=forced_tool(call, prepared.tools),
            dropped=tuple(prepared.left_out),
        )

    async def _raise(self, error: Exception, call: ModelCall, prepared: Prepared, watch: Watch) -> NoReturn:
        """Raise the error as ours, with what was sent. The original is chained only when its own text holds no secret.

        It is judged in a thread: that takes some ten milliseconds for an error's words and its traceback.
        """
        secrets, answered = tuple(secrets_in(prepared.sent)), _answered(watch.exchange)
        ours, told, cause = await asyncio.to_thread(_judged, error, call, secrets, answered)
        ours.with_request(prepared.left_out, watch.sent_as)
        self._observe(call, "error", told)
        try:
            raise ours from cause
        except type(ours):
            ours.__context__ = None  # Python keeps the original there, secrets and all
            raise


def _judged(
    error: Exception, call: ModelCall, secrets: tuple[str, ...], answered: Answered | None
) -> tuple[LLMCoreError, dict[str, Any], BaseException | None]:
    """The error as ours, as it is recorded, and what may be chained to it."""
    scrubber = process_scrubber(secrets)
    ours = classify(error, call, scrubber, answered)
    original = error.__cause__ if ours is error else error
    cause = original if original is not None and is_clean(original, scrubber) else None
    ours.__cause__ = cause
    hide_in_error(ours)
    return ours, recordable(error, scrubber, answered), ours.__cause__


def _dumped(answer: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = answer.model_dump(exclude_none=True, warnings=False)
    return dumped


def _without_echo(event: dict[str, Any]) -> dict[str, Any]:
    """LiteLLM says thinking blocks twice in one delta; the copy, or the wire's own piece (Bedrock's), would stand between the
    pieces of one thought."""
    for choice in objects_in(event.get("choices")):
        delta = object_in(choice.get("delta"))
        fields = object_in(delta.get("provider_specific_fields"))
        if "thinking_blocks" in delta and fields:
            delta["provider_specific_fields"] = {name: value for name, value in fields.items() if name not in _ECHOES}
    return event


def _answered(exchange: Exchange | None) -> Answered | None:
    """What was seen of the answer beneath LiteLLM."""
    if exchange is None:
        return answered_with(None)
    return answered_with(exchange.status, exchange.body if exchange.over or exchange.body else None)


def _reading(
    call: ModelCall, prepared: Prepared, exchange: Exchange | None, answer: Any, failure: Exception | None
) -> tuple[Any, dict[str, Any]]:
    """What the normaliser is to read, and LiteLLM's body, which tells usage and identity; empty where it made none.

    The provider's own body is read where it is at hand, for LiteLLM's reading of it loses things, and refuses bodies for a
    field it misses. Raises what went wrong.
    """
    body = _dumped(answer) if answer is not None else {}
    if exchange is None or not exchange.taken or not exchange.ok:
        if failure is not None:
            raise failure
        return body, body
    of_other_wire = prepared.provider.wire is None and not is_whole_reply(exchange.document)
    is_read = failure is None and not says_it_is_not_over(exchange.document)
    if is_read and (of_other_wire or holds_litellm_tool(exchange.body)):
        return body, body
    own = body_of(call, exchange, failure)
    return own, body


def _source(prepared: Prepared, watch: Watch, answer: Any) -> AsyncGenerator[dict[str, Any], None]:
    """The provider's own events where we read them ourselves and nobody has read them yet: LiteLLM loses what is odd in them."""
    exchange = watch.exchange
    untouched = exchange is not None and exchange.ok and not exchange.taken
    if untouched and exchange is not None and not watch.forces_litellm_tool:
        path = exchange.url.partition("?")[0]
        if path.endswith(_READ_HERE.get(prepared.provider.wire, _NOWHERE)):
            return exchange.events()
    if exchange is not None and exchange.over and object_in(exchange.document).get("object") == "response":
        return _whole(exchange.document)  # LiteLLM makes a stream of it
    return _chunks(watch, answer)


async def _whole(body: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
    yield body


async def _chunks(watch: Watch, answer: Any) -> AsyncGenerator[dict[str, Any], None]:
    """LiteLLM's chunks, with the server's own finish word: LiteLLM takes one that it does not know for `stop`, also `error`, and
    makes one up at the end of a stream that was cut."""
    async for chunk in _to_its_end(watch, answer):
        event = _without_echo(_dumped(chunk))
        for choice in objects_in(event.get("choices")):
            if choice.get("finish_reason") and watch.exchange is not None:
                if not watch.exchange.came_to_its_end:
                    del choice["finish_reason"]
                elif (word := watch.exchange.end.word).lower() not in _AS_LITELLM_SAYS:
                    choice["finish_reason"] = word
        yield event


async def _to_its_end(watch: Watch, answer: Any) -> AsyncGenerator[Any, None]:
    """LiteLLM's chunks. From 1.110 on it fails at the end of a stream that told no finish reason, also where its wire's end mark
    came."""
    try:
        async for chunk in answer:
            yield chunk
    except Exception as error:
        ended = watch.exchange is not None and watch.exchange.came_to_its_end
        if not (ended and _NO_REASON in str(error)):
            raise


def _wire_of(body: Any, prepared: Prepared) -> str | None:
    """The wire of the provider's own body; None leaves it to the normaliser: LiteLLM may have asked OpenAI's other endpoint."""
    wire = prepared.provider.wire
    return None if wire == _STREAM_WIRE and "choices" not in object_in(body) else wire


class _Progress:
    """What only the whole stream tells."""

    def __init__(self, call: ModelCall, prepared: Prepared, watch: Watch) -> None:
        self._call = call
        self._watch = watch
        self._prepared = prepared
        self._started = time.perf_counter()
        self._first: float | None = None
        self._told = Told()  # by the events, which may be LiteLLM's
        self._usage: Any = None
        self._claudes: dict[str, Any] = {}  # what Claude tells of usage at a stream's start and end
        self._thought = 0  # characters of Claude's, who does not count what it thought
        self._wire = _STREAM_WIRE

    def saw(self, event: dict[str, Any]) -> None:
        if self._first is None and _says_something(event):
            self._first = time.perf_counter() - self._started
            self._wire = _STREAM_WIRE if "choices" in event else self._prepared.provider.wire or _STREAM_WIRE
        self._told.saw(event)
        if isinstance(thought := object_in(event.get("delta")).get("thinking"), str):
            self._thought += len(thought)
        elif event.get("type") in _CLAUDES_COUNTS:
            self._claudes |= object_in(object_in(event.get("message", event)).get("usage"))
            self._usage = whole_prompt(self._claudes)
        else:
            self._usage = usage_in(event) or self._usage

    def summary(self) -> dict[str, Any]:
        """`usage` as a `Usage` dict; times in seconds; the identity of the reply. A summary comes after a whole stream only."""
        seen = self._watch.exchange is not None and self._watch.exchange.end.events > 0
        told = self._watch.exchange.end.told if seen and self._watch.exchange is not None else self._told
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


def _says_something(event: dict[str, Any]) -> bool:
    if isinstance(event.get("delta"), str):  # of the responses
        return bool(event["delta"])
    if event.get("type") in _CLAUDES_WORDS or not _BEDROCKS_WORDS.isdisjoint(event):
        return True
    if any(object_in(candidate.get("content")).get("parts") for candidate in objects_in(event.get("candidates"))):
        return True
    choices = (object_in(choice.get("delta")) for choice in objects_in(event.get("choices")))
    deltas = (*choices, object_in(object_in(event.get("delta")).get("message")))  # Cohere's
    return any(delta.get(key) for delta in deltas for key in ("content", "tool_calls", "reasoning_content"))
