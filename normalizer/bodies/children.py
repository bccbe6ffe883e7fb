"""Elements named after the arguments, in a text that is all there: which there are, where each ends, what they mean.

They are told from other markup by the tool alone: a child is a property of it (a tool whose schema names none takes any). One
that is none stays in the arguments beside others that are.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from llmcore.normalizer.bodies.cdata import CDATA, joined
from llmcore.normalizer.bodies.entities import are_escaped, decoded
from llmcore.normalizer.bodies.entries import Entries
from llmcore.normalizer.bodies.raw_values import trimmed
from llmcore.normalizer.calls.nested_values import parameter_value
from llmcore.normalizer.core.reading import Reading
from llmcore.types.envelope import Repair
from llmcore.types.tools import CompiledTool

__all__ = ["Child", "child_at", "child_begun", "closer_of", "enter_children", "read_children", "takes"]

_CHILD = re.compile(r"\s*+<[ \t]{0,4}+(?P<key>[^\s<>/]{1,256}+)(?P<rest>(?:\s[^<>]{0,512}?)?)(?P<empty>/?)>")
_CHILD_BEGUN = re.compile(r"\s*+<[ \t]{0,4}+[^\s<>/]{1,256}+(?:\s[^<>]{0,512}?)?/?\Z")
_ATTRIBUTE_VALUE = re.compile(r"""\svalue\s{0,4}=\s{0,4}(?:"([^"]*)"|'([^']*)')""")
_OPENER = re.compile(r"<([^\s<>/]{1,256})>")
_BLANK = re.compile(r"\s*\Z")


class Child(NamedTuple):
    """A child. `text`: what stands in it, its line breaks included; `closed`: by a closer of its own; `end`: where it ends."""

    key: str
    text: str
    closed: bool
    end: int


def takes(tool: CompiledTool, key: str) -> bool:
    """Is it a parameter of the tool? A tool whose schema names none takes any."""
    return key in tool.properties or (not tool.properties and tool.is_open)


def child_at(text: str, at: int) -> str:
    """The name of the child that opens at `at`, behind white space; "" when none does."""
    child = _CHILD.match(text, at)
    return "" if child is None else child["key"]


def child_begun(text: str, at: int) -> bool:
    """May more text make what opens at `at` a child?"""
    return _CHILD_BEGUN.match(text, at) is not None


@lru_cache(maxsize=512)
def closer_of(tag: str) -> re.Pattern[str]:
    """The closer of an element, with white space where models write it."""
    return re.compile(rf"</\s{{0,4}}{re.escape(tag)}\s{{0,4}}>")


def read_children(text: str, start: int, stop: int, tool: CompiledTool, others: frozenset[str]) -> list[Child]:
    """The children that stand in `text[:stop]` from `start` on, one behind the other. `others`: tags that begin another call."""
    text = text[:stop]
    children: list[Child] = []
    at = start
    unclosed: set[str] = set()
    while (child := _CHILD.match(text, at)) is not None:
        key, begin = child["key"], child.end()
        known = takes(tool, key) and not (key in others and key not in tool.properties)
        if not known and (key in others or closer_of(key).search(text, begin) is None):
            break
        if child["empty"]:
            value = _ATTRIBUTE_VALUE.search(child["rest"])
            given = "" if value is None else decoded(value[1] or value[2] or "")
            children.append(Child(key, given, True, begin))
        else:
            end, at = _child_end(text, key, begin, tool, unclosed)
            children.append(Child(key, text[begin:end], end < at, at))
        at = children[-1].end
    return children


def _child_end(text: str, key: str, start: int, tool: CompiledTool, unclosed: set[str]) -> tuple[int, int]:
    """(end of the value, end of its closer): the first closer that another property or the end follows, else the first one,
    else the next property's opener. `unclosed`: keys for which no closer comes any more."""
    pattern = closer_of(key)
    first = found = pattern.search(text, start) if key not in unclosed else None
    while found is not None:
        following = _CHILD.match(text, found.end())
        if _BLANK.match(text, found.end()) or (following is not None and takes(tool, following["key"])):
            return found.start(), found.end()
        found = pattern.search(text, found.end())
    if first is not None:
        return first.start(), first.end()
    unclosed.add(key)
    for child in _OPENER.finditer(text, start):
        if takes(tool, child[1]):
            end = start + len(text[start : child.start()].rstrip())
            return end, end
    return len(text), len(text)


def enter_children(reading: Reading, tool: CompiledTool, children: list[Child], entries: Entries) -> None:
    """Type what stands in the children by the schema and enter it. Entities are decoded where all of the call is escaped: every
    `&` begins one, and no `<` stands in a text as it is."""
    texts = "".join(child.text for child in children if CDATA not in child.text)
    plain = [child.text for child in children if CDATA not in child.text and not _holds_elements(tool, child)]
    escaped = are_escaped(texts) and not any("<" in text for text in plain)
    for child in children:
        text = trimmed(child.text, closed=True)
        if _holds_elements(tool, child):
            written = text if escaped or CDATA in text else text.replace("&", "&amp;")
            value, repairs = parameter_value(written, tool, child.key, limits=reading.limits)
            if value == written:
                value = text
        else:
            written = joined(text) if CDATA in text else decoded(text) if escaped else text
            value, repairs = parameter_value(written, tool, child.key, limits=reading.limits)
        entries.enter(child.key, value, repairs, written)
        if escaped and "&" in text and CDATA not in text:
            entries.repairs.append(Repair(kind="entities_decoded", path=child.key, before=text, safety="coerced"))
        if not child.closed:
            entries.repairs.append(Repair(kind="closer_missing", path=child.key))


def _holds_elements(tool: CompiledTool, child: Child) -> bool:
    """Does the schema want an object or array, and do elements stand there?"""
    types = tool.types(child.key)
    wanted = "string" not in types and ("object" in types or "array" in types)
    return wanted and child.text.lstrip().startswith("<") and not child.text.lstrip().startswith(CDATA)
