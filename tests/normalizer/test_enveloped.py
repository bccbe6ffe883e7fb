"""A model that was asked for the envelope: what has nothing but `content` is one, with tools or without."""

from __future__ import annotations

import pytest

from llmcore.types.tools import ToolSet

from .helpers import TOOLS, read_every_way

_OFFERED = [TOOLS, ToolSet(), None]


@pytest.mark.parametrize("tools", _OFFERED)
@pytest.mark.parametrize(
    ("text", "content"),
    [
        ('{"content": "It is sunny."}', "It is sunny."),
        ('{"content": {"degrees": 21}}', '{"degrees": 21}'),
        ('```json\n{"content": "It is sunny."}\n```', "It is sunny."),
        ('{"toolCalls": [], "content": "It is sunny.", "needsMoreWork": false}', "It is sunny."),
        ('```json\n{"toolCalls": [], "content": "It is sunny."}\n```', "It is sunny."),
    ],
)
def test_only_content_is_the_answer(text: str, content: str, tools: ToolSet | None) -> None:
    envelope = read_every_way(text, tools, enveloped=True)
    assert (envelope.content, envelope.tool_calls, envelope.truncated) == (content, [], False)


@pytest.mark.parametrize("tools", _OFFERED)
def test_what_came_of_content_that_was_cut_is_the_answer(tools: ToolSet | None) -> None:
    envelope = read_every_way('{"content": "It is su', tools, enveloped=True)
    assert (envelope.content, envelope.truncated) == ("It is su", True)


@pytest.mark.parametrize("text", ['{"content": "It is sunny."}', '```json\n{"content": "It is sunny."}\n```'])
def test_it_is_data_where_no_envelope_was_asked_for(text: str) -> None:
    assert read_every_way(text, TOOLS).content == text


def test_no_call_is_read_where_no_tools_were_offered() -> None:
    text = '{"toolCalls": [{"name": "ping", "arguments": {}}], "content": "", "needsMoreWork": true}'
    envelope = read_every_way(text, ToolSet(), enveloped=True)
    assert not envelope.tool_calls
    assert [miss.name for miss in envelope.near_misses] == ["ping"]


def test_json_in_a_sentence_stays() -> None:
    text = 'Write {"content": "x"} there.'
    assert read_every_way(text, TOOLS, enveloped=True).content == text
