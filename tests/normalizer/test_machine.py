"""Any order of feeding, finishing and beginning anew, in text and in chunks of a wire, beside a plain record of what was fed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from llmcore.normalizer.api import Normalizer, normalize
from llmcore.normalizer.dialects.registry import DIALECTS
from llmcore.types.errors import CallerError
from llmcore.types.events import NormalizerEvent, ReasoningDelta, TextDelta, ToolCallFinished, ToolCallStarted
from llmcore.types.tools import ToolSet

from .helpers import TOOLS, assert_same, assert_tiled, assert_told

_WRITTEN = [
    row.write([("get_weather", {"city": "Oslo", "days": 3})] if row.single else [("ping", {}), ("read_file", {"path": "a<b"})])
    for row in DIALECTS.values()
]
_PROSE = [
    "Let me look. ",
    "\n",
    " ",
    "`code`",
    "```json\n",
    "```",
    "<think>",
    "</think>",
    "a < b",
    "{",
    "}",
    "[",
    "]",
    "é",
    "\ud83d",
]


@st.composite
def _piece(draw: st.DrawFn) -> str:
    """A stretch of a call as some dialect writes it, from anywhere to anywhere, or prose."""
    if draw(st.booleans()):
        return draw(st.sampled_from(_PROSE))
    text = draw(st.sampled_from(_WRITTEN))
    start = draw(st.just(0) | st.integers(0, len(text)))
    return text[start : draw(st.just(len(text)) | st.integers(start, len(text)))]


def _chunk(text: str) -> dict[str, Any]:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}


class NormalizerMachine(RuleBasedStateMachine):
    """P1, P2, P5, P7, P8 and P9 after any history."""

    @initialize(tools=st.sampled_from([TOOLS, TOOLS, None, ToolSet()]), wire=st.booleans())
    def begin(self, tools: ToolSet | None, wire: bool) -> None:
        self.tools, self.wire = tools, wire
        self.normalizer = Normalizer(tools)
        self.fed: list[str] = []
        self.events: list[NormalizerEvent] = []
        self.finished = False
        self.said = ""

    @precondition(lambda self: not self.finished)
    @rule(text=_piece(), size=st.sampled_from([1, 3, 1000]))
    def feed(self, text: str, size: int) -> None:
        for start in range(0, len(text), size):
            part = text[start : start + size]
            self.events += self.normalizer.feed(_chunk(part) if self.wire else part)
            self.fed.append(part)

    @precondition(lambda self: not self.finished)
    @rule(reason=st.sampled_from([None, "stop", "length"]))
    def finish(self, reason: str | None) -> None:
        self.events += self.normalizer.finish(reason)
        self.finished = True
        envelope, text = self.normalizer.envelope, "".join(self.fed)
        whole = normalize(text, self.tools, finish_reason=reason)
        if self.wire:
            assert [(call.name, call.arguments, call.complete) for call in envelope.tool_calls] == [
                (call.name, call.arguments, call.complete) for call in whole.tool_calls
            ]
            assert (envelope.content, envelope.reasoning) == (whole.content, whole.reasoning)
        else:
            assert_same(envelope, whole, self.fed)
        assert_tiled(envelope, text)
        assert_told(self.events, envelope)
        for call in envelope.tool_calls:
            assert self.tools is None or call.known is (call.name in self.tools)
            assert self.tools is None or len(self.tools)

    @precondition(lambda self: self.finished)
    @rule(text=_piece())
    def feed_too_late(self, text: str) -> None:
        with pytest.raises(CallerError, match="finished"):
            self.normalizer.feed(text)

    @precondition(lambda self: self.finished)
    @rule()
    def finish_twice(self) -> None:
        before = self.normalizer.envelope
        assert self.normalizer.finish() == []
        assert self.normalizer.envelope is before

    @precondition(lambda self: self.finished)
    @rule(tools=st.sampled_from([TOOLS, None]), wire=st.booleans())
    def begin_anew(self, tools: ToolSet | None, wire: bool) -> None:
        self.begin(tools, wire)

    @precondition(lambda self: not self.finished)
    @rule()
    def ask_too_early(self) -> None:
        with pytest.raises(CallerError, match="finish"):
            _ = self.normalizer.envelope

    @invariant()
    def what_was_told_stays_told(self) -> None:
        if not hasattr(self, "events"):
            return
        said = "".join(event.text for event in self.events if isinstance(event, TextDelta | ReasoningDelta))
        assert said.startswith(self.said)
        self.said = said
        started = [event.index for event in self.events if isinstance(event, ToolCallStarted)]
        ended = [event.index for event in self.events if isinstance(event, ToolCallFinished)]
        assert started == list(range(len(started)))
        assert ended == started[: len(ended)]


NormalizerMachine.TestCase.settings = settings(stateful_step_count=12, max_examples=60)
TestNormalizerMachine = NormalizerMachine.TestCase
