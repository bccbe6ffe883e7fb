"""A key that the type of a tool's parameter ignores is recorded in the run's repairs."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from llmcore import FakeModel, Orchestrator, tool

pytestmark = pytest.mark.anyio


class City(BaseModel):
    name: str


class Open(City):
    model_config = ConfigDict(extra="allow")


@tool
def put(city: City) -> str:
    """Put."""
    return city.name


@tool
def put_all(cities: list[City]) -> str:
    """Put."""
    return str(len(cities))


@tool(params=City)
def put_params(city: City) -> str:
    """Put."""
    return city.name


@tool
async def put_open(city: Open) -> str:
    """Put."""
    return city.name


@pytest.mark.parametrize(
    ("given", "arguments", "dropped"),
    [
        (put, {"city": {"name": "Oslo", "size": 7}}, [("city.size", 7)]),
        (put_all, {"cities": [{"name": "Oslo"}, {"name": "Rome", "size": None}]}, [("cities[1].size", None)]),
        (put_params, {"name": "Oslo", "size": 7}, [("size", 7)]),
        (put_open, {"city": {"name": "Oslo", "size": 7}}, []),
        (put, {"city": {"name": "Oslo"}}, []),
    ],
)
async def test_a_key_that_a_tool_does_not_get_is_recorded(given: Any, arguments: dict[str, Any], dropped: list[Any]) -> None:
    fake = FakeModel().tool_call(given.name, arguments).text("Done.")
    result = await Orchestrator(fake, [given]).run("Put it.")
    assert result.tool_results[0].error is None
    found = [one for one in result.repairs if one.repair.kind == "dropped_key"]
    assert [(one.repair.path, one.repair.before) for one in found] == dropped
    assert all((one.of, one.call_id) == ("call", result.tool_results[0].id) for one in found)
