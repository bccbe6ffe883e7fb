"""Several calls in one section, written as their dialect writes them: read in one step.

The row's writer writes a section of calls and the engine reads it, once: what stands between one call's arguments and the next
one's, and behind the last one's, is the shape of the section. What the engine reads of sections of two, three and as many calls
as are learnt must be what is read by that shape, at the start of a text and in the midst of it: a row whose sections are not
regular has none, and neither has a row whose calls stand alone, since each of them is read by its own shape.

Numbers that a row writes are learnt with the rest: what stands before the third call is what the writer writes before a third.
Behind the calls that are learnt a section goes on as the last two do, but for the number of the call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

from llmcore.normalizer.core.rows import as_json
from llmcore.normalizer.text.wholes import (
    ARGUMENTS,
    BEHIND,
    GAP,
    NAME,
    PLACES,
    SPACE,
    WRITTEN,
    ReadText,
    Sample,
    Whole,
    expression,
    makes_a_guess,
    tiled,
    told,
)
from llmcore.types.late import late
from llmcore.types.limits import Limits
from llmcore.types.tools import CompiledTool, ToolSet

__all__ = ["Section", "Single", "section_of"]

_LEARNT = 8
_NAMES = (NAME, *(f"shape_of_name_{letter}" for letter in "bcdefghijkl"))
"""Of the calls of a section; so many of them as are learnt, and more to see that a section goes on so."""
_COUNTS = (2, 3, _LEARNT)
_COMPACT = json.dumps(ARGUMENTS, separators=(",", ":"))
_TOKENS = late(r"[}\])]|[^\s}\])]\S*")
_CLOSING = frozenset("}])")
_AS_REWRITTEN = late(
    r'(?:[{}\[\]]|[,:] |"[^"\\]*+(?:\\["\\nrtbf][^"\\]*+)*+"|[a-df-z][a-z]*+|'
    r"(?!-0(?!\.))-?[0-9]++(?![.eE0-9])|-?[0-9]{1,15}\.(?:0|[0-9]{0,3}[1-9])(?![0-9eE]))++"
)
"""JSON text that `as_json` would write of what it says: spaces behind commas and colons only, no escapes but these."""


class Single(Protocol):
    """The shape of one call of the row: its head up to the arguments, and how it reads those. `written`: the sample's arguments,
    without white space around them; `begins`: an expression for what all arguments begin with; `literal`: makes one of markup."""

    @property
    def sample(self) -> Sample: ...
    @property
    def head(self) -> re.Pattern[str]: ...
    @property
    def written(self) -> str: ...
    @property
    def begins(self) -> str: ...

    def literal(self, markup: str) -> str: ...

    def read(self, head: re.Match[str], text: str, tool: CompiledTool, limits: Limits, *, final: bool) -> Whole | None: ...

    def arguments(self, text: str, start: int, stop: int, tool: CompiledTool, limits: Limits) -> dict[str, Any] | None: ...


class _Call(NamedTuple):
    """What the engine read of a call of the sample, beside its arguments."""

    name: str
    id: str
    dialect: str


class _Learnt(NamedTuple):
    """A section as it was written, and where each call's span, arguments and raw arguments stand in it."""

    text: str
    calls: list[_Call]
    spans: list[tuple[int, int]]
    arguments: list[tuple[int, int]]
    raws: list[tuple[int, int]]
    ends_reasoning: bool
    rewrites: bool
    """Are the raw arguments what the arguments are as JSON text, however they were written?"""

    @property
    def is_list(self) -> bool:
        """Do all calls share one span?"""
        return len(set(self.spans)) == 1


class Section:
    """`joints`: what stands between the arguments of two calls; `tail`: behind the last ones. In their groups `stop` and `call`
    the spans of the calls end and begin, in `raw_end` and `raw` their raw arguments. `closer`: the tail holds it, and nothing
    before the tail does. `places`: those of `PLACES` where a section is read as at the start of a text."""

    __slots__ = (
        "_calls",
        "_closer",
        "_ended_by_text",
        "_ends_reasoning",
        "_further",
        "_is_list",
        "_joints",
        "_rewrites",
        "_single",
        "_tail",
        "places",
    )

    def __init__(self, single: Single, learnt: _Learnt, joints: list[re.Pattern[str]]) -> None:
        tail = [token[0] for token in _TOKENS.finditer(learnt.text, learnt.arguments[-1][1])]
        self._ended_by_text = all(token in _CLOSING for token in tail)
        repeated = not tail or tail[-1] in learnt.text[learnt.arguments[0][0] : learnt.arguments[-1][1]]
        self._closer = "" if self._ended_by_text or repeated else tail[-1]
        self._single, self._calls = single, learnt.calls
        self._joints = [re.compile(f"{joint.pattern}(?={single.begins})") for joint in joints[:-1]]
        self._is_list, self._ends_reasoning, self._rewrites = learnt.is_list, learnt.ends_reasoning, learnt.rewrites
        end = rf"(?=[{SPACE}]{{0,{GAP}}}\Z)" if self._ended_by_text else ""
        self._tail = re.compile(joints[-1].pattern + end)
        self._further = _further(self._joints, joints[-1], learnt.calls)
        self.places = frozenset(place for place in PLACES if all(self._agrees(2, place, behind) for behind in ("", BEHIND)))

    @property
    def is_regular(self) -> bool:
        """Is it read as the engine reads it?"""
        if self._further is not None and not self._agrees(len(_NAMES), "", ""):
            self._further = None
        return all(self._agrees(count, "", "") for count in _COUNTS)

    def read(self, head: re.Match[str], text: str, tools: ToolSet, limits: Limits, *, final: bool) -> tuple[Whole, ...]:
        """The calls of the section that begins with this head; none when it has fewer than two, or is not of this shape."""
        joints = self._found(head, text, limits)
        if not joints:
            return ()
        end = joints[-1].end()
        if not (final if self._ended_by_text else self._single.sample.is_over(text, end, final=final)):
            return ()
        span = (head.start("call"), joints[-1].start("stop")) if self._is_list else None
        wholes: list[Whole] = []
        at = head.start()
        for number, (before, behind) in enumerate(pairwise(joints)):
            written = self._calls[number] if number < _LEARNT or self._further is None else self._further.call(number)
            said = self._arguments(before, behind, text, tools, limits)
            if said is None:
                return ()
            start, stop = span or (before.start("call"), behind.start("stop"))
            over = end if behind is joints[-1] else stop
            name, (arguments, raw) = before["name"], said
            id = written.id.replace(written.name, name)
            form = self._single.sample.form
            wholes.append(Whole(name, id, written.dialect, start, stop, over, arguments, raw, at, self._ends_reasoning, form))
            at = over
        return tuple(wholes)

    def _found(self, head: re.Match[str], text: str, limits: Limits) -> list[re.Match[str]]:
        """What stands before, between and behind the arguments."""
        bound = min(len(text), head.start() + limits.arguments)
        if self._closer:
            stop = text.find(self._closer, head.end(), bound)
            if stop < 0:
                return []
            bound = stop + len(self._closer)
        elif self._ended_by_text and bound < len(text):
            return []
        found, at = [head], head.end()
        for joint in self._joints:
            between = joint.search(text, at, bound)
            if between is None:
                break
            found.append(between)
            at = between.end()
        while self._further is not None and len(found) >= _LEARNT:
            between = self._further.joint.search(text, at, bound)
            if between is None or not self._further.fits(between, len(found)):
                break
            found.append(between)
            at = between.end()
        tail = self._tail.search(text, at, bound) if len(found) > 1 else None
        return [] if tail is None else [*found, tail]

    def _arguments(
        self, before: re.Match[str], behind: re.Match[str], text: str, tools: ToolSet, limits: Limits
    ) -> tuple[dict[str, Any], str] | None:
        """The arguments that stand between these, and their raw text; None when they are not sound, or a value makes a guess of
        the call."""
        tool = self._single.sample.tool(before, tools, limits)
        if tool is None:
            return None
        arguments = self._single.arguments(text, before.end(), behind.start(), tool, limits)
        if arguments is None or ("key" in behind.re.groupindex and behind["key"] != next(reversed(arguments))):
            return None
        start = before.start("raw") if "raw" in before.re.groupindex else before.end()
        raw = text[start : behind.start("raw_end")].rstrip(SPACE)
        if makes_a_guess(arguments, raw, tool):
            return None
        if self._rewrites and _AS_REWRITTEN.fullmatch(raw) is None:
            raw = as_json(arguments)
        return arguments, raw

    def _agrees(self, count: int, place: str, behind: str) -> bool:
        """Is a section of so many calls, between these words, what the engine reads? Before words it may be left to it."""
        sample = self._single.sample
        text = place + _written(sample, count) + behind
        head = self._single.head.match(text, len(place))
        if head is None:
            return False
        wholes = self.read(head, text, told(*_NAMES), Limits(), final=True)
        if not wholes:
            return bool(behind)
        read = sample.read(text, told(*_NAMES), sample.dialects)
        calls = [(call.id, call.name, call.arguments, call.raw_arguments, call.dialect, call.span) for call in read.calls]
        taken = [(one.id, one.name, one.arguments, one.raw, one.dialect, (one.start, one.stop)) for one in wholes]
        return calls == taken and _is_plain(read, count) and read.pieces == tiled(text, wholes)


_NUMBER = late(r"(?<!\d)\d(?!\d)")


class _Further(NamedTuple):
    """How a section goes on. `joint`: what stands before a call; `numbers`: how much each number in it is more than the number
    of that call; `last`, `id`: of a call, whose id has a number where `id` has braces."""

    joint: re.Pattern[str]
    numbers: tuple[int, ...]
    last: _Call
    id: str

    def fits(self, joint: re.Match[str], number: int) -> bool:
        """Has it the numbers that stand before the call of this number?"""
        return all(joint[f"number_{n}"] == str(number + more) for n, more in enumerate(self.numbers))

    def call(self, number: int) -> _Call:
        return self.last._replace(id=self.id.format(number) if self.id else "")


def _further(joints: list[re.Pattern[str]], tail: re.Pattern[str], calls: list[_Call]) -> _Further | None:
    """How a section goes on behind the calls that are learnt; None when the last two of them do not tell."""
    number = len(calls) - 1
    before, last = (_numbered(joints[at - 1].pattern, at) for at in (number - 1, number))
    one, other = calls[-2:]
    ids = [_numbered(call.id.replace(call.name, NAME), at)[0] for call, at in ((one, number - 1), (other, number))]
    if before != last or ids[0] != ids[1] or one.dialect != other.dialect or _numbered(tail.pattern, number + 1)[1]:
        return None
    joint, numbers = last
    for n in range(len(numbers)):
        joint = joint.replace(_PLACE.format(numbers[n]), rf"(?P<number_{n}>[0-9]{{1,4}})", 1)
    id = ids[0].replace("{", "{{").replace("}", "}}").replace(_PLACE.format(0), "{}")
    return _Further(re.compile(joint), numbers, other._replace(name=NAME), id) if _PLACE[0] not in joint + id else None


_PLACE = "\x00{}\x00"


def _numbered(said: str, number: int) -> tuple[str, tuple[int, ...]]:
    """The text with places for the numbers in it that are `number` or one or two away from it, and how far each is."""
    numbers: list[int] = []

    def put(found: re.Match[str]) -> str:
        more = int(found[0]) - number
        if abs(more) > 2:  # so far rows count
            return found[0]
        numbers.append(more)
        return _PLACE.format(more)

    return _NUMBER.sub(put, said), tuple(numbers)


def _written(sample: Sample, count: int) -> str:
    return sample.write([(name, ARGUMENTS) for name in _NAMES[:count]]).rstrip()


def _is_plain(read: ReadText, count: int) -> bool:
    """Are these calls all that was read, apart from words?"""
    sound = all(call.complete and not call.repairs and call.arguments == ARGUMENTS for call in read.calls)
    return sound and len(read.calls) == count and not read.reasoning and read.needs_more_work is None


def section_of(single: Single) -> Section | None:
    """The shape of the row's sections; None when its calls stand alone, or what stands between them is not regular."""
    sample = single.sample
    if sample.row.single or _stands_alone(single):
        return None
    learnt = _learnt(single)
    joints = None if learnt is None else _joints(learnt, single.literal)
    if learnt is None or joints is None:
        return None
    section = Section(single, learnt, joints)
    return section if section.is_regular else None


def _stands_alone(single: Single) -> bool:
    """Is the first of two calls read by the shape of one?"""
    text, tools = _written(single.sample, 2), told(*_NAMES)
    head = single.head.match(text)
    tool = tools.get(NAME)
    return head is None or tool is None or single.read(head, text, tool, Limits(), final=True) is not None


def _learnt(single: Single) -> _Learnt | None:
    sample = single.sample
    text, arguments = _written(sample, _LEARNT), list[tuple[int, int]]()
    for _ in range(_LEARNT):
        start = text.find(single.written, arguments[-1][1] if arguments else 0)
        if start < 0:
            return None
        arguments.append((start, start + len(single.written)))
    read = sample.read(text, told(*_NAMES), sample.dialects)
    spans = [call.span for call in read.calls if call.span is not None]
    if not _is_plain(read, _LEARNT) or len(spans) != _LEARNT:
        return None
    raws: list[tuple[int, int]] = []
    for call in read.calls:
        at = text.find(call.raw_arguments, raws[-1][1] if raws else 0)
        raws.append((at, at + len(call.raw_arguments)))
    calls = [_Call(call.name, call.id, call.dialect) for call in read.calls]
    rewrites = _rewrites(single)
    return None if rewrites is None else _Learnt(text, calls, spans, arguments, raws, read.reasoning_is_over, rewrites)


def _rewrites(single: Single) -> bool | None:
    """Are the raw arguments not what was written, but JSON text of the arguments? None when they are neither."""
    if single.written != WRITTEN:
        return False
    sample = single.sample
    read = sample.read(_written(sample, 2).replace(WRITTEN, _COMPACT), told(*_NAMES), sample.dialects)
    raws = [call.raw_arguments for call in read.calls]
    return False if raws == [_COMPACT] * 2 else True if raws == [as_json(ARGUMENTS)] * 2 else None


def _joints(learnt: _Learnt, literal: Callable[[str], str]) -> list[re.Pattern[str]] | None:
    """An expression for what stands behind each call's arguments; None when one holds another call's name or lacks a place."""
    text, last, found = learnt.text, len(learnt.calls) - 1, list[re.Pattern[str]]()
    for k, (_, end) in enumerate(learnt.arguments):
        start = end + len(text[end:]) - len(text[end:].lstrip())
        stop = learnt.arguments[k + 1][0] if k < last else len(text)
        places = {"raw_end": max(start, learnt.raws[k][1])}
        if k == last or not learnt.is_list:
            places["stop"] = learnt.spans[k][1]
        if k < last and learnt.raws[k + 1] != learnt.arguments[k + 1]:
            places["raw"] = learnt.raws[k + 1][0]
        if k < last and not learnt.is_list:
            places["call"] = learnt.spans[k + 1][0]
        own = _NAMES[k + 1] if k < last else NAME
        others = [name for name in _NAMES if name in text[start:stop] and not (k < last and name == own)]
        if others or not all(start <= place <= stop for place in places.values()):
            return None
        found.append(expression(text, start, stop, literal, places, own))
    return found
