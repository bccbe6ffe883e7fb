"""The words of a correction: what the model wrote, what is wrong with it, what it must match, and what to do now.

Nothing else: no history, no other tools. Whatever a model made long or many is shortened and counted, so that apart from
the schemas, which are the caller's, a correction stays below some 16,000 characters.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from llmcore.types import Envelope, JsonSchema, ToolCall, ToolDefinition
from llmcore.validator.schema.problems import MAX_SHOWN, Problem, cut

__all__ = ["correction_prompt"]

_MAX_QUOTED = 4000
"""Characters of one call, or of words, that a correction quotes."""
_MIN_QUOTED = 400
"""As few where there are many calls."""
_MAX_CALLS = 8000
_FRAMES = 1000
"""Characters of all quoted calls, and of what stands around them."""
_MAX_LINE = 1500
_MAX_LINES = 6000
"""Characters of one problem, and of all of them."""
_MAX_KEPT = 1500
_MAX_KEPT_CALL = 300
"""Characters of the kept calls, and of one."""
_MAX_SCHEMA = 40_000
"""Characters of all schemas of tools, and of the schema of a typed answer."""


def correction_prompt(
    envelope: Envelope,
    calls: Sequence[ToolCall],
    problems: Sequence[Problem],
    tools: Sequence[ToolDefinition],
    output_schema: JsonSchema | None,
    cut_short: bool,
    *,
    kept: Sequence[ToolCall] = (),
) -> str:
    """The text of the one message a correction sends. `calls` are the failing ones, all of them where the reply was cut, none
    for words or typed output; `kept` those that run if the failing ones are corrected."""
    parts = [_opening(calls, problems, cut_short, bool(kept)), *_quoted_calls(calls)]
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
    parts += _kept_calls(kept, "those" if len(calls) > 1 else "that one")
    parts.append(_request(calls, problems, output_schema is not None, cut_short, has_tools=len(tools) > 0))
    if kept:
        parts[-1] += " If you answer without a call, none of these calls runs, the kept ones neither."
    return "\n\n".join(parts)


def _fitting(texts: Iterable[str], most: int) -> tuple[list[str], int]:
    """The first of them that are no longer than `most` in all, at least one, and how many are left out."""
    waiting = list(texts)
    taken: list[str] = []
    for text in waiting:
        most -= len(text)
        if most < 0 and taken:
            break
        taken.append(text)
    return taken, len(waiting) - len(taken)


def _only_doubtful(problems: Sequence[Problem]) -> bool:
    return bool(problems) and all(problem.kind == "doubtful" for problem in problems)


def _opening(calls: Sequence[ToolCall], problems: Sequence[Problem], cut_short: bool, some_kept: bool) -> str:
    if cut_short:
        return f"Your last reply was cut off before it ended, so {'nothing of it was' if calls else 'it was not'} used:"
    if some_kept:
        unclear = "it is not clear whether it is meant or only shown"
        why = unclear if _only_doubtful(problems) else "it cannot be run"
        return f"A part of your last reply was not used. This call did not run, because {why}:"
    if _only_doubtful(problems):
        return "Your last reply was not used: it is not clear whether this call is meant or only shown."
    return "Your last reply was not used, because this call cannot be run:" if calls else "Your last reply cannot be used:"


def _quoted_calls(calls: Sequence[ToolCall]) -> list[str]:
    """The first of the calls, each shortened the more, the more there are."""
    room = min(_MAX_QUOTED, max(_MIN_QUOTED, _MAX_CALLS // len(calls))) if calls else 0
    quoted, left_out = _fitting((_quoted_call(call, room) for call in calls), _MAX_CALLS + _FRAMES)
    return [*quoted, f"{left_out} more calls are not shown here."] if left_out else quoted


def _kept_calls(kept: Sequence[ToolCall], others: str) -> list[str]:
    """What the model need not say again, and what else of its turn will happen."""
    if not kept:
        return []
    lines, left_out = _fitting((_kept_call(call) for call in kept), _MAX_KEPT)
    more = [f"- and {left_out} more"] if left_out else []
    opening = f"These calls of the same reply are kept. They run once, together with {others}; do not make them again:"
    return ["\n".join([opening, *lines, *more])]


def _kept_call(call: ToolCall) -> str:
    body = json.dumps(call.arguments, ensure_ascii=False, default=str)
    return f"- {_named(call.name)} with {_on_one_line(cut(body, _MAX_KEPT_CALL))}"


def _quoted_call(call: ToolCall, room: int) -> str:
    body = call.raw_arguments or json.dumps(call.arguments, ensure_ascii=False, default=str)
    return f"{_named(call.name)} with the arguments\n{_fenced(body, most=room)}"


def _named(name: str) -> str:
    """A name that a model made up, on one line and of bounded length."""
    return f"`{_on_one_line(cut(name, MAX_SHOWN))}`"


def _on_one_line(text: str) -> str:
    return " ".join(text.splitlines())


def _line(problem: Problem, several: bool) -> str:
    said = _on_one_line(str(problem))
    return f"{_named(problem.tool)}: {said}" if several and problem.tool else said


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
    """Fenced so that no fence inside ends it."""
    body = cut(text, most)
    ticks = "```"
    while ticks in body:
        ticks += "`"
    return f"{ticks}{language}\n{body}\n{ticks}"
