"""The pieces of a text after all of it is classified, and the text of each kind."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from llmcore.types.envelope import SegmentKind

__all__ = ["Piece", "Replaced", "joined_pieces", "replacing", "with_layout_removed"]

Piece = tuple[int, int, SegmentKind]
"""(start, end, kind) of a stretch of the text."""
Replaced = tuple[int, int, str]
"""(start, end, text that replaces this stretch of markup in the content)."""


def replacing(replaced: Sequence[Replaced], start: int, end: int) -> list[str]:
    """The replacement texts of all stretches within `start:end`."""
    if not replaced:
        return []
    first = bisect_left(replaced, (start,))
    last = bisect_left(replaced, (end,), first)
    return [replacement for _, stop, replacement in replaced[first:last] if stop <= end]


def with_layout_removed(pieces: list[Piece], text: str, replaced: Sequence[Replaced]) -> list[Piece]:
    """The pieces, with white space next to markup as markup: alone between two blocks, or at an end of the content."""
    if len(pieces) < 2:
        return pieces
    first = last = -1
    has_content = False
    for k, (start, end, kind) in enumerate(pieces):
        if kind == "content":
            has_content, says = True, not text[start:end].isspace()
        else:
            says = bool(replaced) and any(replacing(replaced, start, end))
        if says:
            first, last = (first if first >= 0 else k), k
    if not has_content:
        return pieces
    tiles: list[Piece] = []
    for k, piece in enumerate(pieces):
        start, end, kind = piece
        if start == end:
            continue
        if kind == "markup":
            _lay(tiles, start, end)
        elif kind != "content":
            tiles.append(piece)
        elif k != first and k != last:
            if text[start:end].isspace():
                _lay(tiles, start, end)
            else:
                tiles.append(piece)
        else:
            content = text[start:end]
            begin = end - len(content.lstrip()) if k == first and k > 0 else start
            stop = start + len(content.rstrip()) if k == last and k < len(pieces) - 1 else end
            if start < begin:
                _lay(tiles, start, begin)
            if begin < stop:
                tiles.append((begin, stop, "content"))
            if stop < end:
                _lay(tiles, stop, end)
    return tiles


def _lay(tiles: list[Piece], start: int, end: int) -> None:
    """Add a tile of markup if it is not empty. Adjacent markup becomes one tile."""
    if start < end:
        if tiles and tiles[-1][2] == "markup":
            start = tiles.pop()[0]
        tiles.append((start, end, "markup"))


def joined_pieces(pieces: Sequence[Piece], kind: SegmentKind, text: str, replaced: Sequence[Replaced]) -> str:
    """All text of one kind, joined. Content includes the texts that replace markup."""
    if kind == "content" and replaced:
        parts: list[str] = []
        for start, end, piece in pieces:
            parts += [text[start:end]] if piece == kind else replacing(replaced, start, end)
        return "".join(parts)
    texts = [text[start:end] for start, end, piece in pieces if piece == kind]
    return texts[0] if len(texts) == 1 else "".join(texts)
