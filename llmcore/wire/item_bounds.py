"""`ItemBounds`: where the items of a streamed text begin, so that each piece of text goes to its own item.

A server may send the text of a reply in several items or blocks. The normaliser reads all of them as one text, and decides some
text only when the next item has begun. Its events have no positions, so this module finds their text in the source.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from llmcore.types import ReasoningDelta, TextDelta

__all__ = ["ItemBounds", "NextItem"]


class NextItem:
    """The event between the text of one item and that of the next."""


@dataclass(slots=True)
class _Bound:
    """An item ends at `end`, and the next one begins at `start`. Between them stands a line end that no server sent."""

    end: int
    start: int
    is_passed: bool


class ItemBounds:
    """The bounds that the emitted text has not passed. `begin`: how far the text was emitted.

    `is_blocked`: whether no text was decided since the last bound was added, and some text before it is undecided.
    """

    __slots__ = ("_bounds", "_emitted", "_searched", "is_blocked")

    def __init__(self, begin: int) -> None:
        self._bounds = deque[_Bound]()
        self._searched = self._emitted = begin
        self.is_blocked = False

    def __bool__(self) -> bool:
        return bool(self._bounds)

    def add(self, end: int) -> None:
        """Note that an item ends here, and that some text before is undecided."""
        self._bounds.append(_Bound(end, end, is_passed=False))
        self.is_blocked = True

    def add_passed(self, source: str, start: int) -> Iterator[TextDelta | NextItem]:
        """Note that an item ends at the end of `source`, and that all text is decided. What follows `start` is white space."""
        yield from self.split(source, max(start, self._emitted), len(source))
        for bound in self._bounds:
            if not bound.is_passed:
                yield NextItem()
        self._bounds = deque([_Bound(len(source), len(source), is_passed=True)])
        self._searched = self._emitted = len(source)
        yield NextItem()

    def line_ended(self, end: int) -> None:
        """Note that a line end was added behind an item."""
        for bound in self._bounds:
            if bound.end == end:
                bound.start = end + 1

    def skip(self, end: int) -> None:
        """Note that the text up to here is decided, and that a call ends it."""
        self.is_blocked = False
        self._searched = max(self._searched, end)

    def split(self, source: str, start: int, stop: int, *, is_reasoning: bool = False) -> Iterator[TextDelta | NextItem]:
        """The text `source[start:stop]`, with a `NextItem` at each bound in it or before it.

        `is_reasoning`: the last bound stays, because the white space between it and the reasoning may still come with a text.
        """
        self.is_blocked = False
        while self._bounds and self._bounds[0].end < stop:
            bound = self._bounds.popleft()
            if start < bound.end:
                yield TextDelta(source[start : bound.end])
            if not bound.is_passed:
                yield NextItem()
            start = max(start, bound.start)
            if is_reasoning and not (self._bounds and self._bounds[0].end < stop):
                bound.is_passed = True
                self._bounds.appendleft(bound)
                break
        if start < stop:
            yield TextDelta(source[start:stop])

    def place(self, source: str, event: TextDelta | ReasoningDelta) -> Iterator[TextDelta | ReasoningDelta | NextItem]:
        """The event, with a `NextItem` at each bound in it or before it."""
        body = event.text.strip()
        if not body:
            body = event.text
            start = len(source) - len(body) if source.endswith(body) else -1
        else:
            start = source.find(body, self._searched)
        if start < 0:  # text that replaces markup
            yield event
            return
        stop = self._searched = start + len(body)
        before, _, after = event.text.partition(body)
        while before and source.endswith(before[-1], 0, start):
            before, start = before[:-1], start - 1
        if before and self._bounds and self._bounds[0].is_passed:  # it stood before reasoning or a call
            lead = source[self._bounds[0].start : start]
            lead = lead[: len(lead) - len(lead.lstrip())]
            if lead and before.endswith(lead):
                yield type(event)(lead)
        is_reasoning = isinstance(event, ReasoningDelta)
        for part in self.split(source, max(start, self._emitted), stop + len(after), is_reasoning=is_reasoning):
            yield part if isinstance(part, NextItem) else type(event)(part.text)
