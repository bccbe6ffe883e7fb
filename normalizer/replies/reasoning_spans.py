"""Where a text holds reasoning, by the engine's own rules. The work is linear."""

from __future__ import annotations

import re
from typing import NamedTuple

from llmcore.normalizer.dialects.reasoning import ANY_CLOSER, PAIRS
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.tools import ToolSet

__all__ = ["ReasoningSpan", "reasoning_spans"]

_MAY_REASON = lazy_regex("|".join([*(re.escape(opener) for opener, _ in PAIRS), "<think:", r"<\|channel", ANY_CLOSER.pattern]))
_NO_TOOLS = ToolSet()


class ReasoningSpan(NamedTuple):
    """`text[start:end]`, with its markers. `opened`: its opener stands in the text. `closed`: its closer does."""

    start: int
    end: int
    opened: bool
    closed: bool


def reasoning_spans(text: str) -> list[ReasoningSpan]:
    """The stretches of reasoning, in order."""
    if _MAY_REASON.search(text) is None:
        return []
    from llmcore.normalizer.text.engine import TextEngine  # only here: importing all dialects is slow

    segments = TextEngine(_NO_TOOLS, listening=False).read(text).segments()
    spans: list[ReasoningSpan] = []
    for at, segment in enumerate(segments):
        if segment.kind != "reasoning":
            continue
        before = segments[at - 1] if at and segments[at - 1].kind == "markup" else None
        after = segments[at + 1] if at + 1 < len(segments) and segments[at + 1].kind == "markup" else None
        start, end = before.start if before else segment.start, after.end if after else segment.end
        spans.append(ReasoningSpan(start, end, before is not None, after is not None))
    return spans
