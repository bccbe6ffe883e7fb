"""Floods of openers: none of them makes a call, however many there are."""

from __future__ import annotations

import sys

import pytest

from llmcore.normalizer import Normalizer, normalize

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


_FRAMES = ["<|channel|>analysis<|message|>", "<|channel|>final<|message|>", "<|start|>assistant to=user<|message|>", ""]
_TOKENS = ["<|end|>", "<|end|> <|start|>", "<|call|>\n", "<|end|><|start|>assistant<|channel|>", "<|channel|>??<|end|>"]


@pytest.mark.parametrize("frame", _FRAMES)
@pytest.mark.parametrize("tokens", _TOKENS)
def test_a_flood_of_tokens_in_a_frame_is_read_in_any_chunks(frame: str, tokens: str) -> None:
    """More tokens than the interpreter nests calls, and no token ends the message."""
    text = f"{frame}{tokens * 1500}x"
    whole = normalize(text, TOOLS)
    normalizer = Normalizer(TOOLS)
    for at in range(0, len(text), 64):
        normalizer.feed(text[at : at + 64])
    normalizer.finish()
    assert normalizer.envelope.model_dump() == whole.model_dump()
    assert not whole.tool_calls


def test_the_work_on_tokens_that_end_no_message_is_linear() -> None:
    counted: list[int] = []
    for times in (500, 2000):
        calls = 0

        def count(frame: object, event: str, arg: object) -> None:
            nonlocal calls
            calls += event == "call"

        sys.setprofile(count)
        try:
            normalize("<|channel|>analysis<|message|>" + "<|channel|>??<|end|>" * times + "x", TOOLS)
        finally:
            sys.setprofile(None)
        counted.append(calls)
    assert counted[1] < 5 * counted[0]
