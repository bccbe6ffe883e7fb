"""The text engine: one incremental pass over a reply's text, whatever dialect it is written in.

The engine walks from one candidate to the next (`walk`), and the readers that it asks there classify the text (`core.reading` is
what they are given).

Rules
- Everything before `done` is classified: `pieces` tile it. A reader decides only when it is certain; until then it may decline
  at no cost.
- One-shot reading is feeding all of it: there is no second path.
- Events are built only when somebody listens (`core.delta_emitter`).
- Complexity: linear in the text for any chunking. A candidate that fails costs its look-ahead once, and failed look-aheads
  are paid for (`core.backtrack_budget`), so that a flood of openers cannot make it quadratic.
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

_NESTING: Final = 3  # wrappers within wrappers that are read: each level reads its body once more
_NO_TOOLS: Final = ToolSet([])
_TIMES_LIMIT: Final = 64
"""So many times `Limits.calls` are counted of a text that holds more than it allows."""


def _over(more: str) -> bool:
    """What the steps end with."""
    return False


def _ended() -> Steps[None]:
    yield from ()


_ENDED: Final = _ended()
_OVER: Final[Skim] = _over
_NEXT: Final = next
"""Compiled code finds a constant sooner than a function or a builtin."""


class TextEngine:
    """Feed text, then finish; afterwards `calls`, `content`, `reasoning`, ... hold what was read.

    `tools`: None = not told which; an empty set = none were offered, so no text is ever a call. `nested`: how many
    fences or other wrappers the text is the body of; bare rules hold there and nothing is emitted. `reads_whole`: is a call that
    is all there read in one step (`text.whole`)? What is read does not depend on it. `taught`: the dialect that the prompt
    taught, which counts in any frame. `own`: the model's own dialects; None = all.
    """

    # What nothing has been read of yet says; here and not in __init__, which runs once a reply.
    truncated = False
    content = ""
    reasoning = ""
    _is_running = True
    _skim: Skim | None = None
    """What the reader that waits leaves for text that it need not look at yet."""

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
        self._reading.writes(own)
        self._reading.counts(*registry.counted_in_frames(self._dialects, taught))
        self._teller = self._reading.teller  # the reading has none while it reads what may turn out to be only shown
        self._walk = Walk(self._reading, self._table, self._dialects, reads_whole=reads_whole)
        self._room = limits.text
        self._overflow: list[str] = []
        self._reasoning_open = reasoning_open
        self._steps = self._run(reasoning_open)
        self.calls: list[ToolCall] = []

    # ------------------------------------------------------------------ text in

    def feed(self, text: str) -> list[NormalizerEvent]:
        """More text. Returns the events it settles (none when not listening)."""
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
        teller = self._teller
        if teller is None:  # nobody waits for anything: all of it is read at the end, in one go
            return []
        if self._is_running and (self._skim is None or not self._skim(text)):
            self._resume()
        return teller.drain() if teller.events else []

    def finish(self, finish_reason: str | None = None) -> list[NormalizerEvent]:
        """The text is whole. `finish_reason`: ours (`length` = the provider says that it was cut)."""
        reading = self._reading
        reading.end_reached(by_length=finish_reason == "length")
        if self._is_running:
            self._resume()
        self._close()
        return self._teller.drain() if self._teller is not None else []

    def read(self, text: str, finish_reason: str | None = None) -> TextEngine:
        """The whole text at once: `feed` and `finish` in one resumption. Returns self."""
        self._reading.src.text = text if len(text) <= self._limits.text else self._within_limit(text)
        self.finish(finish_reason)
        return self

    def withheld_text(self, start: int) -> str:
        """The text that came and was not told, from its character `start` on; nothing when nobody listens."""
        return "" if self._teller is None else self._teller.untold(start)

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
        """Was reasoning closed, so that another closer closes nothing?"""
        return self._reading.reasoning_closed

    @property
    def begun(self) -> int:
        """How many calls a listener was told of, withdrawn ones too."""
        return self._reading.begun

    def segments(self) -> list[Segment]:
        return [Segment(*piece) for piece in self.pieces]

    def replacing(self, start: int, end: int) -> list[str]:
        """What stretches within `start:end` read as."""
        return self._reading.replacing(start, end)

    def left_out(self) -> list[ToolCall]:
        """The calls that the text holds beyond `Limits.calls`, by reading it once more with room for them: where the first
        reading stops looking depends on the form of the calls. Up to 64 times the limit are counted."""
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

    def stands(self, at: int) -> bool | None:
        return self._walk.stands(at)

    def marker(self, at: int) -> Steps[bool]:
        return self._walk.marker(at)

    def is_unshared(self, opener: str) -> bool:
        return opener in self._table.unshared

    def is_bare(self, dialect: str) -> bool:
        return registry.is_bare(dialect)

    def nest(self, text: str, *, on_trial: bool = False) -> tuple[Nested, int]:
        """Wrappers deeper than `_NESTING` hold no calls."""
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
        inner.read(text)
        return inner._reading.nested_result(inner.content), inner._reading.looks.total

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
        """The part of more text that the limit has room for; the rest is content, unsearched."""
        room = max(0, self._limits.text - len(self._reading.src.text))
        self._room = 0
        self._overflow.append(text[room:])
        self._skim = None
        return text[:room]

    def _note_calls_in_reasoning(self) -> None:
        """Where a reply is nothing but closed reasoning, a call in it may be meant: it is a near miss."""
        reading = self._reading
        if reading.nested or reading.drafts or not reading.frames_call or reading.says_anything():
            return
        for start, end, kind in reading.pieces:
            if kind != "reasoning":
                continue
            calls = TextEngine(
                reading.tools, dialects=self._dialects, limits=self._limits, listening=False, taught=self._taught
            ).read(reading.src.text[start:end])
            for call in calls.calls:
                if call.complete and call.span is not None:
                    reading.note(start + call.span[0], start + call.span[1], call.name, "in_reasoning")

    def _close(self) -> None:
        reading = self._reading
        if len(reading.pieces) > 1:
            self._note_calls_in_reasoning()
        if self._overflow:
            reading.overflowed(sum(map(len, self._overflow)))
        drafts, text = reading.drafts, self.source
        self.calls = [reading.call(draft, draft.id) for draft in drafts]
        self.truncated = reading.cut or (bool(drafts) and not all(draft.complete for draft in drafts))
        if len(reading.pieces) == 1 and not reading.replaced:  # most replies are one thing
            kind = reading.pieces[0][2]
            self.content = text if kind == "content" else ""
            self.reasoning = text if kind == "reasoning" else ""
        else:
            pieces = reading.final_pieces(text)
            self.content = joined_pieces(pieces, "content", text, reading.replaced)
            self.reasoning = joined_pieces(pieces, "reasoning", text, reading.replaced)
        if reading.teller is not None:
            ends_in_content = bool(reading.pieces) and reading.pieces[-1][2] == "content"
            reading.teller.last("".join(self._overflow), ends_in_content=ends_in_content)
        # What is over refers to the engine no more: nothing of a reply is left for the collector.
        self._steps = _ENDED
        reading.let_go()
