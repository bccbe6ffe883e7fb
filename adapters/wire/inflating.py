"""Unpacking a compressed body piece by piece, so that no server can make a small body fill the memory.

Every piece that comes out is bounded; whoever reads counts them and stops when it is enough. A gzip body may have
several members, as the format allows, up to a limit. Linear in what goes in and what comes out.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

__all__ = ["ACCEPTED", "ErrorInflater", "Inflater", "UnknownEncoding", "inflater_of"]

ACCEPTED = "gzip, deflate"
"""The `Accept-Encoding` of what can be unpacked here."""

_PIECE = 32_768
_GZIP, _ZLIB, _RAW = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS
_GZIP_START = b"\x1f\x8b"
_TEXT_SAMPLE = 512
"""Bytes by which text is known."""
_PADDING = b"\0"
"""What some write behind a packed body, and every reader passes over."""


class UnknownEncoding(ValueError):
    """The body is packed in a way that was not asked for."""


class Inflater:
    """Unpacks one body. `members`: how many gzip members it may have."""

    __slots__ = ("_gzip", "_has_begun", "_is_followed", "_left", "_member")

    def __init__(self, encoding: str, members: int) -> None:
        self._gzip = encoding == "gzip"
        self._left = members
        self._member: Any = None  # zlib's object, whose type has no public name
        self._has_begun = False
        self._is_followed = False

    @property
    def fault(self) -> str:
        """At the end of the bytes: why they are not the whole of a packed body, in words; else "". Until a member has come to its
        end nothing proves that what was unpacked is all, and what was sent."""
        if self._is_followed:
            return "other bytes follow its end"
        return "it ends before its end" if self._member is not None else ""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What the next bytes unpack to, in pieces of at most 32 KB.

        Raises `zlib.error` when they are not what they are said to be, `ValueError` for too many members.
        """
        while data and not self._is_followed:
            if self._member is None:
                if self._has_begun and not (self._gzip and _GZIP_START.startswith(data[:2])):
                    self._is_followed = bool(data.strip(_PADDING))
                    return
                self._member = self._next(data)
            member = self._member
            piece = member.decompress(data, _PIECE)
            if piece:
                yield piece
            data = member.unconsumed_tail
            if member.eof:
                data, self._member = member.unused_data, None

    def _next(self, data: bytes) -> Any:
        if self._left <= 0:
            raise ValueError("too many gzip members")
        self._left -= 1
        self._has_begun = True
        if self._gzip:
            return zlib.decompressobj(_GZIP)
        # RFC 9110 means zlib's format by "deflate"; some servers send the bare one, whose first byte never looks so
        return zlib.decompressobj(_ZLIB if data[0] & 0x0F == 8 else _RAW)


class ErrorInflater(Inflater):
    """Unpacks what came with an error status, by which it is an error whatever can be read of it. A proxy may have unpacked the
    body and kept the header: what is text as it came is taken so, and of anything else nothing."""

    __slots__ = ("_inner", "_is_plain", "_is_read")

    def __init__(self, encoding: str, members: int) -> None:
        super().__init__("gzip", 0)
        try:
            self._inner = inflater_of(encoding, members)
        except UnknownEncoding:
            self._inner = Inflater("gzip", 0)  # which unpacks nothing
        self._is_read = True
        self._is_plain = False

    @property
    def fault(self) -> str:
        return ""

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._is_plain or self._inner is None:
            yield data
        elif self._is_read:
            has_output = False
            try:
                for piece in self._inner.feed(data):
                    has_output = True
                    yield piece
            except (ValueError, zlib.error):
                self._is_plain, self._is_read = not has_output and _is_text(data), False
                if self._is_plain:
                    yield data


def _is_text(data: bytes) -> bool:
    head = data[:_TEXT_SAMPLE].decode("utf-8", "replace").rstrip("\ufffd")
    return all(char.isprintable() or char.isspace() for char in head) and "\ufffd" not in head


def inflater_of(encoding: str | None, members: int) -> Inflater | None:
    """What unpacks a body with this `Content-Encoding`; None when it is not packed. Raises `UnknownEncoding`."""
    name = (encoding or "identity").strip().lower().removeprefix("x-")
    if name in ("identity", ""):
        return None
    if name not in ("gzip", "deflate"):
        raise UnknownEncoding(name)
    return Inflater(name, members)
