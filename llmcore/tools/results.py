"""What a tool returned, as the text and blocks a model is shown. A long text keeps its first and last part and says
so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from pydantic_core import to_json

from llmcore.types import ImageBlock, TextBlock

__all__ = ["as_text", "rendered", "shortened"]

ResultBlock = TextBlock | ImageBlock


def rendered(value: Any, max_chars: int) -> list[ResultBlock]:
    """The value as result blocks: at most one text block of at most about `max_chars`, then the blocks the tool gave
    itself.

    Text stays as it is; anything else becomes JSON. A tool returns extra content (images) by returning blocks, alone
    or in a list or tuple beside its text: `return "a map", ImageBlock(...)`.
    """
    plain, blocks = _separated(value)
    text = "\n".join(as_text(part) for part in plain)
    return [*([TextBlock(text=shortened(text, max_chars))] if text or not blocks else []), *blocks]


def _separated(value: Any) -> tuple[list[Any], list[ResultBlock]]:
    if isinstance(value, TextBlock | ImageBlock):
        return [], [value]
    if isinstance(value, list | tuple):
        parts = cast("Sequence[Any]", value)
        blocks = [part for part in parts if isinstance(part, TextBlock | ImageBlock)]
        if blocks:
            return [part for part in parts if not isinstance(part, TextBlock | ImageBlock)], blocks
    return [value], []


def as_text(value: Any) -> str:
    """A str as it is, anything else as JSON; what JSON does not know, as its `str()`."""
    if isinstance(value, str):
        return value
    return to_json(value, fallback=str, bytes_mode="base64", inf_nan_mode="constants").decode()


def shortened(text: str, max_chars: int) -> str:
    """The text, or its first and last part around a note that states its full size in characters."""
    if len(text) <= max_chars:
        return text
    head = max_chars * 2 // 3
    tail = max_chars - head
    left_out = len(text) - head - tail
    note = f"\n[... {left_out} characters left out here; the whole result has {len(text)} characters ...]\n"
    return text[:head] + note + text[-tail:]
