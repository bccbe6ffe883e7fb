"""Calls beside another one that is no certain call: one that the reply makes again, and one in a list of tools."""

from __future__ import annotations

import pytest

from .helpers import read_every_way

CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>'


@pytest.mark.parametrize("tag", ["plan", "draft", "notes"])
@pytest.mark.parametrize("end", ["", "\n", "\nDone."])
def test_the_call_in_the_element_is_text(tag: str, end: str) -> None:
    envelope = read_every_way(f"<{tag}>First\n{CALL}\nthen more.</{tag}>\n{CALL}{end}", chunkings=3)
    assert [call.arguments for call in envelope.tool_calls] == [{"city": "Oslo"}]
    assert [miss.reason for miss in envelope.near_misses] == ["made_again"]


def test_two_equal_calls_without_an_element_are_two() -> None:
    assert len(read_every_way(f"I look </b> twice.\n{CALL}\n{CALL}", chunkings=3).tool_calls) == 2


def test_a_call_behind_one_in_the_list_of_tools_is_no_guess() -> None:
    envelope = read_every_way(f'<tools>\n{{"name": "get_weather", "arguments": {{"city": "Rome"}}}}\n</tools>\n{CALL}\nBye.')
    kinds = [[repair.kind for repair in call.repairs] for call in envelope.tool_calls]
    assert kinds == [["in_list_of_tools"], []]
