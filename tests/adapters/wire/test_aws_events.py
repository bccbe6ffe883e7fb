"""AWS's binary frames give their events by name; what is damaged or cut is said, and what came before it stays."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from typing import Any

import pytest

from llmcore.adapters.wire.aws_events import aws_events


def frame(payload: Any, **headers: str) -> bytes:
    def header(name: str, value: str) -> bytes:
        return bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()

    named = {":message-type": "event", **{":" + name.replace("_", "-"): value for name, value in headers.items()}}
    told = b"".join(header(name, value) for name, value in named.items()) + b"\x04date\x08" + b"\x00" * 8 + b"\x04flag\x00"
    data = json.dumps(payload).encode()
    head = struct.pack(">II", 16 + len(told) + len(data), len(told))
    whole = head + struct.pack(">I", zlib.crc32(head)) + told + data
    return whole + struct.pack(">I", zlib.crc32(whole))


START = {"role": "assistant"}
DELTA = {"contentBlockIndex": 0, "delta": {"text": "Hello"}}
STREAM = frame(START, event_type="messageStart") + frame(DELTA, event_type="contentBlockDelta")


def test_events_are_named_by_their_headers() -> None:
    read = aws_events(STREAM)
    assert read.events == [{"messageStart": START}, {"contentBlockDelta": DELTA}]
    assert (read.error, read.fault) == (None, "")
    assert aws_events(b"").events == []


def test_a_models_own_events_are_given_as_they_are() -> None:
    own = {"type": "content_block_delta", "index": 0}
    packed = {"bytes": base64.b64encode(json.dumps(own).encode()).decode()}
    assert aws_events(frame(packed, event_type="chunk")).events == [own]


def test_an_exception_is_the_error_that_the_stream_ended_in() -> None:
    read = aws_events(STREAM + frame({"message": "slow down"}, message_type="exception", exception_type="throttlingException"))
    assert len(read.events) == 2
    assert read.error == {"type": "throttlingException", "message": "slow down"}


@pytest.mark.parametrize("cut", [1, 5, 13, 40, len(STREAM) - 1])
def test_what_is_cut_is_said(cut: int) -> None:
    read = aws_events(STREAM[:cut])
    assert read.fault == "the stream is cut within a frame"
    assert len(read.events) == (cut > len(frame(START, event_type="messageStart")))


@pytest.mark.parametrize("at", range(0, len(STREAM), 7))
def test_a_changed_byte_is_found(at: int) -> None:
    damaged = bytearray(STREAM)
    damaged[at] ^= 0x55
    assert aws_events(bytes(damaged)).fault
