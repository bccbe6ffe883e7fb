"""Validates an envelope's calls against the tools: resolves names, coerces arguments, and reports problems.

Rules
- Validation always runs, calls no model, and never raises because of a model's reply.
- If a name is not a spelling variant of exactly one tool, the problem lists the names. No tool is guessed.
- A call that was cut off never runs. A repair that is a `guess` runs only on a `read_only` tool, and never with `off`. A
  `coerced` one needs `safe`.
- `json_repair` is tried on at most one call of a reply, and only if its guess may run.

A call that needs no change is returned as the same object. Schemas are compiled once per tool set.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import ConfigDict, Field

from llmcore.support.values.copies import Value, made
from llmcore.types import Envelope, ToolCall, ToolSet
from llmcore.validator.coercion.coercer import Strictness
from llmcore.validator.judging import CallJudge, cut_off_problem, missing_call_problems
from llmcore.validator.schema.problems import Problem

__all__ = ["ValidationReport", "cut_off_problem", "validate_calls"]


class ValidationReport(Value):
    """The envelope's calls, in the same order, with names resolved, arguments coerced and repairs appended.

    Calls in `failing` have a problem and may not run. Calls in `runnable` may run. `ok` is True without problems.
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


def validate_calls(
    envelope: Envelope,
    tools: ToolSet | Iterable[object] | None,
    *,
    strictness: Strictness = "safe",
    required: bool = False,
) -> ValidationReport:
    """Validate an envelope's calls. Deterministic: no model call, no I/O.

    `tools` is a `ToolSet`, or anything that `ToolSet` accepts. If it is None, the tools are unknown, and names and arguments
    are not checked. If `required` (a forced tool choice), a reply without a call is a problem, which names the near misses. A
    reply that was cut off before any call is a problem without a call (`incomplete`).

    Raises `ToolDefinitionError` for an unusable tool schema.
    """
    known = tools if isinstance(tools, ToolSet) or tools is None else ToolSet(tools)
    judge = CallJudge(known, strictness, may_repair=envelope.finish_reason != "length")
    judged = [judge.call(index, call) for index, call in enumerate(envelope.tool_calls)]
    problems = [problem for _, found in judged for problem in found]
    if not judged and envelope.truncated:
        problems = [cut_off_problem()]
    elif required and not judged:
        problems = missing_call_problems(
            envelope, "a tool call" if known is None or known.names else "words, for there are no tools"
        )
    return made(ValidationReport, calls=[call for call, _ in judged], problems=problems)
