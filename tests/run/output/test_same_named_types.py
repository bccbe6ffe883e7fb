"""Runs for types with the same name: each value has the requested class, and no tool answers for another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, Field

from llmcore import FakeModel, Orchestrator, PartialOutput

LIST: Any = list  # as checkers are not told: what stands in the brackets is made at run time
AROUND: list[Callable[[Any], Any]] = [lambda kind: kind, lambda kind: LIST[kind], lambda kind: LIST[kind | None]]


def _limited(least: int) -> Any:
    class Item(BaseModel):
        n: int = Field(gt=least)

    return Item


@pytest.mark.parametrize("around", AROUND)
def test_a_value_is_of_the_class_that_was_asked_for(around: Any) -> None:
    low, high = _limited(0), _limited(100)
    is_bare = around(low) is low
    for kind, number in ((low, 5), (high, 500)):
        text = f'{{"n": {number}}}'
        model = FakeModel(default=text if is_bare else f"[{text}]")
        got = Orchestrator(model).execute_sync("?", around(kind))
        assert type(got if is_bare else got[0]) is kind
        with Orchestrator(model).stream_sync("?", around(kind)) as stream:
            partials = [event.value for event in stream if isinstance(event, PartialOutput)]
        assert type(partials[-1] if is_bare else partials[-1][0]) is kind


def test_five_is_refused_where_more_than_a_hundred_is_asked_for() -> None:
    low, high = _limited(0), _limited(100)
    for kind in (low, high):
        model = FakeModel('[{"n": 5}]', '[{"n": 500}]')
        got = Orchestrator(model).execute_sync("?", LIST[kind])
        assert [item.n for item in got] == ([5] if kind is low else [500])


def test_tools_whose_parameters_have_one_name() -> None:
    low, high = _limited(0), _limited(100)

    def save(a: Any, b: Any, c: Any) -> str:
        """Save."""
        return f"{type(a[0]) is low} {type(b[0]) is high} {type(c) is low}"

    save.__annotations__ = {"a": LIST[low], "b": LIST[high], "c": low | high}
    arguments = {"a": [{"n": 5}], "b": [{"n": 500}], "c": {"n": 7}}
    model = FakeModel().tool_call("save", arguments).text("done")
    assert Orchestrator(model, [save]).run_sync("?").tool_results[0].content == "True True True"
