"""A schema that is too deep, too large or holds itself is refused at once, wherever it is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import llmcore
from llmcore.types import CallerError, ToolDefinition, ToolDefinitionError, ToolSet


def deep(levels: int, keyword: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(levels):
        schema = {"allOf": [schema]} if keyword == "allOf" else {"type": "object", "properties": {"x": schema}}
    return schema


def cyclic() -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    schema["properties"]["me"] = schema
    return schema


def of_tuples(levels: int) -> dict[str, Any]:
    value: Any = 1
    for _ in range(levels):
        value = (value,)
    return {"type": "object", "properties": {"x": {"enum": [value]}}}


def shared(levels: int) -> dict[str, Any]:
    """Small in memory, of 2**levels values when written out."""
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"x": schema, "y": schema}}
    return schema


HOSTILE = {
    "1,000 properties deep": deep(1_000, "properties"),
    "10,000 properties deep": deep(10_000, "properties"),
    "1,000 allOf deep": deep(1_000, "allOf"),
    "3,000 tuples deep": of_tuples(3_000),
    "a cycle": cyclic(),
    "doubling": shared(60),
}
USES: dict[str, Callable[[dict[str, Any]], object]] = {
    "ToolSet": lambda schema: ToolSet([ToolDefinition(name="f", parameters=schema)]),
    "normalize": lambda schema: llmcore.normalize("x", [{"name": "f", "parameters": schema}]),
    "validate": lambda schema: llmcore.validate(llmcore.normalize("x"), [{"name": "f", "parameters": schema}]),
    "orchestrator": lambda schema: llmcore.Orchestrator(llmcore.FakeModel("x"), [{"name": "f", "parameters": schema}]).run_sync(
        "x"
    ),
}


@pytest.mark.parametrize("schema", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_hostile_tool_schema_is_refused_with_the_fix(use: Callable[[dict[str, Any]], object], schema: dict[str, Any]) -> None:
    with pytest.raises(ToolDefinitionError, match=r"\$defs"):
        use(schema)


@pytest.mark.parametrize("schema", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_output_schema_is_the_callers_error(schema: dict[str, Any]) -> None:
    with pytest.raises(CallerError, match=r"output_type.*\$defs"):
        llmcore.parse("{}", schema)


def test_a_long_chain_of_references_works_or_is_refused() -> None:
    chain = {f"d{n}": {"type": "object", "properties": {"x": {"$ref": f"#/$defs/d{n + 1}"}}} for n in range(1_000)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**chain, "d1000": {"type": "object"}}}
    assert llmcore.parse('{"x": {"x": {}}}', schema) == {"x": {"x": {}}}
    links = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(1_000)}
    with pytest.raises(CallerError, match=r"more than 128 \$ref"):
        llmcore.parse("{}", {"$ref": "#/$defs/d0", "$defs": {**links, "d1000": {"type": "object"}}})


def test_a_deep_but_bearable_schema_works() -> None:
    schema = deep(60, "properties")
    assert ToolSet([ToolDefinition(name="f", parameters=schema)]).names == {"f"}
    assert llmcore.parse('{"x": {"x": {}}}', schema) == {"x": {"x": {}}}
