"""Whatever the wire, whole or streamed, however its deltas were cut: the same turn becomes the same envelope."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from llmcore.normalizer import Normalizer, normalize
from llmcore.types import (
    ArgumentsDelta,
    Envelope,
    NormalizerEvent,
    ReasoningDelta,
    TextBlock,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    ToolUseBlock,
)
from tests.normalizer.native.samples import ARGUMENTS, REASONING, SAMPLES, TEXT, TOOLS, Sample, joined, recut

each_wire = pytest.mark.parametrize("sample", SAMPLES, ids=[sample.wire for sample in SAMPLES])


def heard(events: Iterable[dict[str, Any]]) -> tuple[Envelope, list[NormalizerEvent]]:
    normalizer = Normalizer(TOOLS)
    told = [told for event in events for told in normalizer.feed(event)]
    told += normalizer.finish()
    return normalizer.envelope, told


def everything(envelope: Envelope) -> tuple[Any, ...]:
    """The envelope with what it computes lazily. What calls were read from differs between text and objects."""
    plain = envelope.model_dump(exclude={"tool_calls": {"__all__": {"raw_arguments"}}})
    blocks = [block.model_dump(exclude={"raw_input"}) for block in envelope.blocks]
    return plain, envelope.source, envelope.segments, blocks


@each_wire
def test_the_turn_is_read(sample: Sample) -> None:
    envelope = normalize(sample.whole, TOOLS)
    assert [(call.id, call.name, call.arguments) for call in envelope.tool_calls] == [
        (sample.ids[0], "get_weather", ARGUMENTS),
        (sample.ids[1], "ping", {}),
    ]
    assert all(call.complete and call.known and not call.repairs for call in envelope.tool_calls)
    assert all(call.dialect == "native" and call.span is None for call in envelope.tool_calls)
    assert (envelope.content, envelope.reasoning) == (TEXT, REASONING)
    assert (envelope.finish_reason, envelope.finish_word) == ("tool_calls", sample.finish_word)
    assert envelope.needs_more_work is True
    assert not envelope.truncated
    assert not envelope.near_misses
    assert not envelope.repairs


@each_wire
def test_blocks_keep_the_order(sample: Sample) -> None:
    blocks = [block for block in normalize(sample.whole, TOOLS).blocks if block.type in ("text", "tool_use")]
    assert blocks == [
        TextBlock(text=TEXT),
        ToolUseBlock(id=sample.ids[0], name="get_weather", input=ARGUMENTS, raw_input=json.dumps(ARGUMENTS)),
        ToolUseBlock(id=sample.ids[1], name="ping", input={}, raw_input="{}"),
    ]


@each_wire
def test_a_stream_is_read_like_the_whole(sample: Sample) -> None:
    whole = everything(normalize(sample.whole, TOOLS))
    assert everything(heard(sample.events)[0]) == whole
    assert everything(normalize(sample.events, TOOLS)) == whole


@each_wire
@pytest.mark.parametrize("size", [1, 2, 7])
def test_the_cut_of_the_deltas_does_not_matter(sample: Sample, size: int) -> None:
    pieces = list(recut(sample.events, size))
    assert len(pieces) > len(sample.events)
    whole = everything(normalize(sample.whole, TOOLS))
    assert everything(heard(pieces)[0]) == whole
    assert everything(heard(joined(pieces))[0]) == whole


@each_wire
@pytest.mark.parametrize("size", [1, 1000])
def test_the_events_fold_into_the_envelope(sample: Sample, size: int) -> None:
    envelope, told = heard(recut(sample.events, size))
    assert "".join(event.text for event in told if isinstance(event, TextDelta)) == envelope.content
    assert "".join(event.text for event in told if isinstance(event, ReasoningDelta)) == envelope.reasoning
    started = [(event.index, event.id, event.name) for event in told if isinstance(event, ToolCallStarted)]
    assert started == [(n, call.id, call.name) for n, call in enumerate(envelope.tool_calls)]
    finished = [(event.index, event.call) for event in told if isinstance(event, ToolCallFinished)]
    assert finished == list(enumerate(envelope.tool_calls))
    for n, call in enumerate(envelope.tool_calls):
        deltas = [event.json for event in told if isinstance(event, ArgumentsDelta) and event.index == n]
        assert json.loads("".join(deltas)) == call.arguments


@each_wire
def test_a_whole_body_tells_a_listener_the_same(sample: Sample) -> None:
    envelope, told = heard([sample.whole])
    assert everything(envelope) == everything(normalize(sample.whole, TOOLS))
    assert [event.call for event in told if isinstance(event, ToolCallFinished)] == envelope.tool_calls
    assert "".join(event.text for event in told if isinstance(event, TextDelta)) == TEXT


@each_wire
def test_arguments_come_while_they_are_written(sample: Sample) -> None:
    """Where the wire streams arguments, the first call's deltas do not wait for its end."""
    if sample.wire in ("gemini", "ollama-chat"):
        pytest.skip("calls come whole on this wire")
    normalizer = Normalizer(TOOLS)
    deltas = 0
    for event in recut(sample.events, 1):
        for told in normalizer.feed(event):
            deltas += isinstance(told, ArgumentsDelta)
            if isinstance(told, ToolCallFinished):
                break
    assert deltas > len(json.dumps(ARGUMENTS)) // 2


@each_wire
def test_a_stream_that_breaks_off_loses_nothing_that_was_whole(sample: Sample) -> None:
    """Every prefix: no exception, whole calls stand, a call that was cut is never complete."""
    events = list(recut(sample.events, 4))
    seen = 0
    for end in range(len(events)):
        envelope, _ = heard(events[:end])
        for call in envelope.tool_calls:
            if call.complete:
                assert call.arguments in (ARGUMENTS, {}), call
                assert call.name == ("ping" if call.arguments == {} else "get_weather")
        assert envelope.truncated is any(not call.complete for call in envelope.tool_calls)
        assert len(envelope.tool_calls) >= seen
        seen = len(envelope.tool_calls)
