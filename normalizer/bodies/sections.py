"""Parts of several dialects: marker rows, sections, closers, calls without arguments, values as text."""

from __future__ import annotations

from typing import Any

from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import Marker, Reader, as_json
from llmcore.normalizer.scanning.source import Follows, Steps, always, skip_space
from llmcore.types.envelope import Repair

_FEW_PIECES = 48
_NEAR = 1024  # characters of a piece that are searched for an opener

__all__ = ["as_text", "call_marker", "closer_after_call", "closer_after_markup", "empty_call", "section"]


def call_marker(
    dialect: str,
    reader: Reader,
    *openers: str,
    follows: Follows = always,
    pattern: str | None = None,
    begins: tuple[str, ...] = (),
    order: int = 0,
    by_name: bool = False,
) -> Marker:
    """A row whose opener begins a call, or a section of calls."""
    return Marker(
        reader,
        openers,
        pattern=pattern,
        begins=begins,
        follows=follows,
        order=order,
        calls=True,
        dialect=dialect,
        by_name=by_name,
    )


def section(*closers: str) -> Reader:
    """A reader of an outer marker, which is markup. If the section is empty, its closer is markup, too."""

    def read(reading: Reading, at: int, body: int) -> Steps[bool]:
        start = yield from skip_space(reading.src, body)
        for closer in closers:
            if reading.src.text.startswith(closer, start):
                start += len(closer)
        reading.text(at)
        reading.markup(start)
        return True

    return read


def closer_after_call(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read a closer: after a call it is markup, elsewhere text."""
    return _closer(reading, at, body, after=bool(reading.drafts))
    yield None


def closer_after_markup(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read a closer: after a call or other markup it is markup. At the start of a reply and in reasoning it is text."""
    return _closer(reading, at, body, after=bool(reading.pieces) and reading.pieces[-1][2] in ("markup", "call"))
    yield None


def _closer(reading: Reading, at: int, body: int, *, after: bool) -> bool:
    if not after or not reading.blank_before(at) or _opener_is_content(reading, reading.src.text[at:body]):
        return False
    reading.text(at)
    reading.markup(body)
    return True


def _opener_is_content(reading: Reading, closer: str) -> bool:
    """Whether the closer's opener is content, alone on its line. If so, the closer is content, too."""
    opener = closer.replace("/", "", 1)
    if not closer.startswith("</") or not reading.has_content():
        return False
    open_in_markup = 0
    for start, end, kind in reversed(reading.pieces[-_FEW_PIECES:]):
        piece = reading.src.text[max(start, end - _NEAR) : end]
        if kind != "content":
            open_in_markup += piece.count(opener) - piece.count(closer)
            if open_in_markup > 0:
                return False
        elif opener in piece and any(line.strip() == opener for line in piece.splitlines()):
            return closer not in piece[piece.rindex(opener) :]
    return False


def empty_call(
    reading: Reading, at: int, end: int, name: str, dialect: str, id: str = "", *, repairs: list[Repair] | None = None
) -> bool:
    """Enter a call without arguments, in a dialect that has such a form."""
    reading.end(reading.begin(at, name, dialect, id), end, {}, "", repairs=repairs)
    return True


def as_text(value: Any) -> str:
    """A value as raw text: strings as they are, everything else as JSON."""
    return value if isinstance(value, str) else as_json(value)
