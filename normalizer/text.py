"""The text engine: one incremental pass over a reply's text, whatever dialect it is written in.

The engine walks from one trigger character to the next (`str.find`, so that prose costs next to nothing), looks closely only
there, and hands a marker to the rows of the registry that share it. A reader is a generator (see `source`): it consumes, asks
for more text, or declines, and then its text is content.

Rules
- Everything before `done` is classified: `pieces` tile it. A reader moves `done` only when it is certain (`commit_to`,
  `take`, `begin`/`end`); until then it may decline at no cost.
- One-shot reading is feeding all of it: there is no second path.
- Events are built only when somebody listens, and nothing emitted is taken back: `Reclassified` says what became of it.
- Complexity: linear in the text for any chunking. A candidate that fails costs its look-ahead once; failed look-aheads of bare
  forms share one allowance, so that a flood of openers cannot make it quadratic.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection
from functools import lru_cache
from typing import Any

from llmcore.normalizer import bare, opening, registry
from llmcore.normalizer.draft import Draft
from llmcore.normalizer.rows import Marker, tag_pairs
from llmcore.normalizer.source import Source, Steps, always, skip_space
from llmcore.normalizer.verdicts import BEFORE_BARE
from llmcore.types.envelope import NearMiss, Repair, Segment, SegmentKind, ToolCall
from llmcore.types.events import (
    ArgumentsDelta,
    NormalizerEvent,
    ReasoningDelta,
    Reclassified,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)
from llmcore.types.limits import DEFAULT_LIMITS, Limits
from llmcore.types.tools import CompiledTool, ToolSet

__all__ = ["TextEngine"]

_TRIGGER = re.compile(r"[<\[{`(◁A]")
_TRIGGERS = ("<", "[", "{", "`", "(", "◁", "A")
_ACTION = "Action:"  # the one trigger that is a word; a search for its first character costs a tenth of one for the word
_NESTING = 3  # wrappers within wrappers that are read: each level reads its body once more
_NO_TOOLS = ToolSet([])
_WASTE = 131_072  # characters that failed look-aheads may cost beyond those that stand before them
_FAILURE = 256  # what a failed look-ahead costs beside its length, in characters
_OVERLAP = len(_ACTION) - 1
_NEAR = 64  # within this reach one regular expression is cheaper than seven finds (measured)
_UNDECIDED_TAG = re.compile(  # what may still become an opener when more text comes
    r"<(?:/co:[^<>\n]{0,64}|/?[|｜‖][^<>\n]{0,60}|[^\s<>]{0,60})\Z|\[[A-Z_/ ]{0,24}\Z|◁[^\s▷]{0,12}\Z"
    r"|\]<?\]?\w{0,8}\[?>?\[?(?:</?\w{0,16})?\Z"
)
_AFTER_BRACKET = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ/")  # `[TOOL_CALLS]`, `[/THINK]`
_ADDED_ENDS = frozenset("0123456789tlen_s")  # print(, f.call(, tool_code(, json{, f:0{, functools{


@lru_cache(maxsize=256)
def name_ends(names: frozenset[str]) -> frozenset[str]:
    """The characters with which a name that counts without a marker may end."""
    return _ADDED_ENDS | {name[-1] for name in names}


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
    """What look-aheads that came to nothing cost, in characters."""
    wrapper = ""
    """The opener of the wrapper around the answer that is open (`<answer>`)."""
    _line_start = 0
    _line_sought = 0
    _emitted = 0
    _held_space = ""
    _spoken = False
    _said_anything = False
    _count = 0
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
        self.listening = listening
        self.nested = nested
        self.forced_tool = forced_tool
        self.dialects = dialects
        self.table = registry.marker_table(dialects)
        self.takes_calls = tools is None or len(tools) > 0
        self._tag_pairs = tag_pairs(tools.names) if tools is not None and self.table.tool_tags else frozenset[str]()
        self._name_ends = name_ends(tools.names) if tools is not None else None
        self.drafts: list[Draft] = []
        self.near_misses: list[NearMiss] = []
        self.repairs: list[Repair] = []
        self.pieces: list[tuple[int, int, SegmentKind]] = []
        self.replaced: list[tuple[int, int, str]] = []
        self._ahead = [-1] * len(_TRIGGERS)
        self._sought = [0] * len(_TRIGGERS)
        self._overflow: list[str] = []
        self._events: list[NormalizerEvent] = []
        self._steps = self._run(reasoning_open)

    # ------------------------------------------------------------------ the face

    def feed(self, text: str) -> list[NormalizerEvent]:
        """More text. Returns the events it settles (none when not listening)."""
        self._grow(text)
        if self._running:
            self._resume()
        return self._drain()

    def finish(self, finish_reason: str | None = None) -> list[NormalizerEvent]:
        """The text is whole. `finish_reason`: ours (`length` = the provider says that it was cut)."""
        self.ended_by_length = finish_reason == "length"
        self.src.final = True
        if self._running:
            self._resume()
        self._close()
        return self._drain()

    def read(self, text: str, finish_reason: str | None = None) -> TextEngine:
        """The whole text at once: `feed` and `finish` in one resumption. Returns self."""
        self._grow(text)
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
        return None if self.tools is None else self.tools.get(name)

    def commit_to(self, at: int) -> None:
        """Everything up to `at` is plain text of the current kind. Text already emitted beyond `at` is reclassified later."""
        if at > self.done:
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
            if self._held_space and kind != "content":
                self._drop_space()
        self.done = end
        if kind == "content" and not self._said_anything:
            self._said_anything = not self.src.text[start:end].isspace()
        if self.listening:
            self._tell(kind, start, end)

    def begin(self, start: int, name: str, dialect: str, id: str = "") -> Draft:
        """A call is certain: its name and that it starts at `start`. One too many is a draft that stays out (index -1)."""
        self.commit_to(start)
        if len(self.drafts) >= self.limits.calls:
            return Draft(-1, name, id, dialect, start)
        draft = Draft(self._count, name, id, dialect, start)
        self._count += 1
        self.drafts.append(draft)
        if self.listening:
            self._events.append(ToolCallStarted(draft.index, id or f"call_{draft.index}", name))
        return draft

    def delta(self, draft: Draft, json: str) -> None:
        """More of the call's arguments, as JSON text."""
        if self.listening and json and draft.index >= 0:
            draft.sent += len(json)
            self._events.append(ArgumentsDelta(draft.index, json))

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
            self.miss(draft.start, end, draft.name, "calls_limit")
            self.take("content", end)
            return
        found = list(repairs or ())
        if self.invented:
            found.append(Repair(kind="after_invented_result", safety="guess"))
        draft.finish(end, arguments, raw, complete, found)
        if end > self.done:
            self.take("call", end)
        if self.listening:
            if not draft.sent and draft.text:
                self._events.append(ArgumentsDelta(draft.index, draft.text))
            self._events.append(ToolCallFinished(draft.index, self._call(draft)))

    def miss(self, start: int, end: int, name: str | None, reason: str) -> None:
        """Record that `start:end` looked like a call and was not taken as one."""
        self.waste()
        if len(self.near_misses) < self.limits.near_misses:
            self.near_misses.append(NearMiss(span=(start, end), name=name, reason=reason))

    def replace(self, start: int, end: int, text: str) -> None:
        """The content of `start:end` reads as `text` (an envelope's own content, an unescaped answer)."""
        self.replaced.append((start, end, text))
        if self.listening and text:
            self._events.append(TextDelta(self._held_space + text))
            self._held_space, self._spoken = "", True

    def replacing(self, start: int, end: int) -> list[str]:
        """What stretches within `start:end` read as."""
        replaced = self.replaced
        first = bisect_left(replaced, (start,))
        last = bisect_left(replaced, (end,), first)
        return [said for _, stop, said in replaced[first:last] if stop <= end]

    def withdraw(self, end: int) -> None:
        """Everything up to `end` turns out to be reasoning, calls included (a closer of reasoning that had no opener)."""
        self.drafts.clear()
        self.near_misses.clear()
        self.replaced.clear()
        self.needs_more_work = None
        self.pieces = [(0, end, "reasoning")] if end else []
        self._said_anything = False
        self.done = end
        if self.listening:
            if self._emitted:
                self._events.append(Reclassified(0, min(end, self._emitted), "reasoning"))
            if end > self._emitted:
                self._events.append(ReasoningDelta(self.src.text[self._emitted : end]))
            self._emitted = max(self._emitted, end)
            self._held_space, self._spoken = "", False

    def line_start(self, at: int) -> int:
        """Where the line that holds `at` begins. Amortised: only text not looked at yet is searched."""
        if at < self._line_sought:
            return self.src.text.rfind("\n", 0, at) + 1 if at < self._line_start else self._line_start
        found = self.src.text.rfind("\n", self._line_sought, at)
        if found >= 0:
            self._line_start = found + 1
        self._line_sought = at
        return self._line_start

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
        if self._is_undecided(at):
            return None
        found = self.table.match(text, at)
        if found is not None and (self.takes_calls or not all(row.calls for row in found[1])):
            return True
        named = self.tools is not None and self._tag_pairs and self.table.match_tool_tag(text, at, self.tools.names)
        return bool(named)

    def says_anything(self) -> bool:
        """Has any content been committed that is not white space?"""
        return self._said_anything

    def nest(self, text: str) -> TextEngine:
        """Read the body of a fence (or of another wrapper) by itself. Wrappers deeper than `_NESTING` hold no calls."""
        limits, tools = self.limits, self.tools if self.nested < _NESTING else _NO_TOOLS
        return TextEngine(tools, dialects=self.dialects, limits=limits, listening=False, nested=self.nested + 1).read(text)

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

    # ------------------------------------------------------------------ the walk

    def _run(self, reasoning_open: bool) -> Steps[None]:
        if reasoning_open:
            yield from opening.open_reasoning(self)
        elif not self.src.text or self.src.text[0] in opening.FIRST:
            yield from opening.opening(self)
        yield from self.walk()

    def walk(self) -> Steps[None]:
        """From trigger to trigger until the text ends; the rest is text of the current kind."""
        src = self.src
        position = self.done
        while True:
            at = self._next_trigger(position)
            if at < 0:
                if src.final:
                    break
                position = max(position, len(src.text) - _OVERLAP, self.done)
                if self.listening:
                    self._emit_to(bare.settled_text(self, position))
                yield
                continue
            position = at + 1 if self._opens_nothing(at) else max(at + 1, (yield from self._look(at)))
        self.commit_to(len(src.text))

    def _opens_nothing(self, at: int) -> bool:
        """Can the characters next to a trigger tell that nothing opens there? A cheap look before the close one."""
        text = self.src.text
        trigger, before, after = text[at], text[at - 1 : at], text[at + 1 : at + 2]
        if trigger == "(":
            return not self._may_end_name(before)
        if at == self.done or (before in BEFORE_BARE and trigger != "<"):
            return False
        if trigger == "{":  # after the header `to=NAME` anything may stand before it
            return not self._may_end_name(before) and text.find("to=", max(self.done, at - 512), at) < 0
        if not after:
            return False
        if trigger == "[":
            return after not in _AFTER_BRACKET and before not in "s\\"
        if trigger == "<":
            pair = text[at + 1 : at + 3]
            return before != "]" and len(pair) == 2 and self._is_unlikely(pair, at)
        return False

    def _may_end_name(self, char: str) -> bool:
        """May a name that counts without a marker end with this character?"""
        ends = self._name_ends
        return char in ends if ends is not None else char.isalnum() or char == "_"

    def _is_unlikely(self, pair: str, at: int) -> bool:
        """Does no opener begin with `<` and these two characters?"""
        table = self.table
        if pair in table.pairs or pair in self._tag_pairs or pair.strip("/")[:1] in table.bars:
            return False
        return not registry.may_be_prefixed(self.src.text, at)

    def _next_trigger(self, position: int) -> int:
        """The first trigger at or after `position`, or -1. Each trigger is sought through the text once."""
        text = self.src.text
        found = _TRIGGER.search(text, position, position + _NEAR)
        while found is not None:
            at = found.start()
            if text[at] != "A" or text.startswith(_ACTION, at):
                return at
            found = _TRIGGER.search(text, at + 1, position + _NEAR)
        if len(text) - position <= _NEAR:
            return -1
        ahead, sought, best = self._ahead, self._sought, -1
        for k, trigger in enumerate(_TRIGGERS):
            at = ahead[k]
            if at < position:
                start = sought[k] if sought[k] > position else position
                at = text.find(trigger, start)
                while at >= 0 and trigger == "A" and not text.startswith(_ACTION, at):
                    at = text.find(trigger, at + 1)
                ahead[k] = at
                sought[k] = at if at >= 0 else len(text) - _OVERLAP
                if at < 0:
                    continue
            if best < 0 or at < best:
                best = at
        return best

    def _look(self, at: int) -> Steps[int]:
        """Look closely at a trigger. Returns where to go on."""
        trigger = self.src.text[at]
        if trigger == "<" and at > self.done and self.src.text[at - 1] == "]":  # perhaps the middle of `]<]`
            while at + 1 >= len(self.src.text) and not self.src.final:
                yield
            if self.src.text.startswith("]", at + 1):
                took = yield from self.marker(at - 1)
                return self.done if took else at + 1
        if trigger in "<[◁" and (yield from self.marker(at)):
            return self.done
        handler = bare.HANDLERS.get(trigger)
        if handler is None or not self.takes_calls or self.text_kind == "reasoning":
            return at + 1
        return (yield from handler(self, at))

    def _takes_marker(self, at: int) -> bool:
        """May a call begin here? Not beyond the limit, in a quotation, or after too many that came to nothing."""
        return self.takes_calls and not self.is_spent(at) and len(self.drafts) < self.limits.calls and not self._quoted(at)

    def waste(self, characters: int = 0) -> None:
        """A look-ahead over so many characters came to nothing."""
        self.wasted += characters + _FAILURE

    def is_spent(self, at: int) -> bool:
        """Did look-aheads that came to nothing cost so much that none begins at `at`? The work stays linear by that."""
        return self.wasted > at + _WASTE

    def marker(self, at: int) -> Steps[bool]:
        """Try the rows whose opener stands at `at`."""
        src = self.src
        if src.text[at] == "<":
            pair = src.text[at + 1 : at + 3]
            if len(pair) == 2 and self._is_unlikely(pair, at):
                return False
        while self._is_undecided(at):
            if self.listening:
                self._emit_to(at)
            yield
        for body, rows in self._rows_at(at):
            for row in rows:
                if row.calls and not self._takes_marker(at):
                    continue
                if self.listening and row.follows is not always:
                    self._emit_to(at)
                ahead = body if row.follows is always else (yield from skip_space(src, body))
                verdict = row.follows(src.text, ahead, src.final)
                while verdict is None:
                    yield
                    verdict = row.follows(src.text, ahead, src.final)
                if not verdict:
                    continue
                if self.listening:
                    self._emit_to(at)
                if (yield from row.reader(self, at, body)):
                    if row.calls:
                        self.text_kind = "content"
                    return True
                if row.calls:
                    self.waste()
        return False

    def _is_undecided(self, at: int) -> bool:
        """May what stands at `at` still become an opener when more text comes?"""
        src = self.src
        if src.final or len(src.text) - at >= 64:
            return False
        return _UNDECIDED_TAG.match(src.text, at) is not None or src.text[at:] in self.table.partials

    def _quoted(self, at: int) -> bool:
        """Does the line begin with `> `, as a quotation does?"""
        start = self.line_start(at)
        return self.src.text.startswith("> ", start) and start >= self.text_start()

    def _rows_at(self, at: int) -> list[tuple[int, list[Marker]]]:
        """(end of the opener, rows that share it): the registry's, then those of a tag that is the name of a tool."""
        found = self.table.match(self.src.text, at)
        if not self._tag_pairs or self.tools is None:
            return [found] if found is not None else []
        named = self.table.match_tool_tag(self.src.text, at, self.tools.names)
        return [rows for rows in (found, named) if rows is not None]

    # ------------------------------------------------------------------ growing and telling

    def _grow(self, text: str) -> None:
        src = self.src
        if len(src.text) + len(text) > self.limits.text:
            room = max(0, self.limits.text - len(src.text))
            if len(text) > room:
                self._overflow.append(text[room:])
                text = text[:room]
        grown, src.text = src.text, ""  # one reference only: CPython then appends in place, in amortised O(len(text))
        grown += text
        src.text = grown

    def _resume(self) -> None:
        for _ in self._steps:
            return
        self._running = False

    def _drain(self) -> list[NormalizerEvent]:
        if not self._events:
            return []
        events, self._events = self._events, []
        return events

    def emit_text(self, end: int) -> None:
        """For readers that wait: text before `end` is settled, tell the listener."""
        if self.listening:
            self._emit_to(end)

    def _emit_to(self, end: int) -> None:
        start = max(self._emitted, self.done)
        if end > start:
            self._say(self.text_kind, self.src.text[start:end])
            self._emitted = end

    def _say(self, kind: SegmentKind, text: str) -> None:
        if kind == "reasoning":
            self._events.append(ReasoningDelta(text))
            return
        body = text.rstrip()
        if not body:
            self._held_space += text
            return
        lead = self._held_space
        if not self._spoken and any(piece[2] != "content" for piece in self.pieces):
            body, lead = body.lstrip(), ""
        self._events.append(TextDelta(lead + body))
        self._held_space = text[len(text.rstrip()) :]
        self._spoken = True

    def _tell(self, kind: SegmentKind, start: int, end: int) -> None:
        said = self._emitted
        if kind in ("content", "reasoning"):
            if end > max(start, said):
                self._say(kind, self.src.text[max(start, said) : end])
        elif said > start:
            self._events.append(Reclassified(start, min(said, end), kind))
        self._emitted = max(said, end)

    def _drop_space(self) -> None:
        """White space alone between two blocks is markup (`_settle_spaces`): what was held of it is not said."""
        if len(self.pieces) > 1:
            start, end, kind = self.pieces[-2]
            if kind == "content" and self.src.text[start:end].isspace():
                self._held_space = self._held_space[: start - end]

    # ------------------------------------------------------------------ the end

    def _close(self) -> None:
        if self._overflow:
            length = len(self.src.text)
            total = length + sum(map(len, self._overflow))
            self.miss(length, total, None, "text_limit")
            self.pieces.append((length, total, "content"))
        drafts = self.drafts
        self.calls: list[ToolCall] = [self._call(draft) for draft in drafts]
        self.truncated = self.cut or (bool(drafts) and not all(draft.complete for draft in drafts))
        if len(self.pieces) == 1 and not self.replaced:  # most replies are one thing
            kind, text = self.pieces[0][2], self.source
            self.content = text if kind == "content" else ""
            self.reasoning = text if kind == "reasoning" else ""
        else:
            self._settle_spaces()
            self.content = self._joined("content")
            self.reasoning = self._joined("reasoning")
        if self.listening:
            self._say_last()

    def _say_last(self) -> None:
        if self._overflow:
            self._say("content", "".join(self._overflow))
        if self._held_space and self.pieces[-1][2] == "content":
            self._events.append(TextDelta(self._held_space))

    def _call(self, draft: Draft) -> ToolCall:
        return ToolCall.trusted(
            id=draft.id,
            name=draft.name,
            arguments=draft.arguments,
            raw_arguments=draft.raw,
            dialect=draft.dialect,
            span=(draft.start, draft.stop),
            complete=draft.complete,
            known=None if self.tools is None else draft.name in self.tools.names,
            repairs=draft.repairs,
        )

    def _settle_spaces(self) -> None:
        """White space next to removed markup is markup: alone between two blocks, or at either end of the content."""
        pieces, text = self.pieces, self.source
        if len(pieces) < 2:
            return
        said = [
            k
            for k, (start, end, kind) in enumerate(pieces)
            if (not text[start:end].isspace() if kind == "content" else self.replacing(start, end))
        ]
        settled: list[tuple[int, int, SegmentKind]] = []
        for k, (start, end, kind) in enumerate(pieces):
            if kind != "content":
                settled.append((start, end, kind))
            elif k not in (said[:1] + said[-1:]) and text[start:end].isspace():
                settled.append((start, end, "markup"))
            else:
                first, last = k == said[0] and k > 0, k == said[-1] and k < len(pieces) - 1
                settled += _trimmed(text, start, end, first, last)
        self.pieces = settled

    def _joined(self, kind: SegmentKind) -> str:
        text = self.source
        parts: list[str] = []
        for start, end, piece in self.pieces:
            if piece == kind:
                parts.append(text[start:end])
            elif kind == "content":
                parts.extend(self.replacing(start, end))
        return "".join(parts)


def _trimmed(text: str, start: int, end: int, first: bool, last: bool) -> list[tuple[int, int, SegmentKind]]:
    """A piece of content without the white space at its start (`first`) or end (`last`), which is markup."""
    said = text[start:end]
    begin = end - len(said.lstrip()) if first else start
    stop = start + len(said.rstrip()) if last else end
    tiles: list[tuple[int, int, SegmentKind]] = [(start, begin, "markup"), (begin, stop, "content"), (stop, end, "markup")]
    return [tile for tile in tiles if tile[0] < tile[1]]
