"""Replies with a call where none counts: in closed reasoning, and in the answer of a framed reply."""

from __future__ import annotations

import json

import pytest

from llmcore.adapters.base import Capabilities
from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from tests.run.support import FAST, get_weather

pytestmark = pytest.mark.anyio

CALL = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
TAGGED = f"<tool_call>{CALL}</tool_call>"


@pytest.mark.parametrize("thought", [f"<think>I look. {TAGGED}</think>", f"<|channel|>analysis<|message|>{TAGGED}<|end|>"])
async def test_a_model_that_calls_in_its_reasoning_is_reported(thought: str) -> None:
    fake = FakeModel(thought, TAGGED, "It is sunny.")
    result = await Orchestrator(fake, [get_weather], strategies=FAST).run("go")
    assert result.content == "It is sunny."
    assert [one.name for one in result.tool_results] == ["get_weather"]
    asked = fake.requests[1].messages[-1].model_dump_json()
    assert "It stands in the reasoning" in asked
    assert not any("empty" in str(attempt.failure) for attempt in result.attempts)


_ONLY = {
    "text": Capabilities(native_tools=False, json_schema=False, json_object=False, text_dialect="hermes"),
    "json_object": Capabilities(native_tools=False, json_schema=False, json_object=True),
}


async def test_the_form_that_the_text_mode_taught_is_a_call_in_a_framed_answer() -> None:
    framed = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>{}<|return|>"
    fake = FakeModel(framed.replace("{}", TAGGED), framed.replace("{}", CALL), capabilities=_ONLY["text"])
    result = await Orchestrator(fake, [get_weather], strategies=FAST).run("go")
    assert [one.name for one in result.tool_results] == ["get_weather"]
    assert result.content == CALL


async def test_the_envelope_of_the_json_mode_is_read_in_a_framed_answer() -> None:
    framed = "<|channel|>final<|message|>{}<|return|>"
    enveloped = json.dumps({"toolCalls": [json.loads(CALL)], "content": "", "needsMoreWork": True})
    done = json.dumps({"toolCalls": [], "content": "Sunny.", "needsMoreWork": False})
    fake = FakeModel(framed.replace("{}", enveloped), framed.replace("{}", done), capabilities=_ONLY["json_object"])
    result = await Orchestrator(fake, [get_weather], strategies=FAST).run("go")
    assert [one.name for one in result.tool_results] == ["get_weather"]
    assert result.content == "Sunny."
