"""A tool below something that is not ours: what its author said of it holds on, or an error says that it would not."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from llmcore import FakeModel, Orchestrator, ToolRegistry
from llmcore.tools import Tool, as_tool, tool
from llmcore.types import CallerError


@tool(name="paid", description="Pay.", timeout=7, tags=["money"], requires_approval=True)
def pay(amount: int, currency: str = "EUR") -> str:
    return f"{amount} {currency}"


def timed(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def timed_later(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def plain_by_name(function: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(**kwargs: Any) -> Any:
        return function(**kwargs)

    return wrapper


class Desk:
    @timed
    @tool(name="paid", description="Pay.", timeout=7, tags=["money"], requires_approval=True)
    def decorated(self, amount: int, currency: str = "EUR") -> str:
        return f"{amount} {currency}"

    @tool
    @timed
    @tool(name="paid", description="Pay.", timeout=7, tags=["money"], requires_approval=True)
    def between(self, amount: int, currency: str = "EUR") -> str:
        return f"{amount} {currency}"

    @tool(name="paid", description="Pay.", timeout=7, tags=["money"], requires_approval=True)
    def __call__(self, amount: int, currency: str = "EUR") -> str:
        return f"{amount} {currency}"


GIVEN = Tool.from_definition(pay.definition, pay.function, timeout=7, requires_approval=True)

ABOVE: dict[str, Callable[[], Any]] = {
    "wraps": lambda: timed(pay),
    "twice": lambda: timed(timed_later(pay)),
    "partial": lambda: functools.partial(pay, currency="EUR"),
    "partial of wraps": lambda: functools.partial(timed(pay), currency="EUR"),
    "wraps of partial": lambda: timed(functools.partial(pay, currency="EUR")),
    "cached": lambda: functools.lru_cache(pay),
    "tool of tool": lambda: tool(version="2")(pay),
    "tool of wraps": lambda: tool(version="2")(timed(pay)),
    "tool of partial": lambda: tool(functools.partial(pay, currency="EUR")),
    "Tool": lambda: Tool(timed(pay)),
    "method": lambda: Desk().decorated,
    "between": lambda: Desk().between,
    "wraps of method": lambda: timed(Desk().between),
    "partial of method": lambda: functools.partial(Desk().between, currency="EUR"),
    "call": lambda: Desk(),
    "registered": lambda: ToolRegistry().register(timed(pay)),
    "with its schema": lambda: Tool.from_definition(pay.definition, timed(pay)),
    "of a given schema": lambda: timed(GIVEN),
    "partial of a given schema": lambda: functools.partial(GIVEN, currency="EUR"),
}


@pytest.mark.parametrize("above", ABOVE.values(), ids=ABOVE)
def test_a_tools_options_survive_what_stands_above_it(above: Callable[[], Any]) -> None:
    made = as_tool(above())
    assert (made.name, made.options.timeout, made.options.requires_approval) == ("paid", 7, True)
    assert (made.definition.description, made.definition.tags) == ("Pay.", ["money"])
    assert made.definition.parameters["properties"]["amount"] == {"type": "integer"}
    result = Orchestrator(FakeModel().tool_call("paid", {"amount": 5}), [made]).run_sync("Pay.")
    assert [call.name for call in result.pending] == ["paid"]


def test_options_above_win() -> None:
    free = tool(requires_approval=False, timeout=3)(timed(pay))
    assert (free.options.requires_approval, free.options.timeout, free.name) == (False, 3, "paid")
    assert ToolRegistry().register(timed(pay), name="other").options.requires_approval is True
    assert Orchestrator(FakeModel().tool_call("paid", {"amount": 5}).text("Paid."), [free]).run_sync("Pay.").content == "Paid."


@pytest.mark.parametrize("above", [plain(pay), plain_by_name(pay), plain_by_name(timed(pay))])
def test_what_would_lose_them_is_refused(above: Any) -> None:
    with pytest.raises(CallerError, match=r"hides the tool 'paid' below it|tool 'paid': "):
        as_tool(above)
