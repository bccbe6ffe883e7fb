"""Bodies in braces: `{key:value,...}` with unquoted keys and raw strings between two delimiters, without escapes.

`_Follower` finds the end and the top-level members of a body while it arrives. The relaxed reader reads the values. Numbers,
booleans and null have their own types, unless the tool's schema gives another. The work is linear: each character is read
once.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from llmcore.normalizer.bodies.argument_stream import ArgumentStream
from llmcore.normalizer.bodies.bare_values import bare_arguments
from llmcore.normalizer.bodies.json_bodies import marker_stands, swallow, to_closer
from llmcore.normalizer.calls.repeated_keys import all_in_arrays
from llmcore.normalizer.calls.typed_values import typed_by
from llmcore.normalizer.core.draft import Draft
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.notations.relaxed.plain import plain_braces
from llmcore.normalizer.notations.relaxed.read import Relaxed, read_relaxed
from llmcore.normalizer.scanning.source import Steps
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types.envelope import Repair
from llmcore.types.limits import Limits
from llmcore.types.tools import CompiledTool

__all__ = ["BraceForm", "arguments_read", "bare_reading", "braced_call", "conformed", "plain_body"]

_OPENS_VALUE = frozenset(":,{[(")
_JSON_TYPES: tuple[tuple[type, tuple[str, ...]], ...] = (
    (bool, ("boolean",)),
    (int, ("integer", "number")),
    (float, ("number",)),
    (str, ("string",)),
    (list, ("array",)),
    (dict, ("object",)),
)


class BraceForm(NamedTuple):
    """How a row writes its bodies: the delimiter of strings, and the closers of a call."""

    dialect: str
    delimiter: str
    closers: tuple[str, ...]


# ---------------------------------------------------------------------- following a body


class _Member:
    """A top-level member: its key, and where its value stands. `emitted_to` is how far it was emitted, -1 if not at all."""

    __slots__ = ("emitted_to", "end", "key", "start", "string")

    def __init__(self, key: str, start: int) -> None:
        self.key, self.start, self.end = key, start, -1
        self.string = self.emitted_to = -1


class _Follower:
    """A resumable walk through a body that finds its end and its members.

    A delimiter opens a string only where a value or key may begin. Elsewhere it closes a string whose opener was lost. `end`
    is just past the last bracket. `stopped` is where a tag stands outside of all strings. `separators` are the body's own bracket
    and its commas at the top level.
    """

    __slots__ = (
        "_before",
        "_delimiter",
        "_mark",
        "_opened",
        "_quote",
        "_tokens",
        "depth",
        "end",
        "members",
        "position",
        "separators",
        "stopped",
        "string",
    )

    def __init__(self, start: int, delimiter: str) -> None:
        self.position = self._mark = self._opened = start
        self.depth = 0
        self.end = self.stopped = self.string = -1
        self.members: list[_Member] = []
        self.separators = [start]
        self._delimiter = delimiter
        self._quote = ""
        self._before = ""
        self._tokens = re.compile(rf"{re.escape(delimiter)}|[<{{}}\[\]():,\"']")

    def follow(self, text: str, final: bool) -> None:
        while self.end < 0 and self.stopped < 0:
            if self._quote and not self._leave(text):
                return
            token = self._tokens.search(text, self.position)
            if token is None:
                self.position = max(self.position, len(text))
                return
            if token[0] == "<" and not final and self._delimiter.startswith(text[token.start() :]):
                self.position = token.start()
                return
            self._step(text, token)

    def pass_tag(self) -> None:
        """Go on behind the sign at `stopped`, which begins no marker."""
        self.position, self.stopped = self.stopped + 1, -1

    def goes_on(self, text: str) -> bool:
        """Whether the current string goes on to the end of the text."""
        return bool(self._quote) and not self._leave(text)

    def _leave(self, text: str) -> bool:
        """Go to the end of the string. Returns False if the text does not hold it yet."""
        at = text.find(self._quote, self.position)
        while at >= 0 and len(self._quote) == 1 and _escaped(text, at, self.string):
            self.position = at + 1
            at = text.find(self._quote, self.position)
        if at < 0:
            self.position = max(self.position, len(text) - len(self._quote) + 1)
            return False
        self.position = self._mark = at + len(self._quote)
        self._quote, self._before, self.string = "", '"', -1
        return True

    def _step(self, text: str, token: re.Match[str]) -> None:
        at, mark = token.start(), token[0]
        before = self._before if not text[self._mark : at].strip() else "x"
        if mark == "<":
            self.stopped = at
            return
        self.position = self._mark = token.end()
        if mark == self._delimiter or mark in "\"'":
            if before in _OPENS_VALUE:
                self._enter(mark, at, is_value=before == ":")
            self._before = '"'
            return
        self._before = mark
        if mark in "{[(":
            self.depth += 1
            if self.depth == 1:
                self._opened = token.end()
        elif mark in "}])":
            self.depth -= 1
            if self.depth <= 0:
                self._finish_member(at)
                self.end = token.end()
        elif self.depth == 1:
            self._separate(text, mark, at)

    def _enter(self, quote: str, at: int, *, is_value: bool) -> None:
        self._quote, self.string = quote, at
        member = self.members[-1] if self.members else None
        if member is not None and member.end < 0 and self.depth == 1 and quote == self._delimiter and is_value:
            member.string = at + len(quote)

    def _separate(self, text: str, mark: str, at: int) -> None:
        member = self.members[-1] if self.members else None
        if mark == ",":
            self.separators.append(at)
            self._finish_member(at)
        elif member is None or member.end >= 0:
            begin = self._opened if member is None else member.end + 1
            key = text[begin:at].lstrip(", \t\r\n").rstrip()
            if key.startswith(self._delimiter):
                key = key.removeprefix(self._delimiter).removesuffix(self._delimiter)
            elif key.startswith(('"', "'")):
                key = _unquoted(key)
            self.members.append(_Member(key, at + 1))

    def _finish_member(self, at: int) -> None:
        if self.members and self.members[-1].end < 0:
            self.members[-1].end = at


def _unquoted(key: str) -> str:
    """The name of a key in quotes, as it is read once the body is complete."""
    if "\\" not in key and key.count(key[0]) == 2 and key.endswith(key[0]):
        return key[1:-1]
    value = read_relaxed(f"{{{key}:0}}").value
    return next(iter(value), key) if is_object(value) else key


def _escaped(text: str, at: int, first: int) -> bool:
    count = 0
    while at - count - 1 > first and text[at - count - 1] == "\\":
        count += 1
    return count % 2 == 1


# ---------------------------------------------------------------------- values


def _own_types(value: Any) -> tuple[str, ...]:
    return next((names for kind, names in _JSON_TYPES if isinstance(value, kind)), ("null",))


def conformed(value: Any, raw: str, tool: CompiledTool | None, key: str, limits: Limits) -> tuple[Any, list[Repair]]:
    """The value in a type of the schema: a number's text for a string, or the number in a string. Also the repairs."""
    if _conforms(value, tool, key):
        return value, []
    types = tool.types(key) if tool is not None else ()
    if isinstance(value, str):
        return typed_by(value, types, path=key, limits=limits)
    return (raw.strip(), []) if "string" in types and not (is_object(value) or is_list(value)) else (value, [])


def _repairs_for(repairs: list[Repair], tool: CompiledTool | None) -> list[Repair]:
    """The repairs, with a bare word as "coerced" where the schema allows only a string."""
    if tool is None:
        return repairs
    sure = ("string",), ("null", "string")
    return [
        repair.model_copy(update={"safety": "coerced"})
        if repair.kind in ("bare_word", "missing_delimiter") and tool.types(repair.path) in sure
        else repair
        for repair in repairs
    ]


def arguments_read(
    reading: Reading, parsed: Relaxed, members: list[_Member], tool: CompiledTool | None
) -> tuple[dict[str, Any] | None, list[Repair]]:
    if not is_object(parsed.value):
        return None, []
    arguments = parsed.value
    repairs = _repairs_for(parsed.repairs, tool)
    raw = {member.key: reading.src.text[member.start : member.end] for member in members if member.end >= 0}
    for key, value in arguments.items():
        arguments[key], found = conformed(value, raw.get(key, ""), tool, key, reading.limits)
        repairs = [*repairs, *found]
    return arguments, repairs


class _MemberEmitter:
    """Emits members as they arrive: delimited strings in pieces, other values whole."""

    def __init__(self, reading: Reading, draft: Draft, delimiter: str, tool: CompiledTool | None) -> None:
        self._reading, self._delimiter, self._tool = reading, delimiter, tool
        self._stream = ArgumentStream(reading, draft)
        self._done = 0

    def emit(self, follower: _Follower) -> None:
        text = self._reading.src.text
        while self._done < len(follower.members):
            member = follower.members[self._done]
            if member.string >= 0 and (member.emitted_to >= 0 or self._streams(member.key)):
                self._piece(text, member, follower)
            if member.end < 0:
                return
            if member.emitted_to < 0:
                self._whole(text, member)
            self._done += 1

    def _streams(self, key: str) -> bool:
        return self._tool is None or self._tool.types(key) in ((), ("string",))

    def _piece(self, text: str, member: _Member, follower: _Follower) -> None:
        if member.emitted_to < 0:
            self._stream.open_string(member.key)
            member.emitted_to = member.string
        closed = follower.string != member.string - len(self._delimiter)
        upto = text.find(self._delimiter, member.emitted_to) if closed else follower.position
        if closed:
            self._stream.close_string(text[member.emitted_to : upto])
            member.string = -1
        elif not closed and upto > member.emitted_to:
            self._stream.piece(text[member.emitted_to : upto])
            member.emitted_to = upto

    def _whole(self, text: str, member: _Member) -> None:
        raw = text[member.start : member.end]
        parsed = read_relaxed(raw, 0, len(raw), limits=self._reading.limits, string_delimiters=(self._delimiter,))
        value, _ = conformed(parsed.value, raw, self._tool, member.key, self._reading.limits)
        self._stream.whole(member.key, value)

    def close(self) -> None:
        self._stream.close()


# ---------------------------------------------------------------------- calls


def braced_call(reading: Reading, at: int, start: int, name: str, form: BraceForm) -> Steps[bool]:
    """Read the call of this name, whose body begins at `start`."""
    src, (dialect, delimiter, closers) = reading.src, form
    draft = reading.begin(at, name, dialect)
    tool = reading.tool(name)
    if src.final and not reading.listening and (plain := _plain(reading, start, delimiter, closers[0], tool)) is not None:
        end, _, extra = yield from swallow(reading, plain[1], closers)
        reading.end(draft, end, plain[0], src.text[start : plain[1]], repairs=extra)
        return True
    follower = _Follower(start, delimiter)
    emitter = _MemberEmitter(reading, draft, delimiter, tool) if reading.listening else None

    def skim(more: str) -> bool:
        if emitter is None or not follower.goes_on(src.text):
            return False
        emitter.emit(follower)
        return True

    while True:
        follower.follow(src.text, src.final)
        if emitter is not None:
            emitter.emit(follower)
        if follower.end >= 0 or (follower.stopped < 0 and src.final):
            break
        if follower.stopped < 0:
            yield skim
        elif (yield from marker_stands(reading, follower.stopped, closers)):
            break
        else:
            follower.pass_tag()
    if emitter is not None:
        emitter.close()
    stop = _stop(reading, follower, closers)
    cut = stop < 0
    stop = len(src.text) if cut else stop
    end, dropped = (stop, list[Repair]()) if cut else (yield from to_closer(reading, at, stop, closers))
    parsed = read_relaxed(src.text, start, stop, limits=reading.limits, cut=cut, string_delimiters=(delimiter,))
    arguments, repairs = arguments_read(reading, parsed, follower.members, tool)
    if repairs and arguments and tool is not None:
        repairs = all_in_arrays(arguments, repairs, tool)
    if follower.end >= 0 and (bare := bare_reading(reading, start, stop, delimiter, tool, arguments, repairs)) is not None:
        arguments, repairs = bare
    repairs, whole = [*repairs, *dropped], parsed.complete and not cut
    if whole and not arguments and follower.end < 0 and not src.text.startswith(closers, stop):  # the next call begins in it
        repairs, whole = [Repair(kind="closer_missing", safety="truncated")], False
    reading.end(draft, end, arguments, src.text[start:stop], complete=whole, repairs=repairs)
    return True


def bare_reading(
    reading: Reading,
    start: int,
    stop: int,
    delimiter: str,
    tool: CompiledTool | None,
    arguments: dict[str, Any] | None,
    repairs: list[Repair],
) -> tuple[dict[str, Any], list[Repair]] | None:
    """The reading of bare texts by the schema. None if the body has another certain reading, or if the schema cannot tell."""
    is_certain = arguments is not None and all(repair.safety != "guess" for repair in repairs)
    if is_certain or tool is None or not tool.properties:
        return None
    follower = _Follower(start, delimiter)
    follower.follow(reading.src.text, final=True)
    while follower.stopped >= 0:
        follower.pass_tag()
        follower.follow(reading.src.text, final=True)
    return bare_arguments(reading.src.text, follower.separators, stop, delimiter, tool, reading.limits)


def _plain(
    reading: Reading, start: int, delimiter: str, closer: str, tool: CompiledTool | None
) -> tuple[dict[str, Any], int] | None:
    """(arguments, end) of a body that is plain up to the first closer and fits the schema. None if it is not."""
    text = reading.src.text
    stop = text.find(closer, start)
    body = text[start:stop].rstrip() if stop >= 0 else ""
    arguments = plain_braces(body, delimiter, reading.limits)
    if not is_object(arguments) or any(not _conforms(value, tool, key) for key, value in arguments.items()):
        return None
    return arguments, start + len(body)


def plain_body(written: str, delimiter: str, tool: CompiledTool, limits: Limits) -> dict[str, Any] | None:
    """The arguments in braces, if they hold only values that JSON has and fit the schema. None if not."""
    found = plain_braces(written, delimiter, limits)
    return found if is_object(found) and all(_conforms(value, tool, key) for key, value in found.items()) else None


def _conforms(value: Any, tool: CompiledTool | None, key: str) -> bool:
    types = tool.types(key) if tool is not None else ()
    return not types or not set(_own_types(value)).isdisjoint(types)


def _stop(reading: Reading, follower: _Follower, closers: tuple[str, ...]) -> int:
    """Where the body ends, -1 if it was cut. If a string never closes, a closer inside it ends the body."""
    if follower.end >= 0:
        return follower.end
    if follower.stopped >= 0:
        return follower.stopped
    text = reading.src.text
    if follower.string >= 0:
        hits = [hit for closer in closers if (hit := text.find(closer, follower.string)) >= 0]
        return min(hits, default=-1)
    return -1
