"""Bytes to text to JSON: what is kept, and that every failure says what and where."""

from __future__ import annotations

import gzip
import json
import zlib

import pytest

from llmcore.transcripts import decoding
from llmcore.transcripts.decoding import decode_utf8, load_json, unpack


def test_a_byte_order_mark_is_dropped() -> None:
    assert decode_utf8(b"\xef\xbb\xbfa\xc3\xa9") == "aé"


def test_the_first_byte_that_is_not_utf8_is_named() -> None:
    with pytest.raises(ValueError, match=r"not UTF-8: byte 0xe9 at offset 3"):
        decode_utf8(b"caf\xe9")
    with pytest.raises(ValueError, match="UTF-16"):
        decode_utf8("text".encode("utf-16"))


@pytest.mark.parametrize("text", ['{"a": "\\ud83d"}', '{"a": "\ud83d"}', "[" * 500 + "]" * 500, '{"a": 12345678901234567890123}'])
def test_json_that_a_strict_parser_refuses_is_read(text: str) -> None:
    assert load_json(text) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": 1,}', r"not JSON: .* at line 1 column 9"),
        ('{"a": 1,\n "b": x}', r"not JSON: .* at line 2 column 7"),
        ('{"a": "\\ud83d", x}', r"not JSON: .* at line 1 column 17"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_mistake_in_json_is_placed(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        load_json(text)


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def gzipped(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)  # with the time in it, the test would have another name each second


@pytest.mark.parametrize(
    ("packed", "encoding"),
    [
        (b"body", ""),
        (b"body", "identity"),
        (gzipped(b"body"), "gzip"),
        (gzipped(b"body"), "GZIP"),
        (gzipped(b"bo") + gzipped(b"dy"), "gzip"),
        (b"body", "gzip"),  # unpacked by the recorder, its header left as it was
        (zlib.compress(b"body"), "deflate"),
        (raw_deflate(b"body"), "deflate"),
        (gzipped(zlib.compress(b"body")), "deflate, gzip"),
    ],
)
def test_bodies_are_unpacked(packed: bytes, encoding: str) -> None:
    assert unpack(packed, encoding) == b"body"


def test_what_cannot_be_unpacked_is_told() -> None:
    with pytest.raises(ValueError, match="'br'"):
        unpack(b"...", "br")
    with pytest.raises(ValueError, match="damaged deflate"):
        unpack(b"no such thing", "deflate")
    with pytest.raises(ValueError, match="damaged gzip"):
        unpack(gzip.compress(b"body")[:2] + b"junk", "gzip")
    with pytest.raises(ValueError, match="damaged gzip"):
        unpack(gzip.compress(b"body")[:-4], "gzip")


def test_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "MAX_BODY", 1000)
    assert unpack(gzip.compress(b"x" * 1000), "gzip") == b"x" * 1000
    with pytest.raises(ValueError, match="more than 1000 bytes"):
        unpack(gzip.compress(b"x" * 1001), "gzip")
