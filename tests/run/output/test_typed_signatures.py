"""What type checkers see of a typed answer: unions, literals and other forms of types are the type of the value.

`make check` has mypy and pyright judge the `assert_type` calls; the runs show that the values are of those types.
"""

from __future__ import annotations

from typing import Any, Literal, assert_type

import pytest

from llmcore import Agent, FakeModel, Orchestrator, parse

pytestmark = pytest.mark.anyio
Word = Literal["yes", "no"]


async def test_a_union_or_literal_is_the_type_of_the_answer() -> None:
    word = await Orchestrator(FakeModel("yes")).execute("Is it?", Word)
    assert_type(word, Literal["yes", "no"])
    assert word == "yes"
    number = await Orchestrator(FakeModel('{"result": 3}')).execute("How many?", int | None)
    assert_type(number, int | None)
    assert number == 3
    numbers = await Orchestrator(FakeModel("[1, 2]")).execute("Which?", list[int])
    assert_type(numbers, list[int])
    result = await Orchestrator(FakeModel("no")).run("Is it?", output_type=Word)
    assert_type(result.value, Literal["yes", "no"])
    assert result.value == "no"


async def test_an_agent_and_parse_give_it_too() -> None:
    answer = await Agent(client=FakeModel('{"result": "no"}')).chat("Is it?", Word)
    assert_type(answer, Literal["yes", "no"])
    assert_type(parse("3", int | str), int | str)
    assert_type(parse("3", int), int)
    assert_type(parse("[3", list[int], partial=True), Any)
    assert (answer, parse("no", Word)) == ("no", "no")


async def test_a_json_schema_gives_plain_data() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    made = await Orchestrator(FakeModel('{"a": 1}')).execute("Which?", schema)
    assert_type(made, Any)
    assert made == {"a": 1}


def test_a_value_of_another_type_is_seen() -> None:
    texts: list[str] = parse("[3]", list[int])  # type: ignore[arg-type]  # pyright: ignore[reportAssignmentType]
    assert str(texts) == "[3]"
