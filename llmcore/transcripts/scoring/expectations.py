"""Compares a reply with its expectation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from llmcore.transcripts.model import Expectation, ExpectedCall
from llmcore.transcripts.scoring.equality import json_equal
from llmcore.types import Envelope, JsonSchema, OutputParseError, ToolCall
from llmcore.validator import Problem, parse

__all__ = ["OUTPUT_TOOL", "Mismatch", "compared", "unanswered"]

OUTPUT_TOOL = "final_result"
"""The tool whose arguments are the typed output, if an endpoint cannot combine schemas and tools."""

What = Literal["calls", "content", "value"]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """An expectation that is not met."""

    what: What
    expected: Any
    got: Any


def compared(
    expectation: Expectation, envelope: Envelope, calls: Sequence[ToolCall], schema: JsonSchema | None
) -> tuple[list[Mismatch], list[Problem]]:
    """Where a reply differs, and why no value could be read from it. `calls`: the envelope's calls after repairs.

    Compares complete calls by name and arguments. The expected ones may match the calls as written or after repairs.
    White space around the content does not count.
    """
    found = [*_calls_compared(expectation, envelope, calls), *_content_compared(expectation, envelope)]
    if not expectation.judges_value:
        return found, []
    try:
        value = _value(envelope, calls, schema, expectation.value)
    except OutputParseError as error:
        problem = Problem(kind="no_value", message=f"no value: {error}")
        return [*found, Mismatch("value", expectation.value, None)], [problem]
    differs = not json_equal(expectation.value, value)
    return found + [Mismatch("value", expectation.value, value)] * differs, []


def unanswered(expectation: Expectation) -> list[Mismatch]:
    """The mismatches of a failed request: everything that was expected of its reply."""
    wanted: list[tuple[What, Any]] = [
        ("calls", [_plain(call) for call in expectation.calls or []]),
        ("content", expectation.content),
    ]
    found = [Mismatch(what, expected, None) for what, expected in wanted if expected]
    return found + [Mismatch("value", expectation.value, None)] * expectation.judges_value


def _calls_compared(expectation: Expectation, envelope: Envelope, calls: Sequence[ToolCall]) -> list[Mismatch]:
    if expectation.calls is None:
        return []
    runnable = [call for call in calls if call.complete]
    written = [call for call in envelope.tool_calls if call.complete]
    if any(_calls_equal(expectation.calls, found) for found in (runnable, written)):
        return []
    return [Mismatch("calls", [_plain(call) for call in expectation.calls], [_plain(call) for call in runnable])]


def _content_compared(expectation: Expectation, envelope: Envelope) -> list[Mismatch]:
    if expectation.content is None or expectation.content.strip() == envelope.content.strip():
        return []
    return [Mismatch("content", expectation.content, envelope.content)]


def _value(envelope: Envelope, calls: Sequence[ToolCall], schema: JsonSchema | None, expected: Any) -> Any:
    """The typed output: the output tool's arguments if it was called, else the parsed content."""
    for call in calls:
        if call.name == OUTPUT_TOOL and call.complete and call.arguments is not None:
            return call.arguments
    if isinstance(expected, str) and schema is None:
        return envelope.content.strip()
    return parse(envelope.content, schema or {}, strictness="safe")


def _calls_equal(expected: Sequence[ExpectedCall], calls: Sequence[ToolCall]) -> bool:
    return len(expected) == len(calls) and all(
        wanted.name == call.name and json_equal(wanted.arguments, call.arguments)
        for wanted, call in zip(expected, calls, strict=True)
    )


def _plain(call: ExpectedCall | ToolCall) -> dict[str, Any]:
    return {"name": call.name, "arguments": call.arguments}
