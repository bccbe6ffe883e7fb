"""One value as raw text: where it ends, and the deltas that are emitted while it arrives.

A value ends at its own closer, but never within `<![CDATA[...]]>`. A closer out of its place is text of the value, if one in
its place follows (`_Search.is_in_place`). The closer of a call or of a wrapper belongs to the value if its opener stands in it,
or if the value's own closer follows: such a value is about calls. If the value's own closer is missing, the value ends at the
next complete parameter opener or at such a closer, whichever comes first. The opener of a parameter that the tool does not have
belongs to the value if words stand beside it on its line and only one closer follows.

One line break after the opening tag belongs to the format. If there is one, so does one before the closing tag. If the closer
is missing, white space from the last line break on is layout.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from llmcore.normalizer.bodies.argument_stream import ArgumentStream, before_layout
from llmcore.normalizer.bodies.tagged.cdata import CDATA, CDATA_END, joined_literals
from llmcore.normalizer.core.backtrack_budget import BacktrackBudget
from llmcore.normalizer.core.damage.restarted_call import begins_line
from llmcore.normalizer.scanning.sought import Sought, may_be_named, undecided_from
from llmcore.normalizer.scanning.source import Source, Steps, past
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["RawValue", "begins_indented", "outdented", "read_raw_value", "trimmed"]

_OVERLAP: Final = 1024
_CLOSER: Final = 64  # the most characters of a value's closer
_HEAD: Final = 24  # characters of a value before which a CDATA section for all of it begins
_BREAKS: Final = ("\n", "\r")
_OPENS_TAG: Final = ("<", "]<]")
_BLANKS: Final = lazy_regex(r"[ \t]*+")
_SPACES: Final = lazy_regex(r"\s*+")
_SIGN: Final = lazy_regex("<(?!<)")  # the beginning of what ends a value
_OTHER_SIGN: Final = lazy_regex(r"<[ ]?(?:/?([A-Za-z][\w-]{0,31}+)[^\w:.|｜-]|[\d=-])")
"""A sign, or a tag with its name. It ends a value only if what ends a value may have that name."""
_WRONG_CLOSER: Final = lazy_regex(r"</\s{0,4}+[\w:.｜|-]{1,64}+\s{0,4}+>\Z")
_CLOSER_TAG: Final = lazy_regex(r"</\s{0,4}+([\w:.-]{1,64}+)\s{0,4}+>")
_CLOSER_BEGUN: Final = lazy_regex(r"\s*+<(?:/[^<>]{0,64}+)?\Z")
_CLOSERS: Final = lazy_regex(r"(?:\s++|<[/|｜][^<>\n]{0,62}>)*+")
"""What may follow the closer of a call and is no word: other closers, tokens and white space."""
_WORD_BEHIND: Final = lazy_regex(r"(?:\w{0,16}+[|｜‖:])*+(\w++)")
"""The word behind a closer, without the bars and the namespace of a tag that lost its `<`."""
_WORD_BEHIND_BEGUN: Final = lazy_regex(r"(?:\w{0,16}[|｜‖:])*+\w*+\Z")
_IN_WORDS: Final = 256  # the most characters between an opener and the words of its line
_ROUND_WORDS: Final = " \"'`"
"""If one of these stands on both sides of an opener, it is doubtful whether the opener opens anything."""
_MAY_BE_PEELED: Final[tuple[str, ...]] = ("<value>", "</arg_key>")


@dataclass(slots=True)
class RawValue:
    """A value that was read.

    - `text`: the value.
    - `end`: where it ends, including its closer if it is `closed`.
    - `group`: the group of the expression that ended it; None if the text's end did.
    - `is_literal`: it begins with a CDATA section that was closed.
    - `literal_open`: a CDATA section in it never ends.
    """

    text: str
    end: int
    group: str | None
    closed: bool
    is_literal: bool
    literal_open: bool
    holds_call: bool = False
    """Whether a whole call of the same form stands in it, followed by its own closer."""
    holds_closer: bool = False
    """Whether the closer of a call or of a wrapper stands in it."""
    holds_own_closer: bool = False
    """Whether its own closer stands in it, which another one in its place ends."""
    written: str = ""
    """The source text of the value, if a CDATA section stands in it."""
    closed_wrongly: bool = False
    """Whether another element's closer stands in the place of its own."""
    in_doubt: bool = False
    """Whether its own closer is missing and it is uncertain that it ends here."""


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


def outdented(text: str, start: int, raw: str, *, closed: bool = True) -> str:
    """The value at `start` without the layout of its lines, if its opener ends a line and its closer begins one.

    The layout is the blanks before the closer, and the indentation of the tags if all lines have it. If the closer is missing
    (not `closed`), only the lines are checked.
    """
    first, *lines = raw.split("\n")
    if not closed and lines and lines[-1].strip(" \t"):
        lines.append("")
    if not lines or first.strip("\r") or lines[-1].strip(" \t"):
        return raw
    depth = _indentation(text, start)
    lines, last = lines[:-1], lines[-1]
    if depth and (depth == last or not closed) and all(one.startswith(depth) or not one.strip() for one in lines):
        lines = [one.removeprefix(depth) for one in lines]
    return "\n".join((first, *lines, ""))


def _indentation(text: str, start: int) -> str:
    """The blanks before the tag that opens the value at `start`, if the tag begins its line."""
    line = text.rfind("\n", max(0, start - _OVERLAP), start) + 1
    tag = past(_BLANKS, text, line)
    return text[line:tag] if text.startswith(_OPENS_TAG, tag) and tag < start else ""


def begins_indented(text: str, start: int) -> bool:
    """Whether the value at `start` begins with a line break behind an indented tag. Its last line decides the layout."""
    return text[start : start + 1] in _BREAKS and bool(_indentation(text, start))


def _behind_literal(text: str, start: int, raw: str, *, closed: bool) -> str:
    """The text behind the CDATA section that the value at `start` begins with, without layout at its end."""
    if not closed:
        return trimmed(f"-{raw}", closed=False)[1:]  # a line break at its beginning belongs to it
    return raw.removesuffix("\n").removesuffix("\r") if text.startswith(("\n", "\r\n"), start) else raw


def _without_wrong_closer(text: str) -> str:
    body = text.rstrip()
    mark = body.rfind("</")
    return body[:mark].rstrip() if mark >= 0 and _WRONG_CLOSER.match(body, mark) else text


def read_raw_value(
    src: Source,
    start: int,
    ends: Sought,
    stream: ArgumentStream | None,
    *,
    cdata: bool,
    keeps: bool,
    peels: bool,
    may_try: Callable[[], bool],
    budget: BacktrackBudget,
    is_strange: Callable[[str, int], bool],
) -> Steps[RawValue]:
    """Read the value at `start`.

    - `ends`: what may end it.
    - `stream`: emits a string value, whose opening quote was emitted; None if nothing is emitted.
    - `cdata`: CDATA sections count.
    - `keeps`: its line breaks belong to it.
    - `peels`: an element around it may be removed.
    - `may_try`: whether its closer may be sought behind a call in it.
    - `budget`: the budget for look-aheads to the text's end.
    - `is_strange`: whether an opener at this position names no parameter of the tool.
    """
    found = ends.search(src.text, start)
    search = _Search(src, ends, budget, may_try, is_strange, keeps=keeps)
    if (
        found is not None
        and (not cdata or src.text.find(CDATA, start, found.start()) < 0)
        and (
            search.is_in_place(start, *found.span())
            if found.lastgroup == "own"
            else found.lastgroup == "parameter"
            and not _may_be_text(src.text, start, found, is_strange)
            and search.may_end_at(start, found.start())
        )
    ):  # the usual case: the value is complete
        stop, group = found.start(), found.lastgroup or "other"
        closed = group == "own"
        raw = src.text[start:stop]
        text = raw if keeps else trimmed(outdented(src.text, start, raw, closed=closed), closed=closed)
        if stream is not None:
            stream.close_string(text)
        value = RawValue(text, found.end() if closed else stop, group, closed, is_literal=False, literal_open=False)
        value.closed_wrongly = not closed and _without_wrong_closer(raw) != raw
        return value
    found = None  # a match keeps the text it was found in
    emitter = _ValueEmitter(src, start, stream, cdata=cdata, keeps=keeps, peels=peels)
    return (yield from _read(search, start, emitter, cdata=cdata, keeps=keeps))


def _read(search: _Search, start: int, emitter: _ValueEmitter, *, cdata: bool, keeps: bool) -> Steps[RawValue]:
    """As `read_raw_value`, for a value that is incomplete, or holds a CDATA section or a call."""
    src, ends, position, literal, literal_open, behind = search.src, search.ends, start, "", False, start
    if cdata:
        inner = yield from _literal_at(src, start)
        if inner >= 0:
            close = yield from _literal_end(src, inner, emitter)
            literal = src.text[inner : close if close >= 0 else len(src.text)]
            if close < 0:
                emitter.finish(literal)
                return RawValue(literal, len(src.text), None, closed=False, is_literal=False, literal_open=True)
            position = behind = close + len(CDATA_END)
    begun, stop, group, end = position, -1, None, -1
    placed = behind > start  # whether the closer in its place was sought
    first_inner: tuple[int, str] | None = None
    while stop < 0:
        found = ends.search(src.text, position)
        if found is None and src.final:
            stop, group = first_inner or (stop, group)
            break
        if found is None:
            position = _next_sign(ends, src.text, position)
            emitter.emit(sign=position < len(src.text))
            yield emitter.skim if position == len(src.text) else None  # unless a closer may have begun
            continue
        at = src.text.find(CDATA, begun, found.start()) if cdata and not literal_open else -1
        if at < 0 and not placed:
            placed, found = True, None  # a match keeps the text it was found in
            emitter.wait_for_end()
            own = yield from search.closer_in_place(start)
            if own is not None:
                stop, group, end = own[0], "own", own[1]
            continue
        if at < 0 and found.lastgroup != "own" and _closes_within(src.text, begun, found):
            first_inner = first_inner or (found.start(), found.lastgroup or "other")
            begun = position = found.end()
            found = None  # a match keeps the text it was found in
            emitter.wait_for_end()
            continue
        if at < 0:
            (at, over), tag = found.span(), found.lastgroup or "other"
            found = None  # a match keeps the text it was found in
            ended: tuple[int, str | None, int] = at, tag, over
            if tag == "own":
                search.in_doubt = yield from search.may_go_on(start, at, over)
            else:
                ended = yield from search.end_at(start, behind, at, tag, over, emitter.wait_for_end)
            if ended[0] >= 0 or ended[1] is None:
                stop, group, end = ended
                break
            begun = position = ended[2]
            continue
        found = None  # a match keeps the text it was found in
        close = yield from _literal_end(src, at + len(CDATA), None)
        literal_open = close < 0
        if not literal_open:
            begun = position = close + len(CDATA_END)
    closed = group == "own"
    raw = src.text[behind : stop if stop >= 0 else len(src.text)]
    half = _CLOSER_BEGUN.match(src.text, behind) is not None
    if behind > start and group is None and (half or not src.text[behind:].lstrip().startswith("<")):  # no part of it
        emitter.finish(literal)
        end = len(src.text) if half else behind
        return RawValue(literal, end, None, closed=False, is_literal=True, literal_open=literal_open)
    if not keeps and behind == start:
        raw = trimmed(outdented(src.text, start, raw, closed=closed), closed=closed)
    elif not keeps:
        raw = _behind_literal(src.text, start, raw, closed=closed)
    text = literal if behind > start and not (literal and raw.strip()) else literal + (joined_literals(raw) if cdata else raw)
    emitter.finish(text)
    literal_open = literal_open or CDATA in literal  # one within another: the first was never closed
    stop = len(src.text) if stop < 0 else stop
    value, written = RawValue(text, end if closed else stop, group, closed, behind > start, literal_open), src.text[start:stop]
    value.written = written if behind > start or (cdata and CDATA in raw) else ""
    value.closed_wrongly = not closed and _without_wrong_closer(written) != written
    value.holds_call, value.holds_closer, value.in_doubt = search.passed_call, search.passed_closer, search.in_doubt
    value.holds_own_closer = search.passed_own
    return value


def _may_be_text(text: str, start: int, opener: re.Match[str], is_strange: Callable[[str, int], bool]) -> bool:
    """Whether the opener of a parameter may be text of the value at `start`."""
    at = opener.start()
    return (at > start and text[at - 1] in _ROUND_WORDS) or is_strange(text, at)


class _Search:
    """The search for a value's own closer, behind something that may have ended the value."""

    __slots__ = (
        "_budget",
        "_keeps",
        "_may_try",
        "ends",
        "in_doubt",
        "is_strange",
        "passed_call",
        "passed_closer",
        "passed_own",
        "src",
    )

    def __init__(
        self,
        src: Source,
        ends: Sought,
        budget: BacktrackBudget,
        may_try: Callable[[], bool],
        is_strange: Callable[[str, int], bool],
        *,
        keeps: bool,
    ) -> None:
        self.src, self.ends, self._budget, self._may_try, self.is_strange = src, ends, budget, may_try, is_strange
        self._keeps = keeps
        self.passed_call = self.passed_closer = self.passed_own = self.in_doubt = False

    def _is_block(self, start: int) -> bool:
        """Whether the opener of the value at `start` ends its line."""
        return not self._keeps and self.src.text[start : start + 1] in _BREAKS

    def may_end_at(self, start: int, at: int) -> bool:
        """Whether an opener at `at` certainly ends the value at `start`. In a block, it does at the beginning of a line."""
        return not self._is_block(start) or begins_line(self.src.text, start, at)

    def is_in_place(self, start: int, at: int, end: int) -> bool | None:
        """Whether the own closer `at:end` of the value at `start` stands where the format writes it. None if more text decides.

        If the opener ends its line, the closer begins a line. Otherwise a tag, whole or damaged, follows it.
        """
        if self._is_block(start):
            return begins_line(self.src.text, start, at)
        return self._tag_follows(end)

    def _tag_follows(self, end: int) -> bool | None:
        """Whether a tag, whole or damaged, or the text's end follows `end`. None if more text decides."""
        text, final = self.src.text, self.src.final
        behind = past(_SPACES, text, end)
        if behind == len(text):
            return True if final else None
        if text[behind] == "<":
            return True
        word = _WORD_BEHIND.match(text, behind)
        if not final and _WORD_BEHIND_BEGUN.match(text, behind) is not None:
            return None
        return word is not None and may_be_named(self.ends, word[1])

    def stands_in_words(self, start: int, at: int, end: int, *, is_own: bool) -> Steps[bool]:
        """Whether the value may go on behind the closer `at:end`, because words follow on the closer's line.

        They leave no doubt if the closer begins its line. In a value that is no block, another element's closer is in doubt only
        behind a blank or a quotation mark.
        """
        text = self.src.text
        if begins_line(text, start, at) or not (is_own or self._is_block(start) or text[at - 1] in _ROUND_WORDS):
            return False
        while past(_BLANKS, self.src.text, end) == len(self.src.text) and not self.src.final:
            yield None
        if self.src.text.startswith(_BREAKS, past(_BLANKS, self.src.text, end)):
            return False
        while (follows := self._tag_follows(end)) is None:
            yield None
        return not follows

    def may_go_on(self, start: int, at: int, end: int) -> Steps[bool]:
        """Whether the value may go on behind its own closer `at:end`: words follow the closer, and no tag follows the words."""
        return (yield from self.stands_in_words(start, at, end, is_own=True)) and (yield from self._next(end)) is None

    def closer_in_place(self, start: int) -> Steps[tuple[int, int] | None]:
        """The own closer of the value at `start` that stands where the format writes it. All before it is text of the value.

        None if the opener of a parameter or a call comes first. In a block, only an opener that begins or ends a line counts.
        """
        position, owns, closers = start, 0, 0
        if self._budget.too_many_left_open:
            return None
        while (found := (yield from self._next(position))) is not None:
            begun, group, (at, position) = position, found.lastgroup, found.span()
            opens_again = group == "own" and owns and not self._is_block(start) and _closes_within(self.src.text, begun, found)
            found = None  # a match keeps the text it was found in
            if group == "own":
                while (counts := self.is_in_place(start, at, position)) is None:
                    yield None
                if counts and opens_again:  # the opener before it lost its key
                    return None
                if counts:
                    self.passed_closer, self.passed_own = closers > 0, owns > 0
                    return at, position
                owns += 1
            elif group in ("parameter", "again"):
                while position == len(self.src.text) and not self.src.final:
                    yield None
                text = self.src.text
                if not self._is_block(start) or begins_line(text, start, at) or text[position : position + 1] in _BREAKS:
                    return None
            else:
                closers += 1
        self._budget.never_closed()
        return None

    def end_at(
        self, start: int, behind: int, stop: int, group: str, end: int, wait_for_end: Callable[[], None]
    ) -> Steps[tuple[int, str | None, int]]:
        """(position, group, position behind it) of what ends the value at `start`, where a tag but its own closer may do so.

        The position is -1 if the value goes on behind the tag. `behind`: where the value's text begins. `wait_for_end` stops the
        deltas.
        """
        if group == "parameter":
            if self.is_strange(self.src.text, stop):
                wait_for_end()
                if (yield from self.is_a_word(behind, stop, end)):
                    return -1, group, end
                self.in_doubt = True
            elif self.src.text[stop - 1] in _ROUND_WORDS and stop > behind:
                while end == len(self.src.text) and not self.src.final:
                    wait_for_end()
                    yield None
                self.in_doubt = self.src.text[end : end + 1] == self.src.text[stop - 1]
            return stop, group, end
        wait_for_end()
        if group == "again":
            return (yield from self.behind_calls(start, stop, end))
        own = yield from self.own_closer(end)
        if own is not None:
            return own[0], "own", own[1]
        self.in_doubt = self.in_doubt or (yield from self.stands_in_words(start, stop, end, is_own=False))
        return stop, group, end

    def own_closer(self, start: int) -> Steps[tuple[int, int] | None]:
        """Where the value's own closer stands. None if it is missing. Something was closed before `start`."""
        found = yield from self._behind_closers(start)
        self.passed_closer, self.passed_call = found is not None, self.passed_call and found is not None
        return found

    def is_a_word(self, start: int, at: int, end: int) -> Steps[bool]:
        """Whether the opener `at:end`, of no parameter of the tool, is text of the value that begins at `start`.

        It is if words stand on both sides of it on its line, and the next closer is the only one up to a tag.
        """
        text = self.src.text
        before = text[max(start, at - _IN_WORDS, text.rfind("\n", start, at) + 1) : at]
        if not before.strip() or before[-1].isalnum():
            return False
        del text
        found = yield from self._next(end)
        if found is None:
            return False
        group, (stop, over) = found.lastgroup, found.span()
        found = None  # a match keeps the text it was found in
        behind = self.src.text[end : min(stop, end + _IN_WORDS)].partition("\n")[0]
        if not behind.strip() or behind[0].isalnum():
            return False
        if group == "parameter":
            return self.is_strange(self.src.text, stop)  # the next opener decides
        if group != "own":
            return False
        while (over := past(_SPACES, self.src.text, over)) == len(self.src.text) and not self.src.final:
            yield None
        return self.src.text[over : over + 1] in ("", "<")

    def _next(self, position: int) -> Steps[re.Match[str] | None]:
        """What may end a value, at or behind `position`."""
        src = self.src
        while (found := self.ends.search(src.text, position)) is None and not src.final:
            position = _next_sign(self.ends, src.text, position)
            yield None
        return found

    def behind_calls(self, start: int, at: int, behind: int) -> Steps[tuple[int, str | None, int]]:
        """(position, group, position behind it) of what ends the value at `start` in which a call opens at `at:behind`.

        The value's own closer ends it if whole calls stand before that closer. If its own closer is missing, the first call
        that begins a line ends it. Otherwise the closer of its own call, or the text's end, does.
        """
        position, depth, sought = behind, 1, self._may_try()
        anew = at if begins_line(self.src.text, start, at) else -1
        while (sought or anew < 0) and (found := (yield from self._next(position))) is not None:
            group, (stop, end) = found.lastgroup, found.span()
            found = None  # a match keeps the text it was found in
            if depth == 0 and group in ("own", "end") and sought:
                if group == "own" or anew < 0:
                    self.passed_call = True
                    return stop, group, end
                break
            if group == "again" and anew < 0 and begins_line(self.src.text, start, stop):
                anew, behind = stop, end
            depth += (group == "again") - (group in ("end", "call") and depth > 0)
            position = end
        return (anew, "again", behind) if anew >= 0 else (-1, None, -1)

    def _behind_closers(self, start: int) -> Steps[tuple[int, int] | None]:
        """The value's own closer behind other closers, the first of which ended before `start`. None if there is none.

        If only closers follow up to the next call or the end, the first one has ended the call. If words follow, the value's
        closer may stand behind them, and calls before it.
        """
        position, depth, words = start, 0, False
        while (found := (yield from self._next(position))) is not None:
            group, span = found.lastgroup, found.span()
            found = None  # a match keeps the text it was found in
            words = words or past(_CLOSERS, self.src.text, position) < span[0]
            if words and self._budget.too_many_left_open:
                self.in_doubt = True
                return None
            if group == "own" and depth == 0:
                self.in_doubt = False
                return span
            if group == "parameter" and depth == 0:  # the call goes on
                self.in_doubt = True
                return None
            if group == "again":
                if not words:
                    return None
                depth, self.passed_call = depth + 1, True
            self.in_doubt = self.in_doubt or (group == "end" and depth == 0 and words)  # a closer before may have closed the call
            depth -= group == "end" and depth > 0
            position = span[1]
        self._budget.never_closed()
        return None


def _closes_within(text: str, start: int, closer: re.Match[str]) -> bool:
    """Whether the opener of `closer` stands behind `start`."""
    tag = _CLOSER_TAG.match(closer[0])
    return tag is not None and text.find("<" + tag[1], start, closer.start()) >= 0


def _literal_at(src: Source, start: int) -> Steps[int]:
    """Where the text of the CDATA section begins that a value at `start` begins with. -1 if it begins with none."""
    while not src.final and len(src.text) - start < _HEAD and CDATA.startswith(src.text[start : start + _HEAD].lstrip()[:9]):
        if src.text[start : start + _HEAD].lstrip().startswith(CDATA):
            break
        yield None
    head = src.text[start : start + _HEAD]
    at = start + len(head) - len(head.lstrip())
    return at + len(CDATA) if src.text.startswith(CDATA, at) else -1


def _literal_end(src: Source, start: int, emitter: _ValueEmitter | None) -> Steps[int]:
    """Where the `]]>` of the CDATA section at `start` stands, -1 if there is none. Its text is emitted as it arrives."""
    sought = start
    if emitter is not None:
        emitter.enter_literal(start)
    while (stop := src.text.find(CDATA_END, sought)) < 0 and not src.final:
        sought = max(start, len(src.text) - len(CDATA_END) + 1)
        if emitter is not None:
            emitter.emit_literal(len(src.text) - src.text.endswith("]") - src.text.endswith("]]"))
        yield None
    return stop


def _next_sign(ends: Sought, text: str, position: int) -> int:
    """The first position behind `position` where the end of a value may begin once more text comes."""
    at = undecided_from(ends, text, max(position, len(text) - _OVERLAP))
    while (sign := _SIGN.search(text, at)) is not None:
        other = _OTHER_SIGN.match(text, sign.start())
        if other is None or (other[1] and may_be_named(ends, other[1])):
            return sign.start()
        at = other.end() - 1
    return len(text)


class _ValueEmitter:
    """Emits a string value. If there is no stream, it emits nothing."""

    __slots__ = ("_blank", "_cdata", "_emitted_to", "_keeps", "_length", "_literal", "_peels", "_src", "_start", "_stream")

    def __init__(self, src: Source, start: int, stream: ArgumentStream | None, *, cdata: bool, keeps: bool, peels: bool) -> None:
        self._src, self._start, self._stream = src, start, stream
        self._cdata, self._keeps, self._peels = cdata, keeps, peels
        self._emitted_to, self._length, self._literal = start, 0, False
        self._blank = start  # end of leading white space, which is dropped before CDATA sections

    def skim(self, text: str) -> bool:
        """Emit more of the value, in which nothing begins."""
        if "<" in text:
            return False
        self.emit(sign=False)
        return True

    def emit(self, *, sign: bool) -> None:
        """Emit what is certain. `sign`: the new text holds a `<`.

        A tag that may have begun, white space that may be layout, and text that may be peeled or joined are not certain.
        """
        if self._stream is None or self._literal:
            return
        text, emitted_to = self._src.text, self._emitted_to
        if emitted_to == self._start and not self._keeps and begins_indented(text, emitted_to):
            self._literal = True
            return
        if emitted_to == self._start and self._cdata:
            self._blank = past(_SPACES, text, self._blank)
            if self._blank == len(text) or CDATA.startswith(text[self._blank : self._blank + len(CDATA)]):
                return
        end = text.find("<", max(emitted_to, len(text) - _CLOSER))
        end = before_layout(text, emitted_to, len(text) if end < 0 else end)
        if sign and (literal := text.find(CDATA, max(self._start, emitted_to - len(CDATA)), end)) >= 0:
            end, self._literal = literal, True  # the following text is emitted at the end
        if (
            emitted_to == self._start
            and self._peels
            and text[emitted_to : emitted_to + _HEAD].lstrip().startswith(_MAY_BE_PEELED)
        ):
            return
        if end > emitted_to:
            self._piece(text[emitted_to:end] if emitted_to > self._start or self._keeps else _led(text[emitted_to:end]))
            self._emitted_to = end

    def finish(self, text: str) -> None:
        """Emit the rest: all of the value is read."""
        if self._stream is not None:
            self._stream.close_string(text[self._length :])

    def wait_for_end(self) -> None:
        """Emit nothing more until `finish`: it is uncertain where the value ends."""
        self._literal = True

    def enter_literal(self, start: int) -> None:
        self._emitted_to, self._literal = start, True

    def emit_literal(self, end: int) -> None:
        if self._stream is not None and end > self._emitted_to:
            self._piece(self._src.text[self._emitted_to : end])
            self._emitted_to = end

    def _piece(self, text: str) -> None:
        if self._stream is not None:
            self._stream.piece(text)
            self._length += len(text)


def _led(text: str) -> str:
    """The beginning of a value without the line break that belongs to the format."""
    return text[2:] if text.startswith("\r\n") else text.removeprefix("\n")
