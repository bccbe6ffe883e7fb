"""The deterministic part of layer 3: an envelope's calls against the tools, mapped, coerced and judged.

Rules
- It always runs, calls no model, and never raises on what a model wrote.
- A name that is no pure spelling variant of exactly one tool goes back with the list of names; it is never mapped.
- A call that was cut never runs. A repair that is a `guess` runs only on a `read_only` tool, and never under `off`;
  one that is `coerced` needs `safe`.
- `json_repair` is tried on at most one call of a reply, and only where its guess may run.
A call that needs no change is returned as the same object; schemas are compiled once per tool set.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import ConfigDict, Field

from llmcore.support.values.copies import Value, made
from llmcore.types import Envelope, ToolCall, ToolSet
from llmcore.validator.coercion.coercer import Strictness
from llmcore.validator.judging import CallJudge, cut_short, missing_call_problems
from llmcore.validator.schema.problems import Problem

__all__ = ["ValidationReport", "cut_short", "validate"]


class ValidationReport(Value):
    """`calls` are the envelope's, in its order and by its indexes: names mapped, arguments coerced, repairs appended.
    Those in `failing` have a problem and may not run; those in `runnable` may. `ok` = there are no problems.
    """

    model_config = ConfigDict(frozen=True)

    calls: list[ToolCall] = Field(default_factory=list[ToolCall])
    problems: list[Problem] = Field(default_factory=list[Problem])

    @property
    def ok(self) -> bool:
        return not self.problems

    @property
    def failing_indexes(self) -> frozenset[int]:
        return frozenset(problem.call for problem in self.problems if problem.call is not None)

    @property
    def failing(self) -> list[ToolCall]:
        failing = self.failing_indexes
        return [call for index, call in enumerate(self.calls) if index in failing]

    @property
    def runnable(self) -> list[ToolCall]:
        failing = self.failing_indexes if self.problems else ()
        return [call for index, call in enumerate(self.calls) if index not in failing]


def validate(
    envelope: Envelope,
    tools: ToolSet | Iterable[object] | None,
    *,
    strictness: Strictness = "safe",
    required: bool = False,
) -> ValidationReport:
    """Judge an envelope's calls. Deterministic: no model call, no I/O. A reply that was cut off before any call could
    be read is a problem too (`incomplete`, of no call).

    `tools`: a `ToolSet`, or anything it takes; None = not told, so names and arguments cannot be judged. `required`:
    a call was due (a forced tool choice), so words alone are a problem, and near misses are named. Raises
    `ToolDefinitionError` when a tool's schema cannot be used.
    """
    known = tools if isinstance(tools, ToolSet) or tools is None else ToolSet(tools)
    judge = CallJudge(known, strictness, may_repair=envelope.finish_reason != "length")
    judged = [judge.call(index, call) for index, call in enumerate(envelope.tool_calls)]
    problems = [problem for _, found in judged for problem in found]
    if not judged and envelope.truncated:
        problems = [cut_short()]
    elif required and not judged:
        problems = missing_call_problems(
            envelope, "a tool call" if known is None or known.names else "words, for there are no tools"
        )
    return made(ValidationReport, calls=[call for call, _ in judged], problems=problems)
