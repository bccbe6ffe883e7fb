"""What a type says that JSON has no form for is left out of its JSON Schema."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from llmcore import FakeModel, Orchestrator, json_schema, parse
from llmcore.tools import as_tool


class Query(BaseModel):
    words: str
    most: float = math.inf
    least: Annotated[float, Field(ge=-math.inf, le=math.inf, examples=[1.5, math.nan])] = math.nan
    many: list[float] = [1.0, math.inf]
    near: dict[str, Any] = Field(default={"at": [math.inf]}, description="where")


@dataclasses.dataclass
class Held:
    words: str
    most: float = math.inf


class Row(TypedDict):
    query: Query


@pytest.mark.parametrize("kind", [Query, Held, Row, list[Query], Query | None])
def test_a_type_with_infinity_in_it_can_be_asked_for(kind: Any) -> None:
    text = json.dumps(json_schema(kind), allow_nan=False)
    assert '"default"' not in text
    assert '"maximum"' not in text


def test_values_have_the_defaults_that_no_schema_tells() -> None:
    found = Orchestrator(FakeModel('{"words": "x"}')).execute_sync("?", Query)
    assert (found.most, found.many[1], math.isnan(found.least)) == (math.inf, math.inf, True)
    assert json_schema(Query)["properties"]["least"]["examples"] == [1.5]
    assert json_schema(Query)["properties"]["near"]["description"] == "where"
    assert parse('{"words": "x", "most": 2.5}', Held) == Held("x", 2.5)


def test_a_tool_with_infinity_as_a_default_is_offered() -> None:
    def search(
        words: str, most: float = math.inf, least: float = Field(-math.inf, lt=math.inf), *, near: Any = (math.nan,)
    ) -> str:
        """Search."""
        return f"{words} {least} {most} {near}"

    parameters = as_tool(search).definition.parameters
    assert parameters["properties"]["most"] == parameters["properties"]["least"] == {"type": "number"}
    assert parameters["required"] == ["words"]
    model = FakeModel().tool_call("search", {"words": "x"}).text("done")
    assert Orchestrator(model, [search]).run_sync("?").tool_results[0].content == "x -inf inf (nan,)"
