"""What tools return, as text: it can always be encoded, or is an error that says why not."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel, Field, computed_field

from llmcore.tools.results.rendering import UnwritableResult, error_text_of, escaped, rendered, result_text, shortened_text
from llmcore.types import ImageBlock, TextBlock


class OwnIteration(list[int]):
    def __iter__(self) -> Iterator[int]:
        raise AssertionError("it may never end")


class Unspeakable:
    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __str__(self) -> str:
        raise self._error


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def cycle() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


def nested(levels: int) -> list[Any]:
    made: list[Any] = []
    for _ in range(levels):
        made = [made]
    return made


class Holder(BaseModel):
    held: dict[Any, Any]
    left_out: dict[Any, Any] = Field(default_factory=dict[Any, Any], exclude=True)


class Choice(Enum):
    ONE = 1


@pytest.mark.parametrize(
    "keys",
    [
        (1, "1"),
        (True, "true"),
        (None, "None"),
        (1.5, "1.5"),
        ((1, 2), "1,2"),
        (b"a", "YQ=="),
        (Choice.ONE, 1),
        (UUID(int=1), str(UUID(int=1))),
    ],
)
@pytest.mark.parametrize("around", ["nothing", "a list", "a class", "a model"])
def test_no_value_is_lost_because_two_keys_are_one_text(keys: tuple[Any, Any], around: str) -> None:
    held: dict[Any, Any] = dict(zip(keys, "ab", strict=True))
    forms = {"nothing": held, "a list": [{"a": (held,)}], "a class": defaultdict(str, held), "a model": Holder(held=held)}
    value: Any = forms[around]
    with pytest.raises(UnwritableResult, match=r"holds several keys that are .+ in JSON; use keys of one type"):
        rendered(value, 1000)
    [block] = rendered({1: "a", "2": "b", None: "c", True + 2: "d"}, 1000)
    assert len(json.loads(block.text)) == 4  # type: ignore[union-attr]  # a dict is written as text


def test_keys_that_are_not_written_cannot_be_one_text() -> None:
    [block] = rendered(Holder(held={}, left_out={1: "a", "1": "b"}), 1000)
    assert block == TextBlock(text='{"held":{}}')


@pytest.mark.parametrize(
    "value",
    [cycle(), nested(100_000), Unspeakable(ValueError("no")), [Unspeakable(SystemExit(1))], {frozenset([1]): 2}],
    ids=["cycle", "deep", "str fails", "str exits", "key"],
)
def test_what_cannot_be_written_is_refused_with_the_reason(value: Any) -> None:
    with pytest.raises(UnwritableResult, match="cannot be written as text: "):
        rendered(value, 1000)
    assert result_text(value).startswith("(the result cannot be written as text")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("half \ud800", "half \\ud800"),
        (["half \udcff é"], '["half \\udcff é"]'),
        ({"n": float("nan")}, '{"n":"NaN"}'),
        (10**5000, "1" + "0" * 5000),
        (OwnIteration([1, 2]), "[1,2]"),
    ],
    ids=["text", "list", "nan", "large", "own iteration"],
)
def test_odd_values_become_text_that_can_be_encoded(value: Any, text: str) -> None:
    blocks = rendered(value, 10_000)
    assert blocks == [TextBlock(text=text)]
    json.dumps(text).encode()
    text.encode()


class Computed(BaseModel):
    @computed_field  # type: ignore[prop-decorator]  # mypy cannot stack decorators on a property; pydantic documents it so
    @property
    def numbers(self) -> Any:
        return itertools.count()


class Held(BaseModel):
    anything: Any


@dataclass
class Record:
    anything: Any


class Long:
    def __str__(self) -> str:
        return "x" * 1_000_000


def doubled(levels: int) -> list[Any]:
    made: list[Any] = ["x"]
    for _ in range(levels):
        made = [made, made]
    return made


ENDLESS: dict[str, Callable[[], Any]] = {
    "iterator": itertools.count,
    "in a list": lambda: [{"a": itertools.count()}],
    "map": lambda: map(str, [1]),
    "in a model": lambda: Held(anything=itertools.count()),
    "computed by a model": Computed,
    "in a dataclass": lambda: Record(itertools.repeat(1)),
    "many times the same": lambda: doubled(40),
    "many long texts": lambda: [Long()] * 1000,
    "a long number": lambda: 10**100_000,
}


@pytest.mark.parametrize("name", ENDLESS)
def test_what_may_not_end_or_is_too_large_is_refused_and_never_walked(name: str) -> None:
    with pytest.raises(UnwritableResult, match=r"cannot be written as text: it (is|holds) .*; let the tool return"):
        rendered(ENDLESS[name](), 1000)


def test_blocks_that_a_tool_gives_itself_can_be_encoded_too() -> None:
    blocks = rendered([TextBlock(text="a\ud800"), ImageBlock(url="https://example.com/\udc80")], 1000)
    assert blocks == [TextBlock(text="a\\ud800"), ImageBlock(url="https://example.com/\\udc80")]


def test_errors_are_described_whatever_they_do() -> None:
    assert error_text_of(KeyError("x")) == "KeyError: 'x'"
    assert error_text_of(UnspeakableError()) == "UnspeakableError: (its message cannot be shown)"
    assert error_text_of(ValueError("\ud800")) == "ValueError: \\ud800"
    group = BaseExceptionGroup("several", [ValueError("one"), SystemExit(2)])
    assert error_text_of(group) == "BaseExceptionGroup: several (2 sub-exceptions): ValueError: one; SystemExit: 2"


def test_other_text_is_left_as_it_is() -> None:
    assert escaped("é 😀 \x00") == "é 😀 \x00"


@pytest.mark.parametrize("most", [0, 2, 3, 80, 100, 120, 200, 1000])
def test_a_shortened_text_is_within_its_bound_with_its_note(most: int) -> None:
    text = "ab" * 50_000
    shown = shortened_text(text, most)
    assert len(shown) <= most
    assert ("the whole result has 100000 characters" in shown) == (most > 100)
    assert shortened_text(text, len(text)) == text
