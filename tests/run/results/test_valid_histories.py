"""`is_encodable` accepts exactly the values that `encodable_copy` leaves unchanged."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmcore.run.results.boundary_copies import MAX_DEPTH, encodable_copy, is_encodable
from llmcore.types import Envelope, Message, TextBlock, ToolCall, ToolUseBlock

_LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(categories=None), max_size=4)
_VALUES = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)


@given(_VALUES)
def test_a_look_and_the_mending_agree(value: Any) -> None:
    copied, found = encodable_copy(value)
    assert is_encodable(value) == (not found)
    if not found:
        assert copied == value


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        "\ud800",
        {"\udfff": 1},
        {1: "a key that is no text"},
        [float("nan")],
        {"a": 10**5000},
        {"a": (1, [float("inf")])},
        nested(MAX_DEPTH + 2),
        {"a": object()},
        Message(role="user", content=[TextBlock(text="a\ud800")]),
        Envelope(toolCalls=[ToolCall(id="c", name="f", arguments={"a": ["\ud800"]})]),
    ],
)
def test_what_has_to_be_mended_is_not_fit(value: Any) -> None:
    assert not is_encodable(value)
    assert encodable_copy(value)[1]


def test_what_holds_itself_is_not_fit() -> None:
    value: list[Any] = []
    value.append(value)
    assert not is_encodable(value)


@pytest.mark.parametrize(
    "value",
    [
        nested(MAX_DEPTH - 2),
        {"é": ["ü", 1.5, None, True, (2,)]},
        Message(role="assistant", content=[ToolUseBlock(id="c", name="f", input={"a": [{"b": "c"}]})]),
    ],
)
def test_what_can_be_encoded_is_fit(value: Any) -> None:
    assert is_encodable(value)
