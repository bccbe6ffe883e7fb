"""A text and what of it is classified, and what stands at a place in it.

Amortised O(1): a question looks only at text that was not looked at before.
"""

from __future__ import annotations

from llmcore.normalizer.core.pieces import Piece
from llmcore.normalizer.scanning.source import Source, SpaceRun

__all__ = ["Places"]


class Places:
    """The places of one text. Everything before `done` is classified: `pieces` tile it."""

    done = 0
    _prose_line = -1
    """Where the line begins that is known to begin with no bare form."""
    _line_start = 0
    _line_sought = 0
    _said_anything = False

    def __init__(self) -> None:
        self.src = Source()
        self.pieces: list[Piece] = []
        self._blank, self._space = SpaceRun(), SpaceRun()

    def line_start(self, at: int) -> int:
        """Where the line that holds `at` begins. Amortised: only text not looked at yet is searched."""
        if at < self._line_sought:
            return self.src.text.rfind("\n", 0, at) + 1 if at < self._line_start else self._line_start
        found = self.src.text.rfind("\n", self._line_sought, at)
        if found >= 0:
            self._line_start = found + 1
        self._line_sought = at
        return self._line_start

    def line_before(self, at: int, most: int) -> str:
        """What stands before `at` on its line and is not classified yet, at most so many characters of it."""
        return self.src.text[max(self.line_start(at), self.done, at - most) : at]

    def in_prose(self) -> bool:
        """Is the line that was last looked for, or what is not classified yet of it, known to begin with no bare form?"""
        return self.is_prose(max(self._line_start, self.done))

    def is_prose(self, start: int) -> bool:
        """Is the line that begins at `start` known to begin with no bare form?"""
        return start == self._prose_line

    def prose(self, start: int) -> None:
        """The line that begins at `start` begins with no bare form."""
        self._prose_line = start

    def text_start(self) -> int:
        """Where the text begins that nothing has interrupted since: at a marker's or call's end, or at 0."""
        if self.pieces:
            start, end, kind = self.pieces[-1]
            return start if kind in ("content", "reasoning") else end
        return 0

    def says_anything(self) -> bool:
        """Has any content been classified that is not white space?"""
        return self._said_anything

    def opens_message(self, at: int) -> bool:
        """Does nothing but white space stand before `at`, blocks that are no content apart?"""
        if self._said_anything:
            return False
        return self._blank.reaches(self.src.text, self.done, at)

    def blank_before(self, at: int) -> bool:
        """Does nothing but white space stand before `at`, back to a marker, a call or the text's start?"""
        return self._space.reaches(self.src.text, self.text_start(), at)
