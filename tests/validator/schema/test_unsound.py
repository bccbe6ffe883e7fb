"""A number that JSON has not is named, with its place: in typed output and in a call's arguments."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

import llmcore
from llmcore.types import OutputParseError, ToolDefinition
from llmcore.validator import parse, validate_calls
from llmcore.validator.schema.unsound import unsound_number
from tests.helpers.growth import assert_linear


class Inner(BaseModel):
    b: list[float]


class Outer(BaseModel):
    a: Inner


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" + "0" * 400 + ".5"])
@pytest.mark.parametrize("form", ["{}", "Here it is:\n{}\nDone.", "```json\n{}\n```", "So: {}"])
def test_the_problem_names_the_number_and_its_place(number: str, form: str) -> None:
    with pytest.raises(OutputParseError) as caught:
        parse(form.replace("{}", f'{{"a": {{"b": [1, {number}]}}}}'), Outer, strictness="lenient")
    told = [problem for problem in caught.value.problems if problem.expected == "a finite number"]
    assert [problem.path for problem in told] == ["a.b[1]"]
    assert told[0].got.startswith(number[:40])


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_alone_it_is_named_as_well(number: str) -> None:
    with pytest.raises(OutputParseError, match=number):
        parse(number, float)
    with pytest.raises(OutputParseError, match=f"got {number}"):
        parse(number, float)


def test_where_nothing_is_json_its_character_is_told() -> None:
    with pytest.raises(OutputParseError, match="NaN at character 16"):
        parse("{'a': {'b': [1, NaN]}, oops: :}", Outer)


@pytest.mark.parametrize("text", ["", "words", "Infinity and beyond", '{"a": 1}', '{"a": "NaN"}', "{broken: NaNs}", "[1e5, 2"])
def test_nothing_is_told_where_there_is_none(text: str) -> None:
    assert unsound_number(text) is None


@pytest.mark.parametrize("number", ["NaN", "1e999"])
@pytest.mark.parametrize("as_text", [True, False])
def test_a_call_is_told_so_too(number: str, as_text: bool) -> None:
    arguments: Any = f'{{"b": [1, {number}]}}'
    reply: Any = f'<tool_call>{{"name": "f", "arguments": {arguments}}}</tool_call>'
    if not as_text:
        function = {"name": "f", "arguments": arguments}
        reply = {
            "choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": function}]}}]
        }
    tool = ToolDefinition(name="f", description="", parameters={"type": "object", "properties": {"b": {"type": "array"}}})
    report = validate_calls(llmcore.normalize(reply, [tool]), [tool])
    assert number in str(report.problems[0])
    assert "b[1]`" in str(report.problems[0])


@pytest.mark.parametrize("piece", ["[", "{'a':", '["NaN", ', "1e5 ", "[1e999x "])
def test_it_is_looked_for_in_linear_time(piece: str) -> None:
    assert_linear(lambda size: unsound_number(piece * (size // len(piece))), 20_000)
