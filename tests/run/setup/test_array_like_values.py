"""Values that compare element by element, as arrays and tables do, wherever a caller may pass one."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, PlainSerializer, PlainValidator, WithJsonSchema

from llmcore import FakeModel, Orchestrator, PartialOutput, TerminateLoop
from llmcore.hooks import Hooks
from llmcore.support.values.narrowing import is_list


class Array:
    """As numpy.ndarray and pandas.DataFrame do it."""

    def __init__(self, items: Any) -> None:
        self.items = list(items)

    def __eq__(self, other: object) -> Any:
        return Array(item == other for item in self.items)

    def __ne__(self, other: object) -> Any:
        return Array(item != other for item in self.items)

    def __bool__(self) -> bool:
        raise ValueError("the truth value of an array is ambiguous")


def _read(value: Any) -> Any:
    return value if isinstance(value, Array) else Array(value)


Ints = Annotated[
    Any,
    PlainValidator(_read),
    PlainSerializer(lambda value: value.items),
    WithJsonSchema({"type": "array", "items": {"type": "integer"}}),
]


class Table(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    name: str
    column: Ints


NUMBERS = [*range(50)]
CASES: list[tuple[Any, Any]] = [
    (Ints, NUMBERS),
    (Table, {"name": "t", "column": NUMBERS}),
    (list[Table], [{"name": "t", "column": NUMBERS}] * 3),
]


def _items(value: Any) -> Any:
    one = value[0] if is_list(value) else value
    return (one.column if isinstance(one, Table) else one).items


@pytest.mark.parametrize(("output_type", "data"), CASES)
def test_one_is_streamed_as_it_is_run(output_type: Any, data: Any) -> None:
    text = json.dumps(data)
    assert _items(Orchestrator(FakeModel(text)).execute_sync("?", output_type)) == NUMBERS
    with Orchestrator(FakeModel(text, chunk_size=5)).stream_sync("?", output_type) as stream:
        values = [event.value for event in stream if isinstance(event, PartialOutput)]
    assert _items(values[-1]) == NUMBERS
    assert len(values) > 2


def test_an_output_validator_may_return_one() -> None:
    def split(text: str) -> Any:
        return Array(text.split())

    result = Orchestrator(FakeModel("1 2 3"), output_validators=split).run_sync("?")
    assert result.value.items == ["1", "2", "3"]
    with Orchestrator(FakeModel("1 2 3"), output_validators=split).stream_sync("?") as stream:
        list(stream)
    assert stream.result.value.items == ["1", "2", "3"]


def test_an_output_validator_of_a_type_may_return_one() -> None:
    def twice(value: Any) -> Any:
        return Array(value.items * 2)

    text = json.dumps(NUMBERS)
    assert Orchestrator(FakeModel(text), output_validators=twice).execute_sync("?", Ints).items == NUMBERS * 2
    with Orchestrator(FakeModel(text, chunk_size=5), output_validators=twice).stream_sync("?", Ints) as stream:
        values = [event.value for event in stream if isinstance(event, PartialOutput)]
    assert values[-1].items == NUMBERS * 2


def test_tools_hooks_and_what_they_get_may_hold_one() -> None:
    def count(given: Ints, more: Any = Array([1])) -> Any:  # noqa: B008  (a default of the caller's)
        """Count."""
        return {"sum": sum(given.items)}

    def end() -> str:
        """End."""
        raise TerminateLoop(Array([1, 2]))

    def keep(call: Any, outcome: Any) -> Any:
        return outcome

    model = FakeModel().tool_call("count", {"given": [1, 2]}).tool_call("end")
    result = Orchestrator(model, [count, end], hooks=Hooks(after_tool_run=keep)).run_sync("?", deps=Array([1]))
    assert result.tool_results[0].content == '{"sum":3}'
