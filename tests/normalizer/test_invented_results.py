"""After a result that the model invented, calls stand but are guesses."""

from __future__ import annotations

import pytest

import llmcore

_CALL = '<tool_call>{"name": "ping", "arguments": {}}</tool_call>'


@pytest.mark.parametrize(
    "result",
    [
        "<function_results>pong</function_results>",
        "<tool_response>pong</tool_response>",
        "<｜tool▁outputs▁begin｜>pong<｜tool▁outputs▁end｜>",
    ],
)
def test_a_call_after_an_invented_result_is_a_guess(result: str) -> None:
    first, second = llmcore.normalize(f"{_CALL}\n{result}\n{_CALL}").tool_calls
    assert first.repairs == []
    assert [(repair.kind, repair.safety) for repair in second.repairs] == [("after_invented_result", "guess")]


def test_a_result_before_any_call_was_not_invented() -> None:
    (call,) = llmcore.normalize(f"<tool_response>pong</tool_response>\n{_CALL}").tool_calls
    assert call.repairs == []
