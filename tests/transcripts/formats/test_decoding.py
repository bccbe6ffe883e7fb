"""Bytes to text to JSON: what is kept, and that every failure says what and where."""

from __future__ import annotations

import gzip
import json
import time
import zlib
from contextlib import suppress
from dataclasses import replace

import pytest

from llmcore.transcripts.errors import OverLimit
from llmcore.transcripts.formats import decoding
from llmcore.transcripts.formats.decoding import decode_utf8, load_json, unpack
from llmcore.types.limits import RECORDING_LIMITS


def test_a_byte_order_mark_is_dropped() -> None:
    assert decode_utf8(b"\xef\xbb\xbfa\xc3\xa9") == "aé"


def test_the_first_byte_that_is_not_utf8_is_named() -> None:
    with pytest.raises(ValueError, match=r"not UTF-8: byte 0xe9 at offset 3"):
        decode_utf8(b"caf\xe9")
    with pytest.raises(ValueError, match="UTF-16"):
        decode_utf8("text".encode("utf-16"))


@pytest.mark.parametrize("text", ['{"a": "\\ud83d"}', '{"a": "\ud83d"}', "[" * 150 + "]" * 150, '{"a": 12345678901234567890123}'])
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


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '[{"b": {"c": [{"a": 1, "a": 1}]}}]', '{"a": 1, "\\u0061": 2}'])
def test_a_repeated_key_is_refused_if_keys_must_be_unique(text: str) -> None:
    with pytest.raises(ValueError, match="'a' is given twice in one object"):
        load_json(text, unique=True)
    load_json(text)  # what servers and models write


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


SMALL = replace(RECORDING_LIMITS, size=1000, values=100, members=20)


def test_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "RECORDING_LIMITS", SMALL)
    assert unpack(gzip.compress(b"x" * 1000), "gzip") == b"x" * 1000
    with pytest.raises(OverLimit, match="more than 1000 bytes"):
        unpack(gzip.compress(b"x" * 1001), "gzip")
    with pytest.raises(OverLimit, match="more than 1000 bytes"):
        unpack(gzip.compress(b"x" * 600) * 2, "gzip")


def test_members_are_bounded_and_read_in_linear_time(monkeypatch: pytest.MonkeyPatch) -> None:
    empty = gzip.compress(b"")
    started = time.process_time()
    assert unpack(empty * 9_999 + gzip.compress(b"body"), "gzip") == b"body"
    assert time.process_time() - started < 1
    monkeypatch.setattr(decoding, "RECORDING_LIMITS", SMALL)
    assert unpack(empty * 20, "gzip") == b""
    with pytest.raises(OverLimit, match="more than 20 members"):
        unpack(empty * 21, "gzip")


def test_a_member_may_end_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "_PIECE", 7)
    body = bytes(range(256)) * 3
    assert unpack(gzip.compress(body[:100]) + gzip.compress(body[100:]), "gzip") == body
    with pytest.raises(ValueError, match="damaged gzip"):
        unpack(gzip.compress(body)[:-4], "gzip")


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("[" + "{}," * 60 + "1]", True),
        ('{"a": "' + ",[{" * 60 + '"}', False),
        ('["\\"", "' + ",[{" * 60 + '"]', False),
        ('["' + ",[{" * 60, False),
        ('"\\' * 60 + "[{" * 60, False),
        ('[""' + ', "a,b"' * 70 + "]", False),
        ('[""' + ', "a,b"' * 110 + "]", True),
    ],
)
def test_values_are_counted_outside_of_strings(monkeypatch: pytest.MonkeyPatch, text: str, refused: bool) -> None:
    monkeypatch.setattr(decoding, "RECORDING_LIMITS", SMALL)
    if refused:
        with pytest.raises(OverLimit, match="more than 100 values"):
            load_json(text)
    else:
        with suppress(ValueError):
            load_json(text)


def test_depth_is_bounded_also_where_the_json_module_reads() -> None:
    lone = '"\\ud83d"'
    assert load_json("[" * 200 + lone + "]" * 200)
    with pytest.raises(ValueError, match="nested too deeply"):
        load_json("[" * 201 + lone + "]" * 201)


@pytest.mark.parametrize("quotes", ['"' * 400_001, '"\\' * 200_000, '[",' * 200_000])
def test_counting_is_linear_whatever_the_quotes(monkeypatch: pytest.MonkeyPatch, quotes: str) -> None:
    monkeypatch.setattr(decoding, "RECORDING_LIMITS", replace(SMALL, values=1))
    started = time.process_time()
    with suppress(ValueError, OverLimit):
        load_json(quotes + ",,")
    assert time.process_time() - started < 1
