"""A name, then key tags and value tags in turn.

The tags may have a prefix (`ifm|`) or a suffix that differs by checkpoint (`:6124c78e`); the grammar is made for those of the
opener. A key without a value is dropped and recorded.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from llmcore.normalizer.bare.verdicts import drop_echo
from llmcore.normalizer.bodies.json_bodies import named_call
from llmcore.normalizer.bodies.json_objects import objects_reader
from llmcore.normalizer.bodies.sections import as_text, call_marker, closer_after_markup, empty_call, section
from llmcore.normalizer.bodies.tagged.parameters import Grammar, finish_parameters, read_parameters
from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.core.layouts import Layout, Parameters
from llmcore.normalizer.core.names import peel
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import Calls, Marker, Writer, as_json
from llmcore.normalizer.scanning.sought import LINE_FOR_BRACKET, SUFFIX, tags
from llmcore.normalizer.scanning.source import Steps, name_then, search, skip_space, starts
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.envelope import Repair

__all__ = ["DIALECTS", "pairs"]

_OPENER = lazy_regex(r"<(?P<prefix>ifm\||iquest_|longcat_|)tool_call(?P<suffix>:[^\s<>]{1,32})?>")
_HEAD = lazy_regex(r"\s*([^\s<>{}()]{1,256})\s*(?P<sep><tool_sep(?::[^\s<>]{1,32})?>\s*)?")
_FOREIGN_CLOSER = lazy_regex(r"</(?!tool_call\b)[\w:|.-]{1,64}>(?:\s*+(?=<|\Z)|(?=[^\S\n]*+\n))")
_BRACKET = lazy_regex(">")
_CALL_CLOSER = lazy_regex("</tool_call>")
_LOST = lazy_regex(r"(?:^|[\s>\]])([^\s<>{}()\[\]]{1,256})\s*\Z")


@lru_cache(maxsize=64)
def pairs(prefix: str, suffix: str, call: str = "tool_call") -> Grammar:
    """The grammar of pairs of key and value with this prefix and suffix, which may be a hole. `call` is the element around
    them."""
    pre, post = re.escape(prefix), suffix
    gap = r"\s{0,16}"
    key = rf"(?P<key>(?:(?!<(?:/?{pre}arg_|/?{pre}{call}|/think>))[^\n]){{0,256}}?)"
    opener = rf"<{pre}arg_key{post}>{gap}+{key}{gap}</{pre}arg_key{post}>(?P<surplus>{gap}</{pre}arg_key{post}>)?"
    typed = rf"(?:{gap}<{pre}arg_type{post}>{gap}(?P<declared>\w{{0,16}}){gap}</{pre}arg_type{post}>)?"
    valued = rf"(?P<parameter>{opener}{typed}(?:[\s:]{{0,16}}<{pre}arg_value{post}>|(?P<unopened>)(?=[\s:]{{0,16}}[^\s:<])))"
    plain = re.sub(r"\?P<(?:key|surplus|declared|unopened)>", "?:", valued)
    closer = rf"{pre}{call}{post}"
    end = rf"(?P<end><(?:/\s{{0,4}}{closer}(?:\s{{0,4}}>|[^\S\n]{{0,4}}(?={LINE_FOR_BRACKET}))|end_of_{closer}>))"
    others = rf"</?{pre}{call}s{post}>", f"<{pre}{call}{post}>"
    named = rf"{gap}[^\s<>{{}}()]{{1,256}}{gap}(?:<tool_sep{post}>{gap})?"
    again = rf"<(?:{pre}{call}s{post}>\s{{0,16}}<)?{pre}{call}{post}>(?={named}<{pre}arg_key{post}>)"
    # In a value, an opener counts only with its name and key behind it, because models write about their own format.
    return Grammar(
        item=tags(valued, end, *others, "</think>"),
        value=tags(rf"(?P<own></{pre}arg_value{post}>)", plain, end, rf"(?P<again>{again})", rf"</{pre}{call}s{post}>"),
    )


_BY_PREFIX = {"ifm|": "k2_horizon", "iquest_": "iquest", "longcat_": "longcat_pairs"}


def _dialect_of(prefix: str, suffix: str, before: str, gap: str) -> str:
    if prefix:
        return _BY_PREFIX[prefix]
    if suffix:
        return "hunyuan_v4"
    if before.endswith("<tool_calls>"):
        return "hunyuan_v3"
    return "glm45" if "\n" in gap else "glm47"


def _call(reading: Reading, at: int, body: int) -> Steps[bool]:
    src = reading.src
    yield from skip_space(src, body)
    opener, head = _OPENER.match(src.text, at), _HEAD.match(src.text, body)
    if opener is None or head is None:
        return False
    while not src.final and len(src.text) - head.end() < 24:
        yield None
        head = _HEAD.match(src.text, body) or head
    name, prefix, suffix = head[1], opener["prefix"], opener["suffix"] or ""
    if head["sep"] is not None and src.text.startswith("{", head.end()):
        closers = (f"<end_of_tool_call{suffix}>", f"</tool_call{suffix}>")
        return (yield from named_call(reading, at, name, head.end(), "hunyuan_labelled", closers))
    if not prefix and (foreign := _FOREIGN_CLOSER.match(src.text, head.end())) is not None:
        return _closed_by_another(reading, at, name, foreign)
    if not (yield from _believable(reading, at, head.end(), name, prefix)):
        return False
    dialect = _dialect_of(prefix, suffix, src.text[max(0, at - 20) : at].rstrip(), src.text[body : head.end()])
    draft = reading.begin(at, name, dialect)
    grammar = _IQUEST if prefix == "iquest_" else pairs(prefix, SUFFIX if suffix else "")
    if suffix:
        grammar = grammar.filled({SUFFIX: (suffix,)})
    found = yield from read_parameters(reading, draft, head.end(), grammar)
    return finish_parameters(reading, draft, head.end(), found)


def _closed_by_another(reading: Reading, at: int, name: str, closer: re.Match[str]) -> bool:
    """Enter a name before the closer of another tag, if it is a tool that needs no arguments."""
    tool = reading.tool(name)
    if tool is None or tool.required:
        return False
    wrong = Repair(kind="wrong_closer", before=closer[0], after="</tool_call>")
    return empty_call(reading, at, closer.end(), name, _FIRST_ROW, repairs=[wrong])


def _believable(reading: Reading, at: int, after: int, name: str, prefix: str) -> Steps[bool]:
    """Whether a name without arguments is a call: it is a tool or, if the tools are unknown, all of the message."""
    src = reading.src
    if src.text.startswith(f"<{'' if prefix == 'iquest_' else prefix}arg_key", after) or "<tool_sep" in src.text[at:after]:
        return True
    if reading.tools is not None:
        return peel(name, reading.tools) is not None or bool(prefix)
    if reading.has_content() or not reading.blank_before(at):
        return False
    close = yield from search(src, _BRACKET, after, 1)
    ahead = yield from skip_space(src, 0 if close is None else close.end())
    return ahead >= len(src.text) or src.text[ahead] == "<"


_IQUEST = pairs("", "", "iquest_tool_call")


def _opener_lost(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `get_weather<arg_key>...</tool_call>`: a tool's name directly before a key tag, with the call's closer after it."""
    src = reading.src
    before = src.text[max(reading.done, at - 300) : at]
    lost = _LOST.search(before)
    if lost is None or peel(lost[1], reading.tools) is None:
        return False
    begin = at - len(before) + lost.start(1)
    if (end := (yield from _echo_end(reading, begin, at))) >= 0:
        drop_echo(reading, begin, end)
        return True
    draft = reading.begin(begin, lost[1], "glm45")
    found = yield from read_parameters(reading, draft, at, pairs("", ""))
    return finish_parameters(reading, draft, at, found)


def _echo_end(reading: Reading, begin: int, at: int) -> Steps[int]:
    """Where the text at `begin` ends, if it repeats the body of the call right before it; -1 if it does not."""
    if not reading.drafts or not reading.blank_before(begin):
        return -1
    last = reading.drafts[-1]
    closer = yield from search(reading.src, _CALL_CLOSER, at, 24)
    if closer is None or last.stop > begin or not reading.src.text.startswith("<", last.start):
        return -1
    repeated = reading.nest(reading.src.text[begin : closer.end()]).drafts
    same = len(repeated) == 1 and repeated[0].name == last.name and repeated[0].text == last.text
    return closer.end() if same else -1


def _writer(call: str, prefix: str = "", suffix: str = "", *, gap: str = "", section: str = "", sep: str = "") -> Writer:
    def tag(name: str, closing: str = "") -> str:
        return f"<{closing}{prefix}{name}{suffix}>"

    def pair(key: str, value: Any) -> str:
        return f"{tag('arg_key')}{key}{tag('arg_key', '/')}{gap}{tag('arg_value')}{as_text(value)}{tag('arg_value', '/')}{gap}"

    def write(calls: Calls) -> str:
        blocks = "\n".join(
            f"<{call}{suffix}>{name}{sep}{gap}" + "".join(pair(k, v) for k, v in given.items()) + f"</{call}{suffix}>"
            for name, given in calls
        )
        return f"<{section}{suffix}>{gap}{blocks}{gap}</{section}{suffix}>" if section else blocks

    return write


def _write_labelled(calls: Calls) -> str:
    return "\n".join(f"<tool_call:ab1>{name}<tool_sep:ab1>{as_json(given)}<end_of_tool_call:ab1>" for name, given in calls)


_FIRST_ROW = "glm45"
"""Its markers read the other rows as well."""


def _whole(call: str, prefix: str = "", suffix: str = "", *, gap: str = "", section: str = "", sep: str = "") -> Layout:
    key, value = f"{prefix}arg_key{suffix}", f"{prefix}arg_value{suffix}"
    entries = Parameters(f"<{key}>$key</{key}>{gap}<{value}>$value</{value}>", gap)
    one = f"<{call}{suffix}>$name{sep}{gap}$args{gap}</{call}{suffix}>"
    if not section:
        return Layout(one, body=entries)
    return Layout(one, f"<{section}{suffix}>{gap}", f"{gap}</{section}{suffix}>", "\n", entries)


def _row(name: str, models: str, written: dict[str, str], *markers: Marker, later: str = "") -> Dialect:
    read_by = () if name == _FIRST_ROW else (_FIRST_ROW,)
    whole = _whole(**written)._replace(later=later)
    return Dialect(name, models, _writer(**written), markers, typed_by_schema=True, read_by=read_by, whole=(whole,))


_NAME_THEN_KEY = name_then("<arg_key>", "<tool_sep", "</", "<ifm|arg_key>", "")
_NAME_THEN_LONGCAT = name_then("<longcat_arg_key>", "</longcat_tool_call>")
_SUFFIX = r":[^\s<>]{1,32}"

DIALECTS: tuple[Dialect, ...] = (
    _row(
        "glm45",
        "GLM-4.5, 4.6, Poolside Laguna",
        {"call": "tool_call", "gap": "\n"},
        call_marker("glm45", _call, "<tool_call>", follows=_NAME_THEN_KEY),
        call_marker("glm45", _opener_lost, "<arg_key>"),
    ),
    _row("glm47", "GLM-4.7, GLM-5, Ling 3, Spark 2.5", {"call": "tool_call"}),
    _row(
        "hunyuan_v3",
        "Hunyuan Hy3",
        {"call": "tool_call", "gap": "\n", "section": "tool_calls", "sep": "<tool_sep>"},
        call_marker("glm45", section(), "<tool_calls>", follows=starts("<tool_call>")),
        later=_FIRST_ROW,
    ),
    _row(
        "hunyuan_v4",
        "Hunyuan Hy4",
        {"call": "tool_call", "suffix": ":6124c78e", "section": "tool_calls"},
        call_marker("glm45", section(), pattern=rf"<tool_calls{_SUFFIX}>", begins=("<tool_calls:",)),
        call_marker("glm45", closer_after_markup, pattern=rf"</tool_calls{_SUFFIX}>", begins=("</tool_calls:",)),
        call_marker("glm45", _call, pattern=rf"<tool_call{_SUFFIX}>", begins=("<tool_call:",)),
    ),
    Dialect(
        "hunyuan_labelled",
        "Hunyuan Hy3 (labelled tags)",
        _write_labelled,
        read_by=(_FIRST_ROW, "hunyuan_v4"),
        whole=(Layout("<tool_call:ab1>$name<tool_sep:ab1>$args<end_of_tool_call:ab1>"),),
    ),
    _row(
        "longcat_pairs",
        "LongCat Flash (key and value tags)",
        {"call": "longcat_tool_call", "prefix": "longcat_", "gap": "\n"},
        call_marker("glm45", _call, "<longcat_tool_call>", follows=_NAME_THEN_LONGCAT),
    ),
    _row(
        "iquest",
        "IQuest-Q1",
        {"call": "iquest_tool_call"},
        call_marker("glm45", _call, "<iquest_tool_call>", follows=_NAME_THEN_KEY),
    ),
    _row(
        "k2_horizon",
        "IFM K2 Horizon",
        {"call": "ifm|tool_call", "prefix": "ifm|", "section": "ifm|tool_calls"},
        call_marker("glm45", section(), "<ifm|tool_calls>", follows=starts("<ifm|tool_call>")),
        call_marker("glm45", _call, "<ifm|tool_call>", follows=_NAME_THEN_KEY),
        call_marker("glm45", objects_reader("k2_horizon", ("</ifm|tool_call>",)), "<ifm|tool_call>", follows=starts("{")),
    ),
)
