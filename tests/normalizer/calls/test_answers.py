"""The answer of a message that lists its calls and has none is what the user is shown, whatever it was written as."""

from __future__ import annotations

import pytest

from tests.normalizer.helpers import TOOLS, read_every_way


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"content": {"total": 4}, "tool_calls": []}', '{"total": 4}'),
        ('{"content": ["a", "b"], "tool_calls": []}', '["a", "b"]'),
        ('{"content": [{"type": "text", "text": "Hi"}], "tool_calls": []}', "Hi"),
        ('{"tool_calls": [], "response": "Hi"}', "Hi"),
        ('{"tool_calls": [], "message": {"role": "assistant", "content": "Hi"}}', "Hi"),
        ('{"tool_calls": null, "content": "Hi"}', "Hi"),
        ('{"role": "assistant", "content": "Hi", "tool_calls": null, "refusal": null}', "Hi"),
        ('{"tool_calls": "", "content": "Hi"}', "Hi"),
        ('{"tool_calls": []}', ""),
    ],
)
def test_the_answer_beside_an_empty_list_is_the_content(text: str, answer: str) -> None:
    found = read_every_way(text)
    assert (found.content, found.tool_calls) == (answer, [])
    assert all(repair.safety == "coerced" for repair in found.repairs)


@pytest.mark.parametrize(
    "text",
    [
        '{"calls": [], "city": "Paris"}',
        '{"tool_calls": null, "total": 3}',
        '{"tool_calls": [], "content": "Hi", "answer": "Ho"}',
    ],
)
def test_what_says_more_than_an_answer_is_shown_whole(text: str) -> None:
    assert read_every_way(text).content == text


def test_an_answer_beside_calls_is_kept() -> None:
    found = read_every_way('{"tool_calls": [{"name": "ping", "arguments": {}}], "content": {"note": "looking"}}', TOOLS)
    assert [call.name for call in found.tool_calls] == ["ping"]
    assert found.content == '{"note": "looking"}'
