"""`NativeReply`: reads the bodies and events of a native reply and returns one envelope.

The first body of a known wire selects the reader. Later bodies that this reader does not know are ignored. If no body is of a
known wire, all of them become the content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import chain
from typing import Any

from llmcore.normalizer.native.calls import NativeCall
from llmcore.normalizer.native.finish import finish_reason_of
from llmcore.normalizer.native.shape import as_dict, as_list, json_text, text_or_empty
from llmcore.normalizer.native.turn import NativeTurn, Thinking
from llmcore.normalizer.native.wire_pieces import (
    CallArguments,
    CallEnd,
    CallStart,
    Data,
    FailedGeneration,
    FinishWord,
    Opaque,
    Piece,
    Reader,
    Reasoning,
    Redacted,
    RefusalPiece,
    Text,
)
from llmcore.normalizer.native.wires import FAILED_GENERATION, bodies_of_list, wire_named, wire_of
from llmcore.normalizer.replies.call_events import CallEvents
from llmcore.normalizer.replies.envelopes import Additions, assembled, envelope_of_text
from llmcore.normalizer.replies.left_out import CALLS_LIMIT, left_out
from llmcore.normalizer.replies.merging import MergedReply, merge, numbered
from llmcore.normalizer.replies.native_calls import Dropped, Readings, Terms, calls_of_pieces, decided_call
from llmcore.normalizer.replies.settings import Settings
from llmcore.normalizer.replies.turn_blocks import blocks_of_turn
from llmcore.normalizer.text.engine import TextEngine
from llmcore.support.values.narrowing import text_of
from llmcore.types.envelope import Envelope, FinishReason, NearMiss, Repair, Segment, ToolCall, tool_use
from llmcore.types.events import (
    ArgumentsDelta,
    NormalizerEvent,
    ReasoningDelta,
    Reclassified,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)
from llmcore.types.finish_reasons import is_no_end
from llmcore.types.messages import Block, TextBlock

__all__ = ["NativeReply"]

_ENDED_BY_ITSELF: tuple[FinishReason, ...] = ("stop", "tool_calls")
_REASONING_CLOSES = frozenset({"anthropic", "bedrock-converse", "gemini", "openai-responses"})
"""Wires that mark the end of reasoning."""
_IN_REASONING = "in_reasoning"
_CALL_EVENTS = (ToolCallStarted, ArgumentsDelta, ToolCallFinished)


class NativeReply:
    """Reads one reply. `text` is the engine that read the text before the first body, if any."""

    def __init__(self, settings: Settings, text: TextEngine | None = None) -> None:
        self._settings = settings
        self._call_events = CallEvents(0 if text is None else text.begun)
        self._listening = settings.listening
        self._turn = NativeTurn()
        self._text = text
        self._length = 0 if text is None else len(text.source)
        if self._length:
            self._turn.add_text(0, self._length)
        self._reader: Reader | None = None
        self._wire = ""
        self._unread: list[object] = []
        self._events: list[NormalizerEvent] = []
        self._as_text: list[Repair] = []
        self._decided = 0  # number of calls, from the first one on, that are decided

    # ------------------------------------------------------------------ bodies

    def feed(self, part: object, wire: str | None = None) -> list[NormalizerEvent]:
        """Read a body, a part of one, a stream event, or a list of these. `wire` is its name if the caller knows it."""
        bodies = _bodies_of(part)
        if not bodies:
            self._unread.append(part)
        for body in bodies:
            self._read(body, wire)
        return self._drain()

    def feed_text(self, text: str) -> list[NormalizerEvent]:
        self.on_text(Text(text))
        return self._drain()

    @property
    def source(self) -> str:
        return "" if self._text is None else self._text.source

    def withheld_text(self, start: int) -> str:
        """The text that was fed and not emitted, from its character `start` on."""
        return "" if self._text is None else self._text.withheld_text(start)

    def _read(self, body: dict[str, Any], wire: str | None) -> None:
        reader = self._reader_of(body, wire)
        if reader is None:
            self._unread.append(body)
            return
        self._take(reader.read(body))
        if "error" in body and self._turn.finish_word is None and (error := as_dict(body["error"])):
            self._turn.add_finish(FinishWord(text_or_empty(error.get("type")) or "error", "error"))

    def _reader_of(self, body: dict[str, Any], wire: str | None) -> Reader | None:
        if "error" in body and FAILED_GENERATION.is_body(body):
            self._wire = self._wire or FAILED_GENERATION.name
            return FAILED_GENERATION.reader()
        if self._reader is None and (row := wire_named(wire) or wire_of(body)):
            self._reader, self._wire = row.reader(), row.name
        return self._reader

    def _take(self, pieces: Iterable[Piece]) -> None:
        for piece in pieces:
            _HANDLERS[type(piece)](self, piece)

    def _drain(self) -> list[NormalizerEvent]:
        events, self._events = self._events, []
        return events

    # ------------------------------------------------------------------ pieces

    def on_text(self, piece: Text) -> None:
        if piece.text:
            start = self._length
            self._say(piece.text)
            self._turn.add_text(start, self._length, begins=piece.begins)

    def on_data(self, piece: Data) -> None:
        text = json_text(piece.value)
        if len(self._as_text) < self._settings.limits.repairs:
            self._as_text.append(Repair(kind="content_as_text", before=piece.value, after=text))
        self.on_text(Text(text))

    def _say(self, text: str) -> None:
        text = text_of(text)  # it may be of a subclass of str
        if self._text is None:
            reasons_natively = any(isinstance(part, Thinking) for part in self._turn.parts)
            self._text = self._settings.engine(reasoning_open=False if reasons_natively else None)
        self._length += len(text)
        events = self._text.feed(text)
        if events:
            self._events += self._call_events.renumber(events)

    def on_refusal(self, piece: RefusalPiece) -> None:
        if piece.text:
            start = self._length
            self._say(piece.text)
            self._turn.add_text(start, self._length, refusal=True)

    def on_failed_generation(self, piece: FailedGeneration) -> None:
        """Add the text that a stream has not already sent as content."""
        text = self._text.source if self._text is not None else ""
        self.on_text(Text(piece.text.removeprefix(text)))

    def on_reasoning(self, piece: Reasoning) -> None:
        self._turn.add_reasoning(piece)
        if piece.text and self._listening:
            self._events.append(ReasoningDelta(piece.text))

    def on_redacted(self, piece: Redacted) -> None:
        self._turn.parts.append(piece)

    def on_opaque(self, piece: Opaque) -> None:
        self._turn.add_opaque(piece)

    def on_finish_word(self, piece: FinishWord) -> None:
        self._turn.add_finish(piece)

    def on_call_start(self, piece: CallStart) -> None:
        call, is_new = self._turn.calls.start(piece)
        self._began(call, is_new)

    def on_call_arguments(self, piece: CallArguments) -> None:
        call, is_new = self._turn.calls.arguments(piece.key, piece.value)
        self._began(call, is_new)
        if self._listening:
            self._events += self._call_events.arguments(call, piece.value)

    def _began(self, call: NativeCall, is_new: bool) -> None:
        if is_new:
            self._turn.parts.append(call)
        if self._listening and call.index < 0:
            self._events += self._call_events.started(call)

    def on_call_end(self, piece: CallEnd) -> None:
        if piece.cut:
            self._turn.calls.cut(piece.key)
            return
        call = self._turn.calls.end(piece.key)
        if call is None or not self._listening or call.index < 0:
            return
        if not call.id and call.position != self._decided:
            return  # its number depends on the calls before it
        call.read = decided_call(call, self._settings.tools, self._settings.limits)
        if call.read:
            self._events += self._call_events.finished(call, call.read)
            calls = self._turn.calls.calls
            while self._decided < len(calls) and calls[self._decided].read:
                self._decided += 1

    # ------------------------------------------------------------------ the end

    def finish(self, given: str | None) -> tuple[Envelope, list[NormalizerEvent]]:
        """End the reply. `given` is the caller's finish reason. Returns the envelope and the last events."""
        turn = self._turn
        if self._reader is not None:
            self._take(self._reader.finish())
        elif self._unread and not turn.parts and turn.finish_word is None:
            return self._unread_envelope(given), self._drain()
        if given is not None:
            turn.add_finish(FinishWord(given, finish_reason_of(given, False)))
        if turn.is_refusal and turn.finish_reason == "stop":
            turn.finish_reason = "content_filter"
        if self._text is not None:
            self._events += self._call_events.renumber(self._text.finish(turn.finish_reason))
        readings = self._read_calls()
        native = readings.calls
        reread, missed = (None, list[NearMiss]()) if native else self._reread_reasoning()
        text = reread or self._text or _no_text()
        merged = merge(native, text, self._settings.limits)
        self._events += [Reclassified(*tile) for tile in merged.reclassified]
        merged.near_misses = [*merged.near_misses, *missed[: self._settings.limits.near_misses]]
        envelope = self._envelope(readings, merged, text, reread is not None)
        return envelope, self._drain()

    def _unread_envelope(self, word: str | None) -> Envelope:
        """The envelope of bodies of no known wire: their JSON text, which may be this library's envelope or a call."""
        written = "".join(map(json_text, self._unread))
        text = self._settings.engine(reasoning_open=False)
        events = [*text.feed(written), *text.finish()]
        if text.calls or text.needs_more_work is not None:
            self._events += self._call_events.renumber(events)
            return envelope_of_text(text, word)
        if self._listening:
            self._events.append(TextDelta(written))
        envelope = Envelope(content=written, finish_reason=finish_reason_of(word, False), finish_word=word)
        return envelope.attach(written, [Segment(0, len(written), "content")], [TextBlock(text=written)])

    def _read_calls(self) -> Readings:
        turn, settings = self._turn, self._settings
        word, reason = turn.finish_word, turn.finish_reason
        by_itself = reason in _ENDED_BY_ITSELF or (word is not None and reason is None and not is_no_end(word))
        terms = Terms(settings.tools, settings.limits, by_itself, reason == "length")
        readings = calls_of_pieces(turn.calls.calls, terms, turn.last_call)
        for call, found in readings.found:
            if self._listening and call.read is None:
                self._events += self._call_events.finished(call, found)
        return readings

    def _reread_reasoning(self) -> tuple[TextEngine | None, list[NearMiss]]:
        """Read the reasoning as text if the reply has nothing else, because a call may stand in it.

        Returns the engine if the reasoning never closed and has a call, else None with near misses of calls in closed
        reasoning.
        """
        reasoning, closed = self._turn.reasoning, self._wire in _REASONING_CLOSES or self._turn.reasoning_is_closed
        if not reasoning or (self._text is not None and self._text.source.strip()):
            return None, []
        engine = self._settings.engine(reasoning_open=not closed)
        events = [*engine.feed(reasoning), *engine.finish(self._turn.finish_reason)]
        if closed or not engine.calls:
            names = [call.name for call in engine.calls if call.complete]
            names += [miss.name or "" for miss in engine.near_misses if miss.reason == _IN_REASONING]
            at = (self._length, self._length)
            return None, [NearMiss(span=at, name=name or None, reason=_IN_REASONING) for name in names]
        spans = sorted({call.span for call in engine.calls if call.span})
        if self._listening:
            self._events += [Reclassified(start, end, "call") for start, end in spans]
            self._events += self._call_events.renumber([event for event in events if isinstance(event, _CALL_EVENTS)])
        return engine, []

    def _envelope(self, readings: Readings, merged: MergedReply, text: TextEngine, reread: bool) -> Envelope:
        turn, limits, end = self._turn, self._settings.limits, self._length
        native = readings.calls
        in_text = numbered(merged.calls, len(native))
        calls = [*native, *in_text]
        segments = partial(_segments, merged)
        blocks = partial(_blocks, turn, readings, text.source, segments, in_text, self._wire, reread)
        reason = "tool_calls" if turn.finish_reason == "stop" and calls else turn.finish_reason
        misses = [
            NearMiss(span=(end, end), name=dropped.call.name or None, reason=dropped.reason)
            for dropped in readings.dropped[: limits.near_misses]
        ]
        nameless = [_repair(dropped) for dropped in readings.dropped if dropped.reason != CALLS_LIMIT]
        over = [*chain.from_iterable(dropped.calls for dropped in readings.dropped), *merged.left_out, *text.left_out()]
        additions = Additions(
            merged.content,
            text.reasoning if reread else turn.reasoning + text.reasoning,
            text.truncated or any(not call.complete for call in native),
            merged.near_misses + misses,
            [*self._as_text, *text.repairs, *merged.repairs, *nameless[: limits.repairs], *left_out(over, limits)],
        )
        return assembled(text, calls, turn.finish_word, reason, segments, blocks, additions)


_HANDLERS: dict[type[Piece], Callable[[NativeReply, Any], None]] = {
    Text: NativeReply.on_text,
    Data: NativeReply.on_data,
    RefusalPiece: NativeReply.on_refusal,
    Reasoning: NativeReply.on_reasoning,
    Redacted: NativeReply.on_redacted,
    CallStart: NativeReply.on_call_start,
    CallArguments: NativeReply.on_call_arguments,
    CallEnd: NativeReply.on_call_end,
    Opaque: NativeReply.on_opaque,
    FinishWord: NativeReply.on_finish_word,
    FailedGeneration: NativeReply.on_failed_generation,
}


@cache
def _no_text() -> TextEngine:
    """The shared result of a reply without text. It never changes."""
    return TextEngine(None, listening=False).read("")


def _bodies_of(part: object) -> list[dict[str, Any]]:
    items = as_list(part)
    if items:
        return bodies_of_list(items)
    body = as_dict(part)
    return [body] if body or isinstance(part, dict) else []


def _repair(dropped: Dropped) -> Repair:
    """The record of a call that cannot run."""
    call = dropped.call
    fields = {"id": call.id, "name": call.name, "arguments": call.text or json_text(call.given)}
    return Repair(kind=dropped.reason, before=fields, safety="guess")


def _segments(merged: MergedReply) -> list[Segment]:
    return [Segment(*tile) for tile in merged.tiles]


def _blocks(
    turn: NativeTurn,
    readings: Readings,
    source: str,
    segments: Callable[[], list[Segment]],
    in_text: list[ToolCall],
    provider: str,
    reread: bool,
) -> list[Block]:
    native = {id(call): found for call, found in readings.found}
    if reread:  # signed reasoning must be sent back unchanged, so its calls follow it
        return [*blocks_of_turn(turn.parts, native, "", [], [], provider), *map(tool_use, in_text)]
    return blocks_of_turn(turn.parts, native, source, segments(), in_text, provider)
