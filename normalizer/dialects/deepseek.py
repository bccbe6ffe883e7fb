"""DeepSeek V3, R1 and V3.1: name and arguments between tokens with full-width bars, or look-alikes of these."""

from __future__ import annotations

import re

from llmcore.normalizer.bodies.json_bodies import named_call
from llmcore.normalizer.bodies.sections import call_marker, closer_after_call
from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.core.layouts import Layout
from llmcore.normalizer.core.names import name_start, undouble
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import Calls, as_json
from llmcore.normalizer.scanning.source import Steps, match_within, search, skip_space, wait_while
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["DIALECTS", "call_of_tokens"]

_DS = r"[｜|]"
_DS_SPACE = r"(?:▁|_|\\_| )"
_DS_BEGIN_CALLS = rf"<{_DS}tool{_DS_SPACE}calls{_DS_SPACE}begin{_DS}>"
_DS_BEGIN_CALL = rf"<{_DS}tool{_DS_SPACE}call{_DS_SPACE}begin{_DS}>"
_DS_SEP = lazy_regex(rf"<{_DS}tool{_DS_SPACE}sep{_DS}>")
_DS_END = lazy_regex(rf"\s{{0,16}}<{_DS}tool{_DS_SPACE}calls?{_DS_SPACE}end{_DS}>")
_DS_SECTION_FOLLOWS = lazy_regex(rf"{_DS_BEGIN_CALL}|<steptml:|[^\s<>{{}}]{{1,64}}+\s{{0,4}}{_DS_SEP.pattern}")
"""A call, or one whose token is missing."""
_DS_NAMED_LENGTH = 96
_FENCE = ("```",)
_DS_CLOSERS = (
    "<｜tool▁call▁end｜>",
    "<|tool▁call▁end|>",
    "<｜tool_call_end｜>",
    "<|tool_call_end|>",
    "<｜tool call end｜>",
)
_BLANKS = 16  # the most blanks between a name and the token behind it
_DS_HEAD = 320  # characters that must hold the name and the arguments' brace
_DS_BRACKETED = lazy_regex(r"\s{0,4}function<([^\s<>{}`｜|]{1,256})>\s{0,16}(?:```[a-z]{0,12}\s{0,16})?(?=\{)")
"""The name in angle brackets in the place of the separator (`function<f>`)."""
_DS_BRACKETED_BEGUN = lazy_regex(
    r"\s{0,4}(?:f(?:u(?:n(?:c(?:t(?:i(?:on?)?)?)?)?)?)?|function<[^\s<>{}`｜|]{0,256}(?:>\s{0,16}(?:`{1,2}|```[a-z]{0,12}\s{0,16})?)?)?\Z"
)
_DS_NAME_LINE = lazy_regex(r"\s*+([^\s<>{}`]++(?:[ \t]++[^\s<>{}`]++)*)\s*+(?:```[a-z]{0,12}+\s*+)?(?=\{)")


def call_of_tokens(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read the name and the arguments behind the token that opens a call. The separator stands before or between them."""
    src = reading.src
    yield from wait_while(src, _DS_BRACKETED_BEGUN, body)
    if (named := _DS_BRACKETED.match(src.text, body)) is not None:
        name, start, fenced = named[1], named.end(), "```" in named[0]
        named = None  # a match keeps its text alive
        return (yield from _deepseek_call(reading, at, name, start, "deepseek_v3", fenced=fenced))
    sep = yield from search(src, _DS_SEP, body, 24)
    if sep is None or sep.start() - body > reading.limits.name + 32 or "<" in src.text[body : sep.start()]:
        if sep is None and len(src.text) - body < reading.limits.name:
            reading.cut_off()
        return False
    before = src.text[body : sep.start()].strip()
    start = yield from skip_space(src, sep.end())
    if src.text.startswith("{", start):
        return bool(before) and (yield from _deepseek_call(reading, at, before, start))
    if src.text.startswith("<", start):  # the body of another family (Step-3)
        reading.text(at)
        reading.markup(start)
        if before != "function":  # a type, not a name
            reading.set_addressee(before, start)
        return True
    line = yield from match_within(src, _DS_NAME_LINE, start, _DS_HEAD)
    if line is None or len(line[1]) > reading.limits.name:
        return (yield from _deepseek_bare(reading, at, before, start))
    return (yield from _deepseek_line(reading, at, line))


def _deepseek_line(reading: Reading, at: int, line: re.Match[str]) -> Steps[bool]:
    """Read a line with the name, and the arguments behind it, perhaps in a fence."""
    return _deepseek_call(reading, at, line[1], line.end(), "deepseek_v3", fenced="```" in line[0])


def _deepseek_call(
    reading: Reading, at: int, name: str, start: int, dialect: str = "deepseek_v31", *, fenced: bool = False
) -> Steps[bool]:
    name = undouble(name) if reading.tools is not None and name not in reading.tools else name
    levels = (_FENCE, _DS_CLOSERS) if fenced else (_DS_CLOSERS,)
    return (yield from named_call(reading, at, name, start, dialect, (*_FENCE, *_DS_CLOSERS), levels=levels))


def _deepseek_bare(reading: Reading, at: int, before: str, start: int) -> Steps[bool]:
    """Read a name without arguments."""
    src = reading.src
    closer = yield from search(src, _DS_END, start, 64)
    stop = closer.start() if closer else len(src.text)
    name = src.text[start:stop].strip().partition("\n")[0].strip("` ") or before
    if not name or len(name) > reading.limits.name or "<" in name:
        return False
    raw = src.text[start:stop].strip()
    if before and before != "function":
        name = before
    elif not raw and closer is None:
        reading.cut_off()
        return False
    draft = reading.begin(at, name, "deepseek_v3")
    reading.end(
        draft,
        closer.end() if closer else stop,
        {} if name == raw or not raw else None,
        raw,
        complete=closer is not None,
    )
    return True


def _sep_alone(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `f<｜tool▁sep｜>{...}`: the token before the name is missing."""
    src = reading.src
    floor = max(reading.done, at - _BLANKS)
    name_end = floor + len(src.text[floor:at].rstrip(" "))
    begin = name_start(src.text, reading.done, name_end)
    name = src.text[begin:name_end]
    if not name:
        return False
    start = yield from skip_space(src, body)
    if src.text.startswith("{", start):
        return (yield from _deepseek_call(reading, begin, name, start))
    if name != "function":
        return False
    line = yield from match_within(src, _DS_NAME_LINE, start, _DS_HEAD)
    if line is None or len(line[1]) > reading.limits.name:
        return False
    return (yield from _deepseek_line(reading, begin, line))


def _deepseek_section(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read the outer marker, which is markup if a call follows it."""
    src = reading.src
    start = yield from skip_space(src, body)
    while not src.final and len(src.text) - start < (24 if src.text.startswith("<", start) else _DS_NAMED_LENGTH):
        yield None
    if _DS_SECTION_FOLLOWS.match(src.text, start) is None:
        end = _DS_END.match(src.text, start)
        if end is None:
            return False
        start = end.end()
    reading.text(at)
    reading.markup(start)
    return True


def _write_v3(calls: Calls) -> str:
    blocks = "\n".join(
        f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{as_json(given)}\n```<｜tool▁call▁end｜>"
        for name, given in calls
    )
    return f"<｜tool▁calls▁begin｜>{blocks}<｜tool▁calls▁end｜>"


def _write_v31(calls: Calls) -> str:
    blocks = "".join(f"<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{as_json(given)}<｜tool▁call▁end｜>" for name, given in calls)
    return f"<｜tool▁calls▁begin｜>{blocks}<｜tool▁calls▁end｜>"


def _section(call: str, between: str = "") -> Layout:
    return Layout(call, "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", between)


DIALECTS: tuple[Dialect, ...] = (
    Dialect(
        "deepseek_v3",
        "DeepSeek V3, R1 and distils",
        _write_v3,
        (
            call_marker("deepseek_v3", _deepseek_section, pattern=_DS_BEGIN_CALLS),
            call_marker("deepseek_v3", call_of_tokens, pattern=_DS_BEGIN_CALL),
            call_marker("deepseek_v3", _sep_alone, pattern=_DS_SEP.pattern),
            call_marker("deepseek_v3", closer_after_call, pattern=rf"<{_DS}tool{_DS_SPACE}calls?{_DS_SPACE}end{_DS}>"),
        ),
        whole=(_section("<｜tool▁call▁begin｜>function<｜tool▁sep｜>$name\n```json\n$args\n```<｜tool▁call▁end｜>", "\n"),),
    ),
    Dialect(
        "deepseek_v31",
        "DeepSeek V3.1",
        _write_v31,
        read_by=("deepseek_v3",),
        whole=(_section("<｜tool▁call▁begin｜>$name<｜tool▁sep｜>$args<｜tool▁call▁end｜>"),),
    ),
)
