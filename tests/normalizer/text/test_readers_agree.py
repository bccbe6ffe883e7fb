"""A call means the same whole and in chunks, and whatever the process has read before."""

from __future__ import annotations

import pytest

from llmcore.normalizer.api import Normalizer, normalize
from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import tool

_TOOLS = ToolSet([tool("purge"), tool("level", ["n"], n="integer")])
_OPEN = ToolSet([{"name": "purge", "parameters": {"type": "object"}}])
_CALLS = {
    "hermes": '<tool_call>\n{"name": "purge", "arguments": {}}\n</tool_call>',
    "mistral": "[TOOL_CALLS]purge[ARGS]{}",
    "gemma": "<|tool_call>call:purge{}<tool_call|>",
    "kimi": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.purge:0<|tool_call_argument_begin|>{}<|tool_call_end|>"
        "<|tool_calls_section_end|>"
    ),
}
_FRAMES = {
    "harmony": '<|channel|>commentary to=functions.level <|constrain|>json<|message|>{"n": 3}<|call|>',
    "kimi_k3": (
        '<|open|>tools<|sep|><|open|>call tool="level" index="1"<|sep|><|open|>argument key="n" type="number"<|sep|>3'
        "<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>"
    ),
    "final": "<|channel|>final<|message|>ok<|return|>",
}
_ECHOES = {
    "python_tag": ('<|python_tag|>{"name": "purge", "parameters": ', "}"),
    "internlm": ('<|action_start|> <|plugin|>\n{"name": "purge", "parameters": ', "}<|action_end|>"),
    "cohere_action": ('<|START_ACTION|>[{"tool_name": "purge", "parameters": ', "}]<|END_ACTION|>"),
}


def _streamed(text: str, tools: ToolSet) -> list[str]:
    normalizer = Normalizer(tools)
    for at in range(0, len(text), 7):
        normalizer.feed(text[at : at + 7])
    normalizer.finish()
    return [call.name for call in normalizer.envelope.tool_calls]


@pytest.mark.parametrize("between", ["\n", "\nSome words.\n", " ok ", "."])
@pytest.mark.parametrize("frame", _FRAMES)
@pytest.mark.parametrize("call", _CALLS)
def test_a_call_before_the_first_frame_is_never_a_call(call: str, frame: str, between: str) -> None:
    text = _CALLS[call] + between + _FRAMES[frame]
    for _ in range(3):
        assert "purge" not in [found.name for found in normalize(text, _TOOLS).tool_calls]
        assert "purge" not in _streamed(text, _TOOLS)


@pytest.mark.parametrize(
    "schema", ['{"type": "object"}', '{"$schema": "x", "type": "object"}', '{"type": "object", "properties": {}}']
)
@pytest.mark.parametrize("echo", _ECHOES)
def test_an_echo_of_a_declaration_is_no_call_after_a_call(echo: str, schema: str) -> None:
    before, behind = _ECHOES[echo]
    for _ in range(3):
        assert [call.name for call in normalize(f'{before}{{"k": "v"}}{behind}', _OPEN).tool_calls] == ["purge"]
        text = f"{before}{schema}{behind}"
        assert [call.name for call in normalize(text, _OPEN).tool_calls] == []
        assert _streamed(text, _OPEN) == []


def test_the_content_of_a_framed_reply_is_the_same_whole_and_streamed() -> None:
    text = f"{_CALLS['mistral']}\n{_FRAMES['harmony']}\nok."
    for _ in range(3):
        normalizer = Normalizer(_TOOLS)
        for sign in text:
            normalizer.feed(sign)
        normalizer.finish()
        assert normalize(text, _TOOLS).content == normalizer.envelope.content
