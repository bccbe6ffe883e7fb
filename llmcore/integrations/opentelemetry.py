"""OpenTelemetry: spans and metrics of runs, by its conventions for generative AI. Needs the extra `llmcore-engine[otel]`.

    Orchestrator(models, tools, name="helper", observers=OpenTelemetry())

A run is a span `invoke_agent helper`. Inside it, each request (`chat gpt-4o`) and each tool (`execute_tool get_weather`)
is a span. The tool's span is current while the tool's code runs, also in its thread, so the tool's own spans and runs
are inside it. The HTTP clients' spans are inside `chat`. Between two events of a stream, none of these spans is current.

Content is captured only with `capture_content`, without the secrets that the process knows.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
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
from llmcore.integrations.conventions import Convention, Event, Metric, Role, asked_for
from llmcore.run import ObservedRun, Observer, RunResult, ToolRetry
from llmcore.run.results.result import RepairRecord, ToolRecord
from llmcore.types import Attempt, ConfigError, Envelope, ToolStarted, Usage, Waiting

try:
    from opentelemetry import context as contexts
    from opentelemetry._logs import LoggerProvider, get_logger
    from opentelemetry.metrics import Meter, MeterProvider, get_meter
    from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider, get_tracer, set_span_in_context
except ImportError as error:
    raise ConfigError("tracing needs OpenTelemetry: pip install 'llmcore-engine[otel]'") from error

__all__ = ["OpenTelemetry"]

Attributes = Mapping[str, Any]
Record = Callable[[float, Attributes], None]

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
"""The conventions' names of providers that llmcore names differently."""
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
_COUNTED: tuple[Role, ...] = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
"""The fields of usage that are measured."""


@dataclass(slots=True)
class _Spans:
    """The open spans of one run."""

    run: Span
    run_attributes: Attributes
    attempt: Span | None = None
    attempt_attributes: Attributes = field(default_factory=dict[str, Any])
    began: int = 0
    """When the attempt was sent, in nanoseconds."""
    streamed: bool = False
    """Was a stream requested? A whole reply has no first chunk."""
    tools: dict[str, Span] = field(default_factory=dict[str, Span])
    asked: dict[str, Any] = field(default_factory=dict[str, Any])
    """The attributes of the attempt's span at its start."""
    requests: int = 0
    calls: int = 0
    """How many requests were sent and calls carried out so far."""


class OpenTelemetry(Observer):
    """Traces and measures the runs of orchestrators: `Orchestrator(..., observers=OpenTelemetry())`.

    By default, it uses the application's global providers. `capture_content`: spans and events also have prompts, replies,
    arguments, results and the messages of exceptions. docs/observability.md lists every attribute.

    The names are those of the conventions for generative AI 0.1.0. The variable `OTEL_SEMCONV_STABILITY_OPT_IN` can choose
    the earlier ones (`conventions.asked_for`); it is read at creation. Raises `ConfigError` without OpenTelemetry.
    """

    def __init__(
        self,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        capture_content: bool = False,
        logger_provider: LoggerProvider | None = None,
    ) -> None:
        self._tracer = get_tracer(_SCOPE, tracer_provider=tracer_provider)
        meter = get_meter(_SCOPE, meter_provider=meter_provider)
        self._capture = capture_content
        self._open: WeakKeyDictionary[ObservedRun, _Spans] = WeakKeyDictionary()
        self._logger = get_logger(_SCOPE, logger_provider=logger_provider)
        self._conventions = asked_for(os.environ)
        self._instruments = _instruments(meter, self._conventions)

    def _measure(self, role: Role, value: float, attributes: Attributes) -> None:
        for record, own in self._instruments.get(role, ()):
            record(value, {**attributes, **own})

    def _emit(self, event: Event, span: Span, attributes: Attributes, *, of_span: bool = True) -> None:
        """Emit the event in each convention. `of_span`: as an event of the span too, not only as a log record."""
        for convention in self._conventions:
            name = convention.events.get(event)
            if name is None:
                continue
            if of_span:
                span.add_event(name, attributes)
            if convention.logs:
                context = set_span_in_context(span)
                self._logger.emit(event_name=name, attributes=attributes, context=context, timestamp=time.time_ns())

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
        measured = spans.run_attributes
        self._measure("agent.seconds", result.duration, _with_error(measured, kind))
        self._measure("agent.requests", spans.requests, measured)
        self._measure("agent.tools", spans.calls, measured)

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
        spans.began, spans.streamed, spans.requests = time.time_ns(), call.streamed, spans.requests + 1
        span = self._tracer.start_span(
            f"chat {call.endpoint.model}", kind=SpanKind.CLIENT, attributes=attributes, start_time=spans.began
        )
        if self._capture:
            attributes |= captured_call(call)
            span.set_attributes(attributes)
        spans.attempt, spans.attempt_attributes, spans.asked = span, measured, attributes
        contexts.attach(set_span_in_context(span))

    def attempt_ended(self, run: ObservedRun, attempt: Attempt, reply: Envelope | None, error: BaseException | None) -> None:
        spans = self._open[run]
        span, spans.attempt = spans.attempt, None
        if span is None:
            return
        seconds, kind = attempt.duration - attempt.waited, _kind_of(error)
        status = getattr(error, "status", None)
        answered = {
            **_used(attempt.usage),
            **_answered(attempt, reply, streamed=spans.streamed),
            **({"http.response.status_code": status} if isinstance(status, int) else {}),
            **(captured_reply(reply) if self._capture and reply is not None else {}),
        }
        span.set_attributes(answered)
        measured = spans.attempt_attributes
        if error is not None and kind is not None:
            self._emit("inference.exception", span, {**measured, **self._exception(error)})
        self._emit("inference.details", span, _with_error({**spans.asked, **answered}, kind), of_span=False)
        _end(span, kind, spans.began + int(seconds * 1e9))
        self._measure("inference.seconds", seconds, _with_error(measured, kind))
        for role in _COUNTED:
            if tokens := getattr(attempt.usage, role):
                self._measure(role, tokens, measured)
        if attempt.time_to_first_token is not None and spans.streamed:
            self._measure("inference.first_chunk", attempt.time_to_first_token, measured)

    def chunk_came(self, run: ObservedRun, attempt: Attempt, seconds: float) -> None:
        self._measure("inference.chunk", seconds, self._open[run].attempt_attributes)

    def _exception(self, error: BaseException) -> dict[str, Any]:
        return {"exception.type": type(error).__qualname__, **(captured_exception(error) if self._capture else {})}

    def waiting(self, run: ObservedRun, waiting: Waiting) -> None:
        facts = {"llmcore.attempt.n": waiting.n, "llmcore.attempt.reason": waiting.reason, "llmcore.wait": waiting.seconds}
        self._open[run].run.add_event("llmcore.waiting", facts)

    def repaired(self, run: ObservedRun, repair: RepairRecord) -> None:
        one = repair.repair
        facts: dict[str, Any] = {"llmcore.attempt.n": repair.attempt, "llmcore.repair.of": repair.of}
        facts |= {"llmcore.repair.kind": one.kind, "llmcore.repair.safety": one.safety}
        self._open[run].run.add_event("llmcore.repair", facts)  # the request's own span may have ended

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
        self._open[run].calls += 1
        contexts.attach(set_span_in_context(span))

    def tool_retried(self, run: ObservedRun, retry: ToolRetry, raised: BaseException | None) -> None:
        span = self._open[run].tools.get(retry.tool_use_id)
        if span is None:
            return
        facts: Attributes = {
            "llmcore.tool.try": retry.n,
            "llmcore.wait": retry.wait,
            _ERROR: retry.error.exception or retry.error.type,
        }
        words: Attributes = captured_exception(raised) if self._capture and raised is not None else {}
        span.add_event("llmcore.tool.retry", {**facts, **words})

    def tool_ended(self, run: ObservedRun, record: ToolRecord, raised: BaseException | None) -> None:
        span = self._open[run].tools.pop(record.id, None)
        if span is None:  # the call was refused
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
        measured = {_OPERATION: "execute_tool", "gen_ai.tool.name": record.name}
        if raised is not None:
            self._emit("tool.exception", span, {**measured, **self._exception(raised)})
        _end(span, kind)
        self._measure("tool.seconds", record.duration, _with_error(measured, kind))


def _instruments(meter: Meter, conventions: Sequence[Convention]) -> Mapping[Role, Sequence[tuple[Record, Attributes]]]:
    """The instruments of each role, and the attributes that they add. Roles that share an instrument get the same one."""
    by_name: dict[str, Record] = {}
    made: defaultdict[Role, list[tuple[Record, Attributes]]] = defaultdict(list)
    for role, metrics in (named for convention in conventions for named in convention.metrics.items()):
        for metric in metrics:
            if metric.name not in by_name:
                by_name[metric.name] = _record(meter, metric)
            made[role].append((by_name[metric.name], metric.attributes))
    return made


def _record(meter: Meter, metric: Metric) -> Record:
    if not metric.bounds:
        return meter.create_counter(metric.name, metric.unit, metric.description).add
    bounds = metric.bounds
    return meter.create_histogram(metric.name, metric.unit, metric.description, explicit_bucket_boundaries_advisory=bounds).record


def _asked_of(endpoint: Endpoint) -> dict[str, Any]:
    return {_PROVIDER: _PROVIDERS.get(endpoint.provider, endpoint.provider), _MODEL: endpoint.model}


def _given(source: object, names: Mapping[str, str]) -> dict[str, Any]:
    """The fields of the source that are set, under the attributes' names."""
    return {attribute: value for name, attribute in names.items() if (value := getattr(source, name))}


def _used(usage: Usage) -> Attributes:
    return {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        **_given(usage, _USED),
        **({} if usage.cost is None else {"llmcore.usage.cost": usage.cost}),
    }


def _answered(attempt: Attempt, reply: Envelope | None, *, streamed: bool) -> Attributes:
    answered = _given(attempt, _ANSWERED)
    if reply is not None and reply.finish_reason not in (None, BROKEN_OFF):
        answered["gen_ai.response.finish_reasons"] = (reply.finish_reason,)
    if attempt.time_to_first_token is not None and streamed:
        answered["gen_ai.response.time_to_first_chunk"] = attempt.time_to_first_token
    return answered


def _kind_of(error: BaseException | None) -> str | None:
    """The class of the failure, None if there was none. Leaving a stream early is not a failure."""
    return None if error is None or isinstance(error, GeneratorExit) else type(error).__qualname__


def _with_error(measured: Attributes, kind: str | None) -> Attributes:
    return measured if kind is None else {**measured, _ERROR: kind}


def _end(span: Span, kind: str | None, at: int | None = None) -> None:
    if kind is not None:
        span.set_attribute(_ERROR, kind)
        span.set_status(Status(StatusCode.ERROR, kind))
    span.end(at)
