"""What the words before a value make of it: an example, the answer, or neither. Words behind it decide nothing."""

from __future__ import annotations

import contextlib

import pytest
from pydantic import BaseModel

from llmcore.types import OutputParseError
from llmcore.validator import parse, parse_detailed
from llmcore.validator.coercion.coercer import Strictness
from tests.helpers.growth import assert_linear


class Value(BaseModel):
    a: int


ONE, TWO = '{"a": 1}', '{"a": 2}'
LEVELS: tuple[Strictness, ...] = ("safe", "lenient")


def _text(form: str) -> str:
    return form.replace("{one}", ONE).replace("{two}", TWO)


def _is_certain(text: str, value: int, strictness: Strictness) -> bool:
    detail = parse_detailed(text, Value, strictness=strictness)
    return detail.value == Value(a=value) and "several_fit" not in [repair.kind for repair in detail.repairs]


# --- a value that is only shown ---------------------------------------------------------------------------------------

SHOWN = [
    "Incorrect: ", "Wrong:\n", "Bad: ", "Example format: ", "Template:\n", "The syntax is: ", "A value looks like this: ",
    "Do not use this: ", "Never write this: ", "I will not call this: ", "Nicht verwenden: ", "Falsch: ", "Ne pas utiliser : ",
    "Incorrecto: ", "Não use isto: ", "Sbagliato: ", "Неправильно: ", "不要使用\uff1a", "错误\uff1a", "使用しないでください\uff1a",
    "悪い例\uff1a", "사용하지 마세요: ", "잘못된 예: ",
]  # fmt: skip
"""A label, a form, a prohibition or a refusal. tests/validator/output/test_whole_values.py has the examples."""


@pytest.mark.parametrize("lead_in", SHOWN)
@pytest.mark.parametrize("strictness", LEVELS)
def test_a_value_behind_such_a_lead_in_is_none(lead_in: str, strictness: Strictness) -> None:
    with pytest.raises(OutputParseError):
        parse(lead_in + ONE, Value, strictness=strictness)
    assert _is_certain(f"{lead_in}{ONE}\nHere it is: {TWO}", 2, strictness)


# --- values of which one is named the answer --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        "{one}\nResult: {two}", "{one}\nFinal: {two}", "Final: {one}\nFinal answer: {two}", "Original: {one}\nUpdated: {two}",
        "**Previous result:** {one}\n\n**Result:** {two}", "Incorrect: {one}. Correct: {two}",
        "Example format: {one}. The answer: {two}", "Template:\n{one}\n\nAnswer:\n{two}", "Alte Antwort: {one}. Neue Antwort: {two}",
        "{one}\nCorrection: {two}", "Final answer: {one}\nWait, no. Final answer: {two}",
    ],
)  # fmt: skip
@pytest.mark.parametrize("strictness", LEVELS)
def test_the_last_value_that_is_named_the_answer_is_certain(form: str, strictness: Strictness) -> None:
    assert _is_certain(_text(form), 2, strictness)


@pytest.mark.parametrize("between", ["\nCorrection: ", ". Correction: ", "\nFinal answer: ", "\nRevised: "])
@pytest.mark.parametrize("strictness", LEVELS)
def test_of_several_final_answers_the_last_is_certain(between: str, strictness: Strictness) -> None:
    for text in (f"Final answer: {ONE}{between}{TWO}", f"Final answer: {TWO}{between}{ONE}{between}{TWO}"):
        assert _is_certain(text, 2, strictness)


@pytest.mark.parametrize(
    "text", [f"Final answer: {ONE}, {TWO}", f"Final answer: {ONE}\nand {TWO}", f'Final answer: {ONE}\nFinal answer: {{"a"']
)
def test_final_answers_that_are_not_named_again_or_broken_off_are_rivals(text: str) -> None:
    with pytest.raises(OutputParseError):
        parse(text, Value)
    assert parse(text, Value, strictness="lenient") == Value(a=1)


# --- values of which none is named ------------------------------------------------------------------------------------

UNNAMED = [
    "The answer is not {one}. It is {two}", "The answer isn't {one}, but {two}", "Not {one} but {two}",
    "Not the final answer: {one}. {two}", "Instead of {one} use {two}", "Unlike {one}, this holds: {two}",
    "It changed from {one} to {two}", "Previous: {one} New: {two}", "Previous answer: {one}. {two}", "Old:\n{one}\nNew:\n{two}",
    "Wrong answer: {one}. {two}", "Outdated:\n```json\n{one}\n```\nHere it is:\n```json\n{two}\n```",
    "My earlier answer was {one}. Now {two}", "Invalid:\n{one}\n\nValid:\n{two}", "Nicht {one}, sondern {two}", "Statt {one}: {two}",
    "Pas {one} mais {two}", "No es {one}. Es {two}", "不是{one}\uff0c而是{two}", "之前的答案\uff1a{one}。现在\uff1a{two}",
    "{one} is wrong. {two}", "{one} (old) and now {two}", "Placeholder: {one}. So: {two}", "Draft: {one}. {two}",
    "First attempt: {one}. Then: {two}", "Input: {one} -> {two}", "{one}\nPrevious: {two}", "{one} and not {two}",
    "The correct answer is {one}, not {two}", "Here it is: {one}. The old answer was {two}.", "{one}\nWait, no. {two}",
    "{one}\nActually: {two}", "Final answer: {one}\nSorry, I meant {two}", "Final answer: {one}. No: {two}", "Answer: {one}. {two}",
    "~~{one}~~\n{two}", "<del>{one}</del>\n{two}", "{one} \u274c\n{two}", "{one} // wrong\n{two}", "{one} <-- wrong\n{two}",
]  # fmt: skip
"""Denials, drafts and values that are struck out: their words decide nothing."""


@pytest.mark.parametrize("form", UNNAMED)
def test_of_values_of_which_none_is_named_the_first_is_a_guess(form: str) -> None:
    text = _text(form)
    for strictness in ("off", "safe"):
        with pytest.raises(OutputParseError, match="several different ones"):
            parse(text, Value, strictness=strictness)
    detail = parse_detailed(text, Value, strictness="lenient")
    assert detail.value == Value(a=1)
    assert [repair.safety for repair in detail.repairs if repair.kind == "several_fit"] == ["guess"]


@pytest.mark.parametrize(
    "form",
    [
        "If it does not fit, tell me. {one}", "I could not find more: {one}", "Not much to say here, so this is it:\n{one}",
        "No problem! {one}", "Here is what was not known before the meeting:\n{one}", "I have never seen such data, but: {one}",
        "The patient is 40 years old and well: {one}", "Nothing else. Answer: {one}", "{one} is what you asked for", "Here you go: {one}",
        "The answer is not {one}.", "Instead of {one}.", "Old:\n{one}", "Nicht {one}", "不是{one}", "Draft: {one}", "My draft was {one}.",
    ],
)  # fmt: skip
def test_other_words_around_a_value_leave_it_one(form: str) -> None:
    assert parse(_text(form), Value) == Value(a=1)


@pytest.mark.parametrize(
    "piece", ["do not use ", "example: ", "final answer: {} ", "not the ", "is not {} ", "{} is wrong ", "instead of the answer "]
)
def test_lead_ins_are_read_in_linear_time(piece: str) -> None:
    def read(size: int) -> None:
        with contextlib.suppress(OutputParseError):
            parse(piece * (size // len(piece)) + ONE, Value, strictness="lenient")

    assert_linear(read, 5000)


# --- lists ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "[1,2],[3]",
        "[1,2]\n[3]",
        "[1,2] [3]",
        "[1,2] and then [3]",
        "First: [1,2]. Second: [3]",
        "```\n[1]\n```\n```\n[2]\n```",
        "[1], [2]",
        "Not [3]. It is [1, 2]",
        "Draft: [1]\n\n[1, 2]",
    ],
)
@pytest.mark.parametrize("strictness", ["off", *LEVELS])
def test_two_lists_are_no_one_list(text: str, strictness: Strictness) -> None:
    for output_type in (list[int], list[int] | None, {"type": "array", "items": {"type": "integer"}}):
        with pytest.raises(OutputParseError):
            parse(text, output_type, strictness=strictness)


@pytest.mark.parametrize("text", ['[]\n["a"]', '["a"] - no: []', '["a"]\n[]', '```\n[]\n```\n```\n["a"]\n```'])
@pytest.mark.parametrize("strictness", ["off", *LEVELS])
def test_a_list_that_does_not_fit_is_not_passed_over_for_an_empty_one(text: str, strictness: Strictness) -> None:
    for output_type in (list[int], set[int], list[dict[str, int]], list[int] | None):
        with pytest.raises(OutputParseError, match="one list"):
            parse(text, output_type, strictness=strictness)
    assert parse('Draft: ["a"]\nFinal: []', list[int]) == parse('For example ["a"]. None fits: []', list[int]) == []
    assert parse("[]\n[]", list[int]) == parse("Nothing: []", list[int]) == []


@pytest.mark.parametrize("text", ["[1, 2]\n[1, 2]", "My draft: [1]. Final answer: [1, 2]", "Do not use [3]. It is [1, 2]"])
def test_one_list_may_stand_twice_or_be_announced(text: str) -> None:
    assert parse(text, list[int]) == [1, 2]
    assert parse("[1], [2]", list[list[int]]) == [[1], [2]]


# --- words and marks behind a value -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        "Tell me what else you want.", "No further changes are needed.", "Nothing else is wrong.", "No errors were found.",
        "Please let me know if this is wrong.", "I will revise it if you like.", "If that is wrong, tell me.", "Errors: none",
        "This should be what you need.", "It should be noted that a is 1.", "Sorry for the delay.", "Correction: none.",
        "- wrong keys were dropped", "False positives were removed.", "Do not hesitate to ask.", "Ignore this if you have it already.",
        "I meant to keep it short.", "Kein Fehler.", "Lass mich wissen, ob das passt.", "Pas d'erreur.", "N'hésitez pas à demander.",
        "No hay errores.", "Non ci sono errori.", "Não há erros.", "Ошибок нет.", "Если это неверно, скажите.", "没有错误。",
        "如果不对\uff0c请告诉我。", "間違いありません。", "틀린 것은 없습니다.", "</s>", "# end", "Typos: none.", "No further steps.",
        "Make that call later.", "Wrong.", "Wait, no.", "Scratch that.", "The above is only an example.", "Falsch.", "Oublie ça.", "算错了。",
    ],
)  # fmt: skip
def test_words_behind_a_value_decide_nothing(words: str) -> None:
    for text in (f"{ONE}\n\n{words}", f"{ONE} {words}"):
        detail = parse_detailed(text, Value)
        assert detail.value == Value(a=1)
        assert all(repair.safety == "lossless" for repair in detail.repairs)


@pytest.mark.parametrize("words", ["\n\nTell me what else you want.", "\nNope.", ". Scratch that."])
def test_words_behind_a_number_of_the_prose_decide_nothing(words: str) -> None:
    assert parse(f"I count 7{words}", int, strictness="lenient") == 7
