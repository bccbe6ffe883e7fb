"""Tools that change while an orchestrator lives: registries read before each turn, and providers called for each turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.tools import RunContext, ToolRegistry
from llmcore.types import ConfigError, ToolDefinitionError
from tests.run.support import add, assert_valid, get_weather

pytestmark = pytest.mark.anyio


def offered(fake: FakeModel) -> list[list[str]]:
    return [[tool.name for tool in request.tools] for request in fake.requests]


@pytest.mark.parametrize("per_run", [False, True])
async def test_a_registry_is_read_before_each_turn(per_run: bool) -> None:
    registry = ToolRegistry()

    @registry.register
    def grow() -> str:
        registry.register(add)
        registry.unregister("grow")
        return "grown"

    fake = FakeModel().tool_call("grow").tool_call("add", {"a": 1, "b": 2}).text("3")
    orchestrator = Orchestrator(fake, () if per_run else registry)
    result = await orchestrator.run("go", tools=registry if per_run else [])
    assert offered(fake) == [["grow"], ["add"], ["add"]]
    assert [record.value for record in result.tool_results] == ["grown", 3]
    assert_valid(result.messages)


async def test_a_tool_registered_after_the_orchestrator_was_made_is_offered() -> None:
    registry, fake = ToolRegistry(), FakeModel(default="ok")
    orchestrator = Orchestrator(fake, registry)
    await orchestrator.run("go")
    registry.register(add)
    await orchestrator.run("go")
    registry.unregister("add")
    await orchestrator.run("go")
    assert offered(fake) == [[], ["add"], []]


def _plain() -> list[Any]:
    return [add]


def _with_context(ctx: RunContext[str]) -> list[Any]:
    assert ctx.deps == "deps"
    return [add] if len(ctx.messages) < 2 else [get_weather]


async def _async(context: Any) -> list[Any]:
    await asyncio.sleep(0)
    return _with_context(context)


@pytest.mark.parametrize(("provider", "second"), [(_plain, "add"), (_with_context, "get_weather"), (_async, "get_weather")])
@pytest.mark.parametrize("per_run", [False, True])
async def test_a_function_is_asked_before_each_turn_and_its_tools_stand_beside_the_others(
    provider: Callable[..., Any], second: str, per_run: bool
) -> None:
    def other() -> str:
        return "other"

    fake = FakeModel().tool_call("add", {"a": 1, "b": 2}).text("3")
    orchestrator = Orchestrator(fake, [other] if per_run else provider, deps="deps")
    result = await orchestrator.run("go", tools=provider if per_run else [other])
    assert [set(names) for names in offered(fake)] == [{"other", "add"}, {"other", second}]
    assert result.tool_results[0].value == 3


@pytest.mark.parametrize("given", ["words", 3, None, [3]])
async def test_a_function_that_gives_no_tools_ends_the_run(given: Any) -> None:
    with pytest.raises(ToolDefinitionError, match="the function given as tools: "):
        await Orchestrator(FakeModel("ok"), lambda: given).run("go")


async def test_what_it_raises_ends_the_run_with_what_was_done() -> None:
    def provider(ctx: RunContext[Any]) -> list[Any]:
        if len(ctx.messages) > 1:
            raise KeyError("gone")
        return [add]

    fake = FakeModel().tool_call("add", {"a": 1, "b": 2}).text("3")
    with pytest.raises(KeyError) as caught:
        await Orchestrator(fake, provider).run("go")
    assert_valid(caught.value.partial.messages)  # type: ignore[attr-defined]  # every error that ends a run has it
    assert len(caught.value.partial.attempts) == 1  # type: ignore[attr-defined]  # the same


@pytest.mark.parametrize("given", [get_weather, add, int])
def test_a_tool_that_was_not_put_in_a_list_is_no_function_of_tools(given: Any) -> None:
    with pytest.raises(ToolDefinitionError, match="give a list of tools, not"):
        Orchestrator(FakeModel("ok"), given)


async def test_a_forced_tool_is_looked_for_when_the_tools_are_there() -> None:
    fake = FakeModel().tool_call("add", {"a": 1, "b": 2}).text("3")
    assert (await Orchestrator(fake, _plain).run("go", tool_choice={"name": "add"})).content == "3"
    with pytest.raises(ConfigError, match="tool_choice names 'nope'"):
        await Orchestrator(FakeModel("ok"), _plain).run("go", tool_choice={"name": "nope"})
