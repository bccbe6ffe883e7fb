"""`AppendOnlyStream`: the events of a stream for wires that cannot take anything back.

A `Normalizer` may emit a call before the reply ends and withdraw it later, or emit text that turns out to be reasoning
(`Reclassified`). OpenAI's, Anthropic's and all other wires have no event for that. So here calls are handed out whole, at the end
of the reply. Text and reasoning are live, except text that may still become a call. The emitted events do not depend on how the
reply was cut into chunks, if adjacent deltas of one type are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable
from typing import Any

from llmcore.api import Normalizer
from llmcore.types import (
    DEFAULT_LIMITS,
    Envelope,
    Limits,
    NormalizerEvent,
    ReasoningDelta,
    Reclassified,
    TextDelta,
    ToolCall,
    ToolCallFinished,
    ToolSet,
)
from llmcore.types.requests import TextCalls
from llmcore.wire.item_bounds import ItemBounds
from llmcore.wire.offering import Offered, cut_off_at, offered, restored_spans, withheld_call

__all__ = ["AppendOnlyStream"]

_Span = tuple[int, int]
_TextEvent = TextDelta | ReasoningDelta


class AppendOnlyStream:
    """Reads a stream as `llmcore.Normalizer` does, and never takes anything back.

        stream = AppendOnlyStream(tools)
        for chunk in chunks:
            for event in stream.feed(chunk): ...      # TextDelta and ReasoningDelta
        for event in stream.finish("stop"): ...       # the rest of the text
        stream.offered.calls                          # the calls, whole

    The parameters are those of `llmcore.Normalizer`. The text of a call that is not offered is content. It is emitted at its
    place if the end of the call decides that, else at the end of the reply. If a wrapper holds calls of both kinds, its text is
    not emitted.

    `reclassified_reasoning`: text that was emitted as content and turned out to be reasoning, because a closer (`</think>`)
    without an opener came later; else "". If you know that the prompt opened the reasoning, give `reasoning_open=True`.
    """

    def __init__(
        self,
        tools: ToolSet | Iterable[object] | None = None,
        *,
        dialects: Collection[str] | None = None,
        reasoning_open: bool = False,
        forced_tool: str | None = None,
        text_calls: TextCalls = "standard",
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self._normalizer = Normalizer(
            tools,
            dialects=dialects,
            reasoning_open=reasoning_open,
            forced_tool=forced_tool,
            text_calls=text_calls,
            limits=limits,
        )
        self.reclassified_reasoning = ""
        self._offered: Offered | None = None
        self._pending: list[ToolCall] = []
        """Calls that are not offered, all of one span, whose text is emitted if no other call of the span is offered."""
        self._kept: _Span | None = None
        """The span of the last call that may be offered."""
        self._restored: set[_Span] = set()
        self._end = 0
        """Where the last text that was emitted by its position ended."""
        self._follows_restored = False
        """Whether the last text was restored. The normaliser treats the white space around it as that around a call."""
        self._has_text = False
        self._deferred: list[str] = []
        self._deferred_key: Hashable = None
        self._deferred_part: Callable[[str], object] = str
        self._bounds: ItemBounds | None = None
        """The bounds of items that the emitted text has not passed."""
        self._ends_line = False
        """Whether an item has ended, and no text has come since."""

    def feed(self, part: object) -> list[_TextEvent]:
        """Read a part of the reply, as `Normalizer.feed` does. Returns the text and the reasoning that it decides."""
        if self._deferred:
            self._feed_deferred()
        events: list[Any] = self._normalizer.feed(part) if not self._ends_line else self._feed_on_new_line(part)
        if not events or (len(events) == 1 and type(events[0]) is TextDelta and self._has_text and not self._is_restoring):
            return events
        return self._emitted(events, is_native=self._bounds is not None and not isinstance(part, str))

    def next_item(self) -> list[Any]:
        """End an item of the text, and its line. Text that is fed from now on stands in another item.

        From now on, a `NextItem` stands among the events where the text of another item begins. The returned events have it if
        all text of the ended item is decided.
        """
        source = self._normalizer.source
        self._ends_line = bool(source)
        if self._bounds is not None and self._bounds.is_blocked:
            self._bounds.add(len(source))
            return []
        withheld = self._normalizer.withheld_text()
        self._bounds = self._bounds or ItemBounds(len(source) - len(withheld))
        if withheld.strip() or self._pending:
            self._bounds.add(len(source))
            return []
        start = len(source) - len(withheld) if source.endswith(withheld) else len(source)
        if self._follows_restored and not source[self._end :].strip():
            start = self._end
        self._end, self._follows_restored = len(source), False
        return [*self._bounds.add_passed(source, start)]

    def _feed_on_new_line(self, part: object) -> list[Any]:
        if not isinstance(part, str) or not part:
            return self._normalizer.feed(part)
        self._ends_line = False
        source, events = self._normalizer.source, list[Any]()
        if not source.endswith("\n"):
            events += self._normalizer.feed("\n")
            if self._bounds:
                self._bounds.line_ended(len(source))
        return [*events, *self._normalizer.feed(part)]

    def defer(self, key: Hashable, text: str, part: Callable[[str], object]) -> None:
        """Read a piece of reasoning or of a native call, whose events you do not need.

        Pieces with one `key` are joined until something else is read. `part(text)` makes the part of the joined text. That takes
        a fraction of the time of reading each piece.
        """
        if key != self._deferred_key:
            self._feed_deferred()
            self._deferred_key, self._deferred_part = key, part
        self._deferred.append(text)

    def _feed_deferred(self) -> None:
        texts, self._deferred, self._deferred_key = self._deferred, [], None
        if texts:
            self._normalizer.feed(self._deferred_part("".join(texts)))

    def finish(self, finish_reason: str | None = None, *, cut: bool = False) -> list[_TextEvent]:
        """End the reply. `finish_reason`: the provider's word, if no part had it. `cut`: the stream ended before the reply did.

        Returns the rest of the text. A second call returns nothing.
        """
        if self._offered is not None:
            return []
        self._feed_deferred()
        events = self._emitted(self._normalizer.finish(finish_reason))
        events += self._restored_calls()
        envelope = self._normalizer.envelope
        self._offered = result = offered(envelope, cut=cut)
        if any(call.span in self._restored for call in result.calls):  # its text was emitted: it is content now
            result.calls[:] = [call for call in result.calls if call.span not in self._restored]
        source = envelope.source
        for span in restored_spans(result.calls, result.withheld):
            if span not in self._restored and source[: span[1]] == self._normalizer.source[: span[1]]:
                events += self._restore(span)
        if (begun := cut_off_at(envelope)) >= 0:
            return [*events, *self._restore((begun, len(source)))]
        rest = self._normalizer.source[self._end :] if self._follows_restored else ""
        return [*events, *self._placed(TextDelta(rest))] if rest.isspace() else events

    @property
    def envelope(self) -> Envelope:
        """The envelope of the reply. Raises `CallerError` before `finish`."""
        return self._normalizer.envelope

    @property
    def offered(self) -> Offered:
        """The calls that may be handed out, and the withheld ones. Raises `CallerError` before `finish`."""
        return self._offered if self._offered is not None else offered(self._normalizer.envelope)

    @property
    def _is_restoring(self) -> bool:
        return self._follows_restored or bool(self._pending) or self._bounds is not None

    def _emitted(self, events: list[NormalizerEvent], *, is_native: bool = False) -> list[_TextEvent]:
        """The text events of these ones. `is_native`: their reasoning is not of the text."""
        result: list[_TextEvent] = []
        for event in events:
            if isinstance(event, TextDelta):
                result += self._restored_calls()
                result += self._text(event.text)
            elif isinstance(event, ReasoningDelta):
                result += self._restored_calls()
                result += [event] if is_native else self._placed(event)
            elif isinstance(event, ToolCallFinished):
                result += self._finished_call(event.call)
            elif isinstance(event, Reclassified):
                result += self._reclassified(event)
        return result

    def _text(self, text: str) -> list[_TextEvent]:
        if self._follows_restored:
            rest = self._normalizer.source[self._end :]
            text = rest[: len(rest) - len(rest.lstrip())] + text.lstrip()
        self._has_text, self._follows_restored = True, False
        return self._placed(TextDelta(text)) if text else []

    def _placed(self, event: _TextEvent) -> list[Any]:
        """The event, with a `NextItem` where an item begins."""
        if self._bounds is None:
            return [event]
        events = [*self._bounds.place(self._normalizer.source, event)]
        self._bounds = self._bounds or None
        return events

    def _finished_call(self, call: ToolCall) -> list[_TextEvent]:
        if call.span is None:
            return []
        if self._bounds is not None:
            self._bounds.skip(call.span[1])
        result = self._restored_calls() if self._pending and self._pending[0].span != call.span else []
        if withheld_call(call, None) is None:
            self._kept = call.span
            self._pending.clear()
        elif call.span != self._kept:
            self._pending.append(call)
        return result

    def _restored_calls(self) -> list[_TextEvent]:
        if not self._pending:
            return []
        span = self._pending[0].span
        self._pending.clear()
        return [] if span is None else self._restore(span)

    def _restore(self, span: _Span) -> list[_TextEvent]:
        """The text of a span, with the white space before it."""
        start, end = span
        self._restored.add(span)
        source, at = self._normalizer.source, start
        while at > self._end and self._has_text and source[at - 1].isspace():
            at -= 1
        self._end, self._has_text, self._follows_restored = end, True, True
        return [TextDelta(source[at:end])] if self._bounds is None else [*self._bounds.split(source, at, end)]  # type: ignore[list-item]

    def _reclassified(self, event: Reclassified) -> list[_TextEvent]:
        if event.kind == "reasoning":
            self.reclassified_reasoning += self._normalizer.source[event.start : event.end]
        elif event.kind == "content":
            return self._restore((event.start, event.end))
        return []
