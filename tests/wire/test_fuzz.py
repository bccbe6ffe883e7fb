"""Streams in any legal framing, cut and broken anywhere: what is read is the same, or the bytes pass as they came."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tests.wire.support import CALL, TWELVE, WIRES, Read, Wire, pieces, written
from tests.wire.test_exchange import END_OF_REPLY, read, sent, stream_bytes

wires = pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
SEEDS = [*range(6), *(pytest.param(seed, marks=pytest.mark.sweep) for seed in range(6, 120))]
seeds = pytest.mark.parametrize("seed", SEEDS)
WORDS = (
    "I look.",
    "ünd 日本 😀",
    "a < b && c > d",
    "{not: json}",
    "[1, 2]",
    "<b>bold</b>",
    "`code`",
    "data: x",
    "line\n\nline",
    "end.",
)
FOREIGN = (b"data: not json", b": keep-alive", b"retry: 3", b"event: note\ndata: [1]", b"id: 7", b"data:", b"unknown field")
"""What is no event of any wire."""


def drawn_text(draw: random.Random) -> tuple[str, int]:
    """A reply, and how many calls it makes."""
    words = " ".join(draw.sample(WORDS, draw.randint(0, 4)))
    reasoning = "<think>Hm, so.</think>\n" if draw.random() < 0.3 else ""
    if draw.random() < 0.2:
        return f"{reasoning}{words or 'Hello'}", 0
    dialect = draw.choice(TWELVE)
    cities = ("Oslo", "Rome", "Łódź")[: 1 if dialect == "react" else draw.randint(1, 3)]  # a turn of ReAct has one call
    calls = written(dialect, *[("get_weather", {"city": city, "days": 1}) for city in cities])
    return f"{reasoning}{words}\n\n{calls}", len(cities)


def framed(draw: random.Random, wire: Wire, text: str) -> bytes:
    """The events of the text, each framed in another legal way."""
    named, parts = wire.name != "openai-chat", list[bytes]()
    for event in wire.events(pieces(text, draw.randint(1, 40))):
        lines = [f"event: {event['type']}"] if named else []
        data = json.dumps(event, ensure_ascii=draw.random() < 0.5, indent=draw.choice([None, None, 1]))
        lines += [draw.choice(["data: ", "data:"]) + line for line in data.split("\n")]
        if draw.random() < 0.2:
            lines.insert(draw.randint(0, len(lines)), ": note")
        if draw.random() < 0.2:
            lines.append("id: 7")
        parts.append("\n".join(lines).encode())
        if draw.random() < 0.2:
            parts.append(draw.choice(FOREIGN))
    parts += [] if named else [b"data: [DONE]"]
    bom = b"\xef\xbb\xbf" if draw.random() < 0.2 else b""
    ends = [draw.choice([b"\n", b"\r\n", b"\r"])] if draw.random() < 0.7 else [b"\n", b"\r\n", b"\r"]
    return bom + b"".join([part.replace(b"\n", end) + end * 2 for part in parts for end in [draw.choice(ends)]])


def drawn_cuts(draw: random.Random, data: bytes) -> list[int]:
    return sorted(draw.sample(range(1, len(data)), draw.choice([0, 1, 5, min(200, len(data) - 1)])))


@wires
@seeds
def test_framing_and_cuts_change_nothing(wire: Wire, seed: int) -> None:
    draw = random.Random(f"{wire.name} {seed}")  # reproducible, no secret
    text, count = drawn_text(draw)
    plain = read(wire, sent(wire, stream_bytes(wire, text), []))
    assert len(plain.calls) == count
    data = framed(draw, wire, text)
    assert read(wire, sent(wire, data, [])) == plain
    assert read(wire, sent(wire, data, drawn_cuts(draw, data))) == plain
    assert read(wire, sent(wire, data, [*range(1, len(data))])) == plain


@wires
@seeds
def test_a_whole_body_and_its_stream_mean_the_same(wire: Wire, seed: int) -> None:
    draw = random.Random(f"{wire.name} {seed}")
    text, _ = drawn_text(draw)
    streamed = read(wire, sent(wire, stream_bytes(wire, text, size=draw.randint(1, 40)), []))
    whole = wire.read_body(wire.rewrite(wire.body(text)).body)
    whole.ids.clear()
    assert _squeezed(streamed) == _squeezed(whole)


def _squeezed(found: Read) -> tuple[Any, ...]:
    """Without white space at the ends of texts, which a stream sends before it knows what follows."""
    return found.text.strip(), found.reasoning.strip(), found.calls, found.end


@wires
@seeds
def test_a_stream_that_ends_anywhere_hands_out_no_call(wire: Wire, seed: int) -> None:
    draw = random.Random(f"{wire.name} {seed}")
    text, _ = drawn_text(draw)
    data = stream_bytes(wire, text, size=draw.randint(1, 40))
    cut = data[: draw.randrange(data.index(END_OF_REPLY[wire.name]))]
    out = sent(wire, cut, drawn_cuts(draw, cut) if len(cut) > 200 else [])
    assert read(wire, out[: out.rfind(b"\n\n") + 2] if b"\n\n" in out else b"").calls == []


@wires
@seeds
def test_damaged_bytes_raise_nothing(wire: Wire, seed: int) -> None:
    draw = random.Random(f"{wire.name} {seed}")
    data = bytearray(stream_bytes(wire, f"I look. {CALL}"))
    for _ in range(draw.randint(1, 8)):
        data[draw.randrange(len(data))] = draw.randrange(256)
    once = sent(wire, bytes(data), [])
    in_bytes = sent(wire, bytes(data), [*range(1, len(data))])
    assert len(once) == len(in_bytes)  # ids of new calls differ, and have one length


@wires
@seeds
def test_bytes_that_are_no_events_pass_as_they_came(wire: Wire, seed: int) -> None:
    draw = random.Random(f"{wire.name} {seed}")
    noise = draw.randbytes(draw.randint(1, 300)) + draw.choice([b"\n\n", b"\r\n\r\n", b""]) + draw.choice(FOREIGN)
    assert sent(wire, noise, []) == noise
    assert sent(wire, noise, [*range(1, len(noise))]) == noise
