"""The walk of the text engine: from candidate to candidate, and what a listener hears where none stands.

A marker goes to the rows of the registry that share it, a bracket to the rules of `bare`. Text in which nothing can begin is told
without waking the walk (`source.Skim`).

Looks that come to nothing cost characters (`TextEngine.waste`). When brackets have cost a good deal more than the text before
them, they are passed over until the text has caught up; markers likewise, by an account of their own. So a flood is linear,
and text full of brackets loses no call that has a marker.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from llmcore.normalizer import bare
from llmcore.normalizer.begun import begun_call, ends_in_opener
from llmcore.normalizer.candidates import Candidates, signs_of
from llmcore.normalizer.rows import Marker
from llmcore.normalizer.source import Steps, always, past, skip_space
from llmcore.types.envelope import Repair

if TYPE_CHECKING:
    from llmcore.normalizer.text import TextEngine

__all__ = ["Walk"]

_OPENER = 16  # what an opener costs that no row takes,
_ROW = 4  # each row that shares it,
_TRIED = 16  # and each reader that declined
_NESTED_SHIFT = 3  # a nested reading has an eighth of the looks: the one around it learns what it spent only when it is over
_LAYOUT = re.compile(r"\s{0,8}+")  # between an opener that was written twice
_OVERLAP = len("Action:") - 1  # of the text's end, in which the one trigger that is a word may have begun
_OPEN = ("[", "{")
_MARKS = frozenset("<[]◁")  # what markers begin with
_PROSE = re.compile(r"[^`<[{(\]◁=A:\n]*+").fullmatch  # with the others candidates begin, or "Action:" ends, or a new line begins
_MARKLESS = re.compile(r"[^`<[\]◁]*+").fullmatch  # without what markers and code begin with
_HELD = ("]", "◁")  # with which a marker may begin that more text must tell


class Walk:
    """One walk through an engine's text."""

    __slots__ = ("_allowance", "_at", "_brackets", "_candidates", "_engine", "_passed_over")

    def __init__(self, engine: TextEngine) -> None:
        self._engine = engine
        self._candidates = Candidates(engine.src, signs_of(engine.names, engine.table))
        self._at: int = 0  # where it waits
        self._allowance = engine.limits.looks >> _NESTED_SHIFT * engine.nested
        self._brackets = 0  # what brackets that came to nothing cost
        self._passed_over = False

    @property
    def wasted(self) -> int:
        """What looks that came to nothing cost, in characters: both accounts."""
        return self._engine.wasted + self._brackets

    def run(self) -> Steps[None]:
        """From candidate to candidate until the text ends; the rest is text of the current kind."""
        engine = self._engine
        src, table, seek = engine.src, engine.table, self._candidates.next
        position = engine.done
        while True:
            brackets_from, markers_from = self._brackets - self._allowance, engine.wasted - self._allowance
            if position < brackets_from or position < markers_from:
                self._pass_over(position)
                position = max(position, markers_from)
            if position == engine.done and position >= brackets_from and src.text[position : position + 1] in _OPEN:
                at = position  # directly behind a marker every bracket is a candidate
            else:
                at = seek(position, brackets_from)
            if at < 0:
                if src.final:
                    break
                self._rest(position)
                yield
                position = self._at
                continue
            trigger = src.text[at]
            if trigger in _MARKS and table.may_open(src.text, at):
                if engine.is_undecided(at):
                    self._at = at
                    if at > engine.done:
                        engine.emit_text(bare.settled_text(engine, at))
                    engine.skim = self._skim_undecided
                    yield
                    position = self._at
                    continue
                if (found := self.openers(at)) and (yield from self.marker(at, found)):
                    position = engine.done
                    continue
            position = at + 1
            handler = bare.HANDLERS.get(trigger)
            # Before `brackets_from` a bracket comes here only because it begins like a marker, and it was none.
            looks = trigger == "`" or (engine.takes_calls and at >= brackets_from)
            if handler is not None and looks and engine.text_kind != "reasoning":
                before = engine.wasted
                went = handler(engine, at)
                position = max(position, went if isinstance(went, int) else (yield from went))
                self._brackets += engine.wasted - before
                engine.wasted = before
        self._end()

    def _end(self) -> None:
        """The rest is text; but a call that was begun and cut off is no text for the user."""
        engine = self._engine
        text = engine.src.text
        begun = begun_call(engine) if not engine.nested and engine.done < len(text) else -1
        if begun >= 0:
            engine.commit_to(begun)
            engine.cut = True
            engine.repairs.append(Repair(kind="cut_off", before=text[begun:], safety="truncated"))
            engine.take("markup", len(text))
        elif not engine.nested and ends_in_opener(engine):
            engine.cut = True
        engine.commit_to(len(text))

    def _pass_over(self, position: int) -> None:
        """Looks have cost too much: record it, once."""
        if not self._passed_over:
            self._passed_over = True
            self._engine.note(position, position, None, "looks_limit")

    def _rest(self, position: int) -> None:
        """No candidate stands from `position` on: tell what is settled, and leave word for what may come."""
        engine, teller = self._engine, self._engine.teller
        text, done = engine.src.text, engine.done
        length = len(text)
        if position < length - _OVERLAP:
            position = length - _OVERLAP
        self._at = position if position > done else done
        if teller is None or self._at == done == length:
            return
        if length <= self._brackets - self._allowance:
            teller.settled(bare.without_sign(engine, length))
            engine.skim = self._skim_brackets
            return
        at_line = text[length - 1] == "\n"  # nothing of a bare form has begun
        teller.settled(length if at_line else bare.settled_text(engine, length))
        if self._at > length:
            engine.skim = self._skim_passed
        elif length > done:  # right behind a marker any bracket counts
            prose = not at_line and teller.said == length and engine.in_prose()
            engine.skim = self._skim_prose if prose else self._skim_line

    def _skim_prose(self, text: str) -> bool:
        """In a line that begins with no bare form: if nothing begins in it, `text` is told."""
        engine = self._engine
        if _PROSE(text) is None:
            at = self._next()
            if at >= 0:
                return self._undecided(at)
            if "\n" in text or text[-1:] in _HELD:
                return self._rests()
        length = len(engine.src.text)
        if length - _OVERLAP > self._at:
            self._at = length - _OVERLAP
        if engine.teller is not None:
            engine.teller.more(text, length)
        return True

    def _skim_line(self, text: str) -> bool:
        """In a line that may yet begin with a bare form."""
        return self._next() < 0 and self._rests()

    def _skim_brackets(self, text: str) -> bool:
        """Brackets are passed over: only a marker may begin."""
        engine = self._engine
        length = len(engine.src.text)
        if length > self._brackets - self._allowance:
            return False
        if _MARKLESS(text) is None:
            return self._next() < 0 and self._rests()
        if length - _OVERLAP > self._at:
            self._at = length - _OVERLAP
        if engine.teller is not None:
            engine.teller.more(text, length)
        return True

    def _skim_passed(self, text: str) -> bool:
        """Before `_at` nothing is looked at: it is told."""
        engine = self._engine
        length = len(engine.src.text)
        if length > self._at:
            return False
        if engine.teller is not None:
            engine.teller.more(text, length)
        return True

    def _skim_undecided(self, text: str) -> bool:
        """An opener may have begun at `_at`, or, if that is none, behind it."""
        engine = self._engine
        if engine.is_undecided(self._at):
            return True
        if self._at == engine.done:
            return False
        at = self._next()
        if at >= 0:
            return at > self._at and self._undecided(at)
        return self._rests()

    def _rests(self) -> bool:
        """No candidate stands from `_at` on: as if the walk had been woken to find that."""
        self._engine.skim = None
        self._rest(self._at)
        return True

    def _undecided(self, at: int) -> bool:
        """If an opener may have begun at `at`, the first candidate, wait there for more."""
        engine = self._engine
        if not engine.is_undecided(at):
            return False
        self._at = at
        if engine.teller is not None:
            engine.teller.settled(at)
        engine.skim = self._skim_undecided
        return True

    def _next(self) -> int:
        return self._candidates.next(self._at, self._brackets - self._allowance)

    def openers(self, at: int) -> list[tuple[int, list[Marker]]]:
        """The openers at `at`, each with its end and the rows that share it; a tag that is the name of a tool comes last."""
        engine = self._engine
        text, table = engine.src.text, engine.table
        return [found for found in (table.match(text, at), table.match_tool_tag(text, at, engine.names)) if found is not None]

    def marker(self, at: int, openers: list[tuple[int, list[Marker]]]) -> Steps[bool]:
        """Try the rows of these openers at `at`."""
        engine = self._engine
        src, takes, tried = engine.src, None, 0
        for body, rows in openers:
            ahead = -1
            for row in rows:
                if row.calls and not (takes := self._may_call(at) if takes is None else takes):
                    continue
                if row.follows is not always:
                    if ahead < 0:
                        engine.emit_text(at)
                        behind = src.text[body : body + 1]  # seldom white space, and a generator costs 0.4 us
                        ahead = body if behind and not behind.isspace() else (yield from skip_space(src, body))
                    while (fits := row.follows(src.text, ahead, src.final)) is None:
                        yield
                    if not fits:
                        continue
                engine.emit_text(at)
                took = row.reader(engine, at, body)
                if (took if isinstance(took, bool) else (yield from took)) and engine.done > at:
                    if row.calls:
                        engine.text_kind = "content"
                    return True
                tried += 1
        engine.wasted += _OPENER + _TRIED * tried + sum(_ROW * len(rows) for _, rows in openers)
        return bool(takes) and (yield from self._doubled(at, openers[0][0]))

    def _doubled(self, at: int, body: int) -> Steps[bool]:
        """An opener of calls that opens none is markup right before one that does, as of a model that began twice."""
        engine = self._engine
        src = engine.src
        if engine.lead is not None:
            return False
        while (ahead := past(_LAYOUT, src.text, body)) == len(src.text) and not src.final:
            yield
        if src.text[ahead : ahead + 1] not in _MARKS:
            return False
        while engine.is_undecided(ahead):
            yield
        found = self.openers(ahead)
        if not any(row.calls for _, rows in found for row in rows):
            return False
        engine.lead = (at, ahead)
        took = yield from self.marker(ahead, found)
        engine.lead = None
        return took

    def _may_call(self, at: int) -> bool:
        """May a call begin here? Not beyond the limit, nor in a line that is a quotation (`> `)."""
        engine = self._engine
        if not engine.takes_calls or len(engine.drafts) >= engine.limits.calls:
            return False
        start = engine.line_start(at)
        return not engine.src.text.startswith("> ", start) or start < engine.text_start()
