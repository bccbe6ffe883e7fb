"""Decodes recordings: bytes to text, and text to JSON data. It is strict if a mistake would go unnoticed.

Rules: text is UTF-8 (a BOM is dropped). JSON keeps lone surrogates, which recorded stream chunks do contain. Unreadable
input raises a ValueError that says what and where. Input over one of `RECORDING_LIMITS` raises an `OverLimit` before
it uses the memory: three bytes of `{},` need a hundred when parsed, a kilobyte of gzip a megabyte. Work is linear in
the size of the input.
"""

from __future__ import annotations

import codecs
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any, BinaryIO

from pydantic_core import from_json

from llmcore.transcripts.errors import OverLimit
from llmcore.types.limits import RECORDING_LIMITS

__all__ = ["check_values", "decode_utf8", "load_json", "unpack", "whole_file"]

_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_INFLATERS = {
    "gzip": (zlib.MAX_WBITS | 16,),
    "x-gzip": (zlib.MAX_WBITS | 16,),
    "deflate": (zlib.MAX_WBITS, -zlib.MAX_WBITS),  # servers send both the zlib form of the RFC and bare deflate
}
_FOR_THE_JSON_MODULE = ("surrogate", "hex escape")
"""Errors of pydantic_core for text that the json module accepts: a lone `\\ud83d`."""
_GZIP_MAGIC = b"\x1f\x8b"
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)', re.DOTALL)
"""A JSON string. An unclosed one extends to the end of the text, so no text is scanned twice."""
_BRACKET = re.compile(r"[][{}]")
_SHOWN_KEY = 60
_VALUE_MARKS = (",", "[", "{")
_PIECE = 64 * 1024
_READ_AT_ONCE = 1024 * 1024


def whole_file(handle: BinaryIO) -> bytes:
    """The whole content of a file. Raises `OverLimit` if the file is too large."""
    limit = RECORDING_LIMITS.size
    pieces: list[bytes] = []
    left = limit
    while piece := handle.read(min(left + 1, _READ_AT_ONCE)):
        pieces.append(piece)
        left -= len(piece)
        if left < 0:
            raise OverLimit(f"a file of more than {limit} bytes; only JSON Lines files may be larger")
    return b"".join(pieces)


def decode_utf8(data: bytes) -> str:
    """The text of `data`, without a leading BOM. The ValueError names the first byte that is not UTF-8."""
    try:
        return data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        hint = ", it looks like UTF-16" if data.startswith(_UTF16_MARKS) else ""
        raise ValueError(f"not UTF-8{hint}: byte 0x{data[error.start]:02x} at offset {error.start}") from None


def load_json(text: str, *, unique: bool = False) -> Any:
    """The value of a JSON text. Raises a ValueError with line and column of what is wrong, and `OverLimit` if it has too
    many values.

    `unique`: refuse an object with a repeated key. Use it for files that people write, not for replies.
    """
    value = _loaded(text)
    if unique and '"' in text:
        json.loads(text, object_pairs_hook=_check_keys)
    return value


def _check_keys(members: list[tuple[str, Any]]) -> None:
    """Raises ValueError for a repeated key. Does not keep the object."""
    if len(members) > 1 and len(dict(members)) < len(members):
        twice = next(key for key, count in Counter(key for key, _ in members).items() if count > 1)
        raise ValueError(f"{twice[:_SHOWN_KEY]!r} is given twice in one object")


def _loaded(text: str) -> Any:
    check_values(text)
    try:
        return from_json(text)
    except TypeError:
        pass  # the text itself contains a lone surrogate
    except ValueError as error:
        if "recursion" in str(error):
            raise _too_deep() from None
        if not any(reason in str(error) for reason in _FOR_THE_JSON_MODULE):
            raise ValueError(f"not JSON: {error}") from None
    _check_depth(text)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at line {error.lineno} column {error.colno}") from None


def check_values(text: str) -> None:
    """Raises `OverLimit` if a JSON text has too many values, and ValueError if it is also too deep. It counts commas and
    brackets everywhere, which is fast. If there are too many, it counts again outside of strings."""
    limit = RECORDING_LIMITS.values
    if sum(map(text.count, _VALUE_MARKS)) <= limit:
        return
    found = 0
    for start, end in _outside_strings(text):
        found += sum(text.count(mark, start, end) for mark in _VALUE_MARKS)
        if found > limit:
            _check_depth(text)  # text that only repeats brackets is not JSON
            raise OverLimit(f"more than {limit} values in one JSON text")


def _check_depth(text: str) -> None:
    depth = 0
    for start, end in _outside_strings(text):
        for bracket in _BRACKET.finditer(text, start, end):
            depth += 1 if bracket[0] in "[{" else -1
            if depth > RECORDING_LIMITS.depth:
                raise _too_deep()


def _outside_strings(text: str) -> Iterator[tuple[int, int]]:
    position = 0
    for string in _STRING.finditer(text):
        yield position, string.start()
        position = string.end()
    yield position, len(text)


def _too_deep() -> ValueError:
    return ValueError(f"not JSON that can be read: nested too deeply (more than {RECORDING_LIMITS.depth} levels)")


def unpack(data: bytes, encoding: str) -> bytes:
    """A body without its content encoding (`gzip`, `deflate`, several separated by commas).

    A recorder may unpack the body and keep the header, so `gzip` without gzip's magic bytes is returned unchanged.
    ValueError for damaged data and for encodings that the standard library cannot unpack (`br`, `zstd`). `OverLimit`
    for a body that is too large when unpacked, or has too many members or encodings.
    """
    names = [part.strip().lower() for part in encoding.split(",") if part.strip()]
    if len(names) > RECORDING_LIMITS.encodings:
        raise OverLimit(f"a body with more than {RECORDING_LIMITS.encodings} content encodings")
    for name in reversed(names):
        if name == "identity" or ("gzip" in name and not data.startswith(_GZIP_MAGIC)):
            continue
        if name not in _INFLATERS:
            raise ValueError(f"a body with content-encoding {name[:40]!r}: record it decoded (only gzip and deflate are read)")
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
    """Unpacks all members; zlib.error if the last one is cut off. Feeds short pieces, since zlib copies what follows the
    end of a member."""
    limits = RECORDING_LIMITS
    unpacked = bytearray()
    inflater = zlib.decompressobj(bits)
    members, position = 1, 0
    while position < len(data):
        if inflater.eof:
            inflater = zlib.decompressobj(bits)
            members += 1
            if members > limits.members:
                raise OverLimit(f"a compressed body of more than {limits.members} members")
        piece = data[position : position + _PIECE]
        unpacked += inflater.decompress(piece, limits.size + 1 - len(unpacked))
        if len(unpacked) > limits.size:
            raise OverLimit(f"a compressed body of more than {limits.size} bytes when unpacked")
        position += len(piece) - len(inflater.unused_data)
    if data and not inflater.eof:
        raise zlib.error("cut")
    return bytes(unpacked)
