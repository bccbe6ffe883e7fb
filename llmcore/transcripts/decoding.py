"""From bytes to text and from text to JSON data, for recordings: strict where a mistake would go unseen, with
positions.

Rules: text is UTF-8 (a BOM is dropped); JSON keeps lone surrogates, which recorded stream chunks really hold; a
compressed body is unpacked up to `MAX_BODY` bytes, so that a small file cannot fill the memory. Every failure is a
ValueError that says what and where. Work is linear in the size of the input.
"""

from __future__ import annotations

import codecs
import json
import zlib
from typing import Any

from pydantic_core import from_json

__all__ = ["MAX_BODY", "decode_utf8", "load_json", "unpack"]

MAX_BODY = 256 * 1024 * 1024
"""Bytes. The most that is held of one line, one file that is read whole, or one unpacked body."""

_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_INFLATERS = {
    "gzip": (zlib.MAX_WBITS | 16,),
    "x-gzip": (zlib.MAX_WBITS | 16,),
    "deflate": (zlib.MAX_WBITS, -zlib.MAX_WBITS),  # servers send both the zlib form of the RFC and bare deflate
}
_FOR_THE_JSON_MODULE = ("surrogate", "hex escape", "recursion")
"""What pydantic_core refuses and the json module takes: a lone `\\ud83d`, and depth over 200."""
_GZIP_MAGIC = b"\x1f\x8b"


def decode_utf8(data: bytes) -> str:
    """The text of `data`, a leading BOM dropped. ValueError names the first byte that is not UTF-8."""
    try:
        return data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        hint = ", it looks like UTF-16" if data.startswith(_UTF16_MARKS) else ""
        raise ValueError(f"not UTF-8{hint}: byte 0x{data[error.start]:02x} at offset {error.start}") from None


def load_json(text: str) -> Any:
    """The value of a JSON text. ValueError says what is wrong, and at which line and column."""
    try:
        return from_json(text)
    except TypeError:
        pass  # a lone surrogate stands in the text itself
    except ValueError as error:
        if not any(reason in str(error) for reason in _FOR_THE_JSON_MODULE):
            raise ValueError(f"not JSON: {error}") from None
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at line {error.lineno} column {error.colno}") from None
    except RecursionError:
        raise ValueError("not JSON that can be read: nested too deeply") from None


def unpack(data: bytes, encoding: str) -> bytes:
    """A body without its content encoding (`gzip`, `deflate`, several separated by commas).

    A recorder may have unpacked the body and left the header: `gzip` without gzip's magic bytes is taken as it is.
    ValueError for damaged data, a body over `MAX_BODY`, and encodings that the standard library cannot unpack (`br`,
    `zstd`).
    """
    for name in reversed([part.strip().lower() for part in encoding.split(",") if part.strip()]):
        if name == "identity" or ("gzip" in name and not data.startswith(_GZIP_MAGIC)):
            continue
        if name not in _INFLATERS:
            raise ValueError(f"a body with content-encoding {name!r}: record it decoded (only gzip and deflate are read)")
        data = _inflate(data, _INFLATERS[name], name)
    return data


def _inflate(data: bytes, window_bits: tuple[int, ...], name: str) -> bytes:
    for bits in window_bits:
        try:
            return _members(data, bits)
        except zlib.error:
            continue
    raise ValueError(f"a damaged {name} body")


def _members(data: bytes, bits: int) -> bytes:
    """One compressed stream after the other; zlib.error when the last one is cut."""
    unpacked = bytearray()
    while data:
        inflater = zlib.decompressobj(bits)
        unpacked += inflater.decompress(data, MAX_BODY + 1 - len(unpacked))
        if len(unpacked) > MAX_BODY:
            raise ValueError(f"a compressed body of more than {MAX_BODY} bytes")
        if not inflater.eof:
            raise zlib.error("cut")
        data = inflater.unused_data
    return bytes(unpacked)
