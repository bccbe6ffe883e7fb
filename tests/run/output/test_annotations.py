"""Annotations that say more than a type, or something else, take effect, or an error names the fix."""

from __future__ import annotations

import dataclasses
import typing
from collections import abc
from typing import Annotated, Any

import pytest
import typing_extensions
from pydantic import BaseModel, Field, field_validator

from llmcore import CallerError, FakeModel, Orchestrator, OutputParseError, RunResult, Tool, parse
from llmcore.tools import ToolOptions


class Item(BaseModel):
    n: int

    @field_validator("n")
    @classmethod
    def _is_small(cls, n: int) -> int:
        if n > 9:
            raise ValueError("too large")
        return n


class Held(BaseModel):
    items: abc.Iterable[Item]


@dataclasses.dataclass(frozen=True)
class Kept:
    items: typing.Iterable[Item]


ITERABLES: list[Any] = [
    typing.Iterable[Item],
    abc.Iterable[Item],
    typing.Iterator[Item],
    abc.Generator[Item, None, None],
    abc.Collection[Item],
    abc.Reversible[Item],
    abc.Iterable[Item] | None,
    Annotated[abc.Iterable[Item], Field(min_length=1)],
]
QUALIFIED: list[Any] = [
    typing.Final[int],
    typing.Required[int],
    typing_extensions.NotRequired[int],
    typing_extensions.ReadOnly[int],
    Annotated[typing.Final[int], Field(gt=0)],
    typing.Final[Annotated[int, Field(gt=0)]],
    dataclasses.InitVar[int],
]
NO_VALUES: list[Any] = [
    typing.Final,
    typing.ClassVar[int],
    typing.AsyncIterator[int],
    abc.AsyncGenerator[int, None],
    list[abc.AsyncIterable[int]],
]


def taking(annotation: Any) -> Tool:
    def take(x: Any) -> str:
        return repr(x)

    take.__annotations__["x"] = annotation
    return Tool(take, ToolOptions())


def given(annotation: Any, value: Any) -> str:
    fake = FakeModel().tool_call("take", {"x": value}).text("Done.")
    return Orchestrator(fake, [taking(annotation)]).run_sync("Go.").tool_results[0].content


@pytest.mark.parametrize("annotation", ITERABLES)
def test_an_iterable_is_a_list_that_was_read(annotation: Any) -> None:
    assert parse('[{"n": 1}, {"n": 2}]', annotation) == [Item(n=1), Item(n=2)]
    assert Orchestrator(FakeModel('[{"n": 1}]')).execute_sync("Go.", annotation) == [Item(n=1)]
    with pytest.raises(OutputParseError, match="too large"):
        parse('[{"n": 1}, {"n": 20}]', annotation)
    assert given(annotation, [{"n": 1}]) == "[Item(n=1)]"
    assert "too large" in given(annotation, [{"n": 20}])


@pytest.mark.parametrize("kind", [Held, Kept])
def test_an_iterable_inside_a_class_is_a_list_that_was_read(kind: Any) -> None:
    assert parse('{"items": [{"n": 1}]}', kind).items == [Item(n=1)]
    listed: Any = list[kind]
    with pytest.raises(OutputParseError, match=r"`\[0\]\.items\[1\]\.n`.*too large"):
        parse('[{"items": [{"n": 1}, {"n": 20}]}]', listed)
    result = Orchestrator(FakeModel('{"items": [{"n": 1}]}')).run_sync("Go.", output_type=kind)
    assert RunResult[kind].model_validate_json(result.model_dump_json()).value == result.value
    assert "items=[Item(n=1)]" in given(list[kind], [{"items": [{"n": 1}]}])
    assert "too large" in given(kind, {"items": [{"n": 20}]})


@pytest.mark.parametrize("annotation", QUALIFIED)
def test_what_qualifies_a_field_says_nothing_of_its_values(annotation: Any) -> None:
    assert parse("1", annotation) == 1
    assert Orchestrator(FakeModel("1")).execute_sync("Go.", annotation) == 1
    assert taking(annotation).definition.parameters["properties"]["x"]["type"] == "integer"
    assert given(annotation, 1) == "1"


@pytest.mark.parametrize("annotation", NO_VALUES)
def test_what_json_has_no_value_for_is_refused(annotation: Any) -> None:
    with pytest.raises(CallerError, match=r"JSON has no value for .*; give the type of the value"):
        parse("1", annotation)
    with pytest.raises(CallerError, match="JSON has no value for"):
        Orchestrator(FakeModel("1")).execute_sync("Go.", annotation)
    with pytest.raises(CallerError, match=r"JSON has no value for .*; annotate it with"):
        taking(annotation)
