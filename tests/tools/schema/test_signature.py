"""Schemas from signatures, and arguments back as the annotated types."""

from __future__ import annotations

import functools
import sys
import typing
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from llmcore import FakeModel, Orchestrator, json_schema
from llmcore.tools import RunContext, Tool, as_tool, tool
from llmcore.tools.schema.signature import ArgumentsError
from llmcore.types import CallerError, ToolDefinitionError, ToolSet

_SELF: Any = vars(typing)["Self"]  # to checkers it is no value


class Place(BaseModel):
    city: str
    country: str = "France"


@dataclass
class Range:
    low: float
    high: float


def parameters(function: Any) -> dict[str, Any]:
    return as_tool(function).definition.parameters


def test_types_defaults_and_field_constraints_become_the_schema() -> None:
    def search(
        query: str,
        kind: Literal["news", "web"] = "web",
        limit: Annotated[int, Field(ge=1, description="how many")] = 5,
        tags: list[str] | None = None,
        **extra: Any,
    ) -> None: ...

    schema = parameters(search)
    assert schema["properties"]["query"] == {"type": "string"}
    assert schema["properties"]["kind"] == {"enum": ["news", "web"], "type": "string", "default": "web"}
    assert schema["properties"]["limit"] == {"type": "integer", "minimum": 1, "description": "how many", "default": 5}
    assert schema["required"] == ["query"]
    assert schema["additionalProperties"] is True


@pytest.mark.parametrize(
    ("docstring", "described"),
    [
        (
            "Find it.\n\nArgs:\n    city: Where to\n        look.\n    days: How long.\n\nReturns:\n    words",
            "Find it.\n\nReturns:\n    words",
        ),
        ("Find it.\n\nParameters\n----------\ncity : str\n    Where to look.\ndays\n    How long.\n", "Find it."),
        ("Find it.\n\n:param city: Where to look.\n:param int days: How long.\n:returns: words", "Find it.\n\n:returns: words"),
    ],
    ids=["google", "numpy", "sphinx"],
)
def test_docstrings_describe_the_tool_and_its_parameters(
    docstring: str, described: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def forecast(city: str, days: int = 1) -> str:
        return city * days

    forecast.__doc__ = docstring
    definition = Tool(forecast).definition
    assert definition.description == described
    assert definition.parameters["properties"]["city"]["description"] == "Where to look."
    assert definition.parameters["properties"]["days"]["description"] == "How long."
    assert capsys.readouterr().err == ""


def test_a_description_in_the_annotation_wins_over_the_docstring() -> None:
    def find(city: Annotated[str, Field(description="annotated")]) -> None:
        """Find.

        Args:
            city: documented
        """

    assert parameters(find)["properties"]["city"]["description"] == "annotated"


def test_arguments_arrive_as_the_annotated_types() -> None:
    def plan(place: Place, span: Range, day: date, *, pair: tuple[int, int] = (0, 0)) -> None: ...

    given = {"place": {"city": "Nice"}, "span": {"low": 1, "high": 2}, "day": "2026-03-01", "pair": [1, 2]}
    assert as_tool(plan).keywords(given) == {
        "place": Place(city="Nice"),
        "span": Range(1.0, 2.0),
        "day": date(2026, 3, 1),
        "pair": (1, 2),
    }


def test_what_the_model_leaves_out_is_left_to_the_functions_own_default() -> None:
    def greet(name: str, greeting: str = "hello", n: int = Field(3, ge=1)) -> None: ...

    # A `Field` default is no value the function could use, so that one is passed.
    assert as_tool(greet).keywords({"name": "Ann"}) == {"name": "Ann", "n": 3}


def test_parameter_names_that_are_bad_field_names_are_fine() -> None:
    def odd(schema: str, json: int, _hidden: bool, model_config: str = "x") -> None: ...

    assert list(parameters(odd)["properties"]) == ["schema", "json", "_hidden", "model_config"]
    given = {"schema": "s", "json": 1, "_hidden": True}
    assert as_tool(odd).keywords(given) == given


def test_a_default_of_none_admits_null() -> None:
    def find(city: str = None) -> None: ...  # type: ignore[assignment]  # noqa: RUF013  # as people write it

    assert parameters(find)["properties"]["city"]["anyOf"] == [{"type": "string"}, {"type": "null"}]


def test_unannotated_parameters_take_anything() -> None:
    def loose(a, b=2):  # type: ignore[no-untyped-def]  # pyright: ignore  # the point of the test
        return a, b  # pyright: ignore[reportUnknownVariableType]  # likewise

    assert parameters(loose)["properties"] == {"a": {}, "b": {"default": 2}}


def test_the_run_context_is_hidden() -> None:
    def whoami(context: RunContext[str], name: str) -> None: ...

    def also(name: str, context: RunContext[Any] | None = None) -> None: ...

    assert list(parameters(whoami)["properties"]) == list(parameters(also)["properties"]) == ["name"]
    assert as_tool(whoami).context_parameter == as_tool(also).context_parameter == "context"


def positional_only(city: str, /) -> None: ...


def variadic(*cities: str) -> None: ...


def untranslatable(callback: type[object] | Any, where: memoryview) -> None: ...


NAMELESS: Any = lambda: 1  # noqa: E731  (a tool without a name)


def two_contexts(a: RunContext[Any], b: RunContext[Any]) -> None: ...


@pytest.mark.parametrize(
    ("function", "named", "fix"),
    [
        (positional_only, "city", "remove the '/'"),
        (variadic, "*cities", "list"),
        (untranslatable, "where", "annotate"),
        (two_contexts, "two RunContext", "keep one"),
        (NAMELESS, "<lambda>", "name="),
    ],
)
def test_unusable_signatures_are_errors_at_once_that_name_the_fix(function: Any, named: str, fix: str) -> None:
    with pytest.raises(ToolDefinitionError) as caught:
        tool(function)
    assert named in str(caught.value)
    assert fix in str(caught.value)


def test_an_annotation_defined_later_is_resolved_on_first_use() -> None:
    namespace: dict[str, Any] = {}

    def early(x: Later) -> None: ...  # type: ignore[name-defined]  # noqa: F821  # pyright: ignore

    untyped: Any = early  # pyright: ignore[reportUnknownVariableType]  # likewise
    made: Tool = tool(untyped)
    with pytest.raises(ToolDefinitionError, match="'Later' cannot be resolved"):
        _ = made.definition
    globals()["Later"] = Place
    try:
        assert made.definition.parameters["required"] == ["x"]
    finally:
        del globals()["Later"], namespace


def test_types_local_to_the_function_that_defines_the_tool_are_found() -> None:
    class Local(BaseModel):
        n: int

    def use(value: Local) -> int:
        return value.n

    assert as_tool(use).keywords({"value": {"n": 1}}) == {"value": Local(n=1)}


def test_bound_methods_and_partials_are_tools() -> None:
    class Shop:
        def price(self, item: str) -> float:
            """What it costs."""
            return len(item)

    def scale(value: float, factor: float) -> float:
        """Scale it."""
        return value * factor

    definitions = {d.name: d for d in ToolSet([Shop().price, functools.partial(scale, factor=2.0)])}
    assert definitions["price"].description == "What it costs."
    assert list(definitions["price"].parameters["properties"]) == ["item"]
    assert definitions["scale"].description == "Scale it."
    assert definitions["scale"].parameters["required"] == ["value"]


# Defaults


def test_field_defaults_of_every_form_are_passed_and_shared_by_no_two_calls() -> None:
    def collect(
        a: list[int] = Field(default_factory=list),  # noqa: B008  # as people write it
        b: Annotated[list[int], Field(default_factory=list)] = Field(description="more"),  # noqa: B008
        c: int = Field(default=3, description="a number"),
        d: str | None = Field(None),
        e: dict[str, int] = {"x": 1},  # noqa: B006  # the point of the test
    ) -> None: ...

    made = as_tool(collect)
    assert "required" not in made.definition.parameters
    assert made.definition.parameters["properties"]["c"] == {"type": "integer", "default": 3, "description": "a number"}
    first, second = made.keywords({}), made.keywords({})
    assert first == second == {"a": [], "b": [], "c": 3, "d": None, "e": {"x": 1}}
    for name in ("a", "b", "e"):
        assert first[name] is not second[name]
    assert first["e"] is not collect.__defaults__[-1]  # type: ignore[index]  # pyright: ignore[reportOptionalSubscript]


def test_a_factory_in_the_annotation_makes_the_parameter_optional() -> None:
    def collect(tags: Annotated[list[str], Field(default_factory=list)]) -> list[str]:
        return tags

    fake = FakeModel().tool_call("collect", {}).text("done")
    assert Orchestrator(fake, [collect]).run_sync("?").tool_results[0].value == []


@pytest.mark.parametrize(
    "hint",
    [
        *(typing.ClassVar, typing.ClassVar[int], _SELF, type, type[int], typing.Type[int]),  # noqa: UP006  (as users write it)
        *(list[type[int]], type[int] | None, dict[str, list[_SELF]], Annotated[type[int], Field(description="d")]),
    ],
)
def test_what_json_has_no_value_for_is_refused_with_the_parameter(hint: Any) -> None:
    def work(given: Any, **more: Any) -> Any:
        return given, more

    for name in ("given", "more"):
        work.__annotations__ = {name: hint}
        with pytest.raises(ToolDefinitionError, match=f"parameter '{name}' has type .*annotate it with the type of the value"):
            Tool(work)
    with pytest.raises(CallerError, match="cannot be used"):
        json_schema(hint)


# Keywords


class Filters(typing.TypedDict, total=False):
    kind: typing.Required[Literal["news", "web"]]
    limit: int


class Paged(Filters, total=False):
    page: int | None
    size: Annotated[int, Field(default=5)]
    tags: Annotated[list[str], Field(default_factory=list)]


def test_keywords_of_one_type_are_checked() -> None:
    def tally(**counts: int) -> dict[str, int]:
        return counts

    made = as_tool(tally)
    assert made.definition.parameters["additionalProperties"] == {"type": "integer"}
    assert made.keywords({"a": 1}) == {"a": 1}
    with pytest.raises(ArgumentsError, match="q"):
        made.keywords({"q": "many"})


def test_keywords_of_a_typed_dict_are_parameters() -> None:
    def search(query: str, **filters: typing.Unpack[Paged]) -> Any:
        return query, filters

    made = as_tool(search)
    assert made.definition.parameters["required"] == ["query", "kind"]
    assert made.definition.parameters["properties"]["limit"]["type"] == "integer"
    assert made.definition.parameters["additionalProperties"] is False
    told = {name: part["default"] for name, part in made.definition.parameters["properties"].items() if "default" in part}
    assert told == {"size": 5}  # what is left out does not arrive, so nothing is told
    assert made.keywords({"query": "x", "kind": "web"}) == {"query": "x", "kind": "web", "size": 5, "tags": []}
    assert made.keywords({"query": "x", "kind": "web", "page": None, "limit": 3, "size": 1})["page"] is None


# TypedDicts


class Base(typing.TypedDict):
    city: str


class Stop(Base, total=False):
    nights: int
    filters: list[Filters]


def test_a_typed_dict_of_typing_is_taken_on_every_python() -> None:
    def plan(stop: Stop, more: Annotated[list[Stop] | None, Field(description="then")] = None) -> Any: ...

    made = as_tool(plan)
    schema = made.definition.parameters
    assert schema["$defs"]["Stop"]["required"] == ["city"]
    assert schema["$defs"]["Filters"]["required"] == ["kind"]
    given = {"stop": {"city": "Nice", "filters": [{"kind": "web"}]}, "more": [{"city": "Rome", "nights": 2}]}
    assert made.keywords(given) == given
    with pytest.raises(ArgumentsError, match="nights"):
        made.keywords({"stop": {"city": "Nice", "nights": "many"}})


class Node(typing.TypedDict):
    children: list[Node]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="there pydantic takes it")
def test_one_that_cannot_be_taken_names_the_fix() -> None:
    def walk(node: Node) -> None: ...

    with pytest.raises(ToolDefinitionError, match=r"'node'.*import TypedDict from typing_extensions"):
        tool(walk)


# Docstrings, sets, bytes


def test_a_sphinx_docstring_of_untyped_fields_alone_is_read() -> None:
    def find(city: str) -> None:
        """Find it.

        :param city: Where to look.
        """

    definition = as_tool(find).definition
    assert definition.description == "Find it."
    assert definition.parameters["properties"]["city"]["description"] == "Where to look."


def test_a_set_said_with_repeats_is_taken_and_recorded() -> None:
    def mark(ids: set[int], tags: frozenset[str] = frozenset()) -> list[int]:
        return sorted(ids)

    fake = FakeModel().tool_call("mark", {"ids": [2, 1, 2]}).text("done")
    result = Orchestrator(fake, [mark]).run_sync("?")
    assert (fake.call_count, result.tool_results[0].value, result.tool_results[0].arguments) == (2, [1, 2], {"ids": [2, 1]})
    assert [(one.repair.kind, one.repair.safety) for one in result.repairs] == [("repeats_dropped", "coerced")]


@pytest.mark.parametrize(("given", "shown"), [(b"caf\xc3\xa9", "café"), (b"\xff\x00", "_wA="), ([b"a"], '["YQ=="]')])
def test_bytes_are_text_where_they_can_be(given: Any, shown: str) -> None:
    def read() -> Any:
        return given

    fake = FakeModel().tool_call("read", {}).text("done")
    assert Orchestrator(fake, [read]).run_sync("?").tool_results[0].content == shown


def test_bytes_as_a_parameter_are_the_texts() -> None:
    def write(data: bytes) -> int:
        return len(data)

    assert as_tool(write).keywords({"data": "é"}) == {"data": "é".encode()}


class Ids(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    by_id: dict[int, float] = Field(default={}, alias="byId")


def rate(scores: dict[int, float], all_ids: list[Ids] | None = None) -> None: ...


@tool(params=Ids)
def rate_all(ids: Ids) -> None: ...


@pytest.mark.parametrize(
    ("called", "given", "said"),
    [
        (rate, {"scores": {"1": 1, "01": 2}}, "scores: 2 keys of which the type makes 1: '1', '01'"),
        (rate, {"scores": {}, "all_ids": [{"byId": {"7": 1, "7.0": 2}}]}, "all_ids.0.byId: 2 keys of which the type makes 1"),
        (rate, {"scores": {}, "all_ids": [{"byId": {}, "by_id": {"7": 1}}]}, "all_ids.0: 2 keys of which the type makes 1"),
        (rate_all, {"byId": {"1": 1, "01": 2}}, "byId: 2 keys of which the type makes 1"),
        (rate_all, {"byId": {"1": 1}, "by_id": {"1": 2}}, "arguments: 2 keys of which the type makes 1: 'byId', 'by_id'"),
    ],
)
def test_keys_that_are_one_to_the_parameters_type_are_refused(called: Any, given: dict[str, Any], said: str) -> None:
    with pytest.raises(ArgumentsError) as caught:
        as_tool(called).keywords(given)
    assert said in str(caught.value)


def test_keys_that_differ_reach_the_function() -> None:
    given = {"scores": {"1": 1, "02": 2}, "all_ids": [{"byId": {"7": 1}}]}
    assert as_tool(rate).keywords(given) == {"scores": {1: 1.0, 2: 2.0}, "all_ids": [Ids(byId={7: 1.0})]}
