"""Bare forms: calls with no marker of their own, found by their bracket.

`{` JSON objects and `name{...}`; `[` arrays and lists of Python calls; `(` Python calls. Back-ticks and ReAct have modules of
their own (`fences`, `react`). Every handler is given the position of its trigger and returns where the walk goes on; what it
takes it has classified. Bare forms are suffix-decided: their text is held until the rule of `verdicts` can tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from llmcore.normalizer import fences, react
from llmcore.normalizer.bodies import Body, add_calls, body_extent, read_body, swallow
from llmcore.normalizer.call_objects import CALL_KEYS, CallObject, Message, arguments_of, calls_of
from llmcore.normalizer.names import is_known, peel
from llmcore.normalizer.readers.extent import Extent
from llmcore.normalizer.readers.relaxed import read_relaxed
from llmcore.normalizer.readers.python import PythonCall, read_calls
from llmcore.normalizer.source import Steps, settle, skip_space
from llmcore.normalizer.values import positional_arguments
from llmcore.normalizer.verdicts import STRAY_CLOSERS, Place, leads_in, line_is_over, refusal, rest_is_blank
from llmcore.types.envelope import Repair

if TYPE_CHECKING:
    from llmcore.normalizer.text import TextEngine

__all__ = ["HANDLERS", "python_objects", "settled_text"]

_ALLOWANCE = 8
_REACH = 512
_NAME_BEFORE = re.compile(r"[^\s\[\]{}<>\"'`(),;|=]{1,256}\Z")
_TO = re.compile(r"(?:^|\s)to=(?:functions\.)?([^\s{<]{1,128}?)(?:<|\s|json|code|\Z)[^{\n]*\Z")
_FIRST_KEY = re.compile(r"""[\[\s]*\{\s*(["']?)([^"'\s:{}\[\],]{1,128})\1\s*(?::|=>)""")
_DATA_START = re.compile(r"""[\[\s]*\{\s*(?:["'A-Za-z_$}]|\Z)|[\[\s]*\Z""")
_PYTHON_HEAD = re.compile(r"\[\s*[\[\s]*[A-Za-z_][\w.\\-]{0,255}\s*\(")
_PYTHON_MAYBE = re.compile(r"\[\s*(?:[A-Za-z_][\w.\\-]{0,255}\s*)?\Z")
_NEXT_CALL = re.compile(r"[ \t;,]*([A-Za-z_][\w.\\-]{0,255})\(")
_NEXT_LINE_CALL = re.compile(r"[\s;,]*([A-Za-z_][\w.\\-]{0,255})\(")
_EMPTY_LIST = re.compile(r"\[\s*(?:None|null)?\s*\]")
_CALLING = re.compile(r"\[\s*Calling tool:\s*([^\s(]{1,256})\s*\(\s*(?=\{)")
_CALLING_END = re.compile(r"\s*\)\s*\]?")
_NAMEISH = re.compile(r"(?:>>>)?(?:assistant\s)?[\w.:/=\\-]{0,256}\s{0,8}\Z")
_RAW_QUOTES = ('<|"|>', "<escape>")
_KEYWORDS = frozenset("if for while return print def class and or not in is with assert lambda await async del raise".split())


def settled_text(engine: TextEngine, position: int) -> int:
    """How much of the text a listener may hear while no candidate is open: a line that may begin a bare form is held."""
    text = engine.src.text
    end = len(text)
    while end > engine.done and text[end - 1] in "]◁":
        end -= 1
    if not engine.takes_calls:
        return end
    start = max(engine.line_start(len(text)), engine.done)
    line = text[start:].lstrip()
    if not line or len(line) > 300 or not _NAMEISH.match(line):
        return end
    word = line.strip().removeprefix(">>>")
    if "to=".startswith(word) or word.removeprefix("assistant").lstrip().startswith("to="):
        return start
    names = engine.tools.names if engine.tools is not None else None
    at_start = start == engine.done and not engine.says_anything()
    if "Action:".startswith(word) or "functools".startswith(word) or (at_start and "commentary".startswith(word)):
        return start
    held = at_start if names is None else any(name.startswith(word) or word.endswith(name) for name in names)
    return start if held or word.startswith(("call:", "functions.", "default_api.")) else end


def _begins(engine: TextEngine, at: int) -> tuple[int, str]:
    """(start of the line or of what is not classified yet, the text from there to `at`), at most `_REACH` back."""
    start = max(engine.line_start(at), engine.done, at - _REACH)
    return start, engine.src.text[start:at]


# ---------------------------------------------------------------------- braces


def _brace(engine: TextEngine, at: int) -> Steps[int]:
    if engine.allowance > _ALLOWANCE:
        return at + 1
    start, before = _begins(engine, at)
    name = _NAME_BEFORE.search(before)
    if name is not None:
        if name[0] == "functools":
            return (yield from _marked(engine, at, at - len("functools")))
        if leads_in(before[: name.start()].removeprefix(">>>")) and _call_name(engine, name[0]) is not None:
            dialect = "gemma4" if "call:" in name[0] else "name_brace"
            return (yield from _named_brace(engine, at - len(name[0]), at, _call_name(engine, name[0]) or name[0], dialect))
    if (header := _TO.search(before)) is not None and is_known(header[1], engine.tools):
        begin = start if before[: header.start()].strip() in ("", "commentary", "analysis", "assistant", "final") else start + header.start()
        return (yield from _named_brace(engine, begin, at, header[1], "harmony", gap=start + header.end(1)))
    if not before.strip() and (line := _name_line(engine, start)) is not None:
        return (yield from _named_brace(engine, line[0], at, line[1], "functionary_v32"))
    if not leads_in(before):
        return at + 1
    return (yield from _json_form(engine, at))


def _call_name(engine: TextEngine, written: str) -> str | None:
    """The tool a glued name means; `call:f` and `functions.f:0` are what stripped Gemma and Kimi markers leave."""
    found = peel(written.removeprefix("call:").removeprefix(">>>"), engine.tools)
    return found


def _name_line(engine: TextEngine, start: int) -> tuple[int, str] | None:
    """(start, name) of the line before, when it is exactly a tool's name (D6)."""
    text = engine.src.text
    if engine.tools is None or start <= engine.done or text[start - 1] != "\n":
        return None
    begin = max(text.rfind("\n", max(0, start - 300), start - 1) + 1, engine.done)
    name = text[begin : start - 1].strip().removeprefix(">>>")
    return (begin, name) if name in engine.tools else None


def _marked(engine: TextEngine, at: int, opener: int) -> Steps[int]:
    """A marker that is a word before the bracket."""
    took = yield from engine.marker(opener)
    return engine.done if took else at + 1


def _named_brace(engine: TextEngine, begin: int, at: int, name: str, dialect: str, gap: int = -1) -> Steps[int]:
    """`name{...}`: the name is a tool's, the braces hold relaxed JSON."""
    if begin < engine.done:
        return at + 1
    body = yield from body_extent(engine, at, STRAY_CLOSERS)
    if body.cut and not engine.src.text[at + 1 :].lstrip()[:1] in ('"', "'", ""):
        engine.allowance += 1
        return at + 1
    end, closed = yield from swallow(engine, body.end, STRAY_CLOSERS)
    over = yield from line_is_over(engine, end)
    text = engine.src.text
    raw_quotes = _RAW_QUOTES if dialect == "gemma4" else ()
    reading = read_relaxed(text, at, body.end, limits=engine.limits, cut=body.cut, string_delimiters=raw_quotes)
    arguments = cast("dict[str, Any]", reading.value) if isinstance(reading.value, dict) else None
    call = CallObject(name, arguments, True, raw=text[at : body.end])
    whole = engine.tools is None and (yield from rest_is_blank(engine, end))
    place = Place(begin, end, over=over or dialect == "harmony", closed=closed, whole=whole)
    reason = refusal(engine, place, [call]) or ("unreadable" if arguments is None and not body.cut else None)
    if reason is not None:
        engine.miss(begin, end, name, reason)
        return max(body.end, at + 1) if not body.cut else at + 1
    tool = engine.tool(name)
    repairs = [_bare_word(repair, tool.types(repair.path)) if tool is not None else repair for repair in reading.repairs]
    if gap >= 0 and (junk := text[gap:at].replace("json", "").replace("code", "").strip()):
        repairs.append(Repair(kind="junk_dropped", before=junk, after="", safety="lossless"))
    add_calls(engine, (begin, end), [call], dialect, complete=reading.complete and not body.cut, repairs=repairs)
    return engine.done


# ---------------------------------------------------------------------- JSON


def _plausible(engine: TextEngine) -> Callable[[str, int, bool], bool | None]:
    def follows(text: str, at: int, final: bool) -> bool | None:
        key = _FIRST_KEY.match(text, at)
        if key is not None:
            return key[2] in CALL_KEYS or is_known(key[2], engine.tools) or engine.forced_tool is not None
        return None if not final and len(text) - at < 160 and "\n\n" not in text[at:] else False

    return follows


def _json_form(engine: TextEngine, at: int) -> Steps[int]:
    """An object or array at `at`, and those that follow it directly."""
    likely = yield from settle(engine.src, _plausible(engine), at)
    if not likely:
        return (yield from _data(engine, at))
    bodies: list[Body] = []
    start = at
    while True:
        body = yield from body_extent(engine, start, STRAY_CLOSERS)
        bodies.append(body)
        if body.cut or not body.closed:
            break
        ahead = yield from skip_space(engine.src, body.end)
        if engine.src.text.startswith((";", ","), ahead):
            ahead = yield from skip_space(engine.src, ahead + 1)
        if not engine.src.text.startswith(("{", "["), ahead):
            break
        if not (yield from settle(engine.src, _plausible(engine), ahead)):
            break
        start = ahead
    return (yield from _judge_json(engine, at, bodies))


def _judge_json(engine: TextEngine, at: int, bodies: list[Body]) -> Steps[int]:
    last = bodies[-1]
    end, closed = (last.end, False) if last.cut else (yield from swallow(engine, last.end, STRAY_CLOSERS))
    over = yield from line_is_over(engine, end)
    read = [read_body(engine, body) for body in bodies]
    messages = [message for found, _, _ in read for message in found]
    first_is_call = bool(read[0][0])
    calls = [call for message in messages for call in message.calls]
    alone = not engine.says_anything() and not engine.drafts and not engine.src.text[engine.done : at].strip(" \t\r\n`\"'")
    whole = alone and (yield from rest_is_blank(engine, end))
    if not calls or not first_is_call:
        return (yield from _no_calls(engine, at, end, bodies, messages, whole))
    place = Place(at, end, over=over, closed=closed, whole=whole)
    certain = messages[0].certain and messages[0].form == "llmcore_envelope"
    reason = refusal(engine, place, calls, certain=certain)
    if reason is not None:
        engine.miss(at, end, calls[0].name, reason)
        if last.cut:
            engine.allowance += 1
            return at + 1
        return last.end
    begin = _take_messages(engine, at, end, bodies, read)
    yield from _drop_closer(engine, begin, at, end)
    return engine.done


def _take_messages(
    engine: TextEngine, at: int, end: int, bodies: list[Body], read: list[tuple[list[Message], list[Repair], bool]]
) -> int:
    begin = _drop_wrapper(engine, at)
    engine.commit_to(begin)
    engine.take("markup", at)
    for body, (messages, repairs, complete) in zip(bodies, read, strict=True):
        span = (at if body is bodies[0] else body.start, end if body is bodies[-1] else body.end)
        engine.take("markup", span[0])
        for message in messages:
            add_calls(engine, span, message.calls, message.form, complete=complete, repairs=repairs)
            if message.content:
                engine.replace(span[0], span[1], message.content)
            if message.needs_more_work is not None:
                engine.needs_more_work = message.needs_more_work
    engine.take("call", end)
    return begin


_WRAPPER = re.compile(r"(?:^|\n)[ \t]*(?:<([A-Za-z][\w-]{0,40})>|([A-Z_]{4,40})>>>)\s*\Z")


def _drop_wrapper(engine: TextEngine, at: int) -> int:
    """Where a made-up opening tag directly before a bare form starts, if its closer follows (A10); else `at`."""
    text = engine.src.text
    found = _WRAPPER.search(text[max(engine.done, at - 80) : at])
    return at if found is None else max(engine.done, at - 80) + found.start(1 if found[1] else 2) - (1 if found[1] else 0)


def _drop_closer(engine: TextEngine, begin: int, at: int, end: int) -> Steps[None]:
    """The closer of a made-up wrapper, when it follows."""
    src = engine.src
    opened = src.text[begin:at].strip()
    if not opened:
        return
    closer = f"</{opened[1:]}" if opened.startswith("<") else f"<<<END_{opened[:-3]}"
    while True:
        rest = src.text[end : end + 80]
        ahead = rest.lstrip()
        if ahead.startswith(closer):
            engine.take("markup", end + len(rest) - len(ahead) + len(closer))
            return
        if src.final or len(rest) == 80 or not closer.startswith(ahead):
            return
        yield


def _no_calls(
    engine: TextEngine, at: int, end: int, bodies: list[Body], messages: list[Message], whole: bool
) -> Steps[int]:
    """An envelope without calls, an answer in JSON, or data."""
    if messages and messages[0].content is not None and not messages[0].calls and (messages[0].form == "llmcore_envelope" or whole):
        engine.commit_to(at)
        engine.take("markup", end)
        engine.replace(at, end, messages[0].content)
        engine.needs_more_work = messages[0].needs_more_work
        return end
    if whole and len(bodies) == 1 and (done := _answer_or_arguments(engine, at, end, bodies[0])):
        return done
    if bodies[-1].cut:
        engine.allowance += 1
        return at + 1
    return bodies[-1].end
    yield


def _answer_or_arguments(engine: TextEngine, at: int, end: int, body: Body) -> int:
    """The whole message is one object without a call: the forced tool's arguments, an answer, or a call quoted in `content`."""
    text = engine.src.text[body.start : body.end]
    reading = read_relaxed(text, limits=engine.limits, cut=body.cut)
    if not isinstance(reading.value, dict):
        return 0
    value = cast("dict[str, Any]", reading.value)
    if engine.forced_tool is not None and calls_of(value, engine.tools) is None:
        call = CallObject(engine.forced_tool, value, True, raw=text)
        add_calls(engine, (at, end), [call], "forced_arguments", complete=reading.complete, repairs=reading.repairs)
        return end
    if len(value) != 1 or engine.tools is None or body.cut:
        return 0
    ((key, said),) = value.items()
    if key == "response" and isinstance(said, str) and is_known(key, engine.tools) is False:
        engine.commit_to(at)
        engine.take("markup", end)
        engine.replace(at, end, said)
        return end
    if key == "content" and isinstance(said, str):
        inner = engine.nest(said)
        if inner.drafts and not inner.says_anything():
            engine.adopt(inner, at, end)
            return end
    return 0


def _data(engine: TextEngine, at: int) -> Steps[int]:
    """JSON that cannot be a call: content, told as it comes, and not searched for calls that it quotes."""
    src = engine.src
    if not (yield from settle(src, _is_data, at)):
        return at + 1
    extent = Extent(at, delimiters=("<", "```"))
    while True:
        end = extent.scan(src.text, src.final)
        if end >= 0:
            return end
        if extent.stopped >= 0:
            return extent.stopped
        if src.final:
            engine.allowance += 1
            return at + 1
        engine.emit_text(extent.position)
        yield


def _is_data(text: str, at: int, final: bool) -> bool | None:
    rest = text[at : at + 64]
    if re.match(r"[\[\s]*\{\s*\"", rest):
        return True
    return None if not final and len(rest) < 64 and not rest.strip("[{ \t\r\n") else False


# ---------------------------------------------------------------------- brackets


def _bracket(engine: TextEngine, at: int) -> Steps[int]:
    if engine.allowance > _ALLOWANCE:
        return at + 1
    src = engine.src
    _, before = _begins(engine, at)
    if before.endswith("functools"):
        return (yield from _marked(engine, at, at - len("functools")))
    escaped = before.endswith("\\")
    if not leads_in(before.removesuffix("\\")):
        return at + 1
    ahead = yield from skip_space(src, at + 1)
    char = src.text[ahead : ahead + 1]
    if char == "{":
        return (yield from _json_form(engine, at))
    if char and char in "]nN":
        return (yield from _empty_list(engine, at))
    while not src.final and (_PYTHON_MAYBE.match(src.text, at) or "[Calling tool:".startswith(src.text[at : at + 14])):
        yield
    if (calling := _CALLING.match(src.text, at)) is not None:
        return (yield from _calling_tool(engine, at, calling))
    if (char and char in "'\"[") or _PYTHON_HEAD.match(src.text, at):
        return (yield from _python_list(engine, at - 1 if escaped else at, at))
    return at + 1


def _empty_list(engine: TextEngine, at: int) -> Steps[int]:
    """`[]`, `[None]`: an explicit way to call nothing, when it is all there is."""
    while not engine.src.final and len(engine.src.text) - at < 12 and "]" not in engine.src.text[at : at + 12]:
        yield
    match = _EMPTY_LIST.match(engine.src.text, at)
    if match is None or engine.says_anything() or engine.src.text[engine.done : at].strip():
        return at + 1
    if (yield from rest_is_blank(engine, match.end())):
        engine.commit_to(at)
        engine.take("markup", match.end())
        return match.end()
    return at + 1


def _calling_tool(engine: TextEngine, at: int, head: re.Match[str]) -> Steps[int]:
    body = yield from body_extent(engine, head.end(), ())
    while not engine.src.final and "]" not in engine.src.text[body.end : body.end + 16] and len(engine.src.text) - body.end < 16:
        yield
    tail = _CALLING_END.match(engine.src.text, body.end)
    end = tail.end() if tail else body.end
    over = yield from line_is_over(engine, end)
    reading = read_relaxed(engine.src.text, body.start, body.end, limits=engine.limits, cut=body.cut)
    arguments, _, repairs = arguments_of(reading.value)
    call = CallObject(head[1], arguments, True, raw=engine.src.text[body.start : body.end])
    place = Place(at, end, over=over, closed=False, whole=False)
    if (reason := refusal(engine, place, [call])) is not None:
        engine.miss(at, end, head[1], reason)
        return end
    complete = tail is not None and reading.complete
    add_calls(engine, (at, end), [call], "calling_tool", complete=complete, repairs=[*reading.repairs, *repairs])
    return end


# ---------------------------------------------------------------------- Python calls


def python_objects(engine: TextEngine, calls: list[PythonCall]) -> list[CallObject]:
    """Python calls as call objects: positional arguments mapped to the schema's properties (a guess), one dict is keywords."""
    return [_python_object(engine, call) for call in calls]


def _python_object(engine: TextEngine, call: PythonCall) -> CallObject:
    name = call.name.removeprefix("default_api.")
    known = peel(name, engine.tools)
    if known is not None and name.endswith(".call"):
        name = known
    found = CallObject(name, call.arguments, True, raw=call.raw, repairs=list(call.repairs))
    tool = engine.tool(known or name)
    if call.positional and call.arguments is not None:
        mapped = positional_arguments(call.positional, tool) if tool is not None else None
        found.arguments = None if mapped is None else {**mapped, **call.arguments}
        found.repairs.append(Repair(kind="positional", before=call.positional, after=mapped, safety="guess"))
    if tool is not None and found.arguments:
        found.repairs = [_bare_word(repair, tool.types(repair.path)) for repair in found.repairs]
    return found


def _bare_word(repair: Repair, types: tuple[str, ...]) -> Repair:
    """A bare word under a string schema can only be that string."""
    sure = repair.kind == "bare_word" and types and set(types) <= {"string", "null"}
    return repair.model_copy(update={"safety": "coerced"}) if sure else repair


def _python_extent(engine: TextEngine, start: int) -> Steps[Body]:
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
    hits = [hit for closer in STRAY_CLOSERS if (hit := text.find(closer, start)) >= 0]
    return Body(start, min(hits), closed=False) if hits else Body(start, len(text), cut=True, closed=False)


def _python_list(engine: TextEngine, begin: int, at: int) -> Steps[int]:
    body = yield from _python_extent(engine, at)
    end = body.end
    if engine.src.text.startswith("(", end):  # ['f'](a=1)
        more = yield from _python_extent(engine, end)
        body = Body(at, more.end, cut=more.cut, closed=more.closed)
        end = body.end
    return (yield from _judge_python(engine, begin, body, "pythonic"))


def _judge_python(engine: TextEngine, begin: int, body: Body, dialect: str) -> Steps[int]:
    src = engine.src
    end, closed = (body.end, False) if body.cut else (yield from swallow(engine, body.end, STRAY_CLOSERS))
    over = yield from line_is_over(engine, end)
    reading = read_calls(src.text, body.start, body.end, limits=engine.limits, cut=body.cut)
    if not reading.calls:
        if body.cut:
            engine.allowance += 1
        return body.start + 1
    objects = python_objects(engine, reading.calls)
    alone = not engine.says_anything() and not src.text[engine.done : begin].strip()
    whole = alone and (yield from rest_is_blank(engine, end))
    if src.text[begin:body.start] == "\\" and src.text.startswith("\\]", body.end - 2):
        begin = begin
    reason = refusal(engine, Place(begin, end, over=over, closed=closed, whole=whole), objects)
    if reason is None and engine.tools is None and any(call.positional for call in reading.calls):
        reason = "tools_not_told"
    if reason is not None:
        engine.miss(begin, end, objects[0].name, reason)
        engine.allowance += body.cut
        return body.start + 1 if body.cut else body.end
    for call, found in zip(objects, reading.calls, strict=True):
        complete = (reading.complete and not body.cut) or found is not reading.calls[-1]
        add_calls(engine, (begin, end), [call], dialect, complete=complete)
    engine.take("call", end)
    return end


def _paren(engine: TextEngine, at: int) -> Steps[int]:
    if engine.allowance > _ALLOWANCE:
        return at + 1
    start, before = _begins(engine, at)
    name = _NAME_BEFORE.search(before)
    if name is None:
        return at + 1
    lead, word = before[: name.start()], name[0]
    printed = lead.rstrip().endswith("print") or lead.endswith("print(")
    if not leads_in(lead) and not printed:
        return at + 1
    if not _callable(engine, word):
        return at + 1
    begin = start + name.start()
    if begin < engine.done:
        return at + 1
    return (yield from _python_run(engine, begin, at))


def _callable(engine: TextEngine, word: str) -> bool:
    if word == "print" or word.startswith("tool_code"):
        return True
    if engine.tools is None:
        return word.replace(".", "_").replace("-", "_").isidentifier() and word not in _KEYWORDS and not engine.says_anything()
    return is_known(word, engine.tools)


def _python_run(engine: TextEngine, begin: int, at: int) -> Steps[int]:
    """One call, and those that follow it on the line (with tools not told: to the end of the message)."""
    src = engine.src
    first = yield from _python_extent(engine, at)
    body = Body(begin, first.end, cut=first.cut, closed=first.closed)
    following = _NEXT_CALL if engine.tools is not None else _NEXT_LINE_CALL
    while body.closed and not body.cut:
        match = following.match(src.text, body.end)
        while match is None and not src.final and not src.text[body.end : body.end + 320].partition("\n")[1]:
            if len(src.text) - body.end > 300 or src.text[body.end : body.end + 1] not in ("", ";", ",", " "):
                break
            yield
            match = following.match(src.text, body.end)
        if match is None:
            break
        more = yield from _python_extent(engine, match.end() - 1)
        body = Body(begin, more.end, cut=more.cut, closed=more.closed)
    return (yield from _judge_python(engine, begin, body, "bare_call"))


HANDLERS: dict[str, Callable[[TextEngine, int], Steps[int]]] = {
    "{": _brace,
    "[": _bracket,
    "(": _paren,
    "`": fences.back_ticks,
    "A": react.action,
}
