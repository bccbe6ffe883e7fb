"""Sends one request and reads its reply, whole or streamed: adapter, then normaliser. It validates nothing and repeats
nothing."""

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
from llmcore.adapters.request.conversation.restored_tokens import EventRestorer, restored_envelope, restored_withheld
from llmcore.adapters.request.conversation.special_tokens import Joiners, broken
from llmcore.adapters.request.outgoing import repeated_refusal
from llmcore.adapters.request.output import FINAL_RESULT
from llmcore.adapters.secrets.scrubber import Scrubber
from llmcore.adapters.wire.terminators import ends_reply, is_whole_reply, may_be_stream_event
from llmcore.hooks import HookChain, StreamedSoFar
from llmcore.normalizer import Normalizer, normalize
from llmcore.run.deadline import GRACE, within
from llmcore.run.endpoints.catalog import adapter_raised, call_adapter, lets_exceptions_through, wrong_adapter_value
from llmcore.run.output.early_output import EnvelopeContent
from llmcore.run.streaming.run_stream import stands_within
from llmcore.support.code.cooperative_work import Pace
from llmcore.support.code.emitter import Emit
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
"""How many calls of one streamed reply are read. Far fewer run (`Limits.calls`)."""


class RefusedRequests:
    """The requests that servers refused in one run. None of them is sent again.

    Two output modes, or a mode without a refused part, may make the same request. An adapter with a `request_key` shows that
    before the request is made. An adapter that reports what it sent (`LLMCoreError.sent_as`) shows it before the request
    leaves.
    """

    def __init__(self) -> None:
        self._words: dict[str, str] = {}
        self._sent_keys: dict[str, str] = {}

    def note(self, adapter: Adapter, call: ModelCall, error: BaseException) -> None:
        """Record a failed request. Call this before anything is learned from it, because that changes what is sent."""
        unexplained = isinstance(error, LLMCoreError) and error.facts.kind == "unexplained"
        refused = isinstance(error, CapabilityRefused | RequestRefused) or unexplained
        if refused and (key := _request_key(adapter, call)):
            self._words[key] = str(error)
        if refused and isinstance(error, LLMCoreError) and error.sent_as:
            self._sent_keys.setdefault(error.sent_as, str(error))

    def annotated(self, call: ModelCall) -> ModelCall:
        """The call, with the requests that must not be sent again."""
        return updated(call, {"refused": self._sent_keys}) if self._sent_keys else call

    def check(self, adapter: Adapter, call: ModelCall) -> None:
        """Raises `RequestRefused` if the same request was refused before."""
        if self._words and (words := self._words.get(_request_key(adapter, call) or "")):
            raise repeated_refusal(words)


def _request_key(adapter: Adapter, call: ModelCall) -> str | None:
    return call_adapter(adapter, "request_key", call) if getattr(adapter, "request_key", None) is not None else None


class Sending:
    """Sends one `ModelCall`. After `send`, `envelope` is the reply and `usage` its usage (None: not reported).

    `listening`: the reply's events are wanted; the call says whether to stream. After a failure `envelope` holds the part that
    came, or None.
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
        self._may_ignore_cancellation = not getattr(adapter, "heeds_cancellation", False)
        self._call = call
        request, self._joiners = broken(call.request) if call.neutralise_tokens else (call.request, None)
        self._sent = call if self._joiners is None else updated(call, {"request": request})
        self._restoring = None if self._joiners is None else EventRestorer(self._joiners)
        self.tools = tools
        """The tools that the reply may call."""
        self._hooks = hooks
        self._seconds_left = seconds_left
        self._listening = listening
        self._forced_tool = forced_tool
        self._reasoning_open = reasoning_open
        self._ended = False  # the adapter reported the end of the stream
        self._last: object = None
        self._enveloped = call.mode in _JSON_MODES and call.output_schema is None
        """Whether llmcore's envelope was asked for, without a typed value that may look like it."""
        self._taught = _taught(call)
        dialects = call.own_dialects
        self._own_dialects = dialects if dialects is None or self._taught is None else dialects | {self._taught}
        self._words = EnvelopeContent() if self._enveloped and len(tools) else None
        self.withheld: Callable[[int], str] = _no_withheld_text
        """`withheld(start)`: the text that came and was not emitted yet, from its character `start` on."""
        self.envelope: Envelope | None = None
        self.usage: Usage | None = None
        self.response_id = ""
        self.response_model = ""
        self.time_to_first_token: float | None = None
        self.dropped: list[str] = []
        """The parts of the request that the adapter did not send."""

    async def ready(self) -> None:
        """Wait until the adapter can send. This wait counts in no deadline. Raises what the adapter raises."""
        if getattr(self._adapter, "warm_up", None) is not None:
            await self._await_adapter(call_adapter(self._adapter, "warm_up", self._call), None)

    async def send(self, emit: Emit[Event | None]) -> None:
        """Send the request and emit the reply's events. After each chunk, None is emitted: `withheld` then returns the text not
        emitted yet.

        Raises the adapter's `LLMCoreError`s, and `InternalError` for anything else that it raises.
        """
        if self._call.streamed:
            await self._streamed(emit)
        else:
            for event in await self._whole():
                await emit(event)

    @property
    def call(self) -> ModelCall:
        return self._call

    @property
    def has_content(self) -> bool:
        """Whether any part of a reply came."""
        reply = self.envelope
        return self.usage is not None or (reply is not None and bool(reply.source or reply.reasoning or reply.tool_calls))

    def shown(self, text: str) -> str:
        """A server's text about its reply (an id, a model, a finish word), as a result may hold it: encodable, and without the
        secrets of the request."""
        return self._scrubber.without_given(encodable(text)) if text else text

    @cached_property
    def _scrubber(self) -> Scrubber:
        return call_scrubber(self._call)

    async def _await_adapter(self, awaitable: Awaitable[T], seconds: float | None) -> T:
        if self._may_ignore_cancellation:
            awaitable = abandonment.await_foreign(awaitable, None, "the adapter")
        try:
            return await within(seconds, awaitable)
        except (LLMCoreError, StopAsyncIteration):
            raise
        except Exception as error:  # the adapter's contract is broken
            if lets_exceptions_through(self._adapter):
                raise
            raise adapter_raised(self._adapter, error) from error

    def _contract_error(self, what: str, given: object) -> InternalError:
        """The error of an adapter that returned a value of a wrong kind."""
        return wrong_adapter_value(self._adapter, what, given, self._scrubber.without_given)

    async def _whole(self) -> list[Any]:
        left = self._seconds_left()
        if left is not None and left <= 0:  # a timer never interrupts code that does not wait
            raise Timeout("the run's deadline has passed before the request was sent", status=None)
        given = call_adapter(self._adapter, "complete", self._sent)
        if not isawaitable(given):
            raise self._contract_error("complete() is no coroutine function: it gave", given)
        reply: Any = await self._await_adapter(given, left)
        if not isinstance(reply, Reply):
            raise self._contract_error("complete() must give a Reply, not", reply)
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
                own=self._own_dialects,
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

    async def _streamed(self, emit: Emit[Event | None]) -> None:
        normalizer = self._normalizer(self._forced_tool, self._reasoning_open)
        so_far = StreamedSoFar() if self._hooks.has("on_streaming_response") else None
        stream = call_adapter(self._adapter, "stream", self._sent)
        if not hasattr(stream, "__anext__"):
            if iscoroutine(stream):  # or Python warns that nobody awaits it
                stream.close()
            raise self._contract_error("stream() must give an async iterator, not", stream)
        try:
            await self._read(stream, normalizer, so_far, emit)
        finally:
            await abandonment.close_awaitable(stream, GRACE)
            if self.envelope is None:  # broken off: keep the part that came
                normalizer.finish("cancelled")
                self.envelope = updated(self._restored(normalizer.envelope), {"truncated": True})
        if so_far is not None:
            so_far.done = True
            await self._hooks.on_streaming_response(so_far)

    async def _read(self, stream: Any, normalizer: Normalizer, so_far: StreamedSoFar | None, emit: Emit[Event | None]) -> None:
        started, pace = time.perf_counter(), Pace()
        while True:
            left = await self._rest(pace)
            try:
                chunk = await self._await_adapter(anext(stream), left)
            except StopAsyncIteration:
                break
            if self._is_adapter_notice(chunk):
                continue
            if not (isinstance(chunk, str) or is_object(chunk) or hasattr(chunk, "model_dump")):
                raise self._contract_error("stream() must yield text or stream events (dicts), not", chunk)
            self._last = chunk
            if self.time_to_first_token is None:
                self.time_to_first_token = time.perf_counter() - started
            for event in self._events_of_chunk(normalizer.feed(cast("object", chunk)), normalizer.withheld_text):
                if isinstance(event, ToolCallStarted):
                    self._refuse_endless(event)
                if so_far is not None:
                    await self._show(so_far, event)
                await emit(event)
            self.withheld = (
                normalizer.withheld_text if self._joiners is None else partial(self._withheld_text, normalizer, self._joiners)
            )
            await emit(None)
        last = self._events_of_chunk(normalizer.finish())
        envelope = self._restored(normalizer.envelope)
        self._refuse_cut(envelope)
        if self._restoring is not None:
            last += self._restoring.rest()
        for event in last:
            if so_far is not None:
                await self._show(so_far, event)
            await emit(event)
        self.envelope = envelope

    def _restored(self, envelope: Envelope) -> Envelope:
        return envelope if self._joiners is None else restored_envelope(self._joiners, envelope)

    def _withheld_text(self, normalizer: Normalizer, joiners: Joiners, start: int) -> str:
        return restored_withheld(joiners, normalizer.withheld_text(0), start)

    def _events_of_chunk(self, events: list[NormalizerEvent], withheld_from: Callable[[int], str] | None = None) -> list[Event]:
        """The events of a chunk, with the text of llmcore's envelope that the normaliser withholds."""
        shown = self._with_envelope_words(events, withheld_from)
        return shown if self._restoring is None else self._restoring.events(shown)

    def _with_envelope_words(self, events: list[NormalizerEvent], withheld_from: Callable[[int], str] | None) -> list[Event]:
        if self._words is None:
            return [*events]
        shown = [left for event in events if (left := self._words.without_emitted(event)) is not None]
        words = self._words.new_content(withheld_from) if withheld_from is not None else None
        return shown if words is None else [*shown, words]

    async def _rest(self, pace: Pace) -> float | None:
        """Give other tasks a turn between two events, and check the deadline. Returns the seconds left.

        Chunks that are already there are read without waiting, so no timeout would ever interrupt them.
        """
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
            own=self._own_dialects,
        )

    def _is_adapter_notice(self, chunk: object) -> bool:
        """Read a chunk in which the adapter itself reports on the stream. Returns False for any other chunk."""
        if not is_object(chunk) or "llmcore" not in chunk:
            return False
        summary = object_in(chunk["llmcore"])
        if summary.get("usage"):
            with suppress(ValidationError):  # invalid counts are ignored
                self.usage = Usage.model_validate(summary["usage"])
        self.response_id = str(summary.get("id") or self.response_id)
        self.response_model = str(summary.get("model") or self.response_model)
        self.time_to_first_token = summary.get("time_to_first_token", self.time_to_first_token)
        self.dropped = [str(name) for name in summary.get("dropped") or self.dropped]
        self._ended = self._ended or summary.get("ended") is True
        return True

    def _refuse_cut(self, envelope: Envelope) -> None:
        """Raises `RemoteServerError` if a stream of events stopped without an end. No part of such a turn may run or be the
        answer.

        Text has no end marker, so an adapter that yields text is trusted to yield all of it.
        """
        has_end = self._ended or envelope.finish_reason or not is_object(self._last)
        if has_end or ends_reply(self._last) or (is_whole_reply(self._last) and not may_be_stream_event(self._last)):
            return
        self.envelope = updated(envelope, {"truncated": True})
        endpoint = self._call.endpoint
        name = endpoint.alias or f"{endpoint.provider}/{endpoint.model}"
        raise RemoteServerError(f"{name}: the stream broke off: it has no finish reason, and the adapter reports no end")

    def _refuse_endless(self, call: ToolCallStarted) -> None:
        """Raises `RemoteServerError` if the reply makes too many calls. Such a reply is no real turn, and takes seconds to
        read."""
        if call.index >= _MOST_CALLS:
            raise RemoteServerError(f"the reply was broken off: it makes more than {_MOST_CALLS:,} calls")

    async def _show(self, so_far: StreamedSoFar, event: Event) -> None:
        if isinstance(event, TextDelta):
            so_far.content += event.text
        elif isinstance(event, ReasoningDelta):
            so_far.reasoning += event.text
        elif isinstance(event, ToolCallFinished):
            if event.call.name == FINAL_RESULT and self._call.output_schema is not None:
                return  # the answer, not a call of a tool
            so_far.calls.append(copied(event.call))
        elif isinstance(event, Reclassified) and event.kind != "call" and so_far.calls:
            so_far.calls = [call for call in so_far.calls if not stands_within(call, event)]
        else:
            return
        await self._hooks.on_streaming_response(so_far)


def _taught(call: ModelCall) -> str | None:
    """The dialect in which the prompt asks for calls; None if it asks for none."""
    if call.mode in _JSON_MODES:
        return "llmcore_envelope"
    dialect = getattr(call.writer, "dialect", None)
    return dialect if call.mode == "text" and isinstance(dialect, str) else None


def _no_withheld_text(start: int) -> str:
    return ""


def _events_in(reply: Reply) -> tuple[object, ...] | None:
    """The events of a recorded stream, which comes as a tuple; None for any other reply."""
    raw: object = reply.raw
    return cast("tuple[object, ...]", raw) if isinstance(raw, tuple) else None
