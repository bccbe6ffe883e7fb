"""Child elements named after the arguments, in a complete text: which there are, where each ends, their values.

Only the tool tells them from other markup: a child is a property of the tool. If the schema has no properties, any element is
a child. An element that is no property stays among the arguments if others are properties.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from llmcore.normalizer.bodies.tagged.cdata import CDATA, joined_literals, left_open, literal_joined
from llmcore.normalizer.bodies.tagged.entities import are_escaped, decoded
from llmcore.normalizer.bodies.tagged.entries import Entries
from llmcore.normalizer.bodies.tagged.raw_values import outdented, trimmed
from llmcore.normalizer.calls.nested_values import parameter_value
from llmcore.normalizer.core.damage.restarted_call import HOLDS_CALL
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.scanning.sought import Element, closers_in
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.envelope import Repair
from llmcore.types.tools import CompiledTool, ToolSet

__all__ = ["Child", "call_follows", "child_at", "child_begun", "enter_children", "read_children", "takes_children"]

_CHILD = lazy_regex(r"\s*+<[ \t]{0,4}+(?P<key>[^\s<>/]{1,256}+)(?P<rest>(?:\s[^<>]{0,512}?)?)(?P<empty>/?)>")
_CHILD_BEGUN = lazy_regex(r"\s*+<[ \t]{0,4}+[^\s<>/]{1,256}+(?:\s[^<>]{0,512}?)?/?\Z")
_ATTRIBUTE_VALUE = lazy_regex(r"""\svalue\s{0,4}=\s{0,4}(?:"([^"]*)"|'([^']*)')""")
_OPENER = lazy_regex(r"<([^\s<>/]{1,256})>")
_OPENER_ON_LINE = lazy_regex(r"(?:\A|(?<=\n))\s{0,64}<([^\s<>/]{1,256})>")
_BLANK = lazy_regex(r"\s*\Z")
_NAME_LINE = lazy_regex(r"[ \t]*+\r?\n\s*+(?P<key>[^\s<>:][^\n<>:]{0,255}+):?[ \t]*+\r?\n")


class Child(NamedTuple):
    """A child. `text` has its line breaks. `closed`: it has its own closer. `end`: where it ends."""

    key: str
    text: str
    closed: bool
    end: int


def takes_children(tool: CompiledTool, key: str) -> bool:
    """Whether `key` is a parameter of the tool. If the schema has no properties, any key is."""
    return key in tool.properties or (not tool.properties and tool.is_open)


def child_at(text: str, at: int) -> str:
    """The name of the child that opens at `at`, behind white space; "" if none does."""
    child = _CHILD.match(text, at)
    return "" if child is None else child["key"]


def child_begun(text: str, at: int) -> bool:
    """Whether more text may make the markup at `at` a child."""
    return _CHILD_BEGUN.match(text, at) is not None


def call_follows(text: str, at: int, tool: CompiledTool, tools: ToolSet | None) -> bool:
    """Whether the next call in tags begins at `at`, behind white space.

    It begins with the tag of a tool, or with a line that is its name, followed by a tag of its property. A property of `tool`
    of that name is a child instead.
    """
    opened = _CHILD.match(text, at) or _NAME_LINE.match(text, at)
    if opened is None or tools is None or opened["key"] in tool.properties:
        return False
    following = tools.get(opened["key"].strip())
    return following is not None and child_at(text, opened.end()) in following.properties


class _Closers:
    """All closers in a text, by the name of their element.

    They are found once: seeking each child's own closer would take quadratic time.
    """

    __slots__ = ("_last", "_places", "_text", "_tool", "_tools")

    def __init__(self, text: str, start: int, tool: CompiledTool, tools: ToolSet | None) -> None:
        self._text, self._tool, self._tools = text, tool, tools
        self._last: dict[str, int] = {}
        self._places: dict[str, list[tuple[int, int]]] = {}
        for key, at, end in closers_in(text, start):
            self._places.setdefault(key, []).append((at, end))

    def has(self, key: str, at: int) -> bool:
        """Whether a closer of this element stands at or behind `at`."""
        return key in self._places and self._places[key][-1][0] >= at

    def end_of(self, key: str, at: int) -> tuple[int, int] | None:
        """The first closer behind `at` that is followed by another property, the next call or the end; else the first one."""
        places = self._places.get(key, [])
        first = bisect_left(places, (at, 0))
        if first == len(places):
            return None
        index = max(first, self._last.get(key, 0))  # earlier closers were checked, and nothing of the kind follows them
        while index < len(places) and not self._is_followed(places[index][1]):
            index += 1
        self._last[key] = index
        return places[index if index < len(places) else first]

    def _is_followed(self, end: int) -> bool:
        following = _CHILD.match(self._text, end)
        if _BLANK.match(self._text, end) or (following is not None and takes_children(self._tool, following["key"])):
            return True
        return call_follows(self._text, end, self._tool, self._tools)


def read_children(text: str, start: int, stop: int, tool: CompiledTool, tools: ToolSet | None) -> list[Child]:
    """The children in `text[:stop]` from `start` on, one behind the other. The tags of other tools begin another call."""
    text = text[:stop]
    others = tools.names if tools is not None else frozenset[str]()
    children: list[Child] = []
    at, closers = start, _Closers(text, start, tool, tools)
    while (child := _CHILD.match(text, at)) is not None:
        key, begin = child["key"], child.end()
        known = takes_children(tool, key) and not (key in others and key not in tool.properties)
        if not known and (key in others or not closers.has(key, begin)):
            break
        if child["empty"]:
            value = _ATTRIBUTE_VALUE.search(child["rest"])
            given = "" if value is None else decoded(value[1] or value[2] or "")
            children.append(Child(key, given, True, begin))
        else:
            end, at = closers.end_of(key, begin) or _unclosed(text, begin, tool)
            children.append(Child(key, outdented(text, begin, text[begin:end], closed=end < at), end < at, at))
        at = children[-1].end
    return children


def _unclosed(text: str, start: int, tool: CompiledTool) -> tuple[int, int]:
    """Where a value without a closer ends, twice: before the next property's opener, or where the call ends."""
    for child in _OPENER.finditer(text, start):
        if takes_children(tool, child[1]):
            text = text[: child.start()]
            break
    end = start + len(text[start:].rstrip())
    return end, end


def _holds_call(text: str, names: frozenset[str]) -> bool:
    """Whether the tag of a tool opens and closes in a value, on a line of its own."""
    unclosed: set[str] = set()
    for opened in _OPENER_ON_LINE.finditer(text):
        tag = opened[1]
        if tag in names and tag not in unclosed:
            if Element(tag).search(text, opened.end()) is not None:
                return True
            unclosed.add(tag)
    return False


def enter_children(reading: Reading, tool: CompiledTool, children: list[Child], entries: Entries) -> None:
    """Type the text of the children by the schema and enter it.

    If every `&` of the call begins an entity and no text holds a `<`, entities are decoded.
    """
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
            written = joined_literals(text) if CDATA in text else decoded(text) if escaped else text
            value, repairs = parameter_value(written, tool, child.key, limits=reading.limits)
        literal_repairs = [*left_open(text, child.key), *literal_joined(text, written, child.key)] if CDATA in text else []
        entries.enter(child.key, value, [*repairs, *literal_repairs], written)
        if escaped and "&" in text and CDATA not in text:
            entries.repairs.append(Repair(kind="entities_decoded", path=child.key, before=text, safety="coerced"))
        if not child.closed:
            entries.repairs.append(Repair(kind="closer_missing", path=child.key, safety="guess"))
        elif _holds_call(text, reading.names or frozenset()):
            entries.repairs.append(Repair(kind=HOLDS_CALL, path=child.key, safety="guess"))


def _holds_elements(tool: CompiledTool, child: Child) -> bool:
    """Whether the schema wants an object or array, and the child holds elements."""
    types = tool.types(child.key)
    wanted = "string" not in types and ("object" in types or "array" in types)
    return wanted and child.text.lstrip().startswith("<") and not child.text.lstrip().startswith(CDATA)
