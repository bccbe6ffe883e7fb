"""Types that are texts: JSON in a text, and texts that name one thing, which stand in no quotes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel, Json

from llmcore import CallerError, FakeModel, Orchestrator, json_schema, parse, tool
from llmcore.adapters.request.schemas import transform


class Point(BaseModel):
    x: int


class Path(BaseModel):
    points: list[Point]


TYPES: list[tuple[Any, str, Any]] = [
    (Json[list[int]], "[1]", [1]),
    (Json[Point], '{"x": 1}', Point(x=1)),
    (Json[Path], '{"points": [{"x": 1}]}', Path(points=[Point(x=1)])),
    (Json[Point] | None, '{"x": 1}', Point(x=1)),
    (Json, '{"x": 1}', {"x": 1}),
]


@pytest.mark.parametrize("number", range(len(TYPES)))
def test_json_in_a_text_is_an_output_type(number: int) -> None:
    kind, text, value = TYPES[number]
    assert parse(text, kind) == value
    assert Orchestrator(FakeModel(text)).execute_sync("?", kind) == value
    call = FakeModel().tool_call("final_result", {"result": text})
    assert Orchestrator(call).execute_sync("?", kind) == value
    if number < 3:
        assert parse(json.dumps(text), kind) == value
        assert "contentSchema" in json_schema(kind)


def test_what_it_holds_is_a_schema_like_any() -> None:
    wrong = {"type": "string", "contentMediaType": "application/json", "contentSchema": {"type": "integr"}}
    with pytest.raises(CallerError, match=r"contentSchema\.type: unknown type"):
        json_schema(wrong)

    def take(path: Json[Path]) -> None: ...

    parameters = tool(take).definition.parameters
    inlined = transform(parameters, "inline_defs").schema
    assert "$ref" not in json.dumps(inlined)
    assert "contentSchema" not in json.dumps(transform(parameters, "gemini").schema)


NAMES = {
    "email": "x@y.zz",
    "idn-email": "x@y.zz",
    "hostname": "y.zz",
    "uri": "https://y.zz",
    "uri-reference": "/a",
    "uuid": "12345678-1234-5678-1234-567812345678",
    "duration": "P5D",
    "date": "2024-01-02",
    "ipv4": "1.2.3.4",
    "path": "a/b",
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("quote", ['"', "'", "`", ""])
def test_quotes_are_no_part_of_a_text_that_names_one_thing(name: str, quote: str) -> None:
    schema = {"type": "string", "format": name}
    said = f"{quote}{NAMES[name]}{quote}"
    assert parse(said, schema) == NAMES[name]
    assert parse(said, {"anyOf": [schema, {"type": "null"}]}) == NAMES[name]
    assert parse(json.dumps({"result": NAMES[name]}), {"type": "object", "properties": {"result": schema}}) == {
        "result": NAMES[name]
    }


@pytest.mark.parametrize("schema", [{}, {"format": "password"}, {"format": "markdown"}, {"minLength": 1}])
def test_they_are_part_of_any_other_text(schema: dict[str, Any]) -> None:
    assert parse('"x"', {"type": "string", **schema}) == '"x"'


def test_a_local_part_may_be_quoted() -> None:
    assert parse('"a"@y.zz', {"type": "string", "format": "email"}) == '"a"@y.zz'
