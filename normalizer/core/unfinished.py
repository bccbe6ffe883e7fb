"""Calls that are read and not finished: what follows decides whether they are guesses.

A call with words before it on its line is a guess if words follow it there. If the reply says anything else, a call in a dialect
that is not the model's own is a guess, too.

Listeners hear of calls in order, so a call waits for those before it.
"""

from __future__ import annotations

from llmcore.normalizer.core.draft import Draft
from llmcore.normalizer.trust.judging import Verdict
from llmcore.types.envelope import Repair

__all__ = ["Unfinished"]

_Mark = tuple[list[tuple[Draft, Verdict]], list[Draft]]


class Unfinished:
    """The unfinished calls of one reading."""

    __slots__ = ("on_line", "own", "waiting")

    def __init__(self) -> None:
        self.own: frozenset[str] | None = None
        """The model's own dialects; None if all are its own.

        A call in another dialect counts only where the reply says nothing else.
        """
        self.on_line: list[tuple[Draft, Verdict]] = []
        """Those for which the rest of the line decides, and all behind the first of them."""
        self.waiting: list[Draft] = []
        """Those for which the rest of the reply decides, and all behind the first of them."""

    def keeps(self, draft: Draft, verdict: Verdict) -> bool:
        """Is the call that was just read one of them? Then it is kept here."""
        if verdict.in_line or self.on_line:
            self.on_line.append((draft, verdict))
        elif self.waiting or self._is_foreign(draft):
            self.waiting.append(draft)
        else:
            return False
        return True

    def line_over(self, *, words_follow: bool) -> list[Draft]:
        """The line of the calls is over, or words follow them on it. Returns those that are finished by that."""
        finished: list[Draft] = []
        for draft, verdict in self.on_line:
            if words_follow and verdict.in_line:
                draft.doubted(Repair(kind="words_on_both_sides", safety="guess"))
            waits = self.waiting or self._is_foreign(draft)
            (self.waiting if waits else finished).append(draft)
        self.on_line = []
        return finished

    def reply_over(self, *, says_more: bool) -> list[Draft]:
        """No more calls come. `says_more`: the reply holds more than calls, reasoning and markup. Returns those that waited."""
        for draft in self.waiting if says_more else ():
            if self._is_foreign(draft):
                draft.doubted(Repair(kind="not_alone", safety="guess"))
        return self.withdrawn()

    def _is_foreign(self, draft: Draft) -> bool:
        return self.own is not None and draft.dialect not in self.own

    def withdrawn(self) -> list[Draft]:
        """None of them waits any more. Returns them, in order."""
        over = [*self.waiting, *(draft for draft, _ in self.on_line)]
        self.waiting, self.on_line = [], []
        return over

    def mark(self) -> _Mark:
        """What was unfinished at this point."""
        return list(self.on_line), list(self.waiting)

    def restore(self, mark: _Mark) -> None:
        """As it was then."""
        self.on_line, self.waiting = mark

    def ids(self) -> set[int]:
        return {id(draft) for draft in (*self.waiting, *(draft for draft, _ in self.on_line))}
