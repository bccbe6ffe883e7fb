"""Writes the message of a correction: the model's call, its problems, the schema it must match, and what to do now.

The message holds nothing else: no history, no other tools. Long parts are shortened, and what is left out is counted. So a
correction without the caller's schemas stays below about 16,000 characters.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from llmcore.types import Envelope, JsonSchema, ToolCall, ToolDefinition
from llmcore.validator.schema.problems import MAX_SHOWN, Problem, cut

__all__ = ["correction_prompt"]

_MAX_QUOTED = 4000
"""The most characters of one quoted call or text."""
_MIN_QUOTED = 400
"""The least characters of a quoted call, if there are many."""
_MAX_CALLS = 8000
_MAX_FRAMES = 1000
"""The most characters of the words around all quoted calls, which `_MAX_CALLS` bounds."""
_MAX_LINE = 1500
_MAX_LINES = 6000
"""The most characters of all problems. `_MAX_LINE` bounds one problem."""
_MAX_KEPT_CALLS = 1500
_MAX_KEPT_CALL = 300
"""The most characters of one kept call. `_MAX_KEPT_CALLS` bounds all of them."""
_MAX_SCHEMA = 40_000
"""The most characters of all tool schemas, and of an output schema."""


def correction_prompt(
    envelope: Envelope,
    calls: Sequence[ToolCall],
    problems: Sequence[Problem],
    tools: Sequence[ToolDefinition],
    output_schema: JsonSchema | None,
    cut_short: bool,
    *,
    kept_calls: Sequence[ToolCall] = (),
) -> str:
    """Return the text of a correction's message.

    `calls` are the failing calls, or all calls if the reply was cut. They are empty for words and typed output. `kept_calls`
    run once the failing ones are corrected.
    """
    parts = [_opening(calls, problems, cut_short, bool(kept_calls)), *_quoted_calls(calls)]
    if not calls and envelope.content.strip():
        parts.append(_fenced(envelope.content.strip()))
    lines = dict.fromkeys(f"- {cut(_line(problem, len(calls) > 1), _MAX_LINE)}" for problem in problems)
    listed, left_out = _fitting(lines, _MAX_LINES)
    more = [f"- and {left_out} more"] if left_out else []
    parts.append("Problems:\n" + "\n".join([*listed, *more]))
    parts += _schemas([tool for tool in tools if any(problem.tool == tool.name for problem in problems)])
    if output_schema is not None:
        schema = json.dumps(output_schema, ensure_ascii=False)
        parts.append(f"The answer must be JSON that matches this schema:\n{_fenced(schema, 'json', _MAX_SCHEMA)}")
    parts += _kept_calls(kept_calls, "those" if len(calls) > 1 else "that one")
    parts.append(_request(calls, problems, output_schema is not None, cut_short, has_tools=len(tools) > 0))
    if kept_calls:
        parts[-1] += " If you answer without a call, none of these calls runs, the kept ones neither."
    return "\n\n".join(parts)


def _fitting(texts: Iterable[str], most: int) -> tuple[list[str], int]:
    """The first texts whose total length is at most `most`, at least one, and how many are left out."""
    waiting = list(texts)
    first: list[str] = []
    for text in waiting:
        most -= len(text)
        if most < 0 and first:
            break
        first.append(text)
    return first, len(waiting) - len(first)


def _only_doubtful(problems: Sequence[Problem]) -> bool:
    return bool(problems) and all(problem.kind == "doubtful" for problem in problems)


def _opening(calls: Sequence[ToolCall], problems: Sequence[Problem], cut_short: bool, keeps_others: bool) -> str:
    if cut_short:
        return f"Your last reply was cut off before it ended, so {'nothing of it was' if calls else 'it was not'} used:"
    if keeps_others:
        unclear = "it is not clear whether it is meant or only shown"
        why = unclear if _only_doubtful(problems) else "it cannot be run"
        return f"A part of your last reply was not used. This call did not run, because {why}:"
    if _only_doubtful(problems):
        return "Your last reply was not used: it is not clear whether this call is meant or only shown."
    return "Your last reply was not used, because this call cannot be run:" if calls else "Your last reply cannot be used:"


def _quoted_calls(calls: Sequence[ToolCall]) -> list[str]:
    """The first calls, each shortened more if there are many."""
    length = min(_MAX_QUOTED, max(_MIN_QUOTED, _MAX_CALLS // len(calls))) if calls else 0
    quoted, left_out = _fitting((_quoted_call(call, length) for call in calls), _MAX_CALLS + _MAX_FRAMES)
    return [*quoted, f"{left_out} more calls are not shown here."] if left_out else quoted


def _kept_calls(kept_calls: Sequence[ToolCall], others: str) -> list[str]:
    """The calls that the model must not repeat, since they will run."""
    if not kept_calls:
        return []
    lines, left_out = _fitting((_kept_call_line(call) for call in kept_calls), _MAX_KEPT_CALLS)
    more = [f"- and {left_out} more"] if left_out else []
    opening = f"These calls of the same reply are kept. They run once, together with {others}; do not make them again:"
    return ["\n".join([opening, *lines, *more])]


def _kept_call_line(call: ToolCall) -> str:
    body = json.dumps(call.arguments, ensure_ascii=False, default=str)
    return f"- {_named(call.name)} with {_on_one_line(cut(body, _MAX_KEPT_CALL))}"


def _quoted_call(call: ToolCall, length: int) -> str:
    body = call.raw_arguments or json.dumps(call.arguments, ensure_ascii=False, default=str)
    return f"{_named(call.name)} with the arguments\n{_fenced(body, most=length)}"


def _named(name: str) -> str:
    """A name from the model, on one line and of bounded length."""
    return f"`{_on_one_line(cut(name, MAX_SHOWN))}`"


def _on_one_line(text: str) -> str:
    return " ".join(text.splitlines())


def _line(problem: Problem, several: bool) -> str:
    words = _on_one_line(str(problem))
    return f"{_named(problem.tool)}: {words}" if several and problem.tool else words


def _schemas(tools: Sequence[ToolDefinition]) -> list[str]:
    written = [(tool, json.dumps(tool.parameters, ensure_ascii=False)) for tool in tools]
    parts, left_out = _fitting(
        (
            f"The arguments of `{tool.name}` must match this JSON Schema:\n{_fenced(schema, 'json', _MAX_SCHEMA)}"
            for tool, schema in written
        ),
        _MAX_SCHEMA,
    )
    return [*parts, f"The schemas of {left_out} more tools are those you were given."] if left_out else parts


def _request(calls: Sequence[ToolCall], problems: Sequence[Problem], typed: bool, cut_short: bool, *, has_tools: bool) -> str:
    brief = " Keep it shorter, so that it is not cut again." if cut_short else ""
    if calls and not cut_short and _only_doubtful(problems):
        return (
            "If you mean it, write the call again, alone, with no words beside it and no fence around it: then it runs. "
            "If you only showed it, answer in words, without a call."
        )
    if typed and has_tools and not cut_short:
        return "Call the tools that you need for it, or answer again with the JSON only."
    if typed:
        return f"Answer again with the JSON only.{brief}"
    if calls and cut_short:
        return f"None of its calls ran. Make every call that you mean again, whole.{brief}"
    if calls:
        what = "these calls" if len(calls) > 1 else "this call"
        return f"Make {what} again, corrected and whole, and nothing else.{brief}"
    if cut_short and not any(problem.kind in ("no_call", "near_miss") for problem in problems):
        return f"Give the whole reply again.{brief}"
    return f"Answer again {'with a call of one of the tools' if has_tools else 'in words, without a call'}.{brief}"


def _fenced(text: str, language: str = "", most: int = _MAX_QUOTED) -> str:
    """The text in a fence that no fence inside the text can end."""
    body = cut(text, most)
    ticks = "```"
    while ticks in body:
        ticks += "`"
    return f"{ticks}{language}\n{body}\n{ticks}"
