"""A value beside the beginning of another, which the end of the text broke off."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import AliasChoices, BaseModel, Field

from llmcore.types import OutputParseError
from llmcore.validator import parse, parse_detailed
from llmcore.validator.output.candidates import find_values


class Named(BaseModel):
    name: str


class Basket(BaseModel):
    items: list[Named]


class Chosen(BaseModel):
    colour: Literal["red", "blue"]
    count: int = 0


class Aliased(BaseModel):
    total: int = Field(validation_alias=AliasChoices("sum", "amount"))


class Large(BaseModel):
    n: int = Field(ge=10)


A = '{"name": "a"}'
_CUT: list[tuple[Any, str]] = [
    (list[str], '["a"], ["b'),
    (list[str], '["a"]\n["b"'),
    (list[str], '["a"]\n["b", "c'),
    (list[str], '["a"]\n["b", c'),
    (list[str], '["a"] + ['),
    (list[str], 'Fruits: ["a"]\nVegetables: ["b'),
    (list[list[int]], "[[1], [2]], [[3"),
    (list[list[int]], "[[1], [2]]\n[3, 4"),
    (set[str], '["a"], ["b'),
    (tuple[int, int], "[1, 2] [3"),
    (list[Named], '[{"name": "a"}]\n[{"name": "b'),
    (list[Named], '[{"name": "a"}]\n{"name": "b'),
    (list[Named], f'{A}\n{A}\n{{"na'),
    (list[Named], f"{A}\n{A}\n{{"),
    (Named, f'{A}\n{{"name": "b'),
    (Named, f'{A}\n{{"name": "a"'),
    (Named, f'{A}\n{{"na'),
    (Named, f"{A}\n{{na"),
    (Named, f"{A}\n{{'name"),
    (Named, f"{A}\n{{"),
    (Named, f'{A}\n{{"Name": '),
    (Named, f'{A}\n{{"name": "b", "x": foo('),
    (Named, f'Draft: {A}\nFinal: {{"na'),
    (Named, f"Draft: {A}\nFinal:"),
    (Named, f"Draft: {A}\n**Final answer:**\n```json\n"),
    (Named, f'{A}\nCorrection: {{"name": "b'),
    (Named, f'You asked about {A}. My answer is {{"name'),
    (Named, f'Option A: {A}\nOption B: {{"name": "b'),
    (Named | int, f'{A}\n{{"name": "b'),
    (Basket, f'{{"items": [{A}]}}, {{"items": [{{"n'),
    (dict[str, int], '```json\n{"a": 1}\n```\n```json\n{"a": 2'),
    (dict[str, int], '{"a": 1} {"b'),
    (Chosen, '{"colour": "red"} {"colour": "bl'),
    (Chosen, '{"colour": "red"} {"count": 1'),
    (Aliased, '{"sum": 1} {"sum": 2'),
    (Aliased, '{"sum": 1} {"amount": 2'),
    (Large, '{"n": 12} {"n": 1'),
    (Named, f"{A}\n{{name: see"),
    (Named, f'{A}\nnot {{"name": "b'),
    (Named, f'The final answer is {A}. Draft: {{"name": "b'),
]


@pytest.mark.parametrize(("output_type", "text"), _CUT, ids=str)
def test_a_value_beside_one_that_the_end_broke_off_is_not_certain(output_type: Any, text: str) -> None:
    for strictness in ("off", "safe"):
        with pytest.raises(OutputParseError):
            parse(text, output_type, strictness=strictness)


@pytest.mark.parametrize(("output_type", "text"), [(list[str], '["a"], ["b'), (Named, f'{A}\n{{"na')], ids=str)
def test_the_error_says_that_there_are_several(output_type: Any, text: str) -> None:
    with pytest.raises(OutputParseError, match="several values, the last of which the end of the text broke off") as caught:
        parse(text, output_type)
    assert caught.value.problems[0].kind == "incomplete"


def test_lenient_takes_the_whole_one_and_says_so() -> None:
    detail = parse_detailed(f'Draft: {A}\nFinal: {{"na', Named, strictness="lenient")
    assert detail.value == Named(name="a")
    note = detail.repairs[-1]
    assert (note.kind, note.safety, note.before) == ("several_fit", "truncated", [[7, 20], [28, 32]])


def test_a_value_that_lenient_closes_is_not_beside_itself() -> None:
    detail = parse_detailed('It is {"name": "b', Named, strictness="lenient")
    assert detail.value == Named(name="b")
    assert "several_fit" not in [repair.kind for repair in detail.repairs]


@pytest.mark.parametrize("text", ['[{"name": "a"}]\n[{"na', f'{A}\n{{"na', f"{A}\n{A}\n{{"])
def test_lenient_shortens_no_list_either(text: str) -> None:
    with pytest.raises(OutputParseError) as caught:
        parse(text, list[Named], strictness="lenient")
    if text.startswith("["):
        assert "several values" in str(caught.value)


_PROSE = [
    "{curly",
    "{x | x > 2",
    "{ return x;",
    "function() { let y = 5",
    "{other: 5",
    '{"na": ',
    '{"other": 5, "more',
    '{"other',
    "[see the notes",
    "[^1",
    "in [0, 5) or (",
    "\\\\[ x",
    "- [ ] to do",
    "as {'key': value",
    "Notes:",
    "if (a) { name(",
]


@pytest.mark.parametrize("prose", _PROSE)
def test_a_bracket_in_prose_spoils_no_object(prose: str) -> None:
    assert parse(f"{A}\n{prose}", Named) == Named(name="a")


@pytest.mark.parametrize("prose", [*_PROSE, '["other", 5', "[[1"])
def test_a_bracket_in_prose_spoils_no_object_with_a_choice(prose: str) -> None:
    assert parse(f'{{"colour": "red"}} {prose}', Chosen) == Chosen(colour="red")


@pytest.mark.parametrize(
    "prose",
    ["{curly", "{", '{"na', "as in [0, 5)", "{x | x > 2", "[see the notes", "[^1", "in [0, 5) or (", '["other', '{"name": "b'],
)
def test_a_bracket_in_prose_spoils_no_list_of_numbers(prose: str) -> None:
    assert parse(f"[1, 2]\n{prose}", list[int]) == [1, 2]


@pytest.mark.parametrize("prose", ["{curly", "{x: foo", "[see the notes"])
def test_a_bracket_in_prose_spoils_no_object_of_any_keys(prose: str) -> None:
    assert parse(f'{{"a": "b"}} {prose}', dict[str, str]) == {"a": "b"}


@pytest.mark.parametrize(
    "text",
    [
        f'{A}\nFor example {{"name": "b',
        f'<think>{{"name": "b</think>{A}',
        f"Final: {A}\nDraft:",
        f'{A}\nFor example, {{"name": "b", "x": foo(',
    ],
)
def test_what_is_no_answer_when_whole_spoils_none_when_cut(text: str) -> None:
    assert parse(text, Named) == Named(name="a")


def test_a_choice_that_no_end_could_make_one_of_the_type_is_no_beginning() -> None:
    assert parse('{"colour": "red"} {"colour": "gr', Chosen) == Chosen(colour="red")


def test_a_partial_value_stays_while_another_begins() -> None:
    assert parse(f'{A}\n{{"name": "b', Named, partial=True) == Named(name="a")
    assert parse(f'{A}\n{A}\n{{"na', list[Named], partial=True) == [Named(name="a"), Named(name="a")]


def test_a_value_in_a_type_that_holds_itself_is_looked_into_only_so_far() -> None:
    branch = {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}}
    schema = {"$defs": {"n": {"anyOf": [branch, {**branch, "title": "other"}]}}, "$ref": "#/$defs/n"}
    with pytest.raises(OutputParseError):
        parse('{"a": {}} ' + '{"a": ' * 60 + '"no object', schema)


def test_what_was_begun_is_found_whether_it_can_be_read_or_not() -> None:
    assert [one.start for one in find_values(f'{A} {{"na', cut=False).begun] == [14]
    assert [one.start for one in find_values(f'{A} {{"name": "b", "x": foo(', cut=False).begun] == [14]
    assert find_values(f"{A} and {A}", cut=False).begun == []
