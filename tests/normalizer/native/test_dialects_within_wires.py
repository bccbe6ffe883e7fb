"""Every dialect in the text deltas of every wire, however they are cut: what the text alone would be read as."""

from __future__ import annotations

import pytest

from llmcore.normalizer import Normalizer, normalize
from llmcore.normalizer.dialects.registry import DIALECTS
from llmcore.types import NormalizerEvent, TextDelta, ToolCallFinished
from tests.normalizer.native.samples import SAMPLES, SAYING, TOOLS, recut


def test_there_is_a_stream_for_every_wire() -> None:
    assert set(SAYING) == {sample.wire for sample in SAMPLES}


@pytest.mark.parametrize("wire", SAYING)
@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_a_call_is_found_mid_stream(name: str, wire: str) -> None:
    text = DIALECTS[name].write([("get_weather", {"city": "Oslo", "days": 3})])
    alone = normalize(text, TOOLS, finish_reason="stop")
    assert [(call.name, call.arguments) for call in alone.tool_calls] == [("get_weather", {"city": "Oslo", "days": 3})]
    for size in (1, 7, len(text)):
        normalizer = Normalizer(TOOLS)
        told: list[NormalizerEvent] = []
        for event in recut(SAYING[wire](text), size):
            told += normalizer.feed(event)
        told += normalizer.finish()
        envelope = normalizer.envelope
        assert envelope.tool_calls == alone.tool_calls
        assert (envelope.content, envelope.source, envelope.segments) == (alone.content, alone.source, alone.segments)
        assert [event.call for event in told if isinstance(event, ToolCallFinished)] == envelope.tool_calls
        if DIALECTS[name].trust == "delimited":
            assert "".join(event.text for event in told if isinstance(event, TextDelta)) == envelope.content
