"""What it costs to observe a run: one with one tool and a final answer.

    python -m benchmarks.tracing [--rounds 40] [--before COMMIT]

Twice: with a model that answers at once, so that nothing else takes time, and with one on loopback, as every real run sends requests
(the CPU of this process; the server is one of its own).

Beside a run that nobody observes: one with an observer that does nothing at each point, with logs at DEBUG into a handler that drops
them, with OpenTelemetry's spans, and with its metrics as well (the SDK, spans in batches to an exporter that drops them). `--before`:
the same run on the code of an older commit, in turns with this one, which shows what is paid where nobody observes.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.loopback import registry, served
from benchmarks.timing import best_of, conditions, table

__all__ = ["main"]

_RUNS = 5
"""Of one measurement."""


async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def fake() -> Any:
    from llmcore import FakeModel, Request
    from llmcore.testing.replies import tool_call_body

    def reply(request: Request) -> Any:
        done = sum(message.role == "assistant" for message in request.messages)
        return "The sum is 5." if done else tool_call_body([("add", {"a": 2, "b": 3})], "", done)

    return FakeModel(default=reply).usage(input_tokens=20, output_tokens=8)


def orchestrator(model: Any, **options: Any) -> Any:
    from llmcore import Orchestrator

    return Orchestrator(model, [add], **options)


def observers() -> dict[str, Any]:
    from opentelemetry.metrics import NoOpMeterProvider
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

    from llmcore import Observer
    from llmcore.integrations.opentelemetry import OpenTelemetry
    from llmcore.run.observing.observers import POINTS

    class Dropped(SpanExporter):
        def export(self, spans: Any) -> SpanExportResult:
            return SpanExportResult.SUCCESS

    def nothing(self: Any, *told: Any) -> None: ...

    tracers = TracerProvider()
    tracers.add_span_processor(BatchSpanProcessor(Dropped()))
    meters = MeterProvider(metric_readers=[InMemoryMetricReader()])
    return {
        "an observer": type("Nothing", (Observer,), dict.fromkeys(POINTS, nothing))(),
        "spans": OpenTelemetry(tracers, NoOpMeterProvider()),
        "spans and metrics": OpenTelemetry(tracers, meters),
    }


class Dropping(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        record.getMessage()


def logged(work: Callable[[], object]) -> Callable[[], object]:
    log, handler = logging.getLogger("llmcore"), Dropping()

    def worked() -> None:
        log.addHandler(handler)
        log.setLevel(logging.DEBUG)
        log.propagate = False
        work()
        log.setLevel(logging.NOTSET)
        log.removeHandler(handler)

    return worked


def measured(model: Any, rounds: int, *, alone: bool = False) -> dict[str, float]:
    """CPU seconds of a run of the model, by what observes it."""
    with asyncio.Runner() as runner:

        async def several(of: Any) -> None:
            for _ in range(_RUNS):
                await of.run("What is 2 and 3?")

        def working(of: Any) -> Callable[[], object]:
            return lambda: runner.run(several(of))

        works = {"nobody": working(orchestrator(model))}
        if not alone:
            works["logs at DEBUG"] = logged(works["nobody"])
            works |= {name: working(orchestrator(model, observers=one)) for name, one in observers().items()}
        return {name: seconds / _RUNS for name, seconds in best_of(works, rounds, 0.01).items()}


def before(commit: str, rounds: int) -> None:
    """This code and the commit's, each in a process of its own, in turns: the best of each."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "before"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(tree), commit], check=True)
        try:
            here = Path(__file__).parent.parent
            (tree / "benchmarks" / "tracing.py").write_text(Path(__file__).read_text("utf-8"), "utf-8")
            best: dict[str, float] = {}
            for _ in range(max(1, rounds // 10)):
                for name, place in (("before", tree), ("now", here)):
                    command = [sys.executable, "-m", "benchmarks.tracing", "--alone", "--rounds", "10"]
                    out = subprocess.run(
                        command, check=True, cwd=place, capture_output=True, text=True, env=_environment(place)
                    ).stdout
                    best[name] = min(best.get(name, 1.0), float(out.split()[-1]))
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(tree)], check=True)
    print(
        f"nobody observes: now {best['now'] * 1e6:.0f} us, {commit} {best['before'] * 1e6:.0f} us, {best['now'] / best['before']:.3f}x"
    )


def _environment(place: Path) -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": str(place)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--before", metavar="COMMIT")
    parser.add_argument("--alone", action="store_true", help="print the seconds of a run that nobody observes")
    args = parser.parse_args()
    if args.alone:
        print(measured(fake(), args.rounds, alone=True)["nobody"])
        return
    print(conditions())
    with served() as base_url:
        for title, model in (("a model that answers at once", fake()), ("a server on loopback", registry(base_url))):
            times = measured(model, args.rounds)
            rows = [[name, f"{spent * 1e6:.0f} us", f"{spent / times['nobody']:.3f}x"] for name, spent in times.items()]
            print("", table([f"{title}: observed by", "CPU of a run", "beside nobody"], rows), sep="\n")
    if args.before:
        before(args.before, args.rounds)


if __name__ == "__main__":
    main()
