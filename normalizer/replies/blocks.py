"""A text and its calls as history blocks. They are built on first access."""

from __future__ import annotations

from collections.abc import Sequence

from llmcore.support.values.copies import made
from llmcore.types.envelope import Segment, ToolCall, tool_use
from llmcore.types.messages import Block, TextBlock, ThinkingBlock

__all__ = ["blocks_of_text", "blocks_of_words", "position"]


def blocks_of_text(source: str, segments: Sequence[Segment], calls: Sequence[ToolCall]) -> list[Block]:
    """The blocks of a text that `segments` tile and that holds `calls`, each where its span starts."""
    blocks: list[Block] = []
    texts: list[str] = []
    waiting = sorted(calls, key=position)
    for start, end, kind in segments:
        while waiting and position(waiting[0]) < end and kind == "call":
            _flush(texts, blocks)
            blocks.append(tool_use(waiting.pop(0)))
        if kind == "content":
            texts.append(source[start:end])
        elif kind == "reasoning":
            _flush(texts, blocks)
            blocks.append(ThinkingBlock(thinking=source[start:end]))
    _flush(texts, blocks)
    blocks.extend(tool_use(call) for call in waiting)
    return blocks


def blocks_of_words(text: str) -> list[Block]:
    """The block of a text without calls. White space alone gives none, because providers refuse it."""
    return [made(TextBlock, text=text)] if text.strip() else []


def position(call: ToolCall) -> int:
    return call.span[0] if call.span else 0


def _flush(texts: list[str], blocks: list[Block]) -> None:
    """Make one block of the collected text."""
    blocks += blocks_of_words("".join(texts))
    texts.clear()
