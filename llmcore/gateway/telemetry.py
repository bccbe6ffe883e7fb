"""Metrics and log lines of requests. They have no words of messages and replies, and no keys.

With several workers, `PROMETHEUS_MULTIPROC_DIR` names the folder that they share; `llmcore serve` sets it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import (
    MultiProcessCollector,
    mark_process_dead,  # pyright: ignore[reportUnknownVariableType]
)

from llmcore.types import Repair
from llmcore.types.logs import logger
from llmcore.wire import ReplyReport
from llmcore.wire.extension import repairs_summary

__all__ = ["MULTIPROCESS_FOLDER", "Metrics", "RequestRecord"]

_log = logger("gateway")
MULTIPROCESS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that prometheus-client reads when it is imported."""
_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
_CLIENT_GONE = 499
"""The status of a request whose client left, as nginx writes it."""


@dataclass(slots=True)
class RequestRecord:
    """What happened to one request. `model`: an alias of the registry; "" if the request named none of them.

    `problem`: the kind of the error that ended it. `reports`: what was made of the reply.
    """

    wire: str
    request_id: str
    client: str = ""
    model: str = ""
    mode: str = ""
    status: int = 0
    problem: str = ""
    size: int = 0
    first_byte: float | None = None
    started: float = field(default_factory=time.perf_counter)
    reports: list[ReplyReport] = field(default_factory=list[ReplyReport])
    repairs: list[Repair] = field(default_factory=list[Repair])

    def note(self, report: ReplyReport) -> None:
        """Note the report of a reply or of one choice of it."""
        self.reports.append(report)
        self.repairs += (repair for call in report.calls for repair in call.repairs)

    @property
    def repairs_header(self) -> dict[str, str]:
        """The header with the kinds of the repairs; none if there were none."""
        return {"x-llmcore-repairs": repairs_summary(self.repairs)} if self.repairs else {}

    def left(self) -> None:
        """Note that the client left."""
        self.problem, self.status = "client_left", self.status or _CLIENT_GONE


class Metrics:
    """The metrics of one application."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._requests = Counter(
            "llmcore_gateway_requests", "Requests by outcome.", ("wire", "model", "mode", "status"), registry=registry
        )
        self._problems = Counter(
            "llmcore_gateway_problems", "Requests that ended in a problem, by kind.", ("wire", "kind"), registry=registry
        )
        self._seconds = Histogram(
            "llmcore_gateway_request_seconds",
            "Time until the end of the reply.",
            ("wire", "model"),
            buckets=_SECONDS,
            registry=registry,
        )
        self._first_byte = Histogram(
            "llmcore_gateway_first_byte_seconds",
            "Time until the first byte of the reply.",
            ("wire", "model"),
            buckets=_SECONDS,
            registry=registry,
        )
        self._calls = Counter(
            "llmcore_gateway_calls",
            "Calls of replies: native, in text (handed out as native ones), or withheld.",
            ("model", "outcome"),
            registry=registry,
        )
        self._repairs = Counter("llmcore_gateway_repairs", "Repairs of calls.", ("kind", "safety"), registry=registry)
        self._in_flight = Gauge(
            "llmcore_gateway_in_flight", "Requests in flight.", registry=registry, multiprocess_mode="livesum"
        )

    def exposition(self) -> bytes:
        """The metrics in Prometheus's text format, of all workers."""
        if MULTIPROCESS_FOLDER not in os.environ:
            return generate_latest(self._registry)
        shared = CollectorRegistry()
        MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
        return generate_latest(shared)

    def close(self) -> None:
        """Take this worker's gauges out of the sum."""
        if MULTIPROCESS_FOLDER in os.environ:
            mark_process_dead(os.getpid())  # type: ignore[no-untyped-call]

    def began(self) -> None:
        self._in_flight.inc()

    def ended(self, record: RequestRecord) -> None:
        """Count a request that has ended, and log it."""
        self._in_flight.dec()
        seconds = time.perf_counter() - record.started
        self._requests.labels(record.wire, record.model, record.mode, str(record.status)).inc()
        self._seconds.labels(record.wire, record.model).observe(seconds)
        if record.first_byte is not None:
            self._first_byte.labels(record.wire, record.model).observe(record.first_byte - record.started)
        if record.problem:
            self._problems.labels(record.wire, record.problem).inc()
        for outcome, count in _outcomes(record.reports):
            self._calls.labels(record.model, outcome).inc(count)
        for repair in record.repairs:
            self._repairs.labels(repair.kind, repair.safety).inc()
        _log.info(
            "%s %s %s from %s: %d in %.3f s, %d bytes%s%s",
            record.wire,
            record.mode or "-",
            record.model or "-",
            record.client or "-",
            record.status,
            seconds,
            record.size,
            f", {record.problem}" if record.problem else "",
            f", repairs: {repairs_summary(record.repairs)}" if record.repairs else "",
            extra={"model": record.model, "status": record.status, "duration": seconds, "request_id": record.request_id},
        )


def _outcomes(reports: Iterable[ReplyReport]) -> list[tuple[str, int]]:
    counts = {"native": 0, "text": 0, "withheld": 0}
    for report in reports:
        for call in report.calls:
            counts["native" if call.dialect == "native" else "text"] += 1
        counts["withheld"] += len(report.withheld)
    return [(outcome, count) for outcome, count in counts.items() if count]
