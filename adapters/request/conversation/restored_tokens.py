"""Removes the joiners that broke the request's special tokens from a model's reply (see `special_tokens`).

This happens after the normalizer, so that a token which a model quotes is no marker of a call. Positions in an envelope's
source are adjusted. Positions in events refer to the text as it arrived. O(length), for any chunking.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import partial

from llmcore.adapters.request.conversation.special_tokens import Joiners, without
from llmcore.support.values.copies import updated
from llmcore.types import (
    ArgumentsDelta,
    Block,
    Envelope,
    Event,
    NearMiss,
    ReasoningDelta,
    Repair,
    Repaired,
    Segment,
    TextBlock,
    TextDelta,
    ThinkingBlock,
    ToolCall,
    ToolCallFinished,
    ToolUseBlock,
)

__all__ = ["EventRestorer", "restored_envelope", "restored_withheld"]


class _TextRestorer:
    """Restores a text that arrives in pieces. What may become a broken token waits for the rest of it."""

    def __init__(self, joiners: Joiners) -> None:
        self._joiners = joiners
        self._waiting = ""

    def feed(self, piece: str) -> str:
        text = self._waiting + piece
        end = self._joiners.unfinished_from(text)
        places = [place for place in self._joiners.places(text) if place[0] < end]
        self._waiting = text[end:]
        return without(text[:end], places)

    def rest(self) -> str:
        text, self._waiting = self._waiting, ""
        return self._joiners.restored(text)


class EventRestorer:
    """Restores the events of one reply."""

    def __init__(self, joiners: Joiners) -> None:
        self._joiners = joiners
        self._text = _TextRestorer(joiners)
        self._reasoning = _TextRestorer(joiners)
        self._arguments: dict[int, _TextRestorer] = {}

    def events(self, events: list[Event]) -> list[Event]:
        return [restored for event in events for restored in self._event(event)]

    def rest(self) -> list[Event]:
        """The text that was waiting, at the end of the reply."""
        found: list[Event] = [TextDelta(text) for text in (self._text.rest(),) if text]
        return [*found, *(ReasoningDelta(text) for text in (self._reasoning.rest(),) if text)]

    def _event(self, event: Event) -> list[Event]:
        if isinstance(event, TextDelta):
            return [TextDelta(text)] if (text := self._text.feed(event.text)) else []
        if isinstance(event, ReasoningDelta):
            return [ReasoningDelta(text)] if (text := self._reasoning.feed(event.text)) else []
        if isinstance(event, ArgumentsDelta):
            stretch = self._arguments.setdefault(event.index, _TextRestorer(self._joiners))
            return [ArgumentsDelta(event.index, text)] if (text := stretch.feed(event.json)) else []
        if isinstance(event, ToolCallFinished):
            left = self._arguments.pop(event.index).rest() if event.index in self._arguments else ""
            deltas: list[Event] = [ArgumentsDelta(event.index, left)] if left else []
            return [*deltas, ToolCallFinished(event.index, _call(self._joiners, event.call, None))]
        if isinstance(event, Repaired):
            return [Repaired(event.index, _repair(self._joiners, event.repair))]
        return [event]


def restored_withheld(joiners: Joiners, withheld: str, start: int) -> str:
    """Return the certain part of a text that was not emitted yet, from character `start` on."""
    end = joiners.unfinished_from(withheld)
    return without(withheld[:end], [place for place in joiners.places(withheld) if place[0] < end])[start:]


def restored_envelope(joiners: Joiners, envelope: Envelope) -> Envelope:
    """Return the envelope as if the request's tokens had not been broken."""
    places = joiners.places(envelope.source)
    at = [place for place, _ in places]
    moved = partial(_moved, at)
    changes = {
        "content": joiners.restored(envelope.content),
        "reasoning": joiners.restored(envelope.reasoning),
        "tool_calls": [_call(joiners, call, at) for call in envelope.tool_calls],
        "near_misses": [_near_miss(joiners, miss, at) for miss in envelope.near_misses],
        "repairs": [_repair(joiners, repair) for repair in envelope.repairs],
    }
    segments = [Segment(moved(start), moved(end), kind) for start, end, kind in envelope.segments]
    blocks = [_block(joiners, block) for block in envelope.blocks]
    return updated(envelope, changes).attach(without(envelope.source, places), segments, blocks)


def _moved(joiners_at: list[int], place: int) -> int:
    return place - bisect_left(joiners_at, place)


def _span(span: tuple[int, int], joiners_at: list[int]) -> tuple[int, int]:
    return _moved(joiners_at, span[0]), _moved(joiners_at, span[1])


def _call(joiners: Joiners, call: ToolCall, joiners_at: list[int] | None) -> ToolCall:
    changes = {
        "arguments": joiners.restored_value(call.arguments),
        "raw_arguments": joiners.restored(call.raw_arguments),
        "repairs": [_repair(joiners, repair) for repair in call.repairs],
    }
    if call.span is not None and joiners_at:
        changes["span"] = _span(call.span, joiners_at)
    return updated(call, changes)


def _near_miss(joiners: Joiners, miss: NearMiss, joiners_at: list[int]) -> NearMiss:
    return updated(miss, {"span": _span(miss.span, joiners_at), "reason": joiners.restored(miss.reason)})


def _repair(joiners: Joiners, repair: Repair) -> Repair:
    return updated(repair, {name: joiners.restored_value(getattr(repair, name)) for name in ("path", "before", "after")})


def _block(joiners: Joiners, block: Block) -> Block:
    if isinstance(block, TextBlock):
        return updated(block, {"text": joiners.restored(block.text)})
    if isinstance(block, ThinkingBlock) and not block.signature:
        return updated(block, {"thinking": joiners.restored(block.thinking)})
    if isinstance(block, ToolUseBlock):
        raw = joiners.restored(block.raw_input)
        return updated(block, {"input": joiners.restored_value(block.input), "raw_input": raw})
    return block
