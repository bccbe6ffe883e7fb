"""A type is compiled once, and what was made of one never answers for another."""

from __future__ import annotations

import typing
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, create_model
from typing_extensions import TypedDict

from llmcore.support.values.narrowing import is_object
from llmcore.types import OutputParseError
from llmcore.validator import json_schema, parse
from llmcore.validator.output.output_types import compile_output


def _limited(least: int) -> Any:
    class Item(BaseModel):
        n: int = Field(gt=least)

    return Item


LOW, HIGH = _limited(0), _limited(100)
# as checkers are not told: what stands in the brackets is made at run time
LIST, DICT, TUPLE, UNION, NOTED = (typing.cast("Any", kind) for kind in (list, dict, tuple, typing.Union, Annotated))
OLD_LIST, OPTIONAL = (typing.cast("Any", kind) for kind in (typing.List, typing.Optional))  # noqa: UP006  (as users write them)
AROUND: list[Callable[[Any], Any]] = [
    lambda kind: kind,
    lambda kind: LIST[kind],
    lambda kind: OLD_LIST[kind],
    lambda kind: kind | None,
    lambda kind: OPTIONAL[kind],
    lambda kind: UNION[kind, int],
    lambda kind: DICT[str, kind],
    lambda kind: TUPLE[kind, ...],
    lambda kind: NOTED[kind, "told"],
    lambda kind: LIST[DICT[str, kind | None]],
]


def _inner(value: Any) -> Any:
    while isinstance(value, (list, tuple, dict)):
        items: Any = value  # pyright: ignore[reportUnknownVariableType]  # of whatever it holds
        value = next(iter(items.values() if is_object(items) else items))
    return value


@pytest.mark.parametrize("around", AROUND)
def test_classes_of_one_name_are_two_types(around: Any) -> None:
    low, high = around(LOW), around(HIGH)
    assert json_schema(low) != json_schema(high)
    for text in ('{"n": 5}', '[{"n": 5}]', '{"a": {"n": 5}}', '[{"a": {"n": 5}}]'):
        try:
            found = parse(text, low, strictness="off")
        except OutputParseError:
            continue
        assert type(_inner(found)) is LOW
        with pytest.raises(OutputParseError):
            parse(text, high)
        assert type(_inner(parse(text.replace("5", "500"), high))) is HIGH
        return
    pytest.fail("no text was of the type")


def test_a_class_made_anew_has_its_own_fields() -> None:
    before, after = create_model("Row", a=(int, ...)), create_model("Row", b=(int, ...))
    assert parse('[{"a": 1}]', LIST[before])[0].a == 1
    assert parse('[{"b": 1}]', LIST[after])[0].b == 1
    make: Any = TypedDict
    one, other = make("Pair", {"a": int}), make("Pair", {"b": str})
    assert parse('{"a": 1}', one | None) == {"a": 1}
    assert parse('{"b": "x"}', other | None) == {"b": "x"}


def test_the_order_of_a_union_is_part_of_the_type() -> None:
    assert json_schema(int | str)["anyOf"] == [{"type": "integer"}, {"type": "string"}]
    assert json_schema(str | int)["anyOf"] == [{"type": "string"}, {"type": "integer"}]


def test_a_type_that_is_written_anew_is_compiled_once() -> None:
    def written() -> Any:
        return Annotated[list[Annotated[int, Field(gt=0, description="positive")]], Field(min_length=2)]

    assert compile_output(written()) is compile_output(written())
    assert compile_output(LIST[LOW]) is compile_output(LIST[LOW])
