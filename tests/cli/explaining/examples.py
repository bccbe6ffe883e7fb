"""Runs the example of an explanation: what llmcore makes of it, as the table shows it, and the codes that appeared."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from llmcore import Limits, LLMCoreError, Message, Repair, ToolCall, normalize, parse_detailed, validate
from llmcore.adapters.request.conversation.history import repaired_history
from llmcore.cli.explaining.codes import Explanation
from llmcore.testing.replies import raise_if_error, tool_call_body
from llmcore.types import Envelope

__all__ = ["outcome"]

CITY = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}
NAME = "get_weather"


def outcome(one: Explanation) -> tuple[str, set[str]]:
    """What becomes of the example, and every code that appeared."""
    return _RUNS[one.given](one)


def _tools(one: Explanation) -> list[dict[str, Any]] | None:
    given: Mapping[str, Any] | bool = one.settings.get("tools", {NAME: one.settings.get("schema", CITY)})
    return (
        None
        if isinstance(given, bool)
        else [
            {"name": name, "parameters": schema, "read_only": one.settings.get("read_only", False)}
            for name, schema in given.items()
        ]
    )


def _options(one: Explanation) -> dict[str, Any]:
    options = dict(one.settings.get("options", {}))
    return options | ({"limits": Limits(**options["limits"])} if "limits" in options else {})


def _reply(one: Explanation) -> tuple[str, set[str]]:
    reply = json.loads(one.before) if one.given == "body" else one.before
    return _of_envelope(one, normalize(reply, _tools(one), **_options(one)))


def _of_envelope(one: Explanation, envelope: Envelope, calls: Iterable[ToolCall] | None = None) -> tuple[str, set[str]]:
    made = list(envelope.tool_calls if calls is None else calls)
    repairs = [*envelope.repairs, *(repair for call in made for repair in call.repairs)]
    misses = [miss for miss in envelope.near_misses if miss.reason.partition(":")[0] == one.code]
    lines = [f"call: {call.name} {_json(call.arguments)}{'' if call.complete else ' (incomplete)'}" for call in made]
    lines += [f"content: {_json(envelope.content)}"] if envelope.content.strip() and one.kind == "repair" else []
    lines += (
        _lines(one, repairs)
        if one.kind == "repair"
        else [f"near miss: {miss.name or 'no name'}: {miss.reason}" for miss in misses]
    )
    codes = {repair.kind for repair in repairs} if one.kind == "repair" else {miss.reason.partition(":")[0] for miss in misses}
    return "\n".join(lines or ["no call"]), codes


def _lines(one: Explanation, repairs: Iterable[Repair]) -> list[str]:
    found = [each for each in repairs if each.kind == one.code]
    return [f"repair: {each.kind} ({each.safety}){_at(each)}{_change(each)}" for each in found[:1]]


def _at(repair: Repair) -> str:
    return f" at {repair.path}" if repair.path else ""


def _change(repair: Repair) -> str:
    known = repair.before is not None or repair.after is not None
    return f": {_json(repair.before)} -> {_json(repair.after)}" if known else ""


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _arguments(one: Explanation) -> tuple[str, set[str]]:
    name = one.settings.get("name", NAME)
    options = _options(one)
    limits = {"limits": options.pop("limits")} if "limits" in options else {}
    envelope = normalize(tool_call_body([(name, one.before)], None, 0), _tools(one), **limits)
    report = validate(envelope, _tools(one) or [], **options)
    return _of_envelope(one, envelope, report.calls)


def _answer(one: Explanation) -> tuple[str, set[str]]:
    detail = parse_detailed(one.before, one.settings["schema"], **_options(one))
    return "\n".join([f"value: {_json(detail.value)}", *_lines(one, detail.repairs)]), {each.kind for each in detail.repairs}


def _history(one: Explanation) -> tuple[str, set[str]]:
    messages, repairs = repaired_history([Message.model_validate(each) for each in json.loads(one.before)])
    shown = [
        _json(
            {
                "role": each.role,
                "content": [block.model_dump(exclude_defaults=True) | {"type": block.type} for block in each.content],
            }
        )
        for each in messages
    ]
    return "\n".join([*shown, *_lines(one, repairs)]), {each.kind for each in repairs}


def _http(one: Explanation) -> tuple[str, set[str]]:
    try:
        raise_if_error(json.loads(one.before))
    except LLMCoreError as error:
        return f"{type(error).__name__}: {error}", {type(error).__name__}
    return "no error", set()


def _program(one: Explanation) -> tuple[str, set[str]]:
    printed = StringIO()
    with TemporaryDirectory() as folder, redirect_stdout(printed):
        path = Path(folder) / "program.py"
        path.write_text(one.before, "utf-8")
        runpy.run_path(str(path))
    text = printed.getvalue().rstrip("\n")
    return text, {one.code} if one.code in text else set()


_RUNS: dict[str, Callable[[Explanation], tuple[str, set[str]]]] = {
    "reply": _reply,
    "body": _reply,
    "arguments": _arguments,
    "answer": _answer,
    "history": _history,
    "http": _http,
    "program": _program,
}
