"""Floods of openers: none of them makes a call, however many there are."""

from __future__ import annotations

import pytest

from llmcore.normalizer import normalize

from .helpers import TOOLS

_OPENERS = [
    "<|channel|>commentary to=functions.ping <|message|>",
    "<|start|>assistant<|channel|>commentary to=functions.ping <|message|>",
    "<|tool_call>call:ping{",
    "<start_function_call>call:ping{",
    "<tool_call>ping",
    "<function=ping>",
    '<invoke name="ping">',
]


@pytest.mark.parametrize("opener", _OPENERS)
@pytest.mark.parametrize("times", [2, 3, 40, 200])
def test_a_flood_of_openers_gives_no_complete_call(opener: str, times: int) -> None:
    assert not [call for call in normalize(opener * times, TOOLS).tool_calls if call.complete]
