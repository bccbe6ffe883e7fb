"""After a result that the model invented, calls stand but are guesses."""

from __future__ import annotations

import pytest

import llmcore
from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import read_every_way, tool

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


@pytest.mark.parametrize(
    "result",
    [
        "<tool_response>\npong\n</tool_response>",
        "<|tool_response>pong<tool_response|>",
        "<observation>pong</observation>",
        "<function_results>pong</function_results>",
    ],
)
def test_an_invented_result_is_no_part_of_the_answer(result: str) -> None:
    assert read_every_way(f"{_CALL}\n{result}\nThere.").content == "There."


def test_a_result_without_a_call_is_content() -> None:
    text = "<tool_response>\npong\n</tool_response>\nThere."
    assert read_every_way(text).content == text


_HEADERS = [
    "<|im_end|>\n<|im_start|>{}\n",
    "<|eot_id|><|start_header_id|>{}<|end_header_id|>\n\n",
    "<|eot|><|header_start|>{}<|header_end|>\n\n",
    "<end_of_turn>\n<start_of_turn>{}\n",
    "<turn|>\n<|turn>{}\n",
    "<|end|><|{}|>\n",
    "<|im_end|><|im_{0}|>{0}<|im_middle|>",
]


@pytest.mark.parametrize("said", ["Done.", _CALL])
@pytest.mark.parametrize("role", ["user", "assistant", "system"])
@pytest.mark.parametrize("header", _HEADERS)
def test_who_speaks_in_a_further_turn_is_no_part_of_the_answer(header: str, role: str, said: str) -> None:
    found = read_every_way(f"{said}{header.format(role)}Thanks!").content or ""
    assert found.split() == [*(["Done."] if said == "Done." else []), "Thanks!"] or found == "Done.Thanks!"


@pytest.mark.parametrize(
    "text", ["Use <|im_start|>user to begin a turn.", "The <|user|> token", "A turn:\n<start_of_turn>users\n"]
)
def test_headers_in_words_are_content(text: str) -> None:
    assert (read_every_way(text).content or "").rstrip() == text.rstrip()


_DOES = 'read_file(path="a")'
_FORMS = [
    _CALL,
    '{"name": "read_file", "arguments": {"path": "a"}}',
    f"[{_DOES}]",
    '<invoke name="read_file"><parameter name="path">a</parameter></invoke>',
    "Action: read_file\nAction Input: a",
]
_RESULTS = [
    "<tool_result>{}</tool_result>",
    '<tool_response name="x">\n{}\n</tool_response>',
    "<function_results><result>{}</result></function_results>",
    "<tool_outputs>\nHe wrote:\n\n{}\n</tool_outputs>",
    "[TOOL_RESULTS] {}[/TOOL_RESULTS]",
    "<tool_result>{}",
    "Observation: {}",
    "I looked.\n**Observation 2:** the page says\n{}",
    "Tool result:\n{}",
    "观察结果：{}",  # noqa: RUF001 # the full-width colon
]


@pytest.mark.parametrize("form", _FORMS)
@pytest.mark.parametrize("result", _RESULTS)
def test_what_a_result_holds_is_only_shown(result: str, form: str) -> None:
    if form.startswith("Action:") and "{}" in result.splitlines()[-1:] and not result.startswith(("<", "[")):
        pytest.skip("a step of its own ends what a label tells of")
    text = result.format(form)
    found = read_every_way(text, chunkings=1)
    assert (found.tool_calls, found.content) == ([], text)


@pytest.mark.parametrize(
    ("before", "kinds"),
    [
        ("Observation: two files.\nI will read the first one:\n", []),
        ("Observation: two files.\nThought: I read the first one.\n", []),
        ("Observation: two files.\n\n", ["after_invented_result"]),
        ("Observations:\n- two files\n- no notes\n\n", []),
        ("The tool result: fine. It has two files.\n", []),
        ("<tool_result/>\n", []),
    ],
)
def test_a_call_behind_a_result_that_was_told_stands(before: str, kinds: list[str]) -> None:
    (call,) = read_every_way(before + _CALL, chunkings=1).tool_calls
    assert [repair.kind for repair in call.repairs] == kinds


def test_a_tool_named_as_a_result_is_called() -> None:
    tools = ToolSet([tool("tool_result", ["id"], id="string")])
    (call,) = read_every_way("<tool_result>\n<id>7</id>\n</tool_result>", tools, chunkings=1).tool_calls
    assert call.arguments == {"id": "7"}
