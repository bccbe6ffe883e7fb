"""Calls below one lead-in: what it makes of the first, it makes of those that follow as a list."""

from __future__ import annotations

import pytest

from llmcore.normalizer.trust.listed_calls import goes_on_as_list
from tests.normalizer.helpers import read_every_way

_FORMS = {
    "tag": '<tool_call>{{"name": "read_file", "arguments": {{"path": "{}"}}}}</tool_call>',
    "section": '<function_calls><invoke name="read_file"><parameter name="path">{}</parameter></invoke></function_calls>',
    "parameters": "<tool_call>\n<function=read_file>\n<parameter=path>\n{}\n</parameter>\n</function>\n</tool_call>",
    "named tag": "<read_file><path>{}</path></read_file>",
    "json": '{{"name": "read_file", "arguments": {{"path": "{}"}}}}',
    "python": 'read_file(path="{}")',
    "fence": '```json\n{{"name": "read_file", "arguments": {{"path": "{}"}}}}\n```',
    "react": 'Action: read_file\nAction Input: {{"path": "{}"}}',
    "token": '<|tool_call_start|>[read_file(path="{}")]<|tool_call_end|>',
}
_LISTS = [
    "- {}\n- {}",
    "* {}\n* {}",
    "1. {}\n2. {}",
    "a) {}\nb) {}",
    "(i) {}\n(ii) {}",
    "→ {}\n→ {}",
    "<ul>\n<li>{}</li>\n<li>{}</li>\n</ul>",
]
_ON_LINES = [
    "{}\n{}",
    "{}\n\n{}",
    "{}\nand\n{}",
    "{}\noder:\n{}",
    "{}\n或者\n{}",
    "{}\n---\n{}",
    "{}\n/\n{}",
    "{}\n<think>Hm.</think>\n{}",
]
_BARE = ("named tag", "json", "python", "react")


def _listed(form: str, layout: str) -> str:
    return layout.format(_FORMS[form].format("a"), _FORMS[form].format("b"))


@pytest.mark.parametrize("form", _FORMS)
@pytest.mark.parametrize("layout", [*_LISTS, *_ON_LINES])
def test_a_prohibition_holds_for_all_that_follow_it_as_a_list(form: str, layout: str) -> None:
    envelope = read_every_way("Do not run any of these:\n" + _listed(form, layout), chunkings=2)
    if form == "token":
        assert [[repair.safety for repair in call.repairs] for call in envelope.tool_calls] == [["guess"], ["guess"]]
    else:
        assert not envelope.tool_calls


@pytest.mark.parametrize("form", ["tag", "section", "parameters", *_BARE])
@pytest.mark.parametrize("layout", [*_LISTS, *_ON_LINES])
def test_an_example_is_a_guess_to_the_last(form: str, layout: str) -> None:
    calls = read_every_way("For example:\n" + _listed(form, layout), chunkings=2).tool_calls
    if form not in _BARE or layout in _ON_LINES:
        assert len(calls) == 2
    assert all("guess" in {repair.safety for repair in call.repairs} for call in calls)


@pytest.mark.parametrize("layout", [one for one in (*_LISTS, *_ON_LINES) if not one.startswith(("(", "<"))])
def test_what_is_announced_is_meant_to_the_last(layout: str) -> None:
    calls = read_every_way("I'll read both:\n" + _listed("tag", layout), chunkings=2).tool_calls
    assert [(call.arguments, list(call.repairs)) for call in calls] == [({"path": "a"}, []), ({"path": "b"}, [])]


@pytest.mark.parametrize("lead", ["Do not run this:", "For example:"])
@pytest.mark.parametrize("between", ["Now I read the other one:", "- Let me read b:", "Then:"])
def test_words_of_its_own_end_the_list(lead: str, between: str) -> None:
    calls = read_every_way(f"{lead}\n{_FORMS['tag'].format('a')}\n{between}\n{_FORMS['tag'].format('b')}").tool_calls
    assert (calls[-1].arguments, list(calls[-1].repairs)) == ({"path": "b"}, [])


@pytest.mark.parametrize(
    "between",
    [
        "",
        "\n\n",
        "\n- ",
        "\n2) ",
        "\nb. ",
        "\n  iv) ",
        "\n**3.** ",
        "\n1.2. ",
        ",\nund\n",
        " 、または ",
        "</x>\n* ",
        "\nas well as\n",
        " # one\n",
    ],
)
def test_text_that_only_separates_two_items(between: str) -> None:
    assert goes_on_as_list(between)


@pytest.mark.parametrize("between", ["\nNow:\n", "\n- I delete Paris: ", "\nnot\n", "\n<b>now</b> ", "\n" + "- " * 200 + "x"])
def test_text_that_ends_a_list(between: str) -> None:
    assert not goes_on_as_list(between)
