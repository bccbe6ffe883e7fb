"""The rows from `tests/normalizer/samples`: one row a sample, in a file of the same name.

A row has the calls of its sample that can be executed: those that are complete and have arguments. If llmcore calls one of them a
guess, or its name is none of the tools, the verdict is `i`. A sample that has no such call has the verdict `n`.
"""

from __future__ import annotations

from collections.abc import Iterator

from llmcore import normalize
from tests.normalizer.helpers import Sample, samples

from .row import Row, Verdict

__all__ = ["rows_of_samples"]


def rows_of_samples(file: str) -> Iterator[Row]:
    for sample in samples(file):
        calls = [
            (call.name, call.arguments)
            for call in sample.calls
            if call.arguments is not None and call.facts.get("complete", True)
        ]
        yield Row(
            f"{file}/{sample.id}",
            sample.text,
            sample.toolset,
            calls,
            _verdict(sample) if calls else "n",
            sample.content,
            sample.reasoning,
            sample.finish,
        )


def _verdict(sample: Sample) -> Verdict:
    calls = normalize(sample.text, sample.toolset, finish_reason=sample.finish).tool_calls
    doubtful = any(call.known is False or any(repair.safety == "guess" for repair in call.repairs) for call in calls)
    return "i" if doubtful else "y"
