"""Read a reply of reasoning, words and undamaged calls without the engine. Most replies are like that.

It shares the search for candidates, the undamaged calls and the verdicts with the engine. It skips what such a reply does not
need: readers, look-aheads, events. If a text holds anything else, the engine reads all of it. Tests check that both agree for
every row and place (`tests/normalizer/text/test_whole.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Final

from llmcore.normalizer.bare.fences import without_code
from llmcore.normalizer.core.names import call_begins
from llmcore.normalizer.core.pieces import Piece, with_layout_removed
from llmcore.normalizer.dialects.reasoning import Block, whole_block
from llmcore.normalizer.dialects.registry import marker_table
from llmcore.normalizer.text.begun import is_plain_prose, may_end_in_call
from llmcore.normalizer.text.candidates import Names, Signs, names_of, signs_of
from llmcore.normalizer.text.opening import begins_specially
from llmcore.normalizer.text.whole import Whole, is_framed, may_begin, whole_at
from llmcore.normalizer.trust.block_quotes import in_block_quote
from llmcore.normalizer.trust.judging import CERTAIN, Judge, Place, is_certain
from llmcore.normalizer.trust.layout import MARKS
from llmcore.normalizer.trust.turns import other_speaks
from llmcore.types.envelope import ToolCall
from llmcore.types.limits import Limits
from llmcore.types.tools import ToolSet

__all__ = ["Quick", "read_quickly"]

_BRACKETS: Final[tuple[str, ...]] = ("[", "{")
_THOUGHT: Final = "Thought:"
"""Behind this label, a limit may have cut the text within `Action:`. Only the engine detects that."""


class Quick:
    """The result of reading such a text. `pieces` is computed on call, because few callers need them."""

    __slots__ = ("calls", "content", "pieces", "reasoning")

    def __init__(self, calls: list[ToolCall], content: str, reasoning: str, pieces: Callable[[], list[Piece]]) -> None:
        self.calls = calls
        self.content = content
        self.reasoning = reasoning
        self.pieces = pieces


def read_quickly(text: str, tools: ToolSet | None, dialects: frozenset[str] | None, limits: Limits) -> Quick | None:
    """The result, or None if the engine must read the text."""
    if not text or len(text) > limits.text:
        return None
    block = whole_block(text)
    if block is not None and block.opener not in marker_table(dialects).unshared:
        return None
    done = 0 if block is None else block.over
    wholes: list[Whole] = []
    words: list[str] = []
    at = _first(text, done, None if tools is None else tools.names, dialects)
    if at >= 0:
        if tools is None or not tools.names or not _take_wholes(text, done, at, tools, dialects, limits, wholes, words):
            return None
    elif (not done and text[0] in MARKS) or text.startswith(_THOUGHT) or begins_specially(text):
        return None
    if words and len({whole.name for whole in wholes}) < len(wholes) and any("</" in one for one in words):
        return None  # a call in an element may be made again behind it
    over = wholes[-1].end if wholes else done
    rest = text[over:]
    if rest and not rest.isspace():
        if may_end_in_call(text) or (over and not is_plain_prose(rest)):  # behind markup, a word may begin a call
            return None
        words.append(rest if words or not over else rest.lstrip())
    elif words:
        words[-1] = words[-1].rstrip()
    elif not over:
        words.append(rest)
    reasoning = "" if block is None else text[block.begin : block.end]
    if reasoning and not wholes and not words and any(mark in reasoning for mark in "<[{("):
        return None  # the reply may consist of a call in it
    calls = [whole.call(n) for n, whole in enumerate(wholes)]
    return Quick(calls, "".join(words), reasoning, partial(_pieces, text, wholes, block))


def _pieces(text: str, wholes: Sequence[Whole], block: Block | None) -> list[Piece]:
    return _tiled(text, wholes, () if block is None else _pieces_of(block))


def _tiled(text: str, wholes: Sequence[Whole], before: Sequence[Piece] = ()) -> list[Piece]:
    """The pieces of a text of words and undamaged calls. Calls of one list share their span, which is one piece.

    `before` are the pieces that are already known.
    """
    pieces = [*before]
    done = pieces[-1][1] if pieces else 0
    for whole in wholes:
        if whole.at > done:
            pieces.append((done, whole.at, "content"))
        if whole.start > whole.at:
            between = bool(pieces) and pieces[-1][2] == "markup"
            pieces.append((pieces.pop()[0] if between else whole.at, whole.start, "markup"))
        if whole.stop > done:
            pieces.append((whole.start, whole.stop, "call"))
        if whole.end > whole.stop:
            pieces.append((whole.stop, whole.end, "markup"))
        done = whole.end
    if done < len(text):
        pieces.append((done, len(text), "content"))
    return with_layout_removed(pieces, text, ()) if len(pieces) > 1 else pieces


def _pieces_of(block: Block) -> list[Piece]:
    if block.begin == block.end:
        return [(0, block.over, "markup")]
    return [(0, block.begin, "markup"), (block.begin, block.end, "reasoning"), (block.end, block.over, "markup")]


def _first(text: str, start: int, names: frozenset[str] | None, dialects: frozenset[str] | None) -> int:
    """Where something may begin first, from `start` on; -1 if nothing does."""
    if not start and may_begin(text):
        return 0
    if start == len(text):
        return -1
    if "`" in text:
        prose = without_code(text[start:], names)
        signs, allowed = _signs_and_names(names, dialects)
        if prose is not None and not prose.startswith(_BRACKETS) and signs.first(prose, 0, allowed) < 0:
            return -1
    return _next(text, start, names, dialects)


@lru_cache(maxsize=256)
def _signs_and_names(names: frozenset[str] | None, dialects: frozenset[str] | None) -> tuple[Signs, Names]:
    return signs_of(names, marker_table(dialects)), names_of(names)


def _take_wholes(
    text: str,
    start: int,
    at: int,
    tools: ToolSet,
    dialects: frozenset[str] | None,
    limits: Limits,
    wholes: list[Whole],
    words: list[str],
) -> bool:
    """Append the calls of the text from `start` on, and the words before each. The first call may begin at `at`.

    Returns False if a call is damaged or may not be meant, or if anything else may stand in the text.
    """
    judge: Judge | None = None
    verdict = CERTAIN
    while at >= 0:
        line = text.rfind("\n", 0, at) + 1
        between = text[start:at]
        is_blank = not between or between.isspace()
        if not is_blank:
            words.append(between if words or not start else between.lstrip())
        if at and (text[at] not in MARKS or in_block_quote(text, line)):
            return False
        found = whole_at(text, at, tools, limits, is_first=not words, dialects=dialects)
        if not found or len(wholes) + len(found) >= limits.calls:  # at the limit the engine decides what is left out
            return False
        if wholes and is_framed(wholes[-1], text) != is_framed(found[0], text):  # frames decide what is a call
            return False
        if not is_blank:
            if (not wholes and begins_specially(text)) or call_begins(text, start, at, tools.names) < at or other_speaks(between):
                return False
            judge = judge or Judge(tools.names)
            verdict = judge.judge(Place(text, at, start, line, found[0].form))
        if not is_certain(verdict, text, found[-1].end):
            return False
        wholes += found
        start = found[-1].end
        at = _next(text, start, tools.names, dialects) if start < len(text) else -1
    return True


def _next(text: str, position: int, names: frozenset[str] | None, dialects: frozenset[str] | None) -> int:
    """Where something may begin at or behind `position`; -1 if nothing does."""
    if text[position] in _BRACKETS:  # directly behind a call, every bracket is a candidate
        return position
    signs, allowed = _signs_and_names(names, dialects)
    return signs.first(text, position, allowed)
