"""`TextEngine`: one incremental pass over a reply's text, in any dialect.

The engine walks from one candidate to the next (`walk`). The readers that it calls there classify the text through a
`core.reading.Reading`.

Rules
- Everything before `done` is classified: `pieces` tile it. A reader decides only when it is certain. Until then it may decline at
  no cost.
- Reading a whole text is feeding all of it: there is no second path.
- Events are built only if `listening` (`core.delta_emitter`).
- The work is linear in the text, however it is cut. A failed look-ahead is charged (`core.backtrack_budget`), so many openers
  cannot make it quadratic.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, Final

from llmcore.normalizer.calls.call_messages import nested_calls
from llmcore.normalizer.core.draft import Draft
from llmcore.normalizer.core.driver import Nested
from llmcore.normalizer.core.pieces import Piece, joined_pieces
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.dialects import registry
from llmcore.normalizer.scanning.source import Skim, Steps
from llmcore.normalizer.text import opening
from llmcore.normalizer.text.walk import Walk
from llmcore.types.envelope import NearMiss, Repair, Segment, ToolCall
from llmcore.types.events import NormalizerEvent
from llmcore.types.limits import DEFAULT_LIMITS, Limits
from llmcore.types.tools import ToolSet

__all__ = ["TextEngine"]

_NESTING: Final = 3  # levels of wrappers that are read: each level reads its body once more
_NO_TOOLS: Final = ToolSet([])
_TIMES_LIMIT: Final = 64
"""`left_out` counts at most this many times `Limits.calls`."""


def _over(more: str) -> bool:
    """The skim that marks the end of the steps."""
    return False


def _ended() -> Steps[None]:
    yield from ()


_ENDED: Final = _ended()
_OVER: Final[Skim] = _over
_NEXT: Final = next
"""A constant, because compiled code loads one faster than a function or a builtin."""


class TextEngine:
    """Feed text, then finish. Afterwards `calls`, `content`, `reasoning`, ... have the result.

    - `tools`: None if the tools are unknown. If the set is empty, none were offered, and no text is a call.
    - `nested`: the number of fences and other wrappers around the text. In a nested text, bare forms are read, and no events are
      emitted.
    - `reads_whole`: read an undamaged call in one step (`text.whole`). It does not change the result.
    - `taught`: the dialect that the prompt taught, which counts in any frame.
    - `own`: the model's own dialects; None if all are its own.
    """

    # Initial values. They are class attributes because __init__ runs once a reply.
    truncated = False
    content = ""
    reasoning = ""
    _is_running = True
    _seeks_in_reasoning = True
    """Whether calls in reasoning are noted."""
    _skim: Skim | None = None
    """The function that the waiting reader left to check new text before the reader is resumed."""

    def __init__(
        self,
        tools: ToolSet | None,
        *,
        dialects: Collection[str] | None = None,
        reasoning_open: bool = False,
        forced_tool: str | None = None,
        limits: Limits = DEFAULT_LIMITS,
        listening: bool = True,
        nested: int = 0,
        reads_whole: bool = True,
        enveloped: bool = False,
        taught: str | None = None,
        own: frozenset[str] | None = None,
        on_trial: bool = False,
    ) -> None:
        self._dialects = None if dialects is None else frozenset(dialects)
        self._taught = taught
        self._table, self._limits = registry.marker_table(dialects), limits
        self._reading = Reading(
            self, tools, limits=limits, listening=listening, nested=nested, forced_tool=forced_tool, on_trial=on_trial
        )
        if enveloped:
            self._reading.asked_for_envelope()
        self._reading.set_own_dialects(own)
        self._reading.set_counted(*registry.counted_in_frames(self._dialects, taught))
        self._emitter = self._reading.emitter  # a staged reading has none
        self._walk = Walk(self._reading, self._table, self._dialects, reads_whole=reads_whole)
        self._room = limits.text
        self._overflow: list[str] = []
        self._reasoning_open = reasoning_open
        self._steps = self._run(reasoning_open)
        self.calls: list[ToolCall] = []

    # ------------------------------------------------------------------ text in

    def feed(self, text: str) -> list[NormalizerEvent]:
        """Add text. Returns the events that it decides; none if not `listening`."""
        reading = self._reading
        src = reading.src
        self._room -= len(text)
        if self._room < 0:
            text = self._within_limit(text)
        # One reference only: CPython then appends in place, in amortised O(len(text)). So no reader keeps a name for the text
        # over a `yield`.
        grown, src.text = src.text, ""
        grown += text
        src.text = grown
        del grown
        emitter = self._emitter
        if emitter is None:  # no events are needed: `finish` reads all of it at once
            return []
        if self._is_running and (self._skim is None or not self._skim(text)):
            self._resume()
        return emitter.drain() if emitter.events else []

    def finish(self, finish_reason: str | None = None) -> list[NormalizerEvent]:
        """End the text. Returns the last events. `finish_reason` is an envelope's: "length" if the provider says that it cut
        the text."""
        reading = self._reading
        reading.end_reached(by_length=finish_reason == "length")
        if self._is_running:
            self._resume()
        self._close()
        return self._emitter.drain() if self._emitter is not None else []

    def read(self, text: str, finish_reason: str | None = None) -> TextEngine:
        """Read the whole text at once: `feed` and `finish` in one step. Returns self."""
        self._reading.src.text = text if len(text) <= self._limits.text else self._within_limit(text)
        self.finish(finish_reason)
        return self

    def withheld_text(self, start: int) -> str:
        """The text that was fed and not emitted, from its character `start` on. "" if not `listening`."""
        return "" if self._emitter is None else self._emitter.unemitted(start)

    # ------------------------------------------------------------------ what it says

    @property
    def limits(self) -> Limits:
        return self._limits

    @property
    def source(self) -> str:
        text = self._reading.src.text
        return text + "".join(self._overflow) if self._overflow else text

    @property
    def pieces(self) -> list[Piece]:
        return self._reading.pieces

    @property
    def near_misses(self) -> list[NearMiss]:
        return self._reading.near_misses

    @property
    def repairs(self) -> list[Repair]:
        return self._reading.repairs

    @property
    def needs_more_work(self) -> bool | None:
        return self._reading.needs_more_work

    @property
    def reasoning_is_over(self) -> bool:
        """Whether reasoning was closed. If so, another closer closes nothing."""
        return self._reading.reasoning_closed

    @property
    def begun(self) -> int:
        """The number of calls whose start was emitted, including withdrawn ones."""
        return self._reading.begun

    def segments(self) -> list[Segment]:
        return [Segment(*piece) for piece in self.pieces]

    def replacing(self, start: int, end: int) -> list[str]:
        """The replacement texts of all stretches within `start:end`."""
        return self._reading.replacing(start, end)

    def left_out(self) -> list[ToolCall]:
        """The calls beyond `Limits.calls`; up to 64 times the limit are counted.

        It reads the text once more with a higher limit, because where the first reading stops depends on the form of the
        calls.
        """
        reading, limits = self._reading, self._limits
        if reading.nested or len(self.calls) < limits.calls:
            return []
        again = TextEngine(
            reading.tools,
            dialects=self._dialects,
            reasoning_open=self._reasoning_open,
            forced_tool=reading.forced_tool,
            limits=replace(limits, calls=_TIMES_LIMIT * limits.calls),
            listening=False,
            enveloped=reading.enveloped,
            taught=self._taught,
        ).read(reading.src.text, "length" if reading.ended_by_length else None)
        return again.calls[limits.calls :]

    # ------------------------------------------------------------------ what its reading asks for (`Driver`)

    def has_marker(self, at: int) -> bool | None:
        return self._walk.has_marker(at)

    def marker(self, at: int) -> Steps[bool]:
        return self._walk.marker(at)

    def is_unshared(self, opener: str) -> bool:
        return opener in self._table.unshared

    def is_bare(self, dialect: str) -> bool:
        return registry.is_bare(dialect)

    def nest(self, text: str, *, on_trial: bool = False, by_length: bool = False) -> tuple[Nested, int]:
        """Read a text within the text. Wrappers deeper than `_NESTING` hold no calls."""
        level = self._reading.nested
        tools = self._reading.tools if level < _NESTING else _NO_TOOLS
        enveloped = self._reading.enveloped
        inner = TextEngine(
            tools,
            dialects=self._dialects,
            limits=self._limits,
            listening=False,
            nested=level + 1,
            on_trial=on_trial,
            enveloped=enveloped,
            taught=self._taught,
        )
        if self._reading.answers:
            inner._reading.frame()
        inner.read(text, "length" if by_length else None)
        return inner._reading.nested_result(inner.content), inner._reading.backtrack_budget.total

    def calls_in(self, arguments: dict[str, Any]) -> tuple[list[Draft], str]:
        return nested_calls(arguments, self._reading.tools, self._limits)

    # ------------------------------------------------------------------ inside

    def _resume(self) -> None:
        self._skim = _NEXT(self._steps, _OVER)
        self._is_running = self._skim is not _OVER

    def _run(self, reasoning_open: bool) -> Steps[None]:
        reading = self._reading
        if reasoning_open:
            yield from opening.open_reasoning(reading)
        elif not reading.src.text or reading.src.text[0] in opening.FIRST:
            yield from opening.opening(reading)
        yield from self._walk.run()

    def _within_limit(self, text: str) -> str:
        """The part of `text` that `Limits.text` allows. The rest is content, and no call is sought in it."""
        room = max(0, self._limits.text - len(self._reading.src.text))
        self._room = 0
        self._overflow.append(text[room:])
        self._skim = None
        return text[:room]

    def _note_calls_in_reasoning(self) -> None:
        """Note the calls in reasoning as near misses, if the reply is only closed reasoning: one may be meant."""
        reading = self._reading
        if reading.nested or reading.drafts or not reading.frames_call or reading.has_content():
            return
        for start, end, kind in reading.pieces:
            if kind != "reasoning":
                continue
            inner = TextEngine(reading.tools, dialects=self._dialects, limits=self._limits, listening=False, taught=self._taught)
            inner._seeks_in_reasoning = False  # frames may nest without end
            for call in inner.read(reading.src.text[start:end]).calls:
                if call.complete and call.span is not None:
                    reading.note(start + call.span[0], start + call.span[1], call.name, "in_reasoning")

    def _close(self) -> None:
        reading = self._reading
        if len(reading.pieces) > 1 and self._seeks_in_reasoning:
            self._note_calls_in_reasoning()
        if self._overflow:
            reading.overflowed(sum(map(len, self._overflow)))
        drafts, text = reading.drafts, self.source
        self.calls = [reading.call(draft, draft.id) for draft in drafts]
        self.truncated = reading.cut or (bool(drafts) and not all(draft.complete for draft in drafts))
        if len(reading.pieces) == 1 and not reading.replaced:  # most replies have one piece
            kind = reading.pieces[0][2]
            self.content = text if kind == "content" else ""
            self.reasoning = text if kind == "reasoning" else ""
        else:
            pieces = reading.final_pieces(text)
            self.content = joined_pieces(pieces, "content", text, reading.replaced)
            self.reasoning = joined_pieces(pieces, "reasoning", text, reading.replaced)
        if reading.emitter is not None:
            ends_in_content = bool(reading.pieces) and reading.pieces[-1][2] == "content"
            reading.emitter.end_text("".join(self._overflow), ends_in_content=ends_in_content)
        # Drop references to the engine, so that no reference cycle remains.
        self._steps = _ENDED
        reading.release_driver()
