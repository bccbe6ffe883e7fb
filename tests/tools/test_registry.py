"""The tool registry."""

from __future__ import annotations

import threading

import pytest

from llmcore.tools import ToolRegistry, tool
from llmcore.types import ToolDefinition, ToolDefinitionError


def one(n: int) -> int:
    return n


def two(n: int) -> int:
    return 2 * n


def test_register_get_list_unregister() -> None:
    registry = ToolRegistry([one])
    assert registry.register(two).name == "two"
    assert [made.name for made in registry.list()] == ["one", "two"]
    found = registry.get("two")
    assert found is not None
    assert found(3) == 6
    assert registry.get("three") is None
    registry.unregister("one")
    assert "one" not in registry
    with pytest.raises(ToolDefinitionError, match=r"no tool 'one'.*\['two'\]"):
        registry.unregister("one")


def test_it_decorates_and_renames() -> None:
    registry = ToolRegistry()

    @registry.register
    def three(n: int) -> int:
        return 3 * n

    registry.register({"name": "remote", "parameters": {"type": "object"}})
    registry.register(one, name="uno")
    assert three(1) == 3
    assert registry.tool_set().names == {"three", "remote", "uno"}


def test_a_taken_name_is_an_error_unless_replaced() -> None:
    registry = ToolRegistry([one])
    with pytest.raises(ToolDefinitionError, match="already registered"):
        registry.register(two, name="one")
    registry.register(two, name="one", replace=True)
    found = registry.get("one")
    assert found is not None
    assert found(1) == 2


def test_clone_and_merge_leave_the_original_alone() -> None:
    ours, theirs = ToolRegistry([one]), ToolRegistry([two])
    theirs.register(two, name="one")
    clone = ours.clone()
    clone.register(two)
    assert len(ours) == 1
    with pytest.raises(ToolDefinitionError, match="on_conflict"):
        ours.merge(theirs)
    kept = ours.merge(theirs, on_conflict="ours").get("one")
    replaced = ours.merge(theirs, on_conflict="theirs").get("one")
    assert kept is not None
    assert replaced is not None
    assert (kept(5), replaced(5)) == (5, 10)
    assert len(ours.merge(ToolRegistry([one]))) == 1  # the same tool is no conflict


def test_examples_are_held_against_the_schema() -> None:
    @tool(examples=[{"n": 1}])
    def good(n: int) -> None: ...

    assert ToolRegistry([good]).tool_set().names == {"good"}
    bad = ToolDefinition(name="bad", parameters=good.definition.parameters, examples=[{"n": 1}, {"m": 1}])
    with pytest.raises(ToolDefinitionError, match="'bad': example 1"):
        ToolRegistry([bad])


def test_many_threads_register_without_losing_one() -> None:
    registry = ToolRegistry()

    def work(start: int) -> None:
        for number in range(start, start + 50):
            registry.register(one, name=f"tool_{number}")
            list(registry)

    threads = [threading.Thread(target=work, args=(50 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(registry) == 200
