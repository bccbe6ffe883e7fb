"""Envelopes from what a text engine read, with what a native reply adds to it. Nothing is validated: it is all ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from llmcore.normalizer.native.finish import finish_reason_of
from llmcore.normalizer.replies.blocks import blocks_of_text
from llmcore.normalizer.replies.merging import numbered
from llmcore.normalizer.text.engine import TextEngine
from llmcore.types.envelope import Envelope, FinishReason, NearMiss, Repair, Segment, ToolCall
from llmcore.types.messages import Block

__all__ = ["Additions", "assembled", "envelope_of_one_thing", "envelope_of_text"]


def envelope_of_text(text: TextEngine, word: str | None) -> Envelope:
    """The envelope of a reply that is nothing but text. `word`: the caller's finish word."""
    calls = numbered(text.calls) if text.calls else []
    return assembled(text, calls, word, finish_reason_of(word, bool(calls)), text.segments, partial(_blocks, text, calls))


def _blocks(text: TextEngine, calls: list[ToolCall]) -> list[Block]:
    return blocks_of_text(text.source, text.segments(), calls)


def envelope_of_one_thing(
    source: str, word: str | None, call: ToolCall | None, segments: Callable[[], Sequence[Segment]]
) -> Envelope:
    """The envelope of a text that is one call and markup, or content alone (`call` None)."""
    calls = [] if call is None else [call]
    fields = {
        "tool_calls": calls,
        "content": source if call is None else "",
        "reasoning": "",
        "needs_more_work": None if call is None else True,
        "finish_reason": finish_reason_of(word, call is not None),
        "finish_word": word or None,
        "truncated": call is None and word is not None and _came_to_nothing(finish_reason_of(word, False), source),
        "near_misses": [],
        "repairs": [],
    }
    return Envelope.trusted(fields, source, segments, lambda: blocks_of_text(source, segments(), calls))


def _came_to_nothing(reason: FinishReason | None, content: str) -> bool:
    """Did a limit end the reply before any of its answer came?"""
    return reason == "length" and not content.strip()


class Additions:
    """What a native reply says beside its text, and what it makes of the text's content."""

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
    native: Additions | None = None,
) -> Envelope:
    """The envelope. `calls` are all calls, numbered; `segments` and `blocks` are computed when asked for."""
    said = text if native is None else native
    needs_more_work = text.needs_more_work
    fields = {
        "tool_calls": calls,
        "content": said.content,
        "reasoning": said.reasoning,
        "needs_more_work": (True if calls else None) if needs_more_work is None else needs_more_work,
        "finish_reason": reason,
        "finish_word": word or None,
        "truncated": said.truncated or (not calls and _came_to_nothing(reason, said.content)),
        "near_misses": said.near_misses,
        "repairs": said.repairs,
    }
    return Envelope.trusted(fields, text.source, segments, blocks)
