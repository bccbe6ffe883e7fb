"""One value as raw text: where it ends, and what a listener hears of it while it comes.

A value ends at its own closer, or, when that is missing, at the next complete parameter opener or the closer of the call,
whichever comes first; never within `<![CDATA[...]]>`. A closer of the call whose opener stands in the value belongs to it: the
value speaks of a call. Only where nothing else ends the value does that closer. One line break after the opening tag belongs to
the format; if there was one, so does one before the closing tag. Where the closer is missing, white space from the last line
break on is layout.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from llmcore.normalizer.bodies.argument_stream import ArgumentStream, before_layout
from llmcore.normalizer.bodies.cdata import CDATA, CDATA_END, joined
from llmcore.normalizer.core.source import Source, Steps

__all__ = ["RawValue", "read_value", "trimmed"]

_OVERLAP = 1024
_CLOSER = 64  # the longest closer of a value
_HEAD = 24  # so far into a value a literal may begin that is all of it
_SIGN = re.compile("<(?!<)")  # what ends a value begins so
_WRONG_CLOSER = re.compile(r"</\s{0,4}+[\w:.｜|-]{1,64}+\s{0,4}+>\Z")
_CLOSER_TAG = re.compile(r"</\s{0,4}+([\w:.-]{1,64}+)\s{0,4}+>")
_MAY_BE_PEELED = ("<value>", "</arg_key>")


@dataclass(slots=True)
class RawValue:
    """`text`: the value. `end`: where it ends, with its closer if it is `closed`. `group`: which group of the expression ended
    it; None when the text's end did. `is_literal`: it begins as a literal, which was closed. `literal_open`: one never ends."""

    text: str
    end: int
    group: str | None
    closed: bool
    is_literal: bool
    literal_open: bool
    holds_call: bool = False
    """A whole call of the same form stands in it, and its own closer behind that."""


def trimmed(text: str, *, closed: bool) -> str:
    """A value without the line breaks that belong to the format."""
    if not closed:
        text = _without_wrong_closer(text)
        last = text.rfind("\n")
        if last >= 0 and text[last:].isspace():
            text = text[:last]
        return text.removeprefix("\n")
    if text.startswith("\r\n"):
        return text[2:].removesuffix("\n").removesuffix("\r") if len(text) > 2 else ""
    if text.startswith("\n"):
        return text[1:-1] if text.endswith("\n") and len(text) > 1 else text[1:]
    return text


def _without_wrong_closer(text: str) -> str:
    body = text.rstrip()
    mark = body.rfind("</")
    return body[:mark].rstrip() if mark >= 0 and _WRONG_CLOSER.match(body, mark) else text


def read_value(
    src: Source,
    start: int,
    ends: re.Pattern[str],
    stream: ArgumentStream | None,
    *,
    cdata: bool,
    keeps: bool,
    peels: bool,
    may_look: Callable[[], bool],
) -> Steps[RawValue]:
    """Read the value at `start`; `ends`: what may end it. `stream`: a listener, who hears of a string whose opening quote was
    told. `cdata`: literals count. `keeps`: its line breaks are its own. `peels`: an element around it may be taken off.
    `may_look`: may it be looked for its closer behind a call that stands in it?"""
    found = ends.search(src.text, start)
    if (
        found is not None
        and (not cdata or src.text.find(CDATA, start, found.start()) < 0)
        and (found.lastgroup == "own" or (found.lastgroup != "again" and not _closes_within(src.text, start, found)))
    ):  # all there, as values mostly are
        stop, group = found.start(), found.lastgroup or "other"
        closed = group == "own"
        text = src.text[start:stop] if keeps else trimmed(src.text[start:stop], closed=closed)
        if stream is not None:
            stream.close_string(text)
        return RawValue(text, found.end() if closed else stop, group, closed, is_literal=False, literal_open=False)
    found = None  # a match keeps the text it was found in
    heard = _Heard(src, start, stream, keeps=keeps, peels=peels)
    return (yield from _read(src, start, ends, heard, may_look, cdata=cdata, keeps=keeps))


def _read(
    src: Source, start: int, ends: re.Pattern[str], heard: _Heard, may_look: Callable[[], bool], *, cdata: bool, keeps: bool
) -> Steps[RawValue]:
    """As `read_value`, while the value comes, or of one that holds a literal or a call."""
    position, literal, literal_open, behind = start, "", False, start
    if cdata:
        inner = yield from _literal_at(src, start)
        if inner >= 0:
            close = yield from _literal_end(src, inner, heard)
            literal = src.text[inner : close if close >= 0 else len(src.text)]
            if close < 0:
                heard.finish(literal)
                return RawValue(literal, len(src.text), None, closed=False, is_literal=False, literal_open=True)
            position = behind = close + len(CDATA_END)
    begun, holds_call = position, False
    stop, group, end = -1, None, -1
    first_inner: tuple[int, str] | None = None
    while stop < 0:
        found = ends.search(src.text, position)
        if found is None and src.final:
            stop, group = first_inner or (stop, group)
            break
        if found is None:
            position = _next_sign(src.text, max(position, len(src.text) - _OVERLAP))
            heard.tell(sign=position < len(src.text))
            yield heard.skim if position == len(src.text) else None  # no closer has begun
            continue
        at = src.text.find(CDATA, begun, found.start()) if cdata and not literal_open else -1
        if at < 0 and found.lastgroup != "own" and _closes_within(src.text, begun, found):
            first_inner = first_inner or (found.start(), found.lastgroup or "other")
            begun = position = found.end()
            found = None  # a match keeps the text it was found in
            heard.hold()
            continue
        if at < 0:
            stop, group, end = found.start(), found.lastgroup or "other", found.end()
            found = None  # a match keeps the text it was found in
            if group == "again" and may_look():
                heard.hold()
                own = yield from _closer_behind(src, end, ends)
                if own is not None:
                    stop, group, end, holds_call = own[0], "own", own[1], True
            break
        found = None  # a match keeps the text it was found in
        close = yield from _literal_end(src, at + len(CDATA), None)
        literal_open = close < 0
        if not literal_open:
            begun = position = close + len(CDATA_END)
    closed = group == "own"
    raw = src.text[behind : stop if stop >= 0 else len(src.text)]
    if behind > start and group is None and not src.text[behind:].lstrip().startswith("<"):  # a text behind it is no part of it
        heard.finish(literal)
        return RawValue(literal, behind, None, closed=False, is_literal=True, literal_open=literal_open)
    text = raw if keeps else trimmed(raw, closed=closed)
    text = literal + joined(text) if literal and text.strip() else literal if behind > start else joined(text) if cdata else text
    heard.finish(text)
    stop = len(src.text) if stop < 0 else stop
    return RawValue(text, end if closed else stop, group, closed, behind > start, literal_open, holds_call)


def _closer_behind(src: Source, start: int, ends: re.Pattern[str]) -> Steps[tuple[int, int] | None]:
    """Where the value's own closer stands behind calls that are whole, the first of which opened before `start`; None where the
    text, or the call that the value is of, ends before it."""
    position, depth = start, 1
    while True:
        found = ends.search(src.text, position)
        if found is None:
            if src.final:
                return None
            position = _next_sign(src.text, max(position, len(src.text) - _OVERLAP))
            yield None
            continue
        if depth == 0 and found.lastgroup == "own":
            return found.span()
        if depth == 0 and found.lastgroup == "end":
            return None
        depth += (found.lastgroup == "again") - (found.lastgroup == "end")
        position, found = found.end(), None  # a match keeps the text it was found in


def _closes_within(text: str, start: int, closer: re.Match[str]) -> bool:
    """Does its opener stand behind `start`?"""
    tag = _CLOSER_TAG.match(closer[0])
    return tag is not None and text.find("<" + tag[1], start, closer.start()) >= 0


def _literal_at(src: Source, start: int) -> Steps[int]:
    """Where the literal that a value begins with begins inside, -1 when it begins with none."""
    while not src.final and len(src.text) - start < _HEAD and CDATA.startswith(src.text[start : start + _HEAD].lstrip()[:9]):
        if src.text[start : start + _HEAD].lstrip().startswith(CDATA):
            break
        yield None
    head = src.text[start : start + _HEAD]
    at = start + len(head) - len(head.lstrip())
    return at + len(CDATA) if src.text.startswith(CDATA, at) else -1


def _literal_end(src: Source, start: int, heard: _Heard | None) -> Steps[int]:
    """Where the `]]>` of the literal that begins at `start` stands, -1 when there is none. A listener hears it as it comes."""
    sought = start
    if heard is not None:
        heard.enter_literal(start)
    while (stop := src.text.find(CDATA_END, sought)) < 0 and not src.final:
        sought = max(start, len(src.text) - len(CDATA_END) + 1)
        if heard is not None:
            heard.tell_literal(len(src.text) - src.text.endswith("]") - src.text.endswith("]]"))
        yield None
    return stop


def _next_sign(text: str, start: int) -> int:
    """Where what ends a value may begin."""
    sign = _SIGN.search(text, start)
    return sign.start() if sign is not None else len(text)


class _Heard:
    """What a listener has heard of a string value. Nobody listens when there is no stream."""

    __slots__ = ("_keeps", "_length", "_literal", "_peels", "_src", "_start", "_stream", "_told")

    def __init__(self, src: Source, start: int, stream: ArgumentStream | None, *, keeps: bool, peels: bool) -> None:
        self._src, self._start, self._stream = src, start, stream
        self._keeps, self._peels = keeps, peels
        self._told, self._length, self._literal = start, 0, False

    def skim(self, text: str) -> bool:
        """More of the value, in which nothing begins."""
        if "<" in text:
            return False
        self.tell(sign=False)
        return True

    def tell(self, *, sign: bool) -> None:
        """Tell what is certain: not a tag that may have begun, not white space that may be layout, nothing of what may be taken
        off or joined. `sign`: is there a `<` in what came last?"""
        if self._stream is None or self._literal:
            return
        text, told = self._src.text, self._told
        end = text.find("<", max(told, len(text) - _CLOSER))
        end = before_layout(text, told, len(text) if end < 0 else end)
        if sign and (literal := text.find(CDATA, max(self._start, told - len(CDATA)), end)) >= 0:
            end, self._literal = literal, True  # what follows is told with the rest
        if told == self._start and self._peels and text[told : told + _HEAD].lstrip().startswith(_MAY_BE_PEELED):
            return
        if end > told:
            self._piece(text[told:end] if told > self._start or self._keeps else _led(text[told:end]))
            self._told = end

    def finish(self, text: str) -> None:
        """All of the value is read."""
        if self._stream is not None:
            self._stream.close_string(text[self._length :])

    def hold(self) -> None:
        """Where the value ends is not certain any more: what follows is told with the rest."""
        self._literal = True

    def enter_literal(self, start: int) -> None:
        self._told, self._literal = start, True

    def tell_literal(self, end: int) -> None:
        if self._stream is not None and end > self._told:
            self._piece(self._src.text[self._told : end])
            self._told = end

    def _piece(self, text: str) -> None:
        if self._stream is not None:
            self._stream.piece(text)
            self._length += len(text)


def _led(text: str) -> str:
    """The beginning of a value without the line break that belongs to the format."""
    return text[2:] if text.startswith("\r\n") else text.removeprefix("\n")
