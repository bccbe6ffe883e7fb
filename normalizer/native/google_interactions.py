"""Google Interactions: whole bodies, whose `steps` are calls, text and thoughts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llmcore.normalizer.native.shape import as_dict, as_list, dicts, text_or_empty
from llmcore.normalizer.native.wire_pieces import CallArguments, CallEnd, CallStart, Opaque, Piece, Reasoning, Text

__all__ = ["GoogleInteractionsReader", "is_google_interactions_body"]

_CALL, _OUTPUT = "function_call", "model_output"
_THOUGHTS = ("thought", "thinking")
_OWN = frozenset((_CALL, _OUTPUT, "text", *_THOUGHTS))


def is_google_interactions_body(body: dict[str, Any]) -> bool:
    """Whether it is a whole body: it lists steps, and each names its type."""
    if "choices" in body:
        return False
    kinds = [text_or_empty(as_dict(step).get("type")) for step in as_list(body.get("steps"))]
    return bool(kinds) and all(kinds) and not _OWN.isdisjoint(kinds)


class GoogleInteractionsReader:
    """Reads the bodies of Google Interactions."""

    def read(self, body: dict[str, Any]) -> Iterator[Piece]:
        for index, step in enumerate(dicts(body.get("steps"))):
            yield from _step(index, step)

    def finish(self) -> Iterator[Piece]:
        yield from ()


def _step(index: int, step: dict[str, Any]) -> Iterator[Piece]:
    kind = text_or_empty(step.get("type"))
    if kind == _CALL:
        yield CallStart(index, text_or_empty(step.get("id")), text_or_empty(step.get("name")), begins=True)
        if step.get("arguments") is not None:
            yield CallArguments(index, step["arguments"])
        yield CallEnd(index)
    elif kind == "text":
        yield Text(text_or_empty(step.get("text")), begins=True)
    elif kind in _THOUGHTS:
        text = text_or_empty(step.get("text")) or "".join(text_or_empty(part.get("text")) for part in dicts(step.get("summary")))
        yield Reasoning(text, text_or_empty(step.get("signature")), index)
    elif kind == _OUTPUT:
        for part in dicts(step.get("content")):
            yield from _step(index, part)
    else:
        yield Opaque(dict(step))
