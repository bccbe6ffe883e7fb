"""Results and events of runs as replies of the three wires: one class for whole replies and streams of each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llmcore.gateway.decoding import ClientRequest
from llmcore.gateway.wires import ANTHROPIC, CHAT, ClientWire
from llmcore.run import RunResult
from llmcore.run.streaming.replies import reply_envelope
from llmcore.types import Usage
from llmcore.wire import Offered, ReplyReport, anthropic, openai_chat, openai_responses
from llmcore.wire.extension import extension, with_extension
from llmcore.wire.sse import DONE, event_bytes

__all__ = ["ReplyWriter", "result_extension", "whole_body"]

Json = dict[str, Any]


def whole_body(wire: ClientWire, result: RunResult[Any], model: str, request: ClientRequest, extension: Json) -> Json:
    """The whole reply."""
    envelope = reply_envelope(result)
    if wire is ANTHROPIC:
        body = anthropic.encode(envelope, model=model, usage=result.usage)
    elif wire is CHAT:
        body = openai_chat.encode(envelope, model=model, usage=result.usage, free_text=request.free_text)
    else:
        body = openai_responses.encode(envelope, model=model, usage=result.usage, free_text=request.free_text)
    return with_extension([body], extension)[0]


def result_extension(result: RunResult[Any], dropped: Iterable[str]) -> Json:
    """The field `llmcore` of an orchestrated reply: its calls, its attempts, repairs, and what no server got.

    `withheld`: the near misses of the last reply: text in the form of a call that stays text.
    """
    attempts = [
        {
            "model": attempt.model,
            "mode": attempt.mode,
            "reason": attempt.reason,
            **({"failure": type(attempt.failure).__name__} if attempt.failure is not None else {}),
        }
        for attempt in result.attempts
    ]
    left_out = [*dropped, *(name for attempt in result.attempts for name in attempt.dropped)]
    near_misses = result.envelope.near_misses
    found: Json = {
        **extension([ReplyReport(calls=result.pending)]),
        "withheld": [{"name": miss.name, "reason": miss.reason, "detail": ""} for miss in near_misses],
        "attempts": attempts,
        "repairs": [record.model_dump(mode="json") for record in result.repairs],
        "dropped": list(dict.fromkeys(left_out)),
        "degraded": result.degraded,
        "cost": result.usage.cost,
    }
    return {name: value for name, value in found.items() if value}


class ReplyWriter:
    """Writes one streamed reply in the form of its wire, as bytes."""

    def __init__(self, wire: ClientWire, model: str, request: ClientRequest) -> None:
        self._named = wire is not CHAT
        self._wants_usage = request.wants_usage
        self._encoder: Any
        if wire is ANTHROPIC:
            self._encoder = anthropic.StreamEncoder(model=model)
        else:
            api = openai_chat if wire is CHAT else openai_responses
            self._encoder = api.StreamEncoder(model=model, free_text=request.free_text)
        self._is_anthropic = wire is ANTHROPIC

    def start(self, input_tokens: int) -> bytes:
        """The first events. `input_tokens`: the estimate that Anthropic's clients show until the end."""
        if not self._named:
            return b""
        given = (Usage(input_tokens=input_tokens),) if self._is_anthropic else ()
        return self._bytes(self._encoder.start(*given))

    def feed(self, events: Iterable[object]) -> bytes:
        """Text and reasoning."""
        return self._bytes(self._encoder.feed(events))

    def finish(self, result: RunResult[Any], extension: Json) -> bytes:
        """The calls, the finish reason and the usage."""
        envelope = reply_envelope(result)
        offered = Offered(envelope.tool_calls)
        if self._named:
            events = self._encoder.finish(offered, envelope.finish_reason, result.usage)
            return self._bytes(with_extension(events, extension))
        events = with_extension(self._encoder.finish(offered, envelope.finish_reason), extension)
        events += self._encoder.end(result.usage if self._wants_usage else None)
        return self._bytes(events) + b"data: " + DONE + b"\n\n"

    def _bytes(self, events: Iterable[Json]) -> bytes:
        return b"".join([event_bytes(event, event["type"] if self._named else "") for event in events])
