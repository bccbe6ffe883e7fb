"""Replies of words and whole calls, as most are, behind reasoning or not, read without the engine.

The search for candidates, the shapes of calls and the judgement of surroundings are the engine's own. Left out is what such a
reply does not need: readers, look-aheads, a listener. Whatever else stands in a text is the engine's, which then reads all of it.
That both agree is tested for every row and place (`tests/normalizer/text/test_quick.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from llmcore.normalizer.bare.fences import without_code
from llmcore.normalizer.core.block_quotes import in_block_quote
from llmcore.normalizer.core.lead_ins import sentence_before
from llmcore.normalizer.core.names import call_begins
from llmcore.normalizer.core.pieces import Piece
from llmcore.normalizer.core.surroundings import (
    MARKS,
    PLAIN,
    Surroundings,
    form_of,
    is_plain_before,
)
from llmcore.normalizer.core.words_behind import talk_of_it
from llmcore.normalizer.dialects.reasoning import Block, whole_block
from llmcore.normalizer.dialects.registry import is_bare, marker_table
from llmcore.normalizer.text.begun import is_prose, may_end_in_call
from llmcore.normalizer.text.candidates import Names, Signs, names_of, signs_of
from llmcore.normalizer.text.engine import SHAPES
from llmcore.normalizer.text.opening import begins_specially
from llmcore.normalizer.text.wholes import IN_A_LINE, ON_A_LINE, Whole, tiled, words_around
from llmcore.types.envelope import ToolCall
from llmcore.types.limits import Limits
from llmcore.types.tools import ToolSet

__all__ = ["Quick", "read_quickly"]

_MOST = 9
"""Calls in one reply; so many are the engine's, as those are that reach the limit."""
_OPENER = 24  # the longest
_BRACKETS = ("[", "{")


class Quick(NamedTuple):
    """What a text of reasoning, words and whole calls says."""

    calls: list[ToolCall]
    content: str
    reasoning: str
    pieces: Callable[[], list[Piece]]
    """Few callers ask for them."""


def read_quickly(text: str, tools: ToolSet | None, dialects: frozenset[str] | None, limits: Limits) -> Quick | None:
    """The reply, or None: then the engine must read it."""
    if not text or len(text) > limits.text:
        return None
    block = whole_block(text)
    if block is not None and block.opener not in marker_table(dialects).unshared:
        return None
    wholes: Sequence[Whole] = ()
    done = 0 if block is None else block.over
    if (not done and text[0] in MARKS) or _holds_candidate(text[done:] if done else text, tools, dialects):
        wholes = (_wholes(text, done, tools, dialects, limits) if tools is not None and tools.names else None) or ()
        if not wholes:
            return None
    elif begins_specially(text):
        return None
    rest = text[wholes[-1].end if wholes else done :].strip()
    if rest and (may_end_in_call(text) or ((wholes or done) and not is_prose(rest))):  # behind markup a word may begin a call
        return None
    content = words_around(text, wholes, done) if wholes or done else text
    reasoning = "" if block is None else text[block.begin : block.end]
    calls = [whole.call(n) for n, whole in enumerate(wholes)]
    return Quick(calls, content, reasoning, partial(_pieces, text, wholes, block))


def _pieces(text: str, wholes: Sequence[Whole], block: Block | None) -> list[Piece]:
    return tiled(text, wholes, () if block is None else _pieces_of(block))


def _pieces_of(block: Block) -> list[Piece]:
    if block.begin == block.end:
        return [(0, block.over, "markup")]
    return [(0, block.begin, "markup"), (block.begin, block.end, "reasoning"), (block.end, block.over, "markup")]


def _holds_candidate(text: str, tools: ToolSet | None, dialects: frozenset[str] | None) -> bool:
    names = None if tools is None else tools.names
    said = without_code(text, names) if "`" in text else text
    if said is None:
        return True
    signs, told = _signs_and_names(names, dialects)
    return signs.occur_in(said, told)


@lru_cache(maxsize=256)
def _signs_and_names(names: frozenset[str] | None, dialects: frozenset[str] | None) -> tuple[Signs, Names]:
    return signs_of(names, marker_table(dialects)), names_of(names)


def _wholes(text: str, done: int, tools: ToolSet, dialects: frozenset[str] | None, limits: Limits) -> list[Whole] | None:
    """The calls of the text from `done` on, each all there and meant; None when anything else may stand there."""
    wholes: list[Whole] = []
    unannounced: list[tuple[int, str]] = []
    surroundings: Surroundings | None = None
    start, said, is_unannounced, sentence = done, False, True, ""
    most = min(limits.calls, _MOST)
    at = 0 if not done and SHAPES.may_begin(text) else _next(text, done, tools, dialects)
    while at >= 0:
        line = text.rfind("\n", 0, at) + 1
        blank = start == at or text[start:at].isspace()
        said = said or not blank
        place = "" if not said else ON_A_LINE if line == at else IN_A_LINE
        found = () if at and _is_odd(text, at, line) else SHAPES.at(text, at, tools, limits, place=place, dialects=dialects)
        if not found or len(wholes) + len(found) >= most:
            return None
        if not blank:
            if not wholes and begins_specially(text):
                return None
            surroundings = surroundings or Surroundings(tools.names)
            form = "bare" if is_bare(found[0].dialect) else form_of(text[at : at + _OPENER])
            if call_begins(text, start, at, tools.names) < at:
                return None
            standing = surroundings.standing(text, at, start, line, form)
            if standing is not PLAIN and not is_plain_before(standing, text, found[-1].end):
                return None
            is_unannounced = standing.unannounced
            sentence = sentence_before(text, start, at) if is_unannounced else ""
        if is_unannounced:
            unannounced.append((len(wholes) + len(found) - 1, sentence))
        wholes += found
        start = wholes[-1].end
        at = _next(text, start, tools, dialects)
    if unannounced:
        starts = [*(whole.start for whole in wholes), len(text)]
        if any(talk_of_it(text[wholes[n].end : starts[n + 1]], before) for n, before in unannounced):
            return None
    return wholes


def _next(text: str, position: int, tools: ToolSet, dialects: frozenset[str] | None) -> int:
    """Where something may begin at or behind `position`; -1 when nothing does."""
    if position == len(text) or text[position] in _BRACKETS:  # directly behind a call every bracket is a candidate
        return position if position < len(text) else -1
    signs, names = _signs_and_names(tools.names, dialects)
    found = signs.any.search(text, position)
    while found is not None and not names.allow(found, text):
        found = signs.any.search(text, found.start() + 1)
    return -1 if found is None else found.start()


def _is_odd(text: str, at: int, line: int) -> bool:
    """Must the engine look at what may begin there?"""
    return text[at] not in MARKS or in_block_quote(text, line)
