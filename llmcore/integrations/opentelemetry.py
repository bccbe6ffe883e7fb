"""OpenTelemetry: spans and metrics of runs, by its conventions for generative AI. Needs the extra `llmcore-engine[otel]`.

    Orchestrator(models, tools, name="helper", observers=OpenTelemetry())

A run is a span `invoke_agent helper`; in it each request is one (`chat gpt-4o`), and each tool (`execute_tool get_weather`). That
is the current span for the tool's own code, also in its thread, so that what the tool traces, a run of its own too, stands in it.
The HTTP clients' own spans stand in `chat`. Whoever listens to a stream is in none of them between two events.

What was said is not captured unless it is asked for; then the secrets that the process knows of are taken out of it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from llmcore.adapters.base import Endpoint, ModelCall
from llmcore.integrations.captured import (
    BROKEN_OFF,
    captured_call,
    captured_exception,
    captured_reply,
    captured_run,
    captured_tool,
    captured_tool_result,
)
from llmcore.run import ObservedRun, Observer, RunResult, ToolRetry
from llmcore.run.result import RepairRecord, ToolRecord
from llmcore.types import Attempt, ConfigError, Envelope, ToolStarted, Usage, Waiting

try:
    from opentelemetry import context as contexts
    from opentelemetry.metrics import MeterProvider, get_meter
    from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider, get_tracer, set_span_in_context
except ImportError as error:
    raise ConfigError("tracing needs OpenTelemetry: pip install 'llmcore-engine[otel]'") from error

__all__ = ["OpenTelemetry"]

Attributes = Mapping[str, Any]

_SCOPE = "llmcore"
_OPERATION, _PROVIDER, _MODEL = "gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model"
_ERROR = "error.type"
_PROVIDERS = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "vertex_ai": "gcp.vertex_ai",
    "xai": "x_ai",
}
"""Providers that the conventions call otherwise than we do."""
_ASKED = {
    "max_tokens": "gen_ai.request.max_tokens",
    "temperature": "gen_ai.request.temperature",
    "top_p": "gen_ai.request.top_p",
    "stop": "gen_ai.request.stop_sequences",
}
_USED = {
    "cache_read_tokens": "gen_ai.usage.cache_read.input_tokens",
    "cache_write_tokens": "gen_ai.usage.cache_creation.input_tokens",
    "reasoning_tokens": "gen_ai.usage.reasoning.output_tokens",
    "estimated": "llmcore.usage.estimated",
}
_ANSWERED = {"response_id": "gen_ai.response.id", "response_model": "gen_ai.response.model"}
_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864)
"""The bounds of the histograms that the conventions advise."""


@dataclass(slots=True)
class _Spans:
    """What is open of one run."""

    run: Span
    run_attributes: Attributes
    attempt: Span | None = None
    attempt_attributes: Attributes = field(default_factory=dict[str, Any])
    began: int = 0
    """When the attempt was sent, in nanoseconds."""
    streamed: bool = False
    """Was it asked for as a stream? A whole reply has no first chunk."""
    tools: dict[str, Span] = field(default_factory=dict[str, Span])


class OpenTelemetry(Observer):
    """Traces and measures the runs of the orchestrators it is given to: `Orchestrator(..., observers=OpenTelemetry())`.

    The providers are by default those that the application has set for all. `capture_content`: prompts, replies, arguments,
    results and the words of exceptions go into the spans as well. docs/observability.md names every attribute. Raises
    `ConfigError` where OpenTelemetry is not installed.
    """

    def __init__(
        self,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        capture_content: bool = False,
    ) -> None:
        self._tracer = get_tracer(_SCOPE, tracer_provider=tracer_provider)
        meter = get_meter(_SCOPE, meter_provider=meter_provider)
        self._capture = capture_content
        self._open: WeakKeyDictionary[ObservedRun, _Spans] = WeakKeyDictionary()
        self._durations = meter.create_histogram(
            "gen_ai.client.operation.duration", "s", "GenAI operation duration.", explicit_bucket_boundaries_advisory=_SECONDS
        )
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            "{token}",
            "Number of input and output tokens used.",
            explicit_bucket_boundaries_advisory=_TOKENS,
        )
        self._first = meter.create_histogram(
            "gen_ai.client.operation.time_to_first_chunk",
            "s",
            "Time to receive the first chunk of a streamed reply.",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )

    # The run

    def run_started(self, run: ObservedRun) -> None:
        measured = {_OPERATION: "invoke_agent", **_asked_of(run.endpoint)}
        if run.name:
            measured["gen_ai.agent.name"] = run.name
        span = self._tracer.start_span(
            f"invoke_agent {run.name}" if run.name else "invoke_agent", attributes={**measured, "llmcore.run.id": run.id}
        )
        self._open[run] = _Spans(span, measured)
        if self._capture and span.is_recording():
            span.set_attributes(captured_run(run.request))
        contexts.attach(set_span_in_context(span))

    def run_ended(self, run: ObservedRun, result: RunResult[Any], error: BaseException | None) -> None:
        spans = self._open.pop(run)
        span, kind = spans.run, _kind_of(error)
        if span.is_recording():
            span.set_attributes(
                {
                    **_used(result.usage),
                    **({"llmcore.run.degraded": True} if result.degraded else {}),
                    **({"llmcore.run.pending": len(result.pending)} if result.pending else {}),
                    **({"llmcore.run.left": True} if isinstance(error, GeneratorExit) else {}),
                    **(captured_reply(result.envelope) if self._capture else {}),
                }
            )
        _end(span, kind)
        self._durations.record(result.duration, _with_error(spans.run_attributes, kind))

    # Its requests

    def attempt_started(self, run: ObservedRun, attempt: Attempt, call: ModelCall) -> None:
        spans, request = self._open[run], call.request
        measured = {_OPERATION: "chat", **_asked_of(call.endpoint)}
        attributes: dict[str, Any] = {
            **measured,
            "llmcore.attempt.n": attempt.n,
            "llmcore.attempt.mode": attempt.mode,
            "llmcore.attempt.reason": attempt.reason,
        }
        if attempt.model != call.endpoint.model:
            attributes["llmcore.attempt.alias"] = attempt.model
        attributes |= _given(request, _ASKED)
        if attempt.deployment:
            attributes["llmcore.attempt.deployment"] = attempt.deployment
        if attempt.waited:
            attributes["llmcore.attempt.waited"] = attempt.waited
        spans.began, spans.streamed = time.time_ns(), call.streamed
        span = self._tracer.start_span(
            f"chat {call.endpoint.model}", kind=SpanKind.CLIENT, attributes=attributes, start_time=spans.began
        )
        if self._capture and span.is_recording():
            span.set_attributes(captured_call(call))
        spans.attempt, spans.attempt_attributes = span, measured
        contexts.attach(set_span_in_context(span))

    def attempt_ended(self, run: ObservedRun, attempt: Attempt, reply: Envelope | None, error: BaseException | None) -> None:
        spans = self._open[run]
        span, spans.attempt = spans.attempt, None
        if span is None:
            return
        seconds, kind = attempt.duration - attempt.waited, _kind_of(error)
        if span.is_recording():
            span.set_attributes(
                {
                    **_used(attempt.usage),
                    **_answered(attempt, reply, streamed=spans.streamed),
                    **(captured_reply(reply) if self._capture and reply is not None else {}),
                }
            )
            status = getattr(error, "status", None)
            if isinstance(status, int):
                span.set_attribute("http.response.status_code", status)
        _end(span, kind, spans.began + int(seconds * 1e9))
        measured = spans.attempt_attributes
        self._durations.record(seconds, _with_error(measured, kind))
        for told, tokens in (("input", attempt.usage.input_tokens), ("output", attempt.usage.output_tokens)):
            if tokens:
                self._tokens.record(tokens, {**measured, "gen_ai.token.type": told})
        if attempt.time_to_first_token is not None and spans.streamed:
            self._first.record(attempt.time_to_first_token, measured)

    def waiting(self, run: ObservedRun, waiting: Waiting) -> None:
        told = {"llmcore.attempt.n": waiting.n, "llmcore.attempt.reason": waiting.reason, "llmcore.wait": waiting.seconds}
        self._open[run].run.add_event("llmcore.waiting", told)

    def repaired(self, run: ObservedRun, repair: RepairRecord) -> None:
        one = repair.repair
        told: dict[str, Any] = {"llmcore.attempt.n": repair.attempt, "llmcore.repair.of": repair.of}
        told |= {"llmcore.repair.kind": one.kind, "llmcore.repair.safety": one.safety}
        self._open[run].run.add_event("llmcore.repair", told)  # its request's span may have ended

    # Its tools

    def tool_started(self, run: ObservedRun, tool: ToolStarted) -> None:
        span = self._tracer.start_span(
            f"execute_tool {tool.name}",
            attributes={
                _OPERATION: "execute_tool",
                "gen_ai.tool.name": tool.name,
                "gen_ai.tool.call.id": tool.tool_use_id,
                "gen_ai.tool.type": "function",
                "llmcore.tool.turn": tool.turn,
                **(captured_tool(tool) if self._capture else {}),
            },
        )
        self._open[run].tools[tool.tool_use_id] = span
        contexts.attach(set_span_in_context(span))

    def tool_retried(self, run: ObservedRun, retry: ToolRetry, raised: BaseException | None) -> None:
        span = self._open[run].tools.get(retry.tool_use_id)
        if span is None:
            return
        told: Attributes = {
            "llmcore.tool.try": retry.n,
            "llmcore.wait": retry.wait,
            _ERROR: retry.error.exception or retry.error.type,
        }
        words: Attributes = captured_exception(raised) if self._capture and raised is not None else {}
        span.add_event("llmcore.tool.retry", {**told, **words})

    def tool_ended(self, run: ObservedRun, record: ToolRecord, raised: BaseException | None) -> None:
        span = self._open[run].tools.pop(record.id, None)
        if span is None:  # it was refused
            return
        failure = record.error
        kind = None if failure is None else failure.exception or failure.type
        if span.is_recording():
            if not record.ran:
                span.set_attribute("llmcore.tool.ran", False)
            if record.retries:
                span.set_attribute("llmcore.tool.retries", record.retries)
            if self._capture:
                span.set_attributes(captured_tool_result(record))
            if raised is not None:
                words = captured_exception(raised) if self._capture else {}
                span.add_event("exception", {"exception.type": type(raised).__qualname__, **words})
        _end(span, kind)
        measured = {_OPERATION: "execute_tool", "gen_ai.tool.name": record.name}
        self._durations.record(record.duration, _with_error(measured, kind))


def _asked_of(endpoint: Endpoint) -> dict[str, Any]:
    return {_PROVIDER: _PROVIDERS.get(endpoint.provider, endpoint.provider), _MODEL: endpoint.model}


def _given(source: object, names: Mapping[str, str]) -> dict[str, Any]:
    """Those of the source's fields that are set, under the attributes' names."""
    return {attribute: value for name, attribute in names.items() if (value := getattr(source, name))}


def _used(usage: Usage) -> Attributes:
    return {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        **_given(usage, _USED),
        **({} if usage.cost is None else {"llmcore.usage.cost": usage.cost}),
    }


def _answered(attempt: Attempt, reply: Envelope | None, *, streamed: bool) -> Attributes:
    told = _given(attempt, _ANSWERED)
    if reply is not None and reply.finish_reason not in (None, BROKEN_OFF):
        told["gen_ai.response.finish_reasons"] = (reply.finish_reason,)
    if attempt.time_to_first_token is not None and streamed:
        told["gen_ai.response.time_to_first_chunk"] = attempt.time_to_first_token
    return told


def _kind_of(error: BaseException | None) -> str | None:
    """What failed, None where nothing did: whoever leaves a stream has what he wanted."""
    return None if error is None or isinstance(error, GeneratorExit) else type(error).__qualname__


def _with_error(measured: Attributes, kind: str | None) -> Attributes:
    return measured if kind is None else {**measured, _ERROR: kind}


def _end(span: Span, kind: str | None, at: int | None = None) -> None:
    if kind is not None:
        span.set_attribute(_ERROR, kind)
        span.set_status(Status(StatusCode.ERROR, kind))
    span.end(at)
