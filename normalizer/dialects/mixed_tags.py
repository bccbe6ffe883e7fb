"""Mixed-up tags: a form of one family with a part missing, or with a part of another family.

The remaining markup and the tools decide. If no tool has the name, or the tool lacks the key, none of these rows reads a call.
The rows are delimited, because a part of a marker is left.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass

from llmcore.normalizer.bodies.json_bodies import swallow
from llmcore.normalizer.bodies.json_objects import objects_reader
from llmcore.normalizer.bodies.sections import call_marker
from llmcore.normalizer.bodies.tagged.children import takes_children
from llmcore.normalizer.bodies.tagged.elements import ElementCall, read_attributes, read_element_arguments
from llmcore.normalizer.bodies.tagged.parameters import Grammar, finish_parameters, read_parameters
from llmcore.normalizer.bodies.tagged.tag_attributes import is_cut_tag, opening_tag
from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.core.layouts import Layout
from llmcore.normalizer.core.names import is_known
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import Calls, as_json
from llmcore.normalizer.dialects.invoke import WORD
from llmcore.normalizer.dialects.key_value import pairs
from llmcore.normalizer.scanning.source import Steps, match_within, search, skip_space, starts
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["DIALECTS"]

_ROW = "mixed_tags"
_HEAD_LENGTH = 420
_NAME = r"[^\s<>{}()\[\]\"'=]{1,256}+"
_TAG_NAME = r"[^\s<>{}()\[\]\"'=]{1,44}+"  # 64 characters decide an opener


# ---------------------------------------------------------------------- `<tool_call>` and a name

_NAMED = lazy_regex(rf"({_NAME})(?:\s{{0,16}}+(?=[^\s])|(?=/?>))")
_ATTRIBUTE = lazy_regex(r"([A-Za-z_][\w.:-]{0,63})\s{0,4}+=\s{0,4}+(?:[\"']|(?=[^\s\"'<>]))")
_KEY_LEFT = lazy_regex(r"(?:<tool_call>\s{0,16}+)?([\w.-]{1,128}+)\s{0,16}+</arg_key>")
_CHILD = lazy_regex(r"<\s{0,4}+([^\s<>/]{1,128}+)\s{0,4}+/?>")
_CUT_CHILD = lazy_regex(r"</?[^\s<>]{0,128}+\Z")
_CLOSER = lazy_regex(r"</?tool_call>|\n[ \t]{0,8}\n")
_LONGEST = 2048  # the most characters of unreadable arguments
_TOLD = lazy_regex(r"=\s{0,4}+\S|</arg_key>|[\n.]|</tool_call>")


def _name_follows(text: str, at: int, final: bool) -> bool | None:
    if at >= len(text):
        return False if final else None
    return text[at] not in "<{[("


def _named(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `<tool_call>f`, then children, attributes, or a key whose tag is missing."""
    src = reading.src
    if reading.names is None:
        return False
    start = yield from skip_space(src, body)
    head = yield from match_within(src, _NAMED, start, 300)
    if head is None:
        return False
    word, after = head[1], head.end()
    head = None  # a match keeps its text alive
    if not any(word.startswith(name) for name in reading.names):
        return False
    while not src.final and len(src.text) - after < _HEAD_LENGTH and not _is_decidable(src.text, after):
        yield None
    tool = reading.tool(word) if word in reading.names else None
    if tool is not None and (child := _CHILD.match(src.text, after)) is not None and child[1] in tool.properties:
        child = None
        return (yield from read_element_arguments(reading, ElementCall(at, word, _ROW, word, is_distinct=False), after))
    if tool is not None and (given := _ATTRIBUTE.match(src.text, after)) is not None and takes_children(tool, given[1]):
        given = None
        return (yield from _attributes(reading, at, word, after))
    if tool is not None and src.final and _CUT_CHILD.match(src.text, after) is not None:
        reading.end(reading.begin(at, word, _ROW), len(src.text), {}, src.text[after:], complete=False)
        return True
    for name, key_at in _names_before_keys(src.text, word, start, after, reading.names):
        key = _KEY_LEFT.match(src.text, key_at)
        found = reading.tool(name)
        if key is not None and found is not None and key[1] in found.properties:
            key = None
            draft = reading.begin(at, name, "glm45")
            read = yield from read_parameters(reading, draft, key_at, Grammar(item=_LostKeys(key_at), value=pairs("", "").value))
            return finish_parameters(reading, draft, key_at, read)
    if tool is not None and _ATTRIBUTE.match(src.text, after) is not None:
        reading.miss(at, after, word, "unknown_parameter")
    if tool is not None and src.text.startswith("<", after):
        return (yield from _unreadable(reading, at, word, after))
    return False


def _unreadable(reading: Reading, at: int, name: str, after: int) -> Steps[bool]:
    """Enter a call with a tool's name, and tags without arguments up to the closer. Its arguments cannot be read."""
    src = reading.src
    found = yield from search(src, _CLOSER, after, len("</tool_call>"))
    if found is not None and found[0] == "</tool_call>" and found.start() - after < _LONGEST:
        stop, end = found.span()
        found = None  # a match keeps its text alive
        reading.end(reading.begin(at, name, _ROW), end, None, src.text[after:stop].strip())
        return True
    reading.miss(at, after, name, "unreadable")
    return False


def _is_decidable(text: str, at: int) -> bool:
    """Whether enough text stands behind a name to decide what follows."""
    if text.startswith("<", at):
        return ">" in text[at : at + _HEAD_LENGTH] and (not text.startswith("<tool_call>", at) or "</arg_key>" in text[at:])
    return _TOLD.search(text, at, at + _HEAD_LENGTH) is not None


def _names_before_keys(text: str, word: str, start: int, after: int, names: frozenset[str]) -> list[tuple[str, int]]:
    """(name, where its first key begins): the longest names that the word begins with, then the word itself."""
    found = [(word, after)] if word in names else []
    longest = sorted((name for name in names if word.startswith(name) and name != word), key=len, reverse=True)
    return [*((name, start + len(name)) for name in longest), *found]


_PAIR = (
    r"(?P<parameter>(?:<(?:arg_key|tool_call)>\s{0,16})?%s(?P<key>[\w.-]{1,128}+)"
    r"\s{0,16}</arg_key>(?P<surplus>\s{0,16}</arg_key>)?(?:[\s:]{0,16}<arg_value>|(?=[\s:]{0,16}[^\s:<])))"
)
_FIRST_PAIR = lazy_regex(_PAIR % "")
_NEXT_ITEM = lazy_regex(
    _PAIR % r"(?<![\w.-])" + r"|(?P<end></tool_call>)|</?tool_calls>"
    r"|<tool_call>(?=\s{0,16}[\w.-]{1,128}+\s{0,16}(?:\n|<arg_key>|</tool_call>))"
)


@dataclass(frozen=True, slots=True)
class _LostKeys:
    """Pairs of key and value in which an opener of a key is missing, repeated or written as `<tool_call>`.

    The first key stands at `first`, perhaps right behind the tool's name.
    """

    first: int

    @property
    def pattern(self) -> str:
        return f"{_FIRST_PAIR.pattern}|(?:{_NEXT_ITEM.pattern})"

    def search(self, string: str, pos: int = 0, endpos: int = sys.maxsize, /) -> re.Match[str] | None:
        found = _FIRST_PAIR.match(string, pos, endpos) if pos == self.first else None
        return _NEXT_ITEM.search(string, pos, endpos) if found is None else found

    def match(self, string: str, pos: int = 0, endpos: int = sys.maxsize, /) -> re.Match[str] | None:
        found = _FIRST_PAIR.match(string, pos, endpos) if pos == self.first else None
        return _NEXT_ITEM.match(string, pos, endpos) if found is None else found


def _attributes(reading: Reading, at: int, name: str, start: int) -> Steps[bool]:
    """Read `<tool_call>f key="v"</tool_call>`: attributes without their own tag."""
    src = reading.src
    head = yield from opening_tag(src, start, closer="</tool_call>")
    if head is None and (alone := (yield from opening_tag(src, start))) is not None and alone[2]:  # `f key="v" /></tool_call>`
        end, _, _ = yield from swallow(reading, alone[0], ("</tool_call>",), extra="")
        head = end, alone[1], True
    if head is None and is_cut_tag(src, start, "</tool_call>"):
        reading.end(reading.begin(at, name, _ROW), len(src.text), None, src.text[start:], complete=False)
        return True
    if head is None:
        reading.miss(at, start, name, "unreadable")
        return False
    end, attributes, _ = head
    tool = reading.tool(name)
    if tool is None or not any(takes_children(tool, key) for key in attributes):
        reading.miss(at, end, name, "unknown_parameter")
        return False
    call = ElementCall(at, name, _ROW, name)
    read_attributes(reading, call, attributes, alone=True)
    reading.end(reading.begin(at, name, _ROW), end, call.given, as_json(call.given), repairs=call.repairs)
    return True


# ---------------------------------------------------------------------- other openers


def _record(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `<call_record tool="f"><parameter name=...>`: any tag that names a tool, around parameters."""
    src = reading.src
    tag = src.text[at + 1 : body]
    head = yield from opening_tag(src, body)
    if head is None:
        return False
    end, attributes, alone = head
    name = attributes.pop("tool", None) or attributes.pop("name", "")
    start = yield from skip_space(src, end)
    while not src.final and "<parameter ".startswith(src.text[start : start + 11]) and len(src.text) - start < 11:
        yield None
    if alone or not is_known(name.strip(), reading.tools) or not src.text.startswith("<parameter ", start):
        return False
    call = ElementCall(at, name.strip(), _ROW, tag, is_distinct=False)
    read_attributes(reading, call, attributes, alone=False)
    return (yield from read_element_arguments(reading, call, start))


_CALLING = lazy_regex(rf"[ \t]{{0,16}}+({_NAME})[ \t]{{0,16}}+\]\s{{0,16}}+(?=<(?:[a-z]{{1,16}}:)?param(?:eter)?\s)")


def _calling(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `[Calling tool: f]`, then parameters."""
    head = yield from match_within(reading.src, _CALLING, body, 330)
    if head is None or not is_known(head[1], reading.tools):
        return False
    name, end = head[1], head.end()
    head = None  # a match keeps its text alive
    return (yield from read_element_arguments(reading, ElementCall(at, name, _ROW, "invoke", is_distinct=False), end))


_CALLING_BEGUN = lazy_regex(rf"[ \t]{{0,16}}+(?:{_NAME}[ \t]{{0,16}}+(?:\]\s{{0,16}}+(?:<[a-z:]{{0,26}})?)?)?\Z")


def _calling_follows(text: str, at: int, final: bool) -> bool | None:
    if _CALLING.match(text, at) is not None:
        return True
    return None if not final and len(text) - at < 330 and _CALLING_BEGUN.match(text, at) is not None else False


_SPACED_NAME = lazy_regex(rf"<({WORD})({_TAG_NAME})>")


def _tool_in_a_namespace(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `<｜DSML｜f>` with children, plain or in the namespace."""
    opened = _SPACED_NAME.match(reading.src.text, at)
    if opened is None or not is_known(opened[2], reading.tools):
        return False
    call = ElementCall(at, opened[2], _ROW, opened[2], opened[1], is_distinct=False)
    opened = None  # a match keeps its text alive
    return (yield from read_element_arguments(reading, call, body))


_OBJECTS = objects_reader(_ROW, ("</functioncall>", ">"), skip=(">",))


_NAME_FIRST = lazy_regex(r"""\s{0,8}+>?\s{0,8}+\{\s{0,16}+["']name["']\s{0,8}+:\s{0,8}+["']([^"']{1,200}+)["']""")


def _functioncall(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `<functioncall {"name": ...}>`, with its `>` behind the object or before it."""
    head = yield from match_within(reading.src, _NAME_FIRST, body, 300)
    if head is None or not is_known(head[1], reading.tools):
        return False
    head = None  # a match keeps its text alive
    took = _OBJECTS(reading, at, body)
    return took if isinstance(took, bool) else (yield from took)


def _write(calls: Calls) -> str:
    return "\n".join(f'<functioncall {{"name": {as_json(name)}, "arguments": {as_json(given)}}}>' for name, given in calls)


DIALECTS: tuple[Dialect, ...] = (
    Dialect(
        _ROW,
        "GLM-4.7, Gemini, DeepSeek, MiniMax and others, drifting",
        _write,
        (
            call_marker(_ROW, _named, "<tool_call>", follows=_name_follows, order=6),
            call_marker(_ROW, _functioncall, "<functioncall", follows=starts("{", "> {", ">{", ">\n{")),
            call_marker(
                _ROW,
                _record,
                pattern=r"""<[^\s<>/(){}\[\]\\"'=]{1,24}(?= (?:tool|name)=(?:"[^"<>\s]{1,28}"|'[^'<>\s]{1,28}'))""",
                order=9,
                by_name=True,
            ),
            call_marker(_ROW, _calling, "[Calling tool:", follows=_calling_follows),
            call_marker(
                _ROW,
                _tool_in_a_namespace,
                pattern=rf"<{WORD}(?!invoke|parameter|param>|(?:function_calls|tool_calls|toolcalls|toolcall|tool_call|tool|calls)>){_TAG_NAME}>",
                order=7,
            ),
        ),
        whole=(Layout('<functioncall {"name": "$name", "arguments": $args}>'),),
    ),
)
