"""Several lists of calls in one reply, calls said once more, and an apostrophe within a value: all is read, nothing runs twice."""

from __future__ import annotations

from typing import Any

import pytest

from tests.normalizer.helpers import TOOLS, read_every_way

_CITY, _FILE = '{"name": "get_weather", "arguments": {"city": "Paris"}}', '{"name": "read_file", "arguments": {"path": "b"}}'
_P_CITY, _P_FILE = 'get_weather(city="Paris")', 'read_file(path="b")'


@pytest.mark.parametrize(
    "text",
    [
        f"[{_CITY}]\n[{_FILE}]",
        f'{{"tool_calls": [{_CITY}]}}\n\n{{"tool_calls": [{_FILE}]}}',
        f'{{"tool_calls": [{_CITY}], "function_call": {_FILE}}}',
        f"[TOOL_CALLS][[{_CITY}], [{_FILE}]]",
        f"[{_P_CITY}]\n[{_P_FILE}]",
        f"[{_P_CITY}] [{_P_FILE}]",
        f"[{_P_CITY}][{_P_FILE}]",
        f"Sure:\n[{_P_CITY}], [{_P_FILE}]",
        f"```python\n[{_P_CITY}]; [{_P_FILE}]\n```",
        f"<|tool_call_start|>[{_P_CITY}]\n[{_P_FILE}]<|tool_call_end|>",
        f"<tool_call>[{_P_CITY}][{_P_FILE}]</tool_call>",
    ],
)
def test_all_lists_are_read(text: str) -> None:
    found = read_every_way(text, TOOLS)
    assert [(call.name, call.arguments) for call in found.tool_calls] == [
        ("get_weather", {"city": "Paris"}),
        ("read_file", {"path": "b"}),
    ]
    assert all(call.repairs == [] for call in found.tool_calls)


@pytest.mark.parametrize(
    "text",
    [f"See [{_P_CITY}] [{_P_FILE}] there.", f"[{_P_CITY}] [1]", f"[{_P_CITY}](a.md) [{_P_FILE}](b.md)", '[[{"name": "a"}], [2]]'],
)
def test_lists_in_words_are_none(text: str) -> None:
    found = read_every_way(text, TOOLS)
    assert (found.tool_calls, found.content) == ([], text)


@pytest.mark.parametrize(
    ("behind", "more"),
    [
        (_CITY, []),
        (f"```json\n{_CITY}\n```", []),
        (f"{_CITY}\n{_FILE}", ["read_file"]),
        (f"{_CITY} {_FILE}", ["read_file"]),
        (f"[{_CITY}]\n<tool_call>{_FILE}</tool_call>", ["read_file"]),
    ],
)
def test_a_repeated_call_is_dropped_and_the_text_behind_it_is_read(behind: str, more: list[str]) -> None:
    found = read_every_way(f"<tool_call>{_CITY}</tool_call>\n{behind}", TOOLS)
    assert [call.name for call in found.tool_calls] == ["get_weather", *more]
    assert ([repair.kind for repair in found.repairs], found.content) == (["echo_dropped"], "")


def test_two_calls_are_echoed_in_their_order() -> None:
    found = read_every_way(f"<tool_call>{_CITY}</tool_call>\n<tool_call>{_FILE}</tool_call>\n{_CITY}\n{_FILE}", TOOLS)
    assert [call.name for call in found.tool_calls] == ["get_weather", "read_file"]
    assert [repair.kind for repair in found.repairs] == ["echo_dropped"]
    other = read_every_way(f"<tool_call>{_CITY}</tool_call>\n<tool_call>{_FILE}</tool_call>\n{_FILE}\n{_CITY}", TOOLS)
    assert [call.name for call in other.tool_calls] == ["get_weather", "read_file", "get_weather"]


@pytest.mark.parametrize(
    "text",
    [
        "[read_file(path='what's new')]",
        "read_file(path='what's new')",
        "read_file(path='what's new')\nIt's on its way.",
        "```python\nread_file(path='what's new')\n```",
        "<tool_code>print(read_file(path='what's new'))</tool_code>",
        "<tool_call>{'name': 'read_file', 'arguments': {'path': 'what's new'}}</tool_call>",
        "{name: 'read_file', arguments: {path: 'what's new'}}",
    ],
)
def test_an_apostrophe_in_a_value_leaves_the_call_whole(text: str) -> None:
    (call,) = read_every_way(text, TOOLS).tool_calls
    assert (call.arguments, call.complete) == ({"path": "what's new"}, True)
    assert ("inner_quotes", "guess") in {(repair.kind, repair.safety) for repair in call.repairs}


@pytest.mark.parametrize("text", ["[read_file(path='what's new'", "read_file(path='it's (so)", "[read_file(path='what's new'), "])
def test_one_that_was_cut_is_not_whole(text: str) -> None:
    found: Any = read_every_way(text, TOOLS)
    assert [call.complete for call in found.tool_calls] == [False]


def test_text_beside_a_repeated_call_is_content() -> None:
    found = read_every_way(f'<tool_call>{_CITY}</tool_call>\n{{"tool_calls": [{_CITY}], "content": "I look."}}', TOOLS)
    assert found.content == "I look."
    found = read_every_way(f'<tool_call>{_CITY}</tool_call>\n{{"content": "I look.", "toolCalls": []}}', TOOLS)
    assert ([call.name for call in found.tool_calls], found.content) == (["get_weather"], "I look.")
