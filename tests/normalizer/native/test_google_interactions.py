"""Bodies of Google Interactions: their steps are native calls, text and thoughts."""

from __future__ import annotations

from llmcore.normalizer.api import normalize
from llmcore.normalizer.native.wires import wire_of

from .samples import TOOLS

_CALL = {"type": "function_call", "id": "fc_1", "name": "get_weather", "arguments": {"city": "Oslo"}}


def test_steps_are_calls_text_and_reasoning() -> None:
    thought = {"type": "thought", "summary": [{"type": "text", "text": "I need it."}], "signature": "s1"}
    envelope = normalize({"id": "i1", "steps": [thought, {"type": "text", "text": "One moment."}, _CALL]}, TOOLS)
    assert [(call.id, call.name, call.arguments) for call in envelope.tool_calls] == [("fc_1", "get_weather", {"city": "Oslo"})]
    assert (envelope.content, envelope.reasoning) == ("One moment.", "I need it.")


def test_text_within_an_output_may_hold_a_call() -> None:
    text = '<tool_call>{"name": "ping", "arguments": {}}</tool_call>'
    body = {"steps": [{"type": "model_output", "content": [{"type": "text", "text": text}]}]}
    assert [call.name for call in normalize(body, TOOLS).tool_calls] == ["ping"]


def test_other_steps_are_no_interaction() -> None:
    assert wire_of({"steps": [{"title": "First"}]}) is None
    assert wire_of({"steps": [{"type": "chapter"}]}) is None
    assert wire_of({"steps": []}) is None
