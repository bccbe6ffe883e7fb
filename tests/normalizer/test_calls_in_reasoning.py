"""A call in closed reasoning is none. Where nothing follows the reasoning, it may be meant: it is a near miss."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.normalizer import Normalizer, normalize
from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import TOOLS, read_every_way

_CALL = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
_WRITTEN = [f"<tool_call>{_CALL}</tool_call>", f"I look.\n<tool_call>\n{_CALL}\n</tool_call>\n", f"I look:\n{_CALL}"]
_REASONING = [
    "<think>{}</think>",
    "<think>\n{}\n</think>\n\n",
    "<thinking>{}</thinking>",
    "<reasoning>{}</reasoning>",
    "{}</think>",
    "[THINK]{}[/THINK]",
    "◁think▷{}◁/think▷",
    "<|START_THINKING|>{}<|END_THINKING|>",
    "<|channel>thought\n{}<channel|>",
    "<|channel|>analysis<|message|>{}<|end|>",
    "<|open|>think<|sep|>{}<|close|>think<|sep|>",
    "<|content_thinking|>{}<|end_message|>",
]


@pytest.mark.parametrize("written", _WRITTEN)
@pytest.mark.parametrize("reasoning", _REASONING)
def test_a_call_in_reasoning_that_nothing_follows_is_a_near_miss(reasoning: str, written: str) -> None:
    text = reasoning.replace("{}", written)
    envelope = read_every_way(text)
    assert envelope.tool_calls == []
    assert not envelope.content.strip()
    (miss,) = envelope.near_misses
    assert (miss.name, miss.reason) == ("get_weather", "in_reasoning")
    assert "Oslo" in text[slice(*miss.span)]


@pytest.mark.parametrize("behind", ["It is sunny.", f"<tool_call>{_CALL}</tool_call>"])
def test_what_follows_the_reasoning_is_the_reply(behind: str) -> None:
    envelope = read_every_way(f"<think>{_WRITTEN[0]}</think>{behind}")
    assert [miss.reason for miss in envelope.near_misses] == []


@pytest.mark.parametrize("thought", ["Hm.", f"I could write `{_CALL}`.", "(see [1])"])
def test_reasoning_without_a_call_has_no_near_miss(thought: str) -> None:
    assert read_every_way(f"<think>{thought}</think>").near_misses == []


def test_without_tools_there_is_no_near_miss() -> None:
    assert read_every_way(f"<think>{_WRITTEN[0]}</think>", ToolSet([])).near_misses == []


def test_reasoning_in_a_native_reply_is_looked_at_too() -> None:
    message = {"role": "assistant", "content": f"<think>{_WRITTEN[0]}</think>"}
    envelope = normalize({"choices": [{"message": message, "finish_reason": "stop"}]}, TOOLS)
    assert [miss.reason for miss in envelope.near_misses] == ["in_reasoning"]


_THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": _WRITTEN[0]}]}
_DETAIL = {"type": "reasoning.text", "text": _WRITTEN[0], "signature": "c2ln", "index": 0}
_SIGNED = {"type": "thinking", "thinking": f"I look.\n{_WRITTEN[0]}\nNo.", "signature": "c2ln"}


@pytest.mark.parametrize(
    "body",
    [
        {"type": "message", "role": "assistant", "content": [_SIGNED], "stop_reason": "end_turn"},
        {"candidates": [{"content": {"parts": [{"text": _WRITTEN[0], "thought": True}]}, "finishReason": "STOP"}]},
        {"output": [{"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": _WRITTEN[0]}]}]},
        {
            "output": {"message": {"content": [{"reasoningContent": {"reasoningText": {"text": _WRITTEN[0]}}}]}},
            "stopReason": "end_turn",
        },
        {"choices": [{"message": {"role": "assistant", "content": "", "thinking_blocks": [_SIGNED]}}]},
        {"choices": [{"message": {"role": "assistant", "content": "", "reasoning_details": [_DETAIL]}}]},
        {"choices": [{"message": {"role": "assistant", "reasoning": _WRITTEN[0], "reasoning_details": [_DETAIL]}}]},
        {"choices": [{"message": {"role": "assistant", "content": [{**_THOUGHT, "closed": True}]}}]},
        {"message": {"role": "assistant", "content": [_THOUGHT]}, "finish_reason": "COMPLETE"},
        {"choices": [{"message": {"role": "assistant", "reasoning_content": f"<think>{_WRITTEN[0]}</think>"}}]},
    ],
)
def test_a_call_in_reasoning_that_the_wire_closes_is_a_near_miss(body: dict[str, Any]) -> None:
    envelope = normalize(body, TOOLS)
    assert envelope.tool_calls == []
    assert [(miss.name, miss.reason) for miss in envelope.near_misses] == [("get_weather", "in_reasoning")]


def _cohere(kind: str, **part: str) -> dict[str, Any]:
    return {"type": kind, "index": 0, "delta": {"message": {"content": part}}}


def _chunk(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta}]}


@pytest.mark.parametrize(
    "events",
    [
        [_cohere("content-start", type="thinking", thinking=""), _cohere("content-delta", thinking=_WRITTEN[0])],
        [_chunk(content=[_THOUGHT]), _chunk(content=[{"type": "thinking", "thinking": [], "closed": True}])],
        [_chunk(reasoning_details=[{**_DETAIL, "signature": None}]), _chunk(reasoning_details=[{**_DETAIL, "text": None}])],
        [
            _chunk(reasoning=_WRITTEN[0], reasoning_details=[{**_DETAIL, "signature": None}]),
            _chunk(reasoning_details=[{"type": "reasoning.encrypted", "data": "eA==", "index": 1}]),
        ],
    ],
)
def test_streamed_reasoning_that_the_wire_closes_calls_nothing(events: list[dict[str, Any]]) -> None:
    normalizer = Normalizer(TOOLS)
    for event in events:
        normalizer.feed(event)
    normalizer.finish()
    envelope = normalizer.envelope
    assert envelope.tool_calls == []
    assert [(miss.name, miss.reason) for miss in envelope.near_misses] == [("get_weather", "in_reasoning")]


@pytest.mark.parametrize(
    "message",
    [
        {"reasoning_content": _WRITTEN[0]},
        {"reasoning_details": [{"type": "reasoning.text", "text": _WRITTEN[0], "signature": None}]},
        {"content": [_THOUGHT]},
        {"content": [{**_THOUGHT, "closed": False}]},
    ],
)
def test_a_call_in_reasoning_that_nothing_closes_is_read(message: dict[str, Any]) -> None:
    body = {"choices": [{"message": {"role": "assistant", "content": "", **message}}]}
    assert [call.name for call in normalize(body, TOOLS).tool_calls] == ["get_weather"]
