"""What stands for the value: never a part of it, never a list with items left out, never an example or a thought."""

from __future__ import annotations

import contextlib
import json
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from llmcore.types import OutputParseError
from llmcore.validator import parse, parse_detailed
from llmcore.validator.coercion.coercer import Strictness
from tests.helpers.growth import assert_linear
from tests.validator.schemas import object_schema


class Payment(BaseModel):
    name: str
    amount: float = 0


class Node(BaseModel):
    value: int
    children: list[Node] = []


class Link(BaseModel):
    value: int
    next: Link | None = None


LEVELS: tuple[Strictness, ...] = ("safe", "lenient")
A, B, C = '{"name": "a", "amount": 1}', '{"name": "b", "amount": 2}', '{"name": "c", "amount": 3}'


def names(text: str, strictness: Strictness, output_type: Any = list[Payment]) -> list[str] | None:
    try:
        return [payment.name for payment in parse(text, output_type, strictness=strictness)]
    except OutputParseError:
        return None


def kinds(text: str, output_type: Any) -> list[str]:
    return [repair.kind for repair in parse_detailed(text, output_type).repairs]


# --- lists ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad",
    [
        '{"name": "b", "amount": -2,000.00}', '{"name": "b", "amount": 1.234,56}', '{"name": "b", "amount": 1 000}',
        '{"name": "b", "amount": f(x)}', '{"name": "b" "x" ::: }', '{"name": "b", "amount": oops',
        '{"name": "b", "amount": "none"}', '{"amount": 2}', '"name": "b", "amount": 2}', '{"name": "b", "amount": 2',
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "form", ["[{a}, {bad}, {c}]", "[{bad}, {c}]", "{a}\n{bad}\n{c}", "Here:\n[{a}, {bad}]\nDone.", "[{a}], {bad}]"]
)
@pytest.mark.parametrize("strictness", LEVELS)
def test_an_item_that_does_not_fit_never_shortens_a_list(bad: str, form: str, strictness: Strictness) -> None:
    text = form.replace("{a}", A).replace("{c}", C).replace("{bad}", bad)
    found = names(text, strictness)
    assert found is None or "b" in found
    assert names(text, strictness, list[Payment] | None) in (None, found)


@pytest.mark.parametrize("text", ["[1, 2,000, 3]", "[1,000]", "[$1,234, 5]", "[1, 234,000 USD]", "[1, 2, f(3), 4]"])
def test_digit_groups_in_a_list_are_refused(text: str) -> None:
    with pytest.raises(OutputParseError):
        parse(text, list[float], strictness="lenient")


@pytest.mark.parametrize(
    "text",
    [
        f"[{A}], {B}]",
        f"[{A}, {B}], {C}]",
        f'[{{"name": "a", "amount": 1, "name": "b", "amount": 2}}, {C}]',
        f'"name": "z"}}, {A}, {B}]',
    ],
)
@pytest.mark.parametrize("strictness", LEVELS)
def test_brackets_that_close_a_list_too_early_or_merge_its_items_are_seen(text: str, strictness: Strictness) -> None:
    assert names(text, strictness) is None


def test_what_is_no_item_is_left_out_of_several_values_and_told() -> None:
    detail = parse_detailed(f'{A} {{"debug": true}} {B}', list[Payment])
    assert [payment.name for payment in detail.value] == ["a", "b"]
    (note,) = detail.repairs
    assert (note.kind, note.safety, note.after) == ("gathered_items", "coerced", [[27, 42]])


def test_text_behind_a_list_in_a_string_is_not_cut_away() -> None:
    schema = object_schema(items={"type": "array", "items": {"type": "integer"}})
    assert parse('{"items": "[1, 2]"}', schema) == {"items": [1, 2]}
    with pytest.raises(OutputParseError):
        parse('{"items": "[1, 2] and [3]"}', schema, strictness="lenient")


def test_a_partial_list_ends_before_an_item_that_does_not_fit() -> None:
    assert parse('[1, "x", 3, 4', list[int], partial=True) == [1]


# --- trees ------------------------------------------------------------------------------------------------------------

TREE: dict[str, Any] = {
    "value": 1,
    "children": [{"value": 2, "children": [{"value": 3, "children": []}]}, {"value": 4, "children": []}],
}
CHAIN: dict[str, Any] = {"value": 1, "next": {"value": 2, "next": {"value": 3, "next": None}}}


@pytest.mark.parametrize(("output_type", "whole"), [(Node, TREE), (Link, CHAIN), (dict[str, Any], TREE)])
@pytest.mark.parametrize(
    ("before", "after"), [("", ""), ("Here it is: ", ""), ("", "\nHope this helps."), ("```json\n", "\n```")]
)
@pytest.mark.parametrize("strictness", LEVELS)
def test_an_inner_object_never_stands_for_the_whole(
    output_type: Any, whole: dict[str, Any], before: str, after: str, strictness: Strictness
) -> None:
    text = json.dumps(whole)
    for place in (at for at, character in enumerate(text) if character in "{}[]"):
        for end in (place + 1, len(text)):  # one bracket missing, or all from there on
            try:
                value = parse(
                    before + text[:place] + (text[end:] if end < len(text) else "") + after, output_type, strictness=strictness
                )
            except OutputParseError:
                continue
            assert (value["value"] if isinstance(value, dict) else value.value) == 1  # pyright: ignore[reportUnknownMemberType]


def test_cut_brackets_are_closed_leniently_and_told() -> None:
    detail = parse_detailed('{"value": 1, "children": [{"value": 2, "children": [', Node, strictness="lenient")
    assert detail.value == Node(value=1, children=[Node(value=2)])
    assert "truncated" in {repair.safety for repair in detail.repairs}


# --- examples, thoughts, announcements --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lead_in",
    [
        "Example: ", "An example: ", "For example, ", "e.g. ", "For instance ", "Values such as ", "### Example\n\n",
        "Here is an example:\n```json\n", "**Example 1:**\n", "z. B. ", "Zum Beispiel: ", "Beispiel: ", "Par exemple : ",
        "Por ejemplo: ", "Un ejemplo: ", "例如", "比如", "例えば", "Sample output:\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize("strictness", LEVELS)
def test_a_value_behind_an_examples_lead_in_is_none(lead_in: str, strictness: Strictness) -> None:
    fence = "\n```\n" if "```" in lead_in else ". "
    assert parse(f"{lead_in}{A}{fence}\nSo I took this one: {B}", Payment, strictness=strictness).name == "b"
    with pytest.raises(OutputParseError):
        parse(f"{lead_in}{A}{fence}", Payment, strictness=strictness)


@pytest.mark.parametrize("opener", ["<think>", "[THINK]", "<|channel|>analysis<|message|>", ""])
def test_a_value_in_reasoning_is_none(opener: str) -> None:
    closer = {"[THINK]": "[/THINK]", "<|channel|>analysis<|message|>": "<|end|><|start|>assistant<|channel|>final<|message|>"}
    reasoning = f"{opener}Perhaps {A} or so.{closer.get(opener, '</think>')}"
    assert parse(f"{reasoning}{B}", Payment).name == "b"
    assert names(f"{reasoning}{B}\n{C}", "safe") == ["b", "c"]
    assert parse(f"{reasoning}5", int) == 5
    assert parse(f"{reasoning}Fine.", str) == "Fine."
    with pytest.raises(OutputParseError):
        parse(reasoning, Payment, strictness="lenient")


def test_a_value_in_reasoning_that_never_closes_is_a_guess() -> None:
    with pytest.raises(OutputParseError):
        parse(f"<think>So: {A}", Payment)
    assert parse(f"<think>So: {A}", Payment, strictness="lenient").name == "a"
    assert parse(f"<think>So: {A}", Payment, partial=True) is None


def test_a_marker_of_reasoning_inside_a_string_is_text() -> None:
    assert parse('Here: {"name": "ends with </think>"} ok', Payment).name == "ends with </think>"


@pytest.mark.parametrize(
    "words", ["Real answer: ", "Final answer:\n```json\n", "The corrected version is ", "Result: ", "最终答案"]
)
def test_an_announcement_names_the_answer(words: str) -> None:
    assert parse(f"First try: {A}. {words}{B}", Payment).name == "b"
    assert "several_fit" not in kinds(f"First try: {A}. {words}{B}", Payment)


def test_several_values_that_fit_are_told() -> None:
    (found, several) = parse_detailed(f"One: {A}. Two: {B}.", Payment, strictness="lenient").repairs
    assert (found.kind, several.kind, several.safety) == ("found_in_text", "several_fit", "guess")
    assert kinds(f"One: {A}. Two: {A}.", Payment) == ["found_in_text"]
    for strictness in ("off", "safe"):
        with pytest.raises(OutputParseError, match="several different ones"):
            parse(f"One: {A}. Two: {B}.", Payment, strictness=strictness)


def test_of_values_alone_on_one_line_the_first_is_taken_and_told() -> None:
    several = parse_detailed(f"{A} {B}\n", Payment).repairs[-1]
    assert (several.kind, several.safety) == ("several_fit", "coerced")
    with pytest.raises(OutputParseError):
        parse(f"{A} {B}", Payment, strictness="off")


# --- code -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["Oslo", "42", "3.14", "2024-01-01", "https://x.y", "Paragraph.", "Title:", "ls", "東京"])
def test_a_first_line_of_one_word_is_dropped_only_where_it_names_a_language(line: str) -> None:
    assert parse(f"```{line}\nParis\n```", str) == f"```{line}\nParis\n```"


@pytest.mark.parametrize("line", ["cd /tmp/build", "make -C ./build", "Hello there,", "from os import path", "echo a.b"])
def test_a_first_line_of_code_or_words_behind_the_back_ticks_is_kept_or_refused(line: str) -> None:
    assert parse(f"```{line}\nrm it\n```", str) == f"```{line}\nrm it\n```"
    schema = object_schema(code={"type": "string"})
    with pytest.raises(OutputParseError):
        parse(f'{{"code": ```{line}\nrm it\n```}}', schema)


def test_lines_that_end_as_windows_ends_them_leave_nothing_at_the_end() -> None:
    assert parse("```ts main.ts\r\nlet x\r\n```", str) == "let x"
    schema = object_schema(code={"type": "string"})
    assert parse('{"code": ```ts\r\nlet x\r\n```}', schema) == {"code": "let x"}


@pytest.mark.parametrize("info", ["ts", "typescript main.ts", 'ts title="main.ts" {1,3}', "python src/app.py"])
def test_the_info_string_of_a_fence_is_no_part_of_the_value(info: str) -> None:
    schema = object_schema(code={"type": "string"})
    assert parse(f'{{"code": ```{info}\nlet x\n```}}', schema) == {"code": "let x"}
    for mark in ("```", "~~~"):
        assert parse(f"{mark}{info}\nlet x\n{mark}", str) == "let x"
        assert parse(f"Sure:\n{mark}{info}\nred\n{mark}", {"enum": ["red", "blue"]}) == "red"
    assert parse(f"```{info}\nlet x\n```", str, strictness="off") == f"```{info}\nlet x\n```"


# --- speed ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "piece",
    ["```\n", "```json\nx\n```\n", "<think>x</think>\n```\na\n```\n", "Example:\n```\n1\n```\n", "<think>{</think>", "<|tool_calls_section_begin|>"],
)  # fmt: skip
@pytest.mark.parametrize("partial", [False, True])
def test_floods_of_fences_and_openers_are_read_in_linear_time(piece: str, partial: bool) -> None:
    def refuse(size: int) -> None:
        with contextlib.suppress(OutputParseError):
            parse(piece * (size // len(piece)), Payment, strictness="lenient", partial=partial)

    assert_linear(refuse, 4_000)


# --- what is no value is not found again in the prose -----------------------------------------------------------------


@pytest.mark.parametrize("lead_in", ["Example: ", "Do not use this: "])
@pytest.mark.parametrize(
    ("value", "output_type"),
    [
        ('{"result": 1}', int),
        ('{"result": 1.5}', float),
        ('{"result": true}', bool),
        ('{"result": "dark"}', Literal["dark", "light"]),
        ('{"result": 1}', int | None),
        ("[12]", list[int]),
        ("[12]", set[int]),
        ("\n```\ndark\n```\n", Literal["dark", "light"]),
        ("\n```json\n12\n```\n", int),
    ],
)
def test_what_is_only_shown_is_not_read_out_of_the_prose(value: str, output_type: Any, lead_in: str) -> None:
    for strictness in LEVELS:
        with pytest.raises(OutputParseError):
            parse(f"{lead_in}{value}", output_type, strictness=strictness)


@pytest.mark.parametrize("text", ['Answer: {"status": 500, "detail": "x"}', "Do not use this: [5, x]"])
def test_pieces_of_what_does_not_fit_are_no_value(text: str) -> None:
    output_types: list[Any] = [int, float, int | None, Literal[5, 404, 500]]
    for output_type in output_types:
        with pytest.raises(OutputParseError):
            parse(text, output_type, strictness="lenient")


def test_what_the_words_say_beside_such_a_value_is_still_read() -> None:
    assert parse('The answer is 5 {"debug": "on"}', int, strictness="lenient") == 5
    assert parse("It is {clearly} **dark**, I think", Literal["dark", "light"], strictness="lenient") == "dark"
