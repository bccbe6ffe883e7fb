"""What stands in an annotation beside the type describes the parameter; what a tool needs of a signature, and what it does not."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, NotRequired

import annotated_doc
import pytest
from pydantic import AfterValidator, BaseModel, Field
from typing_extensions import Doc, TypedDict

from llmcore import FakeModel, Orchestrator, json_schema, tool
from llmcore.tools import Tool, as_tool
from llmcore.types import ToolDefinitionError

if TYPE_CHECKING:
    from nowhere import Missing  # type: ignore[import-not-found]

TEXT = "How many."


class Model(BaseModel):
    count: Annotated[int, TEXT]
    aliased: Annotated[int, Doc(TEXT)] = Field(1, alias="other-name")
    told: Annotated[int, "not this", Field(description="this")] = 1


@dataclass
class Data:
    count: Annotated[int, Doc(TEXT)]


class Keys(TypedDict):
    count: Annotated[int, TEXT]
    inner: NotRequired[Annotated[Data, "Inner."]]


def of_text(count: Annotated[int, TEXT]) -> None: ...


def of_doc(count: Annotated[int, Doc(TEXT)]) -> None: ...


def of_other_doc(count: Annotated[int, annotated_doc.Doc(TEXT)]) -> None: ...


def beside_others(count: Annotated[int, object(), Field(ge=1), TEXT, "another"] = 2) -> None: ...


def with_a_docstring(count: Annotated[int, TEXT]) -> None:
    """Count.

    Args:
        count: not this
    """


@pytest.mark.parametrize("function", [of_text, of_doc, of_other_doc, beside_others, with_a_docstring])
def test_a_text_beside_the_type_describes_the_parameter(function: Any) -> None:
    assert as_tool(function).definition.parameters["properties"]["count"]["description"] == TEXT


def or_none(count: Annotated[int | None, TEXT] = None) -> None: ...
def none_by_default(count: Annotated[int, Doc(TEXT)] = None) -> None: ...  # type: ignore[assignment]  # noqa: RUF013
def field_or_none(count: Annotated[int | None, Field(description=TEXT)] = None) -> None: ...
def of_a_field(count: Annotated[int | None, TEXT] = Field(None)) -> None: ...
def inside_of_a_union(count: Annotated[int, TEXT] | None = None) -> None: ...


@pytest.mark.parametrize("function", [or_none, none_by_default, field_or_none, of_a_field, inside_of_a_union])
@pytest.mark.parametrize("docstring", [None, "Count.\n\nArgs:\n    count: not this\n"])
def test_a_text_beside_a_type_that_may_be_null_describes_the_parameter(function: Any, docstring: str | None) -> None:
    def look() -> None: ...

    look.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    look.__annotations__, look.__doc__ = function.__annotations__, docstring
    assert as_tool(look).definition.parameters["properties"]["count"] == {
        "anyOf": [{"type": "integer"}, {"type": "null"}],
        "default": None,
        "description": TEXT,
    }


def test_what_checks_a_value_is_not_asked_of_a_null_by_default() -> None:
    def look(count: Annotated[int, AfterValidator(lambda count: count + 1)] = None) -> None: ...  # type: ignore[assignment]  # noqa: RUF013

    assert as_tool(look).keywords({"count": None}) == {"count": None}
    assert as_tool(look).keywords({"count": 1}) == {"count": 2}


def test_a_text_deeper_in_the_annotation_is_told_there() -> None:
    def look(names: list[Annotated[str, "A name."]], n: Annotated[int, TEXT] | None = None) -> None: ...

    parts = as_tool(look).definition.parameters["properties"]
    assert parts["names"]["items"]["description"] == "A name."
    assert TEXT in str(parts["n"])


class Items(NamedTuple):
    number: Annotated[int, TEXT]
    other: Annotated[int | None, Doc(TEXT)] = None
    told: Annotated[int, "not this", Field(description="this")] = 1
    bare: int = 1


def test_a_text_beside_the_type_describes_an_item_of_a_named_tuple() -> None:
    def look(items: Items) -> None: ...

    for schema in (json_schema(Items), as_tool(look).definition.parameters["$defs"]["Items"]):
        assert [item.get("description") for item in schema["prefixItems"]] == [TEXT, TEXT, "this", None]


@pytest.mark.parametrize("kind", [Model, Data, Keys])
def test_a_text_beside_a_fields_type_describes_the_field(kind: Any) -> None:
    def look(value: Any) -> None: ...

    look.__annotations__["value"] = kind
    told = [json_schema(kind), Tool(look).definition.parameters["$defs"][kind.__name__]]
    for schema in told:
        assert schema["properties"]["count"]["description"] == TEXT
        assert schema["properties"].get("other-name", {}).get("description", TEXT) == TEXT
        assert schema["properties"].get("told", {}).get("description", "this") == "this"
    if kind is Keys:
        assert "Inner." in str(told[0]["properties"]["inner"])


# What is returned


def test_a_return_annotation_that_means_nothing_is_not_asked() -> None:
    def look(city: str, days: int = 1) -> Missing:  # pyright: ignore[reportUnknownParameterType]
        return city * days

    def strange(city: str) -> None: ...

    strange.__annotations__["return"] = "no type!"
    functions: list[Any] = [look, strange]
    for function in functions:
        assert as_tool(function).definition.parameters["properties"]["city"] == {"type": "string"}
    given = Tool.from_definition({"name": "look", "parameters": as_tool(functions[0]).definition.parameters}, functions[0])
    assert given.definition.name == "look"


def test_a_parameters_annotation_that_means_nothing_is_an_error() -> None:
    def look(city: Missing) -> str:  # pyright: ignore[reportUnknownParameterType]
        return str(city)  # pyright: ignore[reportUnknownArgumentType]

    function: Any = look  # pyright: ignore[reportUnknownVariableType]
    with pytest.raises(ToolDefinitionError, match="'Missing' cannot be resolved"):
        _ = Tool(function).definition


# A type that is the one argument


class Order(BaseModel):
    item: str


def of_fields(item: str, count: int) -> None: ...
def of_one_field(item: str) -> None: ...
def of_a_list(orders: list[Order]) -> None: ...
def of_nothing() -> None: ...
def of_any_keywords(**fields: Any) -> None: ...
def of_another(keys: Keys) -> None: ...


@pytest.mark.parametrize("function", [of_fields, of_one_field, of_a_list, of_nothing, of_any_keywords, of_another])
def test_a_type_for_a_function_of_fields_is_an_error_that_names_the_fix(function: Any) -> None:
    with pytest.raises(
        ToolDefinitionError, match=rf"params=Order.*def {function.__name__}\(value: Order\)`, or leave `params` out"
    ):
        tool(function, params=Order)


def test_a_function_that_takes_the_type_under_any_annotation_is_a_tool() -> None:
    def same(order: Order) -> str:
        return order.item

    def base(order: BaseModel) -> str:
        return str(getattr(order, "item"))  # noqa: B009

    def optional(order: Order | None = None) -> str:
        return "" if order is None else order.item

    def annotated(order: Annotated[Order, "It."]) -> str:
        return order.item

    def bare(order) -> str:  # type: ignore[no-untyped-def]  # as people write it
        return str(order.item)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]

    functions: list[Any] = [same, base, optional, annotated, bare]
    for function in functions:
        model = FakeModel().tool_call(function.__name__, {"item": "tea"}).text("Done.")
        assert Orchestrator(model, [tool(function, params=Order)]).run_sync("?").tool_results[0].value == "tea"

    def keys(order: dict[str, Any]) -> str:
        return str(order["count"])

    assert tool(keys, params=Keys).keywords({"count": 1}) == {"order": {"count": 1}}
