"""Read an undamaged call, or a section of calls, in one step by its row's `Layout`.

This module reads no call that needs a repair or more context. It declines wherever the row's readers might give another
result. Tests check that both agree for every row, place and cut (`tests/normalizer/text/test_whole.py`).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any, Final

from llmcore.normalizer.bare.fences import holds_closer
from llmcore.normalizer.bodies.brace_bodies import plain_body
from llmcore.normalizer.bodies.tagged.parameters import trimmed
from llmcore.normalizer.calls.call_objects import echoes_tool
from llmcore.normalizer.calls.typed_values import typed_by
from llmcore.normalizer.core.damage.markup_remains import remains_in
from llmcore.normalizer.core.damage.placeholders import holds_placeholders
from llmcore.normalizer.core.damage.windows_paths import with_paths
from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.core.layouts import JSON, PYTHON, Layout, Parameters
from llmcore.normalizer.core.names import names_another
from llmcore.normalizer.core.rows import as_json
from llmcore.normalizer.dialects.registry import DIALECTS
from llmcore.normalizer.notations.relaxed.plain import plain_arguments
from llmcore.normalizer.notations.strict import sound_object, sound_object_at
from llmcore.normalizer.scanning.source import past
from llmcore.normalizer.scanning.words import BLANKS
from llmcore.normalizer.trust.judging import Form, form_of
from llmcore.normalizer.trust.layout import MARKS
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.envelope import Repair, ToolCall
from llmcore.types.limits import Limits
from llmcore.types.tools import CompiledTool, ToolSet

__all__ = ["Whole", "is_framed", "may_begin", "whole_at"]

Dialects = frozenset[str] | None
_Body = tuple[dict[str, Any], int, dict[str, Any]]
"""The arguments, where their text ends, and the arguments that may hold rests of markup."""
_Found = tuple[re.Match[str], str, dict[str, Any], str, re.Match[str]]
"""The match before the arguments, the tool's name, the arguments, their text, the match behind them."""

_START: Final = 4  # the layouts of a position are found by this many characters
_SPACE: Final = " \t\r\n"  # JSON's
_GAP: Final = rf"[{_SPACE}]{{0,16}}"  # readers, too, bound the white space within a head
_BRACKETS: Final = 4  # brackets that a layout may put around the arguments
_SPACES: Final = re.compile(f"[{_SPACE}]*+")
_BEHIND: Final = re.compile(rf"[{BLANKS}]{{0,64}}")
_STARTS, _STOPS = "\0", "\1"  # where the span of a call starts and stops
_HOLE: Final = re.compile(rf"(\$(?:name|id|index|key|value|type)|{_STARTS}|{_STOPS})")
_FLEXIBLE: Final = re.compile(r'\s+|(?<=[{\[:,}\]])(?=["{\[}\]])(?<!\[(?=\[))(?<!\](?=\]))')
_WORDS_APART: Final = re.compile(r"\w\s+\w")
_OPENER: Final = re.compile(r"[\[{]*+[^\s{\[($]++")
_ELEMENT: Final = re.compile(r"<(\w+)>")
_MARKER: Final = re.compile(r"[^\s}\])]\S*")
_HOLES: Final = {
    "$name": r"(?P<name>[A-Za-z_][\w-]{0,127})",
    "$index": r"\d{1,4}",
    "$key": r"(?P<key>[A-Za-z_][\w.-]{0,127}+)",
    "$type": "[a-z]{1,8}",
    _STARTS: "(?P<start>)",
    _STOPS: "(?P<stop>)",
}
_NO_MARKUP: Final = r"<(?![/\s]{0,4}+(?:[|｜!?\[\]]|[\w:.|-]{0,24}?(?:param|func|tool|arg|invoke|call|value|think|name)))"
"""A `<` in a value with no tag behind it that a reader may take for a call's markup."""
_VALUE: Final = rf"(?P<value>(?:[^<]++|{_NO_MARKUP})*+)"
_LITERAL_VALUE: Final = rf"(?P<value>(?:[^\]<]++|\](?!\]>)|{_NO_MARKUP})*+)"
_ELEMENT_VALUE: Final = r"(?P<value>[^<]*+)"
"""If each key is an element, a value may hold elements, too."""
_LINE_BREAKS: Final = ("\n", "\r")
_BLANK_ENDS: Final = (" ", "\t")
_TAKEN_ALONG: Final = frozenset("}])<>[`\"'|,;")
"""Characters that may stand behind a call and belong to it."""
_NONE: Final = list[Repair]()
_GOES_ON: Final = frozenset("{[")
"""More such characters, if no marker closes the call."""
_RECIPIENTS: Final = frozenset({"all", "assistant", "commentary", "developer", "self", "system", "user"})
"""Recipients of a Harmony frame, other than tools. Calls of tools with these names are left to the readers.

No other word has a second meaning in what a row writes. A test tries all words that the source holds.
"""


class Whole:
    """An undamaged call. Its span is `start:stop`; with its markup it reaches from `at` to `end`.

    `ends_reasoning`: a closer of reasoning behind it closes nothing.
    """

    __slots__ = ("arguments", "at", "dialect", "end", "ends_reasoning", "form", "id", "name", "raw", "start", "stop")

    def __init__(
        self,
        name: str,
        id: str,
        dialect: str,
        start: int,
        stop: int,
        end: int,
        arguments: dict[str, Any],
        raw: str,
        at: int,
        ends_reasoning: bool,
        form: Form,
    ) -> None:
        self.name = name
        self.id = id
        self.dialect = dialect
        self.start = start
        self.stop = stop
        self.end = end
        self.arguments = arguments
        self.raw = raw
        self.at = at
        self.ends_reasoning = ends_reasoning
        self.form: Form = form

    def call(self, number: int) -> ToolCall:
        """The call, as number `number` of a reply."""
        return ToolCall.trusted(
            {
                "id": self.id or f"call_{number}",
                "name": self.name,
                "arguments": self.arguments,
                "raw_arguments": self.raw,
                "dialect": self.dialect,
                "span": (self.start, self.stop),
                "complete": True,
                "known": True,
                "repairs": [],
            }
        )


def whole_at(text: str, at: int, tools: ToolSet, limits: Limits, *, is_first: bool, dialects: Dialects) -> tuple[Whole, ...]:
    """The undamaged call at `at`, or the calls of one section. Empty if the readers must read it.

    `is_first`: no text stands before it.
    """
    for layout in _table(dialects).get(text[at : at + _START], ()):
        if text.startswith(layout.opener, at) and (is_first or not layout.is_bare):
            wholes = layout.read(text, at, tools, limits)
            if wholes and wholes[-1].end - at <= limits.arguments:  # at the limit the readers decide what counts
                return wholes
    return ()


def may_begin(text: str) -> bool:
    """Whether the text begins as a call may begin."""
    return text[:_START] in _table(None)


def is_framed(whole: Whole, text: str) -> bool:
    """Whether the call stands in its own frame, of a dialect whose frames label all of the reply."""
    return whole.dialect in _framing() and text.startswith("<|", whole.at)


@cache
def _framing() -> frozenset[str]:
    return frozenset(name for name, row in DIALECTS.items() if row.frames)


@cache
def _readers() -> list[_Reader]:
    return [_Reader(row, layout) for row in DIALECTS.values() for layout in row.whole]


@lru_cache(maxsize=64)
def _table(dialects: Dialects) -> dict[str, list[_Reader]]:
    """The layouts of these rows, by their first characters."""
    table: dict[str, list[_Reader]] = {}
    for reader in _readers():
        if dialects is None or reader.row.name in dialects:
            table.setdefault(reader.opener[:_START], []).append(reader)
    return table


class _Reader:
    """Reads calls by one layout of a row. `opener` is the text before the name and before the first bracket or blank."""

    __slots__ = (
        "_again",
        "_alike",
        "_braces",
        "_dialects",
        "_elements",
        "_end",
        "_entry",
        "_head",
        "_is_fenced",
        "_is_prepared",
        "_layout",
        "_marker",
        "_tail",
        "form",
        "is_bare",
        "opener",
        "row",
    )

    def __init__(self, row: Dialect, layout: Layout) -> None:
        self.row, self._layout, self.is_bare = row, layout, row.trust == "bare"
        self.opener = _opener(layout)
        self.form: Form = "bare" if self.is_bare else form_of(self.opener)
        self._dialects = (layout.dialect or row.name, layout.later or layout.dialect or row.name)
        self._is_prepared = False
        self._again: re.Pattern[str] | None = None
        self._entry: re.Pattern[str] | None = None

    def _prepare(self) -> None:
        """Compile the expressions, when a text first holds the opener."""
        layout, body, exact = self._layout, self._layout.body, isinstance(self._layout.body, Parameters)
        before, _, behind = layout.call.partition("$args")
        opener = layout.opener + _STARTS if layout.span == "call" else _STARTS + layout.opener
        closer = layout.closer + _STOPS if layout.span == "all" else _STOPS + layout.closer
        gap = _GAP if behind + layout.closer and not exact else ""
        self._alike = tuple(_opener(one) for one in self.row.whole)
        self._elements = frozenset(_ELEMENT.findall(f"{layout.opener}{layout.call}{layout.closer}{body}"))
        self._is_fenced = "```" in layout.opener + layout.call
        self._tail = behind
        marker = _MARKER.search(behind + layout.closer)
        self._marker = "" if marker is None else marker[0]
        self._braces = 0 if marker is None else marker.string.count("}", 0, marker.start())
        self._head = lazy_regex(_expression(opener + before, layout.id, exact))
        self._end = lazy_regex(gap + _expression(behind + closer, layout.id, exact))
        if layout.between is not None:
            self._again = lazy_regex(gap + _expression(behind + _STOPS + layout.between + _STARTS + before, layout.id, exact))
        if isinstance(body, Parameters):
            self._entry = _entry(body)
        self._is_prepared = True

    def read(self, text: str, at: int, tools: ToolSet, limits: Limits) -> tuple[Whole, ...]:
        """The calls at `at`. Empty if the readers must read them."""
        row = self.row
        if not self._is_prepared:
            self._prepare()
        head = self._head.match(text, at)
        if head is None or (at and row.begins_before is not None and row.begins_before(text, at)):
            return ()
        calls: list[_Found] = []
        while True:
            tool = tools.get(head["name"])
            if tool is None or len(tool.name) > limits.name or tool.name in _RECIPIENTS:
                return ()
            start = head.end()
            body = self._body(text, start, at + limits.arguments, tool, limits)
            if body is None or not self._elements.isdisjoint(tool.properties):
                return ()
            arguments, stop, odd = body
            raw = text[start:stop]
            if self._is_odd(arguments, raw, tool, tools) or (odd and remains_in(odd, (), raw, tool.properties)):
                return ()
            behind = None if self._again is None else self._again.match(text, stop)
            if behind is None:
                break
            calls.append((head, tool.name, arguments, raw, behind))
            head = behind
        end = self._end.match(text, stop)
        if end is None or not self._is_over(text, end.end()):
            return ()
        calls.append((head, tool.name, arguments, raw, end))
        return self._wholes(at, calls)

    def _wholes(self, at: int, calls: list[_Found]) -> tuple[Whole, ...]:
        """The calls with their spans."""
        layout, last = self._layout, calls[-1][-1]
        shared = layout.span == "all"
        rewrites = shared and len(calls) > 1 and layout.body == JSON
        span = (calls[0][0].start("start"), last.start("stop")) if shared else None
        wholes: list[Whole] = []
        for head, name, arguments, raw, behind in calls:
            start, stop = span or (head.start("start"), behind.start("stop"))
            end = last.end() if shared or behind is last else stop
            written, id = as_json(arguments) if rewrites else raw, head["id"] if layout.id else ""
            dialect = self._dialects[bool(wholes)]
            wholes.append(Whole(name, id, dialect, start, stop, end, arguments, written, at, layout.ends_reasoning, self.form))
            at = end
        return tuple(wholes)

    def _body(self, text: str, start: int, bound: int, tool: CompiledTool, limits: Limits) -> _Body | None:
        """The arguments at `start`, if they are sound."""
        body = self._layout.body
        if isinstance(body, Parameters):
            return self._parameters(body, text, start, tool, limits)
        if body == JSON:
            found = self._json(text, start, bound, limits)
        elif body == PYTHON:
            found = _python(text, start, limits)
        else:
            stop = text.find(self._tail, start, bound)
            braced = plain_body(text[start:stop], body.delimiter, tool, limits) if stop > start else None
            found = None if braced is None else (braced, stop)
        if found is None:
            return None
        return (*found, {} if found[0].keys() <= tool.properties.keys() else found[0])

    def _json(self, text: str, start: int, bound: int, limits: Limits) -> tuple[dict[str, Any], int] | None:
        """The object at `start`, and where it ends. If a marker stands behind it, a faster parser can read it."""
        stop = text.find(self._marker, start, bound) if self._marker else -1
        for _ in range(self._braces + 1):
            stop = text.rfind("}", start, stop) if stop > 0 else -1
        found = sound_object(text[start : stop + 1], limits, _BRACKETS) if stop > 0 else None
        return sound_object_at(text, start, limits, _BRACKETS) if found is None else (found, stop + 1)

    def _parameters(self, body: Parameters, text: str, at: int, tool: CompiledTool, limits: Limits) -> _Body | None:
        """The entries at `at`, if the schema types each value without a repair."""
        arguments: dict[str, Any] = {}
        odd: dict[str, Any] = {}
        types, entry, end = tool.types_by_property, self._entry, at
        found = None if entry is None else entry.match(text, at)
        while found is not None:
            key, value, _ = found.groups()
            kinds = types.get(key, ())
            if not kinds or key in arguments:
                return None
            if not body.keeps and value[:1] in _LINE_BREAKS:
                if value[-1:] in _BLANK_ENDS:  # perhaps the tags are indented
                    return None
                value = trimmed(value, closed=True)
            typed, repairs = value, _NONE
            if kinds[0] != "string":
                if "string" not in kinds and (not value.strip() or value.lstrip()[0] == "<"):
                    return None
                typed, repairs = typed_by(value, kinds, path=key, limits=limits)
            if repairs:
                return None
            arguments[key] = typed
            if "<" in value or ">" in value:
                odd[key] = typed
            end, behind = found.end(3), found.end()
            found = entry.match(text, behind) if entry is not None and (behind > end or not body.gap) else None
        return (arguments, end, odd) if arguments else None

    def _is_odd(self, arguments: dict[str, Any], raw: str, tool: CompiledTool, tools: ToolSet) -> bool:
        """Whether it may be no call, or the readers find something in a value that makes the call a guess."""
        if "properties" in arguments or arguments.get("type") == "object" or echoes_tool(arguments, tool):  # perhaps a definition
            return True
        if names_another(arguments, tool.name, tools):
            return True
        return holds_placeholders(arguments) or bool(with_paths(arguments, raw)[1]) or (self._is_fenced and holds_closer(raw))

    def _is_over(self, text: str, end: int) -> bool:
        """Whether the readers would take along nothing behind `end`: no second closer, no surplus bracket."""
        ahead = past(_BEHIND, text, end)
        if ahead == len(text):
            return True
        if self.is_bare:
            return False
        sign = text[ahead]
        if sign in _TAKEN_ALONG or sign in MARKS:
            return text.startswith(self._alike, ahead)
        return self._marker != "" or sign not in _GOES_ON


def _python(text: str, start: int, limits: Limits) -> tuple[dict[str, Any], int] | None:
    """The plain keyword arguments at `start`, behind their parenthesis, and where they end. None if they are not plain."""
    found = plain_arguments(text, start - 1, limits) if text[start : start + 1].isidentifier() else None
    if found is None or text[found[1] - 2] in _SPACE:
        return None
    return found[0], found[1] - 1


def _opener(layout: Layout) -> str:
    found = _OPENER.match(layout.opener + layout.call)
    return "" if found is None else found[0]


def _expression(literal: str, id: str, exact: bool) -> str:
    """An expression for a part of a layout. White space may vary where JSON or markup allows it, unless `exact`."""
    whole = ""
    for part in _HOLE.split(literal):
        if part == "$id":
            whole += f"(?P<id>{_expression(id, '', exact)})"
        elif part == "$name" and "(?P<name>" in whole:
            whole += "(?P=name)"
        else:
            whole += _HOLES.get(part) or (re.escape(part) if exact else _flexible(part))
    return whole


def _flexible(literal: str) -> str:
    if _WORDS_APART.search(literal):
        return re.escape(literal)
    parts, gaps = _FLEXIBLE.split(literal), _FLEXIBLE.findall(literal)
    return re.escape(parts[0]) + "".join(
        (rf"[{_SPACE if gap != ' ' else ' '}]{{0,16}}") + re.escape(part) for gap, part in zip(gaps, parts[1:], strict=True)
    )


def _entry(body: Parameters) -> re.Pattern[str]:
    """An expression for one entry and, if another one follows, the gap."""
    before, _, behind = body.entry.partition("$value")
    opened = _expression(before.rstrip(), "", exact=True)
    closed = re.escape(behind.lstrip()).replace(re.escape("$key"), "(?P=key)")
    begins = re.escape(before.partition("$")[0])
    value = _LITERAL_VALUE if body.literal else _ELEMENT_VALUE if body.entry.startswith("<$key>") else _VALUE
    gap = rf"(?:{re.escape(body.gap)}(?={begins}[A-Za-z_]))?" if body.gap else ""
    return lazy_regex(rf"{opened}{value}{closed}(?P<end>){gap}")
