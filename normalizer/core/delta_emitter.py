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

    __slots__ = ("_has_text", "_is_all_content", "_src", "_waiting_space", "emitted", "events")

    def __init__(self, src: Source) -> None:
        self._src = src
        self.events: list[NormalizerEvent] = []
        self.emitted = 0
        """How far the text has been emitted."""
        self._waiting_space: list[str] = []  # white space
        self._has_text = False
        self._is_all_content = True

    def drain(self) -> list[NormalizerEvent]:
        events, self.events = self.events, []
        return events

    def unemitted(self, start: int) -> str:
        """The text that has arrived and was not emitted, including waiting white space, from its character `start` on."""
        space = "".join(self._waiting_space)
        return space[start:] + self._src.text[self.emitted + max(0, start - len(space)) :]

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
        if start < self.emitted:
            start = self.emitted
        if end > start:
            self._emit_text(kind, self._src.text[start:end])
            self.emitted = end

    def appended(self, text: str, length: int) -> bool:
        """Emit `text`, a delta of content that was just appended. `length` is the length of the text now.

        Returns False, and emits nothing, if earlier text has not been emitted yet.
        """
        if self.emitted + len(text) != length:
            return False
        if text:
            self.emitted = length
            self._emit_text("content", text)
        return True

    def classified(self, kind: SegmentKind, start: int, end: int) -> None:
        """Emit `start:end`, which is classified as `kind`. Reclassify the part that was emitted as something else."""
        emitted = self.emitted
        if kind in ("content", "reasoning"):
            begin = start if start > emitted else emitted
            if end > begin:
                self._emit_text(kind, self._src.text[begin:end])
        elif emitted > start:
            self.events.append(Reclassified(start, min(emitted, end), kind))
        if end > emitted:
            self.emitted = end

    def replacement(self, text: str) -> None:
        """Emit `text`, which replaces markup in the content."""
        self.events.append(TextDelta("".join([*self._waiting_space, text])))
        self._waiting_space, self._has_text = [], True

    def withdrawn(self, end: int) -> None:
        """Reclassify everything up to `end` as reasoning."""
        if self.emitted:
            self.events.append(Reclassified(0, min(end, self.emitted), "reasoning"))
        if end > self.emitted:
            self.events.append(ReasoningDelta(self._src.text[self.emitted : end]))
            self.emitted = end
        self._waiting_space, self._has_text, self._is_all_content = [], False, not end

    def reclassified(self, start: int, end: int, kind: SegmentKind) -> None:
        """Emit that `start:end` turned out to be `kind`, as far as it was emitted."""
        if start < self.emitted:
            self.events.append(Reclassified(start, min(end, self.emitted), kind))

    def interrupted(self, last: Piece | None) -> None:
        """Note that something other than content follows the piece `last`.

        White space alone between two blocks is markup, so waiting white space of `last` is dropped.
        """
        self._is_all_content = False
        if self._waiting_space and last is not None:
            start, end, kind = last
            if kind == "content" and self._src.text[start:end].isspace():
                self._waiting_space = ["".join(self._waiting_space)[: start - end]]

    def end_text(self, overflow: str, *, ends_in_content: bool) -> None:
        """Emit the rest at the end of the text. `overflow` is the text beyond the limit."""
        if overflow:
            self._emit_text("content", overflow)
        if ends_in_content and any(self._waiting_space):
            self.events.append(TextDelta("".join(self._waiting_space)))

    def _emit_text(self, kind: SegmentKind, text: str) -> None:
        if kind == "reasoning":
            self.events.append(ReasoningDelta(text))
            return
        if self._has_text and not self._waiting_space and not text[-1:].isspace():
            self.events.append(TextDelta(text))
            return
        body = text.rstrip()
        if not body:
            self._waiting_space.append(text)
            return
        trailing, lead = text[len(body) :], "".join(self._waiting_space)
        if not self._has_text and not self._is_all_content:
            body, lead = body.lstrip(), ""
        self.events.append(TextDelta(lead + body))
        self._waiting_space, self._has_text = [trailing] if trailing else [], True
