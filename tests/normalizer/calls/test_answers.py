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
        ('{"tool_calls": [], "final_answer": "Hi"}', "Hi"),
        ('{"thought": "I know", "calls": [], "reply": "Hi"}', "Hi"),
        ('{"function_call": null, "content": "Hi"}', "Hi"),
        ('{"tool": null, "response": "Hi"}', "Hi"),
        ('{"action": "respond", "text": "Hi"}', "Hi"),
        ('{"action": "Final Answer", "action_input": "Hi"}', "Hi"),
        ('{"tool": "final_answer", "arguments": {"answer": "Hi"}}', "Hi"),
        ('<tool_call>{"action": "respond", "message": "Hi"}</tool_call>', "Hi"),
        ('<tool_call>{"tool_calls": [], "answer": "Hi"}</tool_call>', "Hi"),
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
        '{"tool_calls": [], "thought": "Hi"}',
        '{"action": "respond", "text": "Hi", "volume": 3}',
        '{"action": "lift", "text": "Hi"}',
        '{"command": null, "text": "Hi"}',
        '{"action": "respond", "text": "Hi"}\nSo the log says.',
    ],
)
def test_what_says_more_than_an_answer_is_shown_whole(text: str) -> None:
    assert read_every_way(text).content == text


def test_an_answer_beside_calls_is_kept() -> None:
    found = read_every_way('{"tool_calls": [{"name": "ping", "arguments": {}}], "content": {"note": "looking"}}', TOOLS)
    assert [call.name for call in found.tool_calls] == ["ping"]
    assert found.content == '{"note": "looking"}'


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"tool_calls": [%s], "final_answer": "I look"}', "I look"),
        ('{"tool_calls": [%s], "message": "I look", "answer": "Hi"}', "Hi\n\nI look"),
        ('{"name": "ping", "arguments": {}, "message": "I look"}', "I look"),
        ('[{"name": "ping", "arguments": {}, "text": "I look"}]', "I look"),
        ('<tool_call>{"name": "ping", "arguments": {}, "text": "I look"}</tool_call>', "I look"),
        ('<tool_call>{"tool_calls": [%s], "content": "I look"}</tool_call>', "I look"),
        ('[TOOL_CALLS][{"name": "ping", "arguments": {}, "answer": "I look"}]', "I look"),
    ],
)
def test_text_beside_calls_is_content(text: str, answer: str) -> None:
    found = read_every_way(text.replace("%s", '{"name": "ping", "arguments": {}}'), TOOLS)
    assert ([call.name for call in found.tool_calls], found.content) == (["ping"], answer)


@pytest.mark.parametrize(
    "text",
    [
        '{"tool_calls": [{"name": "ping"}]}',
        '{"thought": "I look", "calls": [{"tool": "ping"}]}',
        '{"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ping"}}]}',
        '{"tool_calls": {"name": "ping", "arguments": null}}',
        '{"function_call": {"name": "ping"}}',
        '{"tool_call": {"name": "ping", "arguments": ""}}',
        '{"toolCalls": [{"name": "ping"}], "content": ""}',
        '```json\n{"tool_calls": [{"name": "ping"}]}\n```',
    ],
)
def test_an_envelope_calls_a_bare_name_without_arguments(text: str) -> None:
    (call,) = read_every_way(text, TOOLS).tool_calls
    assert (call.name, call.arguments, call.complete, call.repairs) == ("ping", {}, True, [])


@pytest.mark.parametrize(
    "text",
    [
        '{"tool_calls": [{"name": "get_weather"}]}',
        '{"tool_calls": [{"name": "ping", "description": "asks whether it is there"}]}',
        '{"tool_calls": [{"name": "ping"}], "total": 1, "day": "Monday"}',
        '{"function_call": {"name": "ping", "calls": 3}}',
        '{"tools": [{"name": "ping"}]}',
        '{"name": "ping"}',
    ],
)
def test_a_name_in_data_calls_nothing(text: str) -> None:
    found = read_every_way(text, TOOLS)
    assert (found.tool_calls, found.content) == ([], text)
