"""Bare Python calls without a marker: a list of calls, or one or several on a line."""

from __future__ import annotations

from typing import Any

from llmcore.normalizer.bare import verdicts
from llmcore.normalizer.bare.hidden_calls import note_hidden_calls
from llmcore.normalizer.bare.made_up import around, wrapped_begins, wrapper_before
from llmcore.normalizer.bare.statements import among_statements, defines
from llmcore.normalizer.bare.verdicts import (
    bare_place,
    drop_echo,
    follows_lead_in,
    is_echo,
    only_shown,
    refusal,
    rest_is_blank,
)
from llmcore.normalizer.bodies.json_bodies import Body, add_calls, swallow
from llmcore.normalizer.calls.call_objects import CallObject
from llmcore.normalizer.calls.typed_values import positional_arguments
from llmcore.normalizer.core.names import is_known, peel
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.notations.extent import Extent
from llmcore.normalizer.notations.python import PythonCall, PythonReading, read_python_calls
from llmcore.normalizer.notations.refusals import UNREADABLE
from llmcore.normalizer.scanning.source import Steps, past, skip_space, starts, wait_for, wait_until_known, wait_while
from llmcore.normalizer.scanning.words import STRAY_CLOSERS
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.json_data import as_json
from llmcore.support.values.narrowing import is_list
from llmcore.types.envelope import Repair, Safety
from llmcore.types.tools import CompiledTool

__all__ = [
    "decided_word",
    "guesses_of",
    "is_callable",
    "is_printed",
    "is_whole",
    "mid_line_call",
    "python_extent",
    "python_list",
    "python_objects",
    "python_run",
    "read_lists",
]

_NEXT_NAME = r"[A-Za-z_][\w.\\-]{0,255}"
_NEXT_CALL = lazy_regex(rf"[ \t;,]{{0,64}}{_NEXT_NAME}\("), lazy_regex(rf"[ \t;,]{{0,64}}(?:{_NEXT_NAME})?\Z")
_NEXT_LINE_CALL = lazy_regex(rf"[\s;,]{{0,64}}{_NEXT_NAME}\("), lazy_regex(rf"[\s;,]{{0,64}}(?:{_NEXT_NAME})?\Z")
_NEXT_LIST = (
    lazy_regex(rf"[ \t;,]{{0,64}}\[\s{{0,64}}{_NEXT_NAME}\("),
    lazy_regex(rf"[ \t;,]{{0,64}}(?:\[\s{{0,64}}(?:{_NEXT_NAME})?)?\Z"),
)
_BETWEEN_LISTS = lazy_regex(r"[\s;,]*+")
"""With the patterns above: the next call of a run, and the beginning of one at the text's end."""
_COMMENT = starts("#", "//")
_WHOLE_QUOTES = frozenset(('"', "'", '"""', "'''"))
_QUOTE_REACH = 64
_LOST_FENCE = "tool_code"  # only the info word of the fence is left
_NOT_CLOSED = frozenset(("missing_closer", "missing_quote", "cut_string", "joined_strings", "text_dropped", "missing_comma"))
"""Repairs of text that does not show where it ends."""
_PRINTS, _PRINTED = lazy_regex(r"print\(\s*"), lazy_regex(r"\s*\)")
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


def python_objects(reading: Reading, calls: list[PythonCall]) -> list[CallObject]:
    """Python calls as call objects. Positional arguments get the schema's names, as a guess. One dict has keyword arguments."""
    return [_python_object(reading, _printed(reading, call)) for call in calls]


def _printed(reading: Reading, call: PythonCall) -> PythonCall:
    """The call `f` of `print(f(...))`, unless `print` is a tool. A fence's info word may precede it (`tool_codeprint(...)`)."""
    if call.name.startswith("tool_code") and len(call.name) > len("tool_code") and not is_known(call.name, reading.tools):
        call.name = call.name.removeprefix("tool_code")
    if call.name != "print" or is_known("print", reading.tools):
        return call
    inner = read_python_calls(call.raw, limits=reading.limits, cut=not call.complete).calls
    if len(inner) != 1:
        return call
    inner[0].beside += call.beside
    return inner[0]


def _python_object(reading: Reading, call: PythonCall) -> CallObject:
    name = call.name.removeprefix("default_api.")
    known = peel(name, reading.tools)
    if known is not None and name.endswith(".call"):
        name = known
    found = CallObject(name, call.arguments, True, raw=call.raw, repairs=list(call.repairs))
    found.beside = "\n\n".join(map(as_json, call.beside))
    tool = reading.tool(name)
    if call.positional and call.arguments is not None:
        mapped = positional_arguments(call.positional, tool) if tool is not None else None
        found.arguments = None if mapped is None else {**mapped, **call.arguments}
        alone = mapped is not None and len(mapped) == 1 and mapped.keys().isdisjoint(call.arguments)
        sure = alone and tool is not None and mapped is not None and tool.required == mapped.keys()
        safety: Safety = "lossless" if sure else "guess"
        found.repairs.append(Repair(kind="positional", before=call.positional, after=mapped, safety=safety))
    if tool is not None and found.arguments:
        found.repairs = [_word_of_code(decided_word(found.arguments, repair, tool), tool) for repair in found.repairs]
    return found


def _word_of_code(repair: Repair, tool: CompiledTool) -> Repair:
    """The repair of a bare word, as a guess unless the schema lists the word: it may be a variable."""
    if repair.kind != "bare_word" or not isinstance(repair.after, str):
        return repair
    schemas = tool.branches(tool.properties[repair.path]) if repair.path in tool.properties else []
    if any(is_list(listed := schema.get("enum")) and repair.after in listed for schema in schemas):
        return repair
    return repair.model_copy(update={"safety": "guess"})


def guesses_of(reading: PythonReading) -> list[Repair]:
    """The guesses about a list of calls as a whole. Each call shares them."""
    return [repair for repair in reading.repairs if repair.safety == "guess"]


def is_whole(call: CallObject, found: PythonCall, parsed: PythonReading, *, cut: bool = False) -> bool:
    """Whether a call of a list is complete: it is not the cut one at the list's end, and no value of it was cut.

    `found`: the expression that it was read from.
    """
    ended = (parsed.complete and not cut) or found is not parsed.calls[-1]
    return ended and all(repair.safety != "truncated" for repair in call.repairs)


def decided_word(arguments: dict[str, Any], repair: Repair, tool: CompiledTool) -> Repair:
    """The repair of a bare word, as coerced if the schema allows only a string. `07` under an integer schema is a number.

    `+7` may begin a telephone number, unless the schema allows no string.
    """
    types = tool.types(repair.path)
    if repair.kind == "number_notation" and types and "string" not in types:
        return repair.model_copy(update={"safety": "lossless"})
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


def python_extent(reading: Reading, start: int, begin: int = -1) -> Steps[Body]:
    """The body that opens at `start`. `begin`: where the call begins whose parenthesis that is."""
    src = reading.src
    extent = Extent(start, quotes="'\"", triple=True, comments=True)
    while True:
        end = extent.scan(src.text, src.final)
        if end >= 0:
            return Body(start, end)
        if src.final:
            return _python_unclosed(reading, start, begin if begin >= 0 else start)
        yield None


def _python_unclosed(reading: Reading, start: int, begin: int) -> Body:
    text = reading.src.text
    reading.failed(len(text) - start)
    if (end := _end_by_calls(reading, begin)) > start:
        return Body(start, end)
    hits = [hit for closer in STRAY_CLOSERS if (hit := text.find(closer, start)) >= 0]
    return Body(start, min(hits), closed=False) if hits else Body(start, len(text), cut=True, closed=False)


def _end_by_calls(reading: Reading, begin: int) -> int:
    """Where calls end if an apostrophe in a value unbalances the quotes; -1 if they show no end."""
    text = reading.src.text
    printed = past(_PRINTS, text, begin)
    found = read_python_calls(text, printed, limits=reading.limits)
    repairs = [*found.repairs, *(repair for call in found.calls for repair in call.repairs)]
    whole = bool(found.calls) and found.complete and found.error is None and all(call.error is None for call in found.calls)
    end = past(_PRINTED, text, found.end) if printed > begin else found.end
    closed = text[begin:end].rstrip(" \t\r\n;,").endswith((")", "]")) and (end > found.end or printed == begin)
    kinds = {repair.kind for repair in repairs}
    return end if whole and closed and "inner_quotes" in kinds and not kinds & _NOT_CLOSED else -1


def read_lists(reading: Reading, body: Body, *, expressions: bool = False) -> PythonReading:
    """The calls of a body: in a list, in several lists, or one after the other."""
    text, limits = reading.src.text[: body.end], reading.limits
    parsed = read_python_calls(text, body.start, limits=limits, cut=body.cut, expressions=expressions)
    while parsed.complete and parsed.error is None and parsed.end < body.end:
        start = past(_BETWEEN_LISTS, text, parsed.end)
        if not text.startswith("[", start):
            break
        more = read_python_calls(text, start, limits=limits, cut=body.cut, expressions=expressions)
        if not more.calls:
            break
        parsed.calls += more.calls
        parsed.repairs += more.repairs
        parsed.end, parsed.complete, parsed.error = more.end, more.complete, more.error
    return parsed


def python_list(reading: Reading, begin: int, at: int) -> Steps[int]:
    body = yield from python_extent(reading, at)
    end = body.end
    if body.closed:
        yield from wait_for(reading.src, end, 1)
    if reading.src.text.startswith("(", end):
        if not reading.src.text[at + 1 :].lstrip().startswith(("'", '"', "`")):
            return end  # a Markdown link; `['f'](a=1)` is a call
        more = yield from python_extent(reading, end)
        body = Body(at, more.end, cut=more.cut, closed=more.closed)
    following, begun = _NEXT_LIST
    lists = 1
    while body.closed and not body.cut and lists < reading.limits.calls:  # further lists on its line
        lists += 1
        yield from wait_while(reading.src, begun, body.end)
        if past(following, reading.src.text, body.end) == body.end:
            break
        more = yield from python_extent(reading, reading.src.text.index("[", body.end))
        body = Body(at, more.end, cut=more.cut, closed=more.closed)
    return (yield from _judge_python(reading, begin, body, "pythonic", at))


def _judge_python(reading: Reading, begin: int, body: Body, dialect: str, bracket: int) -> Steps[int]:
    """Enter the calls of a body whose first bracket is at `bracket`, or decline. Returns where to go on."""
    src = reading.src
    end, closed, extra = (
        (body.end, False, []) if body.cut else (yield from swallow(reading, body.end, STRAY_CLOSERS, extra="}])"))
    )
    wrapper = wrapper_before(reading, begin)
    closed_at, over = yield from around(reading, wrapper, end)
    over = over or (yield from wait_until_known(src, _COMMENT, end)) or _opens_prose(reading, begin, end)
    whole = reading.opens_message(begin) and (yield from rest_is_blank(reading, end))
    quoted = -1 if whole or body.cut else (yield from _closing_quote(reading, begin, end))
    led = not whole and quoted < 0 and not body.cut and (yield from follows_lead_in(reading, begin, end))
    reads_expressions = reading.tools is not None and (whole or quoted >= 0 or led)
    parsed = read_lists(reading, body, expressions=reads_expressions)
    if not parsed.calls:
        if body.cut:
            reading.backtrack_budget.never_closed()
        elif whole:
            note_hidden_calls(reading, begin, end)
        return bracket + 1
    objects = python_objects(reading, parsed.calls)
    place = yield from bare_place(reading, (begin, end), objects, over=over, closed=closed, whole=whole)
    if is_echo(reading, place, objects):
        return drop_echo(reading, begin, end)
    reason = refusal(reading, place, objects) or ("unreadable" if parsed.error == UNREADABLE and not body.cut else None)
    if reason is None and reading.tools is None and any(call.positional or call.beside for call in parsed.calls):
        reason = "tools_not_told"
    if reason is None and (is_printed(reading, begin, parsed.calls) or (yield from among_statements(reading, begin, end))):
        reason = "example"
    if reason is None and defines(src.text, begin, {call.name for call in parsed.calls}):
        reason = "example"
    if reason is None:
        reason = yield from only_shown(reading, wrapped_begins(wrapper, begin), max(end, closed_at))
    if reason is not None:
        reading.miss(begin, end, objects[0].name, reason)
        reading.backtrack_budget.never_closed(body.cut)
        return bracket + 1 if body.cut else body.end
    if reading.src.text[reading.done : begin].strip() == _LOST_FENCE and not reading.has_content():
        reading.markup(begin)
    elif quoted < 0:
        reading.text(begin if wrapper is None or closed_at < 0 else wrapper.start)
    reading.markup(begin)
    for call, found in zip(objects, parsed.calls, strict=True):
        complete = is_whole(call, found, parsed, cut=body.cut)
        add_calls(reading, (begin, end), [call], dialect, complete=complete, repairs=[*guesses_of(parsed), *extra])
    reading.take("call", end)
    reading.markup(max(closed_at, quoted))
    return reading.done


def _opens_prose(reading: Reading, begin: int, end: int) -> bool:
    """Whether a list of calls opens the message, with words glued to it (`[f(a=1)]I will tell you.`)."""
    text = reading.src.text
    return text[begin] == "[" and text[end - 1] == "]" and text[end : end + 1].isalpha() and reading.opens_message(begin)


def is_printed(reading: Reading, begin: int, calls: list[PythonCall]) -> bool:
    """Whether a result is printed outside of a fence. Only Gemini writes its calls so, and with the prefix `default_api.`."""
    lost_fence = reading.src.text[reading.done : begin].strip() == _LOST_FENCE
    if reading.nested or lost_fence or is_known("print", reading.tools):
        return False
    return any(call.name == "print" and not call.raw.lstrip().startswith("default_api.") for call in calls)


def _closing_quote(reading: Reading, begin: int, end: int) -> Steps[int]:
    """Just past the quote that ends the whole message, if one before `begin` opens it; else -1."""
    src = reading.src
    if reading.has_content() or reading.drafts or begin - reading.done > _QUOTE_REACH:
        return -1
    quote = src.text[reading.done : begin].strip()
    if quote not in _WHOLE_QUOTES:
        return -1
    close = yield from skip_space(src, end)
    yield from wait_for(src, close, len(quote))
    if not src.text.startswith(quote, close) or not (yield from rest_is_blank(reading, close + len(quote))):
        return -1
    return close + len(quote)


def mid_line_call(reading: Reading, begin: int, at: int) -> Steps[int]:
    """Read a tool's call in the middle of a line: content, and a near miss."""
    body = yield from python_extent(reading, at, begin)
    if body.cut:
        reading.backtrack_budget.never_closed()
        return at + 1
    parsed = read_python_calls(reading.src.text, begin, body.end, limits=reading.limits)
    if parsed.calls:
        reading.miss(begin, body.end, parsed.calls[0].name, (yield from verdicts.mid_line(reading, begin, body.end)))
    return body.end


def is_callable(reading: Reading, word: str) -> bool:
    if word == "print" or word.startswith("tool_code"):
        return True
    if reading.tools is None:
        return word.replace(".", "_").replace("-", "_").isidentifier() and word not in _KEYWORDS and not reading.has_content()
    return is_known(word, reading.tools)


def python_run(reading: Reading, begin: int, at: int) -> Steps[int]:
    """Read a call and those that follow on its line. If the tools are unknown, those up to the end of the message."""
    src = reading.src
    first = yield from python_extent(reading, at, begin)
    body = Body(begin, first.end, cut=first.cut, closed=first.closed)
    following, begun = _NEXT_CALL if reading.tools is not None else _NEXT_LINE_CALL
    while body.closed and not body.cut:
        yield from wait_while(src, begun, body.end)
        opened = past(following, src.text, body.end)
        if opened == body.end:
            break
        more = yield from python_extent(reading, opened - 1, body.end)
        body = Body(begin, more.end, cut=more.cut, closed=more.closed)
    return (yield from _judge_python(reading, begin, body, "bare_call", at))
