"""A call that is all there, written as its dialect writes it: read by its shape, in one step.

Each row's writer writes one call and the engine reads it, once: what stands before the name, between name and arguments, and
behind them is the shape of the row. A call of that shape for a tool that was told is then read in a few steps, wherever it stands
in a text, in a third of the readers' time or less. Whatever does not fit is the readers'. That both agree is tested for every
row, place and cut.

A row that puts several calls in one section has a shape for that as well (`text.section_shapes`).

Arguments have two notations: one text, JSON or what the row reads as plain, around which layout may vary (`_OneTextShape`), and a
tag for each, written exactly as the row writes it (`_TaggedShape`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any, Final, Protocol

from llmcore.normalizer.bare.fences import holds_closer
from llmcore.normalizer.bodies.parameters import trimmed
from llmcore.normalizer.calls.typed_values import typed_by
from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.core.names import names_another
from llmcore.normalizer.core.rows import Writer, as_json
from llmcore.normalizer.dialects.registry import DIALECTS, is_bare
from llmcore.normalizer.notations.strict import end_of_sound, sound_object
from llmcore.normalizer.scanning.source import past
from llmcore.normalizer.scanning.words import BLANKS
from llmcore.normalizer.text.section_shapes import Section, section_of
from llmcore.normalizer.text.wholes import (
    A_KEY,
    ARGUMENTS,
    BEHIND,
    GAP,
    KEY,
    NAME,
    OTHER_KEY,
    OTHER_VALUE,
    PLACES,
    SPACE,
    START,
    VALUE,
    WRITTEN,
    Dialects,
    Read,
    Sample,
    Whole,
    exactly,
    flexible,
    told,
)
from llmcore.normalizer.trust.surroundings import Form, form_of
from llmcore.types.envelope import ToolCall
from llmcore.types.late import late
from llmcore.types.limits import Limits
from llmcore.types.tools import CompiledTool, ToolSet

__all__ = ["Shapes", "WholeAt"]

_OF_EACH_TYPE: Final = (4190721, 4.5, True, None, [4190721], {OTHER_KEY: 4190721})
_BRACKETS: Final = 4  # that a row may put around the arguments
_BEHIND_ARGUMENTS: Final = 64  # white space and brackets between arguments and closer
_GOES_ON: Final = frozenset("{[,;")
"""What another call may begin with behind one that no marker closes, or what stands before it."""
_SPACES: Final = re.compile(f"[{SPACE}]*+")
_BEHIND: Final = re.compile(rf"[{BLANKS}]*+")
"""What readers skip to look for another call."""
_MOST_STARTS: Final = 4096  # each with a set of dialects
_ASKED_OFTEN: Final = 2  # a reply asks at most twice for its first call: to learn shapes costs more than to read that
_LAYOUT: Final = rf"[{SPACE}]{{0,{GAP}}}"
_CLOSING: Final = frozenset("}])")
_ELEMENT: Final = late(r"<(\w+)>")
_CDATA, _CDATA_ENDS = "<![CDATA[", "]]>"
_VALUES: Final = {"<": r"[^<]*+", _CDATA_ENDS: r"(?:[^\]<]++|\](?!\]>))*+"}
"""What a value may be, by what ends it: what holds a `<` is the readers', which look for a call in it."""
_TOKENS: Final = late(r"[}\])]|[^\s}\])]\S*")
_LINE_BREAKS: Final[tuple[str, ...]] = ("\n", "\r")  # one of which a value begins with that is written on lines of its own
_BLANK_ENDS: Final[tuple[str, ...]] = (" ", "\t")
_FEW: Final = 3  # shapes: to try each costs less than to ask all at once and then the one that stands there
_GROUP_NAME: Final = late(r"(?<=\(\?P[<=])\w+")


class WholeAt(Protocol):
    """`Shapes.at`, for one set of dialects."""

    def __call__(
        self, text: str, at: int, tools: ToolSet, limits: Limits, *, place: str = "", final: bool = True
    ) -> tuple[Whole, ...]: ...


class _OneTextShape:
    """Arguments that are one text: JSON, or what the row reads as `plain`. `head`: up to the arguments; its empty group `call` is
    where the call begins. `fenced`: back-ticks in a value may end it. `repeats`: a call may end where the next one's special
    token stands."""

    __slots__ = (
        "_ends_with_json",
        "_is_enclosed",
        "_plain",
        "_tail",
        "begins",
        "brackets",
        "closers",
        "fenced",
        "head",
        "repeats",
        "sample",
        "written",
    )

    def __init__(self, sample: Sample) -> None:
        written = sample.call.raw_arguments
        text, at = sample.text, sample.text.index(written)
        self.sample, self.fenced = sample, "```" in text[:at]
        self._plain, self._is_enclosed = sample.row.plain, written[0] == "{"
        self.written, self.begins = written, r"\{" if self._is_enclosed else r"[^\W\d]"
        self.head = re.compile(sample.head(at, flexible, call=sample.span[0]).pattern + rf"(?={self.begins})")
        tail = [token[0] for token in _TOKENS.finditer(text, at + len(written))]
        first = next((k for k, token in enumerate(tail) if token not in _CLOSING), len(tail))
        self.brackets, self.closers = tail[:first][::-1], tail[first:]
        self.repeats = not self.closers and form_of(sample.opener) == "token"
        self._tail = re.compile(_LAYOUT.join(map(re.escape, self.closers)))
        self._ends_with_json = sample.followed and self._is_enclosed and self._plain is None and not self.closers

    def read(self, head: re.Match[str], text: str, tool: CompiledTool, limits: Limits, *, final: bool) -> Whole | None:
        """The call that begins with this head, if it is of this shape and its arguments are sound."""
        start = head.end()
        whole = self._ended(head, text, self._first_end(text, start, limits), tool, limits, final=final)
        if whole is None and self._ends_with_json:
            whole = self._ended(head, text, self._end_of_json(text, start), tool, limits, final=final)
        if whole is None and final:
            whole = self._ended(head, text, self._last_end(text, start, limits), tool, limits, final=final)
        return whole

    def _ended(
        self, head: re.Match[str], text: str, markup: tuple[int, int], tool: CompiledTool, limits: Limits, *, final: bool
    ) -> Whole | None:
        """The call whose arguments stand before this markup, if they are sound and it is over there."""
        start, (stop, end) = head.end(), markup
        stop = self._before_brackets(text, start, stop)
        if stop < 0 or not self.sample.is_over(text, end, final=final):
            return None
        if not self._is_enclosed and text[stop] in SPACE:
            return None  # the reader's raw arguments hold it
        written = text[start:stop]
        arguments = self._read(written, tool, limits)
        return None if arguments is None else self.sample.whole(head, end, tool, arguments, written)

    def arguments(self, text: str, start: int, stop: int, tool: CompiledTool, limits: Limits) -> dict[str, Any] | None:
        """The arguments that stand there, if they are sound."""
        return self._read(text[start : _before_space(text, stop) if self._is_enclosed else stop], tool, limits)

    def _read(self, written: str, tool: CompiledTool, limits: Limits) -> dict[str, Any] | None:
        if self._plain is not None:
            found = self._plain(written, tool, limits) if written and written[-1] not in SPACE else None
        else:
            found = sound_object(written, limits, _BRACKETS)
        return None if found is None or self._is_odd(found, written) else found

    def literal(self, markup: str) -> str:
        """An expression for markup: layout may vary."""
        return flexible(markup)

    def _is_odd(self, arguments: dict[str, Any], written: str) -> bool:
        """Perhaps the definition of a tool, or ended by a fence within a value?"""
        return "properties" in arguments or (self.fenced and holds_closer(written))

    def _first_end(self, text: str, start: int, limits: Limits) -> tuple[int, int]:
        """Where the markup behind the arguments may begin, its brackets apart, and where it ends: at the first closer, or before
        the next call of a row that has none; either may stand in a value as well. -1 for neither."""
        farthest = start + limits.arguments + _BEHIND_ARGUMENTS
        if self.closers:
            stop = text.find(self.closers[0], start, farthest)
            tail = self._tail.match(text, stop) if stop >= 0 else None
            return (-1, -1) if tail is None else (stop, tail.end())
        following = text.find(self.sample.opener, start, farthest) if self.repeats else -1
        stop = _before_space(text, following)
        return stop, stop

    def _end_of_json(self, text: str, start: int) -> tuple[int, int]:
        """The same, where arguments that are sound JSON end, their brackets follow, and other text."""
        end = end_of_sound(text, start)
        for bracket in reversed(self.brackets):
            end = past(_SPACES, text, end) if end >= 0 else len(text)
            end = end + 1 if text.startswith(bracket, end) else -1
        behind = past(_BEHIND, text, end) if end >= 0 else len(text)
        return (end, end) if behind < len(text) and text[behind] not in _GOES_ON else (-1, -1)

    def _last_end(self, text: str, start: int, limits: Limits) -> tuple[int, int]:
        """The same, where the text ends."""
        stop = said = len(text.rstrip(SPACE))
        for closer in reversed(self.closers):
            stop = _before(text, closer, stop)
        return (stop, said) if start < stop <= start + limits.arguments + _BEHIND_ARGUMENTS else (-1, -1)

    def _before_brackets(self, text: str, start: int, stop: int) -> int:
        """Where the arguments end whose brackets and white space end at `stop`; -1 when other text stands there."""
        stop = _before_space(text, stop)
        for bracket in self.brackets:
            stop = _before(text, bracket, stop)
        return stop if stop > start else -1


def _before_space(text: str, stop: int) -> int:
    while stop > 0 and text[stop - 1] in SPACE:
        stop -= 1
    return stop


def _before(text: str, token: str, stop: int) -> int:
    """Where the token that ends at `stop` begins, and white space before it; -1 when it does not stand there."""
    return _before_space(text, stop - len(token)) if stop > 0 and text.endswith(token, 0, stop) else -1


class _TaggedShape:
    """`head`: up to the first key; its empty groups `call` and `raw` are where the call and its raw arguments begin. `trims`:
    line breaks around a value belong to the format. `behind`: so many of the last characters are no raw arguments."""

    __slots__ = ("_all", "_closing", "_entries", "begins", "behind", "head", "sample", "trims", "written")

    def __init__(self, sample: Sample, notation: _Tags, raw: tuple[int, int], *, trims: bool) -> None:
        self.sample, self.trims = sample, trims
        self.begins = r"\w"
        self.written = sample.text[sample.text.index(KEY) : sample.text.index(OTHER_VALUE) + len(OTHER_VALUE)]
        self.head = sample.head(sample.text.index(KEY), re.escape, call=sample.span[0], raw=raw[0])
        self.behind = len(sample.text) - raw[1]
        self._closing = notation.last.rpartition(KEY)[2]
        """What stands behind the last value, or behind the key where its closer repeats that: the first is the call's."""
        self._all = notation.entries(notation.last.removesuffix(self._closing))
        self._entries = notation.entries("")

    def read(self, head: re.Match[str], text: str, tool: CompiledTool, limits: Limits, *, final: bool) -> Whole | None:
        """The call that begins with this head, if it is of this shape and the schema types every argument without a repair."""
        start = head.end()
        stop = text.find(self._closing, start, start + limits.arguments)
        end = stop + len(self._closing)
        if stop < 0 or not self.sample.is_over(text, end, final=final):
            return None
        arguments = self._typed(self._all, text, start, stop, tool, limits)
        if arguments is None:
            return None
        return self.sample.whole(head, end, tool, arguments, text[head.start("raw") : end - self.behind])

    def arguments(self, text: str, start: int, stop: int, tool: CompiledTool, limits: Limits) -> dict[str, Any] | None:
        """The arguments that stand there, from the first key to the last value, if the schema types each without a repair."""
        return self._typed(self._entries, text, start, stop, tool, limits)

    def literal(self, markup: str) -> str:
        """An expression for markup: it is exactly that."""
        return exactly(markup)

    def _typed(
        self, entries: re.Pattern[str], text: str, start: int, stop: int, tool: CompiledTool, limits: Limits
    ) -> dict[str, Any] | None:
        """The values of entries that stand there, and of nothing else, as the schema types them."""
        arguments: dict[str, Any] = {}
        types = tool.types_by_property
        for key, value in entries.findall(text, start, stop):
            if not key or not self._take(arguments, key, value, types.get(key, ()), limits):
                return None
        return arguments or None

    def _take(self, arguments: dict[str, Any], key: str, value: str, types: tuple[str, ...], limits: Limits) -> bool:
        """Add a value as the schema types it; False when the readers must say what it is."""
        if not types or key in arguments:
            return False
        if self.trims and value[:1] in _LINE_BREAKS and value[-1:] in _BLANK_ENDS:  # perhaps the indentation of the tags
            return False
        said = trimmed(value, closed=True) if self.trims and value[:1] in _LINE_BREAKS else value
        if types[0] == "string":
            arguments[key] = said
            return True
        if not value.strip() and "string" not in types:
            return False
        typed, repairs = typed_by(said, types, path=key, limits=limits)
        arguments[key] = typed
        return not repairs


@dataclass(frozen=True, slots=True)
class _Tags:
    """What a row writes around the values, white space beside them apart: behind a key (for values of each type), before the next
    key, behind the last value; both begin with what ends a value."""

    opened: Sequence[str]
    following: str
    last: str
    ends: str

    def entries(self, ending: str) -> re.Pattern[str]:
        """An expression for each key with its value, of which the last one ends with `ending` and the text; its groups are empty
        for all else that may stand there."""
        opened = "|".join(map(re.escape, self.opened))
        following, over = rf"{_keyed(self.following)}(?=[A-Za-z_])", rf"{_keyed(ending)}\Z"
        return re.compile(rf"{A_KEY}(?:{opened})({_VALUES[self.ends]})(?:{following}|{over})|(?s:.)++")


def _keyed(literal: str) -> str:
    """An expression for what stands behind a value: its closer may repeat the key."""
    return re.escape(literal).replace(re.escape(KEY), "(?P=key)")


def _tags_of(sample: Sample) -> _Tags | None:
    """What the row writes around values, when that is the same for every value and ends it by its first `<`, or its section of
    characters."""
    _, _, behind_key = sample.text.partition(KEY)
    opened, _, behind_value = behind_key.partition(VALUE)
    between, _, last = behind_value.partition(OTHER_VALUE)
    closer = between.removesuffix(OTHER_KEY + opened)
    following, last = closer.lstrip(), last.lstrip().replace(OTHER_KEY, KEY)
    ends = _CDATA_ENDS if opened.endswith(_CDATA) else "<"
    sound = following.startswith(ends) and last.startswith(ends) and not following.startswith(last)
    if closer == between or NAME in behind_key or not sound:
        return None
    others = [sample.write([(NAME, {KEY: value})]).partition(KEY)[2] for value in _OF_EACH_TYPE]
    ways = [other[: other.rfind(as_json(value))] for other, value in zip(others, _OF_EACH_TYPE, strict=True)]
    return _Tags([*dict.fromkeys(way.rstrip() for way in (opened, *ways))], following, last, ends)


def _tagged(sample: Sample) -> _TaggedShape | None:
    """The shape of a sample whose arguments are tags."""
    notation, raw = _tags_of(sample), sample.call.raw_arguments
    at = sample.text.find(raw)
    if notation is None or not 0 <= at <= sample.text.index(KEY) or OTHER_KEY in sample.text[at + len(raw) :]:
        return None
    spaced = f"\n\n{VALUE}\n\n"
    read = sample.read(sample.text.replace(VALUE, spaced), told(), sample.dialects).calls[0]
    value = (read.arguments or {}).get(KEY)
    opened, closed = sample.text.partition(VALUE)[::2]
    written = opened[len(opened.rstrip()) :] + spaced + closed[: len(closed) - len(closed.lstrip())]
    if value not in (written, trimmed(written, closed=True)):
        return None
    return _TaggedShape(sample, notation, (at, at + len(raw)), trims=value != written)


def _learnt(row: Dialect, write: Writer, dialects: Dialects, text: str, read: Read) -> _OneTextShape | _TaggedShape | None:
    """The shape of what a writer of the row wrote; None when that is not markup, one call with plain arguments, markup."""
    found = read(text, told(), dialects)
    calls, spans = found.calls, [(start, end) for start, end, kind in found.pieces if kind == "call"]
    sound = len(calls) == len(spans) == 1 and calls[0].complete and not calls[0].repairs and calls[0].arguments == ARGUMENTS
    plain = not found.content and not found.reasoning and found.needs_more_work is None
    if not (sound and plain):
        return None
    places = frozenset(place for place in PLACES if _is_same_in(place, text, calls[0], read, dialects))
    elements = frozenset(_ELEMENT.findall(text)) - {KEY, OTHER_KEY}
    form: Form = "bare" if is_bare(calls[0].dialect) else form_of(text)
    followed = form != "bare" and bool(places) and _is_same_in("", text, calls[0], read, dialects)
    sample = Sample(
        row, write, dialects, text, calls[0], spans[0], elements, read, places, followed, found.reasoning_is_over, form
    )
    raw = calls[0].raw_arguments
    if text.count(raw) == 1 and (raw == WRITTEN or row.plain is not None):
        return _OneTextShape(sample)
    return _tagged(sample) if row.typed_by_schema else None


def _is_same_in(place: str, text: str, call: ToolCall, read: Read, dialects: Dialects) -> bool:
    """Is the text the same call, and all of it markup around it, where words stand before and behind it?"""
    for behind in ("", BEHIND):
        found = read(place + text + behind, told(), dialects)
        said = (place + behind).strip() if not behind else place + behind.lstrip()
        same = [(one.name, one.arguments, one.raw_arguments, one.dialect, one.repairs) for one in found.calls] == [
            (call.name, call.arguments, call.raw_arguments, call.dialect, [])
        ]
        spans = [(start - len(place), end - len(place)) for start, end, kind in found.pieces if kind == "call"]
        if not same or spans != [call.span] or found.content.split() != said.split():
            return False
    return True


class _Shape:
    """The shape of a row: of one call, and, once a text has held more than that, of a section of several."""

    __slots__ = ("_section", "_sought", "single")

    def __init__(self, single: _OneTextShape | _TaggedShape) -> None:
        self.single = single
        self._section: Section | None = None
        self._sought = False

    def read(self, text: str, at: int, tools: ToolSet, limits: Limits, *, place: str, final: bool) -> tuple[Whole, ...]:
        """The call, or the section of calls, that stands at `at`; none when the readers must look."""
        single = self.single
        sample = single.sample
        if place and place not in sample.places:
            return ()
        if at and sample.row.begins_before is not None and sample.row.begins_before(text, at):
            return ()
        head = single.head.match(text, at)
        if head is None or (tool := sample.tool(head, tools, limits)) is None:
            return ()
        if self._section is not None and (wholes := self._several(head, text, tools, limits, place=place, final=final)):
            return wholes
        whole = single.read(head, text, tool, limits, final=final)
        if whole is not None:
            return (whole,)
        if not self._sought:
            self._sought = True  # before it is learnt: what is read for that may ask as well
            self._section = section_of(single)
            return self._several(head, text, tools, limits, place=place, final=final)
        return ()

    def _several(
        self, head: re.Match[str], text: str, tools: ToolSet, limits: Limits, *, place: str, final: bool
    ) -> tuple[Whole, ...]:
        section = self._section
        if section is None or (place and place not in section.places):
            return ()
        return section.read(head, text, tools, limits, final=final)


class _Alike:
    """Shapes that begin alike. A few are tried one by one; of more, one expression tells which is the first that may stand at a
    place."""

    __slots__ = ("_first", "_from_group", "_shapes")

    def __init__(self, shapes: list[_Shape]) -> None:
        self._shapes = shapes
        self._first: re.Pattern[str] | None = None
        self._from_group: dict[int, list[_Shape]] = {}
        if len(shapes) > _FEW:
            heads = [_GROUP_NAME.sub(rf"\g<0>_{k}_", shape.single.head.pattern) for k, shape in enumerate(shapes)]
            self._first = re.compile("|".join(rf"(?:{head})()" for head in heads))
            ends = accumulate(shape.single.head.groups + 1 for shape in shapes)
            self._from_group = {group: shapes[k:] for k, group in enumerate(ends)}

    def fitting(self, text: str, at: int) -> Sequence[_Shape]:
        """The shapes to try there, in order: a few all; of more, the first whose head stands there and those behind it."""
        if self._first is None:
            return self._shapes
        found = self._first.match(text, at)
        return () if found is None else self._from_group[found.lastindex or 0]


class Shapes:
    """The shapes of all rows, learnt for starts that are asked for often. `read`: the engine, without shapes."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._of_start: dict[tuple[str, Dialects], _Alike] = {}
        self._asked: dict[tuple[str, Dialects], int] = {}

    def may_begin(self, text: str) -> bool:
        """Does a text begin as a call of a shape does?"""
        return text[:START] in _starts()

    def at(
        self,
        text: str,
        at: int,
        tools: ToolSet,
        limits: Limits,
        *,
        place: str = "",
        final: bool = True,
        dialects: Dialects = None,
    ) -> tuple[Whole, ...]:
        """The call that is all there at `at`, or the calls of one section; none: then the readers must look. `place`: what stands
        before (`PLACES`)."""
        key = text[at : at + START], dialects
        alike = self._of_start.get(key) or self._sought(key)
        if alike is None:
            return ()
        for shape in alike.fitting(text, at):
            wholes = shape.read(text, at, tools, limits, place=place, final=final)
            if wholes and wholes[-1].end - at <= limits.arguments:  # at the limit the readers say what counts
                mixed = any(names_another(whole.arguments, whole.name, tools) for whole in wholes)
                return () if mixed else wholes
        return ()

    def learn_all(self) -> None:
        """Learn those of all starts now, in half a second: else the replies that ask for them later would wait for it."""
        for start in _starts():
            if (start, None) not in self._of_start:
                self._asked[start, None] = _ASKED_OFTEN
                self._sought((start, None))

    def _sought(self, key: tuple[str, Dialects]) -> _Alike | None:
        """The shapes of calls that begin so, once they are worth learning."""
        start, dialects = key
        if start not in _starts():
            return None
        asked = self._asked.get(key, 0)
        if asked < _ASKED_OFTEN:
            if len(self._asked) < _MOST_STARTS:
                self._asked[key] = asked + 1
            return None
        shapes = [
            _learnt(row, write, dialects, text, self._read)
            for row, write, text in _written()
            if text.startswith(start) and (dialects is None or row.name in dialects)
        ]
        alike = self._of_start[key] = _Alike([_Shape(shape) for shape in shapes if shape is not None])
        return alike


@cache
def _starts() -> frozenset[str]:
    """What calls of a shape begin with. A row that begins with the name has no shape."""
    return frozenset(text[:START] for _, _, text in _written()) - {NAME[:START]}


@cache
def _written() -> list[tuple[Dialect, Writer, str]]:
    """One call as each row writes it, in each of its ways."""
    return [(row, write, write([(NAME, ARGUMENTS)]).rstrip()) for row in DIALECTS.values() for write in (row.write, *row.also)]
