"""A tool keeps its function's signature: what a type checker sees. mypy and pyright read this file; a call that is wrong must be one for
both, or their ignores are unused and fail."""

from __future__ import annotations

from typing import assert_type

import pytest

from llmcore.tools import Tool, ToolRegistry, tool

pytestmark = pytest.mark.anyio
registry = ToolRegistry()


@tool
def add(a: int, b: int = 2) -> int:
    return a + b


@tool(name="sum", timeout=1)
async def add_later(a: int) -> int:
    return a


@registry.register
def twice(a: int) -> int:
    return 2 * a


@registry.register(name="three_times")
def thrice(a: int) -> int:
    return 3 * a


class Shop:
    @tool
    def price(self, name: str) -> float:
        return len(name)


def test_calls_have_the_functions_types() -> None:
    assert_type(add(1), int)
    assert_type(twice(1) + thrice(1), int)
    assert_type(Shop().price("tea"), float)
    assert_type(tool(add, name="plus")(1, b=3), int)
    assert_type(add.renamed("plus")(1), int)
    assert (add(1), twice(1), thrice(1), Shop().price("tea")) == (3, 2, 3, 3)


async def test_of_an_async_tool_too() -> None:
    assert_type(await add_later(1), int)
    assert await add_later(2) == 2


def test_wrong_calls_are_seen() -> None:
    with pytest.raises(TypeError):
        add("x")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError):
        add()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError):
        Shop().price()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    text: str = add(1)  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
    assert text == 3  # type: ignore[comparison-overlap]


def test_a_bare_tool_takes_anything() -> None:
    def name_of(made: Tool) -> str:
        return made.name

    assert name_of(add) == "add"
