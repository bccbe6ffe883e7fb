"""A call that is all there, written as its dialect writes it: read by its shape, in one step.

Each row's writer writes one call and the engine reads it, once: what stands before the name, between name and arguments, and
behind them is the shape of the row. A call of that shape for a tool that was told is then read in a few steps, wherever it stands
in a text, in a third of the readers' time or less. Whatever does not fit is the readers'. That both agree is tested for every
row, place and cut.

Arguments have two notations: one JSON object, around which layout may vary (`_JsonShape`), and a tag for each, written exactly as
the row writes it (`_TaggedShape`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, NamedTuple, Protocol

from llmcore.normalizer.bare.fences import holds_closer
from llmcore.normalizer.bodies.parameters import trimmed
from llmcore.normalizer.calls.typed_values import typed_by
from llmcore.normalizer.core.pieces import Piece
from llmcore.normalizer.core.placeholders import is_placeholder, may_hold_placeholders
from llmcore.normalizer.core.rows import Dialect, as_json
from llmcore.normalizer.core.source import past
from llmcore.normalizer.core.surroundings import form_of
from llmcore.normalizer.dialects.registry import DIALECTS
from llmcore.normalizer.notations.strict import sound_object
from llmcore.types.envelope import ToolCall
from llmcore.types.limits import Limits
from llmcore.types.tools import CompiledTool, ToolDefinition, ToolSet

__all__ = ["IN_A_LINE", "ON_A_LINE", "Read", "ReadText", "Shapes", "Whole", "WholeAt"]

_NAME = "shape_of_a_name"
_KEY, _OTHER_KEY = "shape_of_a_key", "shape_of_another_key"
_VALUE, _OTHER_VALUE = "shape of a value", "shape of another value"
_PARAMETERS = {"type": "object", "properties": {_KEY: {"type": "string"}, _OTHER_KEY: {"type": "string"}}}
_ARGUMENTS: dict[str, Any] = {_KEY: _VALUE, _OTHER_KEY: _OTHER_VALUE}
_WRITTEN = json.dumps(_ARGUMENTS)
_OF_EACH_TYPE = (4190721, 4.5, True, None, [4190721], {_OTHER_KEY: 4190721})
_SPACE = " \t\r\n"  # JSON's; at more the engine must look
_START = 4  # characters by which a reply finds the shapes it may have
_GAP = 16  # characters of white space in a gap: what readers wait for within a head is bounded
_BRACKETS = 4  # that a row may put around the arguments
_BEHIND_ARGUMENTS = 64  # white space and brackets between arguments and closer
_MOST_STARTS = 4096  # each with a set of dialects
_ASKED_OFTEN = 2  # a reply asks at most twice for its first call: to learn shapes costs more than to read that
_LAYOUT = re.compile(rf"[{_SPACE}]{{0,{_GAP}}}")
_OPENER_END = re.compile(r"(?<=.)[\s{[(]")
_GAP_BEHIND = re.compile(r"\s{0,64}")
_CLOSING = frozenset("}])")
_TAKEN_ALONG = frozenset("}])<>[`\"'|,;")
"""What may stand behind a call and belong to it."""
ON_A_LINE, IN_A_LINE = "Some words.\n", "Some words "
_PLACES = (ON_A_LINE, IN_A_LINE)
_BEHIND = "\nMore words."
_A_NAME = r"(?P<name>[A-Za-z_][\w-]{0,127})"
_A_KEY = r"(?P<key>[A-Za-z_][\w.-]{0,127}+)"
_ELEMENT = re.compile(r"<(\w+)>")
_TOKENS = re.compile(r"[}\])]|[^\s}\])]\S*")
_FLEXIBLE = re.compile(r'\s+|(?<=[{\[:,])(?=["{\[])')
_WORDS_APART = re.compile(r"\w\s+\w")


_Dialects = frozenset[str] | None


class ReadText(Protocol):
    """What the engine has read of a text, as far as a shape is learnt from it."""

    @property
    def calls(self) -> list[ToolCall]: ...
    @property
    def pieces(self) -> list[Piece]: ...
    @property
    def content(self) -> str: ...
    @property
    def reasoning(self) -> str: ...
    @property
    def needs_more_work(self) -> bool | None: ...
    @property
    def reasoning_is_over(self) -> bool: ...


Read = Callable[[str, ToolSet, _Dialects], ReadText]
"""The engine, without shapes."""


class WholeAt(Protocol):
    """`Shapes.at`, for one set of dialects."""

    def __call__(
        self, text: str, at: int, tools: ToolSet, limits: Limits, *, place: str = "", final: bool = True
    ) -> Whole | None: ...


class Whole(NamedTuple):
    """A call that is all there: `start:stop` is the call's span, its markup reaches from `at` to `end`. `ends_reasoning`: a
    closer of reasoning behind it closes nothing."""

    name: str
    id: str
    dialect: str
    start: int
    stop: int
    end: int
    arguments: dict[str, Any]
    raw: str
    at: int
    ends_reasoning: bool

    def call(self, number: int) -> ToolCall:
        """As the call of this number in a reply."""
        return ToolCall.trusted(
            id=self.id or f"call_{number}",
            name=self.name,
            arguments=self.arguments,
            raw_arguments=self.raw,
            dialect=self.dialect,
            span=(self.start, self.stop),
            complete=True,
            known=True,
            repairs=[],
        )


def _told(name: str = _NAME) -> ToolSet:
    return ToolSet([ToolDefinition(name=name, parameters=_PARAMETERS)])


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
    read: Read
    places: frozenset[str]
    """Those of `_PLACES` where the row is read as it is at the start of a text."""
    ends_reasoning: bool

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

    def whole(self, head: re.Match[str], end: int, arguments: dict[str, Any], raw: str) -> Whole | None:
        """The call of this shape that ends at `end`, its markup included; None when a value makes a guess of it."""
        if may_hold_placeholders(raw) and any(map(is_placeholder, arguments.values())):
            return None
        name, start, stop = head["name"], head.start("call"), end - (len(self.text) - self.span[1])
        return Whole(
            name,
            self.call.id.replace(_NAME, name),
            self.call.dialect,
            start,
            stop,
            end,
            arguments,
            raw,
            head.start(),
            self.ends_reasoning,
        )

    def is_over(self, text: str, end: int, *, final: bool) -> bool:
        """Is what stands behind `end` nothing that its reader would take along, a closer written twice or a bracket too many?"""
        ahead = past(_GAP_BEHIND, text, end)
        if ahead == len(text):
            return final
        return text[ahead] not in _TAKEN_ALONG or text.startswith(self.opener, ahead)

    @property
    def opener(self) -> str:
        """What stands before the name and before the call's first bracket or blank."""
        return _OPENER_END.split(self.text.partition(_NAME)[0], maxsplit=1)[0] or self.text[:_START]


@lru_cache(maxsize=4096)
def _calls(sample: _Sample, name: str) -> bool:
    """Does the row's frame call what has this name? `user` in Harmony's is no tool, whatever tools there are."""
    calls = sample.read(sample.row.write([(name, _ARGUMENTS)]), _told(name), sample.dialects).calls
    return [(call.name, call.arguments, call.dialect) for call in calls] == [(name, _ARGUMENTS, sample.call.dialect)]


class _JsonShape:
    """`head`: up to the arguments; its empty group `call` is where the call begins. `tail`: what follows the arguments, from the
    last token to the first. `fenced`: back-ticks in a value may end it. `repeats`: a call may end where the next one's special
    token stands."""

    __slots__ = ("brackets", "closers", "fenced", "head", "repeats", "sample")

    def __init__(self, sample: _Sample) -> None:
        text, at = sample.text, sample.text.index(_WRITTEN)
        self.sample, self.fenced = sample, "```" in text[:at]
        self.head = sample.head(at, _flexible, call=sample.span[0])
        tail = [token[0] for token in _TOKENS.finditer(text, at + len(_WRITTEN))]
        first = next((k for k, token in enumerate(tail) if token not in _CLOSING), len(tail))
        self.brackets, self.closers = tail[:first][::-1], tail[first:]
        self.repeats = not self.closers and form_of(sample.opener) == "token"

    def read(self, text: str, at: int, tools: ToolSet, limits: Limits, *, final: bool) -> Whole | None:
        """The call, if one of this shape stands at `at` and its arguments are sound."""
        head = self.head.match(text, at)
        if head is None or self.sample.tool(head, tools, limits) is None:
            return None
        start = head.end()
        for stop, end in self._ends(text, start, limits, final=final):
            stop = self._before_brackets(text, start, stop)
            if stop < 0 or not self.sample.is_over(text, end, final=final):
                continue
            written = text[start:stop]
            arguments = sound_object(written, _inside(limits))
            if arguments is not None:
                odd = "properties" in arguments or (self.fenced and holds_closer(written))
                return None if odd else self.sample.whole(head, end, arguments, written)
        return None

    def _ends(self, text: str, start: int, limits: Limits, *, final: bool) -> Iterator[tuple[int, int]]:
        """Where the markup behind the arguments may begin, its brackets apart, and where it ends: at the first closer, or before
        the next call of a row that has none, and where the text ends; either may stand in a value as well."""
        if self.closers:
            stop = text.find(self.closers[0], start, start + limits.arguments + _BEHIND_ARGUMENTS)
            if stop < 0:
                return
            end = stop
            for closer in self.closers:
                end = past(_LAYOUT, text, end)
                if not text.startswith(closer, end):
                    break
                end += len(closer)
            else:
                yield stop, end
        elif self.repeats:
            following = text.find(self.sample.opener, start, start + limits.arguments + _BEHIND_ARGUMENTS)
            if following >= 0:
                stop = _before_space(text, following)
                yield stop, stop
        if final:
            stop = said = len(text.rstrip(_SPACE))
            for closer in reversed(self.closers):
                stop = _before(text, closer, stop)
            if stop > start and stop - start <= limits.arguments + _BEHIND_ARGUMENTS:
                yield stop, said

    def _before_brackets(self, text: str, start: int, stop: int) -> int:
        """Where the arguments end whose brackets and white space end at `stop`; -1 when other text stands there."""
        stop = _before_space(text, stop)
        for bracket in self.brackets:
            stop = _before(text, bracket, stop)
        return stop if stop > start else -1


def _before_space(text: str, stop: int) -> int:
    while stop > 0 and text[stop - 1] in _SPACE:
        stop -= 1
    return stop


def _before(text: str, token: str, stop: int) -> int:
    """Where the token that ends at `stop` begins, and white space before it; -1 when it does not stand there."""
    return _before_space(text, stop - len(token)) if stop > 0 and text.endswith(token, 0, stop) else -1


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
    a key, a value without `<`, and what stands, in its group `end`, behind the last value, or before the next key. `trims`: line
    breaks around a value belong to the format. `behind`: so many of the last characters are no raw arguments."""

    __slots__ = ("behind", "head", "parameter", "sample", "trims")

    def __init__(self, sample: _Sample, notation: _Tags, raw: tuple[int, int], *, trims: bool) -> None:
        self.sample, self.trims = sample, trims
        self.head = sample.head(sample.text.index(_KEY), re.escape, call=sample.span[0], raw=raw[0])
        self.behind = len(sample.text) - raw[1]
        opened = "|".join(map(re.escape, notation.opened))
        self.parameter = re.compile(
            rf"{_A_KEY}(?:{opened})(?P<value>[^<]*+)(?:(?P<end>{_keyed(notation.last)})|{_keyed(notation.following)})"
        )

    def read(self, text: str, at: int, tools: ToolSet, limits: Limits, *, final: bool) -> Whole | None:
        """The call, if one of this shape stands at `at` and the schema types every argument without a repair."""
        head = self.head.match(text, at)
        if head is None or (tool := self.sample.tool(head, tools, limits)) is None:
            return None
        arguments: dict[str, Any] = {}
        at, end = head.end(), None
        while end is None:
            found = self.parameter.match(text, at)
            if found is None or found.end() - head.end() > limits.arguments:
                return None
            key, value, end = found.group("key", "value", "end")
            types = tool.types(key)
            if not types or key in arguments or key not in tool.properties or not (value.strip() or "string" in types):
                return None
            typed, repairs = typed_by(trimmed(value, closed=True) if self.trims else value, types, path=key, limits=limits)
            if repairs:
                return None
            arguments[key], at = typed, found.end()
        if not self.sample.is_over(text, at, final=final):
            return None
        return self.sample.whole(head, at, arguments, text[head.start("raw") : at - self.behind])


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
    sound = following.startswith("<") and last.startswith("<") and not following.startswith(last)
    if closer == between or _NAME in behind_key or not sound:
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
    read = sample.read(sample.text.replace(_VALUE, spaced), _told(), sample.dialects).calls[0]
    value = (read.arguments or {}).get(_KEY)
    opened, closed = sample.text.partition(_VALUE)[::2]
    written = opened[len(opened.rstrip()) :] + spaced + closed[: len(closed) - len(closed.lstrip())]
    if value not in (written, trimmed(written, closed=True)):
        return None
    return _TaggedShape(sample, notation, (at, at + len(raw)), trims=value != written)


def _learnt(row: Dialect, dialects: _Dialects, text: str, read: Read) -> _JsonShape | _TaggedShape | None:
    """The shape of what the row's writer wrote; None when that is not markup, one call with plain arguments, markup."""
    found = read(text, _told(), dialects)
    calls, spans = found.calls, [(start, end) for start, end, kind in found.pieces if kind == "call"]
    sound = len(calls) == len(spans) == 1 and calls[0].complete and not calls[0].repairs and calls[0].arguments == _ARGUMENTS
    plain = not found.content and not found.reasoning and found.needs_more_work is None
    if not (sound and plain):
        return None
    places = frozenset(place for place in _PLACES if _is_same_in(place, text, calls[0], read, dialects))
    elements = frozenset(_ELEMENT.findall(text))
    sample = _Sample(row, dialects, text, calls[0], spans[0], elements, read, places, found.reasoning_is_over)
    if text.count(_WRITTEN) == 1 and calls[0].raw_arguments == _WRITTEN:
        return _JsonShape(sample)
    return _tagged(sample) if row.typed_by_schema else None


def _is_same_in(place: str, text: str, call: ToolCall, read: Read, dialects: _Dialects) -> bool:
    """Is the text the same call, and all of it markup around it, where words stand before and behind it?"""
    for behind in ("", _BEHIND):
        found = read(place + text + behind, _told(), dialects)
        said = (place + behind).strip() if not behind else place + behind.lstrip()
        same = [(one.name, one.arguments, one.raw_arguments, one.dialect, one.repairs) for one in found.calls] == [
            (call.name, call.arguments, call.raw_arguments, call.dialect, [])
        ]
        spans = [(start - len(place), end - len(place)) for start, end, kind in found.pieces if kind == "call"]
        if not same or spans != [call.span] or found.content.split() != said.split():
            return False
    return True


class Shapes:
    """The shapes of all rows, learnt for starts that are asked for often. `read`: the engine, without shapes."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._of_start = lru_cache(maxsize=_MOST_STARTS)(self._learn)
        self._asked: dict[tuple[str, _Dialects], int] = {}

    def may_begin(self, text: str) -> bool:
        """Does a text begin as a call of a shape does?"""
        return text[:_START] in _starts()

    def at(
        self,
        text: str,
        at: int,
        tools: ToolSet,
        limits: Limits,
        *,
        place: str = "",
        final: bool = True,
        dialects: _Dialects = None,
    ) -> Whole | None:
        """The call that is all there at `at`, or None: then the readers must look. `place`: what stands before (`_PLACES`)."""
        start = text[at : at + _START]
        if start not in _starts():
            return None
        asked = self._asked.get((start, dialects), 0)
        if asked < _ASKED_OFTEN:
            if len(self._asked) < _MOST_STARTS:
                self._asked[start, dialects] = asked + 1
            return None
        for shape in self._of_start(start, dialects):
            if place and place not in shape.sample.places:
                continue
            whole = shape.read(text, at, tools, limits, final=final)
            if whole is not None and whole.end - at <= limits.arguments:  # at the limit the readers say what counts
                return whole
        return None

    def _learn(self, start: str, dialects: _Dialects) -> tuple[_JsonShape | _TaggedShape, ...]:
        """The shapes of calls that begin so."""
        written = {
            row: row.write([(_NAME, _ARGUMENTS)]).rstrip()
            for row in DIALECTS.values()
            if dialects is None or row.name in dialects
        }
        shapes = [_learnt(row, dialects, text, self._read) for row, text in written.items() if text.startswith(start)]
        return tuple(shape for shape in shapes if shape is not None)


@cache
def _starts() -> frozenset[str]:
    """What calls of a shape begin with. A row that begins with the name has no shape."""
    return frozenset(row.write([(_NAME, _ARGUMENTS)])[:_START] for row in DIALECTS.values()) - {_NAME[:_START]}
