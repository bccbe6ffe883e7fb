"""Calls that are read but not finished: the text that follows decides whether they are guesses.

If words stand before and behind a call on its line, the call is a guess. If a call's dialect is not the model's own and the
reply says anything else, the call is a guess, too.

Events of calls are emitted in order, so a call waits for those before it.
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

        A call in another dialect counts only if the reply says nothing else.
        """
        self.on_line: list[tuple[Draft, Verdict]] = []
        """The calls that wait for the rest of their line, and all calls behind the first of them."""
        self.waiting: list[Draft] = []
        """The calls that wait for the rest of the reply, and all calls behind the first of them."""

    def keeps(self, draft: Draft, verdict: Verdict) -> bool:
        """Whether the call that was just read must wait. If so, it is added here."""
        if verdict.in_line or self.on_line:
            self.on_line.append((draft, verdict))
        elif self.waiting or self._is_foreign(draft):
            self.waiting.append(draft)
        else:
            return False
        return True

    def line_over(self, *, words_follow: bool) -> list[Draft]:
        """Return the calls that are finished by the end of their line, or by words that follow them on it."""
        finished: list[Draft] = []
        for draft, verdict in self.on_line:
            if words_follow and verdict.in_line:
                draft.add_guess(Repair(kind="words_on_both_sides", safety="guess"))
            waits = self.waiting or self._is_foreign(draft)
            (self.waiting if waits else finished).append(draft)
        self.on_line = []
        return finished

    def reply_over(self, *, says_more: bool) -> list[Draft]:
        """Return the calls that waited for the end of the reply. `says_more`: it has content beside the calls."""
        for draft in self.waiting if says_more else ():
            if self._is_foreign(draft):
                draft.add_guess(Repair(kind="not_alone", safety="guess"))
        return self.withdrawn()

    def _is_foreign(self, draft: Draft) -> bool:
        return self.own is not None and draft.dialect not in self.own

    def withdrawn(self) -> list[Draft]:
        """Forget all waiting calls and return them, in order."""
        over = [*self.waiting, *(draft for draft, _ in self.on_line)]
        self.waiting, self.on_line = [], []
        return over

    def mark(self) -> _Mark:
        """The state, for `restore`."""
        return list(self.on_line), list(self.waiting)

    def restore(self, mark: _Mark) -> None:
        """Return to the state of `mark`."""
        self.on_line, self.waiting = mark

    def ids(self) -> set[int]:
        return {id(draft) for draft in (*self.waiting, *(draft for draft, _ in self.on_line))}
