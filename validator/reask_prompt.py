"""The words of a correction: what the model wrote, what is wrong with it, what it must match, and what to do now.

Nothing else: no history, no other tools, no values or schemas beyond their stated lengths.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from llmcore.types import Envelope, JsonSchema, ToolCall, ToolDefinition
from llmcore.validator.problems import Problem, cut

__all__ = ["correction_prompt"]

_MAX_QUOTED = 4000
"""Characters of the model's own text that a correction quotes."""
_MAX_SCHEMA = 40_000


def correction_prompt(
    envelope: Envelope,
    calls: Sequence[ToolCall],
    problems: Sequence[Problem],
    tools: Sequence[ToolDefinition],
    output_schema: JsonSchema | None,
    cut_short: bool,
) -> str:
    """The text of the one message a correction sends. `calls` are the failing ones, none for words or typed output."""
    parts = [_opening(calls, cut_short), *(_quoted_call(call) for call in calls)]
    if not calls and envelope.content.strip():
        parts.append(_fenced(envelope.content.strip()))
    parts.append("Problems:\n" + "\n".join(f"- {_line(problem, len(calls) > 1)}" for problem in problems))
    parts += [_schema_of(tool) for tool in tools if any(problem.tool == tool.name for problem in problems)]
    if output_schema is not None:
        parts.append(
            "The answer must be JSON that matches this schema:\n" + _fenced(json.dumps(output_schema, ensure_ascii=False), "json")
        )
    parts.append(_request(calls, problems, output_schema is not None, cut_short))
    return "\n\n".join(parts)


def _opening(calls: Sequence[ToolCall], cut_short: bool) -> str:
    if cut_short:
        return "Your last reply was cut off before it ended, so it was not used:"
    return "Your last reply was not used, because this call cannot be run:" if calls else "Your last reply cannot be used:"


def _quoted_call(call: ToolCall) -> str:
    body = call.raw_arguments or json.dumps(call.arguments, ensure_ascii=False, default=str)
    return f"`{call.name}` with the arguments\n{_fenced(body)}"


def _line(problem: Problem, several: bool) -> str:
    return f"`{problem.tool}`: {problem}" if several and problem.tool else str(problem)


def _schema_of(tool: ToolDefinition) -> str:
    schema = json.dumps(tool.parameters, ensure_ascii=False)
    return f"The arguments of `{tool.name}` must match this JSON Schema:\n{_fenced(schema, 'json', _MAX_SCHEMA)}"


def _request(calls: Sequence[ToolCall], problems: Sequence[Problem], typed: bool, cut_short: bool) -> str:
    brief = " Keep it shorter, so that it is not cut again." if cut_short else ""
    if typed:
        return f"Answer again with the JSON only.{brief}"
    if calls:
        what = "these calls" if len(calls) > 1 else "this call"
        return f"Make {what} again, corrected and whole, and nothing else.{brief}"
    if cut_short and not any(problem.kind in ("no_call", "near_miss") for problem in problems):
        return f"Give the whole reply again.{brief}"
    return f"Answer again with a call of one of the tools.{brief}"


def _fenced(text: str, language: str = "", most: int = _MAX_QUOTED) -> str:
    """Fenced so that no fence inside ends it."""
    body = cut(text, most)
    ticks = "```"
    while ticks in body:
        ticks += "`"
    return f"{ticks}{language}\n{body}\n{ticks}"
