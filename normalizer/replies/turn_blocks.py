"""A native turn as history blocks, in order, with all data that its provider needs back. They are built on first access."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from llmcore.normalizer.native.calls import NativeCall
from llmcore.normalizer.native.turn import Part, TextRange, Thinking
from llmcore.normalizer.native.wire_pieces import Opaque, Redacted
from llmcore.normalizer.replies.blocks import blocks_of_text, position
from llmcore.support.values.copies import copied
from llmcore.types.envelope import Segment, ToolCall, tool_use
from llmcore.types.messages import Block, ProviderBlock, RedactedThinkingBlock, ThinkingBlock

__all__ = ["blocks_of_turn"]


def blocks_of_turn(
    parts: Sequence[Part],
    native: Mapping[int, Sequence[ToolCall]],
    source: str,
    segments: Sequence[Segment],
    calls: Sequence[ToolCall],
    provider: str,
) -> list[Block]:
    """The blocks of a native turn. `native` has the results of each `NativeCall` by `id()`, `calls` those in text."""
    blocks: list[Block] = []
    for part in _with_whole_texts(parts):
        if isinstance(part, TextRange) and part.refusal:
            refusal = {"type": "refusal", "refusal": source[part.start : part.end]}
            blocks.append(ProviderBlock(provider=provider, data=refusal))
        elif isinstance(part, TextRange):
            inside = [call for call in calls if part.start <= position(call) < part.end]
            blocks.extend(blocks_of_text(source, list(_clipped(segments, part)), inside))
        else:
            blocks.extend(_blocks_of_part(part, native, provider))
    return blocks


def _with_whole_texts(parts: Sequence[Part]) -> list[Part]:
    """The parts, with adjacent texts joined. Cited texts stay separate, because their citations follow them."""
    joined: list[Part] = []
    for at, part in enumerate(parts):
        last, following = joined[-1] if joined else None, parts[at + 1] if at + 1 < len(parts) else None
        is_cited = isinstance(following, Opaque) and "citations" in following.data
        if isinstance(last, TextRange) and isinstance(part, TextRange) and last.refusal is part.refusal and not is_cited:
            joined[-1] = TextRange(last.start, part.end, last.refusal)
        else:
            joined.append(part)
    return joined


def _clipped(segments: Sequence[Segment], part: TextRange) -> Iterator[Segment]:
    for start, end, kind in segments:
        if start < part.end and end > part.start:
            yield Segment(max(start, part.start), min(end, part.end), kind)


def _blocks_of_part(
    part: Thinking | NativeCall | Redacted | Opaque, native: Mapping[int, Sequence[ToolCall]], provider: str
) -> Iterator[Block]:
    if isinstance(part, NativeCall):
        yield from map(tool_use, native.get(id(part), ()))
    elif isinstance(part, Redacted):
        yield RedactedThinkingBlock(data=part.data)
    elif isinstance(part, Opaque):
        yield ProviderBlock(provider=provider, data=copied(part.data))
    elif part.carrier is not None:
        yield ProviderBlock(provider=provider, data=copied(part.carrier.data))
    elif part.texts or part.signatures:
        yield ThinkingBlock(thinking=part.text, signature=part.signature or None)
