"""Traces and metrics, read back from OpenTelemetry's in-memory exporters: they match the run, whatever becomes of it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import aclosing, suppress
from importlib import import_module
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry._logs import LogRecord
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import HistogramDataPoint, InMemoryMetricReader, Metric, NumberDataPoint
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv.attributes import error_attributes, exception_attributes, http_attributes
from opentelemetry.trace import SpanContext, StatusCode

from llmcore.adapters.secrets.known_secrets import remember
from llmcore.hooks import Hooks, Veto
from llmcore.integrations.conventions import EARLIER
from llmcore.integrations.opentelemetry import OpenTelemetry
from llmcore.orchestrator import Orchestrator
from llmcore.run.results.result import RunResult
from llmcore.testing import FakeModel
from llmcore.tools import Tool, tool
from llmcore.types import (
    Budget,
    Finished,
    LimitExceeded,
    LLMCoreError,
    Message,
    Overloaded,
    RateLimited,
    Reply,
    RetryConfig,
    TerminateLoop,
    TextDelta,
    ToolStarted,
    ToolUseBlock,
    Usage,
)
from tests.run.support import FAST, add, called, stack

pytestmark = pytest.mark.anyio

_INCUBATING = "opentelemetry.semconv._incubating"
gen_ai_attributes = import_module(f"{_INCUBATING}.attributes.gen_ai_attributes")
gen_ai_metrics = import_module(f"{_INCUBATING}.metrics.gen_ai_metrics")
OURS = {"llmcore"}
"""The first word of the attributes that are none of the conventions'."""


@pytest.fixture(autouse=True)
def nothing_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_SEMCONV_STABILITY_OPT_IN", raising=False)


class Memory:
    """An `OpenTelemetry` observer and what it exported."""

    def __init__(self, *, capture_content: bool = False) -> None:
        self._spans, self._metrics = InMemorySpanExporter(), InMemoryMetricReader()
        self.tracers = TracerProvider(shutdown_on_exit=False)
        self.tracers.add_span_processor(SimpleSpanProcessor(self._spans))
        meters = MeterProvider(metric_readers=[self._metrics], shutdown_on_exit=False)
        make: Callable[[], InMemoryLogRecordExporter] = InMemoryLogRecordExporter
        self._logs = make()
        loggers = LoggerProvider(shutdown_on_exit=False)
        loggers.add_log_record_processor(SimpleLogRecordProcessor(self._logs))
        self.observer = OpenTelemetry(self.tracers, meters, capture_content=capture_content, logger_provider=loggers)

    @property
    def spans(self) -> list[ReadableSpan]:
        """In the order in which they began."""
        return sorted(self._spans.get_finished_spans(), key=lambda span: span.start_time or 0)

    def of(self, operation: str) -> list[ReadableSpan]:
        return [span for span in self.spans if told(span).get("gen_ai.operation.name") == operation]

    @property
    def metrics(self) -> dict[str, Metric]:
        data = self._metrics.get_metrics_data()
        found = [m for r in data.resource_metrics for s in r.scope_metrics for m in s.metrics] if data else []
        return {metric.name: metric for metric in found}

    def points(self, name: str) -> list[HistogramDataPoint]:
        found: list[Any] = self._points(name)
        return found

    def counts(self, name: str) -> list[NumberDataPoint]:
        found: list[Any] = self._points(name)
        return found

    def _points(self, name: str) -> list[Any]:
        metrics = self.metrics
        return [*metrics[name].data.data_points] if name in metrics else []

    def logged(self, name: str) -> list[LogRecord]:
        """The records of an event."""
        return [one.log_record for one in self._logs.get_finished_logs() if one.log_record.event_name == name]


def told(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def place(span: ReadableSpan) -> SpanContext:
    context: SpanContext | None = span.context
    assert context is not None
    return context


def parent_of(span: ReadableSpan, spans: Sequence[ReadableSpan]) -> ReadableSpan | None:
    return next((one for one in spans if span.parent is not None and place(one).span_id == span.parent.span_id), None)


def seconds(span: ReadableSpan) -> float:
    return ((span.end_time or 0) - (span.start_time or 0)) / 1e9


def matches(memory: Memory, result: RunResult[Any]) -> None:
    """The trace is the run's: its requests with what became of each, its tools, its usage, under one root."""
    (root,) = memory.of("invoke_agent")
    chats, tools = memory.of("chat"), memory.of("execute_tool")
    assert [told(span)["llmcore.attempt.n"] for span in chats] == [attempt.n for attempt in result.attempts]
    for span, attempt in zip(chats, result.attempts, strict=True):
        attributes = told(span)
        assert (attributes["llmcore.attempt.mode"], attributes["llmcore.attempt.reason"]) == (attempt.mode, attempt.reason)
        assert attributes["gen_ai.usage.input_tokens"] == attempt.usage.input_tokens
        assert attributes["gen_ai.usage.output_tokens"] == attempt.usage.output_tokens
        assert seconds(span) == pytest.approx(attempt.duration - attempt.waited, abs=1e-5)
        if attempt.failure is not None:
            assert attributes["error.type"] == type(attempt.failure).__name__
            assert span.status.status_code is StatusCode.ERROR
        assert parent_of(span, memory.spans) is root
    begun = {record.id: record for record in result.tool_results if record.ran}
    assert {told(span)["gen_ai.tool.call.id"] for span in tools} >= begun.keys()
    for span in tools:
        record = next(one for one in result.tool_results if one.id == told(span)["gen_ai.tool.call.id"])
        assert (span.name, told(span)["gen_ai.tool.name"]) == (f"execute_tool {record.name}", record.name)
        failed = None if record.error is None else record.error.exception or record.error.type
        assert told(span).get("error.type") == failed
        assert parent_of(span, memory.spans) is root
    assert told(root)["llmcore.run.id"] == result.id
    assert told(root)["gen_ai.usage.input_tokens"] == result.usage.input_tokens
    for name, spans in (("client.inference", chats), ("execute_tool", tools), ("invoke_agent", [root])):
        assert sum(point.count for point in memory.points(f"gen_ai.{name}.duration")) == len(spans)
    for name, spans in (("inference_calls", chats), ("tool_calls", tools)):
        (point,) = memory.points(f"gen_ai.invoke_agent.{name}")
        assert (point.count, point.sum) == (1, len(spans))
    for name in ("input_tokens", "output_tokens"):
        wanted = sum(getattr(attempt.usage, name) for attempt in result.attempts)
        assert sum(point.value for point in memory.counts(f"gen_ai.client.inference.usage.{name}")) == wanted
        assert sum(point.sum for point in memory.points(f"gen_ai.client.inference.operation.{name}")) == wanted
    assert not any("operation.duration" in name or "token.usage" in name for name in memory.metrics)


def adding() -> FakeModel:
    return FakeModel().tool_call("add", {"a": 1, "b": 2}).text("3").usage(input_tokens=7, output_tokens=2)


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_run_is_a_span_with_its_requests_and_tools(streamed: bool) -> None:
    memory = Memory()
    orchestrator = Orchestrator(adding(), [add], observers=memory.observer, name="sums")
    options: dict[str, Any] = {"max_tokens": 50, "temperature": 0.5}
    if streamed:
        last = [event async for event in orchestrator.stream("go", **options)][-1]
        assert isinstance(last, Finished)
        result = last.result
    else:
        result = await orchestrator.run("go", **options)
    matches(memory, result)
    assert [span.name for span in memory.spans] == ["invoke_agent sums", "chat fake", "execute_tool add", "chat fake"]
    root, first, ran, second = map(told, memory.spans)
    assert first == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "fake",
        "gen_ai.request.model": "fake",
        "gen_ai.request.max_tokens": 50,
        "gen_ai.request.temperature": 0.5,
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.usage.output_tokens": 2,
        "gen_ai.response.finish_reasons": ("tool_calls",),
        **{
            name: value
            for name, value in first.items()
            if name.startswith(("gen_ai.response.id", "gen_ai.response.model", "gen_ai.response.time"))
        },
        "llmcore.attempt.n": 1,
        "llmcore.attempt.mode": "native_tools",
        "llmcore.attempt.reason": "first",
    }
    assert second["llmcore.attempt.reason"] == "turn"
    assert (root["gen_ai.agent.name"], root["gen_ai.usage.output_tokens"]) == ("sums", 4)
    assert ran["gen_ai.tool.type"] == "function"
    assert not any("message" in name or "argument" in name for one in map(told, memory.spans) for name in one)


async def test_every_name_of_the_conventions_is_one_of_theirs() -> None:
    memory = Memory(capture_content=True)
    fake = (
        FakeModel(RateLimited("slow down", retry_after=0.001))
        .tool_call("broken")
        .text("3")
        .usage(input_tokens=7, output_tokens=2)
    )
    await Orchestrator(fake, [broken], observers=memory.observer, name="sums", system="Add.").run("go", max_tokens=5, stop=["x"])
    known = {
        value
        for module in (gen_ai_attributes, error_attributes, exception_attributes, http_attributes)
        for name, value in vars(module).items()
        if name.isupper()
    }
    used = {name for span in memory.spans for name in told(span)}
    used |= {name for span in memory.spans for event in span.events for name in (event.attributes or {})}
    assert {name for name in used if name.partition(".")[0] not in OURS} <= known
    metrics = {value for name, value in vars(gen_ai_metrics).items() if name.isupper()}
    assert {metric.name for all_of in EARLIER.metrics.values() for metric in all_of} <= metrics


NAMES = {
    "gen_ai.client.inference.duration": "s",
    "gen_ai.client.inference.time_to_first_chunk": "s",
    "gen_ai.client.inference.time_per_output_chunk": "s",
    "gen_ai.client.inference.usage.input_tokens": "{token}",
    "gen_ai.client.inference.usage.output_tokens": "{token}",
    "gen_ai.client.inference.usage.cache_read.input_tokens": "{token}",
    "gen_ai.client.inference.usage.cache_write.input_tokens": "{token}",
    "gen_ai.client.inference.usage.reasoning.output_tokens": "{token}",
    "gen_ai.client.inference.operation.input_tokens": "{token}",
    "gen_ai.client.inference.operation.output_tokens": "{token}",
    "gen_ai.invoke_agent.duration": "s",
    "gen_ai.invoke_agent.inference_calls": "{call}",
    "gen_ai.invoke_agent.tool_calls": "{call}",
    "gen_ai.execute_tool.duration": "s",
}
OLD = {
    "gen_ai.client.operation.duration": "s",
    "gen_ai.client.operation.time_to_first_chunk": "s",
    "gen_ai.client.token.usage": "{token}",
}
EVENTS = ["gen_ai.client.inference.operation.details", "gen_ai.client.inference.exception", "gen_ai.execute_tool.exception"]


def everything() -> FakeModel:
    """A run that is streamed, fails once, calls a tool that fails, and is told usage of each kind."""
    usage = Usage(input_tokens=9, output_tokens=8, cache_read_tokens=3, cache_write_tokens=2, reasoning_tokens=1)
    replies: list[Any] = [Overloaded("busy", status=503), called("broken", {}), Reply(raw="It is three.", usage=usage)]
    return FakeModel(*replies, chunk_size=2).usage(input_tokens=7, output_tokens=2)


async def stream_everything(memory: Memory) -> RunResult[Any]:
    orchestrator = Orchestrator(everything(), [broken], observers=memory.observer, name="sums", strategies=FAST)
    last = [event async for event in orchestrator.stream("go")][-1]
    assert isinstance(last, Finished)
    return last.result


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("", NAMES),
        ("http,gen_ai_latest_experimental", NAMES),
        ("gen_ai/old", OLD),
        ("http/dup, GEN_AI/old", OLD),
        ("gen_ai/old,gen_ai/dup", NAMES | OLD),
    ],
)
async def test_the_names_are_those_of_the_conventions_that_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, asked: str, names: dict[str, str]
) -> None:
    monkeypatch.setenv("OTEL_SEMCONV_STABILITY_OPT_IN", asked)
    memory = Memory()
    await stream_everything(memory)
    assert {name: metric.unit for name, metric in memory.metrics.items()} == names
    spoken = {event.name for span in memory.spans for event in span.events if not event.name.startswith("llmcore.")}
    expected = {*(EVENTS[1:] if names is not OLD else ()), *(["exception"] if OLD.keys() <= names.keys() else ())}
    assert spoken == expected
    assert [bool(memory.logged(name)) for name in EVENTS] == [names is not OLD] * 3


async def test_each_value_is_recorded_where_the_conventions_want_it() -> None:
    memory = Memory()
    result = await stream_everything(memory)
    (told_once,) = memory.counts("gen_ai.client.inference.usage.cache_write.input_tokens")
    assert told_once.value == result.usage.cache_write_tokens > 0
    expected = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "fake", "gen_ai.request.model": "fake"}
    assert dict(told_once.attributes or {}) == expected
    (requests,) = memory.points("gen_ai.invoke_agent.inference_calls")
    (calls,) = memory.points("gen_ai.invoke_agent.tool_calls")
    assert (requests.sum, calls.sum, (requests.attributes or {})["gen_ai.agent.name"]) == (3, 1, "sums")
    (first,) = memory.points("gen_ai.client.inference.time_to_first_chunk")
    (chunks,) = memory.points("gen_ai.client.inference.time_per_output_chunk")
    assert (first.count, chunks.count > 3) == (2, True)
    durations = memory.points("gen_ai.client.inference.duration")
    failed = [point for point in durations if "error.type" in (point.attributes or {})]
    assert [(point.count, (point.attributes or {})["error.type"]) for point in failed] == [(1, "Overloaded")]
    assert tuple(durations[0].explicit_bounds)[:3] == (0.01, 0.02, 0.04)


@pytest.mark.parametrize("capture", [False, True])
async def test_events_are_records_in_their_spans_and_tell_what_was_said_only_where_it_is_asked_for(capture: bool) -> None:
    memory = Memory(capture_content=capture)
    await stream_everything(memory)
    details, failures, raised = map(memory.logged, EVENTS)
    chats, (tool_span,) = memory.of("chat"), memory.of("execute_tool")
    assert [one.span_id for one in details] == [place(span).span_id for span in chats]
    assert [one.span_id for one in failures] == [place(chats[0]).span_id]
    assert [one.span_id for one in raised] == [place(tool_span).span_id]
    assert [dict(one.attributes or {})["exception.type"] for one in (*failures, *raised)] == ["Overloaded", "LookupError"]
    for one, span in zip(details, chats, strict=True):
        assert dict(one.attributes or {}) == told(span)
    everything_said = str([dict(one.attributes or {}) for one in (*details, *failures, *raised)])
    for word in ("It is three", "hunter2", "busy", "gen_ai.input.messages"):
        assert (word in everything_said) is capture, word


async def test_each_failed_try_of_a_tool_is_an_event_of_its_span() -> None:
    for capture in (False, True):
        memory = Memory(capture_content=capture)
        result = await Orchestrator(FakeModel().tool_call("flaky").text("."), [flaky_tool()], observers=memory.observer).run("go")
        matches(memory, result)
        (span,) = memory.of("execute_tool")
        events = [dict(event.attributes or {}) for event in span.events if event.name == "llmcore.tool.retry"]
        assert [(one["llmcore.tool.try"], one["error.type"]) for one in events] == [(1, "KeyError"), (2, "KeyError")]
        assert [("sesame" in str(one)) for one in events] == [capture] * 2
        assert told(span)["llmcore.tool.retries"] == 2
        assert span.status.status_code is not StatusCode.ERROR


def flaky_tool() -> Tool:
    tried: list[int] = []

    @tool(retries=RetryConfig(max_retries=2, base=0.001))
    def flaky() -> str:
        """Fail twice."""
        tried.append(1)
        if len(tried) < 3:
            raise KeyError("sesame")
        return "open"

    return flaky


@pytest.mark.parametrize("capture", [False, True])
async def test_a_stream_that_fails_has_no_finish_reason(capture: bool) -> None:
    memory = Memory(capture_content=capture)
    chunk = {"choices": [{"index": 0, "delta": {"content": "It is"}}]}
    fake = FakeModel([chunk, Overloaded("busy", status=503)], "It is 3.")
    with suppress(LLMCoreError):
        async for _ in Orchestrator(fake, observers=memory.observer).stream("go", budget=Budget(attempts=2)):
            pass
    broken, whole = map(told, memory.of("chat"))
    assert broken["error.type"] == "Overloaded"
    assert "gen_ai.response.finish_reasons" not in broken
    assert "cancelled" not in str(broken)
    assert whole["gen_ai.response.time_to_first_chunk"] > 0
    if capture:
        (message,) = json.loads(broken["gen_ai.output.messages"])
        assert (message["parts"][0]["content"], message["finish_reason"]) == ("It is", "error")


async def test_a_whole_reply_has_no_first_chunk() -> None:
    memory = Memory()
    reply = Reply(raw="Hi.", time_to_first_token=0.25)
    result = await Orchestrator(FakeModel(reply), observers=memory.observer).run("go")
    assert result.time_to_first_token == 0.25
    (chat,) = memory.of("chat")
    assert "gen_ai.response.time_to_first_chunk" not in told(chat)
    assert not memory.points("gen_ai.client.inference.time_to_first_chunk")
    assert not memory.points("gen_ai.client.inference.time_per_output_chunk")


@pytest.mark.parametrize("reply", [called("add", {"a": "1", "b": 2}), "The sum <tool_call>{"])
async def test_a_repair_is_an_event_of_the_run(reply: Any) -> None:
    """Of the reply, the call or the history: its request's span may have ended by then."""
    memory = Memory()
    history = [Message(role="assistant", content=[ToolUseBlock(id="c", name="add", input={"a": 1, "b": 2})])]
    result = await Orchestrator(FakeModel(reply, default="3"), [add], observers=memory.observer).run(
        "go", message_history=history
    )
    (root,) = memory.of("invoke_agent")
    told_of = [dict(event.attributes or {})["llmcore.attempt.n"] for event in root.events if event.name == "llmcore.repair"]
    assert told_of == [repair.attempt for repair in result.repairs]
    assert told_of
    assert not any(span.events for span in memory.of("chat"))


async def test_failures_waits_modes_and_models_are_told() -> None:
    memory = Memory()
    small = FakeModel(RateLimited("slow down", retry_after=0.001), Overloaded("busy", status=503))
    fakes = {"small": small, "large": FakeModel(called("add", {"a": "x"}), called("add", {"a": "1", "b": 2}), "3")}
    result = await stack(fakes, [add], observers=memory.observer).run("go")
    matches(memory, result)
    chats = memory.of("chat")
    assert [told(span).get("error.type") for span in chats] == ["RateLimited", "Overloaded", None, None, None]
    assert [told(span)["llmcore.attempt.reason"] for span in chats] == ["first", "retry", "model", "reask", "turn"]
    assert told(chats[1])["http.response.status_code"] == 503
    (root,) = memory.of("invoke_agent")
    waited = root.events[0]
    assert (waited.name, dict(waited.attributes or {})["llmcore.wait"]) == ("llmcore.waiting", 0.001)
    assert "llmcore.repair" in [event.name for span in memory.spans for event in span.events]
    assert root.status.status_code is StatusCode.UNSET


def broken() -> None:
    """Fail."""
    raise LookupError("no such key: hunter2")


async def slow() -> None:
    """Take long."""
    await asyncio.sleep(30)


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_run_that_fails_is_told_as_the_error_it_raises(streamed: bool) -> None:
    memory = Memory()
    orchestrator = Orchestrator(FakeModel(default=Overloaded("busy")), observers=memory.observer, strategies=FAST)

    async def take() -> None:
        if streamed:
            async for _ in orchestrator.stream("go"):
                pass
        else:
            await orchestrator.run("go")

    with pytest.raises(LLMCoreError) as raised:
        await take()
    matches(memory, raised.value.partial)
    (root,) = memory.of("invoke_agent")
    assert told(root)["error.type"] == type(raised.value).__qualname__
    assert root.status.status_code is StatusCode.ERROR


@pytest.mark.parametrize("end", ["tool timeout", "deadline", "cancelled", "left", "left while it speaks", "ended", "parallel"])
async def test_every_span_ends_however_the_run_does(end: str) -> None:
    memory = Memory()

    async def stop() -> None:
        """End the run."""
        await asyncio.sleep(0.02)
        raise TerminateLoop("enough")

    calls: list[tuple[str, Any]] = [("slow", {}), ("stop", {})] if end == "ended" else [("slow", {})]
    if end == "parallel":
        calls = [("add", {"a": n, "b": 1}) for n in range(5)] + [("broken", {})]
    fake = FakeModel(chunk_size=2).tool_calls(*calls, text="Let me see.").text("ok")
    timeout = 0.05 if end == "tool timeout" else 60.0
    orchestrator = Orchestrator(fake, [slow, stop, add, broken], observers=memory.observer, tool_timeout=timeout)
    got: list[RunResult[Any]] = []

    async def take() -> None:
        async with aclosing(orchestrator.stream("go", deadline=0.1 if end == "deadline" else None)) as events:
            async for event in events:
                if end == "left" and isinstance(event, ToolStarted):
                    return
                if end == "left while it speaks" and isinstance(event, TextDelta):
                    return
                if isinstance(event, Finished):
                    got.append(event.result)

    task = asyncio.create_task(take())
    if end == "cancelled":
        await asyncio.sleep(0.1)
        task.cancel()
    with suppress(LLMCoreError, asyncio.CancelledError):
        await task
    error: Any = task.exception() if not task.cancelled() else None
    if got or error is not None:
        matches(memory, got[0] if got else error.partial)
    (root,) = memory.of("invoke_agent")
    kinds = {told(span).get("error.type") for span in memory.of("execute_tool")}
    expected: dict[str, tuple[Any, set[Any]]] = {
        "tool timeout": (None, {"timeout"}),
        "deadline": ("Timeout", {"execution"}),
        "cancelled": ("CancelledError", {"execution"}),
        "left": (None, {"execution"}),
        "left while it speaks": (None, set()),
        "ended": (None, {None, "execution"}),
        "parallel": (None, {None, "LookupError"}),
    }
    assert (told(root).get("error.type"), kinds) == expected[end]
    assert told(root).get("llmcore.run.left", False) is (end.startswith("left"))
    assert all(parent_of(span, memory.spans) is root for span in memory.spans if span is not root)


async def test_a_refused_call_is_no_span() -> None:
    memory = Memory()
    guard = Hooks(before_tool_run=lambda call, _: Veto("no"))
    result = await Orchestrator(adding(), [add], observers=memory.observer, hooks=guard).run("go")
    matches(memory, result)
    assert memory.of("execute_tool") == []


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("streamed", [False, True])
async def test_what_a_tool_traces_stands_in_its_span(streamed: bool, several: bool) -> None:
    memory = Memory()
    tracer = memory.tracers.get_tracer("mine")

    def reads() -> None:
        with tracer.start_as_current_span("sync work"):
            pass

    async def asks() -> str:
        with tracer.start_as_current_span("async work"):
            return (await inner.run("?")).content

    inner = Orchestrator(FakeModel("inner"), observers=memory.observer, name="inner")
    both: list[tuple[str, Any]] = [("asks", {}), ("reads", {})]
    calls = both[: 2 if several else 1]
    orchestrator = Orchestrator(FakeModel().tool_calls(*calls).text("ok"), [reads, asks], observers=memory.observer, name="outer")
    with tracer.start_as_current_span("request of a user"):
        if streamed:
            async for _ in orchestrator.stream("go"):
                assert trace.get_current_span().name == "request of a user"  # type: ignore[attr-defined]  # of the SDK's spans
        else:
            await orchestrator.run("go")
    spans = memory.spans

    def path(name: str) -> list[str]:
        span: ReadableSpan | None = next(one for one in spans if one.name == name)
        names: list[str] = []
        while span is not None:
            names.append(span.name)
            span = parent_of(span, spans)
        return names

    assert path("invoke_agent inner") == [
        "invoke_agent inner",
        "async work",
        "execute_tool asks",
        "invoke_agent outer",
        "request of a user",
    ]
    if several:
        assert path("sync work")[1] == "execute_tool reads"
    assert len({place(span).trace_id for span in spans}) == 1


async def test_many_runs_at_once_are_traces_of_their_own() -> None:
    memory = Memory()
    orchestrators = [Orchestrator(adding(), [add], observers=memory.observer) for _ in range(20)]
    results = await asyncio.gather(*(one.run("go") for one in orchestrators))
    roots = memory.of("invoke_agent")
    assert {told(root)["llmcore.run.id"] for root in roots} == {result.id for result in results}
    for root in roots:
        mine = [span.name for span in memory.spans if place(span).trace_id == place(root).trace_id]
        assert sorted(mine) == ["chat fake", "chat fake", "execute_tool add", "invoke_agent"]


async def test_what_was_said_is_told_only_where_it_is_asked_for() -> None:
    secret = "s3cr3t-of-the-trace-42"
    remember([secret])

    @tool
    def tells(key: str) -> str:
        """Tell."""
        return f"it is {key} {secret}"

    for capture in (False, True):
        memory = Memory(capture_content=capture)
        fake = FakeModel().tool_call("tells", {"key": "argument-word"}).tool_call("broken").text("answer-word")
        orchestrator = Orchestrator(fake, [tells, broken], observers=memory.observer, system="system-word")
        await orchestrator.run([Message(role="user", content="question-word")])
        told_all = " ".join(span.to_json() for span in memory.spans)
        for word in ("argument-word", "answer-word", "system-word", "question-word", "it is", "hunter2"):
            assert (word in told_all) is capture, word
        assert secret not in told_all
        if capture:
            chat, ran = told(memory.of("chat")[0]), told(memory.of("execute_tool")[0])
            assert json.loads(chat["gen_ai.input.messages"]) == [
                {"role": "user", "parts": [{"type": "text", "content": "question-word"}]}
            ]
            (said,) = json.loads(chat["gen_ai.output.messages"])
            assert said["parts"][0]["arguments"] == {"key": "argument-word"}
            assert json.loads(chat["gen_ai.system_instructions"]) == [{"type": "text", "content": "system-word"}]
            assert [one["name"] for one in json.loads(chat["gen_ai.tool.definitions"])] == ["tells", "broken"]
            assert json.loads(ran["gen_ai.tool.call.arguments"]) == {"key": "argument-word"}
            assert ran["gen_ai.tool.call.result"] == "it is argument-word [secret]"


async def test_a_spent_budget_is_reported() -> None:
    memory = Memory()
    fake = FakeModel(default=called("add", {"a": 1, "b": 2})).usage(input_tokens=10, output_tokens=10)
    with pytest.raises(LimitExceeded) as raised:
        await Orchestrator(fake, [add], observers=memory.observer).run("go", budget=Budget(requests=3))
    matches(memory, raised.value.partial)
    assert told(memory.of("invoke_agent")[0])["error.type"] == "LimitExceeded"


def test_without_it_nothing_is_imported_and_the_error_names_the_fix() -> None:
    program = """
import sys, asyncio
sys.modules["opentelemetry"] = None
from llmcore import FakeModel, Orchestrator, ConfigError
asyncio.run(Orchestrator(FakeModel("ok")).run("go"))
assert not [name for name in sys.modules if name.startswith("opentelemetry.")]
try:
    import llmcore.integrations.opentelemetry
except ConfigError as error:
    assert "pip install 'llmcore-engine[otel]'" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", program], check=True)
