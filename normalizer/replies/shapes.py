"""One call in one reply, written as its dialect writes it: read by its shape, without the walk.

Most replies that call a tool hold one call and nothing else. Each row's writer writes such a reply and the engine reads it, once:
what stands before the name, between name and arguments, and behind them is the shape of the row. A reply of that shape for a tool
that was told is then read in a few steps, in a third of the engine's time or less. Whatever does not fit is the engine's; that
both agree is tested for every row.

Arguments have two notations: one JSON object, around which layout may vary (`_JsonShape`), and a tag for each, written exactly as
the row writes it (`_TaggedShape`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

from llmcore.normalizer.bare.fences import holds_closer
from llmcore.normalizer.bare.verdicts import is_placeholder
from llmcore.normalizer.bodies.parameters import trimmed
from llmcore.normalizer.calls.typed_values import typed_by
from llmcore.normalizer.core.rows import Dialect, as_json
from llmcore.normalizer.dialects.registry import DIALECTS
from llmcore.normalizer.notations.strict import sound_object
from llmcore.normalizer.text.engine import TextEngine
from llmcore.types.envelope import Segment, ToolCall
from llmcore.types.limits import Limits
from llmcore.types.tools import CompiledTool, ToolDefinition, ToolSet

__all__ = ["read_by_shape", "segments_of_one"]

_NAME = "shape_of_a_name"
_KEY, _OTHER_KEY = "shape_of_a_key", "shape_of_another_key"
_VALUE, _OTHER_VALUE = "shape of a value", "shape of another value"
_PARAMETERS = {"type": "object", "properties": {_KEY: {"type": "string"}, _OTHER_KEY: {"type": "string"}}}
_ARGUMENTS: dict[str, Any] = {_KEY: _VALUE, _OTHER_KEY: _OTHER_VALUE}
_WRITTEN = json.dumps(_ARGUMENTS)
_PLACEHOLDER = {_KEY: "<a value>"}
_OF_EACH_TYPE = (4190721, 4.5, True, None, [4190721], {_OTHER_KEY: 4190721})
_SPACE = " \t\r\n"  # JSON's; at more the engine must look
_START = 4  # characters by which a reply finds the shapes it may have
_GAP = 16  # characters of white space in a gap: what readers wait for within a head is bounded
_BRACKETS = 4  # that a row may put around the arguments
_A_NAME = r"(?P<name>[A-Za-z_][\w-]{0,127})"
_A_KEY = r"(?P<key>[A-Za-z_][\w.-]{0,127}+)"
_ELEMENT = re.compile(r"<(\w+)>")
_TOKENS = re.compile(r"[}\])]|[^\s}\])]\S*")
_FLEXIBLE = re.compile(r'\s+|(?<=[{\[:,])(?=["{\[])')
_WORDS_APART = re.compile(r"\w\s+\w")


_Dialects = frozenset[str] | None


def _engine(text: str, dialects: _Dialects, name: str = _NAME) -> TextEngine:
    """The engine that has read `text`, told of one tool."""
    tools = ToolSet([ToolDefinition(name=name, parameters=_PARAMETERS)])
    return TextEngine(tools, dialects=dialects, listening=False).read(text)


@dataclass(frozen=True, slots=True, eq=False)
class _Sample:
    """What the row's writer wrote (one call of `_NAME` with `_ARGUMENTS`) and what the engine read there."""

    row: Dialect
    dialects: _Dialects
    text: str
    call: ToolCall
    span: tuple[int, int]
    elements: frozenset[str]
    """Those that the row writes; of a tool with such a property they may be arguments."""

    def head(self, end: int, literal: Callable[[str], str], **places: int) -> re.Pattern[str]:
        """An expression for the text up to `end`, with a group `name` and, at each of the places, an empty group."""
        whole, start = "", 0
        for at, group in sorted([(end, ""), *((at, f"(?P<{name}>)") for name, at in places.items())]):
            whole += _NAME.join(map(literal, self.text[start:at].split(_NAME))) + group
            start = at
        return re.compile(whole.replace(_NAME, _A_NAME, 1).replace(_NAME, "(?P=name)"))

    def tool(self, head: re.Match[str], tools: ToolSet, limits: Limits) -> CompiledTool | None:
        """The tool that is called, if its name and its properties mean nothing else in what the row writes."""
        tool = tools.get(head["name"])
        if tool is None or len(tool.name) > limits.name or not self.elements.isdisjoint(tool.properties):
            return None
        return tool if _calls(self, tool.name) else None

    def read(self, head: re.Match[str], end: int, arguments: dict[str, Any], raw: str) -> ToolCall:
        """The call in a text of this shape whose white space at the end begins at `end`."""
        name = head["name"]
        return ToolCall.trusted(
            id=self.call.id.replace(_NAME, name) if self.call.id else "call_0",
            name=name,
            arguments=arguments,
            raw_arguments=raw,
            dialect=self.call.dialect,
            span=(head.start("call"), end - (len(self.text) - self.span[1])),
            complete=True,
            known=True,
            repairs=[],
        )


@lru_cache(maxsize=4096)
def _calls(sample: _Sample, name: str) -> bool:
    """Does the row's frame call what has this name? `user` in Harmony's is no tool, whatever tools there are."""
    calls = _engine(sample.row.write([(name, _ARGUMENTS)]), sample.dialects, name).calls
    return [(call.name, call.arguments, call.dialect) for call in calls] == [(name, _ARGUMENTS, sample.call.dialect)]


class _JsonShape:
    """`head`: up to the arguments; its empty group `call` is where the call begins. `tail`: what follows the arguments, from the
    last token to the first. `fenced`: back-ticks in a value may end it. `placeholders`: a value like `<your city>` makes
    no example of the call."""

    __slots__ = ("fenced", "head", "placeholders", "sample", "tail")

    def __init__(self, sample: _Sample) -> None:
        text, at = sample.text, sample.text.index(_WRITTEN)
        self.sample, self.fenced = sample, "```" in text[:at]
        self.head = sample.head(at, _flexible, call=sample.span[0])
        self.tail = [token[0] for token in _TOKENS.finditer(text, at + len(_WRITTEN))][::-1]
        self.placeholders = bool(_engine(sample.row.write([(_NAME, _PLACEHOLDER)]), sample.dialects).calls)

    def read(self, text: str, tools: ToolSet, limits: Limits) -> ToolCall | None:
        """The call, if the text is of this shape and its arguments are sound."""
        head = self.head.match(text)
        if head is None or self.sample.tool(head, tools, limits) is None:
            return None
        stop = said = len(text.rstrip(_SPACE))
        for token in self.tail:
            if not text.endswith(token, 0, stop):
                return None
            stop -= len(token)
            while text[stop - 1] in _SPACE:
                stop -= 1
        written = text[head.end() : stop]
        arguments = sound_object(written, _inside(limits))
        if (
            arguments is None
            or "properties" in arguments
            or (self.fenced and holds_closer(written))
            or (not self.placeholders and any(map(is_placeholder, arguments.values())))
        ):
            return None
        return self.sample.read(head, said, arguments, written)


def _flexible(literal: str) -> str:
    """An expression for the literal: white space may be more or less where JSON or markup allows it, in the readers' reach."""
    if _WORDS_APART.search(literal):
        return re.escape(literal)
    parts = _FLEXIBLE.split(literal)
    gaps = [f"[{_SPACE if gap != ' ' else gap}]{{0,{_GAP}}}" for gap in _FLEXIBLE.findall(literal)]
    return "".join(re.escape(part) + gap for part, gap in zip(parts, [*gaps, ""], strict=True))


@lru_cache
def _inside(limits: Limits) -> Limits:
    """The limits for arguments that may stand in brackets which count as well."""
    return replace(limits, depth=limits.depth - _BRACKETS)


class _TaggedShape:
    """`head`: up to the first key; its empty groups `call` and `raw` are where the call and its raw arguments begin. `parameter`:
    a key, a value without `<`, and what stands before the next key, or, in its group `end`, behind the last value. `trims`: line
    breaks around a value belong to the format. `behind`: so many of the last characters are no raw arguments."""

    __slots__ = ("behind", "head", "parameter", "sample", "trims")

    def __init__(self, sample: _Sample, notation: _Tags, raw: tuple[int, int], *, trims: bool) -> None:
        self.sample, self.trims = sample, trims
        self.head = sample.head(sample.text.index(_KEY), re.escape, call=sample.span[0], raw=raw[0])
        self.behind = len(sample.text) - raw[1]
        opened = "|".join(map(re.escape, notation.opened))
        self.parameter = re.compile(
            rf"{_A_KEY}(?:{opened})(?P<value>[^<]*+)(?:(?P<end>{_keyed(notation.last)})\Z|{_keyed(notation.following)})"
        )

    def read(self, text: str, tools: ToolSet, limits: Limits) -> ToolCall | None:
        """The call, if the text is of this shape and the schema types every argument without a repair."""
        head = self.head.match(text)
        if head is None or (tool := self.sample.tool(head, tools, limits)) is None:
            return None
        arguments: dict[str, Any] = {}
        at, said, end = head.end(), len(text.rstrip(_SPACE)), None
        while end is None:
            found = self.parameter.match(text, at, said)
            if found is None:
                return None
            key, value, end = found.group("key", "value", "end")
            types = tool.types(key)
            if not types or key in arguments or key not in tool.properties:
                return None
            typed, repairs = typed_by(trimmed(value, closed=True) if self.trims else value, types, path=key, limits=limits)
            if repairs:
                return None
            arguments[key], at = typed, found.end()
        return self.sample.read(head, said, arguments, text[head.start("raw") : said - self.behind])


@dataclass(frozen=True, slots=True)
class _Tags:
    """What a row writes around the values, white space beside them apart: behind a key (for values of each type), before the next
    key, behind the last value."""

    opened: Sequence[str]
    following: str
    last: str


def _keyed(literal: str) -> str:
    """An expression for what stands behind a value: its closer may repeat the key."""
    return re.escape(literal).replace(re.escape(_KEY), "(?P=key)")


def _tags_of(sample: _Sample) -> _Tags | None:
    """What the row writes around values, when that is the same for every value and ends it by its first `<`."""
    _, _, behind_key = sample.text.partition(_KEY)
    opened, _, behind_value = behind_key.partition(_VALUE)
    between, _, last = behind_value.partition(_OTHER_VALUE)
    closer = between.removesuffix(_OTHER_KEY + opened)
    following, last = closer.lstrip(), last.lstrip().replace(_OTHER_KEY, _KEY)
    if closer == between or _NAME in behind_key or not (following.startswith("<") and last.startswith("<")):
        return None
    others = [sample.row.write([(_NAME, {_KEY: value})]).partition(_KEY)[2] for value in _OF_EACH_TYPE]
    ways = [other[: other.rfind(as_json(value))] for other, value in zip(others, _OF_EACH_TYPE, strict=True)]
    return _Tags([*dict.fromkeys(way.rstrip() for way in (opened, *ways))], following, last)


def _tagged(sample: _Sample) -> _TaggedShape | None:
    """The shape of a sample whose arguments are tags."""
    notation, raw = _tags_of(sample), sample.call.raw_arguments
    at = sample.text.find(raw)
    if notation is None or not 0 <= at <= sample.text.index(_KEY) or _OTHER_KEY in sample.text[at + len(raw) :]:
        return None
    spaced = f"\n\n{_VALUE}\n\n"
    read = _engine(sample.text.replace(_VALUE, spaced), sample.dialects).calls[0]
    value = (read.arguments or {}).get(_KEY)
    opened, closed = sample.text.partition(_VALUE)[::2]
    written = opened[len(opened.rstrip()) :] + spaced + closed[: len(closed) - len(closed.lstrip())]
    if value not in (written, trimmed(written, closed=True)):
        return None
    return _TaggedShape(sample, notation, (at, at + len(raw)), trims=value != written)


def _learnt(row: Dialect, dialects: _Dialects, text: str) -> _JsonShape | _TaggedShape | None:
    """The shape of what the row's writer wrote; None when that is not markup, one call with plain arguments, markup."""
    engine = _engine(text, dialects)
    calls, spans = engine.calls, [(start, end) for start, end, kind in engine.pieces if kind == "call"]
    sound = len(calls) == len(spans) == 1 and calls[0].complete and not calls[0].repairs and calls[0].arguments == _ARGUMENTS
    plain = not engine.content and not engine.reasoning and engine.needs_more_work is None
    if not (sound and plain):
        return None
    sample = _Sample(row, dialects, text, calls[0], spans[0], frozenset(_ELEMENT.findall(text)))
    if text.count(_WRITTEN) == 1 and calls[0].raw_arguments == _WRITTEN:
        return _JsonShape(sample)
    return _tagged(sample) if row.typed_by_schema else None


@lru_cache(maxsize=4096)
def _shapes(start: str, dialects: _Dialects) -> tuple[_JsonShape | _TaggedShape, ...]:
    """The shapes of replies that begin so."""
    written = {
        row: row.write([(_NAME, _ARGUMENTS)]).rstrip() for row in DIALECTS.values() if dialects is None or row.name in dialects
    }
    shapes = [_learnt(row, dialects, text) for row, text in written.items() if text.startswith(start)]
    return tuple(shape for shape in shapes if shape is not None)


@cache
def _starts() -> frozenset[str]:
    """What replies of a shape begin with. A row that begins with the name has no shape."""
    return frozenset(row.write([(_NAME, _ARGUMENTS)])[:_START] for row in DIALECTS.values()) - {_NAME[:_START]}


def read_by_shape(text: str, tools: ToolSet, limits: Limits, dialects: Collection[str] | None = None) -> ToolCall | None:
    """The one call that is all of `text`, or None: then the engine must read it."""
    start = text[:_START]
    if start not in _starts() or len(text) > limits.arguments:
        return None
    for shape in _shapes(start, None if dialects is None else frozenset(dialects)):
        if (call := shape.read(text, tools, limits)) is not None:
            return call
    return None


def segments_of_one(length: int, call: ToolCall | None) -> list[Segment]:
    """The segments of a text of `length` characters that is one call and markup around it, or content alone."""
    if call is None:
        return [Segment(0, length, "content")]
    start, end = call.span or (0, length)
    tiles = [Segment(0, start, "markup"), Segment(start, end, "call"), Segment(end, length, "markup")]
    return [tile for tile in tiles if tile.start < tile.end]
