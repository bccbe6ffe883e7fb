"""The tool registry."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# (functions as people write them, without annotations)

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from llmcore import FakeModel, Orchestrator, normalize
from llmcore.run.setup.settings import Toolbox
from llmcore.tools import RunContext, Tool, ToolConfig, ToolRegistry, ToolSet, as_tool, tool
from llmcore.types import CallerError, Request, ToolDefinition, ToolDefinitionError


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
    with pytest.raises(ToolDefinitionError, match="no tool 'one' is registered; there are two"):
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


def test_it_decorates_under_another_name_and_takes_what_has_none() -> None:
    registry = ToolRegistry()

    @registry.register(name="drei")
    def three(n: int) -> int:
        return 3 * n

    assert registry.register(lambda n: n, name="g")(4) == 4
    registry.register(three, name="four")
    assert registry.tool_set().names == {"drei", "g", "four"}
    with pytest.raises(ToolDefinitionError, match=r"'<lambda>' cannot be a tool's name; give one"):
        registry.register(lambda n: n)


def test_calls_that_do_not_fit_are_told() -> None:
    registry: Any = ToolRegistry([one])
    mistakes: list[tuple[Callable[[], object], str]] = [
        (lambda: registry.register(two, nme="x"), r"ToolRegistry\.register has no option 'nme'; did you mean 'name'"),
        (lambda: registry.register("n", two), r"ToolRegistry\.register"),
        (lambda: registry.merge([two], on_conflict="thiers"), "not 'thiers'; did you mean 'theirs'"),
        (lambda: registry.unregister("onne"), "no tool 'onne' is registered; did you mean 'one'"),
        (lambda: untyped_registry(tols=[]), "ToolRegistry has no option 'tols'; did you mean 'tools'"),
        (lambda: untyped_context(None, mesages=[]), "RunContext has no option 'mesages'; did you mean 'messages'"),
        (lambda: untyped_context(), "RunContext needs `deps`"),
    ]
    for mistake, told in mistakes:
        with pytest.raises(CallerError, match=told):
            mistake()


untyped_registry: Any = ToolRegistry
untyped_context: Any = RunContext


# Read live


def offered(fake: FakeModel) -> list[list[str]]:
    return [[made.name for made in request.tools] for request in fake.requests]


@pytest.mark.parametrize("beside", [False, True])
def test_an_orchestrator_offers_what_is_registered_when_a_run_begins(beside: bool) -> None:
    registry, fake = ToolRegistry([one]), FakeModel(default="done")
    orchestrator = Orchestrator(fake, [registry, three] if beside else registry)
    others = ["three"] if beside else []
    orchestrator.run_sync("?")
    registry.register(two)
    orchestrator.run_sync("?")
    registry.unregister("one")
    orchestrator.run_sync("?")
    assert offered(fake) == [["one", *others], ["one", "two", *others], ["two", *others]]


def three(n: int) -> int:
    return 3 * n


@pytest.mark.parametrize("given_to", ["orchestrator", "run", "request"])
def test_a_run_that_goes_on_offers_what_is_registered_when_a_turn_begins(given_to: str) -> None:
    registry = ToolRegistry()

    @registry.register
    def learn(name: str) -> str:
        registry.register(two)
        registry.unregister("one")
        return name

    registry.register(one)
    fake = FakeModel().tool_call("learn", {"name": "two"}).tool_call("two", {"n": 4}).text("done")
    orchestrator = Orchestrator(fake, registry if given_to == "orchestrator" else [three])
    if given_to == "request":
        result = orchestrator.run_sync(Request(messages="?", tools=registry))
    else:
        result = orchestrator.run_sync("?", tools=registry if given_to == "run" else [])
    assert [record.value for record in result.tool_results] == ["two", 8]
    others = [] if given_to == "orchestrator" else ["three"]
    assert [sorted(names) for names in offered(fake)] == [
        sorted([*others, "learn", "one"]),
        *[sorted([*others, "learn", "two"])] * 2,
    ]


def test_what_the_model_may_use_stays_bounded_while_tools_come() -> None:
    registry, fake = ToolRegistry([one]), FakeModel(default="done")
    box = Toolbox.of(registry).limited(ToolConfig(allowed=frozenset({"one", "two"})))
    registry.register(two)
    registry.register(three)
    assert [made.name for made in box.now()] == ["one", "two"]
    assert box.now().now() is not box
    still = Toolbox.of([one])
    assert still.now() is still
    assert fake.call_count == 0


def test_a_tool_that_comes_under_the_name_of_a_runs_own_gives_way_to_it() -> None:
    registry = ToolRegistry()

    def two_of_the_run(n: int) -> int:
        registry.register(two)
        return -n

    own = as_tool(two_of_the_run).renamed("two")
    fake = FakeModel().tool_call("two", {"n": 1}).tool_call("two", {"n": 2}).text("done")
    with_run = Orchestrator(fake, registry).run_sync
    registry_result = with_run("?", tools=[own])
    assert registry_result.tool_results[0].value == -1
    assert registry_result.tool_results[1].error is not None  # the second registration of the name, not the registry's tool


def test_a_registry_within_a_list_is_taken_wherever_tools_are() -> None:
    registry = ToolRegistry([one])
    assert {made.name for made in ToolSet([registry, two])} == {"one", "two"}
    assert normalize('<tool_call>{"name": "one", "arguments": {"n": 1}}</tool_call>', [registry, two]).tool_calls[0].known
    registry.register(three)
    assert normalize('<tool_call>{"name": "three", "arguments": {"n": 1}}</tool_call>', [registry, two]).tool_calls[0].known
    assert len(ToolRegistry([registry, two])) == 3


def test_a_clone_shares_nothing_that_can_change() -> None:
    @tool(tags=["a"], examples=[{"city": "Rome"}], params={"city": {"type": "string", "enum": ["Rome", "Oslo"]}})
    def look(city: str) -> str:
        return city

    def plain(city: str) -> str:
        return city

    given = Tool.from_definition({"name": "given", "parameters": {"type": "object", "properties": {"a": {"enum": [1]}}}})
    ours = ToolRegistry([look, plain, given])
    before = [made.definition.model_dump() for made in ours]
    theirs = ours.clone()
    both = ours.merge(ToolRegistry([tool(plain, name="more")]))
    assert [made.definition.model_dump() for made in theirs] == before
    for registry in (theirs, both):
        for made in registry:
            for part in made.definition.parameters["properties"].values():
                part["description"] = "changed"
                part.get("enum", []).append("changed")
            made.definition.tags.append("changed")
            made.definition.examples.append({"city": "changed"})
            params: Any = made.options.params
            if params is not None:
                params["city"]["type"] = "changed"
    assert [made.definition.model_dump() for made in ours] == before
    assert tool(look).options.params == {"city": {"type": "string", "enum": ["Rome", "Oslo"]}}
    assert as_tool(plain).definition.parameters["properties"]["city"] == {"type": "string"}


def test_a_clone_has_the_same_tools() -> None:
    def look(city: str) -> str:
        return city

    ours = ToolRegistry([look])
    assert [made.name for made in ours.merge(ours.clone())] == ["look"]
    model = FakeModel().tool_call("look", {"city": "Rome"}).text("Done.")
    assert Orchestrator(model, [ours, ours.clone()]).run_sync("?").tool_results[0].value == "Rome"
    assert ours.clone().list()[0]("Rome") == "Rome"
