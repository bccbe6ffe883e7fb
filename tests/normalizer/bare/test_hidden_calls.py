"""JSON that is no call and holds what looks like one is a near miss: nothing that may have been meant goes unsaid."""

from __future__ import annotations

import pytest

from tests.normalizer.helpers import read_every_way

_CALL = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'


@pytest.mark.parametrize(
    "text",
    [
        f'{{"message": {{"toolCalls": [{_CALL}]}}}}',
        f'{{"output": {{"tool_calls": [{_CALL}]}}}}',
        f'{{"toolCall": {_CALL}}}',
        f'{{"steps": [{_CALL}]}}',
        f'{{"result": {_CALL}}}',
        '{"get_weather": {"city": "Oslo"}, "read_file": {"path": "a"}}',
        '{"thought": "x", "get_weather": {"city": "Oslo"}}',
        '{"get_weather": "Oslo"}',
    ],
)
def test_text_like_a_call_is_a_near_miss(text: str) -> None:
    found = read_every_way(text, chunkings=2)
    assert (found.tool_calls, found.content) == ([], text)
    assert [(miss.name, miss.reason) for miss in found.near_misses] == [("get_weather", "no_call_object")]


@pytest.mark.parametrize(
    "text",
    [
        '{"city": "Oslo", "tool": "none"}',
        '{"tools_used": ["get_weather"], "answer": "sunny"}',
        '{"answer": {"name": "get_weather", "since": 2020}}',
    ],
)
def test_data_that_names_a_tool_is_none(text: str) -> None:
    assert read_every_way(text, chunkings=2).near_misses == []
