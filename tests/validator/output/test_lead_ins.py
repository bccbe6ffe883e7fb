"""What the words around a value make of it: denied, out of date or compared with, it is never the answer."""

from __future__ import annotations

import contextlib

import pytest
from pydantic import BaseModel

from llmcore.types import OutputParseError
from llmcore.validator import parse, parse_detailed
from llmcore.validator.coercion.coercer import Strictness
from tests.support.growth import assert_linear


class Value(BaseModel):
    a: int


ONE, TWO = '{"a": 1}', '{"a": 2}'
LEVELS: tuple[Strictness, ...] = ("safe", "lenient")

DENIED = [
    "The answer is not {one}. It is {two}", "The answer isn't {one}, but {two}", "Not {one} but {two}", "Not the final answer: {one}. {two}",
    "It was never {one}; it is {two}", "Instead of {one} use {two}", "Rather than {one}, I say {two}", "Unlike {one}, this holds: {two}",
    "Compared to {one} it is now {two}", "As opposed to {one}: {two}", "This replaces {one}. Now: {two}", "It changed from {one} to {two}",
    "Previous: {one} New: {two}", "Previous answer: {one}. {two}", "Old:\n{one}\nNew:\n{two}", "The old value was {one}. The new: {two}",
    "Incorrect: {one}. Correct: {two}", "Wrong answer: {one}. {two}", "Outdated:\n```json\n{one}\n```\nHere it is:\n```json\n{two}\n```",
    "My earlier answer was {one}. Now {two}", "Invalid:\n{one}\n\nValid:\n{two}", "**Previous result:** {one}\n\n**Result:** {two}",
    "Nicht {one}, sondern {two}", "Statt {one}: {two}", "Alte Antwort: {one}. Neue Antwort: {two}", "Pas {one} mais {two}",
    "No es {one}. Es {two}", "不是{one}\uff0c而是{two}", "之前的答案\uff1a{one}。现在\uff1a{two}",
    "{one} is wrong. {two}", "{one} was not right, so: {two}", "{one} (old) and now {two}", "The result was {one} before; now {two}",
    "Example format: {one}. The answer: {two}", "Template:\n{one}\n\nAnswer:\n{two}", "Placeholder: {one}. So: {two}",
]  # fmt: skip


@pytest.mark.parametrize("form", DENIED)
@pytest.mark.parametrize("strictness", LEVELS)
def test_a_value_that_is_denied_or_compared_with_gives_way_to_the_later_one(form: str, strictness: Strictness) -> None:
    text = form.replace("{one}", ONE).replace("{two}", TWO)
    detail = parse_detailed(text, Value, strictness=strictness)
    assert detail.value == Value(a=2)
    assert "several_fit" not in [repair.kind for repair in detail.repairs]


@pytest.mark.parametrize("form", DENIED)
@pytest.mark.parametrize("strictness", LEVELS)
def test_alone_it_is_no_value_at_all(form: str, strictness: Strictness) -> None:
    text = form.partition("{two}")[0].replace("{one}", ONE).rstrip("`json\n")
    with pytest.raises(OutputParseError):
        parse(text, Value, strictness=strictness)


@pytest.mark.parametrize(
    "form",
    [
        "The correct answer is {one}, not {two}", "The correct answer is {one}. The wrong one is {two}", "{one}\nPrevious: {two}",
        "Here it is: {one}. The old answer was {two}.", "{one} and not {two}",
    ],
)  # fmt: skip
def test_an_earlier_value_stands_when_the_later_one_is_denied(form: str) -> None:
    assert parse(form.replace("{one}", ONE).replace("{two}", TWO), Value) == Value(a=1)


@pytest.mark.parametrize(
    "form",
    ["Draft: {one}. {two}", "Original: {one}\nUpdated: {two}", "First attempt: {one}. Then: {two}", "Input: {one} -> {two}"],
)
def test_a_draft_stands_back_but_is_taken_alone(form: str) -> None:
    assert parse(form.replace("{one}", ONE).replace("{two}", TWO), Value) == Value(a=2)
    assert parse(form.partition("{one}")[0] + ONE, Value) == Value(a=1)


@pytest.mark.parametrize(
    "form",
    [
        "If it does not fit, tell me. {one}", "I could not find more: {one}", "Not much to say here, so this is it:\n{one}",
        "No problem! {one}", "Here is what was not known before the meeting:\n{one}", "I have never seen such data, but: {one}",
        "The patient is 40 years old and well: {one}", "Nothing else. Answer: {one}", "{one} is what you asked for", "Here you go: {one}",
    ],
)  # fmt: skip
def test_a_denial_of_something_else_denies_no_value(form: str) -> None:
    assert parse(form.replace("{one}", ONE), Value) == Value(a=1)


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "piece", ["not the ", "previous ", "old:", "is not {} ", "{} is wrong ", "{} wait, ", "instead of the answer "]
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


@pytest.mark.parametrize(
    "text", ["[1, 2]\n[1, 2]", "My draft: [1]. Final answer: [1, 2]", "Not [3]. It is [1, 2]", "Draft: [1]\n\n[1, 2]"]
)
def test_one_list_may_stand_twice_or_be_announced(text: str) -> None:
    assert parse(text, list[int]) == [1, 2]
    assert parse("[1], [2]", list[list[int]]) == [[1], [2]]


@pytest.mark.parametrize(
    "words", ["Wait, no.", "No, wait.", "Oops.", "Hmm, no:", "Nein, Moment:", "Attends, non.", "不对\uff0c", "or rather"]
)
@pytest.mark.parametrize("named", ["", "Final answer: "])
def test_an_answer_that_is_taken_back_is_none(words: str, named: str) -> None:
    text = f'{named}{{"a": 1}}\n{words} {named}{{"a": 2}}'
    for strictness in LEVELS:
        assert parse(text, dict[str, int], strictness=strictness) == {"a": 2}


@pytest.mark.parametrize("words", ["Actually:", "Wait,", "No,"])
def test_a_word_that_may_correct_makes_the_later_value_likelier(words: str) -> None:
    text = f'{{"a": 1}}\n{words} {{"a": 2}}'
    assert parse(text, dict[str, int], strictness="lenient") == {"a": 2}
    with pytest.raises(OutputParseError):
        parse(text, dict[str, int])


@pytest.mark.parametrize("between", ["\nCorrection: ", ". Correction: ", "\nFinal answer: ", "\nSorry, I meant ", "\nRevised: "])
@pytest.mark.parametrize("strictness", LEVELS)
def test_of_several_final_answers_the_last_is_certain(between: str, strictness: Strictness) -> None:
    for text in (f"Final answer: {ONE}{between}{TWO}", f"Final answer: {TWO}{between}{ONE}{between}{TWO}"):
        detail = parse_detailed(text, Value, strictness=strictness)
        assert detail.value == Value(a=2)
        assert "several_fit" not in [repair.kind for repair in detail.repairs]


@pytest.mark.parametrize(
    "text", [f"Final answer: {ONE}, {TWO}", f"Final answer: {ONE}\nand {TWO}", f'Final answer: {ONE}\nFinal answer: {{"a"']
)
def test_final_answers_that_are_not_named_again_or_broken_off_are_rivals(text: str) -> None:
    with pytest.raises(OutputParseError):
        parse(text, Value)
    assert parse(text, Value, strictness="lenient") == Value(a=1)


@pytest.mark.parametrize("named", ["Final answer: ", "Answer: "])
def test_a_word_that_may_correct_makes_a_value_likelier_than_a_named_one(named: str) -> None:
    text = f"{named}{ONE}. No: {TWO}"
    assert parse(text, Value, strictness="lenient") == Value(a=2)
    with pytest.raises(OutputParseError):
        parse(text, Value)


# --- words and marks behind a value -----------------------------------------------------------------------------------

RETRACTIONS = [
    "Wrong.", "Nope.", "Strike that", "Please ignore the previous answer.", "Not that one.", "Cancel that.", "Sorry, I meant",
    "Never mind.", "Please disregard.", "But that cannot be right.", "Let me recompute.", "The above is only an example.",
    "Wait, that should be 2.", "I think I made a mistake.", "That was my mistake.", "Do not use this.", "Hmm.", "Edit:",
    "The answer above is wrong.", "Apologies for the confusion.", "Hmm, actually I think it is 2.", "Not so fast.",
    "Falsch.", "Vergiss das.", "Moment, das kann nicht stimmen.", "Korrektur:", "Erreur :", "Oublie ça.", "Ce n'est pas correct.",
    "Olvídalo.", "Lo siento, eso no es correcto.", "Me equivoqué.", "Aspetta, no.", "Mi correggo:", "Scusa, non è corretto.",
    "Ops, errei.", "Desculpe, isso está errado.", "Ой, нет.", "Подождите, это неверно.", "Нет, ошибка.", "Я ошибся.",
    "不\uff0c应该是", "忽略上面的。", "算错了。", "忘れてください。", "待って、違います。", "정정합니다:", "틀렸습니다.", "아니요, 잠깐만요.",
]  # fmt: skip


@pytest.mark.parametrize("words", RETRACTIONS)
@pytest.mark.parametrize("strictness", LEVELS)
def test_a_value_that_the_next_sentence_takes_back_is_none(words: str, strictness: Strictness) -> None:
    for text in (f"**Answer:** {ONE}\n\n{words}", f"{ONE} {words}", f"```json\n{ONE}\n```\n{words}"):
        with pytest.raises(OutputParseError):
            parse(text, Value, strictness=strictness)


MARKED = ["~~{one}~~", "<del>{one}</del>", "{one} \u274c", "{one} // wrong", "{one} <-- wrong", "I said {one}, but it is 2."]


@pytest.mark.parametrize("form", MARKED)
@pytest.mark.parametrize("strictness", LEVELS)
def test_a_value_that_is_struck_out_is_none(form: str, strictness: Strictness) -> None:
    text = form.replace("{one}", ONE)
    with pytest.raises(OutputParseError):
        parse(text, Value, strictness=strictness)
    assert parse(f"{text}\n{TWO}", Value, strictness=strictness) == Value(a=2)


@pytest.mark.parametrize(
    "words",
    [
        "Tell me what else you want.", "No further changes are needed.", "Nothing else is wrong.", "No errors were found.",
        "Please let me know if this is wrong.", "I will revise it if you like.", "If that is wrong, tell me.", "Errors: none",
        "This should be what you need.", "It should be noted that a is 1.", "Sorry for the delay.", "Correction: none.",
        "- wrong keys were dropped", "False positives were removed.", "Do not hesitate to ask.", "Ignore this if you have it already.",
        "I meant to keep it short.", "Kein Fehler.", "Lass mich wissen, ob das passt.", "Pas d'erreur.", "N'hésitez pas à demander.",
        "No hay errores.", "Non ci sono errori.", "Não há erros.", "Ошибок нет.", "Если это неверно, скажите.", "没有错误。",
        "如果不对\uff0c请告诉我。", "間違いありません。", "틀린 것은 없습니다.", "</s>", "# end",
    ],
)  # fmt: skip
def test_what_closes_a_reply_takes_nothing_back(words: str) -> None:
    for text in (f"{ONE}\n\n{words}", f"{ONE} {words}"):
        detail = parse_detailed(text, Value)
        assert detail.value == Value(a=1)
        assert all(repair.safety == "lossless" for repair in detail.repairs)


@pytest.mark.parametrize(
    "text", ["Answer: 1\nNope.", "It is 12. Scratch that.", "I count 7.\n\nWait, no.", "Es sind 3.\nFalsch."]
)
def test_a_number_of_the_prose_that_is_taken_back_is_none(text: str) -> None:
    with pytest.raises(OutputParseError):
        parse(text, int, strictness="lenient")
    assert parse("I count 7.\n\nTell me what else you want.", int, strictness="lenient") == 7


NAMED = {"a": 2}
OLD = '{"a": 1}'


@pytest.mark.parametrize("named", ["Correction: ", "Final answer: "])
@pytest.mark.parametrize(
    "behind",
    [
        "\nEarlier I said V",
        "\nPreviously I said V.",
        "\nOops, earlier I wrote V.",
        "\nI mistakenly wrote V.",
        ". I was wrong about V",
        "\nI gave V",
        "\nEarlier: V",
    ],
)
def test_what_is_said_of_another_value_takes_back_none_before_it(named: str, behind: str) -> None:
    text = f'{named}{{"a": 2}}{behind.replace("V", OLD)}'
    try:
        assert parse(text, dict[str, int]) == NAMED
    except OutputParseError as error:
        assert "several different ones" in str(error)  # noqa: PT017  (to ask is right, to take the old one is not)


@pytest.mark.parametrize(
    "behind",
    ["\nI was wrong. It is V", "\nWait, that should be V", "\nI should have said V", "\nWhat I said is wrong: V"],
)
def test_a_correction_of_the_value_before_it_stays_one(behind: str) -> None:
    with contextlib.suppress(OutputParseError):
        assert parse(f'{{"a": 2}}{behind.replace("V", OLD)}', dict[str, int]) == {"a": 1}


@pytest.mark.parametrize(
    "words",
    [
        "Typo!",
        "No!",
        "Erm, no.",
        "Revoke that.",
        "Make that 2.",
        "Correction needed.",
        "Bitte nicht verwenden.",
        "Ungültig.",
        "Ne tenez pas compte de cela.",
        "Mejor dicho, 2.",
        "Na verdade, não.",
        "Anzi, no.",
        "Упс.",
        "这是错的。",
        "算了。",
        "正しくありません。",
        "すみません、2のつもりでした。",
        "제가 틀렸어요.",
    ],
)
def test_more_words_that_take_a_value_back(words: str) -> None:
    for text in ('**Answer:** {"a": 1}\n\n' + words, '```json\n{"a": 1}\n```\n' + words):
        with pytest.raises(OutputParseError):
            parse(text, dict[str, int])


@pytest.mark.parametrize(
    "words", ["Typos: none.", "No further steps.", "Make that call later.", "I mean it.", "Cancellation is free."]
)
def test_other_remarks_take_nothing_back(words: str) -> None:
    assert parse(f"**Answer:** {OLD}\n\n{words}", dict[str, int]) == {"a": 1}
