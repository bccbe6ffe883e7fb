"""`Reading`: one text while it is read, and the methods by which readers query it and record decisions.

The contract of a reader
- A reader is called at a marker or a trigger: `reader(reading, at, body)`. It is a generator, or a plain function if it never
  needs more text.
- It asks for more text by `yield None`. It decides only on characters that are there, or on `src.final`. So the result does not
  depend on how the text was cut. While it waits, it may `yield` a skim: a function that sees the next text first and returns
  whether the reader can go on waiting (`source.Skim`).
- It declines by returning False, at no cost, as long as it has decided nothing. It decides by `text`, `markup`, `take`, `begin`
  and `end`: everything before `done` is then classified for good.
- It keeps no reference to the text and no match over a `yield` in a loop. It remembers how far it has searched.
- It sets no attribute of the reading. It records what it found by a method: `cut_off`, `repaired`, `failed`, ...

Readers import only this class. It reaches the engine that creates and drives it through `nest`, `marker` and `stands`. Its
base classes are `places.Places` (queries about positions) and `record.Record` (decisions).
"""

from __future__ import annotations

from typing import Any, cast

from llmcore.normalizer.core.damage.markup_remains import remains_in
from llmcore.normalizer.core.damage.placeholders import placeholders_in
from llmcore.normalizer.core.damage.restarted_call import TRIALS, begins_line, find_restart, openers_before, swallowed_closers
from llmcore.normalizer.core.damage.windows_paths import with_paths
from llmcore.normalizer.core.draft import Draft
from llmcore.normalizer.core.driver import Driver, Nested
from llmcore.normalizer.core.names import NAMES_DIFFER, call_begins, holds_calls, names_another, peel
from llmcore.normalizer.core.record import Record
from llmcore.normalizer.scanning.source import Steps, past
from llmcore.normalizer.scanning.words import ENVELOPE
from llmcore.normalizer.trust.judging import CERTAIN, LED_IN, Form, Judge, Place, Verdict
from llmcore.normalizer.trust.layout import has_words
from llmcore.normalizer.trust.listed_calls import goes_on_as_list
from llmcore.normalizer.trust.turns import other_speaks
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.copies import made
from llmcore.types.envelope import Repair
from llmcore.types.limits import Limits
from llmcore.types.tools import CompiledTool, ToolSet

__all__ = ["Reading"]

_ELIDED = "\0"
"""Stands for reasoning and calls in a text that is searched for other speakers."""
_LONG_TRIAL = 4096  # characters: a trial for a restarted call counts once more for each so many
_FEW_PIECES = 16  # searched backwards for a lead-in
_OPENERS = 128  # characters from the beginning of a call that may hold its openers
_NEAR = 256  # characters between a lead-in and its call
_FENCE_HEAD = lazy_regex(r"[`~]{3,24}[^\n]{0,80}\n\s*+(?=\S)")
_CUT_IN_VALUE = frozenset(("cut_member", "cut_string"))
_CUT_THERE = made(Repair, kind="closer_missing", safety="truncated")


class Reading(Record):
    """One text as it is read. Readers may read any attribute; only methods change them.

    `tools` is None if the tools are unknown, and empty if none were offered: then no text is ever a call. `nested` counts the
    fences and other wrappers around this text. In a nested text, bare forms are read, and no events are emitted.
    """

    # Initial values. They are class attributes because __init__ runs once a reply.
    enveloped = False
    """Whether the model was asked for this library's envelope."""
    ended_by_length = False
    """Whether the provider says that a length limit cut the text."""
    verdict: Verdict
    """The verdict on the call that is being read, from the text around it."""
    _places: Judge | None = None
    """Judges positions in this text; made at first use."""
    _last_verdict: tuple[object, Verdict]
    """The last position that was judged, and its verdict."""
    _doubtful: tuple[int, Verdict]
    """Where a doubtful call or its wrapper ended, and its verdict. A call right behind it gets the same verdict."""
    _turns_sought_to = 0
    """Turns of other speakers are sought from this position on."""
    _answer = ""
    _within = -1
    """A call that begins before this position may be part of a value."""
    _addressed: tuple[str, int] | None = None
    """The tool that a header names, and where its body begins; -1 if the body is all that follows.

    The body of such a header is read like any text.
    """

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
        names = None if tools is None else tools.names
        super().__init__(names, limits, takes_calls=tools is None or len(tools) > 0, listening=listening)
        self._driver, self.tools, self.nested, self.forced_tool = driver, tools, nested, forced_tool
        self.verdict = CERTAIN
        self._doubtful = (-1, CERTAIN)
        self._last_verdict = (None, CERTAIN)
        self._on_trial = on_trial
        self._trials = 0 if on_trial else TRIALS[min(nested, len(TRIALS) - 1)]

    def release_driver(self) -> None:
        """Drop the reference to the driver after the text is read, so that no reference cycle remains."""
        self._driver = cast("Driver", None)

    # ------------------------------------------------------------------ asks

    def known(self, name: str) -> bool | None:
        """Whether `name` is exactly a tool's name. None if the tools are unknown."""
        return None if self.tools is None else name in self.tools

    def tool(self, name: str) -> CompiledTool | None:
        """The tool that `name` means, exactly or after peeling what a dialect adds."""
        return None if self.tools is None else self.tools.get(peel(name, self.tools) or name)

    def has_marker(self, at: int) -> bool | None:
        """Whether a marker that counts for this reply stands at `at`. None if more text is needed."""
        return self._driver.has_marker(at)

    def is_unshared(self, opener: str) -> bool:
        """Whether only one row has this opener."""
        return self._driver.is_unshared(opener)

    def is_bare(self, dialect: str) -> bool:
        """Whether `dialect` is a form without a marker."""
        return self._driver.is_bare(dialect)

    @property
    def undecided_call(self) -> Verdict | None:
        """The verdict on the last call that waits for the rest of its line. None if no call waits."""
        on_line = self._unfinished.on_line
        return on_line[-1][1] if on_line else None

    def verdict_at(self, at: int, form: Form, *, fenced: bool = False) -> Verdict:
        """The verdict on a call at `at`, from the text before it. The last verdict is cached for rows that share an opener."""
        place = (at, form, fenced, self.done, self._lead, self._doubtful[0])
        if place != self._last_verdict[0]:
            self._last_verdict = (place, self._new_verdict_at(at, form, fenced=fenced))
        return self._last_verdict[1]

    def _new_verdict_at(self, at: int, form: Form, *, fenced: bool) -> Verdict:
        """The verdict on a call at `at`, not cached. In a nested text, only an element of code within that text decides."""
        if self.nested:
            return CERTAIN if self._on_trial else self._judge().within_code(self.src.text, at, self.line_start(at))
        if self._lead is not None:
            at = self._lead[0]
        if at > self._turns_sought_to:
            self._seek_turn(at)
        if self._doubtful[1].doubt == LED_IN and self.src.text[self._doubtful[0] : at].strip() and self._is_listed(at):
            return self._doubtful[1].decided()
        if (led := self._led_before_reasoning(at, form, fenced=fenced)) is not None:
            return led
        if not self.blank_before(at):
            start = self.text_start()
            line = self.line_start(at)
            if self.names and (begin := call_begins(self.src.text, start, at, self.names)) < at:
                at, line = begin, self.src.text.rfind("\n", 0, begin) + 1
            if not self._space.reaches(self.src.text, start, at):
                return self._judge().judge(Place(self.src.text, at, start, line, form, fenced))
        if self._doubtful[0] >= 0 and not self.src.text[self._doubtful[0] : at].strip():
            return self._doubtful[1]
        return self.undecided_call or CERTAIN

    def _judge(self) -> Judge:
        if self._places is None:
            self._places = Judge(self.names)
        return self._places

    def _is_listed(self, at: int) -> bool:
        """Whether a call at `at` follows the doubtful call as the next item of a list. Reasoning between them is ignored."""
        start, between = self._doubtful[0], ""
        for begin, end, kind in reversed(self.pieces[-_FEW_PIECES:]):
            if end <= start:
                break
            if kind == "content":
                between = self.src.text[max(begin, start) : end] + between
        rest = max(start, self.done)
        between += self.src.text[rest : min(at, rest + _NEAR)]
        return at - rest < _NEAR and goes_on_as_list(between)

    def _led_before_reasoning(self, at: int, form: Form, *, fenced: bool) -> Verdict | None:
        """The verdict from the words before reasoning, if they introduce the call behind it. None if they do not."""
        thought, text = False, self.src.text
        for begin, end, kind in reversed(self.pieces[-_FEW_PIECES:]):
            if kind == "call":
                return None
            thought = thought or kind == "reasoning"
            if kind == "content" and has_words(text[begin:end]):
                if not thought or at - self.done > _NEAR or has_words(text[self.done : at]):
                    return None
                led = self._judge().judge(Place(text, end, begin, text.rfind("\n", 0, end) + 1, form, fenced))
                return led if led.shown or led.doubt == LED_IN else None
        return None

    def _seek_turn(self, at: int) -> None:
        """Set `turned` if another speaker's turn begins in the text between the last search and a call at `at`."""
        start, self._turns_sought_to = self._turns_sought_to, at
        if not self.turned and other_speaks(self.src.text[start:at]):
            spoken = "".join(
                self.src.text[max(begin, start) : end] if kind in ("content", "markup") else _ELIDED
                for begin, end, kind in (*self.pieces, (self.done, at, self.text_kind))
                if end > start
            )
            self.turned = other_speaks(spoken)

    # ------------------------------------------------------------------ decides

    def begin(self, start: int, name: str, dialect: str, id: str = "") -> Draft:
        """Begin a call at `start` that is certain, and return its draft.

        The draft has index -1 and is left out if the call has no name or exceeds the limit of calls. So is a call of several
        tools: `end` begins the calls within it.
        """
        self.text(start)
        if holds_calls(name, self.tools):
            return Draft(-1, name, id, dialect, start)
        return self._begin(start, name, dialect, id)

    def _begin(self, start: int, name: str, dialect: str, id: str) -> Draft:
        self._left_open = None
        if len(self.drafts) >= self.limits.calls or not name.strip() or self._next_call >= 0:
            return Draft(-1, name, id, dialect, start)
        draft = Draft(self.begun, name, id, dialect, start)
        self.begun += 1
        self.drafts.append(draft)
        if self.emitter is not None:
            self.emitter.call_started(draft.index, id, name)
        return draft

    def end(
        self,
        draft: Draft,
        end: int,
        arguments: dict[str, Any] | None,
        raw: str,
        *,
        complete: bool = True,
        repairs: list[Repair] | None = None,
        sealed: bool = False,
        closed_to: int = -1,
    ) -> None:
        """Finish the call that `draft` began; it spans to `end`.

        `sealed`: closers show where the call and each of its values ends, so an opener in a value is part of that value.
        `closed_to`: the same for the values before this position, in a call that is cut.
        """
        if self._next_call >= 0:  # the reader went on behind the next call's opener
            if draft.index >= 0 and draft.is_open:
                draft.start = min(draft.start, self._next_call)
                draft.finish(self._next_call, None, "", False, [])
                self._is_read(draft)
            return
        if draft.index < 0 and holds_calls(draft.name, self.tools):
            self._unfold(draft, end, arguments, raw, complete, repairs or [])
            return
        if draft.index < 0:
            self.miss(draft.start, end, draft.name or None, "calls_limit" if draft.name.strip() else "no_name")
            self.take("content", end)
            return
        found = repairs or []
        again = None if sealed else find_restart(self, draft, end, arguments, raw, complete, found, closed_to)
        if again is not None and again.within:
            complete, found = False, [*found, _CUT_THERE]
        elif again is not None:
            if again.at >= 0:
                self._cut_at(draft, again.at, again.drafts)
                self._within = end if again.goes_on else self._within
                return
            found = [*found, Repair(kind="closer_missing", safety="guess")]
        elif found and swallowed_closers(self, arguments, raw, complete, found):
            found = [*found, Repair(kind="closer_missing", safety="guess")]
        if arguments:
            arguments, paths = with_paths(arguments, raw)
            found = [*found, *paths] if paths else found
        if arguments and (shown := placeholders_in(arguments)):
            found = [*(repair for repair in found if repair.kind != "placeholder"), *shown]
        if arguments and complete:
            tool = self.tool(draft.name)
            found = [*found, *remains_in(arguments, found, raw, {} if tool is None else tool.properties)]
        other = self._is_misaddressed(draft) or names_another(arguments, draft.name, self.tools)
        if other and all(repair.kind != NAMES_DIFFER for repair in found):
            found = [*found, Repair(kind=NAMES_DIFFER, after=draft.name, safety="guess")]
        if draft.start < self._within:
            found = [*found, Repair(kind="within_value", safety="guess")]
        if self.invented or self.turned:
            found = [*found, Repair(kind="after_invented_result", safety="guess")]
        if self.verdict.doubt:
            found = [*found, Repair(kind=self.verdict.doubt, before=self.verdict.words, safety="guess")]
        draft.finish(end, arguments, raw, complete, found)
        if not complete and ((again is not None and again.within) or any(repair.kind in _CUT_IN_VALUE for repair in found)):
            self._left_open = draft
        if end > self.done:
            self.take("call", end)
        self._turns_sought_to = max(self._turns_sought_to, end)  # what a call says is no turn
        if self.emitter is not None and not draft.has_deltas:
            self.delta(draft, draft.text)
        self._is_read(draft)

    def _unfold(
        self, draft: Draft, end: int, arguments: dict[str, Any] | None, raw: str, complete: bool, repairs: list[Repair]
    ) -> None:
        """Enter the calls within a call of several tools, and the text beside them. If none can be read, enter the call
        itself."""
        calls, text_beside = self._driver.calls_in(arguments or {})
        for k, listed in enumerate(calls):
            mine = self._begin(draft.start, listed.name, draft.dialect, listed.id or ("" if k else draft.id))
            whole = listed.complete and (complete or k < len(calls) - 1)
            self.end(mine, end, listed.arguments, listed.raw, complete=whole, repairs=[*repairs, *listed.repairs], sealed=True)
        if calls and text_beside:
            self.replace(draft.start, end, text_beside)
        if not calls:
            mine = self._begin(draft.start, draft.name, draft.dialect, draft.id)
            self.end(mine, end, arguments, raw, complete=complete, repairs=repairs)

    def _is_misaddressed(self, draft: Draft) -> bool:
        """Whether the header before the call names another tool."""
        if self._addressed is None:
            return False
        name, at = self._addressed
        if at >= 0:  # an element's body: it holds one call at most
            self._addressed = None
        stands = at < 0 or openers_before(self.src.text, at, draft.start) == at
        tool = self.tool(name)
        return stands and name != draft.name and (tool is None or tool is not self.tool(draft.name))

    def _is_read(self, draft: Draft) -> None:
        """Finish a call that has been read, unless it or one before it waits for the text that follows."""
        if not self._unfinished.keeps(draft, self.verdict):
            self._finished([draft])

    def _cut_at(self, draft: Draft, at: int, read: list[Draft]) -> None:
        """End the call, and others that share its span, at `at`, where the next call begins.

        `read` has the drafts that the part text gives.
        """
        start = draft.start
        mates = [mate for mate in self.drafts[self.drafts.index(draft) :] if mate.is_open]
        for k, part in enumerate(read or [draft]):
            last = k == len(read) - 1 or not read
            mine = mates[k] if k < len(mates) else self.begin(start, part.name, draft.dialect, part.id)
            repairs = part.repairs if read else []
            if last and not (read and part.complete):
                repairs = [*(repair for repair in repairs if repair.kind != "closer_missing" or repair.path), _CUT_THERE]
            self._trials, trials = 0, self._trials
            self.end(mine, at, part.arguments if read else None, part.raw, complete=bool(read) and part.complete, repairs=repairs)
            self._trials = trials
        self._next_call, self._left_open = at, None

    def may_try_restart(self, characters: int = 0) -> bool:
        """Whether one more trial for a restarted call is allowed. Charges for it, more if it reads many `characters`."""
        may = self._trials > 0
        self._trials -= 1 + characters // _LONG_TRIAL
        return may

    def resumed(self, position: int) -> int:
        """Where the walk continues: at the call that the last one swallowed, else at `position`."""
        if self._next_call >= 0:
            position, self._next_call = self._next_call, -1
        return position

    def set_addressee(self, name: str, at: int = -1) -> None:
        """Record that a header names the tool `name` ("" for none); its body is read like any text.

        `at` is where an element's body begins. A message's header (-1) counts for all calls up to the next header.
        """
        self._addressed = (name, at) if name else None

    @property
    def leaves_value_open(self) -> bool:
        """Whether the last call ended in an open value."""
        return self._left_open is not None

    def in_open_value(self, at: int, opener: str = "", dialect: str = "") -> bool:
        """Whether `at` stands in a value that the last call left open. No call begins in such a value.

        A restarted call begins a line, and begins as the open one did: by the same `opener`, or in the same `dialect`. A form
        without a marker begins with a bracket or, if `opener` is "", with a word, in a fence or not.
        """
        left, text = self._left_open, self.src.text
        if left is None:
            return False
        if not begins_line(text, left.start, at):
            return True
        if dialect:
            return dialect != left.dialect and text.find(opener, left.start, min(at, left.start + _OPENERS)) < 0
        begun = text[past(_FENCE_HEAD, text, left.start)]
        return begun != opener if opener else not begun.isalpha()

    def set_verdict(self, verdict: Verdict, *, passes_on: bool = True) -> None:
        """Set the verdict on the call that is read next. If `passes_on`, a call right behind the last one shares its doubt."""
        if passes_on and (self.verdict.doubt or self.verdict.quotation is not None or self.verdict.in_line):
            self._doubtful = (self.done, self.verdict)
        self.verdict = verdict

    def shown(self, end: int, reason: str) -> None:
        """Record that an example ends at `end`; `reason` says what makes it one."""
        self._doubtful = (-1, CERTAIN)
        self._last_verdict = (None, CERTAIN)
        if self._places is not None:
            self._places.shown(end, reason)

    def marker(self, at: int) -> Steps[bool]:
        """Try the rows whose opener stands at `at`. Returns True if one of them consumed text."""
        return (yield from self._driver.marker(at))

    def nest(self, text: str, *, on_trial: bool = False, to_end: bool = False) -> Nested:
        """Read the body of a fence or another wrapper by itself. `to_end`: the text's end ended it.

        Its failed look-aheads are charged here too, because wrappers may be read again from the next opener within them.
        """
        inner, cost = self._driver.nest(text, on_trial=on_trial, by_length=to_end and self.ended_by_length)
        self.backtrack_budget.pay(cost)
        return inner

    def adopt(self, inner: Nested, start: int, end: int, dialect: str | None = None) -> None:
        """Take over the calls of a nested reading. They span `start:end`, which holds nothing else."""
        self.text(start)
        for draft in inner.drafts:
            mine = self.begin(start, draft.name, dialect or draft.dialect, draft.id)
            self.end(mine, end, draft.arguments, draft.raw, complete=draft.complete, repairs=draft.repairs)
        if self._next_call >= 0:  # one was restarted, and the walk goes on from there
            return
        self.take("call", end)
        self.cut = self.cut or inner.cut
        if inner.needs_more_work is not None:
            self.needs_more_work = inner.needs_more_work
        if inner.content:
            self.replace(start, end, inner.content)

    def open_answer(self, opener: str) -> None:
        """Record that a wrapper around the answer opens (`<answer>`)."""
        self._answer = opener

    def close_answer(self, closer: str) -> bool:
        """Whether `closer` closes the open wrapper around the answer. If so, the wrapper is over."""
        if self._answer != closer.replace("/", ""):
            return False
        self._answer = ""
        return True

    # ------------------------------------------------------------------ for the engine

    def asked_for_envelope(self) -> None:
        """Record that the model was asked for this library's envelope."""
        self.enveloped = True

    @property
    def expects_object(self) -> bool:
        """Whether the model was asked for an object instead of a call: the envelope, or a forced tool's arguments."""
        return self.forced_tool is not None or ENVELOPE in self.counted

    def set_counted(self, counted: frozenset[str], bare: bool, others: bool) -> None:
        """Set the dialects that are calls in the answer of a framed reply.

        `bare`: one of them has no marker. `others`: one of them has no frames.
        """
        self.counted, self.counts_bare, self.counts_others = counted, bare, others

    def set_own_dialects(self, own: frozenset[str] | None) -> None:
        """Set the model's own dialects."""
        self._unfinished.own = own

    def end_reached(self, *, by_length: bool) -> None:
        """Record that no more text comes."""
        self.ended_by_length = by_length
        self.src.final = True

    def nested_result(self, content: str) -> Nested:
        """The result of this reading for the reading around it."""
        return Nested(self.drafts, self.near_misses, content, self._has_content, self.needs_more_work, self.cut)
