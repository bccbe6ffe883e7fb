"""Where tools enter, whatever they are given as: tools made anew with other options, schemas that were given, examples."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# (functions as people write them, without annotations)

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import pytest

from llmcore import FakeModel, Orchestrator
from llmcore.tools import RunContext, Tool, ToolRegistry, as_tool, tool
from llmcore.types import RetryConfig, ToolDefinition, ToolDefinitionError

untyped: Any = tool
"""For what a type checker refuses."""
OBJECT: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def forecast(city: str) -> str:
    return f"Sun in {city}."


def a_definition(**fields: Any) -> ToolDefinition:
    return ToolDefinition.model_validate({"name": "forecast", "parameters": OBJECT, **fields})


# Made anew


def test_a_tool_of_a_tool_is_the_same_with_other_options() -> None:
    @tool(timeout=1, read_only=True, tags=["sky"], examples=[{"city": "Rome"}], description="Weather.")
    async def weather(city: str) -> str:
        return city

    assert tool(weather) is weather
    other = tool(weather, name="other", timeout=2)
    assert (other.name, other.options.timeout, other.is_async, other.options.read_only) == ("other", 2, True, True)
    assert (other.definition.description, other.definition.tags) == ("Weather.", ["sky"])
    assert tool(weather).renamed("g").options.timeout == 1
    assert tool(name="by_decorator")(weather).definition.examples == [{"city": "Rome"}]
    assert weather.name == "weather"


def test_so_is_one_of_a_definition_and_one_that_is_bound() -> None:
    class Station:
        place = "Rome"

        @tool(read_only=True)
        def here(self) -> str:
            return self.place

    assert tool(Station().here, name="there")() == "Rome"
    given = Tool.from_definition(a_definition(tags=["sky"]), forecast, timeout=3, retries=2)
    made = tool(given, name="other", description="New.", read_only=True)
    assert (made.name, made.definition.description, made.definition.tags) == ("other", "New.", ["sky"])
    assert (made.options.timeout, made.options.retries, made.options.read_only) == (3, 2, True)
    with pytest.raises(ToolDefinitionError, match="'timout'; did you mean 'timeout'"):
        untyped(given, timout=3)


def test_to_replace_the_orchestrators_tool_is_done_as_the_error_advises() -> None:
    def other(city: str) -> str:
        return f"Rain in {city}."

    made = tool(forecast, timeout=5)
    fake = FakeModel().tool_call("forecast", {"city": "Rome"}).text("done")
    result = Orchestrator(fake, [made]).run_sync("?", tools=[tool(tool(other)).renamed("forecast").replacing()])
    assert result.tool_results[0].value == "Rain in Rome."


# Schemas that were given

WRONG_SCHEMAS: list[tuple[dict[str, Any], str]] = [
    (
        {"type": "object", "properties": {"a": {"type": "objekt"}}},
        r"a\.type: unknown type string .objekt., did you mean 'object'",
    ),
    ({"type": "array", "items": {}}, "must be of type object, got"),
    ({"type": "objekt"}, "unknown type"),
    ({"anyOf": [{"type": "string"}, {"enum": [1]}]}, "must admit an object, and admits integer, string"),
    ({"type": "object", "properties": ["a"]}, "properties: must be an object"),
    ({"type": "object", "required": "a"}, "required: must be a list of property names"),
    ({"type": "object", "required": [1]}, "required: must be a list of property names"),
    ({"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}}, "not a regular expression"),
    ({"type": "object", "properties": {"a": {"$ref": "#/$defs/nowhere"}}}, r"\$ref .* leads nowhere"),
]

ENTRANCES: dict[str, Callable[[ToolDefinition], object]] = {
    "orchestrator": lambda made: Orchestrator(FakeModel("x"), [made]),
    "run": lambda made: Orchestrator(FakeModel("x")).run_sync("?", tools=[made]),
    "dict": lambda made: Orchestrator(FakeModel("x"), [made.model_dump()]),
    "openai": lambda made: Orchestrator(FakeModel("x"), [{"type": "function", "function": made.model_dump()}]),
    "registry": lambda made: ToolRegistry([made]),
    "from_definition": lambda made: Tool.from_definition(made, lambda **given: given),
    "as_tool": as_tool,
}


@pytest.mark.parametrize("entrance", ENTRANCES)
@pytest.mark.parametrize(("schema", "told"), WRONG_SCHEMAS)
def test_a_schema_that_is_none_is_refused_wherever_it_enters(schema: dict[str, Any], told: str, entrance: str) -> None:
    with pytest.raises(ToolDefinitionError, match=f"'forecast'.*parameters: .*{told}"):
        ENTRANCES[entrance](a_definition(parameters=schema))


def test_so_are_fragments_and_schemas_that_types_bring() -> None:
    with pytest.raises(ToolDefinitionError, match=r"'forecast'.*city.*.sting., did you mean 'string'"):
        tool(forecast, params={"city": {"type": "sting"}})
    with pytest.raises(ToolDefinitionError, match=r"a whole schema goes to Tool\.from_definition"):
        tool(forecast, params=OBJECT)
    with pytest.raises(ToolDefinitionError, match="'city' must be a JSON Schema such as"):
        untyped(forecast, params={"city": "string"})


# Examples


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_examples_are_held_against_the_schema_wherever_they_enter(entrance: str) -> None:
    told = "'forecast': example 1 does not fit its schema: .*`citty`"
    with pytest.raises(ToolDefinitionError, match=told):
        ENTRANCES[entrance](a_definition(examples=[{"city": "Rome"}, {"citty": "Rome"}], parameters=CLOSED))
    good = [{"city": "Rome"}, {"input": {"city": "Rome"}, "output": "Sun", "description": "A town."}]
    ENTRANCES[entrance](a_definition(examples=good))
    with pytest.raises(ToolDefinitionError, match="example 0 does not fit"):
        ENTRANCES[entrance](a_definition(examples=[{"input": {"city": 5.5}, "output": "Sun"}]))


CLOSED = {**OBJECT, "additionalProperties": False}


def test_so_are_those_of_a_decorator() -> None:
    with pytest.raises(ToolDefinitionError, match="'forecast': example 0"):
        tool(forecast, examples=[{"city": []}])
    with pytest.raises(ToolDefinitionError, match="examples must be a list of argument objects"):
        untyped(forecast, examples=[3])
    made = tool(forecast, examples=[{"input": {"city": "Rome"}, "output": "Sun"}])
    assert made.definition.example_arguments == [{"city": "Rome"}]


def test_a_parameter_may_be_called_input() -> None:
    @tool(examples=[{"input": {"a": 1}}, {"input": {"input": {"a": 1}}, "output": 3}])
    def run(input: dict[str, int]) -> int:
        return len(input)

    assert run.definition.example_arguments == [{"input": {"a": 1}}, {"input": {"a": 1}}]


# A function beside a given schema


def test_a_function_beside_a_schema_takes_the_options_and_the_context() -> None:
    def remote(city: str, ctx: RunContext[str]) -> str:
        return f"{ctx.deps}: {city}"

    made = Tool.from_definition(
        a_definition(), remote, timeout=3, retries=RetryConfig(max_retries=1), tags=["sky"], read_only=True, postprocess=str.upper
    )
    assert made.definition.tags == ["sky"]
    assert made.definition.read_only
    fake = FakeModel().tool_call("forecast", {"city": "Rome"}).text("done")
    assert Orchestrator(fake, [made], deps="north").run_sync("?").tool_results[0].content == "NORTH: ROME"


def test_a_function_of_one_positional_dict_takes_all_arguments_whatever_their_names() -> None:
    def remote(arguments: dict[str, Any], /, ctx: RunContext[str]) -> Any:
        return ctx.deps, arguments

    properties: dict[str, Any] = {"ctx": {}, "arguments": {}, "self": {}, "no name": {}}
    made = Tool.from_definition({"name": "f", "parameters": {"type": "object", "properties": properties}}, remote)
    given = {"ctx": 1, "arguments": 2, "self": 3, "no name": 4}
    fake = FakeModel().tool_calls(("f", given), ("f", {})).text("done")
    records = Orchestrator(fake, [made], deps="north").run_sync("?").tool_results
    assert [record.value for record in records] == [("north", given), ("north", {})]


def test_what_the_schema_does_not_require_arrives_as_none() -> None:
    def pair(a: Any, b: int = 2) -> Any:
        return a, b

    made = Tool.from_definition({"name": "f", "parameters": {"type": "object", "properties": {"a": {}, "b": {}}}}, pair)
    fake = FakeModel().tool_call("f", {}).text("done")
    assert Orchestrator(fake, [made]).run_sync("?").tool_results[0].value == (None, 2)


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda town: town, r"'forecast'.*its schema has 'city', which the function does not take; there are town"),
        (lambda city, days: city, r"the function needs 'days', which its schema does not have"),
        (lambda city, /: city, "'city' is positional-only.*as one dict, annotate the only parameter as dict"),
        (lambda cities: cities, "its schema has 'city'.*did you mean 'cities'"),
    ],
)
def test_a_function_that_does_not_fit_its_schema_is_refused(function: Any, told: str) -> None:
    with pytest.raises(ToolDefinitionError, match=told):
        Tool.from_definition(a_definition(), function)


def test_a_function_of_any_keywords_fits_every_schema_and_a_whole_schema_needs_no_params() -> None:
    assert Tool.from_definition(a_definition(), lambda **given: given).keywords({"city": "x"}) == {"city": "x"}
    assert Tool.from_definition(a_definition(), lambda town: town, preprocess=lambda given: {"town": given["city"]})
    with pytest.raises(ToolDefinitionError, match="`params` changes the schema of"):
        Tool.from_definition(a_definition(), forecast, params={})


# Summaries


def test_a_summary_tells_users_what_a_call_does() -> None:
    by_text = tool(forecast, summary="Weather of {city}")
    by_function = tool(forecast, name="other", summary=lambda given: f"Looks at\n{given['city']}")
    fake = FakeModel().tool_calls(("forecast", {"city": "Rome"}), ("other", {"city": "Nice"})).text("done")
    result = Orchestrator(fake, [by_text, by_function]).run_sync("?")
    assert [record.summary for record in result.tool_results] == ["Weather of Rome", "Looks at Nice"]
    assert tool(forecast).summary_of({"city": "Rome"}) == "forecast(city=Rome)"


def test_a_summary_that_fails_ends_nothing() -> None:
    summaries: list[Any] = ["{city[0][0][a]}", lambda given: 1 / 0, "{city:d}"]  # pyright: ignore[reportUnknownLambdaType]
    for summary in summaries:
        assert tool(forecast, summary=summary).summary_of({"city": "x" * 100}) == f"forecast(city={'x' * 60}...)"
    assert tool(forecast, summary="{city}").summary_of(None) == "forecast()"
    with pytest.raises(ToolDefinitionError, match="summary must be a text or a function"):
        untyped(forecast, summary=3)


# What is no tool


class Station:
    def plain(self, city: str) -> str:
        return city

    @tool
    def lacks(city: str) -> str:  # pyright: ignore  # the point of the test
        return city

    def __call__(self, city: str) -> str:
        return f"called with {city}"


class Everything:
    """It has whatever it is asked for, like a remote proxy."""

    def __getattr__(self, name: str) -> Any:
        return self

    def __call__(self, city: str) -> str:
        return city


class NotThereYet:
    @property
    def __wrapped__(self) -> Any:
        raise RuntimeError("not connected")

    def __call__(self, city: str) -> str:
        return city


def around_itself(city: str) -> str:
    return city


vars(around_itself)["__wrapped__"] = around_itself


@singledispatch
def dispatched(value: int) -> int:
    return value


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (Station, r"Station is a class; give a method of one of its objects"),
        (Everything(), "Everything has an endless chain of `__wrapped__`|not a tool: Everything; give a function"),
        (around_itself, "around_itself has an endless chain of `__wrapped__`"),
        (NotThereYet(), "its signature cannot be read .RuntimeError: not connected.; wrap it in a function"),
        (dispatched, "dispatched is dispatched by the type of its first argument.*wrap it in a function"),
        (Station.plain, r"Station\.plain is a method without its object: give Station\(\.\.\.\)\.plain"),
    ],
)
def test_what_cannot_be_a_tool_is_refused_at_once(given: Any, told: str) -> None:
    entrances: list[Callable[[Any], object]] = [untyped, as_tool, lambda one: Orchestrator(FakeModel("x"), [one]), _registered]
    for enter in entrances:
        with pytest.raises(ToolDefinitionError, match=told):
            enter(given)


def _registered(given: object) -> ToolRegistry:
    return ToolRegistry([given])


def test_a_method_without_self_is_refused_where_it_is_given() -> None:
    looks: list[Callable[[], object]] = [lambda: Station().lacks, lambda: as_tool(Station.lacks)]
    for look in looks:
        with pytest.raises(ToolDefinitionError, match=r"'lacks' is a method without `self`.*@staticmethod above @tool"):
            look()


def test_a_callable_object_is_a_tool_in_a_list_too() -> None:
    fake = FakeModel().tool_call("Station", {"city": "Rome"}).text("done")
    assert Orchestrator(fake, [Station()]).run_sync("?").tool_results[0].value == "called with Rome"


# Keywords that are asked for at run time


async def later() -> list[str]:
    return ["a"]


@pytest.mark.parametrize(
    ("keyword", "told"),
    [
        (lambda: 1 / 0, r"properties\.city\.enum: <lambda>\(\) failed with ZeroDivisionError: division by zero"),
        (later, r"city\.enum: later\(\) is async"),
        (lambda: later(), r"city\.enum: .* gave an awaitable"),
        (lambda: {"a"}, r"city\.enum: .* gave set, which is no JSON; return a list"),
        (lambda: "a", r"city\.enum: must be a list of values"),
    ],
)
def test_a_dynamic_keyword_that_gives_nothing_usable_is_named(keyword: Any, told: str) -> None:
    with pytest.raises(ToolDefinitionError, match=f"(?s)tool 'forecast': parameters.*{told}"):
        Orchestrator(FakeModel("x"), [tool(forecast, params={"city": {"type": "string", "enum": keyword}})])


@pytest.mark.parametrize(
    "keyword", [lambda given: [given], later, lambda *, town: [town]], ids=["one too many", "async", "by name"]
)
def test_a_dynamic_keyword_that_cannot_be_asked_is_told_where_the_tool_is_made(keyword: Any) -> None:
    with pytest.raises(
        ToolDefinitionError, match=r"tool 'forecast': parameters\.properties\.city\.anyOf\[0\]\.enum:? .*is (called|async)"
    ):
        tool(forecast, params={"city": {"anyOf": [{"type": "string", "enum": keyword}]}})


@pytest.mark.parametrize("keyword", [lambda: ["a"], lambda self, more: [more]], ids=["nothing", "more"])
def test_a_methods_dynamic_keyword_is_asked_with_the_object(keyword: Any) -> None:
    with pytest.raises(ToolDefinitionError, match=r"enum is called with the object, and cannot be the function <lambda>"):

        class _Station:  # pyright: ignore[reportUnusedClass]
            @tool(params={"city": {"type": "string", "enum": keyword}})
            def forecast(self, city: str) -> str:
                return city


# Misspelt keys


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"name": "c", "parmeters": OBJECT}, "'c' has no key 'parmeters'; did you mean 'parameters'"),
        ({"type": "function", "function": {"name": "c", "params": OBJECT}}, "'c' has no key 'params'; did you mean 'parameters'"),
        ({"name": "c", "desciption": "x", "parameters": OBJECT}, "did you mean 'description'"),
    ],
)
def test_a_key_that_is_nearly_one_that_is_read_is_told(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ToolDefinitionError, match=told):
        Orchestrator(FakeModel("x"), [given])


def test_keys_of_the_providers_own_pass() -> None:
    search = {"name": "search", "input_schema": OBJECT, "defer_loading": True, "cache_control": {"type": "ephemeral"}}
    remote = {
        "name": "n",
        "inputSchema": OBJECT,
        "annotations": {"readOnlyHint": True},
        "_meta": {},
        "outputSchema": {},
        "title": "N",
    }
    made = [as_tool(one) for one in (search, remote)]
    assert [(one.name, one.options.read_only) for one in made] == [("search", False), ("n", True)]


@pytest.mark.parametrize(
    ("given", "way"),
    [
        ({"type": "web_search"}, "allow_web_search=True"),
        ({"type": "web_search_20250305", "name": "web_search", "max_uses": 3}, "allow_web_search=True"),
        ({"googleSearch": {}}, "allow_web_search=True"),
        ({"type": "code_interpreter", "container": {"type": "auto"}}, "extra_body={'tools': [...]}"),
        ({"type": "file_search", "vector_store_ids": ["v"]}, "extra_body={'tools': [...]}"),
        ({"type": "bash_20250124", "name": "bash"}, "extra_body={'tools': [...]}"),
        ({"type": "mcp", "server_label": "s", "server_url": "u"}, "extra_body={'tools': [...]}"),
        ({"codeExecution": {}}, "extra_body={'tools': [...]}"),
        ({"type": "custom", "name": "sql"}, "one parameter of type string"),
        ({"type": "custom", "custom": {"name": "sql", "format": {"type": "text"}}}, "one parameter of type string"),
    ],
)
def test_a_tool_that_a_provider_has_built_in_is_no_function_that_takes_nothing(given: dict[str, Any], way: str) -> None:
    with pytest.raises(ToolDefinitionError) as caught:
        Orchestrator(FakeModel("x"), [given])
    assert way in str(caught.value)


@pytest.mark.parametrize(
    "given",
    [
        {"name": "now"},
        {"type": "function", "function": {"name": "now"}},
        {"type": "custom", "name": "now", "input_schema": OBJECT},
        {"type": "tool", "name": "now", "parameters": OBJECT},
        {"toolSpec": {"name": "now", "inputSchema": {"json": OBJECT}}},
    ],
)
def test_a_function_that_takes_nothing_is_one(given: dict[str, Any]) -> None:
    assert as_tool(given).name == "now"


# Defaults that are declared


def places_of(shelf: Any) -> int:
    return shelf.places  # type: ignore[no-any-return]


class Shelf:
    places = 3

    @tool(params={"n": {"type": "integer", "default": places_of}}, required=[])
    def put(self, n: int) -> str:
        return f"{n}"


def told_defaults() -> dict[str, Any]:
    return {"b": {"type": "integer", "default": 7}, "c": {"type": "array", "default": []}, "d": {"type": "string"}}


def test_what_is_left_out_arrives_as_the_default_that_the_model_was_told() -> None:
    def given(a: str, b: int, c: list[int], d: str) -> str:
        c.append(1)
        return f"{a} {b} {c} {d}"

    def own(b: int = 5) -> str:
        return f"{b}"

    made = tool(given, params={"a": {"type": "string"}, **told_defaults()}, required=["a"])
    calls: list[Any] = [("given", {"a": "x"}), ("given", {"a": "y", "b": 1, "d": "z"}), ("put", {}), ("own", {})]
    fake = FakeModel().tool_calls(*calls).text("ok")
    tools = [made, Shelf().put, tool(own, params={"b": {"type": "integer", "default": 6}})]
    result = Orchestrator(fake, tools).run_sync("?")
    assert [one.content for one in result.tool_results] == ["x 7 [1] None", "y 1 [1] z", "3", "6"]
    assert made.definition.parameters["properties"]["c"]["default"] == []


def test_a_default_of_a_whole_schema_arrives_too() -> None:
    schema = {"type": "object", "properties": {"b": {"type": "integer", "default": 7}, "c": {"type": "string"}}}

    def given(b: int, c: str) -> str:
        return f"{b} {c}"

    made = Tool.from_definition(ToolDefinition(name="given", parameters=schema), given)
    result = Orchestrator(FakeModel().tool_call("given").text("ok"), [made]).run_sync("?")
    assert result.tool_results[0].content == "7 None"
