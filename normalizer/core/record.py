"""`Record`: what the normalizer has decided about one text, and how it undoes a decision.

A record holds the text's pieces, its calls, near misses and repairs. After a call is read, it may turn out to be an example
only. So if a call may be an example, its caller stages the record first. A staged record emits no events until it is released
or taken back (`core.showing`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llmcore.normalizer.core.backtrack_budget import BacktrackBudget
from llmcore.normalizer.core.damage.afterthoughts import made_again
from llmcore.normalizer.core.delta_emitter import DeltaEmitter
from llmcore.normalizer.core.draft import Draft
from llmcore.normalizer.core.pieces import Piece, Replaced, replacing, with_layout_removed
from llmcore.normalizer.core.places import Places
from llmcore.normalizer.core.unfinished import Unfinished
from llmcore.normalizer.trust.judging import Verdict
from llmcore.types.envelope import NearMiss, Repair, SegmentKind, ToolCall
from llmcore.types.limits import Limits

__all__ = ["Record", "Staged"]


@dataclass(slots=True)
class Staged:
    """The state of a record before it read a call that may turn out to be an example."""

    done: int
    pieces: list[Piece]
    drafts: int
    begun: int
    near_misses: int
    replaced: int
    repairs: int
    text_kind: SegmentKind
    cut: bool
    invented: bool
    takes_calls: bool
    frames_call: bool
    answers: bool
    needs_more_work: bool | None
    has_content: bool
    framed: bool
    left_open: Draft | None
    unfinished: tuple[list[tuple[Draft, Verdict]], list[Draft]]
    emitter: DeltaEmitter | None


class Record(Places):
    """What is decided about one text.

    `names` are the tools' names, None if the tools are unknown. `takes_calls` says whether a call in any form may stand here.
    """

    text_kind: SegmentKind = "content"
    """The kind of plain text here: "reasoning" in a reasoning block that never closes."""
    cut = False
    """Whether the text's end cut off a call or the beginning of one."""
    reasoning_closed = False
    needs_more_work: bool | None = None
    answers = False
    """Whether a frame says that no call stands here. If so, only forms in `counted` are calls."""
    counted: frozenset[str] = frozenset()
    """The dialects whose calls count where the reply `answers`."""
    counts_bare = False
    """Whether one of the `counted` dialects is a form without a marker."""
    counts_others = False
    """Whether one of the `counted` dialects has no frames of its own."""
    invented = False
    """Whether a result follows a call. The model invented that result, so later calls are guesses."""
    turned = False
    """Whether another speaker's turn is written. The model invented it, so calls after its header are guesses."""
    begun: int = 0
    """The number of calls that were begun, including withdrawn ones."""
    _lead: tuple[int, int] | None = None
    """An opener (start, end including white space) that is markup if a call begins right behind it."""
    _framed = False
    """Whether a frame has begun."""
    _is_staged = False
    """Whether what is read now may be taken back."""
    _next_call = -1
    """Where the call begins that the current call swallowed, or -1. Nothing behind it is classified yet."""

    _left_open: Draft | None = None
    """The last call, if it ended in an open value. The text that follows belongs to it, up to an opener that begins a line."""

    def __init__(self, names: frozenset[str] | None, limits: Limits, *, takes_calls: bool, listening: bool) -> None:
        super().__init__()
        self.names, self.limits, self.takes_calls, self.listening = names, limits, takes_calls, listening
        self.frames_call = takes_calls
        self.backtrack_budget = BacktrackBudget()
        self.drafts: list[Draft] = []
        self.near_misses: list[NearMiss] = []
        self.repairs: list[Repair] = []
        self.replaced: list[Replaced] = []
        self._unfinished = Unfinished()
        self.emitter = DeltaEmitter(self.src) if listening else None

    # ------------------------------------------------------------------ text

    def text(self, to: int) -> None:
        """Classify everything up to `to` as plain text of the current kind. Events emitted beyond `to` are reclassified later."""
        if to > self.done:
            if self._lead is not None and to == self._lead[1]:
                self.text(self._lead[0])
                self.take("markup", to)
            else:
                self.take(self.text_kind, to)

    def markup(self, to: int) -> None:
        """Classify everything from `done` up to `to` as markup."""
        self.take("markup", to)

    def take(self, kind: SegmentKind, to: int) -> None:
        """Classify everything from `done` up to `to` as `kind`."""
        start = self.done
        if to > self._next_call >= 0:
            to = self._next_call
        if to <= start:
            return
        pieces = self.pieces
        last = pieces[-1] if pieces else None
        if last is not None and last[2] == kind and kind != "call":
            pieces[-1] = (last[0], to, kind)
        else:
            pieces.append((start, to, kind))
            if kind != "content" and self.emitter is not None:
                self.emitter.interrupted(last)
        self.done = to
        if kind == "content" and not self._has_content:
            self._has_content = not self.src.text[start:to].isspace()
        if self.emitter is not None:
            self.emitter.classified(kind, start, to)

    def replace(self, start: int, end: int, text: str) -> None:
        """Let `text` stand in the content for `start:end`, for example an envelope's own content or an unescaped answer."""
        self.replaced.append((start, end, text))
        if self.emitter is not None and text:
            self.emitter.replacement(text)

    def replacing(self, start: int, end: int) -> list[str]:
        """The replacement texts of all stretches within `start:end`."""
        return replacing(self.replaced, start, end)

    def withdraw(self, end: int) -> None:
        """Reclassify everything up to `end` as reasoning, including calls: a closer of reasoning without an opener was found.

        If the start of a call was emitted, the call is finished before it is withdrawn.
        """
        self._finished(self._unfinished.withdrawn())
        self.drafts.clear()
        self._left_open = None
        self.near_misses.clear()
        self.replaced.clear()
        self.needs_more_work = None
        self.turned = False
        self.pieces = [(0, end, "reasoning")] if end else []
        self._has_content = False
        self.done = end
        if self.emitter is not None:
            self.emitter.withdrawn(end)

    def emit_text_to(self, end: int) -> None:
        """Emit the text before `end`: a waiting reader has decided that it is plain text."""
        if self.emitter is not None:
            self.emitter.text_decided(self.text_kind, self.done, end if self._lead is None else min(end, self._lead[0]))

    def emit_appended(self, text: str, length: int) -> None:
        """Emit `text`, a delta that was just appended and is all plain text. `length` is the text's length now."""
        if self.emitter is not None and (self.text_kind == "reasoning" or not self.emitter.appended(text, length)):
            self.emitter.text_decided(self.text_kind, self.done, length)

    # ------------------------------------------------------------------ calls

    def call(self, draft: Draft, id: str) -> ToolCall:
        """The `ToolCall` of a finished draft."""
        return ToolCall.trusted(
            {
                "id": id,
                "name": draft.name,
                "arguments": draft.arguments,
                "raw_arguments": draft.raw,
                "dialect": draft.dialect,
                "span": (draft.start, draft.stop),
                "complete": draft.complete,
                "known": None if self.names is None else draft.name in self.names,
                "repairs": draft.repairs,
            }
        )

    def delta(self, draft: Draft, json: str) -> None:
        """Emit more of the call's arguments, as JSON text."""
        if self.emitter is not None and json and draft.index >= 0:
            draft.has_deltas = True
            self.emitter.arguments(draft.index, json)

    def _finished(self, drafts: Sequence[Draft]) -> None:
        if self.emitter is not None:
            for draft in drafts:
                self.emitter.call_finished(draft.index, self.call(draft, draft.id or f"call_{draft.index}"))

    def line_over(self, *, words_follow: bool) -> None:
        """Finish the calls that wait for the rest of their line: the line ends, or words follow the calls on it."""
        self._finished(self._unfinished.line_over(words_follow=words_follow))

    def reply_over(self) -> None:
        """Finish the calls that wait for the rest of the reply: no more calls come, and all of the text is classified."""
        if len(self.drafts) > 1 and (repeated := made_again(self.src.text, self.drafts)):
            self._take_back(repeated, "made_again", repeated[0].start)
        if self._unfinished.waiting:
            self._finished(self._unfinished.reply_over(says_more=self._has_content))

    def miss(self, start: int, end: int, name: str | None, reason: str) -> None:
        """Record a near miss and charge for it: `start:end` looked like a call but is none."""
        self.backtrack_budget.failed()
        self.note(start, end, name, reason)

    def note(self, start: int, end: int, name: str | None, reason: str) -> None:
        """Record a near miss."""
        miss = NearMiss(span=(start, end), name=name, reason=reason)
        if len(self.near_misses) < self.limits.near_misses and self.near_misses[-1:] != [miss]:
            self.near_misses.append(miss)

    def repaired(self, *repairs: Repair) -> None:
        """Record repairs of the text beside its calls."""
        self.repairs.extend(repairs)

    def failed(self, characters: int = 0) -> None:
        """Charge for a look-ahead over `characters` characters that found nothing."""
        self.backtrack_budget.failed(characters)

    # ------------------------------------------------------------------ what was found out

    def cut_off(self, at: int = -1) -> None:
        """Record that the text's end cut off a call. If `at` is given, the call begins there, and all of it is markup."""
        self.cut = True
        if at >= 0:
            self.text(at)
            self.take("markup", len(self.src.text))

    def more_work(self, needed: bool | None) -> None:
        """Record what the model said about whether it needs another turn."""
        self.needs_more_work = needed

    def close_reasoning(self) -> None:
        """Record that reasoning has ended. A closer that follows closes nothing."""
        self.reasoning_closed = True

    def leave_reasoning_open(self) -> None:
        """Treat plain text from here on as reasoning, up to a call: the reasoning block never closes."""
        self.reasoning_closed = False
        self.text_kind = "reasoning"

    def answer_follows(self) -> None:
        """Treat plain text from here on as content."""
        self.text_kind = "content"

    def result_follows(self) -> None:
        """Record that a result stands here. If a call stands before it, the model invented the result."""
        self.invented = self.invented or bool(self.drafts)

    def distrust_rest(self) -> None:
        """Take no more calls: the model went on with a result of its own."""
        self.answer_follows()
        self.invented = True
        self.takes_calls = self.frames_call = self.answers = False

    def frame(self, *, calls: bool = False) -> None:
        """Record that a frame begins or ends here. From now on, frames decide which parts of the reply are calls.

        If `calls`, the frame that begins names a tool, and its body may be a call in any form.
        """
        if not self._framed:
            self._framed = True
            if not self._is_staged:  # else it may be taken back
                self._take_back_outside(self.drafts)
        self.answers = self.frames_call and not calls
        self.takes_calls = self.frames_call and (calls or self.counts_bare)

    def _take_back_outside(self, drafts: Sequence[Draft]) -> None:
        """Turn the calls before the first frame into content, except those in the `counted` dialects."""
        outside = [draft for draft in drafts if draft.dialect not in self.counted]
        if outside:
            self._take_back(outside, "outside_frame", 0)

    def _take_back(self, calls: list[Draft], reason: str, first: int) -> None:
        """Turn these calls, and the markup from `first` to the last one, into content. Each is a near miss for this reason."""
        self._finished(self._unfinished.withdrawn())
        dropped = set(map(id, calls))
        self.drafts = [draft for draft in self.drafts if id(draft) not in dropped]
        kept = {(draft.start, draft.stop) for draft in self.drafts}
        for draft in calls:
            self.note(draft.start, draft.stop, draft.name, reason)
        for at, (start, end, kind) in enumerate(self.pieces):
            if first <= start and end <= calls[-1].stop and (kind == "markup" or (kind == "call" and (start, end) not in kept)):
                self.pieces[at] = (start, end, "content")
                if self.emitter is not None:
                    self.emitter.reclassified(start, end, "content")
        pieces, self.pieces = self.pieces, list[Piece]()
        for start, end, kind in pieces:
            if start == calls[-1].stop and kind == "markup":  # the layout before a call's closer
                written = self.src.text[start:end]
                self._append("content", start, end - len(written.lstrip()))
                start = end - len(written.lstrip())
            self._append(kind, start, end)

    def _append(self, kind: SegmentKind, start: int, end: int) -> None:
        """Add a piece. Adjacent content is one piece."""
        if end > start:
            joins = bool(self.pieces) and kind == "content" == self.pieces[-1][2]
            self.pieces.append((self.pieces.pop()[0] if joins else start, end, kind))

    @property
    def has_lead(self) -> bool:
        """Whether an opener waits that is markup if a call begins right behind it."""
        return self._lead is not None

    def set_lead(self, start: int, end: int) -> None:
        """Mark `start:end` as an opener that is markup if a call begins at `end`."""
        self._lead = (start, end)

    def drop_lead(self) -> None:
        """Forget the opener of `lead`."""
        self._lead = None

    # ------------------------------------------------------------------ taken back

    def stage(self) -> Staged:
        """Save the state, so that what is read from here on can be taken back. No events are emitted until `release`."""
        emitter, self.emitter = self.emitter, None
        self._is_staged = True
        pieces, self.pieces = self.pieces, self.pieces[-1:]  # only the last one is read, so many calls stay linear
        return Staged(
            done=self.done,
            pieces=pieces,
            drafts=len(self.drafts),
            begun=self.begun,
            near_misses=len(self.near_misses),
            replaced=len(self.replaced),
            repairs=len(self.repairs),
            text_kind=self.text_kind,
            cut=self.cut,
            invented=self.invented,
            takes_calls=self.takes_calls,
            frames_call=self.frames_call,
            answers=self.answers,
            needs_more_work=self.needs_more_work,
            has_content=self._has_content,
            framed=self._framed,
            left_open=self._left_open,
            unfinished=self._unfinished.mark(),
            emitter=emitter,
        )

    def take_back(self, staged: Staged) -> None:
        """Undo everything that was read since `staged`."""
        self._is_staged, self._framed = False, staged.framed
        del self.drafts[staged.drafts :], self.near_misses[staged.near_misses :]
        del self.replaced[staged.replaced :], self.repairs[staged.repairs :]
        self._unfinished.restore(staged.unfinished)
        self.pieces, self.done, self.begun = staged.pieces, staged.done, staged.begun
        self.text_kind, self.cut, self.invented = staged.text_kind, staged.cut, staged.invented
        self._left_open = staged.left_open
        self.takes_calls, self.needs_more_work = staged.takes_calls, staged.needs_more_work
        self.frames_call, self.answers = staged.frames_call, staged.answers
        self._has_content, self.emitter = staged.has_content, staged.emitter

    def release(self, staged: Staged) -> None:
        """Keep everything that was read since `staged`, and emit its events."""
        pieces, self.pieces, self.emitter = self.pieces, staged.pieces, staged.emitter
        self.done, self._has_content = staged.done, staged.has_content
        before, waiting, replaced = self.drafts[: staged.drafts], self.drafts[staged.drafts :], self.replaced[staged.replaced :]
        unfinished = self._unfinished.ids()
        for _, end, kind in pieces:
            while kind == "call" and waiting and waiting[0].start < end:
                draft = waiting.pop(0)
                if self.emitter is not None:
                    self.emitter.call_started(draft.index, draft.id, draft.name)
                    self.delta(draft, draft.text)
                if id(draft) not in unfinished:
                    self._finished([draft])
            self.take(kind, end)
            while self.emitter is not None and replaced and replaced[0][1] <= end:
                self.emitter.replacement(replaced.pop(0)[2])
        self._is_staged = False
        if self._framed and not staged.framed:
            self._take_back_outside(before)

    # ------------------------------------------------------------------ in the end

    def overflowed(self, characters: int) -> None:
        """Record that `characters` characters exceed the text limit. They are content, and no call is sought in them."""
        length = len(self.src.text)
        self.miss(length, length + characters, None, "text_limit")
        start = self.pieces.pop()[0] if self.pieces and self.pieces[-1][2] == "content" else length
        self.pieces.append((start, length + characters, "content"))

    def final_pieces(self, source: str) -> list[Piece]:
        """The final pieces. `source` is the text including what exceeded the limit."""
        self.pieces = with_layout_removed(self.pieces, source, self.replaced)
        return self.pieces
