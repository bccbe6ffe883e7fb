"""`Walk`: moves the text engine from candidate to candidate, and emits the text between them.

At a marker, it tries the registry's rows that share it. At a bracket, it tries the rules of `bare`. If nothing can begin in
new text, a skim emits it without resuming the walk (`source.Skim`).

Failed look-aheads cost characters (`core.backtrack_budget`). If brackets have cost much more than the text before them, they
are skipped until the text is longer than their cost. Markers have a separate account. So the work stays linear, and text full
of brackets loses no call that has a marker.
"""

from __future__ import annotations

import re
from typing import Final

from llmcore.normalizer.bare.handlers import HANDLERS, decided_length, without_sign
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import Marker, MarkerTable
from llmcore.normalizer.core.showing import decide_quoted, may_be_shown, shown_behind
from llmcore.normalizer.dialects.registry import DIALECTS
from llmcore.normalizer.scanning.source import Skim, Steps, always, past, skip_space
from llmcore.normalizer.scanning.words import OWN_SIGNS, TURN_TOKENS
from llmcore.normalizer.text.begun import begun_call, ends_in_opener
from llmcore.normalizer.text.candidates import Candidates
from llmcore.normalizer.text.whole import is_framed, whole_at
from llmcore.normalizer.trust.block_quotes import in_block_quote, may_be_in_block_quote, quote_begins, without_quote_signs
from llmcore.normalizer.trust.judging import CERTAIN, Form, Verdict, form_of, is_certain
from llmcore.normalizer.trust.layout import MARKS, is_remark
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.envelope import Repair

__all__ = ["Walk"]

_OPENER: Final = 32  # the cost of an opener that no row reads,
_ROW: Final = 4  # of each row that shares it,
_TRIED: Final = 96  # and of each reader that declined
_NESTED_SHIFT: Final = 3  # a nested reading gets an eighth of the budget: the outer one is charged only afterwards
_LAYOUT: Final = re.compile(r"\s{0,8}+")  # between an opener that was written twice
_WORD_OPENER: Final = "Action:"  # the only trigger that is a word,
_WORD_BEGUN: Final = len(_WORD_OPENER) - 1  # the length of its longest beginning,
_OVERLAP: Final = _WORD_BEGUN + 2  # and of the text's end that may hold it, with two Markdown marks before its colon
_OPEN: Final[tuple[str, ...]] = ("[", "{")
_CODE: Final[tuple[str, ...]] = ("`", "~")
_PROSE: Final = re.compile(rf"[^`~<[{{(\]{OWN_SIGNS}=A:\n]*+").fullmatch  # no candidate begins, no "Action:" and no line ends
_MARKLESS: Final = re.compile(rf"[^`~<[\]{OWN_SIGNS}]*+").fullmatch  # no marker and no code begins
_FARTHEST: Final = 256  # characters of a line behind a call that are searched for words
_IN_VAIN: Final = 64
"""The number of failed attempts to read an undamaged call in one step. Each attempt may read up to the text's end."""
_ELEMENT: Final = lazy_regex(r"<([A-Za-z][\w.:-]{0,40})[\s>]")
_FEW_PIECES: Final = 8
_ENDS: Final = lazy_regex(rf"(?:(?:{'|'.join(map(re.escape, TURN_TOKENS))})\s*+)+\Z")
"""Tokens that end the turn behind the last line of a block quote."""
_HELD: Final[tuple[str, ...]] = ("]", *OWN_SIGNS)  # first characters of markers that may need more text


class Walk:
    """One walk through a reading's text."""

    __slots__ = (
        "_allowance",
        "_around",
        "_at",
        "_candidates",
        "_dialects",
        "_in_vain",
        "_passed_over",
        "_reading",
        "_reads_whole",
        "_skim",
        "_table",
    )

    def __init__(self, reading: Reading, table: MarkerTable, dialects: frozenset[str] | None, *, reads_whole: bool) -> None:
        self._reading, self._table, self._dialects = reading, table, dialects
        # If deltas are emitted, the readers must read each call as it arrives.
        self._reads_whole = reads_whole and bool(reading.tools) and not reading.listening
        self._in_vain = 0  # number of failed attempts
        self._candidates = Candidates(reading.src, reading.names, table)
        self._at: int = 0  # where the walk waits
        self._skim: Skim | None = None  # checks new text there
        self._allowance = reading.limits.looks >> _NESTED_SHIFT * reading.nested
        self._passed_over = False
        self._around: list[str] = []  # closers of elements around calls whose openers were markup

    def run(self) -> Steps[None]:
        """Go from candidate to candidate until the text ends. The rest is text of the current kind."""
        reading, src = self._reading, self._reading.src
        position = reading.done
        while True:
            position, brackets_from = self._from(reading.resumed(position))
            at = self._sought(position, brackets_from)
            if reading.undecided_call and not self._line_is_decided(at) and at < 0 and not src.final:
                yield None
            elif at >= 0:
                position = yield from self._read_candidate(at, brackets_from)
            elif src.final:
                break
            else:
                self._skim = None
                self._rest(position)
                yield self._sleeps
                position = self._at
        reading.line_over(words_follow=False)
        self._end()
        reading.reply_over()
        self._skim = None

    def _from(self, position: int) -> tuple[int, int]:
        """The position to continue at, and the position from which brackets count. Text that the budget has used up is
        skipped."""
        looks = self._reading.backtrack_budget
        brackets_from, markers_from = looks.on_brackets - self._allowance, looks.spent - self._allowance
        if position < brackets_from or position < markers_from:
            self._pass_over(position)
            position = max(position, markers_from)
        return position, brackets_from

    def _sought(self, position: int, brackets_from: int) -> int:
        """The next candidate, -1 if there is none. Directly behind a marker, every bracket is a candidate."""
        behind = position == self._reading.done and position >= brackets_from
        if behind and self._reading.src.text[position : position + 1] in _OPEN:
            return position
        return self._candidates.next(position, brackets_from)

    def _read_candidate(self, at: int, brackets_from: int) -> Steps[int]:
        """Try to read the candidate at `at`. Returns the position to continue at."""
        reading, src = self._reading, self._reading.src
        trigger = src.text[at]
        if self._in_block_quote(at):
            return (yield from self._block_quote(at))
        if trigger in MARKS and self._table.may_open(src.text, at):
            if self._reads_whole and not self._around and self._takes_whole(at):
                return reading.done
            if self.is_undecided(at):
                self._at = at
                if at > reading.done:
                    reading.emit_text_to(decided_length(reading, at))
                self._skim = self._skim_undecided
                yield self._sleeps
                return self._at
            if (found := self._openers(at)) and (yield from self._marker(at, found)):
                if self._around:
                    yield from self._close_around()
                return reading.done
        handler = HANDLERS.get(trigger)
        # Before `brackets_from`, a bracket is a candidate only if it begins like a marker; here it was none.
        takes = reading.takes_calls or (trigger == "{" and (reading.enveloped or (reading.answers and reading.expects_object)))
        counts = trigger in _CODE or (takes and at >= brackets_from)
        if handler is None or not counts or reading.text_kind == "reasoning":
            return at + 1
        if reading.in_open_value(at, trigger) if trigger in _OPEN else reading.in_open_value(reading.line_start(at)):
            return at + 1
        before = reading.backtrack_budget.spent
        went = handler(reading, at)
        position = max(at + 1, went if isinstance(went, int) else (yield from went))
        reading.backtrack_budget.charge_brackets(before)
        reading.set_verdict(CERTAIN)
        return position

    def _takes_whole(self, at: int) -> bool:
        """Read the undamaged call at `at`, or a section of such calls, in one step. Returns whether it did."""
        reading = self._reading
        src, tools = reading.src, reading.tools
        if tools is None or reading.undecided_call or reading.text_kind == "reasoning":
            return False
        if not (reading.takes_calls or reading.answers):
            return False
        if reading.leaves_value_open or self._passed_over:
            return False
        if len(reading.drafts) + 1 >= reading.limits.calls:  # at a limit the readers decide what counts
            return False
        is_first = reading.opens_message(at)
        wholes = whole_at(src.text, at, tools, reading.limits, is_first=is_first, dialects=self._dialects)
        if not wholes:
            self._in_vain += 1
            if self._in_vain > _IN_VAIN:
                self._reads_whole = False
            return False
        if reading.answers and not reading.counted.issuperset([whole.dialect for whole in wholes]):
            return False
        if len(reading.drafts) + len(wholes) >= reading.limits.calls:
            return False
        first, last = wholes[0], wholes[-1]
        verdict = reading.verdict_at(at, first.form)
        if not is_certain(verdict, src.text, last.end):
            return False
        reading.set_verdict(verdict)
        reading.text(at)
        for whole in wholes:
            if is_framed(whole, src.text):
                reading.set_addressee("")  # the frame is part of the call
            reading.markup(whole.start)
            draft = reading.begin(whole.start, whole.name, whole.dialect, whole.id)
            reading.end(draft, whole.stop, whole.arguments, whole.raw)
        reading.markup(last.end)
        reading.set_verdict(CERTAIN)
        if last.ends_reasoning:
            reading.close_reasoning()
        if is_framed(first, src.text):
            reading.frame()
        return True

    def _end(self) -> None:
        """Classify the rest as text. A call that was begun and cut off is markup."""
        reading = self._reading
        text = reading.src.text
        begun = begun_call(reading, self._table) if not reading.nested and reading.done < len(text) else -1
        if begun >= 0:
            reading.repaired(Repair(kind="cut_off", before=text[begun:], safety="truncated"))
            reading.cut_off(begun)
        elif not reading.nested and ends_in_opener(reading, self._table):
            reading.cut_off()
        reading.text(len(text))

    def _pass_over(self, position: int) -> None:
        """Record, once, that look-aheads have used up the budget."""
        if not self._passed_over:
            self._passed_over = True
            self._reading.note(position, position, None, "looks_limit")

    def _rest(self, position: int) -> None:
        """Emit what is decided, and set the skim for new text: no candidate stands from `position` on."""
        reading, emitter = self._reading, self._reading.emitter
        text, done = reading.src.text, reading.done
        length = len(text)
        if position < length - _OVERLAP:
            position = length - _OVERLAP
        self._at = position if position > done else done
        if emitter is None or self._at == done == length:
            return
        if length <= self._reading.backtrack_budget.on_brackets - self._allowance:
            reading.emit_text_to(without_sign(reading, length))
            self._skim = self._skim_brackets
            return
        at_line = text[length - 1] == "\n"  # no bare form has begun
        reading.emit_text_to(length if at_line else decided_length(reading, length))
        if self._at > length:
            self._skim = self._skim_passed
        elif length > done:  # right behind a marker any bracket counts
            prose = not at_line and emitter.emitted == length and reading.in_prose()
            self._skim = self._skim_prose if prose else self._skim_line

    def _skim_prose(self, text: str) -> bool:
        """The skim in a line that begins with no bare form. It emits `text` if nothing begins in it."""
        reading = self._reading
        if _PROSE(text) is None:
            at = self._next()
            if at >= 0:
                return self._undecided(at)
            if "\n" in text or text[-1:] in _HELD:
                return self._rests()
        length = len(reading.src.text)
        if length - _OVERLAP > self._at:
            self._at = length - _OVERLAP
        reading.emit_appended(text, length)
        return True

    def _skim_line(self, text: str) -> bool:
        """The skim in a line that may still begin with a bare form."""
        return self._next() < 0 and self._rests()

    def _skim_brackets(self, text: str) -> bool:
        """The skim while brackets are skipped: only a marker may begin."""
        reading = self._reading
        length = len(reading.src.text)
        if length > self._reading.backtrack_budget.on_brackets - self._allowance:
            return False
        if _MARKLESS(text) is None:
            return self._next() < 0 and self._rests()
        if length - _OVERLAP > self._at:
            self._at = length - _OVERLAP
        reading.emit_appended(text, length)
        return True

    def _skim_passed(self, text: str) -> bool:
        """The skim before `_at`, where nothing is sought: it emits `text`."""
        reading = self._reading
        length = len(reading.src.text)
        if length > self._at:
            return False
        reading.emit_appended(text, length)
        return True

    def _skim_undecided(self, text: str) -> bool:
        """The skim while an opener may have begun at `_at` or behind it."""
        reading = self._reading
        if self.is_undecided(self._at):
            return True
        if self._at == reading.done:
            return False
        at = self._next()
        if at >= 0:
            return at > self._at and self._undecided(at)
        return self._rests()

    def _sleeps(self, text: str) -> bool:
        """Whether the walk can go on waiting after `text` has arrived."""
        return self._skim is not None and self._skim(text)

    def has_marker(self, at: int) -> bool | None:
        """Whether a marker that counts for this reply stands at `at`. None if more text is needed."""
        reading, table = self._reading, self._table
        text = reading.src.text
        if self.is_undecided(at):
            return None
        found = table.match(text, at)
        if found is not None and (reading.takes_calls or any(not row.calls or self._counts(row) for row in found[1])):
            return True
        return table.match_tool_tag(text, at, reading.names) is not None

    def is_undecided(self, at: int) -> bool:
        """Whether the text at `at` may still become an opener when more text comes."""
        src = self._reading.src
        if src.final or len(src.text) - at >= 64:
            return False
        return self._table.undecided[src.text[at:]]

    def _rests(self) -> bool:
        """Set the skim anew: no candidate stands from `_at` on. Returns True."""
        self._skim = None
        self._rest(self._at)
        return True

    def _undecided(self, at: int) -> bool:
        """Whether an opener may have begun at `at`, the first candidate. If so, the walk waits there."""
        reading = self._reading
        if not self.is_undecided(at):
            return False
        self._at = at
        reading.emit_text_to(at)
        self._skim = self._skim_undecided
        return True

    def _next(self) -> int:
        return self._candidates.next(self._at, self._reading.backtrack_budget.on_brackets - self._allowance)

    def _openers(self, at: int) -> list[tuple[int, list[Marker]]]:
        """The openers at `at`, each with its end and the rows that share it. A tag that is a tool's name comes last."""
        text, table, names = self._reading.src.text, self._table, self._reading.names
        tagged = (table.match(text, at), table.match_name_line(text, at, names), table.match_tool_tag(text, at, names))
        return [found for found in tagged if found is not None]

    def marker(self, at: int) -> Steps[bool]:
        """Try the rows whose opener stands at `at`. Returns True if one of them consumed text."""
        return (yield from self._marker(at, self._openers(at)))

    def _marker(self, at: int, openers: list[tuple[int, list[Marker]]]) -> Steps[bool]:
        """Try the rows of these openers at `at`."""
        if not openers:
            return False
        reading = self._reading
        src, takes, tried = reading.src, None, 0
        for body, rows in openers:
            ahead = -1
            for row in rows:
                if row.calls and not (takes := self._may_call() if takes is None else takes) and not self._counts(row):
                    continue
                if row.calls and reading.in_open_value(at, src.text[at:body], row.dialect):
                    continue
                if row.follows is not always:
                    if ahead < 0:
                        reading.emit_text_to(at)
                        behind = src.text[body : body + 1]  # rarely white space, and a generator costs 0.4 us
                        ahead = body if behind and not behind.isspace() else (yield from skip_space(src, body))
                    while (fits := row.follows(src.text, ahead, src.final)) is None:
                        yield None
                    if not fits:
                        continue
                reading.emit_text_to(at)
                if (
                    not (row.calls or row.frames)
                    or (verdict := reading.verdict_at(at, self._form(row.dialect, src.text[at:body]))) is CERTAIN
                ):
                    took = row.reader(reading, at, body)
                    if (took if isinstance(took, bool) else (yield from took)) and reading.done > at:
                        if row.calls:
                            reading.answer_follows()
                        return True
                elif (yield from self._read_in(verdict, row, at, body)):
                    return True
                tried += 1
        reading.backtrack_budget.pay(_OPENER + _TRIED * tried + sum(_ROW * len(rows) for _, rows in openers))
        body = openers[0][0]
        return bool(takes) and body > at and (yield from self._doubled(at, body))

    def _form(self, dialect: str, opener: str) -> Form:
        """How a call of this dialect with this opener is written."""
        row = DIALECTS.get(dialect)
        return "bare" if row is not None and row.trust == "bare" else form_of(opener)

    def _read_in(self, verdict: Verdict, row: Marker, at: int, body: int) -> Steps[bool]:
        """Call a row's reader where the text before the call has a verdict on it. Returns True if text was consumed."""
        reading = self._reading
        staged = reading.stage() if may_be_shown(verdict) else None
        pieces, drafts = len(reading.pieces), len(reading.drafts)
        reading.set_verdict(verdict)
        reads = row.reader(reading, at, body)
        took = (reads if isinstance(reads, bool) else (yield from reads)) and reading.done > at
        is_markup = all(kind in ("markup", "call") for start, _, kind in reading.pieces[pieces:] if start >= at)
        reading.set_verdict(CERTAIN, passes_on=row.calls or is_markup or len(reading.drafts) > drafts)
        if staged is None:
            if took:
                reading.answer_follows()
            return took
        if not took:
            missed = reading.near_misses[staged.near_misses :]
            reading.take_back(staged)
            for miss in missed:
                reason = yield from shown_behind(reading, verdict, miss.span[1])
                reading.note(*miss.span, miss.name, reason or miss.reason)
            return False
        return (yield from decide_quoted(reading, staged, verdict, at))

    def _line_is_decided(self, at: int) -> bool:
        """Whether it is known if words follow the waiting calls on their line, before the next candidate at `at`."""
        reading = self._reading
        text, done = reading.src.text, reading.done
        if self._wrapper_may_close(at):
            return False
        if (verdict := reading.undecided_call) is not None and verdict.behind_sentence:
            rest, over, _ = text[done : done + _FARTHEST if at < 0 else at].partition("\n")
            if not over and at < 0 and not reading.src.final and len(rest) < _FARTHEST:
                return False
            if (over or at < 0) and is_remark(rest):  # a candidate on the line may turn out to be words
                reading.line_over(words_follow=False)
                return True
        for char in text[done : done + _FARTHEST if at < 0 else min(at, done + _FARTHEST)]:
            if char == "\n" or char.isalnum():
                if at < 0 and not reading.src.final and _WORD_OPENER.startswith(text[done:].lstrip()[:_WORD_BEGUN]):
                    return False
                reading.line_over(words_follow=char != "\n")
                return True
        if (len(text) if at < 0 else at) - done >= _FARTHEST:
            reading.line_over(words_follow=True)
            return True
        return False

    def _wrapper_may_close(self, at: int) -> bool:
        """Whether a closer stands right behind the waiting calls, or may do so once more text comes."""
        src, done = self._reading.src, self._reading.done
        behind = src.text[done : done + _FARTHEST]
        start = done + len(behind) - len(behind.lstrip())
        if start == len(src.text):
            return at < 0 and not src.final
        if at >= 0 and at != start:
            return False
        return src.text.startswith("</", start) if at >= 0 and not self.is_undecided(start) else self.is_undecided(start)

    def _in_block_quote(self, at: int) -> bool:
        """Whether the line of `at` belongs to a block quote (`> `)."""
        reading = self._reading
        start = reading.line_start(at)
        return reading.takes_calls and start >= reading.text_start() and in_block_quote(reading.src.text, start)

    def _block_quote(self, at: int) -> Steps[int]:
        """Skip the lines of a block quote, and return its end. A call in it is a near miss."""
        reading = self._reading
        src, line = reading.src, reading.line_start(at)
        start = quote_begins(src.text, max(reading.done, reading.text_start()), line)
        end = line
        while True:
            line_end = src.text.find("\n", end)
            if line_end >= 0 and not (may_be_in_block_quote(src.text, line_end + 1) and not src.final):
                end = line_end + 1
                if not in_block_quote(src.text, end):
                    break
            elif src.final:
                end = len(src.text)
                break
            else:
                sign = src.text.rfind("<", max(at, len(src.text) - _FARTHEST))  # a token that ends the turn may have begun
                reading.emit_text_to(len(src.text) if sign < 0 else sign)
                yield None
        over, turn_end = end, _ENDS.search(src.text, max(at, end - _FARTHEST), end)
        end = end if turn_end is None else turn_end.start()
        inner = reading.nest(without_quote_signs(src.text[start:end]))
        if inner.drafts or inner.near_misses:
            first = inner.drafts[0].name if inner.drafts else inner.near_misses[0].name
            reading.note(start, end, first, "quoted")
        if end < over:  # tokens that end the turn
            reading.text(end)
            reading.markup(over)
        return over

    def _doubled(self, at: int, body: int) -> Steps[bool]:
        """Read an opener of calls that opens none as markup, if a call's opener follows it: the model began twice."""
        reading = self._reading
        src = reading.src
        if reading.has_lead:
            return False
        while (ahead := past(_LAYOUT, src.text, body)) == len(src.text) and not src.final:
            yield None
        if src.text[ahead : ahead + 1] not in MARKS:
            return False
        while self.is_undecided(ahead):
            yield None
        found = self._openers(ahead)
        if not any(row.calls for _, rows in found for row in rows):
            return False
        reading.set_lead(at, ahead)
        took = yield from self._marker(ahead, found)
        reading.drop_lead()
        if took and (named := _ELEMENT.match(reading.src.text, at)) is not None and self._is_markup(at):
            self._around.append(f"</{named[1]}>")
        return took

    def _is_markup(self, at: int) -> bool:
        """Whether `at` has been classified as markup."""
        pieces = self._reading.pieces[-_FEW_PIECES:]
        return any(start <= at < end and kind == "markup" for start, end, kind in pieces)

    def _close_around(self) -> Steps[None]:
        """Classify the closer of an element as markup, if its opener was markup before calls."""
        reading, src = self._reading, self._reading.src
        while self._around:
            closer = self._around[-1]
            start = yield from skip_space(src, reading.done)
            while (
                not src.final and closer.startswith(src.text[start : start + len(closer)]) and len(src.text) - start < len(closer)
            ):
                yield None
            if not src.text.startswith(closer, start):
                return
            reading.markup(start + len(closer))
            self._around.pop()

    def _counts(self, row: Marker) -> bool:
        """Whether a call of this row may begin in the answer of a framed reply. At `Limits.calls`, none may."""
        reading = self._reading
        return reading.answers and row.dialect in reading.counted and len(reading.drafts) < reading.limits.calls

    def _may_call(self) -> bool:
        """Whether a call may begin here. At `Limits.calls`, none may."""
        reading = self._reading
        return reading.takes_calls and len(reading.drafts) < reading.limits.calls
