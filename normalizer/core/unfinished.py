"""Calls that are read and not finished: with words before them on their line they are guesses if words follow there.

Listeners hear of calls in order, so a call waits for those before it.
"""

from __future__ import annotations

from llmcore.normalizer.core.draft import Draft
from llmcore.normalizer.trust.surroundings import Standing
from llmcore.types.envelope import Repair

__all__ = ["Unfinished"]


class Unfinished:
    """The unfinished calls of one reading."""

    __slots__ = ("on_line",)

    def __init__(self) -> None:
        self.on_line: list[tuple[Draft, Standing]] = []
        """Those for which the rest of the line decides, and all behind the first of them."""

    def keeps(self, draft: Draft, standing: Standing) -> bool:
        """Is the call that was just read one of them? Then it is kept here."""
        if not (standing.in_line or self.on_line):
            return False
        self.on_line.append((draft, standing))
        return True

    def line_over(self, *, words_follow: bool) -> list[Draft]:
        """The line of the calls is over, or words follow them on it. Returns those that are finished by that."""
        for draft, standing in self.on_line if words_follow else ():
            if standing.in_line:
                draft.doubted(Repair(kind="words_on_both_sides", safety="guess"))
        return self.withdrawn()

    def withdrawn(self) -> list[Draft]:
        """None of them waits any more. Returns them, in order."""
        over = [draft for draft, _ in self.on_line]
        self.on_line = []
        return over

    def mark(self) -> list[tuple[Draft, Standing]]:
        """What was unfinished at this point."""
        return list(self.on_line)

    def restore(self, mark: list[tuple[Draft, Standing]]) -> None:
        """As it was then."""
        self.on_line = mark

    def ids(self) -> set[int]:
        return {id(draft) for draft, _ in self.on_line}
