"""What the page shows of a reply: its text in coloured pieces, calls, repairs, near misses, and the events of each chunk."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from llmcore import Normalizer
from llmcore.cli.explaining.envelopes import repair_line
from llmcore.cli.helpers.replies import ReplyReader
from llmcore.cli.helpers.tool_files import listed_tools
from llmcore.cli.output import as_json_text
from llmcore.compiling import compile_tools
from llmcore.transcripts.errors import OverLimit
from llmcore.transcripts.formats.decoding import load_json
from llmcore.types import (
    ArgumentsDelta,
    ConfigError,
    Envelope,
    NormalizerEvent,
    ReasoningDelta,
    Reclassified,
    Repair,
    Repaired,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    ToolSet,
)
from llmcore.types.near_misses import near_miss_sentence
from llmcore.validator.report import validate_calls

__all__ = ["MAX_CHUNKS", "reading"]

MAX_CHUNKS = 400
"""A long reply is cut into larger chunks, so that there are no more than this."""


def reading(reply: str, tools: str, size: int) -> dict[str, Any]:
    """The reply as the page shows it. `tools`: JSON, "" if they are not known. `size`: the characters of a chunk.

    Raises `CallerError` for tools that cannot be read.
    """
    offered = _tools(tools)
    whole, _ = _read([reply], offered)
    size = max(size, math.ceil(len(reply) / MAX_CHUNKS), 1)
    cut = [reply[start : start + size] for start in range(0, len(reply), size)]
    chunked, events = _read(cut, offered)
    return {
        "pieces": list(_pieces(whole)),
        "calls": list(_calls(whole, offered)),
        "misses": [
            {"name": miss.name, "reason": near_miss_sentence(miss.reason), "code": miss.reason} for miss in whole.near_misses
        ],
        "repairs": [_repair(repair) for repair in whole.repairs],
        "content": whole.content,
        "reasoning": whole.reasoning,
        "finish": whole.finish_word or whole.finish_reason,
        "truncated": whole.truncated,
        "size": size,
        "chunks": [
            {"text": text, "events": [_event(event, chunked) for event in found]}
            for text, found in zip([*cut, ""], events, strict=True)
        ],
        "same": chunked == whole,
    }


def _tools(text: str) -> ToolSet | None:
    if not text.strip():
        return None
    try:
        data = load_json(text, unique=True)
    except (ValueError, OverLimit) as error:
        raise ConfigError(f"the tools are no JSON: {error}") from None
    return compile_tools(listed_tools(data, "the tools"))


def _read(chunks: list[str], tools: ToolSet | None) -> tuple[Envelope, list[list[NormalizerEvent]]]:
    """The envelope, and the events of each chunk and of the end."""
    normalizer = Normalizer(tools)
    reader = ReplyReader(normalizer)
    events = [list(reader.feed(chunk)) for chunk in chunks]
    events.append(list(reader.finish()))
    return normalizer.envelope, events


def _pieces(envelope: Envelope) -> Iterator[dict[str, Any]]:
    """The text in pieces, each with its kind, and the number of its call or near miss."""
    source, segments = envelope.source, envelope.segments
    calls = [(call.span, number) for number, call in enumerate(envelope.tool_calls) if call.span is not None]
    misses = [(miss.span, number) for number, miss in enumerate(envelope.near_misses)]
    spans = [*((start, end) for start, end, _ in segments), *(span for span, _ in [*calls, *misses])]
    starts = [start for start, _, _ in segments]
    for start, end in pairwise(sorted({min(bound, len(source)) for span in spans for bound in span})):
        yield {
            "kind": segments[bisect_right(starts, start) - 1].kind,
            "text": source[start:end],
            "call": next((number for span, number in calls if span[0] <= start < span[1]), None),
            "miss": next((number for span, number in misses if span[0] <= start < span[1]), None),
        }


def _calls(envelope: Envelope, tools: ToolSet | None) -> Iterator[dict[str, Any]]:
    report = validate_calls(envelope, tools) if tools is not None else None
    for number, written in enumerate(envelope.tool_calls):
        call = report.calls[number] if report is not None else written
        problems = [str(one) for one in report.problems if one.call == number] if report is not None else []
        yield {
            "name": call.name,
            "arguments": as_json_text(call.arguments, indent=2) if call.arguments is not None else None,
            "raw": written.raw_arguments,
            "dialect": written.dialect,
            "complete": written.complete,
            "repairs": [_repair(repair) for repair in call.repairs],
            "problems": problems,
            "verdict": "tools unknown" if report is None else "may not run" if problems else "may run",
        }


def _repair(repair: Repair) -> dict[str, str]:
    return {"kind": repair.kind, "safety": repair.safety, "line": repair_line(repair)}


def _event(event: NormalizerEvent, envelope: Envelope) -> dict[str, str]:
    match event:
        case TextDelta():
            return {"type": "content", "text": event.text}
        case ReasoningDelta():
            return {"type": "reasoning", "text": event.text}
        case ToolCallStarted():
            return {"type": "call started", "text": event.name}
        case ArgumentsDelta():
            return {"type": "arguments", "text": event.json}
        case ToolCallFinished():
            return {"type": "call finished", "text": f"{event.call.name} {as_json_text(event.call.arguments)}"}
        case Reclassified():
            return {"type": f"now {event.kind}", "text": envelope.source[event.start : event.end]}
        case Repaired():
            return {"type": "repair", "text": repair_line(event.repair)}
