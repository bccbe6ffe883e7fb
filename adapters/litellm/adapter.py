"""`LiteLLMAdapter`: sends requests to providers through LiteLLM.

Each `complete` or `stream` sends one request. The adapter does not retry and does not interpret the reply. It raises
`LLMCoreError`s without secrets. litellm is imported with the first request. Deadlines for the whole call are the caller's
(`asyncio.timeout`). If a stream is cancelled or closed, its connection closes at once.
"""

from __future__ import annotations

import asyncio
import json
import re
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
from llmcore.adapters.litellm.completeness import body_of, ending_of
from llmcore.adapters.litellm.engine import check_package, close_clients, import_in_thread, is_ready, litellm, make_ready
from llmcore.adapters.litellm.errors.exceptions import Answered, answered_with, failed_generation, is_clean, recordable
from llmcore.adapters.litellm.errors.table import classify
from llmcore.adapters.litellm.patches.client_cache import in_use
from llmcore.adapters.litellm.patches.disable_callbacks import callbacks_disabled
from llmcore.adapters.litellm.streams import (
    MOST_BUFFERED,
    STREAM_WIRE,
    StreamProgress,
    StreamTimeouts,
    dumped_chunk,
    events_of,
    has_content,
)
from llmcore.adapters.litellm.usage import read_usage, usage_of_reply
from llmcore.adapters.providers import provider_of
from llmcore.adapters.request.conversation.twin_calls import unmarked
from llmcore.adapters.request.openings import forced_tool, reasoning_is_open
from llmcore.adapters.request.outgoing import Outgoing
from llmcore.adapters.request.parameters import Prepared, prepare
from llmcore.adapters.request.parts import compatible_parts
from llmcore.adapters.request.replies import ReplyMapper, holds_litellm_tool
from llmcore.adapters.secrets.known_secrets import hide_in_error, process_scrubber
from llmcore.adapters.secrets.log_scrubbing import hide_in_logs
from llmcore.adapters.secrets.request_secrets import secrets_in
from llmcore.adapters.wire.body_facts import BodyFacts
from llmcore.adapters.wire.terminators import is_whole_reply, says_incomplete
from llmcore.adapters.wire.traffic_watch import TrafficWatch, WireExchange
from llmcore.support.values.narrowing import is_list, object_in
from llmcore.types import DEFAULT_LIMITS, Limits, LLMCoreError, Reply, Usage

__all__ = ["LiteLLMAdapter", "Observer"]

Observer = Callable[[ModelCall, str, Any], None]
"""Receives traffic for recording.

It is called with `(call, "request", arguments)`, again if LiteLLM refused the arguments before anything was sent. Then
follows `"response"` with the body, or `"chunk"` for each chunk and `"end"`, or `"error"` with the error in the form of
`exceptions.recordable`. Values may still hold secrets.
"""

_LITELLM_REFUSES = "UnsupportedParamsError"
"""What LiteLLM raises instead of sending, for models whose servers refuse a parameter (a temperature with reasoning).

The models and values change with each version of LiteLLM, so llmcore has no table of them: the error names the parameter.
This costs no attempt, since nothing was sent.
"""
_MODE_PARAMETERS = ("tools", "functions", "response_format")
"""These decide the output mode and are never omitted: `fallback` chooses the next mode."""
_OPTIONAL_PARAMETERS = (
    *("temperature", "top_p", "stop", "parallel_tool_calls", "thinking", "reasoning_effort"),
    *("web_search_options", "tool_choice", "stream_options"),
)
"""In the order in which they are omitted. If LiteLLM names several, its refusal of one may depend on another."""


def _both(first: Observer, second: Observer, call: ModelCall, what: str, value: Any) -> None:
    first(call, what, value)
    second(call, what, value)


class LiteLLMAdapter:
    """The adapter for every provider of the table and any other that LiteLLM supports.

    `store` knows what endpoints can do, including learned facts (pass the orchestrator's own, so that both know the same).
    Without a store, only the tables are used. `observer` receives the traffic for recording. `limits` bounds what a server
    may send. One instance serves any number of endpoints, tasks and threads.
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
        """Return a copy of this adapter whose traffic another observer receives as well."""
        made = copy(self)
        before = self._observer
        made._observer = observer if before is None else partial(_both, before, observer)
        return made

    async def warm_up(self, call: ModelCall) -> None:
        """Import LiteLLM and send this provider's warm-up requests, in a thread. Return at once if that was done before.

        Raises the same errors as `complete` if the call is impossible, and `ConfigError` if LiteLLM cannot be imported.
        """
        provider = provider_of(call.endpoint).name
        if not is_ready(provider):
            check_requests_allowed(call.endpoint.model)
            self._prepared(call)
            await import_in_thread(partial(make_ready, LiteLLMAdapter(), provider))

    async def complete(self, call: ModelCall) -> Reply:
        prepared = self._prepare(call)
        module = await litellm()
        watch = self._watch(call, prepared, streamed=False)
        started = time.perf_counter()
        answer, failure = None, None
        try:
            with in_use(watch), watch.active(), callbacks_disabled(module):
                answer = await self._ask(module, call, prepared, watch)
        except Exception as error:
            failure = error
        duration = time.perf_counter() - started
        try:
            reading, raw = _body_to_read(call, prepared, watch.exchange, answer, failure)
        except Exception as error:
            return await self._failed(error, call, prepared, watch, duration)
        return self._reply(call, prepared, reading, raw, duration)

    async def stream(self, call: ModelCall) -> AsyncIterator[dict[str, Any] | str]:
        prepared = self._prepare(call)
        watch = self._watch(call, prepared, streamed=True)
        mapper, progress = ReplyMapper(prepared), StreamProgress(call, prepared, watch)
        try:
            with in_use(watch):
                async with aclosing(self._events(call, prepared, watch)) as events:
                    async for event in events:
                        mapped = mapper.map(event)
                        self._observe(call, "chunk", mapped)
                        progress.add(mapped)
                        yield mapped
        except Exception as error:
            body = failed_generation(error, _answer_of(watch.exchange))
            if body is None:
                await self._raise(error, call, prepared, watch)
            self._observe(call, "error", {"error": body})
            yield {"error": body}
        if (
            watch.exchange is not None and watch.exchange.end.done and not watch.exchange.end.finished
        ):  # no chunk contains the end
            self._observe(call, "chunk", {"choices": [], "llmcore": {"ended": True}})
        self._observe(call, "end", None)
        yield {"llmcore": progress.summary()}

    async def _events(self, call: ModelCall, prepared: Prepared, watch: TrafficWatch) -> AsyncGenerator[dict[str, Any], None]:
        """The events of a stream: the provider's own if llmcore reads them, else LiteLLM's. Raises if the stream was cut.

        Events before the first one with content are buffered, since a JSON body may arrive instead of a stream.
        """
        module = await litellm()
        answer, failure, has_output = None, None, False
        buffered: list[dict[str, Any]] = []
        timeouts = StreamTimeouts(call)
        try:
            with watch.active(), callbacks_disabled(module):
                answer = await timeouts.wait_for(self._ask(module, call, prepared, watch))
            async with aclosing(events_of(prepared, watch, answer)) as source:
                while True:
                    with watch.active(), callbacks_disabled(module):
                        event = await timeouts.wait_for(anext(source, None))
                    if event is None:
                        break
                    buffered.append(event)
                    if has_output or len(buffered) > MOST_BUFFERED or has_content(event):
                        has_output = timeouts.has_output = True
                        for event in buffered:
                            yield event
                        buffered.clear()
        except Exception as error:
            failure = error
        finally:
            if answer is not None:
                with suppress(Exception):  # the stream may be broken
                    await answer.aclose()
            if watch.exchange is not None:
                await watch.exchange.aclose()
        json_body = ending_of(call, watch.exchange, failure, has_output=has_output, known=watch.known)
        for event in buffered if json_body is None else [json_body]:
            yield event

    def _watch(self, call: ModelCall, prepared: Prepared, *, streamed: bool) -> TrafficWatch:
        known = prepared.provider.wire is not None
        return TrafficWatch(self._limits, streamed=streamed, known=known, outgoing=Outgoing(call, prepared))

    async def _ask(self, module: Any, call: ModelCall, prepared: Prepared, watch: TrafficWatch) -> Any:
        """LiteLLM's answer. If LiteLLM itself refuses a parameter before sending, the request is prepared again without it."""
        for _ in _OPTIONAL_PARAMETERS:
            try:
                return await _send(module, prepared, watch)
            except Exception as error:
                name = None if watch.exchange is not None else _unsupported_parameter(error, prepared, streamed=watch.streamed)
                if name is None:
                    raise
            prepared.replace_with(_without_parameter(call, prepared, name))
            self._observe_request(call, prepared)
        return await _send(module, prepared, watch)

    async def close(self) -> None:
        """Close the HTTP clients of the running event loop. If `asyncio.run` or the like ends the loop, that closes them too."""
        await close_clients()

    def request_key(self, call: ModelCall) -> str:
        """Return a digest of what the request would send, and where, with the current knowledge of the endpoint.

        Two calls that would send the same request have the same key.
        """
        prepared = self._prepared(call)
        sent = {**prepared.sent, **(prepared.streamed if call.streamed else {})}
        return sha256(json.dumps(sent, sort_keys=True, default=str).encode("utf-8", "surrogatepass")).hexdigest()

    def _prepared(self, call: ModelCall) -> Prepared:
        store, can = self._store, call.capabilities
        if can is None:
            can = compatible_parts(call, store.can(call.endpoint) if store is not None else known_capabilities(call.endpoint))
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
        """Pass the request to the observer; again if it was prepared again before sending."""
        if self._observer is not None:
            self._observer(call, "request", unmarked(prepared.sent))

    def _observe(self, call: ModelCall, what: str, value: Any) -> None:
        if self._observer is not None:
            self._observer(call, what, value)

    def _reply(self, call: ModelCall, prepared: Prepared, reading: Any, litellm_body: dict[str, Any], duration: float) -> Reply:
        """The reply. `reading` is what the normalizer reads, a body or a stream's events; `litellm_body` is LiteLLM's body,
        if any."""
        own = object_in(reading[-1] if is_list(reading) else reading)
        body = litellm_body or own
        facts = BodyFacts.of(reading)
        mapped = ReplyMapper(prepared).map(reading)
        self._observe(call, "response", mapped)
        return Reply(
            raw=tuple(mapped) if is_list(mapped) else mapped,
            wire=STREAM_WIRE if reading is litellm_body else _wire_of(own, prepared),
            provider=call.endpoint.provider,
            model=facts.model or call.endpoint.model,
            id=facts.id,
            usage=read_usage(usage_of_reply(body, own), call.endpoint, estimated=not facts.counted),
            time_to_first_token=duration,
            duration=duration,
            reasoning_open=reasoning_is_open(call),
            forced_tool=forced_tool(call, prepared.tools),
            dropped=tuple(prepared.left_out),
        )

    async def _failed(self, error: Exception, call: ModelCall, prepared: Prepared, watch: TrafficWatch, duration: float) -> Reply:
        """A reply with the model's own words, if the provider could not read its call. Otherwise raise the error as
        llmcore's."""
        body = failed_generation(error, _answer_of(watch.exchange))
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

    async def _raise(self, error: Exception, call: ModelCall, prepared: Prepared, watch: TrafficWatch) -> NoReturn:
        """Raise the error as llmcore's, with what was sent. The original is chained only if its text has no secret.

        A thread classifies the error, since its words and traceback take about ten milliseconds.
        """
        secrets, answered = tuple(secrets_in(prepared.sent)), _answer_of(watch.exchange)
        ours, recorded, cause = await asyncio.to_thread(_classified, error, call, secrets, answered)
        ours.with_request(prepared.left_out, watch.digest)
        self._observe(call, "error", recorded)
        try:
            raise ours from cause
        except type(ours):
            ours.__context__ = None  # Python stores the original there, which may hold secrets
            raise


async def _send(module: Any, prepared: Prepared, watch: TrafficWatch) -> Any:
    watch.carriers.clear()
    try:
        answer = await module.acompletion(**prepared.arguments, **(prepared.streamed if watch.streamed else {}))
        if watch.streamed and (fetch := getattr(answer, "fetch_stream", None)) is not None:
            await fetch()  # otherwise LiteLLM sends Gemini's request with the first chunk
        return answer
    except Exception:
        if watch.fault is not None:
            raise watch.fault from None
        raise


def _unsupported_parameter(error: Exception, prepared: Prepared, *, streamed: bool) -> str | None:
    """The parameter to omit after LiteLLM's own refusal. None if `error` is no such refusal, or names no optional parameter
    that was sent."""
    if _LITELLM_REFUSES not in {kind.__name__ for kind in type(error).__mro__}:
        return None
    text = str(error)
    sent = {**prepared.arguments, **(prepared.streamed if streamed else {})}

    def is_named(name: str) -> bool:
        return name in sent and re.search(rf"\b{name}\b", text) is not None

    if any(map(is_named, _MODE_PARAMETERS)):
        return None
    return next(filter(is_named, _OPTIONAL_PARAMETERS), None)


def _without_parameter(call: ModelCall, prepared: Prepared, name: str) -> Prepared:
    """The call prepared again, as if its endpoint were known to refuse the parameter `name`."""
    names = {"thinking", name} if name == "reasoning_effort" else {name}
    refused = prepared.known.unsupported_parameters | names
    return prepare(call, prepared.known.model_copy(update={"unsupported_parameters": refused}))


def _classified(
    error: Exception, call: ModelCall, secrets: tuple[str, ...], answered: Answered | None
) -> tuple[LLMCoreError, dict[str, Any], BaseException | None]:
    """The error as llmcore's, as it is recorded, and what may be chained to it."""
    scrubber = process_scrubber(secrets)
    ours = classify(error, call, scrubber, answered)
    original = error.__cause__ if ours is error else error
    cause = original if original is not None and is_clean(original, scrubber) else None
    ours.__cause__ = cause
    hide_in_error(ours)
    return ours, recordable(error, scrubber, answered), ours.__cause__


def _answer_of(exchange: WireExchange | None) -> Answered | None:
    """What was seen of the answer below LiteLLM."""
    if exchange is None:
        return answered_with(None)
    return answered_with(exchange.status, exchange.body if exchange.is_exhausted or exchange.body else None)


def _body_to_read(
    call: ModelCall, prepared: Prepared, exchange: WireExchange | None, answer: Any, failure: Exception | None
) -> tuple[Any, dict[str, Any]]:
    """What the normalizer reads, and LiteLLM's body, which has usage and identity; the latter is empty without an answer.

    The provider's own body is preferred, since LiteLLM's version of it loses content, and LiteLLM refuses bodies with a
    missing field. Raises what went wrong.
    """
    body = dumped_chunk(answer) if answer is not None else {}
    if exchange is None or not exchange.is_read or not exchange.ok:
        if failure is not None:
            raise failure
        return body, body
    is_unknown_wire = prepared.provider.wire is None and not is_whole_reply(exchange.document)
    is_read = failure is None and not says_incomplete(exchange.document)
    if is_read and (is_unknown_wire or holds_litellm_tool(exchange.body)):
        return body, body
    own = body_of(call, exchange, failure)
    return own, body


def _wire_of(body: Any, prepared: Prepared) -> str | None:
    """The wire format of the provider's own body. None if LiteLLM may have used OpenAI's Responses endpoint; the normalizer
    then decides."""
    wire = prepared.provider.wire
    return None if wire == STREAM_WIRE and "choices" not in object_in(body) else wire
