"""The text engine: one incremental pass over a reply's text, whatever dialect it is written in.

The engine walks from one candidate to the next (`walk`), and the readers that it asks there classify the text. A reader is a
generator (see `source`): it consumes, asks for more text, or declines, and then its text is content.

Rules
- Everything before `done` is classified: `pieces` tile it. A reader moves `done` only when it is certain (`commit_to`,
  `take`, `begin`/`end`); until then it may decline at no cost.
- One-shot reading is feeding all of it: there is no second path.
- Events are built only when somebody listens (`telling`).
- Complexity: linear in the text for any chunking. A candidate that fails costs its look-ahead once, and failed look-aheads
  are paid for (`waste`), so that a flood of openers cannot make it quadratic.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from llmcore.normalizer import opening, registry
from llmcore.normalizer.draft import Draft
from llmcore.normalizer.names import peel
from llmcore.normalizer.settling import Piece, Replaced, joined, replacing, settled
from llmcore.normalizer.source import Skim, Source, SpaceRun, Steps
from llmcore.normalizer.telling import Teller
from llmcore.normalizer.walk import Walk
from llmcore.types.envelope import NearMiss, Repair, Segment, SegmentKind, ToolCall
from llmcore.types.events import ArgumentsDelta, NormalizerEvent
from llmcore.types.limits import DEFAULT_LIMITS, Limits
from llmcore.types.tools import CompiledTool, ToolSet

__all__ = ["TextEngine"]

_NESTING = 3  # wrappers within wrappers that are read: each level reads its body once more
_NO_TOOLS = ToolSet([])
_FAILURE = 48  # what a failed look-ahead costs beside its length, in characters: a little more than it takes microseconds
_GLANCE = 24  # what a candidate costs that was told from a call by what stands right behind it
_OVER = object()


class TextEngine:
    """Feed text, then finish; afterwards `calls`, `content`, `reasoning`, ... hold what was read.

    `tools`: None = not told which; an empty set = none were offered, so no text is ever a call. `nested`: how many
    fences or other wrappers the text is the body of; bare rules hold there and nothing is emitted.
    """

    # Where every reading starts from; here and not in __init__, which runs once a reply.
    done = 0
    needs_more_work: bool | None = None
    text_kind: SegmentKind = "content"
    cut = False
    ended_by_length = False
    reasoning_closed = False
    invented = False
    """A result was written after a call: the model invented it, and later calls are guesses."""
    allowance = 0
    wasted = 0
    """What looks that came to nothing cost, in characters; the walk keeps account."""
    wrapper = ""
    """The opener of the wrapper around the answer that is open (`<answer>`)."""
    lead: tuple[int, int] | None = None
    """An opener (start, end with white space) that is markup if a call begins right behind it."""
    prose_line = -1
    """Where the line begins that is known to begin with no bare form."""
    skim: Skim | None = None
    """What the reader that waits leaves for text that it need not look at yet."""
    _line_start = 0
    _line_sought = 0
    _said_anything = False
    begun = 0
    """How many calls were begun, withdrawn ones too."""
    _running = True

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
    ) -> None:
        self.src = Source()
        self.tools = tools
        self.limits = limits
        self._room = limits.text
        self.listening = listening
        self.nested = nested
        self.forced_tool = forced_tool
        self.dialects = dialects
        self.table = registry.marker_table(dialects)
        self.names = None if tools is None else tools.names
        self.takes_calls = tools is None or len(tools) > 0
        self.drafts: list[Draft] = []
        self.near_misses: list[NearMiss] = []
        self.repairs: list[Repair] = []
        self.pieces: list[Piece] = []
        self.replaced: list[Replaced] = []
        self.teller = Teller(self) if listening else None
        self.walk = Walk(self)
        self._overflow: list[str] = []
        self._blank, self._space = SpaceRun(), SpaceRun()
        self._steps = self._run(reasoning_open)

    # ------------------------------------------------------------------ the face

    def feed(self, text: str) -> list[NormalizerEvent]:
        """More text. Returns the events it settles (none when not listening)."""
        src = self.src
        self._room -= len(text)
        if self._room < 0:
            text = self._within_limit(text)
        # One reference only: CPython then appends in place, in amortised O(len(text)). So no reader keeps a name for the text
        # over a `yield`.
        grown, src.text = src.text, ""
        grown += text
        src.text = grown
        del grown
        if self._running and (self.skim is None or not self.skim(text)):
            self.skim = None
            self._running = next(self._steps, _OVER) is not _OVER
        teller = self.teller
        return teller.drain() if teller is not None and teller.events else []

    def finish(self, finish_reason: str | None = None) -> list[NormalizerEvent]:
        """The text is whole. `finish_reason`: ours (`length` = the provider says that it was cut)."""
        self.ended_by_length = finish_reason == "length"
        self.src.final = True
        if self._running:
            self._running = next(self._steps, _OVER) is not _OVER
        self._close()
        return self.teller.drain() if self.teller is not None else []

    def read(self, text: str, finish_reason: str | None = None) -> TextEngine:
        """The whole text at once: `feed` and `finish` in one resumption. Returns self."""
        self.src.text = text if len(text) <= self.limits.text else self._within_limit(text)
        self.finish(finish_reason)
        return self

    @property
    def source(self) -> str:
        return self.src.text + "".join(self._overflow) if self._overflow else self.src.text

    def segments(self) -> list[Segment]:
        return [Segment(*piece) for piece in self.pieces]

    # ------------------------------------------------------------------ for readers

    def known(self, name: str) -> bool | None:
        """Is it one of the tools (exactly, or by what a dialect adds)? None when tools were not told."""
        return None if self.tools is None else name in self.tools

    def tool(self, name: str) -> CompiledTool | None:
        """The tool that a name means, exactly or by what a dialect adds."""
        return None if self.tools is None else self.tools.get(peel(name, self.tools) or name)

    def commit_to(self, at: int) -> None:
        """Everything up to `at` is plain text of the current kind. Text already emitted beyond `at` is reclassified later."""
        if at > self.done:
            if self.lead is not None and at == self.lead[1]:
                self.commit_to(self.lead[0])
                self.take("markup", at)
            else:
                self.take(self.text_kind, at)

    def take(self, kind: SegmentKind, end: int) -> None:
        """Classify everything from `done` to `end`."""
        start = self.done
        if end <= start:
            return
        pieces = self.pieces
        if pieces and pieces[-1][2] == kind and kind != "call":
            pieces[-1] = (pieces[-1][0], end, kind)
        else:
            pieces.append((start, end, kind))
            if kind != "content" and self.teller is not None:
                self.teller.interrupted()
        self.done = end
        if kind == "content" and not self._said_anything:
            self._said_anything = not self.src.text[start:end].isspace()
        if self.teller is not None:
            self.teller.classified(kind, start, end)

    def begin(self, start: int, name: str, dialect: str, id: str = "") -> Draft:
        """A call is certain: its name and that it starts at `start`. One too many, or without a name, stays out (index -1)."""
        self.commit_to(start)
        if len(self.drafts) >= self.limits.calls or not name.strip():
            return Draft(-1, name, id, dialect, start)
        draft = Draft(self.begun, name, id, dialect, start)
        self.begun += 1
        self.drafts.append(draft)
        if self.teller is not None:
            self.teller.call_started(draft.index, id, name)
        return draft

    def delta(self, draft: Draft, json: str) -> None:
        """More of the call's arguments, as JSON text."""
        if self.teller is not None and json and draft.index >= 0:
            draft.told = True
            self.teller.events.append(ArgumentsDelta(draft.index, json))

    def end(
        self,
        draft: Draft,
        end: int,
        arguments: dict[str, Any] | None,
        raw: str,
        *,
        complete: bool = True,
        repairs: list[Repair] | None = None,
    ) -> None:
        """The call is read: it spans to `end`."""
        if draft.index < 0:
            self.miss(draft.start, end, draft.name or None, "calls_limit" if draft.name.strip() else "no_name")
            self.take("content", end)
            return
        found = repairs or []
        if self.invented:
            found = [*found, Repair(kind="after_invented_result", safety="guess")]
        draft.finish(end, arguments, raw, complete, found)
        if end > self.done:
            self.take("call", end)
        if self.teller is not None:
            if not draft.told:
                self.delta(draft, draft.text)
            self.teller.call_finished(draft.index, self._call(draft, draft.id or f"call_{draft.index}"))

    def miss(self, start: int, end: int, name: str | None, reason: str) -> None:
        """Record that `start:end` looked like a call and was not taken as one."""
        self.waste()
        self.note(start, end, name, reason)

    def note(self, start: int, end: int, name: str | None, reason: str) -> None:
        """Record a near miss."""
        if len(self.near_misses) < self.limits.near_misses:
            self.near_misses.append(NearMiss(span=(start, end), name=name, reason=reason))

    def replace(self, start: int, end: int, text: str) -> None:
        """The content of `start:end` reads as `text` (an envelope's own content, an unescaped answer)."""
        self.replaced.append((start, end, text))
        if self.teller is not None and text:
            self.teller.instead(text)

    def replacing(self, start: int, end: int) -> list[str]:
        """What stretches within `start:end` read as."""
        return replacing(self.replaced, start, end)

    def withdraw(self, end: int) -> None:
        """Everything up to `end` turns out to be reasoning, calls included (a closer of reasoning that had no opener)."""
        self.drafts.clear()
        self.near_misses.clear()
        self.replaced.clear()
        self.needs_more_work = None
        self.pieces = [(0, end, "reasoning")] if end else []
        self._said_anything = False
        self.done = end
        if self.teller is not None:
            self.teller.withdrawn(end)

    def line_start(self, at: int) -> int:
        """Where the line that holds `at` begins. Amortised: only text not looked at yet is searched."""
        if at < self._line_sought:
            return self.src.text.rfind("\n", 0, at) + 1 if at < self._line_start else self._line_start
        found = self.src.text.rfind("\n", self._line_sought, at)
        if found >= 0:
            self._line_start = found + 1
        self._line_sought = at
        return self._line_start

    def line_before(self, at: int, most: int) -> str:
        """What stands before `at` on its line and is not classified yet, at most so many characters of it."""
        return self.src.text[max(self.line_start(at), self.done, at - most) : at]

    def in_prose(self) -> bool:
        """Is the line that was last looked for, or what is not classified yet of it, known to begin with no bare form?"""
        return max(self._line_start, self.done) == self.prose_line

    def text_start(self) -> int:
        """Where the text begins that nothing has interrupted since: at a marker's or call's end, or at 0."""
        if self.pieces:
            start, end, kind = self.pieces[-1]
            if kind in ("content", "reasoning"):
                return start
            return end
        return 0

    def stands(self, at: int) -> bool | None:
        """Does a marker that counts for this reply stand at `at`? None = more text must tell."""
        text = self.src.text
        if self.is_undecided(at):
            return None
        found = self.table.match(text, at)
        if found is not None and (self.takes_calls or not all(row.calls for row in found[1])):
            return True
        return self.table.match_tool_tag(text, at, self.names) is not None

    def is_undecided(self, at: int) -> bool:
        """May what stands at `at` still become an opener when more text comes?"""
        src = self.src
        if src.final or len(src.text) - at >= 64:
            return False
        return self.table.undecided[src.text[at:]]

    def waste(self, characters: int = 0) -> None:
        """A look-ahead over so many characters came to nothing. After too many, the walk passes over as much text as they cost:
        that keeps the work linear."""
        self.wasted += characters + _FAILURE

    def glance(self) -> None:
        """What stands at a candidate came to nothing by what is right behind it."""
        self.wasted += _GLANCE

    def says_anything(self) -> bool:
        """Has any content been committed that is not white space?"""
        return self._said_anything

    def opens_message(self, at: int) -> bool:
        """Does nothing but white space stand before `at`, blocks that are no content apart?"""
        if self._said_anything:
            return False
        return self._blank.reaches(self.src.text, self.done, at)

    def blank_before(self, at: int) -> bool:
        """Does nothing but white space stand before `at`, back to a marker, a call or the text's start?"""
        return self._space.reaches(self.src.text, self.text_start(), at)

    def nest(self, text: str) -> TextEngine:
        """Read the body of a fence (or of another wrapper) by itself. Wrappers deeper than `_NESTING` hold no calls.

        Its looks that came to nothing cost here too: wrappers may be read again from the next opener within them.
        """
        limits, tools = self.limits, self.tools if self.nested < _NESTING else _NO_TOOLS
        inner = TextEngine(tools, dialects=self.dialects, limits=limits, listening=False, nested=self.nested + 1).read(text)
        self.wasted += inner.walk.wasted
        return inner

    def adopt(self, inner: TextEngine, start: int, end: int, dialect: str | None = None) -> None:
        """Take over the calls of a nested reading; they span `start:end`, which holds nothing else."""
        self.commit_to(start)
        for draft in inner.drafts:
            mine = self.begin(start, draft.name, dialect or draft.dialect, draft.id)
            self.end(mine, end, draft.arguments, draft.raw, complete=draft.complete, repairs=draft.repairs)
        self.take("call", end)
        self.cut = self.cut or inner.cut
        if inner.needs_more_work is not None:
            self.needs_more_work = inner.needs_more_work
        if inner.content:
            self.replace(start, end, inner.content)

    # ------------------------------------------------------------------ inside

    def _run(self, reasoning_open: bool) -> Steps[None]:
        if reasoning_open:
            yield from opening.open_reasoning(self)
        elif not self.src.text or self.src.text[0] in opening.FIRST:
            yield from opening.opening(self)
        yield from self.walk.run()

    def _within_limit(self, text: str) -> str:
        """The part of more text that the limit has room for; the rest is content, unsearched."""
        room = max(0, self.limits.text - len(self.src.text))
        self._room = 0
        self._overflow.append(text[room:])
        self.skim = None
        return text[:room]

    def emit_text(self, end: int) -> None:
        """For readers that wait: text before `end` is settled, tell the listener."""
        if self.teller is not None:
            self.teller.settled(end if self.lead is None else min(end, self.lead[0]))

    def _close(self) -> None:
        if self._overflow:
            length = len(self.src.text)
            total = length + sum(map(len, self._overflow))
            self.miss(length, total, None, "text_limit")
            start = self.pieces.pop()[0] if self.pieces and self.pieces[-1][2] == "content" else length
            self.pieces.append((start, total, "content"))
        drafts = self.drafts
        self.calls: list[ToolCall] = [self._call(draft, draft.id) for draft in drafts]
        self.truncated = self.cut or (bool(drafts) and not all(draft.complete for draft in drafts))
        if len(self.pieces) == 1 and not self.replaced:  # most replies are one thing
            kind, text = self.pieces[0][2], self.source
            self.content = text if kind == "content" else ""
            self.reasoning = text if kind == "reasoning" else ""
        else:
            text = self.source
            self.pieces = settled(self.pieces, text, self.replaced)
            self.content = joined(self.pieces, "content", text, self.replaced)
            self.reasoning = joined(self.pieces, "reasoning", text, self.replaced)
        if self.teller is not None:
            self.teller.last("".join(self._overflow))

    def _call(self, draft: Draft, id: str) -> ToolCall:
        return ToolCall.trusted(
            id=id,
            name=draft.name,
            arguments=draft.arguments,
            raw_arguments=draft.raw,
            dialect=draft.dialect,
            span=(draft.start, draft.stop),
            complete=draft.complete,
            known=None if self.names is None else draft.name in self.names,
            repairs=draft.repairs,
        )
