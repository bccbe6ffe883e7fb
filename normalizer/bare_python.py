"""Bare Python calls: a list of them, or one or several on a line, with no marker."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from llmcore.normalizer.bodies import Body, add_calls, swallow
from llmcore.normalizer.call_objects import CallObject
from llmcore.normalizer.made_up import around, wrapper_before
from llmcore.normalizer.names import is_known, peel
from llmcore.normalizer.readers.extent import Extent
from llmcore.normalizer.readers.python import PythonCall, read_calls
from llmcore.normalizer.source import Steps, past
from llmcore.normalizer.values import positional_arguments
from llmcore.normalizer.verdicts import STRAY_CLOSERS, Place, refusal, rest_is_blank
from llmcore.types.envelope import Repair
from llmcore.types.tools import CompiledTool

if TYPE_CHECKING:
    from llmcore.normalizer.text import TextEngine

__all__ = ["is_callable", "mid_line_call", "python_extent", "python_list", "python_objects", "python_run", "settled_word"]

_NEXT_NAME = r"[A-Za-z_][\w.\\-]{0,255}"
_NEXT_CALL = re.compile(rf"[ \t;,]{{0,64}}{_NEXT_NAME}\("), re.compile(rf"[ \t;,]{{0,64}}(?:{_NEXT_NAME})?\Z")
_NEXT_LINE_CALL = re.compile(rf"[\s;,]{{0,64}}{_NEXT_NAME}\("), re.compile(rf"[\s;,]{{0,64}}(?:{_NEXT_NAME})?\Z")
"""The next call of a run, and the beginning of one at the end of the text."""
_KEYWORDS = frozenset(
    [
        "if",
        "for",
        "while",
        "return",
        "print",
        "def",
        "class",
        "and",
        "or",
        "not",
        "in",
        "is",
        "with",
        "assert",
        "lambda",
        "await",
        "async",
        "del",
        "raise",
    ]
)


def python_objects(engine: TextEngine, calls: list[PythonCall]) -> list[CallObject]:
    """Python calls as call objects: positional arguments mapped to the schema's properties (a guess), one dict is keywords."""
    return [_python_object(engine, _printed(engine, call)) for call in calls]


def _printed(engine: TextEngine, call: PythonCall) -> PythonCall:
    """`print(f(...))` calls `f`, unless `print` is a tool."""
    if call.name != "print" or is_known("print", engine.tools):
        return call
    inner = read_calls(call.raw, limits=engine.limits, cut=not call.complete).calls
    return inner[0] if len(inner) == 1 else call


def _python_object(engine: TextEngine, call: PythonCall) -> CallObject:
    name = call.name.removeprefix("default_api.")
    known = peel(name, engine.tools)
    if known is not None and name.endswith(".call"):
        name = known
    found = CallObject(name, call.arguments, True, raw=call.raw, repairs=list(call.repairs))
    tool = engine.tool(name)
    if call.positional and call.arguments is not None:
        mapped = positional_arguments(call.positional, tool) if tool is not None else None
        found.arguments = None if mapped is None else {**mapped, **call.arguments}
        found.repairs.append(Repair(kind="positional", before=call.positional, after=mapped, safety="guess"))
    if tool is not None and found.arguments:
        found.repairs = [settled_word(found.arguments, repair, tool) for repair in found.repairs]
    return found


def settled_word(arguments: dict[str, Any], repair: Repair, tool: CompiledTool) -> Repair:
    """A bare word under a string schema can only be that string; `07` under an integer schema is that number."""
    types = tool.types(repair.path)
    word = arguments.get(repair.path)
    if repair.kind != "bare_word" or not types or not isinstance(word, str):
        return repair
    if set(types) <= {"string", "null"}:
        return repair.model_copy(update={"safety": "coerced"})
    digits = word.lstrip("0") or "0"
    numeric = "string" not in types and {"integer", "number"} & set(types)
    if numeric and len(digits) <= 64 and digits.isdecimal() and digits.isascii():
        arguments[repair.path] = int(digits)
        return repair.model_copy(update={"after": int(digits), "safety": "coerced"})
    return repair


def python_extent(engine: TextEngine, start: int) -> Steps[Body]:
    src = engine.src
    extent = Extent(start, quotes="'\"", triple=True, comments=True)
    while True:
        end = extent.scan(src.text, src.final)
        if end >= 0:
            return Body(start, end)
        if src.final:
            return _python_unclosed(engine, start)
        yield


def _python_unclosed(engine: TextEngine, start: int) -> Body:
    text = engine.src.text
    engine.waste(len(text) - start)
    hits = [hit for closer in STRAY_CLOSERS if (hit := text.find(closer, start)) >= 0]
    return Body(start, min(hits), closed=False) if hits else Body(start, len(text), cut=True, closed=False)


def python_list(engine: TextEngine, begin: int, at: int) -> Steps[int]:
    body = yield from python_extent(engine, at)
    end = body.end
    while body.closed and end >= len(engine.src.text) and not engine.src.final:
        yield
    if engine.src.text.startswith("(", end):  # ['f'](a=1)
        more = yield from python_extent(engine, end)
        body = Body(at, more.end, cut=more.cut, closed=more.closed)
        end = body.end
    return (yield from _judge_python(engine, begin, body, "pythonic", at))


def _judge_python(engine: TextEngine, begin: int, body: Body, dialect: str, bracket: int) -> Steps[int]:
    """Take the calls of a body whose first bracket is at `bracket`, or go on behind that."""
    src = engine.src
    end, closed = (body.end, False) if body.cut else (yield from swallow(engine, body.end, STRAY_CLOSERS))
    wrapper = wrapper_before(engine, begin)
    closed_at, over = yield from around(engine, wrapper, end)
    reading = read_calls(src.text, body.start, body.end, limits=engine.limits, cut=body.cut)
    if not reading.calls:
        if body.cut:
            engine.allowance += 1
        return bracket + 1
    objects = python_objects(engine, reading.calls)
    whole = engine.opens_message(begin) and (yield from rest_is_blank(engine, end))
    reason = refusal(engine, Place(begin, end, over=over, closed=closed, whole=whole), objects)
    if reason is None and engine.tools is None and any(call.positional for call in reading.calls):
        reason = "tools_not_told"
    if reason is not None:
        engine.miss(begin, end, objects[0].name, reason)
        engine.allowance += body.cut
        return bracket + 1 if body.cut else body.end
    engine.commit_to(begin if wrapper is None or closed_at < 0 else wrapper.start)
    engine.take("markup", begin)
    for call, found in zip(objects, reading.calls, strict=True):
        complete = (reading.complete and not body.cut) or found is not reading.calls[-1]
        add_calls(engine, (begin, end), [call], dialect, complete=complete)
    engine.take("call", end)
    engine.take("markup", closed_at)
    return engine.done


def mid_line_call(engine: TextEngine, begin: int, at: int) -> Steps[int]:
    """A tool's call in the middle of a line: content and a near miss."""
    body = yield from python_extent(engine, at)
    if body.cut:
        engine.allowance += 1
        return at + 1
    reading = read_calls(engine.src.text, begin, body.end, limits=engine.limits)
    if reading.calls:
        engine.miss(begin, body.end, reading.calls[0].name, "mid_line")
    return body.end


def is_callable(engine: TextEngine, word: str) -> bool:
    if word == "print" or word.startswith("tool_code"):
        return True
    if engine.tools is None:
        return word.replace(".", "_").replace("-", "_").isidentifier() and word not in _KEYWORDS and not engine.says_anything()
    return is_known(word, engine.tools)


def python_run(engine: TextEngine, begin: int, at: int) -> Steps[int]:
    """One call, and those that follow it on the line (with tools not told: to the end of the message)."""
    src = engine.src
    first = yield from python_extent(engine, at)
    body = Body(begin, first.end, cut=first.cut, closed=first.closed)
    following, begun = _NEXT_CALL if engine.tools is not None else _NEXT_LINE_CALL
    while body.closed and not body.cut:
        while not src.final and begun.match(src.text, body.end) is not None:
            yield
        opened = past(following, src.text, body.end)
        if opened == body.end:
            break
        more = yield from python_extent(engine, opened - 1)
        body = Body(begin, more.end, cut=more.cut, closed=more.closed)
    return (yield from _judge_python(engine, begin, body, "bare_call", at))
