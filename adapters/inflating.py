"""Unpacking a compressed body piece by piece, so that no server can make a small body fill the memory.

Every piece that comes out is bounded; whoever reads counts them and stops when it is enough. A gzip body may have
several members, as the format allows, up to a limit. Linear in what goes in and what comes out.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

__all__ = ["ACCEPTED", "Inflater", "UnknownEncoding", "inflater_of"]

ACCEPTED = "gzip, deflate"
"""The `Accept-Encoding` of what can be unpacked here."""

_PIECE = 32_768
_GZIP, _ZLIB, _RAW = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS
_GZIP_START = b"\x1f\x8b"


class UnknownEncoding(ValueError):
    """The body is packed in a way that was not asked for."""


class Inflater:
    """Unpacks one body. `members`: how many gzip members it may have."""

    def __init__(self, encoding: str, members: int) -> None:
        self._gzip = encoding == "gzip"
        self._left = members
        self._member: Any = None  # zlib's object, whose type has no public name
        self._ended = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What the next bytes unpack to, in pieces of at most 32 KB.

        Raises `zlib.error` when they are not what they are said to be, `ValueError` for too many members.
        """
        while data and not self._ended:
            if self._member is None:
                self._member = self._next(data)
            member = self._member
            piece = member.decompress(data, _PIECE)
            if piece:
                yield piece
            data = member.unconsumed_tail
            if member.eof:
                data, self._member = member.unused_data, None
                self._ended = not self._gzip or (bool(data) and not _GZIP_START.startswith(data[:2]))

    def _next(self, data: bytes) -> Any:
        if self._left <= 0:
            raise ValueError("too many gzip members")
        self._left -= 1
        if self._gzip:
            return zlib.decompressobj(_GZIP)
        # RFC 9110 means zlib's format by "deflate"; some servers send the bare one, whose first byte never looks so
        return zlib.decompressobj(_ZLIB if data[0] & 0x0F == 8 else _RAW)


def inflater_of(encoding: str | None, members: int) -> Inflater | None:
    """What unpacks a body with this `Content-Encoding`; None when it is not packed. Raises `UnknownEncoding`."""
    name = (encoding or "identity").strip().lower().removeprefix("x-")
    if name in ("identity", ""):
        return None
    if name not in ("gzip", "deflate"):
        raise UnknownEncoding(name)
    return Inflater(name, members)
