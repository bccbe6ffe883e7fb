"""`@tool` on functions and methods, with and without options."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from llmcore import FakeModel, Orchestrator
from llmcore.tools import Tool, as_tool, tool
from llmcore.types import ToolDefinitionError


class Query(BaseModel):
    text: str
    limit: int = 10


def tables_of(shop: Map) -> list[str]:
    return shop.tables


def count_of(shop: Map) -> list[int]:
    return [len(shop.tables)]


class Map:
    def __init__(self, tables: list[str]) -> None:
        self.tables = tables

    @tool(
        name="add_layer",
        params={
            "table": {"type": "string", "enum": tables_of},
            "filters": {"type": "array", "items": {"type": "object"}},
            "nested": {"type": "object", "properties": {"of": {"enum": count_of}}},
        },
        required=["table"],
    )
    def add(self, table: str, filters: list[dict[str, Any]], nested: dict[str, Any]) -> tuple[Any, ...]:
        return self.tables, table, filters, nested

    @tool
    async def remove(self, table: str) -> bool:
        """Remove it."""
        return table in self.tables

    @staticmethod
    @tool
    def version(major: int) -> str:
        return f"{major}.0"


def test_a_decorated_function_stays_callable() -> None:
    @tool
    def double(n: int) -> int:
        """Twice."""
        return 2 * n

    @tool(name="thrice", description="Three times.", read_only=True, tags=["maths"], version="2", strict=False)
    def triple(n: int) -> int:
        return 3 * n

    assert (double(4), triple(4)) == (8, 12)
    definition = triple.definition
    assert (definition.name, definition.description, definition.read_only) == ("thrice", "Three times.", True)
    assert (definition.tags, definition.version, definition.strict) == (["maths"], "2", False)
    assert isinstance(double, Tool)


def test_methods_are_bound_to_their_instance() -> None:
    paris, rome = Map(["roads"]), Map(["rivers", "lakes"])
    assert paris.add("roads", [], {}) == (["roads"], "roads", [], {})
    assert rome.add.definition.parameters["properties"]["table"] == {"type": "string", "enum": ["rivers", "lakes"]}
    assert paris.remove.definition.parameters["required"] == ["table"]
    assert list(as_tool(Map.version).definition.parameters["properties"]) == ["major"]


def test_dynamic_keywords_are_asked_anew_at_any_depth() -> None:
    shop = Map(["a"])
    bound = shop.add
    shop.tables = ["b", "c"]
    properties = bound.definition.parameters["properties"]
    assert properties["table"]["enum"] == ["b", "c"]
    assert properties["nested"]["properties"]["of"]["enum"] == [2]


def test_what_is_declared_not_required_and_left_out_arrives_as_none() -> None:
    assert Map(["a"]).add.keywords({"table": "a"}) == {"table": "a", "filters": None, "nested": None}


def test_a_method_without_its_object_is_an_error_that_says_so() -> None:
    with pytest.raises(ToolDefinitionError, match=r"instance\.add_layer"):
        as_tool(Map.add)
    with pytest.raises(ToolDefinitionError, match="needs the instance"):
        _ = Map.add.definition


def test_what_params_does_not_name_stays_as_the_signature_has_it() -> None:
    @tool(params={"table": {"enum": ["a"]}})
    def read(table: str, column: str, limit: int = 5) -> str:
        return f"{table}.{column} {limit}"

    schema = read.definition.parameters
    assert schema["properties"] == {
        "table": {"type": "string", "enum": ["a"]},
        "column": {"type": "string"},
        "limit": {"type": "integer", "default": 5},
    }
    assert schema["required"] == ["table", "column"]
    assert tool(read, required=["table"]).definition.parameters["required"] == ["table", "column"]
    model = FakeModel().tool_call("read", {"table": "a", "column": "b", "limit": 50}).text("ok")
    assert Orchestrator(model, [read]).run_sync("x").tool_results[0].value == "a.b 50"


def test_fragments_lay_over_what_the_signature_says() -> None:
    @tool(params={"city": {"description": "where", "enum": ["Rome"]}, "days": {"type": "string"}})
    def forecast(city: str, days: int = 1) -> None: ...

    assert forecast.definition.parameters == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "where", "enum": ["Rome"]},
            "days": {"type": "string"},
        },
        "required": ["city"],
        "additionalProperties": False,
    }


def test_a_type_as_params_is_the_one_argument() -> None:
    @tool(params=Query)
    def search(query: Query) -> str:
        return query.text

    assert search.definition.parameters["required"] == ["text"]
    assert search.keywords({"text": "x"}) == {"query": Query(text="x")}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"params": {"town": {"type": "string"}, "city": {}}}, r"declares \['town'\]"),
        ({"params": {"city": {}}, "required": ["town"]}, r"required names \['town'\]"),
        ({"params": int}, "type with fields"),
    ],
)
def test_options_that_do_not_fit_the_function_are_errors(options: dict[str, Any], message: str) -> None:
    def forecast(city: str) -> None: ...

    with pytest.raises(ToolDefinitionError, match=message):
        tool(**options)(forecast)


def test_a_preprocess_function_may_supply_what_the_model_does_not() -> None:
    @tool(params={"city": {"type": "string"}}, preprocess=lambda given: {**given, "engine": "e"})
    def forecast(city: str, engine: str) -> str:
        return city + engine

    assert list(forecast.definition.parameters["properties"]) == ["city"]


class Shop:
    def method(self, given: Any) -> Any:
        return given


def of_nothing() -> None: ...


def of_three(first: Any, second: Any, third: Any) -> None: ...


async def of_one_later(given: Any) -> str:
    return ""


OF_ARGUMENTS = ("preprocess", "postprocess", "summary", "requires_approval")
WRONG_OPTIONS: list[tuple[str, Any, str]] = [
    *(("retries", value, "whole number of at least 0") for value in ("5", -1, 1.5, True, float("nan"))),
    *(("timeout", value, "finite number of seconds above 0") for value in ("5", -1, 0, float("nan"), float("inf"), True)),
    *((name, 3, "a text.*, not 3") for name in ("name", "description", "version")),
    *((name, "x", "must be .* not 'x'") for name in ("params", "required", "preprocess", "postprocess", "examples", "tags")),
    *((name, "yes", "True") for name in ("read_only", "strict")),
    ("nme", "f", "did you mean 'name'"),
    *((name, of_nothing, r"must be .*, not the function of_nothing\(\)") for name in OF_ARGUMENTS),
    *((name, of_three, r"not the function of_three\(first, second, third\)") for name in OF_ARGUMENTS),
    *((name, Shop.method, r"not the function method\(self, given\)") for name in OF_ARGUMENTS),
    ("summary", of_one_later, "not async, not the async function of_one_later"),
]


@pytest.mark.parametrize(("option", "value", "told"), WRONG_OPTIONS)
def test_wrong_options_are_refused_where_the_tool_is_defined(option: str, value: Any, told: str) -> None:
    options: Any = {option: value}
    with pytest.raises(ToolDefinitionError, match=told) as caught:
        tool(**options)
    assert option in str(caught.value)
    with pytest.raises(ToolDefinitionError, match=told):
        tool(tables_of, **options)


def test_what_is_no_function_is_no_tool() -> None:
    nothing: Any = "weather"
    with pytest.raises(ToolDefinitionError, match=r"options by name as in @tool\(name=...\), not 'weather'"):
        tool(nothing)
