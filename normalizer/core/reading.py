"""A reading: what a reader asks, decides and says of the text it stands in.

The contract of a reader
- A reader is called at a marker or a trigger: `reader(reading, at, body)`. It is a generator, or a plain function if it never
  needs more text.
- It asks for more text by `yield None` and decides only on characters that are there, or on `src.final`. So the result does
  not depend on how the text was cut. While it waits it may `yield` a skim: a function that is shown the text that comes next
  and tells whether the reader may sleep on (`source.Skim`).
- It declines by returning False, at no cost, as long as it has decided nothing. It decides by `text`, `markup`, `reasoning`,
  `begin` and `end`: everything before `done` is then classified for good.
- It keeps no reference to the text and no match over a `yield` in a loop, and it remembers how far it has searched.
- It stores nothing on the reading. What it found out it says by a method: `cut_off`, `close_reasoning`, `failed`, ...

Readers know this class only; the engine that makes and drives it is theirs through `nest`, `marker` and `stands`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llmcore.normalizer.core.begun_again import TRIALS, begun_again, took_closers
from llmcore.normalizer.core.draft import Draft
from llmcore.normalizer.core.driver import Driver, Nested
from llmcore.normalizer.core.looks import Looks
from llmcore.normalizer.core.names import call_begins, peel
from llmcore.normalizer.core.pieces import Piece, Replaced, replacing, settled
from llmcore.normalizer.core.placeholders import placeholders_in
from llmcore.normalizer.core.source import Source, SpaceRun, Steps
from llmcore.normalizer.core.surroundings import PLAIN, Form, Standing, Surroundings
from llmcore.normalizer.core.telling import Teller
from llmcore.normalizer.core.unfinished import Unfinished, UnfinishedMark
from llmcore.types.envelope import NearMiss, Repair, SegmentKind, ToolCall
from llmcore.types.limits import Limits
from llmcore.types.tools import CompiledTool, ToolSet

__all__ = ["Reading", "Staged"]


_CUT_THERE = Repair(kind="closer_missing", safety="truncated")


@dataclass(slots=True)
class Staged:
    """Where a reading stood before a call was read that may turn out to be only shown."""

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
    needs_more_work: bool | None
    said_anything: bool
    unfinished: UnfinishedMark
    teller: Teller | None


class Reading:
    """One text as it is read. Attributes are there to be asked; only methods change them.

    `tools`: None = not told which; an empty set = none were offered, so no text is ever a call. `nested`: how many fences or
    other wrappers the text is the body of; bare rules hold there and nothing is told.
    """

    # Where every reading starts from; here and not in __init__, which runs once a reply.
    done = 0
    """Everything before is classified."""
    text_kind: SegmentKind = "content"
    """What plain text is here: reasoning, in a block of it that never closes."""
    cut = False
    """Was a call, or the beginning of one, cut off by the text's end?"""
    enveloped = False
    """Was the model asked for this library's envelope?"""
    ended_by_length = False
    """Does the provider say that a limit cut the text?"""
    reasoning_closed = False
    needs_more_work: bool | None = None
    invented = False
    """A result was written after a call: the model invented it, and later calls are guesses."""
    begun = 0
    """How many calls were begun, withdrawn ones too."""
    standing: Standing
    """What its surroundings make of the call that is being read."""
    _surroundings: Surroundings | None = None
    _doubtful: tuple[int, Standing]
    """Where a doubtful call or its wrapper ended, and why it is: so is one right behind it."""
    _answer = ""
    _lead: tuple[int, int] | None = None
    """An opener (start, end with white space) that is markup if a call begins right behind it."""
    _prose_line = -1
    """Where the line begins that is known to begin with no bare form."""
    _line_start = 0
    _line_sought = 0
    _said_anything = False
    _next_call = -1
    """Where the next call stands that the one that is being read swallowed: nothing behind it is classified yet."""

    def __init__(
        self,
        driver: Driver,
        tools: ToolSet | None,
        *,
        limits: Limits,
        listening: bool,
        nested: int,
        forced_tool: str | None,
        on_trial: bool = False,
    ) -> None:
        self._driver = driver
        self.src = Source()
        self.tools = tools
        self.names = None if tools is None else tools.names
        self.takes_calls = tools is None or len(tools) > 0
        self.limits = limits
        self.listening = listening
        self.nested = nested
        self.forced_tool = forced_tool
        self.looks = Looks()
        self.drafts: list[Draft] = []
        self.near_misses: list[NearMiss] = []
        self.repairs: list[Repair] = []
        self.pieces: list[Piece] = []
        self.replaced: list[Replaced] = []
        self._unfinished = Unfinished()
        self.teller = Teller(self.src) if listening else None
        self._blank, self._space = SpaceRun(), SpaceRun()
        self.standing = PLAIN
        self._doubtful = (-1, PLAIN)
        self._trials = 0 if on_trial else TRIALS[min(nested, len(TRIALS) - 1)]

    @property
    def held(self) -> Standing | None:
        """How the last call stands for which the rest of its line decides; None when there is none."""
        on_line = self._unfinished.on_line
        return on_line[-1][1] if on_line else None

    # ------------------------------------------------------------------ asks: tools

    def known(self, name: str) -> bool | None:
        """Is it one of the tools, by exactly this name? None when tools were not told."""
        return None if self.tools is None else name in self.tools

    def tool(self, name: str) -> CompiledTool | None:
        """The tool that a name means, exactly or by what a dialect adds."""
        return None if self.tools is None else self.tools.get(peel(name, self.tools) or name)

    # ------------------------------------------------------------------ asks: where

    def stands(self, at: int) -> bool | None:
        """Does a marker that counts for this reply stand at `at`? None = more text must tell."""
        return self._driver.stands(at)

    def is_unshared(self, opener: str) -> bool:
        """Is this the opener of one row only?"""
        return self._driver.is_unshared(opener)

    def is_bare(self, dialect: str) -> bool:
        """Is it a form without a marker of its own?"""
        return self._driver.is_bare(dialect)

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
        return self.is_prose(max(self._line_start, self.done))

    def is_prose(self, start: int) -> bool:
        """Is the line that begins at `start` known to begin with no bare form?"""
        return start == self._prose_line

    def text_start(self) -> int:
        """Where the text begins that nothing has interrupted since: at a marker's or call's end, or at 0."""
        if self.pieces:
            start, end, kind = self.pieces[-1]
            return start if kind in ("content", "reasoning") else end
        return 0

    def says_anything(self) -> bool:
        """Has any content been classified that is not white space?"""
        return self._said_anything

    def opens_message(self, at: int) -> bool:
        """Does nothing but white space stand before `at`, blocks that are no content apart?"""
        if self._said_anything:
            return False
        return self._blank.reaches(self.src.text, self.done, at)

    def blank_before(self, at: int) -> bool:
        """Does nothing but white space stand before `at`, back to a marker, a call or the text's start?"""
        return self._space.reaches(self.src.text, self.text_start(), at)

    def standing_at(self, at: int, form: Form, *, fenced: bool = False) -> Standing:
        """What the text before `at` makes of a call there. In a fence or another wrapper, its own place decides."""
        if self.nested:
            return PLAIN
        if self._lead is not None:
            at = self._lead[0]
        if not self.blank_before(at):
            start = self.text_start()
            line = self.line_start(at)
            if self.names and (begin := call_begins(self.src.text, start, at, self.names)) < at:
                at, line = begin, self.src.text.rfind("\n", 0, begin) + 1
            if not self._space.reaches(self.src.text, start, at):
                if self._surroundings is None:
                    self._surroundings = Surroundings(self.names)
                return self._surroundings.standing(self.src.text, at, start, line, form, fenced=fenced)
        if self._doubtful[0] >= 0 and not self.src.text[self._doubtful[0] : at].strip():
            return self._doubtful[1]
        return self.held or PLAIN

    def replacing(self, start: int, end: int) -> list[str]:
        """What stretches within `start:end` read as."""
        return replacing(self.replaced, start, end)

    # ------------------------------------------------------------------ decides

    def text(self, to: int) -> None:
        """Everything up to `to` is plain text of the current kind. What was told beyond `to` is reclassified later."""
        if to > self.done:
            if self._lead is not None and to == self._lead[1]:
                self.text(self._lead[0])
                self.take("markup", to)
            else:
                self.take(self.text_kind, to)

    def markup(self, to: int) -> None:
        """Everything from `done` up to `to` is markup."""
        self.take("markup", to)

    def take(self, kind: SegmentKind, to: int) -> None:
        """Everything from `done` up to `to` is of this kind."""
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
            if kind != "content" and self.teller is not None:
                self.teller.interrupted(last)
        self.done = to
        if kind == "content" and not self._said_anything:
            self._said_anything = not self.src.text[start:to].isspace()
        if self.teller is not None:
            self.teller.classified(kind, start, to)

    def begin(self, start: int, name: str, dialect: str, id: str = "") -> Draft:
        """A call is certain: its name and that it starts at `start`. One too many, or without a name, stays out (index -1)."""
        self.text(start)
        if len(self.drafts) >= self.limits.calls or not name.strip() or self._next_call >= 0:
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
            self.teller.arguments(draft.index, json)

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
        if self._next_call >= 0:  # of a reader that went on behind it
            if draft.index >= 0:
                draft.finish(self._next_call, None, "", False, [])
                self._finished([draft])
            return
        if draft.index < 0:
            self.miss(draft.start, end, draft.name or None, "calls_limit" if draft.name.strip() else "no_name")
            self.take("content", end)
            return
        found = repairs or []
        if (again := begun_again(self, draft, end, arguments, raw, complete, found)) is not None:
            if again.at >= 0:
                self._cut_at(draft, again.at, again.drafts)
                return
            found = [*found, Repair(kind="closer_missing", safety="guess")]
        elif found and took_closers(self, arguments, found):
            found = [*found, Repair(kind="closer_missing", safety="guess")]
        if arguments and (shown := placeholders_in(arguments)):
            found = [*(repair for repair in found if repair.kind != "placeholder"), *shown]
        if self.invented:
            found = [*found, Repair(kind="after_invented_result", safety="guess")]
        if self.standing.doubt:
            found = [*found, Repair(kind=self.standing.doubt, before=self.standing.words, safety="guess")]
        draft.finish(end, arguments, raw, complete, found)
        if end > self.done:
            self.take("call", end)
        if self.teller is not None and not draft.told:
            self.delta(draft, draft.text)
        if not self._unfinished.keeps(draft, self.standing):
            self._finished([draft])

    def _cut_at(self, draft: Draft, at: int, read: list[Draft]) -> None:
        """The call, and others that share its span, were cut at `at`, where the next one begins. `read`: what is left of them."""
        start = draft.start
        for k, said in enumerate(read or [draft]):
            last = k == len(read) - 1 or not read
            mine = draft if k == 0 else self.begin(start, said.name, draft.dialect, said.id)
            repairs = said.repairs if read else []
            if last and not (read and said.complete):
                repairs = [*(repair for repair in repairs if repair.kind != "closer_missing" or repair.path), _CUT_THERE]
            self._trials, trials = 0, self._trials
            self.end(mine, at, said.arguments if read else None, said.raw, complete=bool(read) and said.complete, repairs=repairs)
            self._trials = trials
        self._next_call = at

    def try_again(self) -> bool:
        """May it be looked for once more whether a call was begun again?"""
        self._trials -= 1
        return self._trials >= 0

    def resumed(self, position: int) -> int:
        """Where the walk goes on: where the next call stands, if the last one swallowed it."""
        if self._next_call >= 0:
            position, self._next_call = self._next_call, -1
        return position

    def _finished(self, drafts: Sequence[Draft]) -> None:
        if self.teller is not None:
            for draft in drafts:
                self.teller.call_finished(draft.index, self.call(draft, draft.id or f"call_{draft.index}"))

    def line_over(self, *, words_follow: bool) -> None:
        """The line of the calls that are held is over, or words follow them on it."""
        self._finished(self._unfinished.line_over(words_follow=words_follow))

    def reply_over(self) -> None:
        """No more calls come."""
        unfinished = self._unfinished
        if self.invented:  # that says it all
            self._finished(unfinished.all_over())
        else:
            self._finished(unfinished.reply_over(self.drafts, self.src.text, self.pieces, self.done))

    def judged(self, standing: Standing, *, passes_on: bool = True) -> None:
        """What its surroundings make of the call that is read next. `passes_on`: what follows what was read shares its doubt."""
        if passes_on and (self.standing.doubt or self.standing.unannounced):
            self._doubtful = (self.done, self.standing)
        self.standing = standing

    def stage(self) -> Staged:
        """What is read from here on may be taken back: nobody hears of it until then."""
        teller, self.teller = self.teller, None
        pieces, self.pieces = self.pieces, self.pieces[-1:]  # only the last one is looked at, and a flood of calls stays linear
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
            needs_more_work=self.needs_more_work,
            said_anything=self._said_anything,
            unfinished=self._unfinished.mark(),
            teller=teller,
        )

    def take_back(self, staged: Staged) -> None:
        """What was read since then was only tried."""
        del self.drafts[staged.drafts :], self.near_misses[staged.near_misses :]
        del self.replaced[staged.replaced :], self.repairs[staged.repairs :]
        self._unfinished.restore(staged.unfinished)
        self.pieces, self.done, self.begun = staged.pieces, staged.done, staged.begun
        self.text_kind, self.cut, self.invented = staged.text_kind, staged.cut, staged.invented
        self.takes_calls, self.needs_more_work = staged.takes_calls, staged.needs_more_work
        self._said_anything, self.teller = staged.said_anything, staged.teller

    def release(self, staged: Staged) -> None:
        """What was read since then stands: a listener hears of it."""
        pieces, self.pieces, self.teller = self.pieces, staged.pieces, staged.teller
        self.done, self._said_anything = staged.done, staged.said_anything
        waiting, replaced = self.drafts[staged.drafts :], self.replaced[staged.replaced :]
        unfinished = self._unfinished.ids()
        for _, end, kind in pieces:
            while kind == "call" and waiting and waiting[0].start < end:
                draft = waiting.pop(0)
                if self.teller is not None:
                    self.teller.call_started(draft.index, draft.id, draft.name)
                    self.delta(draft, draft.text)
                if id(draft) not in unfinished:
                    self._finished([draft])
            self.take(kind, end)
            while self.teller is not None and replaced and replaced[0][1] <= end:
                self.teller.instead(replaced.pop(0)[2])

    def shown(self, end: int, reason: str) -> None:
        """What ends here is only shown."""
        if self._surroundings is not None:
            self._surroundings.shown(end, reason)

    def call(self, draft: Draft, id: str) -> ToolCall:
        """The call that a draft has become."""
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

    def replace(self, start: int, end: int, text: str) -> None:
        """The content of `start:end` reads as `text` (an envelope's own content, an unescaped answer)."""
        self.replaced.append((start, end, text))
        if self.teller is not None and text:
            self.teller.instead(text)

    def withdraw(self, end: int) -> None:
        """Everything up to `end` turns out to be reasoning, calls included (a closer of reasoning that had no opener)."""
        self.drafts.clear()
        self._unfinished = Unfinished()
        self.near_misses.clear()
        self.replaced.clear()
        self.needs_more_work = None
        self.pieces = [(0, end, "reasoning")] if end else []
        self._said_anything = False
        self.done = end
        if self.teller is not None:
            self.teller.withdrawn(end)

    def marker(self, at: int) -> Steps[bool]:
        """Try the rows whose opener stands at `at`; True when one of them consumed text."""
        return (yield from self._driver.marker(at))

    def nest(self, text: str, *, on_trial: bool = False) -> Nested:
        """Read the body of a fence, or of another wrapper, by itself.

        Its looks that came to nothing cost here too: wrappers may be read again from the next opener within them.
        """
        inner, cost = self._driver.nest(text, on_trial=on_trial)
        self.looks.pay(cost)
        return inner

    def adopt(self, inner: Nested, start: int, end: int, dialect: str | None = None) -> None:
        """Take over the calls of a nested reading; they span `start:end`, which holds nothing else."""
        self.text(start)
        for draft in inner.drafts:
            mine = self.begin(start, draft.name, dialect or draft.dialect, draft.id)
            self.end(mine, end, draft.arguments, draft.raw, complete=draft.complete, repairs=draft.repairs)
        self.take("call", end)
        self.cut = self.cut or inner.cut
        if inner.needs_more_work is not None:
            self.needs_more_work = inner.needs_more_work
        if inner.content:
            self.replace(start, end, inner.content)

    # ------------------------------------------------------------------ says

    def miss(self, start: int, end: int, name: str | None, reason: str) -> None:
        """`start:end` looked like a call and was not taken as one."""
        self.looks.failed()
        self.note(start, end, name, reason)

    def note(self, start: int, end: int, name: str | None, reason: str) -> None:
        """Record a near miss."""
        miss = NearMiss(span=(start, end), name=name, reason=reason)
        if len(self.near_misses) < self.limits.near_misses and self.near_misses[-1:] != [miss]:
            self.near_misses.append(miss)

    def failed(self, characters: int = 0) -> None:
        """A look-ahead over so many characters came to nothing."""
        self.looks.failed(characters)

    def cut_off(self, at: int = -1) -> None:
        """The text's end cut a call off. With `at`: where it began, and all of it is markup."""
        self.cut = True
        if at >= 0:
            self.text(at)
            self.take("markup", len(self.src.text))

    def more_work(self, needed: bool | None) -> None:
        """The model said whether it needs another turn."""
        self.needs_more_work = needed

    def close_reasoning(self) -> None:
        """The reasoning is over: a closer that follows closes nothing."""
        self.reasoning_closed = True

    def leave_reasoning_open(self) -> None:
        """Reasoning that never closes: plain text from here on is reasoning, up to a call."""
        self.reasoning_closed = False
        self.text_kind = "reasoning"

    def answer_follows(self) -> None:
        """Plain text from here on is content."""
        self.text_kind = "content"

    def result_follows(self) -> None:
        """A result stands here. If a call stood before it, the model invented it."""
        self.invented = self.invented or bool(self.drafts)

    def distrust_rest(self) -> None:
        """The model went on with a result of its own: nothing that follows is a call."""
        self.answer_follows()
        self.invented = True
        self.takes_calls = False

    def open_answer(self, opener: str) -> None:
        """A wrapper around the answer opens (`<answer>`)."""
        self._answer = opener

    def close_answer(self, closer: str) -> bool:
        """Does this close the wrapper that is open?"""
        if self._answer != closer.replace("/", ""):
            return False
        self._answer = ""
        return True

    def prose(self, start: int) -> None:
        """The line that begins at `start` begins with no bare form."""
        self._prose_line = start

    def tell(self, end: int) -> None:
        """For readers that wait: text before `end` is settled, a listener may hear it."""
        if self.teller is not None:
            self.teller.settled(self.text_kind, self.done, end if self._lead is None else min(end, self._lead[0]))

    def tell_more(self, text: str, length: int) -> None:
        """`text` has just come, the text is `length` long now, and all of it is settled."""
        if self.teller is not None and (self.text_kind == "reasoning" or not self.teller.more(text, length)):
            self.teller.settled(self.text_kind, self.done, length)

    # ------------------------------------------------------------------ for the engine

    def asked_for_envelope(self) -> None:
        """The model was asked for this library's envelope."""
        self.enveloped = True

    def end_reached(self, *, by_length: bool) -> None:
        """Nothing more will come."""
        self.ended_by_length = by_length
        self.src.final = True

    def overflowed(self, characters: int) -> None:
        """So many characters came beyond the limit: they are content, unsearched."""
        length = len(self.src.text)
        self.miss(length, length + characters, None, "text_limit")
        start = self.pieces.pop()[0] if self.pieces and self.pieces[-1][2] == "content" else length
        self.pieces.append((start, length + characters, "content"))

    def settle(self, source: str) -> list[Piece]:
        """The pieces in the end; `source`: the text with what came beyond the limit."""
        self.pieces = settled(self.pieces, source, self.replaced)
        return self.pieces

    @property
    def leads(self) -> bool:
        """Does an opener stand open that is markup if a call begins right behind it?"""
        return self._lead is not None

    def lead(self, start: int, end: int) -> None:
        """The opener in `start:end` is markup if a call begins at `end`."""
        self._lead = (start, end)

    def drop_lead(self) -> None:
        """The look behind that opener is over."""
        self._lead = None

    def nested_result(self, content: str) -> Nested:
        """What this reading says, for the one that it stands in."""
        return Nested(self.drafts, self.near_misses, content, self._said_anything, self.needs_more_work, self.cut)
