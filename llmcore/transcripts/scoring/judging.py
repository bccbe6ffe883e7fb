"""Judges one recorded reply with layers 2 and 3: was a call or value due, is a re-ask needed, is it as expected?

No output of a model or server raises. Wrong tools or a wrong output schema in the transcript raise a `TranscriptError`
that names the line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from llmcore.compiling import compile_tools
from llmcore.transcripts.errors import TranscriptError
from llmcore.transcripts.formats.building import first_problem
from llmcore.transcripts.formats.requests import RequestFacts, facts_of, function_tools
from llmcore.transcripts.model import Exchange, Expectation, Transcript
from llmcore.transcripts.scoring.envelopes import envelope_of
from llmcore.transcripts.scoring.expectations import Mismatch, compared, unanswered
from llmcore.types import CallerError, Envelope, NearMiss, ToolCall, ToolSet
from llmcore.types.near_misses import SHOWN
from llmcore.validator import Problem, ProblemKind, validate_calls

__all__ = ["Judgement", "Mismatch", "judge"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """One exchange judged.

    `envelope` is None if the request failed. `calls` are the calls after layer 3's repairs. Those at the indexes in `refused`
    may not run, and the kind is that of the first problem. `due`: a call or a value was due, so the reply is a unit.
    `problems`: the reasons for a re-ask. `mismatches`: what differs from the expectation. `unreadable_events`: pieces of a
    recorded stream that are not events.
    """

    envelope: Envelope | None
    calls: tuple[ToolCall, ...] = ()
    refused: Mapping[int, ProblemKind] = field(default_factory=dict[int, ProblemKind])
    due: bool = False
    problems: tuple[str, ...] = ()
    mismatches: tuple[Mismatch, ...] = ()
    unreadable_events: int = 0

    @property
    def success(self) -> bool:
        return not self.problems and not self.mismatches


def judge(transcript: Transcript, index: int) -> Judgement:
    """Judge the exchange at `index`. Raises `TranscriptError` for tools or an output schema that cannot be used."""
    exchange = transcript.exchanges[index]
    expectation = transcript.expectation(index) or Expectation()
    facts = facts_of(exchange.request)
    expected = bool(expectation.calls) or expectation.judges_value
    try:
        tools = _tools(transcript, facts)
        envelope, unreadable = envelope_of(exchange, tools, facts.forced_tool)
        if envelope is None:
            return _failed(exchange, expectation, due=expected or facts.forced)
        calls, problems = _checked(envelope, tools, facts.forced)
        mismatches, without_value = compared(expectation, envelope, calls, transcript.output_schema)
    except CallerError as error:
        raise _unusable(transcript, index, str(error)) from error
    except ValidationError as error:
        raise _unusable(transcript, index, f"its tools cannot be used: {first_problem(error)}") from None
    except Exception as error:  # an unforeseen error in one run does not stop the others
        raise _unusable(transcript, index, f"cannot be judged: {type(error).__name__}: {_shortened(error)}") from error
    if expectation.calls is None and not expectation.judges_value:
        problems += _near_misses(envelope, problems)
    return Judgement(
        envelope=envelope,
        calls=tuple(calls),
        refused={problem.call: problem.kind for problem in reversed(problems) if problem.call is not None},
        due=expected or facts.forced or bool(calls or _missed(envelope)) or envelope.truncated,
        problems=tuple(map(_line, [*problems, *without_value])),
        mismatches=tuple(mismatches),
        unreadable_events=unreadable,
    )


def _unusable(transcript: Transcript, index: int, why: str) -> TranscriptError:
    return TranscriptError(transcript.path or "-", transcript.line, f"exchanges[{index}]: {why}")


def _tools(transcript: Transcript, facts: RequestFacts) -> ToolSet | None:
    """The tools that the run offered, else those of the request; None if unknown."""
    offered = list(function_tools(transcript.tools)) if transcript.tools is not None else facts.tools
    return None if offered is None else compile_tools(offered)


def _failed(exchange: Exchange, expectation: Expectation, *, due: bool) -> Judgement:
    problem = f"the request failed: {_shortened(exchange.error)}"
    return Judgement(None, due=due, problems=(problem,), mismatches=tuple(unanswered(expectation)))


def _checked(envelope: Envelope, tools: ToolSet | None, forced: bool) -> tuple[list[ToolCall], list[Problem]]:
    """The calls after repairs, and the problems that keep them from running."""
    calls, problems = envelope.tool_calls, list[Problem]()
    if tools is not None and (calls or forced):
        report = validate_calls(envelope, tools, strictness="safe", required=forced)
        calls, problems = report.calls, list(report.problems)
    elif forced and not calls:
        problems.append(Problem(kind="no_call", message="a call was required and none came"))
    told = {(problem.call, problem.kind) for problem in problems}
    return calls, problems + [problem for problem in _own(calls) if (problem.call, problem.kind) not in told]


def _own(calls: Sequence[ToolCall]) -> Iterator[Problem]:
    """Problems of calls that the validator accepts without tools, or for read-only tools."""
    for index, call in enumerate(calls):
        guesses = sorted({repair.kind for repair in call.repairs if repair.safety == "guess"})
        checks: tuple[tuple[bool, ProblemKind, str], ...] = (
            (not call.complete, "incomplete", "the reply ended inside the call"),
            (call.complete and call.arguments is None, "unreadable_arguments", "the arguments cannot be read"),
            (call.known is False, "unknown_tool", "there is no such tool"),
            (bool(guesses), "untrusted", f"the arguments were guessed ({', '.join(guesses)})"),
        )
        for applies, kind, message in checks:
            if applies:
                yield Problem(kind=kind, message=message, call=index, tool=call.name)


def _missed(envelope: Envelope) -> list[NearMiss]:
    """The near misses that may have been meant as calls, without text that only shows a call."""
    return [miss for miss in envelope.near_misses if miss.reason not in SHOWN]


def _near_misses(envelope: Envelope, problems: Sequence[Problem]) -> list[Problem]:
    if any(problem.kind == "near_miss" for problem in problems):
        return []
    return [Problem(kind="near_miss", message=_near_miss_line(miss)) for miss in _missed(envelope)]


def _near_miss_line(miss: NearMiss) -> str:
    return f"near miss: {miss.name or 'no name'}: {miss.reason}"


def _line(problem: Problem) -> str:
    return f"{problem.tool}: {problem}" if problem.tool else str(problem)


def _shortened(value: Any, length: int = 200) -> str:
    text = str(value)
    return text if len(text) <= length else text[:length] + "..."
