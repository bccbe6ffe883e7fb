"""One request and its reply, whole or streamed: adapter, then normaliser. Nothing is judged or repeated here."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cached_property, partial
from inspect import isawaitable, iscoroutine
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from llmcore.adapters.base import Adapter, ModelCall
from llmcore.adapters.request.call_scrubber import call_scrubber
from llmcore.adapters.request.outgoing import not_again
from llmcore.adapters.request.output import FINAL_RESULT
from llmcore.adapters.request.restoring import Restoring, restored_envelope, restored_withheld
from llmcore.adapters.request.special_tokens import Joiners, broken
from llmcore.adapters.secrets.scrubber import Scrubber
from llmcore.adapters.wire.terminators import ends_reply, is_whole_reply, may_be_one_event
from llmcore.hooks import HookChain, StreamedSoFar
from llmcore.normalizer import Normalizer, normalize
from llmcore.run.deadline import GRACE, within
from llmcore.run.endpoints.catalog import asked_of, broken_contract, lets_through, raised_by
from llmcore.run.output.early_output import EnvelopeWords
from llmcore.run.streaming.run_stream import is_within
from llmcore.support.code.cooperative_work import Pace
from llmcore.support.code.emitter import Tell
from llmcore.support.values.copies import copied, updated
from llmcore.support.values.json_data import encodable
from llmcore.support.values.narrowing import is_object, object_in
from llmcore.tools.execution import abandonment
from llmcore.types import (
    CapabilityRefused,
    Envelope,
    Event,
    InternalError,
    LLMCoreError,
    NormalizerEvent,
    ReasoningDelta,
    Reclassified,
    RemoteServerError,
    Reply,
    RequestRefused,
    TextDelta,
    Timeout,
    ToolCallFinished,
    ToolCallStarted,
    ToolSet,
    Usage,
)

__all__ = ["RefusedRequests", "Sending", "within"]

T = TypeVar("T")
_JSON_MODES = frozenset({"json_schema", "json_object"})
_MOST_CALLS = 4096
"""Calls of one streamed reply that are read. Far fewer run (`Limits.calls`)."""


class RefusedRequests:
    """What servers refused in one run. Two output modes may make the same request, and so may a mode without what was refused
    where that was not in it: none goes out again. Known before it is made is a request of an adapter with a `request_key`, and
    where it leaves one of an adapter that tells what left (`LLMCoreError.sent_as`), whatever was left out of it on the way."""

    def __init__(self) -> None:
        self._words: dict[str, str] = {}
        self._left: dict[str, str] = {}

    def note(self, adapter: Adapter, call: ModelCall, error: BaseException) -> None:
        """A request failed. Before anything is learnt from it: what is known of an endpoint changes what is sent."""
        unexplained = isinstance(error, LLMCoreError) and error.facts.kind == "unexplained"
        refused = isinstance(error, CapabilityRefused | RequestRefused) or unexplained
        if refused and (key := _request_key(adapter, call)):
            self._words[key] = str(error)
        if refused and isinstance(error, LLMCoreError) and error.sent_as:
            self._left.setdefault(error.sent_as, str(error))

    def annotated(self, call: ModelCall) -> ModelCall:
        """The call, with what must not leave again."""
        return updated(call, {"refused": self._left}) if self._left else call

    def check(self, adapter: Adapter, call: ModelCall) -> None:
        """Raises `RequestRefused` for the very request that was refused before."""
        if self._words and (words := self._words.get(_request_key(adapter, call) or "")):
            raise not_again(words)


def _request_key(adapter: Adapter, call: ModelCall) -> str | None:
    return asked_of(adapter, "request_key", call) if getattr(adapter, "request_key", None) is not None else None


class Sending:
    """One `ModelCall`. Carry it `out`; then `envelope` is the reply and `usage` what it cost (None: not told).

    `listening`: events of the reply are wanted; the call says whether it is asked for as a stream. After a failure
    `envelope` holds what had come, None when nothing had.
    """

    def __init__(
        self,
        adapter: Adapter,
        call: ModelCall,
        tools: ToolSet,
        hooks: HookChain,
        seconds_left: Callable[[], float | None],
        *,
        listening: bool,
        forced_tool: str | None,
        reasoning_open: bool,
    ) -> None:
        self._adapter = adapter
        self._may_be_deaf = not getattr(adapter, "heeds_cancellation", False)
        self._call = call
        request, self._joiners = broken(call.request) if call.neutralise_tokens else (call.request, None)
        self._sent = call if self._joiners is None else updated(call, {"request": request})
        self._restoring = None if self._joiners is None else Restoring(self._joiners)
        self.tools = tools
        """What the reply may call."""
        self._hooks = hooks
        self._seconds_left = seconds_left
        self._listening = listening
        self._forced_tool = forced_tool
        self._reasoning_open = reasoning_open
        self._ended = False  # the adapter said that the stream came to its end
        self._last: object = None
        self._enveloped = call.mode in _JSON_MODES and call.output_schema is None
        """Was the library's envelope asked for, and nothing typed that may look like it?"""
        self._taught = _taught(call)
        own = call.own_dialects
        self._own = own if own is None or self._taught is None else own | {self._taught}
        self._words = EnvelopeWords() if self._enveloped and len(tools) else None
        self.held: Callable[[int], str] = _no_withheld_text
        """`held(start)`: what came and was not told yet, from its character `start` on."""
        self.envelope: Envelope | None = None
        self.usage: Usage | None = None
        self.response_id = ""
        self.response_model = ""
        self.time_to_first_token: float | None = None
        self.dropped: list[str] = []
        """What of the request was not sent, as the adapter says."""

    async def ready(self) -> None:
        """Wait until the adapter can send. The wait belongs to no deadline. Raises as the adapter does."""
        if getattr(self._adapter, "warm_up", None) is not None:
            await self._asked(asked_of(self._adapter, "warm_up", self._call), None)

    async def out(self, tell: Tell[Event | None]) -> None:
        """Send it. None says that a chunk was taken: what of it was not told may be looked at by `held`.

        The adapter raises `LLMCoreError`s; what else comes out of it is an `InternalError`."""
        if self._call.streamed:
            await self._streamed(tell)
        else:
            for event in await self._whole():
                await tell(event)

    @property
    def call(self) -> ModelCall:
        return self._call

    @property
    def has_content(self) -> bool:
        """Did anything of a reply come?"""
        reply = self.envelope
        return self.usage is not None or (reply is not None and bool(reply.source or reply.reasoning or reply.tool_calls))

    def shown(self, text: str) -> str:
        """What a server says of its reply (an id, a model, a finish word) as it may stand in a result: without the secrets
        of the request, should they be echoed there, and fit to be encoded."""
        return self._scrubber.without_given(encodable(text)) if text else text

    @cached_property
    def _scrubber(self) -> Scrubber:
        return call_scrubber(self._call)

    async def _asked(self, awaitable: Awaitable[T], seconds: float | None) -> T:
        if self._may_be_deaf:
            awaitable = abandonment.await_foreign(awaitable, None, "the adapter")
        try:
            return await within(seconds, awaitable)
        except (LLMCoreError, StopAsyncIteration):
            raise
        except Exception as error:  # the adapter's contract is broken
            if lets_through(self._adapter):
                raise
            raise raised_by(self._adapter, error) from error

    def _wrong(self, what: str, given: object) -> InternalError:
        """The adapter's contract is broken: it gave this value."""
        return broken_contract(self._adapter, what, given, self._scrubber.without_given)

    async def _whole(self) -> list[Any]:
        left = self._seconds_left()
        if left is not None and left <= 0:  # a timer would let what never waits go through
            raise Timeout("the run's deadline has passed before the request was sent", status=None)
        given = asked_of(self._adapter, "complete", self._sent)
        if not isawaitable(given):
            raise self._wrong("complete() is no coroutine function: it gave", given)
        reply: Any = await self._asked(given, left)
        if not isinstance(reply, Reply):
            raise self._wrong("complete() must give a Reply, not", reply)
        self.usage = reply.usage
        self.response_id, self.response_model = reply.id, reply.model
        self.time_to_first_token = reply.time_to_first_token
        self.dropped = list(reply.dropped)
        forced = reply.forced_tool or self._forced_tool
        if not self._listening and _events_in(reply) is None:
            opened = reply.reasoning_open or self._reasoning_open
            read = normalize(
                reply,
                self.tools,
                reasoning_open=opened,
                forced_tool=forced,
                enveloped=self._enveloped,
                taught=self._taught,
                text_calls=self._call.text_calls,
                own=self._own,
            )
            self.envelope = self._restored(read)
            return []
        normalizer = self._normalizer(forced, reply.reasoning_open or self._reasoning_open)
        recorded = _events_in(reply)
        parts = [part for part in recorded or (reply,) if not self._is_adapter_notice(part)]
        events = [event for part in parts for event in normalizer.feed(part)]
        events += normalizer.finish()
        self.envelope = self._restored(normalizer.envelope)
        if recorded is not None:
            self._last = parts[-1] if parts else None
            self._refuse_cut(self.envelope)
        return events if self._restoring is None else [*self._restoring.events([*events]), *self._restoring.rest()]

    async def _streamed(self, tell: Tell[Event | None]) -> None:
        normalizer = self._normalizer(self._forced_tool, self._reasoning_open)
        so_far = StreamedSoFar() if self._hooks.has("on_streaming_response") else None
        stream = asked_of(self._adapter, "stream", self._sent)
        if not hasattr(stream, "__anext__"):
            if iscoroutine(stream):  # that nobody awaits
                stream.close()
            raise self._wrong("stream() must give an async iterator, not", stream)
        try:
            await self._read(stream, normalizer, so_far, tell)
        finally:
            await abandonment.close_awaitable(stream, GRACE)
            if self.envelope is None:  # broken off: what had come is kept
                normalizer.finish("cancelled")
                self.envelope = updated(self._restored(normalizer.envelope), {"truncated": True})
        if so_far is not None:
            so_far.done = True
            await self._hooks.on_streaming_response(so_far)

    async def _read(self, stream: Any, normalizer: Normalizer, so_far: StreamedSoFar | None, tell: Tell[Event | None]) -> None:
        started, pace = time.perf_counter(), Pace()
        while True:
            left = await self._rest(pace)
            try:
                chunk = await self._asked(anext(stream), left)
            except StopAsyncIteration:
                break
            if self._is_adapter_notice(chunk):
                continue
            if not (isinstance(chunk, str) or is_object(chunk) or hasattr(chunk, "model_dump")):
                raise self._wrong("stream() must yield text or stream events (dicts), not", chunk)
            self._last = chunk
            if self.time_to_first_token is None:
                self.time_to_first_token = time.perf_counter() - started
            for event in self._events_of_chunk(normalizer.feed(cast("object", chunk)), normalizer.held):
                if isinstance(event, ToolCallStarted):
                    self._refuse_endless(event)
                if so_far is not None:
                    await self._show(so_far, event)
                await tell(event)
            self.held = normalizer.held if self._joiners is None else partial(self._withheld_text, normalizer, self._joiners)
            await tell(None)
        last = self._events_of_chunk(normalizer.finish())
        envelope = self._restored(normalizer.envelope)
        self._refuse_cut(envelope)
        if self._restoring is not None:
            last += self._restoring.rest()
        for event in last:
            if so_far is not None:
                await self._show(so_far, event)
            await tell(event)
        self.envelope = envelope

    def _restored(self, envelope: Envelope) -> Envelope:
        return envelope if self._joiners is None else restored_envelope(self._joiners, envelope)

    def _withheld_text(self, normalizer: Normalizer, joiners: Joiners, start: int) -> str:
        return restored_withheld(joiners, normalizer.held(0), start)

    def _events_of_chunk(self, events: list[NormalizerEvent], held: Callable[[int], str] | None = None) -> list[Event]:
        """The events of a chunk, and of the library's envelope the words that are held back."""
        said = self._envelope_words(events, held)
        return said if self._restoring is None else self._restoring.events(said)

    def _envelope_words(self, events: list[NormalizerEvent], held: Callable[[int], str] | None) -> list[Event]:
        if self._words is None:
            return [*events]
        said = [left for event in events if (left := self._words.left_of(event)) is not None]
        words = self._words.coming(held) if held is not None else None
        return said if words is None else [*said, words]

    async def _rest(self, pace: Pace) -> float | None:
        """Between two events. What is there already is read without any wait, where no timeout would ever end it. Returns the
        seconds that are left."""
        await pace.rest()
        left = self._seconds_left()
        if left is not None and left <= 0:
            raise Timeout("the run's deadline has passed", status=None)
        return left

    def _normalizer(self, forced_tool: str | None, reasoning_open: bool) -> Normalizer:
        return Normalizer(
            self.tools,
            reasoning_open=reasoning_open,
            forced_tool=forced_tool,
            enveloped=self._enveloped,
            taught=self._taught,
            text_calls=self._call.text_calls,
            own=self._own,
        )

    def _is_adapter_notice(self, chunk: object) -> bool:
        """Is it what the adapter itself tells of the stream, and no part of the reply?"""
        if not is_object(chunk) or "llmcore" not in chunk:
            return False
        summary = object_in(chunk["llmcore"])
        if summary.get("usage"):
            with suppress(ValidationError):  # counts that are none: as if nothing was told
                self.usage = Usage.model_validate(summary["usage"])
        self.response_id = str(summary.get("id") or self.response_id)
        self.response_model = str(summary.get("model") or self.response_model)
        self.time_to_first_token = summary.get("time_to_first_token", self.time_to_first_token)
        self.dropped = [str(name) for name in summary.get("dropped") or self.dropped]
        self._ended = self._ended or summary.get("ended") is True
        return True

    def _refuse_cut(self, envelope: Envelope) -> None:
        """Raises `RemoteServerError` when a stream of events just stopped: nothing of such a turn may run or be the answer.

        Text has no end that could be missing; an adapter that yields text vouches for it.
        """
        said = self._ended or envelope.finish_reason or not is_object(self._last)
        if said or ends_reply(self._last) or (is_whole_reply(self._last) and not may_be_one_event(self._last)):
            return
        self.envelope = updated(envelope, {"truncated": True})
        endpoint = self._call.endpoint
        name = endpoint.alias or f"{endpoint.provider}/{endpoint.model}"
        raise RemoteServerError(f"{name}: the stream ended before its end: no finish reason came, and the adapter tells of none")

    def _refuse_endless(self, call: ToolCallStarted) -> None:
        """Raises `RemoteServerError` at one call too many: so many are no turn of a model's, and to read them takes seconds."""
        if call.index >= _MOST_CALLS:
            raise RemoteServerError(f"the reply was broken off: it makes more than {_MOST_CALLS:,} calls")

    async def _show(self, so_far: StreamedSoFar, event: Event) -> None:
        if isinstance(event, TextDelta):
            so_far.content += event.text
        elif isinstance(event, ReasoningDelta):
            so_far.reasoning += event.text
        elif isinstance(event, ToolCallFinished):
            if event.call.name == FINAL_RESULT and self._call.output_schema is not None:
                return  # it is the answer, and no call of a tool
            so_far.calls.append(copied(event.call))
        elif isinstance(event, Reclassified) and event.kind != "call" and so_far.calls:
            so_far.calls = [call for call in so_far.calls if not is_within(call, event)]
        else:
            return
        await self._hooks.on_streaming_response(so_far)


def _taught(call: ModelCall) -> str | None:
    """The dialect in which the prompt asks for calls; None where it asks for none."""
    if call.mode in _JSON_MODES:
        return "llmcore_envelope"
    dialect = getattr(call.writer, "dialect", None)
    return dialect if call.mode == "text" and isinstance(dialect, str) else None


def _no_withheld_text(start: int) -> str:
    return ""


def _events_in(reply: Reply) -> tuple[object, ...] | None:
    """A recorded stream comes as a tuple of its events; None for any other reply."""
    raw: object = reply.raw
    return cast("tuple[object, ...]", raw) if isinstance(raw, tuple) else None
