"""`DeltaEmitter`: the events of a text while it is streamed.

An event is never taken back. If emitted text turns out to be something else, a `Reclassified` event says what it became.

White space at the end of the emitted text waits until more text or markup follows, because white space next to markup is
markup (`pieces.with_layout_removed`). So the text events add up to the envelope's content.
"""

from __future__ import annotations

from llmcore.normalizer.core.pieces import Piece
from llmcore.normalizer.scanning.source import Source
from llmcore.types.envelope import SegmentKind, ToolCall
from llmcore.types.events import (
    ArgumentsDelta,
    NormalizerEvent,
    ReasoningDelta,
    Reclassified,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)

__all__ = ["DeltaEmitter"]


class DeltaEmitter:
    """Turns the decisions of a reading into events. The reading calls it; it never calls the reading."""

    __slots__ = ("_held", "_is_all_content", "_spoken", "_src", "events", "said")

    def __init__(self, src: Source) -> None:
        self._src = src
        self.events: list[NormalizerEvent] = []
        self.said = 0
        """How far the text has been emitted."""
        self._held: list[str] = []  # white space
        self._spoken = False
        self._is_all_content = True

    def drain(self) -> list[NormalizerEvent]:
        events, self.events = self.events, []
        return events

    def untold(self, start: int) -> str:
        """The text that has arrived and was not emitted, including waiting white space, from its character `start` on."""
        space = "".join(self._held)
        return space[start:] + self._src.text[self.said + max(0, start - len(space)) :]

    # Calls

    def call_started(self, index: int, id: str, name: str) -> None:
        self.events.append(ToolCallStarted(index, id or f"call_{index}", name))

    def arguments(self, index: int, json: str) -> None:
        self.events.append(ArgumentsDelta(index, json))

    def call_finished(self, index: int, call: ToolCall) -> None:
        self.events.append(ToolCallFinished(index, call))

    # Text

    def text_decided(self, kind: SegmentKind, start: int, end: int) -> None:
        """Emit `start:end`, which is decided to be `kind` but not classified yet."""
        if start < self.said:
            start = self.said
        if end > start:
            self._say(kind, self._src.text[start:end])
            self.said = end

    def more(self, text: str, length: int) -> bool:
        """Emit `text`, a delta of content that was just appended. `length` is the length of the text now.

        Returns False, and emits nothing, if earlier text has not been emitted yet.
        """
        if self.said + len(text) != length:
            return False
        if text:
            self.said = length
            self._say("content", text)
        return True

    def classified(self, kind: SegmentKind, start: int, end: int) -> None:
        """Emit `start:end`, which is classified as `kind`. Reclassify the part that was emitted as something else."""
        said = self.said
        if kind in ("content", "reasoning"):
            begin = start if start > said else said
            if end > begin:
                self._say(kind, self._src.text[begin:end])
        elif said > start:
            self.events.append(Reclassified(start, min(said, end), kind))
        if end > said:
            self.said = end

    def instead(self, text: str) -> None:
        """Emit `text`, which replaces markup in the content."""
        self.events.append(TextDelta("".join([*self._held, text])))
        self._held, self._spoken = [], True

    def withdrawn(self, end: int) -> None:
        """Reclassify everything up to `end` as reasoning."""
        if self.said:
            self.events.append(Reclassified(0, min(end, self.said), "reasoning"))
        if end > self.said:
            self.events.append(ReasoningDelta(self._src.text[self.said : end]))
            self.said = end
        self._held, self._spoken, self._is_all_content = [], False, not end

    def reclassified(self, start: int, end: int, kind: SegmentKind) -> None:
        """Emit that `start:end` turned out to be `kind`, as far as it was emitted."""
        if start < self.said:
            self.events.append(Reclassified(start, min(end, self.said), kind))

    def interrupted(self, last: Piece | None) -> None:
        """Note that something other than content follows the piece `last`.

        White space alone between two blocks is markup, so waiting white space of `last` is dropped.
        """
        self._is_all_content = False
        if self._held and last is not None:
            start, end, kind = last
            if kind == "content" and self._src.text[start:end].isspace():
                self._held = ["".join(self._held)[: start - end]]

    def last(self, overflow: str, *, ends_in_content: bool) -> None:
        """Emit the rest at the end of the text. `overflow` is the text beyond the limit."""
        if overflow:
            self._say("content", overflow)
        if ends_in_content and any(self._held):
            self.events.append(TextDelta("".join(self._held)))

    def _say(self, kind: SegmentKind, text: str) -> None:
        if kind == "reasoning":
            self.events.append(ReasoningDelta(text))
            return
        if self._spoken and not self._held and not text[-1:].isspace():
            self.events.append(TextDelta(text))
            return
        body = text.rstrip()
        if not body:
            self._held.append(text)
            return
        held, lead = text[len(body) :], "".join(self._held)
        if not self._spoken and not self._is_all_content:
            body, lead = body.lstrip(), ""
        self.events.append(TextDelta(lead + body))
        self._held, self._spoken = [held] if held else [], True
