"""What `functools.partial` has bound is no parameter of the tool: no request tells it, and no call can give it."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

import pytest

from llmcore import FakeModel, Orchestrator, RunContext, Tool, tool
from llmcore.tools import as_tool
from llmcore.types import ToolDefinitionError

KEY = "bound-by-the-author"


def search(query: str, key: str, limit: int = 3) -> str:
    """Search.

    Args:
        query: What is looked for.
        key: Who asks.
    """
    return f"{query} {key} {limit}"


def keyed_first(key: str, query: str) -> str:
    return f"{query} {key}"


def any_keywords(query: str, **more: Any) -> str:
    return f"{query} {more}"


class More(TypedDict):
    key: str
    lang: str


def named_keywords(query: str, **more: Unpack[More]) -> str:
    return f"{query} {more['key']} {more['lang']}"


def with_context(query: str, key: str, context: RunContext[str] | None = None) -> str:
    return f"{query} {key} {context}"


def with_object(query: str, key: object) -> str:
    return f"{query} {key}"


@tool(
    examples=[{"query": "x", "key": "e"}],
    params={"query": {"description": "It."}, "key": {"description": "Who."}},
    required=["query", "key"],
)
def decorated(query: str, key: str = "") -> str:
    return f"{query} {key}"


class Client:
    def __str__(self) -> str:
        return KEY


class Desk:
    def search(self, query: str, key: str) -> str:
        return f"{query} {key}"

    async def later(self, query: str, key: str) -> str:
        return f"{query} {key}"

    @tool
    def told(self, query: str, key: str) -> str:
        return f"{query} {key}"

    bound = functools.partialmethod(search, key=KEY)

    def __call__(self, query: str, key: str) -> str:
        return f"{query} {key}"


@dataclass
class Found:
    query: str
    key: str


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


GIVEN = Tool.from_definition(
    {
        "name": "given",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string"}, "key": {"type": "string", "default": "d"}},
            "required": ["query", "key"],
        },
    },
    keyed_first,
    examples=[{"query": "x", "key": "e"}],
)

BOUND: dict[str, Callable[[], Any]] = {
    "keyword": lambda: functools.partial(search, key=KEY),
    "place": lambda: functools.partial(keyed_first, KEY),
    "nested": lambda: functools.partial(functools.partial(search, limit=2), key=KEY),
    "wraps of partial": lambda: wrapped(functools.partial(search, key=KEY)),
    "partial of wraps of partial": lambda: functools.partial(wrapped(functools.partial(search, key=KEY)), limit=2),
    "any keywords": lambda: functools.partial(any_keywords, key=KEY),
    "named keywords": lambda: functools.partial(named_keywords, key=KEY),
    "method": lambda: functools.partial(Desk().search, key=KEY),
    "async method": lambda: functools.partial(Desk().later, key=KEY),
    "partialmethod": lambda: Desk().bound,
    "callable object": lambda: functools.partial(Desk(), key=KEY),
    "class": lambda: functools.partial(Found, key=KEY),
    "tool": lambda: functools.partial(decorated, key=KEY),
    "tool of a method": lambda: functools.partial(Desk().told, key=KEY),
    "tool above": lambda: tool(functools.partial(search, key=KEY), name="above"),
    "given schema": lambda: functools.partial(GIVEN, key=KEY),
    "given schema, by place": lambda: functools.partial(GIVEN, KEY),
    "context": lambda: functools.partial(with_context, key=KEY, context=None),
    "an object": lambda: functools.partial(with_object, key=Client()),
}


@pytest.mark.parametrize("bound", BOUND.values(), ids=BOUND)
@pytest.mark.parametrize("gives_it", [False, True])
def test_a_bound_argument_is_not_told_and_not_taken(bound: Callable[[], Any], gives_it: bool) -> None:
    made = as_tool(bound())
    assert {*made.definition.parameters["properties"]} - {"limit", "lang"} == {"query"}
    arguments = dict.fromkeys(made.definition.parameters["required"], "sun")
    given = {**arguments, "key": "the-models-own"} if gives_it else arguments
    model = FakeModel().tool_call(made.name, given).tool_call(made.name, arguments).text("Done.").default_text("Done.")
    result = Orchestrator(model, [made]).run_sync("Look.")
    ran = [record for record in result.tool_results if record.ran]
    assert KEY in str(ran[0].value)
    assert "the-models-own" not in str([record.value for record in ran])
    assert KEY not in json.dumps(model.requests[0].model_dump(mode="json"))
    if gives_it:
        assert len(ran) == 1
        assert "key" in json.dumps(model.requests[1].model_dump(mode="json"))  # the model is told what was wrong


def test_a_bound_context_stays_bound() -> None:
    mine = RunContext("mine")
    made = as_tool(functools.partial(with_context, key=KEY, context=mine))
    result = Orchestrator(FakeModel().tool_call(made.name, {"query": "sun"}).text("Done."), [made], deps="others").run_sync(
        "Look."
    )
    assert "mine" in str(result.tool_results[0].value)


def test_a_schema_that_tells_a_bound_argument_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match=r"'key', which functools\.partial has bound; leave it out"):
        Tool.from_definition(GIVEN.definition, functools.partial(search, key=KEY))
    with pytest.raises(ToolDefinitionError, match=r"declares \['key'\]"):
        tool(functools.partial(search, key=KEY), params={"key": {"type": "string"}})


def test_an_open_schema_does_not_let_a_bound_argument_in() -> None:
    definition = {"name": "open", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}}
    made = Tool.from_definition(definition, functools.partial(any_keywords, key=KEY))
    model = FakeModel().tool_call("open", {"query": "sun", "key": "other"}).text("Done.")
    (record,) = Orchestrator(model, [made]).run_sync("Look.").tool_results
    assert record.error is not None
    assert (record.ran, "key" in record.error.message) == (False, True)


def test_a_summary_does_not_tell_a_bound_argument() -> None:
    @tool(summary="Search {query} as {key}")
    def look(query: str, key: str) -> str:
        return query

    @tool(summary="Search {query}")
    def look_plainly(query: str, key: str) -> str:
        return query

    assert look.summary_of({"query": "sun", "key": "k"}) == "Search sun as k"
    assert as_tool(functools.partial(look, key=KEY)).summary_of({"query": "sun"}) == "look(query=sun)"
    assert as_tool(functools.partial(look_plainly, key=KEY)).summary_of({"query": "sun"}) == "Search sun"


def test_a_partialmethod_without_its_object_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="without its object"):
        as_tool(Desk.bound)


def test_a_signature_that_is_told_wins() -> None:
    """Here the decorator has a parameter of its own, which has the name of a bound one."""

    @functools.wraps(functools.partial(search, key=KEY))
    def by_key(key: str) -> str:
        return key

    by_key.__signature__ = inspect.signature(lambda key: key)  # type: ignore[attr-defined]
    assert {*as_tool(by_key).definition.parameters["properties"]} == {"key"}
