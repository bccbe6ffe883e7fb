"""What a listener hears of a text while it comes. Nothing told is taken back: `Reclassified` says what became of it.

White space at the end of what was said is held until it is known whether more text or markup follows: next to markup it is
markup (`settling`), and a listener should have heard what the envelope's content holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmcore.types.envelope import SegmentKind, ToolCall
from llmcore.types.events import (
    NormalizerEvent,
    ReasoningDelta,
    Reclassified,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)

if TYPE_CHECKING:
    from llmcore.normalizer.text import TextEngine

__all__ = ["Teller"]


class Teller:
    """Turns what an engine settles into events."""

    __slots__ = ("_engine", "_held", "_spoken", "events", "said")

    def __init__(self, engine: TextEngine) -> None:
        self._engine = engine
        self.events: list[NormalizerEvent] = []
        self.said = 0
        """How far the text has been told."""
        self._held: list[str] = []  # white space
        self._spoken = False

    def drain(self) -> list[NormalizerEvent]:
        events, self.events = self.events, []
        return events

    # Calls

    def call_started(self, index: int, id: str, name: str) -> None:
        self.events.append(ToolCallStarted(index, id or f"call_{index}", name))

    def call_finished(self, index: int, call: ToolCall) -> None:
        self.events.append(ToolCallFinished(index, call))

    # Text

    def settled(self, end: int) -> None:
        """Text up to `end` is settled as the current kind, though not classified yet."""
        engine, start = self._engine, self.said
        if start < engine.done:
            start = engine.done
        if end > start:
            self._say(engine.text_kind, engine.src.text[start:end])
            self.said = end

    def more(self, text: str, length: int) -> None:
        """`text` has just come, right behind what was told, and is settled: the text is `length` long now."""
        if self.said + len(text) != length or self._engine.text_kind == "reasoning":
            self.settled(length)
        elif text:
            self.said = length
            self._say("content", text)

    def classified(self, kind: SegmentKind, start: int, end: int) -> None:
        """`start:end` is `kind`; some of it may have been told as something else."""
        said = self.said
        if kind in ("content", "reasoning"):
            begin = start if start > said else said
            if end > begin:
                self._say(kind, self._engine.src.text[begin:end])
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
            self.events.append(ReasoningDelta(self._engine.src.text[self.said : end]))
            self.said = end
        self._held, self._spoken = [], False

    def interrupted(self) -> None:
        """Something else follows on text. White space alone between two blocks is markup: what was held of it is not said."""
        pieces = self._engine.pieces
        if self._held and len(pieces) > 1:
            start, end, kind = pieces[-2]
            if kind == "content" and self._engine.src.text[start:end].isspace():
                self._held = ["".join(self._held)[: start - end]]

    def last(self, overflow: str) -> None:
        """The text is over; `overflow`: what was beyond the limit."""
        if overflow:
            self._say("content", overflow)
        if any(self._held) and self._engine.pieces[-1][2] == "content":
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
        if not self._spoken and any(piece[2] != "content" for piece in self._engine.pieces):
            body, lead = body.lstrip(), ""
        self.events.append(TextDelta(lead + body))
        self._held, self._spoken = [held] if held else [], True
