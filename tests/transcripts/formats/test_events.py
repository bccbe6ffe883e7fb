"""Splitting recorded streams: every framing, cut anywhere, never quadratic, never raising."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import chain
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmcore.transcripts.errors import OverLimit
from llmcore.transcripts.formats import decoding, events
from llmcore.transcripts.formats.events import EventSplitter, looks_like_events, split_events
from llmcore.types.limits import RECORDING_LIMITS
from tests.helpers.growth import assert_linear

A: dict[str, Any] = {"n": 1, "text": "one\u2028two\x0bthree"}
B: dict[str, Any] = {"n": 2, "emoji": "😀"}


def line(event: dict[str, Any]) -> str:
    return json.dumps(event, ensure_ascii=False)


FRAMINGS = {
    "sse": f"data: {line(A)}\n\ndata: {line(B)}\n\n",
    "sse with crlf": f"data: {line(A)}\r\n\r\ndata: {line(B)}\r\n\r\n",
    "sse with cr": f"data: {line(A)}\r\rdata: {line(B)}\r\r",
    "sse without space": f"data:{line(A)}\n\ndata:{line(B)}\n\n",
    "sse with names, ids, comments": (
        f": keep-alive\n\nevent: a\nid: 7\nretry: 10\ndata: {line(A)}\n\n:\nevent: b\ndata: {line(B)}\n\n"
    ),
    "sse with done": f"data: {line(A)}\n\ndata: {line(B)}\n\ndata: [DONE]\n\n",
    "sse, last event not closed": f"data: {line(A)}\n\ndata: {line(B)}",
    "sse, data over several lines": 'data: {"n": 1,\ndata:  "text": "one\u2028two\\u000bthree"}\n\n' + f"data: {line(B)}\n\n",
    "sse with a byte order mark": f"\ufeffdata: {line(A)}\n\ndata: {line(B)}\n\n",
    "json lines": f"{line(A)}\n{line(B)}\n",
    "json lines with crlf": f"{line(A)}\r\n{line(B)}",
    "json array": f"[{line(A)}\n,\n{line(B)}\n]",
    "json array, indented": json.dumps([A, B], indent=2),
    "json array, cut": f"[{line(A)},\r\n{line(B)}",
}


@pytest.mark.parametrize("framing", FRAMINGS)
def test_each_framing_gives_its_events(framing: str) -> None:
    assert split_events(FRAMINGS[framing]) == ([A, B], 0)


@pytest.mark.parametrize("framing", FRAMINGS)
def test_cuts_change_nothing(framing: str) -> None:
    text = FRAMINGS[framing]
    rng = random.Random(framing)
    for most in (1, 3, 20):
        splitter, events = EventSplitter(), list[dict[str, Any]]()
        at = 0
        while at < len(text):
            size = rng.randint(1, most)
            events += splitter.feed(text[at : at + size])
            at += size
        assert [*events, *splitter.finish()] == [A, B]
        assert splitter.unreadable == 0


def test_events_come_as_soon_as_they_are_whole() -> None:
    splitter = EventSplitter()
    assert list(splitter.feed(f"data: {line(A)}\n")) == []
    assert list(splitter.feed("\n")) == [A]
    assert list(splitter.feed(f"{line(B)}\n")) == [B]


@pytest.mark.parametrize(
    ("text", "unreadable"),
    [
        ("data: not json\n\n" + FRAMINGS["sse"], 1),
        (FRAMINGS["sse"] + 'data: {"n": 3, "te', 1),
        (FRAMINGS["sse"] + "data: 17\n\n", 1),
        (FRAMINGS["json lines"] + '{"n": 3, "te', 1),
        (f"[{line(A)},{line(B)},17]", 1),
        (f'[{line(A)},{line(B)},{{"n":', 1),
        (FRAMINGS["sse"] + "stray words\n", 1),
    ],
)
def test_what_is_no_event_is_counted(text: str, unreadable: int) -> None:
    assert split_events(text) == ([A, B], unreadable)


def test_an_event_that_is_a_list_is_its_items() -> None:
    assert split_events(f"data: [{line(A)}, {line(B)}]\n\n") == ([A, B], 0)


def test_a_body_in_place_of_a_stream_is_one_event() -> None:
    error = {"error": {"message": "no", "details": [{"n": 1}]}}
    assert split_events(json.dumps(error, indent=2)) == ([error], 0)


def test_lone_surrogates_are_kept() -> None:
    assert split_events('data: {"delta": "\\ud83d"}\n\n') == ([{"delta": "\ud83d"}], 0)


@pytest.mark.parametrize("text", ["", " \n", "{" * 100_000, "[" * 100_000, "Hello", "data:", "[1, 2", "[maybe] not", "\x00"])
def test_garbage_gives_no_event(text: str) -> None:
    assert split_events(text)[0] == []


@given(st.text(alphabet=st.sampled_from('data: {}[],"1\\n\r\n'), max_size=60), st.integers(1, 7))
def test_any_text_splits_alike_however_it_is_cut(text: str, size: int) -> None:
    def events(chunks: list[str]) -> tuple[list[dict[str, Any]], int]:
        splitter = EventSplitter()
        found = [event for chunk in chunks for event in splitter.feed(chunk)]
        return [*found, *splitter.finish()], splitter.unreadable

    assert events([text]) == events([text[at : at + size] for at in range(0, len(text), size)])


@pytest.mark.parametrize("piece", ["data: {\n", "{\n", "[", "data: x\r", '{"a": [\n', "\n", "data: \n"])
def test_hostile_streams_are_linear(piece: str) -> None:
    assert_linear(lambda size: split_events(piece * (size // len(piece))), 100_000)


@pytest.mark.parametrize("begin", ["data: {", "data:{", "event: message_start\n", ": ping\n", "id: 1", "retry: 3", "\n\ndata: "])
def test_the_beginning_of_a_stream_shows_its_form(begin: str) -> None:
    assert looks_like_events(begin)


@pytest.mark.parametrize("begin", ["", "{", "[", "database: x", "Hello", "I said: data: x", "datum:"])
def test_other_text_is_no_stream(begin: str) -> None:
    assert not looks_like_events(begin)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("data: {}\n\n" * 101, "100 events"),
        ("[" + "{}," * 101 + "{}]", "100 events"),
        ("data: [" + "{}," * 101 + "{}]\n\n", "100 events"),
        ("id: 1" + "\n" * 401, "400 lines"),
        (": ping\n" * 401, "400 lines"),
        ("x" * 10_001, "10000 characters"),
    ],
)
@pytest.mark.parametrize("size", [1, 1000, 100_000])
def test_a_stream_over_a_limit_says_which(monkeypatch: pytest.MonkeyPatch, text: str, limit: str, size: int) -> None:
    monkeypatch.setattr(events, "RECORDING_LIMITS", replace(RECORDING_LIMITS, size=10_000, events=100))
    splitter = EventSplitter()
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    with pytest.raises(OverLimit, match=f"more than {limit}"):
        list(chain(chain.from_iterable(map(splitter.feed, pieces)), splitter.finish()))


def test_a_stream_of_more_values_than_may_be_read_is_no_stream_of_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "RECORDING_LIMITS", replace(RECORDING_LIMITS, values=100))
    for text in ('data: {"a": [' + "1," * 200 + "1]}\n\n", '{"a": [' + "1," * 200 + "1]}", "[[" + "1," * 200 + "1]]"):
        with pytest.raises(OverLimit, match="more than 100 values"):
            split_events(text)
