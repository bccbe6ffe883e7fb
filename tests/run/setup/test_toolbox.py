"""Tools with the same name: an error in one list; between a run and its orchestrator, allowed only if the run's tool says
so."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

import llmcore
from llmcore.orchestrator import Orchestrator
from llmcore.run.setup.settings import Toolbox
from llmcore.testing import FakeModel
from llmcore.tools import Tool, ToolRegistry, as_tool, tool
from llmcore.types import CallerError, Request, ToolDefinition, ToolDefinitionError
from tests.run.support import add

pytestmark = pytest.mark.anyio


class Account:
    def __init__(self, owner: str) -> None:
        self._owner = owner

    def balance(self) -> str:
        """The balance."""
        return f"{self._owner}'s balance"

    @tool
    def close(self) -> str:
        """Close it."""
        return f"{self._owner}'s account is closed"


ann, bob = Account("ann"), Account("bob")


def other_add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b + 1000


def same_name(function: Any) -> Tool:
    return as_tool(function).renamed("add")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (add, same_name(other_add)),
        (ann.balance, bob.balance),
        (ann.close, bob.close),
        (add, tool(timeout=1)(add)),
        (add, as_tool(add).definition),
        (ToolDefinition(name="remote"), ToolDefinition(name="remote", description="another")),
    ],
    ids=["functions", "methods", "tools of instances", "options", "definition", "definitions"],
)
def test_two_tools_of_one_name_are_an_error_wherever_they_are_given(first: Any, second: Any) -> None:
    with pytest.raises(ToolDefinitionError, match=r"two tools in one list are called '\w+'.*renamed"):
        Orchestrator(FakeModel("x"), [first, second])
    with pytest.raises(ToolDefinitionError, match="two tools in one list"):
        Orchestrator(FakeModel("x")).run_sync("go", tools=[first, second])
    with pytest.raises(ToolDefinitionError, match=r"has the name of one of the orchestrator's.*replacing\(\)"):
        Orchestrator(FakeModel("x"), [first]).run_sync("go", tools=[second])
    with pytest.raises(ToolDefinitionError, match="two tools in one list"):  # there is nothing to replace
        Orchestrator(FakeModel("x"), [first, as_tool(second).replacing()])


@pytest.mark.parametrize("given", [add, ann.balance, ann.close, tool(add), {"name": "remote", "parameters": {"type": "object"}}])
def test_the_same_tool_again_is_fine(given: Any) -> None:
    assert len(Toolbox.of([given, given])) == 1
    assert len(Toolbox.of([given]).extended([given])) == 1


def test_a_runs_tool_stands_in_when_it_says_so_and_in_that_run_only() -> None:
    fake = FakeModel(default=lambda request: "done").tool_call("close")
    orchestrator = Orchestrator(fake, [ann.close, add])
    replaced = orchestrator.run_sync("go", tools=[bob.close.replacing()])
    assert replaced.messages[2].tool_results[0].text == "bob's account is closed"
    plain = Orchestrator(FakeModel("x").tool_call("close").text("done"), [ann.close, add])
    assert plain.run_sync("go").content == "x"
    fake.reset()
    assert orchestrator.run_sync("go").messages[2].tool_results[0].text == "ann's account is closed"


def test_the_replaced_tool_keeps_its_place_and_a_new_name_can_replace_too() -> None:
    box = Toolbox.of([add, ann.balance]).extended([as_tool(other_add).renamed("add").replacing()])
    assert [made.name for made in box] == ["add", "balance"]
    found = box.get("add")
    assert found is not None
    assert found(1, 2) == 1003
    assert as_tool(other_add).replacing().renamed("add").replaces


def test_a_runs_tool_stands_in_for_one_that_a_function_gives() -> None:
    def given() -> list[object]:
        return [add] if len(fake.requests) < 2 else []  # not in every turn

    fake = (
        FakeModel()
        .tool_call("add", {"a": 1, "b": 2})
        .tool_call("add", {"a": 1, "b": 2})
        .tool_call("add", {"a": 1, "b": 2})
        .text(".")
    )
    result = Orchestrator(fake, given).run_sync("go", tools=[as_tool(other_add).renamed("add").replacing()])
    assert [record.content for record in result.tool_results] == [str(other_add(1, 2))] * 3

    fake.reset()
    own = as_tool(other_add).renamed("add").replacing()
    result = Orchestrator(fake, given).run_sync("go", tools=lambda: [own])
    assert [record.content for record in result.tool_results] == [str(other_add(1, 2))] * 3


def test_replacing_what_is_not_there_is_an_error() -> None:
    with pytest.raises(ToolDefinitionError, match=r"'other_add' replaces a tool that does not exist; there are \['add'\]"):
        Orchestrator(FakeModel("x"), [add]).run_sync("go", tools=[as_tool(other_add).replacing()])


@pytest.mark.parametrize("where", ["orchestrator", "run", "registry", "request"])
async def test_a_tool_set_keeps_the_functions_it_was_given(where: str) -> None:
    tools = llmcore.ToolSet([add])
    fake = FakeModel().tool_call("add", {"a": 1, "b": 2}).text("3")
    if where == "run":
        result = await Orchestrator(fake).run("go", tools=tools)
    elif where == "request":
        result = await Orchestrator(fake).run(Request.model_validate({"messages": "go", "tools": tools}))
    else:
        result = await Orchestrator(fake, tools if where == "orchestrator" else ToolRegistry(tools)).run("go")
    assert (result.tool_results[0].value, result.pending) == (3, [])


@pytest.mark.parametrize("given", [add, "add", {"name": "add"}, None, 3])
def test_what_is_no_list_of_tools_is_refused_by_every_taker(given: Any) -> None:
    for taker in (llmcore.ToolSet, ToolRegistry, partial(Orchestrator, FakeModel())):
        with pytest.raises(CallerError, match="give a list of tools"):
            taker(given)
