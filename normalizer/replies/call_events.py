"""Events of calls, with one numbering over native and text calls, in the order in which they were seen.

`ToolCallFinished` is emitted once no later text can change the call, at the latest at the end of the reply.
"""

from __future__ import annotations

from collections.abc import Sequence

from llmcore.normalizer.core.names import holds_calls
from llmcore.normalizer.native.calls import NativeCall
from llmcore.normalizer.native.shape import json_text
from llmcore.support.values.copies import updated
from llmcore.support.values.narrowing import text_of
from llmcore.types.envelope import ToolCall
from llmcore.types.events import (
    ArgumentsDelta,
    NormalizerEvent,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)

__all__ = ["CallEvents"]


class CallEvents:
    """Numbers calls and builds their events. `begun` is the number of text calls that were already emitted."""

    __slots__ = ("_count", "_of_text")

    def __init__(self, begun: int = 0) -> None:
        self._count = begun
        self._of_text = {index: index for index in range(begun)}

    def _next(self) -> int:
        self._count += 1
        return self._count - 1

    # Calls in text

    def renumber(self, events: list[NormalizerEvent]) -> list[NormalizerEvent]:
        """Set this reply's indexes, and the ids that follow from them, in the text engine's events. Returns the same list."""
        for event in events:
            if isinstance(event, TextDelta):
                continue
            if isinstance(event, ArgumentsDelta):
                event.index = self._of_text[event.index]
            elif isinstance(event, ToolCallStarted):
                index = self._of_text[event.index] = self._next()
                if event.id in ("", f"call_{event.index}"):
                    event.id = f"call_{index}"
                event.index = index
            elif isinstance(event, ToolCallFinished):
                index = self._of_text[event.index]
                if event.call.id == f"call_{event.index}" != f"call_{index}":
                    event.call = updated(event.call, {"id": f"call_{index}"})
                event.index = index
        return events

    # Native calls

    def started(self, call: NativeCall) -> list[NormalizerEvent]:
        """The events of a call's start once its name is certain, with the arguments that came before the name."""
        if call.index >= 0 or not call.name or holds_calls(call.name, None) or "<" in call.name:
            return []
        call.index = self._next()
        events: list[NormalizerEvent] = [ToolCallStarted(call.index, call.id or f"call_{call.position}", call.name)]
        for piece in call.pieces:
            events.extend(self.arguments(call, piece))
        return events

    def arguments(self, call: NativeCall, value: object) -> list[NormalizerEvent]:
        """The events of more arguments. A custom tool's text becomes a JSON object."""
        if call.index < 0 or value in (None, "", {}):
            return []
        piece = text_of(value) if isinstance(value, str) else json_text(value)
        if call.free_text:
            piece = ("" if call.has_deltas else '{"input": "') + json_text(piece)[1:-1]
        call.has_deltas = True
        return [ArgumentsDelta(call.index, piece)]

    def finished(self, call: NativeCall, found: Sequence[ToolCall]) -> list[NormalizerEvent]:
        """The events of a finished call: the first result has its index, further ones get new indexes."""
        events: list[NormalizerEvent] = []
        for k, read in enumerate(found):
            index, has_deltas = (call.index, call.has_deltas) if not k and call.index >= 0 else (-1, False)
            if index < 0:
                index = self._next()
                events.append(ToolCallStarted(index, read.id, read.name))
            if not has_deltas and read.arguments is not None:
                events.append(ArgumentsDelta(index, json_text(read.arguments)))
            elif has_deltas and call.free_text:
                events.append(ArgumentsDelta(index, '"}'))
            events.append(ToolCallFinished(index, read))
        return events
