"""Decompresses a body piece by piece, so that a small body cannot fill the memory.

Each output piece is bounded. The caller counts them and stops at its limit. A gzip body may have several members, up to a
limit. Linear in input and output.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

__all__ = ["ACCEPTED", "ErrorInflater", "Inflater", "UnknownEncoding", "inflater_of"]

ACCEPTED = "gzip, deflate"
"""The `Accept-Encoding` of what this module can decompress."""

_PIECE = 32_768
_GZIP, _ZLIB, _RAW = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS
_GZIP_START = b"\x1f\x8b"
_TEXT_SAMPLE = 512
"""How many bytes decide whether data is text."""
_PADDING = b"\0"
"""Some servers append this to a compressed body. Readers ignore it."""


class UnknownEncoding(ValueError):
    """The body has an encoding that was not requested."""


class Inflater:
    """Decompresses one body. `members` is the most gzip members."""

    __slots__ = ("_gzip", "_has_begun", "_is_followed", "_left", "_member")

    def __init__(self, encoding: str, members: int) -> None:
        self._gzip = encoding == "gzip"
        self._left = members
        self._member: Any = None  # zlib's object, whose type has no public name
        self._has_begun = False
        self._is_followed = False

    @property
    def fault(self) -> str:
        """Why the bytes so far are not a whole compressed body. Empty if they are. Read it at the end of the bytes.

        Only a member's end proves that the data is complete and undamaged.
        """
        if self._is_followed:
            return "other bytes follow its end"
        return "it ends before its end" if self._member is not None else ""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decompress the next bytes into pieces of at most 32 KB.

        Raises `zlib.error` for invalid data, `ValueError` for too many members.
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
        # in RFC 9110, "deflate" is zlib's format; some servers send raw deflate, whose first byte differs
        return zlib.decompressobj(_ZLIB if data[0] & 0x0F == 8 else _RAW)


class ErrorInflater(Inflater):
    """Decompresses the body of an error response, which is an error even if its body cannot be read.

    A proxy may have decompressed the body and kept the header. If the data is text, it is returned unchanged; other
    unreadable data is dropped.
    """

    __slots__ = ("_inner", "_is_plain", "_is_read")

    def __init__(self, encoding: str, members: int) -> None:
        super().__init__("gzip", 0)
        try:
            self._inner = inflater_of(encoding, members)
        except UnknownEncoding:
            self._inner = Inflater("gzip", 0)  # accepts nothing
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
    """Return the decompressor for this `Content-Encoding`, None if the body is not compressed. Raises `UnknownEncoding`."""
    name = (encoding or "identity").strip().lower().removeprefix("x-")
    if name in ("identity", ""):
        return None
    if name not in ("gzip", "deflate"):
        raise UnknownEncoding(name)
    return Inflater(name, members)
