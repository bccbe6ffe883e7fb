"""Envelopes from the text engine's result and a native reply's additions. Nothing is validated: this library made all of it.

Parts that are computed on first access are `partial` objects. A compiled nested function and its closure would form a
reference cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from llmcore.normalizer.core.pieces import Piece
from llmcore.normalizer.native.finish import finish_reason_of
from llmcore.normalizer.replies.blocks import blocks_of_text, blocks_of_words
from llmcore.normalizer.replies.left_out import left_out
from llmcore.normalizer.replies.merging import numbered
from llmcore.normalizer.text.engine import TextEngine
from llmcore.normalizer.text.quick import Quick
from llmcore.types.envelope import Envelope, FinishReason, NearMiss, Repair, Segment, ToolCall
from llmcore.types.messages import Block

__all__ = ["Additions", "assembled", "envelope_of_text", "envelope_of_words_and_calls"]


def envelope_of_text(text: TextEngine, word: str | None) -> Envelope:
    """The envelope of a reply that is only text. `word` is the caller's finish reason."""
    calls = numbered(text.calls) if text.calls else []
    result = None
    if over := text.left_out():
        notes = [*text.repairs, *left_out(over, text.limits)]
        result = Additions(text.content, text.reasoning, text.truncated, text.near_misses, notes)
    return assembled(text, calls, word, finish_reason_of(word, bool(calls)), text.segments, partial(_blocks, text, calls), result)


def _blocks(text: TextEngine, calls: list[ToolCall]) -> list[Block]:
    return blocks_of_text(text.source, text.segments(), calls)


def envelope_of_words_and_calls(source: str, word: str | None, quick: Quick) -> Envelope:
    """The envelope of a text of words and undamaged calls."""
    calls, content, pieces = quick.calls, quick.content, quick.pieces
    reason = finish_reason_of(word, bool(calls)) if word else None
    fields = {
        "tool_calls": calls,
        "content": content,
        "reasoning": quick.reasoning,
        "needs_more_work": True if calls else None,
        "finish_reason": reason,
        "finish_word": word or None,
        "truncated": not calls and _is_cut_before_answer(reason, content),
        "near_misses": [],
        "repairs": [],
    }
    if content is source:  # words only
        return Envelope.trusted(fields, source, (Segment(0, len(source), "content"),), partial(blocks_of_words, source))
    return Envelope.trusted(fields, source, partial(_segments, pieces), partial(_blocks_of_pieces, source, pieces, calls))


def _segments(pieces: Callable[[], list[Piece]]) -> list[Segment]:
    return [Segment(*piece) for piece in pieces()]


def _blocks_of_pieces(source: str, pieces: Callable[[], list[Piece]], calls: list[ToolCall]) -> list[Block]:
    return blocks_of_text(source, _segments(pieces), calls)


def _is_cut_before_answer(reason: FinishReason | None, content: str) -> bool:
    """Whether a limit ended the reply before any of its answer."""
    return reason == "length" and not content.strip()


class Additions:
    """Replaces parts of a text's result: by a native reply's, or to record calls that were left out."""

    __slots__ = ("content", "near_misses", "reasoning", "repairs", "truncated")

    def __init__(self, content: str, reasoning: str, truncated: bool, near_misses: list[NearMiss], repairs: list[Repair]) -> None:
        self.content, self.reasoning, self.truncated = content, reasoning, truncated
        self.near_misses, self.repairs = near_misses, repairs


def assembled(
    text: TextEngine,
    calls: list[ToolCall],
    word: str | None,
    reason: FinishReason | None,
    segments: Callable[[], Sequence[Segment]],
    blocks: Callable[[], Sequence[Block]],
    instead: Additions | None = None,
) -> Envelope:
    """The envelope. `calls` are all calls, numbered. `segments` and `blocks` are computed on first access."""
    result = text if instead is None else instead
    needs_more_work = text.needs_more_work
    fields = {
        "tool_calls": calls,
        "content": result.content,
        "reasoning": result.reasoning,
        "needs_more_work": (True if calls else None) if needs_more_work is None else needs_more_work,
        "finish_reason": reason,
        "finish_word": word or None,
        "truncated": result.truncated or (not calls and _is_cut_before_answer(reason, result.content)),
        "near_misses": result.near_misses,
        "repairs": result.repairs,
    }
    return Envelope.trusted(fields, text.source, segments, blocks)
