"""What the pieces of a text say once all of it is classified: white space next to markup, content, reasoning."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from llmcore.types.envelope import SegmentKind

__all__ = ["Piece", "Replaced", "joined", "replacing", "settled"]

Piece = tuple[int, int, SegmentKind]
"""(start, end, kind) of a stretch of the text."""
Replaced = tuple[int, int, str]
"""(start, end, what that stretch of markup reads as)."""


def replacing(replaced: Sequence[Replaced], start: int, end: int) -> list[str]:
    """What stretches within `start:end` read as."""
    if not replaced:
        return []
    first = bisect_left(replaced, (start,))
    last = bisect_left(replaced, (end,), first)
    return [said for _, stop, said in replaced[first:last] if stop <= end]


def settled(pieces: list[Piece], text: str, replaced: Sequence[Replaced]) -> list[Piece]:
    """White space next to removed markup is markup: alone between two blocks, or at either end of the content."""
    if len(pieces) < 2 or all(piece[2] != "content" for piece in pieces):
        return pieces
    saying = [
        k
        for k, (start, end, kind) in enumerate(pieces)
        if (not text[start:end].isspace() if kind == "content" else any(replacing(replaced, start, end)))
    ]
    first, last = (saying[0], saying[-1]) if saying else (-1, -1)
    tiles: list[Piece] = []
    for k, (start, end, kind) in enumerate(pieces):
        if kind != "content":
            _lay(tiles, start, end, kind)
        elif k not in (first, last) and text[start:end].isspace():
            _lay(tiles, start, end, "markup")
        else:
            said = text[start:end]
            begin = end - len(said.lstrip()) if k == first and k > 0 else start
            stop = start + len(said.rstrip()) if k == last and k < len(pieces) - 1 else end
            _lay(tiles, start, begin, "markup")
            _lay(tiles, begin, stop, "content")
            _lay(tiles, stop, end, "markup")
    return tiles


def _lay(tiles: list[Piece], start: int, end: int, kind: SegmentKind) -> None:
    """Add a tile, if it is any; what touches markup and is markup is one piece with it."""
    if start == end:
        return
    if kind == "markup" and tiles and tiles[-1][2] == "markup":
        start = tiles.pop()[0]
    tiles.append((start, end, kind))


def joined(pieces: Sequence[Piece], kind: SegmentKind, text: str, replaced: Sequence[Replaced]) -> str:
    """The text of one kind; what markup reads as is content."""
    if kind == "content" and replaced:
        parts: list[str] = []
        for start, end, piece in pieces:
            parts += [text[start:end]] if piece == kind else replacing(replaced, start, end)
        return "".join(parts)
    return "".join([text[start:end] for start, end, piece in pieces if piece == kind])
