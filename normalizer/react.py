"""ReAct: `Action:` and `Action Input:` lines (L9), and Command R's `Action:` with a fenced list (B7)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from llmcore.normalizer.bodies import add_calls, body_extent, read_body, swallow
from llmcore.normalizer.call_objects import CallObject, arguments_of
from llmcore.normalizer.names import is_known
from llmcore.normalizer.readers.json import read_value
from llmcore.normalizer.readers.relaxed import read_relaxed
from llmcore.normalizer.source import Steps, match_within, search, skip_space
from llmcore.types.envelope import Repair
from llmcore.types.narrowing import is_object

if TYPE_CHECKING:
    from llmcore.normalizer.text import TextEngine

__all__ = ["action"]

_NAME = re.compile(r"[ \t]*+([^\n(]{1,256}+)(\n|\(|\Z)")
_LINE = 300
_LIST = 200  # within which a list must say `tool_name`
_LIST_ENDS = ("```", "\nObservation:", "\nThought:", "\nFinal Answer:")
"""What ends a list that was left open."""
_INPUT = "Action Input:"
_STOP = re.compile(r"\n[ \t]{0,16}(?:Observation|Thought|Action|Final Answer)\s{0,8}:|<\|im_end\|>|</s>")
_LONGEST_STOP = 38
_FENCE = re.compile(r"\s*```[\w]{0,16}\s*")
_FENCE_OPENS = re.compile(r"```\w{0,16}+(?=\W)")
_FENCE_LENGTH = 20
_CALL_END = re.compile(r"\)[ \t\r]{0,256}\n")
_NO_CALL = frozenset({"none", "n/a", "finish", "final answer", "no action", "none.", "null"})


def action(engine: TextEngine, at: int) -> Steps[int]:
    """`Action:` at the start of a line."""
    src = engine.src
    body = at + len("Action:")
    start = max(engine.line_start(at), engine.done)
    if src.text[start:at].strip(" \t*_#"):
        return body
    ahead = yield from skip_space(src, body)
    if src.text.startswith(("`", "[", "{"), ahead):
        return (yield from _listed(engine, at, ahead))
    while not src.final and "\n" not in src.text[body:] and "(" not in src.text[body:] and len(src.text) - body < _LINE:
        yield
    name = _NAME.match(src.text, body, body + _LINE)
    if name is None or not (word := name[1].strip("*`\"' \t\r")):
        return body
    if name[2] == "(" and is_known(word, engine.tools):
        return (yield from _on_one_line(engine, at, word, name.end(1)))
    return (yield from _with_input(engine, at, word, name.end(1)))


def _with_input(engine: TextEngine, at: int, word: str, after: int) -> Steps[int]:
    src = engine.src
    ahead = yield from skip_space(src, after)
    while not src.final and len(src.text) - ahead < len(_INPUT):
        yield
    known = is_known(word, engine.tools)
    if not src.text.startswith(_INPUT, ahead):
        if word.lower() in _NO_CALL and not known:
            engine.commit_to(at)
            engine.take("markup", after)
            return after
        if known:
            engine.miss(at, after, word, "no_input")
        return after
    body = ahead + len(_INPUT)
    if engine.tools is not None and not known:
        engine.miss(at, body, word, "unknown_name")
        return body
    stop = yield from search(src, _STOP, body, _LONGEST_STOP)
    end = stop.start() if stop else len(src.text)
    call, complete = _input_call(engine, word, src.text[body:end], cut=stop is None)
    add_calls(engine, (at, end), [call], "react", complete=complete or stop is not None)
    if stop is not None and "Observation" in stop[0]:
        engine.text_kind = "content"
        engine.allowance += 1000  # an invented observation: what follows is not to be trusted
        engine.invented = True
        engine.takes_calls = False
    return end


def _input_call(engine: TextEngine, word: str, written: str, *, cut: bool) -> tuple[CallObject, bool]:
    """The input as arguments: JSON, a Python dict, a fenced block, a doubly encoded string, or the only string parameter."""
    text = written.strip()
    if (fence := _FENCE.match(text)) is not None:
        text = text[fence.end() :].removesuffix("```").strip()
    call = CallObject(word, None, True, raw=text)
    if text.startswith(("{", '"{', "'{")):
        reading = read_value(text, limits=engine.limits, cut=cut)
        if reading.values:
            call.arguments, _, repairs = arguments_of(reading.values[0])
            call.repairs = [*reading.repairs, *repairs]
        return call, reading.complete
    tool = engine.tool(word)
    if tool is None:
        return call, True
    if not text or text in ("None", "null"):
        call.arguments = {} if not tool.required else None
        return call, True
    strings = [key for key in tool.properties if tool.types(key) == ("string",)]
    wanted = [key for key in strings if key in tool.required] or strings
    if len(wanted) == 1:
        value: Any = text
        if text[0] in "\"'" and text[-1] == text[0] and len(text) > 1:
            value = text[1:-1]
        call.arguments = {wanted[0]: value}
        call.repairs.append(Repair(kind="only_parameter", path=wanted[0], before=text, after=value, safety="coerced"))
    return call, True


def _on_one_line(engine: TextEngine, at: int, word: str, after: int) -> Steps[int]:
    """`Action: f ({...})`."""
    src = engine.src
    stop = yield from search(src, _CALL_END, after, 260)
    end = stop.end() if stop else len(src.text)
    text = src.text[after:end].strip().removeprefix("(").removesuffix(")")
    reading = read_relaxed(text, limits=engine.limits)
    if not is_object(reading.value):
        return after
    call = CallObject(word, reading.value, True, raw=text, repairs=reading.repairs)
    add_calls(engine, (at, end), [call], "react", complete=src.text[after:end].rstrip().endswith(")"))
    return end


def _listed(engine: TextEngine, at: int, start: int) -> Steps[int]:
    """Command R: a list of objects with `tool_name`, mostly in a fence."""
    src, body = engine.src, start
    fenced = src.text.startswith("`", start)
    if fenced:
        fence = yield from match_within(src, _FENCE_OPENS, start, _FENCE_LENGTH)
        if fence is None:
            return start
        body, fence = fence.end(), None  # a match keeps the text it was found in
        body = yield from skip_space(src, body)
    reach = body + _LIST
    while not src.final and "tool_name" not in src.text[body:reach] and len(src.text) < reach:
        yield
    if not src.text.startswith(("[", "{"), body) or "tool_name" not in src.text[body:reach]:
        return start
    value = yield from body_extent(engine, body, _LIST_ENDS)
    messages, repairs, complete = read_body(engine, value)
    if not messages:
        engine.miss(at, value.end, None, "no_call_object")
        return start
    end, _ = (yield from swallow(engine, value.end, ("```",), extra=False)) if fenced else (value.end, True)
    calls = [call for message in messages for call in message.calls]
    engine.commit_to(at)
    add_calls(engine, (at, end), calls, "command_r_plus", complete=complete, repairs=repairs)
    engine.take("markup", end)
    return end
