"""The cache of compiled tool lists: cheap, and right after a change in place."""

from __future__ import annotations

import gc
import weakref
from copy import deepcopy
from typing import Any

import pytest

from llmcore import Agent, FakeModel
from llmcore.tools import compile_tools, tool
from llmcore.types import ToolDefinition, ToolDefinitionError, ToolSet


def made(name: str = "f", kind: str = "string") -> dict[str, Any]:
    schema = {"type": "object", "properties": {"x": {"type": kind}}}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


def test_the_same_list_and_an_equal_one_are_compiled_once() -> None:
    tools = [made("a"), made("b")]
    compiled = compile_tools(tools)
    assert compile_tools(tools) is compiled
    assert compile_tools(deepcopy(tools)) is compiled
    assert compile_tools(list(reversed(tools))) is not compiled
    assert compile_tools(compiled) is compiled


@pytest.mark.parametrize("as_definition", [False, True], ids=["dict", "ToolDefinition"])
def test_a_schema_changed_in_place_is_noticed(as_definition: bool) -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"x": {"type": "string"}}}
    given: Any = {"name": "f", "parameters": schema}
    tools = [ToolDefinition(**given) if as_definition else given]
    target = tools[0].parameters if as_definition else schema
    before = compile_tools(tools)
    target["properties"]["x"]["type"] = "integer"
    after = compile_tools(tools)
    assert _types(before) == ("string",)  # what was compiled shares nothing with the caller's dict
    assert _types(after) == ("integer",)
    target["properties"]["x"]["type"] = "string"
    assert compile_tools(tools) is before


def _types(tools: ToolSet) -> tuple[str, ...]:
    found = tools.get("f")
    assert found is not None
    return found.types("x")


def test_functions_are_told_apart_by_identity() -> None:
    def first(n: int) -> None: ...

    def second(n: int) -> None: ...

    assert compile_tools([first]) is compile_tools([first])
    assert compile_tools([first]).names == {"first"}
    assert compile_tools([second]).names == {"second"}


@pytest.mark.sweep
def test_few_agents_are_kept_alive_by_what_is_kept() -> None:
    class Lamp(Agent):
        @tool
        def switch(self, on: bool) -> str:
            return "done"

    def used() -> Lamp:
        lamp = Lamp(FakeModel("Hello."))

        def look() -> Any:
            return lamp

        compile_tools([lamp.switch])
        compile_tools([look])
        return lamp

    lamps = weakref.WeakSet(used() for _ in range(300))
    gc.collect()
    assert len(lamps) <= 128


def test_dynamic_schemas_are_never_kept() -> None:
    names = ["a"]

    @tool(params={"x": {"type": "string", "enum": lambda: list(names)}})
    def f(x: str) -> None: ...

    compile_tools([f])
    names.append("b")
    compiled = compile_tools([f]).get("f")
    assert compiled is not None
    assert compiled.properties["x"]["enum"] == ["a", "b"]


def test_wrong_tools_are_errors_each_time() -> None:
    for _ in range(2):
        with pytest.raises(ToolDefinitionError, match="not a tool: int"):
            compile_tools([3])
        with pytest.raises(ToolDefinitionError, match="two different tools are called 'f'"):
            compile_tools([made(), made(kind="integer")])
