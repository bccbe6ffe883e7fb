"""Replies of words and whole calls, as most are, read without the engine.

The search for candidates, the shapes of calls and the judgement of surroundings are the engine's own. Left out is what such a
reply does not need: readers, look-aheads, a listener. Whatever else stands in a text is the engine's, which then reads all of it.
That both agree is tested for every row and place (`tests/normalizer/text/test_quick.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from llmcore.normalizer.bare.fences import without_code
from llmcore.normalizer.core.block_quotes import in_block_quote
from llmcore.normalizer.core.names import call_begins
from llmcore.normalizer.core.pieces import Piece, joined
from llmcore.normalizer.core.surroundings import (
    MARKS,
    PLAIN,
    Surroundings,
    form_of,
    is_plain_before,
    sentences_stand,
)
from llmcore.normalizer.dialects.registry import is_bare, marker_table
from llmcore.normalizer.text.begun import is_prose, may_end_in_call
from llmcore.normalizer.text.candidates import names_of, signs_of
from llmcore.normalizer.text.engine import SHAPES
from llmcore.normalizer.text.opening import begins_specially
from llmcore.normalizer.text.wholes import IN_A_LINE, ON_A_LINE, Whole, tiled
from llmcore.types.envelope import ToolCall
from llmcore.types.limits import Limits
from llmcore.types.tools import ToolSet

__all__ = ["Quick", "read_quickly"]

_MOST = 9
"""Calls in one reply; so many are the engine's, as those are that reach the limit."""
_OPENER = 24  # the longest


class Quick(NamedTuple):
    """What a text of words and whole calls says."""

    calls: list[ToolCall]
    content: str
    pieces: list[Piece]


def read_quickly(text: str, tools: ToolSet | None, dialects: frozenset[str] | None, limits: Limits) -> Quick | None:
    """The reply, or None: then the engine must read it."""
    if not text or len(text) > limits.text:
        return None
    wholes: Sequence[Whole] = ()
    if text[0] in MARKS or _holds_candidate(text, tools, dialects):
        wholes = (_wholes(text, tools, dialects, limits) if tools else None) or ()
        if not wholes:
            return None
    elif begins_specially(text):
        return None
    rest = text[wholes[-1].end :].strip() if wholes else text
    if (rest and may_end_in_call(text)) or (rest and wholes and not is_prose(rest)):
        return None
    pieces = tiled(text, wholes)
    content = text if not wholes else joined(pieces, "content", text, ())
    return Quick([whole.call(n) for n, whole in enumerate(wholes)], content, pieces)


def _holds_candidate(text: str, tools: ToolSet | None, dialects: frozenset[str] | None) -> bool:
    names = None if tools is None else tools.names
    said = without_code(text, names) if "`" in text else text
    return said is None or signs_of(names, marker_table(dialects)).occur_in(said, names_of(names))


def _wholes(text: str, tools: ToolSet, dialects: frozenset[str] | None, limits: Limits) -> list[Whole] | None:
    """The calls of the text, each all there and meant; None when anything else may stand in it."""
    wholes: list[Whole] = []
    unannounced: list[int] = []
    surroundings: Surroundings | None = None
    start, said, is_unannounced = 0, False, False
    for at in _candidates(text, tools, dialects, wholes):
        if at < 0 or len(wholes) + 1 >= min(limits.calls, _MOST):
            return None
        blank = text[start:at].isspace() or start == at
        said = said or not blank
        line = text.rfind("\n", 0, at) + 1
        place = "" if not said else ON_A_LINE if line == at else IN_A_LINE
        found = SHAPES.at(text, at, tools, limits, place=place, dialects=dialects)
        if not found or len(wholes) + len(found) >= min(limits.calls, _MOST):
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
        if is_unannounced:
            unannounced.append(len(wholes) + len(found) - 1)
        wholes += found
        start = wholes[-1].end
    starts = [*(whole.start for whole in wholes), len(text)]
    return None if any(sentences_stand(text, wholes[n].end, starts[n + 1]) for n in unannounced) else wholes


def _candidates(text: str, tools: ToolSet, dialects: frozenset[str] | None, wholes: list[Whole]) -> Iterator[int]:
    """Where something may begin behind the calls read so far; -1 for what the engine must look at."""
    signs, names = signs_of(tools.names, marker_table(dialects)), names_of(tools.names)
    position = 0
    if SHAPES.may_begin(text):
        yield 0
        position = wholes[-1].end
    while True:
        at = position
        if text[position : position + 1] not in ("[", "{"):  # directly behind a call every bracket is a candidate
            found = signs.any.search(text, position)
            while found is not None and not names.allow(found, text):
                found = signs.any.search(text, found.start() + 1)
            if found is None:
                return
            at = found.start()
        quoted = in_block_quote(text, text.rfind("\n", 0, at) + 1)
        yield -1 if quoted or text[at] not in MARKS else at
        position = wholes[-1].end
