"""What a listener hears of a text while it comes. Nothing told is taken back: `Reclassified` says what became of it.

White space at the end of what was said is held until it is known whether more text or markup follows: next to markup it is
markup (`pieces.settled`), and a listener should have heard what the envelope's content holds.
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
    """Turns what a reading settles into events. It is fed by the reading and asks it nothing."""

    __slots__ = ("_held", "_is_all_content", "_spoken", "_src", "events", "said")

    def __init__(self, src: Source) -> None:
        self._src = src
        self.events: list[NormalizerEvent] = []
        self.said = 0
        """How far the text has been told."""
        self._held: list[str] = []  # white space
        self._spoken = False
        self._is_all_content = True

    def drain(self) -> list[NormalizerEvent]:
        events, self.events = self.events, []
        return events

    def untold(self, start: int) -> str:
        """What came and was not told, white space included, from its character `start` on."""
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
        """`start:end` is settled as `kind`, though not classified yet."""
        if start < self.said:
            start = self.said
        if end > start:
            self._say(kind, self._src.text[start:end])
            self.said = end

    def more(self, text: str, length: int) -> bool:
        """`text` has just come and is content; the text is `length` long now. False when it does not stand right behind what was
        told: then nothing is told."""
        if self.said + len(text) != length:
            return False
        if text:
            self.said = length
            self._say("content", text)
        return True

    def classified(self, kind: SegmentKind, start: int, end: int) -> None:
        """`start:end` is `kind`; some of it may have been told as something else."""
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
        """What markup reads as."""
        self.events.append(TextDelta("".join([*self._held, text])))
        self._held, self._spoken = [], True

    def withdrawn(self, end: int) -> None:
        """Everything up to `end` turned out to be reasoning."""
        if self.said:
            self.events.append(Reclassified(0, min(end, self.said), "reasoning"))
        if end > self.said:
            self.events.append(ReasoningDelta(self._src.text[self.said : end]))
            self.said = end
        self._held, self._spoken, self._is_all_content = [], False, not end

    def reclassified(self, start: int, end: int, kind: SegmentKind) -> None:
        """A stretch of what was told turned out to be of this kind."""
        if start < self.said:
            self.events.append(Reclassified(start, min(end, self.said), kind))

    def interrupted(self, last: Piece | None) -> None:
        """Something else follows on the `last` piece. White space alone between two blocks is markup: what was held of it is not
        said."""
        self._is_all_content = False
        if self._held and last is not None:
            start, end, kind = last
            if kind == "content" and self._src.text[start:end].isspace():
                self._held = ["".join(self._held)[: start - end]]

    def last(self, overflow: str, *, ends_in_content: bool) -> None:
        """The text is over; `overflow`: what was beyond the limit."""
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
