"""`Places`: a text, its classified pieces, and queries about positions in it.

Queries are amortised O(1): each one searches only text that no earlier query has searched.
"""

from __future__ import annotations

from llmcore.normalizer.core.pieces import Piece
from llmcore.normalizer.scanning.source import Source, SpaceRun

__all__ = ["Places"]


class Places:
    """The positions of one text. Everything before `done` is classified, and `pieces` tile it."""

    done = 0
    _prose_line = -1
    """The start of a line that begins with no bare form."""
    _line_start = 0
    _line_sought = 0
    _has_content = False

    def __init__(self) -> None:
        self.src = Source()
        self.pieces: list[Piece] = []
        self._blank, self._space = SpaceRun(), SpaceRun()

    def line_start(self, at: int) -> int:
        """Where the line of `at` begins."""
        if at < self._line_sought:
            return self.src.text.rfind("\n", 0, at) + 1 if at < self._line_start else self._line_start
        found = self.src.text.rfind("\n", self._line_sought, at)
        if found >= 0:
            self._line_start = found + 1
        self._line_sought = at
        return self._line_start

    def line_before(self, at: int, most: int) -> str:
        """The unclassified text before `at` on its line, at most the last `most` characters."""
        return self.src.text[max(self.line_start(at), self.done, at - most) : at]

    def in_prose(self) -> bool:
        """Whether the last line of `line_start`, or its unclassified rest, begins with no bare form."""
        return self.is_prose(max(self._line_start, self.done))

    def is_prose(self, start: int) -> bool:
        """Whether the line at `start` is known to begin with no bare form."""
        return start == self._prose_line

    def mark_prose(self, start: int) -> None:
        """Record that the line at `start` begins with no bare form."""
        self._prose_line = start

    def text_start(self) -> int:
        """Where the current run of text begins: behind the last marker or call, or at 0."""
        if self.pieces:
            start, end, kind = self.pieces[-1]
            return start if kind in ("content", "reasoning") else end
        return 0

    def has_content(self) -> bool:
        """Whether any content other than white space has been classified."""
        return self._has_content

    def opens_message(self, at: int) -> bool:
        """Whether only white space and blocks that are no content stand before `at`."""
        if self._has_content:
            return False
        return self._blank.reaches(self.src.text, self.done, at)

    def blank_before(self, at: int) -> bool:
        """Whether only white space stands between the last marker or call (or the text's start) and `at`."""
        return self._space.reaches(self.src.text, self.text_start(), at)
