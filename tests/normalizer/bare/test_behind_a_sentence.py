"""Bare forms behind a sentence, in whatever it is set, and before a face, are asked about or run; so are ReAct steps."""

from __future__ import annotations

import pytest

from tests.normalizer.helpers import TOOLS, read_every_way

PYTHON = 'get_weather(city="Oslo")'
JSON = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
REACT = 'Action: get_weather\nAction Input: {"city": "Oslo"}'
FORMS = [
    PYTHON,
    JSON,
    REACT,
    "<get_weather><city>Oslo</city></get_weather>",
    '<get_weather city="Oslo"/>',
    "<get_weather>\n<city>Oslo</city>\n</get_weather>",
    "<get_weather>\ncity: Oslo\n</get_weather>",
    '<use_mcp_tool><tool_name>get_weather</tool_name><arguments>{"city": "Oslo"}</arguments></use_mcp_tool>',
]


def _found(text: str) -> list[tuple[str, list[str]]]:
    calls = read_every_way(text, TOOLS).tool_calls
    return [(call.name, [repair.kind for repair in call.repairs if repair.safety == "guess"]) for call in calls]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("before", ["Sure. ", "**Of course.** ", "*Gerne!* ", "好的。", "Sure! 😊 ", "Klar 👍 ", "Here: 👇 "])
def test_a_bare_form_behind_a_sentence_is_a_guess(before: str, form: str) -> None:
    assert _found(before + form) == [("get_weather", ["behind_a_sentence"])]


@pytest.mark.parametrize("form", FORMS[:-1])
@pytest.mark.parametrize("before", ["Use ", "A **bold** word ", "Options:\n- ", "Delete it → "])
def test_a_bare_form_behind_other_words_is_content(before: str, form: str) -> None:
    assert _found(before + form) == []


@pytest.mark.parametrize("form", [PYTHON, JSON, FORMS[3], FORMS[4]])
@pytest.mark.parametrize("behind", [" 👍", " 😊🎉\n", ". ☺️"])
def test_a_face_behind_a_call_is_no_word(form: str, behind: str) -> None:
    assert _found(f"Here you go: {form}{behind}") == [("get_weather", [])]


@pytest.mark.parametrize("behind", [" ✅", " ❌", " ✓", " → 200"])
def test_a_mark_that_judges_is_one(behind: str) -> None:
    assert _found(f"Checked: {PYTHON}{behind}") == []


@pytest.mark.parametrize("behind", [" would ask for Oslo", " und so weiter\n", " // see above"])
def test_words_behind_the_input_of_a_step_make_it_a_guess(behind: str) -> None:
    assert _found(REACT + behind) == [("get_weather", ["words_behind"])]


@pytest.mark.parametrize("behind", [" Observation: rain", "\nObservation: rain", ".", " 👍"])
def test_a_label_or_no_word_behind_the_input_makes_it_none(behind: str) -> None:
    assert _found(REACT + behind) == [("get_weather", [])]


def test_no_action_behind_a_sentence_is_content() -> None:
    assert read_every_way("Sure. Action: none", TOOLS).content == "Sure. Action: none"


@pytest.mark.parametrize(
    "step",
    [
        '**Action:** get_weather\n**Action Input:** {"city": "Oslo"}',
        '**Action**: get_weather\n**Action Input**: {"city": "Oslo"}',
        '*Action:* `get_weather`\n*Action Input:*\n```json\n{"city": "Oslo"}\n```',
        '### Action: get_weather\n### Action Input: {"city": "Oslo"}',
        '**Action: get_weather**\n**Action Input: {"city": "Oslo"}**',
        "**Action:** get_weather\n**Action Input:** Oslo\n**Observation:** rain",
    ],
)
def test_a_step_may_have_its_labels_in_bold_letters_or_as_headings(step: str) -> None:
    found = read_every_way(step, TOOLS)
    assert [(call.name, call.arguments, call.complete) for call in found.tool_calls] == [("get_weather", {"city": "Oslo"}, True)]
    assert "Action" not in found.content


def test_a_mark_that_is_the_inputs_own_stays() -> None:
    (call,) = read_every_way("Action: read_file\nAction Input: *.py\n", TOOLS).tool_calls
    assert call.arguments == {"path": "*.py"}
    assert read_every_way("The **Action**: we should look.", TOOLS).tool_calls == []
