"""The assistant's turn as history blocks, in order, with everything its own provider wants back. Built when asked
for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from llmcore.normalizer.native.calls import NativeCall
from llmcore.normalizer.native.pieces import Opaque, Redacted
from llmcore.normalizer.native.turn import Part, TextRange, Thinking
from llmcore.types.copies import copied, made
from llmcore.types.envelope import Segment, ToolCall
from llmcore.types.messages import Block, ProviderBlock, RedactedThinkingBlock, TextBlock, ThinkingBlock, ToolUseBlock
from llmcore.types.numbers import exact_json, holds_exact_floats

__all__ = ["blocks_of_text", "blocks_of_turn", "blocks_of_words", "tool_use"]


def tool_use(call: ToolCall) -> ToolUseBlock:
    arguments, raw = copied(call.arguments), call.raw_arguments
    if not raw and holds_exact_floats(arguments):
        raw = exact_json(arguments)
    return made(ToolUseBlock, id=call.id, name=call.name, input=arguments, raw_input=raw)


def blocks_of_text(source: str, segments: Sequence[Segment], calls: Sequence[ToolCall]) -> list[Block]:
    """The blocks of a text that is tiled by `segments` and holds `calls`, each where its span starts."""
    blocks: list[Block] = []
    said: list[str] = []
    waiting = sorted(calls, key=_position)
    for start, end, kind in segments:
        while waiting and _position(waiting[0]) < end and kind == "call":
            _flush(said, blocks)
            blocks.append(tool_use(waiting.pop(0)))
        if kind == "content":
            said.append(source[start:end])
        elif kind == "reasoning":
            _flush(said, blocks)
            blocks.append(ThinkingBlock(thinking=source[start:end]))
    _flush(said, blocks)
    blocks.extend(tool_use(call) for call in waiting)
    return blocks


def blocks_of_words(text: str) -> list[Block]:
    """The block of a text that is nothing but words; white space alone is none, for providers refuse it."""
    return [made(TextBlock, text=text)] if text.strip() else []


def _position(call: ToolCall) -> int:
    return call.span[0] if call.span else 0


def _flush(said: list[str], blocks: list[Block]) -> None:
    """What was said so far is one block."""
    blocks += blocks_of_words("".join(said))
    said.clear()


def blocks_of_turn(
    parts: Sequence[Part],
    native: Mapping[int, Sequence[ToolCall]],
    source: str,
    segments: Sequence[Segment],
    calls: Sequence[ToolCall],
    provider: str,
) -> list[Block]:
    """The blocks of a native turn. `native` gives the calls that each `NativeCall` (by `id()`) became, `calls` those
    in text."""
    blocks: list[Block] = []
    for part in parts:
        if isinstance(part, TextRange) and part.refusal:
            refusal = {"type": "refusal", "refusal": source[part.start : part.end]}
            blocks.append(ProviderBlock(provider=provider, data=refusal))
        elif isinstance(part, TextRange):
            inside = [call for call in calls if part.start <= _position(call) < part.end]
            blocks.extend(blocks_of_text(source, list(_clipped(segments, part)), inside))
        else:
            blocks.extend(_blocks_of_part(part, native, provider))
    return blocks


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
