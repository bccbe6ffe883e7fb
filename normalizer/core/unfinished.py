"""Calls that are read and not finished: what stands behind them decides whether they are guesses.

Four places are decided by what follows. A call with words before it on its line is a guess if words follow it there; one
within a sentence, if the sentence goes on; any, if the words behind it talk of it (`words_behind`)
or are the next step of a how-to (`listed_steps`); and any that stands in the reply once more, in another form.
The line is over soon; the last is known when the reply is over.

Listeners hear of calls in order, so a call waits for those before it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from llmcore.normalizer.core.draft import Draft
from llmcore.normalizer.core.pieces import Piece
from llmcore.normalizer.trust.dialogues import is_in_dialogue
from llmcore.normalizer.trust.listed_steps import is_listed_step
from llmcore.normalizer.trust.surroundings import Standing, has_words
from llmcore.normalizer.trust.words_behind import REACH, is_left_over, is_retold, sentence_before_step, talk_of_it
from llmcore.types.envelope import NearMiss, Repair

__all__ = ["Unfinished", "UnfinishedMark"]


_MOST = 16  # calls that are compared
_SHOWN = 120  # characters of what was left over


class UnfinishedMark(NamedTuple):
    """What was unfinished at some point."""

    on_line: list[tuple[Draft, Standing]]
    waiting: int


class Unfinished:
    """The unfinished calls of one reading."""

    __slots__ = ("on_line", "waiting")

    def __init__(self) -> None:
        self.on_line: list[tuple[Draft, Standing]] = []
        """Those for which the rest of the line, or of the sentence, decides."""
        self.waiting: list[tuple[Draft, Standing]] = []
        """Those for which the rest of the reply decides, and all behind the first of them."""

    def keeps(self, draft: Draft, standing: Standing) -> bool:
        """Is the call that was just read one of them? Then it is kept here."""
        if standing.waits_for_line or self.on_line:
            self.on_line.append((draft, standing))
        elif standing.judged_behind or self.waiting:
            self.waiting.append((draft, standing))
        else:
            return False
        return True

    def line_over(self, *, words_follow: bool) -> list[Draft]:
        """The line of the calls is over, or words follow them on it. Returns those that are finished by that."""
        finished: list[Draft] = []
        for draft, standing in self.on_line:
            doubt = "words_on_both_sides" if standing.in_line else "within_a_sentence" if standing.in_sentence else ""
            if words_follow and doubt:
                draft.doubted(Repair(kind=doubt, before=standing.words or None, safety="guess"))
            if standing.judged_behind or self.waiting:
                self.waiting.append((draft, standing))
            else:
                finished.append(draft)
        self.on_line = []
        return finished

    def reply_over(
        self, drafts: Sequence[Draft], text: str, pieces: Sequence[Piece], done: int, near_misses: Sequence[NearMiss]
    ) -> list[Draft]:
        """No more calls come; `drafts` are all of them, and behind `done` nothing is classified. Returns those that are finished
        by that. `near_misses` are no words behind a call."""
        judged = {id(draft) for draft, standing in self.waiting if standing.judged_behind}
        behind, is_talked_of = len(text), False
        for draft in reversed(drafts) if judged else ():
            if id(draft) in judged:
                said = _content(text, pieces, done, draft.stop, behind, near_misses)
                if is_left_over(said, draft.name):
                    draft.doubted(Repair(kind="text_dropped", before=said.strip()[:_SHOWN], safety="guess"))
                last = behind == len(text)
                is_talked_of = is_talked_of or (has_words(said) and _talks(said, _above(text, pieces, draft.start), last=last))
                if is_talked_of:
                    draft.doubted(Repair(kind="between_sentences", safety="guess"))
            else:
                is_talked_of = False
            behind = draft.start
        if judged and len({draft.dialect for draft in drafts[:_MOST]}) > 1:
            for draft in _compared(drafts[:_MOST], text, pieces, done):
                if id(draft) in judged and not any(repair.safety == "guess" for repair in draft.repairs):
                    draft.doubted(Repair(kind="two_forms", safety="guess"))
        return self.all_over()

    def result_follows(self, text: str, pieces: Sequence[Piece], done: int) -> list[Draft]:
        """The model wrote a result behind its calls, and nothing that follows is one. Returns those that are finished by that."""
        judged = [draft for draft, standing in self.waiting if standing.judged_behind]
        if judged:
            said = _content(text, pieces, done, judged[-1].stop, len(text), ())
            before = _content(text, pieces, done, max(0, judged[0].start - REACH), judged[0].start, ())
            for draft in judged if has_words(before) and is_retold(said, before) else ():
                draft.doubted(Repair(kind="between_sentences", safety="guess"))
        return self.all_over()

    def all_over(self) -> list[Draft]:
        """Nothing behind them makes them guesses any more. Returns them."""
        finished = [draft for draft, _ in self.waiting]
        self.waiting = []
        return finished

    def withdrawn(self) -> list[Draft]:
        """None of them is a call. Returns them, in order."""
        over = [draft for draft, _ in self.waiting + self.on_line]
        self.waiting, self.on_line = [], []
        return over

    def mark(self) -> UnfinishedMark:
        return UnfinishedMark(list(self.on_line), len(self.waiting))

    def restore(self, mark: UnfinishedMark) -> None:
        """As it was then."""
        self.on_line = mark.on_line
        del self.waiting[mark.waiting :]

    def ids(self) -> set[int]:
        return {id(draft) for draft, _ in self.on_line + self.waiting}


def _talks(said: str, above: str, *, last: bool) -> bool:
    """Do the words behind a call talk of it, or is it one of several steps? `above`: the words before it; `last`: no other call
    follows."""
    return (
        talk_of_it(said, sentence_before_step(above))
        or is_listed_step(said, above, call_follows=not last)
        or is_in_dialogue(said, above)
    )


def _above(text: str, pieces: Sequence[Piece], start: int) -> str:
    """The last words of the content before a place."""
    for at in range(bisect_left(pieces, (start,)) - 1, -1, -1):
        begin, end, kind = pieces[at]
        if kind == "content" and has_words(text[begin:end]):
            return text[max(begin, start - REACH) : min(end, start)]
    return ""


def _compared(drafts: Sequence[Draft], text: str, pieces: Sequence[Piece], done: int) -> Iterator[Draft]:
    """The calls that stand in the reply once more in another form, words between: whoever shows how formats differ writes so."""
    for one, other in combinations(drafts, 2):
        same = one.name == other.name and one.dialect != other.dialect and one.arguments == other.arguments
        if same and one.arguments is not None and has_words(_content(text, pieces, done, one.stop, other.start, ())):
            yield from (one, other)


def _content(text: str, pieces: Sequence[Piece], done: int, start: int, end: int, near_misses: Sequence[NearMiss]) -> str:
    """The beginning of the content between two places, `near_misses` left out."""
    said = ""
    for begin, stop in sorted(miss.span for miss in near_misses if start <= miss.span[0] < end):
        if begin >= start:
            said += _stretch(text, pieces, done, start, begin)
            start = stop
        if len(said) > REACH:
            return said
    return said + _stretch(text, pieces, done, start, end)


def _stretch(text: str, pieces: Sequence[Piece], done: int, start: int, end: int) -> str:
    """The beginning of the content between two places; what is not classified yet is content."""
    said, first = "", bisect_left(pieces, (start,))
    for at in range(first - (first > 0 and pieces[first - 1][1] > start), len(pieces)):
        begin, stop, kind = pieces[at]
        if begin >= end or len(said) > REACH:
            return said
        if kind == "content":
            begin = max(begin, start)
            said += text[begin : min(stop, end, begin + REACH)]
    return said + text[max(start, done) : end]
